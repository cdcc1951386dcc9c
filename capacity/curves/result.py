"""Means against the load, of several methods side by side: as a table, labelled data and a picture."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from capacity.means.found import CHAIN, COLUMNS, FORMULA, MEANS, PROVED, SIMULATION, Found
from capacity.means.words import BALANCED, BOUND, METHODS, OPTIMAL
from fairness.arguments.validation import Entropy, require_choice
from fairness.catalogue import coloured
from fairness.display.drawing import bars, given_axes, legend_above, panels
from fairness.display.latex import to_latex
from fairness.display.lettering import label
from fairness.display.lines import label_ends, line_styles
from fairness.display.result import Result
from fairness.display.storage import LATER
from fairness.display.tables import aligned, rounded_down, rounded_up
from fairness.display.units import described
from fairness.display.wording import percent, rough
from fairness.model.problem import FloatArray
from queueing.model.system import System

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from queueing.optima.optimum import Optimum

__all__ = ["NOTHING", "UNSTABLE", "LoadCurves", "Solved"]

UNSTABLE = "unstable"
"""How a cell was settled that has no stationary law."""

NOTHING = "nothing"
"""How well a cell is known of which nothing is."""

SEVERAL = 40
"""Rows that a summary lists."""

CAPTIONS = {
    "mean_jobs": ("mean jobs", "mean jobs"),
    "mean_durations": ("mean durations", "mean duration (time)"),
    "service_rates": ("mean service rates", "mean service rate (tasks per active job)"),
}
"""Of each quantity its name in a sentence, and on an axis."""

UNSURE = 5e-3
"""Error that is told, in units of what it is about."""

ACROSS = 2
"""Panels beside each other: with the names at the ends of the lines, as many as a page is wide."""


@dataclass(frozen=True, eq=False, repr=False)
class LoadCurves(Result):
    """Means of a system against its load, of several methods; made by :func:`capacity.load_curves`.

    Attributes
    ----------
    system : System
        At the load that it came with.
    loads : ndarray of shape (n_loads,)
        Relative loads of the busiest resource, of a cluster those of all servers.
    methods : tuple of str
        Names of the policies; "balanced fairness", and "bound", the closed-form bound of it.
    mean_jobs, mean_durations, service_rates : ndarray of shape (n_loads, n_methods, n_classes)
        Jobs, time, tasks per active job; NaN where a method has none.
    mean_jobs_error, mean_durations_error, service_rates_error : ndarray, same shape
        Of a chain an estimate; of balanced fairness a bound of what truncation leaves out; of a simulation
        the half-width of a confidence interval, infinite where the run is too short for one, and NaN like
        the means of a class of which it saw no job; of the bound 0.
    found_by : tuple of tuple of str
        By load and method: "chain", "simulation", "balanced", "bound"; empty where there are no means.
    remarks : tuple of tuple of str
        Why a point was simulated, or has no interval; empty for others.
    errors : tuple of tuple of str
        Why there are no means; empty where there are.
    confidence : float
        Level of the intervals by simulation.
    entropy : int, list of int, str or None
        Seed that repeats the simulations, "a generator" where none does; None where nothing was simulated.
    """

    system: System
    loads: FloatArray
    methods: tuple[str, ...]
    mean_jobs: FloatArray
    mean_durations: FloatArray
    service_rates: FloatArray
    mean_jobs_error: FloatArray
    mean_durations_error: FloatArray
    service_rates_error: FloatArray
    found_by: tuple[tuple[str, ...], ...]
    remarks: tuple[tuple[str, ...], ...]
    errors: tuple[tuple[str, ...], ...]
    confidence: float
    entropy: Entropy | None

    _words: ClassVar[tuple[str, ...]] = ("found_by", "remarks", "errors")
    """What is said of each load and method."""

    def to_dataframe(self) -> pd.DataFrame:
        """One row per load, method and class: the means, their errors, and how they were found."""
        return self.to_dataset().to_dataframe(["load", "policy", "job_class"])

    def table(self, quantity: str = "service_rates") -> pd.DataFrame:
        """One quantity, a row per class and load, a column per method."""
        import pandas as pd

        values = getattr(self, require_choice("quantity", quantity, CAPTIONS))
        names = list(self.system.problem.job_classes)
        index = pd.MultiIndex.from_product([names, self.loads.tolist()], names=["job_class", "load"])
        rows = np.moveaxis(values, 2, 0).reshape(-1, len(self.methods))
        return pd.DataFrame(rows, index=index, columns=pd.Index(self.methods, name="policy"))

    def to_dataset(self) -> xr.Dataset:
        """The same with labels: dimensions load, policy and job_class."""
        import xarray as xr

        dims = ("load", "policy", "job_class")
        data: dict[str, Any] = {}
        for name in MEANS:
            data[name] = (dims, getattr(self, name))
            data[f"{name}_error"] = (dims, getattr(self, f"{name}_error"))
        for name in self._words:
            data[name] = (dims[:2], np.array(getattr(self, name), dtype=object))
        names = list(self.system.problem.job_classes)
        labels = {"load": self.loads, "policy": list(self.methods), "job_class": names}
        return described(xr.Dataset(data, labels, {"confidence": self.confidence}))

    def evidence(self) -> dict[str, list[tuple[str, float]]]:
        """By method, how its means were found and their largest relative error; NaN of the bound.

        It is infinite where a class with arrivals has no interval.
        """
        said = {
            CHAIN: "Markov chain at {} of {} loads, relative error of the mean jobs, estimated",
            SIMULATION: "simulation at {} of {} loads, relative half-width of "
            f"{percent(self.confidence)} intervals",
            BALANCED: "exact up to truncation at {} of {} loads, relative error of the mean jobs, proved",
            BOUND: "closed form at {} of {} loads",
            OPTIMAL: "dynamic programming at {} of {} loads, relative error of the mean jobs, estimated",
            FORMULA: "formula at {} of {} loads, relative error of the mean jobs, proved",
            PROVED: "proved bounds at {} of {} loads, half their distance, of the mean jobs",
            UNSTABLE: "unstable at {} of {} loads",
        }
        found: dict[str, list[tuple[str, float]]] = {}
        with np.errstate(invalid="ignore", divide="ignore"):
            relative = (self.mean_jobs_error / self.mean_jobs)[..., self._live]
        for m, name in enumerate(self.methods):
            ways = [row[m] for row in self.found_by]
            found[name] = []
            for way, often in Counter(way for way in ways if way).items():
                part = relative[[k for k, one in enumerate(ways) if one == way], m]
                worst = (
                    math.nan
                    if way in (BOUND, UNSTABLE)
                    else float(np.nan_to_num(part, nan=math.inf).max(initial=0.0))
                )
                found[name].append((said[way].format(often, len(ways)), worst))
        return found

    def without_interval(self) -> list[tuple[float, str, str]]:
        """Points that were simulated too shortly for intervals of all classes: load, method and why."""
        return [
            (float(load), name, self.remarks[k][m])
            for k, load in enumerate(self.loads)
            for m, name in enumerate(self.methods)
            if self.found_by[k][m] == SIMULATION
            and not np.isfinite(self.service_rates_error[k, m, self._live]).all()
        ]

    @property
    def _live(self) -> NDArray[np.bool_]:
        """Classes with arrivals: (n_classes,)."""
        return self.system.arrival_rates > 0

    def summary(self) -> str:
        """The service rates, by class and load; then how they were found."""
        table = self.table().reset_index()
        cells = [["class", "load", *self.methods]]
        cells += [[str(row[0]), *(f"{value:.6g}" for value in row[1:])] for row in table.to_numpy()]
        lines = ["mean service rates against the load, tasks per active job", *aligned(cells)]
        for name, claims in self.evidence().items():
            lines += [
                f"  {name}: {claim}{'' if math.isnan(worst) else f' {rounded_up(worst, 2):.1e}'}"
                for claim, worst in claims
            ]
        lines += [
            f"  {name} at load {load:g}: no interval: {why}" for load, name, why in self.without_interval()
        ]
        for name in self.methods:
            lines += [f"  {line}" for line in self.missing(name)]
        return "\n".join(lines)

    def missing(self, method: str) -> list[str]:
        """Where a method has no means, and why: one line for each reason."""
        m = self.methods.index(method)
        reasons: dict[str, list[float]] = {}
        for load, row in zip(self.loads, self.errors, strict=True):
            if row[m]:
                reasons.setdefault(row[m], []).append(float(load))
        return [
            f"{method}: no means at load {', '.join(f'{load:g}' for load in loads)}: {' '.join(why.split())}"
            for why, loads in reasons.items()
        ]

    def compared(self) -> list[str]:
        """How far each method is from the best possible, where that was asked for: lines of text."""
        return []

    def plot(
        self,
        ax: Axes | None = None,
        *,
        job_class: int | str = 0,
        quantity: str = "service_rates",
        names: bool = True,
    ) -> Axes:
        """Draw a quantity of one class against the load: a line for each method, named at its end.

        Points found by simulation have their intervals; those without one are left out. Durations and jobs
        have a logarithmic axis. Where nothing can be drawn, the picture says why.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        job_class : int or str
        quantity : {"service_rates", "mean_durations", "mean_jobs"}
        names : bool
            Whether the lines are named at their ends.
        """
        ax = given_axes(ax)
        i = self.system.class_index(job_class)
        require_choice("quantity", quantity, CAPTIONS)
        values, widths = getattr(self, quantity)[..., i], getattr(self, f"{quantity}_error")[..., i]
        values = np.where(np.isfinite(widths) & (values > 0), values, np.nan)
        colours = coloured(self.methods)
        styles = line_styles(self.methods, colours, len(self.loads), tuple(METHODS.values()))
        ends: dict[str, tuple[float, float, str]] = {}
        for m, name in enumerate(self.methods):
            shown = np.flatnonzero(np.isfinite(values[:, m]))
            style = styles[name]
            by_run = [k for k in shown if self.found_by[k][m] == SIMULATION]
            if style["marker"]:
                first, apart = style["markevery"]  # points that were simulated have marks of their own
                exact = [j for j, k in enumerate(shown) if k not in by_run and k % apart == first]
                style = style | {"markevery": exact}
            ax.plot(self.loads[shown], values[shown, m], **style)
            if by_run:
                ax.errorbar(
                    self.loads[by_run],
                    values[by_run, m],
                    yerr=widths[by_run, m],
                    fmt=style["marker"] or "o",
                    color=colours[name],
                    markerfacecolor="white",
                    markersize=style.get("markersize", 4.5),
                    linewidth=1.0,
                    capsize=2.5,
                    zorder=3,
                )
            over = next((k for k, row in enumerate(self.found_by) if row[m] == UNSTABLE), None)
            if over is not None:
                self._ended(ax, self.loads[over], colours[name])
            if len(shown):
                ends[name] = (float(self.loads[shown[-1]]), float(values[shown[-1], m]), colours[name])
        busiest = "load of all servers" if self.system.is_cluster else "load of the busiest resource"
        title = label(self.system.problem.job_classes[i])
        ax.set(xlabel=busiest, ylabel=CAPTIONS[quantity][1], title=title)
        ax.set_xlim(0, max(1.0, float(self.loads[-1])))
        if not ends:
            why = "no point has an interval" if self._live[i] else "no arrivals"
            ax.text(0.5, 0.5, why, transform=ax.transAxes, ha="center", va="center")
            ax.set_yticks([])
        elif quantity == "service_rates":
            ax.set_ylim(0, None)
        else:
            ax.set_yscale("log")
            ax.yaxis.set_major_formatter("{x:g}")
            ax.yaxis.set_minor_formatter(_minor)
        if names:
            label_ends(ax, ends)
        return ax

    @staticmethod
    def _ended(ax: Axes, load: float, colour: Any) -> None:
        """A cross at the foot, where a method is unstable from this load on."""
        ax.plot([load], [0.0], "x", color=colour, transform=ax.get_xaxis_transform(), clip_on=False)

    def figure(self, quantity: str = "service_rates") -> Figure:
        """A panel for each class, as :meth:`plot` draws it, below one legend, with common axis labels."""
        from matplotlib.lines import Line2D

        figure, axes = panels(self.system.n_classes, 4.0, 3.2, ACROSS)
        for i, ax in enumerate(axes):
            self.plot(ax, job_class=i, quantity=quantity)
            if len(axes) > 1:
                figure.supxlabel(ax.get_xlabel(), fontsize="medium")
                figure.supylabel(ax.get_ylabel(), fontsize="medium")
                ax.set(xlabel="", ylabel="")
        handles, texts = figure.axes[0].get_legend_handles_labels()
        finite = np.isfinite(self.service_rates_error) & (self.service_rates > 0)
        drawn: list[bool] = np.any(finite, axis=(0, 2)).tolist()
        crossed = [any(row[m] == UNSTABLE for row in self.found_by) for m in range(len(self.methods))]
        texts = [
            text if seen or cross else f"{text} (no point)"
            for text, seen, cross in zip(texts, drawn, crossed, strict=True)
        ]
        if any(SIMULATION in row for row in self.found_by):
            handles.append(Line2D([], [], color="0.3", marker="o", markerfacecolor="white", linestyle=""))
            texts.append(f"simulated ({percent(self.confidence)} intervals)")
        if any(crossed):
            handles.append(Line2D([], [], color="0.3", marker="x", linestyle=""))
            texts.append("unstable from there on")
        legend_above(figure, handles=handles, labels=texts)
        return figure


@dataclass(frozen=True, eq=False, repr=False)
class Solved(LoadCurves):
    """Means under policies, each found as well as the time allowed; made by :func:`capacity.solve`.

    ``errors`` says where the time was over before anything was found, or why nothing was. The middle of
    proved bounds stands for the mean, half their distance for its error; where there is no upper bound, the
    lower one, and an infinite error. It has the attributes of :class:`LoadCurves`, and these.

    Attributes
    ----------
    known : tuple of tuple of str
        By load and policy, how well its means are known: "exact", "chain, error about 1e-9", "proved bounds",
        "simulated, 95 %"; or "unstable: jobs of B grow", "overload: link", "nothing".
    results : dict of (str, float) to Result
        What was found, by name and load: a Stationary, a Simulation, bounds.
    interrupted : bool
        Whether Ctrl-C ended it; more would be known.
    asked : tuple of str
        Digests of the system and of the policies.
    calls : int
        How many calls it goes back to, see ``start`` there: each has drawn random numbers of its own.

    Examples
    --------
    >>> from capacity import solve
    >>> from fairness import DRF, Problem
    >>> from queueing import System
    >>> system = System.with_load(Problem([[10, 1], [1, 10]], [1, 1]), [1, 1], 0.5)
    >>> solved = solve(system, ["bound", DRF()], seconds=60)
    >>> solved.results["DRF", 0.5].method
    'elimination'
    """

    known: tuple[tuple[str, ...], ...]
    results: dict[tuple[str, float], Any]
    interrupted: bool
    asked: tuple[str, ...] = field(default=(), metadata=LATER)
    calls: int = field(default=1, metadata=LATER)

    _words = ("found_by", "known", "remarks", "errors")

    def cell(self, method: int, load: int) -> Found | None:
        """What is known under a policy at a load, by their numbers; None where nothing is."""
        result = self.results.get((self.methods[method], float(self.loads[load])))
        if result is None:
            return None
        columns: Any = {name: getattr(self, name)[load, method] for name in COLUMNS}
        found_by, known = self.found_by[load][method], self.known[load][method]
        told = self.remarks[load][method]
        remark = Found.of_run(result).remark if found_by == SIMULATION else told
        return Found(result, found_by, known, remark=remark, passed="" if remark else told, **columns)

    def above_best(self) -> pd.DataFrame:
        """How far mean jobs in all are above those that every policy has at least, relatively.

        A row per load, a column per method; NaN where nothing is known, or "optimal" was not asked for.

        Examples
        --------
        >>> from capacity import solve
        >>> from fairness import DRF, Problem, ProportionalFair
        >>> from queueing import System
        >>> system = System.with_load(Problem([[1, 0.1], [0.1, 1]], [1, 1]), [3, 1], 0.7)
        >>> solved = solve(system, ["optimal", ProportionalFair(), DRF()], seconds=60)
        >>> solved.above_best().round(2)
        policy  fewest jobs   PF   DRF
        load
        0.7             0.0  0.0  0.12
        """
        import pandas as pd

        best = [self._best(k) for k in range(len(self.loads))]
        least = np.array([np.nan if one is None else one.lower for one in best])
        known = np.isfinite(self.mean_jobs_error).all(axis=2)
        jobs = np.where(known, self.mean_jobs.sum(axis=2), np.nan)
        index, columns = pd.Index(self.loads, name="load"), pd.Index(self.methods, name="policy")
        return pd.DataFrame(jobs / least[:, None] - 1.0, index, columns)

    def _best(self, load: int) -> Optimum | None:
        """What nobody can be below."""
        found: Sequence[str] = self.found_by[load]
        if OPTIMAL not in found:
            return None
        best: Optimum = self.results[self.methods[found.index(OPTIMAL)], float(self.loads[load])]
        return best

    def to_latex(self) -> str:
        """The table as LaTeX, without the remarks."""
        return to_latex(self.to_dataframe().drop(columns=["remarks", "errors"]))

    def summary(self) -> str:
        """A line per cell and class; of many the service rates alone; then what would take longer."""
        names, rows = self.system.problem.job_classes, []
        for k, load in enumerate(self.loads):
            for m, method in enumerate(self.methods):
                cell = [method, f"{load:.4g}"]
                if self.found_by[k][m] in ("", UNSTABLE):
                    rows.append([*cell, *[""] * (1 + len(MEANS)), self.known[k][m]])
                else:
                    rows += [[*cell, name, *self._told(k, m, i)] for i, name in enumerate(names)]
        if len(rows) > SEVERAL:
            lines = super().summary().splitlines()
        else:
            heads = ["policy", "load", "class", *(CAPTIONS[mean][0] for mean in MEANS), "how well known"]
            lines = ["means under policies", *aligned([heads, *rows])]
        lines += [f"  {line}" for line in self.compared()]
        lines += ["  interrupted: more would be known"] if self.interrupted else []
        if any(NOTHING in row for row in self.known) or self.without_interval():
            lines.append("  more seconds may tell more: solve(..., start=result) goes on from here")
        return "\n".join([*lines, *(f"  {line}" for line in self.left_out())])

    def compared(self) -> list[str]:
        """How far each policy is from the best one, a line for each load where that is known."""
        above, lines = 100 * self.above_best().to_numpy(), []
        for k, load in enumerate(self.loads):
            best = self._best(k)
            if best is None:
                continue
            lines += [
                f"at load {load:.4g} no policy has fewer than {rounded_down(best.lower, 6):.6g} jobs in all, "
                "proved"
            ]
            errors = 100 * self.mean_jobs_error[k].sum(axis=1) / best.lower
            for m, name in enumerate(self.methods):
                if self.found_by[k][m] != OPTIMAL and np.isfinite(above[k, m]):
                    known = f" up to {errors[m]:.0e}" if errors[m] > UNSURE * above[k, m] else ""
                    lines.append(f"  {name} has at most {rounded_up(above[k, m], 3):.3g} % more{known}")
        return lines

    def _told(self, k: int, m: int, i: int) -> list[str]:
        """Of a class in a cell: the means, and how well they are known, of intervals and bounds the width."""
        jobs, error = self.mean_jobs[k, m, i], self.mean_jobs_error[k, m, i]
        known, way = "" if i else self.known[k][m], self.found_by[k][m]
        signs = ("≥ ", "≥ ", "≤ ") if way == PROVED and np.isinf(error) else ("",) * len(MEANS)
        means = [f"{sign}{getattr(self, mean)[k, m, i]:.6g}" for sign, mean in zip(signs, MEANS, strict=True)]
        wide = way in (SIMULATION, PROVED) and jobs > 0 and np.isfinite(error)
        width = f"± {rough(100 * error / jobs)} %" if wide else ""
        return [*means, ": ".join(filter(None, [known, width]))]

    def left_out(self) -> list[str]:
        """What there was no time for, and what has no interval: a line for each cell."""
        return [
            f"{method} at load {load:g}: {text}"
            for k, load in enumerate(self.loads)
            for m, method in enumerate(self.methods)
            if (text := self.remarks[k][m] or (self.errors[k][m] if not self.found_by[k][m] else ""))
        ]

    def plot(
        self,
        ax: Axes | None = None,
        *,
        job_class: int | str = 0,
        quantity: str = "service_rates",
        names: bool = True,
    ) -> Axes:
        """Draw a quantity of one class: against the load, as :meth:`LoadCurves.plot`; bars at one load."""
        if len(self.loads) > 1:
            return super().plot(ax, job_class=job_class, quantity=quantity, names=names)
        i = self.system.class_index(job_class)
        caption = CAPTIONS[require_choice("quantity", quantity, CAPTIONS)][1]
        values, widths = getattr(self, quantity)[0, :, i], getattr(self, f"{quantity}_error")[0, :, i]
        title = f"{self.system.problem.job_classes[i]} at load {self.loads[0]:.4g}"
        ax = bars(ax, self.methods, values, error=widths, ylabel=caption, title=title)
        colours = coloured(self.methods)
        for m, (bar, method) in enumerate(zip(ax.patches, self.methods, strict=True)):
            simulated = self.found_by[0][m] == SIMULATION
            bar.set(facecolor="white" if simulated else colours[method], edgecolor=colours[method])
        return ax


def _minor(value: float, _: float | None = None) -> str:
    """Label of a tick within a decade: 2, 3 and 5 have one."""
    return f"{value:g}" if f"{value:e}"[0] in "235" else ""
