r"""Balanced fairness with letters: its balance function, and its means where they have a closed form.

With :math:`b_{ij} = a_{ij}/C_j`,

.. math:: \Phi(0) = 1, \qquad \Phi(x) = \max_j \sum_{i: x_i > 0} b_{ij}\,\Phi(x - e_i)

[1]_. Where one resource j has the largest :math:`b_{ij}` of every class, it always attains the maximum, and
the counts are those of processor sharing: :math:`E[x_i] = q_i/(1 - \sum_k q_k)` with
:math:`q_i = \rho_i b_{ij}`. In a linear network class 0 takes the same share of all resources, and every
resource has one other class; for the relative loads r, :math:`E[x_l] = r_l/(1 - r_0 - r_l)` and
:math:`E[x_0] = \frac{r_0}{1 - r_0}\bigl(1 + \sum_l E[x_l]\bigr)` (see :mod:`queueing.balanced.closed_forms`).

References
----------
.. [1] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and
   Control of Large-Scale Networks, Eindhoven, 2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import sympy

from fairness.errors import ModelError
from proofs.definitions.exact import moved
from proofs.errors import ProofError
from proofs.symbolic.decisions.formulas import at_least_zero, dot
from proofs.symbolic.model.problem import SymbolicProblem, whole_numbers
from proofs.symbolic.model.system import SymbolicSystem
from proofs.symbolic.policies.simplifying import simplest

__all__ = ["balance_function", "balanced_means"]

MOST_STATES = 400


def balance_function(problem: SymbolicProblem, counts: Sequence[int]) -> Any:
    """The balance function of balanced fairness in one state, as an expression of the letters.

    Parameters
    ----------
    problem : SymbolicProblem
        Of which demands, capacities and assumptions count.
    counts : sequence of int, one per class
        At most 400 states lie below.

    Returns
    -------
    sympy expression
        A polynomial of the shares; with Max where the assumptions do not say which resource is the tightest.

    Raises
    ------
    ModelError
        If the counts are no whole numbers >= 0, one per class, or there are too many states below.

    Examples
    --------
    >>> pool = SymbolicProblem([[1, "a"], ["a", 1]], [1, 1], assume="0 < a < 1")
    >>> balance_function(pool, [1, 1]), balance_function(pool, [2, 1])
    (a + 1, 2*a + 1)
    """
    x = whole_numbers("counts", counts, problem.n_classes, least=0)
    if sympy.prod([c + 1 for c in x]) > MOST_STATES:
        raise ModelError.of("counts", f"has more than {MOST_STATES} states below; give smaller counts")
    known: dict[tuple[int, ...], Any] = {}
    # In lexicographic order the states below come first.
    for state in product(*(range(c + 1) for c in x)):
        known[state] = _largest(problem, state, known) if any(state) else sympy.Integer(1)
    return known[x]


def _largest(problem: SymbolicProblem, x: tuple[int, ...], known: dict[tuple[int, ...], Any]) -> Any:
    """The largest of the sums over the resources, without those that another is known to reach."""
    below = [known[moved(x, i, -1)] if count else sympy.Integer(0) for i, count in enumerate(x)]
    totals = [dot(shares, below) for shares in zip(*problem.shares, strict=True)]
    sums = [total if total.has(sympy.Max) else sympy.cancel(total) for total in totals]
    kept: list[Any] = []
    for value in dict.fromkeys(sums):
        if any(_at_least(problem, other, value) for other in kept):
            continue
        kept = [*(other for other in kept if not _at_least(problem, value, other)), value]
    return sympy.Max(*kept) if len(kept) > 1 else kept[0]


def _at_least(problem: SymbolicProblem, one: Any, other: Any) -> bool:
    if one.has(sympy.Max) or other.has(sympy.Max):
        return bool(sympy.expand(one - other) == 0)
    return problem.ground.knows(at_least_zero(one - other))


def balanced_means(system: SymbolicSystem) -> tuple[Any, ...]:
    """Mean counts of balanced fairness, for loads inside the stability region.

    Parameters
    ----------
    system : SymbolicSystem
        In which one resource has the largest share of a task of every class, or which is a linear network.

    Returns
    -------
    tuple of sympy expressions, one per class

    Raises
    ------
    ProofError
        If the system is neither of these under its assumptions.

    Examples
    --------
    >>> system = SymbolicSystem([[1], ["b"]], [1], ["r1", "r2"], assume=["b > 0", "r1 > 0", "r2 > 0"])
    >>> balanced_means(system)
    (r1/(-b*r2 - r1 + 1), b*r2/(-b*r2 - r1 + 1))
    """
    problem, ground, share = system.problem, system.problem.ground, system.problem.shares
    n, m = problem.n_classes, problem.n_resources
    for j in range(m):
        if all(
            ground.tidy(at_least_zero(share[i][j] - share[i][k])) == sympy.true
            for i in range(n)
            for k in range(m)
        ):
            q = [load * share[i][j] for i, load in enumerate(system.loads)]
            return tuple(simplest(one / (1 - sympy.Add(*q))) for one in q)
    long = _long_route(share)
    if long is None:
        raise ProofError(
            "means of balanced fairness have a closed form where one resource has the largest share of a "
            "task of every class, or in a linear network, and this system is neither under its assumptions; "
            "add some to assume, or take queueing.balanced_fairness at values"
        )
    r = [load * next(filter(None, row)) for load, row in zip(system.loads, share, strict=True)]
    means = [one / (1 - r[long] - one) for one in r]
    means[long] = r[long] / (1 - r[long]) * (1 + sympy.Add(*(v for i, v in enumerate(means) if i != long)))
    return tuple(map(simplest, means))


def _long_route(share: list[list[Any]]) -> int | None:
    """The class that takes the same share of all resources, each of which has one other class of its own."""
    m = len(share[0])
    for long, row in enumerate(share):
        others = [other for i, other in enumerate(share) if i != long]
        used = [[j for j in range(m) if other[j] != 0] for other in others]
        if len(set(row)) == 1 and row[0] != 0 and sorted(used) == [[j] for j in range(m)]:
            return long
    return None
