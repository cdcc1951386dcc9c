"""The queue dynamics: literal equations on a fine time grid, equilibria against the certificate."""

from __future__ import annotations

import numpy as np
import pytest

from fairness import ModelError, Problem
from fairness.evidence.pools import bottleneck_certificate
from fairness.testing import KINDS, random_problem
from queueing.fluid.circulation import circulate

SLIDES = [
    ([[1, 3], [3, 2]], [1 / 6, 1 / 4]),
    ([[1, 3], [4, 2]], [1 / 5, 1 / 5]),
    ([[4, 1], [2, 1], [1, 4]], [3 / 29, 6 / 29, 5 / 29]),
    ([[3, 1], [2, 1], [1, 3]], [4 / 31, 6 / 31, 7 / 31]),
    ([[1, 10], [10, 1]], [1 / 11, 1 / 11]),
]


@pytest.mark.parametrize(("demands", "expected"), SLIDES)
def test_every_start_ends_at_the_bottleneck_max_allocation(demands, expected):
    problem = Problem(demands, [1, 1])
    n = problem.n_classes
    corners = [np.eye(2)[list(place)] for place in np.ndindex(*[2] * n)]
    for start in [*corners, None, None]:
        path = circulate(problem, start, rng=3)
        assert path.status == "equilibrium"
        # A linear system of at most 2 unknowns is solved at the end.
        np.testing.assert_allclose(path.tasks, expected, rtol=1e-12)
        assert path.certificate.residual < 1e-12
        # Fluid is conserved, and no queue is negative.
        np.testing.assert_allclose(path.queues.sum(axis=2), np.ones((len(path.times), n)), atol=1e-12)
        assert (path.queues >= 0).all()


def max_min_rates(demands, weights, capacity, cap):
    """Max-min fair amounts a r / w within a capacity and limits cap of r, by bisection on the largest."""
    # All limits met: up to rounding, since then they may add up to the capacity.
    if demands @ cap <= capacity * (1 + 1e-12):
        return cap
    low, high = 0.0, capacity / min(weights)
    for _ in range(80):
        level = 0.5 * (low + high)
        if demands @ np.minimum(cap, level * weights / demands) > capacity:
            high = level
        else:
            low = level
    return np.minimum(cap, low * weights / demands)


def assert_solves_the_equation(path):
    """Every piece of a path solves the equations literally: rates are max-min fair, queues move by them."""
    problem = path.problem
    n, m = problem.demands.shape
    pieces = len(path.times)
    for k in range(pieces):
        queues, rates = path.queues[k], path.rates[k]
        inflow = np.zeros((n, m))
        for i in range(n):
            ring = [j for j in range(m) if problem.demands[i, j] > 0]
            for before, j in zip([ring[-1], *ring], ring, strict=False):
                inflow[i, j] = rates[i, before]
        for j in range(m):
            users = problem.demands[:, j] > 0
            a, w = problem.demands[users, j], problem.weights[users]
            # Larger than any rate.
            unlimited = 10 * n * problem.capacities[j] / a
            cap = np.where(queues[users, j] == 0, inflow[users, j], unlimited)
            expected = max_min_rates(a, w, problem.capacities[j], cap)
            # Bisection to 80 bits; the rates solve a linear system.
            np.testing.assert_allclose(rates[users, j], expected, rtol=1e-10)
        if k + 1 < pieces:
            moved = queues + (path.times[k + 1] - path.times[k]) * (inflow - rates)
            np.testing.assert_allclose(path.queues[k + 1], moved, atol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("n_resources", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_random_pools_reach_certified_equilibria(kind, n_resources):
    rng = np.random.default_rng(11)
    for k in range(25):
        n = int(rng.integers(1, 7))
        problem = random_problem(rng, n, n_resources, kind=kind, weighted=k % 2 == 1)
        path = circulate(problem, rng=rng)
        assert path.status == "equilibrium"
        # Rates at an equilibrium solve a linear system; demands over two decades cost 3 digits.
        assert bottleneck_certificate(problem, np.ones(n), path.tasks).residual < 1e-12
        assert_solves_the_equation(path)
        # No resource is exceeded, none with fluid waiting is idle.
        used = np.einsum("tij,ij->tj", path.rates, problem.task_shares)
        assert (used <= 1 + 1e-12).all()
        waiting = (path.queues > 0).any(axis=1)
        np.testing.assert_allclose(used[waiting], 1.0, rtol=1e-12)


def test_several_equilibria_of_the_source_are_reached_or_kept():
    problem = Problem([[1, 1, 1], [2, 1, 1.5], [1, 2, 1.5]], [1, 1, 1])
    # Every (1 - 3u, u, u) with 1/5 <= u <= 2/9 is an equilibrium: jobs wait at resources 3, 1, 2.
    ends = [circulate(problem, rng=seed) for seed in range(10)]
    for path in ends:
        assert path.certificate.holds
        first, u, v = path.tasks
        assert u == pytest.approx(v, rel=1e-12)
        assert first == pytest.approx(1 - 3 * u, rel=1e-12)
        assert 1 / 5 - 1e-12 <= u <= 2 / 9 + 1e-12


def test_at_interpolates_and_stays_at_rest():
    path = circulate(Problem([[1, 3], [3, 2]], [1, 1]), start=[[1, 0], [0, 1]])
    np.testing.assert_allclose(path.at(path.times), path.queues, atol=1e-12)
    middle = 0.5 * (path.times[0] + path.times[1])
    np.testing.assert_allclose(path.at(middle)[0], 0.5 * (path.queues[0] + path.queues[1]), atol=1e-12)
    np.testing.assert_array_equal(path.at(path.times[-1] + 7)[0], path.queues[-1])
    with pytest.raises(ModelError, match=r"times must be >= 0"):
        path.at([-1.0])


def test_horizon_and_number_of_events():
    problem = Problem([[1, 3], [3, 2]], [1, 1])
    full = circulate(problem, start=[[1, 0], [0, 1]])
    assert len(full.times) > 1
    cut = circulate(problem, start=[[1, 0], [0, 1]], horizon=0.5 * full.times[1])
    assert cut.status == "horizon"
    assert cut.times[-1] == pytest.approx(0.5 * full.times[1])
    assert not cut.certificate.holds
    with pytest.raises(ModelError, match=r"the trajectory ends at time .* raise horizon or max_events"):
        cut.at(full.times[-1])
    few = circulate(problem, start=[[1, 0], [0, 1]], max_events=1)
    assert few.status == ("events" if len(full.times) > 2 else "equilibrium")


def test_errors():
    problem = Problem([[1, 3], [0, 2]], [1, 1])
    for call, message in [
        (lambda: circulate(problem, [1, 1]), r"start must have shape \(2, 2\), jobs x resources; got \(2,\)"),
        (
            lambda: circulate(problem, [[1, 1], [1, 1]]),
            r"got 1.0 at index \(1, 0\) \('class 2', 'resource 1'\)",
        ),
        (
            lambda: circulate(problem, [[1, -1], [0, 1]]),
            r"got -1.0 at index \(0, 1\) \('class 1', 'resource 2'\)",
        ),
        (lambda: circulate(problem, [[1, 1], [0, 0]]), r"start gives no fluid to 'class 2'"),
        (lambda: circulate(problem, horizon=0), r"horizon and max_events must be positive"),
        (lambda: circulate(Problem([[1, 3]], [1, 0])), r"'resource 2' has capacity 0"),
    ]:
        with pytest.raises(ModelError, match=message):
            call()
    with pytest.raises(ModelError, match=r"limits must be infinite; write the limit of 'class 1'"):
        circulate(Problem([[1, 3]], [1, 1], limits=[2]))
