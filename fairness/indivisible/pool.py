r"""Indivisible tasks on one pool, started one after the other by a rule.

:func:`fill_tasks` starts whole tasks until the rule stops; the rules are in
:mod:`fairness.indivisible.rules`. Classes that demand a resource of capacity 0 get no task and delay nobody.
A class that demands nothing gets all the tasks of its limit before the first step; they are not listed in the
order. Models given in integers or fractions are filled exactly, so that ties are ties. Weights, counts and
limits enter with the exact value of the float that the model stores.

*The gap.* Let :math:`s_i` be the dominant shares (over weights) when tasks were started one by one for the
class with the lowest share, up to the first misfit, and :math:`\delta_i` the share of one task. Then

.. math:: s_i - s_k \le \delta_i \le \max_l \delta_l

for all classes i and k, k below its limit: when class i started its last task, its share was the lowest, so
at most what class k held then, and :math:`s_k` has not fallen since. Equality occurs.

*The distance from the continuous shares.* If all classes have the same continuous DRF share :math:`s^*` (all
demands positive, no limit binding), then :math:`s^* - \max_l\delta_l < s_i \le s^* + \delta_i`. The upper
bound: the lowest share cannot exceed :math:`s^*`, since s is feasible. The lower bound: the class p that does
not fit leaves less than one task of some resource r free, so with :math:`u_{ir}\le 1` the ratio of the share
of r to the dominant share, :math:`\sum_i (s_p + \delta_i 1_{i \ne p}) w_i u_{ir} + \delta_p w_p u_{pr} > 1`,
while :math:`s^* \sum_i w_i u_{ir} \le 1`.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.labels import as_named
from fairness.arguments.validation import (
    Entropy,
    Seed,
    entropy_of,
    float_array,
    generator,
    rationals,
    require,
    require_shape,
)
from fairness.display.drawing import stacked_bars
from fairness.display.result import Result
from fairness.display.tables import aligned
from fairness.display.wording import share_head
from fairness.errors import ModelError
from fairness.evidence.pools import Certificate
from fairness.indivisible.free_resources import ROUNDING, Ledger, Number
from fairness.indivisible.priority_queue import make_ties
from fairness.indivisible.rational_model import Numbers, PoolAmounts, array, number, overfull
from fairness.indivisible.rules import LowestShare, PoolRule, Started
from fairness.model.problem import FloatArray, Problem
from fairness.results.placements import tasks_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["TaskFilling", "fill_tasks"]


@dataclass(frozen=True, eq=False, repr=False)
class TaskFilling(Result):
    """Whole tasks of each class of a pool; made by :func:`fill_tasks`.

    Numbers are fractions where the model is rational, floats else.

    Attributes
    ----------
    problem : Problem
    rule : LowestShare, SequentialMinMax, BestRank or HierarchicalShare
    counts : ndarray of shape (n_classes,), jobs
    tasks : ndarray of int, shape (n_classes,)
        Tasks started.
    order : tuple of int
        The classes in the order in which they were served.
    stopper : int or None
        The class whose misfit stopped everything; None if the filling ended because no class could start.
    stopped_by : tuple of tuple of str
        Per class: the resources that its next task finds too scarce, and the queues whose maximum it would
        exceed; empty if it would fit.
    amounts : PoolAmounts
        Demands, capacities, effective weights and holdings in the arithmetic of this result.
    entropy : int, list of int or str
        The seed: ``rng=entropy`` repeats the filling; "a generator" where no seed does.
    """

    problem: Problem
    rule: PoolRule
    counts: FloatArray
    tasks: NDArray[np.int64]
    order: tuple[int, ...]
    stopper: int | None
    stopped_by: tuple[tuple[str, ...], ...]
    amounts: PoolAmounts
    entropy: Entropy

    @property
    def is_exact(self) -> bool:
        """Whether the numbers of this result are fractions."""
        return self.amounts.exact

    @property
    def holdings(self) -> Numbers | None:
        """What the classes held before the first task, (n_classes, n_resources), resource units."""
        return self.amounts.holdings

    @cached_property
    def held(self) -> Numbers:
        """Units that each class holds, with what it held before; shape (n_classes, n_resources)."""
        rows = zip(self.amounts.before, self.amounts.demands, self.tasks.tolist(), strict=True)
        return array(
            [[h + k * v for h, v in zip(own, row, strict=True)] for own, row, k in rows], self.is_exact
        )

    @cached_property
    def usage(self) -> Numbers:
        """Units of each resource in use, shape (n_resources,)."""
        return array(self.held.sum(axis=0), self.is_exact)

    @cached_property
    def dominant_shares(self) -> Numbers:
        """Largest weighted share of one job, shape (n_classes,); 0 where no job is present."""
        shares = [self.amounts.dominant_share(n, k) for n, k in enumerate(self.tasks.tolist())]
        return array(shares, self.is_exact)

    @cached_property
    def levels(self) -> Numbers:
        """Dominant shares times the factors of the rule: what :class:`LowestShare` levels."""
        return array(self.dominant_shares * self._factors, self.is_exact)

    @cached_property
    def one_task_levels(self) -> Numbers:
        """Level of a single task, shape (n_classes,); 0 where none can run."""
        return array(array(self.amounts.units, self.is_exact) * self._factors, self.is_exact)

    @property
    def _factors(self) -> Numbers:
        values = self.rule.factors or [1] * len(self.counts)
        return array([number(v, self.is_exact) for v in values], self.is_exact)

    @cached_property
    def at_limit(self) -> NDArray[np.bool_]:
        """Classes, shape (n_classes,), that can run no more tasks whatever is free."""
        return np.array(self.tasks >= np.array(self.amounts.most))

    @cached_property
    def _rivals(self) -> NDArray[np.bool_]:
        """Classes that compete: they have jobs, a demand, and all the resources that they demand."""
        return np.array([unit > 0 for unit in self.amounts.units])

    @cached_property
    def largest_gap(self) -> Number:
        """Largest difference of levels between a class and one that is poorer and below its limit."""
        poor = self.levels[self._rivals & ~self.at_limit]
        zero = number(0, self.is_exact)
        return max(self.levels[self._rivals].max() - poor.min(), zero) if poor.size else zero

    @cached_property
    def gap_bound(self) -> Number:
        """Largest level of one task: the gap of :class:`LowestShare` at its first misfit is no larger."""
        bound: Number = self.one_task_levels.max()
        return bound

    @cached_property
    def overcommitted(self) -> tuple[str, ...]:
        """Resources of which the holdings before the first task exceed the capacity."""
        total = array(self.amounts.before, self.is_exact).sum(axis=0)
        slack = 1 if self.is_exact else float(1 + ROUNDING)
        columns = zip(self.problem.resources, total, self.amounts.capacities, strict=True)
        return tuple(name for name, v, c in columns if v > c * slack)

    @cached_property
    def certificate(self) -> Certificate:
        """What the rule promises about its result, as a residual."""
        beyond = self.rule.excess(self.problem, self.held.astype(float))
        residual = max(overfull(self.usage, self.amounts.capacities), beyond)
        claim = f"within all {self.rule.bounds}"
        if self.stopper is None:
            claim += ", and no class below its limit can start another task"
            idle = [not lacking for lacking in self.stopped_by]
            residual = math.inf if (self._rivals & ~self.at_limit & idle).any() else residual
        elif isinstance(self.rule, LowestShare) and self.holdings is None:
            claim += ", and none below its limit is poorer by more than a task"
            if self.gap_bound > 0:
                residual = max(residual, float(self.largest_gap / self.gap_bound) - 1.0)
        return Certificate(claim, residual)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: jobs, tasks, dominant share, what its next task lacks."""
        return pd.DataFrame(
            {
                "jobs": self.counts,
                "tasks": self.tasks,
                "dominant_share": self.dominant_shares.astype(float),
                "stopped_by": [self._stop(n) for n in range(len(self.counts))],
            },
            index=pd.Index(self.problem.job_classes, name="job_class"),
        )

    def _stop(self, n: int) -> str:
        if self.counts[n] == 0:
            return "no job"
        if self.at_limit[n] and not self.problem.blocked[n]:
            return "limit"
        return ", ".join(self.stopped_by[n]) or "the misfit of another class"

    def summary(self) -> str:
        """What a person wants to read: tasks, shares and what stopped them, order, usage, gap."""
        problem = self.problem
        table = [["class", "jobs", "tasks", share_head(self.counts, problem.weights), "stopped by"]]
        for n, name in enumerate(problem.job_classes):
            jobs, tasks, share = f"{self.counts[n]:g}", str(self.tasks[n]), _text(self.dominant_shares[n])
            table.append([name, jobs, tasks, share, self._stop(n)])
        lines = [f"{self.rule.name}, task by task", *aligned(table, words=1)]
        if 0 < len(self.order) <= 40:
            lines.append("  order: " + ", ".join(problem.job_classes[n] for n in self.order))
        used = zip(problem.resources, self.usage, problem.capacities, strict=True)
        lines.append("  in use: " + ", ".join(f"{name} {float(u):.6g}/{c:g}" for name, u, c in used))
        if self.overcommitted:
            lines.append("  holdings exceed the capacity of " + ", ".join(self.overcommitted))
        lines.append(f"  largest gap {_text(self.largest_gap)}, one task at most {_text(self.gap_bound)}")
        lines.append(f"  {self.certificate}")
        return "\n".join(lines)

    @property
    def _tabulated(self) -> int:
        return 1 + self.problem.n_classes

    def plot(self, ax: Axes | None = None) -> Axes:
        """Stacked bars: how much of each resource every class holds."""
        full = self.problem.capacities
        parts = np.divide(self.held.astype(float), full, out=np.zeros(self.held.shape), where=full > 0)
        labels = tasks_of(self.problem.job_classes, self.tasks)
        title = f"{self.rule.name}, task by task"
        return stacked_bars(ax, self.problem.resources, parts, labels, title=title)


def fill_tasks(
    problem: Problem,
    rule: PoolRule | None = None,
    counts: ArrayLike | None = None,
    *,
    holdings: ArrayLike | None = None,
    ties: str | Sequence[int] = "first",
    rng: Seed = None,
) -> TaskFilling:
    """Start whole tasks on a pool, one by one, as a rule says.

    Parameters
    ----------
    problem : Problem
        Exact arithmetic if it is rational (and the holdings and factors too), floats else.
    rule : LowestShare, SequentialMinMax, BestRank or HierarchicalShare, optional
        Default: ``LowestShare()``, the progressive filling of DRF.
    counts : array_like of shape (n_classes,), jobs, optional
        A class of x jobs of weight w counts as one user of weight x w. Default: one of each.
    holdings : array_like of shape (n_classes, n_resources), resource units, optional
        What the classes hold before the first task. It counts in the usage and in the shares. It may exceed
        the capacities; then what demands such a resource cannot start.
    ties : {"first", "random"} or sequence of int
        Who is served among equals: the first class, one drawn at random, or the first in this order.
    rng : numpy Generator or seed, optional
        For random ties.

    Returns
    -------
    TaskFilling

    Raises
    ------
    ModelError
        If an argument has another shape, a wrong sign or an unknown name.

    References
    ----------
    See :mod:`fairness.indivisible.rules`.

    Examples
    --------
    >>> from fairness import Problem
    >>> pool = Problem([[1, 4], [3, 1]], [9, 18], job_classes=["A", "B"], resources=["cpu", "ram"])
    >>> fill_tasks(pool, ties=[1, 0])
    DRF, task by task
      class  jobs  tasks  dom. share  stopped by
      A         1      3         2/3  cpu
      B         1      2         2/3  cpu
      order: B, A, A, B, A
      in use: cpu 9/9, ram 14/18
      largest gap 0, one task at most 1/3
      within all capacities, and none below its limit is poorer by more than a task: holds (residual 0.0e+00)
    """
    if not isinstance(problem, Problem):
        raise ModelError(f"fill_tasks needs a Problem (one pool); got {type(problem).__name__}")
    rule = LowestShare() if rule is None else rule
    if not isinstance(rule, PoolRule):
        raise ModelError.of(
            "rule",
            f"must be LowestShare(), SequentialMinMax(), BestRank() or HierarchicalShare(tree); got {rule!r}",
        )
    factors = rule.factors
    if factors is not None and len(factors) != problem.n_classes:
        raise ModelError.of(
            "factors", f"has {len(factors)} entries; the problem has {problem.n_classes} classes"
        )
    x = problem.check_state(counts)
    given = None if holdings is None else _check_holdings(problem, holdings)
    exact = (
        problem.is_rational
        and (given is None or given.dtype == object)
        and all(isinstance(f, numbers.Rational) for f in factors or ())
    )
    amounts = PoolAmounts(problem, x, exact, given)
    stream = generator(rng)
    entropy = entropy_of(stream)
    choice = make_ties(ties, stream, problem.n_classes, exact=exact)
    ledger = Ledger(
        [[row] for row in amounts.demands],
        [amounts.capacities],
        exact=exact,
        used=[[sum(column) for column in zip(*amounts.before, strict=True)]],
    )
    started = Started(amounts, ledger, choice)
    stopper = rule.fill(started)
    if max(started.tasks) > np.iinfo(np.int64).max:
        raise ModelError.of(
            "limits", "let a class without demand run more than 2**63 tasks; give a lower limit"
        )
    return TaskFilling(
        problem,
        rule,
        x,
        np.array(started.tasks, dtype=np.int64),
        tuple(started.order),
        stopper,
        tuple(
            (*(problem.resources[r] for r in ledger.lacking(n, 0)), *others) if x[n] > 0 else ()
            for n, others in enumerate(rule.held_back(started))
        ),
        amounts,
        entropy,
    )


def _check_holdings(problem: Problem, holdings: ArrayLike) -> Numbers:
    holdings = as_named("holdings", holdings, problem, "job_classes", "resources")
    given = float_array("holdings", holdings, ndim=2)
    require_shape("holdings", given, problem.demands.shape, "demands", problem.demands)
    require(
        "holdings",
        given,
        np.isfinite(given) & (given >= 0),
        "finite and >= 0",
        problem.job_classes,
        problem.resources,
    )
    exact = rationals(holdings)
    return array(given if exact is None else exact, exact is not None)


def _text(value: Number) -> str:
    """A fraction if it is short, else six digits."""
    short = not isinstance(value, float) and len(str(value)) <= 12
    return str(value) if short else f"{float(value):.6g}"
