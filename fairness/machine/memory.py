"""The memory that this process may still take, and refusals before it is exceeded.

What is free on the machine is only one of the limits. A container or a batch system gives a *control group*
(cgroup, version 1 or 2) a maximum, and so may each of its parents; ``ulimit -v`` and ``ulimit -d`` bound the
address space and the data of a process. The smallest room left counts. A page of a file that the kernel
can drop does not count as used, as for the memory that the kernel calls available.

An estimate of a need is a few per cent off at most, and other processes take memory, too: a tenth of the room
is left alone. What no estimate foresees ends in Python's MemoryError, which :func:`memory_guarded` explains.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import psutil

from fairness.display.wording import rough
from fairness.errors import ModelError

__all__ = ["Room", "fits_memory", "free_memory", "gibibytes", "memory_guarded", "require_memory"]

USABLE = 0.9
"""Part of the room that may be taken."""

UNASKED = 2**21
"""Bytes below which nothing is asked: the kernel's answers take longer than filling so few."""

PROCESS = Path("/proc/self")
"""What Linux tells of this process: its control groups, and where they are mounted."""


@dataclass(frozen=True, order=True)
class Room:
    """Bytes that may still be taken, and what limits them; nothing to say where it is the machine."""

    n_bytes: float
    limit: str


def free_memory() -> Room:
    """The smallest room that the machine and the limits of this process leave."""
    rooms = [Room(float(psutil.virtual_memory().available), "")]
    rooms += _process_rooms()
    rooms += _group_rooms(PROCESS)
    return min(rooms)


def gibibytes(n_bytes: float) -> str:
    """An amount of memory in words.

    Examples
    --------
    >>> gibibytes(2**31), gibibytes(1.96e11), gibibytes(6.1e19)
    ('2 GiB', '183 GiB', '56,800,000,000 GiB')
    """
    return f"{rough(n_bytes / 2**30, 3)} GiB"


def fits_memory(n_bytes: float) -> bool:
    """Whether an allocation fits into what is free now."""
    return n_bytes < UNASKED or n_bytes <= USABLE * free_memory().n_bytes


def require_memory(n_bytes: float, purpose: str, remedy: str) -> None:
    """Raise ModelError before an allocation that the memory which is still free cannot hold.

    Examples
    --------
    >>> require_memory(8e20, "a table", "give a shape")
    Traceback (most recent call last):
    fairness.errors.ModelError: a table needs 745,000,000,000 GiB, but only ... are free...; give a shape
    """
    if n_bytes < UNASKED:
        return
    room = free_memory()
    if not math.isfinite(n_bytes) or n_bytes > USABLE * room.n_bytes:
        raise ModelError(
            f"{purpose} needs {gibibytes(n_bytes)}, but only {gibibytes(room.n_bytes)} are free"
            f"{room.limit}; {remedy}"
        )


@contextmanager
def memory_guarded(purpose: str, remedy: str) -> Iterator[None]:
    """Turn a MemoryError, which no estimate foresaw, into a ModelError with a remedy."""
    try:
        yield
    except MemoryError:
        room = free_memory()
        raise ModelError(
            f"{purpose} needs more memory than the {gibibytes(room.n_bytes)} that are free"
            f"{room.limit}; {remedy}"
        ) from None


def _process_rooms() -> list[Room]:
    try:
        import resource
    except ImportError:  # not on Windows
        return []
    kinds = (("RLIMIT_AS", "vms", "ulimit -v"), ("RLIMIT_DATA", "data", "ulimit -d"))
    rooms = []
    for name, field, command in kinds:
        kind = getattr(resource, name, None)
        soft = resource.RLIM_INFINITY if kind is None else resource.getrlimit(kind)[0]
        if soft != resource.RLIM_INFINITY:
            # Read where it is needed only: it takes longer than all the rest.
            taken = getattr(psutil.Process().memory_info(), field, None)
            if taken is not None:
                rooms.append(
                    Room(float(max(0, soft - taken)), f" under the limit of this process ({command})")
                )
    return rooms


def _group_rooms(process: Path) -> list[Room]:
    """Room in every memory control group of the process, and in those that hold it."""
    rooms = []
    with suppress(OSError, ValueError):
        mounts = _mounts((process / "mountinfo").read_text())
        for line in (process / "cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            version = 2 if not controllers else 1
            if version == 1 and "memory" not in controllers.split(","):
                continue
            for kind, root, mount in mounts:
                if kind == version:
                    rooms += _rooms_upwards(version, mount, _below(path, root))
    return rooms


def _mounts(text: str) -> list[tuple[int, str, Path]]:
    """Version, root inside the hierarchy and directory of every mounted hierarchy that has memory."""
    found = []
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        fields, (kind, *_, options) = before.split(), after.split()
        version = {"cgroup2": 2, "cgroup": 1}.get(kind)
        if version == 2 or (version == 1 and "memory" in options.split(",")):
            _, _, _, root, mount, *_ = fields
            # The kernel writes blanks in names as octal numbers.
            found.append((version, root, Path(mount.replace("\\040", " "))))
    return found


def _below(path: str, root: str) -> PurePosixPath:
    """The group relative to the mounted root; the root itself where the group is not below it."""
    with suppress(ValueError):
        return PurePosixPath(path).relative_to(root)
    return PurePosixPath()


def _rooms_upwards(version: int, mount: Path, group: PurePosixPath) -> list[Room]:
    """Room of a group and of its parents up to the mounted root."""
    limits, usage, dropped = {
        1: (("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file"),
        2: (("memory.max", "memory.high"), "memory.current", "inactive_file"),
    }[version]
    rooms = []
    for part in (group, *group.parents):
        place = mount / part
        most = min((_number(place / name) for name in limits), default=math.inf)
        # Version 1 says "no limit" by the largest multiple of a page in 64 bits.
        if most < 2**62:
            taken = _number(place / usage)
            taken = 0.0 if math.isinf(taken) else max(0.0, taken - _statistic(place, dropped))
            rooms.append(Room(max(0.0, most - taken), " in the control group (cgroup) of this process"))
    return rooms


def _number(path: Path) -> float:
    """Number in a file; infinite for "max", or where there is no such file."""
    try:
        return float(path.read_text())
    except (OSError, ValueError):
        return math.inf


def _statistic(place: Path, name: str) -> float:
    """An entry of memory.stat, bytes; 0 without it."""
    with suppress(OSError, ValueError):
        for line in (place / "memory.stat").read_text().splitlines():
            key, _, value = line.partition(" ")
            if key == name:
                return float(value)
    return 0.0
