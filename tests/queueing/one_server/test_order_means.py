"""One server and an order of service: against integrals of the densities, sums by hand, and other theory."""

from __future__ import annotations

import math
from bisect import bisect_right
from contextlib import suppress
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from fairness.errors import ModelError, NotConvergedError, UnstableError
from queueing import (
    Deterministic,
    Empirical,
    Erlang,
    Exponential,
    Hyperexponential,
    Law,
    Lognormal,
    PhaseType,
    TruncatedPareto,
    fit_phases,
    single_server,
)
from queueing.model.scipy_law import as_law
from queueing.one_server.by_size import FORMULAS

ORDERS = ("fcfs", "ps", "sjf", "psjf", "srpt", "las", "gittins")
BLIND = ("fcfs", "ps", "las")

LAWS = [
    Exponential(2.0),
    Deterministic(0.5),
    Erlang(3),
    Hyperexponential.fit(6),
    TruncatedPareto(1.5, 1e4),
    Lognormal(4),
    Empirical([1, 2, 2, 9]),
    PhaseType([0.5, 0.5, 0.0], [[-4, 0, 0], [0, -0.5, 0.4], [0, 0, -0.2]]),
    stats.weibull_min(0.6),
    stats.uniform(0.2, 1.0),
    stats.randint(1, 5),
]


def names(law):
    return type(law).__name__


SOME_LONG = [
    pytest.param(law, id=names(law), marks=[pytest.mark.long] * isinstance(law, PhaseType)) for law in LAWS
]
"""Under PhaseType the Gittins index takes more than a second."""


def by_density(law, load, order):
    """E[T] and E[T/S] by adaptive quadrature of the formulas over a density of scipy."""
    rate = load / law.mean()
    low, high = law.ppf(1e-25), law.isf(1e-13)
    grid = np.geomspace(low, high, 20_001)
    dense = law.pdf(grid) * np.array([grid, grid**2])
    first, second = integrate.cumulative_simpson(dense, x=grid, initial=0)
    alive = law.sf(grid)
    free = 1 - rate * first
    cut, cut_square = first + grid * alive, second + grid**2 * alive
    residence = grid[0] + integrate.cumulative_simpson(1 / free, x=grid, initial=0)
    durations = {
        "fcfs": grid + rate * second[-1] / (2 * free[-1]),
        "ps": grid / free[-1],
        "sjf": grid + rate * second[-1] / (2 * free**2),
        "psjf": grid / free + rate * second / (2 * free**2),
        "srpt": residence + rate * cut_square / (2 * free**2),
        "las": grid / (1 - rate * cut) + rate * cut_square / (2 * (1 - rate * cut) ** 2),
    }[order]
    weights = law.pdf(grid)
    return (float(integrate.simpson(weights * g, x=grid)) for g in (durations, durations / grid))


@pytest.mark.parametrize("order", ORDERS[:-1])
@pytest.mark.parametrize("shape", [stats.lognorm(0.9), stats.weibull_min(1.7), stats.gamma(2.5)])
def test_formulas_are_the_integrals_over_a_density(order, shape):
    found = single_server(shape, 0.85, order)
    mean, slowdown = by_density(shape, 0.85, order)
    # 1.5e-5: the precision asked for, and what the sums over 20,000 sizes are off.
    assert found.mean_duration == pytest.approx(mean, rel=1.5e-5)
    assert found.mean_slowdown == pytest.approx(slowdown, rel=1.5e-5)


@pytest.mark.parametrize("order", ["fcfs", "ps", "las", "gittins"])
def test_exponential_sizes_make_all_blind_orders_equal(order):
    assert single_server(Exponential(2.0), 0.9, order).mean_duration == pytest.approx(20, rel=1e-5)


def test_srpt_of_exponential_sizes_by_adaptive_quadrature():
    # rho(x) = .8 (1 - (1 + x) e^-x), lambda E[min^2] = 1.6 (1 - (1 + x) e^-x).
    def free(x):
        return 1 - 0.8 * (1 - (1 + x) * math.exp(-x))

    def waits(x):
        return 0.8 * (1 - (1 + x) * math.exp(-x)) / free(x) ** 2 * math.exp(-x)

    # The residence of x is integrated over all sizes above it.
    waited = integrate.quad(waits, 0, 60, epsabs=1e-12)[0]
    served = integrate.quad(lambda t: math.exp(-t) / free(t), 0, 60, epsabs=1e-12)[0]
    found = single_server(Exponential(), 0.8, "srpt")
    assert found.mean_duration == pytest.approx(waited + served, rel=1e-5)
    assert abs(found.mean_duration - waited - served) < found.duration_error


@pytest.mark.parametrize("law", LAWS, ids=names)
def test_pollaczek_khinchine_and_processor_sharing(law):
    shape = single_server(law, 0.7, "fcfs")
    mean, scv = shape.law.mean, shape.law.scv
    assert shape.mean_duration == pytest.approx(mean * (1 + 0.7 / 0.3 * (1 + scv) / 2), rel=1e-5)
    shared = single_server(law, 0.7, "ps")
    assert shared.mean_duration == pytest.approx(mean / 0.3, rel=1e-5)
    assert shared.mean_slowdown == pytest.approx(1 / 0.3, rel=1e-9)
    assert shared.mean_jobs == pytest.approx(0.7 / 0.3, rel=1e-5)


def test_atoms_are_classes_of_a_priority_queue():
    # Sizes 1 and 3, equally likely, at rate 0.35: loads .175 and .525, work in service .35 * 5 / 2.
    law, rate = Empirical([1, 3]), 0.35
    small, all_ = 1 - 0.175, 1 - 0.7
    residual = rate * 5 / 2
    waits = residual / small, residual / (small * all_)
    by_hand = {
        "fcfs": (1 + residual / all_, 3 + residual / all_),
        "sjf": (1 + waits[0], 3 + waits[1]),
        # Preemptive resume: the first class sees itself alone.
        "psjf": (1 + 0.175 / 2 / small, 3 / small + residual / (small * all_)),
        # A large job of which 1 is left goes on; the small wait for such rests too, and a large one with 1
        # left is not interrupted.
        "srpt": (1 + rate * 1 / 2 / small, 1 + 2 / small + residual / (small * all_)),
        "las": (
            1 / (1 - rate) + rate / (2 * (1 - rate) ** 2),
            3 / all_ + residual / all_**2,
        ),
    }
    for order, durations in by_hand.items():
        found = single_server(law, 0.7, order)
        np.testing.assert_allclose(found.durations, durations, rtol=1e-13)
        assert found.mean_duration == pytest.approx(np.mean(durations), rel=1e-13)
        assert found.mean_slowdown == pytest.approx((durations[0] + durations[1] / 3) / 2, rel=1e-13)


class Atoms(Law):
    """A law of given values and probabilities."""

    def __init__(self, values, chances):
        self.values, self.chances = np.array(values, dtype=float), np.array(chances)

    mean = property(lambda self: float(self.values @ self.chances))
    scv = property(lambda self: float((self.values / self.mean) ** 2 @ self.chances - 1))

    def sample(self, generator, size):
        return generator.choice(self.values, size, p=self.chances)

    def with_mean(self, mean):
        return Atoms(self.values * (mean / self.mean), self.chances)

    def atoms(self):
        return self.values, self.chances


def by_fractions(law, load, order):
    """Durations of the sizes of a law with atoms, by the formulas in exact numbers."""
    sizes, chances = ([Fraction(x) for x in row.tolist()] for row in law.atoms())
    jobs = list(zip(sizes, chances, strict=True))
    rate = Fraction(load) / sum(s * p for s, p in jobs)

    def free(size):
        return 1 - rate * sum(s * p for s, p in jobs if s <= size)

    def duration(size, before):
        cut = rate / 2 * sum(min(s, size) ** 2 * p for s, p in jobs)
        if order == "las":
            least = 1 - rate * sum(min(s, size) * p for s, p in jobs)
            return size / least + cut / least**2
        both = free(before) * free(size)
        if order == "psjf":
            return size / free(before) + rate / 2 * sum(s**2 * p for s, p in jobs if s <= size) / both
        return sum((b - a) / free(a) for a, b in pairwise([0, *sizes]) if b <= size) + cut / both

    return [float(duration(size, before)) for before, size in pairwise([0, *sizes])]


def test_few_jobs_with_most_of_the_work_leave_the_others_their_digits():
    rare = 1e-14
    law = Atoms([1, 2, 3, 2 / rare], [0.4, 0.3, 1 - 0.4 - 0.3 - rare, rare])
    for order in ("psjf", "srpt", "las"):
        found = single_server(law, 0.8, order)
        exact = np.array(by_fractions(law, 0.8, order))
        np.testing.assert_allclose(found.durations, exact, rtol=1e-14)
        assert abs(found.mean_slowdown - law.chances @ (exact / law.values)) <= found.slowdown_error
    # The first side of the hull, of rank 1.9, ends at 3: these wait for each other, and come in order.
    rate, used = 0.8 / law.mean, 1.9
    waits = rate / 2 * 4.3 / (1 - rate * used)
    found = single_server(law, 0.8, "gittins").durations
    np.testing.assert_allclose(found[:3], waits + law.values[:3], rtol=1e-12)


def test_the_index_policy_is_known_as_well_as_it_claims():
    # New jobs have rank 1/0.5, those of 5 have it again with 2 left: E[min(S, 1)^2] + E[X^2] = 1 + 2 at rate
    # 1/6. Those of 5 have rank 4 at age 1, so that up to 3 all who come get their 1 before, and then nobody.
    rate = 1 / 6
    short = 1 + rate / 2 * (1 + 2) / (1 - rate)
    large = 3 / (1 - rate) + 2 + rate / 2 * 13 / ((1 - rate) * (1 - 3 * rate))
    found = single_server(Empirical([1, 5]), 0.5, "gittins", precision=1e-10)
    np.testing.assert_allclose(found.durations, [short, large], rtol=1e-12)
    assert abs(found.mean_duration - 4.75) <= found.duration_error < 1e-12


def near_one(load, order):
    """E[T] of a law of mean 1 and the law, close to load 1, by integrals without differences."""
    if order == "psjf":
        # Sizes uniform in (0, 2): rho(s) = load s^2/4, E[S^2; S <= s] = s^3/6; both integrals in s^2.
        log = math.log1p(-load)
        return -log / load + (log + load / (1 - load)) / (3 * load), stats.uniform(0, 2)

    def free(x):
        return 1 - load + load * math.exp(-x) * (1 + x)

    def part(x):
        cut = load * (1 - math.exp(-x) * (1 + x)) / free(x) ** 2
        return math.exp(-x) * (1 / free(x) + cut)

    ends = np.append(np.arange(0, 40, 2.0), [60, 100, 700])
    parts = [integrate.quad(part, a, b, epsrel=1e-11)[0] for a, b in pairwise(ends)]
    return {"srpt": sum(parts), "las": 1 / (1 - load)}[order], Exponential()


@pytest.mark.parametrize("order", ["psjf", "srpt", "las"])
@pytest.mark.parametrize("left", [0.1, 1e-4, 1e-6, 1e-8])
def test_means_close_to_load_1(order, left):
    exact, law = near_one(1 - left, order)
    found = single_server(law, 1 - left, order)
    assert abs(found.mean_duration - exact) <= found.duration_error <= 1e-5 * exact


@pytest.mark.parametrize("law", [Hyperexponential.fit(100), TruncatedPareto(1.5, 1e6), stats.beta(2, 2)])
def test_nothing_is_faster_than_alone(law):
    for left in (1e-6, 1e-14):
        for order in ("srpt", "las"):
            # Half of everything: errors may be large, but not hide what cannot be. Or it is not known.
            with suppress(NotConvergedError):
                found = single_server(law, 1 - left, order, precision=0.5)
                assert found.mean_duration + found.duration_error >= found.law.mean
                assert found.mean_duration > 0 < found.mean_slowdown


def test_what_cannot_be_is_not_accepted(monkeypatch):
    for factor in (-1.0, 0.5):
        monkeypatch.setitem(FORMULAS, "ps", lambda table, rate, factor=factor: factor * table.sizes)
        with pytest.raises(NotConvergedError):
            single_server(Lognormal(4), 0.5, "ps")


def test_equal_sizes_come_in_order_or_all_at_once():
    for order in ("fcfs", "sjf", "psjf", "srpt", "gittins"):
        assert single_server(Deterministic(2.0), 0.5, order).mean_duration == pytest.approx(3.0, rel=1e-12)
    assert single_server(Deterministic(2.0), 0.5, "las").mean_duration == pytest.approx(6.0, rel=1e-12)


@pytest.mark.parametrize("load", [pytest.param(0.3, marks=pytest.mark.long), 0.9])
@pytest.mark.parametrize("law", SOME_LONG)
def test_who_knows_more_is_faster(law, load):
    found = {order: single_server(law, load, order, precision=1e-4) for order in ORDERS}
    means = {order: one.mean_duration for order, one in found.items()}
    # 2e-4: the precision asked for, of both.
    for order in ORDERS:
        assert means["srpt"] <= means[order] * (1 + 2e-4)
    for order in BLIND:
        assert means["gittins"] <= means[order] * (1 + 2e-4)


KINKED = [
    Exponential(),
    Erlang(20),
    Hyperexponential.fit(100),
    TruncatedPareto(2.5, 10),
    Lognormal(0.1),
    Lognormal(100),
    stats.uniform(0, 1),
    stats.triang(0.3),
    stats.invgauss(2),  # whose survival function is no number far beyond
]


@pytest.mark.parametrize("precision", [1e-3, 1e-5])
@pytest.mark.parametrize("law", KINKED, ids=names)
def test_errors_cover_the_means_that_are_known(law, precision):
    for load in (0.3, 0.95):
        first, shared = (single_server(law, load, order, precision=precision) for order in ("fcfs", "ps"))
        mean, scv = first.law.mean, first.law.scv
        exact = mean * (1 + load / (1 - load) * (1 + scv) / 2)
        assert abs(first.mean_duration - exact) < first.duration_error < precision * exact
        assert abs(shared.mean_duration - mean / (1 - load)) < shared.duration_error


@pytest.mark.parametrize("law", [Erlang(2), Erlang(7), stats.weibull_min(1.5), stats.uniform(0.5, 1)])
def test_the_index_policy_is_fcfs_where_the_hazard_rate_rises(law):
    one, other = (single_server(law, 0.8, order) for order in ("gittins", "fcfs"))
    assert one.mean_duration == pytest.approx(other.mean_duration, rel=2e-5)
    assert one.mean_slowdown == pytest.approx(other.mean_slowdown, rel=2e-5)


@pytest.mark.parametrize(
    "law", [Hyperexponential.fit(3), Hyperexponential.fit(50), stats.weibull_min(0.6), stats.lomax(2.5)]
)
def test_the_index_policy_is_las_where_the_hazard_rate_falls(law):
    one, other = (single_server(law, 0.8, order) for order in ("gittins", "las"))
    assert one.mean_duration == pytest.approx(other.mean_duration, rel=2e-5)
    assert one.mean_slowdown == pytest.approx(other.mean_slowdown, rel=2e-5)


def mean_jobs_by_work(values, chances, load):
    """E[N] under the index policy of a law with atoms, without durations: the integral of E[W_r]/r^2.

    W_r is the work until all present have a rank of at least r (Scully, Grosof and Harchol-Balter 2020);
    ranks and intervals are found from their definitions on a fine grid of ages.
    """
    values, chances = np.array(values, float), np.array(chances)
    rate = load / (values @ chances)
    step = values.max() / 9000
    ages = (np.arange(9000) + 0.5) * step
    alive = (chances * (values > ages[:, None])).sum(axis=1)
    ranks = np.full(len(ages), np.inf)
    for stop in values:
        work = (np.minimum(values, stop) - ages[:, None]).clip(0) @ chances
        done = (chances * ((values > ages[:, None]) & (values <= stop))).sum(axis=1)
        np.minimum(ranks, np.divide(work, done, out=np.full(len(ages), np.inf), where=done > 0), out=ranks)
    total, levels = 0.0, np.geomspace(ranks.min() / 2, ranks.max() * 1.0001, 3001)
    works = []
    for level in levels:
        low = np.append(ranks < level, False)
        edges = np.flatnonzero(np.diff(low, prepend=False))
        squares, first = 0.0, 0.0
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            # E[X^2] = 2 int (t - start) P(S > t) dt.
            inside = slice(start, end)
            squares += 2 * ((ages[inside] - start * step) * alive[inside]).sum() * step
            if start == 0:
                first = alive[inside].sum() * step
        works.append(rate / 2 * squares / (1 - rate * first))
    total = integrate.trapezoid(np.array(works) / levels**2, levels)
    return total + works[-1] / levels[-1]


@pytest.mark.parametrize(
    ("values", "chances"),
    [
        ([1, 2, 9], [1 / 3, 1 / 3, 1 / 3]),
        ([1, 6, 14], [0.5, 0.1, 0.4]),
        ([0.1, 2, 3, 3.1], [0.4, 0.3, 0.1, 0.2]),
        # Shortly before 6 the rank is below that of new jobs, but those of 14 have a higher one to come.
        ([1, 6, 14], [0.5, 0.3, 0.2]),
        # A job of rank 10/3 at age 0 waits for those between 1 and 4.1 that have come near their ends.
        ([1, 4, 4.1, 30], [0.3, 0.3, 0.3, 0.1]),
    ],
)
def test_the_index_policy_has_the_mean_jobs_of_its_work(values, chances):
    law = Empirical(np.repeat(values, np.round(np.array(chances) * 30).astype(int)))
    found = single_server(law, 0.8, "gittins")
    # 3e-3: 9000 ages and 3000 ranks, between which the work jumps.
    assert found.mean_jobs == pytest.approx(mean_jobs_by_work(values, chances, 0.8), rel=3e-3)


def served_by_index(values, load, jobs, seed):
    """Mean duration in a run of jobs whose sizes are known from a list, served by rank of age."""
    rng = np.random.default_rng(seed)
    values = sorted(map(float, values))
    arrivals = np.cumsum(rng.exponential(np.mean(values) / load, jobs)).tolist()
    sizes = rng.choice(values, jobs).tolist()

    def rank(age):
        """Least mean work until k, per chance to end by then, over the values k to come."""
        left = [value - age for value in values if value > age]
        work = accumulate(left)
        steps = enumerate(zip(work, left, strict=True), 1)
        return min((done + (len(left) - j) * more) / j for j, (done, more) in steps)

    # Ranks fall between two values: whoever is served goes on at least to the next value or arrival.
    levels = {age: rank(age) for age in [0.0, *values] if age < values[-1]}
    now, k, total, present = 0.0, 0, 0.0, []
    while present or k < jobs:
        if not present:
            now = arrivals[k]
        while k < jobs and arrivals[k] <= now:
            present.append([levels[0.0], k, 0.0])
            k += 1
        best = min(present)
        goal = values[bisect_right(values, best[2])]
        until = arrivals[k] if k < jobs else math.inf
        if now + goal - best[2] <= until:
            now += goal - best[2]
            best[2] = goal
            if goal >= sizes[best[1]]:
                present.remove(best)
                total += now - arrivals[best[1]]
            else:
                best[0] = levels[best[2]]
        else:
            best[2] += until - now
            now = until
            best[0] = rank(best[2])
    return total / jobs


@pytest.mark.long
@pytest.mark.parametrize(
    ("values", "unlike"), [([1, 2, 9], BLIND), ([1, 1, 6, 14], BLIND), ([1, 5, 5.5, 5.6], ["las"])]
)
def test_the_index_policy_has_the_mean_of_its_simulation(values, unlike):
    means = [served_by_index(values, 0.7, 4_000, seed) for seed in range(25)]
    exact = single_server(Empirical(values), 0.7, "gittins").mean_duration
    # False alarms have probability 1e-6: Student's law of 25 runs.
    wide = stats.t.isf(5e-7, 24) * np.std(means, ddof=1) / math.sqrt(25)
    assert abs(np.mean(means) - exact) < wide
    # And that tells it from other orders.
    for order in unlike:
        assert abs(np.mean(means) - single_server(Empirical(values), 0.7, order).mean_duration) > wide


EXTREME = [
    Erlang(1000),
    Erlang(20, 1e-200),
    TruncatedPareto(1.01, 1e5),
    Lognormal(1e4, 1e100),
    Hyperexponential.fit(1e6),
    Hyperexponential([0.5, 0.5], [1, 1e-9]),
    stats.uniform(5, 1e-3),
    stats.pareto(2.1),
    stats.weibull_min(0.2),
]


@pytest.mark.parametrize("law", EXTREME, ids=names)
def test_extreme_laws_have_their_means(law):
    found = {order: single_server(law, 0.9, order) for order in ORDERS}
    mean, scv = found["ps"].law.mean, found["ps"].law.scv
    assert found["ps"].mean_duration == pytest.approx(10 * mean, rel=2e-5)
    assert found["fcfs"].mean_duration == pytest.approx(mean * (1 + 9 * (1 + scv) / 2), rel=2e-5)
    for order in BLIND:
        assert found["gittins"].mean_duration <= found[order].mean_duration * (1 + 2e-5)
    # Where the hazard rate rises, or falls, all along.
    alike = {Erlang: "fcfs", Hyperexponential: "las"}.get(type(law))
    if alike is not None:
        assert found["gittins"].mean_duration == pytest.approx(found[alike].mean_duration, rel=2e-5)
        assert found["gittins"].mean_slowdown == pytest.approx(found[alike].mean_slowdown, rel=2e-5)


@pytest.mark.long
def test_the_index_policy_of_a_density_is_the_limit_of_atoms():
    # The hazard rate begins at the smallest size, falls, and rises again up to the largest.
    law = TruncatedPareto(1.5, 100.0)
    found = single_server(law, 0.8, "gittins")

    def by_atoms(n):
        """Of the means of n parts of the law that are equally likely."""
        ends = stats.truncpareto(law.shape, law.ratio, scale=law.smallest).ppf(np.arange(n + 1) / n)
        work = law.upper_moments(ends)[1]
        one = single_server(Empirical((work[:-1] - work[1:]) * n), 0.8, "gittins", precision=1e-4)
        return np.array([one.mean_duration, one.mean_slowdown])

    # Atoms tell more of what is left, in proportion to their distance; 1e-3: of the second order.
    limit = 2 * by_atoms(2000) - by_atoms(1000)
    np.testing.assert_allclose([found.mean_duration, found.mean_slowdown], limit, rtol=1e-3)


@pytest.mark.long
def test_the_index_policy_is_known_where_the_hazard_rate_has_a_peak():
    # Sizes of invgamma: all sizes up to somewhat beyond the peak are served to their end; the mean is least
    # there, so it does not tell where, but the mean slowdown does: computed with 128 to 4096 panels.
    found = single_server(stats.invgamma(2.5), 0.9, "gittins")
    assert found.mean_duration / found.law.mean == pytest.approx(6.48570905, rel=1e-7)
    assert found.mean_slowdown == pytest.approx(4.88097, rel=1e-5)


def test_slowdowns_are_infinite_where_small_jobs_wait_for_large_ones():
    for order in ("fcfs", "sjf"):
        assert single_server(Exponential(), 0.5, order).mean_slowdown == math.inf
        assert single_server(Hyperexponential.fit(4), 0.5, order).mean_slowdown == math.inf
        assert single_server(stats.gamma(0.7), 0.5, order).mean_slowdown == math.inf
        assert math.isfinite(single_server(Erlang(2), 0.5, order).mean_slowdown)
        assert "infinite: the smallest jobs" in repr(single_server(Exponential(), 0.5, order))
    for order in ("psjf", "srpt", "las", "ps"):
        assert single_server(stats.gamma(0.7), 0.5, order).mean_slowdown <= 2 * (1 + 1e-9)
    # The smallest 1e-10 of these sizes are below 1e-19.
    assert single_server(stats.beta(0.5, 0.5), 0.5, "las").mean_slowdown < 3


@pytest.mark.parametrize(
    ("law", "inverse"), [(Erlang(2), 2.0), (stats.gamma(1.2), 5.0), (Lognormal(3.0), 4.0)]
)
def test_slowdowns_of_fcfs_need_the_mean_inverse(law, inverse):
    found = single_server(law, 0.5, "fcfs")
    waits = found.mean_duration - found.law.mean
    assert found.mean_slowdown == pytest.approx(1 + waits * inverse, rel=1e-5)


def test_the_law_tells_whether_slowdowns_are_infinite():
    # However short the wait, and however few the jobs that may be tiny: one of 1e6 is exponential here.
    few = PhaseType([1 - 1e-6, 0, 0, 1e-6], np.diag([-3.0, -3, -3, -1]) + np.diag([3.0, 3, 0], 1))
    for law, load in ((Exponential(), 1e-8), (Exponential(), 1e-30), (few, 0.5), (stats.halfnorm(), 1e-8)):
        found = single_server(law, load, "fcfs")
        assert (found.mean_slowdown, found.slowdown_error) == (math.inf, 0)
    assert single_server(stats.uniform(0, 1), 1e-8, "gittins").mean_slowdown == math.inf  # which is fcfs
    # E[1/S] = 1/0.0005 of which 99 % are jobs smaller than all but 1e-10.
    found = single_server(stats.gamma(1.0005), 0.5, "fcfs")
    waits = 0.5 * 2.0005 / 2 / 0.5
    assert abs(found.mean_slowdown - 1 - waits * 2000) < 1e-9 * found.mean_slowdown
    # The density rises from 0 to 1 in no time.
    found = single_server(PhaseType([1, 0], [[-1e9, 1e9], [0, -1]]), 0.5, "fcfs")
    exact = 1 + (found.mean_duration - 1) * math.log(1e9)
    assert found.mean_slowdown == pytest.approx(exact, rel=1e-5)


def test_a_law_of_scipy_is_the_same_law():
    for order in ("las", "gittins"):
        one = single_server(stats.randint(1, 4), 0.6, order)
        other = single_server(Empirical([1, 2, 3]), 0.6, order)
        assert one.mean_duration == pytest.approx(other.mean_duration, rel=1e-12)
        lognormal = single_server(stats.lognorm(math.sqrt(math.log(5)), scale=1 / math.sqrt(5)), 0.6, order)
        assert lognormal.mean_duration == pytest.approx(
            single_server(Lognormal(4), 0.6, order).mean_duration, rel=2e-5
        )
        phases = single_server(fit_phases(1.0, 4.0), 0.6, order)
        assert phases.mean_duration == pytest.approx(
            single_server(Hyperexponential.fit(4), 0.6, order).mean_duration, rel=2e-5
        )


def test_units_of_size_are_units_of_duration():
    for order in ORDERS:
        one, other = (single_server(Lognormal(2, mean), 0.8, order) for mean in (1.0, 1e9))
        assert other.mean_duration == pytest.approx(1e9 * one.mean_duration, rel=2e-5)
        assert other.mean_slowdown == pytest.approx(one.mean_slowdown, rel=2e-5)


class Unknown(Law):
    mean, scv = 1.0, 0.3

    def sample(self, generator, size):
        return generator.uniform(0.5, 1.5, size)

    def with_mean(self, mean):
        return self


class Known(Unknown):
    scv = 1 / 12

    def upper_moments(self, values):
        s = np.clip(values, 0.5, 1.5)
        return np.array([1.5 - s, (1.5**2 - s**2) / 2, (1.5**3 - s**3) / 3])


def test_own_laws_say_their_probabilities():
    found = single_server(Known(), 0.6, "srpt")
    exact = single_server(stats.uniform(0.5, 1), 0.6, "srpt")
    assert found.mean_duration == pytest.approx(exact.mean_duration, rel=2e-5)
    with pytest.raises(ModelError, match="knows no probabilities: give it a method upper_moments"):
        single_server(Unknown(), 0.6)


class Hidden(Unknown):
    """A law of this package that does not say E[1/S]."""

    def __init__(self, law):
        self.law, self.mean, self.scv = law, law.mean, law.scv

    def with_mean(self, mean):
        return Hidden(self.law.with_mean(mean))

    def upper_moments(self, values):
        return self.law.upper_moments(values)


def test_a_law_that_does_not_know_its_mean_inverse_is_guessed():
    found = single_server(Hidden(Exponential()), 0.5, "fcfs")
    assert found.mean_slowdown == found.slowdown_error == math.inf
    assert "infinite as far as can be seen: the smallest jobs" in repr(found)
    for law in (Erlang(2), as_law("law", stats.gamma(1.2)), TruncatedPareto(1.5, 100.0)):
        guessed, known = (single_server(one, 0.5, "sjf") for one in (Hidden(law), law))
        assert guessed.mean_slowdown == pytest.approx(known.mean_slowdown, rel=2e-5)


def test_bad_arguments_are_named():
    with pytest.raises(ModelError, match=r"order must be one of 'fcfs'.*got 'lifo'"):
        single_server(Exponential(), 0.5, "lifo")
    with pytest.raises(UnstableError, match=r"load 1 of one server"):
        single_server(Exponential(), 1.0)
    with pytest.raises(ModelError, match="load must be"):
        single_server(Exponential(), 0.0)
    with pytest.raises(ModelError, match="law must be a law"):
        single_server(3.0, 0.5)
    with pytest.raises(ModelError, match="precision must be"):
        single_server(Exponential(), 0.5, precision=2)
    many = Empirical(np.arange(1, 30_002))
    with pytest.raises(ModelError, match=r"law has 30,001 values"):
        single_server(many, 0.5, "gittins")
    assert single_server(many, 0.5, "srpt").mean_duration > many.mean
    with pytest.raises(NotConvergedError, match="panels the means are known to") as caught:
        single_server(Lognormal(4), 0.5, "srpt", precision=1e-15)
    assert caught.value.best.mean_duration == pytest.approx(
        single_server(Lognormal(4), 0.5, "srpt").mean_duration, rel=1e-6
    )
