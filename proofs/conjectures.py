"""Conjectures of one's own in a line or two: what is assumed, what is claimed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from proofs.claims import Claim, Implication, Step, claim_to_dict
from proofs.claims.splitting import split
from proofs.errors import ProofError
from proofs.language.relations import relation
from proofs.language.sequences import at_step
from proofs.language.sums import variables
from proofs.statement import Question, Said, Statement

__all__ = ["conjecture"]


def conjecture(
    claim: str,
    assume: Sequence[str] | Mapping[str, str] = (),
    *,
    steps: Sequence[str] = (),
    first: int = 0,
    id: str = "conjecture",
    words: str = "",
    latex: str = "",
) -> Statement:
    """A statement on all real numbers, sets of every size, or all n: what is assumed implies the claim.

    Parameters
    ----------
    claim : str
        A relation, as people write it: ``"x + y >= 2"``, ``"0 < a/b <= max(a, 1)"``. With families and sums,
        ``"sum[i](x[i]*a[i]) <= 1"``, it is a claim for sets of every size (:class:`proofs.SumSchema`); with
        members of a sequence, ``"s[n] >= n + 1"`` and ``"s[n+1] >= 2*s[n]"``, one for all n, proved by
        induction (:class:`proofs.Induction`).
    assume : sequence of str, or dict of str to str
        Relations; with names, or else under their own text as the name, by which
        :func:`proofs.check` drops, reverses or replaces them.
    steps : sequence of str
        Relations on the way. Each is proved from the assumptions and from the steps before it, the claim
        from all of them. A step that fails leaves the claim open.
    first : int
        Number from which an induction goes on.
    id, words, latex : str
        What the verdict is shown with; without words the claim itself.

    Returns
    -------
    Statement

    Raises
    ------
    ProofError
        If a text is no relation between quotients of polynomials, of sums or of members of sequences, or the
        claim is none for each of their sets and numbers.

    Examples
    --------
    >>> from proofs import check
    >>> check(conjecture("x + y >= 2", ["x > 0", "y > 0", "x*y == 1"]))
    conjecture: PROVED, general, by certificates only (all real x, y)
      a reader's, of your own
      1. x + y >= 2 [PROVED] Positivstellensatz certificate, ...
    >>> check(conjecture("x + y >= 2", ["x*y == 1"]))
    conjecture: REFUTED (all real x, y)
      a reader's, of your own
      1. x + y >= 2 [REFUTED] witness
         x = -1, y = -1: here x + y - 2 >= 0 would be -4 >= 0
    >>> check(conjecture("n*s >= 1", ["h[i] <= s", "sum[i](h[i]) == 1", "sum[i](1) == n"]))
    conjecture: PROVED, general, by certificates only (all real h[i], n, s; sets of every size)
      a reader's, of your own
      1. n*s >= 1 [PROVED] certificate for sets of every size, ...
    """
    for name, given in (("assume", assume), ("steps", steps)):
        if isinstance(given, str):
            raise ProofError(f"{name} is a list of relations; got the text {given!r}: write [{given!r}]")
    hypotheses = dict(assume) if isinstance(assume, Mapping) else {text: text for text in assume}
    way = {f"step {k}": text for k, text in enumerate(steps, 1)}
    if clash := sorted(set(way) & set(hypotheses)):
        raise ProofError(f"an assumption is called {clash[0]!r}, as a step is; give it another name")
    texts = [*hypotheses.values(), *way.values(), claim]
    if other := [text for text in texts if type(text) is not str]:
        raise ProofError(f'a relation is given as a text, as in "x*a <= 1"; got {other[0]!r}')
    asks, scope = _form(texts, first)

    def argued(question: Question) -> Iterator[Step]:
        known: dict[str, str] = {}
        for name, text in way.items():
            yield Step(text, asks(question, hypotheses, text, fixed=known))
            known = {**known, name: text}
        yield Step(claim, asks(question, hypotheses, claim, fixed=known), states=True)

    statement = Statement(
        id=id,
        source="a conjecture",
        place="",
        words=words or claim,
        latex=latex,
        hypotheses=hypotheses,
        scope=scope,
        steps=argued,
        said=Said.READER,
    )
    for step in statement.ask(statement.question()):
        claim_to_dict(step.claim)  # refuses what is none
    return statement


def _form(texts: Sequence[str], first: int) -> tuple[Callable[..., Claim], str]:
    """How a question asks for such relations, and for what they hold."""
    if any(re.search(r"\[\s*n\b", text) for text in texts):
        for text in texts:
            at_step(text, first)  # refuses what is no relation between members
        return partial(Question.by_induction, first=first), f"all whole n >= {first}"
    if any("[" in text for text in texts):
        letters = set().union(*(variables(text) for text in texts))
        return Question.for_every, f"{_all(letters)}; sets of every size"
    letters = set()
    for text in texts:
        for _, case in split(Implication({}, text)):
            letters |= relation(case.conclusion).left.variables
    return Question.implies, _all(letters)


def _all(letters: set[str]) -> str:
    return f"all real {', '.join(sorted(letters))}" if letters else "numbers only"
