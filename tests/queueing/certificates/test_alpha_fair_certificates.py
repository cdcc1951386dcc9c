"""Bounds of alpha-fair tasks by definition, and the drift of their counts."""

import itertools
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from fairness import AlphaFair, BottleneckMax, Problem, all_bottleneck_max
from queueing import System, check_certificate, enclose, stationary
from queueing.certificates import checking
from queueing.certificates.certificate import Drift
from queueing.certificates.drifts import decay as decays
from queueing.certificates.drifts.alpha_fair import scales_of_targets
from queueing.certificates.drifts.decay import decay, radius
from queueing.certificates.errors import CertificateError
from queueing.certificates.families import family
from queueing.certificates.intervals import Interval
from queueing.certificates.pool import Pool
from queueing.certificates.rates import alpha_fair
from queueing.certificates.rates.interface import rates_of
from queueing.certificates.rates.slack import slack_of, two_product, two_sum
from queueing.proved_bounds.price_guess import guess_prices


def bounds(problem, policy, parameters, states, load=0.5):
    """Bounds of the tasks, state after state; every class has arrivals."""
    mix = 1 / problem.task_shares.max(axis=1)
    pool = Pool.of(System.with_load(problem, mix, load))
    kind = family(policy)
    numbers = kind.numbers(pool, policy, parameters)
    rates = rates_of(pool, numbers)
    memory = np.zeros(kind.memory(*pool.demands.shape))
    lower, upper = np.zeros((2, *np.shape(states)))
    states = np.asarray(states, dtype=np.int64)
    guesses = np.zeros((len(states), kind.guess_size(*pool.demands.shape)))
    guess_prices(rates, states, guesses)
    for k, counts in enumerate(states):
        memory[: len(guesses[k])] = guesses[k]
        kind.tasks(rates, counts, lower[k], upper[k], memory)
    return lower, upper


def named(alpha):
    return ("PF", {}) if alpha == 1 else ("alpha-fair", {"alpha": float(alpha)})


def alike(rng, n, m, kind):
    """Demands over six decades, of small whole numbers (many ties), or of nearly the same resources."""
    if kind == "decades":
        demands = 10 ** rng.uniform(-3, 3, (n, m))
    elif kind == "whole":
        demands = rng.integers(0, 4, (n, m)).astype(float)
    elif kind == "tasks":
        demands = 10 ** rng.uniform(-3, 3, (n, 1)) * rng.integers(1, 4, (n, m))
    else:
        demands = rng.uniform(0.5, 1, (n, m))
        demands[:, -1] = demands[:, 0] * (1 + 2.0**-50 * rng.integers(-2, 3, n))
    demands[~demands.any(axis=1), 0] = 1
    return demands


def some_problem(rng, kind, most=3):
    n, m = rng.integers(1, most + 1, 2)
    demands = alike(rng, n, m, kind)
    capacities = rng.integers(1, 4, m).astype(float)
    weights = rng.integers(1, 4, n) if rng.random() < 0.5 else None
    limits = None
    if rng.random() < 0.4:
        limits = rng.choice([0.1, 0.2, 1 / 3, 0.5, 1, np.inf], n) * capacities.max() / demands.max(axis=1)
    return Problem(demands, capacities, weights=weights, limits=limits)


def exact_tasks(problem, alpha, counts, near):
    """Alpha-fair tasks to some fifty digits: full resources and limits for which the conditions hold.

    They are sought among what ``near``, tasks to ten digits, all but fill.
    """
    here = [i for i in range(len(counts)) if counts[i] > 0]
    mass = [mp.mpf(int(counts[i])) * mp.mpf(problem.weights[i]) for i in here]
    columns = [
        ([mp.mpf(problem.demands[i, j]) for i in here], mp.mpf(problem.capacities[j]))
        for j in range(problem.n_resources)
    ]
    columns += [
        ([mp.mpf(int(i == k)) for i in here], mp.mpf(int(counts[k])) * mp.mpf(problem.limits[k]))
        for k in here
        if problem.limits[k] < np.inf
    ]
    guess = [mp.mpf(near[i]) for i in here]
    full = [c for c in columns if mp.fdot(c[0], guess) >= c[1] * (1 - mp.mpf("1e-7"))]
    for size in range(1, min(len(full), len(here)) + 1):
        for chosen in itertools.combinations(full, size):
            found = _solved(chosen, columns, mass, mp.mpf(alpha), guess)
            if found is not None:
                tasks = dict(zip(here, found, strict=True))
                return [tasks.get(i, mp.mpf(0)) for i in range(len(counts))]
    raise AssertionError("no set of full resources fits")


def _solved(chosen, columns, mass, alpha, guess):
    """Tasks with these constraints full, by Newton's method on their prices; None if they do not fit."""
    tiny = mp.mpf("1e-40")
    shares = mp.matrix([[a[k] for a, _ in chosen] for k in range(len(mass))])
    bills = [(w / x) ** alpha for w, x in zip(mass, guess, strict=True)]
    slopes = mp.diag([b**-2 for b in bills])
    try:
        prices = mp.lu_solve(shares.T * slopes * shares, shares.T * slopes * mp.matrix(bills))
        for _ in range(9):
            cost = shares * prices
            tasks = [w * e ** (-1 / alpha) for w, e in zip(mass, cost, strict=True)]
            over = mp.matrix([mp.fdot(a, tasks) - c for a, c in chosen])
            hessian = shares.T * mp.diag([x / (alpha * e) for x, e in zip(tasks, cost, strict=True)]) * shares
            prices += mp.lu_solve(hessian, over)
    except (ZeroDivisionError, ValueError):  # dependent constraints
        return None
    cost = shares * prices
    if any(isinstance(e, mp.mpc) or e <= 0 for e in cost):
        return None
    tasks = [w * e ** (-1 / alpha) for w, e in zip(mass, cost, strict=True)]
    priced = min(prices) >= -tiny * max(abs(p) for p in prices)
    fits = all(mp.fdot(a, tasks) <= c * (1 + tiny) for a, c in columns)
    full = all(abs(mp.fdot(a, tasks) - c) <= tiny * c for a, c in chosen)
    return tasks if priced and fits and full else None


@pytest.mark.long
@pytest.mark.parametrize("kind", ["decades", "whole", "tasks", "nearly the same"])
def test_bounds_hold_the_tasks_to_fifty_digits_and_are_narrow(kind):
    rng = np.random.default_rng(["decades", "whole", "tasks", "nearly the same"].index(kind))
    with mp.workdps(60):
        for _ in range(40):
            problem = some_problem(rng, kind)
            alpha = float(rng.choice([1, 1, 2, 3]))
            states = rng.integers(0, 12, (3, problem.n_classes))
            lower, upper = bounds(problem, *named(alpha), states)
            near = AlphaFair(alpha)(problem, states)
            for counts, low, high, tasks in zip(states, lower, upper, near, strict=True):
                if not counts.any():
                    continue
                for a, b, exact in zip(low, high, exact_tasks(problem, alpha, counts, tasks), strict=True):
                    assert a <= exact <= b
                    assert b - a <= 1e-9 * b


def test_bounds_hold_closed_forms_as_fractions():
    """One full resource: every job has the same share of it."""
    problem = Problem([[3, 1], [7, 2], [0.1, 0.05]], [11, 1000], weights=[1, 3, 0.7])
    states = np.array(list(itertools.product(range(6), repeat=3)))
    lower, upper = bounds(problem, "PF", {}, states)
    mass = [Fraction(w) for w in problem.weights]
    for counts, low, high in zip(states, lower, upper, strict=True):
        total = sum(int(x) * w for x, w in zip(counts, mass, strict=True))
        for i, x in enumerate(counts):
            exact = int(x) * mass[i] * 11 / (total * Fraction(problem.demands[i, 0])) if x else 0
            assert Fraction(low[i]) <= exact <= Fraction(high[i])
            assert high[i] - low[i] <= 1e-12 * high[i]


def test_ties_are_as_narrow_as_other_states():
    """On the line x_1 = 10 x_2 the second resource is just full, at price 0."""
    problem = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    states = np.array([(10 * k, k) for k in range(1, 30)] + [(k, 10 * k) for k in range(1, 30)])
    lower, upper = bounds(problem, "PF", {}, states)
    assert (upper - lower <= 1e-13 * upper).all()


def test_bounds_hold_the_policies_of_the_library():
    """Tasks of the engines, right to 1e-10, in boxes with all ties, empty classes and limits."""
    rng = np.random.default_rng(7)
    for trial in range(80):
        problem = some_problem(rng, ["decades", "whole", "tasks", "nearly the same"][trial % 4], most=4)
        alpha = rng.choice([1, 1, 1.5, 2])
        shape = (6,) * problem.n_classes if problem.n_classes < 4 else (3,) * 4
        states = np.array(list(np.ndindex(*shape))) * rng.choice([1, 1, 10, 100], problem.n_classes)
        lower, upper = bounds(problem, *named(alpha), states)
        tasks = AlphaFair(alpha)(problem, states)
        assert (lower <= tasks * (1 + 1e-9)).all()
        assert (tasks * (1 - 1e-9) <= upper).all()
        assert np.median((upper - lower)[upper > 0] / upper[upper > 0]) < 1e-11


def test_where_nothing_is_verified_the_constraints_bound():
    """Bills of hundreds of decades at alpha = 40: the first guess may be worth nothing, the bounds hold."""
    problem = Problem([[1, 2], [2, 1]], [1, 1], weights=[1, 1e6])
    lower, upper = bounds(problem, "alpha-fair", {"alpha": 40.0}, [[1, 900]])
    assert (lower >= 0).all()
    assert (upper <= 1.001).all()
    tasks = AlphaFair(40)(problem, [1, 900])
    assert (lower <= tasks * (1 + 1e-9)).all()
    assert (tasks * (1 - 1e-9) <= upper).all()


def verified(problem, alpha, counts, tasks, prices):
    """What the theorem says of given tasks and prices; None if it does not apply."""
    resources = alpha_fair.Resources(problem.demands, problem.capacities, problem.task_shares, float(alpha))
    rows = np.zeros((alpha_fair.ROWS, problem.n_classes))
    rows[0], rows[1] = counts * problem.weights, counts * problem.limits
    guess = alpha_fair.Guess(prices * problem.capacities, tasks, np.zeros_like(tasks), np.zeros(1))
    lower, upper = np.zeros((2, problem.n_classes))
    return (lower, upper) if alpha_fair._verify(resources, guess, rows, 0.0, lower, upper) else None


@pytest.mark.long
@pytest.mark.parametrize("alpha", [1, 2, 1.5])
def test_theorem_holds_for_any_guess(alpha):
    """Tasks and prices off by 1e-12 to 1/10, at random or all alike: it refuses, or its bounds hold."""
    rng = np.random.default_rng(5)
    held = refused = 0
    for _ in range(150):
        n, m = rng.integers(1, 4, 2)
        problem = Problem(rng.uniform(0.1, 1, (n, m)), np.ones(m), weights=rng.uniform(0.5, 2, n))
        counts = rng.integers(1, 20, n)
        low, high = (one[0] for one in bounds(problem, *named(alpha), [counts]))
        prices = AlphaFair(alpha).solve(problem, counts).prices
        off = 10 ** rng.uniform(-12, -1)
        some, others = off * rng.uniform(-1, 1, n), off * rng.uniform(-1, 1, m)
        for less, more in ((some, others), (some - off, others), (0 * some - off, 0 * others + alpha * off)):
            found = verified(problem, alpha, counts, high * (1 + less), prices * (1 + more))
            if found is None:
                refused += 1
                continue
            held += 1
            assert (found[0] <= high).all()
            assert (low <= found[1]).all()
    assert held >= 100
    assert refused >= 100


def test_prices_below_0_are_no_evidence():
    """One job of tasks (1, 1/2) runs one; half a task with prices (3, -2) has no slack, by their sum."""
    problem, one = Problem([[1, 0.5]], [1, 1]), np.ones(1)
    assert verified(problem, 1, one, np.array([0.5]), np.array([3.0, -2.0])) is None


def test_tasks_of_classes_without_jobs_are_no_evidence():
    """One job runs one task, and not half of one because another class is said to run the rest."""
    pool = Pool.of(System.with_load(Problem([[1], [1]], [1]), [1, 1], 0.5))
    rates = rates_of(pool, family("PF").numbers(pool, "PF", {}))
    memory, lower, upper = np.zeros(family("PF").memory(2, 1)), np.zeros(2), np.zeros(2)
    guess, _ = alpha_fair.guess_in(memory, 2, 1)
    guess.prices[:], guess.high[:] = 2.0, 0.5
    family("PF").tasks(rates, np.array([1, 0]), lower, upper, memory)
    assert lower[0] <= 1 <= upper[0]
    assert lower[1] == upper[1] == 0


@pytest.mark.long
def test_guesses_that_are_not_feasible_are_refused():
    problem = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    prices, counts = np.array([1.0, 1.0]), np.array([1, 1])
    for off, holds in ((-1e-12, True), (1e-12, False), (2.0**-50, False)):
        tasks = np.full(2, 10 / 11 * (1 + off))
        assert (verified(problem, 1, counts, tasks, prices) is not None) == holds


@pytest.mark.long
def test_a_full_resource_does_not_hide_that_another_one_overflows():
    """The second resource is just full and priced; the first one, for free, holds 10/9 of its capacity."""
    problem, prices = Problem([[1, 0.9]], [1, 1]), np.array([0.0, 1.0])
    assert verified(problem, 1, np.ones(1), np.array([(1 - 1e-13) / 0.9]), prices) is None


def test_sums_and_products_in_twice_the_digits_are_exact():
    rng = np.random.default_rng(3)
    for a, b in rng.uniform(-1, 1, (500, 2)) * 10 ** rng.uniform(-8, 8, (500, 2)):
        for exact, parts in (
            (Fraction(a) + Fraction(b), two_sum(a, b)),
            (Fraction(a) * Fraction(b), two_product(a, b)),
        ):
            assert Fraction(parts[0]) + Fraction(parts[1]) == exact
    for _ in range(200):
        n = rng.integers(1, 6)
        demands, high = rng.uniform(0, 1, (n, 1)), rng.uniform(0, 1, n)
        low = high * rng.uniform(-1, 1, n) * 2.0**-54
        capacity = float(demands[:, 0] @ high)
        value, error = slack_of(demands, capacity, 0, high, low)
        rows = zip(demands[:, 0], high, low, strict=True)
        exact = Fraction(capacity) - sum(Fraction(a) * (Fraction(h) + Fraction(w)) for a, h, w in rows)
        assert abs(exact - Fraction(value)) <= Fraction(error)
        assert error <= 2.0**-95


@pytest.mark.parametrize("limited", [False, True])
def test_bmf_is_pf_where_groups_have_two_classes_or_one_resource(limited):
    """Two classes on any number of resources, three on one resource, and both side by side."""
    rng = np.random.default_rng(11)
    blocks = ([[1, 2, 3], [3, 2, 1.5]], [[1], [2], [3]])
    both = np.zeros((5, 4))
    both[:2, :3], both[2:, 3:] = blocks
    for demands in (*blocks, both):
        n, m = np.shape(demands)
        limits = rng.uniform(0.05, 0.2, n) if limited else None
        problem = Problem(demands, np.ones(m), weights=rng.uniform(0.5, 2, n), limits=limits)
        states = rng.integers(0, 8, (60, n))
        lower, upper = bounds(problem, "BMF", {}, states)
        tasks = BottleneckMax()(problem, states)
        assert (lower <= tasks * (1 + 1e-8)).all()
        assert (tasks * (1 - 1e-8) <= upper).all()
        for counts in states[:4] + 1:
            found = all_bottleneck_max(problem, counts)
            assert found.is_unique
            low, high = bounds(problem, "BMF", {}, [counts])
            point = np.array(found.points[0], dtype=float)
            assert ((low <= point * (1 + 1e-8)) & (point * (1 - 1e-8) <= high)).all()


def test_bmf_of_more_classes_on_more_resources_is_refused():
    """There PF is another allocation: three jobs on two resources."""
    problem = Problem([[4, 1], [2, 1], [1, 4]], [1, 1])
    with pytest.raises(CertificateError, match="BMF of 3 classes that share several resources"):
        bounds(problem, "BMF", {}, [[1, 1, 1]])
    tasks = BottleneckMax()(problem, [1, 1, 1])
    lower, upper = bounds(problem, "PF", {}, [[1, 1, 1]])
    assert not ((lower[0] <= tasks) & (tasks <= upper[0])).all()


def some_drift(rng, alpha, limited):
    """A system, a drift with targets between its loads and the capacities, and T_0."""
    n, m = rng.integers(1, 4, 2)
    problem = Problem(
        alike(rng, n, m, rng.choice(["decades", "whole", "tasks"])),
        rng.integers(1, 4, m),
        weights=10 ** rng.uniform(-1, 1, n),
        limits=np.where(rng.random(n) < 0.5, 10 ** rng.uniform(-1, 1, n), np.inf) if limited else None,
    )
    sizes = 10 ** rng.uniform(-3, 3, n)
    mix = rng.dirichlet(np.ones(n)) / problem.task_shares.max(axis=1)
    system = System.with_load(problem, mix, rng.uniform(0.3, 0.97), mean_sizes=sizes)
    targets = system.loads * rng.uniform(1, 1 + rng.choice([0, 0.03 / system.relative_loads.max()]), n)
    scales = scales_of_targets(targets, problem.weights, sizes, alpha)
    drift = Drift(alpha + 1.0, scales, 0.1, 0.1)
    return system, drift, 10 ** rng.uniform(0.5, 4) * scales.max()


@pytest.mark.parametrize("limited", [False, True])
def test_lemma_of_alpha_fair_drifts_holds_and_is_met(limited):
    """The inequality in 200 random directions and along all axes; one class meets it."""
    rng = np.random.default_rng(limited)
    ratios = []
    for _ in range(60):
        alpha = float(rng.choice([0.5, 1, 1, 1.2, 2, 4]))
        system, drift, least = some_drift(rng, alpha, limited)
        problem, b, p = system.problem, drift.scales, drift.exponent
        policy, parameters = named(alpha)
        try:
            delta = family(policy).spare(Pool.of(system), policy, parameters, drift, least)
        except CertificateError:
            continue
        n = system.n_classes
        counts = np.concatenate([rng.dirichlet(np.full(n, 0.3), 200), np.eye(n)]) / b
        length = ((b * counts) ** p).sum(axis=1) ** (1 / p)
        counts *= (least * rng.choice([1, 1, 3], len(counts)) / length)[:, None]
        length = ((b * counts) ** p).sum(axis=1, keepdims=True) ** (1 / p)
        gradient = b**p * (counts / length) ** (p - 1)
        up, down = system.arrival_rates, AlphaFair(alpha)(problem, counts) / system.mean_sizes
        size = (gradient * (up + down)).sum(axis=1)
        assert (gradient @ up * (1 + delta) - (gradient * down).sum(axis=1) <= 1e-9 * size).all()
        most = ((gradient * down).sum(axis=1) / (gradient @ up)).min() - 1
        if n == 1 and not limited:
            assert most == pytest.approx(delta, rel=1e-8)
        ratios.append(most / delta)
    assert len(ratios) >= 30
    assert np.median(ratios) < 3


def test_limits_matter_less_the_larger_the_box():
    """One class of limit 1/10 on one resource: below ten jobs it is slower, which the lemma knows."""
    one = np.ones(1)
    system = System(Problem([[1]], [1], limits=[0.1]), [0.5])
    spares = [
        family("PF").spare(Pool.of(system), "PF", {}, Drift(2.0, one, 0.1, 0.1), least)
        for least in (30.0, 100.0, 1e6)
    ]
    assert spares == pytest.approx([1 / 3, 0.8, 1.0], abs=1e-4)
    with pytest.raises(CertificateError, match="take a larger box"):
        family("PF").spare(Pool.of(system), "PF", {}, Drift(2.0, one, 0.1, 0.1), 15.0)


def test_drifts_that_the_lemma_does_not_know_are_refused():
    system = System.with_load(Problem([[1, 0.1], [0.1, 1]], [1, 1]), [1, 1], 0.9)
    pool, spare = Pool.of(system), family("PF").spare
    ones = np.ones(2)
    assert spare(pool, "PF", {}, Drift(2.0, ones, 0.1, 0.1), 50.0) > 0.1
    with pytest.raises(CertificateError, match=r"exponent must be alpha \+ 1"):
        spare(pool, "PF", {}, Drift(3.0, ones, 0.1, 0.1), 50.0)
    with pytest.raises(CertificateError, match=r"exponent must be alpha \+ 1 = 2.5"):
        spare(pool, "alpha-fair", {"alpha": 1.5}, Drift(2.5 + 1e-11, ones, 0.1, 0.1), 50.0)
    with pytest.raises(CertificateError, match=r"target .* is not above its load"):
        spare(pool, "PF", {}, Drift(2.0, np.array([1.0, 2.0]), 0.1, 0.1), 50.0)
    for wrong in ({}, {"alpha": 2}, {"alpha": 0.0}, {"alpha": np.inf}, {"alpha": 2.0, "beta": 1.0}):
        with pytest.raises(CertificateError, match="alpha"):
            spare(pool, "alpha-fair", wrong, Drift(3.0, ones, 0.1, 0.1), 50.0)


@pytest.mark.parametrize("alpha", [0.5, 0.75, 1.0, 2.0])
def test_v_decays_outside_as_the_lemma_says(alpha):
    """QV <= -gamma V in all states of a wide strip outside of the box, with the tasks of the library."""
    system = System.with_load(Problem([[1, 0.3], [0.2, 1]], [1, 1]), [2, 1], 0.4, mean_sizes=[1, 2])
    problem, p = system.problem, alpha + 1
    policy, parameters = named(alpha)
    scales = scales_of_targets(system.loads, problem.weights, system.mean_sizes, alpha)
    shape = tuple(int(side) for side in np.ceil((150 if alpha < 1 else 40) / scales))
    pool = Pool.of(system)
    drift = Drift(p, scales, 0.1, 1.0)
    level = radius(drift, pool, shape)
    gamma = decay(drift, pool, shape, family(policy).spare(pool, policy, parameters, drift, level))
    assert gamma > 0
    states = np.indices((shape[0] + 8, shape[1] + 8)).reshape(2, -1).T
    states = states[(states >= shape).any(axis=1)]

    def v(counts):
        return np.exp(drift.theta * (((scales * counts) ** p).sum(axis=1) ** (1 / p) - level))

    tasks = AlphaFair(alpha)(problem, states)
    flow = np.zeros(len(states))
    for i, step in enumerate(np.eye(2)):
        flow += system.arrival_rates[i] * (v(states + step) - v(states))
        some = states[:, i] > 0
        fall = v(states[some] - step) - v(states[some])
        flow[some] += tasks[some, i] / system.mean_sizes[i] * fall
    assert (flow <= -gamma * v(states) * (1 - 1e-9)).all()


@pytest.mark.parametrize("p", [1.25, 1.5, 1.75, 2.0, 2.5, 4.0])
def test_steps_of_the_norm_are_as_the_lemma_says(p):
    """T(x+e) - T(x) <= b ((1+a) z^(p-1) + B), and back, where T >= T_A, on the axes too."""
    rng = np.random.default_rng(2)
    b, least = np.array([1.0, 0.3]), 20.0
    counts = rng.integers(0, 60, (4000, 2)) * rng.choice([0, 1], (4000, 2), p=[0.1, 0.9])
    counts[:2000, 0] = rng.integers(0, 4, 2000)  # few of one class, where the norm bends most
    counts[:2000, 1] += 66

    def norm(x):
        return ((b * x) ** p).sum(axis=1) ** (1 / p)

    counts = counts[norm(counts) >= least]
    for i in range(2):
        bends = decays.bends(Interval.of(p), (Interval.of(b[i]) / least).high)
        length, step = norm(counts), np.eye(2, dtype=int)[i]
        z = b[i] * counts[:, i] / length
        some = counts[:, i] > 0
        for a in (0.0, 0.01, 0.1, 0.5):
            more, less = decays._left(bends, a)
            rise = norm(counts + step) - length
            assert (rise <= b[i] * ((1 + a) * z ** (p - 1) + more) + 1e-12).all()
            fall = (length - norm(np.abs(counts - step)))[some]
            assert (fall >= b[i] * ((1 - a) * z[some] ** (p - 1) - less) - 1e-12).all()


def test_it_does_not_matter_how_many_guesses_are_in_memory(monkeypatch):
    """Each slab begins from nothing, and in the state where the one before it ended."""
    system = System.with_load(Problem([[1, 0.1], [0.1, 1]], [1, 1]), [1, 1], 0.4)
    certificate = enclose(system, AlphaFair(1), width=1e-4).certificate
    lower, upper = check_certificate(certificate)
    monkeypatch.setattr(checking, "SLAB", 7)
    for slabs, whole in zip(check_certificate(certificate), (lower, upper), strict=True):
        np.testing.assert_allclose(slabs, whole, rtol=1e-14)
    assert (upper - lower <= 1e-4 * upper).all()


@pytest.mark.parametrize("alpha", [0.5, 0.75, 1.2, np.inf])
def test_enclosures_of_other_alphas_hold_the_means_of_a_large_box(alpha):
    """Below 1; where alpha + 1 is no float; and max-min fairness, the limit."""
    system = System.with_load(Problem([[1, 0.1], [0.1, 1]], [1, 1]), [1, 1], 0.4)
    found = enclose(system, AlphaFair(alpha), width=1e-6)
    mean = stationary(system, AlphaFair(alpha), tail=1e-13).mean_jobs
    table = found.to_dataframe()
    low, high = (table.loc["mean_jobs", side].to_numpy()[:2] for side in ("lower", "upper"))
    assert ((low <= mean * (1 + 1e-10)) & (mean * (1 - 1e-10) <= high)).all()
    assert (high - low <= 1e-6 * mean).all()
