r"""From a drift of T to a decay of V: how fast V falls outside of the box.

Let :math:`T(x) = (\sum_i (b_i x_i)^p)^{1/p}` with :math:`p \ge 2`, :math:`V = e^{\theta(T - T_A)}` and
:math:`T_A = \min_i b_i s_i`, so that :math:`T \ge T_A` outside of the box. A lemma on the policy gives d > 0
with

.. math:: \sum_i \partial_i T(x) \, (\lambda_i - \mu_i\varphi_i(x)) \le -d
   \quad\text{for all counts x outside of the box.}

*Lemma.* With :math:`\beta = \max_i b_i`, :math:`\kappa = \max_{0\le z\le 1} z^{p-2}(1 - z^p)` and
:math:`\eta_i = \kappa (p-1) b_i^2 / (2 (T_A - \beta))`, for any upper bounds :math:`\bar\varphi_i` of the
tasks and :math:`H \ge \sum_i (\lambda_i + \mu_i\varphi_i)\eta_i`,

.. math:: \frac{QV}{V} \le -\theta d + \theta H + \frac{\theta^2}{2} \Bigl[
   \max_i (\lambda_i e^{\theta b_i} + \mu_i\bar\varphi_i) b_i^2
   + \sum_i \lambda_i e^{\theta b_i} (2 b_i\eta_i + \eta_i^2) \Bigr].

*Proof.* With :math:`z_i = b_i x_i/T \in [0, 1]`, :math:`\sum_i z_i^p = 1`, one finds
:math:`\partial_i T = b_i z_i^{p-1}` and :math:`0 \le \partial_i^2 T = (p-1) b_i^2 z_i^{p-2}(1 - z_i^p)/T \le
\kappa (p-1) b_i^2/T`. T is a norm of :math:`(b_i x_i)`, so it changes by at most :math:`b_i` when
:math:`x_i` changes by 1, and on the way it stays above :math:`T_A - \beta`. Hence, by Taylor's theorem,
:math:`T(x+e_i) - T(x) = t` with :math:`0 \le t \le \min(b_i, \partial_i T + \eta_i)`, and
:math:`T(x-e_i) - T(x) = -t'` with :math:`\partial_i T - \eta_i \le t' \le \partial_i T`, :math:`t' \ge 0`,
the upper bound since T is convex. Now :math:`e^y - 1 \le y + \tfrac12 y^2 e^{\max(y, 0)}`, so

.. math:: \frac{QV}{V} \le \sum_i \lambda_i \Bigl(\theta(\partial_i T + \eta_i)
   + \tfrac12\theta^2 e^{\theta b_i}(\partial_i T + \eta_i)^2\Bigr)
   + \mu_i\varphi_i \Bigl(\theta(\eta_i - \partial_i T) + \tfrac12\theta^2 (\partial_i T)^2\Bigr) .

The terms in :math:`\theta` sum to at most :math:`-\theta d + \theta H`. As :math:`(\partial_i T/b_i)^2 =
z_i^{2p-2} \le z_i^p`, a sum :math:`\sum_i m_i (\partial_i T)^2` is at most :math:`\max_i m_i b_i^2`; and
:math:`\partial_i T \le b_i` bounds the rest. ∎

H is the smaller one of :math:`\sum_i (\lambda_i + \mu_i\bar\varphi_i)\eta_i` and, for a resource j that all
demand, :math:`\sum_i \lambda_i\eta_i + C_j \max_i \mu_i\eta_i/a_{ij}`, since
:math:`\sum_i a_{ij}\varphi_i \le C_j`.

The maximum :math:`\kappa` is 1 for p = 2, and at :math:`z^p = (p-2)/(2p-2)` for p > 2, where it is
:math:`((p-2)/(2p-2))^{1-2/p}\, p/(2p-2)`.
"""

from __future__ import annotations

import numpy as np

from queueing.certificates.certificate import Drift
from queueing.certificates.errors import CertificateError
from queueing.certificates.intervals import Interval, below, largest, total
from queueing.certificates.pool import Pool

__all__ = ["decay", "radius"]


def radius(drift: Drift, pool: Pool, shape: tuple[int, ...]) -> float:
    """T_A: a float that T reaches or exceeds outside of the box."""
    return min(below(float(drift.scales[i]) * shape[i]) for i in pool.classes)


def decay(drift: Drift, pool: Pool, shape: tuple[int, ...], slope: float) -> float:
    """A number gamma, proved, with QV <= -gamma V outside of the box, given the lemma's ``slope`` d.

    Not positive where the proof fails: the box or d too small for theta, or theta too large.
    """
    p, theta = Interval.of(drift.exponent), drift.theta
    scales = [Interval.of(drift.scales[i]) for i in pool.classes]
    room = Interval.of(radius(drift, pool, shape)) - largest(scales)
    if not room.low > 0:
        raise CertificateError("drift", f"the box has no room for V: T_A less max b is {room.low}")
    eta = [_curvature(p) * (p - 1.0) * b * b / (2.0 * room) for b in scales]
    up = [Interval.of(rate) for rate in pool.arrival_rates]
    mu = [1.0 / Interval.of(size) for size in pool.mean_sizes]
    most = pool.most_tasks
    curved = [total((a + m * t) * e for a, m, t, e in zip(up, mu, most, eta, strict=True))]
    for j in np.flatnonzero((pool.demands > 0).all(axis=0)):
        served = largest(m * e / float(a) for m, e, a in zip(mu, eta, pool.demands[:, j], strict=True))
        arrived = total(a * e for a, e in zip(up, eta, strict=True))
        curved.append(arrived + served * float(pool.capacities[j]))
    jump = [rate * (theta * b).exp() for rate, b in zip(up, scales, strict=True)]
    square = largest((a + m * t) * b * b for a, m, t, b in zip(jump, mu, most, scales, strict=True))
    rest = total(a * (2.0 * b * e + e * e) for a, b, e in zip(jump, scales, eta, strict=True))
    first = Interval.of(slope) - min(value.high for value in curved)
    return (theta * first - Interval.of(theta) * theta * 0.5 * (square + rest)).low


def _curvature(p: Interval) -> Interval:
    """The constant kappa of the lemma."""
    if p.low == p.high == 2.0:
        return Interval.of(1.0)
    top = p / (2.0 * p - 2.0)
    if not p.low > 2:
        return Interval(0.0, 1.0)
    return Interval(0.0, min(1.0, (((p - 2.0) / (2.0 * p - 2.0)).power(1.0 - 2.0 / p) * top).high))
