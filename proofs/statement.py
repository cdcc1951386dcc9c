"""Statements as data: who says what, under which named hypotheses, and the claims that settle it.

A statement of your own takes a few lines:

>>> from proofs import Statement, Step, check, verify
>>> def steps(question):
...     fits = question.implies({"demand": "0 < a", "capacity": "x*a <= 1"}, "x*a <= 2")
...     yield Step("Divide by the demand.", fits, states=True)
>>> mine = Statement(
...     id="mine", source="my notebook", place="page 1", words="Twice the pool suffices.", latex=r"xa \\le 2",
...     hypotheses={"demand": "a > 0", "capacity": "the tasks fit"},
...     scope="all a, x", steps=steps,
... )
>>> check(mine)
mine: PROVED, general, by certificates only (all a, x)
  claimed by the source, of your own
  1. Divide by the demand. [PROVED] ...
>>> check(mine, drop=["capacity"]).status
<Status.REFUTED: 'REFUTED'>
>>> verify(check(mine), mine)  # again, without the prover

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
...         latex=r"k^2 \\ge k", hypotheses={}, scope="k up to 9",
...         steps=lambda question: [Step("One by one.", Enumeration("squares", {"largest": 9}), states=True)],
...     )
... )
squares: PROVED, for the finite sizes named (k up to 9)
  claimed by the source, of your own
  1. One by one. [PROVED] all 10 cases
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from proofs.claims import (
    CLAIMS,
    NEGATION,
    Chained,
    Citation,
    Implication,
    Induction,
    InWords,
    Rule,
    StateInduction,
    Step,
    SumSchema,
    reread_step,
)
from proofs.claims.splitting import split_step
from proofs.definitions import plain
from proofs.errors import ProofError
from proofs.language.polynomials import refuse_look_alikes
from proofs.language.relations import relation
from proofs.language.sums import as_one_equation, turned

__all__ = ["Question", "Said", "Size", "Statement", "reread"]


class Said(StrEnum):
    """Who says so: a statement is shown with it wherever its verdict is shown."""

    CLAIMED = "claimed by the source"
    DENIED = "denied by the source"
    READER = "a reader's"


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
    beside : bool
        Whether it bounds only cases that are computed beside a proof for every size.
    """

    default: int
    least: int
    most: int
    words: str
    deep: int | None = None
    beside: bool = False


Citable = Implication | SumSchema | Induction | Chained | Rule


def _turned(text: str) -> str:
    """The relation the other way round, as text."""
    text = as_one_equation(text)
    return turned(text) if "[" in text else repr(relation(text).reversed)


@dataclass(frozen=True)
class Question:
    """Sizes and changed hypotheses with which a statement is asked; ``names`` are those of its hypotheses."""

    sizes: Mapping[str, int]
    dropped: frozenset[str] = frozenset()
    reversed: frozenset[str] = frozenset()
    replaced: Mapping[str, str] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
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
            remaining[name] = _turned(text) if family in self.reversed else text
        return remaining

    def implies(
        self,
        hypotheses: Mapping[str, str],
        conclusion: str,
        *products: str,
        fixed: Mapping[str, str] | None = None,
        degree: int | None = None,
    ) -> Implication:
        """The claim that what is kept of these hypotheses implies the conclusion.

        Parameters
        ----------
        hypotheses : dict of str to str
            Relations by name; see :meth:`kept`.
        conclusion : str
        *products : str
            Hints, as "a * b" or "a * b | x" for the product of the hypotheses a and b with the square of x.
            Those of hypotheses that were dropped are left out.
        fixed : dict of str to str, optional
            Relations that stay, whatever hypotheses of the same name are changed.
        degree : int, optional
            See :class:`proofs.Implication`; by default 1 with products and 2 without.

        Raises
        ------
        ProofError
            If a product names what is no hypothesis here.
        """
        return Implication(**self._asked(hypotheses, conclusion, products, fixed, degree))

    def for_every(
        self,
        hypotheses: Mapping[str, str],
        conclusion: str,
        *products: str,
        fixed: Mapping[str, str] | None = None,
        degree: int | None = None,
    ) -> SumSchema:
        """As :meth:`implies`, for sets of every size: texts may hold families x[i] and sums sum[i](x[i]).

        A product of families is summed; "e | x[i]" with an equation e is that equation times x[i].
        """
        return SumSchema(**self._asked(hypotheses, conclusion, products, fixed, degree))

    def by_induction(
        self,
        hypotheses: Mapping[str, str],
        conclusion: str,
        *products: str,
        first: int = 0,
        last: str = "",
        fixed: Mapping[str, str] | None = None,
        degree: int | None = None,
    ) -> Induction:
        """As :meth:`implies`, for all whole numbers n from the first one on; see :class:`proofs.Induction`.

        The hypotheses may be multiplied with "induction", the conclusion for n, with "from", n >= first, and,
        where there is a last number, with "to", n + 1 <= N.
        """
        others = ("induction", "from", *(("to",) if last else ()))
        asked = self._asked(hypotheses, conclusion, products, fixed, degree, others)
        return Induction(**asked, first=first, last=last)

    def in_all_states(
        self,
        hypotheses: Mapping[str, str],
        conclusion: str,
        *products: str,
        start: Mapping[str, str],
        less: Mapping[str, str],
        always: str,
        fixed: Mapping[str, str] | None = None,
        degree: int | None = None,
    ) -> StateInduction:
        """As :meth:`for_every`, in all states with jobs; see :class:`proofs.StateInduction`.

        The hypotheses may be multiplied with "before", "before i" and "always".
        """
        asked = self._asked(hypotheses, conclusion, products, fixed, degree, ("before", "before i", "always"))
        return StateInduction(**asked, start=self.kept(start), less=less, always=always)

    def follows(
        self,
        hypotheses: Mapping[str, str],
        conclusion: str,
        *cites: Citable | tuple[Citable, Mapping[str, str]],
        fixed: Mapping[str, str] | None = None,
        cases: Sequence[str] = (),
        first: int | None = None,
        last: str = "",
    ) -> Chained:
        """The claim that what is kept of the hypotheses gives the conclusion by the claims of earlier steps.

        Each is cited as it stands, or with terms for its variables, and in the cases that these relations
        make; see :class:`proofs.Chained`. A hypothesis may be a rule, cited as a
        :class:`proofs.claims.Rule`. With the first number, and with the last one where there is one, it is
        about sequences, as of :meth:`by_induction`.
        """
        if other := [name for name, text in (fixed or {}).items() if hypotheses.get(name, text) != text]:
            raise ProofError(
                f"the hypothesis {other[0]!r} of what is cited is another relation than that of this step; "
                "give one of them another name"
            )
        held = self.kept(hypotheses) | dict(fixed or {})
        pairs = (cited if isinstance(cited, tuple) else (cited, {}) for cited in cites)
        cited = tuple(Citation(claim, values) for claim, values in pairs)
        return Chained(held, conclusion, cited, tuple(cases), first, last)

    def _asked(
        self,
        hypotheses: Mapping[str, str],
        conclusion: str,
        products: Sequence[str],
        fixed: Mapping[str, str] | None,
        degree: int | None,
        others: tuple[str, ...] = (),
    ) -> dict[str, Any]:
        """Hypotheses that are kept, conclusion, hints and degree of a claim; ``others`` are known besides."""
        given = {**hypotheses, **(fixed or {})}
        held = self.kept(hypotheses) | dict(fixed or {})
        hints = []
        for text in products:
            factors, _, square = text.partition(" | ")
            names = tuple(factors.split(" * "))
            if unknown := [name for name in names if name not in {*given, *others, NEGATION}]:
                raise ProofError(
                    f"the product {text!r} names {unknown[0]!r}, which is no hypothesis of this step; "
                    f"its hypotheses: {', '.join(given) or 'none'}"
                )
            if all(name in {*held, *others, NEGATION} for name in names):
                hints.append((names, square or "1"))
        usual = 1 if products else 2
        return {
            "hypotheses": held,
            "conclusion": conclusion,
            "hints": tuple(hints),
            "degree": degree or usual,
        }

    def holds(self, name: str) -> bool:
        """Whether a hypothesis that is no relation stands: neither dropped nor reversed."""
        self._seen.add(name)
        return name not in self.dropped and name not in self.reversed

    @property
    def changed(self) -> bool:
        """Whether any hypothesis is changed."""
        return bool(self.dropped or self.reversed or self.replaced)

    @property
    def idle(self) -> list[str]:
        """Changed hypotheses that no step has asked for."""
        return sorted((self.dropped | self.reversed | set(self.replaced)) - self._seen)

    def family(self, name: str) -> str:
        """Name of the hypothesis without indices: "demand" of "demand 3" and of "demand 1 2".

        A hypothesis of the statement keeps the numbers that its own name ends in, and one called "signs" has
        all those that are called after the variable, "sign of x".
        """
        if name.startswith("sign of ") and "signs" in self.names:
            return "signs"
        words = name.split(" ")
        while len(words) > 1 and " ".join(words) not in self.names and words[-1].isdigit():
            words.pop()
        return " ".join(words)


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
    hypotheses : dict of str to str
        Conditions by name, in words; :func:`proofs.check` may drop, reverse or replace them.
    scope : str
        Quantifiers and sizes of the unchanged statement; may use the names of the sizes, as in
        "all demands, n = {n}".
    steps : callable
        Takes a :class:`Question`, yields the steps that settle the statement. Steps in words count in the
        catalogue only, where people have read them.
    sizes : dict of str to Size
    mutants : tuple of str
        Hypotheses without which the statement is false or open (tests drop each); "not x" means x reversed.
    remark : str
        What a reader should know: how the paper says it, what is open.
    reading : str
        What is reasoned in words beside the steps: why the model has the hypotheses, by which theorem of the
        literature, what follows from the conclusion. Such a proof counts as one with steps in words.
    said : Said
        Whether the source claims it, denies it, or only a reader might think so.
    """

    id: str
    source: str
    place: str
    words: str
    latex: str
    hypotheses: Mapping[str, str]
    scope: str
    steps: Callable[[Question], Iterable[Step]]
    sizes: Mapping[str, Size] = field(default_factory=dict)
    mutants: tuple[str, ...] = ()
    remark: str = ""
    reading: str = ""
    said: Said = Said.CLAIMED

    def to_dict(self, *, own: bool) -> dict[str, Any]:
        """What is shown beside a verdict, as plain data."""
        return {
            "source": self.source,
            "place": self.place,
            "words": self.words,
            "latex": self.latex,
            "hypotheses": dict(self.hypotheses),
            "said": str(self.said.value),
            "remark": self.remark,
            "reading": self.reading,
            "origin": "of your own" if own else "of the catalogue",
        }

    def scope_of(self, question: Question) -> str:
        """For what an answer to the question holds: of a changed statement, only what still is required."""
        if not question.changed:
            return self.scope.format(**question.sizes)
        words = self.hypotheses
        gone = question.dropped | question.reversed | set(question.replaced)
        told = [f"{name} = {value}" for name, value in question.sizes.items()]
        told += [f"without: {words[name]}" for name in words if name in question.dropped]
        told += [f"the opposite of: {words[name]}" for name in words if name in question.reversed]
        told += [f"{name}: {text}" for name, text in question.replaced.items()]
        kept = [name for name in words if name not in gone]
        return "; ".join([*told, f"still required: {', '.join(kept) or 'nothing'}"])

    def bounds(self, question: Question) -> dict[str, int]:
        """The sizes to which an answer is bound: not those of cases that are computed beside a proof."""
        return {name: value for name, value in question.sizes.items() if not self.sizes[name].beside}

    def written(self, question: Question) -> list[Step]:
        """The steps as they are written, before cases are told apart; raises ProofError if one is none."""
        # A copy: what is asked does not change while the steps are written.
        copied = replace(question, sizes=dict(question.sizes), replaced=dict(question.replaced))
        written = []
        for step in self.steps(copied):
            if type(step) is not Step or type(step.claim) not in CLAIMS:
                raise ProofError(
                    f"{self.id}: a step is a Step with one of the claims of proofs.claims, and no class made "
                    f"from them; got {step!r}"
                )
            written.append(reread_step(step))
        return written

    def ask(self, question: Question) -> list[Step]:
        """Steps that settle the question.

        Raises
        ------
        ProofError
            If a hypothesis was changed that no step uses, so that the answer would be that of the unchanged
            statement, or if no step can be checked.
        """
        written = self.written(question)
        if (broken := _broken_case(written)) is not None:
            raise ProofError(
                f"{self.id}: the cases of a step are numbered from 1 to their number, all of them, one after "
                f"the other, with one conclusion; case {broken} stands alone"
            )
        steps = [case for step in written for case in split_step(step)]
        for number, step in enumerate(steps):
            if type(step.claim) is Chained and any(
                not any(cited.claim == earlier.claim for earlier in steps[:number])
                for cited in step.claim.cites
                if not isinstance(cited.claim, Rule)  # the checker looks for it among the hypotheses
            ):
                raise ProofError(f"{self.id}: step {number + 1} cites a claim that is of no step before it")
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
            if type(value) is not int or not size.least <= value <= size.most:
                raise ProofError(
                    f"{self.id} is checked for {name} ({size.words}) from {size.least} to {size.most}; "
                    f"got {value!r}"
                )
            full[name] = value
        changes = [*drop, *reverse, *(replace or {})]
        for name in changes:
            if changes.count(name) > 1:
                raise ProofError(f"the hypothesis {name!r} is changed twice")
            if name not in self.hypotheses:
                known = ", ".join(self.hypotheses) or "none"
                raise ProofError(f"{self.id} has no hypothesis {name!r}; its hypotheses: {known}")
        return Question(
            full, frozenset(drop), frozenset(reverse), dict(replace or {}), frozenset(self.hypotheses)
        )


def reread(statement: Statement) -> Statement:
    """The statement made anew from its content, as objects can be bent after they were made.

    Raises
    ------
    ProofError
        If it is no plain Statement with texts, whole numbers and a function in its fields.
    """
    told = dict(vars(statement)) if type(statement) is Statement else {}
    if set(told) != {f.name for f in fields(Statement)}:
        raise ProofError(
            f"a statement is a Statement, and no class made from it, with its fields and nothing more; got "
            f"{type(statement).__name__}"
        )
    for name in ("id", "source", "place", "words", "latex", "scope", "remark", "reading"):
        if type(told[name]) is not str:
            raise ProofError(f"the {name} of a statement is a text; got {told[name]!r}")
    refuse_look_alikes(told["id"])
    if type(told["said"]) is not Said:
        raise ProofError(f"{told['id']}: who says so is a Said; got {told['said']!r}")
    if any(type(size) is not Size for size in dict(told["sizes"]).values()):
        raise ProofError(f"{told['id']}: a size is a Size; got {told['sizes']!r}")
    sizes = {name: Size(**plain(vars(size))) for name, size in dict(told["sizes"]).items()}
    texts = {"hypotheses": plain(told["hypotheses"]), "mutants": tuple(plain(told["mutants"]))}
    return Statement(**told | texts | {"sizes": sizes})


def _broken_case(steps: Sequence[Step]) -> tuple[int, int] | None:
    """The number of a case that is not followed, or preceded, by the others of its step.

    They share the conclusion: what contradicts itself would prove any other.
    """
    k = 0
    while k < len(steps):
        case, conclusion = _case_of(steps[k])
        if case is None:
            k += 1
            continue
        together = steps[k : k + max(case[1], 1)]
        if len(together) != case[1] or any(
            _case_of(step) != ((number, case[1]), conclusion) for number, step in enumerate(together, 1)
        ):
            return case
        k += len(together)
    return None


def _case_of(step: Step) -> tuple[tuple[int, int] | None, str]:
    """Number of a case and what it concludes; None for a step that is no case of another."""
    claim = step.claim
    return (claim.case, claim.conclusion) if type(claim) is Implication else (None, "")
