"""How many GPUs each placement rule can hand out: ``python -m benchmarks.gpu_allocation PODS NODES``.

The experiment of Weng et al. (USENIX ATC 2023) on the files of the Alibaba GPU cluster trace 2023, which the
user has: pods arrive one after the other in random order, drawn again from the file when it is used up,
until they have asked for as many GPUs as the cluster has; none ever ends; one that fits nowhere is passed
over. What is allocated then, as a part of all GPUs, measures how well a rule avoids fragments. The published
figures are means of ten seeds, as these are.

What differs: pods that never ran in the trace (a tenth) are left out here, as their durations are unknown; a
part of a GPU goes to the fullest device of its node under every rule here, and as the rule says there; and
their best fit weighs resources in another way. Rules of theirs that are not in this library (clustering,
packing, and the descent of fragmentation itself) are told for comparison.
"""

from __future__ import annotations

import argparse

import numpy as np

from fairqueues.traces import read_alibaba_gpu_2023
from queueing import (
    BestFit,
    ClusterTrace,
    FIFOScheduler,
    FirstFit,
    NodeList,
    Placement,
    PowerOfChoices,
    RandomFit,
    WorstFit,
    replay,
)

__all__ = ["PUBLISHED", "allocated", "arriving"]

PUBLISHED = {"random fit": 86.30, "alignment": 90.62, "best fit": 92.86}
"""Per cent of the GPUs, of the rules that are alike."""

OTHERS = {"clustering": 91.65, "packing": 91.78, "gradient descent": 95.23}

RULES: tuple[Placement, ...] = (
    RandomFit(),
    PowerOfChoices(2),
    BestFit("alignment"),
    BestFit(),
    WorstFit(),
    FirstFit(),
)


def arriving(
    trace: ClusterTrace, nodes: NodeList, rng: np.random.Generator, load: float = 1.0
) -> ClusterTrace:
    """Pods in random order, one a second, until they ask for ``load`` times the devices; none ever ends."""
    assert trace.devices is not None
    asked = trace.types[trace.type_of, trace.devices]
    total = load * nodes.total_capacities[trace.devices]
    order = rng.permutation(trace.n_tasks)
    while asked[order].sum() <= total:
        order = np.concatenate([order, rng.integers(0, trace.n_tasks, trace.n_tasks)])
    order = order[: np.searchsorted(np.cumsum(asked[order]), total, side="right")]
    n = len(order)
    return ClusterTrace(
        trace.resources, trace.units, np.arange(n), np.full(n, 1e12), trace.types, trace.type_of[order],
        ["all"], np.zeros(n, int), devices=trace.devices, models=trace.models or None,
        eligible_models=trace.eligible_models,
    )  # fmt: skip


def allocated(pods: ClusterTrace, nodes: NodeList, rule: Placement, seed: int) -> float:
    """Per cent of the devices that are allocated when all have arrived."""
    assert pods.devices is not None
    last = float(pods.arrivals[-1])
    record = replay(pods, nodes, FIFOScheduler(blocking=False), placement=rule, until=last, rng=seed)
    started = ~np.isnan(record.starts)
    devices = pods.types[pods.type_of[started], pods.devices].sum()
    return float(100.0 * devices / nodes.total_capacities[pods.devices])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu_allocation", description=__doc__.split("\n")[0]
    )
    parser.add_argument("pods", help="openb_pod_list_*.csv")
    parser.add_argument("nodes", help="openb_node_list_*.csv")
    parser.add_argument("--seeds", type=int, default=10)
    chosen = parser.parse_args(arguments)
    trace, nodes = read_alibaba_gpu_2023(chosen.pods, chosen.nodes)
    print(f"{'rule':<18}{'GPUs allocated, %':>24}{'published':>12}")
    for rule in RULES:
        found = [
            allocated(arriving(trace, nodes, np.random.default_rng(seed)), nodes, rule, seed)
            for seed in range(chosen.seeds)
        ]
        told = f"{PUBLISHED[rule.name]:.2f}" if rule.name in PUBLISHED else "-"
        spread = f"{np.mean(found):.2f} +- {np.std(found):.2f}"
        print(f"{rule.name:<18}{spread:>24}{told:>12}", flush=True)
    for name, told in OTHERS.items():
        print(f"{name:<18}{'-':>24}{told:>12.2f}")


if __name__ == "__main__":
    main()
