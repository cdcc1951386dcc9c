"""What is told of a region of loads: its vertices, or else its facets, or else membership and a ray only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairness.display.tables import Columns
from fairqueues.report.outcome import Evidence

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["Listing"]

MOST_BARS = 40
"""Facets that a figure shows, those first that the ray meets first."""


@dataclass(frozen=True)
class Listing:
    """A region with what can be listed of it; made by :meth:`of`.

    Attributes
    ----------
    region : LoadRegion
    vertices, facets : bool
        Whether these can be listed.
    loads : ndarray of shape (n_classes,), or None
        Loads of the file.
    mix : ndarray of shape (n_classes,), or None
        Direction of the ray.
    """

    region: Any
    vertices: bool
    facets: bool
    loads: NDArray[np.float64] | None
    mix: NDArray[np.float64] | None

    @classmethod
    def of(cls, region: Any, loads: NDArray[np.float64] | None, mix: NDArray[np.float64] | None) -> Listing:
        """What can be listed, which is the long work; the refusal where nothing else can be told.

        Loads of 0 are no direction: then there is no ray.
        """
        from fairness import ModelError

        if mix is loads and loads is not None and not loads.any():
            mix = None
        try:
            _ = region.facets  # without which there are no vertices either
        except ModelError:
            if mix is None:
                raise
            return cls(region, False, False, loads, mix)
        try:
            _ = region.vertices
        except ModelError:
            return cls(region, False, True, loads, mix)
        return cls(region, True, True, loads, mix)

    @property
    def multiple(self) -> float:
        """Largest multiple of the mix that fits."""
        return float(self.region.max_scale(self.mix))

    def table(self) -> pd.DataFrame:
        """One row per vertex; else per facet; else per class."""
        import pandas as pd

        region = self.region
        if self.vertices:
            frame: pd.DataFrame = region.to_dataframe()
            return frame
        if not self.facets:
            return self._classes()
        normals, offsets = region.facets
        frame = pd.DataFrame(normals, columns=pd.Index(region.job_classes, name="job_class"))
        frame.index = pd.Index(region.facet_names, name="facet")
        frame["classes"], frame["offset"] = (normals > 0).sum(axis=1), offsets
        if self.loads is not None:
            frame["relative_load"] = normals @ self.loads / offsets
        if self.mix is not None:
            frame["full_at"] = _over(offsets, normals @ self.mix)
        return frame

    def brief(self, table: pd.DataFrame) -> pd.DataFrame | None:
        """The table without one column per class, where there are many; None where it is short as it is."""
        return None if self.vertices else table.drop(columns=list(self.region.job_classes), errors="ignore")

    def _classes(self) -> pd.DataFrame:
        """Per class the loads of the file and at the boundary, and the price that proves the boundary."""
        edge = self.multiple * np.asarray(self.mix)
        told: dict[str, Any] = {"job_class": self.region.job_classes}
        if self.loads is not None:
            told["load"] = self.loads
        told |= {"boundary": edge, "price": self.region.judge(edge).prices}
        return Columns(told).to_dataframe()

    def evidence(self) -> tuple[Evidence, ...]:
        """Membership of the loads of the file."""
        if self.loads is None:
            return ()
        relative, inside = self._membership
        fits = "fit" if inside else "do not fit"
        return (Evidence("the loads of the file", f"{fits}, relative load", relative),)

    @property
    def _membership(self) -> tuple[float, bool]:
        """Relative load of the loads of the file, and whether they fit."""
        return 1.0 - float(self.region.slack(self.loads)), self.region.contains(self.loads)

    def notes(self, *, ray: bool) -> list[str]:
        """The inequalities with their vertices, else what is not in the table; the ray, if asked for."""
        region = self.region
        lines = [line.strip() for line in region.summary().splitlines()] if self.vertices else []
        if not self.vertices:
            what = "facets listed" if self.facets else "membership and a ray"
            lines.append(f"{type(region).__name__} of {region.n_classes} classes: {what}, too many vertices")
            if getattr(region, "redundant", ()) and self.facets:
                lines.append(f"redundant resources: {', '.join(region.redundant)}")
        if self.mix is None or not ray:
            return lines
        told = f"ray: {self.multiple:.6g} times the mix is the most that fits"
        if self.facets:
            normals, offsets = region.facets
            part = normals @ self.mix / offsets
            first = [region.facet_names[k] for k in np.flatnonzero(part >= part.max(initial=0) * (1 - 1e-9))]
            told += f"; {', '.join(first[:3])} full first" if first else ""
        return [*lines, told]

    def extra(self) -> dict[str, Any]:
        """Membership and the ray, for JSON."""
        found: dict[str, Any] = {}
        if self.loads is not None:
            found["membership"] = dict(zip(("relative_load", "fits"), self._membership, strict=True))
        if self.mix is not None:
            found["ray"] = {"mix": self.mix, "multiple": self.multiple, "loads": self.multiple * self.mix}
        return found

    def figure(self) -> Figure:
        """Bars: by how much the mix can grow until each facet is full, or per class until the boundary."""
        from matplotlib.figure import Figure

        from fairness.display.colours import NEUTRAL, part_colour
        from fairness.display.drawing import SHORT, height_of, legend_beside, name_rows

        figure = Figure(layout="constrained")
        ax = figure.add_subplot()
        if self.facets:
            normals, offsets = self.region.facets
            full = _over(offsets, normals @ self.mix)
            order = [k for k in np.argsort(full, kind="stable")[:MOST_BARS] if np.isfinite(full[k])]
            names, values = [self.region.facet_names[k] for k in order], full[order]
            ax.axvline(
                self.multiple, color=part_colour(5), linewidth=1, label=f"ray ends at {self.multiple:.4g}"
            )
            ax.set_xlabel("multiple of the mix at which the facet is full")
        else:
            edge = self.multiple * np.asarray(self.mix)
            order = list(np.argsort(-edge, kind="stable")[:MOST_BARS])
            names, values = [self.region.job_classes[k] for k in order], edge[order]
            ax.set_xlabel("load (tasks)")
        rows = range(len(names))
        ax.barh(rows, values, color=NEUTRAL, label="" if self.facets else "end of the ray")
        if self.loads is not None and not self.facets:
            ax.plot(self.loads[order], rows, "k|", markersize=10, label="load of the file")
        elif self.loads is self.mix:
            ax.axvline(1.0, color="black", linewidth=1, linestyle="--", label="loads of the file")
        figure.set_size_inches(7.0, max(3.2, 1.4 + 0.24 * len(names), height_of(names)))
        name_rows(ax, names)
        legend_beside(ax, width=SHORT)
        return figure


def _over(offsets: Any, part: Any) -> Any:
    return np.divide(offsets, part, out=np.full(len(offsets), np.inf), where=part > 0)
