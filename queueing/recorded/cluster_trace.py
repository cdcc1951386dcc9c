"""What was asked of a real cluster: tasks with their arrivals, durations, demands and users, as arrays.

A *task* arrives, holds a vector of resources for its duration, and belongs to a *user* (a queue, a tenant:
who is entitled to a share) and perhaps to a job of several tasks. Recorded tasks repeat few demand vectors,
so these are stored once: task k has the type ``type_of[k]``, and row t of ``types`` is a demand vector. Two
types may demand the same and differ in the models of nodes on which they may run.

One resource may be counted in *devices* (GPUs): a demand below 1 is a part of one device, a whole demand
takes as many empty ones. A trace says nothing about nodes: those are a
:class:`~queueing.recorded.node_list.NodeList`, which makes models of both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import (
    FloatArray,
    checked_names,
    frozen,
    require_number,
    require_whole,
)
from fairness.display.drawing import curves, time_unit
from fairness.display.result import Result
from fairness.errors import ModelError
from fairness.machine.work import duration
from queueing.recorded.places import Indices, chosen, indices_into
from queueing.recorded.trace_arguments import checked_models, checked_times, checked_types

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ClusterTrace"]

OUTLASTED = 0.5
"""Part of the work that is done when the last task arrives, below which tasks outlast their trace."""

_SHOWN = 1000
"""Tasks from which a notebook gets no table unless it is asked for."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class ClusterTrace(Result):
    """Tasks of a recorded cluster in the order of arrival.

    Parameters
    ----------
    resources, units : sequence of str of length n_resources
        Names of the resources, and in what each is counted: ("CPU", "GPU"), ("cores", "devices").
    arrivals : array_like of shape (n_tasks,), seconds
        Finite, not decreasing.
    durations : array_like of shape (n_tasks,), seconds
        Finite, > 0: how long the task runs once it runs.
    types : array_like of shape (n_types, n_resources), units of resource per task
        Demand vectors; each demands something. Rows may be equal only if their eligible models differ.
    type_of : array_like of int, shape (n_tasks,)
        Row of ``types`` of each task.
    users : sequence of str of length n_users
        Who is entitled to a share: queues, tenants, classes of service.
    user_of : array_like of int, shape (n_tasks,)
        User of each task.
    models : sequence of str of length n_models, optional
        Models of nodes, such as GPU models; "" is that of a node without one.
    eligible_models : array_like of bool, shape (n_types, n_models), optional
        Where tasks of a type may run; each may run somewhere. Goes with ``models``.
    devices : int or str, optional
        The resource (place or name) whose units are devices. A demand above 1 must be whole.
    jobs : array_like of int, shape (n_tasks,), optional
        Number of the job of each task; without it every task is a job of its own.
    source : str
        Where it comes from, for people.
    notes : sequence of str
        What a reader dropped, cut or assumed, with counts.

    Attributes
    ----------
    type_of, user_of, jobs : ndarray of int32, shape (n_tasks,)
        ``jobs`` is None if it was not given.
    devices : int or None
        Place of the resource.

    Raises
    ------
    ModelError
        If lengths differ, an entry is out of range, arrivals decrease, or a type demands nothing, repeats
        another, may run nowhere or demands a broken number of devices above 1.

    Examples
    --------
    >>> trace = ClusterTrace(
    ...     ["CPU", "GPU"], ["cores", "devices"], [0, 5, 9], [60, 10, 30], [[4, 0], [8, 0.5]], [0, 1, 1],
    ...     ["research", "production"], [0, 1, 0], devices="GPU",
    ... )
    >>> trace.types[trace.type_of].sum(axis=0)
    array([20.,  1.])
    >>> trace
    ClusterTrace(3 tasks of 2 types and 2 users, arriving over 9 s)
      durations: 10 s to 60 s, median 30 s
      CPU: 4 to 8 cores a task; offers a load of 62.2 cores
      GPU (devices): 0 to 0.5 devices a task; offers a load of 2.22 devices
      tasks outlast the trace: if none waited, 12% of the work would be done when the last one arrives
    """

    resources: tuple[str, ...]
    units: tuple[str, ...]
    arrivals: FloatArray
    durations: FloatArray
    types: FloatArray
    type_of: Indices
    users: tuple[str, ...]
    user_of: Indices
    models: tuple[str, ...]
    eligible_models: NDArray[np.bool_] | None
    devices: int | None
    jobs: Indices | None
    source: str
    notes: tuple[str, ...]

    def __init__(
        self,
        resources: Sequence[str],
        units: Sequence[str],
        arrivals: ArrayLike,
        durations: ArrayLike,
        types: ArrayLike,
        type_of: ArrayLike,
        users: Sequence[str],
        user_of: ArrayLike,
        *,
        models: Sequence[str] | None = None,
        eligible_models: ArrayLike | None = None,
        devices: int | str | None = None,
        jobs: ArrayLike | None = None,
        source: str = "",
        notes: Sequence[str] = (),
    ) -> None:
        columns = checked_names("resources", resources, len(resources), "resource")
        measures = tuple(str(unit) for unit in units)
        if len(measures) != len(columns):
            raise ModelError.of("units", f"must name {len(columns)} units, one per resource; got {measures}")
        times, lasting = checked_times(arrivals, durations)
        demands, place = checked_types(types, columns, devices)
        kinds, allowed = checked_models(models, eligible_models, demands)
        owners = checked_names("users", users, len(users), "user")
        vars(self).update(
            resources=columns,
            units=measures,
            arrivals=frozen(times),
            durations=frozen(lasting),
            types=frozen(demands),
            type_of=indices_into("type_of", type_of, len(demands), "types"),
            users=owners,
            user_of=indices_into("user_of", user_of, len(owners), "users"),
            models=kinds,
            eligible_models=allowed,
            devices=place,
            jobs=None if jobs is None else indices_into("jobs", jobs, 2**31 - 1, "numbers of jobs"),
            source=str(source),
            notes=(notes,) if isinstance(notes, str) else tuple(str(note) for note in notes),
        )
        for name in ("durations", "type_of", "user_of", "jobs"):
            values = vars(self)[name]
            if values is not None and len(values) != len(times):
                raise ModelError.of(
                    name, f"must have an entry per task: arrivals has {len(times)}; got {len(values)}"
                )

    @property
    def n_tasks(self) -> int:
        """Number of tasks."""
        return len(self.arrivals)

    @property
    def n_types(self) -> int:
        """Number of types."""
        return len(self.types)

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.users)

    @property
    def n_resources(self) -> int:
        """Number of resources."""
        return len(self.resources)

    @property
    def span(self) -> float:
        """Seconds from the first to the last arrival."""
        return float(self.arrivals[-1] - self.arrivals[0])

    def held_by(
        self, owners: Indices, count: int, weights: ArrayLike = 1.0, tasks: Any = slice(None)
    ) -> FloatArray:
        """Demands of some tasks, times their weights, added up by owner, (count, n_resources)."""
        kinds = self.type_of[tasks]
        columns = [
            np.bincount(owners, weights * self.types[kinds, r], count) for r in range(self.n_resources)
        ]
        return np.stack(columns, axis=1)

    @cached_property
    def type_seconds(self) -> FloatArray:
        """Seconds that the tasks of each type run, all together, shape (n_types,)."""
        seconds = np.bincount(self.type_of, weights=self.durations, minlength=self.n_types)
        return frozen(np.asarray(seconds, dtype=float))

    @cached_property
    def work(self) -> FloatArray:
        """Units of each resource times seconds that all tasks hold together, shape (n_resources,)."""
        return frozen(self.type_seconds @ self.types)

    @property
    def offered_usage(self) -> FloatArray:
        """Work that arrives per second: units in use on average if no task waited and the trace went on so.

        Divided by the capacities of nodes it is the offered load. Infinite if all tasks arrive at once. Where
        tasks outlast the trace, less is in use than that: see :attr:`part_done`.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.work > 0, self.work / self.span, 0.0)

    @cached_property
    def part_done(self) -> float:
        """Part of the work that would be done when the last task arrives if none waited; the largest of all
        resources.

        Near 1 for a long trace of short tasks. Where it is small, the offered load never builds up: most of
        the work lies behind the last arrival.
        """
        seconds = np.minimum(self.durations, self.arrivals[-1] - self.arrivals)
        done = np.bincount(self.type_of, weights=seconds, minlength=self.n_types) @ self.types
        return float(np.divide(done, self.work, out=np.zeros_like(done), where=self.work > 0).max())

    @cached_property
    def peak_usage(self) -> FloatArray:
        """Most units of each resource in use at a time if no task waited, shape (n_resources,).

        Examples
        --------
        >>> trace = ClusterTrace(["CPU"], ["cores"], [0, 4, 5], [5, 9, 9], [[2]], [0] * 3, ["u"], [0] * 3)
        >>> trace.peak_usage, trace.offered_usage, trace.part_done
        (array([4.]), array([9.2]), 0.2608695652173913)
        """
        times = np.concatenate([self.arrivals + self.durations, self.arrivals])
        # What ends at an instant leaves before what arrives then.
        order = np.argsort(times, kind="stable")
        held = self.types[self.type_of]
        paths = [np.concatenate([-held[:, r], held[:, r]])[order].cumsum() for r in range(self.n_resources)]
        return frozen(np.array([path.max() for path in paths]))

    @cached_property
    def type_names(self) -> tuple[str, ...]:
        """A name for each type: what it demands, and where it may run if not everywhere.

        Examples
        --------
        >>> units = ["cores", "devices"]
        >>> ClusterTrace(["CPU", "GPU"], units, [0], [1], [[4, 0.5]], [0], ["u"], [0]).type_names
        ('CPU 4, GPU 0.5',)
        """
        names = []
        for t, row in enumerate(self.types):
            shown = zip(self.resources, row, strict=True)
            text = ", ".join(f"{name} {value:g}" for name, value in shown if value > 0)
            if self.eligible_models is not None and not self.eligible_models[t].all():
                allowed = zip(self.models, self.eligible_models[t], strict=True)
                text += " on " + " or ".join(name or "no model" for name, may in allowed if may)
            names.append(text)
        uses = Counter(names)
        return tuple(f"{name} (type {t + 1})" if uses[name] > 1 else name for t, name in enumerate(names))

    def head(self, n: int) -> Self:
        """The first n tasks (all, if there are fewer); types and users keep their places."""
        return self._only(slice(0, require_whole("n", n, 1)))

    def between(self, start: float, end: float) -> Self:
        """Tasks that arrive from ``start`` to before ``end``, in seconds; their times stay as they are.

        Raises
        ------
        ModelError
            If no task arrives then.
        """
        first, last = np.searchsorted(self.arrivals, [float(start), float(end)])
        if not first < last:
            raise ModelError.of(
                "start",
                f"and end: no task arrives from {start:g} to {end:g} s; arrivals lie from "
                f"{self.arrivals[0]:g} to {self.arrivals[-1]:g} s",
            )
        return self._only(slice(int(first), int(last)))

    def only(self, tasks: ArrayLike, note: str = "") -> Self:
        """Some of the tasks, by a mask or by place, in their order; ``note`` says which.

        Raises
        ------
        ModelError
            If there is none of these, a place is out of range, or the mask has another length.
        """
        places = np.unique(chosen("tasks", tasks, self.n_tasks))
        if not len(places):
            raise ModelError.of("tasks", "lists no task; a trace holds at least one")
        made = self._only(places)
        for name in ("arrivals", "durations", "type_of", "user_of", "jobs"):
            if vars(made)[name] is not None:
                frozen(vars(made)[name])
        return made.noted(note) if note else made

    def noted(self, note: str) -> Self:
        """The same trace with one more note."""
        return self._with(notes=(*self.notes, note))

    def scaled(self, factor: float) -> Self:
        """The same tasks, arriving ``factor`` times as fast, so that the load is ``factor`` times as large.

        Examples
        --------
        >>> trace = ClusterTrace(["CPU"], ["cores"], [10, 14], [1, 1], [[2]], [0, 0], ["u"], [0, 0])
        >>> trace.scaled(2).arrivals, trace.scaled(2).offered_usage / trace.offered_usage
        (array([10., 12.]), array([2.]))
        """
        factor = require_number("factor", factor, above=0)
        first = self.arrivals[0]
        with np.errstate(over="ignore"):
            arrivals = first + (self.arrivals - first) / factor
        if not np.isfinite(arrivals[-1]):
            raise ModelError.of("factor", f"is too small: with {factor:g} the last task never arrives")
        return self._with(arrivals=frozen(arrivals)).noted(f"arrivals {factor:g} times as fast as recorded")

    def to_dataframe(self) -> pd.DataFrame:
        """One row per task: arrival, duration, user, job if there are jobs, units of each resource."""
        import pandas as pd

        columns: dict[str, Any] = {
            "arrival": self.arrivals,
            "duration": self.durations,
            "user": np.array(self.users, dtype=object)[self.user_of],
        }
        if self.jobs is not None:
            columns["job"] = self.jobs
        demands = self.types[self.type_of]
        columns |= {name: demands[:, r] for r, name in enumerate(self.resources)}
        return pd.DataFrame(columns, index=pd.RangeIndex(self.n_tasks, name="task"))

    def _table(self) -> pd.DataFrame | None:
        return self.to_dataframe() if self.n_tasks <= _SHOWN else None

    def summary(self) -> str:
        """Tasks, durations, demands, and what a reader noted."""
        low, median, high = np.quantile(self.durations, [0, 0.5, 1])
        lines = [
            f"ClusterTrace({_several(self.n_tasks, 'task')} of {_several(self.n_types, 'type')} and "
            f"{_several(self.n_users, 'user')}, arriving over {duration(self.span)})",
            f"durations: {duration(low)} to {duration(high)}, median {duration(median)}",
        ]
        used = self.types[np.unique(self.type_of)]
        for r, (name, unit) in enumerate(zip(self.resources, self.units, strict=True)):
            name += " (devices)" if r == self.devices else ""
            low, high = used[:, r].min(), used[:, r].max()
            text = f"{name}: {low:g} to {high:g} {unit} a task"
            if self.span > 0:
                text += f"; offers a load of {self.offered_usage[r]:.3g} {unit}"
            lines.append(text)
        if self.span > 0 and self.part_done < OUTLASTED:
            lines.append(
                f"tasks outlast the trace: if none waited, {self.part_done:.0%} of the work would be done "
                "when the last one arrives"
            )
        if self.eligible_models is not None:
            free = np.asarray(self.eligible_models.all(axis=1))
            tied = self.n_tasks - int(np.count_nonzero(free[self.type_of]))
            lines.append(f"models of nodes: {', '.join(m or 'none' for m in self.models)}; "
                         f"{_several(tied, 'task')} may not run on all")  # fmt: skip
        lines += [f"source: {self.source}"] * bool(self.source)
        lines += [f"note: {note}" for note in self.notes]
        return "\n  ".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Units in use over time if no task waited, as part of the peak of each resource."""
        ends = self.arrivals + self.durations
        grid = np.linspace(self.arrivals[0], ends.max(), 401)
        paths = np.zeros((len(grid), self.n_resources))
        for r in range(self.n_resources):
            held = self.types[self.type_of, r]
            begun, _ = np.histogram(self.arrivals, _after(grid), weights=held)
            over, _ = np.histogram(ends, _after(grid), weights=held)
            paths[:, r] = np.cumsum(begun - over)
        peaks = paths.max(axis=0)
        unit, seconds = time_unit(grid[-1] - grid[0])
        return curves(
            ax,
            (grid - grid[0]) / seconds,
            paths / np.where(peaks > 0, peaks, 1.0),
            [f"{name} (peak {peak:.4g} {unit})" for name, peak, unit in zip(
                self.resources, peaks, self.units, strict=True)],
            xlabel=f"{unit} since the first arrival",
            ylabel="in use if no task waited / peak",
            title="What the trace asks for",
        )  # fmt: skip

    def _only(self, part: slice | NDArray[np.int64]) -> Self:
        names = ("arrivals", "durations", "type_of", "user_of", "jobs")
        return self._with(**{name: vars(self)[name][part] for name in names if vars(self)[name] is not None})

    def _with(self, **changes: Any) -> Self:
        """The same trace with other arrays, which are known to be right."""
        made = object.__new__(type(self))
        vars(made).update({name: vars(self)[name] for name in self.__dataclass_fields__} | changes)
        return made


def _several(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


def _after(grid: FloatArray) -> FloatArray:
    """Bins of a histogram whose running sums count what has happened up to each point of a grid."""
    return np.concatenate([[-np.inf], np.nextafter(grid, np.inf)])
