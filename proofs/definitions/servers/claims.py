"""Claims on clusters that one case refutes: the numbers of the case, and whether the claim holds there.

Placements come with the case; what they are is checked by :mod:`proofs.definitions.servers.shares`, the
conditions of Theorems 1 and 2 for PS-DSF, prices for C-DRFH and TSF.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.definitions.exact import Matrix, totals
from proofs.definitions.registry import define, fractions
from proofs.definitions.servers.shares import Servers, cannot_gain, fits, is_leximin, is_psdsf, uniform_tasks

__all__: list[str] = []


def is_allocation(model: Servers, mechanism: str, placement: Matrix, prices: Any) -> bool:
    """Whether the placement is one of the mechanism, with divided resources.

    It is "PS-DSF", "C-DRFH", "TSF", or "eligible": max-min fair dominant shares of the servers that a user
    may use.
    """
    if mechanism == "PS-DSF":
        return is_psdsf(model, placement, "resource")
    share = {"C-DRFH": "global", "TSF": "unconstrained", "eligible": "eligible"}[mechanism]
    return is_leximin(model, placement, share, fractions(prices))


def used(model: Servers, placement: Matrix, servers: list[int], resource: int) -> Fraction:
    """Part of a resource in use on some servers together (numbers from 1)."""
    amount = sum((model.usage(placement, i - 1, resource - 1) for i in servers), Fraction(0))
    return amount / sum(model.capacities[i - 1][resource - 1] for i in servers)


@define
def pooled_use(cluster: Any, placement: Any, servers: Any, resource: int) -> Fraction:
    """Part of a resource in use on some servers together."""
    return used(Servers.of(cluster), fractions(placement), servers, resource)


@define
def no_better_placement(cluster: Any, placement: Any, better: Any) -> dict[str, Any]:
    """Claim: no feasible placement gives some more and none less than a PS-DSF one (divided resources)."""
    model, x, y = Servers.of(cluster), fractions(placement), fractions(better)
    certified = is_psdsf(model, x, "resource") and cannot_gain(model, x, "resource")
    first, second = totals(x), totals(y)
    dominates = first != second and all(a <= b for a, b in zip(first, second, strict=True))
    refuted = certified and fits(model, y, "resource") and dominates
    return {"PS-DSF": first, "feasible": second, "holds": not refuted}


@define
def one_allocation(cluster: Any, placement: Any, other: Any) -> dict[str, Any]:
    """Claim: if both placements are PS-DSF with divided resources, they give the same tasks."""
    model, x, y = Servers.of(cluster), fractions(placement), fractions(other)
    certified = is_psdsf(model, x, "resource") and is_psdsf(model, y, "resource")
    first, second = totals(x), totals(y)
    return {"one": first, "other": second, "holds": not (certified and first != second)}


@define
def truth_pays(cluster: Any, placement: Any, lie: Any, after: Any) -> dict[str, Any]:
    """Claim: user 1 does not run more when it reports the servers of the lie (divided resources)."""
    model, x, y = Servers.of(cluster), fractions(placement), fractions(after)
    told = Servers.of({**cluster, "eligible": lie})
    honest = all(t == u for t, u in zip(model.eligible[1:], told.eligible[1:], strict=True)) and all(
        told.eligible[0][i] <= model.eligible[0][i] for i in model.servers
    )
    certified = honest and is_psdsf(model, x, "resource") and is_psdsf(told, y, "resource")
    first, second = totals(x), totals(y)
    return {"truth": first, "lie": second, "holds": not (certified and second[0] > first[0])}


@define
def claims_pay_nothing(
    cluster: Any, mechanism: str, placement: Any, prices: Any, lie: Any, after: Any, later: Any
) -> dict[str, Any]:
    """Claim: user 1 does not run more, where it really may, when it reports the servers of the lie.

    ``later`` are the prices of the placement ``after`` the lie.
    """
    model, x, y = Servers.of(cluster), fractions(placement), fractions(after)
    told = Servers.of({**cluster, "eligible": lie})
    certified = (
        model.eligible[1:] == told.eligible[1:]
        and is_allocation(model, mechanism, x, prices)
        and is_allocation(told, mechanism, y, later)
    )
    runs = sum((tasks for i, tasks in enumerate(y[0]) if model.eligible[0][i]), Fraction(0))
    return {
        "truth": totals(x),
        "lie": totals(y),
        "user 1 really runs": runs,
        "holds": not (certified and runs > sum(x[0])),
    }


@define
def truth_pays_in_time(cluster: Any, placement: Any, lie: Any, after: Any) -> dict[str, Any]:
    """Claim: user 1 does not gain by reporting the demand of the lie and using its time as it likes."""
    model, x, y = Servers.of(cluster), fractions(placement), fractions(after)
    told = Servers.of({**cluster, "demands": [lie, *cluster["demands"][1:]]})
    certified = is_psdsf(model, x, "time") and is_psdsf(told, y, "time")
    time = [tasks / alone if alone else Fraction(0) for tasks, alone in zip(y[0], told.gamma[0], strict=True)]
    runs = sum((t * g for t, g in zip(time, model.gamma[0], strict=True)), Fraction(0))
    return {
        "truth": sum(x[0]),
        "time after the lie": time,
        "tasks after the lie": runs,
        "holds": not (certified and runs > sum(x[0])),
    }


@define
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
    certified = common and is_allocation(model, mechanism, x, prices)
    return {"tasks": totals(x), "weighted amounts": amount, "holds": not (certified and unfair)}


@define
def resource_fully_used(
    cluster: Any, mechanism: str, placement: Any, prices: Any, servers: Any, resource: int
) -> dict[str, Any]:
    """Claim: the mechanism uses all of the resource on the servers."""
    model, x = Servers.of(cluster), fractions(placement)
    part = used(model, x, servers, resource)
    return {"part in use": part, "holds": not (is_allocation(model, mechanism, x, prices) and part < 1)}


@define
def split_runs_no_more(cluster: Any, mechanism: str, placement: Any, prices: Any) -> dict[str, Any]:
    """Claim: the mechanism gives each user the tasks of a uniform split of every server, or more."""
    model, x = Servers.of(cluster), fractions(placement)
    uniform, tasks = uniform_tasks(model), totals(x)
    certified = is_allocation(model, mechanism, x, prices)
    short = any(t < u for t, u in zip(tasks, uniform, strict=True))
    return {"tasks": tasks, "uniform": uniform, "holds": not (certified and short)}


@define
def stable_on_ray(cluster: Any, jobs: Any, placement: Any, growth: Any, optimal: Any) -> dict[str, Any]:
    """Claim: the fluid queues do not grow along the ray through ``jobs`` while the loads fit.

    PS-DSF depends on the proportions of the jobs only. If the loads exceed its tasks by ``growth`` times the
    jobs, the queues stay on the ray and grow. The placement ``optimal`` carries the loads and leaves
    something of every resource that is in use.
    """
    model = Servers.of({**cluster, "weights": jobs})
    x, y, speed = fractions(placement), fractions(optimal), fractions([growth])[0]
    tasks = totals(x)
    loads = [t + speed * w for t, w in zip(tasks, model.weights, strict=True)]
    spare = all(
        model.usage(y, i, r) < model.capacities[i][r] for i in model.servers for r in model.resources
    ) and fits(model, y, "resource")
    grows = is_psdsf(model, x, "resource") and speed > 0 and spare and totals(y) == loads
    return {"PS-DSF": tasks, "loads": loads, "holds": not grows}
