r"""What a kernel is to prove, free of any language: hypotheses, conclusion, and the terms of the identity.

With hypotheses :math:`g_k` and the negated conclusion, a certificate of :mod:`proofs.checking.refutations` is

.. math:: 0 = \sum_t c_t \prod_{k\in K_t} g_k\, s_t^2 + \sum_l q_l\, e_l ,

where no term is negative and one, put first here, is positive: a sum that is 0 and positive. A witness
against an implication is a theorem too: not all values that meet the hypotheses meet the conclusion.

Of a claim for sets of every size this is the implication to which its sums lead, in which each sum is a
variable, and Coq proves the claim from it (:mod:`proofs.kernels.coq_sums`); of an induction it is the base
and the step, from which Coq proves it (:mod:`proofs.kernels.coq_inductions`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from proofs.checking.general import with_sums
from proofs.claims import NEGATION, RUN, Implication
from proofs.definitions import fraction
from proofs.kernels.coq_chains import binders_of, chains_in
from proofs.kernels.coq_citations import Lemma
from proofs.kernels.coq_names import Binders
from proofs.kernels.coq_sums import is_supported
from proofs.kernels.identifiers import identifiers
from proofs.language.polynomials import Polynomial, polynomial
from proofs.language.relations import Relation, relation, variables_of
from proofs.verdicts.verdict import Finding, Status, Verdict

__all__ = ["Chain", "Multiple", "Product", "Section", "Theorem", "alone_in", "exported_steps", "sections"]

KINDS = ("refutation", "assignment", "induction")
"""Kinds of evidence on a claim that is a theorem, whatever else it holds."""


Data = Mapping[str, Any]


@dataclass(frozen=True)
class Product:
    """A term >= 0: a positive number times premises times a square.

    Attributes
    ----------
    coefficient : Fraction
    factors : tuple of int
        Numbers of hypotheses from 0; -1 is the negated conclusion.
    square : Polynomial or None
    strict : bool
        Whether the term is positive.
    """

    coefficient: Fraction
    factors: tuple[int, ...]
    square: Polynomial | None
    strict: bool


@dataclass(frozen=True)
class Multiple:
    """A term that is 0: a polynomial times the left side of an equation, numbered as factors are."""

    cofactor: Polynomial
    equation: int


@dataclass(frozen=True)
class Theorem:
    """One step: for all values of the variables, the hypotheses imply the conclusion, or they do not.

    Attributes
    ----------
    name, says : str
    variables : tuple of str
    written : tuple of str
        The variables as the claim writes them.
    hypotheses : dict of str to Relation
        By the names that the statement gives them, in the variables above.
    conclusion : Relation
    terms : tuple of Product or Multiple
        What adds up to 0, a positive one first; empty for a witness.
    witness : dict of str to Fraction, optional
        Values that meet the hypotheses and not the conclusion.
    met : dict of str to Fraction, optional
        Values that meet the hypotheses, so that they do not contradict each other.
    leads_to : (str, dict, dict), optional
        Name, claim and evidence of the claim for every size that this identity, or step, proves.
    """

    name: str
    says: str
    variables: tuple[str, ...]
    written: tuple[str, ...]
    hypotheses: Mapping[str, Relation]
    conclusion: Relation
    terms: tuple[Product | Multiple, ...]
    witness: Mapping[str, Fraction] | None
    met: Mapping[str, Fraction] | None
    leads_to: tuple[str, Data, Data] | None = None

    def hypothesis(self, number: int) -> Relation:
        """A hypothesis by its number, the conclusion by -1."""
        return self.conclusion if number < 0 else list(self.hypotheses.values())[number]

    def positive(self, number: int) -> bool:
        """Whether the premise of that number is more than not negative; squares of what is not 0 are."""
        r = self.hypothesis(number)
        return _is_positive(r.negated if number < 0 else r)


@dataclass(frozen=True)
class Chain:
    """A chain, and the theorems of the steps that it cites, or None for a rule, one for each citation."""

    name: str
    says: str
    claim: Data
    cites: tuple[Lemma | None, ...]


@dataclass(frozen=True)
class Section:
    """The theorems of one verdict, and what to tell a reader of it."""

    heading: str
    words: tuple[str, ...]
    theorems: tuple[Theorem, ...]
    chains: tuple[Chain, ...] = ()


IN_SUMS = "_in_sums"


def exported_steps(verdict: Verdict) -> int:
    """How many steps of a verdict are a theorem of Coq."""
    alone = alone_in(verdict.findings)
    return len(alone) + len(chains_in(verdict.findings, alone))


def alone_in(findings: Sequence[Finding]) -> list[int]:
    """The numbers of steps that have a theorem and cite no other one."""
    return [
        k
        for k, f in enumerate(findings)
        if f.evidence.get("kind") in KINDS
        or (f.evidence.get("kind") == "sums" and is_supported(f.claim, f.evidence))
    ]


def sections(verdicts: Iterable[Verdict]) -> Iterator[Section]:
    """The theorems of verdicts, by verdict; no two have the same name."""
    known = list(verdicts)
    ids = [v.id for v in known]
    # One statement may be asked twice, of changed hypotheses.
    keys = [v.id if ids.count(v.id) == 1 else f"{v.id} {k}" for k, v in enumerate(known, 1)]
    names = identifiers(keys)
    for key, v in zip(keys, known, strict=True):
        theorems = []
        for k, finding in enumerate(v.findings, 1):
            name = f"{names[key]}_{k}"
            for part, claim, evidence in _parts(finding):
                theorem = _theorem(f"{name}{part}", finding.says, claim, evidence)
                if part == "_step":
                    theorem = replace(theorem, leads_to=(name, finding.claim, finding.evidence))
                elif part.endswith(IN_SUMS):
                    inner = part.removesuffix(IN_SUMS).strip("_")
                    whole = finding.claim, finding.evidence
                    claim, evidence = (data[inner] for data in whole) if inner else whole
                    if is_supported(claim, evidence):
                        leads_to = f"{name}_{inner}" if inner else name, claim, evidence
                        theorem = replace(theorem, leads_to=leads_to)
                theorems.append(theorem)
        alone = alone_in(v.findings)
        cited = chains_in(v.findings, alone)
        words = v.statement["words"], *_told(v, names[key], {*alone, *cited}, cited)
        chains = _chains(v.findings, names[key], theorems, cited)
        yield Section(v.summary().splitlines()[0], words, tuple(theorems), chains)


def _chains(
    findings: Sequence[Finding],
    key: str,
    theorems: Iterable[Theorem],
    cited: Mapping[int, Sequence[int | None]],
) -> tuple[Chain, ...]:
    """The chains that have a theorem, by the steps that they cite."""
    written = {theorem.name.removesuffix(IN_SUMS): theorem.written for theorem in theorems}
    binders: dict[str, Binders] = {}

    def lemma(j: int | None) -> Lemma | None:
        if j is None:
            return None
        name, claim = f"{key}_{j + 1}", findings[j].claim
        if name not in binders:
            told = variables_of(map(relation, (*claim["hypotheses"].values(), claim["conclusion"])))
            binders[name] = Binders.of({*written[name], *told})
        return Lemma(name, binders[name], claim)

    chains = []
    for k, steps in cited.items():
        lemmas = tuple(map(lemma, steps))
        chains.append(Chain(f"{key}_{k + 1}", findings[k].says, findings[k].claim, lemmas))
        binders[chains[-1].name] = binders_of(findings[k].claim, lemmas)
    return tuple(chains)


def _parts(finding: Finding) -> Iterator[tuple[str, Data, Data]]:
    """The implications with a certificate of a step: what marks them, claim and evidence."""
    claim, evidence = finding.claim, finding.evidence
    match evidence.get("kind"):
        case "refutation" | "assignment":
            yield "", claim, evidence
        case "sums":
            yield IN_SUMS, *_identity(claim, evidence)
        case "states":
            yield "_base", claim["base"], {**evidence["base"], "kind": "refutation"}
            for part in ("step", "end"):
                yield f"_{part}{IN_SUMS}", *_identity(claim[part], evidence[part])
        case "induction":
            for part in ("base", "step"):
                met = _at_first(claim[part], claim, evidence["met"][0])
                yield f"_{part}", claim[part], {**evidence[part], "met": met}


def _identity(claim: Data, evidence: Data) -> tuple[Data, Data]:
    """The implication to which the sums of a claim for every size lead, and its certificate."""
    plain = with_sums(Implication(claim["hypotheses"], claim["conclusion"]), evidence["sums"])
    return {"hypotheses": plain.hypotheses, "conclusion": plain.conclusion}, {
        "kind": "refutation", "terms": evidence["terms"], "cofactors": evidence["cofactors"],
    }  # fmt: skip


def _at_first(part: Data, claim: Data, met: Any) -> dict[str, Any]:
    """Values that meet the base or the step of an induction, where they are known at its first numbers."""
    if type(met) is not dict:
        return {}
    first, last = claim["first"], claim.get("last", "")
    texts = (*part["hypotheses"].values(), part["conclusion"])
    values: dict[str, Any] = {}
    for name in variables_of(map(relation, texts)):
        family, _, index = name.partition("_")
        place = {"n": first, "next": first + 1, "last": first + RUN}.get(index, index)
        numbers = {"n": first, last: first + RUN}
        values[name] = numbers.get(name, met.get(f"{family}_{place}" if index else name, 0))
    return values


def _told(verdict: Verdict, key: str, exported: Container[int], chains: Container[int]) -> Iterator[str]:
    """What states the statement, and the steps that no kernel sees, or sees in part."""
    findings = verdict.findings
    there = [k for k in range(len(findings)) if k in exported]
    yield f"Steps with a theorem: {len(there)} of {len(findings)}."
    stated = [f"{key}_{k + 1}" for k in there if findings[k].states or k == len(findings) - 1]
    if stated and verdict.status == Status.PROVED:
        yield f"The statement itself, or its parts: {', '.join(stated)}."
    for k, finding in enumerate(verdict.findings, 1):
        kind = finding.evidence.get("kind", "in words")
        if k - 1 in chains:
            yield f"Step {k} is a chain of earlier steps, with a theorem in Coq."
            continue
        if kind == "sums":
            yield f"Step {k} is for sets of every size; in its identity each sum is a variable."
        elif kind == "induction":
            yield f"Step {k} is an induction, with a theorem for its base and its step."
        elif kind == "states":
            yield f"Step {k} is an induction over states, with theorems for its base, its step and its end."
        elif kind not in KINDS:
            yield f"Step {k} has none ({kind}): {finding.says}"


def _theorem(name: str, says: str, claim: Data, evidence: Data) -> Theorem:
    hypotheses = {key: relation(text) for key, text in claim["hypotheses"].items()}
    conclusion = relation(claim["conclusion"])
    variables = set(variables_of((*hypotheses.values(), conclusion)))
    for text in (*(t["square"] for t in evidence.get("terms", ())), *evidence.get("cofactors", {}).values()):
        variables |= polynomial(text).variables
    names = identifiers(variables)
    numbers = {key: k for k, key in enumerate(hypotheses)} | {NEGATION: -1}
    strict = {
        numbers[key]: _is_positive(r) for key, r in (hypotheses | {NEGATION: conclusion.negated}).items()
    }

    def renamed(p: Polynomial) -> Polynomial:
        return Polynomial(
            {tuple(sorted((names[v], e) for v, e in monomial)): c for monomial, c in p.terms.items()}
        )

    def product(term: Mapping[str, Any]) -> Product:
        c, square = fraction(term["coefficient"]), polynomial(term["square"])
        factors = tuple(numbers[key] for key in term["factors"])
        constant = square.constant
        if constant is None:
            return Product(c, factors, renamed(square), strict=False)
        return Product(c * constant**2, factors, None, all(strict[k] for k in factors) and constant != 0)

    def values(given: Any) -> dict[str, Fraction] | None:
        if type(given) is not dict:
            return None
        return {names[key]: fraction(value) for key, value in given.items()}

    terms: list[Product | Multiple] = [product(term) for term in evidence.get("terms", ())]
    terms.sort(key=lambda term: not (isinstance(term, Product) and term.strict))
    for key, text in evidence.get("cofactors", {}).items():
        terms.append(Multiple(renamed(polynomial(text)), numbers[key]))
    return Theorem(
        name,
        says,
        tuple(names.values()),
        tuple(names),
        {key: Relation(renamed(r.left), r.sign) for key, r in hypotheses.items()},
        Relation(renamed(conclusion.left), conclusion.sign),
        tuple(terms),
        values(evidence["values"]) if evidence["kind"] == "assignment" else None,
        values(evidence.get("met")) or None,
    )


def _is_positive(r: Relation) -> bool:
    """Whether the premise that a relation makes is positive; that of != is a square."""
    return r.sign in (">", "!=")
