r"""How far a law on a box reaches beyond it: in all, and while a class is present that seldom is.

Far out the marginal laws decay nearly geometrically. With :math:`F_k = P(x_k = K_k - 1)` on the outer face
and :math:`r_k` the mean decay per job over the last eighth of the axis, the marginal continued geometrically
has :math:`F_k r_k/(1 - r_k)` outside.

A class that is seldom present may keep others waiting while it is: what their counts do then hardly shows in
their marginal laws, and is all that matters to its own mean. So for every class i with
:math:`P(x_i \ge 1) <` :data:`SELDOM` the same is read off the laws *given* :math:`x_i \ge 1`, and what is
outside in all is what is outside while all such classes are away, and, as often as each of them is present,
what is outside then (at most 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fairness.model.problem import FloatArray
from queueing.states.box import marginal_laws

__all__ = ["SELDOM", "Tails", "decay", "given_tail"]

SELDOM = 0.02
"""Probability below which the law is also read given that a class is present."""

Decay = tuple[float, float]
"""Estimated probability beyond an end, infinite where the law does not decay; and the decay per step."""


def given_tail(tail: float) -> float:
    """Probability that may be left outside given that a class is present, where ``tail`` may be in all."""
    return tail ** (2.0 / 3.0)


def decay(marginal: FloatArray) -> Decay:
    """Of the law of a count."""
    face, span = float(marginal[-1]), max(1, len(marginal) // 8)
    if face == 0:
        return 0.0, 0.0
    before = float(marginal[-1 - span]) if len(marginal) > 1 else face
    ratio = (face / before) ** (1.0 / span) if before > 0 else math.inf
    return (face * ratio / (1.0 - ratio) if ratio < 1 else math.inf), ratio


@dataclass(frozen=True)
class Tails:
    """What a law leaves outside at each end: of an axis of a box, or a face of another set.

    Attributes
    ----------
    outside : tuple of (probability, decay)
        In all, and the decay of what contributes most.
    given : tuple of (probability, decay)
        Given that a class is present, of that class which leaves out most then.
    """

    outside: tuple[Decay, ...]
    given: tuple[Decay, ...]

    @classmethod
    def of(cls, away: Sequence[Decay], seldom: Sequence[tuple[float, Sequence[Decay]]]) -> Tails:
        """Tails by end, of the law while seldom classes are away, and given each of them with its chance."""
        outside, given = [], []
        for k, own in enumerate(away):
            while_present = [(chance, *laws[k]) for chance, laws in seldom]
            parts = [own, *((chance * min(1.0, beyond), ratio) for chance, beyond, ratio in while_present)]
            outside.append((sum(beyond for beyond, _ in parts), max(parts)[1]))
            given.append(max([own, *((beyond, ratio) for _, beyond, ratio in while_present)]))
        return cls(tuple(outside), tuple(given))

    @classmethod
    def of_box(cls, law: FloatArray) -> Tails:
        """Tails of a law on a box; an axis of one state has none."""
        none, axes = (0.0, 0.0), [i for i, size in enumerate(law.shape) if size > 1]
        seldom = {}
        for i in axes:
            present = np.moveaxis(law, i, 0)[1:]
            chance = float(present.sum())
            if 0 < chance < SELDOM:
                laws = list(marginal_laws(np.moveaxis(present, 0, i)))
                # Of its own count the law given that it is positive decays as the law; also on two states.
                laws[i] = np.concatenate([[1.0 - chance], laws[i]])
                seldom[i] = chance, [decay(row / chance) if k in axes else none for k, row in enumerate(laws)]
        away = marginal_laws(law[tuple(slice(1) if i in seldom else slice(None) for i in range(law.ndim))])
        return cls.of(
            [none if k in seldom or k not in axes else decay(row) for k, row in enumerate(away)],
            list(seldom.values()),
        )

    @property
    def mass(self) -> float:
        """Estimated probability outside, at most 1."""
        return min(1.0, sum(beyond for beyond, _ in self.outside))

    @property
    def most(self) -> float:
        """Estimated probability outside, also given that a class is present; infinite without a decay."""
        return max(self.mass, *(beyond for beyond, _ in self.given), 0.0)

    def within(self, tail: float) -> bool:
        """Whether at most ``tail`` is outside, and :func:`given_tail` given that a class is present."""
        return self.mass <= tail and sum(beyond for beyond, _ in self.given) <= given_tail(tail)

    def steps(self, tail: float, part: Callable[[float, float], float]) -> list[float]:
        """By how many steps each end must be further out to leave its part of the tail.

        ``part(beyond, total)`` is the part of an end beyond which there is so much, of so much in all.
        Infinite where the law does not decay.
        """
        result = [0.0] * len(self.outside)
        for pairs, aim in ((self.outside, tail), (self.given, given_tail(tail))):
            total = sum(beyond for beyond, _ in pairs)
            for k, (beyond, ratio) in enumerate(pairs):
                allowed = aim * part(beyond, total)
                if beyond > allowed:
                    more = math.log(beyond / allowed) / -math.log(ratio) if 0 < ratio < 1 else math.inf
                    result[k] = max(result[k], more)
        return result
