r"""One pool of resources and the classes of jobs that share it.

A task of class :math:`i` holds :math:`a_{ij}` units of resource :math:`j` while it runs. With
:math:`x_i` jobs of class :math:`i` present, an allocation :math:`\varphi` (tasks running per class)
is feasible when

.. math:: \sum_i \varphi_i a_{ij} \le C_j \quad\text{for all } j, \qquad 0 \le \varphi_i \le x_i \ell_i,

where :math:`\ell_i` is the most tasks that one job of the class can run (infinite by default).
A :class:`Problem` holds :math:`a, C`, the weights :math:`w`, the limits :math:`\ell` and the names.
It is validated once, here, so that everything below may assume a well-formed model.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.labels import by_label
from fairness.arguments.validation import (
    FloatArray,
    checked_names,
    float_array,
    frozen,
    rationals,
    require,
    require_shape,
)
from fairness.display.notebook import notebook_html
from fairness.display.tables import aligned
from fairness.errors import ModelError
from fairness.model.csv_tables import pool_tables
from fairness.model.job_classes import JobClasses
from fairness.model.nonzeros import Nonzeros, nonzeros, sparse_nonzeros

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Problem"]

SMALL_TABLE, LARGEST_TABLE = 2**20, 2**27
"""Entries of a table that is made of sparse demands to show them, and for whoever needs it: a gigabyte."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Problem(JobClasses):
    """A pool: demands, capacities, weights and limits.

    Tables of pandas and arrays of xarray are read by their labels, never by their order: see
    :mod:`fairness.arguments.labels`.

    Parameters
    ----------
    demands : array_like or sparse array of shape (n_classes, n_resources), resource units per task
        Units of resource j that one running task of class i holds. Zeros are allowed. A sparse array of
        scipy is kept as it is: max-min, DRF, asset and alpha fairness share the pool, and certificates check
        it, without a table of all classes and resources.
    capacities : array_like of shape (n_resources,), resource units
        Zero is allowed: classes that demand such a resource get no task.
    weights : array_like of shape (n_classes,), optional
        Priority of one job of the class, > 0; a job of weight w is treated as w jobs of weight 1.
        Default: all 1.
    limits : array_like of shape (n_classes,), tasks per job, optional
        Most tasks that one job can run, > 0. Default: infinite.
    job_classes, resources : sequence of str, optional
        Names; by default the labels of the arguments, or "class 1", "class 2", ... and "resource 1", ...

    Raises
    ------
    ModelError
        If a shape, sign, name or label is wrong, if a class demands nothing and has no limit (its
        allocation would be unbounded), or if the quotient of a demand and a capacity is not a float.

    Examples
    --------
    >>> pool = Problem([[1, 4], [3, 1]], [9, 18], job_classes=["A", "B"], resources=["cpu", "ram"])
    >>> pool
    Problem(2 classes x 2 resources)
      class  weight  limit  cpu  ram
      A           1    inf    1    4
      B           1    inf    3    1
      capacity                9   18

    A table brings its names, and the order of another's labels does not matter:

    >>> import pandas as pd
    >>> demands = pd.DataFrame({"cpu": {"A": 1, "B": 3}, "ram": {"A": 4, "B": 1}})
    >>> Problem(demands, pd.Series({"ram": 18, "cpu": 9})).capacities
    array([ 9., 18.])

    A hundred thousand routes over a thousand links:

    >>> from scipy.sparse import csr_array
    >>> from fairness import MaxMin, allocate
    >>> routes, links = np.arange(100_000), np.arange(100_000) % 1000
    >>> pool = Problem(csr_array((np.ones(100_000), (routes, links))), np.ones(1000))
    >>> allocate(pool, MaxMin()).tasks[:2]
    array([0.01, 0.01])
    """

    demands: FloatArray
    capacities: FloatArray
    weights: FloatArray
    limits: FloatArray
    job_classes: tuple[str, ...]
    resources: tuple[str, ...]
    _source: tuple[Any, Any]

    def __init__(
        self,
        demands: ArrayLike,
        capacities: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        limits: ArrayLike | None = None,
        job_classes: Sequence[str] | None = None,
        resources: Sequence[str] | None = None,
    ) -> None:
        listed = sparse_nonzeros("demands", demands) if hasattr(demands, "tocsr") else None
        named, (table, capacities, weights, limits) = by_label(
            {"job_classes": job_classes, "resources": resources},
            {
                "demands": (None if listed else demands, ("job_classes", "resources")),
                "capacities": (capacities, ("resources",)),
                "weights": (weights, ("job_classes",)),
                "limits": (limits, ("job_classes",)),
            },
        )
        a = listed.share if listed else float_array("demands", table, ndim=2)
        n, m = shape = np.shape(demands if listed else a)
        if n == 0 or m == 0:
            raise ModelError.of("demands", f"has shape {shape}; give at least one class and one resource")
        names = checked_names("job_classes", named["job_classes"], n, "class")
        columns = checked_names("resources", named["resources"], m, "resource")
        c = float_array("capacities", capacities)
        if c.ndim == 2:
            raise ModelError.of(
                "capacities", f"of a pool are one row; got shape {c.shape}; rows of servers make a Cluster"
            )
        require_shape("capacities", c, (m,), "demands", shape)
        require("capacities", c, np.isfinite(c) & (c >= 0), "finite and >= 0", columns)
        w = np.ones(n) if weights is None else float_array("weights", weights, ndim=1)
        require_shape("weights", w, (n,), "demands", shape)
        require("weights", w, np.isfinite(w) & (w > 0), "finite and > 0", names)
        cap = np.full(n, np.inf) if limits is None else float_array("limits", limits, ndim=1)
        require_shape("limits", cap, (n,), "demands", shape)
        require("limits", cap, cap > 0, "> 0 (inf for no limit)", names)
        vars(self).update(
            capacities=frozen(c),
            weights=frozen(w),
            limits=frozen(cap),
            job_classes=names,
            resources=columns,
            **({"_given": listed} if listed else {"demands": frozen(a)}),
            _source=(None if listed else rationals(table), rationals(capacities)),
        )
        self._check_demands(a)

    def _check_demands(self, units: FloatArray) -> None:
        """Units as a table, or those of the entries."""
        # Extremes first: they read a large table once and write nothing. A NaN fails both.
        if not (units.size == 0 or (units.min() >= 0 and units.max() < np.inf)):
            good = np.isfinite(units) & (units >= 0)
            i, j = self._first(~good)
            told = f"must be finite and >= 0; got {units[~good][0]} at index {(i, j)} ({self._named(i, j)})"
            raise ModelError.of("demands", told, i, j)
        start, resource, there, _ = self.units
        for k in np.flatnonzero((start[1:] == start[:-1]) & np.isinf(self.limits)):
            raise ModelError(
                f"job class {self.job_classes[k]!r} demands nothing and has no limit, so its allocation is "
                f"unbounded; give it a demand or set limits[{k}]",
                argument="demands",
                index=(int(k),),
            )
        # What overflows is refused here.
        with np.errstate(over="ignore"):
            share = there * self._scale[resource]
        if share.size and share.min() > 0 and share.max() < np.inf:
            return
        lost = ~np.isfinite(share) | ((share == 0) & (self.capacities[resource] > 0))
        if lost.any():
            i, j = self._first(lost)
            raise ModelError(
                f"demands[{i}, {j}] = {there[lost][0]:g} over capacities[{j}] = {self.capacities[j]:g} "
                f"({self._named(i, j)}) is beyond the range of floats; give this resource another unit",
                argument="demands",
                index=(i, j),
            )

    def _first(self, found: NDArray[np.bool_]) -> tuple[int, int]:
        """Class and resource of the first place in a table, or in a list, where something is found."""
        place = np.argwhere(found)[0]
        if len(place) == 1:
            k = place[0]
            place = (np.searchsorted(self.units.start, k, side="right") - 1, self.units.resource[k])
        return int(place[0]), int(place[1])

    def _named(self, i: int, j: int) -> str:
        return f"{self.job_classes[i]!r}, {self.resources[j]!r}"

    @classmethod
    def from_csv(
        cls, classes: str | os.PathLike[str], capacities: str | os.PathLike[str] | Mapping[str, Any] | Any
    ) -> Self:
        """Pool of CSV tables: one of classes, one of servers, whose capacities are added up.

        Parameters
        ----------
        classes : path
            A row per class with its first column ``job_class``, and a column per resource: see
            :mod:`fairness.model.csv_tables`.
        capacities : path, mapping from resource to units, or Series
            Of a file, a row per server with its first column ``server``, and the same resources.

        Raises
        ------
        ModelError
            With file, line and column: if a file cannot be read, a cell is wrong, a name is there twice, the
            resources of the tables differ, or the model is refused.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table = Path(folder, "classes.csv")
        ...     _ = table.write_text("job_class,weight,cpu,ram\\nA,1,1,4\\nB,2,3,1/2\\n")
        ...     Problem.from_csv(table, {"ram": 18, "cpu": 9})
        Problem(2 classes x 2 resources)
          class  weight  limit  cpu  ram
          A           1    inf    1    4
          B           2    inf    3  0.5
          capacity                9   18
        """
        found = pool_tables(classes, capacities)
        with found.located():
            return cls(**found.arguments)

    answer_axes = ("job_classes",)
    n_servers = 1

    @property
    def total_capacities(self) -> FloatArray:
        """Units of each resource, shape (n_resources,)."""
        return self.capacities

    @property
    def runs(self) -> NDArray[np.bool_]:
        """Where a class can run, shape (n_classes, 1)."""
        return ~self.blocked[:, None]

    @property
    def needs(self) -> NDArray[np.bool_]:
        """Where a class asks for a resource, shape (n_classes, 1, n_resources)."""
        return (self.demands > 0)[:, None, :]

    def most_tasks(self, counts: FloatArray) -> FloatArray:
        """Tasks that the jobs of each class can run at most, shape (..., n_classes)."""
        # A count of 0 times an infinite limit must not be formed.
        return np.where(counts > 0, counts, 1.0) * self.limits

    @cached_property
    def blocked(self) -> NDArray[np.bool_]:
        """Classes, shape (n_classes,), that demand a resource of capacity 0 and so never run."""
        if (self.capacities > 0).all():
            return np.zeros(self.n_classes, dtype=bool)
        return np.diff(self.nonzeros.start) < np.diff(self.units.start)

    @cached_property
    def task_shares(self) -> FloatArray:
        """Share of each resource that one task holds, a_ij / C_j; shape (n_classes, n_resources).

        Columns of capacity 0 are 0: no class that is not :attr:`blocked` demands them.
        """
        shares = np.zeros(self.demands.shape)
        return frozen(np.multiply(self.demands, self._scale, out=shares, where=self.demands > 0))

    if not TYPE_CHECKING:  # which would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            """The table of the demands of a pool that was given sparse, made when somebody needs it."""
            if name != "demands" or "_given" not in vars(self):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            n, m = self.n_classes, self.n_resources
            if n * m > LARGEST_TABLE:
                raise ModelError.of(
                    "demands",
                    f": a table of {n:,} x {m:,} numbers is needed, {8e-9 * n * m:.3g} GB; pools that were "
                    "given sparse are shared and certified without one by max-min, DRF, asset and alpha "
                    "fairness",
                )
            table = np.zeros((n, m))
            table[self.units.spread(np.arange(n)), self.units.resource] = self.units.share
            return vars(self).setdefault("demands", frozen(table))

    @cached_property
    def units(self) -> Nonzeros:
        """The demands that are not 0, listed class by class and resource by resource; ``share`` has units."""
        return vars(self).get("_given") or nonzeros(self.demands)

    @cached_property
    def nonzeros(self) -> Nonzeros:
        """The task shares that are not 0, listed class by class and resource by resource: for kernels."""
        return self.units.scaled(self._scale)

    @cached_property
    def _scale(self) -> FloatArray:
        """One over the capacities, 0 for those of 0."""
        return np.divide(1.0, self.capacities, out=np.zeros(self.n_resources), where=self.capacities > 0)

    def used(self, tasks: FloatArray) -> FloatArray:
        """Units of each resource that tasks, (..., n_classes), hold; shape (..., n_resources)."""
        if "_given" not in vars(self):
            units: FloatArray = tasks @ self.demands
            return units
        entries, m = self.units, self.n_resources
        held = entries.spread(tasks) * entries.share
        rows = [np.bincount(entries.resource, row, m) for row in held.reshape(-1, held.shape[-1])]
        return np.array(rows, dtype=float).reshape(*tasks.shape[:-1], m)

    @property
    def is_rational(self) -> bool:
        """Whether demands and capacities were given as integers or fractions."""
        return self._source[0] is not None and self._source[1] is not None

    def as_fractions(self) -> tuple[list[list[Fraction]], list[Fraction]]:
        """Demands and capacities as given, over the rationals.

        Raises
        ------
        ModelError
            If an entry was given as a float.

        Examples
        --------
        >>> Problem([[Fraction(1, 3), 1]], [1, 2]).as_fractions()
        ([[Fraction(1, 3), Fraction(1, 1)]], [Fraction(1, 1), Fraction(2, 1)])
        """
        if not self.is_rational:
            raise ModelError(
                "demands and capacities were given as floats; "
                "give ints or fractions.Fraction for exact results"
            )
        rows, row = self._source
        return [[Fraction(v) for v in r] for r in rows], [Fraction(v) for v in row]

    _told = "a pool (capacities are numbers)"
    _seen = (
        *("units.start", "units.resource", "units.share"),
        *("capacities", "weights", "limits", "job_classes", "resources"),
    )

    def _arguments(self) -> dict[str, Any]:
        demands, capacities = self._source
        return {
            "demands": demands or (self._sparse() if "_given" in vars(self) else self.demands),
            "capacities": capacities or self.capacities,
            "weights": self.weights,
            "limits": self.limits if np.isfinite(self.limits).any() else None,
        }

    def _sparse(self) -> Any:
        from scipy.sparse import csr_array

        entries = self.units
        parts = (entries.share, entries.resource, entries.start)
        return csr_array(parts, shape=(self.n_classes, self.n_resources))

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: weight, limit, demand of each resource.

        Examples
        --------
        >>> pool = Problem([[1, 4], [3, 1]], [9, 18], resources=["cpu", "ram"])
        >>> pool.to_dataframe()["demand of ram"].tolist()
        [4.0, 1.0]
        """
        import pandas as pd

        columns = {"weight": self.weights, "limit": self.limits}
        columns |= {f"demand of {name}": self.demands[:, j] for j, name in enumerate(self.resources)}
        return pd.DataFrame(columns, index=pd.Index(self.job_classes, name="job_class"))

    @property
    def is_large(self) -> bool:
        """Whether a table of all classes and resources has more than 2^20 entries."""
        return self.n_classes * self.n_resources > SMALL_TABLE

    @property
    def is_listed(self) -> bool:
        """Whether the demands were given as a sparse array that is large as a table."""
        return "_given" in vars(self) and self.is_large

    def _repr_html_(self) -> str:
        if self.is_listed:
            return notebook_html(self._heading, None, [f"{self.units.share.size:,} demands are not 0"])
        capacities = (f"{name} {c:g}" for name, c in zip(self.resources, self.capacities, strict=True))
        return notebook_html(self._heading, self.to_dataframe(), [f"capacities: {', '.join(capacities)}"])

    def __repr__(self) -> str:
        if self.n_classes > 20 or self.n_resources > 12:
            return self._heading
        table = [["class", "weight", "limit", *self.resources]]
        for i, name in enumerate(self.job_classes):
            numbers = (self.weights[i], self.limits[i], *self.demands[i])
            table.append([name, *(f"{v:g}" for v in numbers)])
        table.append(["capacity", "", "", *(f"{v:g}" for v in self.capacities)])
        return "\n".join([self._heading, *aligned(table)])
