r"""The formal core of a statement: claims that evidence can settle.

* :class:`Implication`: polynomial hypotheses imply a polynomial conclusion, for all real numbers.
* :class:`Computation`: a quantity of a given instance, computed from its definition, has the stated value.
* :class:`Enumeration`: every case of a finite family has a property.
* :class:`Search`: no case with the opposite was found among seeded random ones; support, not proof.
* :class:`Counterexample`: one case does not have the property, so what says that all have it is refuted.
* :class:`InWords`: a step of reasoning that no machine checked; it is shown, and counted.

Most steps are lemmas: where one fails, this proof breaks, and the statement may still hold. A step that
``states`` the statement itself is another matter: a witness against its claim refutes the statement.

The functions of computations, enumerations, searches and counterexamples are named by a string and live in
:mod:`proofs.definitions`: definitions in plain fractions, without any of the library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proofs.errors import ProofError
from proofs.relations import Relation, relation

__all__ = [
    "CLAIMS",
    "NEGATION",
    "Claim",
    "Computation",
    "Counterexample",
    "Enumeration",
    "Implication",
    "InWords",
    "Search",
    "Step",
    "claim_to_dict",
]


@dataclass(frozen=True)
class Implication:
    """Hypotheses imply a conclusion, for all real values of the variables.

    From a contradiction anything follows, so values that meet all hypotheses belong to the evidence. A case
    that is meant not to occur has the conclusion ``0 == 1``.

    Parameters
    ----------
    hypotheses : dict of str to str
        Relations by name, as texts, such as ``"x/a <= 1"`` and ``"0 < a <= 1"``; see :mod:`proofs.splitting`.
    conclusion : str
    hints : tuple of (tuple of str, str)
        Products of hypotheses ("not the conclusion" is one) times the square of a polynomial, which the
        prover may use beside those that it makes itself; skipped where a hypothesis was dropped. Hints cannot
        make anything false provable.
    degree : int
        Largest number of hypotheses that the prover multiplies.
    case : (int, int), optional
        Number of the case, and of all cases, of an implication that was split into cases; single ones of them
        may contradict the hypotheses.

    Raises
    ------
    ProofError
        If a hypothesis or the conclusion is not given as a text.
    """

    hypotheses: Mapping[str, str]
    conclusion: str
    hints: tuple[tuple[tuple[str, ...], str], ...] = field(default=(), compare=False)
    degree: int = field(default=2, compare=False)
    case: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "hypotheses", dict(self.hypotheses))
        for name, text in {**self.hypotheses, "the conclusion": self.conclusion}.items():
            if type(name) is not str or type(text) is not str:
                raise ProofError(f'{name!r} is given as a text, as in "x*a <= 1"; got {text!r}')
        if NEGATION in self.hypotheses:
            raise ProofError(f"no hypothesis may be called {NEGATION!r}")

    @property
    def relations(self) -> dict[str, Relation]:
        """The hypotheses, read."""
        return {name: relation(text) for name, text in self.hypotheses.items()}


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


Claim = Implication | Computation | Enumeration | Search | Counterexample | InWords
CLAIMS = (Implication, Computation, Enumeration, Search, Counterexample, InWords)
"""These classes, and none made from them."""
NEGATION = "not the conclusion"
"""Name under which the conclusion is contradicted; no hypothesis has it."""


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


def claim_to_dict(claim: Claim) -> dict[str, Any]:
    """A claim as it is compared with evidence: plain data, relations in their normal form.

    Raises
    ------
    ProofError
        If it is none of the claims of this module.
    """
    if type(claim) not in CLAIMS:
        raise ProofError(f"{type(claim).__name__} is no claim, nor is a class that is made from one")
    data: dict[str, Any] = {"claim": type(claim).__name__}
    match claim:
        case Implication(hypotheses=hypotheses, conclusion=conclusion):
            data["hypotheses"] = {name: repr(relation(text)) for name, text in hypotheses.items()}
            data["conclusion"] = repr(relation(conclusion))
            if claim.case is not None:
                data["case"] = list(claim.case)
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
