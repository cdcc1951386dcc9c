"""Worker processes that end with the process that started them.

A process that is killed cannot tell its workers. Those of loky would finish what they were given and then
wait some minutes for more. Each one therefore looks every second whether its parent is still there, in a
thread of its own: kernels release the interpreter lock.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any

from joblib.parallel import get_active_backend

__all__ = ["attended"]

SECONDS = 1.0
"""Between two looks."""


def attended() -> dict[str, Any]:
    """Arguments of ``joblib.Parallel`` whose worker processes end with this one.

    Examples
    --------
    >>> import joblib
    >>> joblib.Parallel(n_jobs=1, **attended())(joblib.delayed(abs)(k) for k in (-1, 2))
    [1, 2]
    """
    backend, _ = get_active_backend()
    # Workers of a cluster are not our children, and threads need no attendance.
    if type(backend).__name__ != "LokyBackend":
        return {}
    return {"initializer": _attend, "initargs": (os.getpid(),)}


def _attend(parent: int) -> None:
    """Have this worker end with its parent."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(SECONDS)
        os._exit(1)

    threading.Thread(target=look, name="fairqueues-parent", daemon=True).start()
