r"""The search for a counterexample: a small model on which a policy violates a property.

Three phases share a budget of policy calls; a fourth follows when one of them succeeds.

1. *exhaustive*: all models of the smallest sizes up to symmetry (:func:`.instances.all_sketches`);
2. *random*: seeded random integers, more classes and resources, weights, constraints;
3. *local*: climbs from the models that came nearest to a violation (:mod:`.exploring`);
4. *shrinking* (:mod:`.shrinking`) of the first violations that are clear (above
   :data:`~fairness.properties.counterexamples.shrinking.CLEAR`, so that exact arithmetic can confirm them)
   and confirmed.

For properties that compare, each model comes with some changes (lies, departures, new capacity).

No violation found proves nothing. The result says how far the search came, and the largest violation seen:
one below the checkers' tolerance is not told from rounding and counts as none. One between the tolerance and
:data:`~fairness.properties.counterexamples.shrinking.CLEAR` is shown if no clear one turns up, confirmed or
with a question mark.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from fairness.arguments.validation import Seed, entropy_of, generator, require_whole
from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem
from fairness.properties.counterexamples.exploring import Answers, Case, Explorer
from fairness.properties.counterexamples.instances import Sizes
from fairness.properties.counterexamples.result import SearchResult
from fairness.properties.counterexamples.shrinking import CLEAR, Verdict, smallest
from fairness.properties.counterexamples.sketches import check_domain
from fairness.properties.exact.confirm import confirm
from fairness.properties.protocol.property import TOLERANCE, Property, Witness, tree_of
from fairness.protocol.cluster_policy import AnyPolicy, ClusterPolicy
from fairness.protocol.policy import policy_name

__all__ = ["check_budget", "exact_verdict", "search"]

MOST_CALLS = 10**12
"""Largest budget: some thousand years."""

_UNTIL = {"exhaustive": 0.2, "random": 0.6, "local": 1.0}
"""Part of the budget that is spent at the end of each phase."""

_DESCENTS = 3
"""Violations to shrink."""
_FURTHER = 0.2
"""Part of the budget that may be spent on another violation after the first."""
_EXTRA = 0.5
"""Part of the budget, on top of it, for each of the two searches below the smallest witness so far."""
_DOUBTS = 20
"""Violations that the exact check does not confirm, after which a phase is given up."""


def search(
    policy: AnyPolicy,
    prop: Property,
    *,
    budget: int = 2000,
    rng: Seed = 0,
    domain: str = "positive",
    sizes: Sizes | None = None,
    seconds: float | None = None,
    accept: Callable[[Witness], bool] | None = None,
    answers: Answers | None = None,
) -> SearchResult:
    """Search for a model on which a policy violates a property.

    Parameters
    ----------
    policy : callable
        A pool policy or a cluster policy.
    prop : Property
    budget : int
        Policy calls before shrinking; a property that compares needs two for one comparison.
    rng : numpy Generator or seed
    domain : {"positive", "any"}
        Whether demands may be zero. Most theorems assume that none is.
    sizes : Sizes, optional
        Sizes of the random models.
    seconds : float, optional
        Stop after this time too; the result then depends on the machine.
    accept : callable, optional
        ``accept(witness) -> bool`` says which witnesses count, in the search and in shrinking. Default:
        those that :func:`~fairness.properties.exact.confirm.confirm` confirms in exact arithmetic.
    answers : dict, optional
        Answers that searches about this policy share, empty at first; they count as calls all the same.

    Returns
    -------
    SearchResult

    Raises
    ------
    ModelError
        If the policy or the property is none, or the domain, the budget or the time make no sense.

    Notes
    -----
    Errors that the policy raises on a model (:class:`~fairness.NotConvergedError` and other numerical
    ones) are counted, and the first is kept with its model.

    Examples
    --------
    >>> from fairness import AssetFair
    >>> from fairness.properties.definitions.catalogue import property_named
    >>> result = search(AssetFair(), property_named("sharing incentive"))
    >>> result.mark, result.witness.model.n_classes
    ('✗', 2)
    """
    name = policy_name(policy)
    if not isinstance(prop, Property):
        raise ModelError(f"search needs a Property, for example SharingIncentive(); got {prop!r}")
    kind = Cluster if isinstance(policy, ClusterPolicy) else Problem
    budget = check_budget(budget)
    if seconds is not None and not (isinstance(seconds, int | float) and seconds > 0):
        raise ModelError.of("seconds", f"must be a number > 0, or None; got {seconds!r}")
    start, stream = time.perf_counter(), generator(rng)
    entropy = entropy_of(stream)
    explorer = Explorer(
        policy=policy,
        prop=prop.within(tree_of(policy)),
        rng=stream,
        domain=check_domain(domain),
        kind=kind,
        sizes=Sizes() if sizes is None else sizes,
        deadline=np.inf if seconds is None else start + seconds,
        shared={} if answers is None else answers,
    )
    verdict = exact_verdict(policy) if accept is None else _own_verdict(accept)
    cases, doubtful = _found(explorer, budget, verdict, _DOUBTS if accept is None else np.inf)
    best = -np.inf if explorer.best is None else explorer.best.violation
    if not cases and explorer.best is not None and best > TOLERANCE:
        # Not clear, or doubtful: shown as a violation that waits for its confirmation.
        cases = [min(doubtful, key=lambda doubt: doubt.size, default=explorer.best)]
    explorer.phase = "shrinking"
    case, how = smallest(explorer, cases, verdict, _EXTRA * budget) if cases else (None, "")
    return SearchResult(
        policy=name,
        property=prop.name,
        models="pools" if kind is Problem else "clusters",
        domain=domain,
        budget=budget,
        searched=explorer.calls,
        seconds=time.perf_counter() - start,
        reached=explorer.reached,
        best=best,
        witness=None if case is None else case.witness,
        confirmation=how,
        failures=explorer.failures,
        failure=explorer.failure,
        entropy=entropy,
    )


def check_budget(budget: Any) -> int:
    """Return the budget as an int, or refuse it."""
    return require_whole("budget", budget, 1, MOST_CALLS, hint=", the policy calls")


def exact_verdict(policy: Any) -> Verdict:
    """Function that tells how a witness is confirmed in exact arithmetic; empty where it is not."""

    @cache
    def verdict(witness: Witness) -> str:
        confirmation = confirm(witness, policy)
        if not confirmation.confirmed:
            return ""
        return f"confirmed in fractions: {confirmation.text} ({confirmation.how})"

    return verdict


def _own_verdict(accept: Callable[[Witness], bool]) -> Verdict:
    return lambda witness: "accepted by the caller" if accept(witness) else ""


def _found(
    explorer: Explorer, budget: int, verdict: Verdict, patience: float
) -> tuple[list[Case], list[Case]]:
    """The first clear violations that are confirmed, and those that are not."""
    found: list[Case] = []
    doubtful: list[Case] = []
    if not issubclass(explorer.kind, explorer.prop.models):
        return found, doubtful
    end = float(budget)
    sources = {"exhaustive": explorer.exhaustive, "random": explorer.random, "local": explorer.local}
    for explorer.phase, source in sources.items():
        explorer.limit, doubts = min(_UNTIL[explorer.phase] * budget, end), 0
        for case in source():
            explorer.remember(case)
            if case.violation <= CLEAR or any(case.sketch == other.sketch for other in found):
                continue
            if not verdict(case.witness):
                doubtful.append(case)
                doubts += 1
                if doubts >= patience:
                    break
                continue
            found.append(case)
            if len(found) == _DESCENTS:
                return found, doubtful
            end = min(end, explorer.total + _FURTHER * budget)
            explorer.limit = min(explorer.limit, end)
    return found, doubtful
