"""The generator of a chain as a Matrix Market file, and beside it a table of the states as CSV.

NAME.mtx holds Q, rates off the diagonal and minus their sums on it; rows and columns count from 1. Read are
also matrices of rates without a diagonal, and dense ones. NAME.csv has a column ``state``, which counts
from 0, and others with a number for each state: the variables of the chain.

References
----------
R. F. Boisvert, R. Pozo and K. A. Remington, "The Matrix Market exchange formats: initial design", NISTIR
5935, 1996. DOI 10.6028/NIST.IR.5935.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io

from fairness.errors import ModelError
from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray
from queueing.model.finite_chain import FiniteChain
from queueing.recorded.columns import heads_of, table

__all__ = ["read_matrix", "read_state_table", "write_matrix"]


def write_matrix(path: Path, chain: FiniteChain, comment: str) -> None:
    """NAME.mtx, with all digits."""
    # 17 digits give every float back.
    io.mmwrite(path, chain.generator(), comment=comment, precision=17, symmetry="general")


def read_matrix(path: Path) -> Any:
    """The matrix of NAME.mtx, sparse or dense.

    Raises
    ------
    ModelError
        If the file cannot be read, is no square matrix of real numbers, or does not fit in memory.
    """
    try:
        size = path.stat().st_size
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}; give a Matrix Market file") from None
    rows, columns, entries, kind, field, symmetry = _answer(io.mminfo, path)
    if rows != columns or not rows:
        raise ModelError(
            f"{path}: the matrix is {rows} x {columns}; a generator has a row and a column for each state"
        )
    if field not in ("real", "integer", "double") or symmetry not in ("general", "symmetric"):
        raise ModelError(
            f"{path}: the matrix is {symmetry} and its entries are {field}; write a general matrix of real "
            "numbers"
        )
    packed = path.suffix in (".gz", ".bz2")
    if not packed and (6 if kind == "coordinate" else 2) * entries > size:
        raise ModelError(
            f"{path}: {entries} entries are announced, more than the {size} bytes of the file can hold; is "
            "it cut off, or the number wrong?"
        )
    each = 8.0 if kind == "array" else 40.0
    require_memory(2 * each * entries + 32.0 * rows, f"{path} with {entries} entries", "give a smaller chain")
    return _answer(partial(io.mmread, spmatrix=False), path)


def read_state_table(path: Path, n: int) -> dict[str, FloatArray]:
    """Variables of NAME.csv; nothing if its first column is not ``state``, as then it is another table.

    Raises
    ------
    ModelError
        If states are missing or given twice, or a cell is no number, with its line.
    """
    heads = heads_of(path)
    if heads[0] != "state":
        return {}
    rows = table(path, heads)
    states = rows.numbers("state")
    if len(states) != n or (np.sort(states) != np.arange(n)).any():
        raise ModelError(
            f"{path}: the column 'state' must hold the numbers 0 to {n - 1}, each once; it has {len(states)} "
            "rows; write the table anew"
        )
    order = np.argsort(states)
    return {name: rows.numbers(name)[order] for name in heads[1:]}


def _answer(read: Callable[[str], Any], path: Path) -> Any:
    """What a reader of scipy says of a file; ModelError if it is none, or damaged."""
    try:
        return read(str(path))
    except (OSError, ValueError, OverflowError) as error:
        raise ModelError(
            f"{path}: is no Matrix Market file, or damaged: {getattr(error, 'strerror', None) or error}; "
            "give one that begins with '%%MatrixMarket matrix coordinate real general'"
        ) from None
