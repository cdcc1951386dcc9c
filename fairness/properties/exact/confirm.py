r"""An independent check of a witness, in fractions.

A witness says: on this model (and after this change of it) that policy violates that property. Here the
allocations are computed or proved once more, from the definition of the mechanism and without its solver
(:mod:`fairness.properties.exact.enclosure`), and the property is evaluated from its definition, without the
float checker (:mod:`fairness.properties.exact.statements`). Where an allocation is irrational it is known
between two fractions, and the violation counts only if it is there for every allocation between them.

Where a mechanism leaves a choice (placements behind unique totals; PS-DSF under resource division; bottleneck
max fairness) the allocation is the one that the policy chose, next to the floats of the witness; that it
satisfies the definition of the mechanism is proved, that the policy chooses it is the witness's word.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.properties.exact.enclosure import Unproved, enclose
from fairness.properties.exact.rational import rational
from fairness.properties.exact.situations import Situation
from fairness.properties.exact.statements import COMPARISONS, JUDGEMENTS, legal
from fairness.properties.protocol.property import Model, Witness, division_of, tree_of

__all__ = ["Confirmation", "confirm"]

BY_PLACEMENT = ("envy-freeness", "strategy-proofness", "group strategy-proofness")
"""Properties that look at what is held on each server, not at totals alone."""


@dataclass(frozen=True)
class Confirmation:
    """What the independent check says.

    Attributes
    ----------
    confirmed : bool
        Whether the violation is certain.
    violation : Fraction or None
        A lower bound on its relative size; None where the allocations could not be proved.
    how : str
        How the allocations were proved, or what failed.
    text : str
        The violation in numbers that can be checked by hand.
    """

    confirmed: bool
    violation: Fraction | None
    how: str
    text: str = ""

    def __str__(self) -> str:
        verdict = "confirmed in fractions" if self.confirmed else "NOT confirmed"
        return f"{verdict}: {self.text or self.how}"


def confirm(witness: Witness, policy: Any) -> Confirmation:
    """Check a witness with fractions, independently of solvers and float checkers.

    Parameters
    ----------
    witness : Witness
    policy : callable
        The policy that the witness is about; it is asked only for hints that the witness does not hold.

    Returns
    -------
    Confirmation

    Examples
    --------
    >>> from fairness import AssetFair, Problem
    >>> from fairness.properties.protocol.property import Finding
    >>> pool = Problem([[2, 2], [1, 2]], [70, 70])
    >>> found = Finding("sharing incentive", 1 / 7)
    >>> witness = Witness("Asset", found.name, pool, None, found, AssetFair()(pool, [1, 1]))
    >>> result = confirm(witness, AssetFair())
    >>> result.confirmed, result.violation
    (True, Fraction(1, 7))
    >>> print(result.text)
    class 1 runs 15 tasks; 1/2 of everything, alone, would run 1/2 x 35 = 35/2
    """
    name, change = witness.property, witness.change
    if name not in JUDGEMENTS and name not in COMPARISONS:
        return Confirmation(False, None, f"no exact definition known for {name}")
    try:
        now, how, chosen = _situation(policy, witness.model, witness.allocation)
        if name in JUDGEMENTS:
            claim = JUDGEMENTS[name](now)
        else:
            kind, compare = COMPARISONS[name]
            if change is None or change.kind != kind:
                return Confirmation(False, None, f"{name} needs a change of kind {kind!r}; got {change!r}")
            after, then, _ = _situation(policy, change.apply(witness.model), witness.allocation_after)
            if not legal(now, change, after):
                return Confirmation(False, None, f"this change is none of kind {kind!r}: {change!r}")
            how = how if then == how else f"{how}; after the change: {then}"
            claim = compare(now, change, after)
        if chosen and name in BY_PLACEMENT:
            how += "; the violation is one of these placements, and may depend on the choice"
    except (_NoProofError, ModelError) as error:
        return Confirmation(False, None, str(error))
    return Confirmation(claim.violation > 0, claim.violation, how, claim.text)


class _NoProofError(Exception):
    """An allocation that could not be proved."""


def _situation(policy: Any, model: Model, hint: ArrayLike | None) -> tuple[Situation, str, bool]:
    found = enclose(policy, model, policy(model, np.ones(model.n_classes)) if hint is None else hint)
    if isinstance(found, Unproved):
        raise _NoProofError(found.reason)
    lower, upper = (bound.reshape(model.n_classes, -1).tolist() for bound in (found.lower, found.upper))
    servers = model.servers if isinstance(model, Cluster) else ("pool",)
    numbers = rational(model, division_of(policy))
    tree = tree_of(policy)
    return Situation(numbers, lower, upper, model.job_classes, servers, tree), found.how, found.chosen
