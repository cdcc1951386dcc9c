"""Which classes stay empty: the choice of a face of the orthant, with its rule.

Few jobs live on what many leave, under progressive filling and alpha-fairness by theorems. Of other policies
for pools this is asked in many states where more than :data:`~queueing.fluid.subsets.FEW` classes are empty:
whether those that are barely there change the tasks of others, at two scales, and whether everybody who is
there has a full resource; then the few are followed on their own scale, from several starts, and must not
grow. That is evidence and no proof, so the face goes on to ask. Wherever the answer is no, classes that are
empty count by the parts of time for which they are there: :mod:`queueing.fluid.faces`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairness.errors import ModelError
from fairness.model.problem import FloatArray
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.family import Family, family_of
from fairness.protocol.policy import policy_name
from queueing.fluid.faces import BARELY, MANY, Ask, Averages, Face, Leftovers
from queueing.fluid.subsets import ALIKE, FEW, MOST, TooManyLeaves
from queueing.model.system import System

__all__ = ["settle"]

BoolArray = NDArray[np.bool_]

SMALL = 1e-3
"""Among classes that leave together, a part of the largest that counts as staying behind."""

LAST = 1e-6
"""Part of all jobs below which classes on one resource may be about to empty at the same moment."""

STEPS = 300
"""Steps of Euler's scheme, each of a twentieth of the time in which the jobs arrive."""

GROWTH = 10.0
"""Factor by which the few must grow to count as growing: a sum may rise before it falls."""


def settle(
    system: System, policy: AnyPolicy, ask: Ask, u: FloatArray, cause: int | None, empty: BoolArray
) -> tuple[Face, FloatArray]:
    """Which of the classes that are empty at u stay so, and u with those that leave barely there.

    ``cause`` is what ended the face of the classes ``empty``, none at the start of a trajectory.

    Raises
    ------
    ModelError
        If too many empty classes depend on each other.
    """
    candidates = empty if cause is not None and not _emptied(cause, empty) else u == 0
    proved = _few_take_nothing(system, policy)
    if proved or _seems_to_leave(system, ask, u, candidates):
        found = _settled_on_leftovers(system, ask, u, cause, candidates, not proved)
        if found is not None and (proved or _drains(ask, *found)):
            return found
    try:
        return _settled_on_averages(system, ask, u, cause, candidates, empty)
    except TooManyLeaves:
        number = int((candidates & (system.arrival_rates > 0)).sum())
        raise ModelError(
            f"{number} classes are empty at once, and whom of them policy {policy_name(policy)} serves "
            f"depends on more than {MOST} of their subsets: give fewer classes, merge some, or take "
            "simulate, which follows the random system itself"
        ) from None


def _emptied(cause: int, empty: BoolArray) -> bool:
    return 0 <= cause < len(empty) and not empty[cause]


def _few_take_nothing(system: System, policy: AnyPolicy) -> bool:
    """Whether the pool that is left to few jobs is stable below load 1, by a theorem.

    Under alpha-fairness few jobs get the power 1/alpha of their part: next to nothing only for small alpha.
    """
    if system.is_cluster:
        return False
    match family_of(policy):
        case Family("filling"):
            return True
        case Family("alpha-fair", {"alpha": alpha}):
            return bool(0 < alpha <= 2)
    return False


def _settled_on_averages(
    system: System, ask: Ask, u: FloatArray, cause: int | None, candidates: BoolArray, empty: BoolArray
) -> tuple[Face, FloatArray]:
    whole = Averages(system, ask, candidates, u)
    margins = whole.margins(u)[: len(whole.held)]
    stay = candidates.copy()
    stay[whole.held] = margins > 0
    if cause is not None and 0 <= cause < len(empty) and empty[cause]:
        # Its margin is 0 up to rounding, so it must not be asked again.
        stay[cause] = False
    if (stay == candidates).all():
        return whole, u
    return Averages(system, ask, stay, u, whole.theta[stay[whole.held]]), u


def _settled_on_leftovers(
    system: System, ask: Ask, u: FloatArray, cause: int | None, candidates: BoolArray, seen: bool
) -> tuple[Leftovers, FloatArray] | None:
    """Classes leave resource by resource, until what is left suffices; None if some would not grow."""
    n, arriving = system.n_classes, candidates & (system.arrival_rates > 0)
    stay, scale, returned = candidates.copy(), np.ones(n), np.zeros(n, bool)
    short = np.zeros(system.problem.n_resources, bool)
    if cause is not None and cause >= n:
        # Its margin is 0 up to rounding, so it must not be asked again.
        short[cause - n] = True
    start = u
    while True:
        face = Leftovers(system, ask, stay, seen)
        if not short.any():
            short[face.watched] = face.margins(start)[: len(face.watched)] <= 0
            if not short.any():
                return face, start
        new = stay & arriving & (system.problem.demands[:, short] > 0).any(axis=1)
        if (new & returned).any():
            # Served faster than it arrives, although others take all: these are as few, and empty with it.
            others = ~candidates & (u <= LAST) & (system.problem.demands[:, short] > 0).any(axis=1)
            if not others.any() or (candidates | others).all():
                return None
            merged = candidates | others
            return _settled_on_leftovers(system, ask, np.where(others, 0.0, u), None, merged, seen)
        stay &= ~new
        short[:] = False
        while True:
            leaving = arriving & ~stay
            found, behind = _together(system, ask, np.where(stay, 0.0, u), leaving, scale)
            if not behind.any():
                start = found
                break
            stay |= behind
            returned |= behind


def _together(
    system: System, ask: Ask, u: FloatArray, leaving: BoolArray, scale: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Direction u with the classes ``leaving`` barely there, each served at most as fast as it arrives.

    Also those that are served faster whatever their part among those that leave; ``scale`` holds the parts.
    """
    who, loads = np.flatnonzero(leaving), system.loads[leaving]
    z, behind = scale[who], np.zeros(len(u), bool)
    for _ in range(1000):
        if not len(who):
            break
        state = u.copy()
        state[who] = BARELY * z / z.min()
        served = ask(state)[who]
        if (served <= loads * (1 + 1e-4)).all():
            scale[who] = z
            return state / state.sum(), behind
        with np.errstate(divide="ignore"):
            z = z * np.clip(np.sqrt(loads / served), 0.5, 2.0)
        z = z / z.max()
        if z.min() < SMALL:
            behind[who[z < SMALL]] = True
            return u, behind
    behind[who] = len(who) > 0
    return u, behind


def _seems_to_leave(system: System, ask: Ask, u: FloatArray, candidates: BoolArray) -> bool:
    """Whether, in all states that were tried, few take nothing of many, and whoever is there is stopped."""
    members = np.flatnonzero(candidates & (system.arrival_rates > 0))
    k = len(members)
    if system.is_cluster or k <= FEW:
        return False
    # Nobody, everybody, one, all but one; then one or some in larger numbers without and with the others.
    subsets = np.concatenate([np.zeros((1, k)), np.ones((1, k)), np.eye(k), 1 - np.eye(k)])
    some = np.concatenate([np.eye(k) > 0, np.random.default_rng(0).random((8, k)) < 0.5])
    few = np.concatenate([subsets * BARELY, some * MANY, np.where(some, MANY, BARELY)])
    # Present classes that are about to empty are few themselves, and say nothing of the many.
    states = np.repeat(np.where(u > 0, np.maximum(u, MANY), 0.0)[None, :], len(few), axis=0)
    states[:, members] = few
    tasks = ask(states)
    scale = float(tasks.max())
    others = tasks[: len(subsets), ~candidates]
    if np.abs(others - others[0]).max(initial=0.0) > ALIKE * scale:
        return False
    alone, beside = np.split(tasks[len(subsets) :], 2)
    there = states[len(subsets) : len(subsets) + len(some)] > 0
    if (np.abs(beside - alone) * there).max() > MANY * scale:
        return False
    shares = system.problem.task_shares
    full = tasks @ shares > 1 - ALIKE
    return bool((~(states > 0) | (full @ (shares > 0).T)).all())


def _drains(ask: Ask, face: Leftovers, u: FloatArray) -> bool:
    """Whether the few that are held grow from none of some starts, by Euler's scheme on their own scale."""
    system, held = face.system, face.held
    if not len(held):
        return True
    stream = np.random.default_rng(0)
    starts = [np.ones(len(held)), system.loads[held], *stream.dirichlet(np.full(len(held), 0.5), 6)]
    z = np.array([start / start.sum() for start in starts])
    states = np.repeat(np.where(face.empty, 0.0, np.maximum(u, BARELY))[None, :], len(z), axis=0)
    rates, sizes = system.arrival_rates[held], system.mean_sizes[held]
    for _ in range(STEPS):
        size = z.sum(axis=1, keepdims=True)
        if not size.any() or (size > GROWTH).any():
            break
        # Whom the step serves for longer than there is something to serve is empty then.
        states[:, held] = BARELY * len(held) * z / np.where(size > 0, size, 1.0)
        z = np.maximum(z + 0.05 / rates.sum() * size * (rates - ask(states)[:, held] / sizes), 0.0)
    return bool((z.sum(axis=1) <= GROWTH).all())
