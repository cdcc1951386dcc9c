"""What every result can do: tell itself, be a table, a picture, a piece of a notebook and a file.

A result is a frozen dataclass (``@dataclass(frozen=True, eq=False, repr=False)``) that inherits from
:class:`Result` and says three things: ``summary()``, ``to_dataframe()`` and ``plot(ax=None)``. Its ``repr``,
its HTML, ``save`` and ``load`` follow. In a notebook the heading is the first line of the summary, the table
the data frame, and below it stands the rest of the summary, less the lines that the table repeats.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Self

from fairness.errors import FairqueuesError, ModelError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Result"]


class Result(ABC):
    """Base class of all results."""

    _dispensable: ClassVar[tuple[str, ...]] = ()
    """Fields that a file which cannot hold them keeps as None."""

    @abstractmethod
    def summary(self) -> str:
        """What a person wants to read: the answer and its evidence."""

    @abstractmethod
    def to_dataframe(self) -> pd.DataFrame:
        """The numbers, as a table."""

    @abstractmethod
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the result; on new axes by default."""

    def __repr__(self) -> str:
        return self.summary()

    @property
    def _tabulated(self) -> int:
        """How many lines below the first the summary spends on what is in the table."""
        return 0

    def _table(self) -> pd.DataFrame | None:
        """The table that a notebook shows; None where looking should not cost what the table costs."""
        return self.to_dataframe()

    def to_latex(self) -> str:
        """The table as LaTeX, which needs no package; :func:`~fairness.to_latex` takes options.

        Raises
        ------
        ModelError
            If there are too many rows for a table.
        """
        from fairness.display.latex import to_latex

        return to_latex(self)

    def _repr_html_(self) -> str:
        """HTML for notebooks: heading, table and evidence; why there is no table where one is refused."""
        from fairness.display.notebook import notebook_html

        heading, *lines = repr(self).splitlines()
        evidence, table = lines[self._tabulated :], None
        try:
            table = self._table()
        except FairqueuesError as error:
            evidence.append(f"no table: {error}")
        return notebook_html(heading, table, evidence)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything into one file of JSON, compressed if its name ends in ``.gz``.

        The file appears whole or not at all. It tells the version that wrote it, the public names of types
        and their fields; numbers keep all their bits. Later versions read it.

        Raises
        ------
        ModelError
            If the result holds what a file cannot hold, such as a policy that is a function of your own, or
            the path cannot be written.
        """
        from fairness.display.storage import write

        write(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what :meth:`save` wrote; nothing in the file is executed.

        ``Result.load`` reads any result, a class only its own and those of its subclasses.

        Raises
        ------
        ModelError
            If the file cannot be read, is none of ours, is damaged, comes from a version whose classes were
            others, or holds another result.

        Examples
        --------
        >>> import tempfile
        >>> from fairness import DRF, Problem, allocate
        >>> from fairness.results import Allocation
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     allocate(Problem([[1, 4], [3, 1]], [9, 18]), DRF()).save(f"{folder}/drf.json")
        ...     Allocation.load(f"{folder}/drf.json").tasks
        array([3., 2.])
        """
        from fairness.display.storage import read

        result = read(path)
        if not isinstance(result, cls):
            kind = type(result).__name__
            raise ModelError.of(
                "path", f": {os.fspath(path)!r} holds {kind}, not {cls.__name__}; use {kind}.load"
            )
        return result
