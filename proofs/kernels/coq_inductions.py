"""Inductions in Coq: sequences are functions of natural numbers, from the first number on.

The last number, where there is one, is the first and a natural number more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from proofs.kernels.identifiers import COMPARED, identifiers, safe
from proofs.language.relations import Relation, relation

__all__ = ["induction_theorem"]

Data = Mapping[str, Any]
Lemma = tuple[str, tuple[str, ...]]

CARRIED = {">=": "le_as", ">": "lt_as", "==": "eq_as", "!=": "ne_as"}


@dataclass(frozen=True)
class _Terms:
    """What stands for the plain variables of base and step at a natural number."""

    names: Mapping[str, str]
    first: int
    last: str = ""

    def at(self, name: str, k: str) -> str:
        """The term of a variable; n is the first number and k more."""
        family, _, index = name.partition("_")
        if name == "n":
            return f"({self.first} + INR {k})"
        if name == self.last:
            return f"({self.first} + INR {self.names['in all']})"
        if not index:
            return self.names[name]
        place = {"n": k, "next": f"(S {k})", "last": self.names.get("in all")}.get(index)
        return f"({self.names[f'{family} of n']} {place or f'{int(index) - self.first}%nat'})"

    def relation(self, r: Relation, k: str) -> str:
        text = str(r.left).replace("**", "^")
        return COMPARED[r.sign].format(re.sub(r"[A-Za-z]\w*", lambda name: self.at(name[0], k), text))


def induction_theorem(name: str, claim: Data, base: Lemma, step: Lemma) -> Iterator[str]:
    """The theorem and its proof from the lemmas of base and step: names, and variables as they are written.

    Parameters
    ----------
    name : str
    claim : dict
        In plain data, of a :class:`proofs.Induction`.
    base, step : (str, tuple of str)
    """
    held = {key: relation(text) for key, text in claim["step"]["hypotheses"].items()}
    at_first = {key: relation(text) for key, text in claim["base"]["hypotheses"].items()}
    conclusion, induction = relation(claim["step"]["conclusion"]), held.pop("induction")
    between, last = list(held), claim.get("last", "")
    held = {key: r for key, r in held.items() if key not in ("from", "to")}
    variables = {*base[1], *step[1]}
    families = {v.partition("_")[0] for v in variables if "_" in v}
    scalars = {v for v in variables if "_" not in v} - {"n", last}
    names = identifiers([*scalars, *(f"{v} of n" for v in families), "in k", *(["in all"] if last else [])])
    terms, k, m = _Terms(names, claim["first"], last), names["in k"], names.get("in all", "")
    bound = [f"({' '.join(names[v] for v in sorted(scalars))} : R)"] if scalars else []
    bound += [f"({names[f'{v} of n']} : nat -> R)" for v in sorted(families)]
    bound += [f"({m} : nat)"] if last else []
    yield f"Theorem {name} :"
    yield f"  forall {' '.join(bound)},"
    for key, r in held.items():
        each = f"forall {k} : nat, {_within(k, m, _ahead(r))}" if _moves(r) else ""
        yield f"  ({each}{terms.relation(r, k)}) ->  (* {safe(key)} *)"
    yield f"  forall {k} : nat, {_within(k, m, False)}{terms.relation(induction, k)}."
    yield "Proof."
    given = {key: f"H{number}" for number, key in enumerate(held, 1)}
    introduced = [*(names[v] for v in sorted(scalars)), *(names[f"{v} of n"] for v in sorted(families))]
    introduced += [m] if last else []
    yield f"  intros {' '.join([*introduced, *given.values()])}; induction {k} as [|{k} IH]."
    # In a run L says that this number is not beyond the last one.
    intro, zero, here, ih = (
        ("intros L; ", f" (Nat.le_0_l {m})", " (Nat.lt_le_incl _ _ L)", "(IH (Nat.lt_le_incl _ _ L))")
        if last
        else ("", "", "", "IH")
    )
    yield f"  - {intro}assert (B : {terms.relation(relation(claim['base']['conclusion']), '0%nat')})."
    based = relation(claim["base"]["conclusion"])
    yield f"    {{ {_applied(base, terms, '0%nat', based, len(at_first))}."
    for key, r in at_first.items():
        if key == "to":
            yield f"      generalize (pos_INR {m}); lra."
            continue
        one = f"({given[key]} 0%nat{zero})" if _moves(held[key]) else given[key]
        yield f"      apply ({CARRIED[r.sign]} _ _ {one}); simpl INR; field."
    yield "      simpl INR; field."
    yield "    }"
    yield f"    apply ({CARRIED[induction.sign]} _ _ B); simpl INR; field."
    yield f"  - {intro}assert (N : {terms.relation(conclusion, k)})."
    yield f"    {{ {_applied(step, terms, k, conclusion, len(between) + 1)}."
    for key in between:
        if key == "from":
            yield f"      generalize (pos_INR {k}); lra."
        elif key == "to":
            yield "      generalize (le_INR _ _ L); rewrite S_INR; lra."
        else:
            r = held[key]
            least = (" L" if _ahead(r) else here) if last else ""
            one = f"({given[key]} {k}{least})" if _moves(r) else given[key]
            yield f"      apply ({CARRIED[r.sign]} _ _ {one}); field."
    yield f"      apply ({CARRIED[induction.sign]} _ _ {ih}); field."
    yield "      field."
    yield "    }"
    yield f"    apply ({CARRIED[induction.sign]} _ _ N); rewrite ?S_INR; field."
    yield "Qed."


def _within(k: str, m: str, ahead: bool) -> str:
    """That a number, or the next one, is not beyond the last, where there is one."""
    return f"({k} {'<' if ahead else '<='} {m})%nat -> " if m else ""


def _ahead(r: Relation) -> bool:
    return any(name.endswith("_next") for name in r.left.variables)


def _moves(r: Relation) -> bool:
    """Whether a hypothesis is one for each n."""
    return any(name == "n" or name.endswith(("_n", "_next")) for name in r.left.variables)


def _applied(lemma: Lemma, terms: _Terms, k: str, conclusion: Relation, hypotheses: int) -> str:
    """The lemma carried to the goal, where terms may stand in another order; its hypotheses are left."""
    given = [*(terms.at(v, k) for v in lemma[1]), *(["_"] * hypotheses)]
    return f"refine ({CARRIED[conclusion.sign]} _ _ ({' '.join([lemma[0], *given])}) _)"
