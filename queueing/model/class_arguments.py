"""What a system is given for its classes: a number, a law or an arrival process, one or one per class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.labels import as_named
from fairness.arguments.validation import model_array
from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from queueing.model.arrivals import Arrivals, Poisson
from queueing.model.laws import Exponential, Law
from queueing.model.scipy_law import as_law

__all__ = ["arrival_processes", "class_vector", "size_laws"]


def size_laws(problem: Problem | Cluster, mean_sizes: ArrayLike | None, sizes: Any) -> tuple[Law, ...]:
    """One law per class, exponential ones where only means are given."""
    if sizes is not None:
        if mean_sizes is not None:
            raise ModelError(
                "mean_sizes and sizes are both given; a law has a mean of its own: leave out mean_sizes, and "
                "scale laws by law.with_mean(m)"
            )
        return tuple(as_law("sizes", law) for law in _for_classes("sizes", sizes, problem))
    means = model_array("mean_sizes", 1.0 if mean_sizes is None else mean_sizes, problem, "job_classes")
    means = np.full(problem.n_classes, means) if means.ndim == 0 else means
    means = class_vector("mean_sizes", means, problem, positive=True)
    # Of thousands of classes most have the same.
    laws = {mean: Exponential(mean) for mean in set(means.tolist())}
    return tuple(laws[mean] for mean in means.tolist())


def _for_classes(name: str, given: Any, problem: Problem | Cluster) -> tuple[Any, ...]:
    """One object per class; a single one is that of all."""
    given = as_named(name, given, problem, "job_classes")
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str):
        return (given,) * problem.n_classes
    if len(given) != problem.n_classes:
        raise ModelError(
            f"{name} has {len(given)} entries for {problem.n_classes} job classes; give one, or one per class"
        )
    return tuple(given)


def arrival_processes(problem: Problem | Cluster, arrivals: Any) -> tuple[Arrivals, ...]:
    """One process per class, Poisson ones by default."""
    if arrivals is None:
        return (Poisson(),) * problem.n_classes
    processes = _for_classes("arrivals", arrivals, problem)
    for k, one in enumerate(processes):
        if not isinstance(one, Arrivals):
            raise ModelError.of(
                "arrivals",
                "must be processes such as Poisson() or OnOff(10, 90), one or one per class, or a JobTrace; "
                f"got {one!r}",
                k,
            )
    return processes


def class_vector(
    name: str, given: ArrayLike, problem: Problem | Cluster, *, positive: bool = False
) -> FloatArray:
    """Validated vector with one entry per class, >= 0 or > 0."""
    values = model_array(name, given, problem, "job_classes")
    if values.shape != (problem.n_classes,):
        raise ModelError.of(
            name, f"must have shape ({problem.n_classes},), one entry per job class; got {values.shape}"
        )
    good, rule = (values > 0, "> 0") if positive else (values >= 0, ">= 0")
    good &= np.isfinite(values)
    if not good.all():
        k = int(np.argmin(good))
        raise ModelError.of(
            name, f"must be finite and {rule}; got {values[k]} at index {k} ({problem.job_classes[k]!r})", k
        )
    return values
