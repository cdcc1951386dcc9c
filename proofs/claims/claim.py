"""Claims that are settled case by case or in words, any claim at all, and the steps in which claims stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from proofs.claims.chains import Chained, Citation, Rule
from proofs.claims.deductions import Implication, SumSchema
from proofs.claims.inductions import Induction, StateInduction
from proofs.definitions import plain
from proofs.errors import ProofError
from proofs.language.relations import relation
from proofs.language.rules import is_rule
from proofs.language.sums import plain_relation

__all__ = [
    "CLAIMS",
    "REASONED",
    "Claim",
    "Computation",
    "Counterexample",
    "Enumeration",
    "InWords",
    "Reasoned",
    "Search",
    "Step",
    "claim_of",
    "claim_to_dict",
    "content",
    "reread_step",
]


@dataclass(frozen=True)
class Computation:
    """``function(**arguments)`` of :mod:`proofs.definitions` is ``value`` (fractions as "3/4")."""

    function: str
    arguments: Mapping[str, Any]
    value: Any


@dataclass(frozen=True)
class Enumeration:
    """All cases that ``function(**arguments)`` of :mod:`proofs.definitions` yields have the property."""

    function: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Search:
    """The first ``number`` random cases of ``function(rng, **arguments)`` have the property."""

    function: str
    arguments: Mapping[str, Any]
    number: int
    seed: int = 0

    def __post_init__(self) -> None:
        if type(self.number) is not int or self.number < 1 or type(self.seed) is not int:
            raise ProofError(
                f"a search has a whole number of cases from 1, and a whole seed; got {self.number!r} and "
                f"{self.seed!r}"
            )


@dataclass(frozen=True)
class Counterexample:
    """The case that ``function(**arguments)`` computes lacks the property."""

    function: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class InWords:
    """A step that is reasoned, not computed."""

    text: str


Reasoned = Implication | SumSchema | Induction | StateInduction | Chained
REASONED = (Implication, SumSchema, Induction, StateInduction, Chained)
"""These classes, and none made from them."""

Claim = Reasoned | Computation | Enumeration | Search | Counterexample | InWords
CLAIMS = (*REASONED, Computation, Enumeration, Search, Counterexample, InWords)
"""These classes, and none made from them."""


@dataclass(frozen=True)
class Step:
    """One step of an argument: what it says, and the claim behind it.

    Attributes
    ----------
    says : str
    claim : Claim
    states : bool
        Whether the claim is the statement itself, or a part or a case of it, so that a witness against it
        refutes the statement; counterexamples always do. A witness against any other step only breaks the
        proof there.
    """

    says: str
    claim: Claim
    states: bool = False

    @property
    def refutes(self) -> bool:
        """Whether a witness against this step contradicts the statement."""
        return self.states or isinstance(self.claim, Counterexample)


def content(claim: Claim) -> dict[str, Any]:
    """All that a claim holds as plain data; claims with one content are one claim.

    Objects can be bent after they were made, to say one thing here and another there. So nothing is asked
    of a claim but its fields, once, and who settles or checks it makes it anew from them (:func:`claim_of`).

    Raises
    ------
    ProofError
        If it is none of the claims, has more than their fields, or holds what is no plain data.
    """
    data = {name: value if name == "cites" else plain(value) for name, value in _fields(claim).items()}
    if isinstance(claim, Chained):
        cited = [_fields(one) for one in data["cites"]]
        data["cites"] = [{"claim": content(one["claim"]), "values": plain(one["values"])} for one in cited]
    return {"claim": type(claim).__name__, **data}


def _fields(one: Any) -> dict[str, Any]:
    """The fields of a claim, a citation or a step, and nothing that stands beside them or in their place."""
    if type(one) not in (*CLAIMS, Citation, Rule, Step):
        raise ProofError(f"{type(one).__name__} is no claim, citation or step, nor is a class made from one")
    names = {f.name for f in fields(one)}
    if set(vars(one)) != names:
        raise ProofError(f"a {type(one).__name__} holds {', '.join(sorted(names))} and nothing more")
    return dict(vars(one))


def claim_of(data: Mapping[str, Any]) -> Any:
    """The claim with this content; raises ProofError if there is none."""
    values = {name: value for name, value in data.items() if name != "claim"}
    try:
        if "hints" in values:
            values["hints"] = tuple((tuple(factors), square) for factors, square in values["hints"])
        if values.get("case") is not None:
            values["case"] = tuple(values["case"])
        if "cases" in values:
            values["cases"] = tuple(values["cases"])
        if "cites" in values:
            cited = ((claim_of(one["claim"]), one["values"]) for one in values["cites"])
            values["cites"] = tuple(Citation(claim, terms) for claim, terms in cited)
        return {kind.__name__: kind for kind in (*CLAIMS, Rule)}[data["claim"]](**values)
    except TypeError as error:
        raise ProofError(f"a claim {data['claim']} does not hold what it was made with: {error}") from None


def reread_step(step: Step) -> Step:
    """The step made anew from its content.

    Raises
    ------
    ProofError
        If it is no plain step with a plain claim.
    """
    told = _fields(step)
    if type(told["says"]) is not str or type(told["states"]) is not bool:
        raise ProofError(f"a step says a text, and states the statement or not; got {step!r}")
    return Step(told["says"], claim_of(content(told["claim"])), told["states"])


def claim_to_dict(claim: Claim) -> dict[str, Any]:
    """A claim as it is shown beside its evidence: plain data, relations in their normal form."""
    data: dict[str, Any] = {"claim": type(claim).__name__}
    match claim:
        case Implication(hypotheses=hypotheses, conclusion=conclusion):
            data["hypotheses"] = {name: repr(relation(text)) for name, text in hypotheses.items()}
            data["conclusion"] = repr(relation(conclusion))
            if claim.case is not None:
                data["case"] = list(claim.case)
        case SumSchema() | Chained():
            if isinstance(claim, Chained) and claim.first is not None:
                data |= {"first": claim.first, "last": claim.last}
            data |= {"hypotheses": dict(claim.plain.hypotheses), "conclusion": claim.plain.conclusion}
            if isinstance(claim, Chained):
                rules = {name: text for name, text in claim.hypotheses.items() if is_rule(text)}
                data |= {"rules": rules} if rules else {}
                data["cites"] = [
                    {
                        "claim": {"claim": "Rule", "text": cited.claim.text}
                        if isinstance(cited.claim, Rule)
                        else claim_to_dict(cited.claim),
                        "values": dict(cited.values),
                    }
                    for cited in claim.cites
                ]
                if claim.cases:
                    data["cases"] = [repr(plain_relation(claim.read(text))) for text in claim.cases]
        case Induction():
            data |= {
                "first": claim.first,
                **({"last": claim.last} if claim.last else {}),
                "base": claim_to_dict(claim.base),
                "step": claim_to_dict(claim.step),
            }
        case StateInduction():
            data |= {
                "hypotheses": dict(claim.plain.hypotheses),
                "conclusion": claim.plain.conclusion,
                "less": dict(claim.less),
                "base": claim_to_dict(claim.base),
                "step": claim_to_dict(claim.step),
                "end": claim_to_dict(claim.end),
            }
        case InWords(text=text):
            data["text"] = text
        case _:
            data["function"] = claim.function
            data["arguments"] = dict(claim.arguments)
            if isinstance(claim, Computation):
                data["value"] = claim.value
            if isinstance(claim, Search):
                data |= {"number": claim.number, "seed": claim.seed}
    return data
