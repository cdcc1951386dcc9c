r"""The proof of one bound: multipliers of rows, and the check that they prove it.

Let the columns z >= 0 of :mod:`queueing.certificates.moments.moments` satisfy the drift equations
:math:`\sum_c A_{ac} z_c = b_a` and the rows :math:`\sum_c G_{rc} z_c \ge h_r`, some of which are equations.
For a target :math:`\sum_c t_c z_c = \sum_i w_i E[x_i]` let

.. math:: d_c = \sum_a \alpha_a A_{ac} - \sum_r \gamma_r G_{rc} \mp t_c \ge 0 \text{ for all } c, \qquad
          \gamma_r \ge 0 \text{ where r is no equation.}

Then :math:`\pm\sum_i w_i E[x_i] \le \sum_a\alpha_a b_a - \sum_r\gamma_r h_r`, the upper sign for an upper
bound: multiply and add. The same multipliers, read state by state, say that the function

.. math:: g(x) = \sum_i \alpha_{ii} x_i (x_i + 1) + \sum_{i<k} \alpha_{ik} x_i x_k + \text{linear terms}

has :math:`\pm f + Qg \le \pm c` everywhere. For the means of the drifts to be 0 the counts that occur must
have finite means. What shows that is one of these:

- that all :math:`\alpha` are 0: then the rows bound f in every state;
- a theorem (:func:`queueing.certificates.moments.families.finite_moments`);
- an upper bound of the sum of all jobs whose :math:`\alpha` are all >= 0. Then g >= 0 and :math:`\min(g, m)`
  is bounded, has mean drift 0, and drifts no more than g where g <= m, and down elsewhere; let m grow;
- in a lower bound, that all counts in g have a positive weight: infinite means satisfy it.

Everything is computed in fractions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.model.problem import FloatArray
from queueing.certificates.errors import CertificateError
from queueing.certificates.moments.families import finite_moments, moments_of
from queueing.certificates.moments.moments import Coefficients, Moments, Numbers, combined
from queueing.certificates.pool import Pool
from queueing.model.system import System

__all__ = ["Cut", "DriftCertificate", "slacks"]


@dataclass(frozen=True)
class Cut:
    """The row v'Mv >= 0 of a block M of the moments."""

    block: int
    vector: tuple[Fraction, ...]


@dataclass(frozen=True, eq=False, repr=False)
class DriftCertificate:
    """A bound of a weighted sum of mean counts, with its proof.

    Attributes
    ----------
    system : System
    policy : str
        By name: :mod:`queueing.certificates.moments.families`.
    parameters : dict
    weights : tuple of Fraction
        w >= 0 of each class of the system in the sum.
    upper : bool
        Whether the sum is at most ``value``, and not at least.
    value : Fraction
    drifts : dict of (int, int) to Fraction
        alpha, by pairs of classes with arrivals, counted among themselves.
    rows : dict of int to Fraction
        gamma, by the number of a row.
    cuts : tuple of (Cut, Fraction)
        More rows with their gamma.
    finite : DriftCertificate or None
        Upper bound by which the means are finite, where no theorem says so.
    """

    system: System
    policy: str
    parameters: dict[str, Any]
    weights: tuple[Fraction, ...]
    upper: bool
    value: Fraction
    drifts: dict[tuple[int, int], Fraction]
    rows: dict[int, Fraction]
    cuts: tuple[tuple[Cut, Fraction], ...]
    finite: DriftCertificate | None = field(default=None)

    def check(self) -> Fraction:
        """The bound, if this proves it; CertificateError that tells what fails, if not."""
        pool = Pool.of(self.system)
        if len(self.weights) != self.system.n_classes or not all(
            type(w) is Fraction and w >= 0 for w in self.weights
        ):
            raise CertificateError("data", "weights must be a fraction >= 0 for each class")
        weights = [self.weights[i] for i in pool.classes]
        moments = moments_of(self.policy, self.parameters, Numbers.of(pool))
        found, bound = slacks(moments, weights, self)
        for column, slack in enumerate(found):
            if slack < 0:
                what = next(key for key, number in moments.columns.items() if number == column)
                raise CertificateError("inequality", f"the moment {what} has slack {float(slack):.3g} < 0")
        if type(self.value) is not Fraction or (self.value < bound if self.upper else self.value > bound):
            raise CertificateError("value", f"{float(bound)} is proved, {float(self.value)} is claimed")
        self._check_finite(weights)
        return self.value

    def _check_finite(self, weights: list[Fraction]) -> None:
        if finite_moments(self.policy, self.parameters) or not any(self.drifts.values()):
            return
        if self.finite is not None:
            other = self.finite
            if (other.system, other.policy, other.parameters) != (self.system, self.policy, self.parameters):
                raise CertificateError("finite means", "the upper bound is for another system or policy")
            if not other.upper or not all(other.weights[i] > 0 for i in Pool.of(self.system).classes):
                raise CertificateError("finite means", "an upper bound of all jobs is needed")
            if any(alpha < 0 for alpha in other.drifts.values()):
                raise CertificateError("finite means", "the function of the upper bound may be negative")
            if other is not self:
                other._proved()
            return
        if not self.upper:
            if all(weights[i] > 0 and weights[k] > 0 for (i, k), alpha in self.drifts.items() if alpha):
                return
        elif all(weight > 0 for weight in weights) and all(alpha >= 0 for alpha in self.drifts.values()):
            return
        raise CertificateError("finite means", "nothing shows that the means are finite")

    def _proved(self) -> None:
        """Check a certificate that needs no other one."""
        if self.finite is not None:
            raise CertificateError("finite means", "an upper bound may not lean on another one")
        self.check()

    def coefficients(self) -> FloatArray:
        """The symmetric matrix G of g(x) = x'Gx + linear terms, (n_classes, n_classes), rounded."""
        matrix = np.zeros((self.system.n_classes,) * 2)
        live = np.flatnonzero(self.system.arrival_rates > 0)
        for (i, k), alpha in self.drifts.items():
            matrix[live[i], live[k]] += float(alpha) / 2
            matrix[live[k], live[i]] += float(alpha) / 2
        return matrix

    def function(self, counts: ArrayLike) -> FloatArray:
        """G at counts of shape (..., n_classes), but for terms of limits, rounded."""
        x, matrix = np.asarray(counts, dtype=float), self.coefficients()
        value: FloatArray = ((x @ matrix) * x).sum(axis=-1) + x @ np.diag(matrix)
        return value


def slacks(
    moments: Moments, weights: list[Fraction], certificate: DriftCertificate
) -> tuple[list[Fraction], Fraction]:
    """The d of all columns, and the bound (see the module)."""
    sign = 1 if certificate.upper else -1
    total = [Fraction(0)] * len(moments.columns)
    constant = Fraction(0)

    def add(factor: Fraction | int, coefficients: Coefficients) -> None:
        for column, value in coefficients.items():
            total[column] += factor * value

    pending = dict(certificate.drifts)
    for pair, row in moments.drifts.items():
        if alpha := _fraction(pending.pop(pair, Fraction(0))):
            add(alpha, row.coefficients)
            constant += alpha * row.constant
    if pending:
        raise CertificateError("data", f"there is no pair of classes {next(iter(pending))}")
    left = dict(certificate.rows)
    for number, row in enumerate(moments.listed):
        if gamma := _fraction(left.pop(number, Fraction(0))):
            if gamma < 0 and not row.equal:
                raise CertificateError(
                    "multipliers", f"row {number} has the multiplier {float(gamma):.3g} < 0"
                )
            add(-gamma, row.coefficients)
            constant -= gamma * row.constant
    if left:
        raise CertificateError("data", f"there is no row {next(iter(left))}")
    add(-1, _squares(moments.blocks(), certificate.cuts))
    target = combined(*((weight, moments.jobs(k)) for k, weight in enumerate(weights)))
    add(-sign, target)
    return total, sign * constant


def _squares(blocks: list[list[list[int]]], cuts: tuple[tuple[Cut, Fraction], ...]) -> Coefficients:
    """The sum of gamma v'Mv, over one common denominator."""
    for cut, gamma in cuts:
        if not 0 <= cut.block < len(blocks) or len(cut.vector) != len(blocks[cut.block]):
            raise CertificateError("data", f"there is no block {cut.block} of {len(cut.vector)} moments")
        if _fraction(gamma) < 0:
            raise CertificateError("multipliers", f"a square has the multiplier {float(gamma):.3g} < 0")
    units = [math.lcm(*(_fraction(v).denominator for v in cut.vector)) for cut, _ in cuts]
    common = math.lcm(*(gamma.denominator * unit**2 for (_, gamma), unit in zip(cuts, units, strict=True)))
    total: dict[int, int] = {}
    for number, block in enumerate(blocks):
        matrix = np.zeros((len(block),) * 2, dtype=object)
        for (cut, gamma), unit in zip(cuts, units, strict=True):
            if cut.block == number:
                vector = np.array([int(v * unit) for v in cut.vector], dtype=object)
                matrix += np.outer(vector, vector) * int(gamma * common / unit**2)
        for columns, values in zip(block, matrix.tolist(), strict=True):
            for column, value in zip(columns, values, strict=True):
                total[column] = total.get(column, 0) + value
    return {column: Fraction(value, common) for column, value in total.items() if value}


def _fraction(value: Any) -> Fraction:
    if type(value) is not Fraction:
        raise CertificateError("data", f"multipliers must be fractions; got {value!r:.80}")
    return value
