r"""The fluid limit of a pool under random traffic: drift, trajectories, emptying times.

With many jobs the numbers of jobs follow, on the scale of their total, the differential equation

.. math:: \dot x_i = \lambda_i - \varphi_i(x)/\sigma_i \qquad (x_i > 0)

[1]_. Policies depend on the proportions of the classes only, :math:`\varphi(cx)=\varphi(x)`, as long as no
limit of tasks per job binds (limits disappear in the fluid scaling, so problems with limits are refused).

Trajectories are integrated by :mod:`queueing.fluid.integration`: in a time change that makes the origin a
point at infinity, with classes that empty as events. A policy may jump where a class empties, but must be
continuous inside the orthant; NotConvergedError says when a trajectory gets stuck at a jump.

References
----------
.. [1] T. Bonald and J. Roberts, "Multi-resource fairness: objectives, algorithms and performance",
   ACM SIGMETRICS 2015. arXiv:1410.0782.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import require_choice, require_number, require_whole
from fairness.errors import ModelError, UnstableError
from fairness.model.problem import FloatArray
from fairness.protocol.calling import policy_tasks
from fairness.protocol.cluster_policy import AnyPolicy
from queueing.fluid.integration import Integrator, check_homogeneous
from queueing.fluid.paths import FluidEvent, Trajectory
from queueing.model.system import System, check_system

__all__ = ["FluidEvent", "Trajectory", "drift", "trajectory"]

METHODS = ("auto", "RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
"""All but the first of :func:`scipy.integrate.solve_ivp`."""


def drift(system: System, policy: AnyPolicy, counts: ArrayLike) -> FloatArray:
    """Drift of the numbers of jobs: arrival rate less tasks over mean size, per class.

    Parameters
    ----------
    system : System
    policy : callable
        ``policy(problem, counts) -> tasks``.
    counts : array_like of shape (..., n_classes), jobs

    Returns
    -------
    ndarray of shape (..., n_classes), jobs per unit of time
        Where a class is empty this is its arrival rate; see :func:`trajectory` for what then happens.

    Raises
    ------
    ModelError
        If counts has a wrong shape or sign, or the policy answers with another shape or with tasks that are
        negative, not finite, or positive where no job is present.

    Examples
    --------
    >>> from fairness import DRF, Problem
    >>> system = System(Problem([[1, 0.1], [0.1, 1]], [1, 1]), arrival_rates=[9 / 11, 9 / 11])
    >>> drift(system, DRF(), [10, 1]).round(4)
    array([-0.1719,  0.7192])
    """
    x = check_system(system).problem.check_counts(counts)
    system.require_exponential("the fluid limit", present=x.reshape(-1, system.n_classes).any(axis=0))
    return system.arrival_rates - policy_tasks(system.problem, policy, x) / system.mean_sizes


def trajectory(
    system: System,
    policy: AnyPolicy,
    start: ArrayLike,
    *,
    horizon: float | None = None,
    rtol: float = 1e-9,
    method: str = "auto",
    refine: int = 4,
    max_evaluations: int = 100_000,
) -> Trajectory:
    """Fluid trajectory from a start, until all jobs are gone or to a horizon.

    Parameters
    ----------
    system : System
    policy : callable
        ``policy(problem, counts) -> tasks``, homogeneous of degree 0 in counts and continuous where all
        counts are positive.
    start : array_like of shape (n_classes,), jobs
        At least one job.
    horizon : float, optional
        Stop at this time. Required when the load exceeds a capacity.
    rtol : float
        Relative tolerance of the integrator.
    method : {"auto", "RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"}
        Of :func:`scipy.integrate.solve_ivp`; "auto" begins with RK45 and goes on with LSODA where a piece is
        stiff, as it becomes with dozens of classes when some are few.
    refine : int
        Points reported per step of the integrator.
    max_evaluations : int
        Give up after so many evaluations of the right-hand side.

    Returns
    -------
    Trajectory

    Raises
    ------
    ModelError
        If an argument is malformed, or the policy depends on more than the proportions of the counts.
    UnstableError
        If a resource is overloaded, or jobs are present that can never run, and there is no horizon.
    NotConvergedError
        If max_evaluations do not suffice, for instance at a jump of the policy inside the orthant;
        ``best`` is the trajectory so far.

    Examples
    --------
    >>> from fairness import DRF, Problem
    >>> system = System(Problem([[1], [1]], [1]), arrival_rates=[0.3, 0.5])
    >>> path = trajectory(system, DRF(), [3, 1])
    >>> round(path.emptying_time, 6)  # 4 jobs of work drain at rate 1 - 0.8
    20.0
    """
    x = check_system(system).problem.check_counts(start)
    if x.ndim != 1 or not x.any():
        raise ModelError.of(
            "start", f"must be one vector of {system.n_classes} counts, not all 0; got {start!r}"
        )
    if horizon is not None:
        horizon = require_number("horizon", horizon, above=0, hint=", or None")
    rtol = require_number("rtol", rtol, least=1e-13, most=1e-2)
    require_whole("refine", refine, 1)
    require_whole("max_evaluations", max_evaluations, 1)
    require_choice("method", method, METHODS)
    stuck = system.blocked & (x > 0)
    if horizon is None and stuck.any():
        raise UnstableError(
            f"the jobs of class {system.problem.job_classes[int(np.argmax(stuck))]!r} demand a resource of "
            "capacity 0 and never leave; give a horizon, or start without them"
        )
    if horizon is None and system.overloaded.any():
        over = system.load_names[int(np.argmax(system.relative_loads))]
        what = "the servers" if system.is_cluster else f"resource {over!r}"
        raise UnstableError(f"the load of {what} is not below 1, so jobs do not drain; give a horizon")
    check_homogeneous(system, policy, x)
    return Integrator(system, policy, x, horizon, rtol, method, refine, max_evaluations).run()
