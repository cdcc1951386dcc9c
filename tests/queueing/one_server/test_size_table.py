"""The table of a law: parts of moments, and means of functions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from queueing import Empirical, Erlang, Exponential, Hyperexponential, Lognormal, TruncatedPareto
from queueing.model.scipy_law import as_law
from queueing.one_server.size_table import size_spread, size_table

LAWS = [
    Exponential(),
    Erlang(30),
    Hyperexponential.fit(1e6),
    TruncatedPareto(1.5, 100.0),
    Lognormal(100),
    stats.beta(0.5, 0.5),
    stats.weibull_min(0.2),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_parts_of_moments_are_no_more_than_they_can_be(law):
    law = as_law("law", law).with_mean(1.0)
    table = size_table(law, size_spread(law), 200)
    s = table.sizes
    assert (np.diff(s) > 0).all()
    for k in (1, 2):
        assert (table.upto[k] <= table.upto[0] * s**k).all()
        assert (table.cut[k] <= s**k * (1 + 1e-15)).all()
        assert (table.cut[k] >= s**k * table.above[0] * (1 - 1e-15)).all()
    # What the ends leave out.
    assert table.upto[0, 0] <= 1e-10
    assert table.above[2, -1] <= 1e-14 * table.moments[2]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_means_of_functions_are_those_of_the_law(law):
    law = as_law("law", law).with_mean(1.0)
    table = size_table(law, size_spread(law), 1000)
    s, (_, mean, square) = table.sizes, table.moments
    # 1e-5: panels of a thousandth of the law, fourth order.
    assert table.mean(np.ones(len(s))) == pytest.approx(1.0, abs=1e-12)
    assert table.mean(s) == pytest.approx(mean, rel=1e-5)
    assert table.mean(s**2) == pytest.approx(square, rel=1e-5)
    # Integrals up to each size, of what is constant below the first; then the mean of one.
    np.testing.assert_allclose(table.integral(s), (s**2 + s[0] ** 2) / 2, rtol=1e-12)
    assert table.mean(table.integral(table.above[0])) == pytest.approx(table.mean(table.cut[1]), rel=1e-5)


@pytest.mark.parametrize(
    ("law", "exponent"),
    [(Exponential(), 1), (Erlang(3), 3), (stats.weibull_min(0.6), 0.6), (stats.gamma(1.2), 1.2)],
)
def test_small_sizes_have_an_exponent(law, exponent):
    law = as_law("law", law).with_mean(1.0)
    near, far = size_table(law, None, 200).exponents
    # 1e-3: nine sizes above that of probability 3e-10, which has seven digits.
    assert near == pytest.approx(exponent, rel=1e-3)
    assert far == pytest.approx(exponent, rel=2e-3)  # and nine more


def test_squares_below_a_size_have_digits_under_heavy_tails():
    # E[S^2] is 1e9 times E[S]^2, and what is below a size s, in units of the least, (s - 1)/(1 - 1e-12).
    law = TruncatedPareto(1.0, 1e12).with_mean(1.0)
    table = size_table(law, None, 512)
    least = law.smallest
    exact = least * (table.sizes - least) / (1 - 1e-12)
    some = table.sizes > 1.001 * least
    np.testing.assert_allclose(table.upto[2, some], exact[some], rtol=1e-6)


def test_atoms_are_their_own_table():
    table = size_table(Empirical([3, 1, 1, 2]), None, 7)
    np.testing.assert_array_equal(table.sizes, [1, 2, 3])
    np.testing.assert_allclose(table.upto, [[0.5, 0.75, 1], [0.5, 1, 1.75], [0.5, 1.5, 3.75]])
    np.testing.assert_allclose(table.at_least, [[1, 0.5, 0.25], [1.75, 1.25, 0.75], [3.75, 3.25, 2.25]])
    np.testing.assert_allclose(table.integral(np.array([1.0, 10.0, 100.0])), [1, 11, 111])
    assert table.mean(table.sizes) == 1.75
