"""All PS-DSF allocations of a small cluster with divided resources, if every user demands every resource.

Then a full resource of a server stops everybody there, so the condition of Theorem 1 says: something is full
on every server, and servers serve their lowest levels only. For each server choose who is served and what is
full: equal levels and full resources are linear equations. Points are what their solutions leave.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, product
from random import Random
from typing import Any

from proofs.definitions.exact import ZERO, Row, solution, totals
from proofs.definitions.registry import Case, define, define_on_both, fractions
from proofs.definitions.servers.claims import is_cluster_allocation
from proofs.definitions.servers.shares import Servers, is_psdsf

__all__ = ["psdsf_points"]


def psdsf_points(model: Servers) -> list[Row]:
    """Tasks of the users in all PS-DSF allocations whose equations have one solution."""
    found: list[Row] = []
    open_servers = [i for i in model.servers if any(row[i] for row in model.gamma)]
    choices = [
        [
            (served, r)
            for number in model.users
            for served in combinations([n for n in model.users if model.gamma[n][i]], number + 1)
            for r in model.resources
        ]
        for i in open_servers
    ]
    for choice in product(*choices):
        places = [(n, i) for i, (served, _) in zip(open_servers, choice, strict=True) for n in served]
        if {n for n, _ in places} != set(model.users):
            continue
        rows, right = [], []
        for i, (served, r) in zip(open_servers, choice, strict=True):
            rows.append([model.demands[n][r] if j == i else ZERO for n, j in places])
            right.append(model.capacities[i][r])
            for p, q in pairwise(served):
                one, other = (1 / (model.gamma[n][i] * model.weights[n]) for n in (p, q))
                rows.append([one if n == p else -other if n == q else ZERO for n, _ in places])
                right.append(ZERO)
        values = solution(rows, right)
        if values is None or min(values) < 0:
            continue
        placement = [[ZERO for _ in model.servers] for _ in model.users]
        for (n, i), value in zip(places, values, strict=True):
            placement[n][i] = value
        if totals(placement) not in found and is_psdsf(model, placement, "resource"):
            found.append(totals(placement))
    return found


@define_on_both
def false_claim_hurts_nobody_else(cluster: Any, placement: Any, lie: Any, after: Any) -> dict[str, Any]:
    """Claim: if user 1 also reports servers that it cannot use and runs no less, nobody else runs less.

    Tasks where it cannot really run are worth nothing. Divided resources; all demand all. Both placements
    must be the only PS-DSF allocations there are.
    """
    model, x, y = Servers.of(cluster), fractions(placement), fractions(after)
    lied = {**cluster, "eligible": lie}
    others_are_honest = model.eligible[1:] == Servers.of(lied).eligible[1:]
    certified = all(
        is_cluster_allocation(stated, tasks) and psdsf_points(Servers.of(stated)) == [totals(tasks)]
        for stated, tasks in ((cluster, x), (lied, y))
    )
    runs = sum((tasks for i, tasks in enumerate(y[0]) if model.eligible[0][i]), ZERO)
    first, second = totals(x), totals(y)
    hurt = runs >= first[0] and any(b < a for a, b in zip(first[1:], second[1:], strict=True))
    return {
        "truth": first,
        "lie": second,
        "user 1 really runs": runs,
        "holds": not (others_are_honest and certified and hurt),
    }


def _with_one_point(rng: Random, users: int, servers: int, largest: int) -> tuple[dict[str, Any], list[Row]]:
    """A random cluster of two resources where one PS-DSF allocation is found, and that one."""
    while True:
        demands = [[rng.randint(1, largest) for _ in range(2)] for _ in range(users)]
        capacities = [[rng.randint(1, largest) for _ in range(2)] for _ in range(servers)]
        cluster = {"demands": demands, "capacities": capacities}
        found = psdsf_points(Servers.of(cluster))
        if len(found) == 1:
            return cluster, found


@define
def hiding_hurts_nobody_else(rng: Random, users: int, servers: int, largest: int) -> Case:
    """If user 1 hides a server of a random cluster and runs no less, the others run no less.

    All demand all. Asked where the PS-DSF allocation with the truth is the only one that is found; of all
    with the lie.
    """
    cluster, true = _with_one_point(rng, users, servers, largest)
    hidden = rng.randrange(servers)
    eligible = [[int(n > 0 or i != hidden) for i in range(servers)] for n in range(users)]
    lies = psdsf_points(Servers.of({**cluster, "eligible": eligible}))
    harmless = all(x[0] < true[0][0] or all(a >= b for a, b in zip(x, true[0], strict=True)) for x in lies)
    return {"cluster": cluster, "hidden": hidden + 1, "truth": true, "lie": lies}, harmless and bool(lies)


@define
def lying_hurts_nobody_else(rng: Random, users: int, servers: int, largest: int) -> Case:
    """If user 1 of a random cluster states other demands and runs no less, the others run no less.

    All demand all, also in the lie. User 1 really runs what fits, server by server, into the resources of the
    tasks that it claimed: the same multiple of them everywhere. Asked where the PS-DSF allocation with the
    truth is the only one that is found; of all with the lie.
    """
    cluster, true = _with_one_point(rng, users, servers, largest)
    lie = [rng.randint(1, largest) for _ in range(2)]
    lies = psdsf_points(Servers.of({**cluster, "demands": [lie, *cluster["demands"][1:]]}))
    worth = min(Fraction(claimed, needed) for claimed, needed in zip(lie, cluster["demands"][0], strict=True))
    runs = [[worth * x[0], *x[1:]] for x in lies]
    harmless = all(x[0] < true[0][0] or all(a >= b for a, b in zip(x, true[0], strict=True)) for x in runs)
    return {"cluster": cluster, "stated": lie, "truth": true, "lie": runs}, harmless and bool(lies)
