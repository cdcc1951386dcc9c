r"""Which drift function, and which box: as small as the width allows.

The function is :math:`V = e^{\theta(T - T_A)}`, :math:`T = (\sum_i (b_i x_i)^p)^{1/p}`. For each family of
policies there are some candidates for p and b, and what their lemma allows: the *spare* :math:`\delta`, by
which arrival rates may grow while T still falls. For a box with radius :math:`T_A` the decay
:math:`\gamma` is then a function of :math:`\theta`, in floats here what
:mod:`queueing.certificates.drifts.decay` proves in intervals.

The box must also hold what is likely. A small box, solved first, tells how the law of each count falls, from
which the flow through the faces of a larger one is guessed. The bounds of a mean are about :math:`2\kappa D/
\gamma` apart, where :math:`\kappa` is that flow and D the rate times the steps of h at the faces, some
:math:`2n s/(1-\varrho)` for a mean count (only the logarithms matter). Each side is as long as the flow
through its face wants, and as T_A wants; the radius is chosen that makes the box smallest.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairness.model.problem import FloatArray
from queueing.certificates.certificate import Drift
from queueing.certificates.drifts.decay import TRIED, bends
from queueing.certificates.errors import CertificateError
from queueing.certificates.families import BY_CELLS, levelling_numbers
from queueing.certificates.intervals import Interval
from queueing.certificates.pool import Pool
from queueing.certificates.rates.alpha_fair import TIME_DIVISION, aversion
from queueing.certificates.rates.filling import growth
from queueing.certificates.rates.levelling import LEVELLING_SERVERS
from queueing.enclosures.numeric_drift import numeric_drifts

__all__ = ["FAIR", "Candidate", "Outlook", "Plan", "Wish", "candidates", "falls", "has_lemma", "planned"]

FAIR = ("PF", "alpha-fair", "BMF", TIME_DIVISION)
"""Policies whose lemma is that of alpha-fairness, where they have one."""
EXPONENTS = (2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 13.0, 17.0, 22.0, 30.0, 40.0, 60.0, 90.0, 140.0)
"""Of T under filling."""
BETWEEN = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Scales between those of a lemma and those of the box."""
BUSY = 0.97
"""Load above which norms for two classes are looked for although a lemma gives some, poor ones near 1."""
ALIKE = 1.2
"""Scales that are no further apart are taken as one."""
ROOM = 1e-6
"""Of the spare, for rounding."""
ABSORBED = np.concatenate([[0.0], TRIED])
"""Values of a, in units of the spare."""
STEEP = 2.0 ** -np.arange(0.0, 6.0, 0.5)
"""Values of theta times max b, in units of the spare."""
LEAST_RATIO, MOST_RATIO = 1e-3, 0.9999
"""By which a probability is taken to fall per job."""
OWN = 0.75
"""How much a law bends from a quarter to the next eighth, in units of what it does from there to the end, at
least, if no face bends it; 1.5 if it bends evenly."""
LONGEST = 1e7
"""Of a side that V forbids."""
RADII = 1.08 ** np.arange(0, 100)
"""Radii that are tried, in units of the least one."""


@dataclass(frozen=True)
class Candidate:
    """A norm T, whose value falls while arrival rates are larger by less than the ``spare``."""

    exponent: float
    scales: FloatArray  # (n,) of the classes with arrivals
    spare: float
    hints: dict[str, Any] = field(default_factory=dict)  # for the proof of the spare


@dataclass(frozen=True)
class Outlook:
    """What the law on a small box says of larger ones.

    Attributes
    ----------
    sides : ndarray of shape (n,)
        Of a part of the small box.
    faces : ndarray of shape (n,)
        Probability of its last count, of each class.
    ratios : ndarray of shape (n,)
        By which the probability falls per job, there.
    """

    sides: FloatArray
    faces: FloatArray
    ratios: FloatArray

    @classmethod
    def of(cls, marginals: Sequence[FloatArray]) -> Outlook:
        """From the marginal laws on the small box, of each class.

        Near a face the law falls too fast, as what would return from outside is missing, also from outside of
        another face. So the quarter before the last one is asked too, and the slower fall is believed. But
        where the law falls faster and faster all along, and not only next to the face, that is its own way,
        and the eighth between them is asked.
        """
        found = []
        for law in marginals:
            size = len(law)
            last = _tail(law, size - 1 - max(1, size // 8), size - 1)
            middle = _tail(law, 3 * size // 4, 7 * size // 8)
            before = _tail(law, size // 2, 3 * size // 4)
            if before[2] - middle[2] > OWN * (middle[2] - last[2]) > 0:
                before = middle
            far = 4.0 * size
            slower = before[2] < 1 and _beyond(before, far) > _beyond(last, far)
            side, face, ratio = before if slower else last
            found.append((side, face, min(max(ratio, LEAST_RATIO), MOST_RATIO)))
        sides, faces, ratios = np.array(found, dtype=float).T
        return cls(sides, faces, ratios)

    def needed(
        self, rates: FloatArray, flow: FloatArray | float, steep: FloatArray | float = 0.0, level: float = 0.0
    ) -> FloatArray:
        """Sides from which the flow through each face is ``flow`` at most, about, or its own number.

        States beyond a face count as V says, exp(steep s - level) if the side s is that long.
        """
        falls = -np.log(self.ratios)
        # A chain that ends at the face meets it less often, by a factor 1 - ratio, than one that goes on.
        met = rates * self.faces * (1.0 - self.ratios)
        first = np.log(np.maximum(met, 1e-300) / flow) + falls * self.sides
        plain = first / falls
        slower = falls - steep
        weighed = np.where(slower > 0.1 * falls, (first - level) / np.maximum(slower, 0.1 * falls), np.inf)
        sides = np.where(plain * steep <= level, plain, np.minimum(weighed, LONGEST))
        return np.maximum(np.ceil(sides), 3.0)


def _tail(law: FloatArray, first: int, last: int) -> tuple[float, float, float]:
    """Counts up to ``last``, its probability, and the fall per job from ``first`` on."""
    first = max(0, min(first, last - 1))
    fall = float(law[last] / law[first]) if law[first] > 0 else 0.0
    return last + 1.0, float(law[last]), fall ** (1.0 / max(1, last - first))


def _beyond(tail: tuple[float, float, float], count: float) -> float:
    """Logarithm of the probability of a larger count."""
    side, face, ratio = tail
    return math.log(max(face, 1e-300)) + (count - side) * math.log(max(ratio, LEAST_RATIO))


@dataclass(frozen=True)
class Plan:
    """A drift function, sides of a box for it, (n,), and the flow through its faces that the width allows."""

    drift: Drift
    sides: tuple[int, ...]
    flow: float

    @property
    def states(self) -> float:
        """Of the box."""
        return math.prod(map(float, self.sides))


def candidates(
    pool: Pool, policy: str, parameters: Mapping[str, Any], reach: FloatArray
) -> Iterator[Candidate]:
    """Norms that fall under a policy, as far as floats can tell.

    Parameters
    ----------
    pool, policy, parameters
    reach : ndarray of shape (n,)
        How far the box should reach, in proportion: the best b is proportional to 1/reach, where T falls.
    """
    load, rates = pool.load.high, pool.arrival_rates
    rho = rates * pool.mean_sizes
    lemma = has_lemma(pool, policy, parameters)
    if policy in BY_CELLS and (not lemma or pool.n > 2 or (pool.n == 2 and load > BUSY)):
        numbers = levelling_numbers(pool, policy, parameters)
        for drift in numeric_drifts(pool, numbers, 1.0 / reach):
            yield Candidate(drift.exponent, drift.scales, drift.hints["spare"], drift.hints)
    if not lemma:
        return
    if policy in FAIR:
        alpha = float(parameters.get("alpha", 1.0))
        p = alpha + 1.0
        a = (pool.weights / rho) ** alpha * pool.mean_sizes
        for b in _between(a ** (1.0 / p), 1.0 / reach):
            targets = pool.weights * (b**p / pool.mean_sizes) ** (-1.0 / alpha)
            targets /= (targets @ pool.demands / pool.capacities).max()
            spare = float((targets / rho).min()) - 1.0
            if spare > 0:
                yield Candidate(p, b, spare)
        return
    c = np.array([one.high for one in growth(pool, policy, parameters)]) / rho
    pace = c * rates
    for p in EXPONENTS[: None if pool.n > 1 else 1]:
        for b in _between(c * pace ** (-1.0 / p), 1.0 / reach):
            spare = _filling_spare(p, (b / c) ** p * pace, load)
            if spare > 0:
                yield Candidate(p, b, spare)


def has_lemma(pool: Pool, policy: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a lemma gives the drift of a policy; cells alone can prove that of others."""
    if policy == "BMF":
        try:
            aversion(pool, policy, parameters)
        except CertificateError:
            return False
    return policy not in LEVELLING_SERVERS


def falls(pool: Pool, policy: str, parameters: Mapping[str, Any]) -> bool:
    """Whether some norm falls; looked for where no lemma says so."""
    if has_lemma(pool, policy, parameters):
        return True
    return any(True for _ in numeric_drifts(pool, levelling_numbers(pool, policy, parameters)))


def _between(first: FloatArray, last: FloatArray) -> Iterator[FloatArray]:
    """Scales from the one to the other, largest 1; the one where they are alike."""
    ratio = last / first
    apart = float(ratio.max() / ratio.min())
    for part in BETWEEN if apart > ALIKE else BETWEEN[:1]:
        scales = first * ratio**part
        yield scales / scales.max()


def _filling_spare(p: float, beta: FloatArray, load: float) -> float:
    """Largest spare of lemma 2 of :mod:`queueing.certificates.drifts.filling`; 0 if there is none."""
    if len(beta) == 1:
        return (1.0 - ROOM) * (1.0 / load - 1.0)
    low, high = 0.0, 1.0 / load - 1.0

    def falls(spare: float) -> bool:
        over = (1.0 + spare) * load
        m = (over * (p - 1.0) / p) ** (p - 1.0) / p
        return bool((m * (beta.sum() - beta) < (1.0 / over - 1.0) * beta).all())

    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if falls(middle) else (low, middle)
    return low


def decay(pool: Pool, one: Candidate, radius: float) -> tuple[FloatArray, FloatArray]:
    """Some theta, and gamma for each in floats, which is not positive where there is none."""
    b, p, spare = one.scales, one.exponent, one.spare
    s = b / radius
    if not s.max() < 0.5:
        return np.ones(1), np.zeros(1)
    mu = 1.0 / pool.mean_sizes
    most = np.array([tasks.high for tasks in pool.most_tasks])
    theta = (STEEP * spare / b.max())[:, None, None]
    a = (ABSORBED * spare)[:, None]
    grow, fall = np.expm1(theta * b) / (theta * b), -np.expm1(-theta * b) / (theta * b)
    slow = fall.min(axis=2, keepdims=True)
    left, left_back = np.empty((2, len(a), len(b)))
    for i, step in enumerate(s):
        bent, back, low, high = bends(Interval.of(p), step)
        left[:, i] = np.minimum(bent - a * low, 1.0 - (1.0 + a) * low).max(axis=1)
        left_back[:, i] = np.minimum(back - a * low, (1.0 - a) * high).max(axis=1)
    np.maximum(left, 0.0, out=left)
    np.maximum(left_back, 0.0, out=left_back)
    # Of each theta and a.
    gain = (b * pool.arrival_rates * (1.0 + spare - (1.0 + a) * grow / ((1.0 - a) * slow))).min(axis=2)
    lost = (pool.arrival_rates * grow * b * left).sum(axis=2)
    held = mu * b * left_back
    served = held @ most
    for j in np.flatnonzero((pool.demands > 0).all(axis=0)):
        served = np.minimum(served, (held / pool.demands[:, j]).max(axis=1) * pool.capacities[j])
    gamma = theta[:, :, 0] * ((1.0 - a[:, 0]) * slow[:, :, 0] * gain - lost - served)
    gamma[gain <= 0] = -np.inf
    return theta[:, 0, 0], gamma.max(axis=1)


@dataclass(frozen=True)
class Wish:
    """What a box is wanted for.

    Parameters
    ----------
    outlook : Outlook
    width : float
        How far apart its bounds are to be, about.
    loss : callable
        What the flow through the faces, over gamma, costs of the width, guessed from the longest side.
    degree : int
        The least theta T_A.
    further : float
        Times the least radius, or the sides, that the width wants: where the search begins.
    """

    outlook: Outlook
    width: float
    loss: Callable[[float], float]
    degree: int
    further: float = 1.0

    def flow(self, gamma: float, sides: FloatArray) -> float:
        """The flow through each face of a box that the width allows."""
        return self.width * gamma / (len(sides) * self.loss(float(sides.max())))


def planned(pool: Pool, options: list[Candidate], wish: Wish, most: float) -> Plan | None:
    """The smallest box, of at most so many states, for a wish; None if T falls outside of none."""
    best: Plan | None = None
    outlook, width, rates = wish.outlook, wish.width, pool.arrival_rates
    for one in options:
        b = one.scales
        start = wish.further * float((b * outlook.needed(rates, width)).min())
        radii = np.asarray(start * RADII, dtype=float)
        for radius in _falling(pool, one, radii, wish, most if best is None else best.states):
            sides = np.maximum(np.ceil(radius / b), outlook.sides)
            if sides.prod() >= (most if best is None else best.states):
                break
            for theta, gamma in zip(*decay(pool, one, radius), strict=True):
                if not gamma > 0 or theta * radius < (1.0 + ROOM) * wish.degree:
                    continue
                flow = wish.flow(gamma, sides)
                larger = np.maximum(sides, outlook.needed(rates, flow, theta * b, theta * radius))
                if best is None or larger.prod() < best.states:
                    drift = Drift(one.exponent, b, float(theta), float(gamma), one.hints)
                    best = Plan(drift, tuple(larger.astype(int).tolist()), float(flow))
    return best


def _falling(pool: Pool, one: Candidate, radii: FloatArray, wish: Wish, most: float) -> FloatArray:
    """The radii, which rise, of boxes that are not too large, from the first on at which T falls.

    The bends of T fall with the radius, so what falls outside of one falls outside of all that are larger.
    """

    def is_outside(radius: float) -> bool:
        theta, gamma = decay(pool, one, radius)
        return bool(((gamma > 0) & (theta * radius >= (1.0 + ROOM) * wish.degree)).any())

    sides = np.maximum(np.ceil(radii[:, None] / one.scales), wish.outlook.sides)
    radii = radii[sides.prod(axis=1) < most]
    return radii[bisect_left(radii, True, key=is_outside) :]
