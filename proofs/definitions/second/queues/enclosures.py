r"""Proportional fairness a second time: the law of the counts on a box that refuses jobs at its faces.

States are removed one after the other, from the far corner to the empty state; the rates into a state that
goes are shared among those that it leads to. Nothing is subtracted (W. K. Grassmann, M. I. Taksar and D. P.
Heyman, "Regenerative analysis and steady state distributions for Markov chains", Operations Research 33,
1985), so that floats do. What the box refuses is too little to be seen in the digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

from proofs.definitions.exact import Matrix, Row
from proofs.definitions.registry import define_again, fractions
from proofs.definitions.second.queues.drifts import two_class_pf

__all__: list[str] = []

Frozen = tuple[tuple[Fraction, ...], ...]


def law_means(a: Matrix, rho: Row, box: Sequence[int]) -> tuple[float, ...]:
    """Mean durations over mean sizes on the box, in floating point."""
    return _law_means(tuple(map(tuple, a)), tuple(rho), (int(box[0]), int(box[1])))


@lru_cache(maxsize=64)
def _law_means(shares: Frozen, rho: tuple[Fraction, ...], box: tuple[int, int]) -> tuple[float, ...]:
    a = [list(row) for row in shares]
    states, width = list(product(range(box[0]), range(box[1]))), box[1]
    rates = [[0.0] * (2 * width + 1) for _ in states]  # to the state that is k places further: k + width
    for k, x in enumerate(states):
        tasks = two_class_pf(a, list(x)) if any(x) else [0, 0]
        for i, step in ((0, width), (1, 1)):
            if x[i] + 1 < box[i]:
                rates[k][width + step] = float(rho[i])
            if x[i]:
                rates[k][width - step] = float(tasks[i])
    for n in range(len(states) - 1, 0, -1):
        first = max(0, n - width)
        leaving = rates[n][width - (n - first) : width]
        out = sum(leaving)
        for k in range(first, n):
            into = rates[k][width + n - k] / out
            rates[k][width + n - k] = into
            if into:
                start = width - (k - first)
                part = rates[k][start : start + n - first]
                rates[k][start : start + n - first] = [
                    v + into * p for v, p in zip(part, leaving, strict=True)
                ]
    law = [1.0]
    for n in range(1, len(states)):
        law.append(sum([law[k] * rates[k][width + n - k] for k in range(max(0, n - width), n)]))
    mass = sum(law)
    return tuple(
        sum([p * x[i] for p, x in zip(law, states, strict=True)]) / mass / float(rho[i]) for i in (0, 1)
    )


@define_again
def pf_durations(shares: Any, loads: Any, box: Any) -> list[str]:
    """By the law of the box."""
    return [f"{v:.4f}" for v in law_means(fractions(shares), fractions(loads), box)]
