"""Google cluster-usage traces 2019 (version 3) [1]_: collections and instances of a Borg cell.

The tables lie in BigQuery (https://github.com/google/cluster-data, licence CC-BY 4.0) and are exported as
CSV. Nested fields cannot be: name the parts of ``resource_request``, as in

.. code-block:: sql

   SELECT time, type, collection_id, instance_index, collection_type, alloc_collection_id,
          resource_request.cpus AS cpus, resource_request.memory AS memory
   FROM `google.com:google-cluster-data`.clusterdata_2019_a.instance_events;

   SELECT DISTINCT collection_id, user
   FROM `google.com:google-cluster-data`.clusterdata_2019_a.collection_events;

   SELECT time, machine_id, type, platform_id, capacity.cpus AS cpus, capacity.memory AS memory
   FROM `google.com:google-cluster-data`.clusterdata_2019_a.machine_events;

The rows may have any order; events of one instance at the same microsecond keep that of the file. Times are
in microseconds, from 600 s before the trace begins. What existed before has the time 0; events after the end
have the time 2^63 - 1, and are not read. CPU and memory are in parts of the largest machine.

* A task is an instance of a job. Its arrival is its first ``SUBMIT``, its demand that of the first event that
  says one, and its duration the time that it ran, all runs together: from each ``SCHEDULE`` to the next
  ``EVICT``, ``FAIL``, ``FINISH``, ``KILL`` or ``LOST``.
* Alloc instances are reservations: they hold resources, and are tasks here; jobs that run inside them
  (``alloc_collection_id``) hold nothing of their own, and are left out.
* The user is that of the collection.

References
----------
.. [1] M. Tirmazi, A. Barker, N. Deng, M. E. Haque, Z. G. Qin, S. Hand, M. Harchol-Balter and J. Wilkes,
   "Borg: the next generation", EuroSys 2020.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import FloatArray, require_number
from fairness.errors import ModelError
from fairqueues.traces.reading.gathering import LONGEST, Gathering
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.columns import Rows, pieces
from queueing.recorded.node_list import NodeList

__all__ = ["read_google_2019", "read_google_2019_machines"]

SUBMIT, SCHEDULE, UPDATE_RUNNING = 0, 3, 10
ENDS = (4, 5, 6, 7, 8)
"""Numbers of the types of events."""

ADD, REMOVE, UPDATE = 1, 2, 3
"""Numbers of the types of events of machines."""

AFTER = 2**63 - 1
"""The time of what happened after the trace."""

KEPT = 140.0
"""Bytes that an event takes: its fields, their order, and what is derived while tasks are made of them."""

LINES = "line"
NARROW: dict[str, type] = {
    "time": np.int64,
    "type": np.int8,
    "collection_id": np.int64,
    "instance_index": np.int32,
}
"""How the whole numbers are kept; those that do not fit are refused."""

RESOURCES, UNITS = ("CPU", "memory"), ("parts of the largest machine", "parts of the largest machine")
DEMANDS = ("cpus", "memory")


def read_google_2019(
    collections: str | os.PathLike[str],
    instances: str | os.PathLike[str],
    *,
    never_ended: str = "cut",
    never_started: str = "drop",
) -> ClusterTrace:
    """Read collection and instance events of a cell.

    Parameters
    ----------
    collections, instances : path
        CSV files with the columns above, compressed by gzip or not.
    never_ended : {"cut", "drop", "refuse"}
        Instances that ran on when the trace ended: end them at its last time, leave them out, or refuse.
    never_started : {"drop", "refuse"}
        Instances that were never scheduled.

    Returns
    -------
    ClusterTrace
        Seconds of the trace; jobs are the collections.

    Raises
    ------
    ModelError
        With file, line and field, if a column is missing, a field is no number or out of range, or a
        collection has no user, or two.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> collections = pathlib.Path(folder.name, "collections.csv")
    >>> instances = pathlib.Path(folder.name, "instances.csv")
    >>> _ = collections.write_text("collection_id,user\\n77,ann\\n")
    >>> _ = instances.write_text(
    ...     "time,type,collection_id,instance_index,collection_type,alloc_collection_id,cpus,memory\\n"
    ...     "1000000,0,77,0,0,0,0.25,0.125\\n2000000,3,77,0,0,0,0.25,0.125\\n62000000,6,77,0,0,0,,\\n"
    ... )
    >>> trace = read_google_2019(collections, instances)
    >>> trace.arrivals, trace.durations, trace.type_names, trace.users
    (array([1.]), array([60.]), ('CPU 0.25, memory 0.125',), ('ann',))
    >>> folder.cleanup()
    """
    owners = _users(collections)
    gathering = Gathering(
        f"Google cluster-usage traces 2019, {Path(instances).name}",
        RESOURCES,
        UNITS,
        never_ended=never_ended,
        never_started=never_started,
    )
    events = _events(instances, gathering)
    if len(events):
        _add(gathering, events, owners)
    gathering.notes.append("evicted instances that run again are one task; alloc instances are tasks")
    return gathering.trace()


def read_google_2019_machines(machines: str | os.PathLike[str], *, at: float = 600.0) -> NodeList:
    """Read machine events of a cell: the machines that are there at some time.

    Parameters
    ----------
    machines : path
        CSV file with the columns above, compressed by gzip or not.
    at : float, seconds
        Of the trace, which begins at 600 s: machines that were added by then, and not removed since, with
        their last capacity.

    Returns
    -------
    NodeList
        In the resources and units of :func:`read_google_2019`; models are the platforms.

    Raises
    ------
    ModelError
        With line and field, if a column is missing, a field is no number or out of range, or no machine is
        there then.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "machines.csv")
    >>> _ = file.write_text(
    ...     "time,machine_id,type,platform_id,cpus,memory\\n"
    ...     "0,5,1,p,0.5,0.25\\n0,6,1,p,1,0.5\\n700000000,6,2,p,1,0.5\\n"
    ... )
    >>> read_google_2019_machines(file).names, read_google_2019_machines(file, at=800).names
    (('5', '6'), ('5',))
    >>> folder.cleanup()
    """
    when = require_number("at", at, least=0, hint=", seconds")
    # The last event of each machine by then; of several at one time the lowest in the file.
    last: dict[int, tuple[float, int, list[float], str]] = {}
    for rows in pieces(machines, DEMANDS, ["platform_id"], wholes=["time", "machine_id", "type"]):
        times, numbers = rows.wholes("time") / 1e6, rows.wholes("machine_id")
        kinds = rows.wholes("type", ADD, UPDATE, "must be 1 (added), 2 (removed) or 3 (updated)")
        sizes = _parts(rows)
        for name, values in zip(DEMANDS, sizes, strict=True):
            rows.refuse(name, np.isnan(values) & (kinds != REMOVE), "is missing; complete the line")
        for k in np.flatnonzero(times <= when).tolist():
            number = int(numbers[k])
            if number not in last or times[k] >= last[number][0]:
                size = [float(values[k]) for values in sizes]
                last[number] = (times[k], int(kinds[k]), size, rows.columns["platform_id"][k])
    there = {number: one for number, one in last.items() if one[1] != REMOVE}
    if not there:
        raise ModelError(f"{machines}: no machine is there at {when:g} s; give another time", argument="at")
    return NodeList(
        [str(number) for number in there],
        RESOURCES,
        UNITS,
        [size for _, _, size, _ in there.values()],
        [platform for *_, platform in there.values()],
    )


def _users(path: str | os.PathLike[str]) -> dict[int, str]:
    found: dict[int, str] = {}
    for rows in pieces(path, texts=["user"], wholes=["collection_id"]):
        numbers, users = rows.wholes("collection_id").tolist(), rows.texts("user")
        for k, (number, user) in enumerate(zip(numbers, users, strict=True)):
            if found.setdefault(number, user) != user:
                rows.fail(k, "user", f"is {user!r}, but above it {found[number]!r} for {number}")
    return found


def _parts(rows: Rows) -> list[FloatArray]:
    """CPU and memory; NaN where a row says neither."""
    said = "is in parts of the largest machine, at most 1"
    return [rows.numbers(name, least=0, most=1, may_lack=True, said=said) for name in DEMANDS]


def _events(path: str | os.PathLike[str], gathering: Gathering) -> Rows:
    """All events of what holds resources of its own, by instance and time."""
    kept: dict[str, list[NDArray[Any]]] = {name: [] for name in (LINES, *NARROW, *DEMANDS)}
    inside = 0
    wholes = (*NARROW, "collection_type")
    for rows in pieces(path, [*DEMANDS, "alloc_collection_id"], wholes=wholes, kept=KEPT):
        columns = {name: rows.wholes(name, kind=kind) for name, kind in NARROW.items() if name != "type"}
        late = (columns["time"] > 1e6 * LONGEST) & (columns["time"] < AFTER)
        rows.refuse("time", late, "is no time in microseconds of a trace: it lies behind 20 years")
        columns["type"] = rows.wholes(
            "type", 0, UPDATE_RUNNING, "must be the number of an event, 0 to 10", NARROW["type"]
        )
        rows.wholes("collection_type", 0, 1, "must be 0 (job) or 1 (alloc set)")
        columns |= dict(zip(DEMANDS, _parts(rows), strict=True))
        alloc = rows.numbers("alloc_collection_id", least=0, may_lack=True)
        own = ~(alloc > 0)
        inside += int(np.count_nonzero(~own & (columns["type"] == SUBMIT)))
        columns[LINES] = rows.lines
        own &= columns["time"] < AFTER
        for name, parts in kept.items():
            parts.append(columns[name][own])
    gathering.note(inside, "{n} left out: inside alloc instances, which hold their resources")
    # One column after the other, so that no more than one is there twice.
    whole = {name: np.concatenate(kept.pop(name)) for name in list(kept)}
    order = np.lexsort((whole["time"], whole["instance_index"], whole["collection_id"]))
    for name in whole:
        whole[name] = whole[name][order]
    return Rows(Path(path), whole.pop(LINES), whole)


def _add(gathering: Gathering, events: Rows, owners: dict[int, str]) -> None:
    """A task per instance, from its events in their order."""
    collections, indices = events.columns["collection_id"], events.columns["instance_index"]
    kind, time = events.columns["type"], events.columns["time"] / 1e6
    new = np.ones(len(events), dtype=bool)
    new[1:] = (collections[1:] != collections[:-1]) | (indices[1:] != indices[:-1])
    gathering.saw(float(time.max()))
    first, which = np.flatnonzero(new), np.cumsum(new) - 1
    n = len(first)

    # Only what starts and ends runs: a run lasts until the next of them, if that belongs to the instance.
    switches = np.flatnonzero((kind == SCHEDULE) | np.isin(kind, ENDS))
    owner, begins = which[switches], kind[switches] == SCHEDULE
    same = np.zeros(len(switches), dtype=bool)
    same[:-1] = owner[1:] == owner[:-1]
    following = np.append(time[switches[1:]], np.nan) if len(switches) else time[:0]
    run = begins & same
    busy: FloatArray = np.bincount(owner[run], following[run] - time[switches[run]], n).astype(float)
    last_open = begins & ~same
    started: FloatArray = np.full(n, np.nan)
    runs = np.flatnonzero(begins)[::-1]
    started[owner[runs]] = time[switches[runs]]
    ended: FloatArray = started + busy
    # What still runs: as if all that it ran before lay directly before its last start.
    started[owner[last_open]] = time[switches[last_open]] - busy[owner[last_open]]
    ended[owner[last_open]] = np.nan

    submits = np.flatnonzero(kind == SUBMIT)[::-1]
    arrivals = time[first].copy()
    arrivals[which[submits]] = time[submits]
    said = np.flatnonzero(~np.isnan(events.columns[DEMANDS[0]]) & ~np.isnan(events.columns[DEMANDS[1]]))[::-1]
    asked = np.zeros((n, 2))
    asked[which[said]] = np.stack([events.columns[name][said] for name in DEMANDS], axis=1)

    numbers, job = np.unique(collections[first], return_inverse=True)
    named = [owners.get(int(number)) for number in numbers]
    tasks = Rows(events.path, events.lines[first], {name: c[first] for name, c in events.columns.items()})
    unknown = np.array([name is None for name in named])[job]
    tasks.refuse("collection_id", unknown, "has no user among the collections; export them all")
    gathering.add(
        tasks,
        # A start without a submission before it: the instance is older than the trace.
        [("time", np.fmin(arrivals, started)), ("time", started), ("time", ended)],
        list(zip(DEMANDS, asked.T, strict=True)),
        np.array(named, dtype=object)[job],
        jobs=job,
    )
