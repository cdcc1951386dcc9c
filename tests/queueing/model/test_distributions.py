from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from fairness.errors import ModelError
from queueing.model.arrivals import OnOff, Poisson, Renewal
from queueing.model.laws import (
    Deterministic,
    Empirical,
    Erlang,
    Exponential,
    Hyperexponential,
    Lognormal,
    TruncatedPareto,
)
from queueing.model.phase_type import phases_of
from queueing.model.scipy_law import ScipyLaw, as_law

# Statistical tests fail by chance with this probability each; seeds are fixed.
FALSE_ALARM = 1e-6


def mixture(law):
    """Distribution function of a hyperexponential law."""
    p, m = np.array(law.probabilities), np.array(law.means)
    return lambda x: (p * -np.expm1(-np.asarray(x)[..., None] / m)).sum(axis=-1)


def pareto(law):
    return stats.truncpareto(law.shape, law.ratio, scale=law.smallest)


# Each law with the same law by scipy, parametrised anew from its definition.
LAWS = [
    (Exponential(0.3), stats.expon(scale=0.3)),
    (Erlang(3, 2.0), stats.gamma(3, scale=2 / 3)),
    (Lognormal(4.0, 0.5), stats.lognorm(math.sqrt(math.log(5)), scale=0.5 / math.sqrt(5))),
    (TruncatedPareto(1.5, 1e3, 7.0), pareto(TruncatedPareto(1.5, 1e3, 7.0))),
    (TruncatedPareto(1.0, 50.0), pareto(TruncatedPareto(1.0, 50.0))),
    (TruncatedPareto(2.0, 50.0), pareto(TruncatedPareto(2.0, 50.0))),
    (ScipyLaw(stats.weibull_min(0.6), 2.0), stats.weibull_min(0.6, scale=2)),
]

ALL = [law for law, _ in LAWS] + [
    Deterministic(2.5),
    Hyperexponential.fit(4.0, 2.0),
    Hyperexponential([0.2, 0.5, 0.3], [1.0, 3.0, 0.1]),
    Empirical([1, 2, 2, 9]),
]


@pytest.mark.parametrize(("law", "twin"), LAWS, ids=lambda law: type(law).__name__)
def test_upper_moments_are_integrals_of_the_density(law, twin):
    sizes = np.array([0.0, 0.2, 1.0, 3.0, 20.0]) * law.mean
    found = law.upper_moments(sizes)
    # In units of the quantile, by scipy's adaptive rule from one to the next.
    for power, row in enumerate(found):
        whole = law.mean**power * (1 + law.scv * (power == 2))
        ends = np.unique(twin.isf(10.0 ** -np.arange(0, 28, 3)))
        ends = ends[np.diff(ends, prepend=-1.0) > 1e-6 * ends]
        for size, value in zip(sizes, row, strict=True):
            cut = np.append(size, ends[ends > size])
            parts = [
                integrate.quad(lambda x, k=power: x**k * twin.pdf(x), a, b, limit=200)[0]
                for a, b in pairwise(cut)
            ]
            assert value == pytest.approx(sum(parts), rel=1e-7, abs=1e-9 * whole)
    assert law.atoms() is None
    assert found[:, 0] == pytest.approx([1, law.mean, law.mean**2 * (1 + law.scv)], rel=1e-9)


def test_mean_inverses():
    for law, twin in LAWS:
        one = law.inverse_mean
        if law.scv > 0.9 and not isinstance(law, Lognormal | TruncatedPareto):
            assert one == math.inf
        else:
            ends = twin.ppf([0, 1e-12, 1e-6, 0.01, 0.5, 0.99, 1 - 1e-6, 1])
            parts = [integrate.quad(lambda x, f=twin.pdf: f(x) / x, a, b)[0] for a, b in pairwise(ends)]
            assert one == pytest.approx(sum(parts), rel=1e-8)
        assert law.with_mean(5.0).inverse_mean == pytest.approx(one * law.mean / 5, rel=1e-12)
    assert Empirical([1, 2, 2, 4]).inverse_mean == pytest.approx(0.5625)
    assert Hyperexponential([0.5, 0.5], [1, 2]).inverse_mean == Erlang(1).inverse_mean == math.inf


@pytest.mark.parametrize(
    ("law", "inverse"),
    [
        (stats.gamma(1.0005), 2000),
        (stats.gamma(100), 1 / 99),
        (stats.weibull_min(1.3), math.gamma(1 - 1 / 1.3)),
        (stats.invgauss(2), 1.5),
        (stats.uniform(0.5, 1), math.log(3)),
        (stats.fisk(3), math.pi / 3 / math.sin(math.pi / 3)),
        (stats.expon(loc=0), math.inf),
        (stats.lomax(3), math.inf),
        (stats.beta(0.5, 2), math.inf),
        (stats.randint(1, 4), (1 + 1 / 2 + 1 / 3) / 3),
    ],
)
def test_mean_inverses_of_scipy(law, inverse):
    assert ScipyLaw(law, 2.0).inverse_mean == pytest.approx(inverse / 2, rel=1e-11)


def test_densities_without_a_formula_do_not_tell_the_mean_inverse():
    class Root(stats.rv_continuous):
        def _cdf(self, x):
            return x**1.5

    assert ScipyLaw(Root(a=0, b=1)()).inverse_mean is None
    # Steps that no panel knows of.
    steps = stats.rv_histogram(np.histogram(np.random.default_rng(1).uniform(1, 2, 500), bins=47))
    assert ScipyLaw(steps).inverse_mean is None


@pytest.mark.parametrize("law", ALL, ids=lambda law: type(law).__name__)
def test_moments_above_no_size_are_those_of_the_law(law):
    atoms = law.atoms()
    if atoms is None:
        moments = law.upper_moments(0.0)
    else:
        values, chances = atoms
        assert (np.diff(values) > 0).all()
        moments = [(values**k) @ chances for k in range(3)]
        with pytest.raises(ModelError, match="knows no probabilities"):
            law.upper_moments(0.0)
    assert moments == pytest.approx([1, law.mean, law.mean**2 * (1 + law.scv)], rel=1e-9)


def test_mixtures_and_phases_have_the_same_upper_moments():
    law, sizes = Hyperexponential([0.2, 0.5, 0.3], [1.0, 3.0, 0.1]), [0.0, 0.3, 2.0, 40.0]
    np.testing.assert_allclose(phases_of(law).upper_moments(sizes), law.upper_moments(sizes), rtol=1e-10)
    by_hand = 0.2 * math.exp(-2) + 0.5 * math.exp(-2 / 3) + 0.3 * math.exp(-20)
    assert law.upper_moments(2.0)[0] == pytest.approx(by_hand, rel=1e-12)


def test_atoms_of_scipy_are_listed_or_whole_numbers():
    values, chances = ScipyLaw(stats.randint(1, 4), 2.0).atoms()
    np.testing.assert_allclose(values, [2, 4, 6])
    np.testing.assert_allclose(chances, 1 / 3)
    with pytest.raises(ModelError, match="more than 1,000,000 values"):
        ScipyLaw(stats.randint(1, 10**7)).atoms()
    values, chances = ScipyLaw(stats.rv_discrete(values=([0.5, 2], [0.75, 0.25])), 2.0).atoms()
    np.testing.assert_array_equal([values, chances], [[1, 4], [0.75, 0.25]])


@pytest.mark.parametrize(("law", "twin"), LAWS, ids=lambda law: type(law).__name__)
def test_moments_and_samples_are_those_of_scipy(law, twin):
    # 1e-9: scipy integrates some moments numerically.
    assert law.mean == pytest.approx(twin.mean(), rel=1e-9)
    assert law.scv == pytest.approx(twin.var() / twin.mean() ** 2, rel=1e-9)
    values = law.sample(np.random.default_rng(1), 50_000)
    assert stats.kstest(values, twin.cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize("law", ALL, ids=lambda law: type(law).__name__)
def test_what_every_law_promises(law):
    whole = law.sample(np.random.default_rng(2), 1000)
    stream = np.random.default_rng(2)
    parts = np.concatenate([law.sample(stream, k) for k in (1, 499, 500)])
    np.testing.assert_array_equal(whole, parts)
    assert (whole > 0).all()
    scaled = law.with_mean(10.0)
    assert scaled.mean == pytest.approx(10, rel=1e-12)
    # 1e-9: variances of mixtures lose some digits by cancellation.
    assert scaled.scv == pytest.approx(law.scv, rel=1e-9)
    # 1e-12: the same numbers times a factor.
    np.testing.assert_allclose(
        scaled.sample(np.random.default_rng(2), 1000), whole * (10 / law.mean), rtol=1e-12
    )
    values = law.sample(np.random.default_rng(3), 100_000)
    # Normal approximation of the mean; 5 standard errors are passed with probability 6e-7.
    assert abs(values.mean() - law.mean) <= 5 * law.mean * math.sqrt(law.scv / 1e5) + 1e-12


@pytest.mark.parametrize("scv", [1.0, 1.0001, 3.0, 1e6, 1e200])
def test_balanced_means_meet_mean_and_scv(scv):
    law = Hyperexponential.fit(scv, 0.7)
    # 1e-9: the scv of 1.0001 is 1 plus a small difference.
    assert (law.mean, law.scv) == pytest.approx((0.7, scv), rel=1e-9)
    parts = np.multiply(law.probabilities, law.means)
    np.testing.assert_allclose(parts, 0.35, rtol=1e-9)
    values = law.sample(np.random.default_rng(4), 50_000)
    assert stats.kstest(values, mixture(law)).pvalue > FALSE_ALARM


def test_empirical_draws_every_value_equally():
    values = Empirical([1.0, 2.0, 4.0]).sample(np.random.default_rng(5), 30_000)
    points, counts = np.unique(values, return_counts=True)
    assert points.tolist() == [1, 2, 4]
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    ("law", "twin"), [LAWS[2], LAWS[3], LAWS[4]], ids=["lognormal", "pareto", "pareto 1"]
)
@pytest.mark.parametrize("jobs", [1, 10, 1e4])
@pytest.mark.parametrize("power", [1, 2])
def test_unseen_work_is_the_integral_of_the_quantiles(law, twin, jobs, power):
    # E[S; S > q(1 - 1/n)] = integral of the quantile function from 1 - 1/n to 1, here over e^-t = 1 - u.
    above, _ = integrate.quad(
        lambda t: twin.isf(np.exp(-t)) ** power * np.exp(-t), np.log(jobs), 700, limit=500
    )
    whole = law.mean**power * (1 + law.scv) ** (power - 1)
    # 1e-6: accuracy of the quadrature.
    assert law.unseen_work(jobs, power) == pytest.approx(above / whole, rel=1e-6)


@pytest.mark.parametrize("law", [Hyperexponential.fit(scv, 3.0) for scv in (1.0, 4.0, 1e8)])
@pytest.mark.parametrize("jobs", [1.5, 10, 1e4, 1e9])
def test_unseen_work_of_a_mixture_lies_above_its_quantile(law, jobs):
    p, m = np.array(law.probabilities), np.array(law.means)
    # Quantile in the logarithm of the size, by bisection.
    low, high = math.log(1e-9), math.log(2 * m.max() * math.log(jobs))
    for _ in range(200):
        middle = (low + high) / 2
        if p @ np.exp(-math.exp(middle) / m) > 1 / jobs:
            low = middle
        else:
            high = middle
    # E[S; S > s] = s P(S > s) + integral of P(S > .) from s on.
    above = math.exp(low) / jobs + p @ (m * np.exp(-math.exp(low) / m))
    # 1e-7: the quantile between two far apart exponentials has few digits.
    assert law.unseen_work(jobs) == pytest.approx(above / law.mean, rel=1e-7)
    # E[S^2; S > s] = s^2 P(S > s) + twice the integral of x P(S > x) from s on.
    s = math.exp(low)
    above = s * s / jobs + 2 * p @ (m * (s + m) * np.exp(-s / m))
    assert law.unseen_work(jobs, 2) == pytest.approx(above / (law.mean**2 * (1 + law.scv)), rel=1e-7)
    assert law.unseen_work(1) == law.unseen_work(1, 2) == 1


def test_unseen_work_of_scipy_is_the_integral_of_the_density_above_the_quantile():
    for law in (stats.weibull_min(0.6, scale=2), stats.lognorm(1.2), stats.pareto(2.6)):
        above = law.expect(lb=law.ppf(1 - 1e-3)) / law.mean()
        assert ScipyLaw(law).unseen_work(1e3) == pytest.approx(above, rel=1e-5)  # of the quadratures
        squares = law.expect(lambda s: s * s, lb=law.ppf(1 - 1e-3)) / (law.var() + law.mean() ** 2)
        assert ScipyLaw(law).unseen_work(1e3, 2) == pytest.approx(squares, rel=1e-3)


@pytest.mark.parametrize(
    "law",
    [
        stats.poisson(3, loc=1),
        stats.geom(0.3),
        stats.zipf(4),
        stats.rv_discrete(values=([0.5, 2], [0.8, 0.2])),
    ],
    ids=["poisson", "geometric", "zipf", "two values"],
)
def test_discrete_laws_of_scipy(law):
    """A run of n jobs does not see the values above the quantile of level 1 - 1/n."""
    values, jobs = np.array([0.5, *range(1, 200_000)]), 50
    above = values > law.ppf(1 - 1 / jobs)
    unseen = ScipyLaw(law).unseen_work(jobs)
    assert unseen == pytest.approx(values[above] @ law.pmf(values[above]) / law.mean(), abs=1e-9)
    assert set(ScipyLaw(law).sample(np.random.default_rng(1), 50)) <= set(values)
    assert ScipyLaw(law).unseen_work(1) == 1


@pytest.mark.parametrize("end", [0.01, 1e-7])
@pytest.mark.parametrize("jobs", [10, 1e5])
def test_unseen_work_of_many_values(end, jobs):
    law, going = stats.geom(end), 1 - end
    last = law.ppf(1 - 1 / jobs)
    left, mean = np.exp(last * np.log1p(-end)), 1 / end
    squares = last**2 + 2 * last * mean + (1 + going) * mean**2
    # 1e-3: more than 100,000 values are integrated.
    unseen = [ScipyLaw(law).unseen_work(jobs, power) for power in (1, 2)]
    exact = [left * (last + mean) / mean, left * squares / ((1 + going) * mean**2)]
    assert unseen == pytest.approx(exact, rel=1e-9 if end == 0.01 else 1e-3)


def test_a_mixture_of_equals_is_exponential():
    assert Hyperexponential([1], [2]).memoryless
    assert Hyperexponential([0.5, 0, 0.5], [2, 3, 2]).memoryless
    assert not Hyperexponential([0.5, 0.5], [2, 3]).memoryless


def test_known_distributions_of_scipy_keep_their_phases():
    assert as_law("sizes", stats.expon(scale=2)) == Exponential(2)
    assert as_law("sizes", stats.gamma(3, scale=0.5)) == Erlang(3, 1.5)
    assert as_law("sizes", stats.erlang(2)) == Erlang(2, 2)
    shifted = as_law("sizes", stats.expon(loc=1))
    assert (shifted.mean, shifted.memoryless) == (2.0, False)


def test_unseen_work_of_a_sample():
    law = Empirical([1.0] * 98 + [2.0, 900.0])
    assert law.unseen_work(1) == 1
    assert law.unseen_work(50) == pytest.approx(902 / 1000)
    assert law.unseen_work(100) == pytest.approx(900 / 1000)
    assert law.unseen_work(100, 2) == pytest.approx(810_000 / 810_102)
    # Its largest value is met by more than one job in 101.
    assert law.unseen_work(101) == 0
    assert Empirical([3.0] * 5).unseen_work(2) == 0


def test_unseen_work_may_be_nothing_but_is_never_negative():
    assert TruncatedPareto(1.2, 1e9).unseen_work(1e300) == 0
    assert Exponential().unseen_work(10) == Erlang(2).unseen_work(10) == 0


# Arrivals


def interrupted(rng, rate, mean_on, mean_off, jobs):
    """Arrival times of the process by its definition: periods on and off, Poisson arrivals while on."""
    burst = rate * (mean_on + mean_off) / mean_on
    now, times = 0.0, []
    while len(times) < jobs:
        end = now + rng.exponential(mean_on)
        times += (now + np.sort(rng.uniform(0, end - now, rng.poisson(burst * (end - now))))).tolist()
        now = end + rng.exponential(mean_off)
    return np.array(times)


@pytest.mark.parametrize(("mean_on", "mean_off"), [(1.0, 3.0), (20.0, 5.0), (0.1, 0.1)])
def test_on_off_is_the_interrupted_poisson_process(mean_on, mean_off):
    law = OnOff(mean_on, mean_off).interarrival(2.0)
    assert law.mean == pytest.approx(0.5, rel=1e-12)
    gaps = np.diff(interrupted(np.random.default_rng(6), 2.0, mean_on, mean_off, 40_000))
    assert stats.kstest(gaps, mixture(law)).pvalue > FALSE_ALARM
    # Renewals: successive gaps are uncorrelated; 5 standard errors.
    assert abs(np.corrcoef(gaps[1:], gaps[:-1])[0, 1]) < 5 / math.sqrt(len(gaps))


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_rates_of_all_processes(scale):
    for process in (Poisson(), Renewal(Erlang(2)), Renewal(Deterministic(3)), OnOff(2, 5)):
        assert process.interarrival(scale).mean * scale == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("rate", [1e-200, 1e-9, 1.0, 1e9, 1e200])
@pytest.mark.parametrize(("mean_on", "mean_off"), [(1, 1), (1e-9, 1e9), (1e9, 1e-9), (10, 90)])
def test_on_off_keeps_its_moments_at_every_scale(rate, mean_on, mean_off):
    law = OnOff(mean_on, mean_off).interarrival(rate)
    # 1e-12: no cancellation, although one of the two probabilities may be 1e-18.
    assert law.mean * rate == pytest.approx(1, rel=1e-12)
    # A gap holds a geometric number of silences: Var = 1/rate^2 + 2 m_off^2/(rate (m_on + m_off)).
    assert law.scv == pytest.approx(1 + 2 * rate * mean_off**2 / (mean_on + mean_off), rel=1e-9)


# Bad input


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Exponential(0), "mean of a law"),
        (lambda: Exponential(math.nan), "mean of a law"),
        (lambda: Exponential("1"), "mean of a law"),
        (lambda: Deterministic(-1), "mean of a law"),
        (lambda: Erlang(0), "phases"),
        (lambda: Erlang(1.5), "phases"),
        (lambda: Hyperexponential.fit(0.5), "take Erlang"),
        (lambda: Hyperexponential([0.5], [1, 2]), "equal lengths"),
        (lambda: Hyperexponential([0.5, 0.4], [1, 2]), "sum to 1"),
        (lambda: Hyperexponential([0.5, 0.5], [1, 0]), "means must be"),
        (lambda: TruncatedPareto(1.5, 1), "ratio of largest"),
        (lambda: TruncatedPareto(1.5, math.inf), "ratio of a law"),
        (lambda: TruncatedPareto(0, 10), "shape of a law"),
        (lambda: TruncatedPareto(0.5, 1e300), "truncate lower"),
        (lambda: Lognormal(0), "scv"),
        (lambda: Empirical([]), "at least one"),
        (lambda: Empirical([1, 0]), r"at index \(1,\)"),
        (lambda: Empirical([1, 2]).with_mean(-1), "mean of a law"),
        (lambda: Renewal(3.0), "law of a renewal"),
        (lambda: OnOff(0, 1), "mean_on"),
        (lambda: OnOff(1, 0), "take Poisson"),
    ],
)
def test_bad_laws_are_refused(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_sizes_from_a_file(tmp_path):
    file = tmp_path / "sizes.csv"
    file.write_text("job,size\na,1\nb,3\n")
    assert Empirical.from_file(file).values.tolist() == [1, 3]
    file.write_text("size\n1\n\n3\n\n")  # empty lines say nothing
    assert Empirical.from_file(file).values.tolist() == [1, 3]
    for text, message in (
        ("size\n1\nx\n", "line 3, size: must be a number; got 'x'"),
        ("size,of\n1,a\n,b\n2,c\n", "line 3, size: is missing"),
        ("size\n0\n", "line 2"),
        ("size\ninf\n", "line 2"),
        ("work\n1\n", r"line 1: there is no column 'size' \(columns: work\)"),
        ("", "has no line of data"),
    ):
        file.write_text(text)
        with pytest.raises(ModelError, match=message):
            Empirical.from_file(file)
    with pytest.raises(ModelError, match="cannot be read"):
        Empirical.from_file(tmp_path / "none.csv")
