"""Claims that follow from earlier ones, which are cited with terms for their variables.

Each class says which theorem its evidence rests on, with the proof.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from proofs.claims.deductions import Implication, OverSets, SumSchema, as_texts, refuse_rules
from proofs.claims.inductions import Induction, far_from, refuse_hidden, refuse_numbers, windows_at
from proofs.errors import ProofError
from proofs.language.rules import parts_of, rule_text, variables_in
from proofs.language.sequences import TAKEN, as_families
from proofs.language.sums import as_written, plain_relation

__all__ = ["Chained", "Citation", "Rule", "numbers_of"]


@dataclass(frozen=True)
class Rule:
    """A hypothesis of a chain that says what follows wherever something else holds, as a chain cites it.

    Attributes
    ----------
    hypotheses : dict of str to str
        Its premises.
    conclusion : str
    over : tuple of str
        The variables for which terms may stand: the rule is for all of their values.
    each : tuple of str
        Letters that stand for one element: it is a rule for each.

    Examples
    --------
    >>> Rule.of("y <= x if y <= c and y >= d for all y")
    Rule(hypotheses={'premise 1': 'y <= c', 'premise 2': 'y >= d'}, conclusion='y <= x', over=('y',), each=())
    """

    hypotheses: Mapping[str, str]
    conclusion: str
    over: tuple[str, ...] = ()
    each: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "hypotheses", as_texts(self.hypotheses, self.conclusion))
        for name in ("over", "each"):
            object.__setattr__(self, name, tuple(as_texts({t: t for t in getattr(self, name)}, "")))
        told = self.conclusion, tuple(self.hypotheses.values()), self.over, self.each
        if parts_of(self.text) != told:
            raise ProofError(f"{self.text!r} is read in other parts than these: {told!r}")

    @classmethod
    def of(cls, text: str) -> Rule:
        """The rule of this text; see :mod:`proofs.language.rules`."""
        conclusion, premises, over, each = parts_of(text)
        return cls({f"premise {k}": part for k, part in enumerate(premises, 1)}, conclusion, over, each)

    @property
    def text(self) -> str:
        """The hypothesis as it is written."""
        return rule_text((self.conclusion, tuple(self.hypotheses.values()), self.over, self.each))


@dataclass(frozen=True)
class Citation:
    """An earlier step's claim, or a rule among the hypotheses, and the terms that stand for its variables.

    Raises
    ------
    ProofError
        If a term is no text, or stands for no variable of the claim.

    Attributes
    ----------
    claim : Implication, SumSchema, Induction, Chained or Rule
    values : dict of str to str
        Terms by variable, both as texts: ``{"y": "x + 1", "a[i]": "b[i]"}``. A term may carry an index that
        the claim does not use: then the conclusion is cited for every element.
    """

    claim: Implication | SumSchema | Induction | Chained | Rule
    values: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given = {as_written(name): term for name, term in as_texts(self.values, "").items()}
        if len(given) < len(self.values):
            raise ProofError(f"two terms stand for one variable; got {dict(self.values)!r}")
        object.__setattr__(self, "values", given)
        if type(self.claim) not in (Implication, SumSchema, Induction, Chained, Rule):
            raise ProofError(
                "what is cited is an implication, a schema, an induction, a chain or a rule; got "
                f"{self.claim!r}"
            )
        texts = [*self.claim.hypotheses.values(), self.claim.conclusion]
        numbers = numbers_of(self.claim)
        read = [as_families(text, *numbers) for text in texts] if numbers is not None else texts
        known = set().union(*(variables_in(text) for text in read))
        if isinstance(self.claim, Rule):
            known = set(self.claim.over)
        names = {name: name for name in self.values}
        if numbers is not None:  # a term for s[n] is one for s[n+1] and the first member, too
            known = {re.sub(r"(Next|First|Last)?(\[.*)?$", "", name) for name in known}
            names = {name: name.partition("[")[0] for name in names}
            if taken := [name for name, told in names.items() if TAKEN.fullmatch(told)]:
                raise ProofError(f"no term stands for {taken[0]!r}, a number or a member of a sequence")
        if unknown := [name for name, told in names.items() if told not in known]:
            raise ProofError(
                f"the claim that is cited has no variable {unknown[0]!r}; its variables: "
                f"{', '.join(sorted(known))}"
            )


def numbers_of(claim: object) -> tuple[int, str] | None:
    """The first number and the name of the last one, of a claim that is about sequences."""
    if isinstance(claim, Chained | Induction) and claim.first is not None:
        return claim.first, claim.last
    return None


@dataclass(frozen=True)
class Chained(OverSets):
    """A conclusion follows from earlier steps, each cited with terms for its variables.

    Theorem: a claim that holds for all values holds where terms stand for its variables. So, in the order of
    the citations, if every hypothesis of the cited claim, with its terms, is literally one of the relations
    known so far (the hypotheses here and the conclusions cited before; both sides multiplied out), or
    compares constants and is true, then its conclusion with its terms is known as well. What is positive or
    0 is not negative either. The claim holds if its conclusion gets known so. A relation with a free index is
    known for each element; an index that a term brings along, or that the conclusion cited had, stands in it
    with its terms, else a set without elements would prove it.

    Each of the ``cases`` is a relation that holds or not. In each of their combinations the citations of
    which all hypotheses are known lead to the conclusion, or to a contradiction. A case with a free index is
    one of a single member: the conclusion carries that index, so that there is a member, and what is cited
    does not use the letter itself, so that nothing is taken to hold for all members that does for this one.

    A hypothesis may be a rule (:mod:`proofs.language.rules`). A citation of it puts terms in for variables
    that have all values there, and for no others; that of a chain with a rule needs this very rule here.
    Values that meet a rule come with multipliers by which it follows.

    A chain with a ``first`` number is about sequences, as an :class:`Induction` is, which it may cite. What
    does not look ahead is known for every number: so for the next one, at the first and at the last. What
    looks ahead, or was concluded from that, is known for every step, of which a run may have none; without a
    last number that is for every number. What a chain concludes is meant as it is written: for every step if
    it looks ahead, and for every number if not.

    Each cited claim is that of an earlier step of the same statement; what is not proved there proves nothing
    here, as a statement is as good as its weakest step.

    Parameters
    ----------
    hypotheses : dict of str to str
    conclusion : str
    cites : tuple of Citation
    cases : tuple of str
        Relations; ``("s > t",)`` has the cases s > t and s <= t.
    first : int, optional
    last : str
        As of :class:`Induction`.

    Raises
    ------
    ProofError
        If something is no text, or no Citation.
    """

    cites: tuple[Citation, ...]
    cases: tuple[str, ...] = ()
    first: int | None = None
    last: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.first is not None or self.last:
            refuse_numbers(self.first, self.last)
            refuse_rules("a chain about sequences", self.hypotheses)
            assert self.first is not None
            refuse_hidden([*self.hypotheses.values(), self.conclusion], self.first, self.last)
        object.__setattr__(self, "cites", tuple(self.cites))
        object.__setattr__(self, "cases", tuple(as_texts({r: r for r in self.cases}, "")))
        if other := [cited for cited in self.cites if type(cited) is not Citation]:
            raise ProofError(f"a chain cites by a Citation; got {other[0]!r}")

    def read(self, text: str) -> str:
        """A text of the claim as one of families."""
        return text if self.first is None else as_families(text, self.first, self.last)

    def windows_of(self, size: int) -> dict[int, Implication]:
        """The claim at several numbers in a row, as of an induction, where all sets have so many elements."""
        assert self.first is not None
        plain = [plain_relation(self.read(text)) for text in self.hypotheses.values()]
        far = far_from([*plain, plain_relation(self.read(self.conclusion))])
        return windows_at(self.hypotheses.values(), self.conclusion, self.first, self.last, far, size)
