r"""Conjugate gradients for a Newton step of many prices, where demands are sparse.

The Hessian :math:`A^\top \mathrm{diag}(f_i^2) A` of prices is never made: a round multiplies a direction
by it in one pass over the nonzeros of A. Preconditioned by its diagonal, it has few eigenvalues far from the
others where classes mix the resources well, and a dozen rounds do what a Cholesky factor does, whose work
grows with the cube of the number of resources [1]_.

References
----------
.. [1] J. Nocedal and S. J. Wright, "Numerical Optimization", 2nd ed., Springer, 2006, sections 5.1 and 7.1.
"""

from __future__ import annotations

from fairness.arguments.validation import FloatArray, IntArray
from fairness.machine.compiling import part
from fairness.model.nonzeros import Nonzeros

__all__ = ["conjugate_step", "rounds_worth"]

_WORTH = 80.0  # entries met in the time in which a Cholesky factor takes the cube of its size
_FEWEST = 20.0  # rounds; if fewer cost as much as a factor, there is none to be gained


@part
def rounds_worth(entries: int, size: float) -> float:
    """Rounds that cost as much as one Cholesky factor; 0 if these are too few to try."""
    rounds = size * size * size / (_WORTH * entries)
    return rounds if rounds >= _FEWEST else 0.0


@part
def conjugate_step(
    shares: Nonzeros,
    users: IntArray,
    factor: FloatArray,
    more: FloatArray,
    right: FloatArray,
    step: FloatArray,
    work: FloatArray,
    precision: float,
    rounds: float,
) -> bool:
    """Put the step into its place; whether it is as precise as wanted after so many rounds.

    Parameters
    ----------
    shares : Nonzeros
        The demands A.
    users : numpy.ndarray
        Classes that take part.
    factor : numpy.ndarray
        Roots f of the slopes of the tasks, shape (n_classes,).
    more : numpy.ndarray
        What the diagonal has besides, shape (n_resources,).
    right : numpy.ndarray
        The right side, shape (n_resources,); NaN for resources that keep their price.
    step : numpy.ndarray
        Place of the step, shape (n_resources,).
    work : numpy.ndarray
        Work space, shape (4, n_resources).
    precision : float
        Of the right side that is met, relative, in the norm of the inverse diagonal.
    rounds : float
        At most so many.
    """
    diagonal, rest, direction, image = work[0], work[1], work[2], work[3]
    diagonal[:] = 0.0
    for i in users:
        slope = factor[i] * factor[i]
        for e in range(shares.start[i], shares.start[i + 1]):
            j, a = shares.resource[e], shares.share[e]
            diagonal[j] += slope * (a * a)
    product = 0.0
    for j in range(right.size):
        step[j] = rest[j] = direction[j] = 0.0
        diagonal[j] += more[j]
        if right[j] == right[j] and diagonal[j] > 0:
            rest[j] = right[j]
            direction[j] = rest[j] / diagonal[j]
            product += rest[j] * direction[j]
        else:
            diagonal[j] = 0.0
    enough = precision * precision * product
    while product > enough:
        if rounds < 1.0:
            return False
        rounds -= 1.0
        image[:] = 0.0
        for i in users:
            change = 0.0
            for e in range(shares.start[i], shares.start[i + 1]):
                j, a = shares.resource[e], shares.share[e]
                change += a * direction[j]
            change *= factor[i] * factor[i]
            for e in range(shares.start[i], shares.start[i + 1]):
                j, a = shares.resource[e], shares.share[e]
                image[j] += a * change
        curvature = 0.0
        for j in range(right.size):
            image[j] += more[j] * direction[j]
            curvature += direction[j] * image[j]
        if not curvature > 0:
            return False
        length, before = product / curvature, product
        product = 0.0
        for j in range(right.size):
            if diagonal[j] > 0:
                step[j] += length * direction[j]
                rest[j] -= length * image[j]
                product += rest[j] * (rest[j] / diagonal[j])
        for j in range(right.size):
            if diagonal[j] > 0:
                direction[j] = rest[j] / diagonal[j] + product / before * direction[j]
    return True
