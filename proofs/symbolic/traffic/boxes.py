r"""Mean counts on a small box as rational functions of all letters.

The chain on the states :math:`0 \le x_i < s_i`, arrivals beyond which are refused, has rates
:math:`\lambda_i` up and :math:`\varphi_i(x)/\sigma_i` down. Its law solves the balance equations over the
field of rational functions of the letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import sympy
from sympy.polys.matrices import DomainMatrix

from fairness.errors import ModelError
from proofs.definitions.exact import moved
from proofs.errors import ProofError
from proofs.symbolic.decisions.formulas import dot
from proofs.symbolic.forms import closed_form
from proofs.symbolic.model.problem import SymbolicProblem, whole_numbers
from proofs.symbolic.model.system import SymbolicSystem
from proofs.symbolic.policies.simplifying import simplest

__all__ = ["mean_jobs"]

MOST_STATES = 40


def mean_jobs(system: SymbolicSystem, policy: Any, shape: Sequence[int]) -> tuple[Any, ...]:
    """Mean counts of the chain on a small box, as rational functions of the letters.

    Parameters
    ----------
    system : SymbolicSystem
    policy : policy with a closed form
        In every state of the box the assumptions must say which cell holds.
    shape : sequence of int, one per class
        The box 0 <= x_i < shape[i], at most 40 states; for larger ones in one load see
        :func:`queueing.mean_jobs_by_load`.

    Returns
    -------
    tuple of sympy expressions, one per class

    Raises
    ------
    ModelError
        If the shape is wrong or the box too large.
    ProofError
        If the tasks in a state depend on letters in more than one way.

    Examples
    --------
    >>> from fairness import DRF
    >>> mean_jobs(SymbolicSystem([[1]], [1], "r", assume="r > 0"), DRF(), [3])
    ((2*r**2 + r)/(r**2 + r + 1),)
    """
    sizes = whole_numbers("shape", shape, system.problem.n_classes, least=1)
    states = list(product(*map(range, sizes))) if sympy.prod(sizes) <= MOST_STATES else []
    if not states:
        raise ModelError.of(
            "shape",
            f"has {sympy.prod(sizes)} states, and the most are {MOST_STATES}; give a smaller one, or take "
            "queueing.mean_jobs_by_load at values of all letters but the load",
        )
    place = {x: k for k, x in enumerate(states)}
    balance = [[sympy.Integer(0)] * len(states) for _ in states]
    for x, k in place.items():
        tasks = _tasks(system.problem, policy, x)
        for i in range(len(sizes)):
            moves = ((1, system.arrival_rates[i]), (-1, tasks[i] / system.mean_sizes[i]))
            for step, rate in moves:
                target = place.get(moved(x, i, step))
                if target is not None:
                    balance[target][k] += rate
                    balance[k][k] -= rate
    law = _null_vector(balance, system.letters)
    return tuple(simplest(dot(counts, law) / sympy.Add(*law)) for counts in zip(*states, strict=True))


def _tasks(problem: SymbolicProblem, policy: Any, x: tuple[int, ...]) -> list[Any]:
    """Tasks of each class in one state."""
    present = [i for i, count in enumerate(x) if count]
    tasks: list[Any] = [sympy.Integer(0)] * len(x)
    if present:
        pool = problem.altered(
            demands=[problem.demands.row(i).tolist()[0] for i in present],
            counts=[x[i] for i in present],
            weights=[problem.weights[i] for i in present],
            class_names=[problem.class_names[i] for i in present],
            more=(problem.letters,),
        )
        form = closed_form(pool, policy)
        if len(form.cells) != 1 or form.cells[0].free:
            first = form.cells[0].conditions
            raise ProofError(
                f"the tasks in state {x} depend on the letters in more than one way; add to assume, for "
                f"example, {first[0] if first else 'what makes them unique'}"
            )
        for i, phi in zip(present, form.cells[0].tasks, strict=True):
            tasks[i] = phi
    return tasks


def _null_vector(balance: list[list[Any]], letters: tuple[Any, ...]) -> list[Any]:
    """The law, up to a factor: the vector that the balance matrix sends to 0."""
    field = sympy.QQ.frac_field(*letters) if letters else sympy.QQ
    rows = [[field.from_sympy(sympy.cancel(entry)) for entry in row] for row in balance]
    (row,) = DomainMatrix(rows, (len(rows), len(rows)), field).nullspace().to_Matrix().tolist()
    return list(row)
