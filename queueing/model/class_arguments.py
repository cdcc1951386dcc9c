"""What a system is given for its classes: a number, a law or an arrival process, one or one per class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from numbers import Rational
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.labels import as_named
from fairness.arguments.validation import model_array, rationals
from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from queueing.model.arrivals import Arrivals, Poisson
from queueing.model.laws import Exponential, Law, exponential_laws
from queueing.model.scipy_law import as_law

__all__ = ["arrival_processes", "class_vector", "exact_rates", "rational_vector", "size_laws"]

_Read = TypeVar("_Read")


def size_laws(problem: Problem | Cluster, mean_sizes: ArrayLike | None, sizes: Any) -> tuple[Law, ...]:
    """One law per class, exponential ones where only means are given."""
    if sizes is not None:
        if mean_sizes is not None:
            raise ModelError(
                "mean_sizes and sizes are both given; a law has a mean of its own: leave out mean_sizes, and "
                "scale laws by law.with_mean(m)",
                argument="mean_sizes",
            )
        return _for_classes("sizes", sizes, problem, partial(as_law, "sizes"))
    entries = mean_sizes if isinstance(mean_sizes, list | tuple) else (mean_sizes,)
    if any(hasattr(one, "with_mean") or hasattr(one, "ppf") for one in entries):
        raise ModelError.of("mean_sizes", f"must be numbers; got {mean_sizes!r}; give laws as sizes=...")
    means = model_array("mean_sizes", 1.0 if mean_sizes is None else mean_sizes, problem, "job_classes")
    if not means.ndim:
        means = class_vector("mean_sizes", np.full(problem.n_classes, means), problem, positive=True)
        return (Exponential(float(means[0])),) * problem.n_classes
    return exponential_laws(class_vector("mean_sizes", means, problem, positive=True).tolist())


def _for_classes(
    name: str, given: Any, problem: Problem | Cluster, read: Callable[..., _Read]
) -> tuple[_Read, ...]:
    """What ``read(one, *index, place)`` makes of one object per class; a single one is that of all."""
    given = as_named(name, given, problem, "job_classes")
    if isinstance(given, Mapping):
        raise ModelError.of(
            name, "is a dict; pass a list, or pd.Series(...) of it, which is read by its labels"
        )
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str):
        return (read(given),) * problem.n_classes
    if len(given) != problem.n_classes:
        raise ModelError.of(
            name, f"has {len(given)} entries for {problem.n_classes} job classes; give one, or one per class"
        )
    seen: dict[int, _Read] = {}  # of thousands of classes many share one object
    for k, one in enumerate(given):
        if id(one) not in seen:
            seen[id(one)] = read(one, k, place=f" of class {problem.job_classes[k]!r}")
    return tuple(seen[id(one)] for one in given)


def arrival_processes(problem: Problem | Cluster, arrivals: Any) -> tuple[Arrivals, ...]:
    """One process per class, Poisson ones by default."""
    if arrivals is None:
        return (Poisson(),) * problem.n_classes
    return _for_classes("arrivals", arrivals, problem, _process)


def _process(given: Any, *index: int, place: str = "") -> Arrivals:
    if not isinstance(given, Arrivals):
        raise ModelError(
            f"arrivals{place} must be a process such as Poisson(), OnOff(10, 90) or Renewal(law), one or one "
            f"per class, or a JobTrace; got {given!r}",
            argument="arrivals",
            index=index,
        )
    return given


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


def rational_vector(
    name: str, given: Any, problem: Problem | Cluster, default: Any = None
) -> tuple[Any, ...] | None:
    """The entries, one per class, if all were given as integers or fractions; else None."""
    values = rationals(as_named(name, default if given is None else given, problem, "job_classes"))
    if isinstance(values, Rational):
        return (values,) * problem.n_classes
    return None if values is None else tuple(values)


def exact_rates(problem: Problem | Cluster, mix: Any, load: Any, mean_sizes: Any) -> list[Fraction] | None:
    """Arrival rates of a relative load of a pool, if all that they depend on is integers or fractions.

    Arguments that are wrong otherwise are refused where the rates are computed in floats.
    """
    parts = rational_vector("mix", mix, problem)
    means = rational_vector("mean_sizes", mean_sizes, problem, 1)
    if not (isinstance(problem, Problem) and problem.is_rational and isinstance(load, Rational)):
        return None
    if not (parts and means and len(parts) == len(means) == problem.n_classes):
        return None
    demands, capacities = problem.as_fractions()
    loads = [
        sum((v * a for v, a in zip(parts, column, strict=True)), Fraction(0)) / capacity
        for column, capacity in zip(zip(*demands, strict=True), capacities, strict=True)
        if capacity > 0
    ]
    busiest = max(loads, default=Fraction(0))
    return [v * load / busiest / m for v, m in zip(parts, means, strict=True)] if busiest > 0 else None
