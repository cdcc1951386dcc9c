"""What is proved of bottleneck-max fairness and of optima on two resources, beside definitions, numbers."""

import random
from fractions import Fraction as F

import numpy as np
import pytest

from proofs.catalogue import statement_named
from proofs.definitions import definition
from proofs.definitions.queues.drifts import bmf_square_drift, two_resource_bmf
from proofs.language.relations import relation


def demands_of(rng, n, largest):
    """Shares of two resources, zeros among them, of jobs that demand something."""
    kinds = [[F(a, 4), F(b, 4)] for a in range(largest + 1) for b in range(largest + 1) if a or b]
    return [rng.choice(kinds) for _ in range(n)]


def largest(shares, tasks):
    """The largest share of each resource."""
    return [max(row[j] * x for row, x in zip(shares, tasks, strict=True)) for j in (0, 1)]


@pytest.mark.parametrize("n", [1, 2, 3, pytest.param(4, marks=pytest.mark.long)])
def test_there_is_one_bmf_allocation_on_two_resources(n):
    rng = random.Random(n)
    for _ in range(10):
        assert len(definition("bmf_vertices")(demands_of(rng, n, 3), [1, 1])) == 1


def last_claim(name):
    statement = statement_named(name)
    return statement.ask(statement.question())[-1].claim


@pytest.mark.parametrize("n", [2, 3, 4])
def test_bmf_allocations_meet_what_uniqueness_assumes(n):
    rng, claim = random.Random(n), last_claim("br-bmf-unique-two").instance(n - 1)
    for _ in range(10):
        shares = demands_of(rng, n, 3)
        tasks = two_resource_bmf(shares, [F(1)] * n)
        own, *others = zip(shares, tasks, strict=True)
        values = {"a": own[0][0], "b": own[0][1], "x": own[1], "y": own[1]}
        for i, (row, x) in enumerate(others, 1):
            values |= {f"a_i{i}": row[0], f"b_i{i}": row[1], f"x_i{i}": x, f"y_i{i}": x}
        values |= {f"{name}{j}": s for name in "st" for j, s in enumerate(largest(shares, tasks), 1)}
        for name, text in claim.hypotheses.items():
            assert relation(text).holds(values), (name, shares, tasks)
        # Another allocation meets them only if it is the same: one that is smaller is no longer fair.
        values["y"] /= 2
        assert not all(relation(text).holds(values) for text in claim.hypotheses.values())


def test_the_drift_under_bmf_is_as_negative_as_stability_needs():
    rng = random.Random(2)
    for _ in range(200):
        n = rng.randint(2, 5)
        shares = demands_of(rng, n, 8)
        counts = [F(rng.choice((0, 1, 2, 5, 7, 20))) for _ in range(n)]
        if not any(counts):
            continue
        rho, d = [F(rng.randint(1, 30) ** 2) for _ in range(n)], F(rng.randint(0, 9), 10)
        load = max(sum(row[j] * r for row, r in zip(shares, rho, strict=True)) for j in (0, 1))
        rho = [r * F(97, 100) * (1 - d) / load for r in rho]
        assert bmf_square_drift(shares, rho, counts) <= -F(12, 17) * d * sum(counts)


def mean_jobs(e, load, size):
    """Mean number of jobs under the policy that runs 1/(1 + e) of each class, or 1 of one, on a grid."""
    rate, states = load / (1 + e), [(x, y) for x in range(size) for y in range(size)]
    place = {state: k for k, state in enumerate(states)}
    flow = np.zeros((len(states), len(states)))
    for x, y in states:
        k, run = place[x, y], 1 / (1 + e) if x and y else 1.0
        for other, r in (
            ((x + 1, y), rate),
            ((x, y + 1), rate),
            ((x - 1, y), run if x else 0.0),
            ((x, y - 1), run if y else 0.0),
        ):
            if other in place and r:
                flow[k, place[other]] += r
                flow[k, k] -= r
    law = np.linalg.solve(
        np.vstack([flow.T[:-1], np.ones(len(states))]), np.r_[np.zeros(len(states) - 1), 1.0]
    )
    return sum(p * (x + y) for p, (x, y) in zip(law, states, strict=True))


@pytest.mark.parametrize("e", [0.0, 0.1, 0.5, 1.0])
def test_the_optimum_in_closed_form_is_what_its_policy_attains(e):
    # At load 3/10 the states left out have a probability below 1e-8, and so is the error of the mean.
    assert mean_jobs(e, 0.3, 20) == pytest.approx(2 * 0.3 / ((1 + e) * (1 - 0.3)), rel=1e-6)
