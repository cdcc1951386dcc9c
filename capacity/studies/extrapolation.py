r"""Limits of a sequence :math:`y(\epsilon)`, :math:`\epsilon \to 0`, with an honest error, from a few points.

Two polynomials go through the points, one in :math:`\epsilon` and one in :math:`\sqrt\epsilon`, and are
evaluated at 0 (Richardson extrapolation [1]_). Which one is meant, the *free power* tells: the h > 0 for
which

.. math:: y(\epsilon) = y_0 + c\,\epsilon^h

runs through the last three points. It exists if the differences of the values decay at all; if not (the
values grow like a logarithm or faster, or turn), no limit is seen and none is claimed. Nor is one where h
lies outside [1/2, 1], the leading powers that are meant, and does not approach it from one triple of points
to the next: the points are then still before the region of small :math:`\epsilon`. Otherwise the value is
that of the polynomial whose power, 1 or 1/2, is nearer to h (in logarithm). Its error is the largest of
three disagreements,

* between two successive orders: without the first point;
* with :math:`y_0` of the free power, which supposes no power;
* with the polynomial in the other power,

plus the errors of the points times the weights with which they enter. An error larger than the value itself
says nothing, and again no limit is claimed. The error is an estimate, no bound: how often it covers a known
limit is told by :mod:`capacity.studies.heavy_traffic`.

References
----------
.. [1] D. C. Joyce, "Survey of extrapolation processes in numerical analysis", SIAM Review 13(4), 1971.
   DOI 10.1137/1013092.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from fairness.model.problem import FloatArray

__all__ = ["Limit", "extrapolated"]

STEEPEST = 60.0
"""Largest free power looked for: the last difference is then 2^-60 of the one before."""

POWERS = (0.49, 1.02)
"""Leading powers: 1/2 to 1, with room for the errors of the points."""


@dataclass(frozen=True)
class Limit:
    """A value at 0; made by :func:`extrapolated`.

    Attributes
    ----------
    value, error : float
        nan and infinite where no limit is seen.
    free_power : float
        h of the module docstring; nan where there is none, and where the values are constant within their
        errors.
    power : float
        1 or 1/2, that of the polynomial; nan without a limit.
    """

    value: float
    error: float
    free_power: float
    power: float


def extrapolated(epsilon: FloatArray, values: FloatArray, errors: FloatArray) -> Limit:
    """Limit of values for epsilon to 0.

    Parameters
    ----------
    epsilon : ndarray of shape (n,)
        Decreasing, > 0; at least 4.
    values, errors : ndarray of shape (n,)

    Examples
    --------
    >>> e = np.array([0.4, 0.2, 0.1, 0.05, 0.025])
    >>> found = extrapolated(e, 2 + 3 * e - e**2, np.zeros(5))
    >>> round(found.value, 12), found.power, abs(found.value - 2) <= found.error
    (2.0, 1.0, True)
    >>> extrapolated(e, -np.log(e), np.zeros(5)).value
    nan
    """
    if (np.abs(np.diff(values)[-2:]) <= 2.0 * errors[-3:].max()).all():
        h, free = math.nan, float(values[-1])
        power = 1.0
    else:
        h, free = _free(epsilon[-3:], values[-3:])
        before = _free(epsilon[-4:-1], values[-4:-1])[0]
        # nan compares false: an unknown distance is not known to shrink; 1e-6 is far above rounding.
        if not (_outside(h) == 0.0 or _outside(h) < (1.0 - 1e-6) * _outside(before)):
            return Limit(math.nan, math.inf, h, math.nan)
        power = 1.0 if h > math.sqrt(0.5) else 0.5
    weights = _weights(epsilon**power)
    value = float(weights @ values)
    shorter = float(_weights(epsilon[1:] ** power) @ values[1:])
    other = float(_weights(epsilon ** (1.5 - power)) @ values)
    error = max(abs(shorter - value), abs(free - value), abs(other - value))
    error += float(np.abs(weights) @ errors)
    if not error < abs(value):
        return Limit(math.nan, math.inf, h, math.nan)
    return Limit(value, error, h, power)


def _weights(t: FloatArray) -> FloatArray:
    """Weights of the values in the polynomial through (t, value), at 0."""
    gaps = t[None, :] - t[:, None]
    np.fill_diagonal(gaps, 1.0)
    tops = np.broadcast_to(t, gaps.shape).copy()
    np.fill_diagonal(tops, 1.0)
    return np.asarray(np.prod(tops / gaps, axis=1))


def _outside(power: float) -> float:
    """Distance of a free power from those that are meant."""
    return power if math.isnan(power) else max(POWERS[0] - power, power - POWERS[1], 0.0)


def _free(epsilon: FloatArray, values: FloatArray) -> tuple[float, float]:
    """Power and value at 0 of the curve through three points; nan where there is none."""
    first, last = np.diff(values)
    ratio = first / last if last else math.inf

    def excess(h: float) -> float:
        powers = epsilon**h
        return float((powers[0] - powers[1]) / (powers[1] - powers[2])) - ratio

    # The limit for h -> 0: differences of a logarithm.
    if not ratio > math.log(epsilon[0] / epsilon[1]) / math.log(epsilon[1] / epsilon[2]):
        return math.nan, math.nan
    low = 1e-6
    if excess(low) >= 0 or excess(STEEPEST) <= 0:
        h = low if excess(low) >= 0 else STEEPEST
    else:
        h = float(brentq(excess, low, STEEPEST, xtol=1e-12))
    powers = epsilon**h
    return h, float(values[2] + last * powers[2] / (powers[1] - powers[2]))
