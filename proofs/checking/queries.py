"""Checking implications with SMT solvers: the query is part of the evidence, in SMT-LIB 2.6.

"unsat" comes without a certificate: it is as good as the solver. So a second one, cvc5, is asked where it is
installed, and what the two disagree on counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

from proofs.checking.cvc5_process import ask_cvc5
from proofs.checking.refutations import check_values, rests_on_negation
from proofs.claims import NEGATION, Implication
from proofs.errors import EvidenceError
from proofs.language.polynomials import Polynomial
from proofs.language.relations import Relation, relation
from proofs.verdicts.verdict import NEVER

__all__ = [
    "SOLVERS",
    "ask",
    "ask_if_there",
    "assertion",
    "check_met",
    "check_unsat",
    "model_values",
    "query_of",
    "smt_query",
    "symbol",
]

LONGEST = 600_000
"""Milliseconds that checking one query may take."""
LONGEST_NUMBER = 3_900
"""Characters of a value of z3 that is read."""
SOLVERS = ("z3", "cvc5")


def smt_query(claim: Implication) -> str:
    """The hypotheses and the negated conclusion over the reals; unsatisfiable if the claim is true."""
    asserted = {**claim.relations, NEGATION: relation(claim.conclusion).negated}
    return query_of(
        claim.variables,
        (f"; {' '.join(name.split())}\n(assert {assertion(r)})" for name, r in asserted.items()),
    )


def query_of(names: Iterable[str], asserted: Iterable[str]) -> str:
    """The query whether real values of the variables meet what these lines assert."""
    declared = (f"(declare-fun {symbol(name)} () Real)" for name in names)
    return "\n".join(["(set-logic QF_NRA)", *declared, *asserted, "(check-sat)", ""])


def symbol(name: str) -> str:
    """The symbol of a variable: no word of SMT-LIB, such as true or distinct, begins with v_."""
    # No name of a variable has an exclamation mark, so no two share a symbol.
    return "v_" + "".join(c if c.isascii() else f"!{ord(c):x}!" for c in name)


def assertion(r: Relation) -> str:
    """A relation in SMT-LIB."""
    compared = {">=": ">=", ">": ">", "==": "=", "!=": "="}[r.sign]
    text = f"({compared} {_sum(r.left)} 0)"
    return f"(not {text})" if r.sign == "!=" else text


def _sum(p: Polynomial) -> str:
    terms = []
    for monomial, c in p.terms.items():
        size = str(abs(c.numerator)) if c.denominator == 1 else f"(/ {abs(c.numerator)} {c.denominator})"
        factors = [f"(- {size})" if c < 0 else size]
        factors += [symbol(name) for name, e in monomial for _ in range(e)]
        terms.append(f"(* {' '.join(factors)})" if len(factors) > 1 else factors[0])
    return f"(+ {' '.join(terms)})" if len(terms) > 1 else (terms[0] if terms else "0")


def ask(solver: str, query: str, milliseconds: int) -> tuple[str, Any]:
    """Answer of a solver ("sat", "unsat", "unknown"), and the model of z3 where it is "sat".

    Raises
    ------
    ImportError
        If the solver is not installed.
    """
    if find_spec(solver) is None:
        raise ImportError(f"this needs the SMT solver {solver}: pip install 'fairqueues[exact]'")
    return _z3(query, milliseconds) if solver == "z3" else (ask_cvc5(query, milliseconds / 1000), None)


def ask_if_there(solver: str, query: str, seconds: float) -> tuple[str, Any]:
    """As :func:`ask`; "not asked" where the solver is not installed."""
    try:
        return ask(solver, query, int(1000 * seconds))
    except ImportError:
        return "not asked", None


def _z3(query: str, milliseconds: int) -> tuple[str, Any]:
    import z3

    solver = z3.SolverFor("QF_NRA", ctx=z3.Context())
    solver.set("timeout", max(1, milliseconds))
    solver.from_string(query)
    answer = str(solver.check())
    return answer, solver.model() if answer == "sat" else None


def model_values(model: Any, names: Iterable[str], digits: int) -> dict[str, Fraction] | None:
    """Values in a model of z3, irrational ones to some digits; None if one is too long to read."""
    import z3

    exact, values = {str(v): model[v] for v in model.decls()}, {}
    for name in names:
        value = exact.get(symbol(name))
        if value is not None and not z3.is_rational_value(value):
            value = value.approx(digits)
        if value is not None and len(value.as_string()) > LONGEST_NUMBER:
            return None
        values[name] = Fraction(0 if value is None else value.as_fraction())
    return values


def check_met(claim: Implication, evidence: Mapping[str, Any]) -> None:
    """Raise EvidenceError unless values meet all hypotheses: from a contradiction anything follows.

    A certificate cannot show that, for one of a contradiction may multiply all of its terms by the negated
    conclusion. So values stand in the evidence, one for each variable; where none are fractions, "z3", which
    is asked again. A claim that concludes ``0 == 1`` says that there are none. One of several cases may
    never occur, which its certificate shows, or z3; that some case does is seen of all of them together.
    """
    met = evidence["met"]
    if relation(claim.conclusion).impossible:
        if met != {}:
            raise EvidenceError("there are values that meet what is said to be impossible")
    elif type(met) is dict:
        if met or claim.case is None:
            check_values(claim, met)
    elif met == NEVER and claim.case is None:
        raise EvidenceError("only one of several cases may contradict the hypotheses")
    elif met not in ("z3", NEVER):
        raise EvidenceError(f"what meets the hypotheses are values, or z3 says so; got {met!r}")
    elif met == "z3" or rests_on_negation(evidence):
        answer, _ = ask("z3", smt_query(Implication(claim.hypotheses, "0 == 1")), LONGEST)
        if answer != ("unsat" if met == NEVER else "sat"):
            raise EvidenceError(f"asked for values that meet the hypotheses, z3 answers {answer}")


def check_unsat(claim: Implication, evidence: Mapping[str, Any]) -> None:
    """Raise EvidenceError unless the query is that of the claim and fresh solvers find it unsatisfiable."""
    if evidence["query"] != smt_query(claim):
        raise EvidenceError("the query is not that of the claim")
    if evidence["solvers"] not in (["z3"], ["z3", "cvc5"]):
        raise EvidenceError(f"the solvers are z3, or z3 and cvc5; got {evidence['solvers']}")
    for name in evidence["solvers"]:
        answer, _ = ask(name, evidence["query"], LONGEST)
        if answer != "unsat":
            raise EvidenceError(f"{name} answers {answer}, not unsat")
