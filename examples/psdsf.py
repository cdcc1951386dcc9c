"""Redraw J. Khamse-Ashari et al., "Per-server dominant-share fairness (PS-DSF)" (ICC 2017, arXiv:1611.00404).

python -m examples.psdsf --out out
python -m examples.psdsf --out out --full  # larger searches
"""

from __future__ import annotations

import sys

from examples.psdsf_figures import algorithm, datacenter, examples, limits, properties, whole_tasks
from examples.reproduce import Source, command
from fairqueues.kernels import bottlenecks, chains, markets, prices, servers

INTRODUCTION = (
    "The figures and tables of the PS-DSF paper, recomputed. Its published text survives without most numbers; what the pages restore "
    "is forced by the numbers and statements that are printed, or said to be a choice. Where a statement does not hold with the paper's own numbers, the page shows it."
)


SOURCE = Source(
    "psdsf",
    "Per-server dominant-share fairness, redrawn",
    INTRODUCTION,
    (
        examples.three_users,
        examples.four_users,
        examples.wireless,
        datacenter.google_cluster,
        datacenter.utilization_over_time,
        properties.property_table,
        limits.resource_division,
        whole_tasks.whole_tasks,
        algorithm.algorithm_at_work,
    ),
    (markets, servers, chains, prices, bottlenecks),
    slow=(properties.property_table,),
    quick=(
        examples.three_users,
        examples.four_users,
        examples.wireless,
        datacenter.google_cluster,
        datacenter.utilization_over_time,
        whole_tasks.whole_tasks,
        algorithm.algorithm_at_work,
    ),
)

if __name__ == "__main__":
    sys.exit(command([SOURCE], "examples.psdsf"))
