"""Who computes the points of a sweep: the joblib backend that is active, its results as they come.

joblib hands results out one by one on its own backends (loky, threading, sequential). On one that cannot
(ray, multiprocessing) the tasks go out in rounds. The dask backend of joblib waits for ever for a task whose
worker died again and again, because an error of the scheduler never reaches its callback (joblib 1.6); so
its client is asked directly.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Generator, Iterator
from typing import Any

import joblib
from joblib.parallel import get_active_backend

from capacity.sweeping.points import Failure
from fairness.machine.workers import attended

__all__ = ["stream"]

Function = Callable[..., Any]
Tasks = Iterator[tuple[Any, ...]]

_PER_WORKER = 4
"""Tasks per worker of a round; and of what dask is given ahead, so that no worker waits for the next one."""


def stream(function: Function, tasks: Tasks, n_jobs: int | None) -> Generator[Any, None, None]:
    """Results of ``function(*task)`` in the order in which they end.

    Closing the iterator cancels what still runs. Whatever it raises comes from the backend, or is a
    KeyboardInterrupt, as long as ``function`` raises no Exception.
    """
    backend, _ = get_active_backend()
    if type(backend).__name__ == "DaskDistributedBackend":
        return _by_dask(function, tasks, backend.client)
    if backend.supports_return_generator:
        return _by_joblib(function, tasks, n_jobs)
    return _in_rounds(function, tasks, n_jobs)


def _by_joblib(function: Function, tasks: Tasks, n_jobs: int | None) -> Generator[Any, None, None]:
    run = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1, **attended())
    results = run(joblib.delayed(function)(*task) for task in tasks)
    try:
        for result in results:  # noqa: UP028 - "yield from" would close the results before the warning is off
            yield result
    finally:
        with warnings.catch_warnings():
            # That tasks are cancelled is what closing is for.
            warnings.simplefilter("ignore", UserWarning)
            results.close()


def _in_rounds(function: Function, tasks: Tasks, n_jobs: int | None) -> Generator[Any, None, None]:
    n_tasks = _PER_WORKER * joblib.effective_n_jobs(n_jobs)
    while batch := list(itertools.islice(tasks, n_tasks)):
        results = joblib.Parallel(n_jobs=n_jobs, batch_size=1)(
            joblib.delayed(function)(*task) for task in batch
        )
        # A failure ends the sweep: after what the round has finished.
        yield from sorted(results, key=lambda result: isinstance(result, Failure))


def _by_dask(function: Function, tasks: Tasks, client: Any) -> Generator[Any, None, None]:
    from distributed import as_completed, rejoin, secede
    from distributed.worker import thread_state

    # A task of the cluster that waits for others must leave its thread to them, or all may wait for ever.
    inside = hasattr(thread_state, "execution_state")
    if inside:
        secede()
    running: set[Any] = set()
    done = as_completed(loop=client.loop)

    def submit() -> None:
        # Asked each time, because a cluster may grow and shrink.
        room = max(1, sum(client.ncores().values())) * _PER_WORKER - len(running)
        for task in itertools.islice(tasks, max(room, 0)):
            future = client.submit(function, *task, pure=False)
            running.add(future)
            done.add(future)

    try:
        submit()
        for future in done:
            result = future.result()
            running.discard(future)
            submit()
            yield result
    finally:
        if running:
            client.cancel(list(running), force=True)
        if inside:
            rejoin()
