"""Families of demands and what EDRF and DC-DRF, of :mod:`proofs.definitions.cloud.rounds`, promise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

from proofs.definitions.cloud.rounds import (
    Filling,
    algorithm_1,
    algorithm_2,
    dcdrf_tasks,
    edrf_tasks,
    instances,
    sharing_incentive,
    weighted_envy_freeness,
)
from proofs.definitions.exact import Matrix, Row
from proofs.definitions.pools.filling import tasks_with
from proofs.definitions.registry import Case, define, define_on_both, fraction, fractions

__all__ = ["dcdrf_operations", "light_tenants"]


def _family(n: int, m: int, largest: int, least: int, weights: Sequence[Any]) -> Iterator[tuple[Matrix, Any]]:
    """All integer demands, each with each of the weights (None: equal ones)."""
    return product(instances(n, m, largest, least), weights)


@define_on_both
def edrf_rounds_of(n: int, m: int, largest: int, least: int, weights: Sequence[Any]) -> Iterator[Case]:
    """EDRF takes one round."""
    for demands, w in _family(n, m, largest, least, weights):
        rounds = len(algorithm_1(demands, w).levels)
        yield {"demands": demands, "weights": w, "rounds": rounds}, rounds == 1


@define_on_both
def edrf_fair(n: int, m: int, largest: int, weights: Sequence[Any]) -> Iterator[Case]:
    """EDRF: first level of at least 1, sharing incentive, no envy, and everybody has a full resource."""
    for demands, w in _family(n, m, largest, 0, weights):
        yield {"demands": demands, "weights": w}, _is_fair(demands, algorithm_1(demands, w), Fraction(0))


@define_on_both
def dcdrf_fair(
    n: int, m: int, largest: int, epsilons: Sequence[Any], weights: Sequence[Any]
) -> Iterator[Case]:
    """The same of DC-DRF, where full means that at most epsilon is left."""
    for demands, w in _family(n, m, largest, 0, weights):
        for epsilon in fractions(epsilons):
            case = {"demands": demands, "weights": w, "epsilon": epsilon}
            yield case, _is_fair(demands, algorithm_2(demands, epsilon, w), epsilon)


def _is_fair(demands: Matrix, result: Filling, epsilon: Fraction) -> bool:
    tasks = result.tasks(demands)
    return (
        result.levels[0] >= 1
        and min(result.left) >= 0
        and sharing_incentive(demands, result.entitled, tasks)
        and weighted_envy_freeness(demands, result.entitled, result.held, tasks)
        and all(min(s for s, d in zip(result.left, row, strict=True) if d) <= epsilon for row in demands)
    )


@define_on_both
def edrf_is_dcdrf(n: int, m: int, largest: int, epsilon: Any, weights: Sequence[Any]) -> Iterator[Case]:
    """Algorithm 2 with this epsilon and Algorithm 1 take the same rounds to the same allocation."""
    for demands, w in _family(n, m, largest, 0, weights):
        one, two = algorithm_1(demands, w), algorithm_2(demands, fraction(epsilon), w)
        same = edrf_tasks(demands, w) == two.tasks(demands)
        yield {"demands": demands, "weights": w}, same and one.levels == two.levels


@define_on_both
def edrf_lies(n: int, m: int, largest: int, members: int) -> Iterator[Case]:
    """Some agents claim other demands of the same family (all of them are tried): not all of them gain."""
    claims = [row for (row,) in instances(1, m, largest)]
    for demands in instances(n, m, largest):
        honest = edrf_tasks(demands)
        for group in combinations(range(n), members):
            for lies in product(claims, repeat=members):
                got = edrf_with_lies(demands, dict(zip(group, lies, strict=True)))
                case = {"demands": demands, "members": [i + 1 for i in group], "lies": lies}
                told = {"honest": honest, "with the lies": got}
                yield case | told, any(got[i] <= honest[i] for i in group)


@define_on_both
def edrf_with_lies(demands: Matrix, lies: dict[int, Row]) -> Row:
    """Tasks that each agent can run by its true demand with what EDRF gives it for the claims."""
    claimed = [lies.get(i, row) for i, row in enumerate(demands)]
    return [
        tasks_with(row, [x * d for d in told])
        for row, told, x in zip(demands, claimed, edrf_tasks(claimed), strict=True)
    ]


@define_on_both
def edrf_group_lie(demands: Any, lies: Any) -> dict[str, Any]:
    """Tasks of the first agents, honest and with their lies; claimed: none has more unless one has less."""
    given, claims = fractions(demands), fractions(lies)
    honest = edrf_tasks(given)[: len(claims)]
    got = edrf_with_lies(given, dict(enumerate(claims)))[: len(claims)]
    pays = all(g >= t for g, t in zip(got, honest, strict=True)) and got != honest
    return {"honest": honest, "with the lies": got, "holds": not pays}


@define_on_both
def dcdrf_gain_by_lie(demands: Any, epsilon: Any, lie: Any) -> dict[str, Any]:
    """Dominant share of tenant 1, honest and with a lie; claimed: at most 1/(1 - epsilon) times as much."""
    given, e, said = fractions(demands), fraction(epsilon), fractions(lie)
    honest = dcdrf_tasks(given, e)[0] * max(given[0])
    given_for_it = [dcdrf_tasks([said, *given[1:]], e)[0] * d for d in said]
    lied = tasks_with(given[0], given_for_it) * max(given[0])
    told = {"honest": honest, "with the lie": lied, "factor": lied / honest, "gain": lied - honest}
    return told | {"holds": lied * (1 - e) <= honest}


@define_on_both
def dcdrf_loss(demands: Any, epsilon: Any) -> dict[str, Any]:
    """Tasks by EDRF and by DC-DRF; claimed: nobody loses more than the factor 1/(1 - epsilon)."""
    given, e = fractions(demands), fraction(epsilon)
    exact, rough = edrf_tasks(given), dcdrf_tasks(given, e)
    holds = all(r >= (1 - e) * x for r, x in zip(rough, exact, strict=True))
    return {"EDRF": exact, "DC-DRF": rough, "holds": holds}


@define_on_both
def dcdrf_lonely_loss(most: int, epsilons: Sequence[Any]) -> Iterator[Case]:
    """Tenant 1 demands resource 1, n - 1 others fill resource 2 and all but epsilon of resource 1.

    Tenant 1 then gets only the part 1/(1 + epsilon (n - 1)) of what EDRF gives it.
    """
    for n in range(3, most + 1):
        for e in fractions(epsilons):
            if (some := 1 - e - Fraction(1, n - 1)) > 0:
                demands = [[Fraction(1), Fraction(0)], *[[some, Fraction(1)]] * (n - 1)]
                exact, rough = edrf_tasks(demands)[0], dcdrf_tasks(demands, e)[0]
                case = {"n": n, "epsilon": e, "EDRF": exact, "DC-DRF": rough}
                yield case, rough * (1 + e * (n - 1)) == exact


@define_on_both
def dcdrf_lemma_3_1(
    demands: Matrix, epsilon: Fraction, weights: Any, frozen: bool
) -> tuple[int, Fraction, Fraction]:
    """Rounds, (1 - epsilon)^(rounds - 1), and the least ratio of two rates of demanded resources."""
    run = algorithm_2(demands, epsilon, weights, frozen)
    rounds, mu = len(run.levels), [v for v in map(sum, zip(*run.rates, strict=True)) if v]
    return rounds, (1 - epsilon) ** (rounds - 1), Fraction(min(mu), max(mu))


@define_on_both
def dcdrf_lemma_rounds(
    n: int, m: int, largest: int, epsilons: Sequence[Any], weights: Sequence[Any], frozen: bool
) -> Iterator[Case]:
    """Lemma 3.1 in fractions: one round, or (1 - epsilon)^(rounds - 1) > c, the least ratio of two rates."""
    for demands, w in _family(n, m, largest, 0, weights):
        for e in fractions(epsilons):
            rounds, power, c = dcdrf_lemma_3_1(demands, e, w, frozen)
            case = {"demands": demands, "weights": w, "epsilon": e, "rounds": rounds}
            yield case | {"c": c}, rounds == 1 or power > c


@define_on_both
def dcdrf_lemma_chain(most: int, epsilon: Any, frozen: bool) -> Iterator[Case]:
    """The same of tenants who fill one resource each and need a quarter of all later ones; weights 3^-k."""
    e = fraction(epsilon)
    for m in range(1, most + 1):
        demands = [[Fraction(0)] * k + [Fraction(1)] + [Fraction(1, 4)] * (m - k - 1) for k in range(m)]
        rounds, power, c = dcdrf_lemma_3_1(demands, e, [Fraction(1, 3**k) for k in range(m)], frozen)
        yield {"tenants": m, "rounds": rounds, "c": c}, rounds == 1 or power > c


@define_on_both
def dcdrf_rounds_equal(
    n: int, m: int, largest: int, epsilons: Sequence[Any], weights: Sequence[Any]
) -> Iterator[Case]:
    """Levels rise by 1/(1 - epsilon) at least from round to round, and n (1 - epsilon)^(rounds - 1) >= 1."""
    for demands, w in _family(n, m, largest, 0, weights):
        for e in fractions(epsilons):
            levels = algorithm_2(demands, e, w).levels
            steep = all(y <= (1 - e) * z for y, z in pairwise(levels))
            case = {"demands": demands, "weights": w, "epsilon": e, "rounds": len(levels)}
            yield case, steep and n * (1 - e) ** (len(levels) - 1) >= 1


def alone(m: int) -> Matrix:
    """Tenants that demand one resource each, all of another one."""
    return [[Fraction(int(k == r)) for k in range(m)] for r in range(m)]


@define_on_both
def dcdrf_rounds_alone(weights: Sequence[Any], epsilon: Any, factor: int) -> dict[str, Any]:
    """Rounds of tenants of one resource each, beside factor / -log(1 - epsilon), natural logarithm.

    Claimed: rounds are no more, that is (1 - epsilon)^(-rounds) <= e^factor; as e < 3, less than 3^factor.
    """
    rounds = len(algorithm_2(alone(len(weights)), fraction(epsilon), weights).levels)
    power, most = (1 / (1 - fraction(epsilon))) ** rounds, 3**factor
    return {"rounds": rounds, "(1 - epsilon)^-rounds": power, "3^factor": most, "holds": power < most}


@define_on_both
def dcdrf_rounds_quarter(most: int) -> Iterator[Case]:
    """Loads of m resources that fall to a quarter each, epsilon = 1/2: as many rounds as resources."""
    for m in range(1, most + 1):
        weights = [Fraction(1, 4**k) for k in range(m)]
        rounds = len(algorithm_2(alone(m), Fraction(1, 2), weights).levels)
        yield {"resources": m, "rounds": rounds}, rounds == m


@define_on_both
def dcdrf_thawed(demands: Any, epsilon: Any, weights: Any = None) -> dict[str, Any]:
    """Rounds when rates are updated; claimed: one, or (1 - epsilon)^(rounds - 1) > c, as in Lemma 3.1."""
    given, e = fractions(demands), fraction(epsilon)
    rounds, power, c = dcdrf_lemma_3_1(given, e, weights, frozen=False)
    frozen, *_ = dcdrf_lemma_3_1(given, e, weights, frozen=True)
    told = {"rounds": rounds, "rounds with rates frozen": frozen, "power": power, "c": c}
    return told | {"holds": rounds == 1 or power > c}


@define
def dcdrf_operations(demands: Matrix, epsilon: Fraction, weights: Any = None) -> dict[str, int]:
    """Tenants N, resources R, longest vector B, entries of demands, rounds I, operations by line."""
    result = algorithm_2(demands, epsilon, weights)
    lengths = [sum(1 for v in row if v) for row in demands]
    sizes = {"N": len(demands), "R": len(demands[0]), "B": max(lengths), "entries": sum(lengths)}
    return sizes | {"I": result.rounds} | {f"line {k}": v for k, v in result.operations.items()}


def _within(w: dict[str, int], line_16: str) -> tuple[int, int]:
    """Operations, and |N|B + I|N| + I|R|."""
    spent = sum(w[f"line {k}"] for k in ("8", "13", "15", line_16, "17", "18", "23"))
    return spent, w["N"] * w["B"] + w["I"] * (w["N"] + w["R"])


@define_on_both
def dcdrf_work(
    n: int, m: int, largest: int, epsilons: Sequence[Any], line_16: str, constant: int
) -> Iterator[Case]:
    """Operations are at most constant times |N|B + I|N| + I|R|; lines 8, 17, 23 touch a demand once."""
    for demands in instances(n, m, largest):
        for e in fractions(epsilons):
            w = dcdrf_operations(demands, e)
            spent, unit = _within(w, line_16)
            once = (
                w["line 8"] == w["line 17"] == w["line 23"] == w["entries"]
                and w["line 13"] == w["line 15"] == w["I"] * w["R"]
                and w["line 18"] == w["N"]
                and w["I"] <= min(w["N"], w["R"])
            )
            yield {"demands": demands, "epsilon": e} | w, once and spent <= constant * unit


@define_on_both
def dcdrf_work_light(most: int, line_16: str, constant: int) -> Iterator[Case]:
    """The same when many light tenants of long vectors stay to the end; see :func:`light_tenants`."""
    for k in range(1, most + 1):
        demands, weights = light_tenants(k, k, 4 * k)
        w = dcdrf_operations(demands, Fraction(0), weights)
        spent, unit = _within(w, line_16)
        yield {"rounds": k, "tenants": len(demands)} | w, spent <= constant * unit


@define_on_both
def dcdrf_work_per_demand(rounds: int, length: int, many: int, constant: int) -> dict[str, Any]:
    """Line 16 if it looks at all demands of a tenant until one is exhausted; claimed: within the constant."""
    demands, weights = light_tenants(rounds, length, many)
    w = dcdrf_operations(demands, Fraction(0), weights)
    unit = _within(w, "16")[1]
    told = {name: w[name] for name in ("N", "R", "B", "I", "line 16, per demand")}
    return told | {"|N|B + I|N| + I|R|": unit, "holds": w["line 16, per demand"] <= constant * unit}


@define_on_both
def dcdrf_work_grows(most: int) -> Iterator[Case]:
    """With k demands of 4 k light tenants that line 16 is at least k/5 times |N|B + I|N| + I|R|."""
    for k in range(1, most + 1):
        demands, weights = light_tenants(k, k, 4 * k)
        w = dcdrf_operations(demands, Fraction(0), weights)
        yield {"k": k} | w, 5 * w["line 16, per demand"] >= k * _within(w, "16")[1]


def light_tenants(rounds: int, length: int, many: int) -> tuple[Matrix, list[Fraction]]:
    """Tenants who end one round each, alone on a resource, their weights halving; and many light tenants.

    The latter demand the same ``length`` other resources, which are exhausted in one more round.
    """
    m = rounds + length
    single = [[Fraction(int(k == r)) for k in range(m)] for r in range(rounds)]
    light = [[Fraction(int(k >= rounds)) for k in range(m)]] * many
    weights = [Fraction(1, 2**k) for k in range(rounds)] + [Fraction(1, 2 ** (rounds + 1) * many)] * many
    return single + light, weights
