r"""The exchange a second time: offers on a line.

What a pair of users can swap is laid on two lines, what the first offers in the order of the resources, and
what the second offers; they are swapped as far as both lines go. So each gives, of every resource, what lies
in the part that both lines have.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.definitions.exact import ZERO, Matrix, Row, runs
from proofs.definitions.registry import define_again, fraction, fractions

__all__: list[str] = []


def _given(offers: Row, length: Fraction) -> Row:
    """How much of each offer lies on the first part of the line."""
    ends = [sum(offers[: k + 1], ZERO) for k in range(len(offers))]
    return [max(ZERO, min(end, length) - (end - v)) for end, v in zip(ends, offers, strict=True)]


@define_again
def exchanged(contributions: Any, needs: Any, order: Any = None) -> Matrix:
    """Holdings after all pairs have swapped along their lines; useless rests are dropped."""
    held, use = fractions(contributions), fractions(needs)
    visit = [k - 1 for k in order] if order else list(range(len(held)))
    for place, i in enumerate(visit):
        for k in visit[place + 1 :]:
            from_i = [h if use[k][r] and not use[i][r] else ZERO for r, h in enumerate(held[i])]
            from_k = [h if use[i][r] and not use[k][r] else ZERO for r, h in enumerate(held[k])]
            length = min(sum(from_i, ZERO), sum(from_k, ZERO))
            gives, gets = _given(from_i, length), _given(from_k, length)
            held[i] = [h - g + t for h, g, t in zip(held[i], gives, gets, strict=True)]
            held[k] = [h + g - t for h, g, t in zip(held[k], gives, gets, strict=True)]
    return [
        [h * (1 if d else 0) for h, d in zip(row, want, strict=True)]
        for row, want in zip(held, use, strict=True)
    ]


@define_again
def converted_is(contributions: Any, needs: Any, printed: Any) -> dict[str, Any]:
    """Each user keeps what it needs, and all that it does not need is added to one of these."""
    fits = []
    for brought, use, wanted in zip(
        fractions(contributions), fractions(needs), fractions(printed), strict=True
    ):
        kept = [b if d else ZERO for b, d in zip(brought, use, strict=True)]
        added = [w - k for w, k in zip(wanted, kept, strict=True)]
        grown = [(g, d) for g, d in zip(added, use, strict=True) if g]
        spare = sum(brought) - sum(kept)
        fits.append(
            not grown if not spare else len(grown) == 1 and grown[0][0] == spare and bool(grown[0][1])
        )
    return {"fits": fits, "holds": all(fits)}


@define_again
def all_positive(demands: Any) -> dict[str, Any]:
    """Where a demand is not positive."""
    zeros = [(i, r) for i, row in enumerate(demands, 1) for r, d in enumerate(row, 1) if fraction(d) <= 0]
    return {"zeros": zeros, "holds": zeros == []}


@define_again
def visited_pairs(users: int) -> int:
    """Half of all ordered pairs."""
    return users * (users - 1) // 2


@define_again
def ratio_optimum(demands: Any, capacities: Any, ratio: Any) -> Row:
    """The largest multiple of (ratio, 1) that fits: of a user whose task is that mixture."""
    a, q = fractions(demands), fraction(ratio)
    mixture = [q * x + y for x, y in zip(*a, strict=True)]
    y = runs(mixture, fractions(capacities))
    return [q * y, y]
