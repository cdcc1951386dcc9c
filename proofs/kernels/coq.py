"""Coq text of certificates: identities for ``ring`` and ``field``, signs by the lemmas of the reals.

A proof assumes the negated conclusion, states the sign of each term by a proof term, and lets Coq see that
their sum is 0. No tactic searches for anything: ``lra`` is asked only for the signs of numbers, and in chains
whether a relation is a multiple of a known one. What proofs cite are the lemmas of two files of Coq beside
this one, of the reals and of sums over lists.

References
----------
.. [1] The Coq Development Team, "The Coq reference manual: ring and field". https://coq.inria.fr/refman
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from importlib.resources import files

from proofs.kernels.coq_chains import chain_theorem
from proofs.kernels.coq_inductions import induction_theorem
from proofs.kernels.coq_signs import compared, signed_terms, stated, sum_is_positive, wrapped
from proofs.kernels.coq_sums import sums_theorem
from proofs.kernels.identifiers import safe
from proofs.kernels.theorems import Section, Theorem, sections
from proofs.language.relations import Relation
from proofs.verdicts.verdict import Verdict

__all__ = ["to_coq"]

NEGATED = {
    ">=": "apply le_by_contradiction; intro negated.",
    ">": "apply lt_by_contradiction; intro negated.",
    "==": "apply eq_by_contradiction; intro negated.",
    "!=": "intro negated.",
}


def to_coq(*verdicts: Verdict) -> str:
    """Theorems and proofs for every polynomial certificate and witness of verdicts: one file of Coq.

    ``coqc`` compiles it with nothing but the standard library. A theorem says that hypotheses imply a
    conclusion; that they can be met at all is an example beside it, where values are known.

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
    >>> text = to_coq(check("drf-example"))
    >>> print(text[text.index("Theorem") : text.index("Example")].strip())
    Theorem drf_example_1 :
      forall x y : R,
      0 <= -x - 3*y + 9 ->  (* cpu *)
      0 <= -4*x - y + 18 ->  (* ram *)
      2/9*x - 1/3*y = 0 ->  (* equal *)
      0 <= -x + 3.
    Proof.
      intros x y H1 H2 H3.
      apply le_by_contradiction; intro negated.
      assert (T1 : 0 < (- (-x + 3)))
        by exact negated.
      assert (T2 : 0 <= 1/3 * (-x - 3*y + 9))
        by exact (Rmult_le_pos _ _ (ltac:(lra) : 0 <= 1/3) H1).
      assert (T3 : 0 <= (-3) * (2/9*x - 1/3*y))
        by exact (multiple_of_zero _ _ H3).
      refine (contradiction _ (Rplus_lt_le_0_compat _ _ T1 (Rplus_le_le_0_compat _ _ T2 T3)) _).
      field.
    Qed.
    """
    found = list(sections(verdicts))
    sums = any(one.chains or any(theorem.leads_to for theorem in one.theorems) for one in found)
    preamble = map(_lemmas, ("reals", "sums") if sums else ("reals",))
    return "\n".join([*preamble, *(line for one in found for line in _section(one))])


def _lemmas(of: str) -> str:
    return files("proofs.kernels").joinpath("lemmas", f"{of}.v").read_text(encoding="utf-8")


def _section(section: Section) -> Iterator[str]:
    yield _comment(section.heading, *section.words)
    for theorem in section.theorems:
        yield ""
        yield _comment(theorem.says)
        yield from _refuted(theorem) if theorem.witness is not None else _proved(theorem)
        if theorem.leads_to is not None:
            name, claim, evidence = theorem.leads_to
            yield ""
            if claim["claim"] == "Induction":
                base = section.theorems[section.theorems.index(theorem) - 1]
                parts = (base.name, base.written), (theorem.name, theorem.written)
                yield from induction_theorem(name, claim, *parts)
            else:
                negated = NEGATED[theorem.conclusion.sign]
                yield from sums_theorem(name, claim, evidence, (theorem.name, theorem.written), negated)
    for chain in section.chains:
        yield ""
        yield _comment(chain.says)
        yield from chain_theorem(chain.name, chain.claim, chain.cites)
    yield ""


def _proved(theorem: Theorem) -> Iterator[str]:
    yield from (f"Theorem {theorem.name} :", f"{_claim(theorem)}.", "Proof.")
    names = [*theorem.variables, *(f"H{k}" for k in range(1, len(theorem.hypotheses) + 1))]
    yield from [f"  intros {' '.join(names)}."] * bool(names)
    yield f"  {NEGATED[theorem.conclusion.sign]}"
    for k, r in enumerate(theorem.hypotheses.values(), 1):
        yield from [f"  apply square_of_nonzero in H{k}."] * (r.sign == "!=")
    terms = signed_terms(theorem)
    for k, term in enumerate(terms, 1):
        yield f"  assert (T{k} : {compared(term.text, strict=term.strict)})"
        yield f"    by exact {term.proof}."
    yield f"  refine (contradiction _ {sum_is_positive(terms)} _)."
    # ring knows whole numbers; quotients need field.
    yield "  field." if any("/" in term.text for term in terms) else "  ring."
    yield "Qed."
    if theorem.met is not None and theorem.hypotheses:
        yield ""
        yield from _met(theorem, theorem.met)


def _met(theorem: Theorem, values: Mapping[str, Fraction]) -> Iterator[str]:
    """That some values meet the hypotheses."""
    relations = list(theorem.hypotheses.values())
    claim = r" /\ ".join(map(stated, relations))
    yield f"Example {theorem.name}_can_be_met :"
    bound = f"exists {' '.join(theorem.variables)} : R, " if theorem.variables else ""
    yield f"  {bound}{claim}."
    yield "Proof."
    if theorem.variables:
        yield f"  exists {', '.join(f'({values[name]})' for name in theorem.variables)}."
    for r in relations[:-1]:
        yield f"  split; [{_decided(r)} |]."
    yield f"  {_decided(relations[-1])}."
    yield "Qed."


def _refuted(theorem: Theorem) -> Iterator[str]:
    values = theorem.witness or {}
    yield from (f"Theorem {theorem.name}_is_false : ~ (", f"{_claim(theorem)}).", "Proof.", "  intro claim.")
    given = [f"({values[name]})" for name in theorem.variables]
    given += [f"ltac:({_decided(r)})" for r in theorem.hypotheses.values()]
    yield f"  assert (witness := {' '.join(['claim', *given])})."
    yield "  apply witness; lra." if theorem.conclusion.sign == "!=" else "  lra."
    yield "Qed."


def _claim(theorem: Theorem) -> str:
    lines = [f"  forall {' '.join(theorem.variables)} : R,"] if theorem.variables else []
    lines += [f"  {stated(r)} ->  {_comment(name)}" for name, r in theorem.hypotheses.items()]
    return "\n".join([*lines, f"  {stated(theorem.conclusion)}"])


def _decided(r: Relation) -> str:
    """The tactic for a relation between numbers."""
    return "intro; lra" if r.sign == "!=" else "lra"


def _comment(*paragraphs: str) -> str:
    return "(* " + "\n   ".join(wrapped(*map(safe, paragraphs))) + " *)"
