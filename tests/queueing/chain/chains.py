"""Models, policies and an exact reference that the tests of chains share."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy import special

from fairness import Problem
from fairness.testing import KINDS, random_problem
from queueing.balanced.fairness import balanced_fairness
from queueing.chain.solvers.choose_solver import Elimination, Multilevel
from queueing.model.system import System

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


def random_system(rng, k, n, load=0.8, *, spread=0.5):
    """The k-th of some systems of n classes: zeros, ties and limits among them, sizes apart by a factor."""
    problem = random_problem(rng, n, 2, kind=KINDS[k % len(KINDS)], limited=k % 2 == 0, weighted=True)
    return System.with_load(problem, rng.uniform(0.2, 1, n), load, 10 ** rng.uniform(-spread, spread, n))


def stepped(x, i, step):
    """The state with one job more or less of class i."""
    return (*x[:i], x[i] + step, *x[i + 1 :])


def rate_matrix(states, moves, dtype=float):
    """Rates between the states, 0 on the diagonal; ``moves(x)`` gives targets and rates, others are lost."""
    number = {x: k for k, x in enumerate(states)}
    rates = np.zeros((len(states),) * 2, dtype=dtype)
    for x in states:
        for y, rate in moves(x):
            if y in number:
                rates[number[x], number[y]] += rate
    return rates


def processor_sharing_law(loads, shape):
    """Law of the counts when one resource is shared equally: a product form, conditioned on the box."""
    x = np.indices(shape)
    logs = special.gammaln(x.sum(axis=0) + 1.0) - special.gammaln(x + 1.0).sum(axis=0)
    law = np.exp(logs + np.tensordot(np.log(loads), x, axes=1))
    return law / law.sum()


def law_in_fractions(rates):
    """Solve the balance equations of an irreducible chain over the rationals (Grassmann, Taksar, Heyman)."""
    matrix = np.array([[Fraction(rate) for rate in row] for row in rates], dtype=object)
    for k in range(len(matrix) - 1, 0, -1):
        matrix[:k, k] /= matrix[k, :k].sum()
        matrix[:k, :k] += np.outer(matrix[:k, k], matrix[k, :k])
    law = [Fraction(1)]
    for k in range(1, len(matrix)):
        law.append(np.dot(law, matrix[:k, k]))
    return [p / sum(law) for p in law]


def mean_in_fractions(rates, values):
    """Mean of values of the states under this law."""
    law = law_in_fractions(rates)
    return sum(p * Fraction(float(v)) for p, v in zip(law, values, strict=True))


def rational_law(system, policy, states, rates):
    """The law of the counts on these states, by elimination in fractions."""

    def moves(x):
        tasks = policy(system.problem, np.array(x, dtype=float))
        for i in range(len(x)):
            yield stepped(x, i, 1), Fraction(float(rates(x)[i]))
            yield stepped(x, i, -1), Fraction(float(tasks[i])) / Fraction(float(system.mean_sizes[i]))

    return law_in_fractions(rate_matrix(states, moves, dtype=object))
