"""Who computes: processes of this machine (loky), a dask cluster or a ray cluster, through joblib."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from fairqueues.commands.options import Backend
from fairqueues.errors import WrongUse

__all__ = ["require_backend", "workers"]

_EXTRAS = {Backend.DASK: ("distributed", "fairqueues[cluster]"), Backend.RAY: ("ray", "ray[default]")}


def require_backend(backend: Backend, jobs: int) -> None:
    """WrongUse if a package is missing or the number of workers makes no sense."""
    if jobs == 0 or jobs < -1:
        raise WrongUse(f"--jobs must be a number of workers, or -1 for all cores; got {jobs}")
    if backend in _EXTRAS:
        module, extra = _EXTRAS[backend]
        if find_spec(module) is None:
            raise WrongUse(f"--backend {backend} needs {module}; install it: pip install '{extra}'")


@contextmanager
def workers(backend: Backend, jobs: int) -> Iterator[None]:
    """Have joblib ask this backend.

    With dask, DASK_SCHEDULER_ADDRESS names a running cluster; otherwise workers are started here, one process
    per job, and stopped at the end.
    """
    require_backend(backend, jobs)
    if backend is Backend.LOKY:
        yield
        return

    import joblib

    if backend is Backend.RAY:
        from ray.util.joblib import register_ray  # type: ignore[import-not-found, unused-ignore]

        register_ray()
        with joblib.parallel_config(backend="ray", n_jobs=jobs):
            yield
        return

    import distributed

    address = os.environ.get("DASK_SCHEDULER_ADDRESS")
    count = jobs if jobs > 0 else os.cpu_count()
    with (
        distributed.Client(address)
        if address
        else distributed.Client(n_workers=count, threads_per_worker=1, dashboard_address=None),
        joblib.parallel_config(backend="dask"),
    ):
        yield
