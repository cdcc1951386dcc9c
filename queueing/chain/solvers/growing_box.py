r"""From a box to a larger one: a first guess, by the decay of the law (:mod:`queueing.chain.tails`).

A large box is therefore not solved from scratch: the law on the box with half as many states along every axis
costs :math:`2^{-n}` times as much for :math:`n` classes, is itself found in this way, and continued
geometrically it is the first guess. Only what the smaller box cut off is left to be found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fairness.model.problem import FloatArray
from queueing.chain.solvers.multilevel import Convergence, multilevel
from queueing.chain.tails import decay
from queueing.states.box import along, marginal_laws
from queueing.states.lower_set import LowerSet

__all__ = ["extended", "nested_multilevel"]

SMALL = 40_000
"""Boxes of at most so many states are solved from the given guess."""
ROUGH = 1e-6
"""Largest tolerance on the smaller boxes."""


def nested_multilevel(
    up: FloatArray,
    down: FloatArray,
    start: FloatArray,
    *,
    rough: bool,
    tolerance: float,
    max_cycles: int,
    told: Callable[[], object],
) -> tuple[FloatArray, Convergence]:
    """Stationary law by :func:`queueing.chain.solvers.multilevel.multilevel`, box after box, each twice the
    one before.

    Parameters
    ----------
    up : ndarray of shape (n,), jobs per unit of time
        Arrival rates.
    down : ndarray of shape (n, *shape), jobs per unit of time
        Death rates. From every state of the box jobs must leave until none is left.
    start : ndarray of shape ``shape``
        First guess.
    rough : bool
        Whether the guess is rough: then only its corner is read, as the guess for the smallest box.
    tolerance : float
    max_cycles : int
        Per box.
    told : callable
        Called after every cycle.

    Returns
    -------
    law : ndarray of shape ``shape``
    convergence : Convergence
        On the whole box.
    """
    shape = start.shape
    if rough and start.size > SMALL:
        corner = tuple(slice(-(-size // 2) if size > 3 else size) for size in shape)
        # A law that is not quite reached there is still the better guess.
        law, _ = nested_multilevel(
            up,
            down[(slice(None), *corner)],
            start[corner],
            rough=True,
            tolerance=max(tolerance, ROUGH),
            max_cycles=max_cycles,
            told=told,
        )
        law, convergence = _whole(up, down, extended(law, shape), tolerance, max_cycles, told)
        # A law that piled up at the end of the smaller box may be a worse guess than a rough one.
        if convergence.reached:
            return law, convergence
    return _whole(up, down, start, tolerance, max_cycles, told)


def _whole(
    up: FloatArray,
    down: FloatArray,
    start: FloatArray,
    tolerance: float,
    max_cycles: int,
    told: Callable[[], object],
) -> tuple[FloatArray, Convergence]:
    rates, states = np.ascontiguousarray(down).reshape(len(up), -1), LowerSet.box(start.shape)
    law, convergence = multilevel(
        up[:, None], rates, states, start, tolerance=tolerance, max_cycles=max_cycles, told=told
    )
    return law.reshape(start.shape), convergence


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
