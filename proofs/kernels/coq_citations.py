"""How the proof of a chain applies the theorems that it cites, and the rules among its hypotheses.

What a theorem asks for is shown from what is known, and what it says is known from then on. Where terms stand
within sums, equations to their normal forms come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proofs.checking.general import key_of
from proofs.kernels.coq_forms import Terms
from proofs.kernels.coq_names import Binders, Names, Unsupported
from proofs.kernels.coq_rules import RuleForm
from proofs.language.polynomials import Polynomial, polynomial
from proofs.language.relations import Relation, relation
from proofs.language.sums import indices_in, plain_text

__all__ = [
    "Citation",
    "Equations",
    "Fact",
    "Lemma",
    "Writer",
    "is_cited_rule",
    "letters_of_conclusion",
    "rules_of",
    "single_letters",
]

Data = Mapping[str, Any]

NOTHING = Binders.of(())
CASES = {
    ">=": "destruct (Rle_or_lt 0 ({0})) as [{1} | {1}].",
    ">": "destruct (Rlt_or_le 0 ({0})) as [{1} | {1}].",
    "==": "destruct (Req_dec ({0}) 0) as [{1} | {1}].",
}
"""How Coq tells cases apart, the relation first."""


@dataclass(frozen=True)
class Lemma:
    """The theorem of a step: its name, what it is said for, and the claim."""

    name: str
    binders: Binders
    claim: Data


def is_cited_rule(claim: Data) -> bool:
    """Whether a claim that is cited is a rule, and no step."""
    return bool(claim["claim"] == "Rule")


def rules_of(claim: Data) -> list[RuleForm]:
    """The rules among the hypotheses of a claim."""
    return [RuleForm.of(text) for text in claim.get("rules", {}).values()]


def letters_of_conclusion(claim: Data) -> list[str]:
    """The letters of a conclusion, those of single members in its cases first."""
    goal = indices_in(relation(claim["conclusion"]))
    single = single_letters(claim)
    return [*sorted(goal & single), *sorted(goal - single)]


def single_letters(claim: Data) -> frozenset[str]:
    """The letters that stand for one member in the cases of a claim."""
    return frozenset[str]().union(*(indices_in(relation(text)) for text in claim.get("cases", ())))


@dataclass(frozen=True)
class Fact:
    """What is known: its proof, the letters for whose elements it is, and its words if these are at hand."""

    name: str
    letters: tuple[str, ...] = ()
    said: str = ""


@dataclass(frozen=True)
class Citation:
    """A theorem applied to terms.

    Attributes
    ----------
    head : str
        The theorem with what it is said for.
    hypotheses : list of (Relation, Relation, list of str)
        Each with its normal form, and the letters for whose elements the theorem asks for it.
    rules : list of RuleForm
    conclusion, told : Relation
        What the theorem says, and its normal form.
    had : list of str
        The letters for whose elements the theorem says it.
    """

    terms: Terms
    head: str
    hypotheses: list[tuple[Relation, Relation, list[str]]]
    rules: list[RuleForm]
    conclusion: Relation
    told: Relation
    had: list[str]

    @classmethod
    def of(cls, cited: Data, lemma: Lemma | None, rules: Mapping[RuleForm, str], names: Names) -> Citation:
        """The citation of a step, or of a rule by the names of those that are hypotheses."""
        values = {plain_text(name): polynomial(plain_text(term)) for name, term in cited["values"].items()}
        terms = Terms(names, {name: p for name, p in values.items() if p != polynomial(name)})
        if lemma is None:
            form = RuleForm.of(cited["claim"]["text"])
            if form not in rules:
                raise Unsupported("a rule that is no hypothesis")
            given = [rules[form], names.elements(form.each), *map(terms.given, form.bound.variables)]
            held, asked = [(r, form.own(r)) for r in form.premises], list[RuleForm]()
            goal, had = form.conclusion, form.own(form.conclusion)
        else:
            given = [lemma.name, *(names[f"set {i}"] for i in lemma.binders.sets)]
            given += map(terms.given, lemma.binders.variables)
            told = map(relation, lemma.claim["hypotheses"].values())
            held, asked = [(r, sorted(indices_in(r))) for r in told], rules_of(lemma.claim)
            goal, had = relation(lemma.claim["conclusion"]), letters_of_conclusion(lemma.claim)
        needed = [(r, terms.relation(r), own) for r, own in held]
        return cls(terms, " ".join(filter(None, given)), needed, asked, goal, terms.relation(goal), had)

    def within(self, form: RuleForm) -> Terms:
        """The terms in a rule, where some variables have all values."""
        kept = {name: p for name, p in self.terms.values.items() if name not in form.over}
        return Terms(self.terms.names.within(form.over), kept)


class Equations:
    """Sums with terms within, each with the equation to its normal form, which a proof rewrites."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.places: dict[tuple[str, Binders], str] = {}

    def rewriting(self, terms: Terms, p: Polynomial, bound: Binders) -> list[str]:
        """The tactics that bring the text of a polynomial with terms to its normal form."""
        return [self._rewriting(terms, name, bound) for name in terms.sums_in(p)]

    def _rewriting(self, terms: Terms, name: str, bound: Binders) -> str:
        left, right = terms.equation(name)
        letters = [terms.names[f"in {i}"] for i in sorted(terms.letters_of(name))]
        arguments = [*bound.introduced(terms.names), *letters]
        if (left, bound) not in self.places:
            within = self.rewriting(terms, terms.summand(name), bound)
            place = self.places[left, bound] = f"Q{len(self.places) + 1}"
            said = [bound.text(terms.names), *([f"({' '.join(letters)} : nat)"] if letters else [])]
            each = f"forall {' '.join(filter(None, said))}, " if arguments else ""
            self.lines += [f"assert ({place} : {each}{left} = {right}).", "{"]
            self.lines += [f"  intros {' '.join(arguments)}."] if arguments else []
            self.lines += [f"  {line}" for line in terms.proof(name, within)]
            self.lines += ["}"]
        # Where only brackets differ there is nothing to rewrite.
        return f"try rewrite {_applied(self.places[left, bound], *arguments)}"


def _applied(proof: str, *arguments: str) -> str:
    """A proof, or a theorem, with what it is given."""
    given = " ".join(filter(None, arguments))
    return f"({proof} {given})" if given else proof


@dataclass(frozen=True)
class Writer:
    """Text of one chain."""

    names: Names
    single: frozenset[str]
    citations: Sequence[Citation]
    rules: Mapping[RuleForm, str]
    equations: Equations

    def many(self, letters: Iterable[str]) -> list[str]:
        """Those of some letters that do not stand for one member here, in order."""
        return sorted(set(letters) - self.single)

    def by_cases(
        self, cases: Sequence[Relation], known: Mapping[str, Fact], goal: Relation, indent: str
    ) -> Iterator[str]:
        """The proof in all cases that are left."""
        if not cases:
            yield from self.leaf(dict(known), goal, indent)
            return
        r, name = cases[0], f"B{len(cases)}"
        # What is different from 0 is the second case of Coq, so that both change places.
        chosen = [r.negated, r] if r.sign == "!=" else [r, r.negated]
        sign = "==" if r.sign == "!=" else r.sign
        yield f"{indent}{CASES[sign].format(self.names.text(r.left), name)}"
        for one in chosen:
            yield f"{indent}{{"
            yield from self.by_cases(cases[1:], {**known, key_of(one): Fact(name)}, goal, f"{indent}  ")
            yield f"{indent}}}"

    def leaf(self, known: dict[str, Fact], goal: Relation, indent: str) -> Iterator[str]:
        """The citations of which all hypotheses are known, and the conclusion."""
        rest = self.many(indices_in(goal))
        closing = [f"{self.names.intros(rest)}."] if rest else []
        for number, citation in enumerate(self.citations, 1):
            conclusion = citation.told
            proofs = [self.hypothesis(citation, known, *needed) for needed in citation.hypotheses]
            proofs += [self.rule(citation, form) for form in citation.rules]
            if None in proofs:
                continue
            letters = self.many(indices_in(conclusion))
            told_here = self.names.relation(conclusion)
            said = f"{self.names.each(letters)}{told_here}"
            fact = known[key_of(conclusion)] = Fact(f"K{number}", tuple(letters), said)
            yield f"{indent}assert ({fact.name} : {said})."
            yield f"{indent}{{"
            given = []
            for place, (more, lines) in enumerate(filter(None, proofs), 1):
                given.append(_applied(f"A{place}" if lines[1:] else lines[0], self.names.elements(more)))
                if not lines[1:]:
                    continue
                yield f"{indent}  assert (A{place} : {lines[0]})."
                yield f"{indent}  {{ {lines[1]}"
                yield from (f"{indent}    {line}" for line in lines[2:])
                yield f"{indent}  }}"
            told = _applied(citation.head, *given, self.names.elements(citation.had))
            stated = citation.terms.stated(citation.conclusion)
            yield from [f"{indent}  {self.names.intros(letters)}."] * bool(letters)
            if stated == told_here:
                yield f"{indent}  exact {told}."
            else:
                yield f"{indent}  assert (S1 : {stated}) by exact {told}."
                equations = self.equations.rewriting(citation.terms, citation.conclusion.left, NOTHING)
                rewriting = [f"{one} in S1" for one in equations]
                yield f"{indent}  {_derived('S1', conclusion.sign, rewriting, [])}"
            yield f"{indent}}}"
            if conclusion.impossible:
                yield f"{indent}{' '.join([*closing, 'exfalso;'])} {_contradiction(fact.name, conclusion)}."
                return
        found = _found(goal, known)
        if found is None:
            raise Unsupported("a conclusion that is not known")
        proof = _applied(found.name, self.names.elements(found.letters))
        yield f"{indent}{' '.join([*closing, _derived(proof, goal.sign, [], [])])}"

    def hypothesis(
        self, citation: Citation, known: Mapping[str, Fact], r: Relation, told: Relation, own: list[str]
    ) -> tuple[list[str], list[str]] | None:
        """The letters for whose elements a hypothesis with terms is shown, what it says, and its proof.

        What is known in the same words stands for both.
        """
        fact = _found(told, known)
        if fact is None and (told.left.variables or not told.holds({})):
            return None
        more = self.many(citation.terms.letters_in(r.left) - set(own))
        rewriting = self.equations.rewriting(citation.terms, r.left, NOTHING)
        each = [*more, *own]
        lines = [f"{self.names.each(each)}{citation.terms.stated(r)}"]
        if fact and fact.said == lines[0]:
            return more, [fact.name]
        lines += [f"{self.names.intros(each)}."] if each else ["idtac."]
        proof = _applied(fact.name, self.names.elements(fact.letters)) if fact else ""
        return more, [*lines, _derived(proof, r.sign, [], rewriting)]

    def rule(self, citation: Citation, form: RuleForm) -> tuple[list[str], list[str]] | None:
        """The same for a rule that a step asks for, from one that is a hypothesis here."""
        terms = citation.within(form)
        told, order = form.with_terms(terms)
        if told not in self.rules:
            return None
        bound, inner = form.bound, self.names.within(form.over)
        free = set().union(*(terms.letters_in(r.left) - set(form.own(r)) for r in form.relations))
        more = self.many(free - set(form.each))
        premises = [f"P{k}" for k in range(1, len(form.premises) + 1)]
        last = form.own(form.conclusion)
        each = self.names.each
        lines = [f"{each(more)}{each(form.each)}{form.text(self.names, terms)}"]
        taken = [
            self.names.elements(more),
            self.names.elements(form.each),
            *bound.introduced(inner),
            *premises,
        ]
        lines += [f"intros {' '.join(filter(None, taken))}."]
        given = []
        for place, k in enumerate(order, 1):
            r, new = form.premises[k], told.premises[place - 1]
            own = told.own(new)
            rewriting = [f"{one} in S1" for one in self.equations.rewriting(terms, r.left, bound)]
            proof = _applied(f"P{k + 1}", self.names.elements(form.own(r)))
            lines += [f"assert (R{place} : {each(own)}{inner.relation(new)})."]
            opened = f"{self.names.intros(own)}; " if own else ""
            derived = _derived("S1", new.sign, rewriting, [])
            lines += [f"{{ {opened}pose proof {proof} as S1; {derived} }}"]
            given.append(f"R{place}")
        lines += [f"{self.names.intros(last)}."] * bool(last)
        arguments = [self.names.elements(told.each), *bound.introduced(inner), *given]
        proof = _applied(self.rules[told], *arguments, self.names.elements(told.own(told.conclusion)))
        rewriting = self.equations.rewriting(terms, form.conclusion.left, bound)
        return more, [*lines, _derived(proof, form.conclusion.sign, [], rewriting)]


def _derived(proof: str, sign: str, known: list[str], goal: list[str]) -> str:
    """The tactic for a relation from the proof of one: after rewriting in what is known, and in the goal."""
    if sign == "!=":
        told = [f"apply {proof}"] if proof else []
        return "; ".join([*known, "intro E1", *(f"{one} in E1" for one in goal), *told, "lra"]) + "."
    told = [f"pose proof {proof} as E1"] if proof else []
    return "; ".join([*known, *goal, *told, "lra"]) + "."


def _contradiction(proof: str, r: Relation) -> str:
    return f"apply {proof}; lra" if r.sign == "!=" else "lra"


def _found(r: Relation, known: Mapping[str, Fact]) -> Fact | None:
    """The fact that is the relation, or from which it follows at once."""
    same = [r, *(Relation(r.left, sign) for sign in (">", "==") if r.sign == ">=")]
    return next((known[key_of(one)] for one in same if key_of(one) in known), None)
