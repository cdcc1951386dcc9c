"""Draw which loads fit: stability regions, guaranteed service, insensitivity, backbones, what policies lose, heavy traffic.

Pages of the capacity and queueing studies of this library, each against closed forms, published numbers or a second
method.

    python -m examples.regions --out out
    python -m examples.regions --out out --full  # finer boundaries and longer runs
"""

from __future__ import annotations

import sys

from examples.capacity_figures import (
    backbone,
    best_possible,
    enclosures,
    extensions,
    heavy_traffic,
    insensitivity,
    orders,
    policies,
    random_cluster,
    random_traffic,
    regions,
    service,
)
from examples.reproduce import Source, command
from fairqueues.kernels import (
    bottlenecks,
    certificates,
    chains,
    levels,
    many_prices,
    markets,
    placed_tasks,
    prices,
    runs,
    servers,
)

INTRODUCTION = (
    "Which loads fit, and how well they are served. T. Bonald and J. Roberts' talk (Eindhoven, 2014) draws one capacity region and mean service rates on two rays; "
    "these pages draw the whole regions, exactly, for pools, clusters and whole tasks, the loads at which every class keeps a guaranteed rate, how much the law of the job sizes matters, real backbones, what policies lose that are not made for it, whole jobs that wait in order, how far policies are from the best possible, two open questions by numbers: heavy traffic and the stability of bottleneck max fairness, and means of infinite chains between bounds that are proved."
)


SOURCE = Source(
    "regions",
    "Which loads fit",
    INTRODUCTION,
    (
        regions.stability_regions,
        service.service_regions,
        insensitivity.insensitivity,
        backbone.backbone,
        random_traffic.random_traffic,
        policies.policy_regions,
        orders.orders,
        best_possible.best_possible,
        heavy_traffic.heavy_traffic,
        heavy_traffic.bmf_stability,
        extensions.extensions,
        random_cluster.random_cluster,
        enclosures.enclosures,
    ),
    (prices, many_prices, bottlenecks, markets, servers, levels, chains, certificates, runs, placed_tasks),
    slow=(
        random_traffic.random_traffic,
        random_cluster.random_cluster,
        heavy_traffic.heavy_traffic,
        heavy_traffic.bmf_stability,
        extensions.extensions,
    ),
    quick=(regions.stability_regions, backbone.backbone, policies.policy_regions, orders.orders),
)

if __name__ == "__main__":
    sys.exit(command([SOURCE], "examples.regions"))
