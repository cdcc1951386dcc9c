"""What pools and clusters have in common: classes of jobs that demand resources, and counts of these jobs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.plain import arguments_of, plain
from fairness.arguments.validation import FloatArray, float_array, model_array, require
from fairness.errors import ModelError

__all__ = ["JobClasses"]


class JobClasses(ABC):
    """What every model knows about its classes, and how it becomes another model, or plain data."""

    demands: FloatArray
    capacities: FloatArray
    job_classes: tuple[str, ...]
    resources: tuple[str, ...]
    _told: str
    """How messages call the model."""
    _seen: tuple[str, ...]
    """What a policy can see of the model."""

    @abstractmethod
    def _arguments(self) -> dict[str, Any]:
        """Arguments of the constructor but for the names, exact where they were given so; None by default."""

    @property
    def n_classes(self) -> int:
        """Number of job classes."""
        return len(self.job_classes)

    @property
    def n_resources(self) -> int:
        """Number of resources."""
        return len(self.resources)

    @property
    @abstractmethod
    def n_servers(self) -> int:
        """Number of servers; a pool counts as one."""

    @property
    @abstractmethod
    def answer_axes(self) -> tuple[str, ...]:
        """What the last axes of the answer of a policy list."""

    @property
    def answer_shape(self) -> tuple[int, ...]:
        """Shape of the answer of a policy to one state."""
        return tuple(len(getattr(self, axis)) for axis in self.answer_axes)

    @property
    @abstractmethod
    def total_capacities(self) -> FloatArray:
        """Units of each resource in all, shape (n_resources,)."""

    @property
    @abstractmethod
    def task_shares(self) -> FloatArray:
        """Share of each resource that one task holds, (n_classes, n_resources), with servers between."""

    @property
    @abstractmethod
    def runs(self) -> NDArray[np.bool_]:
        """Where a class can run, shape (n_classes, n_servers)."""

    @property
    @abstractmethod
    def needs(self) -> NDArray[np.bool_]:
        """Where a class asks for a resource, shape (n_classes, n_servers, n_resources)."""

    @property
    def server_names(self) -> tuple[str, ...]:
        """Names of the servers; the only one of a pool is called ""."""
        return ("",)

    @property
    def server_capacities(self) -> FloatArray:
        """Units of each resource of each server, shape (n_servers, n_resources)."""
        return self.capacities.reshape(-1, self.n_resources)

    @property
    def server_shares(self) -> FloatArray:
        """Share of each resource that one task holds, shape (n_classes, n_servers, n_resources)."""
        return self.task_shares.reshape(self.n_classes, -1, self.n_resources)

    def place(self, server: int, resource: int) -> str:
        """A resource in words, and where it is."""
        host = self.server_names[server]
        return f"{self.resources[resource]}{f' on {host}' if host else ''}"

    def most_tasks(self, counts: FloatArray) -> FloatArray:
        """Tasks that the jobs of each class can run at most; without limits infinite."""
        return np.full(np.shape(counts), np.inf)

    @property
    def given_gamma(self) -> Any:
        """Gamma as it was given: nested lists of exact entries, or an array of floats; None if it was not."""
        return None

    @property
    def given_eligible(self) -> NDArray[np.bool_] | None:
        """Placement constraints as they were given, (n_classes, n_servers); None if they were not."""
        return None

    def check_counts(self, counts: ArrayLike | None) -> FloatArray:
        """Validated counts, shape (..., n_classes), as a float array; all 1 when None.

        Labels of a table are the job classes, in any order.

        Raises
        ------
        ModelError
            If labels are not the job classes, the last axis does not have n_classes entries, or an entry is
            negative or not finite.
        """
        if counts is None:
            return np.ones(self.n_classes)
        x = model_array("counts", counts, self, "job_classes")
        if x.ndim == 0 or x.shape[-1] != self.n_classes:
            raise ModelError.of(
                "counts", f"has shape {x.shape}; its last axis must list the {self.n_classes} job classes"
            )
        require("counts", x, np.isfinite(x) & (x >= 0), "finite and >= 0")
        return x

    def check_state(self, counts: ArrayLike | None) -> FloatArray:
        """Validated counts of one state, shape (n_classes,); all 1 when None.

        Raises
        ------
        ModelError
            As :meth:`check_counts`; also if the counts are a batch.
        """
        x = self.check_counts(counts)
        if x.ndim != 1:
            raise ModelError.of(
                "counts",
                f"must have shape ({self.n_classes},); got {x.shape}; "
                "for a batch call the policy itself: policy(problem, counts)",
            )
        return x

    def same(self, other: JobClasses) -> bool:
        """Whether two models are equal in all that a policy can see: arrays, weights, limits and names.

        They may be different objects: one of them read again, or back from another process.

        Examples
        --------
        >>> from fairness import Problem
        >>> pool = Problem([[1, 4], [3, 1]], [9, 18])
        >>> pool.same(Problem.from_dict(pool.to_dict())), pool.same(pool.replaced(weights=[1, 2]))
        (True, False)
        """
        if self is other:
            return True
        return type(self) is type(other) and all(
            np.array_equal(seen(self), seen(other)) for seen in map(attrgetter, self._seen)
        )

    def replaced(self, **changes: Any) -> Self:
        """Model with some arguments of the constructor changed; the names stay where they still fit.

        Examples
        --------
        >>> from fairness import Problem
        >>> Problem([[1, 4], [3, 1]], [9, 18]).replaced(capacities=[9, 9]).capacities
        array([9., 9.])
        """
        kept, names = self._arguments(), self._names()
        if unknown := sorted(set(changes) - set(kept) - set(names)):
            told = f"unknown argument {unknown[0]!r}; choose from {', '.join([*kept, *names])}"
            raise ModelError(told, argument=unknown[0])
        kept |= changes
        shapes = {
            name: getattr(kept[name], "shape", None) or float_array(name, kept[name]).shape
            for name in ("demands", "capacities")
        }
        # What has too few dimensions is for the constructor to refuse.
        rows, columns = (*shapes["demands"], 0, 0)[:2]
        sizes = {"job_classes": rows, "servers": (*shapes["capacities"], 0)[0], "resources": columns}
        return type(self)(**{name: old for name, old in names.items() if len(old) == sizes[name]} | kept)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON and TOML; see :mod:`fairness.arguments.plain`.

        Examples
        --------
        >>> from fractions import Fraction
        >>> from fairness import Problem
        >>> Problem([[Fraction(1, 3), 1]], [1, 2.5]).to_dict()["demands"]
        [['1/3', 1]]
        """
        given = self._arguments() | self._names()
        return {name: plain(values) for name, values in given.items() if values is not None}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Model of plain data, such as :meth:`to_dict` gives.

        Raises
        ------
        ModelError
            If a key is missing or unknown, or the model is refused.
        """
        return cls(**arguments_of(cls, cls._told, data))

    @property
    def _heading(self) -> str:
        sizes = (f"{len(names)} {axis.removeprefix('job_')}" for axis, names in self._names().items())
        return f"{type(self).__name__}({' x '.join(sizes)})"

    def _names(self) -> dict[str, tuple[str, ...]]:
        axes = ("job_classes", "servers", "resources")
        return {axis: getattr(self, axis) for axis in axes if hasattr(self, axis)}
