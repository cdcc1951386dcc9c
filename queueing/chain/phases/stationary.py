r"""Stationary law of the counts when sizes are phase-type: Erlang, hyperexponential, Coxian and their like.

With the jobs of every class counted by phase (:mod:`queueing.chain.phases.states`) the state is a Markov
chain again; the policy sees the totals only and the jobs of a class share its tasks equally, as in
:func:`queueing.simulation.jobs.simulation.simulate_jobs`. The law of the totals depends on the laws of the
sizes through more than their means, unless the policy is insensitive (balanced fairness, hence processor
sharing of one resource [1]_). Deterministic and heavy-tailed sizes are approached by
:func:`queueing.model.phase_type.fit_phases`.

The box limits the totals: class i has fewer than :math:`K_i` jobs, arrivals beyond are lost. With :math:`m_i`
phases it has :math:`\binom{K_i - 1 + m_i}{m_i}` states, so one class with up to four phases, or two classes
with two or three each, are within reach. How the equations are solved is said in
:mod:`queueing.chain.phases.solver`; what the tail mass means, in :mod:`queueing.chain.stationary`.

References
----------
.. [1] T. Bonald and A. Proutière, "Insensitive bandwidth sharing in data networks", Queueing Systems 44,
   2003. DOI 10.1023/A:1024094807532.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairness.arguments.validation import require_whole
from fairness.errors import ModelError, NotConvergedError
from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray
from fairness.protocol.policy import Policy
from queueing.chain.phases.solver import MIXED, aggregated, flow_residual
from queueing.chain.phases.states import PhaseGrid, class_states, count_phase_states
from queueing.chain.solvers.balance import rounding_error
from queueing.chain.solvers.elimination import eliminate, elimination_bytes, narrow_order
from queueing.chain.solvers.growing_box import larger_box
from queueing.chain.stationary import Stationary, stationary
from queueing.chain.truncation import truncation_error
from queueing.model.laws import Law
from queueing.model.phase_type import PhaseType, phases_of
from queueing.model.system import System
from queueing.states.box import box_name, check_box, marginal_laws
from queueing.states.precision import check_limits, check_parts
from queueing.states.table import Table, tabulate

__all__ = ["phase_stationary"]

METHODS = ("auto", "direct", "aggregation")
DIRECT_WORK = 1e9
"""Up to so many operations elimination is the faster method."""
DIRECT_STATES = 200_000
"""Beyond so many states elimination is not considered."""


def phase_stationary(
    system: System,
    policy: Policy,
    sizes: Law | Sequence[Law],
    *,
    shape: Sequence[int] | int | None = None,
    tail: float = 1e-9,
    method: str = "auto",
    tolerance: float = 1e-11,
    max_cycles: int = 1000,
    max_states: int = 10_000_000,
    table: Table | None = None,
    distribution: bool = True,
) -> Stationary:
    """Stationary law of the job counts with phase-type sizes.

    Parameters
    ----------
    system : System
        Gives the arrival rates and the mean sizes, whatever the laws; at most four classes with arrivals.
    policy : callable
        ``policy(problem, counts) -> tasks``. It must serve some class in every state with jobs.
    sizes : Law or sequence of Law, one per class
        Shape of the law of the sizes, scaled to the mean sizes of the system: Exponential, Erlang,
        Hyperexponential or PhaseType.
    shape : sequence of int or int, optional
        Counts per class. Default: enlarge the box until the tail mass is at most ``tail``.
    tail : float
        Largest tail mass of the automatic box.
    method : {"auto", "direct", "aggregation"}
        Elimination or aggregation; "auto" takes the first for small chains.
    tolerance : float
        For the estimated relative error of the means and, with aggregation, for the relative change of the
        law in one sweep.
    max_cycles : int
        Most aggregations on one box.
    max_states : int
        Most states, phases included, of an automatic box.
    table : Table, optional
        Tasks already computed for the same problem and policy.
    distribution : bool
        Keep the law of the counts in the result.

    Returns
    -------
    Stationary
        Law of the counts, phases summed out; ``method`` is "phases (direct)" or "phases (aggregation)".
        ``residual`` is that of the chain with phases.

    Raises
    ------
    UnstableError
        If a resource has relative load >= 1.
    ModelError
        If an argument is wrong, a law has no phases, the states do not fit in memory, or the policy serves
        nobody in some state with jobs.
    NotConvergedError
        If the box would exceed ``max_states``, or a method misses the tolerance. ``best`` is the last
        Stationary.

    Examples
    --------
    Dominant resource fairness is sensitive, though little: the more variable the sizes, the shorter the stay.

    >>> from fairness import DRF, Problem
    >>> from queueing.model.laws import Erlang, Hyperexponential
    >>> from queueing import System
    >>> system = System.with_load(Problem([[1, 0.1], [0.1, 1]], [1, 1]), [1, 1], 0.5)
    >>> for sizes in (Erlang(2), Hyperexponential.fit(scv=4)):
    ...     law = phase_stationary(system, DRF(), sizes, tail=1e-4, tolerance=1e-6)
    ...     print(law.mean_durations.round(2))
    [2.33 2.33]
    [2.32 2.32]
    """
    system.require_stable()
    system.require_scale()
    laws = _scaled(system, sizes)
    if method not in METHODS:
        raise ModelError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    check_parts(tail=tail, tolerance=tolerance)
    max_cycles = require_whole("max_cycles", max_cycles, 1)
    check_limits(max_states=max_states)
    phases = [law.n_phases for law in laws]
    fixed = shape is not None
    if shape is None:
        # The box that exponential sizes need: where sizes matter little it is the right one.
        box = stationary(system, policy, tail=tail, tolerance=max(tolerance, 1e-8), table=table).shape
    else:
        box = check_box(shape, system)
    last: Stationary | None = None
    known: tuple[PhaseGrid, FloatArray] | None = None
    while True:
        states = count_phase_states(box, phases)
        if not fixed and states > max_states:
            raise NotConvergedError(
                f"a box of {box_name(box)} jobs has {states:.4g} states with {phases} phases, more than "
                f"max_states={max_states}; raise tail or max_states, give the shape, or take simulate_jobs",
                best=last,
                residual=1.0 if last is None else last.tail_mass,
            )
        _require_memory(box, phases, states)
        table = tabulate(system.problem, policy, box, known=table)
        last, known = _on_box(
            system,
            policy,
            laws,
            table,
            method=method,
            tolerance=tolerance,
            max_cycles=max_cycles,
            known=known,
        )
        if fixed or last.tail_mass <= tail:
            return last if distribution else replace(last, distribution=None)
        box = larger_box(last.marginals, (system.arrival_rates > 0).tolist(), tail)


def _scaled(system: System, sizes: Law | Sequence[Law]) -> list[PhaseType]:
    """Law of each class in phases, with its mean size."""
    given = [sizes] * system.n_classes if isinstance(sizes, Law) else sizes
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != system.n_classes:
        raise ModelError(f"sizes must be a law or {system.n_classes} laws, one per class; got {sizes!r}")
    return [phases_of(law).with_mean(m) for law, m in zip(given, system.mean_sizes.tolist(), strict=True)]


def _require_memory(box: Sequence[int], phases: Sequence[int], states: float) -> None:
    require_memory(
        8.0 * (2 * MIXED + MIXED + 8) * states,
        f"the chain on {box_name(box)} jobs with {list(phases)} phases, {states:.4g} states",
        "give a smaller shape, raise tail, take fewer phases, or take simulate_jobs",
    )


def _on_box(
    system: System,
    policy: Policy,
    laws: Sequence[PhaseType],
    table: Table,
    *,
    method: str,
    tolerance: float,
    max_cycles: int,
    known: tuple[PhaseGrid, FloatArray] | None,
) -> tuple[Stationary, tuple[PhaseGrid, FloatArray]]:
    """Solve on the box of the table."""
    box = table.shape
    # Exponential sizes of the same means: the counts that the first guess has.
    plain = stationary(system, policy, shape=box, tolerance=max(tolerance, 1e-8), table=table)
    live = [i for i, size in enumerate(box) if size > 1]
    tasks = np.ascontiguousarray(np.moveaxis(table.tasks, -1, 0)[live]).reshape(
        len(live), *(box[i] for i in live)
    )
    grid = PhaseGrid([class_states(laws[i], box[i]) for i in live], system.arrival_rates[live], tasks)
    assert plain.distribution is not None
    if not live:
        return replace(plain, method="phases (direct)"), (grid, np.ones(()))
    counts = plain.distribution.reshape(tasks.shape[1:])
    start = grid.spread(counts, None if known is None else _conditional(grid, *known))
    complaint = ""
    if method != "aggregation":
        direct = _direct(grid, forced=method == "direct")
        method = "aggregation" if direct is None else "direct"
        if direct is not None:
            law = direct
            mean_error = rounding_error(marginal_laws(grid.counts_law(law)), law.size)
    if method == "aggregation":
        law, convergence = aggregated(grid, start, tolerance=tolerance, max_cycles=max_cycles)
        mean_error = convergence.mean_error
        if not convergence.reached:
            complaint = (
                f"after {convergence.cycles} cycles on {box_name(box)} jobs the law still changes by "
                f"{convergence.change:.1e} and the means by about {mean_error:.1e} (tolerance "
                f"{tolerance:g}); raise max_cycles or tolerance, or take method='direct'"
            )
    counts = grid.counts_law(law)
    cut = np.zeros(system.n_classes)
    # Summed over the phases the chain has these rates; they refuse the same arrivals.
    cut[live] = truncation_error(grid.arrival_rates, grid.departures(law, counts), counts)
    result = Stationary.from_law(
        system,
        table.policy,
        f"phases ({method})",
        counts.reshape(box),
        flow_residual(grid, law),
        mean_error,
        cut,
    )
    if complaint:
        raise NotConvergedError(complaint, best=result, residual=mean_error)
    return result, (grid, law)


def _direct(grid: PhaseGrid, *, forced: bool) -> FloatArray | None:
    """Law by elimination, or None where that would take longer than aggregation."""
    states = math.prod(grid.sizes)
    if not forced and states > DIRECT_STATES:
        return None
    rates = grid.rates()
    order, band = narrow_order(rates)
    if not forced and states * band**2 > DIRECT_WORK:
        return None
    require_memory(
        2.0 * elimination_bytes(states, band),
        f"elimination for {states} states with phases",
        "give a smaller shape, or take method='aggregation'",
    )
    return eliminate(rates, order, band).reshape(grid.sizes)


def _conditional(grid: PhaseGrid, smaller: PhaseGrid, law: FloatArray) -> FloatArray:
    """Law of the phases given the totals: that found on a smaller box, beyond it independent phases."""
    result = np.broadcast_to(grid.mixed(), grid.sizes).copy()
    counts = smaller.counts_law(law).ravel()[smaller.counts_of]
    inner = result[tuple(map(slice, smaller.sizes))]
    np.divide(law, counts, out=inner, where=counts > 0)
    return result
