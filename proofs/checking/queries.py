"""Checking implications with an SMT solver: the query is part of the evidence, in SMT-LIB 2.6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofs.checking.refutations import NEGATION
from proofs.claims import Implication
from proofs.errors import EvidenceError
from proofs.polynomials import Polynomial
from proofs.relations import Relation, relation

__all__ = ["check_unsat", "smt_query", "solver_module"]

LONGEST = 600_000
"""Milliseconds that checking one query may take."""


def smt_query(claim: Implication) -> str:
    """The hypotheses and the negated conclusion over the reals; unsatisfiable if the claim is true."""
    asserted = {**claim.relations, NEGATION: relation(claim.conclusion).negated}
    names = sorted(set().union(*(r.left.variables for r in asserted.values())))
    lines = ["(set-logic QF_NRA)", *(f"(declare-fun {name} () Real)" for name in names)]
    for name, r in asserted.items():
        lines += [f"; {' '.join(name.split())}", f"(assert {_assertion(r)})"]
    return "\n".join([*lines, "(check-sat)", ""])


def _assertion(r: Relation) -> str:
    compared = {">=": ">=", ">": ">", "==": "=", "!=": "="}[r.sign]
    text = f"({compared} {_sum(r.left)} 0)"
    return f"(not {text})" if r.sign == "!=" else text


def _sum(p: Polynomial) -> str:
    terms = []
    for monomial, c in p.terms.items():
        size = str(abs(c.numerator)) if c.denominator == 1 else f"(/ {abs(c.numerator)} {c.denominator})"
        factors = [f"(- {size})" if c < 0 else size]
        factors += [name for name, e in monomial for _ in range(e)]
        terms.append(f"(* {' '.join(factors)})" if len(factors) > 1 else factors[0])
    return f"(+ {' '.join(terms)})" if len(terms) > 1 else (terms[0] if terms else "0")


def solver_module() -> Any:
    """The module z3.

    Raises
    ------
    ImportError
        If it is not installed.
    """
    try:
        import z3
    except ImportError:
        raise ImportError("this needs the SMT solver z3: pip install 'fairqueues[exact]'") from None
    return z3


def check_unsat(claim: Implication, evidence: Mapping[str, Any]) -> None:
    """Raise EvidenceError unless the query is that of the claim and a fresh solver finds it unsatisfiable."""
    if evidence["query"] != smt_query(claim):
        raise EvidenceError("the query is not that of the claim")
    z3 = solver_module()
    solver = z3.SolverFor("QF_NRA", ctx=z3.Context())
    solver.set("timeout", LONGEST)
    solver.from_string(evidence["query"])
    answer = str(solver.check())
    if answer != "unsat":
        raise EvidenceError(f"the solver answers {answer}, not unsat")
