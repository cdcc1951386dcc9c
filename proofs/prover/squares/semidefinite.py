r"""The semidefinite program in floating point, and the face that its solutions lie in.

Among all matrices of a :class:`~proofs.prover.squares.programs.Program` those are sought whose least
eigenvalue :math:`t` is largest. If :math:`t > 0`, there is room for rounding. If the largest is 0, all
solutions lie in a face of the cone [1]_: an interior-point method ends in its relative interior, so the small
eigenvalues of what it finds show the kernel that all solutions share. Where the polynomials have rational
coefficients and rational zeros, that kernel is rational; the basis is replaced by one of its orthogonal
complement, and the program is asked again. A face that was guessed wrongly leaves a program without
solutions, or one whose solutions are as good as any.

References
----------
.. [1] J. Borwein and H. Wolkowicz, "Regularizing the abstract convex program", Journal of Mathematical
   Analysis and Applications 83(2), 1981.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix

from proofs.prover.squares.programs import Block, Program, pruned
from proofs.prover.squares.tables import Table, plus
from proofs.prover.values import nearest

__all__ = ["Interior", "faces", "interior"]

MOST_TRACE = 1e5
DENOMINATOR = 60
"""Largest denominator in a vector of the kernel."""
NEAR = 2e-3
"""How far such an entry may be from its fraction."""
GAPS = 3
"""Places between large and small eigenvalues that are tried."""


@dataclass(frozen=True)
class Interior:
    """Values of all unknowns as the program counts them, their matrices, and the least eigenvalue."""

    values: NDArray[np.float64]
    matrices: list[NDArray[np.float64]]
    least: float


def interior(program: Program, deadline: float) -> Interior | None:
    """The solution with the largest least eigenvalue, which may be 0 up to rounding, or None."""
    import clarabel

    columns = [c for block in program.blocks for c in block.columns] + program.multiples
    rows = {m: k for k, m in enumerate(sorted({m for c in columns for m in c}))}
    n, first = len(columns), len(rows)
    entries = [(rows[m], j, nearest(c)) for j, column in enumerate(columns) for m, c in column.items()]
    right = [0.0] * first
    # The positive terms add up to 1; t <= 1; the sum of all traces is bounded.
    extra: list[dict[int, float]] = [{}, {n: 1.0}, {}]
    cones: list[Any] = [clarabel.ZeroConeT(first + 1), clarabel.NonnegativeConeT(2)]
    cone_rows: list[dict[int, float]] = []
    place = 0
    for block in program.blocks:
        if block.positive:
            extra[0][place] = 1.0
        for p, q in block.pairs:
            if p == q:
                extra[2][place] = 1.0
            cone_rows.append({place: -1.0 if p == q else -sqrt(2), **({n: 1.0} if p == q else {})})
            place += 1
        cones.append(clarabel.PSDTriangleConeT(len(block.basis)))
    for k, row in enumerate([*extra, *cone_rows]):
        entries += [(first + k, j, value) for j, value in row.items()]
    right += [1.0, 1.0, MOST_TRACE, *([0.0] * len(cone_rows))]
    i, j, v = zip(*entries, strict=True)
    if not np.all(np.isfinite(v)):
        return None
    matrix = csc_matrix((v, (i, j)), shape=(len(right), n + 1))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.time_limit = max(deadline - time.monotonic(), 0.01)
    cost = np.zeros(n + 1)
    cost[n] = -1.0
    solver = clarabel.DefaultSolver(
        csc_matrix((n + 1, n + 1)), cost, matrix, np.array(right), cones, settings
    )
    found = solver.solve()
    status = str(found.status)
    if status not in ("Solved", "AlmostSolved", "InsufficientProgress", "NumericalError", "MaxIterations"):
        return None
    x = np.array(found.x)
    if not np.all(np.isfinite(x)):
        return None
    return Interior(x[:n], _matrices(program.blocks, x), float(x[n]))


def _matrices(blocks: Sequence[Block], x: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    found, place = [], 0
    for block in blocks:
        matrix = np.zeros((len(block.basis),) * 2)
        for p, q in block.pairs:
            matrix[p, q] = matrix[q, p] = x[place]
            place += 1
        found.append(matrix)
    return found


def faces(program: Program, matrices: Sequence[NDArray[np.float64]], deadline: float) -> list[Program]:
    """Programs on the faces that the small eigenvalues point to, the clearest first."""
    systems = [np.linalg.eigh(m) for m in matrices]
    values = np.sort(np.maximum(np.concatenate([s.eigenvalues for s in systems]), 1e-14))
    largest = values[-1]
    ratios = values[1:] / values[:-1]
    usable = [k for k in np.argsort(-ratios) if values[k] < 1e-2 * largest][:GAPS]
    found = []
    for k in usable:
        bound = sqrt(values[k] * values[k + 1])
        blocks = []
        for block, system in zip(program.blocks, systems, strict=True):
            kernel = system.eigenvectors[:, system.eigenvalues < bound]
            basis = _complement(block.basis, kernel)
            if basis is None:
                break
            if basis:
                blocks.append(replace(block, basis=basis) if kernel.shape[1] else block)
        else:
            smaller = pruned(Program(tuple(blocks), program.cofactors, program.equations), deadline)
            if smaller is not None:
                found.append(smaller)
    return found


def _complement(basis: Sequence[Table], kernel: NDArray[np.float64]) -> tuple[Table, ...] | None:
    """A basis of what is orthogonal to the kernel, or None if the kernel seems not to be rational."""
    rest = kernel.T.copy()
    pivots: list[int] = []
    for k in range(len(rest)):
        sizes = np.abs(rest[k:])
        sizes[:, pivots] = 0
        row, place = divmod(int(np.argmax(sizes)), rest.shape[1])
        rest[[k, k + row]] = rest[[k + row, k]]
        rest[k] /= rest[k, place]
        others = np.arange(len(rest)) != k
        rest[others] -= np.outer(rest[others, place], rest[k])
        pivots.append(place)
    found = []
    for j in range(len(basis)):
        if j in pivots:
            continue
        combined = basis[j]
        for row, place in enumerate(pivots):
            entry = _simple(float(rest[row, j]))
            if entry is None:
                return None
            combined = plus(combined, basis[place], -entry)
        found.append(combined)
    return tuple(found)


def _simple(value: float) -> Fraction | None:
    """The fraction with the smallest denominator near a value."""
    for d in range(1, DENOMINATOR + 1):
        numerator = round(value * d)
        if abs(numerator / d - value) < NEAR / d:
            return Fraction(numerator, d)
    return None
