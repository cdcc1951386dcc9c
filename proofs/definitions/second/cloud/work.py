"""Operations of DC-DRF a second time: counted from the levels at which tenants stop, not while it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from proofs.definitions.exact import ZERO, Matrix
from proofs.definitions.registry import define_again, fraction, fractions
from proofs.definitions.second.cloud.rounds import families, level_run

__all__: list[str] = []


def counted(demands: Matrix, epsilon: Fraction, weights: Any = None) -> dict[str, int]:
    """Sizes and operations by line."""
    run = level_run(demands, epsilon, weights)
    needs = [[r for r, d in enumerate(row) if d] for row in demands]
    per_demand = present = 0
    for y in run.rounds:
        left = [1 - u for u in run.used(y)]
        for z, own in zip(run.stops, needs, strict=True):
            if z < y:
                continue
            present += 1
            scarce = [k for k, r in enumerate(own, 1) if left[r] <= epsilon]
            per_demand += scarce[0] if scarce else len(own)
    n, m, total, rounds = len(demands), len(demands[0]), sum(map(len, needs)), len(run.rounds)
    return {
        "N": n,
        "R": m,
        "B": max(map(len, needs)),
        "entries": total,
        "I": rounds,
        "line 8": total,
        "line 13": rounds * m,
        "line 15": rounds * m,
        "line 16": present,
        "line 16, per demand": per_demand,
        "line 17": total,
        "line 18": n,
        "line 23": total,
    }


def _unit(w: Mapping[str, int]) -> int:
    return w["N"] * w["B"] + w["I"] * w["N"] + w["I"] * w["R"]


def _spent(w: Mapping[str, int], line_16: str) -> int:
    return 3 * w["entries"] + w["N"] + 2 * w["I"] * w["R"] + w[f"line {line_16}"]


def light(rounds: int, length: int, many: int) -> tuple[Matrix, Fraction, list[Fraction]]:
    """Tenants who end a round each, with halving weights, and many light ones of one vector; epsilon 0."""
    demands, weights = [], []
    for k in range(rounds + many):
        first, last = (k, k + 1) if k < rounds else (rounds, rounds + length)
        demands.append([Fraction(first <= r < last) for r in range(rounds + length)])
        weights.append(Fraction(1, 2) ** k if k < rounds else Fraction(1, many * 2 ** (rounds + 1)))
    return demands, ZERO, weights


def _same(case: Mapping[str, Any], w: Mapping[str, int]) -> bool:
    return all(case[name] == number for name, number in w.items())


@define_again(
    cases=lambda n, m, largest, epsilons, line_16, constant: families(n, m, largest, [None]) * len(epsilons)
)
def dcdrf_work(
    case: Mapping[str, Any],
    n: int,
    m: int,
    largest: int,
    epsilons: Sequence[Any],
    line_16: str,
    constant: int,
) -> bool:
    """Operations counted from the levels."""
    w = counted(fractions(case["demands"]), fraction(case["epsilon"]))
    return _same(case, w) and w["I"] <= min(w["N"], w["R"]) and _spent(w, line_16) <= constant * _unit(w)


@define_again(cases=lambda most, line_16, constant: most)
def dcdrf_work_light(case: Mapping[str, Any], most: int, line_16: str, constant: int) -> bool:
    """Operations counted from the levels."""
    k = case["rounds"]
    w = counted(*light(k, k, 4 * k))
    return _same(case, w) and _spent(w, line_16) <= constant * _unit(w)


@define_again
def dcdrf_work_per_demand(rounds: int, length: int, many: int, constant: int) -> dict[str, Any]:
    """Operations counted from the levels."""
    w = counted(*light(rounds, length, many))
    told = {name: w[name] for name in ("N", "R", "B", "I", "line 16, per demand")}
    return told | {"|N|B + I|N| + I|R|": _unit(w), "holds": w["line 16, per demand"] <= constant * _unit(w)}


@define_again(cases=lambda most: most)
def dcdrf_work_grows(case: Mapping[str, Any], most: int) -> bool:
    """Operations counted from the levels."""
    k = case["k"]
    w = counted(*light(k, k, 4 * k))
    return _same(case, w) and Fraction(w["line 16, per demand"], _unit(w)) >= Fraction(k, 5)
