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
with members as in ``x[n+1]`` it is an induction over n, *from* a number, or ``from 1 to N``; so is a chain
with such a line. *As stated* is a claim that is the statement itself, or a part of it. Behind *by* stand
products that the prover may use (:meth:`proofs.statement.Question.implies`).

A step whose words begin with a label, as in ``[price] All is paid.``, may be cited by later ones. Citations
stand among their hypotheses, a line each: ``from price (later) knowing spent with p = q; x[i] = y[i]`` cites
it with terms for its variables. All that it asks for is a hypothesis, with what follows the label behind its
name, which two lemmas might share otherwise; but for what is known, or where *all* is. On a line of its own
``cases s > t; x == 0`` tells relations that hold or not, with which the citations lead on in each case. A
hypothesis that is a rule (:mod:`proofs.language.rules`), as in ``best: y <= x if y <= c for all y``, is cited
by its name.

A line ``always R >= P`` makes a claim of all states, by induction over the number of jobs; behind *empty*
stand relations of the empty state, and ``less P = Q; R = S`` tells how functions of the state are called with
one job less (:class:`proofs.StateInduction`).

Where ``Computed.`` stands below the words of a step, or ``Computed (as stated).``, its claim is what the
function itself yields next: what depends on the question, or holds numbers. A line of three dots stands for a
step or several that the function yields next, and may have a label, too; the rest of these comes last. Lines
that begin with ``#`` are for readers only. What is shared by several proofs may have places, such as
``{tasks}``, for texts that it is called with (:func:`argued`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from inspect import cleandoc, signature
from textwrap import dedent
from typing import Any

from proofs.claims import (
    CLAIMS,
    Chained,
    Claim,
    Implication,
    Induction,
    InWords,
    Reasoned,
    Rule,
    StateInduction,
    Step,
    SumSchema,
    numbers_of,
)
from proofs.errors import ProofError
from proofs.language.rules import is_rule, variables_in, with_terms
from proofs.language.sums import plain_text
from proofs.statement import Citable, Question

__all__ = ["Given", "Proof", "Steps", "argued", "proved"]

Given = Step | Iterable[Step] | Claim
"""A step, several at once, or the claim of one whose words stand in the docstring."""
Steps = Callable[[Question], Iterable[Given] | None]
"""What yields the steps, or nothing where the docstring has them all."""
Proof = Callable[[Question], Iterator[Step]]

GAP = "..."
COMPUTED = {"Computed.": False, "Computed (as stated).": True}
"""Whether a step whose claim the function yields states the statement."""
IN_WORDS = "In words:"
KINDS = ("besides", "from", "cases", "empty", "less", "always")
"""Words at the beginning of a line that tell what stands there; without them it is hypotheses."""
STATED = " (as stated)"
SIGN = re.compile(r"(\w+)(\[[\w,]+\])? (>|>=) 0")
BELOW = re.compile(r"(?:by (.+?))?(?: ?from (\d+)(?: to (\w+))?)?(?: ?degree (\d+))?")
"""What stands below a conclusion: products, the first number of an induction, the last one, and a degree."""
LABEL = re.compile(r"\[([\w ]+)\] ")
CITED = re.compile(r"([\w -]+?)( \(\w+\)|, [\w ]+,)?(?: knowing (.+?))?(?: with (.+))?")
"""A label, what stands behind the names of hypotheses, what is known of them, and terms."""
Cited = tuple[Citable, dict[str, str], dict[str, str]]
"""A claim, terms for its variables, and what it asks for with these."""


def proved(text: str, steps: Steps) -> Proof:
    """The steps of a proof, with those that a function yields in the place of the dots, or at the end."""

    def told(question: Question) -> Iterator[Step]:
        known: dict[str, str] = {}
        claims: dict[str, Citable] = {}
        own = iter(steps(question) or ())
        for label, words, block in _paragraphs(text):
            line = " ".join(block)
            if words == GAP:
                more = _alone(_next(own))
            elif line in COMPUTED:
                more = [Step(words, _claimed(_next(own), words), states=COMPUTED[line])]
            else:
                more = [_step(question, words, block, known, claims)]
            yield from more
            if label and isinstance(claim := more[-1].claim, Implication | SumSchema | Induction | Chained):
                claims[label] = claim
        for given in own:
            yield from _alone(given)

    return told


def _next(own: Iterator[Given]) -> Given:
    """What a function yields next."""
    for given in own:
        return given
    raise ProofError("a proof has more lines of dots, or of what is computed, than its function yields")


def _claimed(given: Given, words: str) -> Claim:
    if not isinstance(given, CLAIMS):
        raise ProofError(f"what is computed for the step {words!r} is a claim alone; got {given!r}")
    return given


def _alone(given: Given) -> list[Step]:
    """The steps of a step, or of several."""
    if isinstance(given, CLAIMS):
        raise ProofError(f"a claim without words has its step in the docstring; got {given!r}")
    return [given] if isinstance(given, Step) else list(given)


def argued(steps: Callable[..., Iterable[Given] | None]) -> Callable[..., Iterator[Step]]:
    """Steps that several statements share, told in the same way; decorator.

    Other arguments than the question are texts, which stand where the docstring has their names in braces.
    """
    _, *names = signature(steps).parameters
    _, told_here, proof = cleandoc(steps.__doc__ or "").partition("\nProof\n")
    if not told_here:
        raise ProofError(
            f"the docstring of {steps.__name__} has no part Proof; python -OO leaves docstrings out"
        )
    text = dedent(proof)

    @wraps(steps)
    def told(question: Question, *given: Any) -> Iterator[Step]:
        filled = text.format(**dict(zip(names, given, strict=True))) if names else text
        yield from proved(filled, lambda question: steps(question, *given))(question)

    return told


def _paragraphs(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Of each step the label, what it says, and the lines that are set in below it."""
    found: list[tuple[str, list[str], list[str]]] = []
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line.startswith(" "):
            found[-1][2].append(line.strip())
            continue
        label = LABEL.match(line)
        line = line[label.end() :] if label else line
        if label or not found or found[-1][2] or GAP in (line, found[-1][1][0]):
            found.append((label[1] if label else "", [], []))
        found[-1][1].append(line)
    return ((label, " ".join(words), block) for label, words, block in found)


def _step(
    question: Question, words: str, block: list[str], known: dict[str, str], claims: dict[str, Citable]
) -> Step:
    """A step; ``known`` are the relations that had a name before, and ``claims`` those that had a label."""
    if block and block[0].startswith(IN_WORDS):
        return Step(words, InWords(" ".join(block).removeprefix(IN_WORDS).strip()))
    ends = [k for k, line in enumerate(block) if line.startswith("=> ")]
    if len(ends) != 1:
        raise ProofError(f'the step {words!r} has one line that begins with "=>", or "{IN_WORDS}" and why')
    above, (conclusion, stated, _) = block[: ends[0]], block[ends[0]].removeprefix("=> ").partition(STATED)
    below = BELOW.fullmatch(" ".join(block[ends[0] + 1 :]))
    if below is None:
        raise ProofError(f'below "=>" stand products behind "by", and "degree" with a number; see {words!r}')
    parts = dict.fromkeys(("held", *KINDS), "")
    kind = "held"
    for line in above:
        first, _, rest = line.partition(" ")
        kind, line = (first, f"\n{rest}") if first in KINDS else (kind, f" {line}")
        parts[kind] += line
    held, fixed = (_relations(parts[kind].strip(), known) for kind in ("held", "besides"))
    rules = {name: Rule.of(text) for name, text in {**held, **fixed}.items() if is_rule(text)}
    lines = parts["from"].strip().splitlines()
    cites = [_cited(text, claims | rules, question.changed) for text in lines]
    cases = [r for r in parts["cases"].strip().split("; ") if r]
    if cites:
        asked = {name: text for *_, conditions in cites for name, text in conditions.items()}
        lemmas = ((claim, terms) for claim, terms, _ in cites)
        begin, end = (int(below[2]) if below[2] else None), below[3] or ""
        known_here = fixed | asked
        chain = question.follows(
            held, conclusion, *lemmas, fixed=known_here, cases=cases, first=begin, last=end
        )
        return Step(words, chain, states=bool(stated))
    if parts["always"].strip():
        start = _relations(parts["empty"].strip(), known)
        every = _of_states(question, held, start, conclusion, parts, below)
        return Step(words, every, states=bool(stated))
    claim = _claim(question, held, fixed, conclusion, below.groups())
    return Step(words, claim, states=bool(stated))


def _of_states(
    question: Question,
    held: dict[str, str],
    start: dict[str, str],
    conclusion: str,
    parts: dict[str, str],
    below: re.Match[str],
) -> StateInduction:
    """An induction over states."""
    less = dict(term.split(" = ") for term in parts["less"].strip().split("; ") if term)
    return question.in_all_states(
        held,
        conclusion,
        *(below[1].split("; ") if below[1] else []),
        start=start,
        less=less,
        always=parts["always"].strip(),
        degree=int(below[3]) if below[3] else None,
    )


def _claim(
    question: Question,
    held: dict[str, str],
    fixed: dict[str, str],
    conclusion: str,
    below: Sequence[str | None],
) -> Reasoned:
    """An induction, or an implication, of families where there are any."""
    products = below[0].split("; ") if below[0] else []
    degree = int(below[3]) if below[3] else None
    texts = [*held.values(), *fixed.values(), conclusion]
    if below[1] or any("[n+1]" in text for text in texts):
        first, last = int(below[1] or 0), below[2] or ""
        return question.by_induction(
            held, conclusion, *products, first=first, last=last, fixed=fixed, degree=degree
        )
    ask = question.for_every if any("[" in text for text in texts) else question.implies
    return ask(held, conclusion, *products, fixed=fixed, degree=degree)


def _cited(text: str, claims: dict[str, Citable], changed: bool) -> Cited:
    """A claim that is cited by its label; without a hypothesis it may lack variables that have terms."""
    found = CITED.fullmatch(text)
    if found is None or found[1] not in claims:
        raise ProofError(f"no step before that can be cited has the label of {text!r}; known: {[*claims]}")
    label, where, known, told = found.groups()
    claim, where = claims[label], (where or "").strip(",")
    terms = dict(term.split(" = ") for term in told.split("; ")) if told else {}
    if changed and numbers_of(claim) is None:
        left = set().union(*map(variables_in, (*claim.hypotheses.values(), claim.conclusion)))
        terms = {name: term for name, term in terms.items() if plain_text(name) in map(plain_text, left)}
    proved = [*claim.hypotheses] if known == "all" else (known or "").split("; ")
    if known == "all" or isinstance(claim, Rule):
        return claim, terms, {}
    held = {name: relation for name, relation in claim.hypotheses.items() if name not in proved}
    return claim, terms, {f"{name}{where}": with_terms(text, terms) for name, text in held.items()}


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
