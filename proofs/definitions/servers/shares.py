r"""Several servers: tasks alone on a server, virtual dominant shares, PS-DSF and leximin shares.

A cluster is a dict with ``demands`` (a row of units per task for each user), ``capacities`` (a row for each
server) and, where they matter, ``weights`` (1 each) and ``eligible`` (1 everywhere). ``placement[n][i]`` are
the tasks of user n on server i. Equation numbers are those of J. Khamse-Ashari et al., "Per-server
dominant-share fairness (PS-DSF)", arXiv:1611.00404.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

from proofs.definitions.exact import Cluster, Matrix, Row, dot, small_demands, totals, usage
from proofs.definitions.pools.filling import drf_tasks, tasks_with
from proofs.definitions.registry import Case, define, define_on_both, fractions

__all__ = [
    "Servers",
    "cannot_gain",
    "envies",
    "fits",
    "is_leximin",
    "is_psdsf",
    "placements_on_a_grid",
    "uniform_tasks",
]


class Servers(Cluster):
    """Users, servers and resources in fractions."""

    @cached_property
    def users(self) -> range:
        """Numbers of the users."""
        return range(len(self.demands))

    @cached_property
    def servers(self) -> range:
        """Numbers of the servers."""
        return range(len(self.capacities))

    @cached_property
    def resources(self) -> range:
        """Numbers of the resources."""
        return range(len(self.demands[0]))

    def alone(self, n: int, i: int) -> Fraction:
        """Tasks that user n runs alone on server i, placement constraints set aside."""
        return tasks_with(self.demands[n], self.capacities[i])

    @cached_property
    def gamma(self) -> Matrix:
        """Equation (7): the same with placement constraints."""
        return [[self.eligible[n][i] * self.alone(n, i) for i in self.servers] for n in self.users]

    def usage(self, placement: Matrix, i: int, r: int) -> Fraction:
        """Units of resource r in use on server i."""
        return dot([row[i] for row in placement], [row[r] for row in self.demands])

    def full(self, placement: Matrix, i: int, r: int) -> bool:
        """Whether resource r is saturated on server i."""
        return self.usage(placement, i, r) == self.capacities[i][r]

    def levels(self, placement: Matrix) -> list[dict[int, Fraction]]:
        """Equation (8) over the weight, by user and server: all tasks over gamma, where the user can run."""
        return [
            {i: x / (gamma * w) for i, gamma in enumerate(row) if gamma}
            for x, row, w in zip(totals(placement), self.gamma, self.weights, strict=True)
        ]


@define
def read_cluster(cluster: Any) -> Servers:
    """The cluster of a claim."""
    return Servers.of(cluster)


@define
def fits(cluster: Servers, placement: Matrix, division: str) -> bool:
    """Equation (9) for the division "resource", (10) for "time"; tasks only where they may run."""
    for n, i in product(cluster.users, cluster.servers):
        if placement[n][i] < 0 or (placement[n][i] and not cluster.gamma[n][i]):
            return False
    if division == "time":
        return all(busy(cluster, placement, i) <= 1 for i in cluster.servers)
    return all(
        cluster.usage(placement, i, r) <= cluster.capacities[i][r]
        for i in cluster.servers
        for r in cluster.resources
    )


def busy(cluster: Servers, placement: Matrix, i: int) -> Fraction:
    """Part of the time that server i works under time division."""
    return sum((placement[n][i] / cluster.gamma[n][i] for n in cluster.users if placement[n][i]), Fraction(0))


def bottleneck(
    cluster: Servers,
    placement: Matrix,
    level: list[dict[int, Fraction]],
    n: int,
    i: int,
    saturated: bool = True,
) -> bool:
    """Equation (12): a demanded, saturated resource of server i that no user of a higher level holds."""
    return any(
        cluster.demands[n][r] > 0
        and (cluster.full(placement, i, r) or not saturated)
        and all(
            level[p][i] <= level[n][i] for p in cluster.users if placement[p][i] and cluster.demands[p][r]
        )
        for r in cluster.resources
    )


@define
def is_psdsf(cluster: Servers, placement: Matrix, division: str, saturated: bool = True) -> bool:
    """Theorem 1 (resource division) and Theorem 2 (time division): the conditions that certify PS-DSF."""
    if not fits(cluster, placement, division):
        return False
    pairs = [(n, i) for n in cluster.users for i in cluster.servers if cluster.gamma[n][i] > 0]
    level = cluster.levels(placement)
    if division == "resource":
        return all(bottleneck(cluster, placement, level, n, i, saturated) for n, i in pairs)
    return all(busy(cluster, placement, i) == 1 for _, i in pairs) and all(
        level[p][i] <= level[n][i] for n, i in pairs for p in cluster.users if placement[p][i] > 0
    )


@define
def cannot_gain(cluster: Servers, placement: Matrix, division: str) -> bool:
    """Definition 5, server by server: nobody gains there if nobody of the same or a lower level loses.

    Users of higher levels may lose all that they have on this server, so that only what the others hold is in
    the way.
    """
    level = cluster.levels(placement)
    for n, i in product(cluster.users, cluster.servers):
        if not cluster.gamma[n][i]:
            continue
        equals = [p for p in cluster.users if i in level[p] and level[p][i] <= level[n][i]]
        kept = [row if p in equals else [Fraction(0)] * len(row) for p, row in enumerate(placement)]
        if division == "time":
            room = busy(cluster, kept, i) < 1
        else:
            room = all(
                cluster.usage(kept, i, r) < cluster.capacities[i][r]
                for r in cluster.resources
                if cluster.demands[n][r] > 0
            )
        if room:
            return False
    return True


def uniform_tasks(cluster: Servers) -> Row:
    """Tasks with the weight's part of every server: what the sharing incentive compares with."""
    whole = sum(cluster.weights)
    return [w / whole * sum(row, Fraction(0)) for w, row in zip(cluster.weights, cluster.gamma, strict=True)]


def envies(cluster: Servers, placement: Matrix, n: int, p: int) -> bool:
    """Whether user n runs more with the resources of user p, over its weight, than with its own (eq. 25)."""
    worth = sum(
        (
            tasks_with(cluster.demands[n], [placement[p][i] * d for d in cluster.demands[p]])
            for i in cluster.servers
            if cluster.gamma[n][i]
        ),
        Fraction(0),
    )
    return worth / cluster.weights[p] > sum(placement[n]) / cluster.weights[n]


def yardsticks(cluster: Servers, share: str) -> Row:
    """Tasks of a user that make its share 1, times its weight.

    "global": the dominant share of the pooled cluster (C-DRFH, eq. 5). "eligible": that of the servers which
    the user may use, pooled. "unconstrained": tasks alone on the whole cluster, placement constraints set
    aside (TSF).
    """
    if share in ("global", "eligible"):
        may = [[1] * len(row) if share == "global" else row for row in cluster.eligible]
        pools = [usage(cluster.capacities, list(map(Fraction, row))) for row in may]
        alone = [tasks_with(row, pool) for row, pool in zip(cluster.demands, pools, strict=True)]
    else:
        alone = [sum((cluster.alone(n, i) for i in cluster.servers), Fraction(0)) for n in cluster.users]
    return [w * a for w, a in zip(cluster.weights, alone, strict=True)]


@define
def is_leximin(cluster: Servers, placement: Matrix, share: str, prices: list[Matrix]) -> bool:
    """Whether the shares are max-min fair: for every level there are prices that stop its users.

    Prices per unit, one table (server, resource) for each level in rising order. Let v be the cost of a task
    where it is cheapest. If the users up to the level could buy all that there is for what they have, and the
    users at the level have v > 0, then no placement that leaves the others their tasks gives one of the level
    more.
    """
    tasks, scale = totals(placement), yardsticks(cluster, share)
    if not fits(cluster, placement, "resource"):
        return False
    level = [x / y for x, y in zip(tasks, scale, strict=True)]
    for height, table in zip(sorted(set(level)), prices, strict=True):
        if min(min(row) for row in table) < 0:
            return False
        lower = [n for n in cluster.users if level[n] <= height]
        cost = {
            n: min(dot(table[i], cluster.demands[n]) for i in cluster.servers if cluster.gamma[n][i] > 0)
            for n in lower
        }
        supply = sum(
            table[i][r] * cluster.capacities[i][r] for i in cluster.servers for r in cluster.resources
        )
        if supply > sum(cost[n] * tasks[n] for n in lower) or any(
            cost[n] <= 0 for n in lower if level[n] == height
        ):
            return False
    return True


@define_on_both
def cluster_gammas(cluster: Any) -> Matrix:
    """Tasks of each user alone on each server (eq. 7)."""
    return read_cluster(cluster).gamma


@define
def psdsf_levels(cluster: Any, placement: Any) -> Any:
    """Virtual dominant shares of all tasks of a user on each server, over its weight (eq. 8)."""
    model = Servers.of(cluster)
    levels = model.levels(fractions(placement))
    return [[levels[n].get(i) for i in model.servers] for n in model.users]


@define_on_both
def psdsf_tasks(cluster: Any, placement: Any, division: str) -> dict[str, Any]:
    """Tasks of each user in a placement, and whether it is PS-DSF, by the theorems and by Definition 5."""
    model, x = read_cluster(cluster), fractions(placement)
    return {
        "tasks": totals(x),
        "conditions of the theorem": is_psdsf(model, x, division),
        "Definition 5": fits(model, x, division) and cannot_gain(model, x, division),
    }


@define_on_both
def cluster_fits(cluster: Any, placement: Any) -> bool:
    """Whether a placement fits when resources are divided."""
    return fits(read_cluster(cluster), fractions(placement), "resource")


@define_on_both
def leximin_tasks(cluster: Any, placement: Any, share: str, prices: Any) -> dict[str, Any]:
    """Tasks of each user in a placement, and whether its shares are max-min fair, by prices."""
    model, x = read_cluster(cluster), fractions(placement)
    return {"tasks": totals(x), "max-min fair": is_leximin(model, x, share, fractions(prices))}


@define_on_both
def placements_on_a_grid(
    division: str, largest: int, denominator: int = 2
) -> Iterator[tuple[dict[str, Any], Any, Matrix]]:
    """All placements of two users on a grid of clusters that fit: the case, the cluster and the placement.

    Two servers and two resources; the second user may run on the second server only or on both.
    """
    rows = small_demands(2, largest)
    for one, other, first in product(rows, rows, [(1, 1), (2, 1), (1, 2)]):
        cluster = {"demands": [one, other], "capacities": [first, [largest, 1]], "eligible": [[1, 1], [0, 1]]}
        model = read_cluster(cluster)
        if not all(sum(row) for row in model.gamma):
            continue
        steps = [
            [Fraction(k, denominator) * g for k in range(denominator + 1)] for row in model.gamma for g in row
        ]
        for a, b, d in product(steps[0], steps[1], steps[3]):
            x = [[a, b], [Fraction(0), d]]
            if fits(model, x, division):
                yield {"cluster": cluster, "placement": x}, model, x


@define_on_both
def placements_by_both_definitions(
    division: str, largest: int, saturated: bool = True, denominator: int = 2
) -> Iterator[Case]:
    """On this grid Definition 5 is met exactly if the theorem says so."""
    for case, model, x in placements_on_a_grid(division, largest, denominator):
        yield case, is_psdsf(model, x, division, saturated) == cannot_gain(model, x, division)


@define_on_both
def one_server_cases(largest: int, weighted: bool = True) -> Iterator[Case]:
    """All pairs of users with small demands on one server: DRF is PS-DSF."""
    rows = small_demands(2, largest)
    for one, other, server in product(rows, rows, [(2, 3), (3, 1), (1, 1)]):
        weights = [1, 2]
        tasks = drf_tasks([one, other], server, weights if weighted else None)
        cluster = {"demands": [one, other], "capacities": [server], "weights": weights}
        told = psdsf_tasks(cluster, [[x] for x in tasks], "resource")
        yield {"cluster": cluster, "tasks": tasks}, told["conditions of the theorem"]
