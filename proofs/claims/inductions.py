"""Claims of every whole number, of the numbers of a run, and of every state with jobs: by induction.

Each class says which theorem its evidence rests on, with the proof.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil, prod

from proofs.claims.deductions import Deduction, Implication, OverSets, SumSchema, as_texts, refuse_rules
from proofs.errors import ProofError
from proofs.language.relations import Relation
from proofs.language.sequences import at_next, at_number, at_step, depends_on_next, looks_ahead
from proofs.language.sums import as_one_equation, instances, letters, substituted, variables

__all__ = [
    "RUN",
    "Induction",
    "StateInduction",
    "far_from",
    "refuse_hidden",
    "refuse_numbers",
    "windows_at",
]

RUN = 2
"""Steps of the run that shows that hypotheses on runs with a last number can be met."""
STATES = 12
"""How many states one after the other an induction over states is to be met in, beside the empty one."""
WINDOWS = ((0, 12), (100, 3), (10_000, 3), (10**8, 3))
"""How far from its first number an induction is to be met, and at how many in a row."""


def refuse_hidden(texts: Iterable[str], first: int, last: str) -> None:
    """ProofError if a text mentions the next number, and is so meant for every step, for nothing."""
    for text in texts:
        if looks_ahead(text) and not depends_on_next(text, first, last):
            raise ProofError(f"{text!r} mentions n + 1, on which it does not depend; leave it out")


def refuse_numbers(first: object, last: object) -> None:
    """ProofError unless these are a first number and the name of the last one, or none."""
    if type(first) is not int or first < 0:
        raise ProofError(
            f"an induction begins at a whole number >= 0; got {first!r}: count from a later one, "
            "with n - 1 for n"
        )
    if type(last) is not str or not re.fullmatch(r"([A-Z][A-Za-z0-9]*)?", last):
        raise ProofError(f"the last number has a name that begins with a capital letter, as N; got {last!r}")


@dataclass(frozen=True)
class Induction(Deduction):
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
        refuse_numbers(self.first, self.last)
        refuse_rules("an induction", self.hypotheses)
        refuse_hidden(self.hypotheses.values(), self.first, self.last)
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
        far = far_from(self.step.relations.values())
        return windows_at(self.hypotheses.values(), self.conclusion, self.first, self.last, far)


def far_from(relations: Iterable[Relation]) -> int:
    """A number beyond the roots of what relations say of n alone."""
    sizes = [sorted(map(abs, r.left.terms.values())) for r in relations]
    return ceil(prod(1 + size[-1] / size[0] for size in sizes if size))


def windows_at(
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
class StateInduction(OverSets):
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
        object.__setattr__(self, "start", as_texts(self.start, self.always))
        object.__setattr__(self, "always", as_one_equation(self.always))
        object.__setattr__(self, "less", as_texts(self.less, ""))
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
