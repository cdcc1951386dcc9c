r"""How mean counts change with arrival rates, sizes, capacities and weights, from Poisson's equation.

With a function :math:`h_k` of the counts for which :math:`x_k + Qh_k = E[x_k]`, Q the generator, a change of
the rates :math:`Q'` changes the mean by [1]_

.. math:: E[x_k]' = \pi\,Q' h_k .

One factorisation of Q serves all parameters. For the arrival rate :math:`\lambda_i` that is
:math:`\sum_x \pi(x)\,(h_k(x + e_i) - h_k(x))`, for the mean size :math:`\sigma_i` minus
:math:`\sigma_i^{-2}\sum_x \pi(x)\,\varphi_i(x)\,(h_k(x - e_i) - h_k(x))`; for a capacity or a weight the sum
over the classes of :math:`\sigma_i^{-1}\sum_x \pi(x)\,\varphi_i'(x)\,(h_k(x - e_i) - h_k(x))`, where
:math:`\varphi'` is the difference of the policy's answers for a parameter a millionth larger and smaller.

*Kinks.* Where in some state a resource is just about to fill, a mean has two derivatives in a capacity or a
weight, one to each side. That is so for round numbers rather than by chance: equal weights are a kink of most
policies. What is given is their mean, and half of their difference.

*Errors.* The difference to a box with four fifths of the sides, where far more is cut off. A policy that
knows neither units nor sizes answers, with all capacities or all weights or the time scaled, as before; so

.. math:: \sum_i \lambda_i\frac{\partial E}{\partial\lambda_i}
   = \sum_i \sigma_i\frac{\partial E}{\partial\sigma_i}
   = -\sum_j C_j\frac{\partial E}{\partial C_j}, \qquad \sum_i w_i\frac{\partial E}{\partial w_i} = 0

without limits, which nothing here makes true: by how much they are off is told.

References
----------
.. [1] P. J. Schweitzer, "Perturbation theory and finite Markov chains", Journal of Applied Probability 5(2),
   1968. DOI 10.2307/3212261.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairness.arguments.validation import frozen, require_whole
from fairness.catalogue import colour
from fairness.display.drawing import given_axes
from fairness.display.lettering import label
from fairness.display.result import Result
from fairness.display.tables import aligned
from fairness.errors import ModelError
from fairness.machine.work import OutOfTime, ProgressOption, Task, stopped, watching
from fairness.model.problem import FloatArray
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.policy import policy_name
from queueing.chain.boxes import CountBoxes
from queueing.chain.solvers.balance import box_rates
from queueing.chain.solvers.choose_solver import Automatic
from queueing.chain.solvers.poisson_steps import poisson_step
from queueing.chain.stationary import BOXES
from queueing.fluid.stability import require_stable
from queueing.model.system import System, check_system
from queueing.states.box import require_part, sides
from queueing.states.table import Table, departure_rates, tabulate
from queueing.waiting.whole_jobs import Order

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Sensitivities", "Slopes", "sensitivities"]

STEP = 1e-6
"""Relative change of a capacity or a weight."""
SMALLER = 0.8
"""Sides of the box that tells what is cut off."""
MOST_STATES = 100_000
"""Unless said otherwise: what a policy answers is computed for each capacity and each weight, twice."""


class Slopes(NamedTuple):
    """Derivatives, one row per parameter and one column per mean count.

    To the right it is ``value + kink``, to the left ``value - kink``; ``error`` is estimated.
    """

    value: FloatArray
    kink: FloatArray
    error: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivities(Result):
    """Derivatives of the mean counts; made by :func:`queueing.sensitivities`.

    Attributes
    ----------
    system : System
    policy : str
    mean_jobs : ndarray of shape (n_classes,), jobs
    arrival_rates, mean_sizes, weights : Slopes of shape (n_classes, n_classes)
        Entry [i, k]: of the mean count of class k in the parameter of class i; 0 for classes that never come.
    capacities : Slopes of shape (n_resources, n_classes)
    identity : float
        By how much the identities of the module docstring are off, over the largest term; NaN with limits.
    n_states : int
    """

    system: System
    policy: str
    mean_jobs: FloatArray
    arrival_rates: Slopes
    mean_sizes: Slopes
    weights: Slopes
    capacities: Slopes
    identity: float
    n_states: int

    @property
    def _parts(self) -> list[tuple[str, Sequence[str], FloatArray, Slopes]]:
        problem = self.system.problem
        return [
            ("arrival rate", problem.job_classes, self.system.arrival_rates, self.arrival_rates),
            ("mean size", problem.job_classes, self.system.mean_sizes, self.mean_sizes),
            ("weight", problem.job_classes, problem.weights, self.weights),
            ("capacity", problem.resources, problem.capacities, self.capacities),
        ]

    def to_dataframe(self) -> pd.DataFrame:
        """One row per parameter: its value, the derivatives of all mean counts and their sum; kink, error."""
        import pandas as pd

        rows = {
            (what, name): [at, *value, value.sum(), kink.sum(), error.sum()]
            for what, names, values, slopes in self._parts
            for name, at, value, kink, error in zip(names, values, *slopes, strict=True)
        }
        columns = ["at", *self.system.problem.job_classes, "all jobs", "kink", "error"]
        index = ["parameter", "of"]
        return pd.DataFrame.from_dict(rows, orient="index", columns=columns).set_axis(
            pd.MultiIndex.from_tuples(rows, names=index)
        )

    @property
    def _tabulated(self) -> int:
        return 1 + sum(len(names) for _, names, *_ in self._parts)

    def summary(self) -> str:
        """Per parameter the derivatives of the mean counts."""
        classes = self.system.problem.job_classes
        table = [["parameter", "at", *classes, "all jobs", "kink", "error"]]
        for what, names, values, (value, kink, error) in self._parts:
            for k, name in enumerate(names):
                slopes = [f"{v:.6g}" for v in (*value[k], value[k].sum())]
                last = [f"{kink[k].sum():+.1g}", f"{error[k].sum():.1e}"]
                table.append([f"{what} of {name}", f"{values[k]:.4g}", *slopes, *last])
        off = "" if np.isnan(self.identity) else f"; scaling everything changes them by {self.identity:.1e}"
        return "\n".join(
            [
                f"derivatives of the mean jobs under {self.policy}",
                *aligned(table),
                "  kink: half of what derivatives to the right are above those to the left",
                f"  {self.n_states:,} states{off}",
            ]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """By how many per cent all jobs change if a parameter grows by one per cent."""
        ax = given_axes(ax)
        names, values = [], []
        for what, of, at, slopes in self._parts:
            names += [label(f"{what} of {name}") for name in of]
            values += (at * slopes.value.sum(axis=1) / self.mean_jobs.sum()).tolist()
        ax.barh(range(len(names)), values, color=colour(self.policy))
        ax.set_yticks(range(len(names)), names)
        ax.invert_yaxis()
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set(xlabel="% more jobs for 1 % more", title=label(f"mean jobs under {self.policy}"))
        return ax


def sensitivities(
    system: System,
    policy: AnyPolicy,
    *,
    tail: float = 1e-9,
    max_states: int = MOST_STATES,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> Sensitivities:
    """How the mean counts change with each arrival rate, mean size, weight and capacity.

    Parameters
    ----------
    system : System
        A pool, at most four classes with Poisson arrivals, exponential sizes.
    policy : callable
        ``policy(problem, counts) -> tasks``, which does not depend on sizes and arrival rates, and whose
        tasks are continuous in capacities and weights. Orders of whole jobs are refused: in them one unit
        more or a tie less lets other jobs run, and means jump.
    tail : float
        Largest tail mass of the box (:func:`queueing.stationary`).
    max_states : int
        Most states of the box.
    progress, time_limit
        As for :func:`queueing.stationary`.

    Returns
    -------
    Sensitivities

    Raises
    ------
    UnstableError, ModelError, NotConvergedError
        As of :func:`queueing.stationary`; if the system is a cluster or has no arrivals, or the policy is an
        order of whole jobs.

    Examples
    --------
    One queue has x = lambda sigma/(C - lambda sigma) jobs:

    >>> from fairness import Problem, ProportionalFair
    >>> from queueing import System, sensitivities
    >>> found = sensitivities(System(Problem([[1]], [2]), [1.0]), ProportionalFair())
    >>> found.arrival_rates.value.round(6), found.capacities.value.round(6)
    (array([[2.]]), array([[-1.]]))

    Where a core is missed most, and what a weight moves from one class to the other:

    >>> pool = Problem([[10, 1], [1, 10]], [10, 10], resources=["cpu", "ram"])
    >>> found = sensitivities(System.with_load(pool, [3, 1], 0.7), ProportionalFair(), tail=1e-6)
    >>> found.capacities.value.sum(axis=1).round(3), found.weights.value.round(3)
    (array([-0.756, -0.044]), array([[-0.001,  0.006],
           [ 0.001, -0.006]]))
    """
    check_system(system).require_pool("sensitivities", "stationary at two values of a parameter")
    system.require_poisson("sensitivities")
    system.require_exponential("sensitivities", "stationary at two values of a parameter")
    if isinstance(policy, Order):
        raise ModelError.of(
            "policy", f"is {policy.name}: means jump where other jobs fit; take stationary at two values"
        )
    system.require_arrivals()
    require_part("tail", tail)
    require_whole("max_states", max_states, 1)
    system.require_scale()
    if (live := int((system.arrival_rates > 0).sum())) > BOXES:
        raise ModelError.of(
            "system", f"has {live} classes with arrivals; sensitivities are for at most {BOXES}; take "
            "stationary or simulate at two values of a parameter"
        )  # fmt: skip
    with watching(progress, time_limit):
        try:
            require_stable(system, policy)
            boxes = CountBoxes(system, policy, Automatic())
            law = boxes.grown(tail, max_states)
            rough, fine = _slopes(system, policy, boxes.tabulated(law.shape))
        except (OutOfTime, KeyboardInterrupt) as stop:
            raise stopped(stop, "no derivative is known", None) from None
    found = {
        name: Slopes(frozen(value), frozen(kink), frozen(np.abs(value - rough[name][0])))
        for name, (value, kink) in fine.items()
    }
    identity = _identity(system, {name: slopes.value for name, slopes in found.items()})
    return Sensitivities(
        system, policy_name(policy), law.mean_jobs, **found, identity=identity, n_states=law.n_states
    )


def _identity(system: System, values: dict[str, FloatArray]) -> float:
    """What scaling rates, sizes, capacities or weights changes, over the largest term of the sums."""
    problem = system.problem
    if np.isfinite(problem.limits).any():
        return float("nan")
    at = {
        "arrival_rates": system.arrival_rates,
        "mean_sizes": system.mean_sizes,
        "weights": problem.weights,
        "capacities": problem.capacities,
    }
    terms = {name: values[name] * at[name][:, None] for name in at}
    sums = {name: term.sum(axis=0) for name, term in terms.items()}
    off = [
        sums["arrival_rates"] - sums["mean_sizes"],
        sums["arrival_rates"] + sums["capacities"],
        sums["weights"],
    ]
    return float(np.max(np.abs(off)) / max(np.max(np.abs(term)) for term in terms.values()))


def _slopes(
    system: System, policy: AnyPolicy, table: Table
) -> list[dict[str, tuple[FloatArray, FloatArray]]]:
    """Derivatives and kinks, on the smaller box and on that of the table, whose answers hold for both."""
    problem, shape = system.problem, table.shape
    axes = [i for i, size in enumerate(shape) if size > 1]
    down = departure_rates(table, system.mean_sizes, axes)
    corner = (slice(None), *(slice(max(2, int(SMALLER * shape[i]))) for i in axes))
    boxes = [_Box(system, axes, np.ascontiguousarray(down[corner])), _Box(system, axes, down)]
    found = [box.slopes() for box in boxes]
    with Task("sensitivities", 2 * (system.n_classes + problem.n_resources), "tables") as work:
        for name in ("weights", "capacities"):
            values = getattr(problem, name)
            both = np.zeros((len(boxes), 2, len(values), system.n_classes))
            for j, side in product(np.flatnonzero(values > 0), range(2)):
                moved = values.copy()
                moved[j] *= 1.0 + (2 * side - 1) * STEP
                other = tabulate(problem.replaced(**{name: moved}), policy, shape)
                change = (departure_rates(other, system.mean_sizes, axes) - down) / (moved[j] - values[j])
                both[0, side, j, axes] = boxes[0].moved(change[corner])
                both[1, side, j, axes] = boxes[1].moved(change)
                work.advance()
            for slopes, (left, right) in zip(found, both, strict=True):
                slopes[name] = (left + right) / 2, (right - left) / 2
    return found


class _Box:
    """The chain on a box, solved; ``drop`` (n_outputs, n, *shape) is pi(x) (h(x - e_i) - h(x))."""

    def __init__(self, system: System, axes: list[int], down: FloatArray) -> None:
        self.system, self.axes, self.down = system, axes, down
        shape, n = down.shape[1:], len(axes)
        step = poisson_step(box_rates(system.arrival_rates[axes], down))
        law = step.law.reshape(shape)
        self.rise, self.drop = np.zeros((n, n)), np.zeros((n, n, *shape))
        for k, counts in enumerate(np.indices(shape).astype(float)):
            h = step(counts.ravel()).reshape(shape)
            for i in range(n):
                low, high = sides(i)
                more = h[high] - h[low]
                self.rise[i, k] = (law[low] * more).sum()
                self.drop[k, i][high] = -law[high] * more

    def slopes(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Derivatives in rates and sizes, where there are no kinks."""
        n = self.system.n_classes
        served = np.stack(
            [(part * self.down).reshape(len(part), -1).sum(axis=1) for part in self.drop], axis=1
        )
        found = {}
        for name, own in (
            ("arrival_rates", self.rise),
            ("mean_sizes", -served / self.system.mean_sizes[self.axes, None]),
        ):
            whole = np.zeros((n, n))
            whole[np.ix_(self.axes, self.axes)] = own
            found[name] = whole, np.zeros((n, n))
        return found

    def moved(self, change: FloatArray) -> FloatArray:
        """Change of the mean counts by one of the death rates, to first order."""
        return np.array([(part * change).sum() for part in self.drop])
