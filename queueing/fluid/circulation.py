r"""Why bottleneck-max fair allocations exist: a fluid that circulates.

Job i has one unit of fluid that circulates through the resources it demands, in a ring. With
:math:`q_{ij}` the part that waits at resource j and :math:`r_{ij}` the rate at which resource j serves it,

.. math:: \dot q_{ij} = r_{i,j^-} - r_{ij},

where :math:`j^-` is the resource before j in the ring of job i. Resource j divides its capacity by max-min
fairness of the amounts :math:`a_{ij}r_{ij}/w_i`; a job whose queue at j is empty cannot be served faster
than its fluid arrives, :math:`r_{ij}\le r_{i,j^-}`. At an equilibrium all rates of a job are equal,
:math:`r_{ij}=\varphi_i`; every job waits somewhere, and there it has the largest share of a saturated
resource: the equilibria are bottleneck-max fair allocations.

For two resources these are the dynamics of [1]_, in units of tasks: with :math:`Q_{ij}=a_{ij}q_{ij}` and
:math:`R_{ij}=a_{ij}r_{ij}` they read :math:`\dot Q_{i1}=R_{i2}\,a_{i1}/a_{i2}-R_{i1}`. The ring for more
than two resources is our generalisation; we know no proof that it always settles, so the result carries a
certificate.

**Exact integration.** Let :math:`\theta_j` be the largest share at resource j (infinite if nobody waits there
and everything that arrives is served). An empty queue passes on the rate before it, so
:math:`r_{ij} = w_i\min_l \theta_l C_l/a_{il}`, over the resources l from the last one where job i waits up
to j. The :math:`\theta_j` solve :math:`\sum_i a_{ij}r_{ij}(\theta) = C_j`: for two resources the matrix of
each linear piece has only principal minors :math:`\ge0`, so the solution is unique but for degenerate
demands. Rates are constant until a queue empties, hence the trajectory is piecewise linear and followed
from one event to the next without discretisation. Events might accumulate; ``max_events`` then ends it.

References
----------
.. [1] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and
   Control of Large-Scale Networks, Eindhoven, 2014; "Multi-resource fairness: objectives, algorithms and
   performance", ACM SIGMETRICS 2015. arXiv:1410.0782.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import (
    Entropy,
    Seed,
    entropy_of,
    float_array,
    generator,
    model_array,
    require,
)
from fairness.display.drawing import curves
from fairness.display.result import Result
from fairness.errors import ModelError, NotConvergedError
from fairness.evidence.pools import Certificate, bottleneck_certificate
from fairness.model.problem import FloatArray, Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Circulation", "circulate"]

AT_REST = 1e-11
"""A queue whose inflow and outflow differ by less than this part of the larger is at rest."""


@dataclass(frozen=True, eq=False, repr=False)
class Circulation(Result):
    """A trajectory of the queue dynamics; made by :func:`circulate`.

    Attributes
    ----------
    problem : Problem
    times : ndarray of shape (n_times,)
        Events; everything is linear in between.
    queues : ndarray of shape (n_times, n_classes, n_resources), tasks
        Fluid of each job at each resource.
    rates : ndarray of shape (n_times, n_classes, n_resources), tasks per unit of time
        Rates from each time on.
    status : {"equilibrium", "horizon", "events"}
        Why it ended: all queues at rest, horizon reached, number of events spent.
    unrest : float
        Largest difference between two rates of a job at the end, relative to the larger.
    entropy : int, list of int or str, or None
        The seed: ``rng=entropy`` repeats the run; "a generator" where no seed does, None where a start was
        given.
    """

    problem: Problem
    times: FloatArray
    queues: FloatArray
    rates: FloatArray
    status: str
    unrest: float
    entropy: Entropy | None = None

    @cached_property
    def tasks(self) -> FloatArray:
        """Allocation at the end: the smallest rate of each job, shape (n_classes,), tasks."""
        return np.where(self.problem.demands > 0, self.rates[-1], np.inf).min(axis=1)

    @cached_property
    def certificate(self) -> Certificate:
        """Evidence that the final tasks are bottleneck-max fair (it fails away from equilibrium)."""
        return bottleneck_certificate(self.problem, np.ones(self.problem.n_classes), self.tasks)

    def at(self, times: ArrayLike) -> FloatArray:
        """Queues at given times >= 0, shape (n, n_classes, n_resources); at rest after an equilibrium.

        Raises
        ------
        ModelError
            If a time is negative, or after the end of a trajectory that has not come to rest.
        """
        t = np.atleast_1d(float_array("times", times))
        if not (t >= 0).all():
            raise ModelError.of("times", f"must be >= 0; got {t.min()}")
        if self.status != "equilibrium" and (t > self.times[-1]).any():
            raise ModelError(
                f"the trajectory ends at time {self.times[-1]:g} away from equilibrium, before {t.max():g}: "
                "raise horizon or max_events"
            )
        k = np.searchsorted(self.times, t, side="right") - 1
        speed = _inflow(self.problem, self.rates) - self.rates
        at_rest = (k == len(self.times) - 1) & (self.status == "equilibrium")
        ahead = np.where(at_rest, 0.0, t - self.times[k])
        return self.queues[k] + speed[k] * ahead[:, None, None]

    def to_dataframe(self) -> pd.DataFrame:
        """One row per event, one column per job and resource: queue."""
        names = pd.MultiIndex.from_product(
            [self.problem.job_classes, self.problem.resources], names=["job_class", "resource"]
        )
        return pd.DataFrame(
            self.queues.reshape(len(self.times), -1), index=pd.Index(self.times, name="time"), columns=names
        )

    def summary(self) -> str:
        """How it ended."""
        tasks = ", ".join(f"{v:.6g}" for v in self.tasks)
        return (
            f"Circulation: {self.status} after {len(self.times) - 1} events at time {self.times[-1]:.6g}\n"
            f"  tasks ({tasks}), unrest {self.unrest:.1e}\n  {self.certificate}"
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Queue of every job at the first resource that it demands, against time."""
        first = np.argmax(self.problem.demands > 0, axis=1)
        queues = self.queues[:, np.arange(len(first)), first]
        pairs = zip(self.problem.job_classes, first, strict=True)
        names = [f"{name} at {self.problem.resources[j]}" for name, j in pairs]
        return curves(ax, self.times, queues, names, ylabel="queue (tasks)")


def circulate(
    problem: Problem,
    start: ArrayLike | None = None,
    *,
    horizon: float = math.inf,
    max_events: int = 10_000,
    rng: Seed = None,
) -> Circulation:
    """Follow the queue dynamics from a start to equilibrium, one job per class.

    Parameters
    ----------
    problem : Problem
        Positive capacities and no limits; a limit can be written as a resource of the job's own.
    start : array_like of shape (n_classes, n_resources), tasks, optional
        Queues, >= 0, 0 where the job demands nothing, and every job has some fluid. Default: one task
        per job, spread at random.
    horizon : float
        Stop at this time. Default: at equilibrium.
    max_events : int
        Stop after so many emptied queues (near an equilibrium they may accumulate for ever).
    rng : numpy Generator or seed, optional
        For the random start.

    Returns
    -------
    Circulation

    Raises
    ------
    ModelError
        If an argument is malformed.
    NotConvergedError
        If the rates at some point are not found (never seen).

    Examples
    --------
    >>> from fairness import Problem
    >>> circulate(Problem([[4, 1], [2, 1], [1, 4]], [1, 1]), start=[[1, 0], [0, 1], [0.5, 0.5]])
    Circulation: equilibrium after ... events at time ...
      tasks (0.103448, 0.206897, 0.172414), unrest ...
      every class has the largest share of a saturated resource, or is at its limit: holds ...
    """
    demanded = problem.demands > 0
    if (problem.capacities == 0).any():
        name = problem.resources[int(np.argmin(problem.capacities))]
        raise ModelError.of(
            "capacities",
            f"must be positive, but resource {name!r} has capacity 0; leave it and the jobs that "
            "demand it out",
        )
    if np.isfinite(problem.limits).any():
        name = problem.job_classes[int(np.argmax(np.isfinite(problem.limits)))]
        raise ModelError.of(
            "limits",
            f"must be infinite; write the limit of {name!r} as a resource that only it demands, "
            "1 unit per task, with the limit as capacity",
        )
    if math.isnan(horizon) or horizon <= 0 or max_events < 1:
        raise ModelError(f"horizon and max_events must be positive; got {horizon}, {max_events}")
    stream = generator(rng)
    entropy = entropy_of(stream) if start is None else None
    queues = _start(problem, start, stream)
    theta = np.ones(problem.n_resources)
    time, times, path, speeds = 0.0, [], [], []
    while True:
        rates, theta = _rates(problem, queues, theta)
        times.append(time)
        path.append(queues)
        speeds.append(rates)
        inflow = _inflow(problem, rates)
        change = inflow - rates
        relative = np.divide(
            np.abs(change), np.maximum(inflow, rates), out=np.zeros_like(rates), where=demanded
        )
        change[relative < AT_REST] = 0.0
        unrest = float(relative.max())
        if not change.any() or time >= horizon or len(times) > max_events:
            status = "equilibrium" if not change.any() else "horizon" if time >= horizon else "events"
            history = np.array(times), np.array(path), np.array(speeds)
            return Circulation(problem, *history, status, unrest, entropy)
        draining = (change < 0) & (queues > 0)
        # A queue that is empty cannot drain: its rate is at most its inflow.
        lasting = np.divide(queues, -change, out=np.full_like(queues, np.inf), where=draining)
        step = min(float(lasting.min()), horizon - time)
        emptied = lasting <= step * (1 + 1e-14)
        queues = np.where(emptied, 0.0, np.maximum(queues + step * change, 0.0))
        time += step


def _start(problem: Problem, start: ArrayLike | None, stream: np.random.Generator) -> FloatArray:
    demanded = problem.demands > 0
    if start is None:
        spread = stream.exponential(size=demanded.shape) * demanded
        return spread / spread.sum(axis=1, keepdims=True)
    queues = model_array("start", start, problem, "job_classes", "resources")
    if queues.shape != demanded.shape:
        raise ModelError.of(
            "start", f"must have shape {demanded.shape}, jobs x resources; got {queues.shape}"
        )
    good = np.isfinite(queues) & (queues >= 0) & (demanded | (queues == 0))
    rule = "finite, >= 0, and 0 where nothing is demanded"
    require("start", queues, good, rule, problem.job_classes, problem.resources)
    dry = ~queues.any(axis=1)
    if dry.any():
        raise ModelError.of(
            "start", f"gives no fluid to {problem.job_classes[int(np.argmax(dry))]!r}; every job needs some"
        )
    return queues


def _rings(problem: Problem) -> list[NDArray[np.intp]]:
    return [np.flatnonzero(row) for row in problem.demands > 0]


def _inflow(problem: Problem, rates: FloatArray) -> FloatArray:
    """Rates at which fluid arrives: those at the previous resource of the ring; shape as ``rates``."""
    inflow = np.zeros_like(rates)
    for i, ring in enumerate(_rings(problem)):
        inflow[..., i, ring] = rates[..., i, np.roll(ring, 1)]
    return inflow


def _rates(problem: Problem, queues: FloatArray, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rates r_ij and largest shares theta_j; theta is a first guess.

    Newton's method on the piecewise linear equations, after one sweep of exact solutions for one resource at
    a time; more sweeps when it cycles.
    """
    upstream = _upstream(problem, queues)
    # Speed that a largest share of 1 allows: w_i C_j / a_ij.
    speed = np.divide(
        problem.weights[:, None],
        problem.task_shares,
        out=np.full_like(queues, np.inf),
        where=problem.demands > 0,
    )
    theta = np.where(np.isfinite(theta), theta, 1.0)
    best = np.inf
    for _ in range(200):
        theta = _sweep(problem, upstream, speed, theta)
        for _ in range(2 * len(theta) + 10):
            rates, limiting = _pass_on(upstream, speed, theta)
            residual = _residual(problem, rates, theta)
            best = min(best, residual)
            if residual < 1e-13:
                return rates, theta
            newton = _linear_piece(problem, speed, theta, limiting)
            if newton is None:
                break
            theta = newton
    raise NotConvergedError("the rates of the queues were not found", best=rates, residual=best)


def _upstream(problem: Problem, queues: FloatArray) -> list[list[list[int]]]:
    """Per job and resource, the resources whose shares bound the rate: from the last non-empty queue on."""
    result = []
    for i, ring in enumerate(_rings(problem)):
        row: list[list[int]] = [[] for _ in range(problem.n_resources)]
        for position, j in enumerate(ring):
            for back in range(len(ring)):
                row[j].append(int(ring[position - back]))
                if queues[i, row[j][-1]] > 0:
                    break
        result.append(row)
    return result


def _pass_on(
    upstream: list[list[list[int]]], speed: FloatArray, theta: FloatArray
) -> tuple[FloatArray, NDArray[np.intp]]:
    """Rates (n_classes, n_resources), and the resource that limits each; -1 where nothing is demanded."""
    rates = np.zeros_like(speed)
    limiting = np.full(speed.shape, -1)
    for i, row in enumerate(upstream):
        for j, chain in enumerate(row):
            if chain:
                bounds = speed[i, chain] * theta[chain]
                k = int(np.argmin(bounds))
                rates[i, j], limiting[i, j] = bounds[k], chain[k]
    return rates, limiting


def _residual(problem: Problem, rates: FloatArray, theta: FloatArray) -> float:
    used = (rates * problem.task_shares).sum(axis=0)
    gap = np.where(np.isinf(theta), np.maximum(used - 1.0, 0.0), np.abs(used - 1.0))
    return float(np.nan_to_num(gap, nan=np.inf).max())


def _linear_piece(
    problem: Problem, speed: FloatArray, theta: FloatArray, limiting: NDArray[np.intp]
) -> FloatArray | None:
    """Shares that saturate all resources with finite theta, if the limiting resources stay as they are."""
    m = len(theta)
    matrix = np.zeros((m, m))
    for i, j in np.argwhere(limiting >= 0):
        matrix[j, limiting[i, j]] += problem.task_shares[i, j] * speed[i, limiting[i, j]]
    finite = np.flatnonzero(np.isfinite(theta))
    try:
        solution = np.linalg.solve(matrix[np.ix_(finite, finite)], np.ones(len(finite)))
    except np.linalg.LinAlgError:
        return None
    if not (np.isfinite(solution).all() and (solution > 0).all()):
        return None
    new = np.full(m, np.inf)
    new[finite] = solution
    return new


def _sweep(
    problem: Problem, upstream: list[list[list[int]]], speed: FloatArray, theta: FloatArray
) -> FloatArray:
    """Solve for the share of one resource after the other, exactly."""
    theta = theta.copy()
    for j in range(len(theta)):
        theta[j] = np.inf
        caps, _ = _pass_on(upstream, speed, theta)
        # Used part of resource j: sum of a_ij min(cap_ij, speed_ij theta_j) / C_j, increasing in theta_j.
        members = np.flatnonzero(problem.demands[:, j] > 0)
        share = problem.task_shares[members, j]
        kink = caps[members, j] / speed[members, j]
        order = np.argsort(kink)
        filled, slope = 0.0, float((share * speed[members, j]).sum())
        for k in order:
            if filled + slope * kink[k] >= 1.0:
                theta[j] = (1.0 - filled) / slope
                break
            filled += share[k] * caps[members[k], j]
            slope -= share[k] * speed[members[k], j]
    return theta
