"""Bonald & Roberts, "Resource sharing in data centers", Eindhoven 2014: the static allocations and the drift.

Expected values are exact (rationals or closed forms); 1e-12 relative leaves four digits for the solvers.
"""

from fractions import Fraction as F

import numpy as np
import pytest

from fairness import (
    DRF,
    BottleneckMax,
    MaxMin,
    Problem,
    ProportionalFair,
    all_bottleneck_max,
    allocate,
)
from fairness.testing import random_problem
from queueing import System, drift
from queueing.states.box import grid_counts

R39 = np.sqrt(39)
EXAMPLES = {
    "first": [[1, 3], [3, 2]],
    "second": [[1, 3], [4, 2]],
    "third": [[1, 1, 1], [2, 1, 1.5], [1, 2, 1.5]],
    "PF is not BMF": [[4, 1], [2, 1], [1, 4]],
    "PF is not BMF, again": [[3, 1], [2, 1], [1, 3]],
}
ALLOCATIONS = [
    ("first", MaxMin(), [F(1, 5), F(1, 5)], "01"),
    ("first", DRF(), [F(1, 5), F(1, 5)], "01"),
    ("first", ProportionalFair(), [F(1, 6), F(1, 4)], "01"),
    ("first", BottleneckMax(), [F(1, 6), F(1, 4)], "01"),
    ("second", MaxMin(), [F(1, 5), F(1, 5)], "11"),
    ("second", DRF(), [F(2, 9), F(1, 6)], "01"),
    ("second", ProportionalFair(), [F(1, 5), F(1, 5)], "11"),
    ("second", BottleneckMax(), [F(1, 5), F(1, 5)], "11"),
    ("third", MaxMin(), [F(1, 4)] * 3, "111"),
    ("third", DRF(), [F(2, 5), F(1, 5), F(1, 5)], "111"),
    ("third", ProportionalFair(), [F(1, 3), F(2, 9), F(2, 9)], "111"),
    ("PF is not BMF", MaxMin(), [F(1, 7)] * 3, "10"),
    ("PF is not BMF", DRF(), [F(1, 9), F(2, 9), F(1, 9)], "10"),
    ("PF is not BMF", BottleneckMax(), [F(3, 29), F(6, 29), F(5, 29)], "11"),
    ("PF is not BMF", ProportionalFair(), [-1 / 10 + R39 / 30, 9 / 14 - R39 / 14, 4 / 35 + R39 / 105], "11"),
    ("PF is not BMF, again", DRF(), [F(1, 7), F(3, 14), F(1, 7)], "10"),
    ("PF is not BMF, again", BottleneckMax(), [F(4, 31), F(6, 31), F(7, 31)], "11"),
]


@pytest.mark.parametrize(("example", "policy", "expected", "full"), ALLOCATIONS)
def test_exact_allocations(example, policy, expected, full):
    demands = EXAMPLES[example]
    result = allocate(Problem(demands, np.ones(len(demands[0]))), policy)
    np.testing.assert_allclose(result.tasks, [float(v) for v in expected], rtol=1e-12)
    assert "".join(str(int(s)) for s in result.saturated) == full
    assert result.certificate.holds


def test_utilization_of_the_first_example():
    problem = Problem(EXAMPLES["first"], [1, 1])
    np.testing.assert_allclose(allocate(problem, DRF()).utilization, [4 / 5, 1], rtol=1e-12)
    np.testing.assert_allclose(allocate(problem, BottleneckMax()).utilization, [11 / 12, 1], rtol=1e-12)
    np.testing.assert_allclose(allocate(problem, ProportionalFair()).utilization, [11 / 12, 1], rtol=1e-12)


@pytest.mark.parametrize(("example", "prices"), [("first", [0, 2]), ("second", [0.5, 1.5])])
def test_pf_multipliers(example, prices):
    result = allocate(Problem(EXAMPLES[example], [1, 1]), ProportionalFair())
    # The price of an idle resource is only as small as the certificate demands.
    np.testing.assert_allclose(result.prices, prices, rtol=1e-10, atol=1e-9)


def test_pf_prices_pay_one_unit_per_job():
    rng = np.random.default_rng(1)
    for _ in range(50):
        n, m = int(rng.integers(1, 9)), int(rng.integers(1, 6))
        problem = random_problem(rng, n, m)
        result = allocate(problem, ProportionalFair())
        # Sum of p_j C_j = n follows from complementarity, certified to 1e-8.
        assert result.prices @ problem.capacities == pytest.approx(n, rel=1e-7)


def test_pf_to_five_digits_where_no_closed_form_is_printed():
    tasks = ProportionalFair()(Problem(EXAMPLES["PF is not BMF, again"], [1, 1]), [1, 1, 1])
    np.testing.assert_allclose(tasks, [0.13188, 0.18899, 0.22638], atol=5e-6)


def test_bmf_of_the_third_example_is_a_segment():
    half = F(3, 2)
    fair = all_bottleneck_max(Problem([[1, 1, 1], [2, 1, half], [1, 2, half]], [1, 1, 1]))
    assert len(fair.points) == 0
    assert [sorted(map(tuple, segment)) for segment in fair.segments] == [
        [(F(1, 3), F(2, 9), F(2, 9)), (F(2, 5), F(1, 5), F(1, 5))]
    ]
    path = BottleneckMax()(Problem(EXAMPLES["third"], [1, 1, 1]), [1, 1, 1])
    np.testing.assert_allclose(path, [1 - 3 * path[1], path[1], path[1]], rtol=1e-12)
    assert 1 / 5 - 1e-12 <= path[1] <= 2 / 9 + 1e-12


def test_simgrid_scaling_of_the_third_example():
    problem = Problem([[1, 1, F(1, 2)], [1, F(1, 2), 1], [1, F(3, 4), F(3, 4)]], [1, 1, 1])
    transposed = Problem(np.array([[1, 1, 0.5], [1, 0.5, 1], [1, 0.75, 0.75]]).T, [1, 1, 1])
    fair = all_bottleneck_max(
        Problem([list(c) for c in zip(*problem.as_fractions()[0], strict=True)], [1, 1, 1])
    )
    for point in ((F(1, 3), F(4, 9), F(4, 9)), (F(2, 5), F(2, 5), F(2, 5))):
        assert fair.contains(point)
    assert fair.contains(BottleneckMax()(transposed, [1, 1, 1]))


def test_simgrid_published_cases():
    bmf = BottleneckMax()
    np.testing.assert_allclose(bmf(Problem([[1, 10], [10, 1]], [1, 1]), [1, 1]), [1 / 11] * 2, rtol=1e-12)
    eps = 1e-3
    problem = Problem([[1, eps], [1, eps], [eps, 1]], [1, 1])
    expected = [1 / (2 + 2 * eps)] * 2 + [1 / (1 + eps)]
    np.testing.assert_allclose(bmf(problem, [1, 1, 1]), expected, rtol=1e-12)
    np.testing.assert_allclose(ProportionalFair()(problem, [1, 1, 1]), expected, rtol=1e-12)
    # SimGrid's weight is a cost per unit: a task of the second job needs ten times the resource.
    np.testing.assert_allclose(bmf(Problem([[1], [10]], [3]), [1, 1]), [1.5, 0.15], rtol=1e-12)


def test_two_resources_saturate_by_the_rule_of_the_talk():
    rng = np.random.default_rng(2)
    for _ in range(200):
        n = int(rng.integers(1, 12))
        problem = Problem(10.0 ** rng.uniform(-0.5, 0.5, (n, 2)), [1, 1])
        ratio = problem.demands[:, 0] / problem.demands[:, 1]
        rule = [ratio.sum() >= n, (1 / ratio).sum() >= n]
        for policy in (ProportionalFair(), BottleneckMax()):
            assert allocate(problem, policy).saturated.tolist() == rule


def test_two_classes_on_two_resources_pf_equals_bmf():
    rng = np.random.default_rng(3)
    counts = grid_counts((8, 8))
    for _ in range(30):
        problem = random_problem(rng, 2, 2)
        np.testing.assert_allclose(
            # PF is certified to 1e-8 in its KKT residual.
            BottleneckMax()(problem, counts),
            ProportionalFair()(problem, counts),
            rtol=1e-7,
        )


def closed_form(policy, x):
    """PF (= BMF) and DRF for a = (1, .1; .1, 1)."""
    x1, x2 = x
    if policy.name == "DRF":
        return np.array([x1, x2]) / max(x1 + 0.1 * x2, 0.1 * x1 + x2)
    if x1 > 10 * x2:
        return np.array([x1, 10 * x2]) / (x1 + x2)
    if x2 > 10 * x1:
        return np.array([10 * x1, x2]) / (x1 + x2)
    return np.array([10 / 11, 10 / 11])


@pytest.mark.parametrize("policy", [ProportionalFair(), BottleneckMax(), DRF()], ids=lambda p: p.name)
def test_closed_forms_on_a_grid(policy):
    problem = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    for x in [(1, 1), (1, 9), (1, 10), (1, 11), (40, 3), (3, 40), (0, 5), (7, 0), (0.3, 0.01)]:
        np.testing.assert_allclose(policy(problem, x), closed_form(policy, x), rtol=1e-9)


BALANCED, UNBALANCED = (1, 1), (3, 1)
DRIFT = [
    (BALANCED, (10, 1), ProportionalFair(), (-0.0909, -0.0909)),
    (BALANCED, (10, 1), DRF(), (-0.1719, 0.7192)),
    (BALANCED, (30, 10), BottleneckMax(), (-0.0909, -0.0909)),
    (BALANCED, (30, 10), DRF(), (-0.1496, 0.4956)),
    (UNBALANCED, (30, 10), ProportionalFair(), (-0.0381, -0.6188)),
    (UNBALANCED, (30, 10), DRF(), (-0.0968, -0.0323)),
    (UNBALANCED, (1, 10), DRF(), (0.7720, -0.6998)),
]


@pytest.mark.parametrize(("mix", "counts", "policy", "expected"), DRIFT)
def test_drift_values(mix, counts, policy, expected):
    system = System.with_load(Problem([[1, 0.1], [0.1, 1]], [1, 1]), mix, 0.9)
    np.testing.assert_allclose(drift(system, policy, counts), expected, atol=5.1e-5)


def test_loads_of_the_drift_examples():
    problem = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    np.testing.assert_allclose(System.with_load(problem, BALANCED, 0.9).loads, [0.81818] * 2, atol=5e-6)
    np.testing.assert_allclose(
        System.with_load(problem, UNBALANCED, 0.9).loads, [0.87097, 0.29032], atol=5e-6
    )
