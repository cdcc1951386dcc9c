r"""From a drift of T to a decay of V: how fast V falls outside of the box.

Let :math:`T(x) = (\sum_i (b_i x_i)^p)^{1/p}` with :math:`p > 1`, :math:`V = e^{\theta(T - T_A)}` and
:math:`T_A = \min_i b_i s_i`, so that :math:`T \ge T_A` outside of the box. A lemma on the policy says that T
does not rise even at arrival rates larger by a factor :math:`1 + \delta`, with the *spare* :math:`\delta >
0`:

.. math:: \sum_i \partial_i T(x) \, \bigl((1 + \delta)\lambda_i - \mu_i\varphi_i(x)\bigr) \le 0
   \quad\text{for all counts x outside of the box.}

*Lemma.* Let :math:`s_i = b_i/T_A < 1`, :math:`E_i = (e^{\theta b_i} - 1)/(\theta b_i)` and :math:`E'_i = (1
- e^{-\theta b_i})/(\theta b_i)`; let :math:`a \ge 0` and :math:`B_i, B'_i \ge 0` be such that for all z from
0 to 1

.. math:: \tfrac12 (p-1) s_i \, k(z) \le a z^{p-1} + B_i, \qquad
   \tfrac12 (p-1) \frac{s_i}{1 - s_i} k'(z) \le a z^{p-1} + B'_i ,

where, for :math:`p \ge 2`, k(z) and k'(z) are the largest :math:`\zeta^{p-2}(1 - \zeta^p)` for :math:`z \le
\zeta \le \min(1, z + s_i)` and for :math:`\max(0, z - s_i) \le \zeta \le z`; see below for :math:`p < 2`.
Let :math:`E' = \min_i E'_i`, :math:`r_i = (1+a) E_i / ((1-a) E')`, and :math:`H \ge \sum_i \mu_i\varphi_i
E'_i b_i B'_i`. If all :math:`r_i \le 1 + \delta`, then :math:`QV \le -\gamma V` outside of the box with

.. math:: \gamma = \theta \Bigl[ (1-a) E' \min_i b_i\lambda_i (1 + \delta - r_i)
   - \sum_i \lambda_i E_i b_i B_i - H \Bigr] .

*Proof.* Let :math:`z_i = b_i x_i/T`; :math:`\sum_i z_i^p = 1`, :math:`\partial_i T = b_i z_i^{p-1}` and
:math:`\partial_i^2 T = (p-1) b_i^2 z_i^{p-2}(1 - z_i^p)/T`. T is a norm of :math:`(b_i x_i)`, so it changes
by at most :math:`b_i` when :math:`x_i` changes by 1; :math:`z_i` grows with :math:`x_i`, by at most
:math:`b_i/T`. By Taylor's theorem :math:`t_i = T(x+e_i) - T(x) \le b_i (z_i^{p-1} + \frac12 (p-1) s_i
k(z_i)) \le b_i ((1+a) z_i^{p-1} + B_i)` and :math:`t'_i = T(x) - T(x-e_i) \ge b_i((1-a) z_i^{p-1} - B'_i)`.
Further :math:`0 \le t_i, t'_i \le b_i`, and :math:`(e^y - 1)/y` increases, :math:`(1 - e^{-y})/y` decreases,
so

.. math:: \frac{QV}{V} = \sum_i \lambda_i (e^{\theta t_i} - 1) - \mu_i\varphi_i (1 - e^{-\theta t'_i})
   \le \theta \sum_i \lambda_i E_i t_i - \mu_i\varphi_i E'_i t'_i
   \le \theta(1-a)E' \sum_i \partial_i T (r_i\lambda_i - \mu_i\varphi_i)
   + \theta \sum_i \lambda_i E_i b_i B_i + \theta H .

By the lemma on the policy the first sum is at most :math:`-\sum_i \partial_i T \lambda_i (1 + \delta -
r_i)`, and :math:`\sum_i z_i^{p-1} m_i \ge \min_i m_i`, as :math:`z_i^{p-1} \ge z_i^p`. ∎

*Exponents below 2.* Then :math:`\zeta^{p-2}(1 - \zeta^p)` falls, from infinity at 0, but counts are whole
numbers, so the lemma holds with other left-hand sides. Up from :math:`x_i = 0`, :math:`t_i = (T^p +
b_i^p)^{1/p} - T \le b_i (b_i/T)^{p-1}/p`. Up from :math:`x_i \ge 1`, where :math:`b_i/T \le \min(s_i, z_i)`,
k(z) is the value at z. Down from :math:`x_i = 1`, where :math:`z_i \le s_i`, :math:`t'_i \ge 0`. Down from
:math:`x_i \ge 2` k'(z) is the value at :math:`\max(z/2, z - s_i)`. So it suffices that :math:`B_i \ge
s_i^{p-1}/p`, :math:`B'_i \ge (1-a) s_i^{p-1}`, and that the two conditions hold from :math:`z = s_i` on with
these k and k' (as :math:`\frac12 (p-1) z^{p-1} \le s_i^{p-1}/p` for :math:`z \le s_i`).

The function is bounded on cells of z; t is at most :math:`b_i` and t' at least 0, so on each cell :math:`B_i
\le 1 - (1+a) z^{p-1}` and :math:`B'_i \le (1-a) z^{p-1}` suffice. Several values of a are tried. H is the
smaller one of the sum with the most tasks that each class can run, and of :math:`C_j \max_i \mu_i E'_i b_i
B'_i/a_{ij}` for resources j that all demand.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fairness.machine.compiling import stored
from fairness.model.problem import FloatArray
from queueing.certificates import intervals
from queueing.certificates.certificate import Drift
from queueing.certificates.errors import CertificateError
from queueing.certificates.intervals import Interval, above, below, largest, power_bounds, total
from queueing.certificates.pool import Pool

__all__ = ["TRIED", "bends", "decay", "radius"]

CELLS = 64
"""Of z; a power of 2, so that their ends are floats."""
ENDS = np.arange(CELLS + 1) / CELLS
TRIED = 2.0 ** -np.arange(1.0, 12.0, 0.5)
"""Values of a, in units of the spare."""


def radius(drift: Drift, pool: Pool, shape: tuple[int, ...]) -> float:
    """T_A: a float that T reaches or exceeds outside of the box."""
    return min(below(float(drift.scales[i]) * shape[i]) for i in pool.classes)


def decay(drift: Drift, pool: Pool, shape: tuple[int, ...], spare: float) -> float:
    """A number gamma, proved, with QV <= -gamma V outside of the box, given the ``spare`` of the policy.

    Not positive where the proof fails: the box or the spare too small, or theta too large.
    """
    theta, least = drift.theta, radius(drift, pool, shape)
    scales = [Interval.of(drift.scales[i]) for i in pool.classes]
    widest = max((b / least).high for b in scales)
    if not widest < 1:
        raise CertificateError(
            "drift", f"the box is too small for V: T_A = {least:.6g}, max b/T_A = {widest}"
        )
    bent = [bends(Interval.of(drift.exponent), (b / least).high) for b in scales]
    jumps = [_exponentials(b * theta) for b in scales]
    return max(_decay(theta, pool, scales, bent, jumps, spare, float(a)) for a in (0.0, *(spare * TRIED)))


def _decay(
    theta: float,
    pool: Pool,
    scales: list[Interval],
    bends: list[tuple[FloatArray, FloatArray, FloatArray, FloatArray]],
    jumps: list[tuple[Interval, Interval]],
    spare: float,
    a: float,
) -> float:
    """The lemma for one value of a."""
    if not a < 1:
        return -np.inf
    rates = [Interval.of(rate) for rate in pool.arrival_rates]
    mu = [1.0 / Interval.of(size) for size in pool.mean_sizes]
    up, down = zip(*jumps, strict=True)
    slow = min(one.low for one in down)
    wider, narrower = Interval.of(1.0) + a, Interval.of(1.0) - a
    gains = [
        b * rate * (Interval.of(spare) + 1.0 - wider * e / (narrower * slow))
        for b, rate, e in zip(scales, rates, up, strict=True)
    ]
    gain = min(one.low for one in gains)
    if not gain > 0:
        return -np.inf
    left = [_left(bend, a) for bend in bends]
    lost = total(
        rate * e * b * more for rate, e, b, (more, _) in zip(rates, up, scales, left, strict=True)
    ).high
    held = [m * b * more for m, b, (_, more) in zip(mu, scales, left, strict=True)]
    most = total(one * t for one, t in zip(held, pool.most_tasks, strict=True)).high
    for j in np.flatnonzero((pool.demands > 0).all(axis=0)):
        each = largest(one / float(x) for one, x in zip(held, pool.demands[:, j], strict=True))
        most = min(most, (each * float(pool.capacities[j])).high)
    return (theta * (narrower * slow * gain - lost - most)).low


def _exponentials(y: Interval) -> tuple[Interval, Interval]:
    """Upper bound of (e^y - 1)/y and lower bound of (1 - e^-y)/y, as points."""
    high, low = (1.0 + y * 0.5 * y.exp()).high, (1.0 - y * 0.5).low
    if y.low > 1e-4:
        high = min(high, ((y.exp() - 1.0) / y).high)
        low = max(low, ((1.0 - (-y).exp()) / y).low)
    return Interval.of(high), Interval.of(low)


def bends(p: Interval, s: float) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Of each cell of z bounds of both left-hand sides, and of z^(p-1) from below and above; s = b/T_A."""
    if p.low < 2:
        return _bends_below_two(p, s)
    first, last = ENDS[:-1], ENDS[1:]
    further, nearer = np.minimum(1.0, above(last + s)), np.maximum(0.0, below(first - s))
    factor = (p - 1.0) * 0.5 * s
    missing, high, least, most = _at_the_ends(p)
    bent = above(_bounds(further, p - 2.0)[1] * missing)
    bent_back = above(high * _missing(nearer, p))
    return (
        above(factor.high * bent),
        above((factor / (Interval.of(1.0) - s)).high * bent_back),
        least,
        most,
    )


@lru_cache(maxsize=64)
def _at_the_ends(p: Interval) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """What does not depend on s: 1 - z^p and z^(p-2) of each cell from above, z^(p-1) as bounds."""
    first, last = ENDS[:-1], ENDS[1:]
    arrays = (
        _missing(first, p),
        _bounds(last, p - 2.0)[1],
        _bounds(first, p - 1.0)[0],
        _bounds(last, p - 1.0)[1],
    )
    for array in arrays:
        array.setflags(write=False)
    return arrays


def _bends_below_two(p: Interval, s: float) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """The same for p < 2: a cell from 0 to s, and from there on each end the same multiple of the last."""
    ends = np.maximum(s ** (1.0 - np.arange(CELLS + 1) / CELLS), s)
    ends[-1] = 1.0
    first, last = ends[:-1], ends[1:]
    nearer = np.maximum(0.5 * first, below(first - s))
    factor = (p - 1.0) * 0.5 * s
    bent = above(above(1.0 / _bounds(first, 2.0 - p)[0]) * _missing(first, p))
    bent_back = above(above(1.0 / _bounds(nearer, 2.0 - p)[0]) * _missing(nearer, p))
    least = Interval.of(s).power(p - 1.0)
    return (
        np.append((least / p).high, above(factor.high * bent)),
        np.append(np.inf, above((factor / (Interval.of(1.0) - s)).high * bent_back)),
        np.append(0.0, _bounds(first, p - 1.0)[0]),
        np.append(least.high, _bounds(last, p - 1.0)[1]),
    )


def _bounds(values: FloatArray, exponent: Interval) -> tuple[FloatArray, FloatArray]:
    """Bounds of the powers of values from 0 to 1."""
    low, high = np.zeros((2, len(values)))
    _powers(values, exponent.low, exponent.high, low, high)
    return low, high


def _missing(values: FloatArray, p: Interval) -> FloatArray:
    """Upper bounds of 1 - z^p."""
    missing: FloatArray = np.minimum(1.0, above(1.0 - _bounds(values, p)[0]))
    return missing


@stored(intervals, nogil=True, error_model="numpy")
def _powers(values: FloatArray, least: float, most: float, low: FloatArray, high: FloatArray) -> None:
    """Bounds of z^e for values z from 0 to 1 and all e from ``least`` to ``most``; 0^0 is 1."""
    for k in range(len(values)):
        if values[k] > 0 or most > 0:
            low[k] = power_bounds(values[k], values[k], max(most, 0.0))[0]
        high[k] = power_bounds(values[k], values[k], least)[1] if least > 0 else 1.0


def _left(bend: tuple[FloatArray, FloatArray, FloatArray, FloatArray], a: float) -> tuple[float, float]:
    """B and B' for one value of a."""
    forth, back, low, high = bend
    wider, narrower = (Interval.of(1.0) + a).low, (Interval.of(1.0) - a).high
    more = np.minimum(above(forth - below(a * low)), above(1.0 - below(wider * low)))
    less = np.minimum(above(back - below(a * low)), above(narrower * high))
    return max(0.0, float(more.max())), max(0.0, float(less.max()))
