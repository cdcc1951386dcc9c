"""Means as functions of the load against exact laws at single loads, closed forms and light traffic."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy

from fairness import (
    DRF,
    AssetFair,
    BottleneckMax,
    MaxMin,
    ModelError,
    NotConvergedError,
    Problem,
    ProportionalFair,
)
from queueing import System, exact_stationary, mean_jobs_by_load
from queueing.exact_laws import load_images
from queueing.exact_laws.modular import primes
from queueing.exact_laws.power_series import product, quotient, recurrence
from queueing.results import RationalFunction

F = Fraction
POOL = Problem([[1, F(1, 10)], [F(1, 5), 1]], [1, 1])
SYSTEM = System(POOL, [1, 2], [F(2, 3), 1])
LOADS = (F(0), F(1, 7), F(9, 10), F(3, 2))


def at(system, load):
    """The system at a load, also 0 and beyond 1."""
    rates, sizes = system.at_load(F(1, 2)).as_fractions()
    return System(system.problem, [2 * load * rate for rate in rates], sizes)


@pytest.mark.parametrize("policy", [MaxMin(), DRF(), AssetFair(), BottleneckMax(), ProportionalFair()])
def test_equals_exact_laws_at_single_loads(policy):
    means = mean_jobs_by_load(SYSTEM, policy, shape=(5, 4))
    for load in LOADS[1:]:
        assert means(load) == exact_stationary(at(SYSTEM, load), policy, shape=(5, 4)).mean_jobs
    assert means(F(0)) == (0, 0)
    # Nothing cancels: the degree is the number of states less 1, and there is no power of u in R.
    assert [f.degrees for f in means.functions] == [(19, 19)] * 2
    assert means.bound_bits <= means.n_bits


@pytest.mark.parametrize(
    ("problem", "rates", "most"),
    [
        (Problem([[1, F(1, 10)], [F(1, 10), 1]], [1, 1]), [1, 1], 20),  # alike: lumped
        (Problem([[1], [2]], [1]), [1, 1], 11),  # one resource: a product form
        (Problem([[1, 0], [0, 1]], [1, 1]), [1, F(1, 3)], 6),  # independent
        (Problem([[1, 1, 0], [1, 0, 1], [0, 1, 1]], [1, 1, 1]), [1, 1, 1], 14),  # three alike
    ],
)
def test_what_cancels_leaves_low_degrees(problem, rates, most):
    system, shape = System(problem, rates), (6, 6) if problem.n_classes == 2 else (3, 3, 3)
    if problem.n_resources == 1:
        shape = (6, 7)
    means = mean_jobs_by_load(system, DRF(), shape=shape)
    assert max(max(f.degrees) for f in means.functions) <= most < np.prod(shape) - 1
    for load in LOADS[1:]:
        assert means(load) == exact_stationary(at(system, load), DRF(), shape=shape).mean_jobs
    for function in means.functions:
        top, bottom = (
            sympy.Poly(part[::-1], sympy.Symbol("u")) for part in (function.numerator, function.denominator)
        )
        assert sympy.gcd(top, bottom).degree() == 0


def test_one_class_has_the_geometric_law_cut_off():
    (function,) = mean_jobs_by_load(System(Problem([[3]], [6]), [7]), DRF(), shape=9).functions
    assert function == RationalFunction(tuple(range(9)), (1,) * 9)


def test_light_traffic_does_not_see_the_box():
    """A state with k jobs enters at order k: the first coefficients are those of larger boxes."""
    small, large = (mean_jobs_by_load(SYSTEM, DRF(), shape=k) for k in (4, (6, 7)))
    rates, sizes = at(SYSTEM, F(1)).as_fractions()
    for i in range(2):
        terms, more = small.function(i).series(6), large.function(i).series(6)
        assert terms[:4] == more[:4]
        assert terms[4] != more[4]
        # A job that is alone runs one task, and both demand 1 of some resource.
        assert terms[:2] == (0, rates[i] * sizes[i])


def test_a_class_without_arrivals_is_empty():
    system = System(Problem([[1, 1], [1, 2], [2, 1]], [4, 4]), [F(1, 2), 0, 1])
    means = mean_jobs_by_load(system, BottleneckMax(), shape=4)
    assert means.shape == (4, 1, 4)
    assert means.function(1) == RationalFunction((0,), (1,))
    assert means(F(1, 3)) == exact_stationary(at(system, F(1, 3)), BottleneckMax(), shape=4).mean_jobs


def test_more_primes_are_taken_until_the_answer_is_proved(monkeypatch):
    """Small primes divide death rates or cancel more; what is concluded from the others is the same."""
    expected = mean_jobs_by_load(SYSTEM, DRF(), shape=3).functions
    few = [p for p in primes(600) if p > 2]
    monkeypatch.setattr(load_images, "primes", lambda: iter(few))
    found = mean_jobs_by_load(SYSTEM, DRF(), shape=3)
    assert found.functions == expected
    assert found.n_primes > 5


def test_images_in_which_more_cancels_are_dropped():
    """(u + 2u^2)/(1 + u + u^2), which the images modulo two of the primes pretend to be shorter."""

    class Bounds:
        size, bottom = 7, 1000  # of 7 states: nothing says beforehand that so much cancels

    collected = load_images._Collected(Bounds, 1000)
    shorter = [np.array(v, dtype=np.uint32) for v in ([0, 1], [1, 5])]
    good = [np.array(v, dtype=np.uint32) for v in ([0, 1, 2], [1, 1, 1])]
    collected.add(11, *shorter)
    for p in (2**28 - 57, 2**28 - 89, 13, 2**28 - 95):
        collected.add(p, *(shorter if p == 13 else good))
    assert collected.function == RationalFunction((0, 1, 2), (1, 1, 1))
    assert 11 not in collected.moduli
    assert 13 not in collected.moduli


def test_values_of_floats_are_the_nearest():
    means = mean_jobs_by_load(SYSTEM, DRF(), shape=4)
    function = means.function("class 2")
    assert function(0.3) == float(function(F(0.3)))
    assert function([0.1, 0.3]).tolist() == [function(0.1), function(0.3)]
    assert means([[0.1, 0.3]]).shape == (1, 2, 2)
    assert means([0.1, 0.3])[1, 1] == function(0.3)
    with pytest.raises(ModelError, match="must be finite"):
        function(np.inf)
    with pytest.raises(ModelError, match="pole -1"):
        RationalFunction((1,), (1, 1))(F(-1))


def test_poles_are_the_zeros_of_the_denominator():
    function = mean_jobs_by_load(SYSTEM, DRF(), shape=(5, 6)).function(0)
    poles = function.poles
    assert len(poles) == 29
    assert (np.diff(np.abs(poles)) > -1e-9).all()
    # Their elementary symmetric functions are the coefficients.
    with mpmath.workdps(60):
        top = function.denominator[-1]
        total = mpmath.fsum(mpmath.mpc(z) for z in poles)
        assert abs(total * top / -function.denominator[-2] - 1) < 1e-10
    # No pole lies at a load > 0, where all terms of the denominator are positive.
    assert not ((poles.real > 0) & (abs(poles.imag) < 1e-9)).any()


def test_poles_that_cannot_be_told_are_refused():
    with pytest.raises(NotConvergedError, match="told apart"):
        _ = RationalFunction((1,), (1, 2, 1)).poles
    with pytest.raises(ModelError, match="degree 101"):
        _ = RationalFunction((1,), (1,) * 102).poles
    assert RationalFunction((1, 2), (3,)).poles.size == 0
    np.testing.assert_allclose(RationalFunction((1,), (-2, 0, 1)).poles, [-(2**0.5), 2**0.5])


def test_formulas():
    function = RationalFunction((0, -1, 2), (1, 0, 3))
    assert function.to_latex("x") == r"\frac{-x + 2 x^{2}}{1 + 3 x^{2}}"
    assert RationalFunction((0,), (1,)).to_latex() == "0"
    u = sympy.Symbol("u")
    assert sympy.simplify(function.to_sympy() - (2 * u**2 - u) / (3 * u**2 + 1)) == 0
    assert function.to_sympy(u).subs(u, sympy.Rational(1, 2)) == sympy.Rational(0)
    assert "degrees (9, 9)" in repr(RationalFunction((1,) * 10, (1,) * 10))


def test_wrong_arguments_are_named():
    with pytest.raises(ModelError, match="more than 2,000"):
        mean_jobs_by_load(SYSTEM, DRF(), shape=50)
    with pytest.raises(ModelError, match="there is no load"):
        mean_jobs_by_load(System(Problem([[0]], [1], limits=[1]), [1]), MaxMin(), shape=3)
    with pytest.raises(ModelError, match="no exact definition"):
        mean_jobs_by_load(SYSTEM, lambda problem, counts: 0.1 * np.asarray(counts), shape=3)


@pytest.mark.parametrize("degrees", [(0, 0), (2, 7), (7, 2), (30, 30)])
def test_a_fraction_comes_back_from_its_series_modulo_a_prime(degrees):
    p, (first, second) = next(primes()), degrees
    rng = np.random.default_rng(degrees)
    top, bottom = (rng.integers(1, p, d + 1) for d in degrees)
    size = 2 * (max(degrees) + 1)
    series = [np.zeros(size, dtype=np.uint32) for _ in range(2)]
    series[0][: first + 1], series[1][: second + 1] = top, bottom
    mean = quotient(*series, p)
    found, length = recurrence(mean, p)
    assert length == max(first + 1, second)
    scale = int(bottom[0])
    assert [int(v) * scale % p for v in found] == [*bottom.tolist(), *[0] * (length - second)]
    back = product(mean, found, p)
    assert [int(v) * scale % p for v in back] == [*top.tolist(), *[0] * (size - first - 1)]
