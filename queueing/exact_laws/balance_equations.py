r"""The balance equations of a box of counts in integers, and how large their solution can be.

On the box :math:`0 \le x_i < K_i` arrivals that would leave it are refused. Multiply the rates out of each
state by a number :math:`s_x > 0` that makes them integers :math:`m_{xy}` without a common divisor. The
stationary measure is then :math:`\pi(x) = s_xz(x)`, where z balances the integer rates,

.. math:: z(y)\,o_y = \sum_{x \ne y} z(x)\,m_{xy}, \qquad o_y = \sum_x m_{yx} .

By the matrix-tree theorem :math:`z(x) = \tau(x)/\tau(0)` if :math:`z(0) = 1`, where :math:`\tau(x)` is the
sum over the spanning trees directed towards x of the products of the rates along their edges [1]_. A tree
takes one edge out of every state but x, so

.. math:: \tau(x) \le \prod_{y \ne x} o_y . \tag{1}

So for integer weights :math:`w_x \ge 0` the number :math:`\sum_x w_xz(x)` is a fraction whose numerator and
denominator are at most

.. math:: \sum_x w_x \prod_{y \ne x} o_y \quad\text{and}\quad \prod_{y \ne 0} o_y . \tag{2}

On grids (1) has hardly a fifth more digits than the sum itself; Hadamard's inequality has more.

References
----------
.. [1] R. Lyons and Y. Peres, "Probability on Trees and Networks", Cambridge University Press, 2016, section
   4.4 (the Markov chain tree theorem).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.errors import ModelError
from fairness.exact.linear_algebra import whole
from fairness.machine.work import Task
from fairness.protocol.calling import policy_tasks
from queueing.exact_laws.rational_tasks import exact_tasks
from queueing.model.system import System, check_system
from queueing.states.box import box_name, check_box

__all__ = ["BalanceEquations", "Equations", "Integers", "balance_equations", "check_exact"]

Integers = NDArray[Any]
"""Object array of Python's integers."""

CHUNK = 256
"""States whose tasks are computed between two looks at the clock."""


class Equations:
    """What a solution needs to know of balance equations in integers, whatever the states are.

    Attributes
    ----------
    name : str
        Of the states, for messages.
    remedy : str
        What else to do where the solution takes too much time.
    out : object ndarray of int, (n_states,)
        Integer rate out of each state.
    sources : ndarray of int64, (n_lines, n_states)
        States that lead to each state, -1 for none; each once.
    speeds : object ndarray of int, (n_lines, n_states)
        The integer rates at which they do.
    """

    name: str
    remedy: str
    out: Integers
    sources: NDArray[np.int64]
    speeds: Integers

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.out)

    @cached_property
    def band(self) -> int:
        """How far apart the numbers of neighbours are, at least 1."""
        places = np.abs(np.arange(self.n_states) - self.sources)
        return int(np.max(places, where=self.sources >= 0, initial=1))

    @cached_property
    def largest_tree(self) -> int:
        """Bound (1) of the trees directed towards the first state."""
        return math.prod(self.out[1:].tolist())

    def largest_sum(self, weights: Integers) -> int:
        """First bound of (2)."""
        whole = self.largest_tree * int(self.out[0])
        # All quotients are whole numbers.
        return sum(w * (whole // o) for w, o in zip(weights.tolist(), self.out.tolist(), strict=True) if w)


class BalanceEquations(Equations):
    """Integer rates of a box; states are numbered with the longest axis first, the empty one is 0.

    Parameters
    ----------
    shape : tuple of int
    counts : ndarray of int64, (n_states, n_classes)
    less, more : ndarray of int64, (n_classes, n_states)
        Number of the state with one job of the class less or more, -1 where there is none.
    up, down : object ndarray of int, (n_classes, n_states)
        Integer rates m to the state with one job more or less.
    weights : object ndarray of int, (n_states,)
        Multiples, by one number for all, of the factors s of the states.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        counts: NDArray[np.int64],
        less: NDArray[np.int64],
        more: NDArray[np.int64],
        up: Integers,
        down: Integers,
        weights: Integers,
    ) -> None:
        self.shape, self.counts, self.weights = shape, counts, weights
        self.less, self.more, self.up, self.down = less, more, up, down
        self.name = box_name(shape)
        self.remedy = "give a smaller shape, or numbers with smaller numerators and denominators"
        self.out = up.sum(axis=0) + down.sum(axis=0)
        # From below by an arrival, from above by a departure.
        self.sources = np.concatenate([less, more])
        self.speeds = np.take_along_axis(np.concatenate([up, down]), np.maximum(self.sources, 0), axis=1)

    def place(self, values: Integers) -> Integers:
        """Values of the numbered states on the box, shape ``shape``."""
        grid = np.zeros(self.shape, dtype=object)
        grid[tuple(self.counts.T)] = values
        return grid


def check_exact(system: Any, policy: Any, shape: Sequence[int] | int, what: str) -> tuple[int, ...]:
    """The box, if the chain has exact rates; ModelError that says why not otherwise."""
    check_system(system).require_poisson(what)
    system.require_exponential(what)
    system.require_pool(what)
    if not system.arrival_rates.any():
        raise ModelError.of("arrival_rates", "are all 0: the system is always empty; give some class one > 0")
    return check_box(shape, system)


def balance_equations(
    system: System, policy: Any, shape: tuple[int, ...], arrival_rates: Sequence[Fraction]
) -> BalanceEquations:
    """Balance equations of the counts under a policy with rational tasks.

    Parameters
    ----------
    system : System
        Its arrival rates are not read.
    policy : callable
        Known to :func:`queueing.exact_laws.rational_tasks.state_tasks`.
    shape : tuple of int
    arrival_rates : sequence of Fraction, (n_classes,)

    Raises
    ------
    ModelError
        If the tasks are not rational, or nobody is served in a state with jobs.
    """
    n = system.n_classes
    order = np.argsort(-np.array(shape), kind="stable")
    counts = np.empty((math.prod(shape), n), dtype=np.int64)
    counts[:, order] = np.stack(np.unravel_index(np.arange(len(counts)), np.array(shape)[order]), axis=-1)
    strides = np.ones(n, dtype=np.int64)
    for k in range(n - 2, -1, -1):
        strides[order[k]] = strides[order[k + 1]] * shape[order[k + 1]]
    number = np.arange(len(counts))
    less = np.where(counts.T > 0, number - strides[:, None], -1)
    room = np.array(shape)[:, None] - 1 - counts.T
    more = np.where(room > 0, number + strides[:, None], -1)
    deaths = _death_rates(system, policy, counts, shape)
    up, down = (np.zeros((n, len(counts)), dtype=object) for _ in range(2))
    scales = []
    for k, rates in enumerate(deaths):
        births = [rate if more[i, k] >= 0 else Fraction(0) for i, rate in enumerate(arrival_rates)]
        scale, numbers = whole([*births, *rates])
        up[:, k], down[:, k] = numbers[:n], numbers[n:]
        scales.append(scale)
    weights = np.array(whole(scales)[1], dtype=object)
    return BalanceEquations(shape, counts, less, more, up, down, weights)


def _death_rates(
    system: System, policy: Any, counts: NDArray[np.int64], shape: tuple[int, ...]
) -> list[list[Fraction]]:
    """Rates phi_i(x)/sigma_i in fractions."""
    _, means = system.as_fractions()
    hints = policy_tasks(system.problem, policy, counts.astype(float))
    deaths: list[list[Fraction]] = []
    what = f"exact rates of {box_name(shape)} states"
    with Task(what, len(counts), "states", instead="give a smaller shape") as work:
        for first in range(0, len(counts), CHUNK):
            part = slice(first, first + CHUNK)
            for tasks in exact_tasks(policy, system.problem, counts[part], hints[part]):
                deaths.append([phi / mean for phi, mean in zip(tasks, means, strict=True)])
            work.advance(len(counts[part]))
    for state, rates in zip(counts.tolist(), deaths, strict=True):
        if any(state) and not any(rates):
            raise ModelError.of(
                "policy", f"serves nobody in the state {tuple(state)}, so jobs would never leave it"
            )
    return deaths
