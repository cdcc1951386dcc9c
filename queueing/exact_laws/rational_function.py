"""A quotient of two polynomials with integer coefficients: values, Taylor series, poles, formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import float_array, require_whole
from fairness.errors import ModelError, NotConvergedError

__all__ = ["RationalFunction"]

MOST_ROOTS = 100
"""Degree up to which poles are found."""

PRECISION = 160
"""Bits of the arithmetic that finds them, and four more per degree."""

STEPS = 60
"""Most steps of the iteration that finds poles."""

SHARP = 2.0**-40
"""Relative radius, certain to hold a pole, at which it counts as found."""


@dataclass(frozen=True)
class RationalFunction:
    """A quotient of polynomials in the load, in lowest terms.

    Attributes
    ----------
    numerator, denominator : tuple of int
        Coefficients, the constant first; all of them together have no common divisor, and the constant of the
        denominator is positive.

    Examples
    --------
    >>> from fractions import Fraction
    >>> queue = RationalFunction((0, 1, 2), (1, 1, 1))  # a single server with room for two jobs
    >>> queue(Fraction(1, 2)), queue(0.5)
    (Fraction(4, 7), 0.5714285714285714)
    >>> queue.series(5)
    (Fraction(0, 1), Fraction(1, 1), Fraction(1, 1), Fraction(-2, 1), Fraction(1, 1))
    >>> print(queue.to_latex())
    \\frac{u + 2 u^{2}}{1 + u + u^{2}}
    """

    numerator: tuple[int, ...]
    denominator: tuple[int, ...]

    @property
    def degrees(self) -> tuple[int, int]:
        """Degrees of the numerator and of the denominator."""
        return len(self.numerator) - 1, len(self.denominator) - 1

    def __call__(self, load: Any) -> Any:
        """Values: a Fraction at an integer or a fraction, else the nearest floats, of the shape of ``load``.

        Raises
        ------
        ModelError
            At a pole.
        """
        if isinstance(load, int | Fraction) and not isinstance(load, bool):
            return self._at(Fraction(load))
        points = float_array("load", load)
        if not np.isfinite(points).all():
            raise ModelError.of("load", f"must be finite; got {load!r}")
        values = np.array([float(self._at(Fraction(u))) for u in points.ravel().tolist()])
        return float(values[0]) if points.ndim == 0 else values.reshape(points.shape)

    def _at(self, load: Fraction) -> Fraction:
        top, bottom = (_value(part, load) for part in (self.numerator, self.denominator))
        if bottom == 0:
            raise ModelError.of("load", f"must not be the pole {load}")
        return top / bottom

    def series(self, terms: int) -> tuple[Fraction, ...]:
        """The first coefficients of the Taylor series at load 0."""
        size = require_whole("terms", terms, 0)
        found: list[Fraction] = []
        for k in range(size):
            known = sum(
                (c * found[k - j] for j, c in enumerate(self.denominator[1 : k + 1], 1)), start=Fraction(0)
            )
            first = self.numerator[k] if k < len(self.numerator) else 0
            found.append((first - known) / self.denominator[0])
        return tuple(found)

    @cached_property
    def poles(self) -> NDArray[np.complex128]:
        r"""Zeros of the denominator by their absolute values, to 12 digits each.

        A circle of radius n \|f/f'\| around any point holds a zero of a polynomial f of degree n; the circles
        around these points are tiny and do not meet, so that each holds just one.

        Raises
        ------
        ModelError
            If the degree is above 100.
        NotConvergedError
            If poles lie too close to each other.
        """
        return _zeros(self.denominator)

    def to_latex(self, variable: str = "u") -> str:
        """Formula in LaTeX; long, if the degrees are high."""
        top, bottom = (_latex(part, variable) for part in (self.numerator, self.denominator))
        return top if self.denominator == (1,) else rf"\frac{{{top}}}{{{bottom}}}"

    def to_sympy(self, variable: Any = "u") -> Any:
        """The quotient as an expression of sympy; ``variable`` is a name or a symbol."""
        import sympy

        symbol = sympy.Symbol(variable) if isinstance(variable, str) else variable
        top, bottom = (sympy.Poly(part[::-1], symbol) for part in (self.numerator, self.denominator))
        return top.as_expr() / bottom.as_expr()

    def __repr__(self) -> str:
        if max(self.degrees) <= 8 and max(map(abs, self.numerator + self.denominator)) < 10**9:
            return f"RationalFunction({self.numerator}, {self.denominator})"
        digits = max(c.bit_length() for c in self.numerator + self.denominator) * math.log10(2)
        return f"RationalFunction(degrees {self.degrees}, coefficients of up to {digits:.0f} digits)"


def _value(coefficients: Sequence[int], point: Fraction) -> Fraction:
    """Value of a polynomial, over one denominator until the end."""
    p, q, total, power = point.numerator, point.denominator, 0, 1
    # sum c_k p^k q^(d - k), from the highest down
    for c in reversed(coefficients):
        total = total * p + c * power
        power *= q
    return Fraction(total * q, power)


def _latex(coefficients: Sequence[int], variable: str) -> str:
    terms = []
    for k, c in enumerate(coefficients):
        if c:
            power = "" if k == 0 else variable if k == 1 else f"{variable}^{{{k}}}"
            size = str(abs(c)) if abs(c) != 1 or k == 0 else ""
            sign = "-" if c < 0 else "+"
            terms.append(f" {sign} " + " ".join(part for part in (size, power) if part))
    text = "".join(terms) or " + 0"
    return text[3:] if text.startswith(" + ") else "-" + text[3:]


def _zeros(coefficients: Sequence[int]) -> NDArray[np.complex128]:
    """Zeros of a polynomial, see :attr:`RationalFunction.poles`."""
    degree = len(coefficients) - 1
    if degree > MOST_ROOTS:
        raise ModelError(
            f"the denominator has degree {degree}; poles are found up to {MOST_ROOTS}; give a smaller shape"
        )
    if degree == 0:
        return np.empty(0, dtype=complex)
    import mpmath

    with mpmath.workprec(PRECISION + 4 * degree):
        top = [mpmath.mpf(c) for c in reversed(coefficients)]
        points = [mpmath.mpc(z) * mpmath.power(2, power) for z, power in _starts(coefficients)]
        try:
            radii = _settled(mpmath, top, points)
            apart = all(
                abs(z - points[m]) > 4 * (radii[k] + radii[m]) for k, z in enumerate(points) for m in range(k)
            )
            sharp = all(r <= SHARP * abs(z) for z, r in zip(points, radii, strict=True))
        except ZeroDivisionError:  # a double zero, or two points that met
            apart = sharp = False
        if not (apart and sharp):
            raise NotConvergedError(f"the {degree} poles could not be told apart; give a smaller shape")
        # A circle that meets the real axis meets its mirror image, which holds the conjugate: it is real.
        real = [abs(z.imag) <= r for z, r in zip(points, radii, strict=True)]
        found = [complex(z.real, 0 if r else z.imag) for z, r in zip(points, real, strict=True)]
    return np.array(sorted(found, key=lambda z: (float(f"{abs(z):.12g}"), z.imag, z.real)))


def _starts(coefficients: Sequence[int]) -> list[tuple[complex, float]]:
    """Points z 2^power on circles about as large as the zeros, by the hull of the coefficients' logarithms.

    See D. A. Bini, "Numerical computation of polynomial zeros by means of Aberth's method", Numerical
    Algorithms 13, 1996. DOI 10.1007/BF02207694.
    """
    heights = [(k, math.log2(abs(c))) for k, c in enumerate(coefficients) if c]
    hull: list[tuple[int, float]] = []
    for k, height in heights:
        while len(hull) > 1:
            (i, low), (j, middle) = hull[-2:]
            if (middle - low) * (k - i) > (height - low) * (j - i):
                break
            hull.pop()
        hull.append((k, height))
    found = []
    for (i, low), (j, high) in pairwise(hull):
        for m in range(j - i):
            angle = 2 * math.pi * m / (j - i) + i + 0.7
            found.append((complex(math.cos(angle), math.sin(angle)), (low - high) / (j - i)))
    return found


def _settled(mpmath: Any, top: list[Any], points: list[Any]) -> list[Any]:
    """Move the points to the zeros by the iteration of Ehrlich and Aberth; radii that hold a zero each."""
    radii = [mpmath.inf] * len(points)
    for _ in range(STEPS):
        for k, z in enumerate(points):
            value, slope = mpmath.polyval(top, z, derivative=1)
            newton = value / slope
            radii[k] = len(points) * abs(newton)
            if radii[k] > SHARP * abs(z) / len(points):
                crowd = mpmath.fsum(1 / (z - other) for m, other in enumerate(points) if m != k)
                points[k] = z - newton / (1 - newton * crowd)
        if all(r <= SHARP * abs(z) for z, r in zip(points, radii, strict=True)):
            break
    return radii
