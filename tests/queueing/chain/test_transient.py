from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import expm
from scipy.special import ive

from fairness import DRF, MaxMin, Problem, ProportionalFair
from fairness.errors import ModelError, NotConvergedError
from queueing.chain.solvers import uniformisation as module
from queueing.chain.solvers.choose_solver import Elimination
from queueing.chain.stationary import stationary
from queueing.chain.transient import transient
from queueing.model.system import System
from queueing.states.table import tabulate
from tests.queueing.chain.chains import EXAMPLE, random_system, rate_matrix, stepped


def generator(system, tasks):
    """The rate matrix of the box, entry by entry from the definition."""

    def moves(x):
        for i in range(len(x)):
            yield stepped(x, i, 1), system.arrival_rates[i]
            yield stepped(x, i, -1), tasks[x][i] / system.mean_sizes[i]

    rates = rate_matrix(list(np.ndindex(tasks.shape[:-1])), moves)
    return rates - np.diag(rates.sum(axis=1))


def test_random_systems_agree_with_the_matrix_exponential():
    rng = np.random.default_rng(5)
    shapes = [(9,), (5, 7), (7, 4), (4, 3, 5), (3, 3, 2, 4), (6, 5)]
    for k, shape in enumerate(shapes):
        n = len(shape)
        system = random_system(rng, k, n, rng.uniform(0.3, 3))
        policy = (DRF(), ProportionalFair(), MaxMin())[k % 3]
        times = [3.0, 0.0, 0.7, 20.0]
        start = rng.dirichlet(np.ones(math.prod(shape))).reshape(shape)
        rates = generator(system, tabulate(system.problem, policy, shape).tasks)
        state = [size - 2 for size in shape]
        one = np.zeros(shape)
        one[tuple(state)] = 1
        for given, first in ((start, start), (state, one)):
            law = transient(system, policy, times, shape=shape, start=given)
            for t, here in zip(times, law.distribution, strict=True):
                exact = (first.ravel() @ expm(rates * t)).reshape(shape)
                # Tolerance 1e-12 and rounding, of ours and of expm.
                assert np.abs(here - exact).sum() < 2e-12
            faces = [np.take(law.distribution, -1, axis=1 + i).reshape(4, -1).sum(1) for i in range(n)]
            assert np.array([p[:, -1] for p in law.marginals]) == pytest.approx(np.array(faces), abs=1e-14)
            assert (law.truncation <= 1e-12).all()
            assert (np.abs(law.mass_defect) <= law.truncation + law.rounding).all()


def test_mm1_means_and_probabilities_by_bessel_functions():
    # P(x(t) = 0) of the M/M/1 queue that starts empty (Kleinrock, Queueing Systems I, eq. 2.163), and from
    # it the mean: E[x(t)]' = lambda - mu (1 - P(x(t) = 0)).
    birth, death = 0.9, 1.0
    system = System(Problem([[1]], [1]), [birth])
    root, load = math.sqrt(birth * death), birth / death

    def empty(t):
        k = np.arange(2, 400)
        scale = math.exp(2 * root * t - (birth + death) * t)
        first = ive(0, 2 * root * t) + load ** (-0.5) * ive(1, 2 * root * t)
        return scale * (first + (1 - load) * np.sum(load ** (-k / 2) * ive(k, 2 * root * t)))

    nodes, weights = np.polynomial.legendre.leggauss(60)
    t = 12.0
    law = transient(system, DRF(), [t], shape=150)
    assert law.distribution[0, 0] == pytest.approx(empty(t), abs=2e-12)
    idle = t / 2 * sum(w * empty(t / 2 * (1 + x)) for x, w in zip(nodes, weights, strict=True))
    # 1e-11: 150 states times the tolerance of 1e-12 would do, and the quadrature is exact to rounding.
    assert law.mean_jobs[0, 0] == pytest.approx(birth * t - death * (t - idle), abs=1e-11)
    assert law.box_error[0] < 1e-12


def test_infinite_servers_are_poisson():
    # M/M/inf from the empty state: Poisson with mean rho (1 - exp(-t/sigma)), at any load.
    system = System(Problem([[1], [1]], [200], limits=[1, 1]), [3.0, 1.0], [2.0, 0.5])
    times = np.array([0.1, 1.0, 5.0])
    law = transient(system, DRF(), times, shape=(60, 25), distribution=False)
    mean = system.loads * (1 - np.exp(-times[:, None] / system.mean_sizes))
    for i, size in enumerate((60, 25)):
        exact = stats.poisson.pmf(np.arange(size), mean[:, [i]])
        assert law.marginals[i] == pytest.approx(exact, abs=2e-12)
    # Mean and variance weigh the law by up to 60 and 3600.
    assert law.mean_jobs == pytest.approx(mean, abs=1e-10)
    assert law.variances == pytest.approx(mean, abs=1e-8)
    assert law.distribution is None


def test_goes_to_the_stationary_law_and_stops_there():
    system = System.with_load(EXAMPLE, [1, 2], 0.6)
    still = stationary(system, DRF(), shape=(12, 25), solver=Elimination())
    law = transient(system, DRF(), [10.0, 1e4], shape=(12, 25), start=[11, 0], tolerance=1e-11)
    assert law.steady
    assert law.n_steps < 4000 < 1e4
    assert law.distribution[1] == pytest.approx(still.distribution, abs=1e-11)
    assert law.mean_jobs[1] == pytest.approx(still.mean_jobs, rel=1e-10)
    # Started from the stationary law, nothing moves; what is lost is the rate at the faces times the time.
    same = transient(system, DRF(), [0.0, 50.0], shape=(12, 25), start=still.distribution)
    assert same.distribution[1] == pytest.approx(still.distribution, abs=2e-12)
    flow = sum(r * p[-1] for r, p in zip(system.arrival_rates, still.marginals, strict=True))
    assert same.lost_arrivals[0] < 1e-12
    assert same.lost_arrivals[1] == pytest.approx(50 * flow, rel=1e-9)


def test_steady_state_error_is_a_bound(monkeypatch):
    system = System.with_load(EXAMPLE, [1, 2], 0.5)
    late = [200.0, 500.0]
    rough = transient(system, DRF(), late, shape=10, tolerance=1e-4)
    full = transient(system, DRF(), late, shape=10)
    assert rough.steady
    errors = np.abs(rough.distribution - full.distribution).reshape(2, -1).sum(axis=1)
    assert (errors <= rough.truncation + 1e-11).all()
    assert (rough.truncation <= 1e-4).all()
    assert (rough.lost_arrivals >= full.lost_arrivals).all()
    # With exact weights all of the stated error is that of the early end.
    exact = module.PoissonWeights
    with monkeypatch.context() as patch:
        patch.setattr(module, "PoissonWeights", lambda mean, neglected: exact(mean, 1e-13))
        early = transient(system, DRF(), late, shape=10, tolerance=1e-4)
    errors = np.abs(early.distribution - full.distribution).reshape(2, -1).sum(axis=1)
    assert early.steady
    assert (errors > 1e-10).all()
    assert (errors <= early.truncation + 2e-12).all()
    # Without the early end, the same numbers from the whole sum.
    monkeypatch.setattr(module, "BLOCK", 10**6)
    whole = transient(system, DRF(), late, shape=10)
    assert not whole.steady
    assert whole.distribution == pytest.approx(full.distribution, abs=2e-12)
    assert whole.lost_arrivals == pytest.approx(full.lost_arrivals, rel=1e-9)


def test_lost_arrivals_integrate_the_faces_and_bound_the_box():
    system = System.with_load(EXAMPLE, [1, 1], 1.5)  # overloaded
    shape, times = (7, 6), [0.5, 2.0, 6.0]
    law = transient(system, DRF(), times, shape=shape, start=[1, 2])
    # The integral of the law from the exponential of the generator bordered by the identity.
    rates = generator(system, tabulate(EXAMPLE, DRF(), shape).tasks)
    size = len(rates)
    border = np.block([[rates, np.eye(size)], [np.zeros((size, 2 * size))]])
    for k, t in enumerate(times):
        spent = expm(border * t)[np.ravel_multi_index((1, 2), shape), size:].reshape(shape)
        lost = system.arrival_rates @ [spent[-1].sum(), spent[:, -1].sum()]
        assert law.lost_arrivals[k] == pytest.approx(lost, rel=1e-11)
        # A bound from above: never below but for rounding.
        assert law.lost_arrivals[k] >= lost * (1 - 1e-13)
    large = transient(system, DRF(), times, shape=60, start=[1, 2])
    assert large.box_error.max() < 1e-12
    gap = large.distribution.copy()
    gap[:, :7, :6] -= law.distribution
    # The largest error of the probability of an event is half the L1 distance.
    assert (np.abs(gap).reshape(3, -1).sum(axis=1) / 2 <= law.box_error + 2e-12).all()
    assert 1e-3 < law.box_error[0] < 1


@pytest.mark.parametrize("mean", [0.0, 1e-3, 0.7, 1.0, 30.0, 1e3, 4e6])
def test_poisson_weights(mean):
    weights = module.PoissonWeights(mean, 1e-12)
    k = weights.first + np.arange(len(weights.values))
    # The reference itself loses digits: its exponent is a difference of numbers of size mean log(mean).
    rel = 1e-13 * max(10.0, mean)
    main = weights.values > 1e-30
    assert weights.values[main] == pytest.approx(stats.poisson.pmf(k[main], mean), rel=rel)
    used = weights.values[weights.low - weights.first : weights.high + 1 - weights.first].sum()
    assert 1 - used <= weights.neglected + 1e-15 <= 1.1e-12
    assert weights.excess(0) == pytest.approx(mean, rel=1e-12)
    assert weights.excess(0, 2) == pytest.approx(mean**2 / 2, rel=1e-12)
    middle = int(mean)
    assert weights.excess(middle) == pytest.approx(
        weights.above[max(middle - weights.first, 0) :].sum(), rel=1e-11, abs=1e-15
    )


def test_steps_uncompiled_are_the_same():
    rng = np.random.default_rng(0)
    shape = np.array([3, 2, 4])
    down, up = rng.uniform(0, 0.1, (3, 24)), rng.uniform(0, 0.1, 3)
    stay, law = rng.uniform(0, 0.5, 24), rng.dirichlet(np.ones(24))
    results = []
    for kernel in (module.steps, module.steps.py_func):
        arrays = law.copy(), np.empty(24), np.zeros((2, 24)), np.zeros((4, 9))
        kernel(*arrays[:2], up, down, stay, shape, np.arange(8.0).reshape(2, 4), *arrays[2:])
        results.append(arrays)
    for one, other in zip(*results, strict=True):
        assert one == pytest.approx(other, rel=1e-14)


def test_classes_without_jobs_order_of_axes_and_tables():
    problem = Problem([[1, 0.2], [0.3, 1], [1, 1]], [1, 1])
    system = System(problem, [0.3, 0.0, 0.4])
    law = transient(system, DRF(), 2.5, shape=(9, 9, 4), start=[1, 2, 0])
    # The class without arrivals only drains: three states are enough.
    assert law.shape == (9, 3, 4)
    rates = generator(system, tabulate(problem, DRF(), law.shape).tasks)
    exact = expm(2.5 * rates)[np.ravel_multi_index((1, 2, 0), law.shape)].reshape(law.shape)
    assert law.distribution[0] == pytest.approx(exact, abs=1e-12)
    table = tabulate(problem, DRF(), (10, 3, 4))
    again = transient(system, table.function, 2.5, shape=(9, 9, 4), start=[1, 2, 0], table=table)
    assert np.array_equal(law.distribution, again.distribution)
    empty = transient(System(problem, [0, 0, 0]), DRF(), [0, 1e6], shape=3)
    assert empty.shape == (1, 1, 1)
    assert empty.mean_jobs.tolist() == [[0, 0, 0]] * 2
    assert "steps" in law.summary()
    assert list(law.to_dataframe().columns) == [*problem.job_classes, "box_error"]


def test_rates_apart_by_orders_of_magnitude():
    # A class whose jobs take 1e-3 of the time of the others: many steps, and still the matrix exponential.
    system = System(EXAMPLE, [400.0, 0.5], [1e-3, 1.0])
    law = transient(system, DRF(), [4.0], shape=(8, 6))
    rates = generator(system, tabulate(EXAMPLE, DRF(), (8, 6)).tasks)
    # expm squares about 13 times here, which costs it digits.
    assert law.distribution[0].ravel() == pytest.approx(expm(4 * rates)[0], abs=1e-11)
    assert law.rounding < 1e-10


def test_bad_input():
    system = System.with_load(EXAMPLE, [1, 1], 0.9)
    good = {"times": [1.0], "shape": 5}
    for changes, words in [
        ({"times": [1.0, -1.0]}, "index 1"),
        ({"times": [np.inf]}, "finite"),
        ({"times": []}, "times must"),
        ({"times": "soon"}, "times"),
        ({"times": [1e30]}, "steps of the uniformised"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"max_steps": 0}, "max_steps"),
        ({"max_steps": "many"}, "max_steps"),
        ({"tolerance": "small"}, "tolerance"),
        ({"shape": 1}, "no room"),
        ({"shape": (2, 2.5)}, "shape must"),
        ({"shape": 10**8}, "GiB"),
        ({"start": [5, 0]}, "'A'"),
        ({"start": [0.5, 0]}, "whole numbers"),
        ({"start": [0, 0, 0]}, "start must be a state"),
        ({"start": np.full((5, 5), 0.05)}, "sum 1"),
        ({"table": tabulate(EXAMPLE, MaxMin(), 5)}, "table must be made for the same problem and the policy"),
    ]:
        with pytest.raises(ModelError, match=words) as caught:
            transient(system, DRF(), **(good | changes))
        assert caught.value.argument in (*changes, None)
    five = System(Problem(np.eye(5), np.ones(5)), np.full(5, 0.5))
    with pytest.raises(ModelError, match="at most 4"):
        transient(five, DRF(), [1.0], shape=2)
    with pytest.raises(NotConvergedError, match="max_steps=100 ") as failure:
        transient(system, DRF(), [500.0, 1.0], shape=5, max_steps=100)
    best = failure.value.best
    assert best.times.tolist() == [1.0]
    assert np.array_equal(best.distribution, transient(system, DRF(), [1.0], shape=5).distribution)
    with pytest.raises(NotConvergedError) as failure:
        transient(system, DRF(), [500.0], shape=5, max_steps=100)
    assert failure.value.best is None
