r"""The Markov chain of the job counts: stationary law and moments under any policy.

With Poisson arrivals and exponential sizes the counts form a Markov chain: class :math:`i` gains a job at
rate :math:`\lambda_i` and loses one at rate :math:`\varphi_i(x)/\sigma_i`. The chain is truncated to a box
:math:`0 \le x_i < K_i`; arrivals that would leave it are lost. On the box the balance equations
:math:`\pi Q = 0` are solved, and the box is enlarged until little probability is left outside.

Methods: the product formula of a birth-death chain (one class); elimination without subtractions (``direct``,
:mod:`queueing.chain.solvers.elimination`), which keeps all digits however far apart the rates are; multilevel
aggregation and sweeps (:mod:`queueing.chain.solvers.multilevel`), whose memory is a few numbers per state.

*What the tail mass means.* With :math:`F_i = P(x_i = K_i - 1)` on the outer face and :math:`r_i` the mean
decay per job of the marginal law over the last eighth of the axis, the marginal continued geometrically has
:math:`F_i r_i/(1 - r_i)` outside; the tail mass is the sum over the classes. It is an estimate, not a bound.

*What the error of the means means.* Two estimates are added: what the solver leaves on this box (rounding,
and what further cycles would change), and what the box cuts off (:mod:`queueing.chain.truncation`: the effect
of the refused arrivals, followed along the fluid limit, times 2.5). How often they cover the true error was
measured on thousands of random systems (``docs/theory/claimed_errors.md``); no bound is claimed: where a
policy switches priorities with the counts they were short by up to a fifth, and where its tasks jump from
state to state, as with the parity of the counts, the fluid on its coarse grid may be far off either way. The
error is infinite where the fluid limit grows, or where a marginal law does not decay at the end of its axis.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fairness.arguments.validation import require_whole
from fairness.display.drawing import stems
from fairness.errors import ModelError, NotConvergedError
from fairness.machine.memory import fits_memory, require_memory
from fairness.model.problem import FloatArray
from fairness.protocol.policy import Policy
from queueing.balanced.fairness import balanced_fairness
from queueing.balanced.tail_bound import StoreAndForward
from queueing.chain.solvers.balance import EPSILON, balance_residual, rounding_error
from queueing.chain.solvers.elimination import box_bandwidth, eliminate_box, elimination_bytes
from queueing.chain.solvers.growing_box import decays, extended, larger_box, nested_multilevel
from queueing.chain.solvers.mixture import MEMORY
from queueing.chain.truncation import truncation_error
from queueing.model.class_results import LittleMeans, class_lines, class_table
from queueing.model.cluster_load import geometric_ratios
from queueing.model.system import System
from queueing.states.box import SMALLEST, box_name, check_box, count_axes, count_states, marginal_laws
from queueing.states.precision import check_limits, check_parts
from queueing.states.table import Table, tabulate

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["Stationary", "stationary"]

METHODS = ("auto", "product", "direct", "multilevel")
DIRECT_WORK = 2e7
"""Up to so many operations elimination is as fast as anything."""
RESCUE_WORK = 2e10
"""Up to so many operations elimination takes over where multilevel gives up: some ten seconds."""
FIRST_TAIL = 1e-3
"""The first box leaves at most this probability outside under balanced fairness."""


@dataclass(frozen=True, eq=False, repr=False)
class Stationary(LittleMeans):
    """Stationary law of the job counts on a box; made by :func:`stationary`.

    Attributes
    ----------
    system : System
    policy : str
        Name of the policy.
    method : str
        "product", "direct" or "multilevel".
    shape : tuple of int
        States per class.
    mean_jobs : ndarray of shape (n_classes,), jobs
    covariance : ndarray of shape (n_classes, n_classes), jobs squared
        Covariance matrix of the counts.
    tail_mass : float
        Estimate of the probability outside the box (see the module docstring), at most 1.
    residual : float
        Sum of the violations of all balance equations over the total flow.
    mean_error : float
        Estimated relative error of ``mean_jobs`` on this box (solver only). A small residual alone does not
        make the error small.
    marginals : tuple of ndarray
        Law of each count; entry i has shape (shape[i],).
    distribution : ndarray of shape ``shape``, or None
        The law itself, if it was kept.
    mean_jobs_error : ndarray of shape (n_classes,), jobs
        Estimated absolute error of ``mean_jobs``, by the solver and by the box (see the module docstring);
        infinite where the fluid limit grows or the tail cannot be told. Not a bound. NaN in a law that was
        not made by :func:`stationary`.
    """

    system: System
    policy: str
    method: str
    shape: tuple[int, ...]
    mean_jobs: FloatArray
    covariance: FloatArray
    tail_mass: float
    residual: float
    mean_error: float
    marginals: tuple[FloatArray, ...]
    distribution: FloatArray | None = None
    mean_jobs_error: FloatArray = field(default_factory=lambda: np.array(math.nan))

    def __post_init__(self) -> None:
        error = np.broadcast_to(self.mean_jobs_error, self.mean_jobs.shape)
        object.__setattr__(self, "mean_jobs_error", error)

    @classmethod
    def from_law(
        cls,
        system: System,
        policy: str,
        method: str,
        law: FloatArray,
        residual: float,
        mean_error: float,
        cut: FloatArray,
    ) -> Stationary:
        """Moments and evidence of a law on a box; ``cut`` (n_classes,) is the error by the box."""
        n = law.ndim
        marginals = marginal_laws(law)
        centred = [np.arange(len(p)) - p @ np.arange(len(p)) for p in marginals]
        covariance = np.empty((n, n))
        for i in range(n):
            covariance[i, i] = marginals[i] @ centred[i] ** 2
            for k in range(i + 1, n):
                pair = law.sum(axis=tuple(axis for axis in range(n) if axis not in (i, k)))
                covariance[i, k] = covariance[k, i] = centred[i] @ pair @ centred[k]
        live = system.arrival_rates > 0
        outside = sum(mass for (mass, _), here in zip(decays(marginals), live, strict=True) if here)
        mean_jobs = np.array([p @ np.arange(len(p)) for p in marginals])
        # A law that does not decay says nothing about what is outside.
        error = cut + mean_error * mean_jobs if outside < math.inf else np.where(live, math.inf, 0.0)
        return cls(
            system,
            policy,
            method,
            law.shape,
            mean_jobs,
            covariance,
            min(1.0, outside),
            residual,
            mean_error,
            marginals,
            law,
            error,
        )

    @cached_property
    def variances(self) -> FloatArray:
        """Variances of the counts, (n_classes,)."""
        return np.diagonal(self.covariance).copy()

    def marginal(self, job_class: int | str) -> FloatArray:
        """Law of the count of one class, given by its index or name; shape (shape[i],)."""
        names = self.system.problem.job_classes
        if isinstance(job_class, str) and job_class not in names:
            raise ModelError(f"no job class is named {job_class!r}; the classes are {', '.join(names)}")
        place = names.index(job_class) if isinstance(job_class, str) else job_class
        last = len(names) - 1
        return self.marginals[require_whole("job_class", place, -last - 1, last, " (an index), or a name")]

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: load, mean count and its error, variance, mean duration, service rate."""
        return class_table(
            self.system,
            mean_jobs=self.mean_jobs,
            mean_jobs_error=self.mean_jobs_error,
            variance=self.variances,
            mean_duration=self.mean_durations,
            service_rate=self.service_rates,
        )

    def to_dataset(self) -> xr.Dataset:
        """The law and its moments with labels; a dim "jobs of A" for each class, and job_class.

        Covariances have the dims job_class and other_class; the policy is a coordinate without dim.
        """
        import xarray as xr

        names = list(self.system.problem.job_classes)
        axes = count_axes(names, self.shape)
        columns = self.to_dataframe()
        data: dict[str, Any] = {str(key): ("job_class", columns[key].to_numpy()) for key in columns}
        data["covariance"] = (("job_class", "other_class"), self.covariance)
        data |= {
            f"marginal of {name}": (axis, law)
            for name, axis, law in zip(names, axes, self.marginals, strict=True)
        }
        if self.distribution is not None:
            data["distribution"] = (tuple(axes), self.distribution)
        labels = {"job_class": names, "other_class": names, "policy": self.policy, **axes}
        evidence = ("method", "tail_mass", "residual", "mean_error")
        return xr.Dataset(data, labels, {name: getattr(self, name) for name in evidence})

    def summary(self) -> str:
        """What a person wants to read: the means per class, then the evidence."""
        return "\n".join(
            [
                f"stationary law under {self.policy}",
                *class_lines(self.to_dataframe()),
                f"  box {' x '.join(map(str, self.shape))} ({self.method}); probability outside "
                f"about {self.tail_mass:.1e}; residual {self.residual:.1e}; "
                "relative error of the means about "
                f"{np.max(self.mean_jobs_error / np.maximum(self.mean_jobs, SMALLEST)):.1e}, "
                f"of which {self.mean_error:.1e} by the solver",
            ]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Law of the count of each class."""
        names = self.system.problem.job_classes
        title = f"stationary law under {self.policy}"
        return stems(ax, self.marginals, names, xlabel="jobs", ylabel="probability", title=title)


def stationary(
    system: System,
    policy: Policy,
    *,
    shape: Sequence[int] | int | None = None,
    tail: float = 1e-9,
    method: str = "auto",
    tolerance: float = 1e-11,
    max_cycles: int = 300,
    max_states: int = 10_000_000,
    table: Table | None = None,
    distribution: bool = True,
) -> Stationary:
    """Stationary law of the job counts under a policy.

    Parameters
    ----------
    system : System
        At most four classes with arrivals.
    policy : callable
        ``policy(problem, counts) -> tasks``. It must serve some class in every state with jobs.
    shape : sequence of int or int, optional
        States per class, at least 2 for a class with arrivals; the tail mass is then reported, whatever it
        is. Default: enlarge the box until the tail mass is at most ``tail``.
    tail : float
        Largest tail mass of the automatic box.
    method : {"auto", "product", "direct", "multilevel"}
        "auto" takes the product formula for one class, elimination ("direct") for small boxes, and multilevel
        otherwise; elimination again where multilevel gives up on a box that is not too large for it.
    tolerance : float
        For the estimated relative error of the means and, in the multilevel method, for the relative change
        of the law in one sweep.
    max_cycles : int
        Most cycles of the multilevel method on one box.
    max_states : int
        Largest automatic box.
    table : Table, optional
        Tasks already computed for the same problem and policy; its states are not computed again.
    distribution : bool
        Keep the law in the result.

    Returns
    -------
    Stationary

    Raises
    ------
    UnstableError
        If a resource has relative load >= 1.
    ModelError
        If an argument is wrong, the box does not fit in memory, or the policy serves nobody in some state
        with jobs.
    NotConvergedError
        If the box would exceed ``max_states`` (the policy may be unstable although no resource is
        overloaded), or a method misses the tolerance. ``best`` is the last Stationary, None if even the first
        box is too large.

    Examples
    --------
    >>> from fairness import DRF, Problem
    >>> from queueing import System
    >>> pool = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    >>> law = stationary(System.with_load(pool, [1, 1], 0.5), DRF())
    >>> law.mean_durations.round(4), law.tail_mass < 1e-9, law.residual < 1e-14
    (array([2.3321, 2.3321]), True, True)
    """
    system.require_exponential("stationary", "phase_stationary or simulate_jobs")
    system.require_stable()
    system.require_scale()
    active = system.arrival_rates > 0
    if active.sum() > 4:
        raise ModelError(
            f"{int(active.sum())} classes have arrivals; the chain is solved for at most 4; use simulate, "
            "balanced_fairness or the fluid limit"
        )
    if method not in METHODS:
        raise ModelError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    check_parts(tail=tail, tolerance=tolerance)
    max_cycles = require_whole("max_cycles", max_cycles, 1)
    check_limits(max_states=max_states)
    fixed = shape is not None
    sizes = _first_box(system) if shape is None else check_box(shape, system)
    if not fixed and count_states(sizes) > max_states:
        raise NotConvergedError(
            f"already the first box, {box_name(sizes)} states, exceeds max_states={max_states}; raise "
            f"max_states, give the shape, or use {'' if system.is_cluster else 'balanced_fairness, '}"
            "simulate or the fluid limit"
        )
    start: FloatArray | None = None
    while True:
        law, tabled = _on_box(system, policy, sizes, method, tolerance, max_cycles, table, start)
        if table is None or tabled.tasks.size > table.tasks.size:
            table = tabled
        if fixed or law.tail_mass <= tail:
            return law if distribution else replace(law, distribution=None)
        larger = larger_box(law.marginals, active.tolist(), tail)
        if math.prod(larger) > max_states:
            raise NotConvergedError(
                f"a box of {box_name(sizes)} states leaves about {law.tail_mass:.1e} outside, and the next, "
                f"{box_name(larger)}, exceeds max_states={max_states}; raise tail or max_states or give the "
                f"shape. At its end the law of each count changes per job by the factors "
                f"{', '.join(f'{r:.4g}' for _, r in decays(law.marginals))}: if one is near or above 1, "
                f"{law.policy} is probably unstable at this load",
                best=law,
                residual=law.tail_mass,
            )
        assert law.distribution is not None
        start = extended(law.distribution, larger)
        sizes = larger


def _first_box(system: System) -> tuple[int, ...]:
    """Box with little outside: under the bound of balanced fairness, or under geometric laws on a cluster."""
    if not system.is_cluster:
        return StoreAndForward(system).box(FIRST_TAIL)
    # Next to load 1 a ratio rounds to 1.
    ratios = np.minimum(geometric_ratios(system.load_evidence, system.problem), 1.0 - EPSILON)
    return tuple(2 + math.ceil(math.log(FIRST_TAIL) / math.log(r)) if r > 0 else 1 for r in ratios)


def _first_law(system: System, sizes: tuple[int, ...]) -> FloatArray:
    """Where iterations begin: balanced fairness, or independent geometric laws on a cluster."""
    if not system.is_cluster:
        guess = balanced_fairness(system, shape=sizes, distribution=True).distribution
        assert guess is not None
        return guess
    ratios = geometric_ratios(system.load_evidence, system.problem)
    factors = (ratio ** np.arange(size) for ratio, size in zip(ratios, sizes, strict=True))
    law = functools.reduce(np.multiply.outer, factors)
    # Positive, where powers underflow.
    return np.maximum(law / law.sum(), SMALLEST)


def _on_box(
    system: System,
    policy: Policy,
    sizes: tuple[int, ...],
    method: str,
    tolerance: float,
    max_cycles: int,
    known: Table | None,
    start: FloatArray | None,
) -> tuple[Stationary, Table]:
    """Solve on one box; also return the table, to be reused on the next."""
    n, states = system.n_classes, math.prod(sizes)
    axes = [i for i in range(n) if sizes[i] > 1]
    automatic = method == "auto"
    work = states * float(box_bandwidth(sizes)) ** 2
    if automatic:
        method = "product" if len(axes) <= 1 else "direct" if work <= DIRECT_WORK else "multilevel"
    if method == "product" and len(axes) > 1:
        raise ModelError("method='product' is for one class; take 'direct' or 'multilevel'")
    if not axes:
        method = "product"
    if method == "multilevel" and len(axes) == 1:
        raise ModelError("method='multilevel' is for two classes or more; take 'product' or 'direct'")
    require_memory(
        _bytes(method, len(axes), sizes),
        f"the chain on {box_name(sizes)} states (method {method!r})",
        "give a smaller shape, or raise tail" + (", or take 'multilevel'" if method == "direct" else ""),
    )
    table = tabulate(system.problem, policy, sizes, known=known)
    _require_service(table)
    # The longest axis last: rows along it are contiguous.
    axes.sort(key=lambda i: sizes[i])
    shape = tuple(sizes[i] for i in axes)
    tasks = table.tasks.reshape(*(size for size in sizes if size > 1), n)
    kept = [i for i in range(n) if sizes[i] > 1]
    turn = [kept.index(i) for i in axes]
    up = system.arrival_rates[axes]
    down = np.empty((len(axes), *shape))
    for row, i in enumerate(axes):
        np.multiply(tasks[..., i].transpose(turn), 1.0 / system.mean_sizes[i], out=down[row])

    complaint = ""
    if not axes:
        law = np.ones(())
    elif method != "multilevel":
        law = eliminate_box(up[:, None], down.reshape(len(axes), -1), shape).reshape(shape)
    else:
        guess = start
        if guess is None:
            guess = _first_law(system, sizes)
        first = guess.reshape([size for size in sizes if size > 1]).transpose(turn)
        law, convergence = nested_multilevel(
            up, down, first, rough=start is None, tolerance=tolerance, max_cycles=max_cycles
        )
        mean_error = convergence.mean_error
        if not convergence.reached:
            # Drifts of any shape can stop cycles; what elimination needs grows with the box, not with them.
            stuck = convergence.cycles < max_cycles and work <= RESCUE_WORK
            if automatic and stuck and fits_memory(_bytes("direct", len(axes), sizes)):
                method = "direct"
                law = eliminate_box(up[:, None], down.reshape(len(axes), -1), shape).reshape(shape)
            else:
                complaint = (
                    f"after {convergence.cycles} cycles on {box_name(sizes)} states the law still changes by "
                    f"{convergence.change:.1e} and the means by about {mean_error:.1e} (tolerance "
                    f"{tolerance:g}); raise max_cycles or tolerance, or take method='direct'"
                )
    if method != "multilevel":
        mean_error = rounding_error(marginal_laws(law), states)
    residual = balance_residual(up, down, law)
    cut = np.zeros(n)
    cut[axes] = truncation_error(up, down, law)
    law = np.ascontiguousarray(law.transpose(np.argsort(turn))).reshape(sizes)
    result = Stationary.from_law(system, table.policy, method, law, residual, mean_error, cut)
    if complaint:
        raise NotConvergedError(complaint, best=result, residual=mean_error)
    return result, table


def _bytes(method: str, n_axes: int, sizes: tuple[int, ...]) -> float:
    states = count_states(sizes)
    if method == "direct":
        return 8.0 * (2 * n_axes + 5) * states + elimination_bytes(states, box_bandwidth(sizes))
    return 8.0 * (2 * n_axes + 5 + (2 * MEMORY + n_axes) * (method == "multilevel")) * states


def _require_service(table: Table) -> None:
    """Somebody served in every state with jobs: then the empty state is reached from everywhere."""
    served = table.tasks.any(axis=-1)
    idle = ~served.reshape(-1)
    if idle[1:].any():
        state = np.unravel_index(1 + int(np.argmax(idle[1:])), table.shape)
        raise ModelError(
            f"{table.policy} serves nobody in state {tuple(int(x) for x in state)}, so the chain cannot be "
            "emptied from there; stationary needs a policy that serves somebody whenever jobs are present"
        )
