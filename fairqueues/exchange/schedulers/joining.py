"""From the parts of a cluster's files to a model, a tree and the jobs, as the tables of a scenario.

What the parts say is put together without a guess: queues that jobs name must be there; capacities are those
of the nodes or servers, else the quotas, unless they are given; resources that no class demands, classes that
run nowhere and servers that no class can use are left out and named. Bytes are counted in the largest binary
unit in which all amounts of a resource are whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from fairness.arguments.quantities import BINARY
from fairness.errors import ModelError
from fairness.model.csv_tables import unknown_server
from fairqueues.exchange.schedulers.manifests.kubernetes import without_held
from fairqueues.exchange.schedulers.parts import Jobs, Parts, Queue, QueuePath, Server, total_of

__all__ = ["byte_unit", "is_bytes", "joined"]

_SHOWN = 8
"""Names that a note lists."""


def joined(parts: Parts, capacities: Mapping[str, Fraction] | None, pool: bool | None) -> dict[str, Any]:
    """Tables of a scenario.

    Parameters
    ----------
    parts : Parts
        What the files say; notes are added to it.
    capacities : mapping, optional
        Units of each resource, instead of those of the files.
    pool : bool, optional
        Whether all servers are added up to one pool. Default: only if there are queues, or jobs with a most
        number of tasks, which a pool can keep.

    Raises
    ------
    ModelError
        If there are no classes or no capacities, or a queue is not there.
    """
    jobs = _in_queues(parts)
    if not jobs:
        raise ModelError(
            "no job classes: give pods (kubectl get pods -A -o json), or a CSV table whose first column is "
            f"job_class{_not_read(parts)}"
        )
    servers = [_flavored(parts, server) for server in without_held(parts)] if capacities is None else []
    total = _total(parts, servers, capacities)
    jobs, where = _placed(parts, jobs, servers, total)
    demanded = {r for one in jobs for r, amount in one.demands.items() if amount > 0}
    resources = [r for r in total if r in demanded]
    unused = [r for r in total if r not in demanded]
    if "pods" in unused:  # of Kubernetes: every pod takes one of its node's
        unused.remove("pods")
        parts.notes.append("left out: how many pods there may be at most")
    if unused:
        parts.notes.append(f"left out, as no class demands them: {_names(unused)}")
    limited = [one.name for one in jobs if one.tasks is not None]
    as_pool = not servers or (bool(parts.queues or limited) if pool is None else pool)
    kept = [k for k in range(len(servers)) if any(row[k] for row in where)]
    if len(kept) < len(servers):
        idle = [server.name for k, server in enumerate(servers) if k not in kept]
        parts.notes.append(f"left out, as no class can use them: {_names(idle)}")
        servers, where = [servers[k] for k in kept], [[row[k] for k in kept] for row in where]
        total = _total(parts, servers, capacities)
    units = _units(parts, jobs, servers, total, resources)
    model: dict[str, Any] = {
        "demands": [[units.of(r, one.demands.get(r, Fraction(0))) for r in resources] for one in jobs],
        "resources": [units.names[r] for r in resources],
        "job_classes": [one.name for one in jobs],
    }
    if any(one.weight != 1 for one in jobs):
        model["weights"] = [one.weight for one in jobs]
    if as_pool:
        model["capacities"] = [units.of(r, total[r]) for r in resources]
        if limited:
            model["limits"] = [float("inf") if one.tasks is None else one.tasks for one in jobs]
        bound = [one.name for one, row in zip(jobs, where, strict=True) if not all(row)]
        if servers:
            parts.notes.append(f"the {len(servers)} servers are one pool; servers=True keeps them apart")
        if bound:
            parts.notes.append(f"in one pool these run everywhere, though they may not: {_names(bound)}")
    else:
        model["capacities"] = [
            [units.of(r, one.capacities.get(r, Fraction(0))) for r in resources] for one in servers
        ]
        model["servers"] = [server.name for server in servers]
        if not all(map(all, where)):
            model["eligible"] = where
        if limited:
            parts.notes.append(
                "on servers jobs have no limits, so these may be given more tasks than they have; add the "
                f"servers up to keep their numbers: {_names(limited)}"
            )
    found = {"pool" if as_pool else "cluster": model, "counts": [one.count for one in jobs]}
    if parts.queues:
        found["tree"] = _tree(parts, jobs, total, units, resources)
    if any(one.arrival_rate is not None for one in jobs):
        found["traffic"] = _traffic(jobs)
    return found


def _traffic(jobs: list[Jobs]) -> dict[str, Any]:
    """The table [traffic], of classes that say how often their jobs arrive."""
    for one in jobs:
        if one.arrival_rate is None:
            raise ModelError(
                f"{one.place}, arrival_rate: is missing for {one.name!r}, while other classes have one; "
                "write 0 if no job arrives",
                argument="arrival_rate",
            )
    traffic: dict[str, Any] = {"arrival_rates": [one.arrival_rate for one in jobs]}
    if any(one.mean_size is not None for one in jobs):
        traffic["mean_sizes"] = [1 if one.mean_size is None else one.mean_size for one in jobs]
    return traffic


@dataclass(frozen=True)
class _Units:
    """Names of the resources with their units, and how many of the system's units are one of them."""

    names: dict[str, str]
    sizes: dict[str, int]

    def of(self, resource: str, amount: Fraction) -> Fraction | int:
        number = amount / self.sizes[resource]
        return int(number) if number.denominator == 1 else number


def _names(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _not_read(parts: Parts) -> str:
    """The first thing that was there and not read: perhaps it is what is missing."""
    return f" (not read: {parts.unread[0]})" if parts.unread else ""


def _in_queues(parts: Parts) -> list[Jobs]:
    """Jobs with the paths of their queues and their demands by flavor; those without a queue are left out."""
    found = []
    outside = []
    for one in parts.jobs:
        if not parts.queues:
            found.append(one)
            continue
        if one.queue is None:
            outside.append(one.name)
            continue
        path = _path(parts, one)
        for flavors in parts.flavors:
            one = replace(one, demands=flavors.demands(one, path))
        found.append(replace(one, queue="/".join(path)))
    if outside:
        parts.notes.append(f"left out, as they are in no queue: {_names(outside)}")
    if not parts.queues and any(one.queue is not None for one in found):
        parts.notes.append(
            "no queues are in the files, so the names of queues that jobs give are not carried over"
        )
    return found


def _path(parts: Parts, one: Jobs) -> QueuePath:
    """Path of the queue of a class: by what its system calls it, by its path, or by its name alone."""
    told = str(one.queue)
    if told in parts.queue_names:
        return parts.queue_names[told]
    paths = [queue.path for queue in parts.queues]
    given = tuple(told.strip("/").removeprefix("root/").split("/"))
    if given in paths:
        return given
    if told in ("/", "root"):
        return ()
    ending = [path for path in paths if path[-1:] == (told,)]
    if len(ending) == 1:
        return ending[0]
    why = (
        "is in none of the files; add it"
        if not ending
        else f"may be {' or '.join('/'.join(p) for p in ending)}"
    )
    raise ModelError(f"{one.place}: the jobs {one.name!r} are for {told!r}, which {why}", argument="queue")


def _flavored(parts: Parts, server: Server) -> Server:
    for flavors in parts.flavors:
        server = replace(server, capacities=flavors.capacities(server))
    return server


def _total(
    parts: Parts, servers: list[Server], capacities: Mapping[str, Fraction] | None
) -> dict[str, Fraction]:
    """Units of each resource in all."""
    if capacities is not None:
        return dict(capacities)
    if not servers:
        if not parts.quotas:
            raise ModelError(
                "no capacities: give nodes (kubectl get nodes -o json), a CSV table whose first column is "
                f"server, or capacities (--capacity RESOURCE=UNITS){_not_read(parts)}"
            )
        return dict(parts.quotas)
    return total_of(server.capacities for server in servers)


def _placed(
    parts: Parts, jobs: list[Jobs], servers: list[Server], total: Mapping[str, Fraction]
) -> tuple[list[Jobs], list[list[bool]]]:
    """Jobs that find all that they demand somewhere, and where they may run."""
    names = {server.name for server in servers}
    allowed: dict[Any, list[bool]] = {}  # by condition: many classes share one
    there: dict[tuple[str, ...], list[bool]] = {}  # by what is needed
    found, where, nowhere, idle = [], [], [], []
    for one in jobs:
        for name in one.named_servers:
            if servers and name not in names:
                told = f"there is no server {name!r}; {unknown_server(name, sorted(names))}"
                raise ModelError(f"{one.place}, servers: {told}")
        needs = tuple(sorted(r for r, amount in one.demands.items() if amount > 0))
        if not needs:
            if one.pods:
                idle.append(one)
                continue
            raise ModelError(
                f"{one.place}: the jobs {one.name!r} demand nothing; give them requests, or leave them out"
            )
        may = one.runs_on
        if may not in allowed:
            allowed[may] = [may is None or may(server) for server in servers]
        if needs not in there:
            there[needs] = [all(server.capacities.get(r, 0) > 0 for r in needs) for server in servers]
        row = [one_may and has for one_may, has in zip(allowed[may], there[needs], strict=True)]
        if not servers:
            row = [True] * all(total.get(r, 0) > 0 for r in needs)
        if any(row):
            found.append(one)
            where.append(row if servers else [])
        else:
            nowhere.append(one)
    for left, why, remedy in (
        (nowhere, "as they can run nowhere", "check the names of the resources that they demand"),
        (idle, "as their pods request nothing", "give them requests"),
    ):
        if left:
            told = f"left out, {why}: {_names([one.name for one in left])}"
            if not found:
                raise ModelError(f"{left[0].place}: no class is left to run; {told}; {remedy}")
            parts.notes.append(told)
    if not servers and any(one.runs_on is not None for one in found):
        parts.notes.append("no servers are in the files, so where jobs may run is not carried over")
    return found, where


def _units(
    parts: Parts, jobs: list[Jobs], servers: list[Server], total: Mapping[str, Fraction], resources: list[str]
) -> _Units:
    names, sizes = {}, {}
    for r in resources:
        names[r], sizes[r] = r, 1
        if is_bytes(r):
            amounts = [total[r], *(one.demands.get(r, Fraction(0)) for one in jobs)]
            amounts += [one.capacities.get(r, Fraction(0)) for one in servers]
            for queue in parts.queues:
                bounds = (queue.minimum, queue.maximum, queue.lends)
                amounts += [bound.units[r] for bound in bounds if r in bound.units]
            unit, sizes[r] = byte_unit(amounts)
            names[r] = f"{r} ({unit})"
    return _Units(names, sizes)


def is_bytes(resource: str) -> bool:
    """Whether Kubernetes counts a resource in bytes.

    Examples
    --------
    >>> is_bytes("memory"), is_bytes("spot/ephemeral-storage"), is_bytes("nvidia.com/gpu")
    (True, True, False)
    """
    name = resource.rpartition("/")[2]
    return name in ("memory", "ephemeral-storage", "storage") or name.startswith("hugepages-")


def byte_unit(amounts: Iterable[Fraction]) -> tuple[str, int]:
    """The largest binary unit in which all amounts of bytes are whole, and its bytes.

    Examples
    --------
    >>> byte_unit([Fraction(2**31), Fraction(3 * 2**20)])
    ('MiB', 1048576)
    """
    positive = [amount for amount in amounts if amount > 0]
    for name, power in reversed(BINARY.items()):
        if positive and all((amount / 1024**power).denominator == 1 for amount in positive):
            return f"{name}B", 1024**power
    return "B", 1


def _tree(
    parts: Parts, jobs: list[Jobs], total: dict[str, Fraction], units: _Units, resources: list[str]
) -> dict[str, Any]:
    """The table [tree]: each queue by its path."""
    for resource in resources:
        _require_kept(parts.queues, total, resource)
    classes: dict[QueuePath, list[str]] = {}
    for one in jobs:
        classes.setdefault(tuple(filter(None, str(one.queue).split("/"))), []).append(one.name)
    found: dict[str, Any] = {}
    paths = {(), *(queue.path for queue in parts.queues)}
    for queue in sorted(parts.queues, key=lambda queue: len(queue.path)):
        if queue.path[:-1] not in paths:
            above = "/".join(queue.path[:-1])
            raise ModelError(f"{queue.place}: there is no queue {above!r} above it; add it")
        told = _bounds(queue, total, units, resources)
        if classes.get(queue.path):
            told["classes"] = classes[queue.path]
        weight = queue.weight if queue.path else Fraction(1)  # the root has no siblings
        if weight is None:
            low = queue.minimum.of(total)
            weight = max((low[r] / total[r] for r in low if total[r] > 0), default=Fraction(0))
            if weight == 0:
                raise ModelError(f"{queue.place}: the capacity is 0, and so is the weight; give a small one")
        if weight != 1:
            told = {"weight": int(weight) if weight.denominator == 1 else weight, **told}
        if queue.path or told:
            found["/".join(queue.path) or "/"] = told
    if classes.get(()) and "/" not in found:
        found["/"] = {"classes": classes[()]}
    return found


def _require_kept(queues: list[Queue], total: dict[str, Fraction], resource: str) -> None:
    """Refuse queues that keep more for themselves than there is; what they lend may be guaranteed twice."""
    kept, needs, zero = {}, dict[QueuePath, Fraction](), Fraction(0)
    for queue in sorted(queues, key=lambda queue: -len(queue.path)):
        low, most, lends = (
            bound.of(total).get(resource) for bound in (queue.minimum, queue.maximum, queue.lends)
        )
        kept[queue.path] = max((low or zero) - lends, zero) if lends is not None else zero
        need, path = max(kept[queue.path], needs.get(queue.path, zero)), queue.path
        for above, least in ((path, most), (path[:-1], None if path[:-1] else total[resource])):
            needs[above] = need if above == path else needs.get(above, zero) + need
            if least is not None and needs[above] > least:
                place = max(queues, key=lambda queue: kept.get(queue.path, zero)).place
                raise ModelError(
                    f"{place}: of {resource} {float(needs[above]):g} are guaranteed and not lent, here and "
                    f"in other queues, more than the {float(least):g} that there are; lend some of it"
                )


def _bounds(queue: Queue, total: dict[str, Fraction], units: _Units, resources: list[str]) -> dict[str, Any]:
    """Minimum, maximum and lends of a queue, where they are not what is usual."""
    low, high, lends = (bound.of(total) for bound in (queue.minimum, queue.maximum, queue.lends))
    for resource, amount in {**queue.minimum.units}.items():
        if amount > 0 and resource not in total:
            raise ModelError(
                f"{queue.place}: guarantees {resource}, of which there is nothing; "
                f"known are {_names(list(total))}"
            )
    if queue.covers is not None:
        high = {**high, **{r: Fraction(0) for r in resources if r not in queue.covers}}
    for resource in low:
        if low[resource] > high.get(resource, low[resource]):
            raise ModelError(
                f"{queue.place}: guarantees {float(low[resource]):g} of {resource}, above its maximum of "
                f"{float(high[resource]):g}; raise the maximum or lower the guarantee"
            )
    told: dict[str, Any] = {}
    for name, bound, kept in (
        ("minimum", low, {r for r in low if low[r] > 0}),
        ("maximum", high, {r for r in high if r in total and high[r] < total[r]}),
        ("lends", lends, {r for r in lends if lends[r] < low.get(r, 0)}),
    ):
        values = {units.names[r]: units.of(r, bound[r]) for r in resources if r in kept}
        if values:
            told[name] = values
    return told
