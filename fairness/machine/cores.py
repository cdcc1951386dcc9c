"""How many things this process can do at once."""

from __future__ import annotations

import os

__all__ = ["available_cores"]


def available_cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
