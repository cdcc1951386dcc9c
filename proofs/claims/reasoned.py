r"""Claims that hypotheses imply a conclusion: for real numbers, sets of every size, every whole number.

Each class says which theorem its evidence rests on, with the proof.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil, prod

from proofs.errors import ProofError
from proofs.language.relations import Relation, relation, variables_of
from proofs.language.rules import is_rule, parts_of, rule_text, variables_in, written_out
from proofs.language.sequences import TAKEN, as_families, at_next, at_number, at_step, looks_ahead
from proofs.language.sums import (
    as_one_equation,
    instances,
    letters,
    plain_relation,
    substituted,
    tree_of,
    variables,
)

__all__ = [
    "NEGATION",
    "REASONED",
    "RUN",
    "Chained",
    "Citation",
    "Implication",
    "Induction",
    "Reasoned",
    "Rule",
    "StateInduction",
    "SumSchema",
    "numbers_of",
]

NEGATION = "not the conclusion"
"""Name under which the conclusion is contradicted; no hypothesis has it."""
RUN = 2
"""Steps of the run that shows that hypotheses on runs with a last number can be met."""
STATES = 12
"""How many states one after the other an induction over states is to be met in, beside the empty one."""
WINDOWS = ((0, 12), (100, 3), (10_000, 3), (10**8, 3))
"""How far from its first number an induction is to be met, and at how many in a row."""


def _texts(hypotheses: Mapping[str, str], conclusion: str) -> dict[str, str]:
    """A copy of the hypotheses, in which equations with "or" between them are one.

    Raises
    ------
    ProofError
        If something is no text, or a hypothesis is called as the negated conclusion is.
    """
    held = dict(hypotheses)
    for name, text in {**held, "the conclusion": conclusion}.items():
        if type(name) is not str or type(text) is not str:
            raise ProofError(f'{name!r} is given as a text, as in "x*a <= 1"; got {text!r}')
    if NEGATION in held:
        raise ProofError(f"no hypothesis may be called {NEGATION!r}")
    return {name: text if is_rule(text) else as_one_equation(text) for name, text in held.items()}


@dataclass(frozen=True)
class _Deduction:
    """Relations by name, and one that is to follow from them, as texts."""

    hypotheses: Mapping[str, str]
    conclusion: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "hypotheses", _texts(self.hypotheses, self.conclusion))
        object.__setattr__(self, "conclusion", as_one_equation(self.conclusion))

    @property
    def assumed(self) -> dict[str, str]:
        """All that is assumed, by name."""
        return dict(self.hypotheses)


@dataclass(frozen=True)
class Implication(_Deduction):
    """Hypotheses imply a conclusion, for all real values of the variables.

    From a contradiction anything follows, so values that meet all hypotheses belong to the evidence. A case
    that is meant not to occur has the conclusion ``0 == 1``.

    Parameters
    ----------
    hypotheses : dict of str to str
        Relations by name, as texts, such as ``"x/a <= 1"`` and ``"0 < a <= 1"``; see
        :mod:`proofs.claims.splitting`.
    conclusion : str
    hints : tuple of (tuple of str, str)
        Products of hypotheses ("not the conclusion" is one) times the square of a polynomial, which the
        prover may use beside those that it makes itself; skipped where a hypothesis was dropped. Hints cannot
        make anything false provable.
    degree : int
        Largest number of hypotheses that the prover multiplies before it looks for sums of squares.
    case : (int, int), optional
        Number of the case, and of all cases, of an implication that was split into cases; single ones of them
        may contradict the hypotheses.

    Raises
    ------
    ProofError
        If a hypothesis or the conclusion is not given as a text.
    """

    hints: tuple[tuple[tuple[str, ...], str], ...] = field(default=(), compare=False)
    degree: int = field(default=2, compare=False)
    case: tuple[int, int] | None = None

    @property
    def relations(self) -> dict[str, Relation]:
        """The hypotheses, read."""
        return {name: relation(text) for name, text in self.hypotheses.items()}

    @property
    def variables(self) -> list[str]:
        """Variables of the hypotheses and of the conclusion, in order."""
        return variables_of((*self.relations.values(), relation(self.conclusion)))


class _OverSets(_Deduction):
    """A claim whose texts may hold families over sets of every size, and sums over them."""

    @property
    def plain(self) -> Implication:
        """Hypotheses and conclusion in plain variables, without rules."""
        told = {name: text for name, text in self.hypotheses.items() if not is_rule(text)}
        held = {name: repr(plain_relation(self.read(text))) for name, text in told.items()}
        return Implication(held, repr(plain_relation(self.read(self.conclusion))))

    def read(self, text: str) -> str:
        """A text of the claim as one of families."""
        return text

    def instance(self, size: int) -> Implication:
        """The claim where all sets have so many elements, for their first ones if the conclusion is open."""
        held: dict[str, str] = {}
        for number, (name, text) in enumerate(self.hypotheses.items(), 1):
            if is_rule(text):
                told = written_out(text, size, f"multiplier_{number}")
                parts = [(f"{name}[{k}]", written) for k, written in told]
            else:
                parts = [
                    (f"{name}[{','.join(map(str, choice))}]" if choice else name, written)
                    for choice, written in instances(text, size)
                ]
            for one, written in parts:
                if one in held:
                    raise ProofError(f"two hypotheses are called {one!r} where the sets have {size} elements")
                held[one] = written
        return Implication(held, next(instances(self.conclusion, size))[1])


@dataclass(frozen=True)
class SumSchema(_OverSets):
    """Hypotheses imply a conclusion for families of real numbers over finite sets of every size.

    Texts may hold families ``x[i]`` and sums ``sum[i](x[i]*a[i])`` (see :mod:`proofs.language.sums`). A
    hypothesis with a free index, such as ``x[i] >= 0``, is meant for each element; the conclusion has none.
    Of a set nothing is known but that it is finite: where one member matters, it has its own variables and
    the family is that of the others, as in ``x*a + sum[i](x[i]*a[i]) == 1``.

    The evidence is a certificate that is uniform in the index. Theorem: let some products of hypotheses and
    squares, and of equations and cofactors, be summed over their free indices; if the closed hypotheses and
    these sums imply the conclusion where every sum of a monomial is a variable of its own, then the claim
    holds for all sets. Proof: given any sets and members that meet the hypotheses, each summand is >= 0 (or
    0), so the sums of them are; sums are linear, so the identity that refutes the negated conclusion in the
    plain variables is an identity of the members' values.

    Parameters
    ----------
    hypotheses, conclusion, hints, degree
        As of :class:`Implication`; a hint of families is summed, one of an equation has its cofactor where
        others have a square.

    Raises
    ------
    ProofError
        If a text cannot be read, or the conclusion has a free index.

    Examples
    --------
    >>> SumSchema({"most": "h[i] <= s", "full": "sum[i](h[i]) == 1"}, "sum[i](1)*s >= 1").instance(2)
    Implication(hypotheses={'most[1]': 'h_i1 <= s', 'most[2]': 'h_i2 <= s', 'full': 'h_i1 + h_i2 == 1'}, \
conclusion='(1 + 1) * s >= 1', hints=(), degree=2, case=None)
    """

    hints: tuple[tuple[tuple[str, ...], str], ...] = field(default=(), compare=False)
    degree: int = field(default=2, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        _refuse_rules("a schema", self.hypotheses)
        if len(list(instances(self.conclusion, 2))) > 1:
            raise ProofError(
                f"the conclusion of a schema is closed, give the one element its own variables; "
                f"{self.conclusion!r} has a free index"
            )


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
        object.__setattr__(self, "hypotheses", _texts(self.hypotheses, self.conclusion))
        for name in ("over", "each"):
            object.__setattr__(self, name, tuple(_texts({t: t for t in getattr(self, name)}, "")))
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
        given = {ast.unparse(tree_of(name)): term for name, term in _texts(self.values, "").items()}
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
        if taken := [
            name for name in names if numbers is not None and TAKEN.fullmatch(name.partition("[")[0])
        ]:
            raise ProofError(f"no term stands for {taken[0]!r}, a number or a member of a sequence")
        if numbers is not None:  # a term for s[n] is one for s[n+1] and the first member, too
            known = {re.sub(r"(Next|First|Last)?(\[.*)?$", "", name) for name in known}
            names = {name: told.partition("[")[0] for name, told in names.items()}
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


def _refuse_rules(what: str, hypotheses: Mapping[str, str]) -> None:
    if rules := [text for text in hypotheses.values() if is_rule(text)]:
        raise ProofError(f"{what} has no rules; got {rules[0]!r}")


def _refuse_hidden(texts: Iterable[str], first: int, last: str) -> None:
    """What mentions the next number is meant for every step, so the next number must matter in it."""
    for text in texts:
        if looks_ahead(text) and "Next" not in repr(plain_relation(as_families(text, first, last))):
            raise ProofError(f"{text!r} mentions n + 1, on which it does not depend; leave it out")


def _refuse_numbers(first: object, last: object) -> None:
    if type(first) is not int or first < 0:
        raise ProofError(
            f"an induction begins at a whole number >= 0; got {first!r}: count from a later one, "
            "with n - 1 for n"
        )
    if type(last) is not str or not re.fullmatch(r"([A-Z][A-Za-z0-9]*)?", last):
        raise ProofError(f"the last number has a name that begins with a capital letter, as N; got {last!r}")


@dataclass(frozen=True)
class Chained(_OverSets):
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

    Each cited claim is that of an earlier step of the same statement; what is not proved there proves nothing
    here, as a statement is as good as its weakest step.

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
            _refuse_numbers(self.first, self.last)
            _refuse_rules("a chain about sequences", self.hypotheses)
            assert self.first is not None
            _refuse_hidden([*self.hypotheses.values(), self.conclusion], self.first, self.last)
        object.__setattr__(self, "cites", tuple(self.cites))
        object.__setattr__(self, "cases", tuple(_texts({r: r for r in self.cases}, "")))
        if other := [cited for cited in self.cites if type(cited) is not Citation]:
            raise ProofError(f"a chain cites by a Citation; got {other[0]!r}")

    def read(self, text: str) -> str:
        """A text of the claim as one of families."""
        return text if self.first is None else as_families(text, self.first, self.last)

    def windows_of(self, size: int) -> dict[int, Implication]:
        """The claim at several numbers in a row, as of an induction, where all sets have so many elements."""
        assert self.first is not None
        plain = [plain_relation(self.read(text)) for text in self.hypotheses.values()]
        far = _far([*plain, plain_relation(self.read(self.conclusion))])
        return _windows(self.hypotheses.values(), self.conclusion, self.first, self.last, far, size)


@dataclass(frozen=True)
class Induction(_Deduction):
    """A relation holds for all whole numbers ``n >= first``, or for those up to a last one.

    Sequences are written ``s[n]`` and ``s[n+1]``, their first member ``s[0]`` (or what ``first`` is), the
    number itself ``n``. Hypotheses that mention n hold for every n from ``first`` on. Where the ``last``
    number has a name, N, it is any whole number from ``first`` on, ``s[N]`` is the last member, and what
    looks ahead holds for n < N.

    Theorem: let the conclusion hold at ``first`` (:attr:`base`), and let it hold at n + 1 wherever it holds
    at a real number n >= ``first`` with the hypotheses at n (:attr:`step`). Then it holds for all n, by
    induction. The evidence is that of both implications, and values of the sequences at several numbers in a
    row (:attr:`windows`): what no sequence meets would prove anything. With a last number N, what looks ahead
    does not belong to the base, and n + 1 <= N to the step; the values are those of a whole run.

    Parameters
    ----------
    hypotheses : dict of str to str
    conclusion : str
        About n and members of index n (and first ones).
    first : int
        At least 0.
    last : str
        Name of the last number; by default there is none.
    hints, degree
        For the step; as of :class:`Implication`. The conclusion at n is called "induction".

    Raises
    ------
    ProofError
        If a text cannot be read, or ``first`` is no whole number >= 0.

    Examples
    --------
    >>> claim = Induction({"start": "s[0] == 1", "grows": "s[n+1] >= 2*s[n]"}, "s[n] >= n + 1")
    >>> claim.base.conclusion, claim.step.hypotheses
    ('s_0 >= 0 + 1', {'start': 's_0 == 1', 'grows': 's_next >= 2 * s_n', 'from': 'n >= 0', \
'induction': 's_n >= n + 1'})
    """

    first: int = 0
    hints: tuple[tuple[tuple[str, ...], str], ...] = field(default=(), compare=False)
    degree: int = field(default=2, compare=False)
    last: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if used := {"from", "to", "induction"} & set(self.hypotheses):
            raise ProofError(f"no hypothesis of an induction may be called {min(used)!r}")
        _refuse_numbers(self.first, self.last)
        _refuse_rules("an induction", self.hypotheses)
        _refuse_hidden(self.hypotheses.values(), self.first, self.last)
        at_next(self.conclusion, self.first, self.last)  # refuses what looks ahead

    @property
    def base(self) -> Implication:
        """The claim at the first number."""
        told = {n: t for n, t in self.hypotheses.items() if not (self.last and looks_ahead(t))}
        held = {name: at_number(text, self.first, self.first, self.last) for name, text in told.items()}
        held |= {"to": f"{self.last} >= {self.first}"} if self.last else {}
        goal = at_number(self.conclusion, self.first, self.first, self.last)
        return Implication(held, goal, degree=self.degree)

    @property
    def step(self) -> Implication:
        """From a number to the next."""
        held = {name: at_step(text, self.first, self.last) for name, text in self.hypotheses.items()}
        held |= {"from": f"n >= {self.first}"} | ({"to": f"n + 1 <= {self.last}"} if self.last else {})
        held |= {"induction": at_step(self.conclusion, self.first, self.last)}
        goal = at_next(self.conclusion, self.first, self.last)
        return Implication(held, goal, hints=self.hints, degree=self.degree)

    @property
    def windows(self) -> dict[int, Implication]:
        """The claim at several numbers in a row, by the first of them: its hypotheses are to be met there.

        At each number alone hypotheses may be met that no sequence meets at all of them. Later windows assume
        what the induction has proved at their numbers. The last one lies beyond the roots of what is said of
        n alone, by Cauchy's bound, 1 + max :math:`|c/c'|` for coefficients c and c'; it is taken of each
        relation, and these numbers are multiplied, for relations that bound n together.
        """
        far = _far(self.step.relations.values())
        return _windows(self.hypotheses.values(), self.conclusion, self.first, self.last, far)


def _far(relations: Iterable[Relation]) -> int:
    """A number beyond the roots of what relations say of n alone."""
    sizes = [sorted(map(abs, r.left.terms.values())) for r in relations]
    return ceil(prod(1 + size[-1] / size[0] for size in sizes if size))


def _windows(
    hypotheses: Iterable[str], conclusion: str, first: int, last: str, far: int, size: int = 1
) -> dict[int, Implication]:
    """Hypotheses at several numbers in a row, by the first of them; of a run with a last number, all of them.

    Later windows hold the conclusion, too.
    """
    told = [*hypotheses]
    if last:
        end = first + RUN
        numbers, ends = range(first, end + 1), (last, end)
        at = {t: range(first, end) if looks_ahead(t) else numbers for t in (*told, conclusion)}
        held = {text: text for t in told for k in at[t] for text in _written(t, k, first, ends, size)}
        return {first: Implication(held, _written(conclusion, at[conclusion][-1], first, ends, size)[0])}
    found = {}
    for later, size in (*WINDOWS[:-1], (max(WINDOWS[-1][0], far), WINDOWS[-1][1])):
        numbers = range(first + later, first + later + size)
        texts = [*told, *([conclusion] if later else [])]
        held = {text: text for k in numbers for t in texts for text in _written(t, k, first, "", size)}
        found[numbers[0]] = Implication(held, _written(conclusion, numbers[-1] + 1, first, "", size)[0])
    return found


def _written(text: str, number: int, first: int, last: tuple[str, int] | str, size: int) -> list[str]:
    """The text at a number, for all elements of sets of that size."""
    return [written for _, written in instances(at_number(text, number, first, last, families=True), size)]


@dataclass(frozen=True)
class StateInduction(_OverSets):
    """A relation holds in all states with jobs, because another one does in all states.

    A state has finitely many jobs of finitely many classes; of a state, the states with one job less are
    states, too. Where ``less`` is ``{"P": "Q"}``, P is the value of a function at a state, and Q and ``Q[i]``
    are its values with one job less: of some class with jobs, and of each other class i with jobs. Hypotheses
    hold in every state with jobs, ``start`` in the empty one. A variable of ``always`` that is no function is
    the same number in all states; others may differ.

    Theorem: let ``always`` hold in the empty state (:attr:`base`), and in every other one if it does with one
    job less of each class (:attr:`step`). Then it holds in all states, by induction over the number of jobs.
    So what follows from it, at a state with jobs and with one job less, holds in all states with jobs
    (:attr:`end`). The evidence is that of the three claims, with values for one state, and for several in a
    row with jobs of a single class (:attr:`path`).

    Parameters
    ----------
    hypotheses : dict of str to str
    conclusion : str
    start : dict of str to str
    less : dict of str to str
        Functions of the state, and what they are called with one job less.
    always : str
        A relation between functions and numbers, without families.
    hints, degree
        For step and end; as of :class:`SumSchema`. What is known with one job less is called "before" and
        "before i", what always holds "always".

    Raises
    ------
    ProofError
        If a name has two meanings, a family is not over classes, or ``always`` has no function or a family.

    Examples
    --------
    >>> grows, one = {"grows": "P >= Q", "more": "P >= Q[i]"}, {"one": "P == 1"}
    >>> claim = StateInduction(grows, "P >= 1", start=one, less={"P": "Q"}, always="P >= 1")
    >>> claim.step.hypotheses["before i"], claim.base.hypotheses
    ('Q[i] >= 1', {'one': 'P == 1'})
    >>> claim.path.hypotheses["grows 2"]
    'P_2 >= P_1'
    """

    start: Mapping[str, str]
    less: Mapping[str, str]
    always: str
    hints: tuple[tuple[tuple[str, ...], str], ...] = field(default=(), compare=False)
    degree: int = field(default=2, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "start", _texts(self.start, self.always))
        object.__setattr__(self, "always", as_one_equation(self.always))
        object.__setattr__(self, "less", _texts(self.less, ""))
        if used := {"before", "before i", "always"} & {*self.hypotheses, *self.start}:
            raise ProofError(f"no hypothesis of an induction over states may be called {min(used)!r}")
        if both := set(self.hypotheses) & set(self.start):
            raise ProofError(f"{min(both)!r} is a hypothesis of the empty state and of the others")
        names = [*self.less, *self.less.values()]
        if other := [name for name in names if not name.isidentifier() or names.count(name) > 1]:
            raise ProofError(
                f"each function has a name of its own here and with one job less; see {other[0]!r}"
            )
        kept = variables(self.always)
        if letters(self.always) or not kept & set(self.less) or kept & set(self.less.values()):
            raise ProofError(
                f"what always holds is a relation between functions at a state, {', '.join(self.less)}, and "
                f"numbers; got {self.always!r}"
            )
        texts = [*self.hypotheses.values(), self.conclusion]
        if other := sorted(set().union(*map(letters, texts)) - {"i"}):
            raise ProofError(f"families are over classes, as in x[i]; got the index {other[0]!r}")
        early = set().union(*map(variables, self.start.values())) & set(self.less.values())
        if early or any(map(letters, self.start.values())):
            raise ProofError("in the empty state there are no values with one job less, and no families")
        SumSchema({}, self.conclusion)  # refuses a free index

    @property
    def assumed(self) -> dict[str, str]:
        """All that is assumed, by name."""
        return {**self.hypotheses, **self.start}

    @property
    def base(self) -> Implication:
        """The empty state."""
        return Implication(self.start, self.always, degree=self.degree)

    @property
    def step(self) -> SumSchema:
        """From the states with one job less to a state."""
        return SumSchema({**self.hypotheses, **self._before}, self.always, self.hints, self.degree)

    @property
    def end(self) -> SumSchema:
        """What follows at a state with jobs."""
        held = {**self.hypotheses, **self._before, "always": self.always}
        return SumSchema(held, self.conclusion, self.hints, self.degree)

    @property
    def path(self) -> Implication:
        """The empty state and those with jobs of one class, up to several of them: all is to be met there."""
        return self.along(STATES)

    def along(self, jobs: int) -> Implication:
        """The claim in the states with up to so many jobs, all of one class."""
        held = {f"{name} 0": self._at(text, 0) for name, text in self.start.items()}
        for k in range(1, jobs + 1):
            for name, text in self.hypotheses.items():
                held |= {f"{name} {k}": self._at(written, k) for _, written in instances(text, 0)}
        ((_, conclusion),) = instances(self.conclusion, 0)
        return Implication(held, self._at(conclusion, jobs))

    @property
    def _before(self) -> dict[str, str]:
        family = {name: f"{before}[i]" for name, before in self.less.items()}
        return {
            "before": substituted(self.always, self.less),
            "before i": substituted(self.always, family),
        }

    def _at(self, text: str, jobs: int) -> str:
        """The text where there are so many jobs, all of one class."""
        numbers = variables(self.always) - set(self.less)
        terms = {name: f"{name}_{jobs}" for name in variables(text) - numbers}
        terms |= {before: f"{name}_{jobs - 1}" for name, before in self.less.items() if before in terms}
        return substituted(text, terms)


Reasoned = Implication | SumSchema | Induction | StateInduction | Chained
REASONED = (Implication, SumSchema, Induction, StateInduction, Chained)
"""These classes, and none made from them."""
