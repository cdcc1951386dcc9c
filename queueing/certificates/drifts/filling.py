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
:math:`\beta_i = \omega_i c_i \lambda_i`, :math:`\varrho' = (1 + \delta)\varrho < 1` and :math:`m = \frac1p
\bigl(\varrho'\frac{p-1}p\bigr)^{p-1}`. If :math:`m\sum_{i \ne k}\beta_i \le (1/\varrho' - 1) \beta_k` for all
k, then

.. math:: \sum_i \partial_i T ((1+\delta)\lambda_i - \mu_i\varphi_i) \le 0

in all states with :math:`T \ge (\sum_i\omega_i)^{1/p} \max_i r_i/(\varrho\ell_i)`, T > 0.

*Proof.* :math:`T^p \le M^p\sum_i\omega_i`, so no limit matters. :math:`\partial_i T = \omega_i c_i
(M/T)^{p-1} u_i^{p-1}` and lemma 1 give

.. math:: \sum_i \partial_i T ((1+\delta)\lambda_i - \mu_i\varphi_i)
   \le (1+\delta) (M/T)^{p-1} \sum_i \beta_i u_i^{p-1} (1 - u_i/\varrho') .

Some :math:`u_k = 1`; its term is :math:`-\beta_k (1/\varrho' - 1)`. The others are at most :math:`m\beta_i`,
the maximum over :math:`u \ge 0`, at :math:`u = \varrho'(p-1)/p`. ∎

For p large m falls like :math:`e^{-p(1-\varrho')}/(ep)`, so some p serves every load below 1.
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

__all__ = ["spare"]

STEPS = 30
"""Halvings in the search for delta."""


def spare(pool: Pool, policy: str, parameters: Mapping[str, Any], drift: Drift, least: float) -> float:
    """A number delta, proved, of lemma 2 for all states with T >= ``least``; about the largest one."""
    p, load = Interval.of(drift.exponent), pool.load
    scales = [Interval.of(drift.scales[i]) for i in pool.classes]
    rates = growth(pool, policy, parameters)
    c = [r / rho for r, rho in zip(rates, pool.loads, strict=True)]
    omega = [(b / one).power(p) for b, one in zip(scales, c, strict=True)]
    reach = total(omega).power(1.0 / p)
    for r, limit in zip(rates, pool.limits, strict=True):
        if limit < np.inf and not (reach * r / (load * float(limit))).high <= least:
            raise CertificateError(
                "drift", "a limit on the tasks of a job still matters outside of the box; take a larger box"
            )
    beta = [w * one * float(rate) for w, one, rate in zip(omega, c, pool.arrival_rates, strict=True)]
    largest_delta = (1.0 / load - 1.0).low
    proved, refused = 0.0, largest_delta
    for _ in range(STEPS):
        middle = 0.5 * (proved + refused)
        if _falls(p, beta, load * (Interval.of(middle) + 1.0)):
            proved = middle
        else:
            refused = middle
    if not proved > 0:
        raise CertificateError(
            "drift",
            f"T does not fall in all directions with exponent {drift.exponent:g} and these scales; a larger "
            "exponent, or other scales, may do",
        )
    return proved


def _falls(p: Interval, beta: list[Interval], load: Interval) -> bool:
    """Whether the condition of lemma 2 holds for this load rho'."""
    if not load.high < 1:
        return False
    m, gain = (load * (p - 1.0) / p).power(p - 1.0) / p, 1.0 / load - 1.0
    for k, own in enumerate(beta):
        others = [m * one for i, one in enumerate(beta) if i != k]
        if others and not (gain * own - total(others)).low >= 0:
            return False
    return True
