"""Families in Coq: index sets are lists, families functions, sums recursive; what a claim is said for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from proofs.kernels.identifiers import COMPARED, identifiers
from proofs.language.polynomials import Monomial, Polynomial
from proofs.language.relations import Relation
from proofs.language.sums import summand_of

__all__ = ["Binders", "Names", "Unsupported"]


class Unsupported(Exception):
    """A claim that this has no proof for: then the identity alone is exported, and of a chain nothing."""


@dataclass(frozen=True)
class Binders:
    """What a theorem is said for: letters of sets, scalars, and families as plain variables, x_i for x[i]."""

    sets: tuple[str, ...]
    scalars: tuple[str, ...]
    families: tuple[str, ...]

    @classmethod
    def of(cls, variables: Iterable[str], letters: Iterable[str] = ()) -> Binders:
        """Those of plain variables, sums among them, and of more letters."""
        base: set[str] = set()
        for name in variables:
            base |= _base(name)
        sets = {*letters}.union(*(name.split("_")[1:] for name in base), *map(_bound, variables))
        scalars, families = ([v for v in sorted(base) if ("_" in v) == of] for of in (False, True))
        return cls(tuple(sorted(sets)), tuple(scalars), tuple(families))

    @property
    def variables(self) -> tuple[str, ...]:
        """Scalars and families, in the order of the theorem."""
        return (*self.scalars, *self.families)

    def text(self, names: Names) -> str:
        """Behind ``forall``, in Coq; empty if there is nothing."""
        bound = [f"({' '.join(names[f'set {i}'] for i in self.sets)} : list nat)"] if self.sets else []
        bound += [f"({' '.join(names[v] for v in self.scalars)} : R)"] if self.scalars else []
        bound += [f"({names[v]} : {'nat -> ' * v.count('_')}R)" for v in self.families]
        return " ".join(bound)

    def introduced(self, names: Names) -> list[str]:
        """Their names, in this order."""
        return [*(names[f"set {i}"] for i in self.sets), *(names[v] for v in self.variables)]


@dataclass(frozen=True)
class Names:
    """Identifiers of families, scalars, sets ("set i") and their elements ("in i", "member i").

    Of variables that have all values in a rule and are others beside it there are two ("all x_i").
    """

    given: Mapping[str, str]

    @classmethod
    def of(cls, binders: Binders, twice: Iterable[str] = ()) -> Names:
        """A name for everything, no two alike."""
        keys = [f"{word} {letter}" for letter in binders.sets for word in ("set", "in", "member")]
        keys += [f"all {variable}" for variable in twice]
        return cls(identifiers([*binders.variables, *keys]))

    def within(self, over: Iterable[str]) -> Names:
        """The names in a rule, where these variables have all values."""
        return Names({**self.given, **{v: self.given.get(f"all {v}", self.given[v]) for v in over}})

    def __getitem__(self, name: str) -> str:
        return self.given[name]

    def variable(self, name: str) -> str:
        """A scalar, or the member of a family."""
        letters = name.split("_")[1:]
        return f"({self[name]} {' '.join(self[f'in {i}'] for i in letters)})" if letters else self[name]

    def term(self, name: str) -> str:
        """A plain variable: a scalar, the member of a family, or a sum."""
        if not name.startswith("sum_"):
            return self.variable(name)
        bound, factors = summand_of(name)
        return f"({self.total(sorted(bound), self.product(factors))})"

    def total(self, letters: list[str], text: str) -> str:
        """The sum over these letters, the first of them outermost."""
        for letter in reversed(letters):
            text = f"total {self[f'set {letter}']} (fun {self[f'in {letter}']} => {text})"
        return text

    def text(self, p: Polynomial) -> str:
        """A polynomial in plain variables."""
        return re.sub(r"[A-Za-z]\w*", lambda name: self.term(name[0]), str(p).replace("**", "^"))

    def product(self, monomial: Monomial) -> str:
        """What is summed."""
        return self.text(Polynomial({monomial: Fraction(1)}))

    def relation(self, r: Relation) -> str:
        """A relation in plain variables, at the elements at hand."""
        return COMPARED[r.sign].format(self.text(r.left))

    def each(self, letters: Iterable[str]) -> str:
        """That what follows is for all elements of these sets."""
        said = ((self[f"in {i}"], self[f"set {i}"]) for i in letters)
        return "".join(f"forall {one}, In {one} {of} -> " for one, of in said)

    def elements(self, letters: Iterable[str]) -> str:
        """Elements, each with the proof that it is one of its set: what :meth:`each` asks for."""
        return " ".join(f"{self[f'in {i}']} {self[f'member {i}']}" for i in letters)

    def intros(self, letters: Iterable[str]) -> str:
        """The tactic that takes these elements."""
        return f"intros {self.elements(letters)}"


def _base(name: str) -> set[str]:
    """The members and scalars of which a plain variable is made."""
    if not name.startswith("sum_"):
        return {name}
    return set[str]().union(*(_base(factor) for factor, _ in summand_of(name)[1]))


def _bound(name: str) -> Iterator[str]:
    """The letters over which a plain variable is a sum."""
    if name.startswith("sum_"):
        bound, factors = summand_of(name)
        yield from bound
        for factor, _ in factors:
            yield from _bound(factor)
