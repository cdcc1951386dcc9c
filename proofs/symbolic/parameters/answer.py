"""The answer to a question for parameters: a union of cells, or of intervals of one letter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy

from fairness.display.colours import part_colour
from fairness.display.drawing import given_axes, legend_beside
from fairness.display.lettering import label
from fairness.display.result import Result
from fairness.errors import ModelError
from proofs.symbolic.decisions.assumptions import Ground
from proofs.symbolic.decisions.formulas import Formula, conjunction
from proofs.symbolic.display.areas import areas_of
from proofs.symbolic.display.lettering import balanced, said
from proofs.symbolic.display.special_points import special_points
from proofs.symbolic.model.reading import numbers_of
from proofs.symbolic.parameters.intervals import Interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Parameters"]

COLOUR = part_colour(4)
WIDER = 8
"""Times that the window is made four times as wide until something is in it."""
BORDERS = ("border, does not belong to it", "border, belongs to it")


@dataclass(frozen=True, eq=False, repr=False)
class Parameters(Result):
    """For which values of the letters a claim holds; made by :func:`where`.

    Attributes
    ----------
    claim : str
    letters : tuple of sympy symbols
    assumptions : tuple of sympy relationals
    cells : tuple of tuples of sympy relationals
        The claim holds where all relations of a cell do; cells may overlap. One cell without relations:
        everywhere. No cell: nowhere.
    intervals : tuple of Interval, or None
        The cells from left to right with exact ends, where there is one letter.
    evidence : str
        Who says that these are the values, no more and no fewer.
    """

    claim: str
    letters: tuple[Any, ...]
    assumptions: tuple[Any, ...]
    cells: tuple[tuple[Any, ...], ...]
    intervals: tuple[Interval, ...] | None
    evidence: str

    @property
    def everywhere(self) -> bool:
        """Whether the claim holds wherever the assumptions do."""
        return () in self.cells

    @property
    def nowhere(self) -> bool:
        """Whether the claim holds at no values that meet the assumptions."""
        return not self.cells

    def contains(self, values: Mapping[Any, Any]) -> bool:
        """Whether the claim holds at exact values of all letters, which meet the assumptions.

        Parameters
        ----------
        values : mapping from letter, or its name, to number

        Raises
        ------
        ModelError
            If a letter has no value, or a name is no letter.
        """
        exact = numbers_of("values", values, self.letters, all_of_them=True)
        known = all(r.subs(exact) == sympy.true for r in self.assumptions)
        if self.intervals is not None:
            return known and any(one.contains(exact[self.letters[0]]) for one in self.intervals)
        return known and any(all(r.subs(exact) == sympy.true for r in cell) for cell in self.cells)

    def said(self) -> list[str]:
        """Each cell as text."""
        if self.everywhere:
            return ["everywhere"]
        if self.intervals is not None:
            return [one.chain(self.letters[0].name) for one in self.intervals]
        return [" and ".join(map(said, cell)) for cell in self.cells]

    def to_latex(self) -> str:
        r"""The values as LaTeX, ``0 < a \le \frac{1}{2} \text{ or } a = 1``."""
        if self.everywhere or self.nowhere:
            return r"\text{everywhere}" if self.everywhere else r"\text{nowhere}"
        if self.intervals is not None:
            letter = sympy.latex(self.letters[0])
            chains = [one.chain(letter, sympy.latex, ("<", r"\le", "=")) for one in self.intervals]
            return r" \text{ or } ".join(chains)
        cells = [r" \text{ and } ".join(sympy.latex(balanced(c)) for c in cell) for cell in self.cells]
        if len(cells) == 1:
            return cells[0]
        return r" \text{ or } ".join(rf"\left({cell}\right)" for cell in cells)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per cell; for one letter with the ends and whether they belong to it."""
        import pandas as pd

        frame = pd.DataFrame({"where": pd.Series(self.said() if self.cells else [], dtype=object)})
        if self.intervals is not None:
            for name in ("low", "high", "low_in", "high_in"):
                frame[name] = [getattr(one, name) for one in self.intervals]
        return frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the values of one letter on a line, or shade those of two within their exact borders.

        Full dots and solid borders belong to the values, hollow dots and dashed borders do not.

        Raises
        ------
        ModelError
            If there are more letters.
        """
        if len(self.letters) > 2:
            raise ModelError(
                f"pictures show one or two letters, not {len(self.letters)}; fix the others by at= of where()"
            )
        ax = given_axes(ax)
        ax.set_title(label(self.claim))
        if not self.letters:
            ax.text(0.5, 0.5, "holds" if self.cells else "does not hold", ha="center")
            return ax
        ax.set_xlabel(label(self.letters[0].name))
        if len(self.letters) == 1:
            return self._line(ax)
        ax.set_ylabel(label(self.letters[1].name))
        return self._areas(ax)

    def _areas(self, ax: Axes) -> Axes:
        points = special_points(self._formula, self.letters)
        ranges = [self._range(one.name, [point[k] for point in points]) for k, one in enumerate(self.letters)]
        areas = areas_of(self._formula, self.letters, tuple(ranges))
        for _ in range(WIDER * bool(self.cells)):
            if not areas.empty:
                break
            # No border meets another or an axis, as of a*b > 100: it is somewhere.
            ranges = [(4 * low, 4 * high) for low, high in ranges]
            areas = areas_of(self._formula, self.letters, tuple(ranges))
        (left, right), (low, high) = (areas.near(k, *ends) for k, ends in enumerate(ranges))
        ax.set(xlim=(left, right), ylim=(low, high))
        areas.fill(ax, facecolor=COLOUR, alpha=0.5)
        for line, inside in areas.borders:
            ax.plot(*line.T, color=COLOUR, linestyle="-" if inside else (0, (4, 3)), label=BORDERS[inside])
        for point in areas.points:
            ax.plot(*point, "o", color=COLOUR)
        if areas.empty:
            said = "none in this part" if self.cells else "nowhere"
            ax.text(0.5, 0.5, said, ha="center", transform=ax.transAxes)
        known = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
        if known:
            legend_beside(ax, handles=[known[text] for text in BORDERS[::-1] if text in known])
        return ax

    def _line(self, ax: Axes) -> Axes:
        ends = [float(e) for one in self.intervals or () for e in (one.low, one.high) if e is not None]
        first, last = self._range(self.letters[0].name, ends)
        ax.set_xlim(first, last)
        for one in self.intervals or ():
            drawn = [
                first if one.low is None else float(one.low),
                last if one.high is None else float(one.high),
            ]
            ax.plot(drawn, [0, 0], color=COLOUR, linewidth=4, solid_capstyle="butt")
            for end, inside in ((one.low, one.low_in), (one.high, one.high_in)):
                if end is not None:
                    ax.plot(
                        [float(end)], [0], "o", color=COLOUR, markerfacecolor=COLOUR if inside else "white"
                    )
        ax.set_yticks([])
        return ax

    def _range(self, name: str, ends: Sequence[float]) -> tuple[float, float]:
        """What is looked at of a letter: where something ends, and what the assumptions allow near 0."""
        seen = [float(p[name]) for p in Ground(self.letters, self.assumptions).points if name in p]
        low, high = (
            (0.0 if min(seen, default=0.0) >= 0 else -2.0),
            (1.0 if max(seen, default=0.0) < 1 else 2.0),
        )
        if ends:
            spread = max(max(ends) - min(ends), 1.0)
            low, high = min(low, min(ends) - spread / 4), max(high, max(ends) + spread / 4)
            if min(seen) >= 0 <= min(ends):
                low = 0.0
        return low, high

    @property
    def _formula(self) -> Formula:
        """The claim, where the assumptions hold."""
        cells = tuple(("and", conjunction(cell)) for cell in self.cells)
        return "and", (*conjunction(self.assumptions), ("or", cells))

    def summary(self) -> str:
        """The claim, where it holds, what is assumed, and who says so."""
        names = ", ".join(symbol.name for symbol in self.letters) or "no letters"
        known = "; ".join(map(str, self.assumptions)) or "nothing"
        lines = [f"{self.claim}: {'nowhere' if self.nowhere else 'for these ' + names}"]
        lines += [f"  {k}. {text}" for k, text in enumerate(self.said(), 1)] if self.cells else []
        return "\n".join([*lines, f"  assumed: {known}", f"  evidence: {self.evidence}"])

    @property
    def _tabulated(self) -> int:
        return len(self.cells)
