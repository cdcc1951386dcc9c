"""All kernels, compiled at once, by as many processes as there are cores: ``fairqueues warm``.

Each function calls some compiled kernels once; no two of them compile the same large one. numba stores what
is compiled, for later runs too. Nothing needs it: a kernel that is not stored yet is compiled when it is
called.
"""

from __future__ import annotations

import gc
import math
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed
from joblib.externals.loky import get_reusable_executor, process_executor

from capacity import region_volume, stability_region
from fairness import (
    DRF,
    PSDSF,
    TSF,
    BottleneckMax,
    Cluster,
    Hierarchical,
    PerServerDRF,
    Problem,
    ProportionalFair,
    Tree,
    allocate,
)
from fairness.cloud import SparseDemands, dcdrf, demand_profile, edrf, edrf_rounds
from fairness.machine.bars import bar
from fairness.machine.compiling import asked
from fairqueues.traces import synthetic_gpu_trace
from queueing import (
    SRPT,
    DRFScheduler,
    Erlang,
    FiniteChain,
    Multilevel,
    System,
    Tasks,
    balanced_fairness,
    enclose,
    enclose_chain,
    exact_stationary,
    mean_jobs_by_load,
    replay,
    simulate,
    stationary,
    transient,
)

__all__ = ["KEPT", "KERNELS", "compile_together", "let_go"]

POOL = Problem([[1, 2], [2, 1]], [2, 2])
SERVERS = Cluster([[1, 2], [2, 1]], [[2, 2], [1, 3]])
SYSTEM = System.with_load(POOL, (1, 1), 0.3)
CLOUD = partial(demand_profile, "U0", 5_000, 500, rng=1)
"""So many entries that threads share them."""


def whole_tasks() -> None:
    """Whole tasks on a pool."""
    simulate(SYSTEM, DRFScheduler(), tasks=Tasks(per_job=2), events=1_000, replications=2, rng=0)


def placed_tasks() -> None:
    """Whole tasks on servers."""
    system = System.with_load(SERVERS, (1, 1), 0.3)
    simulate(system, DRFScheduler(), tasks=Tasks(per_job=2), events=1_000, replications=2, rng=0)


def prices() -> None:
    """Proportional fairness with few resources."""
    ProportionalFair()(POOL, [1, 1])


def many_prices() -> None:
    """Proportional fairness with many resources, and simulations that visit states."""
    # With ten classes a table would have too many states; more classes would only take longer.
    many = System.with_load(Problem(1.0 + np.eye(10), np.ones(10)), np.ones(10), 0.3)
    simulate(many, ProportionalFair(), events=200, replications=2, rng=0)
    simulate(many, ProportionalFair(), jobs=200, replications=2, rng=0)


def hierarchies() -> None:
    """Filling on a tree of queues."""
    tree = Tree(["all", "one", "other"], [-1, 0, 0], job_classes=POOL.job_classes, class_nodes=[1, 2])
    Hierarchical(tree)(POOL, [1, 1])


def markets() -> None:
    """PS-DSF by time, a market of the servers."""
    allocate(SERVERS, PSDSF(division="time"))


def bottlenecks() -> None:
    """Bottleneck max fairness."""
    BottleneckMax()(POOL, [1, 1])


def servers() -> None:
    """PS-DSF by resources, server by server, in one state and in many."""
    allocate(SERVERS, PSDSF())
    PSDSF()(SERVERS, [[1, 1]])


def levels() -> None:
    """Totals of max-min mechanisms on servers, in many states."""
    TSF().tasks(SERVERS, [[1, 1]])


def rounds() -> None:
    """DC-DRF with threads and without."""
    _by_rounds(CLOUD())


def clouds() -> None:
    """EDRF, by events and by rounds."""
    _exactly(CLOUD())


def doubles() -> None:
    """Both of demands in doubles, such as those of one's own."""
    cloud = CLOUD(dtype=np.float64)
    _by_rounds(cloud)
    _exactly(cloud)


def _by_rounds(cloud: SparseDemands) -> None:
    for threads in (2, 1):
        dcdrf(cloud, 0.01, threads=threads)


def _exactly(cloud: SparseDemands) -> None:
    str(edrf(cloud).certificate)  # which is computed when it is asked for
    edrf_rounds(cloud, deadline=60.0, threads=2)


def chains() -> None:
    """Filling, balanced fairness and the law of a chain, by elimination and by levels."""
    DRF()(POOL, [1, 1])
    balanced_fairness(SYSTEM)
    stationary(SYSTEM, DRF(), shape=8)
    stationary(SYSTEM, DRF(), shape=8, solver=Multilevel())
    five = System.with_load(Problem([[1]] * 5, [1]), [1] * 5, 0.2)
    stationary(five, DRF(), tail=0.1, solver=Multilevel())


def further_chains() -> None:
    """Chains with phases, in time, and of three classes by levels."""
    stationary(System(POOL, [0.1, 0.1], sizes=Erlang(2)), DRF())
    transient(SYSTEM, DRF(), [1.0], shape=8)
    three = System.with_load(Problem([[1]] * 3, [1]), [1] * 3, 0.8)
    stationary(three, DRF(), shape=12, solver=Multilevel())


def exact() -> None:
    """Exact laws of boxes, at one load and as functions of it."""
    exact_stationary(SYSTEM, DRF(), shape=3)
    mean_jobs_by_load(SYSTEM, DRF(), shape=3)


def finite_chains() -> None:
    """Poisson's equation of a finite chain."""
    enclose_chain(FiniteChain([[0, 1], [1, 0]], rewards={"gain": [0, 1]}))


def certificates() -> None:
    """Certificates of stationary means, and their checker, under filling and proportional fairness."""
    for policy in (DRF(), ProportionalFair()):
        enclose(SYSTEM, policy, width=1e-3)


def server_certificates() -> None:
    """Certificates of stationary means on servers, under a policy that fills them."""
    servers = Cluster([[1, 2], [2, 1]], [[4, 4], [4, 4]])
    enclose(System(servers, [0.4, 0.4]), PerServerDRF(), width=1e-2)


def volumes() -> None:
    """A random walk in a region."""
    region_volume(stability_region(POOL), precision=0.2, rng=0)


def likely_states() -> None:
    """Balanced fairness of classes for which a box would be large."""
    pool = Problem(1.0 + (np.arange(21) ** 2 % 13).reshape(7, 3), [1, 1, 1])
    balanced_fairness(System.with_load(pool, [1] * 7, 0.8), tail=1e-3)


def runs() -> None:
    """Simulated counts and jobs, equally and in orders of service."""
    simulate(SYSTEM, DRF(), events=1_000, replications=2, rng=0)
    simulate(SYSTEM, DRF(), jobs=200, replications=2, rng=0)
    simulate(SYSTEM, DRF(), order="srpt", jobs=200, replications=2, rng=0)
    simulate(SYSTEM, SRPT(), jobs=200, replications=2, rng=0)


def replayed() -> None:
    """A recorded cluster's tasks, started again; so many that they are worth compiling."""
    trace, nodes = synthetic_gpu_trace(2_000, rng=0, scale=0.1)
    replay(trace, nodes, DRFScheduler(blocking=False), rng=0)


# Those that take longest come first, so that no process is left alone with one at the end. What certificates
# share with prices they compile last, when prices have done it. Two that compile the same kernels for other
# types stand far apart: of two that are stored at once, numba may list one.
KERNELS: tuple[Callable[[], None], ...] = (
    certificates, server_certificates, doubles, prices, many_prices, markets, placed_tasks, hierarchies,
    chains, servers, runs, replayed, levels, bottlenecks, whole_tasks, exact, rounds, further_chains, clouds,
    likely_states, finite_chains, volumes,
)  # fmt: skip


def compile_together(kernels: Iterable[Callable[[], None]] = KERNELS, *, shown: bool | None = False) -> None:
    """Call the functions in the order of :data:`KERNELS`, shared by as many processes as there are cores.

    Parameters
    ----------
    kernels : iterable of callable
        Of :data:`KERNELS`.
    shown : bool, optional
        Whether a bar is drawn; None: where standard error is a terminal.
    """
    ordered = sorted(set(kernels), key=KERNELS.index)
    with _uninterrupted():  # the processes that everything is shared by are started here
        list(Parallel(**KEPT)(delayed(int)() for _ in range(cpu_count())))
    done = Parallel(**KEPT)(delayed(_compiled)(kernel) for kernel in ordered)
    for _ in bar(done, what="compiling kernels", unit="group", total=len(ordered), shown=shown):
        pass


def _stay() -> None:
    """Keep this worker: loky replaces those that hold 300 MB more than at their start, as compilers do."""
    process_executor._MAX_MEMORY_LEAK_SIZE = math.inf


KEPT: dict[str, Any] = {
    "n_jobs": -1,
    "batch_size": 1,
    "return_as": "generator_unordered",
    "initializer": _stay,
}
"""Of :class:`joblib.Parallel`: results as they come, of processes that stay until the end, one per core."""


def let_go() -> None:
    """End the processes that are kept; by themselves they would put away for seconds what they hold."""
    get_reusable_executor(reuse=True).shutdown(kill_workers=True)


def _compiled(kernel: Callable[[], None]) -> None:
    """Call it in a process that seldom looks for garbage: most of what a compiler makes stays.

    That saves a tenth. What it asks is small, and would be interpreted unless it belonged to a large request.
    """
    gc.set_threshold(100_000, 50, 50)
    with asked(math.inf):
        kernel()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Processes that are started here are not interrupted with this one, which ends them.

    What is ignored when a process is started, it goes on to ignore.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
