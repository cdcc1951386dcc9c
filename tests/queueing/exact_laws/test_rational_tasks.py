"""Tasks in many states, in fractions: against other definitions, the optimality conditions and the floats."""

from fractions import Fraction

import numpy as np
import pytest

from fairness import (
    DRF,
    AlphaFair,
    AssetFair,
    BottleneckMax,
    MaxMin,
    ModelError,
    Problem,
    ProportionalFair,
)
from fairness.properties.exact.rational import Enclosure, Unproved
from fairness.protocol.family import Family
from proofs.definitions.pools.filling import bottlenecks, is_feasible
from queueing.exact_laws.rational_tasks import RationalPool, exact_tasks, proportional, state_tasks

F = Fraction
POLICIES = (MaxMin(), DRF(), AssetFair(), BottleneckMax(), ProportionalFair(), AlphaFair(float("inf")))


def instances(n_resources, limited, floats=False):
    for seed in range(6):
        rng = np.random.default_rng([seed, n_resources, limited, floats])
        demands = rng.integers(0, 5, (2, n_resources))
        demands[:, 0] += ~demands.any(axis=1)
        limits = rng.integers(1, 9, 2) / 8 if limited else None
        scale = rng.uniform(0.5, 2, demands.shape) if floats else 1
        weights = rng.integers(1, 4, 2)
        pool = Problem(demands * scale, rng.integers(3, 20, n_resources), weights=weights, limits=limits)
        yield pool, rng.integers(0, 7, (25, 2))


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("case", [(1, True, False), (2, False, False), (3, True, False), (3, True, True)])
def test_fractions_are_next_to_the_floats(policy, case):
    for pool, counts in instances(*case):
        exact = exact_tasks(policy, pool, counts)
        near = [[float(v) for v in row] for row in exact]
        # Policies certify 1e-10; 0 is 0 in both.
        np.testing.assert_allclose(policy(pool, counts.astype(float)), near, rtol=1e-9, atol=0)


@pytest.mark.parametrize("limited", [False, True])
def test_proportional_tasks_meet_the_conditions_of_the_optimum(limited):
    """No other feasible allocation gains: sum W_i (y_i - x_i)/x_i <= 0 at all vertices of two classes."""
    for pool, counts in instances(3, limited):
        demands, capacities = pool.as_fractions()
        for state, tasks in zip(counts.tolist(), exact_tasks(ProportionalFair(), pool, counts), strict=True):
            if not all(state):
                continue
            walls = [([row[j] for row in demands], c) for j, c in enumerate(capacities)]
            walls += [([-1, 0], 0), ([0, -1], 0)]
            for i, limit in enumerate(pool.limits.tolist()):
                if limited:
                    walls.append(([int(k == i) for k in range(2)], state[i] * F(limit)))
            corners = []
            for p, ((a, b), e) in enumerate(walls):
                for (c, d), f in walls[:p]:
                    if a * d != b * c:
                        corner = F(e * d - b * f) / (a * d - b * c), F(a * f - e * c) / (a * d - b * c)
                        if all(u * corner[0] + v * corner[1] <= w for (u, v), w in walls):
                            corners.append(corner)
            assert all(u * tasks[0] + v * tasks[1] <= w for (u, v), w in walls)
            money = [x * F(w) for x, w in zip(state, pool.weights.tolist(), strict=True)]
            for corner in corners:
                gain = sum(m * (y - x) / x for m, x, y in zip(money, tasks, corner, strict=True))
                assert gain <= 0


def test_proportional_fairness_of_classes_that_share_nothing():
    """Three classes of which two share one resource and one is alone on another."""
    pool = Problem([[1, 0], [2, 0], [0, 3]], [5, 7])
    assert exact_tasks(ProportionalFair(), pool, np.array([[3, 1, 2]])) == [[F(15, 4), F(5, 8), F(7, 3)]]
    # One resource stays free: the other two are full, and its price is 0.
    free = Problem([[1, 0, 1], [2, 0, 1], [0, 3, 0]], [5, 7, 100])
    assert exact_tasks(ProportionalFair(), free, np.array([[3, 1, 2]])) == [[F(15, 4), F(5, 8), F(7, 3)]]


def test_a_hint_that_is_no_optimum_proves_nothing():
    """At (1, 1) the first two resources are full, but the first would need a negative price."""
    pool = Problem([[1, 10, 1], [10, 1, 0]], [11, 11, F(102, 100)], weights=[20, 1])
    model = RationalPool.of(pool).state([1, 1], [0, 1])
    assert isinstance(proportional(model, np.array([1.0, 1.0])), Unproved)
    ((first, second),) = exact_tasks(ProportionalFair(), pool, np.array([[1, 1]]))
    assert (first, second) == (F(102, 100), F(8, 10))


def test_irrational_tasks_are_refused():
    pool = Problem([[4, 1], [2, 1], [1, 4]], [1, 1])
    with pytest.raises(ModelError, match=r"state \(1, 1, 1\): its tasks are rational where"):
        exact_tasks(ProportionalFair(), pool, np.ones((1, 3), dtype=int))
    with pytest.raises(ModelError, match="roots of rational numbers"):
        exact_tasks(AlphaFair(0.5), pool, np.ones((1, 3), dtype=int))


def test_bottleneck_tasks_have_bottlenecks():
    rng = np.random.default_rng(5)
    for _ in range(10):
        demands = rng.integers(1, 9, (3, 3))
        pool = Problem(demands, [12, 12, 12])
        counts = rng.integers(1, 6, (10, 3))
        rows, capacities = pool.as_fractions()
        for state, tasks in zip(counts.tolist(), exact_tasks(BottleneckMax(), pool, counts), strict=True):
            # A class of x jobs is x users with a part of its tasks each.
            users = [row for x, row in zip(state, rows, strict=True) for _ in range(x)]
            parts = [t / x for x, t in zip(state, tasks, strict=True) for _ in range(x)]
            assert is_feasible(users, capacities, parts)
            assert all(bottlenecks(users, capacities, parts))


def test_empty_and_blocked_classes_get_nothing():
    pool = Problem([[1, 1], [0, 2]], [0, 4])
    assert exact_tasks(DRF(), pool, np.array([[0, 0], [3, 0], [3, 2]])) == [[0, 0], [0, 0], [0, 2]]


def test_weights_per_resource():
    edrf = DRF(resource_weights=[[F(1, 4), F(3, 4)], [F(3, 4), F(1, 4)]])
    pool = Problem([[1, 2], [2, 1]], [8, 8])
    # Rates min(v_ij C_j/a_ij) = (2, 2): both grow to 8/3.
    assert exact_tasks(edrf, pool, np.array([[1, 1], [1, 3]])) == [[F(8, 3), F(8, 3)], [F(8, 7), F(24, 7)]]


def test_a_subclass_that_answers_otherwise_has_no_definition():
    class Half(DRF):
        def __call__(self, problem, counts):
            return super().__call__(problem, counts) / 2

    class Named(DRF):
        name = "mine"

    pool, state = Problem([[1]], [9]), np.array([[3]])
    with pytest.raises(ModelError, match="no exact definition is known"):
        exact_tasks(Half(), pool, state)
    assert exact_tasks(Named(), pool, state) == [[F(9)]]


def test_a_policy_of_ones_own_brings_its_definition():
    class Halves:
        family = Family("halves of tasks")

        def __call__(self, problem, counts):
            return 0.5 * np.asarray(counts, float)

    with pytest.raises(ModelError, match="no exact definition is known for Halves"):
        exact_tasks(Halves(), Problem([[1]], [9]), np.array([[3]]))

    @state_tasks.register("halves of tasks")
    def _(policy, model, pool, present, hint):
        return Enclosure.at([w / 2 for w in model.weights], "half a task per job")

    assert exact_tasks(Halves(), Problem([[1]], [9]), np.array([[3]])) == [[F(3, 2)]]
