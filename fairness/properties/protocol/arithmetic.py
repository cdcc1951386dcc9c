r"""One reading of pools and clusters, in floats or in fractions, so that every formula is written once.

All checkers see the same thing: the share :math:`b_{nir}` of resource r of server i that one task of class
n holds there, and the tasks :math:`x_{ni}`. A class can run on a server where some share is positive, and
alone it runs :math:`\gamma_{ni} = 1/\max_r b_{nir}` tasks there.

* A pool is a cluster with one server.
* Time division is resource division of a single resource, the time of the server: a task of class n holds
  the part :math:`1/\gamma_{ni}` of it, and eq. (10) of [1]_ is eq. (9) for this resource.

The arithmetic is that of the allocation: floats, or :class:`fractions.Fraction` in object arrays.

References
----------
.. [1] J. Khamse-Ashari et al., "Per-server dominant-share fairness (PS-DSF)", ICC 2017. arXiv:1611.00404.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.labels import as_named
from fairness.arguments.validation import float_array, rationals
from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.division import check_division
from fairness.properties.protocol.property import TOLERANCE, Change, Model, Number, Numbers, Question

__all__ = [
    "Reading",
    "as_given",
    "demands_in",
    "entitlements",
    "entry",
    "expected",
    "fall",
    "fitted",
    "given_gamma",
    "in_arithmetic_of",
    "largest",
    "may_run",
    "quotient",
    "read",
    "row_text",
    "shown",
    "task_shares",
    "tasks_from",
    "total_alone",
    "totals_after",
    "unit_of",
]

SLIPS = 1e-3
"""An allocation that exceeds a capacity by a larger part than this is refused, not judged."""


class Reading(NamedTuple):
    """A model and an allocation of it, in the arithmetic of the allocation."""

    shares: Numbers
    """Share of a resource of a server that one task holds, (n_classes, n_servers, n_resources)."""
    placement: Numbers
    """Tasks, (n_classes, n_servers)."""
    weights: Numbers
    """Weight of each class, (n_classes,)."""
    tolerance: float
    """What counts as zero."""

    @property
    def tasks(self) -> Numbers:
        """Tasks of each class on all servers, (n_classes,)."""
        total: Numbers = self.placement.sum(axis=1)
        return total

    @property
    def gamma(self) -> Numbers:
        """Tasks of a class alone on a server, (n_classes, n_servers)."""
        return quotient(1, self.shares.max(axis=2), 0)

    @property
    def is_exact(self) -> bool:
        """Whether the numbers are fractions."""
        return self.tolerance == 0

    @property
    def usage(self) -> Numbers:
        """Part of every resource of every server in use, (n_servers, n_resources)."""
        used: Numbers = (self.placement[:, :, None] * self.shares).sum(axis=0)
        return used


def read(question: Question) -> Reading:
    """Read a model and its allocation (before a change).

    Raises
    ------
    ModelError
        If the model has limits; if the allocation has the wrong shape, has an entry that is negative,
        infinite or no number, or is of fractions while the model is not rational.
    """
    model, allocation, division = question.model, question.allocation, question.division
    if model.most_tasks(np.ones(model.n_classes)).min() < np.inf:
        raise ModelError("limits play no part in properties; remove them from the problem")
    given = np.asarray(as_named("allocation", allocation, model, *model.answer_axes))
    exact = given.dtype == object
    if given.shape != model.answer_shape:
        raise ModelError.of(
            "allocation",
            f"must list {' x '.join(model.answer_axes)}: {model.answer_shape}; got shape {given.shape}",
        )
    if exact and rationals(given) is None:
        raise ModelError("an allocation in an object array must consist of ints and fractions.Fraction")
    placement = _fractions(given) if exact else float_array("allocation", given)
    if not ((placement >= 0) & (placement < np.inf)).all():
        raise ModelError.of(
            "allocation", f"must be finite and >= 0; got entries from {placement.min()} to {placement.max()}"
        )
    shares = task_shares(model, exact)
    placement = placement.reshape(model.n_classes, -1)
    if check_division(division) == "time":
        shares = shares.max(axis=2, keepdims=True)
    weights = _fractions(model.weights) if exact else model.weights
    return Reading(shares, placement, weights, 0 if exact else TOLERANCE)


def totals_after(reading: Reading, model: Model, users: int, answer: Numbers) -> Numbers:
    """Tasks of so many classes on all servers after a change of the model, (users,)."""
    values = in_arithmetic_of(reading, "allocation_after", answer)
    if values.ndim != len(model.answer_shape) or len(values) != users:
        raise ModelError.of(
            "allocation_after", f"must have one row per class, {users}; got shape {values.shape}"
        )
    total: Numbers = values.sum(axis=1) if values.ndim == 2 else values
    return total


def demands_in(reading: Reading, model: Model) -> Numbers:
    """Demands in the arithmetic of the reading, (n_classes, n_resources)."""
    return np.array(model.as_fractions()[0], dtype=object) if reading.is_exact else model.demands


def in_arithmetic_of(reading: Reading, name: str, values: Any) -> Numbers:
    """Values as floats or fractions, as the reading has them."""
    if not reading.is_exact:
        return float_array(name, values)
    exact = np.asarray(values)
    if rationals(exact) is None:
        raise ModelError.of(name, "must consist of ints and fractions.Fraction, as the allocation does")
    return _fractions(exact)


def fitted(reading: Reading) -> Reading:
    """The reading, scaled back by at most :data:`SLIPS` so that no server is overfull; fractions must fit.

    Raises
    ------
    ModelError
        If the allocation exceeds a capacity by more.
    """
    most = reading.usage.max()
    if most <= 1:
        return reading
    if reading.is_exact or most > 1 + SLIPS:
        raise ModelError(f"allocation exceeds a capacity: {shown(most)} of a resource is in use")
    return reading._replace(placement=reading.placement / most)


def total_alone(reading: Reading) -> Numbers:
    """Tasks that a class would run with all servers to itself, (n_classes,)."""
    total: Numbers = reading.gamma.sum(axis=1)
    return total


def entitlements(reading: Reading) -> Numbers:
    """Tasks that a class would run with its equal part, by weight, of every resource of every server."""
    entitled: Numbers = total_alone(reading) * reading.weights / reading.weights.sum()
    return entitled


def tasks_from(shares: Numbers, held: Numbers) -> Numbers:
    """Tasks that a class can run with what is held of the resources of the servers, all servers together.

    Parameters
    ----------
    shares : ndarray of shape (..., n_servers, n_resources)
        Share that one task of the class holds.
    held : ndarray, broadcast with ``shares``
        Share of each resource that is given.
    """
    possible = quotient(held, shares, np.inf).min(axis=-1)
    total: Numbers = np.where((shares > 0).any(axis=-1), possible, 0).sum(axis=-1)
    return total


def quotient(top: Any, bottom: Numbers, otherwise: Any) -> Numbers:
    """Quotient where the denominator is positive, else ``otherwise``."""
    positive = bottom > 0
    return np.where(positive, top / np.where(positive, bottom, 1), otherwise)


def fall(before: Numbers, after: Numbers) -> Numbers:
    """Relative loss (before - after)/max(before, after), between -1 and 1; 0 where both are 0."""
    return quotient(before - after, np.maximum(before, after), 0)


def largest(
    violations: Numbers, tolerance: float, classes: Sequence[int] | None = None
) -> tuple[int, tuple[int, ...]]:
    """Index of the largest violation, and the classes (all of them if None) whose violation counts."""
    found = np.flatnonzero(violations > tolerance).tolist()
    return int(np.argmax(violations)), tuple(found if classes is None else (classes[k] for k in found))


def expected(name: str, question: Question, kind: type[Change]) -> Any:
    """The change, of the kind that the property asks about, and the allocation after it.

    Raises
    ------
    ModelError
        If it is of another kind or does not fit the model, or one of both is missing.
    """
    if not isinstance(question.change, kind) or question.allocation_after is None:
        raise ModelError(
            f"{name} compares two allocations: give a change of type {kind.__name__} and allocation_after; "
            f"got change={question.change!r}"
        )
    question.change.validate(question.model)
    return question.change, question.allocation_after


def entry(value: Any) -> Number:
    """Python int, Fraction (int where it is one) or float.

    Raises
    ------
    ModelError
        If this is no number.
    """
    if type(value) is int or isinstance(value, numbers.Integral):  # the first is much faster
        return int(value)
    if isinstance(value, numbers.Rational):
        fraction = Fraction(value)
        return fraction.numerator if fraction.denominator == 1 else fraction
    if not isinstance(value, numbers.Real):
        raise ModelError(f"demands, amounts and factors must be numbers; got {value!r}")
    return float(value)


def as_given(model: Model) -> tuple[Numbers, Numbers]:
    """Demands and capacities with the entries that were given: object arrays of ints, fractions or floats."""
    demands, capacities = model._source
    return (
        _entries(model.demands if demands is None else demands),
        _entries(model.capacities if capacities is None else capacities),
    )


def shown(value: Any) -> str:
    """A number for a person: a fraction as such, a float with six digits."""
    return str(value) if isinstance(value, Fraction | int) else f"{value:.6g}"


def row_text(row: Any) -> str:
    """A row of numbers for a person."""
    return "(" + ", ".join(shown(v) for v in row) + ")"


def task_shares(model: Model, exact: bool = False) -> Numbers:
    """Share of a resource of a server that one task holds, (n_classes, n_servers, n_resources).

    0 where the class cannot run; in fractions if asked.
    """
    runs = model.runs[:, :, None]
    if not exact:
        return np.where(runs, model.server_shares, 0)
    demands, capacities, *gamma = (np.array(v, dtype=object) for v in model.as_fractions())
    rows = np.broadcast_to(capacities.reshape(-1, model.n_resources), model.needs.shape)
    shares: Numbers = quotient(demands[:, None, :], rows, Fraction(0)) * runs
    if gamma:  # where it is given, a task holds its nominal shares times nominal gamma over gamma
        shares = shares * quotient(1, gamma[0] * shares.max(axis=2), Fraction(0))[:, :, None]
    return shares


def given_gamma(model: Model) -> Numbers | None:
    """Gamma with the entries that were given, an object array; None if it was not given."""
    return None if model.given_gamma is None else _entries(model.given_gamma)


def may_run(cluster: Cluster) -> NDArray[np.bool_]:
    """Where a class may run by what was given, whether a resource is there or not; (n_classes, n_servers)."""
    if cluster.given_gamma is not None:
        return cluster.eligible
    given = cluster.given_eligible
    return np.ones(cluster.eligible.shape, dtype=bool) if given is None else given


def unit_of(row: Any) -> Any:
    """Step between the entries of a row: 1 over their common denominator; a tenth of the largest float."""
    if any(isinstance(v, float) for v in row):
        return max(row) / 10
    bottom = lcm(*(Fraction(v).denominator for v in row))
    return 1 if bottom == 1 else Fraction(1, bottom)


def _fractions(values: Numbers) -> Numbers:
    return np.array([Fraction(v) for v in values.flat], dtype=object).reshape(values.shape)


def _entries(values: Any) -> Numbers:
    given = np.array(values, dtype=object)
    return np.array([entry(v) for v in given.flat], dtype=object).reshape(given.shape)
