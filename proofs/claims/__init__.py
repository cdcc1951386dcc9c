r"""The formal core of a statement: claims that evidence can settle.

* :class:`Implication`: polynomial hypotheses imply a polynomial conclusion, for all real numbers.
* :class:`SumSchema`: the same with sums over sets of any size, for all sizes at once.
* :class:`Induction`: a polynomial relation holds for all whole numbers from a first one on.
* :class:`StateInduction`: a relation holds in all states with jobs, by induction over their number.
* :class:`Chained`: a conclusion follows from those of earlier steps, with terms put in for their variables.
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

from proofs.claims.chains import Chained, Citation, Rule, numbers_of
from proofs.claims.claim import (
    CLAIMS,
    REASONED,
    Claim,
    Computation,
    Counterexample,
    Enumeration,
    InWords,
    Reasoned,
    Search,
    Step,
    claim_of,
    claim_to_dict,
    content,
    reread_step,
)
from proofs.claims.deductions import NEGATION, Implication, SumSchema
from proofs.claims.inductions import RUN, Induction, StateInduction

__all__ = [
    "CLAIMS",
    "NEGATION",
    "REASONED",
    "RUN",
    "Chained",
    "Citation",
    "Claim",
    "Computation",
    "Counterexample",
    "Enumeration",
    "Implication",
    "InWords",
    "Induction",
    "Reasoned",
    "Rule",
    "Search",
    "StateInduction",
    "Step",
    "SumSchema",
    "claim_of",
    "claim_to_dict",
    "content",
    "numbers_of",
    "reread_step",
]
