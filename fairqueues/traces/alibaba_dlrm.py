"""Alibaba trace 2025 of GPU-disaggregated inference: instances on CPU nodes and on GPU nodes [1]_.

File ``disaggregated_DLRM_trace.csv`` of ``cluster-trace-gpu-v2025`` at https://github.com/alibaba/clusterdata
(published for research; cite [1]_).

==================== =================================================================================
column               read as
==================== =================================================================================
``instance_sn``      must be unique
``role``             kind of node where it runs: ``CN`` (CPU nodes) or ``HN`` (GPU nodes)
``app_name``         the user: an application group
``cpu_request``      CPU, cores
``gpu_request``      GPU, devices
``rdma_request``     RDMA, per cent of the bandwidth of one network card
``memory_request``   memory, GiB
``disk_request``     disk, GiB
``creation_time``    arrival, seconds from the start of the trace; empty: before it
``scheduled_time``   start, seconds; empty: before the trace, or never
``deletion_time``    end, seconds; empty: after the end of the trace
==================== =================================================================================

The limits (``*_limit``) and ``max_instance_per_node`` are not read.

References
----------
.. [1] L. Yang, Y. Wang, Y. Yu, Q. Weng et al., "GPU-disaggregated serving for deep learning recommendation
   models at scale", USENIX NSDI 2025.
"""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np

from fairness.arguments.validation import require_choice
from fairqueues.traces.reading.gathering import Gathering
from fairqueues.traces.reading.schema import Amount, TaskTable
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.columns import Rows

__all__ = ["read_alibaba_dlrm_2025"]

ROLES = ("CN", "HN")
BEFORE = ("cut", "drop", "refuse")

INSTANCES = TaskTable(
    title="Alibaba trace 2025 of disaggregated inference",
    amounts=(
        Amount("CPU", "cores", "cpu_request"),
        Amount("GPU", "devices", "gpu_request"),
        Amount("RDMA", "% of a card", "rdma_request", most=100, said="is in per cent, at most 100"),
        Amount("memory", "GiB", "memory_request"),
        Amount("disk", "GiB", "disk_request"),
    ),
    times=("creation_time", "scheduled_time", "deletion_time"),
    user="app_name",
    identity=("instance_sn",),
    where="role",
    devices="GPU",
)


def read_alibaba_dlrm_2025(
    instances: str | os.PathLike[str],
    *,
    before: str = "cut",
    never_ended: str = "cut",
    never_started: str = "drop",
    backwards: str = "refuse",
) -> ClusterTrace:
    """Read the Alibaba trace 2025 of disaggregated inference instances.

    Parameters
    ----------
    instances : path
        CSV file, compressed by gzip or not.
    before : {"cut", "drop", "refuse"}
        Instances that ran before the trace began (no ``creation_time``): let them arrive and start at time 0,
        leave them out, or refuse.
    never_ended : {"cut", "drop", "refuse"}
        Instances that ran on when the trace ended: end them at its last time, leave them out, or refuse.
    never_started : {"drop", "refuse"}
        Instances that were created, and never scheduled.
    backwards : {"refuse", "drop"}
        Instances whose times go backwards.

    Returns
    -------
    ClusterTrace
        Users are the applications; the models of nodes are the roles "CN" and "HN".

    Raises
    ------
    ModelError
        With line and field, if a column is missing, a field is no number or out of range, a role is unknown,
        an instance stands twice, or times go backwards.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "dlrm.csv")
    >>> _ = file.write_text(
    ...     "instance_sn,role,app_name,cpu_request,cpu_limit,gpu_request,gpu_limit,rdma_request,rdma_limit,"
    ...     "memory_request,memory_limit,disk_request,disk_limit,max_instance_per_node,"
    ...     "creation_time,scheduled_time,deletion_time\\n"
    ...     "i0,HN,app_0,12,12,1,1,25,25,120.0,120.0,680.0,800.0,8,,,\\n"
    ...     "i1,CN,app_1,64,64,0,0,1,1,320.0,320.0,255.0,300.0,-1,100.0,110.0,400.0\\n"
    ... )
    >>> trace = read_alibaba_dlrm_2025(file)
    >>> trace.durations, trace.eligible_models.tolist()
    (array([400., 290.]), [[False, True], [True, False]])
    >>> folder.cleanup()
    """
    require_choice("before", before, BEFORE)

    def prepare(rows: Rows, gathering: Gathering) -> Rows:
        """Let what is older than the trace arrive and start at time 0, or leave it out."""
        rows.refuse("role", ~np.isin(rows.texts("role"), ROLES), "must be CN or HN")
        early = np.isnan(rows.columns["creation_time"])
        if before == "refuse":
            rows.refuse("creation_time", early, "lies before the trace; take before='cut'")
        note = "dropped" if before == "drop" else "taken to arrive and start at time 0"
        gathering.note(int(early.sum()), f"{{n}} older than the trace: {note}")
        if before == "drop":
            return rows.only(~early)
        first = {name: np.where(early & np.isnan(rows.columns[name]), 0.0, rows.columns[name])
                 for name in INSTANCES.times[:2]}  # fmt: skip
        return replace(rows, columns={**rows.columns, **first})

    table = replace(INSTANCES, prepare=prepare)
    return table.read(
        instances, models=ROLES, never_ended=never_ended, never_started=never_started, backwards=backwards
    )
