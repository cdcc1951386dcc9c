r"""Proofs, read from the docstrings of the functions of their steps, below what they prove.

A paragraph at the margin is what a step says; what is set in below it is the claim behind it::

    Proof
        If the other user does not demand the bottleneck, nothing runs with its bundle.
            demand: a > 0; bundle: y*a <= 0
            => y <= 0
        If it does, the dominant share of the first user is the larger one, for all others i.
            bundle: y*g <= z*b[i]; level: z*b[i] <= x*g; demand
            => y <= x (as stated)
            by level * demand; not the conclusion
            degree 3
        So nobody gains.
            In words: One of the two is the case.

*Hypotheses* are relations with their names. A name alone stands for the relation that had it last, and
``x >= 0`` alone is called "sign of x". Those behind the word *besides*, at the beginning of a line, stay as
they are whatever a question changes. With families, as in ``x[i]``, the claim is one for sets of every size;
with members as in ``x[n+1]`` it is an induction over n, *from* a number. *As stated* is a claim that is the
statement itself, or a part of it. Behind *by* stand products that the prover may use
(:meth:`proofs.statement.Question.implies`).

A line of three dots stands for the next step that the function itself yields; those that are left come last.
Lines that begin with ``#`` are for readers only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from inspect import cleandoc
from textwrap import dedent

from proofs.claims import InWords, Reasoned, Step
from proofs.errors import ProofError
from proofs.statement import Question

__all__ = ["Proof", "Steps", "argued", "proved"]

Steps = Callable[[Question], Iterable[Step] | None]
"""What yields steps, or nothing where the docstring has them all."""
Proof = Callable[[Question], Iterator[Step]]

GAP = "..."
IN_WORDS = "In words:"
STATED = " (as stated)"
SIGN = re.compile(r"(\w+)(\[[\w,]+\])? (>|>=) 0")
BELOW = re.compile(r"(?:by (.+?))?(?: ?from (\d+))?(?: ?degree (\d+))?")
"""What stands below a conclusion: products, the first number of an induction, and a degree."""


def proved(text: str, steps: Steps) -> Proof:
    """The steps of a proof, with those that a function yields in the place of the dots, or at the end."""

    def told(question: Question) -> Iterator[Step]:
        known: dict[str, str] = {}
        own = iter(steps(question) or ())
        for words, block in _paragraphs(text):
            if words != GAP:
                yield _step(question, words, block, known)
            elif (step := next(own, None)) is not None:
                yield step
            else:
                raise ProofError("a proof has more lines of dots than its function yields steps")
        yield from own

    return told


def argued(steps: Steps) -> Proof:
    """Steps that several statements share, told in the same way; decorator."""
    text = cleandoc(steps.__doc__ or "").partition("\nProof\n")[2]
    return wraps(steps)(proved(dedent(text), steps))


def _paragraphs(text: str) -> Iterator[tuple[str, list[str]]]:
    """What each step says, and the lines that are set in below it."""
    words: list[str] = []
    block: list[str] = []
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line.startswith(" "):
            block.append(line.strip())
            continue
        if words and (block or line == GAP or words == [GAP]):
            yield " ".join(words), block
            words, block = [], []
        words.append(line)
    if words:
        yield " ".join(words), block


def _step(question: Question, words: str, block: list[str], known: dict[str, str]) -> Step:
    """A step; ``known`` are the relations that had a name before, to which its own are added."""
    if block and block[0].startswith(IN_WORDS):
        return Step(words, InWords(" ".join(block).removeprefix(IN_WORDS).strip()))
    ends = [k for k, line in enumerate(block) if line.startswith("=> ")]
    if len(ends) != 1:
        raise ProofError(f'the step {words!r} has one line that begins with "=>", or "{IN_WORDS}" and why')
    (end,) = ends
    fixed = next((k for k, line in enumerate(block[:end]) if line.startswith("besides ")), end)
    held = _relations(" ".join(block[:fixed]), known)
    always = _relations(" ".join(block[fixed:end]).removeprefix("besides "), known)
    conclusion, stated, _ = block[end].removeprefix("=> ").partition(STATED)
    below = BELOW.fullmatch(" ".join(block[end + 1 :]))
    if below is None:
        raise ProofError(f'below "=>" stand products behind "by", and "degree" with a number; see {words!r}')
    texts = [*held.values(), *always.values(), conclusion]
    products = below[1].split("; ") if below[1] else []
    degree = int(below[3]) if below[3] else None
    claim: Reasoned
    if below[2] or any("[n+1]" in text for text in texts):
        first = int(below[2] or 0)
        claim = question.by_induction(held, conclusion, *products, first=first, fixed=always, degree=degree)
    else:
        ask = question.for_every if any("[" in text for text in texts) else question.implies
        claim = ask(held, conclusion, *products, fixed=always, degree=degree)
    return Step(words, claim, states=bool(stated))


def _relations(text: str, known: dict[str, str]) -> dict[str, str]:
    """The hypotheses of a step by name."""
    held: dict[str, str] = {}
    for entry in filter(None, text.split("; ")):
        name, colon, relation = entry.partition(": ")
        if not colon:
            sign = SIGN.fullmatch(entry)
            name, relation = (f"sign of {sign[1]}", entry) if sign else (entry, known.get(entry, ""))
        if not relation:
            raise ProofError(f"no step before has the hypothesis {name!r}; write it as name: relation")
        if name in held:
            raise ProofError(f"two hypotheses of one step are called {name!r}")
        held[name] = known[name] = relation
    return held
