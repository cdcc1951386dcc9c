r"""Poisson's equation on a finite irreducible chain, solved to more digits than a float has.

The equation :math:`f + Qh = c`, with :math:`h = 0` in one state, has one solution: a function h and the
number c, the stationary mean of f. What is left over, :math:`c - (f + Qh)`, is computed as the checker does
it (:func:`queueing.certificates.chain_certificate.poisson_sides`), in twice the digits, and is the right side
of a next equation, whose solution is added. h is the sum of two floats, so that each step adds the digits
that the steps of :mod:`queueing.chain.solvers.poisson_steps` have, and chains whose rates span many decades
come out to the last digit, too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fairness.model.problem import FloatArray
from queueing.certificates.chain_certificate import poisson_sides
from queueing.chain.solvers.poisson_steps import poisson_step
from queueing.model.finite_chain import FiniteChain

__all__ = ["FiniteEquation"]

STEPS = 40
"""Most steps of refinement."""
GAIN = 0.5
"""A step that leaves more than this part of the width gains little; three such are the last."""


class FiniteEquation:
    """Poisson's equations of a chain, all of whose states lead to each other.

    Attributes
    ----------
    method : str
        "elimination", "sparse factors" or "iteration".
    """

    def __init__(self, chain: FiniteChain) -> None:
        self.chain, self.n = chain, chain.n_states
        self._states = np.arange(self.n)
        self._step = poisson_step(chain.matrix())
        self.method = self._step.method

    def solve(self, f: FloatArray, good: Callable[[float, float], bool]) -> tuple[FloatArray, FloatArray]:
        """Two arrays whose sum is h; with bounds of the mean of f that are good enough, or as near as can be.

        Parameters
        ----------
        f : ndarray of shape (n_states,)
        good : callable
            Whether a lower and an upper bound are near enough to each other.
        """
        h, rest = np.zeros((2, self.n))
        best, width, slow = (h, rest), np.inf, 0
        for _ in range(STEPS):
            lower, upper = poisson_sides(self.chain, self._states, self._states, f, h, rest)
            low, high = float(lower.min()), float(upper.max())
            if not high - low < np.inf:
                break
            slow = slow + 1 if high - low > GAIN * width else 0
            if high - low < width:
                best, width = (h, rest), high - low
            if self.n == 1 or good(low, high) or slow > 2:
                break
            with np.errstate(over="ignore", invalid="ignore"):  # bounds tell what is too large
                h, rest = _added(h, rest, self._step(lower + (upper - lower) / 2 - (low + (high - low) / 2)))
        return best


def _added(h: FloatArray, rest: FloatArray, step: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The sum of three arrays as that of two: the first has what a float holds."""
    added = h + step
    part = added - h
    lacking = (h - (added - part)) + (step - part)
    return added, rest + lacking
