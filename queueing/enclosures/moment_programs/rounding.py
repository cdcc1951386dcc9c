r"""Multipliers of a linear program made exact: a proof out of floating-point numbers.

Rounded multipliers leave some slacks :math:`d_c` below 0 by a hair. Upper bounds and lower bounds alike are
repaired by a little of one *spare* proof, an upper bound of the sum of all moments, whose slacks are all > 0:
with the least part of it that lifts all slacks to 0, the bound moves by that part of the spare bound. Where
there is none, for lower bounds under any policy, a slack of :math:`z_{ik}` is lifted by the row of the
capacity that class i loads most, and what the :math:`n_k` then lack by dividing all multipliers by a little
more than 1.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from fairness.model.problem import FloatArray
from queueing.certificates.drift_certificate import Cut, DriftCertificate, slacks
from queueing.certificates.moments.free_moments import FreeMoments
from queueing.certificates.moments.moments import Moments
from queueing.enclosures.moment_programs.moment_program import Multipliers

__all__ = ["Spare", "exact", "repaired", "repaired_freely"]

TINY = 1e-13
"""Multipliers below this part of the largest of their kind are 0."""

BITS = 40


class Spare:
    """Multipliers whose slacks are all positive.

    Parameters
    ----------
    moments : Moments
    certificate : DriftCertificate
        With these multipliers; its weights are all 0.
    """

    def __init__(self, moments: Moments, certificate: DriftCertificate) -> None:
        self.certificate = certificate
        self.slacks, self.bound = slacks(moments, [Fraction(0)] * moments.numbers.n, certificate)

    @property
    def positive(self) -> bool:
        """Whether they are."""
        return all(slack > 0 for slack in self.slacks)


def exact(moments: Moments, blank: DriftCertificate, found: Multipliers, cuts: list[Cut]) -> DriftCertificate:
    """The multipliers as fractions, with signs as they must be."""
    drifts = _rounded(found.drifts)
    rows, squares = _rounded(found.rows), _rounded(found.cuts)
    zero = Fraction(0)
    return replace(
        blank,
        drifts={pair: value for pair, value in zip(moments.drifts, drifts, strict=True) if value},
        rows={
            number: value
            for number, (row, value) in enumerate(zip(moments.listed, rows, strict=True))
            if value > 0 or (row.equal and value)
        },
        cuts=tuple((cut, value) for cut, value in zip(cuts, squares, strict=True) if value > zero),
    )


def _rounded(values: FloatArray) -> list[Fraction]:
    most = np.abs(values).max(initial=0.0)
    kept = np.where(np.abs(values) > TINY * most, values, 0.0)
    mantissas, exponents = np.frexp(kept)
    return list(map(Fraction, np.ldexp(np.round(np.ldexp(mantissas, BITS)), exponents - BITS).tolist()))


def repaired(
    moments: Moments, weights: list[Fraction], certificate: DriftCertificate, spare: Spare
) -> DriftCertificate:
    """A proof of nearly the same bound, by a part of the spare."""
    found, bound = slacks(moments, weights, certificate)
    part = max(
        (-slack / more for slack, more in zip(found, spare.slacks, strict=True) if slack < 0),
        default=Fraction(0),
    )
    if part:
        # A power of two leaves the fractions short.
        part = Fraction(2) ** (_ceil_log2(part))
        certificate = _plus(certificate, part, spare.certificate)
    return replace(certificate, value=bound + part * spare.bound * (1 if certificate.upper else -1))


def _ceil_log2(value: Fraction) -> int:
    """The least k, or one more, with value <= 2^k."""
    return value.numerator.bit_length() - value.denominator.bit_length() + 1


def _plus(certificate: DriftCertificate, part: Fraction, other: DriftCertificate) -> DriftCertificate:
    drifts, rows, cuts = dict(certificate.drifts), dict(certificate.rows), dict(certificate.cuts)
    for pair, alpha in other.drifts.items():
        drifts[pair] = drifts.get(pair, Fraction(0)) + part * alpha
    for number, gamma in other.rows.items():
        rows[number] = rows.get(number, Fraction(0)) + part * gamma
    for cut, gamma in other.cuts:
        cuts[cut] = cuts.get(cut, Fraction(0)) + part * gamma
    return replace(certificate, drifts=drifts, rows=rows, cuts=tuple(cuts.items()))


def repaired_freely(
    moments: FreeMoments, weights: list[Fraction], certificate: DriftCertificate
) -> DriftCertificate:
    """A proof of nearly the same lower bound under any policy."""
    numbers = moments.numbers
    # Counts without weight are in no proof; multipliers of theirs are rounding errors.
    drifts = {(i, k): alpha for (i, k), alpha in certificate.drifts.items() if weights[i] and weights[k]}
    ours = {number for k in range(numbers.n) if weights[k] for number in moments.rows_of(k)}
    rows = {number: gamma for number, gamma in certificate.rows.items() if number in ours}
    certificate = replace(certificate, drifts=drifts, rows=rows)
    found, bound = slacks(moments, weights, certificate)
    excess = Fraction(0)
    for k in (k for k in range(numbers.n) if weights[k]):
        lifted = Fraction(0)
        for j in range(numbers.m):
            lack = Fraction(0)
            for i in numbers.together[k]:
                slack, share = found[moments.column("z", i, k)], numbers.shares[i][j]
                if slack < 0 and share == max(numbers.shares[i]):
                    lack = max(lack, -slack / share)
            if lack:
                number = moments.capacity_row(k, j)
                rows[number] = rows.get(number, Fraction(0)) + lack
                lifted += lack
        excess = max(excess, (lifted - found[moments.column("n", k)]) / weights[k])
    shrink = 1 / (1 + excess)
    return replace(
        certificate,
        value=bound * shrink,
        drifts={pair: alpha * shrink for pair, alpha in drifts.items()},
        rows={number: gamma * shrink for number, gamma in rows.items()},
    )
