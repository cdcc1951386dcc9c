"""Table IV while user 4 is away, as a family in the CPU demand of user 2, which the table does not give."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from proofs.definitions.registry import Case, define_on_both, fraction
from proofs.definitions.servers.claims import is_cluster_allocation, pooled_use

__all__: list[str] = []

CAPACITIES = [[8, 8], [34, 34], ["33/2", "33/4"], ["11/2", "33/4"]]
ELIGIBLE = [[1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 1, 1]]
TSF_PLACEMENT = [[0, "93660/457", 0, 0], [40, "30860/457", 0, 0], [0, 0, "165/2", "55/2"]]


@define_on_both
def cpu_use_of_class_d(denominator: int, threshold: Any, largest: Any) -> Iterator[Case]:
    """For c = k/denominator up to ``largest``: TSF uses all CPU of D, PS-DSF less only below a threshold."""
    for k in range(1, int(fraction(largest) * denominator) + 1):
        c = Fraction(k, denominator)
        demands = [["1/10", "1/10"], [c, "1/5"], ["1/5", "1/10"]]
        cluster = {"demands": demands, "capacities": CAPACITIES, "eligible": ELIGIBLE}
        # Tasks of user 2 with which the memory, and with which the CPU of class D is full.
        t = min(Fraction(1755, 14), (22 + 210 * c) / (2 * c + Fraction(2, 15)))
        zero = Fraction(0)
        ours = [
            [Fraction(80), 2 * t - 80, zero, zero],
            [zero, 210 - t, zero, 2 * t - 210],
            [zero, zero, Fraction(165, 2), 2 * t / 3 - Fraction(165, 2)],
        ]
        q = 2 + 1 / (5 * c)
        prices = [[[0, 0], [0, 0], [1, 0], [1, 0]], [[0, 1], [0, 1], [q, 0], [q, 0]]]
        certified = is_cluster_allocation(cluster, ours) and is_cluster_allocation(
            cluster, TSF_PLACEMENT, "TSF", prices
        )
        parts = [pooled_use(cluster, placement, [4], 1) for placement in (ours, TSF_PLACEMENT)]
        as_said = parts[1] == 1 and (parts[0] < 1) == (c < fraction(threshold)) and parts[0] <= 1
        yield {"c": c, "PS-DSF": parts[0], "TSF": parts[1]}, certified and as_said
