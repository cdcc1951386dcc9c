"""The states of a small box one by one in exact fractions: a second method beside the compiled pass.

Nothing is rounded but V, which is no fraction and enters by a bound of it, and what is found in the end,
which is rounded outward.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.certificates.arrival_phases import ArrivalPhases, Move
from queueing.certificates.box_pass import Claim, Found, nothing_found, outside_value, value
from queueing.certificates.intervals import above, below

__all__ = ["exact_pass"]

SECONDS = 3e-5
"""Time per state, class and array, about."""


def exact_pass(
    tasks: Callable[[Sequence[int]], list[Fraction]], claim: Claim, phases: ArrivalPhases
) -> Found:
    """What :func:`queueing.certificates.box_pass.box_pass` finds."""
    outside, functionals, shape = claim.outside, claim.functionals, tuple(claim.shape.tolist())
    n, m = len(shape), phases.n_phases
    h, v = claim.h.reshape(-1, *shape, m), claim.v.reshape(*shape, m)
    leaving = [[move for move in phases.moves if move.phase == k] for k in range(m)]
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

            for k, moves in enumerate(leaving):
                beyond = partial(outside_value, outside, counts)
                escape = _flow(v, (*x, k), moves, down, faces, beyond)
                if faces:
                    excess = above(
                        float(Fraction(v[*x, k]) - Fraction(outside_value(outside, counts, -1, k)[0]))
                    )
                    if excess > found.excess[0]:
                        found.excess[0], found.excess_at[0] = excess, s
                for f, weight in enumerate(weights):
                    change = int(value(functionals[f], counts)) + _flow(h[f], (*x, k), moves, down, faces)
                    most = above(float(change + weight * escape))
                    least = below(float(change - weight * escape))
                    if most > found.highest[f]:
                        found.highest[f], found.highest_at[f] = most, s
                    if least < found.lowest[f]:
                        found.lowest[f], found.lowest_at[f] = least, s
                    if faces:
                        _note_steps(h[f], (*x, k), moves, faces, found.steps[f])
            task.advance()
    return found


def _moved(x: tuple[int, ...], i: int, step: int) -> tuple[int, ...]:
    return (*x[:i], x[i] + step, *x[i + 1 :])


def _flow(
    values: FloatArray,
    x: tuple[int, ...],
    moves: list[Move],
    down: list[Fraction],
    faces: set[int],
    beyond: Callable[[int, int], tuple[float, float]] | None = None,
) -> Fraction:
    """Q of some values in a state, its phase last; arrivals at a face stay, or lead ``beyond`` it."""
    here, flow = Fraction(values[x]), Fraction(0)
    for move in moves:
        stays = not move.arrives or move.place in faces
        after = values[_moved((*x[:-1], move.target), move.place, 0 if stays else 1)]
        if beyond and move.arrives and stays:
            after = beyond(move.place, move.target)[1]
        flow += move.rate * (Fraction(after) - here)
    for i, rate in enumerate(down):
        if x[i] > 0:
            flow += rate * (Fraction(values[_moved(x, i, -1)]) - here)
    return flow


def _note_steps(
    h: FloatArray, x: tuple[int, ...], moves: list[Move], faces: set[int], steps: FloatArray
) -> None:
    """Steps of h next to a state of a face, and what it turns with the phase."""
    n, here = len(x) - 1, Fraction(h[x])
    for i in range(n):
        if i not in faces:
            steps[i] = max(steps[i], above(float(abs(Fraction(h[_moved(x, i, 1)]) - here))))
    turn = sum(move.rate * abs(Fraction(h[*x[:-1], move.target]) - here) for move in moves)
    steps[n] = max(steps[n], above(float(turn)) if turn else 0.0)
