"""The verb: the stationary law of the job counts under any policy, on request with proved bounds of means.

How the law is found, and how its errors are estimated, stands in :mod:`queueing.chain.stationary_estimate`;
how bounds are proved in :mod:`queueing.enclosures.enclose`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from fairness.arguments.validation import require_number
from fairness.errors import ModelError
from fairness.machine.work import OutOfTime, ProgressOption, watching
from fairness.protocol.policy import Policy
from queueing.chain.boxes import law_so_far
from queueing.chain.solvers.choose_solver import Solver
from queueing.chain.stationary_estimate import MOST_STATES, estimated_law
from queueing.chain.stationary_law import Stationary
from queueing.model.system import System
from queueing.states.table import Table

__all__ = ["stationary"]


def stationary(
    system: System,
    policy: Policy,
    *,
    shape: Sequence[int] | int | None = None,
    tail: float = 1e-9,
    solver: Solver | None = None,
    max_states: int | None = None,
    table: Table | None = None,
    distribution: bool = True,
    certified: bool = False,
    width: float | None = None,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> Stationary:
    """Stationary law of the job counts under a policy.

    Parameters
    ----------
    system : System
        At most 12 classes with Poisson arrivals, as far as their states fit: up to six or seven, more
        where jobs are few. Sizes Exponential; of at most four classes also Erlang, Hyperexponential or
        PhaseType.
    policy : callable
        ``policy(problem, counts) -> tasks``. It must serve some class in every state with jobs.
    shape : sequence of int or int, optional
        The box 0 <= x_i < shape[i], at least 2 for a class with arrivals; the tail mass is then reported,
        whatever it is. Default: enlarge the box until the tail mass is at most ``tail``; of five classes and
        more, and where the box would exceed ``max_states``, a set with far fewer states.
    tail : float
        Largest tail mass of the automatic box or set. Given that a class is present, however seldom, at most
        tail^(2/3) is outside; where such a box would exceed ``max_states``, one will do on which the claimed
        error of all means is below 1e-6 of them.
    solver : Automatic, Product, Elimination or Multilevel, optional
        How a box is solved, with the tolerances for that. Default: ``Automatic()``.
    max_states : int, optional
        Most states, phases included, of an automatic box or set, and of the box for the bounds. Default:
        10,000,000, and 4,000,000 for the bounds.
    table : Table, optional
        Tasks already computed for the same problem and policy; its states are not computed again.
    distribution : bool
        Keep the law of the counts in the result.
    certified : bool
        Also prove bounds of the means, of the infinite chain: they are in ``enclosure``, which
        :func:`queueing.enclose` makes (of up to four classes, exponential sizes, policies whose drift is
        known). The law itself, and what else is read off it, stays an estimate.
    width : float, optional
        How far apart the bounds may be, relative to the mean; with ``certified`` alone. Default: 1e-8.
    progress : None, bool or callable
        None: a bar for long work where standard error is a terminal; False: never; or a function that is
        called with a :class:`fairness.machine.work.Progress`.
    time_limit : float, seconds, optional
        When to stop: at the end of a cycle or a piece of the work.

    Returns
    -------
    Stationary
        Phases are summed out.

    Raises
    ------
    UnstableError
        If a resource has relative load >= 1, or jobs grow for ever under the policy
        (:mod:`queueing.fluid.stability`).
    ModelError
        If an argument is wrong, arrivals are not Poisson, a law of sizes has no phases, the box does not fit
        in memory, the policy serves nobody in some state with jobs, or bounds are asked for and there is no
        proof for the policy or the system.
    NotConvergedError
        If the box would exceed ``max_states`` (the policy may be unstable although that was not seen at
        once), a solver misses its tolerance, or the time is over. ``best`` is the last Stationary, None if
        there is none yet. If no bounds can be proved on a box of ``max_states``.

    Examples
    --------
    >>> from fairness import DRF, Problem
    >>> from queueing import Erlang, Hyperexponential, Multilevel, System
    >>> pool = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    >>> law = stationary(System.with_load(pool, [1, 1], 0.5), DRF())
    >>> law.mean_durations.round(4), law.tail_mass < 1e-9, law.residual < 1e-14
    (array([2.3321, 2.3321]), True, True)

    Dominant resource fairness is sensitive, though little: the more variable the sizes, the shorter the stay.

    >>> for sizes in (Erlang(2), Hyperexponential.fit(scv=4)):
    ...     system = System.with_load(pool, [1, 1], 0.5, sizes=sizes)
    ...     law = stationary(system, DRF(), tail=1e-4, solver=Multilevel(tolerance=1e-6))
    ...     print(law.mean_durations.round(2))
    [2.33 2.33]
    [2.32 2.32]

    Bounds that are proved stand beside the estimate:

    >>> law = stationary(System.with_load(pool, [1, 1], 0.5), DRF(), certified=True)
    >>> lower, upper = law.enclosure.mean_durations
    >>> lower.round(6), upper.round(6), law.enclosure.reached < 1e-8
    (array([2.332051, 2.332051]), array([2.332051, 2.332051]), True)
    """
    if width is not None and not certified:
        raise ModelError.of("width", "is that of proved bounds; add certified=True")
    if width is not None:
        require_number("width", width, above=0, below=1)
    if certified and shape is not None:
        raise ModelError.of(
            "shape", "gives a box, but proved bounds are those of the infinite chain; leave shape out"
        )
    with watching(progress, time_limit):
        try:
            law = estimated_law(
                system,
                policy,
                shape=shape,
                tail=tail,
                solver=solver,
                max_states=MOST_STATES if max_states is None else max_states,
                table=table,
                distribution=distribution,
            )
        except (OutOfTime, KeyboardInterrupt) as stop:
            if time_limit is None and isinstance(stop, OutOfTime):
                raise  # who set the limit says what is known
            raise law_so_far(stop) from None
        if not certified:
            return law
        # Here, because most laws are not certified, and the kernels of the checker take long to load.
        from queueing.enclosures.enclose import enclose

        prove = partial(enclose, system, policy)
        if width is not None:
            prove = partial(prove, width=width)
        if max_states is not None:
            prove = partial(prove, max_states=max_states)
        return replace(law, enclosure=prove())
