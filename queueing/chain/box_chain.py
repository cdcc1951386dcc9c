r"""The chain of counts on a box, or on a part of it, ready for the ladder of solvers.

A large box is not solved from scratch: the law on the box with half as many states along every axis costs
:math:`2^{-n}` times as much for :math:`n` classes, is itself found in this way, and continued geometrically,
by the decay of the law (:mod:`queueing.chain.tails`), it is the first guess. Only what the smaller box cut
off is left to be found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.chain.solvers.balance import balance_residual, box_rates
from queueing.chain.solvers.choose_solver import Chain
from queueing.chain.solvers.elimination import box_bandwidth, eliminate_box, elimination_bytes
from queueing.chain.solvers.mixture import MEMORY
from queueing.chain.solvers.multilevel import Convergence, multilevel
from queueing.chain.tails import decay
from queueing.states.box import along, count_states, marginal_laws
from queueing.states.lower_set import LowerSet

__all__ = ["BoxChain", "box_work", "chain_bytes", "cheap_work", "extended", "nested_multilevel"]

CYCLES = 20
"""Cycles that a box usually takes, a guess."""
CYCLE_SECONDS = 4e-8
"""Of a cycle, per state and class, about."""
NARROW = 50
"""Band up to which a long box is eliminated: multilevel takes as long."""
LONG = 4e9
"""Multiplications up to which it is."""


SMALL = 40_000
"""Boxes of at most so many states are solved from the given guess."""
ROUGH = 1e-6
"""Largest tolerance on the smaller boxes."""


class BoxChain(Chain):
    """Counts that move one at a time.

    Parameters
    ----------
    up : ndarray of shape (n,) or (n, *shape), jobs per unit of time
        Birth rates, constant or per state; what would leave the box does not happen.
    down : ndarray of shape (n, *shape), jobs per unit of time
        Death rates.
    guess : callable
        Gives the law from which iterations begin, and whether only its corner is to be read.
    inside : ndarray of bool of shape ``shape``, optional
        The states that can be entered. Default: all.
    name, remedy : str
        For messages, see :class:`Chain`.
    """

    def __init__(
        self,
        up: FloatArray,
        down: FloatArray,
        guess: Callable[[], tuple[FloatArray, bool]],
        inside: NDArray[np.bool_] | None = None,
        *,
        name: str,
        remedy: str,
    ) -> None:
        self.up, self.down, self.guess, self.name, self.remedy = up, down, guess, name, remedy
        self.shape = down.shape[1:]
        self.axes = len(self.shape)
        self.inside = None if inside is None or inside.all() else inside
        self.states = math.prod(self.shape) if self.inside is None else int(self.inside.sum())
        self.cheap = cheap_work(self.shape)
        if self.inside is not None:
            self.cheap, self.most_states = 1e8, 50_000

    def work(self) -> float:
        """Multiplications of an elimination; of a part of a box, in the best order found."""
        return box_work(self.shape) if self.inside is None else super().work()

    def elimination_bytes(self) -> float:
        """What elimination takes at its peak."""
        if self.inside is None:
            return elimination_bytes(self.states, box_bandwidth(self.shape))
        return super().elimination_bytes()

    def eliminated(self) -> FloatArray:
        """Law on the box by elimination, 0 outside of the part."""
        if not self.axes:
            return np.ones(())
        if self.inside is None:
            up, down = self.up.reshape(self.axes, -1), self.down.reshape(self.axes, -1)
            return eliminate_box(up, down, self.shape).reshape(self.shape)
        law = np.zeros(self.shape)
        law[self.inside] = super().eliminated()
        return law

    def rates(self) -> sparse.csr_array:
        """Rates between the states inside."""
        return box_rates(self.up, self.down, self.inside)

    def iterated(self, tolerance: float, max_cycles: int) -> tuple[FloatArray, Convergence]:
        """Law by multilevel, box after box where arrival rates are constant."""
        first, rough = self.guess()
        seconds = CYCLES * CYCLE_SECONDS * self.axes * self.states
        with Task(f"the chain on {self.name}", CYCLES, "cycles", seconds, self.remedy) as work:
            cycles: dict[str, Any] = {"tolerance": tolerance, "max_cycles": max_cycles, "told": work.advance}
            rough = rough and self.up.ndim == 1
            return nested_multilevel(self.up, self.down, first, rough=rough, **cycles)

    def marginals(self, law: FloatArray) -> tuple[FloatArray, ...]:
        """Laws of the counts."""
        return marginal_laws(law)

    def residual(self, law: FloatArray) -> float:
        """Sum of the violations of all balance equations over the total flow."""
        return balance_residual(self.up, self.down, law)


def cheap_work(shape: Sequence[int]) -> float:
    """Multiplications up to which elimination is taken: a narrow box is as quickly eliminated as swept."""
    return max(Chain.cheap, min(LONG, NARROW**2 * count_states(shape)))


def box_work(shape: Sequence[int]) -> float:
    """Multiplications of an elimination on a box."""
    return count_states(shape) * float(box_bandwidth(shape)) ** 2


def chain_bytes(method: str, n_axes: int, shape: Sequence[int]) -> float:
    """Bytes that a chain on a box takes when it is solved by a step of the ladder."""
    states = count_states(shape)
    own = 8.0 * (2 * n_axes + 5) * states
    if method == "elimination":
        return own + elimination_bytes(states, box_bandwidth(shape))
    return own + 8.0 * (2 * MEMORY + n_axes) * (method == "multilevel") * states


def nested_multilevel(
    up: FloatArray,
    down: FloatArray,
    start: FloatArray,
    *,
    rough: bool,
    tolerance: float,
    **cycles: Any,
) -> tuple[FloatArray, Convergence]:
    """Stationary law by :func:`queueing.chain.solvers.multilevel.multilevel`, box after box, each twice the
    one before.

    Parameters
    ----------
    up : ndarray of shape (n,) or (n, *shape), jobs per unit of time
        Arrival rates; those of each state if the guess is not rough.
    down : ndarray of shape (n, *shape), jobs per unit of time
        Death rates. From every state of the box jobs must leave until none is left.
    start : ndarray of shape ``shape``
        First guess.
    rough : bool
        Whether the guess is rough: then only its corner is read, as the guess for the smallest box.
    tolerance : float
    **cycles
        Of multilevel on each box: ``max_cycles``, and ``told``, which is called after every cycle.

    Returns
    -------
    law : ndarray of shape ``shape``
    convergence : Convergence
        On the whole box.
    """
    shape = start.shape
    rates, states = np.ascontiguousarray(down).reshape(len(down), -1), LowerSet.box(shape)

    def whole(guess: FloatArray) -> tuple[FloatArray, Convergence]:
        flat = up.reshape(len(up), -1)
        law, convergence = multilevel(flat, rates, states, guess, tolerance=tolerance, **cycles)
        return law.reshape(shape), convergence

    if rough and start.size > SMALL:
        corner = tuple(slice(-(-size // 2) if size > 3 else size) for size in shape)
        # A law that is not quite reached there is still the better guess.
        smaller = down[(slice(None), *corner)], start[corner]
        law, _ = nested_multilevel(up, *smaller, rough=True, tolerance=max(tolerance, ROUGH), **cycles)
        law, convergence = whole(extended(law, shape))
        # A law that piled up at the end of the smaller box may be a worse guess than a rough one.
        if convergence.reached:
            return law, convergence
    return whole(start)


def extended(law: FloatArray, larger: Sequence[int]) -> FloatArray:
    """The law on a larger box, continued geometrically along every axis: a first guess."""
    guess = law
    for axis, (size, marginal) in enumerate(zip(larger, marginal_laws(law), strict=True)):
        more = size - guess.shape[axis]
        if more > 0:
            _, ratio = decay(marginal)
            edge = np.take(guess, [-1], axis=axis)
            powers = min(ratio, 0.999) ** np.arange(1, more + 1)
            guess = np.concatenate([guess, edge * along(powers, axis, guess.ndim)], axis=axis)
    return guess
