"""Finite chains in files of other tools, written and read.

============ ============================================ ===========================================
kind         files                                        format
============ ============================================ ===========================================
``"mtx"``    NAME.mtx, the generator                      :mod:`fairqueues.exchange.matrix_market`
``"csv"``    NAME.csv, a row for each state               the same
``"prism"``  NAME.tra, NAME.sta, NAME.lab, NAME.srew      :mod:`fairqueues.exchange.prism`
``"storm"``  NAME.drn                                     :mod:`fairqueues.exchange.storm`
============ ============================================ ===========================================

PRISM reads ``prism -importmodel NAME.tra,sta,lab -ctmc``, Storm ``storm --explicit-drn NAME.drn``. Numbers
are written with all their digits, so that other tools see exactly the floats of the chain. The files are made
to the descriptions of these formats; tests read them back, but run neither tool.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from fairness.errors import ModelError
from fairness.model.problem import FloatArray
from fairqueues.exchange import prism, storm
from fairqueues.exchange.matrix_market import read_matrix, read_state_table, write_matrix
from fairqueues.files import require_writable, write_all
from queueing.model.finite_chain import FiniteChain

__all__ = ["Columns", "file_names", "read_chain", "write_chain", "write_files"]

Columns = Callable[[slice], dict[str, NDArray[Any]]]
"""Columns of a table of the states, for some of them."""

KINDS = ("mtx", "csv", "prism", "storm")
_SUFFIXES = {"mtx": (".mtx",), "csv": (".csv",), "prism": (".tra", ".sta", ".lab"), "storm": (".drn",)}


def write_chain(
    chain: FiniteChain,
    path: str | os.PathLike[str],
    *,
    kinds: Sequence[str] = ("mtx", "csv"),
) -> tuple[Path, ...]:
    """Write a finite chain for other tools; all files whole, or none.

    Parameters
    ----------
    chain : FiniteChain
    path, kinds
        As for :func:`write_generator`. Rewards go into the files of "prism" and "storm" and into columns of
        "csv", labels into those of "prism" and "storm", variables into those of "prism" and "csv".

    Returns
    -------
    tuple of Path
        The files.

    Raises
    ------
    ModelError
        If a kind is unknown, or a state is never left and the kind is "prism" or "storm".
    fairqueues.errors.OutputError
        If a file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from queueing import FiniteChain
    >>> chain = FiniteChain([[0, 0.1], [1, 0]], rewards={"output": [5, 0]}, labels={"init": [True, False]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = write_chain(chain, f"{folder}/machine", kinds=["prism"])
    ...     [file.name for file in files], read_chain(files[0])
    (['machine.tra', 'machine.lab', 'machine.srew'], FiniteChain(2 states, ...; labels: init))
    """
    if not isinstance(chain, FiniteChain):
        raise ModelError.of("chain", f"must be a FiniteChain; got {type(chain).__name__}")
    columns = chain.variables | chain.rewards
    return write_files(
        chain,
        path,
        kinds,
        comment="generator of a chain\nrow k + 1 is state k",
        columns=lambda states: {name: values[states] for name, values in columns.items()},
        still=lambda state: f"{chain.told(state)} is never left; take kinds 'mtx' and 'csv'",
    )


def read_chain(path: str | os.PathLike[str]) -> FiniteChain:
    """Read a finite chain from the files of other tools, as :func:`write_chain` writes them.

    Parameters
    ----------
    path : path-like
        NAME.tra (PRISM; NAME.sta, NAME.lab and NAME*.srew are read with it, if they are there), NAME.mtx
        (Matrix Market; NAME.csv, if it is there, tells the variables) or NAME.drn (Storm). Each may be
        compressed by gzip, NAME.tra.gz.

    Returns
    -------
    FiniteChain
        Numbers are those of the file, rounded to the nearest float.

    Raises
    ------
    ModelError
        One line that names the file and, of text, the line: if a file cannot be read, is none of these, is
        cut off or too large for the memory, a rate is negative, a state is missing or out of range, a
        transition is given twice, or a row of a generator does not sum to 0.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "machine.tra")
    ...     _ = file.write_text("2 2\\n0 1 0.1\\n1 0 1\\n")
    ...     read_chain(file).generator().toarray()
    array([[-0.1,  0.1],
           [ 1. , -1. ]])
    """
    file = Path(path)
    unpacked = Path(file.name.removesuffix(".gz"))
    kind, base = unpacked.suffix, file.parent / unpacked.stem
    if kind not in (".tra", ".mtx", ".drn"):
        raise ModelError.of(
            "path", f"must name a file NAME.tra (PRISM), NAME.mtx (Matrix Market) or NAME.drn (Storm); got "
            f"{str(path)!r}"
        )  # fmt: skip
    parts: dict[str, dict[str, NDArray[Any]]] = {}
    if kind == ".tra":
        rates = prism.read_transitions(file)
        n = rates.shape[0]
        for suffix, part, reader in (
            (".sta", "variables", prism.read_states),
            (".lab", "labels", prism.read_labels),
        ):
            for found in _beside(base, suffix):
                parts[part] = reader(found, n)
        parts["rewards"] = _rewards(base, n)
    elif kind == ".mtx":
        rates = read_matrix(file)
        for found in _beside(base, ".csv"):
            parts["variables"] = read_state_table(found, rates.shape[0])
    else:
        rates, parts["rewards"], parts["labels"] = storm.read_drn(file)
    try:
        if sparse.issparse(rates):
            _require_single(rates)
        return FiniteChain(rates, **parts)
    except ModelError as error:
        raise ModelError(f"{file}: {error}", argument=error.argument, index=error.index) from None


def _beside(base: Path, suffix: str) -> list[Path]:
    """The file of that suffix, compressed or not, if there is one."""
    names = (base.name + suffix, base.name + suffix + ".gz")
    return [base.with_name(name) for name in names if base.with_name(name).exists()][:1]


def _rewards(base: Path, n: int) -> dict[str, FloatArray]:
    """Rewards of NAME.srew, NAME1.srew, NAME2.srew, ..."""
    files, number = _beside(base, ".srew"), 1
    while found := _beside(base.with_name(f"{base.name}{number}"), ".srew"):
        files, number = files + found, number + 1
    rewards: dict[str, FloatArray] = {}
    for file in files:
        name, values = prism.read_rewards(file, n)
        if name in rewards:
            raise ModelError(f"{file}: rewards of the name {name!r} are given twice; rename one of them")
        rewards[name] = values
    return rewards


def _require_single(rates: sparse.coo_array) -> None:
    """Refuse transitions that are given twice: their sum would be rounded."""
    rows, columns = rates.coords
    order = np.lexsort((columns, rows))
    again = (np.diff(rows[order]) == 0) & (np.diff(columns[order]) == 0)
    if again.any():
        k = order[int(np.flatnonzero(again)[0])]
        raise ModelError(
            f"the transition from state {rows[k]} to state {columns[k]} is given twice; write the sum "
            "of its rates"
        )


def file_names(path: str | os.PathLike[str], kinds: Sequence[str]) -> dict[str, Path]:
    """Files to write, by suffix."""
    chosen = list(dict.fromkeys([kinds] if isinstance(kinds, str) else kinds))
    for kind in chosen:
        if kind not in KINDS:
            raise ModelError.of("kinds", f"must be of {', '.join(KINDS)}; got {kind!r}")
    if not chosen:
        raise ModelError.of("kinds", f"is empty; give some of {', '.join(KINDS)}")
    given = Path(path)
    if not given.name:
        raise ModelError.of("path", f"must end in the name of the files; got {str(path)!r}")
    known = [suffix for suffixes in _SUFFIXES.values() for suffix in suffixes]
    stem = given.with_suffix("") if given.suffix in known else given
    return {suffix: stem.with_name(stem.name + suffix) for kind in chosen for suffix in _SUFFIXES[kind]}


def write_files(
    chain: FiniteChain,
    path: str | os.PathLike[str],
    kinds: Sequence[str],
    *,
    comment: str,
    columns: Columns,
    still: Callable[[int], str],
) -> tuple[Path, ...]:
    """Write the files of a chain, all or none.

    Parameters
    ----------
    chain, path, kinds
        As for :func:`write_chain`.
    comment : str
        For "mtx".
    columns : callable
        For "csv".
    still : callable
        What is told of a state that is never left, where a format has no rows without a move.
    """
    files = file_names(path, kinds)
    if not chain.variables:
        files.pop(".sta", None)
    writers: dict[str, Callable[[Path], None]] = {
        ".mtx": partial(write_matrix, chain=chain, comment=comment),
        ".csv": partial(_write_table, n=chain.n_states, columns=columns),
        ".tra": partial(prism.write_transitions, chain=chain),
        ".sta": partial(prism.write_states, chain=chain),
        ".lab": partial(prism.write_labels, chain=chain),
        ".drn": partial(storm.write_drn, chain=chain),
    }
    made = {file: writers[suffix] for suffix, file in files.items()}
    if (base := files.get(".tra")) is not None:
        for k, (name, rewards) in enumerate(chain.rewards.items()):
            number = "" if len(chain.rewards) == 1 else str(k + 1)
            write = partial(prism.write_rewards, name=name, rewards=rewards)
            made[base.with_name(f"{base.stem}{number}.srew")] = write
    for file in made:
        require_writable(file)
    stays = np.diff(chain.starts) == 0
    if {".tra", ".drn"} & set(files) and stays.any():
        raise ModelError(still(int(np.argmax(stays))))
    write_all(made)
    return tuple(made)


def _write_table(path: Path, n: int, columns: Columns) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        for states in prism.chunks(n):
            frame = pd.DataFrame({"state": np.arange(states.start, states.stop), **columns(states)})
            frame.to_csv(file, index=False, header=states.start == 0)
