"""How the means of one cell are found, a policy at one load: by the best method that its time allows.

:func:`answered` goes down the ladder,

1. :class:`~capacity.means.formulas.ByRecursion` and :class:`~capacity.means.optimum.ByOptimum`: what is asked
   for by a word, balanced fairness, its closed-form bound, and the policy with the fewest jobs;
2. :class:`~capacity.means.formulas.ByFormula`: processor sharing, where a policy is nothing else: exact for
   all laws of sizes;
3. :class:`~capacity.means.chains.ByChain`: the stationary law of the Markov chain, with an estimate of its
   error;
4. :class:`~capacity.means.formulas.ByBounds`: proved bounds by quadratic functions, where the chain is too
   large;
5. :class:`~capacity.means.simulations.BySimulation`: means with confidence intervals, longer and longer until
   they are narrow enough,

and stops where the relative error of all mean jobs is as small as asked for; else the smallest counts. What
was left out, and why, is told beside the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from capacity.means.chains import ByChain
from capacity.means.formulas import ByBounds, ByFormula, ByRecursion
from capacity.means.found import PROVED, SIMULATION, Found
from capacity.means.method import PART, Effort, Method, Plan, clock
from capacity.means.optimum import ByOptimum
from capacity.means.simulations import LEAST, BySimulation
from capacity.means.words import BALANCED, method_label
from fairness.errors import ModelError, NotConvergedError, PolicyError, UnstableError, advised, unadvised
from fairness.machine.work import ASIDE, OutOfTime, duration, watching
from queueing.model.system import System

__all__ = ["LADDER", "answered"]

SMALLER = "take smaller loads, or the bound alone, which needs no states"

KEPT = 0.75
"""Part of the time that is left which a method may take, unless it is the last one."""

LADDER: tuple[Method, ...] = (
    ByRecursion(),
    ByOptimum(),
    ByFormula(),
    ByChain(),
    ByBounds(),
    BySimulation(),
)
"""What is taken unless methods are named."""


def answered(
    system: System,
    policy: Any,
    methods: Sequence[Method],
    effort: Effort,
    announce: Callable[[str, Plan], None] = lambda *_: None,
) -> Found:
    """Means of one cell by the first method that is good enough, else by the best one.

    ``announce`` is told of plans that would take longer than there is time, before anything else is begun.

    Raises
    ------
    UnstableError
        If there is no stationary law.
    ModelError, NotConvergedError
        If no method has an answer: with what the methods say.
    """
    deadline, best = clock() + effort.seconds, None
    failed: list[tuple[str, Exception]] = []
    said: list[str] = []
    for method in methods:
        left = deadline - clock()
        now = replace(effort, seconds=left if method is methods[-1] else KEPT * left)
        until = clock() + now.seconds
        if now.seconds <= 0:
            said.append(f"no {method.name}: no time is left")
            continue
        try:
            with advised(SMALLER, "max_states", "tail", "shape") if policy == BALANCED else watching():
                with watching(time_limit=now.limit):
                    plan = method.plan(system, policy, now)
                if plan is None:
                    continue
                if plan.seconds > PART * now.seconds:
                    told = f"{plan.what}, about {duration(plan.seconds)}"
                    said.append(f"no {method.name}: {told}, more than {duration(PART * now.seconds)}")
                    announce(method.name, plan)
                    continue
                found = _run(plan, now, until)
        except (UnstableError, PolicyError):
            raise  # whatever the method
        except (ModelError, NotConvergedError, OutOfTime) as error:
            failed.append((method.name, error))
            said.append(f"no {method.name}: {_why_not(error, now)}")
            continue
        if best is None or found.precision(system) < best.precision(system):
            best = found
        if not effort.timed or best.precision(system) <= effort.precision:
            break
    if best is None and not said:
        raise ModelError.of("methods", f": none of them is for {method_label(policy)}")
    if best is None:
        if len(failed) == len(said) == 1 and not effort.timed and not isinstance(failed[0][1], OutOfTime):
            raise failed[0][1]
        kind = type(failed[-1][1]) if failed and len(failed) == len(said) else NotConvergedError
        own = len(failed) == len(said) and not effort.timed
        texts = [f"{name}: {error}" for name, error in failed] if own else said
        raise (NotConvergedError if kind is OutOfTime else kind)("; ".join(texts))
    passed = "; ".join(said) if best.found_by in (SIMULATION, PROVED) else ""
    return replace(best, remark=" ".join(best.remark.split()), passed=" ".join(passed.split()))


def _why_not(error: Exception, effort: Effort) -> str:
    """Why a method has no answer; where time matters without a remedy: it is more time."""
    if not effort.timed:
        return str(error)
    late = isinstance(error, OutOfTime) or isinstance(error.__context__, OutOfTime)
    return f"not done in {duration(effort.seconds)}" if late else unadvised(str(error))


def _run(plan: Plan, effort: Effort, deadline: float) -> Found:
    """Do what is planned; again if kernels that were compiled meanwhile have taken the time."""
    aside = ASIDE.seconds
    try:
        return plan.run(replace(effort, seconds=deadline - clock()))
    except (NotConvergedError, OutOfTime):
        left = deadline - clock()
        if not effort.timed or left < LEAST or ASIDE.seconds - aside < LEAST:
            raise
    return plan.run(replace(effort, seconds=left))
