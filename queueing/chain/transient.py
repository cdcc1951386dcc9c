r"""The law of the job counts at given times, from any start, by uniformisation.

The chain of :mod:`queueing.chain.stationary` on a box, arrivals that would leave it being lost, has
a generator :math:`Q` with rates out of at most :math:`q`. With :math:`P = I + Q/q` and :math:`N_t` Poisson of
mean :math:`qt` [1]_,

.. math:: \pi(t) = \sum_{k \ge 0} P(N_t = k)\, \pi(0) P^k, \qquad
          \int_0^t \pi(s)\, ds = \frac{1}{q} \sum_{k \ge 0} P(N_t > k)\, \pi(0) P^k.

All terms are positive (weights: :mod:`queueing.chain.solvers.uniformisation`), so leaving some out gives a
law from below, by exactly the weight left out. No load is too high, for no stationary law is needed. One pass
over :math:`\pi(0) P^k` serves all times.

*Steady state.* :math:`d_k = |\pi(0)P^{k+1} - \pi(0)P^k|_1` never increases, since :math:`P` is stochastic. If
all terms after :math:`k` are replaced by :math:`\pi(0)P^k`, the law is wrong by at most
:math:`d_k\,E[(N_t - k)^+]`. The pass stops early where this is within half the tolerance at every time.

*What the box means.* Run the chain without a box with the same arrivals and departures: both agree until the
first arrival is lost. With :math:`L(t)` the number lost, every event has by Markov's inequality

.. math:: |P(x(t) \in A) - P_{box}(x(t) \in A)| \le P(L(t) \ge 1) \le E[L(t)]
          = \sum_i \lambda_i \int_0^t P_{box}(x_i(s) = K_i - 1)\, ds ,

which is computed with the integral above: a bound on the error of all probabilities, not of the means.

References
----------
.. [1] A. Jensen, "Markoff chains as an aid in the study of Markoff processes", Scandinavian Actuarial
   Journal, 1953. DOI 10.1080/03461238.1953.10419459.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairness.arguments.validation import float_array, model_array, require_whole
from fairness.display.drawing import curves
from fairness.display.result import Result
from fairness.errors import ModelError, NotConvergedError
from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray
from fairness.protocol.cluster_policy import AnyPolicy
from queueing.chain.solvers.balance import EPSILON, outflow
from queueing.chain.solvers.uniformisation import Moves, pass_through
from queueing.model.system import System, check_system
from queueing.states.box import box_name, check_box, check_shape, count_states, marginal_laws, require_part
from queueing.states.table import Table, check_table, departure_rates, tabulate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Transient", "transient"]


@dataclass(frozen=True, eq=False, repr=False)
class Transient(Result):
    """Laws of the job counts at given times on a box; made by :func:`transient`.

    Attributes
    ----------
    system : System
    policy : str
        Name of the policy.
    times : ndarray of shape (n_times,), units of time
    shape : tuple of int
        States per class.
    mean_jobs : ndarray of shape (n_times, n_classes), jobs
    variances : ndarray of shape (n_times, n_classes), jobs squared
    marginals : tuple of ndarray
        Law of each count; entry i has shape (n_times, shape[i]).
    lost_arrivals : ndarray of shape (n_times,), jobs
        Upper bound on the mean number of arrivals lost on the faces of the box until then. It bounds the
        error that the box makes in the probability of any event (see the module docstring).
    truncation : ndarray of shape (n_times,)
        Upper bound on the total (L1) error of the law on the box by leaving out steps, at most the tolerance.
    mass_defect : ndarray of shape (n_times,)
        1 minus the computed probabilities, measured: truncation and rounding. The laws are not normalised.
    rounding : float
        Upper bound, to first order, on the total (L1) error of the laws by rounding.
    n_steps : int
        Steps of the uniformised chain.
    steady : bool
        Whether the pass ended early because the law had become steady.
    distribution : ndarray of shape ``(n_times, *shape)``, or None
        The laws themselves, if they were kept.
    """

    system: System
    policy: str
    times: FloatArray
    shape: tuple[int, ...]
    mean_jobs: FloatArray
    variances: FloatArray
    marginals: tuple[FloatArray, ...]
    lost_arrivals: FloatArray
    truncation: FloatArray
    mass_defect: FloatArray
    rounding: float
    n_steps: int
    steady: bool
    distribution: FloatArray | None = None

    @cached_property
    def box_error(self) -> FloatArray:
        """Bound on the error of any probability by the box, (n_times,): lost arrivals, at most 1."""
        return np.minimum(self.lost_arrivals, 1.0)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per time: the mean count of every class and the bound on the error by the box."""
        columns = dict(zip(self.system.problem.job_classes, self.mean_jobs.T, strict=True))
        index = pd.Index(self.times, name="time")
        return pd.DataFrame({**columns, "box_error": self.box_error}, index=index)

    def summary(self) -> str:
        """What a person wants to read: the means over time, then the evidence."""
        how = "ended early, the law being steady" if self.steady else "to the last time"
        return "\n".join(
            [
                f"transient law under {self.policy}: mean jobs",
                self.to_dataframe().to_string(float_format=lambda value: f"{value:.6g}"),
                f"  box {box_name(self.shape)}; {self.n_steps} steps ({how}); truncation at most "
                f"{self.truncation.max():.1e}; rounding at most {self.rounding:.1e}; "
                f"arrivals lost at most {self.lost_arrivals.max():.1e}",
            ]
        )

    @property
    def _tabulated(self) -> int:
        return 2 + len(self.times)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Mean jobs of every class against time."""
        names, title = self.system.problem.job_classes, f"transient law under {self.policy}"
        return curves(ax, self.times, self.mean_jobs, names, ylabel="mean jobs", title=title)


def transient(
    system: System,
    policy: AnyPolicy,
    times: ArrayLike,
    *,
    shape: Sequence[int] | int,
    start: ArrayLike | None = None,
    tolerance: float = 1e-12,
    max_steps: int = 10_000_000,
    table: Table | None = None,
    distribution: bool = True,
) -> Transient:
    """Law of the job counts at given times, from a state or a law.

    Parameters
    ----------
    system : System
        Any load; at most four classes with arrivals or jobs at the start.
    policy : callable
        ``policy(problem, counts) -> tasks``.
    times : array_like of shape (n_times,) or float, units of time
        >= 0, in any order.
    shape : sequence of int or int
        States per class, at least 2 for a class with arrivals. A class without arrivals gets no more than it
        can fill.
    start : array_like of shape (n_classes,) or ``shape``, optional
        A state (whole numbers), or the probabilities of all states of the box, with sum 1. Default: empty.
    tolerance : float
        Largest total (L1) error of every law on the box by leaving out steps of the uniformised chain.
    max_steps : int
        Most steps; the largest rate out of a state times the last time makes about as many.
    table : Table, optional
        Tasks already computed for the same problem and policy; its states are not computed again.
    distribution : bool
        Keep the laws. Without them memory does not grow with the number of times.

    Returns
    -------
    Transient

    Raises
    ------
    ModelError
        If an argument is wrong or the box does not fit in memory.
    NotConvergedError
        If ``max_steps`` do not reach the last time. ``best`` is the Transient of the times that were reached,
        or None.

    Examples
    --------
    Eight jobs of one class, and then both:

    >>> from fairness import DRF, Problem
    >>> from queueing import System
    >>> pool = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    >>> law = transient(System(pool, [0.5, 0.6]), DRF(), [0, 5, 50], start=[8, 0], shape=60)
    >>> law.mean_jobs.round(4)
    array([[8.    , 0.    ],
           [5.6398, 2.0366],
           [1.6977, 2.1395]])
    >>> bool(law.truncation.max() <= 1e-12), bool(law.box_error.max() < 1e-6)
    (True, True)
    """
    require_part("tolerance", tolerance)
    check_system(system).require_poisson("transient")
    check_table("table", table, system.problem, policy)
    system.require_scale()
    max_steps = require_whole("max_steps", max_steps, 1)
    moments = _times(times)
    sizes, first = _start(system, check_shape(shape, system.problem), start)
    system.require_exponential("transient", present=np.array(sizes) > 1)
    n, states = system.n_classes, math.prod(sizes)
    axes = [i for i in range(n) if sizes[i] > 1] or [0]
    if len(axes) > 4:
        raise ModelError(
            f"{len(axes)} classes have jobs; the transient law is computed for at most 4; use simulate or "
            "the fluid limit"
        )
    require_memory(
        8.0 * (2 * n + 6 + (len(moments) if distribution else 0)) * count_states(sizes),
        f"the transient law on {box_name(sizes)} states at {len(moments)} times",
        "give a smaller shape" + (" or distribution=False" if distribution else ""),
    )
    table = tabulate(system.problem, policy, sizes, known=table)
    if isinstance(first, tuple):
        state, first = first, np.zeros(sizes)
        first[state] = 1.0
    # The longest axis last: rows along it are contiguous.
    axes.sort(key=lambda i: sizes[i])
    up, down = system.arrival_rates[axes], departure_rates(table, system.mean_sizes, axes)
    moves = Moves.of(up, down, outflow(up, down))
    law = first.transpose([*axes, *(i for i in range(n) if i not in axes)]).flatten()
    laws = np.zeros((len(moments) if distribution else 0, states))
    result = pass_through(law, moves, moments, laws, tolerance, max_steps)

    reached = result.reached
    parts = np.split(result.marginals[reached], np.cumsum(moves.shape)[:-1], axis=-1)
    # A class without jobs: all probability in its only state.
    alone = parts[0].sum(axis=-1, keepdims=True)
    marginals = tuple(parts[axes.index(i)] if i in axes else alone for i in range(n))
    means = np.stack([p @ np.arange(p.shape[1]) for p in marginals], axis=-1)
    squares = np.stack([p @ np.arange(p.shape[1]) ** 2 for p in marginals], axis=-1)
    kept = None
    if distribution:
        grid = laws[reached].reshape(-1, *(sizes[i] for i in axes))
        kept = np.ascontiguousarray(grid.transpose(0, *(1 + np.argsort(axes)))).reshape(-1, *sizes)
    answer = Transient(
        system=system,
        policy=table.policy,
        times=moments[reached],
        shape=sizes,
        mean_jobs=means,
        variances=squares - means**2,
        marginals=marginals,
        lost_arrivals=result.lost[reached],
        truncation=result.truncation[reached],
        mass_defect=1.0 - alone[:, 0],
        # Per step and state: a product and a sum for each of 2n + 1 terms, and the rounding of the rates.
        rounding=(4 * n + 4) * EPSILON * (result.n_steps + 1),
        n_steps=result.n_steps,
        steady=result.steady,
        distribution=kept,
    )
    if not reached.all():
        raise NotConvergedError(
            f"max_steps={max_steps:,} steps end before time {moments[~reached].min():g}: the uniformised "
            f"chain makes {moves.rate:.4g} steps per unit of time; raise max_steps or take earlier times",
            best=answer if reached.any() else None,
            residual=1.0,
        )
    return answer


def _times(times: ArrayLike) -> FloatArray:
    moments = np.atleast_1d(float_array("times", times))
    if moments.ndim != 1 or not len(moments):
        raise ModelError.of("times", f"must be a number or a list of numbers; got shape {moments.shape}")
    if not (np.isfinite(moments).all() and (moments >= 0).all()):
        k = int(np.argmin(np.isfinite(moments) & (moments >= 0)))
        raise ModelError.of("times", f"must be finite and >= 0; got {moments[k]} at index {k}", k)
    return moments


def _start(
    system: System, sizes: tuple[int, ...], start: ArrayLike | None
) -> tuple[tuple[int, ...], FloatArray | tuple[int, ...]]:
    """The box, without the states that a class without arrivals cannot reach, and the law or state at 0."""
    n, live = system.n_classes, system.arrival_rates > 0
    names = system.problem.job_classes
    given = model_array("start", np.zeros(n) if start is None else start, system.problem, "job_classes")
    check_box(sizes, system)  # room for a job of every class with arrivals
    if given.shape == (n,):
        wrong = ~((given >= 0) & (given < sizes) & (given == np.floor(given)))
        if wrong.any():
            k = int(np.argmax(wrong))
            raise ModelError.of(
                "start",
                f"must be whole numbers of jobs inside the box, below {sizes[k]} for class {names[k]!r}; got "
                f"{given[k]:g}; to start from a law, give the probabilities of all states",
                k,
            )
        state = tuple(int(x) for x in given)
        box = tuple(size if here else 1 + x for size, here, x in zip(sizes, live, state, strict=True))
        return box, state
    if given.shape != sizes:
        raise ModelError.of(
            "start",
            f"must be a state, shape ({n},), or a law on the box, shape {sizes}; got shape {given.shape}",
        )
    # A sum of many roundings; more than that is a mistake.
    if not (np.isfinite(given).all() and (given >= 0).all() and abs(given.sum() - 1.0) < 1e-9):
        raise ModelError.of(
            "start", f"must list probabilities >= 0 with sum 1; their sum is {given.sum():.12g}"
        )
    spans = [1 + int(np.flatnonzero(p)[-1]) for p in marginal_laws(given)]
    box = tuple(size if here else span for size, here, span in zip(sizes, live, spans, strict=True))
    return box, given[tuple(map(slice, box))]
