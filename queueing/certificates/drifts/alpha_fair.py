r"""The drift under alpha-fair tasks: proportional fairness, its relatives, and BMF where it is the same.

With :math:`T(x) = (\sum_i a_i x_i^p)^{1/p}`, :math:`p = \alpha + 1` and any scales :math:`b_i > 0`,
:math:`a_i = b_i^p`, let the *targets* be

.. math:: \psi_i = t\, w_i (\mu_i a_i)^{-1/\alpha}, \qquad
   t \text{ such that } \max_j \sum_i \psi_i a_{ij}/C_j = 1 .

**Lemma.** If :math:`\psi_i \mu_i > \lambda_i` for all classes i, then for all counts :math:`x \ne 0` with
:math:`T(x) \ge T_0`

.. math:: \sum_i \frac{\partial T}{\partial x_i}(x)\,((1 + \delta_i)\lambda_i - \mu_i \varphi_i(x)) \le 0,
   \qquad 1 + \delta_i = \frac{\mu_i\psi_i - R/b_i}{\lambda_i}, \quad
   R = T_0^{-\alpha} \sum_{i: \ell_i < \infty} a_i \mu_i \psi_i (\psi_i/\ell_i)^\alpha .

R vanishes without limits on the tasks of a job.

*Proof.* Only classes with :math:`x_i > 0` matter: :math:`\partial T/\partial x_i = a_i x_i^\alpha/T^\alpha`.
The tasks :math:`\varphi` maximise the concave :math:`F(\varphi) = \sum_i (x_i w_i)^\alpha
\varphi_i^{1-\alpha}/(1-\alpha)` over the feasible set, which contains :math:`\psi'_i = \min(\psi_i, x_i
\ell_i)`. On the segment from :math:`\psi'` to :math:`\varphi` the concave F does not end below where it
begins, so its slope at the beginning is not negative [1]_:

.. math:: \sum_i \Bigl(\frac{x_i w_i}{\psi'_i}\Bigr)^\alpha (\varphi_i - \psi'_i) \ge 0 .

Classes with :math:`x_i \ell_i < \psi_i` contribute :math:`\varphi_i - x_i \ell_i \le 0` and may be left out.
For the others :math:`(w_i/\psi_i)^\alpha = t^{-\alpha} \mu_i a_i`, so :math:`\sum a_i x_i^\alpha \mu_i
(\varphi_i - \psi_i) \ge 0`, and

.. math:: \sum_i a_i x_i^\alpha ((1+\delta_i)\lambda_i - \mu_i\varphi_i)
   \le -\sum_i a_i x_i^\alpha (\mu_i\psi_i - (1+\delta_i)\lambda_i)
   + \sum_{i:\, x_i\ell_i < \psi_i} a_i x_i^\alpha \mu_i \psi_i .

In the last sum :math:`x_i < \psi_i/\ell_i`, so divided by :math:`T^\alpha \ge T_0^\alpha` it is at most R.
For the first sum let :math:`z_i = b_i x_i/T`, so that :math:`\sum_i z_i^p = 1`: then :math:`a_i
x_i^\alpha/T^\alpha = b_i z_i^\alpha \ge b_i z_i^p`, and :math:`b_i (\mu_i\psi_i - (1+\delta_i)\lambda_i) =
R`, so it is at least R. ∎ It holds all the more with the least of them for all.

Where :math:`\alpha + 1` is no float, p is the next one: :math:`p = \alpha + 1 - \epsilon`. Then take
:math:`\psi_i = t\, w_i (\mu_i b_i)^{-1/\alpha}/b_i` and :math:`b_i z_i^\alpha` in the proof; as
:math:`|z^{p-1} - z^\alpha| \le |\epsilon|\, z^{\min(p-1, \alpha)} |\log z| \le |\epsilon|/\alpha`, it is
enough to add :math:`(|\epsilon|/\alpha) \sum_i b_i \mu_i (\psi_i + \bar\varphi_i)` to R, with the most tasks
:math:`\bar\varphi_i` that a class can run.

The choice :math:`a_i = (w_i/\rho_i)^\alpha/\mu_i` makes the targets proportional to the loads, :math:`\psi =
\rho/\varrho`, as in [1]_; any scales whose targets exceed the loads will do. Weights enter with the power
alpha, as in :mod:`fairness.policies.proportional`.

For :math:`\alpha < 1` boxes must be large: a job more in an empty class raises T by about
:math:`T^{-\alpha}`. In the limit :math:`\alpha \to 0` (maximum throughput) the system need not be stable at
all below load 1 [1]_.

References
----------
.. [1] T. Bonald and L. Massoulié, "Impact of fairness on Internet performance", ACM SIGMETRICS 2001.
   DOI 10.1145/378420.378438.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.model.problem import FloatArray
from queueing.certificates.certificate import Drift
from queueing.certificates.errors import CertificateError
from queueing.certificates.intervals import Interval, above, largest, total
from queueing.certificates.pool import Pool
from queueing.certificates.rates.alpha_fair import aversion

__all__ = ["scales_of_targets", "spare", "spares"]


def scales_of_targets(
    targets: ArrayLike, weights: ArrayLike, mean_sizes: ArrayLike, alpha: float
) -> FloatArray:
    """Scales b_i, (n_classes,), whose targets are proportional to the given ones; the largest is 1.

    Examples
    --------
    >>> scales_of_targets([0.25, 1.0], [1, 1], [1, 1], 1.0)
    array([1. , 0.5])
    """
    logarithms = (alpha * (np.log(weights) - np.log(targets)) + np.log(mean_sizes)) / (alpha + 1.0)
    scales: FloatArray = np.exp(logarithms - logarithms.max())
    return scales


def spare(pool: Pool, policy: str, parameters: Mapping[str, Any], drift: Drift, least: float) -> float:
    """A number delta > 0, proved, of the lemma for all states with T >= ``least``."""
    return min(spares(pool, policy, parameters, drift, least))


def spares(pool: Pool, policy: str, parameters: Mapping[str, Any], drift: Drift, least: float) -> list[float]:
    """Numbers delta_i > 0, proved, of the lemma for all states with T >= ``least``."""
    alpha = aversion(pool, policy, parameters)
    off = abs(Fraction(alpha) + 1 - Fraction(drift.exponent))
    if off > Fraction(1, 2**40):
        raise CertificateError(
            "drift",
            f"the exponent must be alpha + 1 = {alpha + 1.0!r}, up to rounding; got {drift.exponent!r}",
        )
    scales = [Interval.of(drift.scales[i]) for i in pool.classes]
    sizes = [float(size) for size in pool.mean_sizes]
    inverse = 1.0 / Interval.of(alpha)
    directions = [
        (size / b).power(inverse) / b * float(w)
        for b, size, w in zip(scales, sizes, pool.weights, strict=True)
    ]
    fullest = largest(
        total(one * float(a) for one, a in zip(directions, column, strict=True) if a > 0) / float(capacity)
        for column, capacity in zip(pool.demands.T, pool.capacities, strict=True)
    )
    targets = [one / fullest for one in directions]
    # R of the lemma: what limits take, and what the rounding of the exponent does.
    limited = Interval.of(0.0)
    for b, target, size, limit in zip(scales, targets, sizes, pool.limits, strict=True):
        if limit < np.inf:
            few = b * target / (float(limit) * Interval.of(least))
            limited = limited + b * target / size * few.power(alpha)
    if off > 0:
        unlike = Interval.of(above(float(off))) / alpha
        served = zip(scales, targets, pool.most_tasks, sizes, strict=True)
        limited = limited + unlike * total(b * (target + most) / size for b, target, most, size in served)
    found = []
    for i, (b, target) in enumerate(zip(scales, targets, strict=True)):
        arriving, size = float(pool.arrival_rates[i]), sizes[i]
        if not (target / size - arriving).low > 0:
            raise CertificateError(
                "drift",
                f"the target {target.low:.6g} of class {int(pool.classes[i])} is not above its load "
                f"{pool.loads[i].high:.6g}; other scales may do",
            )
        found.append(((target / size - limited / b) / arriving - 1.0).low)
    if not np.min(found) > 0:
        raise CertificateError(
            "drift", "a limit on the tasks of a job still matters outside of the box; take a larger box"
        )
    return found
