"""Conjectures of one's own in a line or two: what is assumed, what is claimed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from proofs.claims import Implication, Step
from proofs.errors import ProofError
from proofs.relations import relation
from proofs.splitting import split
from proofs.statement import Question, Said, Statement

__all__ = ["conjecture"]


def conjecture(
    claim: str,
    assume: Sequence[str] | Mapping[str, str] = (),
    *,
    steps: Sequence[str] = (),
    id: str = "conjecture",
    words: str = "",
    latex: str = "",
) -> Statement:
    """A statement on all real numbers: what is assumed implies the claim.

    Parameters
    ----------
    claim : str
        A relation, as people write it: ``"x + y >= 2"``, ``"0 < a/b <= max(a, 1)"``.
    assume : sequence of str, or dict of str to str
        Relations; with names, or else under their own text as the name, by which
        :func:`proofs.check` drops, reverses or replaces them.
    steps : sequence of str
        Relations on the way. Each is proved from the assumptions and from the steps before it, the claim
        from all of them. A step that fails leaves the claim open.
    id, words, latex : str
        What the verdict is shown with; without words the claim itself.

    Returns
    -------
    Statement

    Raises
    ------
    ProofError
        If a text is no relation between quotients of polynomials.

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
    """
    for name, given in (("assume", assume), ("steps", steps)):
        if isinstance(given, str):
            raise ProofError(f"{name} is a list of relations; got the text {given!r}: write [{given!r}]")
    hypotheses = dict(assume) if isinstance(assume, Mapping) else {text: text for text in assume}
    way = {f"step {k}": text for k, text in enumerate(steps, 1)}
    if clash := sorted(set(way) & set(hypotheses)):
        raise ProofError(f"an assumption is called {clash[0]!r}, as a step is; give it another name")
    letters: set[str] = set()
    for _, case in split(Implication({**hypotheses, **way}, claim)):
        for r in (*case.relations.values(), relation(case.conclusion)):
            letters |= r.left.variables

    def argued(question: Question) -> Iterator[Step]:
        known: dict[str, str] = {}
        for name, text in way.items():
            yield Step(text, question.implies(hypotheses, text, fixed=known))
            known = {**known, name: text}
        yield Step(claim, question.implies(hypotheses, claim, fixed=known), states=True)

    return Statement(
        id=id,
        source="a conjecture",
        place="",
        words=words or claim,
        latex=latex,
        hypotheses=hypotheses,
        scope=f"all real {', '.join(sorted(letters))}" if letters else "numbers only",
        steps=argued,
        said=Said.READER,
    )
