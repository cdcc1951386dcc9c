"""Statements as data: who says what, under which named hypotheses, and the claims that settle it.

An own statement takes a few lines:

>>> from proofs import Hypothesis, Implication, Statement, Step, check
>>> def steps(question):
...     held = question.kept({"demand": "0 < a", "capacity": "x*a <= 1"})
...     return [Step("Divide by the demand.", Implication(held, "x*a <= 2"))]
>>> mine = Statement(
...     id="mine", source="my notebook", place="page 1", words="Twice the pool suffices.", latex=r"xa \\le 2",
...     hypotheses=(Hypothesis("demand", "a > 0"), Hypothesis("capacity", "the tasks fit")),
...     scope="all a, x", steps=steps,
... )
>>> check(mine)
mine: PROVED (all a, x)
  1. Divide by the demand. [PROVED] ...
>>> check(mine, drop=["capacity"]).status
<Status.REFUTED: 'REFUTED'>
>>> check(mine).verify(mine)  # again, without the prover

Computations, enumerations, searches and counterexamples name a function of plain fractions, made known by
:func:`proofs.definitions.define`:

>>> from proofs import Enumeration
>>> from proofs.definitions import define
>>> @define
... def squares(largest):
...     for k in range(largest + 1):
...         yield {"k": k}, k**2 >= k
>>> check(
...     Statement(
...         id="squares", source="my notebook", place="page 2", words="No square is smaller than its root.",
...         latex=r"k^2 \\ge k", hypotheses=(), scope="k up to 9",
...         steps=lambda question: [Step("One by one.", Enumeration("squares", {"largest": 9}))],
...     )
... )
squares: PROVED (k up to 9)
  1. One by one. [PROVED] all 10 cases
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from proofs.claims import InWords, Step
from proofs.errors import ProofError
from proofs.relations import relation

__all__ = ["Hypothesis", "Question", "Said", "Size", "Statement"]


class Said(StrEnum):
    """Who says so: a statement is shown with it wherever its verdict is shown."""

    CLAIMED = "claimed by the source"
    DENIED = "denied by the source"
    READER = "a reader's"


@dataclass(frozen=True)
class Hypothesis:
    """A named condition of a statement."""

    name: str
    words: str


@dataclass(frozen=True)
class Size:
    """A number that a statement is asked for, such as the number of jobs.

    Attributes
    ----------
    default, least, most : int
    deep : int
        Value of a deep check; by default ``default``.
    words : str
        What is counted.
    """

    default: int
    least: int
    most: int
    words: str
    deep: int | None = None


@dataclass(frozen=True)
class Question:
    """Sizes and changed hypotheses with which a statement is asked."""

    sizes: Mapping[str, int]
    dropped: frozenset[str] = frozenset()
    reversed: frozenset[str] = frozenset()
    replaced: Mapping[str, str] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set, compare=False, repr=False)

    def kept(self, hypotheses: Mapping[str, str]) -> dict[str, str]:
        """The relations that remain, by name: dropped ones left out, others reversed or replaced.

        A name may carry indices after blanks ("demand 3", "price 1 2"); the hypothesis is what stands before.
        """
        remaining = {}
        for name, text in hypotheses.items():
            family = self.family(name)
            self._seen.add(family)
            if family in self.dropped:
                continue
            if family in self.replaced:
                text = self.replaced[family]
            remaining[name] = repr(relation(text).reversed) if family in self.reversed else text
        return remaining

    def holds(self, name: str) -> bool:
        """Whether a hypothesis that is no relation stands: neither dropped nor reversed."""
        self._seen.add(name)
        return name not in self.dropped and name not in self.reversed

    @property
    def idle(self) -> list[str]:
        """Changed hypotheses that no step has asked for."""
        return sorted((self.dropped | self.reversed | set(self.replaced)) - self._seen)

    @staticmethod
    def family(name: str) -> str:
        """Name of the hypothesis without indices: "demand" of "demand 3" and of "demand 1 2"."""
        return " ".join(word for word in name.split(" ") if not word.isdigit())


@dataclass(frozen=True)
class Statement:
    """One statement of a paper.

    Attributes
    ----------
    id : str
    source, place : str
        The paper, and the number or section in it.
    words, latex : str
        The statement.
    hypotheses : tuple of Hypothesis
        Conditions that :func:`proofs.check` may drop, reverse or replace.
    scope : str
        Quantifiers and sizes; may use the names of the sizes, as in "all demands, n = {n}".
    steps : callable
        Takes a :class:`Question`, returns the steps that settle the statement.
    sizes : dict of str to Size
    mutants : tuple of str
        Hypotheses without which the statement is false or open (tests drop each); "not x" means x reversed.
    remark : str
        What a reader should know: how the paper says it, what is open.
    said : Said
        Whether the source claims it, denies it, or only a reader might think so.
    """

    id: str
    source: str
    place: str
    words: str
    latex: str
    hypotheses: tuple[Hypothesis, ...]
    scope: str
    steps: Callable[[Question], Sequence[Step]]
    sizes: Mapping[str, Size] = field(default_factory=dict)
    mutants: tuple[str, ...] = ()
    remark: str = ""
    said: Said = Said.CLAIMED

    def ask(self, question: Question) -> Sequence[Step]:
        """Steps that settle the question.

        Raises
        ------
        ProofError
            If a hypothesis was changed that no step uses, so that the answer would be that of the unchanged
            statement, or if no step can be checked.
        """
        steps = self.steps(question)
        if idle := question.idle:
            raise ProofError(f"no step of {self.id} uses the hypothesis {idle[0]!r}, so it cannot be changed")
        if all(isinstance(step.claim, InWords) for step in steps):
            raise ProofError(f"{self.id} has no step that can be checked; give one that is not InWords")
        return steps

    def question(
        self,
        sizes: Mapping[str, int] | None = None,
        drop: Sequence[str] = (),
        reverse: Sequence[str] = (),
        replace: Mapping[str, str] | None = None,
        deep: bool = False,
    ) -> Question:
        """Validated question with all sizes filled in.

        Raises
        ------
        ProofError
            If a size or hypothesis is unknown, or a size is out of scope.
        """
        given = dict(sizes or {})
        if unknown := sorted(set(given) - set(self.sizes)):
            known = ", ".join(self.sizes) or "none"
            raise ProofError(f"{self.id} has no size {unknown[0]!r}; its sizes: {known}")
        full = {}
        for name, size in self.sizes.items():
            usual = size.deep if deep and size.deep is not None else size.default
            value = given.get(name, usual)
            if isinstance(value, bool) or not isinstance(value, int) or not size.least <= value <= size.most:
                raise ProofError(
                    f"{self.id} is checked for {name} ({size.words}) from {size.least} to {size.most}; "
                    f"got {value!r}"
                )
            full[name] = value
        names = [h.name for h in self.hypotheses]
        for name in (*drop, *reverse, *(replace or {})):
            if name not in names:
                raise ProofError(
                    f"{self.id} has no hypothesis {name!r}; its hypotheses: {', '.join(names) or 'none'}"
                )
        return Question(full, frozenset(drop), frozenset(reverse), dict(replace or {}))
