"""For which letters a claim holds, and up to which value of one.

A claim is a Boolean combination of polynomial relations. In one letter a sign table gives its intervals,
exactly. In more it is written as a union of cells; what the assumptions exclude is cut off, neighbours are
joined, and at the end the union is compared with the claim: that neither holds without the other is what the
evidence says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sympy
from sympy.core.relational import Relational

from fairness.errors import ModelError
from fairness.machine.work import OutOfTime, current_watch, stopped, watching
from proofs.errors import ProofError
from proofs.symbolic.cells import Cell
from proofs.symbolic.decisions.assumptions import Ground
from proofs.symbolic.decisions.covering import complete, proved_by
from proofs.symbolic.decisions.formulas import conjunction, negated
from proofs.symbolic.model.problem import contradiction
from proofs.symbolic.model.reading import expression, letter, relations
from proofs.symbolic.parameters.answer import Parameters
from proofs.symbolic.parameters.claims import Claim, claimed
from proofs.symbolic.parameters.intervals import intervals_of
from proofs.symbolic.policies.simplifying import joined

__all__ = ["synthesise", "where"]

PATIENCE = 20.0
"""Seconds for each solver to compare the cells with the claim."""
MOST_CELLS = 500
MOST_JOINED = 24
"""So many cells are joined at most: every pair is looked at."""


def where(
    claim: Any,
    over: Any = None,
    *,
    assume: Any = (),
    at: Mapping[Any, Any] | None = None,
    time_limit: float | None = None,
) -> Parameters:
    """For which values of its letters a claim holds.

    Parameters
    ----------
    claim : str, Boolean expression of sympy, or Claim
        Such as ``"a*b <= 1 or a > 2"``; made by :func:`same`, :func:`full`, :func:`gains`,
        :func:`sharing_incentive`, :func:`stable`, :func:`drift_negative`; or joined by ``&``, ``|``, ``~``.
    over : letter or sequence of letters, optional
        Default: all that are left.
    assume : str, sympy relational, or sequence of them
        What is known of the letters, beside what the claim brings along.
    at : mapping from letter to number, optional
        Values of other letters.
    time_limit : float, optional
        Seconds for all of it; default: as long as it takes.

    Returns
    -------
    found : Parameters
        Intervals with exact ends for one letter, a union of polynomial conditions for more.

    Raises
    ------
    ModelError
        If the claim cannot be read or has letters that are neither in ``over`` nor in ``at``, or if the
        assumptions contradict each other.
    NotConvergedError
        If the time limit is over.
    ProofError
        If the claim has too many cells.

    Examples
    --------
    >>> where("a**2 < 2 or a == 3", assume="a > 0")
    a**2 < 2 or a == 3: for these a
      1. 0 < a < sqrt(2)
      2. a = 3
      assumed: a > 0
      evidence: proved by sign tables
    """
    asked = claimed(claim)
    given = (assume,) if isinstance(assume, str | Relational) else tuple(assume)
    known = [r for k, one in enumerate(given) for r in relations(one, "assume", k) if r != sympy.true]
    both = tuple(dict.fromkeys((*asked.assumptions, *known)))
    asked = Claim(asked.formula, both, asked.words).at(at or {})
    letters = _letters(asked, over)
    if sympy.false in asked.assumptions:
        raise contradiction()
    with watching(time_limit=time_limit):
        try:
            return _in_one(asked, letters) if len(letters) == 1 else _in_many(asked, letters)
        except OutOfTime as stop:
            raise stopped(stop, "the answer is not known", None) from None


def synthesise(
    claim: Any,
    over: Any,
    *,
    largest: bool = True,
    assume: Any = (),
    at: Mapping[Any, Any] | None = None,
    containing: Any = None,
    time_limit: float | None = None,
) -> Any:
    """The exact threshold of a claim in one letter: the end of where it holds.

    Parameters
    ----------
    claim : str, Boolean expression of sympy, or Claim
        See :func:`where`.
    over : letter
    largest : bool
        The upper end (supremum); the lower one (infimum) otherwise.
    assume, at, time_limit
        See :func:`where`.
    containing : number, optional
        Take the interval around this value of the letter; default: all intervals.

    Returns
    -------
    sympy number
        Rational or algebraic. Whether the claim holds there is told by ``where(...).contains``.

    Raises
    ------
    ProofError
        If the claim holds nowhere, not at ``containing``, or without an end on this side.

    Examples
    --------
    >>> synthesise("rho + rho**2 < 1", "rho", assume="rho >= 0")
    -1/2 + sqrt(5)/2
    """
    if not isinstance(over, str | sympy.Symbol):
        raise ModelError.of("over", f"must be one letter; got {over!r:.100}")
    found = where(claim, over, assume=assume, at=at, time_limit=time_limit)
    pieces = found.intervals or ()
    name = found.letters[0].name
    if containing is not None:
        value = expression(containing, "containing")
        pieces = tuple(one for one in pieces if one.contains(value))
        if not pieces:
            raise ProofError(
                f"{found.claim} does not hold at {name} = {value}, so there is no interval around it"
            )
    if not pieces:
        raise ProofError(
            f"{found.claim} holds for no {name} that the assumptions allow, so it has no threshold"
        )
    end = pieces[-1].high if largest else pieces[0].low
    if end is None:
        raise ProofError(
            f"{found.claim} holds for all {'large' if largest else 'small'} {name}, so it has no such end; "
            f"try largest={not largest}"
        )
    return end


def _letters(asked: Claim, over: Any) -> tuple[Any, ...]:
    """The letters that are asked for, in order; all that are left must be among them."""
    left = asked.letters
    if over is None:
        return left
    given = [over] if isinstance(over, str | sympy.Symbol) else list(over)
    chosen = tuple(letter(getattr(one, "name", one)) for one in given)
    if other := [s.name for s in left if s not in chosen]:
        raise ModelError.of(
            "over",
            f"leaves out the letter {other[0]!r}; name it there too, or give its value by at=",
        )
    return chosen


def _in_one(asked: Claim, letters: tuple[Any, ...]) -> Parameters:
    known = conjunction(asked.assumptions)
    allowed = intervals_of(known, letters[0].name)
    if not allowed:
        raise contradiction()
    found = intervals_of((*known, *conjunction((asked.formula,))), letters[0].name)
    cells = ((),) if found == allowed else tuple(one.conditions(letters[0]) for one in found)
    return Parameters(asked.words, letters, asked.assumptions, cells, found, "proved by sign tables")


def _in_many(asked: Claim, letters: tuple[Any, ...]) -> Parameters:
    ground = Ground(letters, asked.assumptions)
    if ground.excludes(()):
        raise contradiction()
    (formula,) = conjunction((asked.formula,))
    for cells, excluded in ((((),), negated(formula)), ((), formula)):
        decision = ground.can((excluded,), both=True, time_limit=PATIENCE)
        if decision.answer == "no":
            return Parameters(asked.words, letters, asked.assumptions, cells, None, proved_by([decision.by]))
    met: list[tuple[Any, ...]] = []
    for conditions in _cells(ground, (), (sympy.to_nnf(asked.formula, simplify=False),)):
        current_watch().check("writing the claim as a union of cells")
        met.append(conditions)
        if len(met) > MOST_CELLS:
            raise ProofError(
                f"the claim has more than {MOST_CELLS} cells; assume more of the letters, or fix some by at="
            )
    met = list(dict.fromkeys(met))
    if len(met) <= MOST_JOINED:
        met = [cell.conditions for cell in joined(ground, [Cell(conditions, ()) for conditions in met])]
        met = _closed(met)
    evidence = _compared(ground, formula, met)
    return Parameters(asked.words, letters, asked.assumptions, tuple(met), None, evidence)


def _closed(cells: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Cells that differ in p > 0 and p == 0 only, as one of p >= 0."""
    for k, one in enumerate(cells):
        for other in cells[k + 1 :]:
            mine, yours = set(one) - set(other), set(other) - set(one)
            if len(mine) != 1 or len(yours) != 1:
                continue
            strict, equal = sorted((mine.pop(), yours.pop()), key=lambda c: c.rel_op != ">")
            if (strict.rel_op, equal.rel_op) == (">", "==") and sympy.expand(equal.lhs - equal.rhs) in (
                sympy.expand(strict.lhs - strict.rhs),
                sympy.expand(strict.rhs - strict.lhs),
            ):
                both = tuple(c for c in one if c in other)
                weak = sympy.Ge(strict.lhs, strict.rhs, evaluate=False)
                rest = [cell for cell in cells if cell not in (one, other)]
                return _closed([*rest, (*both, weak)])
    return cells


def _compared(ground: Ground, formula: Any, cells: Sequence[tuple[Any, ...]]) -> str:
    """Who says that the claim holds in the cells, and nowhere else."""
    said = []
    for cell in cells:
        decision = ground.can((*cell, negated(formula)), both=True, time_limit=PATIENCE)
        if decision.answer == "yes":
            raise ProofError(f"the claim fails in a cell, at {decision.point}")
        said.append(decision)
    inside = complete(Ground(ground.letters, (*ground.assumptions, formula)), cells, time_limit=PATIENCE)
    if any(decision.answer == "open" for decision in said):
        return f"that the claim holds in all cells was not decided; that it holds nowhere else: {inside}"
    within = proved_by([decision.by for decision in said])
    return within if inside == within else f"in the cells {within}; nowhere else {inside}"


def _cells(ground: Ground, met: tuple[Any, ...], pending: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Conjunctions that together say what is pending, in negation normal form; none that cannot be met."""
    options = []
    stack = list(pending)
    while stack:
        part = stack.pop()
        if isinstance(part, sympy.And):
            stack += part.args
        elif isinstance(part, sympy.Or):
            options.append(part)
        else:
            made = ground.tidy(part)
            if made == sympy.false:
                return
            if made != sympy.true and made not in met:
                met = (*met, made)
    if ground.excludes(met):
        return
    if not options:
        yield met
        return
    first, *rest = sorted(options, key=lambda option: len(option.args))
    for part in sorted(first.args, key=sympy.default_sort_key):
        yield from _cells(ground, met, (part, *rest))
