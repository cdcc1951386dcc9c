r"""Several servers, and the classes of jobs that may run on some of them.

A task of class :math:`n` holds :math:`d_{nr}` units of resource :math:`r` on the server where it runs;
server :math:`i` has :math:`c_{ir}` units. With :math:`x_{ni}` tasks of class n on server i (the *placement*),
a class runs :math:`x_n = \sum_i x_{ni}` tasks. Alone on server i it would run

.. math:: \gamma_{ni} = \min_{r:\,d_{nr}>0} c_{ir}/d_{nr}

tasks, or none if the server is not eligible [1]_ (eq. 7). Two ways to share a server:

* *resource division* (RDM, eq. 9): :math:`\sum_n x_{ni} b_{nir} \le 1` for every resource, where
  :math:`b_{nir} = d_{nr}/c_{ir}` is the share of the resource that one task holds;
* *time division* (TDM, eq. 10): :math:`\sum_n x_{ni}/\gamma_{ni} \le 1`: one class at a time has the server.

*Effective capacities* [1]_ (section IV): a channel may carry more bits for one user than for another, and a
coprocessor may speed up some tasks. Then :math:`\gamma` is given, and a task holds its nominal shares times
:math:`\gamma^{\text{nominal}}_{ni}/\gamma_{ni}`: one that runs twice as fast holds them half the time.

References
----------
.. [1] J. Khamse-Ashari, I. Lambadaris, G. Kesidis, B. Urgaonkar and Y. Zhao, "Per-server dominant-share
   fairness (PS-DSF): a multi-resource fair allocation mechanism for heterogeneous servers", ICC 2017.
   arXiv:1611.00404.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
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
from fairness.model.cluster_arguments import alone, checked_eligibility, checked_gamma
from fairness.model.csv_tables import cluster_tables
from fairness.model.job_classes import JobClasses

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Cluster"]

FractionMatrix = list[list[Fraction]]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Cluster(JobClasses):
    """Servers with their capacities, and who may run where.

    Tables of pandas and arrays of xarray are read by their labels, never by their order: see
    :mod:`fairness.arguments.labels`.

    Parameters
    ----------
    demands : array_like of shape (n_classes, n_resources), resource units per task
        Units of resource r that one running task of class n holds. Zeros are allowed, but every class demands
        something.
    capacities : array_like of shape (n_servers, n_resources), resource units
        Zero is allowed: classes that demand an absent resource cannot use the server.
    eligible : array_like of bool, shape (n_classes, n_servers), optional
        Placement constraints. Default: every class may run on every server that has what it demands.
    gamma : array_like of shape (n_classes, n_servers), tasks, optional
        Tasks of a class alone on a server (effective capacities); 0 where it cannot run. Default: what
        demands and capacities say.
    weights : array_like of shape (n_classes,), optional
        Priority of one job of the class, > 0; a job of weight w is treated as w jobs of weight 1.
    job_classes, servers, resources : sequence of str, optional
        Names; by default the labels of the arguments, or "class 1", "server 1", "resource 1", ...

    Attributes
    ----------
    gamma : ndarray of shape (n_classes, n_servers), tasks
        As given or derived; 0 exactly where the class cannot run.
    eligible : ndarray of bool, shape (n_classes, n_servers)
        Where gamma > 0.

    Raises
    ------
    ModelError
        If a shape, sign, name or label is wrong; if a class demands nothing or can run nowhere; if no class
        can use a server; if gamma contradicts the eligibility or the capacities; or if a quotient of demands,
        capacities and gamma is not a float.

    Examples
    --------
    >>> cluster = Cluster([[1, 2], [1, 1]], [[9, 12], [12, 0]], eligible=[[True, True], [True, False]])
    Traceback (most recent call last):
    ...
    fairness.errors.ModelError: no class can use 'server 2': ...
    >>> Cluster([[1, 2], [1, 0]], [[9, 12], [12, 0]])
    Cluster(2 classes x 2 servers x 2 resources)
      class    weight  resource 1  resource 2  alone on server 1  alone on server 2
      class 1       1           1           2                  6                  -
      class 2       1           1           0                  9                 12
      server 1                  9          12
      server 2                 12           0
    """

    demands: FloatArray
    capacities: FloatArray
    gamma: FloatArray
    weights: FloatArray
    job_classes: tuple[str, ...]
    servers: tuple[str, ...]
    resources: tuple[str, ...]
    _source: tuple[Any, Any]
    _given_gamma: Any
    _given_eligible: NDArray[np.bool_] | None

    def __init__(
        self,
        demands: ArrayLike,
        capacities: ArrayLike,
        *,
        eligible: ArrayLike | None = None,
        gamma: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        job_classes: Sequence[str] | None = None,
        servers: Sequence[str] | None = None,
        resources: Sequence[str] | None = None,
    ) -> None:
        named, (demands, capacities, eligible, gamma, weights) = by_label(
            {"job_classes": job_classes, "servers": servers, "resources": resources},
            {
                "demands": (demands, ("job_classes", "resources")),
                "capacities": (capacities, ("servers", "resources")),
                "eligible": (eligible, ("job_classes", "servers")),
                "gamma": (gamma, ("job_classes", "servers")),
                "weights": (weights, ("job_classes",)),
            },
        )
        d = float_array("demands", demands, ndim=2)
        c = float_array("capacities", capacities)
        if c.ndim != 2:
            raise ModelError.of(
                "capacities", f"must have a row for each server; got shape {c.shape}; one pool is a Problem"
            )
        (n, m), s = d.shape, c.shape[0]
        if n == 0 or m == 0 or s == 0:
            raise ModelError.of(
                "demands",
                f"has shape {d.shape} and capacities {c.shape}; "
                "give at least one class, one server and one resource",
            )
        classes = checked_names("job_classes", named["job_classes"], n, "class")
        hosts = checked_names("servers", named["servers"], s, "server")
        columns = checked_names("resources", named["resources"], m, "resource")
        require_shape("capacities", c, (s, m), "demands", d)
        require("demands", d, np.isfinite(d) & (d >= 0), "finite and >= 0", classes, columns)
        require("capacities", c, np.isfinite(c) & (c >= 0), "finite and >= 0", hosts, columns)
        w = np.ones(n) if weights is None else float_array("weights", weights, ndim=1)
        require_shape("weights", w, (n,), "demands", d)
        require("weights", w, np.isfinite(w) & (w > 0), "finite and > 0", classes)
        for k in np.flatnonzero(~d.any(axis=1)):
            raise ModelError(
                f"job class {classes[k]!r} demands nothing, so its allocation is unbounded; give it a demand",
                argument="demands",
                index=(k,),
            )
        allowed = checked_eligibility(eligible, (n, s))
        tasks = checked_gamma(gamma, d, c, allowed, (classes, hosts, columns))
        vars(self).update(
            demands=frozen(d),
            capacities=frozen(c),
            gamma=frozen(np.ascontiguousarray(tasks)),
            weights=frozen(w),
            job_classes=classes,
            servers=hosts,
            resources=columns,
            _source=(rationals(demands), rationals(capacities)),
            _given_gamma=None if gamma is None else (rationals(gamma), frozen(tasks)),
            _given_eligible=allowed,
        )

    answer_axes = ("job_classes", "servers")

    @property
    def n_servers(self) -> int:
        """Number of servers."""
        return self.capacities.shape[0]

    @classmethod
    def from_csv(
        cls,
        classes: str | os.PathLike[str],
        servers: str | os.PathLike[str],
        *,
        gamma: str | os.PathLike[str] | ArrayLike | None = None,
    ) -> Self:
        """Cluster of CSV tables: one of classes, one of servers, and perhaps one of gamma.

        Parameters
        ----------
        classes : path
            A row per class with its first column ``job_class``, and a column per resource; ``servers`` names
            those where it may run: see :mod:`fairness.model.csv_tables`.
        servers : path
            A row per server with its first column ``server``, and the same resources.
        gamma : path or array_like of shape (n_classes, n_servers), optional
            Of a file, a row per class with its first column ``job_class``, and a column per server.

        Raises
        ------
        ModelError
            With file, line and column: if a file cannot be read, a cell is wrong, a name is there twice or
            unknown, the resources of the tables differ, or the model is refused.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     classes, servers = Path(folder, "classes.csv"), Path(folder, "servers.csv")
        ...     _ = classes.write_text("job_class,servers,cpu,ram\\nA,old,1,4\\nB,,3,1\\n")
        ...     _ = servers.write_text("server,ram,cpu\\nold,18,9\\nnew,6,12\\n")
        ...     Cluster.from_csv(classes, servers)
        Cluster(2 classes x 2 servers x 2 resources)
          class  weight  cpu  ram  alone on old  alone on new
          A           1    1    4           4.5             -
          B           1    3    1             3             4
          old              9   18
          new             12    6
        """
        found = cluster_tables(classes, servers, gamma)
        with found.located():
            return cls(**found.arguments)

    @property
    def given_gamma(self) -> Any:
        """Gamma as it was given: nested lists of exact entries, or an array of floats; None if it was not."""
        if self._given_gamma is None:
            return None
        exact, floats = self._given_gamma
        return floats if exact is None else [list(row) for row in exact]

    @property
    def given_eligible(self) -> NDArray[np.bool_] | None:
        """Placement constraints as they were given, a boolean array; None if they were not."""
        return self._given_eligible

    @cached_property
    def eligible(self) -> NDArray[np.bool_]:
        """Where a class can run, shape (n_classes, n_servers)."""
        return self.gamma > 0

    @property
    def runs(self) -> NDArray[np.bool_]:
        """Where a class can run, shape (n_classes, n_servers)."""
        return self.eligible

    @property
    def needs(self) -> NDArray[np.bool_]:
        """Where a class asks for a resource, shape (n_classes, n_servers, n_resources)."""
        return (self.demands > 0)[:, None, :] & self.eligible[:, :, None]

    @property
    def server_names(self) -> tuple[str, ...]:
        """Names of the servers."""
        return self.servers

    @cached_property
    def task_shares(self) -> FloatArray:
        """Share of a resource of a server that one task holds there, (n_classes, n_servers, n_resources).

        0 where the class cannot run. The largest entry over the resources is 1/gamma.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = self.demands[:, None, :] / self.capacities[None, :, :]
            shares = np.where(self.eligible[:, :, None] & (self.demands[:, None, :] > 0), shares, 0.0)
            if self._given_gamma is not None:
                speed = np.where(self.eligible, alone(self.demands, self.capacities) / self.gamma, 0.0)
                shares *= speed[:, :, None]
        return frozen(shares)

    @cached_property
    def total_capacities(self) -> FloatArray:
        """Units of each resource in the whole cluster, shape (n_resources,)."""
        return frozen(self.capacities.sum(axis=0))

    @cached_property
    def unconstrained_gamma(self) -> FloatArray:
        """Tasks of a class alone on a server if placement constraints were lifted, (n_classes, n_servers).

        As given, if gamma was: it must be 0 where a class is not eligible, so it cannot say more.
        """
        if self._given_gamma is None and self._given_eligible is not None:
            return frozen(alone(self.demands, self.capacities))
        return self.gamma

    @property
    def is_rational(self) -> bool:
        """Whether demands, capacities and gamma (if given) were given as integers or fractions."""
        exact_gamma = self._given_gamma is None or self._given_gamma[0] is not None
        return self._source[0] is not None and self._source[1] is not None and exact_gamma

    def as_fractions(self) -> tuple[FractionMatrix, FractionMatrix, FractionMatrix]:
        """Demands, capacities and gamma over the rationals.

        Raises
        ------
        ModelError
            If an entry was given as a float.
        """
        if not self.is_rational:
            raise ModelError(
                "demands, capacities or gamma were given as floats; "
                "give ints or fractions.Fraction for exact results"
            )
        demands, capacities = ([[Fraction(v) for v in row] for row in rows] for rows in self._source)
        given = None if self._given_gamma is None else self._given_gamma[0]
        gamma = [
            [
                Fraction(0)
                if not self.eligible[n, i]
                else min(c / v for c, v in zip(capacities[i], demands[n], strict=True) if v > 0)
                if given is None
                else Fraction(given[n][i])
                for i in range(self.n_servers)
            ]
            for n in range(self.n_classes)
        ]
        return demands, capacities, gamma

    _told = "a cluster (capacities are rows)"
    _seen = ("demands", "capacities", "weights", "gamma", "_has_gamma", "job_classes", "servers", "resources")

    @property
    def _has_gamma(self) -> bool:
        """Some policies refuse a given gamma, whatever it says."""
        return self._given_gamma is not None

    def _arguments(self) -> dict[str, Any]:
        demands, capacities = self._source
        return {
            "demands": demands or self.demands,
            "capacities": capacities or self.capacities,
            "weights": self.weights,
            "gamma": self.given_gamma,
            "eligible": self.given_eligible,
        }

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: weight, demand of each resource, tasks alone on each server (gamma).

        Examples
        --------
        >>> Cluster([[1, 2], [1, 0]], [[9, 12], [12, 0]]).to_dataframe()["alone on server 2"].tolist()
        [0.0, 12.0]
        """
        import pandas as pd

        columns = {"weight": self.weights}
        columns |= {f"demand of {name}": self.demands[:, r] for r, name in enumerate(self.resources)}
        columns |= {f"alone on {name}": self.gamma[:, i] for i, name in enumerate(self.servers)}
        return pd.DataFrame(columns, index=pd.Index(self.job_classes, name="job_class"))

    def _repr_html_(self) -> str:
        lines = [
            f"{server}: " + ", ".join(f"{name} {c:g}" for name, c in zip(self.resources, row, strict=True))
            for server, row in zip(self.servers, self.capacities, strict=True)
        ]
        return notebook_html(self._heading, self.to_dataframe(), lines)

    def __repr__(self) -> str:
        if self.n_classes > 20 or self.n_servers > 8 or self.n_resources > 8:
            return self._heading
        table = [["class", "weight", *self.resources, *(f"alone on {s}" for s in self.servers)]]
        for n, name in enumerate(self.job_classes):
            own = (f"{g:g}" if g > 0 else "-" for g in self.gamma[n])
            table.append([name, f"{self.weights[n]:g}", *(f"{v:g}" for v in self.demands[n]), *own])
        for i, name in enumerate(self.servers):
            table.append([name, "", *(f"{v:g}" for v in self.capacities[i]), *([""] * self.n_servers)])
        return "\n".join([self._heading, *aligned(table)])
