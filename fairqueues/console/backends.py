"""Who computes: processes of this machine (loky), a dask cluster or a ray cluster, through joblib."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from fairqueues.console.options import Backend
from fairqueues.errors import WrongUse

__all__ = ["require_backend", "workers"]

_EXTRAS = {"dask": ("distributed", "fairqueues[cluster]"), "ray": ("ray", "ray[default]")}


def require_backend(backend: Backend, jobs: int) -> None:
    """WrongUse if a package is missing or the number of workers makes no sense."""
    if jobs == 0 or jobs < -1:
        raise WrongUse(f"--jobs must be a number of workers, or -1 for all cores; got {jobs}")
    if backend in _EXTRAS:
        module, extra = _EXTRAS[backend]
        if find_spec(module) is None:
            raise WrongUse(f"--backend {backend} needs {module}; install it: pip install '{extra}'")


@contextmanager
def workers(backend: Backend, jobs: int) -> Iterator[int | None]:
    """Have joblib ask this backend; given is the number of workers here, or None where it knows it.

    With dask, DASK_SCHEDULER_ADDRESS names a running cluster; otherwise workers are started here, one process
    per job, and stopped at the end.
    """
    require_backend(backend, jobs)
    if backend == "loky":
        yield jobs
        return

    import joblib

    if backend == "ray":
        from ray.util.joblib import register_ray  # type: ignore[import-not-found, unused-ignore]

        register_ray()
        with joblib.parallel_config(backend="ray", n_jobs=jobs):
            yield None
        return

    address = os.environ.get("DASK_SCHEDULER_ADDRESS")
    with _client(address, jobs), joblib.parallel_config(backend="dask"):
        yield None


def _client(address: str | None, jobs: int) -> Any:
    """Client of the scheduler at this address, or of workers of its own."""
    import distributed

    if not address:
        count = jobs if jobs > 0 else os.cpu_count()
        return distributed.Client(n_workers=count, threads_per_worker=1, dashboard_address=None)
    try:
        return distributed.Client(address)
    except (OSError, ValueError) as error:  # nobody there; no address
        raise WrongUse(
            f"--backend dask: no scheduler answers at DASK_SCHEDULER_ADDRESS={address} "
            f"({type(error).__name__}: {error}); start one, or unset the variable for workers on this machine"
        ) from None
