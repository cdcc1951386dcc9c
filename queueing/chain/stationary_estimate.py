r"""The stationary law of the job counts under any policy: exponential and phase-type sizes alike.

With Poisson arrivals and exponential sizes the counts form a Markov chain: class :math:`i` gains a job at
rate :math:`\lambda_i` and loses one at rate :math:`\varphi_i(x)/\sigma_i`. Sizes of phase type (Erlang,
hyperexponential, Coxian and their like) make one again when the jobs of every class are counted by phase
(:mod:`queueing.chain.phases.states`); the policy sees the totals only, and the jobs of a class share its
tasks equally. The chain is truncated to a box :math:`0 \le x_i < K_i` of totals, of five classes and more to
a simplex with further faces (:mod:`queueing.chain.lower_sets.faces`), which has far fewer states; arrivals
that would leave it are lost. There the balance equations :math:`\pi Q = 0` are solved
(:mod:`queueing.chain.solvers.choose_solver`), and box or set are enlarged until little probability is left
outside. What that, and the error of the means, mean is said in :mod:`queueing.chain.stationary_law`.

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

from collections.abc import Sequence
from dataclasses import replace

from fairness.errors import ModelError
from fairness.protocol.policy import Policy
from queueing.chain.boxes import CountBoxes
from queueing.chain.lower_sets.count_sets import CountSets
from queueing.chain.phases.boxes import PhaseBoxes
from queueing.chain.solvers.choose_solver import Solver, check_solver
from queueing.chain.stationary_law import Stationary
from queueing.fluid.stability import require_stable
from queueing.model.system import System, check_system
from queueing.states.box import check_box
from queueing.states.precision import check_limits, check_parts
from queueing.states.table import Table, check_table

__all__ = ["BOXES", "MOST_STATES", "estimated_law"]

MOST_STATES = 10_000_000
"""Of an automatic box or set, if nothing else is said."""

BOXES = 4
"""Classes with arrivals up to which states lie in a box."""
PHASED = 4
"""Most classes with arrivals where sizes have phases."""

SETS = 12
"""Most classes with arrivals of a set: of more it takes long to find out how many states there are."""


def estimated_law(
    system: System,
    policy: Policy,
    *,
    shape: Sequence[int] | int | None = None,
    tail: float = 1e-9,
    solver: Solver | None = None,
    max_states: int = MOST_STATES,
    table: Table | None = None,
    distribution: bool = True,
) -> Stationary:
    """Stationary law of the job counts, with estimates of its errors; as :func:`queueing.stationary`."""
    check_system(system).require_poisson("stationary")
    require_stable(system, policy)
    system.require_scale()
    active = system.arrival_rates > 0
    solver = check_solver(solver)
    check_table("table", table, system.problem, policy)
    check_parts(tail=tail)
    check_limits(max_states=max_states)
    plain = all(law.memoryless for law, here in zip(system.sizes, active, strict=True) if here)
    if not plain and active.sum() > PHASED:
        raise ModelError(
            f"{int(active.sum())} classes have arrivals, some with sizes that are not exponential; such a "
            f"chain is solved for at most {PHASED}; use simulate, or take exponential sizes of the same means"
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
