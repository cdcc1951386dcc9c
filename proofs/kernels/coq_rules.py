"""Rules among the hypotheses of a chain, as Coq reads them, in one form for all that say the same."""

from __future__ import annotations

from dataclasses import dataclass, replace

from proofs.kernels.coq_forms import Terms
from proofs.kernels.coq_names import Binders, Names
from proofs.language.relations import Relation, scaled
from proofs.language.rules import normal_parts
from proofs.language.sums import indices_in

__all__ = ["RuleForm"]


@dataclass(frozen=True)
class RuleForm:
    """A rule: relations up to multiples, premises in one order, all in plain variables.

    Attributes
    ----------
    conclusion : Relation
    premises : tuple of Relation
    over : tuple of str
        The variables that have all values.
    each : tuple of str
        Letters of one element each.
    """

    conclusion: Relation
    premises: tuple[Relation, ...]
    over: tuple[str, ...]
    each: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> RuleForm:
        """The rule of this text."""
        return cls(*normal_parts(text))

    @property
    def relations(self) -> tuple[Relation, ...]:
        """Premises and conclusion."""
        return (*self.premises, self.conclusion)

    @property
    def variables(self) -> set[str]:
        """Members and scalars of the rule, without those that have all values."""
        held = Binders.of(set().union(*(r.left.variables for r in self.relations)))
        return {*held.variables} - {*self.over}

    @property
    def letters(self) -> set[str]:
        """All index letters."""
        return {*Binders.of({*self.over}.union(*(r.left.variables for r in self.relations))).sets}

    @property
    def bound(self) -> Binders:
        """The variables that have all values, as binders."""
        return replace(Binders.of(self.over), sets=())

    def own(self, r: Relation) -> list[str]:
        """Letters of a premise or the conclusion that are meant for all elements."""
        return sorted(indices_in(r) - set(self.each))

    def with_terms(self, terms: Terms) -> tuple[RuleForm, list[int]]:
        """The rule with terms for variables that do not have all values; the places of its premises here."""
        told = [scaled(terms.relation(r)) for r in self.premises]
        order = sorted(range(len(told)), key=lambda k: repr(told[k]))
        conclusion = scaled(terms.relation(self.conclusion))
        free, had = (set[str]().union(*map(indices_in, of)) for of in ((*told, conclusion), self.relations))
        each = tuple(sorted({*self.each, *(free - had)}))
        return RuleForm(conclusion, tuple(told[k] for k in order), self.over, each), order

    def text(self, names: Names, terms: Terms | None = None) -> str:
        """The rule in Coq, where the letters of ``each`` are at hand; with terms, as a theorem states it."""
        names = names.within(self.over)
        stated = names.relation if terms is None else terms.stated
        parts = [f"({names.each(self.own(r))}{stated(r)}) -> " for r in self.premises]
        bound = f"forall {self.bound.text(names)}, " if self.over else ""
        return f"{bound}{''.join(parts)}{names.each(self.own(self.conclusion))}{stated(self.conclusion)}"
