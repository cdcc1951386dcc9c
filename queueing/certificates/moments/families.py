r"""Policies by name, and what is known of their moments.

A policy is told as data, a name and numbers, so that a proof can be checked without it:

========= =================================== ==========================================================
name      policy                              moments
========= =================================== ==========================================================
"PF"      proportional fairness               :class:`.PriceMoments`
"MMF",    max-min fairness of tasks,          :class:`.LevelMoments`
"DRF",    of dominant shares (EDRF by its     with one level per class
"Asset"   weights), of sums of shares
"BMF"     bottleneck max fairness             the same, with one level per class and resource
"alpha"   alpha-fairness                      :class:`.RatioMoments`
"any"     any policy                          :class:`.FreeMoments`
========= =================================== ==========================================================

Under PF, filling and alpha-fairness with alpha >= 1, without limits, all moments are finite below load 1: the
exponential functions of the page on enclosures (lemmas 1 to 6) prove it. For the others an upper bound by a
function with coefficients >= 0 does.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from queueing.certificates.errors import CertificateError
from queueing.certificates.moments.free_moments import FreeMoments
from queueing.certificates.moments.label_moments import LevelMoments, RatioMoments
from queueing.certificates.moments.moments import Moments, Numbers
from queueing.certificates.moments.price_moments import PriceMoments
from queueing.certificates.rates.filling import GROWTH, exact_growth

__all__ = ["finite_moments", "moments_of", "names_of"]

_DIGITS = Context(prec=50, Emax=10**8, Emin=-(10**8))
_GRID = 2**60
_STEEPEST = Decimal(28)
"""Ratios beyond e to this power are taken as it, below its inverse as 0: programs in floats end there."""


def moments_of(policy: str, parameters: Mapping[str, Any], numbers: Numbers) -> Moments:
    """Columns and rows of a policy; CertificateError if there are none."""
    if policy == "any":
        return FreeMoments(numbers)
    if any(limit is not None for limit in numbers.limits):
        raise CertificateError("data", "moments are known for jobs without limits only")
    if policy == "PF":
        return PriceMoments(numbers)
    if policy == "BMF":
        rates = [
            [weight / share if share else Fraction(0) for share in row]
            for weight, row in zip(numbers.weights, numbers.shares, strict=True)
        ]
        return LevelMoments(numbers, rates, one_level=False)
    if policy in GROWTH:
        growth = exact_growth(numbers.pool, policy, parameters)
        return LevelMoments(numbers, [[rate] * numbers.m for rate in growth], one_level=True)
    if policy == "alpha":
        alpha = parameters.get("alpha")
        if not (isinstance(alpha, float) and 0 <= alpha < float("inf")):
            raise CertificateError("data", f"alpha must be a finite number >= 0; got {alpha!r}")
        return RatioMoments(numbers, lambda i, k: _ratio(numbers, i, k, alpha))
    raise CertificateError("data", f"nothing is known of the moments of {policy!r}")


def finite_moments(policy: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a theorem says that all moments are finite below load 1."""
    return policy in ("PF", *GROWTH) or (policy == "alpha" and parameters["alpha"] >= 1)


def names_of(policy: str, parameters: Mapping[str, Any], shown: str) -> tuple[str, ...]:
    """Names that tables show of a policy; what is true under any policy is so under the one ``shown``."""
    if policy == "any":
        return (shown,)
    if policy == "alpha":
        return (f"alpha={parameters['alpha']:g}",)
    return (policy, {"PF": "alpha=1", "MMF": "alpha=inf"}.get(policy, policy))


def _ratio(numbers: Numbers, i: int, k: int, alpha: float) -> Fraction:
    """A number at most, and nearly, min_j (b_kj/b_ij)^(1/alpha) over the resources that i demands."""
    least = min(numbers.shares[k][j] / numbers.shares[i][j] for j in numbers.used(i))
    if not least or not alpha:
        return Fraction(0)
    # Logarithm and exponential are correctly rounded, far closer than the last factor.
    quotient = _DIGITS.divide(Decimal(least.numerator), Decimal(least.denominator))
    exponent = _DIGITS.divide(_DIGITS.ln(quotient), Decimal(alpha))
    if exponent < -_STEEPEST:
        return Fraction(0)
    power = _DIGITS.exp(min(exponent, _STEEPEST))
    return Fraction(int(Fraction(power) * (1 - Fraction(1, 10**30)) * _GRID), _GRID)
