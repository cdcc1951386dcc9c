"""Models, policies and an exact reference that the tests of chains share."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fairness import Problem
from queueing.balanced.fairness import balanced_fairness
from queueing.chain.solvers.ladder import Elimination, Multilevel

EXAMPLE = Problem([[1, 0.1], [0.1, 1]], [1, 1], job_classes=["A", "B"], resources=["cpu", "ram"])
SOLVERS = (Elimination(), Multilevel())


def one_resource(n):
    return Problem(np.ones((n, 1)), [1])


class Balanced:
    """Balanced fairness as a policy, from its law on a box; beyond the box as at its face."""

    name = "balanced"

    def __init__(self, system, shape):
        self.law = balanced_fairness(system, shape=shape, distribution=True)
        self.table = self.law.tasks()

    def __call__(self, problem, counts):
        return self.table[tuple(np.minimum(counts, np.array(self.law.shape) - 1).astype(int).T)]


def rational_law(system, policy, states, rates):
    """Solve the balance equations of an irreducible chain over the rationals (Grassmann, Taksar, Heyman)."""
    number = {x: k for k, x in enumerate(states)}
    size = len(states)
    matrix = [[Fraction(0)] * size for _ in range(size)]
    for x in states:
        tasks = policy(system.problem, np.array(x, dtype=float))
        for i in range(len(x)):
            more = (*x[:i], x[i] + 1, *x[i + 1 :])
            less = (*x[:i], x[i] - 1, *x[i + 1 :])
            if more in number:
                matrix[number[x]][number[more]] = Fraction(float(rates(x)[i]))
            if less in number:
                matrix[number[x]][number[less]] = Fraction(float(tasks[i])) / Fraction(
                    float(system.mean_sizes[i])
                )
    for k in range(size - 1, 0, -1):
        out = sum(matrix[k][:k])
        for j in range(k):
            matrix[j][k] /= out
            for m in range(k):
                matrix[j][m] += matrix[j][k] * matrix[k][m]
    law = [Fraction(1)]
    for k in range(1, size):
        law.append(sum(law[j] * matrix[j][k] for j in range(k)))
    return [p / sum(law) for p in law]
