"""Bonald & Roberts, "Resource sharing in data centers", Eindhoven 2014: the static allocations.

Expected values are exact (rationals or closed forms); 1e-12 relative leaves four digits for the solvers.
"""

import numpy as np
import pytest
from scipy.optimize import brentq

from fairness import DRF, BottleneckMax, MaxMin, Problem, ProportionalFair, allocate
from fairness.testing import random_problem
from proofs.catalogue.bonald_roberts.examples import ALLOCATIONS, FIFTH, FOURTH
from proofs.definitions import fractions
from proofs.definitions.exact import usage
from queueing.states.box import grid_counts

POLICIES = {
    "mmf_tasks": MaxMin(),
    "drf_tasks": DRF(),
    "pf_tasks": ProportionalFair(),
    "bmf_vertices": BottleneckMax(),
}


@pytest.mark.parametrize(("function", "demands", "prices", "value"), ALLOCATIONS)
def test_exact_allocations(function, demands, prices, value):
    demands, tasks = fractions(demands), fractions(value[0] if function == "bmf_vertices" else value)
    result = allocate(Problem(demands, [1] * len(demands[0])), POLICIES[function])
    np.testing.assert_allclose(result.tasks, [float(v) for v in tasks], rtol=1e-12)
    assert result.saturated.tolist() == [used == 1 for used in usage(demands, tasks)]
    assert result.certificate.holds
    # On three resources, the third the mean of the others, prices are not unique.
    if prices is not None and len(prices) == 2:
        np.testing.assert_allclose(
            result.prices, [float(p) for p in fractions(prices)], rtol=1e-12, atol=1e-12
        )


def test_pf_that_is_not_bmf():
    root = np.sqrt(39)
    result = allocate(Problem(FOURTH, [1, 1]), ProportionalFair())
    np.testing.assert_allclose(
        result.tasks, [(root - 3) / 30, (9 - root) / 14, (12 + root) / 105], rtol=1e-12
    )
    assert result.saturated.all()


def test_pf_prices_pay_one_unit_per_job():
    rng = np.random.default_rng(1)
    for _ in range(50):
        n, m = int(rng.integers(1, 9)), int(rng.integers(1, 6))
        problem = random_problem(rng, n, m)
        result = allocate(problem, ProportionalFair())
        # Sum of p_j C_j = n follows from complementarity, certified to 1e-8.
        assert result.prices @ problem.capacities == pytest.approx(n, rel=1e-7)


def test_pf_to_five_digits_where_no_closed_form_is_printed():
    tasks = ProportionalFair()(Problem(FIFTH, [1, 1]), [1, 1, 1])
    np.testing.assert_allclose(tasks, [0.13188, 0.18899, 0.22638], atol=5e-6)


def test_simgrid_published_cases():
    bmf = BottleneckMax()
    np.testing.assert_allclose(bmf(Problem([[1, 10], [10, 1]], [1, 1]), [1, 1]), [1 / 11] * 2, rtol=1e-12)
    for eps in (1e-2, 1e-3):
        problem = Problem([[1, eps], [1, eps], [eps, 1]], [1, 1])
        expected = [1 / (2 + 2 * eps)] * 2 + [1 / (1 + eps)]
        np.testing.assert_allclose(bmf(problem, [1, 1, 1]), expected, rtol=1e-12)
        np.testing.assert_allclose(ProportionalFair()(problem, [1, 1, 1]), expected, rtol=1e-12)
    # SimGrid's weight is a cost per unit: a task of the second job needs ten times the resource.
    link = Problem([[1], [10]], [3])
    np.testing.assert_allclose(bmf(link, [1, 1]), [1.5, 0.15], rtol=1e-12)
    # Ours divides the share.
    np.testing.assert_allclose(bmf(link.replaced(weights=[1, 2]), [1, 1]), [1, 0.2], rtol=1e-12)


def test_two_resources_saturate_by_the_rule_of_the_talk():
    rng = np.random.default_rng(2)
    seen = set()
    for _ in range(200):
        n = int(rng.integers(1, 12))
        # The second column leans towards the first or away from it, so that all three cases occur.
        a, b = (10.0 ** rng.uniform(-0.5, 0.5, (n, 2)) * [1, 10.0 ** rng.uniform(-0.5, 0.5)]).T
        rule = [(a / b).sum() >= n, (b / a).sum() >= n]
        seen.add(tuple(rule))
        problem = Problem(np.column_stack([a, b]), [1, 1])
        for policy in (ProportionalFair(), BottleneckMax()):
            assert allocate(problem, policy).saturated.tolist() == rule

        def excess(p, a=a, b=b, n=n):
            """Use of the first resource less that of the second, at prices p and n - p."""
            return np.sum((a - b) / (p * a + (n - p) * b))

        price = brentq(excess, 0, n, xtol=1e-15, rtol=1e-15) if all(rule) else n * rule[0]
        # The root may be ill-conditioned when both resources are almost proportional.
        tasks = ProportionalFair()(problem, np.ones(n))
        np.testing.assert_allclose(tasks, 1 / (price * a + (n - price) * b), rtol=1e-9)
    assert seen == {(True, True), (True, False), (False, True)}


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
