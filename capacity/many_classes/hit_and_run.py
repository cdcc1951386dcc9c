r"""A random walk in a monotone polytope, compiled: one coordinate after the other from its own law.

In :math:`\{x \ge 0 : \sum_k s_{jk}x_k \le 1\}` with the density proportional to :math:`e^{-\beta\sum_k
x_k}` the law of :math:`x_k`, given the others, is exponential with rate :math:`\beta`, cut off where the
first inequality is met (uniform for :math:`\beta = 0`). Drawing the coordinates in turn from these laws,
the Gibbs sampler or coordinate hit-and-run, keeps the density; a sweep costs as much as there are nonzero
:math:`s_{jk}`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fairness.machine.compiling import stored
from fairness.model.problem import FloatArray

__all__ = ["sweeps"]

IntArray = NDArray[np.int64]

FRESH = 64
"""Sweeps after which the sums are added up anew, so that their rounding does not build up."""


@stored(nogil=True)
def sweeps(
    start: IntArray,
    row: IntArray,
    share: FloatArray,
    n_rows: int,
    x: FloatArray,
    rate: float,
    skipped: int,
    sums: FloatArray,
    generator: np.random.Generator,
) -> None:
    """Move x, (n,), by ``skipped`` sweeps and one for each entry of ``sums``, the sum of x after it.

    Column k of the inequalities has the nonzeros share[e] in row[e], start[k] <= e < start[k + 1].
    """
    n = len(x)
    used = np.zeros(n_rows)
    for step in range(skipped + len(sums)):
        if step % FRESH == 0:
            used[:] = 0.0
            for k in range(n):
                for e in range(start[k], start[k + 1]):
                    used[row[e]] += share[e] * x[k]
        total = 0.0
        for k in range(n):
            room = math.inf
            for e in range(start[k], start[k + 1]):
                room = min(room, (1.0 - used[row[e]]) / share[e])
            top = max(0.0, x[k] + room)
            part = generator.random()
            if rate * top < 1e-9:
                new = part * top
            else:
                new = min(top, -math.log1p(part * math.expm1(-rate * top)) / rate)
            for e in range(start[k], start[k + 1]):
                used[row[e]] += share[e] * (new - x[k])
            x[k] = new
            total += new
        if step >= skipped:
            sums[step - skipped] = total
