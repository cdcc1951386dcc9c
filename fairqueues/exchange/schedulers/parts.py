"""What the files of a cluster say, before it is put together: queues, jobs, servers, and what was not read.

Amounts of resources are fractions in the units of their system: cores and bytes in Kubernetes, ``vcores`` and
``memory-mb`` in YARN, those of the columns in CSV.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from fairness.errors import ModelError

__all__ = [
    "Amounts",
    "Jobs",
    "Parts",
    "Queue",
    "QueuePath",
    "Server",
    "Taint",
    "Unread",
    "largest_of",
    "total_of",
]

QueuePath = tuple[str, ...]
"""Names from below the root to a queue."""

Taint = tuple[str, str, str]
"""What keeps pods off a server that do not tolerate it: key, value and effect."""


def total_of(amounts: Iterable[Mapping[Any, Fraction]]) -> dict[Any, Fraction]:
    """The sum of amounts, by resource.

    Examples
    --------
    >>> total_of([{"cpu": Fraction(1)}, {"cpu": Fraction(2), "gpu": Fraction(1)}])
    {'cpu': Fraction(3, 1), 'gpu': Fraction(1, 1)}
    """
    found: dict[Any, Fraction] = {}
    for one in amounts:
        for resource, amount in one.items():
            found[resource] = found.get(resource, Fraction(0)) + amount
    return found


def largest_of(one: Mapping[str, Fraction], other: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """The larger one of two amounts, by resource."""
    return {r: max(one.get(r, Fraction(0)), other.get(r, Fraction(0))) for r in {**one, **other}}


@dataclass(frozen=True)
class Amounts:
    """Amounts of resources: in units, or as shares of what the whole cluster has.

    Parameters
    ----------
    units : mapping
        Units by resource.
    shares : mapping
        Shares of the capacity by resource, for those that are not in ``units``.
    share : Fraction, optional
        Share of the capacity of all the others.

    Examples
    --------
    >>> half = Amounts({"cpu": Fraction(4)}, share=Fraction(1, 2))
    >>> half.of({"cpu": Fraction(10), "memory": Fraction(8)})
    {'cpu': Fraction(4, 1), 'memory': Fraction(4, 1)}
    """

    units: Mapping[str, Fraction] = field(default_factory=dict)
    shares: Mapping[str, Fraction] = field(default_factory=dict)
    share: Fraction | None = None

    def scaled(self, factor: Fraction) -> Amounts:
        """So many times as much."""
        return Amounts(
            {r: v * factor for r, v in self.units.items()},
            {r: v * factor for r, v in self.shares.items()},
            None if self.share is None else self.share * factor,
        )

    def of(self, capacities: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Units in a cluster with these capacities."""
        found = {}
        for resource, capacity in capacities.items():
            share = self.shares.get(resource, self.share)
            if resource in self.units:
                found[resource] = self.units[resource]
            elif share is not None:
                found[resource] = share * capacity
        return found


@dataclass(frozen=True)
class Queue:
    """A queue, as :class:`fairness.Tree` has it.

    Parameters
    ----------
    path : tuple of str
        Names from below the root; empty for the root itself.
    place : str
        File and line, for messages.
    weight : Fraction, optional
        Against its siblings; None: the largest share of a resource that its minimum is.
    minimum, maximum, lends : Amounts
        Of what is not there: 0, no limit, all of the minimum.
    covers : frozenset of str, optional
        The resources that its jobs may use at all; default: all.
    """

    path: QueuePath
    place: str
    weight: Fraction | None = Fraction(1)
    minimum: Amounts = field(default_factory=Amounts)
    maximum: Amounts = field(default_factory=Amounts)
    lends: Amounts = field(default_factory=Amounts)
    covers: frozenset[str] | None = None


@dataclass(frozen=True)
class Jobs:
    """Jobs that are alike: one class.

    Parameters
    ----------
    name, place : str
    demands : mapping
        Units of each resource per task.
    queue : str, optional
        What its file calls the queue, a key of :attr:`Parts.queue_names`.
    count : Fraction
        How many jobs there are.
    tasks : Fraction, optional
        Most tasks of one of them.
    weight : Fraction
        Of one job.
    runs_on : callable, optional
        Tells of a server whether the tasks may run there.
    named_servers : tuple of str
        Names of the only servers that it may be, where they are given by name; each must be there.
    selector : mapping
        Labels that a server must have; those that tell flavors of a resource apart.
    tolerates : callable, optional
        Tells whether a taint of a flavor is tolerated.
    arrival_rate, mean_size : Fraction, optional
        Of the jobs that arrive.
    pods : bool
        Whether the tasks are pods, which may request nothing.
    """

    name: str
    place: str
    demands: Mapping[str, Fraction]
    queue: str | None = None
    count: Fraction = Fraction(1)
    tasks: Fraction | None = None
    weight: Fraction = Fraction(1)
    runs_on: Callable[[Server], bool] | None = None
    named_servers: tuple[str, ...] = ()
    selector: Mapping[str, str] = field(default_factory=dict)
    tolerates: Callable[[Any], bool] | None = None
    arrival_rate: Fraction | None = None
    mean_size: Fraction | None = None
    pods: bool = False


@dataclass(frozen=True)
class Server:
    """A server with its capacities, labels and taints."""

    name: str
    place: str
    capacities: Mapping[str, Fraction]
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()


@dataclass(frozen=True)
class Unread:
    """Something that stands in a file and is not carried over."""

    file: str
    line: int
    field: str
    why: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}, {self.field}: {self.why}"


@dataclass
class Parts:
    """All that the files say; readers add to it."""

    queues: list[Queue] = field(default_factory=list)
    jobs: list[Jobs] = field(default_factory=list)
    servers: list[Server] = field(default_factory=list)
    queue_names: dict[str, QueuePath] = field(default_factory=dict)
    quotas: dict[str, Fraction] = field(default_factory=dict)
    held: dict[str, dict[str, Fraction]] = field(default_factory=dict)
    flavors: list[Any] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _places: dict[tuple[str, object], str] = field(default_factory=dict)

    def leave(self, one: Any, field: str, why: str) -> None:
        """Say that a field, which knows its file and line, is not carried over."""
        self.unread.append(Unread(one.file, one.line, field, why))

    def another(self, kind: str, name: object, place: str) -> str | None:
        """Where something of the same kind and name stands already; else its own place is remembered."""
        first = self._places.get((kind, name))
        self._places.setdefault((kind, name), place)
        return first

    def require_new(self, kind: str, name: object, place: str, fail: Callable[[str], Any]) -> None:
        """Have ``fail`` say where something of the same kind and name stands already, if it does."""
        if other := self.another(kind, name, place):
            fail(f"the {kind} {name!r} stands in {other} too; keep one of them")

    def add_queue(self, queue: Queue, *names: str) -> None:
        """Add a queue that jobs call by these names, and by its path.

        Raises
        ------
        ModelError
            If there is one with the same path, or a name has a slash in it.
        """
        if other := self.another("queue", queue.path, queue.place):
            told = "/".join(queue.path) or "root"
            raise ModelError(f"{queue.place}: the queue {told!r} stands in {other} too; keep one of them")
        for name in queue.path:
            if "/" in name or not name.strip():
                raise ModelError(f"{queue.place}: {name!r} is no name of a queue; write one without a slash")
        self.queues.append(queue)
        for name in names:
            self.queue_names[name] = queue.path
