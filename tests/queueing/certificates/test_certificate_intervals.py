"""Outward rounding against fractions and high precision, in Python and inside compiled kernels."""

import math
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numba
import numpy as np
import pytest

from queueing.certificates import intervals
from queueing.certificates.intervals import (
    Interval,
    above,
    below,
    exp_bounds,
    largest,
    log_bounds,
    power_bounds,
    root_bounds,
    smallest,
    total,
)

OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}


def some_floats(rng, size):
    """Floats of all sizes, small whole numbers, neighbours of powers of 2, and 0."""
    wide = rng.choice([-1, 1], size) * 10 ** rng.uniform(-140, 140, size)
    small = rng.integers(-9, 10, size).astype(float)
    edges = np.nextafter(2.0 ** rng.integers(-60, 60, size), rng.choice([0.0, np.inf], size))
    return np.choose(rng.integers(0, 3, size), [wide, small, edges])


@pytest.mark.parametrize("sign", list(OPERATIONS))
def test_one_operation_is_rounded_outward(sign):
    rng = np.random.default_rng(1)
    operation = OPERATIONS[sign]
    for a, b in some_floats(rng, (4000, 2)).tolist():
        if sign == "/" and b == 0:
            continue
        exact, machine = operation(Fraction(a), Fraction(b)), operation(a, b)
        assert Fraction(below(machine)) <= exact <= Fraction(above(machine))
        # No wider than it must be: two ulps each way.
        assert above(machine) - below(machine) <= 4 * math.ulp(machine) + 3e-300


def test_results_near_zero_are_rounded_outward_even_where_they_are_flushed():
    for x in (0.0, 5e-324, 1e-310, -1e-308, 1e-292, -1e-290):
        assert above(x) - x >= 2.0**-1022
        assert x - below(x) >= 2.0**-1022


def random_expression(rng, depth):
    """A function of three numbers, as a tree of tuples."""
    if depth == 0 or rng.random() < 0.1:
        return int(rng.integers(0, 3))
    return str(rng.choice(list(OPERATIONS))), *(random_expression(rng, depth - 1) for _ in range(2))


def evaluated(tree, numbers):
    if isinstance(tree, int):
        return numbers[tree]
    sign, left, right = tree
    return OPERATIONS[sign](evaluated(left, numbers), evaluated(right, numbers))


def test_random_expressions_hold_the_exact_values():
    """Intervals of inputs too: every point of them goes where the interval says."""
    rng = np.random.default_rng(2)
    checked = 0
    for _ in range(1500):
        tree = random_expression(rng, 5)
        ends = np.sort(rng.uniform(-2, 2, 3)[:, None] + rng.choice([0, 1e-12, 1e-3]) * rng.random((3, 2)))
        intervals = [Interval(low, high) for low, high in ends.tolist()]
        points = [
            Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(int(rng.integers(0, 9)), 8)
            for low, high in ends.tolist()
        ]
        try:
            found, exact = evaluated(tree, intervals), evaluated(tree, points)
        except ZeroDivisionError:
            continue
        checked += 1
        assert Fraction(found.low) <= exact <= Fraction(found.high)
    assert checked > 700


def test_a_divisor_that_may_be_0_and_a_logarithm_of_0_are_refused():
    with pytest.raises(ZeroDivisionError, match="holds 0"):
        1.0 / Interval(-1.0, 1.0)
    with pytest.raises(ValueError, match="numbers <= 0"):
        Interval(0.0, 1.0).log()


@numba.njit
def compiled(kind, x, y):
    if kind == 0:
        return exp_bounds(x)
    if kind == 1:
        return log_bounds(x)
    if kind == 2:
        return power_bounds(x, x, y)
    return root_bounds(x, x, y)


def bounds(kind, x, y):
    """In Python."""
    return (
        exp_bounds(x),
        log_bounds(abs(x)),
        power_bounds(abs(x), abs(x), y),
        root_bounds(abs(x), abs(x), y),
    )[kind]


@pytest.mark.long
@pytest.mark.parametrize("run", [bounds, compiled])
def test_exponentials_logarithms_powers_and_roots_hold_the_truth_and_are_narrow(run):
    """Against 60 digits; powers of e up to 600 lose as many ulps as their logarithm has units."""
    rng = np.random.default_rng(3)
    with mpmath.workdps(60):
        for _ in range(600):
            x = float(rng.choice([rng.uniform(-600, 600), rng.normal(), 10 ** rng.uniform(-18, 0)]))
            z = float(rng.choice([rng.random(), 10 ** rng.uniform(-30, 30), 1 + 1e-12 * rng.normal()]))
            y = float(rng.choice([rng.uniform(0.1, 3), 2.0, 1 / 3]))
            for kind, argument, truth, width in (
                (0, x, mpmath.exp(x), None),
                (1, z, mpmath.log(z), 1e-14),
                (2, z, mpmath.mpf(z) ** y, None),
                (3, z, mpmath.mpf(z) ** (1 / mpmath.mpf(y)), None),
            ):
                low, high = run(kind, argument, y)
                assert low <= truth <= high
                size = abs(mpmath.log(truth)) + 1 if width is None else 1
                scale = truth if width is None else 1 + abs(truth)
                assert (high - low) / scale < 4e-15 * (8 + size)


@pytest.mark.parametrize("wrong", [1e-9, -1e-9, 1e-15, -3.0, 3.0])
@pytest.mark.parametrize("x", [1.5e-280, 0.3, 1.0, 7.0, 9e299])
def test_a_logarithm_holds_the_truth_whatever_the_library_of_the_machine_says(x, wrong, monkeypatch):
    monkeypatch.setattr(
        intervals, "math", SimpleNamespace(**vars(math) | {"log": lambda y: math.log(y) + wrong})
    )
    low, high = log_bounds(x)
    assert low <= mpmath.log(x) <= high
    assert high - low < 8 * abs(wrong) + 1e-12


def test_logarithms_and_powers_of_numbers_below_1():
    half = Interval(0.25, 0.5)
    assert half.log().low <= -2 * math.log(2) <= -math.log(2) <= half.log().high
    assert half.power(0.5).low <= 0.5 <= math.sqrt(0.5) <= half.power(0.5).high < 0.7072
    assert log_bounds(1e-300) == (-math.inf, math.inf)


@pytest.mark.parametrize(
    ("x", "low", "high"),
    [(-800.0, 0.0, 1e-280), (750.0, 1e300, math.inf), (math.inf, 1e300, math.inf), (-math.inf, 0.0, 1e-280)],
)
def test_exponentials_beyond_the_floats_are_bounds_still(x, low, high):
    for found in (exp_bounds(x), compiled(0, x, 1.0)):
        assert found[0] >= low
        assert found[1] <= high
        assert found[0] <= found[1]
    assert exp_bounds(math.nan) == (0.0, math.inf)


def test_extremes_and_sums_of_intervals():
    some = [Interval(0.0, 3.0), Interval(1.0, 2.0)]
    assert largest(some) == Interval(1.0, 3.0)
    assert smallest(some) == Interval(0.0, 2.0)
    sum_ = total(some)
    assert sum_.low <= 1.0 < 5.0 <= sum_.high
