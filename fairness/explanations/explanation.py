"""What stops a class, who holds it, and what would change: as text, tables, plain data and figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fairness.display.colours import PARTS, part_colour
from fairness.display.drawing import SHORT, given_axes, legend_beside, name_rows
from fairness.display.lettering import folded, label
from fairness.display.result import Result
from fairness.display.tables import Columns
from fairness.display.wording import many
from fairness.evidence.pools import SATURATION
from fairness.explanations.queues import Rung
from fairness.explanations.records import VISIBLE, Case, Stop
from fairness.explanations.resource_use import Holdings, holdings
from fairness.explanations.sentences import sentences
from fairness.results.any_allocation import AnyAllocation

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Explanation"]

MOST_BARS = 24


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """Why a class runs what it runs; made by :func:`fairness.explain`.

    Attributes
    ----------
    allocation : Allocation or ClusterAllocation
    job_class : str
    stops : tuple of Stop
        What keeps the class from more tasks, by the notion of the policy.
    cases : mapping of str to Case
        What it would run in other cases, by their words, each solved again.
    choice : str
        What the policy could have chosen instead, in words; empty where nothing such is known.
    unasked : int
        Places (resources of servers) whose capacity was not changed.
    way : tuple of Rung
        Under a policy with a tree of queues: the queues from the root to the class, and the class.
    """

    allocation: AnyAllocation
    job_class: str
    stops: tuple[Stop, ...]
    _cases: tuple[Case, ...]
    choice: str
    unasked: int
    way: tuple[Rung, ...] = ()

    @property
    def cases(self) -> dict[str, Case]:
        """The cases by their words."""
        return {case.words: case for case in self._cases}

    @property
    def index(self) -> int:
        """Number of the class."""
        names: tuple[str, ...] = self.allocation.model.job_classes
        return names.index(self.job_class)

    @property
    def tasks(self) -> float:
        """What the class runs."""
        return float(self.allocation.tasks[self.index])

    @cached_property
    def _held(self) -> Holdings:
        return holdings(self.allocation)

    @property
    def _full(self) -> Iterator[tuple[Stop, int, int]]:
        """The full resources that stop the class, with their places: server and resource."""
        for stop in self.stops:
            if stop.cause == "resource":
                yield stop, self._held.servers.index(stop.server), self._held.resources.index(stop.resource)

    def holders(self) -> pd.DataFrame:
        """Who holds what stops the class: one row per place and class, the largest part first.

        Columns: server (on a cluster), resource, units and part of the capacity.
        """
        import pandas as pd

        held, rows = self._held, []
        for stop, s, r in self._full:
            for p in np.argsort(-held.parts[:, s, r], kind="stable"):
                if held.parts[p, s, r] > SATURATION:
                    numbers = float(held.units[p, s, r]), float(held.parts[p, s, r])
                    rows.append((held.job_classes[p], stop.server, stop.resource, *numbers))
        frame = pd.DataFrame(rows, columns=["job_class", "server", "resource", "units", "part"])
        if held.servers == ("",):
            frame = frame.drop(columns="server")
        return frame.set_index("job_class")

    def to_dataframe(self) -> pd.DataFrame:
        """One row per case: its kind, tasks, change, and derivative where a capacity changes.

        The first row is what the class runs. ``rate`` is the one-sided derivative, tasks per resource unit,
        ``rate_error`` how well it is known.
        """
        cases = (Case("now", "now", self.tasks, 0.0), *self._cases)
        columns = {"case": "words"} | {
            name: name for name in ("kind", "tasks", "change", "rate", "rate_error")
        }
        told = {head: [getattr(case, name) for case in cases] for head, name in columns.items()}
        return Columns(told).to_dataframe()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, for JSON: NaN is None there.

        Examples
        --------
        >>> from fairness import DRF, Problem, allocate, explain
        >>> told = explain(allocate(Problem([[1, 4], [3, 1]], [9, 18]), DRF()), 0, others=[]).to_dict()
        >>> told["policy"], told["stops"][0]["resource"], told["holders"][0]["units"]
        ('DRF', 'resource 1', 6.0)
        """
        told = {
            "policy": self.allocation.name,
            "job_class": self.job_class,
            "jobs": float(self.allocation.counts[self.index]),
            "tasks": self.tasks,
            "stops": [asdict(stop) for stop in self.stops],
            "holders": self.holders().reset_index().to_dict("records"),
            "cases": [asdict(case) for case in self._cases],
            "way": [asdict(rung) for rung in self.way],
            "choice": self.choice,
            "places_not_asked": self.unasked,
            "certificate": asdict(self.allocation.certificate),
            "text": self.summary(),
        }
        plain: dict[str, Any] = _without_nan(told)
        return plain

    def summary(self) -> str:
        """What a person wants to read, or to hear: at most some fifteen sentences, each with its number."""
        heading, *lines = sentences(
            self.allocation,
            self._held,
            self.index,
            self.stops,
            self._cases,
            self.choice,
            self.unasked,
            self.way,
        )
        return "\n".join([heading, *(f"  {line}" for line in lines)])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars: how many tasks more or fewer the class would run, the largest changes first.

        Cases that change nothing are counted below.
        """
        cases = [case for case in self._cases if np.isfinite(case.change)]
        moving = [case for case in cases if abs(case.change) > VISIBLE * max(self.tasks, case.tasks)]
        moving.sort(key=lambda case: -abs(case.change))
        shown = moving[:MOST_BARS] or [Case("now", "now", self.tasks, 0.0)]
        names = [case.words for case in shown]
        ax = given_axes(ax, names)
        changes = [case.change for case in shown]
        colours = [part_colour(4 if change >= 0 else 5) for change in changes]
        bars = ax.barh(range(len(shown)), changes, color=colours)
        name_rows(ax, names)
        ax.bar_label(
            bars, [f"{change:+.3g}" if change else "0" for change in changes], padding=3, fontsize="small"
        )
        ax.axvline(0.0, color="black", linewidth=0.8)
        ax.margins(x=0.25)
        text = f"tasks more or fewer than the {self.tasks:.4g} of {self.job_class}"
        still, small = len(cases) - len(moving), len(moving[MOST_BARS:])
        rest = f"{many(still, 'other case')} change{'s' if still == 1 else ''} nothing"
        notes = [rest] * (still > 0) + [f"{small} change less"] * (small > 0)
        ax.set(xlabel="\n".join([folded(label(text)), *notes]), title="What would change")
        return ax

    def plot_holders(self, ax: Axes | None = None) -> Axes:
        """Bars: who holds what stops the class; the class itself is hatched. Empty if no resource does."""
        held, places = self._held, list(self._full)
        parts = np.array([held.parts[:, s, r] for _, s, r in places]).reshape(-1, len(held.job_classes))
        parts[parts <= SATURATION] = 0.0
        others = [p for p in np.argsort(-parts.sum(axis=0), kind="stable").tolist() if p != self.index]
        named = [self.index, *sorted(others[: MOST_BARS // 3])]
        names = [f"{stop.resource} on {stop.server}" if stop.server else stop.resource for stop, *_ in places]
        rows, shown = names[:MOST_BARS], parts[:MOST_BARS]
        ax = given_axes(ax, rows)
        own = len(held.job_classes) <= len(PARTS)  # else some of those that are named would look alike
        bars = [(held.job_classes[p], part_colour(p if own else k), shown[:, p]) for k, p in enumerate(named)]
        bars.append(("all others", "0.8", np.delete(shown, named, axis=1).sum(axis=1)))
        left = np.zeros(len(rows))
        for k, (text, colour, wide) in enumerate(bars):
            if wide.any():
                hatch = "//" if k == 0 else None
                ax.barh(range(len(rows)), wide, left=left, color=colour, hatch=hatch, label=label(text))
                left += wide
        name_rows(ax, rows)
        ax.set(
            xlabel="part of the resource",
            title=f"Who holds what stops {label(self.job_class)} (hatched)",
            xlim=(0, 1.02),
        )
        if rows:
            legend_beside(ax, width=SHORT)
        else:
            ax.text(0.5, 0.5, "no full resource stops it", ha="center", va="center")
        return ax


def _without_nan(value: Any) -> Any:
    """The same with None for NaN, and lists for tuples."""
    if isinstance(value, dict):
        return {str(key): _without_nan(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and np.isnan(value) else value
