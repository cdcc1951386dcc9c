"""What is told of a region that is known on one ray only, of many classes: where the ray leaves it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairness.display.tables import Columns
from fairqueues.report.outcome import Evidence

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["Boundary"]


@dataclass(frozen=True)
class Boundary:
    """A boundary point with the mix on whose ray it lies; made by :meth:`found`.

    Attributes
    ----------
    point : ServicePoint or PolicyPoint
    mix : ndarray of shape (n_classes,), tasks
    classes : sequence of str
    """

    point: Any
    mix: NDArray[np.float64]
    classes: Sequence[str]

    @classmethod
    def found(cls, search: Callable[..., Any], mix: NDArray[np.float64], classes: Sequence[str]) -> Boundary:
        """What the search finds in the direction of the mix; also where it stops before its end."""
        from fairness import NotConvergedError

        try:
            return cls(search(direction=mix), mix, classes)
        except NotConvergedError as error:
            # What a single simulation knows by then is no point.
            error.best = cls(error.best, mix, classes) if hasattr(error.best, "direction") else None
            raise

    @property
    def largest(self) -> float:
        """Largest multiple of the mix that fits."""
        return float(self.point.direction.sum() / self.mix.sum())

    @property
    def multiples(self) -> tuple[float, float]:
        """Multiples of the mix at both ends of the bracket."""
        return self.point.inner * self.largest, self.point.outer * self.largest

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: its loads in the mix and at the inner end; its service rate there, if known."""
        told: dict[str, Any] = {"job_class": self.classes, "mix": self.mix, "boundary": self.point.loads}
        rates = getattr(self.point, "service_rates", None)
        return Columns(told if rates is None else told | {"service_rate": rates}).to_dataframe()

    def evidence(self, name: str) -> tuple[Evidence, ...]:
        """The bracket, and what it rests on."""
        inner, outer = self.multiples
        told = [Evidence(name, "multiple of the mix that is inside", inner, bound="lower")]
        told.append(Evidence(name, "width of the bracket", outer - inner, bound="upper"))
        return (*told, *(Evidence(name, text) for text in [getattr(self.point, "evidence", "")] if text))

    def note(self, name: str) -> str:
        """The point in a sentence."""
        inner, outer = self.multiples
        binding = getattr(self.point, "binding", None)
        # Without jobs everybody has its best rate: nobody is known to be first.
        first = "" if binding is None or not inner else f"; {self.classes[binding]} at its minimum first"
        return (
            f"{name}: {inner:.6g} times the mix is inside, {outer:.6g} times is not{first} "
            f"({self.largest:.6g} times is the most that fits)"
        )
