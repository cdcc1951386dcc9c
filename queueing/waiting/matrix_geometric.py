r"""Levels that are left one at a time: the stationary law by a matrix R, with its residual.

From level n + 1 on all levels are alike. With the rates :math:`A_0` one level up, :math:`A_1` within
(generator, all rates out on its diagonal) and :math:`A_2` one down, the probabilities of the states of level
n are :math:`\pi_n = \pi_0R^n`, where :math:`A_0 + RA_1 + R^2A_2 = 0` [1]_. The matrix G of where the next
lower level is entered first, :math:`A_2 + A_1G + A_0G^2 = 0`, comes from logarithmic reduction [2]_, of which
each step doubles the number of levels that are looked at, and :math:`R = -A_0(A_1 + A_0G)^{-1}`.

References
----------
.. [1] M. F. Neuts, "Matrix-Geometric Solutions in Stochastic Models", Johns Hopkins, 1981.
.. [2] G. Latouche and V. Ramaswami, "A logarithmic reduction algorithm for quasi-birth-death processes",
   Journal of Applied Probability 30(3), 1993. DOI 10.2307/3214773.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from fairness.errors import NotConvergedError
from fairness.machine.work import current_watch
from fairness.model.problem import FloatArray

__all__ = ["Levels", "solve_levels"]

DOUBLINGS = 60
"""Of the levels that are looked at."""
ROUNDING = 1e-14
"""What may be missing from the rows of G."""


class Levels(NamedTuple):
    """The law: ``first`` (n_states,) of level 0, ``step`` R (n_states, n_states); largest residual."""

    first: FloatArray
    step: FloatArray
    residual: float


def solve_levels(
    up: FloatArray,
    within: FloatArray,
    down: FloatArray,
    bottom: FloatArray,
    weights: tuple[FloatArray, FloatArray],
) -> Levels:
    """Law of a chain of levels.

    Parameters
    ----------
    up, within, down : ndarray of shape (n_states, n_states), events per unit of time
        A_0, A_1 and A_2.
    bottom : ndarray of shape (n_states, n_states)
        Generator within level 0, the rates upwards on its diagonal.
    weights : two ndarrays of shape (n_states,)
        Of the states of level 0 and of the others in the sum that is 1.

    Raises
    ------
    NotConvergedError
        If G misses its tolerance: the chain is not positive recurrent, or nearly not.
    """
    n = len(up)
    inner = lu_factor(-within)
    high, low = lu_solve(inner, up), lu_solve(inner, down)
    goal, path = low.copy(), high.copy()
    missing = np.inf
    for _ in range(DOUBLINGS):
        current_watch().check("the law of the levels")
        both = lu_factor(np.eye(n) - high @ low - low @ high)
        high, low = lu_solve(both, high @ high), lu_solve(both, low @ low)
        goal += path @ low
        path = path @ high
        missing = float(np.max(np.abs(1.0 - goal.sum(axis=1))))
        if missing <= ROUNDING * n or not np.any(path > 0):
            break
    # The next lower level is entered somewhere: near load 1 what is missing there would count many times.
    goal /= goal.sum(axis=1, keepdims=True)
    step = np.linalg.solve(-(within + up @ goal).T, up.T).T
    equations = bottom + step @ down
    beyond = np.linalg.solve(np.eye(n) - step, weights[1])
    # One balance equation follows from the others; the sum takes its place.
    system = np.vstack([equations.T[1:], weights[0] + step @ beyond])
    first = np.linalg.solve(system, np.eye(n)[-1])
    scale = np.max(np.abs(within))
    residual = (
        max(
            float(np.max(np.abs(up + step @ within + step @ step @ down))),
            float(np.max(np.abs(first @ equations))),
        )
        / scale
    )
    if not (missing < 1e-9 and residual < 1e-9 and first.min() > -1e-9):
        raise NotConvergedError(
            f"the levels could not be solved: G misses {missing:.1e} of its rows, residual {residual:.1e}; "
            "the load may be too close to 1",
            best=Levels(first, step, residual),
            residual=residual,
        )
    return Levels(np.maximum(first, 0.0), step, residual)
