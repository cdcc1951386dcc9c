r"""Checking that polynomial hypotheses imply a conclusion: a contradiction, written out.

Add the negation of the conclusion to the hypotheses. With :math:`g_k \ge 0` (or > 0, or != 0, then
:math:`g_k^2 > 0`) and :math:`e_l = 0`, the identity of polynomials

.. math:: 0 = \sum_t c_t \prod_{k\in K_t} g_k\, s_t^2 + \sum_l q_l\, e_l, \qquad c_t > 0,

in which some term is positive (all its factors are strict, its square is a constant other than 0) is a
contradiction: no real values meet the hypotheses and not the conclusion. By the Positivstellensatz [1]_ every
true implication has such an identity; for linear ones, with one factor in each term, it is Farkas' lemma.

References
----------
.. [1] G. Stengle, "A Nullstellensatz and a Positivstellensatz in semialgebraic geometry", Mathematische
   Annalen 207, 1974. DOI 10.1007/BF01362149.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from proofs.claims import NEGATION, Implication
from proofs.definitions import fraction
from proofs.errors import EvidenceError
from proofs.language.polynomials import Polynomial, polynomial
from proofs.language.relations import Relation, relation

__all__ = [
    "check_assignment",
    "check_refutation",
    "check_values",
    "equation",
    "factor",
    "premises",
    "premises_used",
    "rests_on_negation",
]


def premises(claim: Implication) -> dict[str, Relation]:
    """Hypotheses and the negated conclusion, by name; != becomes "square > 0"."""
    named = claim.relations
    named[NEGATION] = relation(claim.conclusion).negated
    return {name: Relation(r.left * r.left, ">") if r.sign == "!=" else r for name, r in named.items()}


def check_refutation(claim: Implication, evidence: Mapping[str, Any]) -> None:
    """Raise EvidenceError unless the identity holds and has a positive term."""
    known = premises(claim)
    total, positive = Polynomial({}), False
    for k, term in enumerate(evidence["terms"]):
        c = fraction(term["coefficient"])
        if c <= 0:
            raise EvidenceError(f"term {k} has the coefficient {c}, which is not positive")
        square = polynomial(term["square"])
        product, strict = polynomial(c) * square * square, bool(square.constant)
        for name in term["factors"]:
            r = factor(known, name, f"term {k}")
            product, strict = product * r.left, strict and r.strict
        total, positive = total + product, positive or strict
    for name, cofactor in evidence["cofactors"].items():
        total = total + polynomial(cofactor) * equation(known, name).left
    if total.terms:
        raise EvidenceError(f"the terms do not add up to 0 but to {total}")
    if not positive:
        raise EvidenceError("no term is positive, so there is no contradiction")


def check_values(claim: Implication, given: Mapping[str, Any]) -> None:
    """Raise EvidenceError unless the values, one for each variable of the claim, meet all hypotheses."""
    _check_values(claim.relations, _read(claim, given))


def rests_on_negation(evidence: Mapping[str, Any]) -> bool:
    """Whether the evidence is no refutation of the hypotheses alone."""
    if evidence["kind"] != "refutation":
        return True
    return NEGATION in premises_used(evidence)


def premises_used(evidence: Mapping[str, Any]) -> set[str]:
    """Names of the premises that a refutation multiplies."""
    return {name for term in evidence["terms"] for name in term["factors"]} | set(evidence["cofactors"])


def factor(known: Mapping[str, Relation], name: str, of: str) -> Relation:
    """The premise of that name, a factor of a term or sum; raises EvidenceError if it is an equation."""
    r = _premise(known, name)
    if r.sign == "==":
        raise EvidenceError(f"{of} multiplies by the equation {name!r}; equations have cofactors")
    return r


def equation(known: Mapping[str, Relation], name: str) -> Relation:
    """The equation of that name, which has a cofactor; raises EvidenceError if it is another premise."""
    r = _premise(known, name)
    if r.sign != "==":
        raise EvidenceError(f"cofactors belong to equations; {name!r} is {r}")
    return r


def _premise(known: Mapping[str, Relation], name: str) -> Relation:
    if name not in known:
        raise EvidenceError(f"{name!r} is no hypothesis")
    return known[name]


def check_assignment(claim: Implication, evidence: Mapping[str, Any]) -> None:
    """Raise EvidenceError unless the values meet the hypotheses and not the conclusion."""
    values = _read(claim, evidence["values"])
    _check_values(claim.relations, values)
    if relation(claim.conclusion).holds(values):
        raise EvidenceError("at the witness the conclusion holds")


def _read(claim: Implication, given: Mapping[str, Any]) -> dict[str, Fraction]:
    """A value for every variable of a claim, and for nothing else."""
    if different := set(claim.variables) ^ set(given):
        raise EvidenceError(
            f"values belong to all variables of the claim, see {min(different)!r}; without values that meet "
            "them, hypotheses may contradict each other, and anything would follow"
        )
    return {name: fraction(value) for name, value in given.items()}


def _check_values(relations: Mapping[str, Relation], values: Mapping[str, Fraction]) -> None:
    """Raise EvidenceError unless all relations hold."""
    for name, r in relations.items():
        if not r.holds(values):
            raise EvidenceError(f"at the values {name!r} is {r.left.at(values)} {r.sign} 0")
