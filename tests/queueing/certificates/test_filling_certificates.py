"""What the checker knows of filling policies: bounds of the tasks, fractions, and the drift lemma."""

from fractions import Fraction

import numpy as np
import pytest

from fairness import DRF, AssetFair, MaxMin, Problem
from queueing import System
from queueing.certificates.certificate import Drift
from queueing.certificates.drifts import decay as decay_of_v
from queueing.certificates.drifts.decay import decay, radius
from queueing.certificates.errors import CertificateError
from queueing.certificates.families import family
from queueing.certificates.intervals import Interval
from queueing.certificates.pool import Pool
from queueing.certificates.rates.filling import exact_growth, exact_tasks
from queueing.certificates.rates.interface import rates_of

POLICIES = {"MMF": MaxMin, "DRF": DRF, "Asset": AssetFair}


def some_system(rng, kind, n=None, m=None, limited=None):
    """A system whose tasks tie often ("whole", "copies", "line"), or never ("decades")."""
    n, m = n or rng.integers(1, 5), m or rng.integers(1, 5)
    if kind == "decades":
        demands = 10 ** rng.uniform(-3, 3, (n, m)) * (rng.random((n, m)) < 0.7)
    elif kind == "line":  # one class on all links, the others on one each
        demands = np.vstack([np.ones(m), np.eye(m)])[: n + 1]
        n = len(demands)
    else:
        demands = rng.integers(0, 4, (n, m)).astype(float)
        if kind == "copies":
            demands = np.hstack([demands, demands[:, rng.integers(0, m, 2)]])
            m += 2
    demands[~demands.any(axis=1), 0] = 1.0
    limited = rng.random() < 0.5 if limited is None else limited
    limits = np.where(rng.random(n) < 0.6, rng.choice([0.5, 1, 1 / 3, 0.01], n), np.inf) if limited else None
    capacities = rng.integers(1, 5, m) * (10 ** rng.uniform(-2, 2, m) if kind == "decades" else 1.0)
    problem = Problem(demands, capacities, weights=rng.choice([1, 2, 1.5, 0.1], n), limits=limits)
    return System.with_load(
        problem, rng.uniform(0.1, 1, n), rng.uniform(0.3, 0.95), 10 ** rng.uniform(-3, 3, n)
    )


def some_policy(rng, system):
    """A policy by name, with parameters."""
    name = str(rng.choice(list(POLICIES)))
    if name == "DRF" and rng.random() < 0.4:
        own = rng.uniform(0.2, 1, system.problem.demands.shape)
        return name, {"resource_weights": own}, DRF(own)
    return name, {}, POLICIES[name]()


def bounds_of(system, name, parameters, counts):
    """Lower and upper bounds by the kernel of the checker, (n_states, n_classes) each."""
    pool, known = Pool.of(system), family(name)
    rates = rates_of(pool, known.numbers(pool, name, parameters))
    lower, upper = np.empty((2, *counts.shape))
    memory = np.zeros(known.memory(*pool.demands.shape))
    for k, x in enumerate(counts):
        known.tasks(rates, x, lower[k], upper[k], memory)
    return lower, upper


def some_counts(rng, n, size):
    """Few jobs and many, equal ones, classes without any."""
    counts = rng.integers(0, rng.choice([3, 12, 300], (size, 1)), (size, n))
    counts[: size // 5] = rng.integers(1, 30, (size // 5, 1))
    return counts


@pytest.mark.parametrize("kind", ["whole", "copies", "line", "decades"])
def test_tasks_lie_within_narrow_bounds(kind):
    """100 systems, 60 states each; the policies of the project are right to about 1e-14."""
    rng = np.random.default_rng(1)
    widths = []
    for _ in range(100):
        system = some_system(rng, kind)
        name, parameters, policy = some_policy(rng, system)
        counts = some_counts(rng, system.n_classes, 60)
        lower, upper = bounds_of(system, name, parameters, counts)
        tasks = policy(system.problem, counts)
        most = counts * system.most_tasks
        assert ((lower <= tasks + 1e-13 * most) & (tasks - 1e-13 * most <= upper)).all()
        assert (upper[counts == 0] == 0).all()
        assert (lower >= 0).all()
        widths.append(((upper - lower) / np.maximum(upper, 1e-300)).max())
    # A tie of resources of other classes costs ratios of demands; otherwise some ulps are lost.
    assert np.median(widths) < 1e-13
    assert max(widths) < (1e-6 if kind == "decades" else 1e-10)


@pytest.mark.parametrize("kind", ["whole", "copies", "line", "decades"])
def test_exact_tasks_lie_within_the_bounds(kind):
    """The definition in fractions, event by event: no tolerance, ties included."""
    rng = np.random.default_rng(2)
    ties = 0
    for _ in range(60):
        system = some_system(rng, kind)
        name, parameters, policy = some_policy(rng, system)
        pool = Pool.of(system)
        counts = some_counts(rng, system.n_classes, 8)
        lower, upper = bounds_of(system, name, parameters, counts)
        for x, low, high in zip(counts, lower, upper, strict=True):
            tasks = exact_tasks(pool, name, parameters, [int(k) for k in x])
            assert all(Fraction(a) <= t <= Fraction(b) for a, t, b in zip(low, tasks, high, strict=True))
            full = sum(
                sum(t * Fraction(a) for t, a in zip(tasks, column, strict=True)) == Fraction(c)
                for column, c in zip(pool.demands.T, pool.capacities, strict=True)
            )
            ties += full > 1
            assert [float(t) for t in tasks] == pytest.approx(
                policy(system.problem, x), rel=1e-12, abs=1e-300
            )
    assert ties > (0 if kind == "decades" else 20)


def test_growth_rates_are_those_of_the_policies():
    rng = np.random.default_rng(3)
    for _ in range(50):
        system = some_system(rng, "decades")
        name, parameters, policy = some_policy(rng, system)
        pool = Pool.of(system)
        low, high = family(name).numbers(pool, name, parameters)
        exact = exact_growth(pool, name, parameters)
        assert all(Fraction(a) <= r <= Fraction(b) for a, r, b in zip(low, exact, high, strict=True))
        assert [float(r) for r in exact] == pytest.approx(policy.growth(system.problem), rel=1e-14)


def test_resources_that_tie_exactly_are_no_guess():
    """Three resources are full at once, each with other classes; the true tasks are known."""
    pool = Pool.of(System(Problem([[1, 1, 1], [3, 0, 0], [0, 3, 0], [0, 0, 3]], [6, 6, 6]), [0.1] * 4))
    rates = rates_of(pool, np.ones((2, 4)))
    lower, upper, memory = np.empty(4), np.empty(4), np.zeros(100)
    family("MMF").tasks(rates, np.array([3, 1, 1, 1]), lower, upper, memory)
    assert (lower <= [3, 1, 1, 1]).all()
    assert (upper >= [3, 1, 1, 1]).all()
    assert upper - lower == pytest.approx(np.zeros(4), abs=1e-13)


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        ("MMF", {"resource_weights": [[1.0]]}, "no parameter 'resource_weights'"),
        ("DRF", {"weights": [[1.0]]}, "no parameter 'weights'"),
        ("DRF", {"resource_weights": [1.0, 2.0]}, "shape"),
        ("DRF", {"resource_weights": [[1.0, 0.0]]}, "finite and > 0"),
        ("DRF", {"resource_weights": [[1.0]]}, "shape"),
    ],
)
def test_parameters_of_another_policy_are_refused(name, parameters, said):
    pool = Pool.of(System(Problem([[1, 1]], [1, 1]), [0.5]))
    with pytest.raises(CertificateError, match=said):
        family(name).numbers(pool, name, parameters)


def scales(system, growth, p):
    """Those with which all classes weigh the same in lemma 2."""
    c = growth / system.loads
    omega = 1 / (c * system.arrival_rates)
    return (omega / omega.max()) ** (1 / p) * c


def test_lemma_of_filling_drifts_holds():
    """T does not rise at arrival rates larger by the spare: 300 directions of 120 systems, limits included.

    In one class nothing is lost: the spare is what the load leaves.
    """
    rng = np.random.default_rng(4)
    lost = []
    for _ in range(120):
        system = some_system(rng, str(rng.choice(["whole", "decades", "line"])))
        name, parameters, policy = some_policy(rng, system)
        p = float(rng.choice([2, 3.5, 6, 12]))
        b = scales(system, policy.growth(system.problem), p)
        least = 10 ** rng.uniform(1, 4) * b.max()
        try:
            delta = family(name).spare(Pool.of(system), name, parameters, Drift(p, b, 0.1, 0.1), least)
        except CertificateError:
            continue
        directions = np.vstack([rng.dirichlet(np.full(system.n_classes, 0.3), 300), np.eye(system.n_classes)])
        counts = directions / b
        length = ((b * counts) ** p).sum(axis=1, keepdims=True) ** (1 / p)
        counts *= least * rng.choice([1, 3], length.shape) / length
        length = ((b * counts) ** p).sum(axis=1, keepdims=True) ** (1 / p)
        gradient = b * (b * counts / length) ** (p - 1)
        rise = gradient @ system.arrival_rates
        fall = (gradient * policy(system.problem, counts) / system.mean_sizes).sum(axis=1)
        assert (rise * (1 + delta) <= fall * (1 + 1e-12)).all()
        if system.n_classes == 1:
            assert delta == pytest.approx(1 / system.relative_loads.max() - 1, rel=1e-6)
        lost.append((fall / rise).min() - 1 - delta)
    assert len(lost) > 40


def drift_of(system, policy, name, p, theta):
    """A drift on a box of 150 jobs or more per class, with the gamma that is proved."""
    b = scales(system, policy.growth(system.problem), p)
    shape = tuple(int(side) for side in np.ceil(150 * b.max() / b))
    drift, pool = Drift(p, b, theta, 1.0), Pool.of(system)
    spare = family(name).spare(pool, name, {}, drift, radius(drift, pool, shape))
    return b, shape, decay(drift, pool, shape, spare)


def test_steps_of_the_norm_bend_at_most_as_the_lemma_says():
    """Steps of T up and down along an axis, for all z and ratios of scale and radius; nearly met for some."""
    z, met = np.linspace(0, 1, 1001)[1:], []
    cell = np.minimum((z * decay_of_v.CELLS).astype(int), decay_of_v.CELLS - 1)
    for p in (2.0, 2.5, 4.0, 12.0, 40.0):
        for s in (0.3, 0.03, 1e-3):
            forth, back, _, _ = decay_of_v.bends(Interval.of(p), s)
            up = ((1 + (z + s) ** p - z**p) ** (1 / p) - 1) / s
            assert (up - z ** (p - 1) <= forth[cell] + 1e-11).all()
            some = z >= s
            down = (1 - (1 - z**p + np.maximum(z - s, 0) ** p) ** (1 / p)) / s
            assert (z ** (p - 1) - down <= back[cell] + 1e-11)[some].all()
            met.append((up - z ** (p - 1)).max() / forth.max())
            met.append((z ** (p - 1) - down)[some].max() / back.max())
    assert np.median(met) > 0.7


@pytest.mark.long
def test_v_decays_outside_of_the_box_as_is_proved():
    """QV <= -gamma V in 3000 states of each system, with the tasks of the project."""
    rng = np.random.default_rng(5)
    ratios = []
    for _ in range(25):
        system = some_system(rng, str(rng.choice(["whole", "decades"])), n=rng.integers(1, 4))
        name = str(rng.choice(list(POLICIES)))
        policy, n = POLICIES[name](), system.n_classes
        found = []
        for p in (2.0, 6.0, 12.0):
            for theta in (0.003, 0.03, 0.3):
                try:
                    found.append((*drift_of(system, policy, name, p, theta), p, theta))
                except CertificateError:
                    continue
        b, shape, gamma, p, theta = max(found, key=lambda one: one[2], default=(0, 0, -1, 0, 0))
        if not gamma > 0:
            continue
        counts = np.floor(rng.exponential(1, (3000, n)) * shape * 10 ** rng.uniform(-2, 0.5, (3000, n)))
        k = rng.integers(0, n, 3000)
        counts[np.arange(3000), k] += np.array(shape)[k]

        def radii(x, b=b, p=p):
            return ((b * x) ** p).sum(axis=-1) ** (1 / p)

        change, down = np.zeros(3000), policy(system.problem, counts) / system.mean_sizes
        for i, unit in enumerate(np.eye(n)):
            change += system.arrival_rates[i] * np.expm1(theta * (radii(counts + unit) - radii(counts)))
            lower = radii(np.maximum(counts - unit, 0))
            change += down[:, i] * np.expm1(theta * (lower - radii(counts)))
        assert (change <= -gamma * (1 - 1e-9)).all()
        ratios.append(-change.max() / gamma)
    assert len(ratios) > 10
    assert min(ratios) < 1.5


def test_limits_that_matter_far_out_need_a_larger_box():
    system = System(Problem([[1]], [1], limits=[0.1]), [0.5])
    spare, drift = family("MMF").spare, Drift(2.0, np.array([2.0]), 0.1, 0.1)
    assert spare(Pool.of(system), "MMF", {}, drift, 2.0 * 20.1) > 0.99
    with pytest.raises(CertificateError, match="take a larger box"):
        spare(Pool.of(system), "MMF", {}, drift, 2.0 * 9.9)


def test_an_exponent_too_small_for_the_load_is_refused():
    system = System.with_load(Problem([[1, 0.1], [0.1, 1]], [1, 1]), [1, 1], 0.9)
    b = scales(system, DRF().growth(system.problem), 2.0)
    with pytest.raises(CertificateError, match="larger exponent"):
        family("DRF").spare(Pool.of(system), "DRF", {}, Drift(2.0, b, 0.1, 0.1), 100.0)
    assert family("DRF").spare(Pool.of(system), "DRF", {}, Drift(6.0, b, 0.1, 0.1), 100.0) > 0.05
