"""Lean 4 text of certificates, for Mathlib: the same proofs as in Coq, by terms and by ``ring``.

This text is generated beside that for Coq and from the same data, and only its form is tested here: neither
Lean nor Mathlib is a dependency of this project, or of its tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from proofs.kernels.signs import Language, factor_text, signed_terms, sum_is_positive, wrapped
from proofs.kernels.theorems import Section, Theorem, sections
from proofs.verdicts.verdict import Verdict

__all__ = ["to_lean"]

LEAN = Language(
    relations={">=": "(0 : ℝ) ≤ {}", ">": "(0 : ℝ) < {}", "==": "{} = (0 : ℝ)", "!=": "{} ≠ (0 : ℝ)"},
    number="(by norm_num : {1})",
    weaker="(le_of_lt {})",
    square="(sq_nonneg _)",
    products=("(mul_pos {} {})", "(mul_nonneg {} {})"),
    sums=("(add_pos_of_pos_of_nonneg {} {})", "(add_nonneg {} {})"),
    multiple="(mul_eq_zero_of_right _ {}).ge",
)
NEGATED = {
    ">=": "neg_pos.mpr (not_le.mp denied)",
    ">": "neg_nonneg.mpr (not_lt.mp denied)",
    "==": "mul_self_pos.mpr denied",
}


def to_lean(*verdicts: Verdict) -> str:
    """Theorems and proofs for every polynomial certificate and witness of verdicts: one file of Lean 4.

    It needs Mathlib.

    Parameters
    ----------
    *verdicts : Verdict

    Returns
    -------
    str
        Steps that are no polynomials are told in comments.

    Examples
    --------
    >>> from proofs import check
    >>> text = to_lean(check("drf-example"))
    >>> print(text[text.index("theorem drf") : text.index("example :")].strip())
    theorem drf_example_1 (x y : ℝ)
        (H1 : (0 : ℝ) ≤ -x - 3*y + 9) -- cpu
        (H2 : (0 : ℝ) ≤ -4*x - y + 18) -- ram
        (H3 : 2/9*x - 1/3*y = (0 : ℝ)) -- equal
        : (0 : ℝ) ≤ -x + 3 := by
      by_contra denied
      have negated : (0 : ℝ) < (- (-x + 3)) := neg_pos.mpr (not_le.mp denied)
      have T1 : (0 : ℝ) < (- (-x + 3)) := negated
      have T2 : (0 : ℝ) ≤ 1/3 * (-x - 3*y + 9) := (mul_nonneg (by norm_num : (0 : ℝ) ≤ 1/3) H1)
      have T3 : (0 : ℝ) ≤ (-3) * (2/9*x - 1/3*y) := (mul_eq_zero_of_right _ H3).ge
      have S := (add_pos_of_pos_of_nonneg T1 (add_nonneg T2 T3))
      exact lt_irrefl 0 (S.trans_eq (by ring))
    """
    lines = ["import Mathlib", ""]
    return "\n".join([*lines, *(line for one in sections(verdicts) for line in _section(one))])


def _section(section: Section) -> Iterator[str]:
    yield from _comment(section.heading, *section.words)
    for theorem in section.theorems:
        yield ""
        yield from _comment(theorem.says)
        yield from _refuted(theorem) if theorem.witness is not None else _proved(theorem)
    yield ""


def _proved(theorem: Theorem) -> Iterator[str]:
    bound = f" ({' '.join(theorem.variables)} : ℝ)" if theorem.variables else ""
    yield f"theorem {theorem.name}{bound}"
    for k, (name, r) in enumerate(theorem.hypotheses.items(), 1):
        yield f"    (H{k} : {LEAN.relation(r)}) -- {' '.join(name.split())}"
    yield f"    : {LEAN.relation(theorem.conclusion)} := by"
    yield from _negated(theorem)
    for k, r in enumerate(theorem.hypotheses.values(), 1):
        yield from [f"  replace H{k} := mul_self_pos.mpr H{k}"] * (r.sign == "!=")
    terms = signed_terms(theorem, LEAN)
    for k, term in enumerate(terms, 1):
        yield f"  have T{k} : {LEAN.compared(term.text, strict=term.strict)} := {term.proof}"
    yield f"  have S := {sum_is_positive(terms, LEAN)}"
    yield "  exact lt_irrefl 0 (S.trans_eq (by ring))"
    if theorem.met is not None and theorem.hypotheses:
        yield ""
        yield _met(theorem, theorem.met)


def _negated(theorem: Theorem) -> Iterator[str]:
    """The assumption of the opposite, in the form in which terms use it."""
    r = theorem.conclusion
    if r.sign == "!=":
        yield "  intro negated"
        return
    text = factor_text(theorem, -1)
    yield "  by_contra denied"
    yield f"  have negated : {LEAN.compared(text, strict=r.sign != '>')} := {NEGATED[r.sign]}"


def _met(theorem: Theorem, values: Mapping[str, Fraction]) -> str:
    """That some values meet the hypotheses."""
    bound = f"∃ {' '.join(theorem.variables)} : ℝ, " if theorem.variables else ""
    claim = " ∧ ".join(map(LEAN.relation, theorem.hypotheses.values()))
    parts = [str(values[name]) for name in theorem.variables] + ["by norm_num"] * len(theorem.hypotheses)
    return f"example : {bound}{claim} :=\n  ⟨{', '.join(parts)}⟩"


def _refuted(theorem: Theorem) -> Iterator[str]:
    values = theorem.witness or {}
    bound = f"∀ {' '.join(theorem.variables)} : ℝ, " if theorem.variables else ""
    claim = " → ".join(map(LEAN.relation, (*theorem.hypotheses.values(), theorem.conclusion)))
    yield f"theorem {theorem.name}_is_false : ¬ ({bound}{claim}) := by"
    yield "  intro claim"
    given = [f"({values[name]})" for name in theorem.variables]
    given += ["(by norm_num)"] * len(theorem.hypotheses)
    yield f"  have witness := {' '.join(['claim', *given])}"
    yield "  exact witness (by norm_num)" if theorem.conclusion.sign == "!=" else "  norm_num at witness"


def _comment(*paragraphs: str) -> Iterator[str]:
    for line in wrapped(*paragraphs):
        yield f"-- {line}"
