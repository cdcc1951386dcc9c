"""Inductions in Coq: sequences are functions of natural numbers, from the first number on."""

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

    def at(self, name: str, k: str) -> str:
        """The term of a variable; n is the first number and k more."""
        family, _, index = name.partition("_")
        if name == "n":
            return f"({self.first} + INR {k})"
        if not index:
            return self.names[name]
        place = {"n": k, "next": f"(S {k})"}.get(index)
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
    from_first = list(held).index("from")
    held.pop("from")
    variables = {*base[1], *step[1]}
    families = {v.partition("_")[0] for v in variables if "_" in v}
    scalars = {v for v in variables if "_" not in v} - {"n"}
    names = identifiers([*scalars, *(f"{v} of n" for v in families), "in k"])
    terms, k = _Terms(names, claim["first"]), names["in k"]
    bound = [f"({' '.join(names[v] for v in sorted(scalars))} : R)"] if scalars else []
    bound += [f"({names[f'{v} of n']} : nat -> R)" for v in sorted(families)]
    yield f"Theorem {name} :"
    yield f"  forall {' '.join(bound)},"
    for key, r in held.items():
        each = f"forall {k} : nat, " if _moves(r) else ""
        yield f"  ({each}{terms.relation(r, k)}) ->  (* {safe(key)} *)"
    yield f"  forall {k} : nat, {terms.relation(induction, k)}."
    yield "Proof."
    given = [f"H{number}" for number in range(1, len(held) + 1)]
    introduced = [*(names[v] for v in sorted(scalars)), *(names[f"{v} of n"] for v in sorted(families))]
    yield f"  intros {' '.join([*introduced, *given])}; induction {k} as [|{k} IH]."
    yield f"  - assert (B : {terms.relation(relation(claim['base']['conclusion']), '0%nat')})."
    yield f"    {{ {_applied(base, terms, '0%nat')}."
    for one, (key, r) in zip(given, at_first.items(), strict=True):
        here = f"({one} 0%nat)" if _moves(held[key]) else one
        yield f"      apply ({CARRIED[r.sign]} _ _ {here}); simpl INR; field."
    yield "    }"
    yield f"    apply ({CARRIED[induction.sign]} _ _ B); simpl INR; field."
    yield f"  - assert (N : {terms.relation(conclusion, k)})."
    yield f"    {{ {_applied(step, terms, k)}."
    moving = zip(given, held.values(), strict=True)
    proofs = [f"exact ({one} {k})." if _moves(r) else f"exact {one}." for one, r in moving]
    proofs.insert(from_first, f"generalize (pos_INR {k}); lra.")
    for line in [*proofs, "exact IH."]:
        yield f"      {line}"
    yield "    }"
    yield f"    apply ({CARRIED[induction.sign]} _ _ N); rewrite ?S_INR; field."
    yield "Qed."


def _moves(r: Relation) -> bool:
    """Whether a hypothesis is one for each n."""
    return any(name == "n" or name.endswith(("_n", "_next")) for name in r.left.variables)


def _applied(lemma: Lemma, terms: _Terms, k: str) -> str:
    return f"apply ({' '.join([lemma[0], *(terms.at(v, k) for v in lemma[1])])})"
