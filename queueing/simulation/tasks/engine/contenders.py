"""Kernel of the choice between jobs: the most deprived, and of equals the oldest or one at random.

A *contender* stands for itself, or as the oldest for all jobs of its queue; the lower its score, the more it
is deprived. Contenders stand in the first rows of ``State.contenders`` and ``State.score``.
"""

from __future__ import annotations

import numpy as np

from queueing.simulation.kernels import part
from queueing.simulation.tasks.engine import state as at
from queueing.simulation.tasks.engine.state import NOBODY, Model, State
from queueing.simulation.tasks.rules.schedulers import NEVER_SERVED, Rule
from queueing.simulation.tasks.rules.workload import uniform

__all__ = ["contend", "most_deprived", "over_target"]


@part
def over_target(rule: Rule, state: State, i: int) -> float:
    """Running tasks over target of a class."""
    target = rule.lookup.tasks[state.counters[at.HERE], i]
    return state.running[i] / target if target > 0 else NEVER_SERVED


@part
def contend(state: State, found: int, row: int, equals: int, score: float) -> int:
    """List a contender that stands for some jobs after ``found`` others; how many there are then."""
    state.contenders[found, at.CONTENDER] = row
    state.contenders[found, at.EQUALS] = equals
    state.score[found] = score
    return found + 1


@part
def most_deprived(model: Model, rule: Rule, state: State, found: int, tolerance: float) -> int:
    """Row of the job of the lowest score, up to a relative tolerance; NOBODY if nobody contends."""
    lowest = np.inf
    for k in range(found):
        lowest = min(lowest, state.score[k])
    ceiling = lowest * (1.0 + tolerance)
    tied, best = 0, NOBODY
    for k in range(found):
        if state.score[k] <= ceiling:
            row = state.contenders[k, at.CONTENDER]
            tied += state.contenders[k, at.EQUALS]
            if best == NOBODY or state.jobs[row, at.AGE] < state.jobs[best, at.AGE]:
                best = row
    if not rule.random_ties or tied <= 1:
        return best
    skip = int(uniform(model.seeds[at.TIE_BREAKS], state.counters[at.DRAWS]) * tied)
    state.counters[at.DRAWS] += 1
    for k in range(found):
        if state.score[k] <= ceiling:
            row, equals = state.contenders[k, at.CONTENDER], state.contenders[k, at.EQUALS]
            if skip < equals:
                for _ in range(skip):
                    row = state.jobs[row, at.YOUNGER]
                return row
            skip -= equals
    return best
