r"""Exact allocations of each mechanism, or rigorous bounds on them, as fractions.

Every mechanism is computed or proved from its definition alone, without the solvers of
:mod:`fairness.policies`: see :mod:`fairness.properties.exact.pools` and
:mod:`fairness.properties.exact.servers` for the mathematics. The float answer of the policy may serve as a
hint, and where the definition leaves a choice (bottleneck max fairness, PS-DSF under resource division, the
placement behind unique totals) it says which of the choices is meant.

A new policy says its family, for which a function of the policy, the model and the hint is registered. A
subclass inherits that of its base unless it answers otherwise:

>>> from fractions import Fraction
>>> from fairness.properties.exact.enclosure import definition, enclose
>>> class Nothing:
...     family = Family("nothing")
...     def __call__(self, problem, counts):
...         return np.zeros(problem.n_classes)
>>> enclose(Nothing(), Problem([[1]], [1]))
Unproved(reason='no exact definition known for Nothing')
>>> @definition.register("nothing")
... def _(policy, model, hint=None):
...     zero = np.array([Fraction(0)] * model.n_classes)
...     return Enclosure(zero, zero, "nobody gets anything")
>>> enclose(Nothing(), Problem([[1]], [1])).how
'nobody gets anything'
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import FloatArray, model_array
from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem
from fairness.policies.bottleneck_set import all_bottleneck_max
from fairness.properties.exact import pools, servers
from fairness.properties.exact.queues import QueueFilling, whole_weights
from fairness.properties.exact.rational import Enclosure, Unproved, rational
from fairness.properties.protocol.property import Model
from fairness.protocol.family import ByFamily, Family, family_of
from fairness.protocol.policy import policy_name

__all__ = ["Enclosure", "Unproved", "definition", "enclose"]

ENUMERABLE = 100
"""Assignments of bottlenecks to classes up to which all bottleneck-max fair allocations are listed."""


@ByFamily
def definition(policy: Any, model: Model, hint: ArrayLike | None = None) -> Enclosure | Unproved:
    """What :func:`enclose` answers for policies of a family; the definition of a new one is registered."""
    return Unproved(f"no exact definition known for {policy_name(policy)}")


def enclose(policy: Any, model: Model, hint: ArrayLike | None = None) -> Enclosure | Unproved:
    """Rational bounds on what a policy gives, one job per class.

    Parameters
    ----------
    policy : callable
        Its family is a key to a :func:`definition`; it is not called.
    model : Problem or Cluster
        With integers or fractions as demands and capacities.
    hint : array_like, tasks, optional
        What the policy answers in floats, of shape (n_classes,) for a pool and (n_classes, n_servers) for a
        cluster. Filling policies need none.

    Returns
    -------
    Enclosure or Unproved
        Unproved, with the reason, if no definition is known, or if no fractions near the hint satisfy it.

    Raises
    ------
    ModelError
        If the model is not rational or has limits, or a hint is missing or of the wrong shape.

    Examples
    --------
    >>> from fairness import DRF, ProportionalFair
    >>> enclose(DRF(), Problem([[1, 4], [3, 1]], [9, 18])).lower
    array([Fraction(3, 1), Fraction(2, 1)], dtype=object)
    >>> fair = ProportionalFair()
    >>> pool = Problem([[4, 1], [2, 1], [1, 4]], [1, 1])
    >>> bounds = enclose(fair, pool, fair(pool, [1, 1, 1]))  # 4/35 + sqrt(39)/105, among others
    >>> 0 < bounds.radius < 1e-20
    True
    """
    found: Enclosure | Unproved = definition(policy, model, hint)
    return found


@definition.register("filling")
def _(policy: Any, model: Problem, hint: ArrayLike | None = None) -> Enclosure | Unproved:
    told = policy.family.parameters
    if told["growth"] == "own":
        return definition.otherwise(policy, model, hint)
    given = told.get("resource_weights")
    if given is not None and np.shape(given) != model.demands.shape:
        raise ModelError.of(
            "resource_weights", f"has shape {np.shape(given)}; the problem needs {model.demands.shape}"
        )
    return pools.filling(rational(model), told["growth"], given)


@definition.register("bottleneck-max")
def _(policy: Any, model: Problem, hint: ArrayLike | None = None) -> Enclosure | Unproved:
    found = pools.bottleneck_max(rational(model), _hint(policy, model, hint))
    if isinstance(found, Unproved):
        return found
    if model.n_resources**model.n_classes > ENUMERABLE:
        return Enclosure(found.lower, found.upper, found.how + "; whether it is the only one is open")
    everything = all_bottleneck_max(model)
    if not everything.contains(found.lower):
        return Unproved("the enumeration of all bottleneck-max fair allocations misses the one proved")
    number = "the only such allocation" if everything.is_unique else "one of several such allocations"
    return Enclosure(found.lower, found.upper, f"{found.how}; {number}")


@definition.register("alpha-fair")
def _(policy: Any, model: Problem, hint: ArrayLike | None = None) -> Enclosure | Unproved:
    alpha = policy.family.parameters["alpha"]
    if alpha < 1 or alpha != int(alpha):
        return Unproved(f"marginal utilities are rational for integers alpha >= 1 only; alpha is {alpha:g}")
    return pools.alpha_fair(rational(model), int(alpha), _hint(policy, model, hint))


@definition.register("on a tree")
def _(policy: Any, model: Model, hint: ArrayLike | None = None) -> Enclosure | Unproved:
    if not isinstance(model, Problem):
        return definition.otherwise(policy, model, hint)
    rule = policy.policy
    if not policy.fills:
        # Whole numbers, so that the weights are exactly those of the tree.
        weights = whole_weights(policy.tree, model)
        if max(weights) >= 2**53:
            return Unproved("the weights that the tree makes are no whole numbers that floats hold")
        return enclose(rule, model.replaced(weights=weights), hint)
    match family_of(rule):
        case Family("filling", {"resource_weights": _}):
            return Unproved("no exact definition known for weights per resource on a tree")
        case Family("filling", {"growth": "tasks" | "dominant" | "assets" as equal}):
            rational(model)
            borrowed = policy.measure == "borrowed"
            filling = QueueFilling(policy.tree, model, [1] * model.n_classes, equal, policy.naive, borrowed)
            return Enclosure.at(filling.filled(), "filling of the queues, event by event, in fractions")
    return definition.otherwise(policy, model, hint)


@definition.register("filling per server")
def _(policy: Any, model: Cluster, hint: ArrayLike | None = None) -> Enclosure | Unproved:
    return servers.per_server_filling(rational(model))


@definition.register("per-server dominant share")
def _(policy: Any, model: Cluster, hint: ArrayLike | None = None) -> Enclosure | Unproved:
    return servers.ps_dsf(rational(model, policy.division), _hint(policy, model, hint))


@definition.register("leximin")
def _(policy: Any, model: Cluster, hint: ArrayLike | None = None) -> Enclosure | Unproved:
    numbers, told = rational(model), policy.family.parameters
    if not told["constraints"] and numbers.gamma != numbers.unconstrained:
        return Unproved("the mechanism has no placement constraints, the cluster has")
    yardsticks = {
        "alone": lambda: servers.totals(numbers.unconstrained),
        "dedicated": lambda: servers.totals(numbers.gamma),
        "pooled": lambda: servers.pooled(numbers),
    }
    if told["yardstick"] not in yardsticks:
        return definition.otherwise(policy, model, hint)
    yardstick = yardsticks[told["yardstick"]]()
    if yardstick is None:
        return Unproved("with effective capacities a class has no share of the pooled capacities")
    return servers.leximin(numbers, _hint(policy, model, hint), yardstick)


def _hint(policy: object, model: Model, hint: ArrayLike | None) -> FloatArray:
    """The hint as floats, of the right shape."""
    if hint is None:
        raise ModelError.of("hint", f"is missing: give what {policy_name(policy)} answers, in floats")
    result = model_array("hint", hint, model, *model.answer_axes)
    if result.shape != model.answer_shape:
        raise ModelError.of("hint", f"must have shape {model.answer_shape}; got {result.shape}")
    return result
