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
from dataclasses import replace

import numpy as np

from fairqueues.traces.reading.gathering import Gathering
from fairqueues.traces.reading.schema import Amount, NodeTable, TaskTable
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.columns import Rows
from queueing.recorded.node_list import NodeList

__all__ = ["read_alibaba_2018", "read_alibaba_2018_machines", "read_alibaba_2018_sample"]

_NORMALISED = Amount(
    "memory", "parts of the largest machine", "plan_mem", 100, most=100, said="is normalised to [0, 100]"
)
_USERS = "every instance is a task; users are the jobs: the file names no tenant"


def _planned(rows: Rows, gathering: Gathering) -> Rows:
    """Rows with a plan; an end at 0 is none."""
    lacks = np.isnan(rows.columns["plan_cpu"]) | np.isnan(rows.columns["plan_mem"])
    gathering.note(int(lacks.sum()), "{n} dropped, with all instances: no plan_cpu, or no plan_mem")
    rows, ends = rows.only(~lacks), rows.columns["end_time"][~lacks]
    return replace(rows, columns={**rows.columns, "end_time": np.where(ends == 0, np.nan, ends)})


TASKS = TaskTable(
    title="Alibaba cluster trace 2018",
    amounts=(Amount("CPU", "cores", "plan_cpu", per=100), _NORMALISED),
    times=("start_time", "start_time", "end_time"),
    user="job_name",
    identity=("job_name", "task_name"),
    header=(
        "task_name", "instance_num", "job_name", "task_type", "status", "start_time", "end_time",
        "plan_cpu", "plan_mem",
    ),
    copies="instance_num",
    jobs="job_name",
    prepare=_planned,
    notes=("a task arrives when it started: what it waited for is not recorded", _USERS),
)  # fmt: skip
SAMPLE = TaskTable(
    title="Alibaba cluster trace 2018, sample",
    amounts=(
        Amount("CPU", "cores", "cpu"),
        Amount(
            "memory", _NORMALISED.unit, "memory", most=1, said="is a part of the largest machine, at most 1"
        ),
    ),
    times=("submit_time",),
    duration="duration",
    user="job_id",
    identity=("job_id", "task_id"),
    copies="instances_num",
    jobs="job_id",
    notes=(_USERS,),
)
MACHINES = NodeTable(
    "machine_id",
    (Amount("CPU", "cores", "cpu_num"), replace(_NORMALISED, column="mem_size")),
    header=(
        "machine_id", "time_stamp", "failure_domain_1", "failure_domain_2", "cpu_num", "mem_size", "status",
    ),
    repeated=True,
)  # fmt: skip


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
    return TASKS.read(tasks, never_ended=never_ended, never_started=never_started, backwards=backwards)


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
    return SAMPLE.read(tasks)


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
    return MACHINES.read(machines)
