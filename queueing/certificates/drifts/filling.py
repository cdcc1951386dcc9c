r"""The drift under progressive filling: max-min fairness, DRF, EDRF, asset fairness, for any number of
classes.

With growth rates :math:`r_i` per job (:mod:`queueing.certificates.rates.filling`) and the largest relative
load :math:`\varrho < 1`, let :math:`c_i = r_i/\rho_i`, :math:`M = \max_k c_k x_k` and :math:`u_i = c_i
x_i/M`.

*Lemma 1.* In every state but the empty one, where no limit binds below the level :math:`1/(\varrho M)`,
:math:`\varphi_i \ge \rho_i u_i/\varrho`.

*Proof.* At the common level y resource j holds at most :math:`\sum_i a_{ij} x_i r_i y = y \sum_i a_{ij}
\rho_i c_i x_i \le y M \sum_i a_{ij}\rho_i \le y M \varrho C_j`. So no resource is full below the level
:math:`1/(\varrho M)`, which all classes reach, and :math:`x_i r_i/(\varrho M) = \rho_i u_i/\varrho`. ∎

A limit binds at the level :math:`\ell_i/r_i`; none does below :math:`1/(\varrho M)` as soon as
:math:`M \ge \max_i r_i/(\varrho\ell_i)`.

*Lemma 2.* Let :math:`T^p = \sum_i \omega_i (c_i x_i)^p`, that is :math:`b_i = \omega_i^{1/p} c_i`, let
:math:`\beta_i = \omega_i c_i \lambda_i`, :math:`\varepsilon = 1/\varrho - 1` and :math:`m = \frac1p \bigl(
\varrho\frac{p-1}p\bigr)^{p-1}`. Then

.. math:: \sum_i \partial_i T (\lambda_i - \mu_i\varphi_i) \le -d, \qquad
   d = \Bigl(\sum_i\omega_i\Bigr)^{-(p-1)/p} \min_k \Bigl(\varepsilon\beta_k - m\sum_{i \ne k}\beta_i\Bigr),

if d > 0 and :math:`T \ge (\sum_i\omega_i)^{1/p} \max_i r_i/(\varrho\ell_i)`.

*Proof.* :math:`T^p \le M^p\sum_i\omega_i`, so no limit matters. :math:`\partial_i T = \omega_i c_i
(M/T)^{p-1} u_i^{p-1}` and lemma 1 give

.. math:: \sum_i \partial_i T (\lambda_i - \mu_i\varphi_i)
   \le (M/T)^{p-1} \sum_i \beta_i u_i^{p-1} (1 - u_i/\varrho) .

Some :math:`u_k = 1`; its term is :math:`-\varepsilon\beta_k`. The others are at most :math:`m\beta_i`, the
maximum over :math:`u \ge 0`, at :math:`u = \varrho(p-1)/p`. And :math:`(M/T)^{p-1} \ge
(\sum_i\omega_i)^{-(p-1)/p}`. ∎

For p large m falls like :math:`e^{-p(1-\varrho)}/(ep)`, so there is a drift at every load below 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from queueing.certificates.certificate import Drift
from queueing.certificates.errors import CertificateError
from queueing.certificates.intervals import Interval, total
from queueing.certificates.pool import Pool
from queueing.certificates.rates.filling import growth

__all__ = ["slope"]


def slope(pool: Pool, policy: str, parameters: Mapping[str, Any], drift: Drift, least: float) -> float:
    """A number d, proved, of lemma 2 for all states with T >= ``least``."""
    p = Interval.of(drift.exponent)
    scales = [Interval.of(drift.scales[i]) for i in pool.classes]
    rates, loads, load = growth(pool, policy, parameters), pool.loads, pool.load
    c = [r / rho for r, rho in zip(rates, loads, strict=True)]
    omega = [(b / one).power(p) for b, one in zip(scales, c, strict=True)]
    norm = total(omega)
    for r, limit in zip(rates, pool.limits, strict=True):
        if limit < np.inf and not (norm.power(1.0 / p) * r / (load * float(limit))).high <= least:
            raise CertificateError(
                "drift", "a limit on the tasks of a job still matters outside of the box; take a larger box"
            )
    beta = [w * one * float(rate) for w, one, rate in zip(omega, c, pool.arrival_rates, strict=True)]
    m = (load * (p - 1.0) / p).power(p - 1.0) / p
    gain = 1.0 / load - 1.0
    falls = []
    for k in range(pool.n):
        others = [m * one for i, one in enumerate(beta) if i != k]
        falls.append(gain * beta[k] - total(others) if others else gain * beta[k])
    least_fall = min(fall.low for fall in falls)
    if not least_fall > 0:
        raise CertificateError(
            "drift",
            f"T does not fall in all directions: the lemma gives {least_fall:.3g}; another exponent "
            "or other scales may do",
        )
    return (Interval.of(least_fall) / norm.power((p - 1.0) / p)).low
