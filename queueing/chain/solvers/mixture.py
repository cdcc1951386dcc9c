"""Where an iteration goes on: the combination of its last laws that a step would have moved least [1]_.

The coefficients sum to 1, and what is least is the sum of squares of the step, each over the probability of
the state.

References
----------
.. [1] D. G. Anderson, "Iterative procedures for nonlinear integral equations", Journal of the ACM 12, 1965.
   DOI 10.1145/321296.321305.
"""

from __future__ import annotations

import numpy as np

from fairness.machine.compiling import stored
from fairness.model.problem import FloatArray

__all__ = ["MEMORY", "Mixture"]

MEMORY = 5
"""Laws that are mixed."""


class Mixture:
    """The last laws, and how far the cycle moved each."""

    def __init__(self, law: FloatArray, memory: int = MEMORY) -> None:
        self.memory = memory
        self.laws = np.empty((memory, law.size))
        self.steps = np.empty((memory, law.size))
        self.before = np.empty(law.size)
        self.kept = 0

    def forget(self) -> None:
        """Drop the laws that were noted."""
        self.kept = 0

    def begin(self, law: FloatArray) -> None:
        """Note the law before a cycle."""
        self.before[:] = law

    def keep(self, law: FloatArray) -> None:
        """Note the law after a cycle."""
        slot = self.kept % self.memory
        self.kept += 1
        self.laws[slot] = law
        np.subtract(law, self.before, out=self.steps[slot])

    def mix(self, law: FloatArray) -> None:
        """Replace the last law by the combination of the last ones that would have moved least."""
        slot, kept = (self.kept - 1) % self.memory, min(self.kept, self.memory)
        if kept == 1:
            return
        gram = _gram(self.steps[:kept], law, 1e-12 * law.max())
        # Coefficients c of law + sum_k c_k (law_k - law): least squares, on the scale of each difference.
        others = [k for k in range(kept) if k != slot]
        matrix = (gram - gram[slot] - gram[:, [slot]] + gram[slot, slot])[np.ix_(others, others)]
        right = gram[slot, slot] - gram[others, slot]
        scale = np.sqrt(np.maximum(np.diagonal(matrix), 1e-300))
        coefficients = np.linalg.lstsq(matrix / np.outer(scale, scale), right / scale, rcond=1e-12)[0] / scale
        combined = (1.0 - coefficients.sum()) * law
        for k, c in zip(others, coefficients, strict=True):
            combined += c * self.laws[k]
        np.maximum(combined, 0.1 * law, out=law)
        law /= law.sum()


@stored(nogil=True)
def _gram(residuals: FloatArray, law: FloatArray, smallest: float) -> FloatArray:
    """Products of residuals, each term over the probability of the state."""
    n = len(residuals)
    gram = np.zeros((n, n))
    for s in range(law.size):
        weight = 1.0 / max(law[s], smallest)
        for i in range(n):
            term = weight * residuals[i, s]
            for k in range(i + 1):
                gram[i, k] += term * residuals[k, s]
    for i in range(n):
        for k in range(i):
            gram[k, i] = gram[i, k]
    return gram
