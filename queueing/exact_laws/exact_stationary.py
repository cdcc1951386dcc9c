r"""The stationary law of the counts on a finite box as exact fractions.

On the box :math:`0 \le x_i < K_i` arrivals that would leave it are refused; what is computed is the law of
*this* finite chain, at any load, also beyond 1; how far it is from the law of all counts is another question
(:func:`queueing.stationary`). Policies with rational tasks are known by their definitions
(:mod:`queueing.exact_laws.rational_tasks`), so that the rates are fractions; the balance equations are solved
p-adically (:mod:`queueing.exact_laws.lifting`), and the fractions are proved by the bound of the matrix-tree
theorem (:mod:`queueing.exact_laws.balance_equations`).

The numbers are taken as they are: integers and fractions as given, floats as the binary numbers that they
are. 0.1 is not 1/10, and its 55 binary digits make the answer ten times as long; give ``Fraction(1, 10)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fairness.arguments.validation import require_flag
from fairness.protocol.policy import policy_name
from queueing.exact_laws.balance_equations import Integers, balance_equations, check_exact
from queueing.exact_laws.exact_law import ExactStationary
from queueing.exact_laws.lifting import require_feasible, solve_sums
from queueing.model.system import System
from queueing.states.box import box_name, count_states

__all__ = ["exact_stationary"]

REMEDY = "give a smaller shape, or use stationary, in floats"


def exact_stationary(
    system: System, policy: Any, *, shape: Sequence[int] | int, distribution: bool = False
) -> ExactStationary:
    """Stationary law on a finite box as fractions, proved.

    Parameters
    ----------
    system : System
        A pool with Poisson arrivals and exponential sizes. Demands, capacities, arrival rates and mean sizes
        given as integers and fractions make short answers (``System.with_load`` keeps them if the load is a
        fraction); floats are taken as binary numbers.
    policy : MaxMin, DRF, AssetFair, BottleneckMax or ProportionalFair
        ProportionalFair where its tasks are rational in every state: always with one or two classes.
    shape : sequence of int or int
        The box 0 <= x_i < shape[i], at least 2 for a class with arrivals; what arrives at a full face is
        refused. Ten thousand states of two classes take some ten seconds.
    distribution : bool
        Keep the probability of every state, too; this takes the memory of as many long numbers.

    Returns
    -------
    ExactStationary

    Raises
    ------
    ModelError
        If an argument is wrong, arrivals are not Poisson, sizes not exponential, the policy has irrational
        tasks in some state or no definition that is known, serves nobody in a state with jobs, or the box
        takes too much memory or more than a week.

    Examples
    --------
    A single server of load 1/2 that holds at most three jobs:

    >>> from fractions import Fraction
    >>> from fairness import DRF, Problem
    >>> from queueing import System
    >>> exact_stationary(System(Problem([[1]], [2]), [1]), DRF(), shape=4).mean_jobs
    (Fraction(11, 15),)
    >>> pool = Problem([[1, Fraction(1, 10)], [Fraction(1, 10), 1]], [1, 1])
    >>> system = System.with_load(pool, [1, 1], Fraction(1, 2))
    >>> law = exact_stationary(system, DRF(), shape=3, distribution=True)
    >>> law.mean_jobs[0]
    Fraction(76640, 135163)
    >>> law.distribution[0, 0]
    Fraction(46948, 135163)
    """
    sizes = check_exact(system, policy, shape, "exact_stationary")
    keep = require_flag("distribution", distribution)
    states = count_states(sizes)
    require_feasible(box_name(sizes), states, states / max(sizes), REMEDY)
    equations = balance_equations(system, policy, sizes, system.as_fractions()[0])
    n, measure, counts = system.n_classes, equations.weights, equations.counts
    pairs = [(i, k) for i in range(n) for k in range(i, n)]
    weights: list[Integers] = [measure]
    weights += [measure * counts[:, i] for i in range(n)]
    weights += [measure * (counts[:, i] * counts[:, k]) for i, k in pairs]
    weights += [measure * (counts[:, i] == sizes[i] - 1) for i in range(n)]
    sums = solve_sums(equations, weights, keep=keep)
    total, *rest = sums.values
    second = dict(zip(pairs, rest[n:], strict=False))
    law = None if sums.measure is None else equations.place(sums.measure * measure)
    return ExactStationary(
        system=system,
        policy=policy_name(policy),
        shape=sizes,
        total=total,
        first=tuple(rest[:n]),
        second=tuple(tuple(second[min(i, k), max(i, k)] for k in range(n)) for i in range(n)),
        faces=tuple(rest[-n:]),
        law=law,
        n_bits=sums.n_bits,
        bound_bits=sums.bound_bits,
    )
