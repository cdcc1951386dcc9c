r"""A synthetic trace with the published shares of GPU requests of the Alibaba GPU cluster trace 2023.

Published in [1]_ (Table 1) is how tasks divide over GPU requests:

============== ===== ===== ===== ===== ===== =====
GPUs a task    0     (0,1) 1     2     4     8
============== ===== ===== ===== ===== ===== =====
tasks, %       13.3  37.8  48.0  0.2   0.2   0.5
GPUs, %        0     28.5  64.2  0.5   1.0   5.8
============== ===== ===== ===== ===== ===== =====

and that about 33 % of the tasks with GPUs name the models on which they may run (section 6.5). The nodes have
the numbers of nodes and GPUs of each model that the published list of nodes has (counted in
``openb_node_list_all_node.csv``: 1,523 nodes, 6,212 GPUs), and the CPU and memory of the most frequent node
with that model and number of GPUs there.

Everything else is **assumed**: neither published nor fitted. What depends on it is to be studied with the
trace itself (:func:`~fairqueues.traces.read_alibaba_gpu_2023`).

* A part of a device is one of 1/10, ..., 9/10, equally likely. (Then the tasks with parts ask for 26 % of the
  GPUs, where 28.5 % are published.)
* CPU and memory go with the GPUs: 8 cores and 32 GiB a device, and of a part of a device the same part, but
  at least 1 core and 4 GiB. Tasks without a GPU take 1, 2, 4, 8 or 16 cores, equally likely, and 4 GiB a
  core.
* Durations are lognormal with a median of 10 minutes and :math:`\sigma=1.5`, hence a mean of 31 minutes.
* Arrivals are Poisson, at the rate that offers ``load`` times the GPUs of the nodes.
* The model that a task names is drawn in proportion to the GPUs of the models, on nodes with enough of them.
* Users have equal shares of the tasks.

References
----------
.. [1] Q. Weng, L. Yang, Y. Yu, W. Wang, X. Tang, G. Yang and L. Zhang, "Beware of fragmentation: scheduling
   GPU-sharing workloads with fragmentation gradient descent", USENIX ATC 2023.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import FloatArray, Seed, generator, require_number, require_whole
from fairqueues.traces.alibaba_gpu import RESOURCES, UNITS
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.node_list import NodeList

__all__ = ["GPU_SHARES", "synthetic_gpu_trace"]

GPU_SHARES = {0.0: 0.133, 0.5: 0.378, 1.0: 0.480, 2.0: 0.002, 4.0: 0.002, 8.0: 0.005}
"""Part of the tasks with each GPU request [1]_ (Table 1); 0.5 stands for all parts of a device."""

NAMING = 0.33
"""Part of the tasks with GPUs that name models [1]_ (section 6.5)."""

NODES = (
    # nodes, cores, GiB, GPUs, model
    (310, 32, 256, 0, ""),
    (2, 128, 1024, 1, "A10"),
    (549, 96, 384, 8, "G2"),
    (39, 128, 768, 8, "G3"),
    (3, 8, 60, 1, "P100"),
    (131, 16, 120, 2, "P100"),
    (387, 104, 512, 2, "T4"),
    (17, 96, 384, 4, "T4"),
    (19, 8, 32, 1, "V100M16"),
    (28, 32, 128, 4, "V100M16"),
    (8, 64, 256, 8, "V100M16"),
    (9, 48, 368, 4, "V100M32"),
    (21, 96, 768, 8, "V100M32"),
)

PARTS = np.arange(1, 10) / 10
CORES = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
CORES_A_DEVICE, GIB_A_DEVICE, GIB_A_CORE = 8.0, 32.0, 4.0
MEDIAN, SIGMA = 600.0, 1.5
MEAN_DURATION = MEDIAN * math.exp(SIGMA**2 / 2)


def synthetic_gpu_trace(
    n_tasks: int, rng: Seed = None, *, load: float = 1.0, scale: float = 1.0, n_users: int = 4
) -> tuple[ClusterTrace, NodeList]:
    """Tasks with the published shares of GPU requests, and the nodes of the cluster or of a smaller one.

    Parameters
    ----------
    n_tasks : int
    rng : seed or Generator, optional
    load : float
        Mean GPUs in use if no task waited, as part of those of the nodes.
    scale : float
        Part of the nodes: of each kind that many, rounded up.
    n_users : int

    Returns
    -------
    trace : ClusterTrace
        Its notes say what is published and what is assumed.
    nodes : NodeList

    Raises
    ------
    ModelError
        If a number is out of range.

    Examples
    --------
    >>> trace, nodes = synthetic_gpu_trace(1000, rng=1, scale=0.1)
    >>> nodes.n_nodes, trace.n_tasks
    (157, 1000)
    >>> gpus = trace.types[trace.type_of, 2]
    >>> float((gpus == 1).mean())  # published: 0.48
    0.475
    """
    n = require_whole("n_tasks", n_tasks, 1)
    load = require_number("load", load, above=0)
    users = require_whole("n_users", n_users, 1)
    stream = generator(rng)
    nodes = _nodes(require_number("scale", scale, above=0))
    devices = nodes.total_capacities[2]

    gpus = stream.choice(list(GPU_SHARES), size=n, p=list(GPU_SHARES.values()))
    shared = gpus == 0.5
    gpus[shared] = stream.choice(PARTS, size=int(shared.sum()))
    cores = np.maximum(1.0, CORES_A_DEVICE * gpus)
    memory = np.maximum(4.0, GIB_A_DEVICE * gpus)
    plain = gpus == 0
    cores[plain] = stream.choice(CORES, size=int(plain.sum()))
    memory[plain] = GIB_A_CORE * cores[plain]
    demands = np.stack([cores, memory, gpus], axis=1)

    models = list(dict.fromkeys(nodes.models))
    # The place of a model in the list, or the length of the list: any.
    named = np.full(n, len(models))
    names = (gpus > 0) & (stream.random(n) < NAMING)
    for request in np.unique(gpus[names]):
        asking = np.flatnonzero(names & (gpus == request))
        named[asking] = stream.choice(len(models), size=len(asking), p=_parts_of(nodes, models, request))
    rows, type_of = np.unique(np.column_stack([demands, named]), axis=0, return_inverse=True)
    chosen = rows[:, 3].astype(int)
    eligible: NDArray[np.bool_] = (chosen[:, None] == len(models)) | (
        chosen[:, None] == np.arange(len(models))
    )

    mean_gpus = sum(part * (PARTS.mean() if g == 0.5 else g) for g, part in GPU_SHARES.items())
    rate = load * devices / (mean_gpus * MEAN_DURATION)
    arrivals = np.cumsum(stream.exponential(1 / rate, size=n))
    trace = ClusterTrace(
        RESOURCES,
        UNITS,
        arrivals - arrivals[0],
        stream.lognormal(math.log(MEDIAN), SIGMA, size=n),
        rows[:, :3],
        type_of.ravel(),
        [f"user {k + 1}" for k in range(users)],
        stream.integers(users, size=n),
        models=models,
        eligible_models=eligible,
        devices="GPU",
        source="synthetic: GPU requests as published for the Alibaba GPU cluster trace 2023 (ATC 2023)",
        notes=["CPU, memory, parts of devices, durations, arrivals and users are assumed, not published"],
    )
    return trace, nodes


def _nodes(scale: float) -> NodeList:
    names, capacities, models = [], [], []
    for count, cores, memory, gpus, model in NODES:
        for k in range(math.ceil(count * scale)):
            names.append(f"{model or 'CPU'}-{gpus}-{k + 1}")
            capacities.append([cores, memory, gpus])
            models.append(model)
    return NodeList(names, RESOURCES, UNITS, capacities, models)


def _parts_of(nodes: NodeList, models: list[str], gpus: float) -> FloatArray:
    """Part of the GPUs that each model has, of those whose nodes have as many as a task asks for."""
    counts = np.zeros(len(models))
    for model, has in zip(nodes.models, nodes.capacities[:, 2], strict=True):
        counts[models.index(model)] += has * (has >= gpus)
    parts: FloatArray = counts / counts.sum()
    return parts
