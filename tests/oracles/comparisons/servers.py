"""Comparisons on clusters written again."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.definitions.exact import ZERO, Matrix, Row, totals
from proofs.definitions.registry import fraction, fractions
from proofs.definitions.second.servers.shares import (
    Park,
    cannot_gain,
    fits,
    is_leximin,
    is_psdsf,
    pooled_use,
)

SHARES = {"C-DRFH": "global", "TSF": "unconstrained", "eligible": "eligible"}


def stands(park: Park, placement: Matrix, mechanism: str = "PS-DSF") -> bool:
    """Whether a placement is one of the mechanism, with divided resources."""
    if mechanism == "PS-DSF":
        return is_psdsf(park, placement, "resource") and cannot_gain(park, placement, "resource")
    return is_leximin(park, placement, SHARES[mechanism], None)


def no_better_placement(cluster: Any, placement: Any, better: Any) -> dict[str, Any]:
    """Tasks of both; the second fits and nobody has less, somebody more."""
    park, x, y = Park.of(cluster), fractions(placement), fractions(better)
    gains = [b - a for a, b in zip(totals(x), totals(y), strict=True)]
    beaten = min(gains) >= 0 and max(gains) > 0 and fits(park, y, "resource") and stands(park, x)
    return {"PS-DSF": totals(x), "feasible": totals(y), "holds": not beaten}


def one_allocation(cluster: Any, placement: Any, other: Any) -> dict[str, Any]:
    """Tasks of both, if both stand."""
    park, x, y = Park.of(cluster), fractions(placement), fractions(other)
    differ = any(a != b for a, b in zip(totals(x), totals(y), strict=True))
    return {
        "one": totals(x),
        "other": totals(y),
        "holds": not (differ and stands(park, x) and stands(park, y)),
    }


def _lie(cluster: Any, lie: Any, more: bool) -> bool:
    """Whether only user 1 lies, claiming servers that it cannot use (``more``) or hiding some."""
    truth = cluster.get("eligible") or [[1] * len(cluster["capacities"])] * len(cluster["demands"])
    steps = [told - true for told, true in zip(lie[0], truth[0], strict=True)]
    return lie[1:] == truth[1:] and (min(steps) >= 0 if more else max(steps) <= 0)


def truth_pays(cluster: Any, placement: Any, lie: Any, after: Any) -> dict[str, Any]:
    """Tasks with the truth and with hidden servers."""
    x, y = fractions(placement), fractions(after)
    stand = stands(Park.of(cluster), x) and stands(Park.of({**cluster, "eligible": lie}), y)
    gain = totals(y)[0] - totals(x)[0]
    return {
        "truth": totals(x),
        "lie": totals(y),
        "holds": not (_lie(cluster, lie, more=False) and stand and gain > 0),
    }


def false_claim_hurts_nobody_else(cluster: Any, placement: Any, lie: Any, after: Any) -> dict[str, Any]:
    """Tasks with the truth and with a claimed server. That there are no others only the first says."""
    park, x, y = Park.of(cluster), fractions(placement), fractions(after)
    stand = stands(park, x) and stands(Park.of({**cluster, "eligible": lie}), y)
    real = sum((t for t, allowed in zip(y[0], park.eligible[0], strict=True) if allowed), ZERO)
    change = [b - a for a, b in zip(totals(x), totals(y), strict=True)][1:]
    hurt = _lie(cluster, lie, more=True) and stand and real >= totals(x)[0] and min(change) < 0
    return {"truth": totals(x), "lie": totals(y), "user 1 really runs": real, "holds": not hurt}


def claims_pay_nothing(
    cluster: Any, mechanism: str, placement: Any, prices: Any, lie: Any, after: Any, later: Any
) -> dict[str, Any]:
    """Tasks with the truth and with other servers, by linear programs; the prices are not used."""
    park, x, y = Park.of(cluster), fractions(placement), fractions(after)
    stand = stands(park, x, mechanism) and stands(Park.of({**cluster, "eligible": lie}), y, mechanism)
    real = sum((t for t, allowed in zip(y[0], park.eligible[0], strict=True) if allowed), ZERO)
    alone = [list(row) for row in lie[1:]] == park.eligible[1:]
    return {
        "truth": totals(x),
        "lie": totals(y),
        "user 1 really runs": real,
        "holds": not (alone and stand and real > totals(x)[0]),
    }


def truth_pays_in_time(cluster: Any, placement: Any, lie: Any, after: Any) -> dict[str, Any]:
    """Time that user 1 gets for the demand it states, and the true tasks that it runs in it."""
    told_cluster = {**cluster, "demands": [lie, *cluster["demands"][1:]]}
    park, told, x, y = Park.of(cluster), Park.of(told_cluster), fractions(placement), fractions(after)
    stand = is_psdsf(park, x, "time") and is_psdsf(told, y, "time") and cannot_gain(told, y, "time")
    time = [t / g if g else ZERO for t, g in zip(y[0], told.gamma[0], strict=True)]
    real = sum((t * g for t, g in zip(time, park.gamma[0], strict=True)), ZERO)
    return {
        "truth": totals(x)[0],
        "time after the lie": time,
        "tasks after the lie": real,
        "holds": not (stand and real > totals(x)[0]),
    }


def _weighted(park: Park, tasks: Row, r: int) -> Row:
    return [x * row[r] / w for x, row, w in zip(tasks, park.demands, park.weights, strict=True)]


def shares_of_common_bottleneck(
    cluster: Any, mechanism: str, placement: Any, prices: Any, resource: int
) -> dict[str, Any]:
    """Weighted amounts of the resource that stops everybody who is alone on a server."""
    park, x, r = Park.of(cluster), fractions(placement), resource - 1
    common = all(
        g * row[r] == c[r]
        for row, gammas in zip(park.demands, park.gamma, strict=True)
        for g, c in zip(gammas, park.capacities, strict=True)
        if g
    )
    amount = _weighted(park, totals(x), r)
    unfair = any(
        max((amount[p] for p in park.open_to(i) if x[p][i]), default=ZERO)
        > min(amount[n] for n in park.open_to(i))
        for i in range(len(park.capacities))
        if park.open_to(i)
    )
    refuted = common and unfair and stands(park, x, mechanism)
    return {"tasks": totals(x), "weighted amounts": amount, "holds": not refuted}


def resource_fully_used(
    cluster: Any, mechanism: str, placement: Any, prices: Any, servers: Any, resource: int
) -> dict[str, Any]:
    """Part in use; the prices are not used."""
    part = pooled_use(cluster, placement, servers, resource)
    idle = part != 1 and stands(Park.of(cluster), fractions(placement), mechanism)
    return {"part in use": part, "holds": not idle}


def split_runs_no_more(cluster: Any, mechanism: str, placement: Any, prices: Any) -> dict[str, Any]:
    """Tasks, and those of the weight's part of each server."""
    park, x = Park.of(cluster), fractions(placement)
    uniform = [
        sum((g * w / sum(park.weights) for g in row), ZERO)
        for row, w in zip(park.gamma, park.weights, strict=True)
    ]
    short = min(a - b for a, b in zip(totals(x), uniform, strict=True)) < 0
    return {"tasks": totals(x), "uniform": uniform, "holds": not (short and stands(park, x, mechanism))}


def stable_on_ray(cluster: Any, jobs: Any, placement: Any, growth: Any, optimal: Any) -> dict[str, Any]:
    """Tasks of PS-DSF at the jobs, and the loads, which another placement carries with room to spare."""
    park, x, y = Park.of({**cluster, "weights": jobs}), fractions(placement), fractions(optimal)
    loads = totals(y)
    rates = [(load - t) / fraction(k) for load, t, k in zip(loads, totals(x), jobs, strict=True)]
    on_ray = set(rates) == {fraction(growth)} and min(rates) > 0
    room = min(
        c - u for i, row in enumerate(park.capacities) for c, u in zip(row, park.used(y, i), strict=True)
    )
    grows = on_ray and room > Fraction(0) and fits(park, y, "resource") and stands(park, x)
    return {"PS-DSF": totals(x), "loads": loads, "holds": not grows}


def cluster_gammas(cluster: Any) -> Matrix:
    """One over the largest share of a server that a task holds."""
    return Park.of(cluster).gamma


def psdsf_tasks(cluster: Any, placement: Any, division: str) -> dict[str, Any]:
    """Tasks, and both ways to say PS-DSF."""
    park, x = Park.of(cluster), fractions(placement)
    return {
        "tasks": totals(x),
        "conditions of the theorem": is_psdsf(park, x, division),
        "Definition 5": fits(park, x, division) and cannot_gain(park, x, division),
    }


def cluster_fits(cluster: Any, placement: Any) -> bool:
    """No server is overfull, and nothing runs where it cannot."""
    return fits(Park.of(cluster), fractions(placement), "resource")


def leximin_tasks(cluster: Any, placement: Any, share: str, prices: Any) -> dict[str, Any]:
    """Tasks, and whether linear programs leave nobody more; the prices are not used."""
    x = fractions(placement)
    return {"tasks": totals(x), "max-min fair": is_leximin(Park.of(cluster), x, share, prices)}
