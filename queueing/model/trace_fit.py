r"""Classes, rates and laws that stand for a recorded cluster, so that theory can be set beside a replay.

A task of a trace becomes a job that runs one task at a time (``limits`` 1), on one pool with the capacities
of all nodes: nodes, placement constraints and whole tasks are forgotten. What remains is the model of the
talk of Bonald and Roberts, and three things are estimated.

*Classes.* Traces have hundreds of demand vectors, most of them rare. The types that bring most work keep a
class each (its part of a resource, in the resource of which it brings most); every other type joins the
class that needs the same resources, or nearly the same, and among those the nearest, where a difference in
a resource counts in units of what a second of work holds of it on average. A class demands what its tasks
hold on average, weighted by their durations, and so **the load of every resource is that of the trace
exactly**, however few classes are kept.

*Rates.* Tasks of the class over the span of the trace. Whether they come like a Poisson process is told by
the index of dispersion :math:`D` of the numbers of arrivals in n equal windows, variance over mean: for a
Poisson process :math:`(n-1) D` has nearly a chi-square law with n - 1 degrees of freedom [1]_. Recorded
arrivals often come in bursts, of which the rates know nothing: where D is large, tasks that a replay lets
wait for hours are served at once in the system that stands for them. The summary says so
(:attr:`TraceFit.bursts`).

*Bursts*, on request: an on-off process per class with :math:`D > 2`. A rate that varies with variance v and
correlation :math:`e^{-t/\tau}` gives windows of length t the dispersion [2]_

.. math:: D(t) = 1 + \frac{2 v\tau}{\lambda}\Big(1 - \frac{1 - e^{-t/\tau}}{t/\tau}\Big),

and two lengths, a hundredth and a thousandth of the span, give :math:`\tau` and v. The process is on for a
part :math:`p = \lambda^2/(\lambda^2 + v)` of the time, for :math:`\tau/(1-p)` on average, then off for
:math:`\tau/p`. A rate that changes over the whole of the span, as days do, is a burst of a tenth of it; and
that classes burst together is left out.

*Laws of sizes.* Exponential; of phase type with the mean and variance of the recorded durations (a variance
below a thousandth of the squared mean counts as that: it takes a thousand phases); or the recorded durations
themselves. How far the law lies from the recorded ones is told by the Kolmogorov-Smirnov
distance :math:`\sup_s |P(S \le s) - \hat F(s)|`.

References
----------
.. [1] D. R. Cox and P. A. W. Lewis, "The Statistical Analysis of Series of Events", Methuen, 1966,
   section 6.3.
.. [2] H. Heffes and D. M. Lucantoni, "A Markov modulated characterization of packetized voice and data
   traffic and related statistical multiplexer performance", IEEE Journal on Selected Areas in Communications
   4(6), 1986. DOI 10.1109/JSAC.1986.1146393.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammaincinv

from fairness.arguments.validation import FloatArray, frozen, require_choice, require_whole
from fairness.display.colours import part_colour
from fairness.display.drawing import given_axes, legend_beside
from fairness.display.lettering import label
from fairness.display.result import Result
from fairness.display.storage import LATER
from fairness.display.tables import aligned
from fairness.errors import ModelError
from fairness.machine.work import duration
from fairness.model.problem import Problem
from queueing.model.arrivals import Arrivals, OnOff, Poisson
from queueing.model.laws import Empirical, Exponential, Law
from queueing.model.phase_type import fit_phases, phases_of
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.node_list import NodeList
from queueing.recorded.places import Indices, indices_into

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["TraceFit", "fit_trace"]

WINDOWS = 100
"""Equal parts of the span in which arrivals are counted."""
FINER = 10
"""Parts of a window, in which they are counted for the length of bursts."""
DOUBT = 0.001
"""Probability with which a Poisson process is taken for another one."""
BURSTS = 2.0
"""Index of dispersion from which arrivals are said to come in bursts."""
FEWEST_PHASES = 1e-3
"""Smallest squared coefficient of variation of a phase-type law: it takes its inverse in phases."""


def _exponential(durations: FloatArray) -> Law:
    return Exponential(float(durations.mean()))


def _phases(durations: FloatArray) -> Law:
    mean = float(durations.mean())
    return fit_phases(mean, max(float(durations.var()) / mean**2, FEWEST_PHASES))


ARRIVALS = ("poisson", "on-off")
LAWS: dict[str, Callable[[FloatArray], Law]] = {
    "phases": _phases,
    "exponential": _exponential,
    "recorded": Empirical,
}


@dataclass(frozen=True, eq=False, repr=False)
class TraceFit(Result):
    """What was estimated from a trace; made by :func:`fit_trace`.

    Attributes
    ----------
    problem : Problem
        The pool; every job runs at most one task.
    arrival_rates : ndarray of shape (n_classes,), jobs per second
    sizes : tuple of Law, seconds
        One per class.
    class_of : ndarray of int, shape (n_types,)
        Class of each type of the trace; -1 for a type without tasks.
    tasks : ndarray of int, shape (n_classes,)
        Tasks behind each class.
    variation : ndarray of shape (n_classes,)
        Squared coefficient of variation of the recorded durations.
    distances : ndarray of shape (n_classes,)
        Kolmogorov-Smirnov distance of the law from the recorded durations.
    dispersion : ndarray of shape (n_classes,)
        Index of dispersion of the numbers of arrivals in a hundred equal windows; NaN for fewer tasks than
        windows.
    spread : ndarray of shape (n_classes,)
        Largest relative difference, in one resource, between a class and a type that joined it.
    total_dispersion : float
        Index of dispersion of the arrivals of all tasks together; NaN for fewer than windows.
    busiest : float
        Work that arrives in the busiest window over that of the mean one, where that is largest of all
        resources.
    bursts_of : ndarray of shape (n_classes, 2), seconds, or None
        Mean times for which the arrivals of each class are on and off; NaN where they are Poisson, None if
        bursts were not asked for.
    """

    problem: Problem
    arrival_rates: FloatArray
    sizes: tuple[Law, ...]
    class_of: Indices
    tasks: Indices
    variation: FloatArray
    distances: FloatArray
    dispersion: FloatArray
    spread: FloatArray
    total_dispersion: float = field(default=np.nan, metadata=LATER)
    busiest: float = field(default=np.nan, metadata=LATER)
    bursts_of: FloatArray | None = field(default=None, metadata=LATER)

    @property
    def bursts(self) -> str:
        """What the rates leave out of arrivals that come in bursts; empty where they do not.

        A Poisson process has dispersion 1, and so few windows have several times the mean work that a system
        far below its capacity lets nobody wait.
        """
        most = np.fmax.reduce([self.total_dispersion, *self.dispersion], initial=0.0)
        if most < BURSTS or self.bursts_of is not None:
            return ""
        return (
            f"arrivals come in bursts: their numbers vary {most:.3g} times as much as those of a Poisson "
            f"process, and in the busiest hundredth of the time {self.busiest:.3g} times the mean work "
            "arrives; the fitted system leaves that out, and tasks may wait far longer in a replay"
        )

    @property
    def arrivals(self) -> tuple[Arrivals, ...]:
        """Arrival process of each class."""
        if self.bursts_of is None:
            return (Poisson(),) * len(self.tasks)
        return tuple(Poisson() if np.isnan(on) else OnOff(on, off) for on, off in self.bursts_of.tolist())

    @property
    def poisson(self) -> np.ndarray:
        """Where arrivals may come from a Poisson process: its law gives such counts in 99.9 % of all cases.

        False also where there are too few tasks to tell.
        """
        # Quantiles of a chi-squared variable over its degrees of freedom.
        half = (WINDOWS - 1) / 2
        low, high = gammaincinv(half, [DOUBT / 2, 1 - DOUBT / 2]) / half
        with np.errstate(invalid="ignore"):
            return np.asarray((self.dispersion >= low) & (self.dispersion <= high))

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: tasks, rate, law and the distances that say how well it stands for them."""
        import pandas as pd

        return pd.DataFrame(
            {
                "types": np.bincount(self.class_of[self.class_of >= 0], minlength=len(self.tasks)),
                "tasks": self.tasks,
                "arrival_rate": self.arrival_rates,
                "mean_size": [law.mean for law in self.sizes],
                "law": [str(law) for law in self.sizes],
                "scv": self.variation,
                "ks_distance": self.distances,
                "dispersion": self.dispersion,
                "spread": self.spread,
            },
            index=pd.Index(self.problem.job_classes, name="job_class"),
        )

    def summary(self) -> str:
        """Classes with their rates and laws, and how far these are from what was recorded."""
        head = ["class", "tasks", "per hour", "mean", "scv", "distance", "dispersion"]
        rows = [
            [
                name,
                f"{self.tasks[i]:,}",
                f"{3600 * self.arrival_rates[i]:.3g}",
                duration(self.sizes[i].mean),
                f"{self.variation[i]:.3g}",
                f"{self.distances[i]:.2f}",
                "too few" if np.isnan(self.dispersion[i]) else f"{self.dispersion[i]:.3g}",
            ]
            for i, name in enumerate(self.problem.job_classes)
        ]
        told, known = int(np.isfinite(self.dispersion).sum()), int(self.poisson.sum())
        lines = [
            f"TraceFit({len(rows)} classes of {int((self.class_of >= 0).sum())} types; "
            f"laws: {_kind(self.sizes)})",
            *aligned([head, *rows]),
            "  distance: of the law from the recorded durations (Kolmogorov-Smirnov), 0 to 1",
            f"  dispersion: 1 for a Poisson process; {known} of {told} classes may be one",
            f"  left out: nodes, placement constraints and whole tasks, and {self._not_told}",
            *([f"  {self.bursts}"] * bool(self.bursts)),
        ]
        return "\n".join(lines)

    @property
    def _not_told(self) -> str:
        return "when arrivals come" if self.bursts_of is None else "that classes come in bursts together"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Load of each resource by class, as a part of its capacity: it is the load of the trace."""
        ax = given_axes(ax)
        loads = (self.arrival_rates * [law.mean for law in self.sizes])[:, None] * self.problem.task_shares
        below = np.zeros(self.problem.n_resources)
        for k, (name, row) in enumerate(zip(self.problem.job_classes, loads, strict=True)):
            ax.bar(range(len(row)), row, bottom=below, color=part_colour(k), label=label(name))
            below += row
        ax.set_xticks(range(len(below)), [label(name) for name in self.problem.resources])
        ax.set(ylabel="offered load / capacity", title="Who brings the load")
        legend_beside(ax)
        return ax


def fit_trace(
    trace: ClusterTrace,
    nodes: NodeList,
    *,
    classes: int = 8,
    sizes: str = "phases",
    arrivals: str = "poisson",
) -> TraceFit:
    """Classes, arrival rates and laws of sizes of a recorded cluster, with how far they are from the record.

    Parameters
    ----------
    trace : ClusterTrace
    nodes : NodeList
        Their capacities are taken together.
    classes : int
        Most classes; types beyond join the nearest (see :mod:`queueing.model.trace_fit`).
    sizes : {"phases", "exponential", "recorded"}
        Laws: of phase type with the recorded mean and variance, exponential, or the recorded durations.
    arrivals : {"poisson", "on-off"}
        Poisson processes, or on-off ones where the recorded arrivals come in bursts.

    Returns
    -------
    TraceFit
        :meth:`queueing.System.from_trace` makes a system of it.

    Raises
    ------
    ModelError
        If the nodes count other resources, all tasks arrive at once, or an argument is out of range.

    Examples
    --------
    >>> trace = ClusterTrace(["CPU"], ["cores"], [0, 10, 20, 40], [5, 15, 10, 10], [[4], [1], [2]],
    ...                      [0, 1, 2, 0], ["u"], [0] * 4)
    >>> fit = fit_trace(trace, NodeList(["a"], ["CPU"], ["cores"], [[8]]), classes=2)
    >>> fit.problem.demands.ravel(), fit.tasks
    (array([4. , 1.4]), array([2, 2], dtype=int32))

    The load is that of the trace:

    >>> from queueing import System
    >>> System.from_trace(fit).resource_loads, trace.offered_usage
    (array([2.375]), array([2.375]))
    """
    nodes.require_same_resources(trace)
    classes = require_whole("classes", classes, 1)
    fitted = LAWS[require_choice("sizes", sizes, tuple(LAWS))]
    on_off = require_choice("arrivals", arrivals, ARRIVALS) == "on-off"
    if not trace.span > 0:
        raise ModelError.of(
            "trace", "has all its tasks at one time, which gives no arrival rates; take a longer part"
        )
    class_of = _classes(trace, classes)
    n = int(class_of.max()) + 1
    owner = class_of[trace.type_of]
    tasks = np.bincount(owner, minlength=n)
    demands = _mean_demands(trace, class_of, n)
    laws, variation, distances, dispersion = [], np.zeros(n), np.zeros(n), np.full(n, np.nan)
    bursts = np.full((n, 2), np.nan)
    for i in range(n):
        mine = owner == i
        durations = trace.durations[mine]
        laws.append(fitted(durations))
        variation[i] = durations.var() / durations.mean() ** 2
        distances[i] = _distance(laws[i], durations)
        dispersion[i] = _dispersion(trace, mine)
        if dispersion[i] > BURSTS:
            bursts[i] = _on_and_off(trace, mine, dispersion[i])
    problem = Problem(
        demands,
        nodes.total_capacities,
        limits=np.ones(n),
        job_classes=_names(trace, class_of, demands),
        resources=trace.resources,
    )
    return TraceFit(
        problem,
        frozen(tasks / trace.span),
        tuple(laws),
        class_of,
        indices_into("tasks", tasks, 2**31 - 1, "tasks"),
        frozen(variation),
        frozen(distances),
        frozen(dispersion),
        frozen(_spread(trace, class_of, demands)),
        total_dispersion=_dispersion(trace, np.ones(trace.n_tasks, dtype=bool)),
        busiest=_busiest(trace),
        bursts_of=frozen(bursts) if on_off else None,
    )


def _in_windows(
    trace: ClusterTrace, values: FloatArray | None, mine: NDArray[np.bool_], windows: int = WINDOWS
) -> FloatArray:
    """Numbers of arrivals, or sums of their values, in equal windows."""
    ends = trace.arrivals[0], trace.arrivals[-1]
    weights = None if values is None else values[mine]
    return np.histogram(trace.arrivals[mine], windows, ends, weights=weights)[0].astype(float)


def _dispersion(trace: ClusterTrace, mine: NDArray[np.bool_], windows: int = WINDOWS) -> float:
    """Variance over mean of the numbers of arrivals; NaN where they are too few."""
    counts = _in_windows(trace, None, mine, windows)
    return float(counts.var(ddof=1) / counts.mean()) if counts.sum() >= WINDOWS else np.nan


def _on_and_off(trace: ClusterTrace, mine: NDArray[np.bool_], dispersion: float) -> tuple[float, float]:
    """Mean times on and off of the process that has the dispersion of windows and of parts of them.

    Bursts far shorter than the parts are taken as a tenth of one, far longer than the windows as ten of them.
    """

    def part(windows: float, length: float) -> float:
        # Of the dispersion in the long run, what windows show of bursts of this length in windows.
        return 1.0 + length * windows * np.expm1(-1.0 / (length * windows))

    def off(length: float) -> float:
        return part(FINER, length) / part(1.0, length) - seen

    seen = (_dispersion(trace, mine, FINER * WINDOWS) - 1.0) / (dispersion - 1.0)
    shortest, longest = 0.1 / FINER, 10.0
    if off(shortest) * off(longest) < 0:
        length = float(brentq(off, shortest, longest))
    else:
        length = shortest if off(shortest) < 0 else longest
    rate, time = mine.sum() / trace.span, length * trace.span / WINDOWS
    variance = (dispersion - 1.0) * rate / (2 * time * part(1.0, length))
    on = rate**2 / (rate**2 + variance)
    return time / (1.0 - on), time / on


def _busiest(trace: ClusterTrace) -> float:
    """Work in the busiest window over that in the mean one, of the resource where it is largest."""
    every, found = np.ones(trace.n_tasks, dtype=bool), 0.0
    for r in np.flatnonzero(trace.work > 0):
        work = _in_windows(trace, trace.durations * trace.types[trace.type_of, r], every)
        found = max(found, float(work.max() / work.mean()))
    return found


def _work(trace: ClusterTrace) -> FloatArray:
    """Part of the work of each resource that each type brings, (n_types, n_resources)."""
    work = trace.type_seconds[:, None] * trace.types
    return np.asarray(work / np.where(trace.work > 0, trace.work, 1.0))


def _classes(trace: ClusterTrace, classes: int) -> Indices:
    """Class of each type, by decreasing work; -1 for types without tasks."""
    weight = _work(trace).max(axis=1)
    used = np.flatnonzero(weight > 0)
    leaders = used[np.argsort(-weight[used], kind="stable")][:classes]
    unit = trace.work / trace.durations.sum()
    scaled = trace.types / np.where(unit > 0, unit, 1.0)
    found = np.full(trace.n_types, -1, dtype=np.int32)
    for t in used:
        # First by the resources that a task needs at all, then by how much.
        other = ((scaled[leaders] > 0) != (scaled[t] > 0)).sum(axis=1)
        found[t] = np.lexsort([((scaled[leaders] - scaled[t]) ** 2).sum(axis=1), other])[0]
    found[leaders] = np.arange(len(leaders))
    return frozen(found)


def _mean_demands(trace: ClusterTrace, class_of: Indices, n: int) -> FloatArray:
    own = trace.type_seconds
    total, seconds = np.zeros((n, trace.n_resources)), np.zeros(n)
    used = class_of >= 0
    np.add.at(total, class_of[used], own[used, None] * trace.types[used])
    np.add.at(seconds, class_of[used], own[used])
    return np.asarray(total / seconds[:, None])


def _spread(trace: ClusterTrace, class_of: Indices, demands: FloatArray) -> FloatArray:
    spread = np.zeros(len(demands))
    used = np.flatnonzero(class_of >= 0)
    mean = demands[class_of[used]]
    apart = np.abs(trace.types[used] - mean) / np.where(mean > 0, mean, 1.0)
    np.maximum.at(spread, class_of[used], apart.max(axis=1))
    return spread


def _distance(law: Law, durations: FloatArray) -> float:
    """Largest difference between the law and the recorded durations; a jump counts on both sides."""
    if isinstance(law, Empirical):
        return 0.0
    values, counts = np.unique(durations, return_counts=True)
    after = np.cumsum(counts) / len(durations)
    model = phases_of(law).cdf(values)
    return float(max(np.abs(model - after).max(), np.abs(model - (after - counts / len(durations))).max()))


def _names(trace: ClusterTrace, class_of: Indices, demands: FloatArray) -> Sequence[str]:
    """What a task of the class demands on average; numbered where two would be called alike."""
    names = [
        ", ".join(f"{r} {x:.3g}" for r, x in zip(trace.resources, row, strict=True) if x > 0)
        for row in demands
    ]
    return [f"{name} (class {i + 1})" if names.count(name) > 1 else name for i, name in enumerate(names)]


def _kind(laws: Sequence[Law]) -> str:
    return {Exponential: "exponential", Empirical: "recorded durations"}.get(
        type(laws[0]), "of phase type, recorded mean and variance"
    )
