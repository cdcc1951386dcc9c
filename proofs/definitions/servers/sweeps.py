"""Algorithm I of PS-DSF with divided resources: sweeps over the servers, in fractions.

Equation numbers are those of J. Khamse-Ashari et al., "Per-server dominant-share fairness (PS-DSF)",
arXiv:1611.00404.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from proofs.definitions.exact import Matrix
from proofs.definitions.pools.filling import drf_tasks
from proofs.definitions.registry import Case, define, define_on_both
from proofs.definitions.servers.shares import Servers, is_psdsf, placements_on_a_grid

__all__: list[str] = []


def served(cluster: Servers, placement: Matrix, i: int) -> tuple[Matrix, bool]:
    """One visit of server i: the placement after it, and whether anything was updated.

    While users are left: the lowest level S of them (16), its users, and the full resources that one of these
    demands. If nobody who holds one of these has a higher level than S (Corollary 1), it is the bottleneck of
    all who demand it, who are done (17). If not, the users at S take from the highest holder of each (18).
    """
    x = [list(row) for row in placement]
    left = {n for n in cluster.users if cluster.gamma[n][i] > 0}
    updated = False
    while left:
        level = [values.get(i, Fraction(0)) for values in cluster.levels(x)]
        lowest = min(level[n] for n in left)
        poor = [n for n in sorted(left) if level[n] == lowest]
        holders = {
            r: [p for p in cluster.users if x[p][i] and cluster.demands[p][r]]
            for r in cluster.resources
            if cluster.full(x, i, r) and any(cluster.demands[n][r] for n in poor)
        }
        stops = [r for r, held in holders.items() if all(level[p] <= lowest for p in held)]
        if stops:
            left = {n for n in left if not any(cluster.demands[n][r] for r in stops[:1])}
            continue
        updated = True
        donors = sorted({max(held, key=lambda p: (level[p], -p)) for held in holders.values()})
        free = [
            cluster.capacities[i][r]
            - cluster.usage(x, i, r)
            + sum((x[p][i] * cluster.demands[p][r] for p in donors), Fraction(0))
            for r in cluster.resources
        ]
        speed = [
            sum((cluster.weights[n] * cluster.gamma[n][i] * cluster.demands[n][r] for n in poor), Fraction(0))
            for r in cluster.resources
        ]
        z = min(f / v for f, v in zip(free, speed, strict=True) if v)
        # The largest part b of (0, 1] with S + b z <= (x_p - b x_pi) / (weight gamma) for all donors p.
        part = Fraction(1)
        for p in donors:
            scale = cluster.weights[p] * cluster.gamma[p][i]
            part = min(part, (level[p] - lowest) / (z + x[p][i] / scale))
        for p in donors:
            x[p][i] *= 1 - part
        for n in poor:
            x[n][i] += part * cluster.weights[n] * cluster.gamma[n][i] * z
    return x, updated


def swept(cluster: Servers, placement: Matrix) -> tuple[Matrix, bool]:
    """A visit of every server in their order, and whether anything was updated."""
    any_update = False
    for i in cluster.servers:
        placement, updated = served(cluster, placement, i)
        any_update = any_update or updated
    return placement, any_update


def started(cluster: Servers) -> Matrix:
    """Weighted DRF on every server by itself, where the algorithm begins."""
    x = [[Fraction(0) for _ in cluster.servers] for _ in cluster.users]
    for i in cluster.servers:
        users = [n for n in cluster.users if cluster.gamma[n][i] > 0]
        resources = [r for r in cluster.resources if cluster.capacities[i][r] > 0]
        if users:
            tasks = drf_tasks(
                [[cluster.demands[n][r] for r in resources] for n in users],
                [cluster.capacities[i][r] for r in resources],
                [cluster.weights[n] for n in users],
            )
            for n, t in zip(users, tasks, strict=True):
                x[n][i] = t
    return x


@define
def rests(cluster: Servers, placement: Matrix) -> bool:
    """Whether a sweep updates nothing."""
    return not swept(cluster, placement)[1]


@define_on_both
def algorithm_rests(largest: int) -> Iterator[Case]:
    """On the grid of clusters and placements of Theorem 1 a sweep updates nothing exactly if it is PS-DSF."""
    for case, model, placement in placements_on_a_grid("resource", largest):
        yield case, rests(model, placement) == is_psdsf(model, placement, "resource")


THREE = {"demands": [[1], [1], [1]], "capacities": [[2], [1]], "eligible": [[1, 0], [0, 1], [1, 1]]}
"""One resource; users 1 and 2 have one server each, and user 3 may run on both."""


@define
def endless_sweeps(most: int) -> Iterator[Case]:
    """Each of so many sweeps of the three users updates something, and leaves a quarter on server 2.

    User 3 has z there; after the next sweep the placement is (1 + z/2, 0), (0, 1 - z/4), (1 - z/2, z/4).
    """
    model = Servers.of(THREE)
    placement = started(model)
    for sweep in range(1, most + 1):
        z = placement[2][1]
        placement, updated = swept(model, placement)
        told = [[1 + z / 2, 0], [0, 1 - z / 4], [1 - z / 2, z / 4]]
        yield {"sweep": sweep, "placement": placement}, updated and placement == told
