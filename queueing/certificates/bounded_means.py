"""What results that bound some means share: a row for each mean, and a bar from bound to bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairness.display.drawing import bound_bars
from fairness.display.result import Result

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["BoundedMeans"]


class BoundedMeans(Result):
    """Base of results that know bounds of some means, in the order of their ``names``."""

    names: Any  # tuple of str
    lower: Any  # ndarray of shape (n_names,)
    upper: Any

    def to_dataframe(self) -> pd.DataFrame:
        """One row per mean: the bounds, and how far they are apart."""
        import pandas as pd

        columns = {"lower": self.lower, "upper": self.upper, "width": self.upper - self.lower}
        return pd.DataFrame(columns, index=pd.Index(self.names, name="mean of"))

    @property
    def _tabulated(self) -> int:
        return len(self.names)

    def _claims(self) -> list[str]:
        """Lines of a summary with all digits of the bounds."""
        rows = zip(self.names, self.lower.tolist(), self.upper.tolist(), strict=True)
        return [f"  {name}: {low!r} to {high!r}" for name, low, high in rows]

    def _drawn(self, ax: Axes | None, title: str, quantity: str = "mean") -> Axes:
        """Middle of the bounds of each mean, with the bounds as error bars; hatched without an upper one."""
        middle = np.where(np.isinf(self.upper), self.lower, (self.lower + self.upper) / 2)
        half = (self.upper - self.lower) / 2
        return bound_bars(ax, self.names, middle, half, quantity=quantity, title=title)
