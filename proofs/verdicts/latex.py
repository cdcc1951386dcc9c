r"""A verdict in LaTeX: the statement, each step with its identity or its witness, as a person would write it.

The text is a fragment for amsmath and amsthm; its environments are ``theorem`` for what is proved and
``conjecture`` for everything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from proofs.language.polynomials import Monomial, Polynomial, polynomial
from proofs.language.relations import Relation, relation
from proofs.verdicts.witnesses import told_number, told_witness

__all__ = ["latex_of"]

Data = Mapping[str, Any]

SIGNS = {">=": r"\ge", ">": ">", "==": "=", "!=": r"\ne"}
MARKUP = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": "$|$",
    "<=": r"$\le$", ">=": r"$\ge$", "≤": r"$\le$", "≥": r"$\ge$", "<": "$<$", ">": "$>$",
    "==": "$=$", "!=": r"$\ne$",
}  # fmt: skip


def latex_of(data: Data) -> str:
    """LaTeX of a verdict that is given as plain data; see :meth:`proofs.Verdict.to_latex`."""
    statement, status = data["statement"], data["status"]
    proved = status == "PROVED"
    environment = "theorem" if proved else "conjecture"
    lines = [f"\\begin{{{environment}}}[{{{_words(data['id'])}: {_words(_answer(data))}}}]"]
    lines.append(_words(statement["words"]))
    if statement["latex"]:
        lines.append(f"\\[ {statement['latex']} \\]")
    changes = [f"Left out: {name}." for name in data["dropped"]]
    changes += [f"Turned round: {name}." for name in data["reversed"]]
    changes += [f"Replaced: {name} by {text}." for name, text in data["replaced"].items()]
    lines += [f"{_words(text)}" for text in (*changes, f"({data['scope']})")]
    lines.append(f"\\end{{{environment}}}")
    title = {"PROVED": "", "REFUTED": "[Refutation]"}.get(status, "[What is known]")
    lines += [f"\\begin{{proof}}{title}", r"\begin{enumerate}"]
    for finding in data["findings"]:
        lines += _step(finding)
    return "\n".join([*lines, r"\end{enumerate}", r"\end{proof}", ""])


def _answer(data: Data) -> str:
    return f"{data['status']}, {data['kind']}" if data["kind"] else str(data["status"])


def _step(finding: Data) -> Iterator[str]:
    claim, evidence = finding["claim"], finding["evidence"]
    kind = evidence.get("kind", "in words")
    yield f"\\item {_words(finding['says'])}"
    if "conclusion" in claim:
        yield from _given(claim)
        yield f"\\[ {_relation(claim['conclusion'])} . \\]"
    match kind:
        case "refutation":
            yield from _refutation(claim, evidence)
        case "induction":
            for part, words in (("base", f"At {claim['first']}"), ("step", "From a number to the next")):
                yield f"{words}:"
                yield from _given(claim[part])
                yield f"\\[ {_relation(claim[part]['conclusion'])} . \\]"
                yield from _refutation(claim[part], evidence[part])
        case "states":
            always, less = claim["step"]["conclusion"], claim["less"]
            told = ", ".join(f"${_letter(before)}$ for ${_letter(name)}$" for name, before in less.items())
            yield f"By induction over the number of jobs ${_relation(always)}$ in all states; with one job"
            yield f"less this is {told}. ({_words(finding['reason'])}.)"
        case "chained":
            claims = (cited["claim"] for cited in claim["cites"])
            cited = (_words(one["text"]) if "text" in one else f"${_relation(_end(one))}$" for one in claims)
            yield f"This is a chain of earlier steps: {', '.join(cited)}."
            if cases := [f"${_relation(text)}$" for text in claim.get("cases", ())]:
                yield f"It leads there whether or not {', '.join(cases)}."
        case "assignment":
            yield f"This fails at {_point(claim, evidence)}."
        case "case" | "counterexample" | "instance" | "along":
            yield f"Witness: {_words(told_witness(claim, evidence))}."
        case "in words":
            yield "(In words.)"
        case _:
            yield f"({_words(finding['reason'])}.)"


def _end(claim: Data) -> str:
    """What a claim concludes; an induction at a number what it has at the next."""
    return str(claim["conclusion"] if "conclusion" in claim else claim["step"]["hypotheses"]["induction"])


def _given(claim: Data) -> Iterator[str]:
    given = [f"${_relation(text)}$ ({_words(name)})" for name, text in claim["hypotheses"].items()]
    given += [f"{_words(text)} ({_words(name)})" for name, text in claim.get("rules", {}).items()]
    if given:
        yield f"Given {', '.join(given)}:"


def _refutation(claim: Data, evidence: Data) -> Iterator[str]:
    """The contradiction, written out; what is no hypothesis in it is the denied conclusion."""
    denied = relation(claim["conclusion"]).negated
    known = {name: relation(text) for name, text in claim["hypotheses"].items()}
    yield f"Otherwise ${_told(denied)}$, and in"
    yield r"\begin{align*}"
    terms = [_term(term, [known.get(name, denied) for name in term["factors"]]) for term in evidence["terms"]]
    for name, cofactor in evidence["cofactors"].items():
        equation = known.get(name, denied).left
        terms.append(_product([_factor(polynomial(cofactor)), _factor(equation)]) or "1")
    rows = ["0 ={}& " + terms[0], *(f"&+ {term}" for term in terms[1:])]
    yield "\\\\\n".join(rows)
    yield r"\end{align*}"
    yield "no term is negative and one is positive, which is impossible."


def _term(term: Data, premises: list[Relation]) -> str:
    c = Fraction(term["coefficient"])
    factors = [f"({_polynomial(r.left)})^2" if r.sign == "!=" else _factor(r.left) for r in premises]
    square = polynomial(term["square"])
    if (constant := square.constant) is not None:
        c *= constant**2
    else:
        factors.append(f"({_polynomial(square)})^2")
    return _product(["" if c == 1 and any(factors) else _number(c), *factors])


def _product(factors: list[str]) -> str:
    return " ".join(factor for factor in factors if factor)


def _factor(p: Polynomial) -> str:
    """A factor of several: 1 is left out, brackets stand where they must."""
    if p.constant == 1:
        return ""
    text = _polynomial(p)
    return text if len(p.terms) == 1 and not text.startswith("-") else f"({text})"


def _point(claim: Data, evidence: Data) -> str:
    values = {name: Fraction(value) for name, value in evidence["values"].items()}
    left = relation(claim["conclusion"]).left
    told = ", ".join(f"{_letter(name)} = {_number(value)}" for name, value in values.items())
    value = told_number(left.at(values))
    shown = rf"\text{{{value}}}" if value.startswith("about") else _number(Fraction(value))
    reached = f"${_polynomial(left)} = {shown}$"
    return f"${told}$, where {reached}" if told else f"every point, for {reached}"


def _relation(text: str) -> str:
    return _told(relation(text))


def _told(r: Relation) -> str:
    return f"{_polynomial(r.left)} {SIGNS[r.sign]} 0"


def _polynomial(p: Polynomial) -> str:
    return p.written(_monomial)


def _monomial(monomial: Monomial, size: Fraction) -> str:
    powers = [_letter(name) + (f"^{{{e}}}" if e > 1 else "") for name, e in monomial]
    return _product(["" if size == 1 and powers else _number(size), *powers])


def _number(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    return f"{'-' if value < 0 else ''}\\tfrac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _letter(name: str) -> str:
    r"""A variable: rho1 is \rho_{1}, and sum_i__x_i_2, of :mod:`proofs.language.sums`, \sum_{i} x_{i}^{2}."""
    from sympy import Symbol, latex

    head, *factors = name.split("__")
    if not re.fullmatch(r"sum(_[a-z])+", head):
        return str(latex(Symbol(name)))
    inner = []
    for factor in factors:
        base, _, last = factor.rpartition("_")
        bare = base and last.isdigit()
        inner.append(_letter(base) + f"^{{{last}}}" if bare else _letter(factor))
    indices = ", ".join(head.split("_")[1:])
    return f"{{\\textstyle\\sum_{{{indices}}}}} {' '.join(inner) or '1'}"


def _words(text: str) -> str:
    """Text without characters that LaTeX reads as markup."""
    return re.sub(r"[<>=!]=|[&%$#_{}\\~^≤≥<>|]", lambda found: MARKUP[found[0]], text)
