r"""The stationary law of the job counts under any policy, on request with proved bounds of its means.

With Poisson arrivals and exponential sizes the counts form a Markov chain: class :math:`i` gains a job at
rate :math:`\lambda_i` and loses one at rate :math:`\varphi_i(x)/\sigma_i`. Sizes of phase type (Erlang,
hyperexponential, Coxian and their like) make one again when the jobs of every class are counted by phase
(:mod:`queueing.chain.phases.states`), and so do Markovian arrivals (on-off, renewals of phase type,
:class:`~queueing.MAP`) with their phases, and in batches; the policy sees the totals only, and the jobs of
a class share its tasks equally. The chain is truncated to a box :math:`0 \le x_i < K_i` of totals, of five
classes and more to a simplex with further faces (:mod:`queueing.chain.lower_sets.faces`), which has far fewer
states; arrivals that would leave it are lost. There the balance equations :math:`\pi Q = 0` are solved
(:mod:`queueing.chain.solvers.choose_solver`), and box or set are enlarged until little probability is left
outside. What that, and the error of the means, mean is said in :mod:`queueing.chain.stationary_law`; how
bounds are proved in :mod:`queueing.enclosures.enclose`.

The law of the totals depends on the laws of the sizes through more than their means, unless the policy is
insensitive (balanced fairness, hence processor sharing of one resource [1]_). Deterministic and heavy-tailed
sizes are approached by :func:`queueing.model.phase_type.fit_phases`. With :math:`m_i` phases a class has
:math:`\binom{K_i - 1 + m_i}{m_i}` states, so one class with up to four phases, or two classes with two or
three each, are within reach.

References
----------
.. [1] T. Bonald and A. Proutière, "Insensitive bandwidth sharing in data networks", Queueing Systems 44,
   2003. DOI 10.1023/A:1024094807532.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, overload

import numpy as np

from fairness.arguments.validation import require_number
from fairness.errors import ModelError
from fairness.machine.work import OutOfTime, ProgressOption, stopped, watching
from fairness.protocol.cluster_policy import AnyPolicy
from queueing.chain.boxes import CountBoxes, law_so_far
from queueing.chain.lower_sets.count_sets import CountSets
from queueing.chain.phases.boxes import PhaseBoxes
from queueing.chain.solvers.choose_solver import Solver, check_solver
from queueing.chain.stationary_law import Stationary
from queueing.fluid.stability import require_stable
from queueing.model.arrivals import Poisson
from queueing.model.system import System, check_system
from queueing.states.box import check_box, require_part
from queueing.states.table import Table, check_table
from queueing.waiting.saturation import require_carried
from queueing.waiting.waiting_law import WaitingLaw, waiting_law
from queueing.waiting.whole_jobs import Order, waits

__all__ = ["BOXES", "estimated_law", "stationary"]

MOST_STATES = 10_000_000
"""Of an automatic box or set, if nothing else is said."""

BOXES = 4
"""Classes with arrivals up to which states lie in a box."""
PHASED = 4
"""Most classes with arrivals where sizes have phases."""

SETS = 12
"""Most classes with arrivals of a set: of more it takes long to find out how many states there are."""


@overload
def stationary(
    system: System,
    policy: AnyPolicy,
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
) -> Stationary: ...


@overload
def stationary(
    system: System, policy: Order, *, progress: ProgressOption = None, time_limit: float | None = None
) -> WaitingLaw: ...


def stationary(
    system: System,
    policy: AnyPolicy | Order,
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
) -> Stationary | WaitingLaw:
    """Stationary law of the job counts under a policy, or of whole jobs that wait in order.

    Parameters
    ----------
    system : System
        At most 12 classes with Poisson arrivals, as far as their states fit: up to six or seven, more
        where jobs are few. Sizes Exponential; of at most four classes also Erlang, Hyperexponential or
        PhaseType, and arrivals OnOff, MAP, Renewal of such a law, or Batches of these.
    policy : callable or Order
        ``policy(problem, counts) -> tasks``. It must serve some class in every state with jobs. With
        ``FCFS()`` or ``ServerFilling()`` jobs run whole and wait in order
        (:mod:`queueing.waiting.waiting_law`), where sizes may have phases under the first; of the other
        arguments progress and time_limit are known.
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
        :func:`queueing.enclose` makes (of up to four classes, two where arrivals have phases, exponential
        sizes, policies whose drift is known). The law itself, and what else is read off it, stays an
        estimate.
    width : float, optional
        How far apart the bounds may be, relative to the mean; with ``certified`` alone. Default: 1e-8.
    progress : None, bool or callable
        None: a bar for long work where standard error is a terminal; False: never; or a function that is
        called with a :class:`fairness.machine.work.Progress`.
    time_limit : float, seconds, optional
        When to stop: at the end of a cycle or a piece of the work.

    Returns
    -------
    Stationary, or WaitingLaw where jobs wait in order
        Phases are summed out.

    Raises
    ------
    UnstableError
        If a resource has relative load >= 1, or jobs grow for ever under the policy
        (:mod:`queueing.fluid.stability`).
    ModelError
        If an argument is wrong, sizes or times between arrivals have no phases, the box does not fit in
        memory, the policy serves nobody in some state with jobs, or bounds are asked for and there is no
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
    if isinstance(policy, Order) and waits(check_system(system), policy):
        options = {"shape": shape, "solver": solver, "max_states": max_states, "table": table, "width": width}
        given = [name for name, value in options.items() if value is not None] + ["certified"] * certified
        for name in given + ["tail"] * (tail != 1e-9) + ["distribution"] * (not distribution):
            raise ModelError.of(name, "is not for whole jobs in order; leave it out")
        with watching(progress, time_limit):
            try:
                return waiting_law(system, policy)
            except (OutOfTime, KeyboardInterrupt) as stop:
                raise stopped(stop, "no law is known", None) from None
    require_carried(system, policy)
    rule: Any = policy  # an order that looks at counts alone is a policy
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
                rule,
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
        # By its public name: what proves bounds starts from a law that is estimated here, and stands above.
        import queueing

        prove = partial(queueing.enclose, system, rule)
        if width is not None:
            prove = partial(prove, width=width)
        if max_states is not None:
            prove = partial(prove, max_states=max_states)
        return replace(law, enclosure=prove())


def estimated_law(
    system: System,
    policy: AnyPolicy,
    *,
    shape: Sequence[int] | int | None = None,
    tail: float = 1e-9,
    solver: Solver | None = None,
    max_states: int = MOST_STATES,
    table: Table | None = None,
    distribution: bool = True,
) -> Stationary:
    """Stationary law of the job counts, with estimates of its errors; as :func:`queueing.stationary`."""
    processes = check_system(system).processes
    require_stable(system, policy)
    system.require_scale()
    active = system.arrival_rates > 0
    solver = check_solver(solver)
    check_table("table", table, system.problem, policy)
    require_part("tail", tail)
    require_number("max_states", max_states, least=1, most=math.inf)
    plain = all(
        system.sizes[i].memoryless and isinstance(processes[i], Poisson) for i in np.flatnonzero(active)
    )
    if not plain and active.sum() > PHASED:
        raise ModelError(
            f"{int(active.sum())} classes have arrivals, some with sizes that are not exponential or "
            f"arrivals that are not Poisson; such a chain is solved for at most {PHASED}; use simulate, or "
            "take exponential sizes and Poisson arrivals of the same means"
        )
    if not plain:
        phased = PhaseBoxes(system, policy, solver, table)
        law = phased.grown(tail, max_states) if shape is None else phased.law(check_box(shape, system))
    elif shape is not None:
        law = CountBoxes(system, policy, solver, table).law(check_box(shape, system))
    elif active.sum() > SETS:
        other = "" if system.is_cluster else "duration_bound, "
        raise ModelError(
            f"{int(active.sum())} classes have arrivals; the chain is solved for at most {SETS}; use "
            f"simulate, {other}balanced_fairness or the fluid limit"
        )
    else:
        boxes = CountBoxes(system, policy, solver, table)

        def on_set() -> Stationary:
            return CountSets(system, policy, solver, boxes.table).grown(tail, max_states)

        many = active.sum() > BOXES
        # With one or two classes a set has hardly fewer states than the box around it.
        law = on_set() if many else boxes.grown(tail, max_states, on_set if active.sum() > 2 else None)
    return law if distribution else replace(law, distribution=None, states=None)
