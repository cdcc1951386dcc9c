"""Alibaba cluster trace 2018, batch workloads [1]_: tasks of many equal instances.

Two schemas hold them. The files of ``cluster-trace-v2018`` at https://github.com/alibaba/clusterdata
(published for research) have no header. Columns of ``batch_task.csv`` are ``task_name, instance_num,
job_name, task_type, status, start_time, end_time, plan_cpu, plan_mem``: times in seconds, 100 units of
``plan_cpu`` are a core, ``plan_mem`` is normalised to [0, 100]. Those of ``machine_meta.csv`` are
``machine_id, time_stamp, failure_domain_1, failure_domain_2, cpu_num, mem_size, status``, with cores and
memory normalised to [0, 100]. A *job sample*, as simulators carry it, has a header and the columns
``submit_time, duration, cpu, memory, job_id, task_id, instances_num``: CPU in cores, memory as part of
the largest machine's.

In both every instance is a task of the trace: it has the demands of its row, and lasts as long as the row
says. The dependencies between the tasks of a job are not part of a cluster trace: what waited for other tasks
arrives when it started. The schemas name no tenant: users are the jobs.

References
----------
.. [1] J. Guo, Z. Chang, S. Wang, H. Ding, Y. Feng, L. Mao and Y. Bao, "Who limits the resource efficiency of
   my datacenter: an analysis of Alibaba datacenter traces", IWQoS 2019.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairqueues.traces.reading.columns import Rows, pieces
from fairqueues.traces.reading.gathering import Gathering, Numbered
from fairqueues.traces.reading.identities import Identities
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.node_list import NodeList

__all__ = ["read_alibaba_2018", "read_alibaba_2018_machines", "read_alibaba_2018_sample"]

HEADER = (
    "task_name", "instance_num", "job_name", "task_type", "status", "start_time", "end_time",
    "plan_cpu", "plan_mem",
)  # fmt: skip
MACHINES = (
    "machine_id", "time_stamp", "failure_domain_1", "failure_domain_2", "cpu_num", "mem_size", "status",
)  # fmt: skip
RESOURCES, UNITS = ("CPU", "memory"), ("cores", "parts of the largest machine")


def read_alibaba_2018(
    tasks: str | os.PathLike[str],
    *,
    never_ended: str = "cut",
    never_started: str = "drop",
    backwards: str = "refuse",
) -> ClusterTrace:
    """Read ``batch_task.csv`` of the Alibaba cluster trace 2018.

    Parameters
    ----------
    tasks : path
        As published: CSV without a header, compressed by gzip or not.
    never_ended : {"cut", "drop", "refuse"}
        Tasks whose ``end_time`` is empty or 0: end them at the last time of the trace, leave them out, or
        refuse.
    never_started : {"drop", "refuse"}
        Tasks whose ``start_time`` is empty.
    backwards : {"refuse", "drop"}
        Tasks that end before they start.

    Raises
    ------
    ModelError
        With line and field, if a field is no number or out of range, a task of a job stands twice, or a task
        ends before it starts.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "batch_task.csv")
    >>> _ = file.write_text("M1,2,j_1,1,Terminated,10,70,100,0.5\\nR2_1,1,j_1,1,Terminated,70,80,50,0.25\\n")
    >>> trace = read_alibaba_2018(file)
    >>> trace.types[trace.type_of].tolist(), trace.durations
    ([[1.0, 0.005], [1.0, 0.005], [0.5, 0.0025]], array([60., 60., 10.]))
    >>> folder.cleanup()
    """
    gathering = Gathering(
        f"Alibaba cluster trace 2018, {Path(tasks).name}",
        RESOURCES,
        UNITS,
        never_ended=never_ended,
        never_started=never_started,
        backwards=backwards,
    )
    names, jobs = Identities("job_name", "task_name", header=HEADER), Numbered()
    for rows in pieces(
        tasks,
        ["instance_num", "start_time", "end_time", "plan_cpu", "plan_mem"],
        ["task_name", "job_name"],
        header=HEADER,
    ):
        names.add(rows)
        lacks = np.isnan(rows.columns["plan_cpu"]) | np.isnan(rows.columns["plan_mem"])
        gathering.note(int(lacks.sum()), "{n} dropped, with all instances: no plan_cpu, or no plan_mem")
        rows = rows.only(~lacks)
        if not len(rows):
            continue
        starts = rows.numbers("start_time", least=0, may_lack=True)
        ends = rows.numbers("end_time", least=0, may_lack=True)
        ends[ends == 0] = np.nan
        memory = rows.numbers("plan_mem", least=0)
        rows.refuse("plan_mem", memory > 100, "is normalised to [0, 100]")
        demands = [rows.numbers("plan_cpu", least=0) / 100, memory / 100]
        which = _instances(gathering, rows, "instance_num")
        owners = rows.texts("job_name")[which]
        gathering.add(
            Rows(rows.path, rows.lines[which], {name: c[which] for name, c in rows.columns.items()}),
            np.where(np.isnan(starts), 0.0, starts)[which],
            starts[which],
            ends[which],
            [column[which] for column in demands],
            owners,
            fields=("start_time", "start_time", "end_time"),
            columns=("plan_cpu", "plan_mem"),
            jobs=jobs.of(owners),
        )
    names.require_distinct()
    gathering.notes.append("a task arrives when it started: what it waited for is not recorded")
    return _told(gathering)


def read_alibaba_2018_sample(tasks: str | os.PathLike[str]) -> ClusterTrace:
    """Read a job sample of the Alibaba cluster trace 2018.

    Its columns are ``submit_time``, ``duration``, ``cpu`` in cores, ``memory`` as part of the largest
    machine's, ``job_id``, ``task_id`` and ``instances_num``.

    Raises
    ------
    ModelError
        With line and field, if a column is missing, a field is no number or out of range, or a task of a job
        stands twice.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "jobs.csv")
    >>> _ = file.write_text(
    ...     ",submit_time,duration,cpu,memory,job_id,task_id,instances_num,disk\\n"
    ...     "0,5,60.5,1,0.005,7,1,3,0\\n"
    ... )
    >>> trace = read_alibaba_2018_sample(file)
    >>> trace.n_tasks, trace.users, trace.durations.tolist()
    (3, ('7',), [60.5, 60.5, 60.5])
    >>> folder.cleanup()
    """
    gathering = Gathering(f"Alibaba cluster trace 2018, sample {Path(tasks).name}", RESOURCES, UNITS)
    names, jobs = Identities("job_id", "task_id"), Numbered()
    for rows in pieces(
        tasks, ["submit_time", "duration", "cpu", "memory", "instances_num"], ["job_id", "task_id"]
    ):
        names.add(rows)
        arrivals = rows.numbers("submit_time", least=0)
        memory = rows.numbers("memory", least=0)
        rows.refuse("memory", memory > 1, "is a part of the largest machine, at most 1")
        demands = [rows.numbers("cpu", least=0), memory]
        which = _instances(gathering, rows, "instances_num")
        owners = rows.texts("job_id")[which]
        gathering.add_lasting(
            rows,
            arrivals[which],
            rows.numbers("duration", above=0)[which],
            [column[which] for column in demands],
            owners,
            jobs=jobs.of(owners),
        )
    names.require_distinct()
    return _told(gathering)


def read_alibaba_2018_machines(machines: str | os.PathLike[str]) -> NodeList:
    """Read ``machine_meta.csv`` of the Alibaba cluster trace 2018.

    Parameters
    ----------
    machines : path
        As published: CSV without a header, compressed by gzip or not. A machine may stand on several lines,
        one per event; all must say the same of its size.

    Returns
    -------
    NodeList
        In the resources and units of :func:`read_alibaba_2018`.

    Raises
    ------
    ModelError
        With line and field, if a field is no number or out of range, or a machine has two sizes.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "machine_meta.csv")
    >>> _ = file.write_text("m_1,0,1,2,96,100,USING\\nm_1,500,1,2,96,100,USING\\nm_2,0,1,2,64,50,USING\\n")
    >>> read_alibaba_2018_machines(file).capacities
    array([[96. ,  1. ],
           [64. ,  0.5]])
    >>> folder.cleanup()
    """
    sizes: dict[str, tuple[float, float]] = {}
    for rows in pieces(machines, ["cpu_num", "mem_size"], ["machine_id"], header=MACHINES):
        cores, memory = rows.numbers("cpu_num", least=0), rows.numbers("mem_size", least=0)
        rows.refuse("mem_size", memory > 100, "is normalised to [0, 100]")
        for k, name in enumerate(rows.texts("machine_id")):
            size = (float(cores[k]), float(memory[k]) / 100)
            if sizes.setdefault(name, size) != size:
                rows.fail(k, "machine_id", f"{name!r} has another size than above; take one of them out")
    return NodeList(list(sizes), RESOURCES, UNITS, list(sizes.values()))


def _instances(gathering: Gathering, rows: Rows, count: str) -> NDArray[np.int64]:
    """The row of every instance."""
    copies = rows.numbers(count, least=0, whole=True).astype(np.int64)
    gathering.require_room(int(copies.sum()), rows.path)
    return np.repeat(np.arange(len(rows)), copies)


def _told(gathering: Gathering) -> ClusterTrace:
    gathering.notes.append("every instance is a task; users are the jobs: the file names no tenant")
    return gathering.trace()
