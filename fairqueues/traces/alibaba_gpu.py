"""Alibaba GPU cluster trace 2023: pods and nodes with GPU models and shared GPUs [1]_.

Files ``openb_pod_list_*.csv`` and ``openb_node_list_*.csv`` of ``cluster-trace-gpu-v2023`` at
https://github.com/alibaba/clusterdata (published for research; cite [1]_).

=========================== ==========================================================================
column of pods              read as
=========================== ==========================================================================
``name``                    must be unique
``cpu_milli``               CPU, in thousandths of a core
``memory_mib``              memory, in MiB
``num_gpu``, ``gpu_milli``  GPU: a part of one device (``num_gpu`` 1, thousandths), or whole devices
``gpu_spec``                GPU models where the pod may run, separated by ``|``; empty: any
``qos``                     the user: the file names no other owner
``creation_time``           arrival, seconds
``scheduled_time``          start, seconds; empty: it never ran
``deletion_time``           end, seconds; empty: it never ended
=========================== ==========================================================================

Nodes have ``sn`` (the name), ``cpu_milli``, ``memory_mib``, ``gpu`` (devices) and ``model`` (of its GPUs).

References
----------
.. [1] Q. Weng, L. Yang, Y. Yu, W. Wang, X. Tang, G. Yang and L. Zhang, "Beware of fragmentation: scheduling
   GPU-sharing workloads with fragmentation gradient descent", USENIX ATC 2023.
"""

from __future__ import annotations

import os

import numpy as np

from fairness.arguments.validation import FloatArray
from fairqueues.traces.reading.schema import Amount, NodeTable, TaskTable
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.columns import Rows
from queueing.recorded.node_list import NodeList

__all__ = ["RESOURCES", "UNITS", "read_alibaba_gpu_2023"]

RESOURCES, UNITS = ("CPU", "memory", "GPU"), ("cores", "GiB", "devices")


def _gpus(rows: Rows) -> FloatArray:
    """Devices of each pod."""
    count = rows.numbers("num_gpu", least=0, whole=True)
    part = rows.numbers("gpu_milli", least=0, most=1000, said="counts thousandths of one device")
    rows.refuse("gpu_milli", (count > 1) & (part != 1000), "must be 1000 where num_gpu is above 1")
    rows.refuse("gpu_milli", (count == 0) & (part > 0), "must be 0 where num_gpu is 0")
    rows.refuse("gpu_milli", (count == 1) & (part == 0), "must be > 0 where num_gpu is 1")
    return np.where(count == 1, part / 1000, count)


_CPU = Amount("CPU", "cores", "cpu_milli", per=1000)
_MEMORY = Amount("memory", "GiB", "memory_mib", per=1024)

PODS = TaskTable(
    title="Alibaba GPU cluster trace 2023",
    amounts=(_CPU, _MEMORY, Amount("GPU", "devices", "num_gpu", also=("gpu_milli",), of=_gpus)),
    times=("creation_time", "scheduled_time", "deletion_time"),
    user="qos",
    identity=("name",),
    where="gpu_spec",
    devices="GPU",
    notes=("users are the classes of service (qos): the file names no other owner",),
)
NODES = NodeTable("sn", (_CPU, _MEMORY, Amount("GPU", "devices", "gpu", whole=True)), model="model")


def read_alibaba_gpu_2023(
    pods: str | os.PathLike[str],
    nodes: str | os.PathLike[str],
    *,
    never_ended: str = "cut",
    never_started: str = "drop",
    backwards: str = "refuse",
) -> tuple[ClusterTrace, NodeList]:
    """Read pods and nodes of the Alibaba GPU cluster trace 2023.

    Parameters
    ----------
    pods, nodes : path
        CSV files, compressed by gzip or not.
    never_ended : {"cut", "drop", "refuse"}
        Pods without ``deletion_time``: end them at the last time of the trace, leave them out, or refuse.
    never_started : {"drop", "refuse"}
        Pods without ``scheduled_time``.
    backwards : {"refuse", "drop"}
        Pods that are scheduled before they are created, or deleted before they are scheduled.

    Returns
    -------
    trace : ClusterTrace
        CPU in cores, memory in GiB, GPU in devices; durations from start to deletion.
    nodes : NodeList

    Raises
    ------
    ModelError
        With file, line and field, if a column is missing, a field is no number or out of range, a name stands
        twice, times go backwards, or a pod asks for more than the largest node has.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> pods, nodes = pathlib.Path(folder.name, "pods.csv"), pathlib.Path(folder.name, "nodes.csv")
    >>> _ = pods.write_text(
    ...     "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,"
    ...     "creation_time,deletion_time,scheduled_time\\n"
    ...     "a,4000,8192,1,500,,LS,Running,0,90,10\\n"
    ...     "b,8000,8192,2,1000,T4|P100,BE,Succeeded,5,65,5\\n"
    ... )
    >>> _ = nodes.write_text("sn,cpu_milli,memory_mib,gpu,model\\nn,32000,65536,2,T4\\nm,64000,65536,0,\\n")
    >>> trace, nodes = read_alibaba_gpu_2023(pods, nodes)
    >>> trace.type_names
    ('CPU 4, memory 8, GPU 0.5', 'CPU 8, memory 8, GPU 2 on T4 or P100')
    >>> trace.durations, nodes.offered_load(trace)
    (array([80., 60.]), array([ 1.66666667,  1.75      , 16.        ]))
    >>> folder.cleanup()
    """
    cluster = NODES.read(nodes)
    models = dict.fromkeys(cluster.models)
    trace = PODS.read(
        pods, nodes=cluster, models=models,
        never_ended=never_ended, never_started=never_started, backwards=backwards,
    )  # fmt: skip
    return trace, cluster
