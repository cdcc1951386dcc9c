"""Sweeps: what the machinery costs beside points of 0.1 s, checkpoint included."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import joblib

from benchmarks.harness import Row
from capacity.sweeping.sweep import sweep

__all__ = ["rows"]

_POINTS = 60
_SECONDS = 0.1


def _model(k: int) -> int:
    return k


def _outputs(instance: int, policy: float, rng) -> dict:  # type: ignore[no-untyped-def]
    """Sleeps, so that what is measured is the machinery and not how two points share a core."""
    time.sleep(_SECONDS)
    return {"x": ("job_class", rng.random(4)), "y": policy * instance}


def rows() -> list[Row]:
    found = []
    for backend, n_jobs in (("sequential", 1), ("threading", 2), ("loky", 2), ("dask", 2)):
        with ExitStack() as stack:
            if backend == "dask":
                from distributed import Client, LocalCluster

                cluster = stack.enter_context(
                    LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
                )
                stack.enter_context(Client(cluster))
            if backend != "sequential":
                stack.enter_context(joblib.parallel_config(backend=backend))
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            _seconds(4, n_jobs, folder / "warm")  # starts the workers
            found.append(_row(backend, n_jobs, _seconds(_POINTS, n_jobs, folder / "run")))
    return found


def _seconds(points: int, n_jobs: int, path: Path) -> float:
    start = time.perf_counter()
    sweep(_model, {"p": 1.0}, {"k": range(points)}, _outputs, n_jobs=n_jobs, checkpoint=path, progress=False)
    return time.perf_counter() - start


def _row(backend: str, n_jobs: int, seconds: float) -> Row:
    overhead = seconds / (_POINTS * _SECONDS / n_jobs) - 1
    return Row(
        f"sweep, {_POINTS} points of {_SECONDS} s, {backend}, {n_jobs} worker{'s' if n_jobs > 1 else ''}",
        f"{100 * overhead:.1f} % overhead",
        "< 5 %",
        overhead < 0.05,
        f"{seconds:.2f} s; running workers, a checkpoint of each point",
    )
