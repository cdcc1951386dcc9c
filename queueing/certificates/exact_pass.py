"""The states of a small box one by one in exact fractions: a second method beside the compiled pass.

Nothing is rounded but V, which is no fraction and enters by a bound of it, and what is found in the end,
which is rounded outward.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.certificates.box_pass import Claim, Found, nothing_found, outside_value, value
from queueing.certificates.intervals import above, below

__all__ = ["exact_pass"]

SECONDS = 3e-5
"""Time per state, class and array, about."""


def exact_pass(tasks: Callable[[Sequence[int]], list[Fraction]], claim: Claim) -> Found:
    """What :func:`queueing.certificates.box_pass.box_pass` finds."""
    outside, functionals, shape = claim.outside, claim.functionals, tuple(claim.shape.tolist())
    n, h, v = len(shape), claim.h.reshape(-1, *shape), claim.v.reshape(shape)
    rates = [Fraction(rate) for rate in claim.arrival_rates]
    sizes = [Fraction(size) for size in claim.mean_sizes]
    weights = [Fraction(d) for d in claim.delta]
    found = nothing_found(len(weights), n)
    seconds = SECONDS * v.size * n * (2 + len(weights))
    name = f"check of {v.size} states in fractions"
    with Task(name, v.size, "states", seconds, instead="check with exact=False") as task:
        for s, x in enumerate(itertools.product(*map(range, shape))):
            counts = np.array(x)
            faces = {i for i in range(n) if x[i] == shape[i] - 1}
            down = [phi / size for phi, size in zip(tasks(x), sizes, strict=True)]

            beyond = {i: Fraction(outside_value(outside, counts, i)[1]) for i in faces}
            escape = _flow(v, x, rates, down, beyond)
            if faces:
                excess = above(float(Fraction(v[x]) - Fraction(outside_value(outside, counts, -1)[0])))
                if excess > found.excess[0]:
                    found.excess[0], found.excess_at[0] = excess, s
            for f, weight in enumerate(weights):
                here = Fraction(h[f][x])
                change = int(value(functionals[f], counts)) + _flow(
                    h[f], x, rates, down, dict.fromkeys(faces, here)
                )
                most = above(float(change + weight * escape))
                least = below(float(change - weight * escape))
                if most > found.highest[f]:
                    found.highest[f], found.highest_at[f] = most, s
                if least < found.lowest[f]:
                    found.lowest[f], found.lowest_at[f] = least, s
                for i in range(n):
                    if i not in faces and faces:
                        step = h[f][_moved(x, i, 1)] - h[f][x]
                        found.steps[f, i] = max(found.steps[f, i], above(abs(step)))
            task.advance()
    return found


def _moved(x: tuple[int, ...], i: int, step: int) -> tuple[int, ...]:
    return (*x[:i], x[i] + step, *x[i + 1 :])


def _flow(
    values: FloatArray,
    x: tuple[int, ...],
    up: list[Fraction],
    down: list[Fraction],
    beyond: dict[int, Fraction],
) -> Fraction:
    """Q of some values in a state; those next to it outside of the box are given."""
    here, flow = Fraction(values[x]), Fraction(0)
    for i in range(len(x)):
        next_ = beyond[i] if i in beyond else Fraction(values[_moved(x, i, 1)])
        flow += up[i] * (next_ - here)
        if x[i] > 0:
            flow += down[i] * (Fraction(values[_moved(x, i, -1)]) - here)
    return flow
