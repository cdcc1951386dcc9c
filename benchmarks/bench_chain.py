"""Stationary laws of large chains: time and memory, against sparse LU of the same run.

Each chain is solved in a process of its own, whose memory no other work has used before. Time and memory are
those of the law alone: libraries are loaded, kernels compiled and the policy is tabulated before. Memory is
the rise of the peak of the process while it solves; less than one copy of the law was not measured. Time is
that of the processor, which others on the machine disturb less. Chains of five and six classes include all:
the table, and the smaller sets of states before the last.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from benchmarks.harness import Row, alternating_seconds, rise_of_peak
from fairness import DRF, Problem, ProportionalFair
from fairness.model.problem import FloatArray
from queueing import Multilevel, System, stationary, tabulate

__all__ = ["rows"]

POOLS = {
    2: Problem([[1, 0.1], [0.1, 1]], [1, 1]),
    3: Problem([[1, 0.1, 0.1], [0.1, 1, 0.1], [0.1, 0.1, 1]], [1, 1, 1]),
    4: Problem([[1, 0.1, 0.1], [0.1, 1, 0.1], [0.1, 0.1, 1], [0.5, 0.5, 0.5]], [1, 1, 1]),
}


def rows() -> list[Row]:
    ours = _apart("multilevel", 2, 1000, 0.95)
    theirs = _apart("splu", 2, 1000, 0.95)
    faster = theirs["seconds"] / ours["seconds"]
    gap = np.max(np.abs(np.array(ours["mean_jobs"]) / theirs["mean_jobs"] - 1))
    large = _apart("multilevel", 2, 3000, 0.95)
    growth = large["seconds"] / ours["seconds"] / 9
    five, priced = (_apart(policy, 5, 0, 0.6) for policy in ("DRF", "PF"))
    six = _apart("DRF", 6, 0, 0.5)
    cube, four = _apart("multilevel", 3, 100, 0.9), _apart("multilevel", 4, 40, 0.6)
    return [
        *map(_small, (31, 60)),
        Row(
            "two-class chain, 1000 x 1000 states, load .95",
            f"{faster:.1f} x faster than splu",
            ">= 2 x, residual < 1e-11, gap < 1e-9",
            bool(faster >= 2 and ours["residual"] < 1e-11 and gap < 1e-9),
            f"{_told(ours)}; LU {theirs['seconds']:.1f} s, {theirs['memory']:.2f} GB; gap {gap:.0e}",
        ),
        Row(
            "its memory",
            f"{ours['memory']:.2f} GB",
            "<= 0.3 GB",
            bool(ours["law"] <= ours["memory"] <= 0.3),
            f"rise of the peak; the law alone takes {ours['law']:.3f} GB",
        ),
        Row(
            "two-class chain, 3000 x 3000 states, load .95",
            f"{growth:.1f} x the time per state",
            "on record",
            None,
            _told(large),
        ),
        Row(
            "three-class chain, 100^3 states, load .9",
            f"{cube['seconds']:.1f} s",
            "< 10 s, residual < 1e-11",
            bool(cube["seconds"] < 10 and cube["residual"] < 1e-11),
            _told(cube),
        ),
        Row(
            "four-class chain, 40^4 states, load .6",
            f"{four['seconds']:.1f} s",
            "on record",
            None,
            _told(four),
        ),
        Row(
            "five-class chain, tail 1e-9, load .6, DRF",
            f"{five['seconds']:.1f} s",
            "< 60 s, < 4 GB, residual < 1e-11",
            bool(five["seconds"] < 60 and five["memory"] < 4 and five["residual"] < 1e-11),
            f"{five['states']:,} states; {_told(five)}",
        ),
        Row(
            "the same, PF",
            f"{priced['seconds']:.1f} s",
            "on record",
            None,
            f"{priced['states']:,} states; {_told(priced)}",
        ),
        Row(
            "six-class chain, tail 1e-9, load .5, DRF",
            f"{six['seconds']:.1f} s",
            "on record",
            None,
            f"{six['states']:,} states; {_told(six)}",
        ),
    ]


def _small(size: int) -> Row:
    """A small chain, the table of tasks given to both, in turn in this process."""
    system = System.with_load(POOLS[2], [1, 1], 0.7)
    table = tabulate(system.problem, DRF(), size)
    # Most of the runs come after those in which kernels are interpreted.
    ours, theirs = alternating_seconds(
        [
            lambda: stationary(system, DRF(), shape=size, table=table).distribution,
            lambda: _by_splu(system, table.tasks),
        ],
        repeat=60,
    )
    return Row(
        f"two-class chain, {size} x {size} states, load .7, error of the means included",
        f"{ours * 1e3:.1f} ms; {theirs * 1e3:.1f} ms",
        "<= 1.2 x splu without an error",
        bool(ours <= 1.2 * theirs),
        "floor: the law itself takes a third, less than splu; two thirds are the error of the means, "
        "Poisson's equation on a coarser chain of as many states",
    )


def _told(law: dict) -> str:
    return (
        f"{law['seconds']:.1f} s, {law['memory']:.2f} GB, residual {law['residual']:.0e}, relative error of "
        f"the means {law['solver']:.0e} by the solver, {law['all']:.0e} in all"
    )


def _apart(method: str, n_classes: int, size: int, load: float) -> dict:
    """Solve in a new process; size 0 leaves the states to the solver."""
    arguments = [sys.executable, "-m", "benchmarks.bench_chain", method, str(n_classes), str(size), str(load)]
    answer = subprocess.run(arguments, check=True, capture_output=True, text=True)
    result: dict = json.loads(answer.stdout)
    return result


def _solve(method: str, n_classes: int, size: int, load: float) -> dict:
    system = System.with_load(POOLS[n_classes], np.ones(n_classes), load)
    policy = DRF()
    stationary(system, policy, shape={2: 220, 3: 40, 4: 16}[n_classes], solver=Multilevel())
    table = tabulate(system.problem, policy, size)

    def solve() -> dict:
        start = time.process_time()
        if method == "splu":
            law = _by_splu(system, table.tasks)
            counts = np.arange(size)
            found = {"mean_jobs": [law.sum(axis=1) @ counts, law.sum(axis=0) @ counts]}
            return {**found, "seconds": time.process_time() - start}
        chain = stationary(system, policy, shape=size, solver=Multilevel(), table=table)
        seconds = time.process_time() - start
        return {
            "seconds": seconds,
            "mean_jobs": chain.mean_jobs.tolist(),
            "residual": chain.residual,
            "solver": chain.mean_error,
            "all": float(np.max(chain.mean_jobs_error / chain.mean_jobs)),
        }

    result, rise = rise_of_peak(solve)
    return {**result, "memory": rise / 1e9, "law": table.tasks[..., 0].nbytes / 1e9}


def _solve_set(name: str, n_classes: int, load: float) -> dict:
    """Everything that the law of many classes takes, on the set of states that is chosen by itself."""
    pool = Problem(np.where(np.eye(n_classes) > 0, 1.0, 0.2), np.ones(n_classes))
    policy = {"DRF": DRF(), "PF": ProportionalFair()}[name]
    stationary(System.with_load(pool, np.ones(n_classes), 0.2), policy, tail=1e-3, solver=Multilevel())
    system = System.with_load(pool, np.ones(n_classes), load)

    def solve() -> dict:
        start = time.process_time()
        chain = stationary(system, policy, max_states=30_000_000)
        return {
            "seconds": time.process_time() - start,
            "states": chain.n_states,
            "residual": chain.residual,
            "solver": chain.mean_error,
            "all": float(np.max(chain.mean_jobs_error / chain.mean_jobs)),
        }

    result, rise = rise_of_peak(solve)
    return {**result, "memory": rise / 1e9}


def _by_splu(system: System, tasks: FloatArray) -> FloatArray:
    """Two classes: the strongest direct baseline, minimum degree ordering with the empty state pinned."""
    shape = tasks.shape[:2]
    number = np.arange(shape[0] * shape[1]).reshape(shape)
    lower = [number[:-1].ravel(), number[:, :-1].ravel()]
    upper = [number[1:].ravel(), number[:, 1:].ravel()]
    down = [
        (tasks[1:, :, 0] / system.mean_sizes[0]).ravel(),
        (tasks[:, 1:, 1] / system.mean_sizes[1]).ravel(),
    ]
    up = [np.full(len(x), rate) for x, rate in zip(lower, system.arrival_rates, strict=True)]
    columns, targets = np.concatenate([*lower, *upper]), np.concatenate([*upper, *lower])
    rates = np.concatenate([*up, *down])
    out = np.bincount(columns, rates, number.size)
    moves = sparse.coo_array((-rates, (targets, columns)), shape=(number.size,) * 2).tocsc()
    matrix = (moves + sparse.diags_array(out)).tocsc()[1:, 1:]
    right = np.zeros(number.size - 1)
    right[[number[0, 1] - 1, number[1, 0] - 1]] = system.arrival_rates[::-1]
    rest = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    law = np.concatenate([[1.0], rest.solve(right)]).reshape(shape)
    return law / law.sum()


if __name__ == "__main__":
    chosen, classes, states, relative_load = sys.argv[1:]
    if int(states):
        answered = _solve(chosen, int(classes), int(states), float(relative_load))
    else:
        answered = _solve_set(chosen, int(classes), float(relative_load))
    print(json.dumps(answered))
