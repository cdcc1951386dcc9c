r"""Norms that fall under a policy, found numerically: for policies without a lemma, or with a weak one.

Wanted are a whole number p and scales b such that :math:`T(x) = (\sum_i (b_i x_i)^p)^{1/p}` falls in every
direction x while arrival rates are larger by less than a *spare* :math:`\delta`,

.. math:: \sum_i a_i x_i^{p-1} \bigl((1+\delta)\lambda_i - \mu_i\varphi_i(x)\bigr) \le 0,
   \qquad a_i = b_i^p .

For given p the largest spare over sampled directions is a fractional linear program in a: in turn a linear
program takes the a within a factor of those at hand that leaves most below 0, and the spare and the
directions, which are spread out in units of 1/b, follow [1]_. Nothing of this is proved. What is handed over
is a claim that :mod:`queueing.certificates.drifts.cells` has proved: the spare, lowered until it could.

References
----------
.. [1] W. Dinkelbach, "On nonlinear fractional programming", Management Science 13, 1967.
   DOI 10.1287/mnsc.13.7.492.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.optimize import linprog

from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.certificates.certificate import Drift
from queueing.certificates.drifts import cells
from queueing.certificates.errors import CertificateError
from queueing.certificates.pool import Pool
from queueing.certificates.rates.filling_intervals import ROUNDS, many_tasks

__all__ = ["numeric_drifts"]

EXPONENTS = (2, 3, 4, 6, 8, 12, 16, 24, 32)
DIRECTIONS = 300
"""Sampled on each face, twice."""
STEPS = 6
"""Linear programs for each exponent."""
FACTOR = 6.0
"""By which a program may change an a."""
PARTS = (0.96, 0.85, 0.6, 0.3)
"""Of the spare that the samples leave, claimed one after the other."""
FAR = 1e200
"""A radius beyond which limits on the tasks of a job do not matter."""
MOST_CELLS = 200_000
"""For a claim that is tried: one that holds with room to spare needs far fewer."""


def numeric_drifts(pool: Pool, numbers: FloatArray, wanted: FloatArray | None = None) -> Iterator[Drift]:
    """Norms with a spare, in the hints of drifts whose theta and gamma are still to be chosen.

    The spare is proved where no limit on the tasks of a job matters, that is, far enough out.

    Parameters
    ----------
    pool : Pool
    numbers : ndarray
        Of the policy, :func:`queueing.certificates.rates.levelling.numbers`.
    wanted : ndarray of shape (n,), optional
        Scales that would be best if T fell: they, and those half-way, are tried as well.

    Yields
    ------
    Drift
        Scales are those of the classes with arrivals, the largest is 1.

    Raises
    ------
    OutOfTime
        If a time limit is over.
    """
    exponents = EXPONENTS[: None if pool.n > 1 else 1]
    with Task("search for a norm that falls", len(exponents), "exponents") as work:
        for drifts in _by_exponent(pool, numbers, exponents, wanted):
            work.advance()
            yield from drifts


def _by_exponent(
    pool: Pool, numbers: FloatArray, exponents: tuple[int, ...], wanted: FloatArray | None
) -> Iterator[list[Drift]]:
    """The drifts of each exponent, in turn."""
    rng = np.random.default_rng(0)
    best = 0.0
    for p in exponents:
        proved = list[Drift]()
        found = _searched(pool, numbers, p, rng)
        # A larger exponent curves T more, so it has to leave more to spare.
        if found is None or PARTS[0] * found[1] <= 1.02 * best:
            yield proved
            continue
        tried = [found]
        if wanted is not None:
            ratio = wanted / found[0]
            for b in (found[0] * ratio**part for part in (0.5, 1.0)):
                tried.append((b / b.max(), _sampled(pool, numbers, p, b**p, rng)[0]))
        for scales, most in tried:
            spare = _proved(pool, numbers, p, scales, most)
            if spare > 0:
                best = max(best, spare)
                proved.append(Drift(float(p), scales, 1.0, 1.0, {"spare": spare}))
        yield proved


def _proved(pool: Pool, numbers: FloatArray, p: int, scales: FloatArray, most: float) -> float:
    """The largest part of a spare > 0 that cells prove; 0 if none."""
    padded = np.ones(pool.classes.max() + 1)
    padded[pool.classes] = scales
    for part in PARTS if most > 0 else ():
        claim = Drift(float(p), padded, 1.0, 1.0, {"spare": part * most})
        try:
            return cells.spare(pool, numbers, claim, FAR, MOST_CELLS)
        except CertificateError:
            continue
    return 0.0


def _searched(
    pool: Pool, numbers: FloatArray, p: int, rng: np.random.Generator
) -> tuple[FloatArray, float] | None:
    """Scales and their spare over samples, for one exponent; None if no spare > 0 is found."""
    n, rates = pool.n, pool.arrival_rates
    loads = rates * pool.mean_sizes
    # Logarithms: powers of loads may leave the floats, their ratios matter alone.
    logarithms = -np.log(rates) - (p - 1) * np.log(loads)
    a = np.exp(logarithms - logarithms.max())
    best: tuple[FloatArray, float] | None = None
    for _ in range(STEPS):
        a /= a.max()
        if not a.min() > 1e-200:
            break
        spare, weights, served = _sampled(pool, numbers, p, a, rng)
        if spare > 0 and (best is None or spare > best[1]):
            best = (a ** (1.0 / p), spare)
        # Factors f of a and what they leave, e: sum_i f_i w_i ((1 + spare) lambda_i - served_i) <= -e.
        terms = weights * ((1.0 + spare) * rates - served) / (weights @ rates)[:, None]
        program = linprog(
            np.append(np.zeros(n), -1.0),
            A_ub=np.column_stack([terms, np.ones(len(terms))]),
            b_ub=np.zeros(len(terms)),
            A_eq=np.append(np.ones(n), 0.0)[None],
            b_eq=[n],
            bounds=[(1.0 / FACTOR, FACTOR)] * n + [(None, None)],
        )
        if program.status != 0:
            break
        a = a * program.x[:n]
    return best


def _sampled(
    pool: Pool, numbers: FloatArray, p: int, a: FloatArray, rng: np.random.Generator
) -> tuple[float, FloatArray, FloatArray]:
    """The spare over sampled directions; there the weights a x^(p-1) and the rates at which jobs leave."""
    x = _directions(pool.n, rng) * (a / a.max()) ** (-1.0 / p)
    served = _tasks(numbers, x) / pool.mean_sizes
    weights = a * x ** (p - 1)
    ratios = (weights @ pool.arrival_rates) / np.maximum((weights * served).sum(axis=1), 1e-300)
    return 1.0 / float(ratios.max()) - 1.0, weights, served


def _directions(n: int, rng: np.random.Generator) -> FloatArray:
    """Directions x with max x = 1, of all faces; some of them near the edges."""
    even = rng.random((n, DIRECTIONS, n))
    points = np.concatenate([even, even**4], axis=1)
    for face in range(n):
        points[face, :, face] = 1.0
    return np.vstack([points.reshape(-1, n), np.eye(n)])


def _tasks(numbers: FloatArray, counts: FloatArray) -> FloatArray:
    """Middle of the bounds of the tasks, without limits."""
    lower, upper, n = np.empty_like(counts), np.empty_like(counts), counts.shape[1]
    free = numbers.copy()
    free[:, -2 * n - 1 : -1] = np.where(free[:, -2 * n - 1 : -1] > 0, np.inf, 0.0)
    many_tasks(free, counts, counts, lower, upper, ROUNDS)
    return (lower + upper) / 2
