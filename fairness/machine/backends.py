"""Who computes independent tasks: the joblib backend that is active, its results as they come.

joblib hands results out one by one on its own backends (loky, threading, sequential). On one that cannot
(ray, multiprocessing) the tasks go out in rounds. The dask backend of joblib waits for ever for a task whose
worker died again and again, because an error of the scheduler never reaches its callback (joblib 1.6); so
its client is asked directly. What a task raises is raised here as it is; what the backend raises, as when a
worker dies, is a :class:`BackendError`.

Worker processes end with the process that started them. A process that is killed cannot tell its workers:
those of loky would finish what they were given and then wait some minutes for more. Each one therefore looks
every second whether its parent is still there, in a thread of its own: kernels release the interpreter lock.
"""

from __future__ import annotations

import itertools
import os
import pickle
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from fairness.errors import NotConvergedError

if TYPE_CHECKING:
    import joblib

__all__ = ["BackendError", "Failure", "active_client", "leaving_the_thread", "stream"]

Call = tuple[Callable[..., Any], int, tuple[Any, ...]]
"""A function, the number of the task and its arguments."""

_PER_WORKER = 4
"""Tasks per worker of a round; and of what dask is given ahead, so that no worker waits for the next one."""

_SECONDS = 1.0
"""Between two looks of a worker at its parent."""


class BackendError(NotConvergedError):
    """A backend failed: a worker died, a cluster went away. ``best`` is what was known by then."""


class Failure:
    """An exception on its way from a worker to the user."""

    def __init__(self, error: Exception, remote: str = "") -> None:
        self.error = error
        self.remote = remote

    def __reduce__(self) -> tuple[Any, ...]:
        """Only what leaves its process is pickled, and only there the traceback has to become text."""
        told = "".join(traceback.format_exception(self.error))
        try:
            pickle.loads(pickle.dumps(self.error))
            error = self.error
        except Exception:  # whatever a foreign exception may do when it is pickled
            error = RuntimeError(f"{type(self.error).__name__}: {self.error}")
        return Failure, (error, told)

    def throw(self) -> None:
        """Raise the exception; what a worker printed of it comes as a note."""
        if self.remote:
            self.error.add_note(f"in a worker:\n{self.remote}")
        raise self.error


def stream(
    function: Callable[..., Any],
    tasks: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    prefer: str | None = None,
) -> Generator[tuple[int, Any], None, None]:
    """Numbers of tasks and results of ``function(*task)``, in the order in which they end.

    Closing the iterator cancels what still runs. ``prefer`` is a hint to joblib: "threads" or "processes"
    where :func:`joblib.parallel_config` names no backend.

    Raises
    ------
    BackendError
        If the backend fails; what ``function`` raises comes as it is.

    Examples
    --------
    >>> sorted(stream(abs, [(-1,), (2,)], n_jobs=2, prefer="threads"))
    [(0, 1), (1, 2)]
    """
    import joblib
    from joblib.parallel import get_active_backend

    calls: Iterator[Call] = ((function, number, task) for number, task in enumerate(tasks))
    backend, _ = get_active_backend(prefer=prefer)
    outcomes: Generator[tuple[int, Any], None, None]
    if (client := active_client()) is not None:
        outcomes = _by_dask(calls, client)
    elif backend.supports_return_generator:
        # Workers of a cluster are not our children, and threads need no attendance.
        own = type(backend).__name__ == "LokyBackend"
        options = {"initializer": _attend, "initargs": (os.getpid(),)} if own else {}
        outcomes = _by_joblib(calls, joblib.Parallel(
            n_jobs=n_jobs, prefer=prefer, return_as="generator_unordered", batch_size=1, **options
        ))  # fmt: skip
    else:
        outcomes = _in_rounds(calls, n_jobs)
    with closing(outcomes):
        while True:
            try:
                outcome = next(outcomes, None)
            except Exception as error:
                raise BackendError(
                    f"the backend failed, as when a worker dies ({type(error).__name__}: {error})"
                ) from error
            if outcome is None:
                return
            if isinstance(outcome[1], Failure):
                outcome[1].throw()
            yield outcome


def active_client() -> Any:
    """The client of the Dask cluster that is joblib's active backend, or None."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    return backend.client if type(backend).__name__ == "DaskDistributedBackend" else None


@contextmanager
def leaving_the_thread() -> Iterator[None]:
    """Leave the thread of a Dask worker to the tasks that are waited for, or all may wait for ever."""
    from distributed import rejoin, secede
    from distributed.worker import thread_state

    inside = hasattr(thread_state, "execution_state")
    if inside:
        secede()
    try:
        yield
    finally:
        if inside:
            rejoin()


def _attempt(function: Callable[..., Any], number: int, task: tuple[Any, ...]) -> tuple[int, Any]:
    """The number of a task and its result, or what went wrong."""
    try:
        return number, function(*task)
    except Exception as error:  # it is raised where the results are asked for
        return number, Failure(error)


def _by_joblib(calls: Iterator[Call], run: joblib.Parallel) -> Generator[Any, None, None]:
    import joblib

    results = run(joblib.delayed(_attempt)(*call) for call in calls)
    try:
        for result in results:  # noqa: UP028 - "yield from" would close the results before the warning is off
            yield result
    finally:
        with warnings.catch_warnings():
            # That tasks are cancelled is what closing is for.
            warnings.simplefilter("ignore", UserWarning)
            results.close()


def _in_rounds(calls: Iterator[Call], n_jobs: int | None) -> Generator[Any, None, None]:
    import joblib

    n_tasks = _PER_WORKER * joblib.effective_n_jobs(n_jobs)
    while batch := list(itertools.islice(calls, n_tasks)):
        results = joblib.Parallel(n_jobs=n_jobs, batch_size=1)(
            joblib.delayed(_attempt)(*call) for call in batch
        )
        # A failure ends it all: after what the round has finished.
        yield from sorted(results, key=lambda result: isinstance(result[1], Failure))


def _by_dask(calls: Iterator[Call], client: Any) -> Generator[Any, None, None]:
    from distributed import as_completed

    running: set[Any] = set()
    done = as_completed(loop=client.loop)

    def submit() -> None:
        # Asked each time, because a cluster may grow and shrink.
        room = max(1, sum(client.ncores().values())) * _PER_WORKER - len(running)
        for call in itertools.islice(calls, max(room, 0)):
            future = client.submit(_attempt, *call, pure=False)
            running.add(future)
            done.add(future)

    with leaving_the_thread():
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


def _attend(parent: int) -> None:
    """Have this worker end with its parent."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(_SECONDS)
        os._exit(1)

    threading.Thread(target=look, name="fairqueues-parent", daemon=True).start()
