r"""From a drift of T to a fall of its power: V grows like a power of the counts, with a spare of each class.

Let :math:`T(x) = (\sum_i (b_i x_i)^p)^{1/p}` with :math:`p \ge 2`, :math:`V = (T/T_A)^p` and :math:`T_A =
\min_i b_i s_i`, so that :math:`V \ge 1` outside of the box. A lemma on the policy gives each class a *spare*
:math:`\epsilon_i > 0`:

.. math:: \sum_i b_i^p x_i^{p-1} \bigl((1 + \epsilon_i)\lambda_i - \mu_i\varphi_i(x)\bigr) \le 0
   \quad\text{for all counts x outside of the box.}

*Lemma.* Let :math:`d_i(x) = \tfrac12 (p-1) (\lambda_i (x+1)^{p-2} + \mu_i\bar\varphi_i x^{p-2})`, where
:math:`\bar\varphi_i` are the most tasks of the class, :math:`0^{p-2}` counts as 0 in the second term,

.. math:: F_i(x) = \frac{p b_i^p}{T_A^p} \bigl(\epsilon_i\lambda_i x^{p-1} - d_i(x)\bigr), \qquad
   m_i \ge \max_{0 \le x < s_i} (-F_i(x)), \qquad
   \gamma = \min_k \Bigl(F_k(s_k) - \sum_{i \ne k} m_i\Bigr) .

If :math:`\gamma > 0`, then :math:`QV \le -\gamma U` outside of the box with :math:`U(x) = \max(1, \max_i
x_i/s_i)^{p-1}`.

*Proof.* By Taylor's theorem :math:`(x+1)^p - x^p \le p x^{p-1} + \tfrac12 p(p-1)(x+1)^{p-2}`, and for
:math:`x \ge 1` :math:`x^p - (x-1)^p \ge p x^{p-1} - \tfrac12 p(p-1) x^{p-2}`. So, with the lemma on the
policy, :math:`QV \le -\sum_i F_i(x_i)`. Now :math:`F_i(x)/x^{p-1} = (p b_i^p/T_A^p) (\epsilon_i\lambda_i -
d_i(x)/x^{p-1})` increases with x, and :math:`F_i(s_i) \ge \gamma > 0`; so :math:`F_i(x) \ge (x/s_i)^{p-1}
F_i(s_i)` for :math:`x \ge s_i`, and :math:`F_i \ge -m_i` everywhere. Let :math:`x_k/s_k = r \ge 1` be the
largest ratio: :math:`\sum_i F_i(x_i) \ge r^{p-1} F_k(s_k) - \sum_{i \ne k} m_i \ge r^{p-1} \gamma`. ∎

*Arrivals with phases.* Let :math:`\kappa_i` be the potential of the phase of class i, and :math:`\Lambda_i`
what :mod:`queueing.certificates.arrival_phases` makes of it, :math:`\kappa_i \le K_i`. Then take :math:`V =
\sum_i (b_i (x_i + \kappa_i))^p/T_A^p`, which is at least :math:`(T/T_A)^p`: the lemma holds with
:math:`\Lambda_i (x+1+K_i)^{p-2}` in place of :math:`\lambda_i (x+1)^{p-2}` in :math:`d_i`. *Proof.* Let
:math:`y = x + \kappa_i(a)`. A move of the phase from a to b, with an arrival or without, changes y by
:math:`\Delta`, :math:`y^p` by at most :math:`p y^{p-1} \Delta + \tfrac12 p(p-1)(x+1+K_i)^{p-2} \Delta^2`.
By Poisson's equation the mean of :math:`\Delta` per unit of time is :math:`\lambda_i`, and :math:`y^{p-1} \le
x^{p-1} + (p-1)\kappa_i(a) y^{p-2}`. Down, :math:`y^p - (y-1)^p \ge x^p - (x-1)^p`, as powers are convex. ∎

A functional of degree above p - 1 grows faster than U, so there is no room for it. But each class has a spare
of its own, and the box may be as short along it as that allows: :math:`s_i` of the order of
:math:`1/\epsilon_i`.
"""

from __future__ import annotations

import math

import numpy as np

from fairness.exact.outward import above
from queueing.certificates.certificate import Drift
from queueing.certificates.errors import CertificateError
from queueing.certificates.intervals import Interval, below, total
from queueing.certificates.pool import Pool

__all__ = ["fall"]

GROWTH = 1.2
"""From one cell of counts to the next."""


def fall(drift: Drift, pool: Pool, shape: tuple[int, ...], spares: list[float]) -> float:
    """A number gamma, proved, with QV <= -gamma U outside of the box, given the ``spares`` of the classes.

    Not positive where the proof fails: the box or the spares too small.
    """
    p = drift.exponent
    if not p >= 2:
        raise CertificateError("drift", f"a power needs an exponent >= 2; got {p}")
    scales = [float(drift.scales[i]) for i in pool.classes]
    sides = [shape[i] for i in pool.classes]
    least = min(below(b * side) for b, side in zip(scales, sides, strict=True))
    # NaN is not left out by the extremes of numpy, as it is by those of Python.
    if not np.min(spares) > 0:
        return float(np.min(spares))
    falls, rises = [], []
    for i, (b, side) in enumerate(zip(scales, sides, strict=True)):
        # In units of the side: F = (p/s)(b s/T_A)^p (epsilon lambda (x/s)^(p-1) - d(x)/s^(p-1)).
        unit = (Interval.of(b) * float(side) / least).power(p) * p / float(side)
        spare = spares[i] * Interval.of(pool.arrival_rates[i])
        served = pool.most_tasks[i] / float(pool.mean_sizes[i])
        further = 1 + math.ceil(max(ahead[i] for ahead in pool.phases.ahead))
        terms = _Terms(p, side, spare, above(pool.phases.second[i]), served, further)
        falls.append(unit * terms.fall(side, side))
        rises.append(unit * terms.rise())
    gammas = [
        (one - total([Interval.of(0.0), *rises[:k], *rises[k + 1 :]])).low for k, one in enumerate(falls)
    ]
    return float(np.min(gammas))


class _Terms:
    """What V loses and wins on account of one class, in units of the side of the box."""

    def __init__(self, p: float, side: int, spare: Interval, up: float, down: Interval, further: int) -> None:
        self.p, self.side, self.spare, self.up, self.down = p, float(side), spare, up, down
        self.further = further  # 1 + kappa, rounded up

    def _power(self, count: int, exponent: Interval) -> Interval:
        return (Interval.of(float(count)) / self.side).power(exponent) if count else Interval(0.0, 0.0)

    def fall(self, first: int, last: int) -> Interval:
        """Its lower end bounds the fall of V for all counts from ``first`` to ``last``."""
        one, two = Interval.of(self.p) - 1.0, Interval.of(self.p) - 2.0
        bend = self._power(last + self.further, two) * self.up + self._power(last, two) * self.down
        return self._power(first, one) * self.spare - bend * one / (2.0 * self.side)

    def rise(self) -> float:
        """The most that V rises, for counts of the box."""
        most, first = 0.0, 0
        while first < self.side:
            last = min(max(first, int(GROWTH * first)), int(self.side) - 1)
            most = float(np.maximum(most, -self.fall(first, last).low))
            first = last + 1
        return most
