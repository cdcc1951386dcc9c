"""Jobs of Microsoft's Philly clusters, 2017: training of neural networks on servers with GPUs [1]_.

Files ``cluster_job_log`` and ``cluster_machine_list`` at https://github.com/msr-fiddle/philly-traces (licence
CC-BY 4.0). The log is one array in JSON; it is read entry by entry. A job has a virtual cluster (``vc``), the
user here, since it is what has a quota; the time when it was submitted; and *attempts*, each with its times
and, per server, the GPUs it held.

* A job of GPUs on several servers becomes a task on each, with the same arrival and the same number in
  ``jobs``: the servers of its first attempt with any.
* Its duration is the time that its attempts ran, together: an attempt without both times is not counted, but
  for the last one, which without an end still ran when the log was taken.
* Times are local, without a zone: the hour when clocks change is not corrected.

References
----------
.. [1] M. Jeon, S. Venkataraman, A. Phanishayee, J. Qian, W. Xiao and F. Yang, "Analysis of large-scale
   multi-tenant GPU clusters for DNN training workloads", USENIX ATC 2019.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from fairness.display.lettering import unprintable
from fairness.errors import ModelError
from fairqueues.traces.reading.gathering import LONGEST, Gathering
from fairqueues.traces.reading.json_array import entries
from fairqueues.traces.reading.schema import Amount, NodeTable
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.columns import Rows
from queueing.recorded.node_list import NodeList

__all__ = ["read_philly"]

EPOCH = datetime(2017, 1, 1)
START = np.datetime64("2017-01-01T00:00:00")
ABSENT = (None, "", "None")
"""What stands where a time is not known."""
FIELDS = ("submitted_time", "start_time", "end_time")
MACHINES = NodeTable(
    "machineId", (Amount("GPU", "devices", "number of GPUs", whole=True),), model="single GPU mem"
)
PIECE = 50_000
"""Tasks that are put together at a time."""


def read_philly(
    jobs: str | os.PathLike[str],
    machines: str | os.PathLike[str],
    *,
    never_ended: str = "cut",
    never_started: str = "drop",
    backwards: str = "refuse",
) -> tuple[ClusterTrace, NodeList]:
    """Read jobs and machines of the Philly trace.

    Parameters
    ----------
    jobs, machines : path
        ``cluster_job_log`` (JSON) and ``cluster_machine_list`` (CSV), compressed by gzip or not.
    never_ended : {"cut", "drop", "refuse"}
        Jobs that still ran when the log was taken: end them at its last time, leave them out, or refuse.
    never_started : {"drop", "refuse"}
        Jobs without an attempt that ran.
    backwards : {"refuse", "drop"}
        Jobs whose times go backwards.

    Returns
    -------
    trace : ClusterTrace
        GPUs in devices; seconds from the first submission.
    nodes : NodeList
        Models are the memory of a GPU ("24GB").

    Raises
    ------
    ModelError
        With line and field, if the log is no JSON, an entry lacks a field, a time is none, or a job or a
        machine stands twice.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> log, servers = pathlib.Path(folder.name, "job_log"), pathlib.Path(folder.name, "machine_list")
    >>> job = {
    ...     "status": "Pass", "vc": "ee9e8c", "jobid": "application_1", "user": "ce2f4c",
    ...     "submitted_time": "2017-10-07 01:11:39",
    ...     "attempts": [{
    ...         "start_time": "2017-10-07 01:12:09", "end_time": "2017-10-07 01:13:09",
    ...         "detail": [{"ip": "m47", "gpus": ["gpu0", "gpu1"]}, {"ip": "m48", "gpus": ["gpu0"]}],
    ...     }],
    ... }
    >>> _ = log.write_text(json.dumps([job]))
    >>> _ = servers.write_text("machineId,number of GPUs, single GPU mem\\nm47,8, 24GB\\nm48,2, 12GB\\n")
    >>> trace, nodes = read_philly(log, servers)
    >>> trace.types[trace.type_of, 0], trace.durations, nodes.models
    (array([2., 1.]), array([60., 60.]), ('24GB', '12GB'))
    >>> folder.cleanup()
    """
    cluster = MACHINES.read(machines)
    gathering = Gathering(
        f"Philly, {Path(jobs).name}",
        ("GPU",),
        ("devices",),
        devices="GPU",
        never_ended=never_ended,
        never_started=never_started,
        backwards=backwards,
        nodes=cluster,
    )
    file, seen, uncounted = Path(jobs), dict[str, int](), 0
    tasks: list[tuple[Any, ...]] = []
    earliest = np.inf
    for line, entry in entries(file):
        job = _Job(file, line, entry)
        name = job.text("jobid")
        if name in seen:
            job.fail("jobid", f"repeats {name!r} of the entry on line {seen[name]}; each must stand once")
        seen[name] = line
        arrival = job.submitted()
        earliest = min(earliest, arrival)
        start, end, skipped = job.run(gathering)
        uncounted += skipped
        owner, number = job.text("vc"), len(seen) - 1
        tasks += [(line, arrival, start, end, gpus, owner, number) for gpus in job.devices()]
        if len(tasks) >= PIECE:
            _add(gathering, file, tasks)
            tasks = []
    if tasks:
        _add(gathering, file, tasks)
    if uncounted:
        gathering.notes.append(f"attempts without a time, not counted: {uncounted:,}")
    gathering.notes.append("users are the virtual clusters (vc); a job on several servers is a task on each")
    return gathering.trace(origin=earliest), cluster


@dataclass(frozen=True)
class _Job:
    """An entry of the log."""

    file: Path
    line: int
    entry: Any

    def fail(self, field: str, said: str) -> NoReturn:
        raise ModelError(f"{self.file}, entry on line {self.line}, {field}: {said}", argument=field)

    def field(self, name: str) -> Any:
        if not isinstance(self.entry, dict):
            self.fail("jobs", f"must be objects; got {self.entry!r:.60}")
        if name not in self.entry:
            self.fail(name, f"is missing (fields: {', '.join(map(str, self.entry))})")
        return self.entry[name]

    def text(self, name: str) -> str:
        """A name, or a number that stands for one."""
        value = self.field(name)
        if not isinstance(value, str | int) or not str(value).strip() or unprintable(str(value)):
            self.fail(name, f"must be a name; got {value!r:.40}")
        return str(value).strip()

    def submitted(self) -> float:
        """Seconds since the epoch; a job has them."""
        if self.field("submitted_time") in ABSENT:
            self.fail("submitted_time", "is missing; complete the entry, or take it out")
        return self.time(self.entry, "submitted_time")

    def time(self, holder: Any, name: str) -> float:
        """Seconds since the epoch; NaN where there is none."""
        text = holder.get(name) if isinstance(holder, dict) else self.fail("attempts", "must be objects")
        if text in ABSENT:
            return math.nan
        try:
            seconds = (datetime.fromisoformat(text) - EPOCH).total_seconds()
        except (TypeError, ValueError):
            seconds = math.inf
        if abs(seconds) > LONGEST:
            self.fail(name, f"must be a time such as 2017-10-07 01:12:09, near that; got {text!r:.40}")
        return seconds

    def run(self, gathering: Gathering) -> tuple[float, float, int]:
        """Start and end of a run as long as the attempts together, and how many were not counted."""
        attempts = self._list("attempts", self.field("attempts"))
        times = [(self.time(one, "start_time"), self.time(one, "end_time")) for one in attempts]
        for when in chain.from_iterable(times):
            if not math.isnan(when):
                gathering.saw(when)
        counted = [(start, end) for start, end in times if not math.isnan(start + end)]
        for start, end in counted:
            if end < start:  # told as every time that goes backwards
                return start, end, 0
        busy, skipped = sum(end - start for start, end in counted), len(times) - len(counted)
        if times and not math.isnan(times[-1][0]) and math.isnan(times[-1][1]):
            # It still runs: what ran before lies directly before its last start.
            return times[-1][0] - busy, math.nan, skipped - 1
        if not counted:
            return math.nan, math.nan, skipped
        return counted[0][0], counted[0][0] + busy, skipped

    def devices(self) -> list[float]:
        """GPUs on each server of the first attempt that held any; 0 where none did."""
        for attempt in self._list("attempts", self.field("attempts")):
            details = self._list("detail", attempt.get("detail"))
            held = [len(self._list("gpus", one.get("gpus"))) for one in details if isinstance(one, dict)]
            if any(held):
                return [float(gpus) for gpus in held if gpus]
        return [0.0]

    def _list(self, name: str, value: Any) -> list[Any]:
        if not isinstance(value, list):
            self.fail(name, f"must be a list; got {value!r:.40}")
        return value


def _add(gathering: Gathering, file: Path, parts: list[tuple[Any, ...]]) -> None:
    lines, *times, gpus, owners, numbers = (np.array(column) for column in zip(*parts, strict=True))
    shown: dict[str, Any] = {
        name: np.where(np.isnan(column), None, (START + np.nan_to_num(column).astype("m8[s]")).astype(str))
        for name, column in zip(FIELDS, times, strict=True)
    }
    gathering.add(
        Rows(file, lines, shown | {"gpus": gpus}),
        list(zip(FIELDS, times, strict=True)),
        [("gpus", gpus)],
        owners.astype(object),
        jobs=numbers,
    )
