r"""The generator of the chain of job counts, in files that other tools read.

On the box :math:`0 \le x_i < K_i` the chain (:mod:`queueing.chain.stationary`) moves from x to
:math:`x + e_i` at rate
:math:`\lambda_i`, unless :math:`x_i = K_i - 1`, and to :math:`x - e_i` at rate :math:`\varphi_i(x)/\sigma_i`.

*Numbers of states.* State :math:`x` has the number :math:`\sum_i x_i \prod_{k>i} K_k`: from 0, the count of
the last class runs fastest, and the empty state is 0. Matrix Market counts rows and columns from 1, so there
it is one more; all other files count from 0. A class without arrivals is always empty and has one state.

================= ============== =========================================================================
kind              file           content
================= ============== =========================================================================
``"mtx"``         NAME.mtx       Q, rates off the diagonal and minus their sums on it (Matrix Market)
``"csv"``         NAME.csv       number of each state, jobs of each class, tasks of each class
``"prism"``       NAME.tra       rates from state to state, as in PRISM's explicit files
``"prism"``       NAME.sta       states; variables x1, x2, ... are the jobs of the classes in their order
``"prism"``       NAME.lab       the labels init (the empty state) and deadlock (none)
``"storm"``       NAME.drn       the same chain in Storm's direct encoding, with the label init
================= ============== =========================================================================

PRISM reads ``prism -importmodel NAME.tra,sta,lab -ctmc``, Storm ``storm --explicit-drn NAME.drn``. Numbers
are written with all their digits, so the tools see exactly the floats of this chain. The files are made to
the descriptions of these formats [1]_ [2]_; tests read them back, but run neither tool.

References
----------
.. [1] M. Kwiatkowska, G. Norman and D. Parker, "PRISM 4.0: verification of probabilistic real-time systems",
   CAV 2011, DOI 10.1007/978-3-642-22110-1_47; manual, appendix "Explicit model files".
.. [2] C. Hensel, S. Junges, J.-P. Katoen, T. Quatmann and M. Volk, "The probabilistic model checker Storm",
   STTT 24, 2022. DOI 10.1007/s10009-021-00633-z.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import io, sparse

from fairness.errors import ModelError
from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray
from fairness.protocol.cluster_policy import ClusterPolicy
from fairness.protocol.policy import Policy
from fairqueues.files import require_writable, write_all
from queueing.chain.solvers.box_rates import box_rates
from queueing.model.system import System
from queueing.states.box import box_name, check_box, count_states
from queueing.states.table import Table, tabulate

__all__ = ["generator", "write_generator"]

KINDS = ("mtx", "csv", "prism", "storm")
_SUFFIXES = {"mtx": (".mtx",), "csv": (".csv",), "prism": (".tra", ".sta", ".lab"), "storm": (".drn",)}
CHUNK = 1 << 14
"""States turned into text at a time."""


def generator(system: System, policy: Policy | ClusterPolicy, shape: Sequence[int] | int) -> sparse.csr_array:
    """Generator Q of the job counts on a box, with the states numbered as in the module docstring.

    Parameters
    ----------
    system : System
        It need not be stable: on a box every chain has a stationary law.
    policy : callable
        ``policy(problem, counts) -> tasks``, or a cluster policy.
    shape : sequence of int or int
        States per class, at least 2 for a class with arrivals.

    Returns
    -------
    csr_array of shape (n_states, n_states), jobs per unit of time
        Row x, column y: the rate from x to y; rows sum to 0.

    Raises
    ------
    ModelError
        If the shape is wrong, the chain does not fit in memory, or the policy fails its checks.

    Examples
    --------
    >>> from fairness import DRF, Problem
    >>> generator(System(Problem([[1]], [1]), [0.5]), DRF(), 3).toarray()
    array([[-0.5,  0.5,  0. ],
           [ 1. , -1.5,  0.5],
           [ 0. ,  1. , -1. ]])
    """
    return _rates(system, _tabulated(system, policy, shape))


def write_generator(
    system: System,
    policy: Policy | ClusterPolicy,
    shape: Sequence[int] | int,
    path: str | os.PathLike[str],
    *,
    kinds: Sequence[str] = ("mtx", "csv"),
) -> tuple[Path, ...]:
    """Write the generator of the job counts for other tools; all files whole, or none.

    Parameters
    ----------
    system, policy, shape
        As for :func:`generator`.
    path : path-like
        Folder and name of the files; each gets its own suffix (one of the format's suffixes is taken off).
    kinds : sequence of {"mtx", "csv", "prism", "storm"}
        What to write; see the module docstring.

    Returns
    -------
    tuple of Path
        The files.

    Raises
    ------
    ModelError
        As :func:`generator`; also if a kind is unknown, or a state is never left and the kind is "prism" or
        "storm", which have no rows without a move.
    fairqueues.errors.OutputError
        If a file cannot be written.
    """
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
    files = {suffix: stem.with_name(stem.name + suffix) for kind in chosen for suffix in _SUFFIXES[kind]}
    # Before the long work.
    for file in files.values():
        require_writable(file)
    table = _tabulated(system, policy, shape)
    rates = _rates(system, table)
    if {"prism", "storm"} & set(chosen) and not rates.diagonal().all():
        state = np.unravel_index(int(np.argmin(rates.diagonal() != 0)), table.shape)
        raise ModelError(
            f"state {tuple(int(x) for x in state)} is never left under {table.policy}: nobody arrives and "
            "nobody is served; take kinds 'mtx' and 'csv', or another policy"
        )
    writers: dict[str, Callable[[Path], None]] = {
        ".mtx": partial(_write_matrix, rates=rates, table=table),
        ".csv": partial(_write_states, table=table),
        ".tra": partial(_write_transitions, rates=rates),
        ".sta": partial(_write_valuations, table=table),
        ".lab": _write_labels,
        ".drn": partial(_write_drn, rates=rates),
    }
    write_all({file: writers[suffix] for suffix, file in files.items()})
    return tuple(files.values())


def _tabulated(system: System, policy: Policy | ClusterPolicy, shape: Sequence[int] | int) -> Table:
    """Tasks on the box, after asking whether the memory holds all that follows."""
    sizes = check_box(shape, system)
    # Table; entries as triples and as rows, 16 bytes each, twice while they are sorted; counts as text.
    moves = 2 * sum(size > 1 for size in sizes) + 1
    require_memory(
        (8.0 * system.n_classes + 48.0 * moves) * count_states(sizes),
        f"the generator on {box_name(sizes)} states",
        "give a smaller shape",
    )
    return tabulate(system.problem, policy, sizes)


def _rates(system: System, table: Table) -> sparse.csr_array:
    down = np.moveaxis(table.tasks / system.mean_sizes, -1, 0)
    moves = box_rates(system.arrival_rates, down)
    moves.eliminate_zeros()
    return (moves - sparse.diags_array(moves.sum(axis=1))).tocsr()


def _counts(table: Table, states: slice) -> FloatArray:
    """Job counts of the states with these numbers, shape (n, n_classes), whole numbers."""
    number = np.arange(math.prod(table.shape))[states]
    return np.stack(np.unravel_index(number, table.shape), axis=1)


def _chunks(states: int) -> list[slice]:
    return [slice(k, min(k + CHUNK, states)) for k in range(0, states, CHUNK)]


def _write_matrix(path: Path, rates: sparse.csr_array, table: Table) -> None:
    comment = (
        f"generator of the job counts under {table.policy} on {box_name(table.shape)} states\n"
        "row k + 1 is state k: number from 0, the count of the last class runs fastest"
    )
    # 17 digits give every float back.
    io.mmwrite(path, rates, comment=comment, precision=17, symmetry="general")


def _write_states(path: Path, table: Table) -> None:
    names = table.problem.job_classes
    tasks = table.tasks.reshape(-1, len(names))
    with path.open("w", encoding="utf-8", newline="") as file:
        for states in _chunks(len(tasks)):
            frame = pd.DataFrame(_counts(table, states), columns=[f"jobs of {name}" for name in names])
            for i, name in enumerate(names):
                frame[f"tasks of {name}"] = tasks[states, i]
            frame.insert(0, "state", range(states.start, states.stop))
            frame.to_csv(file, index=False, header=states.start == 0)


def _moves(rates: sparse.csr_array, states: slice) -> sparse.csr_array:
    """Rates out of some states, by rising columns and without the diagonal."""
    part = sparse.csr_array(rates[states.start : states.stop])
    part.sort_indices()
    own = np.repeat(np.arange(states.start, states.stop), np.diff(part.indptr))
    part.data[part.indices == own] = 0.0
    part.eliminate_zeros()
    return part


def _write_transitions(path: Path, rates: sparse.csr_array) -> None:
    states = rates.shape[0]
    entries = int(np.count_nonzero(rates.data)) - int(np.count_nonzero(rates.diagonal()))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{states} {entries}\n")
        for chunk in _chunks(states):
            part = _moves(rates, chunk)
            source = np.repeat(np.arange(chunk.start, chunk.stop), np.diff(part.indptr)).tolist()
            triples = zip(source, part.indices.tolist(), part.data.tolist(), strict=True)
            file.writelines(f"{k} {to} {rate!r}\n" for k, to, rate in triples)


def _write_valuations(path: Path, table: Table) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"({','.join(f'x{i + 1}' for i in range(len(table.shape)))})\n")
        for chunk in _chunks(math.prod(table.shape)):
            counts = _counts(table, chunk).tolist()
            file.writelines(
                f"{k}:({','.join(map(str, state))})\n" for k, state in enumerate(counts, chunk.start)
            )


def _write_labels(path: Path) -> None:
    path.write_text('0="init" 1="deadlock"\n0: 0\n', encoding="utf-8", newline="\n")


def _write_drn(path: Path, rates: sparse.csr_array) -> None:
    states = rates.shape[0]
    leave = (-rates.diagonal()).tolist()
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("@type: CTMC\n@parameters\n\n@reward_models\n\n")
        file.write(f"@nr_states\n{states}\n@nr_choices\n{states}\n@model\n")
        for chunk in _chunks(states):
            part = _moves(rates, chunk)
            starts, targets, values = part.indptr.tolist(), part.indices.tolist(), part.data.tolist()
            for k in range(chunk.start, chunk.stop):
                file.write(f"state {k} !{leave[k]!r}{' init' if k == 0 else ''}\n\taction 0\n")
                here = slice(starts[k - chunk.start], starts[k - chunk.start + 1])
                file.writelines(
                    f"\t\t{to} : {rate!r}\n" for to, rate in zip(targets[here], values[here], strict=True)
                )
