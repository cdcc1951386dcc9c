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

from proofs.claims import Implication
from proofs.errors import EvidenceError
from proofs.polynomials import Polynomial, polynomial
from proofs.relations import Relation, relation

__all__ = ["NEGATION", "check_assignment", "check_refutation", "premises"]

NEGATION = "not the conclusion"


def premises(claim: Implication) -> dict[str, Relation]:
    """Hypotheses and the negated conclusion, by name; != becomes "square > 0"."""
    named = claim.relations
    if NEGATION in named:
        raise EvidenceError(f"no hypothesis may be called {NEGATION!r}")
    named[NEGATION] = relation(claim.conclusion).negated
    return {name: Relation(r.left * r.left, ">") if r.sign == "!=" else r for name, r in named.items()}


def check_refutation(claim: Implication, evidence: Mapping[str, Any]) -> None:
    """Raise EvidenceError unless the identity holds and has a positive term."""
    known = premises(claim)
    total, positive = Polynomial({}), False
    for k, term in enumerate(evidence["terms"]):
        c = Fraction(term["coefficient"])
        if c <= 0:
            raise EvidenceError(f"term {k} has the coefficient {c}, which is not positive")
        square = polynomial(term["square"])
        product, strict = polynomial(c) * square * square, bool(square.constant)
        for name in term["factors"]:
            factor = _premise(known, name)
            if factor.sign == "==":
                raise EvidenceError(f"term {k} multiplies by the equation {name!r}; equations have cofactors")
            product, strict = product * factor.left, strict and factor.strict
        total, positive = total + product, positive or strict
    for name, cofactor in evidence["cofactors"].items():
        equation = _premise(known, name)
        if equation.sign != "==":
            raise EvidenceError(f"cofactors belong to equations; {name!r} is {equation}")
        total = total + polynomial(cofactor) * equation.left
    if total.terms:
        raise EvidenceError(f"the terms do not add up to 0 but to {total}")
    if not positive:
        raise EvidenceError("no term is positive, so there is no contradiction")


def _premise(known: Mapping[str, Relation], name: str) -> Relation:
    if name not in known:
        raise EvidenceError(f"{name!r} is no hypothesis")
    return known[name]


def check_assignment(claim: Implication, evidence: Mapping[str, Any]) -> None:
    """Raise EvidenceError unless the values meet the hypotheses and not the conclusion."""
    values = {name: Fraction(value) for name, value in evidence["values"].items()}
    relations = {**claim.relations, "the conclusion": relation(claim.conclusion)}
    for name, r in relations.items():
        if missing := r.left.variables - set(values):
            raise EvidenceError(f"the witness gives no value to {min(missing)!r}")
        if r.holds(values) != (name != "the conclusion"):
            raise EvidenceError(f"at the witness {name!r} is {r.left.at(values)} {r.sign} 0")
