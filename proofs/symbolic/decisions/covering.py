"""Whether cells cover all that the assumptions allow, and whether two of them overlap."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, islice
from typing import Any

from proofs.errors import ProofError
from proofs.symbolic.decisions.assumptions import Ground
from proofs.symbolic.decisions.formulas import Formula, conjunction, holds, negated

__all__ = ["complete", "disjoint", "proved_by"]

SAMPLES = 2000
SEED = 5
_FINEST = 24
"""Largest denominator of the coordinates of a sample."""


def complete(ground: Ground, cells: Sequence[Sequence[Any]], *, time_limit: float) -> str:
    """Who says that every point of the ground lies in a cell.

    Parameters
    ----------
    ground : Ground
    cells : sequence of sequences of relations
        The conditions of each cell.
    time_limit : float
        Seconds for each solver.

    Raises
    ------
    ProofError
        If a point lies in no cell.
    """
    formulas = [conjunction(cell) for cell in cells]
    if () in formulas:
        return proved_by([])
    outside = tuple(("or", tuple(negated(c) for c in cell)) for cell in formulas)
    decision = ground.can(outside, both=True, time_limit=time_limit)
    if decision.answer == "yes":
        raise ProofError(f"no cell holds at {_told(decision.point)}")
    if decision.answer == "no":
        return proved_by([decision.by])
    return _by_samples(ground, formulas, (0,), "no cell holds")


def disjoint(ground: Ground, cells: Sequence[Sequence[Any]], *, time_limit: float) -> str:
    """Who says that no point of the ground lies in two cells; arguments as for :func:`complete`.

    Raises
    ------
    ProofError
        If a point lies in two cells.
    """
    formulas = [conjunction(cell) for cell in cells]
    said: list[tuple[str, ...]] = []
    pairs = [
        (one, other) for one, other in combinations(formulas, 2) if not any(negated(c) in other for c in one)
    ]
    for one, other in pairs:
        # Once one pair rests on z3 alone, all do: cvc5 need not be waited for again.
        decision = ground.can((*one, *other), both=("z3",) not in said, time_limit=time_limit)
        if decision.answer == "yes":
            raise ProofError(f"two cells hold at {_told(decision.point)}")
        if decision.answer == "open":
            break
        said.append(decision.by)
    else:
        return proved_by(said)
    return _by_samples(ground, formulas, range(2, len(cells) + 1), "two cells hold")


def _by_samples(ground: Ground, cells: Sequence[Sequence[Formula]], wrong: Sequence[int], what: str) -> str:
    """That at no sample a wrong number of cells holds."""
    for point in (points := _sampled(ground)):
        if sum(all(holds(f, point) for f in cell) for cell in cells) in wrong:
            raise ProofError(f"{what} at {_told(point)}")
    return f"sampled at {len(points)} points"


def proved_by(said: Sequence[tuple[str, ...]]) -> str:
    """What all answers rest on: two solvers only where each answer does."""
    if any(by in (("z3",), ("cvc5",)) for by in said):
        return "proved by z3" if any("z3" in by for by in said) else "proved by cvc5"
    if any("z3" in by for by in said):
        return "proved by z3 and cvc5"
    return "proved by sign tables" if said else "proved by the form of the conditions"


def _sampled(ground: Ground) -> list[dict[str, Fraction]]:
    """Random rational points of the ground; fewer than wanted where they are hard to hit."""
    rng, known = random.Random(SEED), ("and", conjunction(ground.assumptions))
    drawn = (
        {s.name: Fraction(rng.randint(0, 2 * _FINEST), rng.randint(1, _FINEST)) for s in ground.letters}
        for _ in range(20 * SAMPLES)
    )
    met = (point for point in drawn if holds(known, point))
    return [*ground.points, *islice(met, max(SAMPLES - len(ground.points), 0))]


def _told(point: Any) -> str:
    return ", ".join(f"{name} = {value}" for name, value in (point or {}).items()) or "a point"
