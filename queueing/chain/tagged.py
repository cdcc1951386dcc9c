r"""The law of the duration of a job: a tagged job in an absorbing chain.

Sizes are exponential. A job of class c that arrives finds the stationary law :math:`\pi` of the counts
(Poisson arrivals see time averages [1]_). With :math:`x` *other* jobs present, the tagged one leaves at rate
:math:`\varphi_c(x + e_c) / ((x_c + 1)\sigma_c)`, for the jobs of a class share its tasks equally; the others
move as ever, those of class c leaving at :math:`x_c` times that rate. The duration T is the time until the
tagged job leaves. With the sub-generator :math:`A` of these moves [2]_,

.. math:: P(T > t) = \pi e^{At} 1, \qquad E[T^n] = n!\, \pi (-A)^{-n} 1 .

The moments come from sparse LU factorisation. For the survival function the chain is uniformised: with
:math:`q` the largest rate out, :math:`P(T > t) = \sum_k P(N_{qt} = k)\, s_k` where
:math:`s_k = \pi (I + A/q)^k 1` and :math:`N_{qt}` is Poisson of mean :math:`qt`. The numbers :math:`s_k`
serve all times; they fall with k, so leaving out Poisson numbers of total probability :math:`\epsilon` leaves
out at most :math:`\epsilon`.

*The box.* The counts, tagged job included, stay in a box, and arrivals that would leave it are lost. That is
one consistent chain, in which Little's law is exact for the arrivals that enter:
:math:`E[T] = E[x_c] / (\lambda_c P(x_c < K_c - 1))`. The relative difference of both sides, ``little_error``,
is evidence for the solver and for :math:`\pi`, not for the box: what that cuts off the moments is estimated
apart (:mod:`queueing.chain.truncation`).

References
----------
.. [1] R. W. Wolff, "Poisson arrivals see time averages", Operations Research 30, 1982.
   DOI 10.1287/opre.30.2.223.
.. [2] E. G. Coffman, R. R. Muntz and H. Trotter, "Waiting time distributions for processor-sharing systems",
   Journal of the ACM 17, 1970. DOI 10.1145/321556.321568.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from fairness.arguments.validation import float_array, require_choice, require_whole
from fairness.catalogue import colour
from fairness.display.drawing import given_axes
from fairness.display.lettering import label
from fairness.display.result import Result
from fairness.display.storage import LATER
from fairness.errors import ModelError, NotConvergedError
from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray
from fairness.protocol.cluster_policy import AnyPolicy
from queueing.chain.solvers.balance import box_rates, grid_factors, outflow
from queueing.chain.solvers.choose_solver import Solver
from queueing.chain.solvers.uniformisation import BLOCK, Moves, PoissonWeights, steps
from queueing.chain.stationary import BOXES, estimated_law
from queueing.chain.stationary_law import Stationary
from queueing.chain.truncation import moment_errors
from queueing.model.system import System, check_system
from queueing.pictures.durations import LAWS, draw_law, draw_quantiles, dress, quantile_words
from queueing.states.box import along, box_name, check_box, count_states, require_part, sides
from queueing.states.table import Table, death_rates, tabulate
from queueing.waiting.whole_jobs import Order

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["TaggedDuration", "tagged_duration"]

MARKED = (0.5, 0.9, 0.99)
"""Levels of the quantiles that a table lists and a picture marks."""


@dataclass(frozen=True, eq=False, repr=False)
class TaggedDuration(Result):
    """Law of the duration of the jobs of one class; made by :func:`tagged_duration`.

    Attributes
    ----------
    system : System
    policy : str
        Name of the policy.
    job_class : str
        Name of the class.
    shape : tuple of int
        States per class of the box, the tagged job included.
    mean : float, units of time
    variance : float, units of time squared
    little_error : float
        Relative difference between ``mean`` and the mean by Little's law.
    mean_error, variance_error : float
        Estimated relative errors of ``mean`` and ``variance``: by the solver (``little_error``, and the error
        of the law that the job finds) and by what the box cuts off (:mod:`queueing.chain.truncation`).
        In files of versions that did not tell the latter, the first is without it and the second NaN.
    residual : float
        Largest violation of the equations of the first two moments, over their right sides.
    tail_mass : float
        Estimate of the probability outside the box (see :mod:`queueing.chain.stationary`).
    tolerance : float
        Largest error of :meth:`survival` by the truncation of uniformisation, for the chain on the box.
    """

    system: System
    policy: str
    job_class: str
    shape: tuple[int, ...]
    mean: float
    variance: float
    little_error: float
    mean_error: float
    residual: float
    tail_mass: float
    tolerance: float
    _decay: _Decay = field(repr=False)
    variance_error: float = field(default=math.nan, metadata=LATER)

    @property
    def standard_deviation(self) -> float:
        """Square root of the variance, units of time."""
        return math.sqrt(self.variance)

    @property
    def scv(self) -> float:
        """Squared coefficient of variation of the duration."""
        return self.variance / self.mean**2

    def survival(self, times: ArrayLike) -> FloatArray:
        """P(T > t) for each time, in the shape of ``times``; 1 below 0.

        Raises
        ------
        ModelError
            If a time is not finite.
        NotConvergedError
            If a time needs more steps of the uniformised chain than ``max_steps``.
        """
        moments = float_array("times", times)
        if not np.isfinite(moments).all():
            raise ModelError.of("times", f"must be finite; got {moments[~np.isfinite(moments)][0]}")
        values = np.ones(moments.shape)
        for place in np.ndindex(moments.shape):
            if moments[place] > 0:
                values[place] = self._decay.at(float(moments[place]))
        return values

    def cdf(self, times: ArrayLike) -> FloatArray:
        """P(T <= t) for each time; raises as :meth:`survival`."""
        return 1.0 - self.survival(times)

    def quantile(self, levels: ArrayLike) -> FloatArray:
        """Time by which a job has left with the given probability, by bisection; in the shape of ``levels``.

        Raises
        ------
        ModelError
            If a level is not between 0 and 1, or so near 1 that ``tolerance`` hides it.
        NotConvergedError
            If a quantile needs more steps of the uniformised chain than ``max_steps``.
        """
        given = float_array("levels", levels)
        highest = 1.0 - 1e3 * self.tolerance
        wrong = ~((given > 0) & (given < highest))
        if wrong.any():
            raise ModelError.of(
                "levels",
                f"must be above 0 and below {highest:.12g} (1 - 1000 tolerance); got "
                f"{given[wrong].ravel()[0]}",
                *np.argwhere(wrong)[0],
            )
        values = np.empty(given.shape)
        for place in np.ndindex(given.shape):
            values[place] = self._quantile(1.0 - float(given[place]))
        return values

    def _quantile(self, left: float) -> float:
        low, high = 0.0, self.mean
        while self._decay.at(high) > left:
            low, high = high, 2 * high
        while high - low > 1e-13 * high:
            middle = (low + high) / 2
            if self._decay.at(middle) > left:
                low = middle
            else:
                high = middle
        return high

    def to_dataframe(self, levels: Sequence[float] = MARKED) -> pd.DataFrame:
        """One row, the class: mean, standard deviation and the quantiles."""
        row = {"mean": self.mean, "standard_deviation": self.standard_deviation}
        row |= {
            f"q{level:g}": float(value) for level, value in zip(levels, self.quantile(levels), strict=True)
        }
        return pd.DataFrame(row, index=pd.Index([self.job_class], name="job_class"))

    def summary(self) -> str:
        """What a person wants to read: moments, then the evidence."""
        return (
            f"duration of {self.job_class} under {self.policy}: mean {self.mean:.6g}, standard deviation "
            f"{self.standard_deviation:.6g}\n"
            f"  box {box_name(self.shape)}; probability outside about {self.tail_mass:.1e}; relative errors "
            f"about {self.mean_error:.1e} of the mean and {self.variance_error:.1e} of the variance; off "
            f"Little's law by {self.little_error:.1e}; residual {self.residual:.1e}"
        )

    def plot(self, ax: Axes | None = None, what: str = "survival") -> Axes:
        """Draw the law of the duration up to the quantile of 99.9 %, with dots at those of 50, 90 and 99 %.

        Parameters
        ----------
        ax : Axes, optional
        what : {"survival", "cdf"}
            P(T > t), that a job is still present after t, or P(T <= t).
        """
        require_choice("what", what, tuple(LAWS))
        ax, shade = given_axes(ax), colour(self.policy)
        times = np.linspace(0.0, float(self.quantile(0.999)), 101)
        text = label(f"{self.job_class} under {self.policy}")
        draw_law(ax, what, times, self.cdf(times), color=shade, label=text)
        told = self.quantile(MARKED)
        draw_quantiles(ax, what, MARKED, told, color=shade, label=quantile_words(MARKED, told))
        dress(ax, what)
        return ax


def tagged_duration(
    system: System,
    policy: AnyPolicy,
    job_class: int | str,
    *,
    shape: Sequence[int] | int | None = None,
    tail: float = 1e-9,
    solver: Solver | None = None,
    tolerance: float = 1e-12,
    max_steps: int = 10_000_000,
    table: Table | None = None,
) -> TaggedDuration:
    """Law of the duration of the jobs of a class, with exponential sizes.

    Parameters
    ----------
    system : System
        One or two classes with arrivals, more where memory allows.
    policy : callable
        ``policy(problem, counts) -> tasks``. It must serve some class in every state with jobs.
    job_class : int or str
        Index or name of a class with arrivals.
    shape : sequence of int or int, optional
        States per class, the tagged job included. Default: that of
        :func:`queueing.stationary` with ``tail``.
    tail : float
        Largest tail mass of the automatic box.
    solver : Automatic, Product, Elimination or Multilevel, optional
        Of the stationary law that the job finds.
    tolerance : float
        Largest error of the survival function by the truncation of uniformisation.
    max_steps : int
        Most steps of the uniformised chain.
    table : Table, optional
        Tasks already computed for the same problem and policy.

    Returns
    -------
    TaggedDuration

    Raises
    ------
    UnstableError
        As :func:`queueing.stationary`.
    ModelError
        If an argument is wrong, the class has no arrivals, more than four classes have, the policy is an
        order of whole jobs or serves nobody in some state with jobs, or the factorisation does not fit in
        memory.
    NotConvergedError
        As :func:`queueing.stationary`.

    Examples
    --------
    One job in four lasts more than three times the mean size:

    >>> from fairness import DRF, Problem
    >>> from queueing import System
    >>> pool = Problem([[1, 0.1], [0.1, 1]], [1, 1], job_classes=["A", "B"])
    >>> law = tagged_duration(System.with_load(pool, [1, 1], 0.5), DRF(), "A")
    >>> round(law.mean, 4), law.quantile([0.75, 0.9]).round(4), law.little_error < 1e-9
    (2.3321, array([2.9997, 5.6625]), True)
    """
    check_system(system)
    require_part("tolerance", tolerance)
    if not tolerance < 1e-3:
        raise ModelError.of("tolerance", f"must be below 0.001; got {tolerance}")
    max_steps = require_whole("max_steps", max_steps, 1)
    index = _index(system, job_class)
    if isinstance(policy, Order) and policy.by_counts:
        raise ModelError.of(
            "policy",
            f"is {policy.name}, under which jobs run whole or wait, while those of a class share its tasks "
            f"equally here: simulate(system, {policy!r}, quantiles=[0.5, 0.9, 0.99]) has quantiles of the "
            "durations, the oldest of a class first",
        )
    system.require_poisson("tagged_duration")
    system.require_exponential("tagged_duration")
    system.require_stable()
    live = int((system.arrival_rates > 0).sum())
    if live > BOXES:
        raise ModelError(
            f"{live} classes have arrivals; tagged_duration follows a job among at most {BOXES}, on a box of "
            "counts; use simulate"
        )
    if shape is not None:
        _require_memory(check_box(shape, system))
    law = estimated_law(system, policy, shape=shape, tail=tail, solver=solver, table=table)
    _require_memory(law.shape)
    axes = [i for i in range(system.n_classes) if law.shape[i] > 1]
    table = tabulate(system.problem, policy, law.shape, known=table)
    return _solve(system, law, table, index, axes, tolerance, max_steps)


def _index(system: System, job_class: int | str) -> int:
    index = system.class_index(job_class)
    if system.arrival_rates[index] == 0:
        name = system.problem.job_classes[index]
        raise ModelError.of("job_class", f"{name!r} has no arrivals: there is no job to follow")
    return index


def _require_memory(box: Sequence[int]) -> None:
    n_axes, states = min(4, sum(size > 1 for size in box)), count_states(box)
    fill = _factor_bytes(n_axes, int(min(states, 1e15))) if n_axes > 1 else 100.0
    require_memory(
        (fill + 8.0 * 20 * n_axes) * states,
        f"the factorisation for a tagged job on {box_name(box)} states",
        "give a smaller shape, raise tail, or take simulate",
    )


def _factor_bytes(n_axes: int, states: int) -> float:
    """Bytes per state that LU factorisation takes at its peak, for one to four axes.

    Entries of the factors per state with minimum degree ordering, and 16 bytes for each: measured on boxes of
    10^4 to 10^6 states (two classes) and 3,000 to 30,000 (three and four).
    """
    fill = 4.0 * math.log2(states) if n_axes == 2 else {3: 3.0, 4: 7.0}[n_axes] * states**0.5
    return 16.0 * fill


def _solve(
    system: System,
    law: Stationary,
    table: Table,
    index: int,
    axes: list[int],
    tolerance: float,
    max_steps: int,
) -> TaggedDuration:
    # All arrays over the other jobs: the box without the states that have no room for the tagged one.
    shape = [law.shape[i] for i in axes]
    own = axes.index(index)
    with_room, with_tagged = sides(own)
    tasks = table.tasks.reshape(*shape, system.n_classes)[with_tagged]
    assert law.distribution is not None
    entering = law.distribution.reshape(shape)[with_room]
    inside = entering.shape
    accepted = float(entering.sum())
    first = np.ascontiguousarray(entering / accepted)

    up = system.arrival_rates[axes]
    down = np.stack([tasks[..., i] / system.mean_sizes[i] for i in axes])
    others = along(np.arange(inside[own]), own, len(axes))
    leave = down[own] / (others + 1.0)
    down[own] = leave * others
    out = outflow(up, down) + leave

    # Minus the generator: the unknowns are times until the end.
    matrix = (sparse.diags_array(out.ravel()) - box_rates(up, down)).tocsc()
    factors = grid_factors(matrix)
    ones = np.ones(matrix.shape[0])
    once = factors.solve(ones)
    once += factors.solve(ones - matrix @ once)
    twice = factors.solve(2 * once)
    twice += factors.solve(2 * once - matrix @ twice)
    stays = factors.solve(first.ravel(), trans="T")
    waits = factors.solve(stays, trans="T")
    rates = death_rates(table, system.mean_sizes, axes)
    cut = moment_errors(system.arrival_rates[axes], rates, own, law.distribution.reshape(shape), stays, waits)
    residual = max(
        float(np.max(np.abs(ones - matrix @ once))),
        float(np.max(np.abs(2 * once - matrix @ twice) / (2 * once))),
    )
    mean, second = float(first.ravel() @ once), float(first.ravel() @ twice)
    little = float(law.mean_jobs[index]) / (float(system.arrival_rates[index]) * accepted)

    variance, solver = second - mean * mean, abs(mean - little) / little + 2.0 * law.mean_error

    return TaggedDuration(
        system=system,
        policy=law.policy,
        job_class=system.problem.job_classes[index],
        shape=law.shape,
        mean=mean,
        variance=variance,
        little_error=abs(mean - little) / little,
        mean_error=solver + cut[0] / mean,
        residual=residual,
        tail_mass=law.tail_mass,
        tolerance=tolerance,
        _decay=_Decay(first.ravel(), Moves.of(up, down, out), tolerance, max_steps),
        # The variance is the second moment, whose relative error is twice as large, less the squared mean.
        variance_error=(2.0 * solver * (second + mean * mean) + cut[1] + 2.0 * mean * cut[0]) / variance,
    )


class _Decay:
    """The numbers s_k, computed as far as they were needed."""

    def __init__(self, first: FloatArray, moves: Moves, tolerance: float, max_steps: int) -> None:
        self.law, self.work = first.copy(), np.empty_like(first)
        self.moves, self.tolerance, self.max_steps = moves, tolerance, max_steps
        self.known = np.empty(0)

    def at(self, time: float) -> float:
        """P(T > time)."""
        mean = self.moves.rate * time
        # Beyond ten standard deviations a Poisson number has no weight that the tolerance would see.
        self._extend(math.floor(mean - 10 * math.sqrt(mean)))
        if mean - 10 * math.sqrt(mean) >= len(self.known):
            return 0.0
        weights = PoissonWeights(mean, self.tolerance / 2)
        self._extend(weights.high)
        end = min(weights.high + 1, len(self.known))
        used = weights.values[weights.low - weights.first : end - weights.first]
        return float(used @ self.known[weights.low : end])

    def _extend(self, number: int) -> None:
        """Compute s_0 to s_number, unless they are below half the tolerance."""
        parts, size = [self.known], len(self.known)
        last = float(self.known[-1]) if size else 1.0
        shape = self.moves.shape
        while size <= number and last > self.tolerance / 2:
            if size >= self.max_steps:
                raise NotConvergedError(
                    f"after max_steps={self.max_steps:,} steps, {self.max_steps / self.moves.rate:.4g} units "
                    f"of time, a job is still present with probability {last:.3g}; raise max_steps, or take "
                    "earlier times or lower levels",
                    residual=last,
                )
            seen = np.zeros((BLOCK, int(shape.sum())))
            moves, none = self.moves, np.empty((0, len(self.law)))
            steps(
                *(self.law, self.work, moves.up, moves.down, moves.stay, shape),
                *(np.empty((0, BLOCK)), none, seen),
            )
            # BLOCK is even, so the law is where it was.
            survivors = seen[:, -int(shape[-1]) :].sum(axis=1)
            parts.append(survivors)
            size += BLOCK
            last = float(survivors[-1])
        self.known = np.concatenate(parts)
