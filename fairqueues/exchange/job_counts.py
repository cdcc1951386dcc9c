r"""The generator of the chain of job counts, for other tools.

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
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray
from fairness.protocol.cluster_policy import AnyPolicy
from fairqueues.exchange.chain_files import Columns, file_names, write_files
from fairqueues.files import require_writable
from queueing.chain.solvers.balance import box_rates
from queueing.model.finite_chain import FiniteChain
from queueing.model.system import System
from queueing.states.box import box_name, check_box, count_states
from queueing.states.table import Table, tabulate

__all__ = ["generator", "write_generator"]


def generator(system: System, policy: AnyPolicy, shape: Sequence[int] | int) -> sparse.csr_array:
    """Generator Q of the job counts on a box; in the numbers of the states the last count runs fastest.

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
    moves = _moves(system, _tabulated(system, policy, shape))
    return (moves - sparse.diags_array(moves.sum(axis=1))).tocsr()


def write_generator(
    system: System,
    policy: AnyPolicy,
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
    for file in file_names(path, kinds).values():  # before the long work
        require_writable(file)
    table = _tabulated(system, policy, shape)
    return write_files(
        FiniteChain(_moves(system, table), variables=_counted(table)),
        path,
        kinds,
        comment=f"generator of the job counts under {table.policy} on {box_name(table.shape)} states\n"
        "row k + 1 is state k: number from 0, the count of the last class runs fastest",
        columns=_state_table(table),
        still=lambda state: (
            f"{_place(table, state)} is never left under {table.policy}: nobody arrives and nobody is "
            "served; take kinds 'mtx' and 'csv', or another policy"
        ),
    )


def _tabulated(system: System, policy: AnyPolicy, shape: Sequence[int] | int) -> Table:
    """Tasks on the box, after asking whether the memory holds all that follows."""
    sizes = check_box(shape, system)
    # Table and counts; entries, 16 bytes each, thrice while they are sorted and checked.
    moves = 2 * sum(size > 1 for size in sizes) + 1
    require_memory(
        (16.0 * system.n_classes + 72.0 * moves) * count_states(sizes),
        f"the generator on {box_name(sizes)} states",
        "give a smaller shape",
    )
    return tabulate(system.problem, policy, sizes)


def _moves(system: System, table: Table) -> sparse.csr_array:
    """Rates between the states, without a diagonal."""
    down = np.moveaxis(table.tasks / system.mean_sizes, -1, 0)
    moves = box_rates(system.arrival_rates, down)
    moves.eliminate_zeros()
    return moves


def _counted(table: Table) -> dict[str, FloatArray]:
    """Job counts of the states, x1, x2, ..."""
    counts = np.indices(table.shape, dtype=float).reshape(len(table.shape), -1)
    return {f"x{i + 1}": row for i, row in enumerate(counts)}


def _place(table: Table, state: int) -> str:
    return f"state {tuple(int(x) for x in np.unravel_index(state, table.shape))}"


def _state_table(table: Table) -> Columns:
    """Columns of the jobs and the tasks of each class."""
    names = table.problem.job_classes
    tasks = table.tasks.reshape(-1, len(names))

    def columns(states: slice) -> dict[str, NDArray[Any]]:
        counts = np.unravel_index(np.arange(states.start, states.stop), table.shape)
        jobs = {f"jobs of {name}": x for name, x in zip(names, counts, strict=True)}
        return jobs | {f"tasks of {name}": tasks[states, i] for i, name in enumerate(names)}

    return columns
