r"""Several servers a second time: shares per server, gains that are left, and max-min fairness by linear
programs.

PS-DSF by the theorems: with divided resources, equations (14) and (15), the largest level of those who hold a
full resource is no larger than that of the user; with divided time no served level exceeds a level that may
be served. By Definition 5: what is left of a server once higher levels have left it runs no more of the
user's tasks. Max-min fair shares by their definition: the most that a user can run, if nobody of the same or
a lower level loses, is what it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

from proofs.definitions.exact import ONE, ZERO, Cluster, Matrix, Row, largest, possible, runs, totals, usage
from proofs.definitions.registry import define_again, fractions

__all__ = ["Park", "cannot_gain", "is_leximin", "is_psdsf", "pooled_use"]


class Park(Cluster):
    """A cluster, with tasks alone on each server."""

    @cached_property
    def gamma(self) -> Matrix:
        """Tasks of a user alone on each server, 0 where it may not run."""
        return [
            [runs(row, c) if may else ZERO for c, may in zip(self.capacities, allowed, strict=True)]
            for row, allowed in zip(self.demands, self.eligible, strict=True)
        ]

    def used(self, placement: Matrix, i: int) -> Row:
        """Units of each resource of a server in use."""
        return usage(self.demands, [row[i] for row in placement])

    @cached_property
    def need(self) -> Matrix:
        """Largest share of a server that a task of a user needs, over its weight, where it may run."""
        return [
            [
                max(d / c for d, c in zip(row, capacity, strict=True) if d) / w if g else ZERO
                for capacity, g in zip(self.capacities, alone, strict=True)
            ]
            for row, w, alone in zip(self.demands, self.weights, self.gamma, strict=True)
        ]

    def level(self, placement: Matrix, n: int, i: int) -> Fraction:
        """All tasks of a user in shares of what it needs most of a server, over its weight."""
        return sum(placement[n], ZERO) * self.need[n][i]

    def open_to(self, i: int) -> list[int]:
        """Users who can run on a server."""
        return [n for n, row in enumerate(self.gamma) if row[i]]


@define_again
def read_cluster(cluster: Any) -> Park:
    """The cluster of a claim."""
    return Park.of(cluster)


@define_again
def fits(park: Park, placement: Matrix, division: str) -> bool:
    """No negative tasks, none where a user cannot run, and no server overfull or overtime."""
    for row, gamma in zip(placement, park.gamma, strict=True):
        if any(x < 0 or (x > 0 and not g) for x, g in zip(row, gamma, strict=True)):
            return False
    for i, capacity in enumerate(park.capacities):
        if division == "time":
            if time_on(park, placement, i) > 1:
                return False
        elif any(u > c for u, c in zip(park.used(placement, i), capacity, strict=True)):
            return False
    return True


def time_on(park: Park, placement: Matrix, i: int) -> Fraction:
    """Part of the time that a server works."""
    return sum((placement[n][i] / park.gamma[n][i] for n in park.open_to(i)), ZERO)


@define_again
def is_psdsf(park: Park, placement: Matrix, division: str, saturated: bool = True) -> bool:
    """The conditions of the theorems, by the highest served level."""
    if not fits(park, placement, division):
        return False
    for i, capacity in enumerate(park.capacities):
        users = park.open_to(i)
        level = {n: park.level(placement, n, i) for n in users}
        if division == "time":
            served = [level[n] for n in users if placement[n][i]]
            if users and (time_on(park, placement, i) != 1 or max(served) > min(level.values())):
                return False
            continue
        used = park.used(placement, i)
        highest = [
            max((level[p] for p in users if placement[p][i] and park.demands[p][r]), default=ZERO)
            for r in range(len(capacity))
        ]
        for n in users:
            stops = [
                h <= level[n]
                for r, h in enumerate(highest)
                if park.demands[n][r] and (used[r] == capacity[r] or not saturated)
            ]
            if not any(stops):
                return False
    return True


@define_again
def cannot_gain(park: Park, placement: Matrix, division: str) -> bool:
    """Definition 5 on each server: the tasks that fit beside the same and lower levels."""
    for i, capacity in enumerate(park.capacities):
        users = park.open_to(i)
        level = {n: park.level(placement, n, i) for n in users}
        for n in users:
            stay = [
                [x if p in level and level[p] <= level[n] else ZERO for x in row]
                for p, row in enumerate(placement)
            ]
            if division == "time":
                gain = (1 - time_on(park, stay, i)) * park.gamma[n][i]
            else:
                free = [c - u for c, u in zip(capacity, park.used(stay, i), strict=True)]
                gain = min(f / d for f, d in zip(free, park.demands[n], strict=True) if d)
            if gain > 0:
                return False
    return True


@define_again
def is_leximin(park: Park, placement: Matrix, share: str, prices: Any) -> bool:
    """Nobody can run more unless somebody of the same or a lower share runs less: a linear program each.

    The prices are not used.
    """
    if not fits(park, placement, "resource"):
        return False
    tasks = totals(placement)
    if share in ("global", "eligible"):
        used = [[ONE * bool(allowed or share == "global") for allowed in row] for row in park.eligible]
        scale = [runs(row, usage(park.capacities, of)) for row, of in zip(park.demands, used, strict=True)]
    else:
        scale = [sum((runs(row, c) for c in park.capacities), ZERO) for row in park.demands]
    level = [x / (s * w) for x, s, w in zip(tasks, scale, park.weights, strict=True)]
    places = [(n, i) for n, row in enumerate(park.gamma) for i, g in enumerate(row) if g]
    rows = [
        [park.demands[n][r] * (k == i) for n, k in places]
        for i in range(len(park.capacities))
        for r in range(len(park.demands[0]))
    ]
    right = [c for capacity in park.capacities for c in capacity]
    for n, own in enumerate(tasks):
        kept = [p for p, v in enumerate(level) if p != n and v <= level[n]]
        most = largest(
            [ONE * (p == n) for p, _ in places],
            rows + [[-ONE * (q == p) for q, _ in places] for p in kept],
            right + [-tasks[p] for p in kept],
        )
        if most != own:
            return False
    return True


@define_again
def psdsf_levels(cluster: Any, placement: Any) -> list[list[Fraction | None]]:
    """Shares of each server, by what a user needs most of it."""
    park, x = Park.of(cluster), fractions(placement)
    return [
        [park.level(x, n, i) if g else None for i, g in enumerate(row)] for n, row in enumerate(park.gamma)
    ]


@define_again
def pooled_use(cluster: Any, placement: Any, servers: Any, resource: int) -> Fraction:
    """Use of a resource on some servers over what they have."""
    park, x = Park.of(cluster), fractions(placement)
    used = sum((park.used(x, i - 1)[resource - 1] for i in servers), ZERO)
    return used / sum((park.capacities[i - 1][resource - 1] for i in servers), ZERO)


def is_reachable(park: Park, tasks: Row) -> bool:
    """Whether some placement of these tasks is PS-DSF, if all demand all: lowest levels, full servers."""
    level = [
        {n: tasks[n] / (park.gamma[n][i] * park.weights[n]) for n in park.open_to(i)}
        for i in range(len(park.capacities))
    ]
    places = [(n, i) for i, known in enumerate(level) for n, v in known.items() if v == min(known.values())]
    exact = [([ONE * (p == n) for p, _ in places], x) for n, x in enumerate(tasks)]
    use = [
        [([park.demands[n][r] * (k == i) for n, k in places], c) for r, c in enumerate(capacity)]
        for i, capacity in enumerate(park.capacities)
        if level[i]
    ]
    for full in product(*use):
        equal = [*exact, *full]
        rows = [row for walls in use for row, _ in walls] + [row for row, _ in exact]
        rows += [[-v for v in row] for row, _ in equal]
        right = [c for walls in use for _, c in walls] + [x for _, x in exact] + [-c for _, c in equal]
        if possible(rows, right):
            return True
    return False


def _harmless(case: Mapping[str, Any], park: Park, told: Park, worth: Fraction) -> bool:
    """All allocations that are named are PS-DSF, and who loses nothing by the lie takes nothing."""
    [truth] = fractions(case["truth"])
    lies = fractions(case["lie"])
    if not lies or not is_reachable(park, truth):
        return False
    for got in lies:
        if not is_reachable(told, [got[0] / worth, *got[1:]]):
            return False
        if got[0] >= truth[0] and min(b - a for a, b in zip(truth, got, strict=True)) < 0:
            return False
    return True


@define_again
def hiding_hurts_nobody_else(case: Mapping[str, Any], users: int, servers: int, largest: int) -> bool:
    """The tasks that are named can be placed as PS-DSF asks; that there are no others only the first says."""
    eligible = [[int(n > 0 or i != case["hidden"]) for i in range(1, servers + 1)] for n in range(users)]
    told = Park.of({**case["cluster"], "eligible": eligible})
    return _harmless(case, Park.of(case["cluster"]), told, ONE)


@define_again
def lying_hurts_nobody_else(case: Mapping[str, Any], users: int, servers: int, largest: int) -> bool:
    """The same with other demands: a claimed task is worth what its resources run."""
    cluster = case["cluster"]
    told = Park.of({**cluster, "demands": [case["stated"], *cluster["demands"][1:]]})
    worth = runs(fractions(cluster["demands"][0]), fractions(case["stated"]))
    return _harmless(case, Park.of(cluster), told, worth)
