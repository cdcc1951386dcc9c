r"""Is there a stationary law at all? Asked before a mean is computed, in a part of the time that takes.

Three questions, each where the one before has no answer:

1. *Load.* A resource with load at least 1 keeps its work, whatever the policy.
2. *Theorem.* Below load 1 filling and alpha-fairness are stable (:mod:`queueing.fluid.lyapunov`).
3. *Growth.* With one or two classes every ray that attracts is found; with more a few trajectories are
   followed, roughly, from equal work of all and from next to each class alone, and one that grows once more
   as :func:`~queueing.fluid.verdict.fluid_verdict` does. Jobs that grow have no stationary law.

Growth that is not found is no proof of stability, and nothing is said then; nor of sizes that are not
exponential, of jobs with limits, and of policies that depend on more than proportions, which have no fluid
limit here. Who computes a mean there goes on, and finds out later.
"""

from __future__ import annotations

import logging
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from fairness.errors import UnstableError
from fairness.machine.work import OutOfTime
from fairness.model.problem import FloatArray
from fairness.protocol.policy import policy_name
from queueing.fluid.integration import check_homogeneous
from queueing.fluid.lyapunov import known_certificate
from queueing.fluid.rays import rays
from queueing.fluid.verdict import Probe, described, grows, jobs_of, shown
from queueing.model.system import System

__all__ = ["require_stable"]

_log = logging.getLogger(__name__)

CLEAR = 1e-6
"""Growth, over the arrival rate, from which on it is called growth."""

EVALUATIONS = 600
"""Calls of the policy for all trajectories together."""

SURE = 20_000
"""Calls of the policy for the trajectory that is followed once more."""

RESOLUTION = 64
"""Points of the first grid of directions of two classes."""

FEW = 3
"""Classes with 1, 2, ... jobs, and with twice as many, among which policies are compared first."""

_ASKED: WeakKeyDictionary[System, list[Any]] = WeakKeyDictionary()
"""Policies under which no growth was seen, by system: who computes a mean in several ways asks once."""

ROUGH, DRAINED = 1e-4, 1 / 30
"""Relative tolerance of the trajectories, and the part of the jobs at which one counts as drained."""


def require_stable(system: System, policy: Any) -> None:
    """Raise UnstableError where a policy has no stationary law, as far as that is seen at once.

    Examples
    --------
    Strict priority to short flows wastes a link while the long flow waits for both.

    >>> from fairness import Problem
    >>> line = Problem([[1, 1], [1, 0], [0, 1]], [1, 1])
    >>> def short_first(problem, counts):
    ...     here = (np.asarray(counts) > 0).astype(float)
    ...     long = here[..., 0] * (1 - here[..., 1]) * (1 - here[..., 2])
    ...     return np.stack([long, here[..., 1], here[..., 2]], axis=-1)
    >>> require_stable(System(line, [0.3, 0.4, 0.4]), short_first)
    >>> require_stable(System(line, [0.4, 0.4, 0.4]), short_first)
    Traceback (most recent call last):
    fairness.errors.UnstableError: no stationary law: short_first is unstable at these loads, in the fluid ...
    """
    system.require_stable()
    asked = _ASKED.setdefault(system, [])
    if any(one is policy for one in asked) or not system.arrival_rates.any():
        return
    if known_certificate(system, policy) is not None:
        return
    try:
        growth, where = _growth(system, policy)
        if growth:
            check_homogeneous(system, policy, where / 32)
    except OutOfTime:
        raise
    except Exception as error:  # a policy that is made for whole numbers of jobs may fail between them
        _log.info("the fluid limit says nothing of %s: %s", policy_name(policy), error)
        return
    if growth:
        raise UnstableError(
            f"no stationary law: {policy_name(policy)} is unstable at these loads, in the fluid limit jobs "
            f"grow for ever {growth}; reduce arrival_rates or mean_sizes, or take another policy",
            direction=where,
        )
    asked.append(policy)


def _growth(system: System, policy: Any) -> tuple[str, FloatArray]:
    """Where jobs grow, in words and as a direction; the words are empty if that is seen nowhere."""
    live = np.flatnonzero(system.arrival_rates > 0)
    middle = np.where(system.arrival_rates > 0, 1.0 / len(live), 0.0)
    # A policy of one's own may take long for many jobs; more than proportions mostly show among few.
    few = np.zeros(system.n_classes)
    few[live[:FEW]] = np.arange(1.0, FEW + 1.0)[: len(live)]
    check_homogeneous(system, policy, few, (2,))
    if len(live) <= 2:
        clear = CLEAR * float(system.arrival_rates.sum())
        for ray in rays(system, policy, resolution=RESOLUTION, growing=True):
            if ray.kind == "attracting" and ray.growth > clear:
                rate = f"({ray.growth:+.4g} jobs per unit of time)"
                return f"along the ray {shown(ray.direction)} {rate}", ray.direction
        return "", middle
    check_homogeneous(system, policy, middle / 32)
    left = EVALUATIONS
    for k in (None, *live):
        # Off the faces, where a policy may serve a present class and an absent one by different rules.
        work = middle if k is None else 0.03 * middle + 0.97 * (np.arange(system.n_classes) == k)
        start = jobs_of(system, work)
        look = Probe(system, policy, start, left, rtol=ROUGH, smallest=DRAINED)
        if grows(system, look.outcome(), least=CLEAR):
            sure = Probe(system, policy, start, SURE).outcome()
            if grows(system, sure, least=CLEAR):
                return f"from {shown(start)} to {described(sure)}", sure.direction
        left -= look.evaluations
        if left <= 0:
            break
    return "", middle
