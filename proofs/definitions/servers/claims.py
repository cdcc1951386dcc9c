"""Claims on clusters that one case refutes: the numbers of the case, and whether the claim holds there.

Placements come with the case; what they are is checked by :mod:`proofs.definitions.servers.shares`, the
conditions of Theorems 1 and 2 and Definition 5 for PS-DSF, prices for C-DRFH and TSF; and a second time by
:mod:`proofs.definitions.second.servers.shares`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.definitions.exact import Matrix, dot, totals
from proofs.definitions.registry import define, define_on_both, fractions
from proofs.definitions.servers.shares import (
    Servers,
    cluster_fits,
    leximin_tasks,
    psdsf_tasks,
    uniform_tasks,
)

__all__ = ["is_cluster_allocation", "used"]


@define_on_both
def is_cluster_allocation(
    cluster: Any, placement: Any, mechanism: str = "PS-DSF", prices: Any = None, division: str = "resource"
) -> bool:
    """Whether the placement is one of the mechanism.

    It is "PS-DSF", "C-DRFH", "TSF", or "eligible": max-min fair dominant shares of the servers that a user
    may use. Only PS-DSF may divide "time".
    """
    if mechanism == "PS-DSF":
        told = psdsf_tasks(cluster, placement, division)
        return bool(told["conditions of the theorem"] and told["Definition 5"])
    share = {"C-DRFH": "global", "TSF": "unconstrained", "eligible": "eligible"}[mechanism]
    return bool(leximin_tasks(cluster, placement, share, prices)["max-min fair"])


def used(model: Servers, placement: Matrix, servers: list[int], resource: int) -> Fraction:
    """Part of a resource in use on some servers together (numbers from 1)."""
    amount = sum((model.usage(placement, i - 1, resource - 1) for i in servers), Fraction(0))
    return amount / sum(model.capacities[i - 1][resource - 1] for i in servers)


@define
def pooled_use(cluster: Any, placement: Any, servers: Any, resource: int) -> Fraction:
    """Part of a resource in use on some servers together."""
    return used(Servers.of(cluster), fractions(placement), servers, resource)


@define_on_both
def no_better_placement(cluster: Any, placement: Any, better: Any) -> dict[str, Any]:
    """Claim: no feasible placement gives some more and none less than a PS-DSF one (divided resources)."""
    first, second = totals(fractions(placement)), totals(fractions(better))
    dominates = first != second and all(a <= b for a, b in zip(first, second, strict=True))
    refuted = is_cluster_allocation(cluster, placement) and cluster_fits(cluster, better) and dominates
    return {"PS-DSF": first, "feasible": second, "holds": not refuted}


@define_on_both
def one_allocation(cluster: Any, placement: Any, other: Any) -> dict[str, Any]:
    """Claim: if both placements are PS-DSF with divided resources, they give the same tasks."""
    certified = is_cluster_allocation(cluster, placement) and is_cluster_allocation(cluster, other)
    first, second = totals(fractions(placement)), totals(fractions(other))
    return {"one": first, "other": second, "holds": not (certified and first != second)}


@define_on_both
def truth_pays(cluster: Any, placement: Any, lie: Any, after: Any) -> dict[str, Any]:
    """Claim: user 1 does not run more when it reports the servers of the lie (divided resources)."""
    lied = {**cluster, "eligible": lie}
    model, told = Servers.of(cluster), Servers.of(lied)
    honest = model.eligible[1:] == told.eligible[1:] and all(
        told.eligible[0][i] <= model.eligible[0][i] for i in model.servers
    )
    certified = honest and is_cluster_allocation(cluster, placement) and is_cluster_allocation(lied, after)
    first, second = totals(fractions(placement)), totals(fractions(after))
    return {"truth": first, "lie": second, "holds": not (certified and second[0] > first[0])}


@define_on_both
def claims_pay_nothing(
    cluster: Any, mechanism: str, placement: Any, prices: Any, lie: Any, after: Any, later: Any
) -> dict[str, Any]:
    """Claim: user 1 does not run more, where it really may, when it reports the servers of the lie.

    ``later`` are the prices of the placement ``after`` the lie.
    """
    model, x, y = Servers.of(cluster), fractions(placement), fractions(after)
    lied = {**cluster, "eligible": lie}
    certified = (
        model.eligible[1:] == Servers.of(lied).eligible[1:]
        and is_cluster_allocation(cluster, x, mechanism, prices)
        and is_cluster_allocation(lied, y, mechanism, later)
    )
    runs = sum((tasks for i, tasks in enumerate(y[0]) if model.eligible[0][i]), Fraction(0))
    return {
        "truth": totals(x),
        "lie": totals(y),
        "user 1 really runs": runs,
        "holds": not (certified and runs > sum(x[0])),
    }


@define_on_both
def truth_pays_in_time(cluster: Any, placement: Any, lie: Any, after: Any) -> dict[str, Any]:
    """Claim: user 1 does not gain by reporting the demand of the lie and using its time as it likes."""
    model, x, y = Servers.of(cluster), fractions(placement), fractions(after)
    lied = {**cluster, "demands": [lie, *cluster["demands"][1:]]}
    told = Servers.of(lied)
    certified = is_cluster_allocation(cluster, x, division="time") and is_cluster_allocation(
        lied, y, division="time"
    )
    time = [tasks / alone if alone else Fraction(0) for tasks, alone in zip(y[0], told.gamma[0], strict=True)]
    runs = dot(time, model.gamma[0])
    return {
        "truth": sum(x[0]),
        "time after the lie": time,
        "tasks after the lie": runs,
        "holds": not (certified and runs > sum(x[0])),
    }


@define_on_both
def shares_of_common_bottleneck(
    cluster: Any, mechanism: str, placement: Any, prices: Any, resource: int
) -> dict[str, Any]:
    """Claim: of a resource that all request dominantly, nobody gains by a loss of who has more.

    Amounts are weighted; a server where both may run and the second runs something makes the exchange
    possible.
    """
    model, x, r = Servers.of(cluster), fractions(placement), resource - 1
    pairs = [(n, i) for n in model.users for i in model.servers if model.gamma[n][i] > 0]
    common = all(model.gamma[n][i] * model.demands[n][r] == model.capacities[i][r] for n, i in pairs)
    amount = [t * model.demands[n][r] / model.weights[n] for n, t in enumerate(totals(x))]
    unfair = any(x[p][i] > 0 and amount[p] > amount[n] for n, i in pairs for p in model.users)
    certified = common and is_cluster_allocation(cluster, x, mechanism, prices)
    return {"tasks": totals(x), "weighted amounts": amount, "holds": not (certified and unfair)}


@define_on_both
def resource_fully_used(
    cluster: Any, mechanism: str, placement: Any, prices: Any, servers: Any, resource: int
) -> dict[str, Any]:
    """Claim: the mechanism uses all of the resource on the servers."""
    part = pooled_use(cluster, placement, servers, resource)
    certified = is_cluster_allocation(cluster, placement, mechanism, prices)
    return {"part in use": part, "holds": not (certified and part < 1)}


@define_on_both
def split_runs_no_more(cluster: Any, mechanism: str, placement: Any, prices: Any) -> dict[str, Any]:
    """Claim: the mechanism gives each user the tasks of a uniform split of every server, or more."""
    model, x = Servers.of(cluster), fractions(placement)
    uniform, tasks = uniform_tasks(model), totals(x)
    certified = is_cluster_allocation(cluster, x, mechanism, prices)
    short = any(t < u for t, u in zip(tasks, uniform, strict=True))
    return {"tasks": tasks, "uniform": uniform, "holds": not (certified and short)}


@define_on_both
def stable_on_ray(cluster: Any, jobs: Any, placement: Any, growth: Any, optimal: Any) -> dict[str, Any]:
    """Claim: the fluid queues do not grow along the ray through ``jobs`` while the loads fit.

    PS-DSF depends on the proportions of the jobs only. If the loads exceed its tasks by ``growth`` times the
    jobs, the queues stay on the ray and grow. The placement ``optimal`` carries the loads and leaves
    something of every resource that is in use.
    """
    weighted = {**cluster, "weights": jobs}
    model = Servers.of(weighted)
    x, y, speed = fractions(placement), fractions(optimal), fractions([growth])[0]
    tasks = totals(x)
    loads = [t + speed * w for t, w in zip(tasks, model.weights, strict=True)]
    spare = all(
        model.usage(y, i, r) < model.capacities[i][r] for i in model.servers for r in model.resources
    ) and cluster_fits(cluster, y)
    grows = is_cluster_allocation(weighted, x) and speed > 0 and spare and totals(y) == loads
    return {"PS-DSF": tasks, "loads": loads, "holds": not grows}
