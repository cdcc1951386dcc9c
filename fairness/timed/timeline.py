r"""Exchange and TDRF while users come and go.

At each event (somebody joins or leaves) those present exchange their contributions afresh
(:mod:`fairness.timed.exchange`), hold the result, and TDRF (:mod:`fairness.timed.tdrf`) starts whole
tasks on top of it. This is the experiment of [1]_, which does not say what becomes of earlier exchanges and
running tasks; here nothing is carried over.

References
----------
.. [1] C. Zhu, "Dominant resource fairness with time constraints in cloud computing".
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairness.arguments.labels import by_label
from fairness.arguments.validation import Entropy, Seed, entropy_of, float_array, generator, require_shape
from fairness.display.colours import part_line
from fairness.display.drawing import given_axes, legend_beside
from fairness.display.result import Result
from fairness.errors import ModelError
from fairness.indivisible.free_resources import ROUNDING
from fairness.indivisible.pool import TaskFilling, fill_tasks
from fairness.indivisible.rational_model import Numbers, array
from fairness.model.problem import Problem
from fairness.timed.exchange import Exchange, exchange
from fairness.timed.tdrf import TDRF, Time, as_time, as_times, integer_tdrf

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Interval", "Timeline", "timeline"]


@dataclass(frozen=True, eq=False)
class Interval:
    """What happens between two events.

    Attributes
    ----------
    start, end : time; the end is None for the last interval
    present : tuple of int
        The users present; the rows of what follows.
    exchange : Exchange
        Of the contributions of those present.
    filling : TaskFilling
        Tasks started on top of the holdings.
    excess : array of shape (n_resources,), resource units
        By how much the contributions of those present exceed the capacities.
    """

    start: Time
    end: Time | None
    present: tuple[int, ...]
    exchange: Exchange
    filling: TaskFilling
    excess: Numbers

    @cached_property
    def supported(self) -> Numbers:
        """Tasks (not whole) that the holdings of each user support, shape (n_present,)."""
        demands = array(self.filling.amounts.demands, self.filling.is_exact)
        return np.array(
            [
                min(h / d for h, d in zip(held, row, strict=True) if d > 0)
                for held, row in zip(self.exchange.holdings, demands, strict=True)
            ]
        )


@dataclass(frozen=True, eq=False, repr=False)
class Timeline(Result):
    """Exchange and TDRF over time; made by :func:`timeline`.

    Attributes
    ----------
    intervals : tuple of Interval
        Between consecutive events; without those in which nobody is present.
    entropy : int, list of int or str
        The seed: ``rng=entropy`` repeats the run; "a generator" where no seed does.
    """

    intervals: tuple[Interval, ...]
    entropy: Entropy

    def to_dataframe(self) -> pd.DataFrame:
        """One row per interval and user: holdings, tasks they support, tasks started on top."""
        rows = []
        for interval in self.intervals:
            problem = interval.filling.problem
            for k, user in enumerate(interval.present):
                row = {"start": float(interval.start), "user": user + 1}
                for r, name in enumerate(problem.resources):
                    row[f"holds {name}"] = float(interval.exchange.holdings[k, r])
                row["supported"] = float(interval.supported[k])
                row["started"] = int(interval.filling.tasks[k])
                row["share"] = float(interval.filling.dominant_shares[k])
                rows.append(row)
        return pd.DataFrame(rows)

    def summary(self) -> str:
        """What a person wants to read: holdings and tasks per interval, and what is wrong with them."""
        lines = ["exchange and TDRF over time"]
        for interval in self.intervals:
            end = "" if interval.end is None else f" to {float(interval.end):g}"
            lines.append(f"  from {float(interval.start):g}{end}")
            for k, user in enumerate(interval.present):
                holds = ", ".join(f"{float(v):g}" for v in interval.exchange.holdings[k])
                enough, more = float(interval.supported[k]), interval.filling.tasks[k]
                lines.append(
                    f"    user {user + 1} holds ({holds}), enough for {enough:g} tasks, starts {more} more"
                )
            for name, amount in zip(interval.filling.problem.resources, interval.excess, strict=True):
                if amount > 0:
                    lines.append(f"    contributions of {name} exceed its capacity by {float(amount):g}")
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Tasks of each user over time: those that its holdings support, and those started on top."""
        ax = given_axes(ax)
        starts = [float(interval.start) for interval in self.intervals]
        # The last interval has no end: it is drawn as long as the mean of the others.
        open_end = starts[-1] + (np.ptp(starts) / (len(starts) - 1) if len(starts) > 1 else 1.0)
        users = sorted(set().union(*(interval.present for interval in self.intervals)))
        ends = [open_end if one.end is None else float(one.end) for one in self.intervals]
        heights = np.full((len(users), len(starts)), np.nan)
        for k, interval in enumerate(self.intervals):
            tasks = interval.supported.astype(float) + interval.filling.tasks
            heights[[users.index(user) for user in interval.present], k] = tasks
        for above, user, path in zip(range(len(users))[::-1], users, heights, strict=True):
            # Wider below, so that lines of one height are seen.
            style = part_line(user) | {"linewidth": 1.5 + 1.5 * min(above, 3)}
            times, steps = np.column_stack([starts, ends]).ravel(), path.repeat(2)
            ax.plot(times, steps, label=f"user {user + 1}", **style)
        ax.set(xlabel="time", ylabel="tasks", ylim=(0, None), title="exchange and TDRF over time")
        legend_beside(ax)
        return ax


def timeline(
    contributions: ArrayLike,
    demands: ArrayLike,
    join_times: Sequence[Time | int],
    leave_times: Sequence[Time | int | None] | None = None,
    *,
    capacities: ArrayLike,
    initial_time: Time | int | None = None,
    final_time: Time | int | None = None,
    order: Sequence[int] | None = None,
    stop: str = "first misfit",
    ties: str | Sequence[int] = "first",
    rng: Seed = None,
) -> Timeline:
    """Users come and go; at each event those present exchange afresh, and TDRF fills the pool task by task.

    Nothing is carried over from one interval to the next: exchanges are undone and tasks start again.

    Parameters
    ----------
    contributions : array_like of shape (n_users, n_resources), resource units
    demands : array_like of shape (n_users, n_resources), resource units per task
        Positive where the user can use the resource.
    join_times, leave_times : sequence of numbers, time units
        None for a user who stays. Default: all stay.
    capacities : array_like of shape (n_resources,), resource units
        Of the pool. What the contributions have too much is reported, not refused.
    initial_time : number, optional
        Start of the system. Default: the earliest join time, so that those who joined then come first always.
    final_time, stop, ties, rng
        As for :func:`integer_tdrf`; an order of ties lists all users.
    order : sequence of int, optional
        Of all users in the exchange.

    Returns
    -------
    Timeline

    Raises
    ------
    ModelError
        If shapes, signs or times do not fit together.

    References
    ----------
    See :mod:`fairness.timed.timeline`.

    Examples
    --------
    >>> timeline([[0.5, 0.2], [0.4, 0.5]], [[0.1, 0], [0, 0.1]], [1, 2], capacities=[1, 1], initial_time=0)
    exchange and TDRF over time
      from 1 to 2
        user 1 holds (0.5, 0), enough for 5 tasks, starts 5 more
      from 2
        user 1 holds (0.7, 0), enough for 7 tasks, starts 3 more
        user 2 holds (0, 0.7), enough for 7 tasks, starts 0 more
    """
    axes = ("job_classes", "resources")
    _, (contributions, demands, join_times, leave_times, capacities) = by_label(
        dict.fromkeys(axes),
        {
            "contributions": (contributions, axes),
            "demands": (demands, axes),
            "join_times": (join_times, axes[:1]),
            "leave_times": (leave_times, axes[:1]),
            "capacities": (capacities, axes[1:]),
        },
    )
    amounts = float_array("contributions", contributions, ndim=2)
    n_users = len(amounts)
    if n_users == 0:
        raise ModelError.of("contributions", f"has shape {amounts.shape}; give at least one user")
    joins, leaves = _stays(join_times, leave_times, n_users)
    start = min(joins) if initial_time is None else as_time("initial_time", initial_time)
    whole = Problem(demands, capacities)
    require_shape("demands", whole.demands, amounts.shape, "contributions", amounts)
    # Both are checked on all users, so that a mistake shows whoever is present when.
    exchange(contributions, whole.demands, order=order)
    fill_tasks(whole, ties=ties)
    priority = [] if isinstance(ties, str) else list(ties)
    TDRF(joins, start, final_time)

    stream = generator(rng)
    entropy = entropy_of(stream)
    events = sorted({*joins, *(t for t in leaves if t is not None)})
    intervals = []
    rows = np.array(contributions, dtype=object)
    needs = np.array(demands, dtype=object)
    for begin, end in zip(events, [*events[1:], None], strict=True):
        present = [
            k for k in range(n_users) if joins[k] <= begin and ((leave := leaves[k]) is None or leave > begin)
        ]
        if not present:
            continue
        sequence = [present.index(k) for k in (range(n_users) if order is None else order) if k in present]
        swapped = exchange(_given(rows[present]), _given(needs[present]), order=sequence)
        pool = Problem(_given(needs[present]), capacities, job_classes=[f"user {k + 1}" for k in present])
        filling = integer_tdrf(
            pool,
            [joins[k] for k in present],
            start,
            final_time,
            holdings=_given(swapped.holdings),
            stop=stop,
            ties=ties if isinstance(ties, str) else [present.index(k) for k in priority if k in present],
            rng=stream,
        )
        # What is as small as a rounding error is none.
        slack = 0 if filling.is_exact else float(ROUNDING)
        over = [
            v - c if v > c * (1 + slack) else c * 0
            for v, c in zip(swapped.contributions.sum(axis=0), filling.amounts.capacities, strict=True)
        ]
        excess = array(over, filling.is_exact)
        intervals.append(Interval(begin, end, tuple(present), swapped, filling, excess))
    return Timeline(tuple(intervals), entropy)


def _stays(
    join_times: Sequence[Time | int], leave_times: Sequence[Time | int | None] | None, n_users: int
) -> tuple[tuple[Time, ...], list[Time | None]]:
    """When each user comes and goes; None where it stays."""
    joins = as_times("join_times", join_times)
    leaving = [None] * n_users if leave_times is None else leave_times
    leaves = [None if t is None else as_time("leave_times", t) for t in leaving]
    for name, size in (("join_times", len(joins)), ("leave_times", len(leaves))):
        if size != n_users:
            raise ModelError.of(name, f"has {size} entries; contributions has {n_users} users")
    for k, (join, leave) in enumerate(zip(joins, leaves, strict=True)):
        if leave is not None and leave <= join:
            raise ModelError(
                f"leave_times[{k}] = {leave} must be later than join_times[{k}] = {join}",
                argument="leave_times",
                index=(k,),
            )
    return joins, leaves


def _given(values: Numbers) -> ArrayLike:
    """Fractions stay what they are; floats become an array of floats again."""
    if all(isinstance(v, numbers.Rational) for v in values.flat):
        return values
    return values.astype(float)
