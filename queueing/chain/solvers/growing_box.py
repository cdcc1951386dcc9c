r"""From a box to a larger one: how far the law reaches, and a first guess on the larger box.

Far out the marginal laws decay nearly geometrically. The decay per job over the last eighth of an axis tells
how much probability lies outside of the box, how much larger a box must be to leave out less, and how to
continue the law on it.

A large box is therefore not solved from scratch: the law on the box with half as many states along every axis
costs :math:`2^{-n}` times as much for :math:`n` classes, is itself found in this way, and continued
geometrically it is the first guess. Only what the smaller box cut off is left to be found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fairness.model.problem import FloatArray
from queueing.chain.solvers.multilevel import Convergence, multilevel
from queueing.states.box import along, marginal_laws
from queueing.states.lower_set import LowerSet

__all__ = ["decays", "extended", "larger_box", "nested_multilevel"]

SMALL = 40_000
"""Boxes of at most so many states are solved from the given guess."""
ROUGH = 1e-6
"""Largest tolerance on the smaller boxes."""


def nested_multilevel(
    up: FloatArray, down: FloatArray, start: FloatArray, *, rough: bool, tolerance: float, max_cycles: int
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
        )
        law, convergence = _whole(up, down, extended(law, shape), tolerance, max_cycles)
        # A law that piled up at the end of the smaller box may be a worse guess than a rough one.
        if convergence.reached:
            return law, convergence
    return _whole(up, down, start, tolerance, max_cycles)


def _whole(
    up: FloatArray, down: FloatArray, start: FloatArray, tolerance: float, max_cycles: int
) -> tuple[FloatArray, Convergence]:
    rates, states = np.ascontiguousarray(down).reshape(len(up), -1), LowerSet.box(start.shape)
    law, convergence = multilevel(
        up[:, None], rates, states, start, tolerance=tolerance, max_cycles=max_cycles
    )
    return law.reshape(start.shape), convergence


def decays(marginals: Sequence[FloatArray]) -> list[tuple[float, float]]:
    """Per class: estimated probability outside the box, and the decay of the marginal per job at its end."""
    result = []
    for law in marginals:
        face, span = float(law[-1]), max(1, len(law) // 8)
        before = float(law[-1 - span]) if len(law) > 1 else face
        if face == 0:
            result.append((0.0, 0.0))
            continue
        ratio = (face / before) ** (1.0 / span) if before > 0 else math.inf
        result.append((face * ratio / (1.0 - ratio) if ratio < 1 else math.inf, ratio))
    return result


def larger_box(marginals: Sequence[FloatArray], live: Sequence[bool], tail: float) -> tuple[int, ...]:
    """Extrapolate the marginals of live classes to their share of the tail; at most twice as long."""
    allowed = tail / (4 * sum(live))  # a margin, so that the next box is likely the last
    sizes = []
    for law, (outside, ratio), here in zip(marginals, decays(marginals), live, strict=True):
        size = len(law)
        if not here or outside <= allowed:
            sizes.append(size)
        elif math.isinf(outside):
            sizes.append(2 * size)
        else:
            more = math.ceil(math.log(outside / allowed) / -math.log(ratio))
            sizes.append(min(2 * size, size + 8) if size < 8 else size + min(size, max(8, more)))
    return tuple(sizes)


def extended(law: FloatArray, larger: Sequence[int]) -> FloatArray:
    """The law on a larger box, continued geometrically along every axis: a first guess."""
    guess = law
    for axis, (size, (_, ratio)) in enumerate(zip(larger, decays(marginal_laws(law)), strict=True)):
        more = size - guess.shape[axis]
        if more > 0:
            edge = np.take(guess, [-1], axis=axis)
            powers = min(ratio, 0.999) ** np.arange(1, more + 1)
            guess = np.concatenate([guess, edge * along(powers, axis, guess.ndim)], axis=axis)
    return guess
