r"""Intervals of real numbers in floating-point arithmetic, rounded outward.

*One operation.* Let :math:`t` be the exact sum, difference, product, quotient or square root of two floats
and :math:`x` the float that the machine computes, rounded to nearest: between them lies at most half a unit
in the last place (ulp), or :math:`2^{-1022}` near 0, even where tiny numbers are flushed to 0. Then

.. math:: t \le x + (2^{-52} |x| + 10^{-300}),

computed in floats too: the bracket is at least one ulp of :math:`x`; a sum of :math:`x` and at least one ulp
is at least the next float above :math:`x`, since rounding is monotone; and :math:`t` lies below that one. A
machine that fuses the multiplication with the addition rounds less often, and the argument stays. What
overflows becomes infinite, which bounds, too, or NaN, which no comparison accepts. Nothing here is compiled
with ``fastmath``.

*Exponential and logarithm.* The libraries of the system are not trusted. :math:`e^x = 2^k e^r` with
:math:`|r| < 0.4`, where :math:`e^r` is Taylor's polynomial with a bound of what it leaves out, each operation
rounded outward. A logarithm is guessed by the library, and bounds around the guess are kept when the
exponential proves them.

The functions run in Python and inside compiled kernels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from fairness.machine.compiling import helper, stored
from fairness.model.problem import FloatArray

__all__ = [
    "Interval",
    "above",
    "below",
    "exp_bounds",
    "largest",
    "log_bounds",
    "power_bounds",
    "root_bounds",
    "smallest",
    "total",
]

Real = TypeVar("Real", float, FloatArray)

ULP = 2.0**-52
TINY = 1e-300
TERMS = 20
"""Of Taylor's polynomial: 0.4^20/20! is below 10^-26."""
LN2_HIGH = 0.6931471805598903
"""The first 42 bits of ln 2, so that its product with a whole number below 2^11 is a float."""
LN2_LOW = 5.497923018708371e-14
"""The rest of ln 2, rounded to nearest."""


@helper()
def above(x: Real) -> Real:
    """A float at least as large as every number that rounds to x."""
    return x + (abs(x) * ULP + TINY)


@helper()
def below(x: Real) -> Real:
    """A float at most as large as every number that rounds to x."""
    return x - (abs(x) * ULP + TINY)


@helper()
def _taylor(r: float) -> tuple[float, float]:
    """Bounds of e^r for -0.5 < r < 0.5."""
    # e^r = 1 + r/1 (1 + r/2 (1 + ...)), and each bracket lies between 1/2 and 2.
    low, high = 0.5, 2.0
    for term in range(TERMS, 0, -1):
        small, large = below(r / term), above(r / term)
        if r >= 0:
            low, high = below(1.0 + below(small * low)), above(1.0 + above(large * high))
        else:
            low, high = below(1.0 + below(small * high)), above(1.0 + above(large * low))
    return low, high


@helper()
def exp_bounds(x: float) -> tuple[float, float]:
    """Bounds of e^x, close to it for -650 <= x <= 700."""
    y = x if -650.0 <= x <= 700.0 else (700.0 if x > 700.0 else -650.0)
    k = math.floor(y / 0.6931471805599453 + 0.5)
    low = high = y
    if k != 0:
        rest = y - k * LN2_HIGH  # the product is exact
        more, less = k * above(LN2_LOW), k * below(LN2_LOW)
        low = below(below(rest) - above(max(more, less)))
        high = above(above(rest) - below(min(more, less)))
    scale = math.ldexp(1.0, k)
    low, high = _taylor(low)[0] * scale, _taylor(high)[1] * scale
    if not x >= -650.0:
        low = 0.0
    if not x <= 700.0:
        high = math.inf
    return low, high


@helper()
def log_bounds(x: float) -> tuple[float, float]:
    """Bounds of log x for x > 0, close to it for 1e-280 < x < 1e300."""
    if not 1e-280 < x < 1e300:
        return (-math.inf, math.inf)
    guess = math.log(x)
    step = 2.0 * ULP * (1.0 + abs(guess))
    low, high = guess - step, guess + step
    while not exp_bounds(low)[1] <= x:
        step *= 2.0
        low -= step
    while not exp_bounds(high)[0] >= x:
        step *= 2.0
        high += step
    return low, high


@helper()
def power_bounds(low: float, high: float, exponent: float) -> tuple[float, float]:
    """Bounds of t^exponent for all t in [low, high] with low >= 0, where exponent > 0."""
    if exponent == 2.0:
        return below(low * low), above(high * high)
    bottom = top = 0.0
    if low > 0:
        bottom = exp_bounds(below(exponent * log_bounds(low)[0]))[0]
    if high > 0:
        top = exp_bounds(above(exponent * log_bounds(high)[1]))[1]
    return bottom, top


@helper()
def root_bounds(low: float, high: float, degree: float) -> tuple[float, float]:
    """Bounds of t^(1/degree) for all t in [low, high] with low >= 0, where degree > 0."""
    if degree == 2.0:
        return below(math.sqrt(low)), above(math.sqrt(high))
    bottom = top = 0.0
    if low > 0:
        bottom = exp_bounds(below(log_bounds(low)[0] / degree))[0]
    if high > 0:
        top = exp_bounds(above(log_bounds(high)[1] / degree))[1]
    return bottom, top


@stored()
def _exp(x: float) -> tuple[float, float]:
    """The same bounds as in Python, a hundred times as fast."""
    return exp_bounds(x)


@stored()
def _log(x: float) -> tuple[float, float]:
    return log_bounds(x)


@dataclass(frozen=True, slots=True)
class Interval:
    """All real numbers from ``low`` to ``high``; operations give intervals that hold every result.

    Floats and whole numbers below 2^53 take part as what they are.

    Examples
    --------
    >>> third = Interval.of(1.0) / 3.0
    >>> third.low < third.high, (3.0 * third).low < 1.0 < (3.0 * third).high
    (True, True)
    >>> Interval.of(2.0).log().exp().high - 2.0 < 1e-14
    True
    """

    low: float
    high: float

    @classmethod
    def of(cls, value: Any) -> Interval:
        """The interval of one float; an interval is left as it is."""
        return value if isinstance(value, Interval) else cls(float(value), float(value))

    def __add__(self, other: Interval | float) -> Interval:
        more = Interval.of(other)
        return Interval(below(self.low + more.low), above(self.high + more.high))

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __sub__(self, other: Interval | float) -> Interval:
        return self + (-Interval.of(other))

    def __rsub__(self, other: float) -> Interval:
        return Interval.of(other) + (-self)

    def __mul__(self, other: Interval | float) -> Interval:
        more = Interval.of(other)
        ends = [a * b for a in (self.low, self.high) for b in (more.low, more.high)]
        return Interval(below(min(ends)), above(max(ends)))

    def __truediv__(self, other: Interval | float) -> Interval:
        more = Interval.of(other)
        if more.low <= 0 <= more.high:
            raise ZeroDivisionError(f"division by {more}, which holds 0")
        ends = [a / b for a in (self.low, self.high) for b in (more.low, more.high)]
        return Interval(below(min(ends)), above(max(ends)))

    def __rtruediv__(self, other: float) -> Interval:
        return Interval.of(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def exp(self) -> Interval:
        """All e^t."""
        return Interval(_exp(self.low)[0], _exp(self.high)[1])

    def log(self) -> Interval:
        """All log t, of numbers > 0."""
        if not self.low > 0:
            raise ValueError(f"the logarithm of {self}, which holds numbers <= 0")
        return Interval(_log(self.low)[0], _log(self.high)[1])

    def power(self, exponent: Interval | float) -> Interval:
        """All t^s, of numbers t > 0."""
        return (self.log() * exponent).exp()


def largest(values: Iterable[Interval]) -> Interval:
    """Interval of the largest of some numbers."""
    listed = list(values)
    return Interval(max(value.low for value in listed), max(value.high for value in listed))


def smallest(values: Iterable[Interval]) -> Interval:
    """Interval of the smallest of some numbers."""
    listed = list(values)
    return Interval(min(value.low for value in listed), min(value.high for value in listed))


def total(values: Iterable[Interval]) -> Interval:
    """Sum of some numbers, at least one."""
    first, *more = values
    return sum(more, first)
