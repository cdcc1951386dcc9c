"""Algorithm I of PS-DSF a second time: whether a sweep finds nothing to do, and a closed form of one run."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from proofs.definitions.exact import ZERO, Matrix
from proofs.definitions.registry import define_again, fractions
from proofs.definitions.second.servers.shares import Park, is_psdsf

__all__: list[str] = []


@define_again
def rests(park: Park, placement: Matrix) -> bool:
    """Whether on every server, level by level upwards, the poorest who are left have a full resource that
    nobody richer holds, until nobody is left."""
    for i, capacity in enumerate(park.capacities):
        used = park.used(placement, i)
        level = {n: park.level(placement, n, i) for n in park.open_to(i)}
        for height in sorted(set(level.values())):
            richer = [p for p, v in level.items() if v > height and placement[p][i]]
            common = {
                r
                for r, c in enumerate(capacity)
                if used[r] == c and not any(park.demands[p][r] for p in richer)
            }
            # Who is poor now is done by one of these; others who demand it are done, too, and cost nothing.
            if any(v == height and not any(park.demands[n][r] for r in common) for n, v in level.items()):
                return False
    return True


@define_again(cases=lambda most: most)
def endless_sweeps(case: Mapping[str, Any], most: int) -> bool:
    """User 3 has 1/2 of a task on server 2, and a quarter of that after each sweep; levels differ."""
    z = Fraction(1, 2) / 4 ** case["sweep"]
    (first, none), (never, second), (third, rest) = fractions(case["placement"])
    park = Park.of(
        {"demands": [[1], [1], [1]], "capacities": [[2], [1]], "eligible": [[1, 0], [0, 1], [1, 1]]}
    )
    apart = not is_psdsf(park, fractions(case["placement"]), "resource")
    as_told = [first, second, third, rest] == [1 + 2 * z, 1 - z, 1 - 2 * z, z]
    return apart and as_told and none == never == ZERO
