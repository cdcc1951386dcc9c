"""Cloud scale: exact EDRF by events, its updates, DC-DRF, and growth to ten million tenants.

The yardstick is one product of the transposed demands with a vector, on the same matrix in the same run.
"""

from __future__ import annotations

import numba
import numpy as np

from benchmarks.harness import Row, best_seconds, rise_of_peak
from fairness.cloud import Pattern, SparseDemands, churned, dcdrf, demand_profile, edrf

__all__ = ["rows"]

GIB = 2.0**30


def rows() -> list[Row]:
    return [*_full_size(), *_growth()]


def _full_size() -> list[Row]:
    demands = demand_profile("U0", 1_000_000, 100_000, rng=1)
    matrix, ones = demands.matrix(), np.ones(demands.n_tenants, dtype=np.float32)
    product = best_seconds(lambda: matrix.T @ ones)
    result = edrf(demands)
    fresh = best_seconds(lambda: edrf(demands))
    checking = best_seconds(lambda: SparseDemands(matrix))
    kept = best_seconds(lambda: edrf(demands, pattern=result.pattern))
    _, above = rise_of_peak(lambda: edrf(demands))
    residual = result.certificate.residual
    everything = Pattern.of(demands)
    complete = best_seconds(lambda: edrf(demands, pattern=everything))
    transposing = best_seconds(lambda: Pattern.of(demands))
    looks = _look_seconds(demands)
    floor = (
        f"floor: to look once, resource by resource, at the level of the tenant of each entry takes one "
        f"thread {looks / product:.1f} products, as levels lie in {demands.n_tenants * 8 / 2**20:.0f} MiB; "
    )
    name = f"EDRF 1M x 100k, {demands.n_entries / 1e6:.0f}M entries, single"
    table = [
        Row(
            f"{name}: from rows",
            f"{fresh:.2f} s, {fresh / product:.1f} products",
            "<= 10 products",
            bool(fresh <= 10 * product),
            f"{floor}product {1e3 * product:.0f} ms; {_phases(result.seconds)}; "
            f"checking rows {checking:.2f} s",
        ),
        Row(
            f"{name}: kept pattern",
            f"{kept:.2f} s, {kept / product:.1f} products",
            "<= 12 products",
            bool(kept <= 12 * product),
            f"{floor}with all resources listed {complete:.2f} s, after {transposing:.2f} s for listing",
        ),
        Row(f"{name}: memory besides", f"{above / GIB:.2f} GiB", "<= 2 GiB", bool(above <= 2 * GIB)),
        Row(
            f"{name}: residual",
            f"{residual:.1e}",
            "< 1e-12",
            bool(residual < 1e-12),
            str(result.certificate),
        ),
    ]
    changed, who = churned(demands, fraction=0.05, change=0.05, rng=2)
    new = SparseDemands(changed.matrix()[who])
    after = result.update(who, new)
    seconds = best_seconds(lambda: result.update(who, new))
    other = float((after.levels != result.levels).mean())
    stopped = float((after.stoppers != result.stoppers).mean())
    table.append(
        Row(
            "EDRF update, 5 % of the tenants change by 5 %",
            f"{seconds:.2f} s, {seconds / fresh:.2f} of a fresh one",
            "1/3, or why not",
            None,
            f"{other:.1%} of all levels change and {stopped:.1%} of the tenants stop at another resource, so "
            "nothing of the filling can be kept",
        )
    )
    for epsilon in (0.0, 1e-3, 1e-2):
        rounds = dcdrf(demands, epsilon, pattern=everything)
        spent = best_seconds(lambda epsilon=epsilon: dcdrf(demands, epsilon, pattern=everything))
        alone = best_seconds(
            lambda epsilon=epsilon: dcdrf(demands, epsilon, pattern=everything, threads=1), 1
        )
        target = "< EDRF, or the docs say that it is not" if epsilon == 1e-3 else ""
        table.append(
            Row(
                f"DC-DRF, epsilon {epsilon:g}, pattern kept",
                f"{spent:.2f} s, {spent / complete:.2f} of EDRF",
                target,
                None,
                f"{rounds.rounds:,} rounds; one thread {alone:.2f} s; largest shortfall "
                f"{1 - (rounds.levels / result.levels).min():.1e}",
            )
        )
    return table


def _growth() -> list[Row]:
    times, looks, table = [], [], []
    for n_tenants in (1_000_000, 10_000_000):
        demands = demand_profile("U0", n_tenants, n_tenants // 10, rng=1, longest=32)
        result = edrf(demands)
        times.append(best_seconds(lambda demands=demands: edrf(demands), 2))
        _, above = rise_of_peak(lambda demands=demands: edrf(demands))
        size = sum(array.nbytes for array in (demands.starts, demands.columns, demands.values))
        residual = result.certificate.residual
        growth = times[-1] / times[0]
        looks.append(_look_seconds(demands))
        floor = f"floor: looking once at the tenant of each entry grows {looks[-1] / looks[0]:.1f} times; "
        size_name = f"{n_tenants / 1e6:.0f}M x {n_tenants // 10_000}k, {demands.n_entries / 1e6:.0f}M entries"
        table.append(
            Row(
                f"EDRF {size_name}",
                f"{times[-1]:.2f} s, {(size + above) / GIB:.2f} GiB",
                "<= 13 times, 20 GiB" if len(times) > 1 else "",
                bool(growth <= 13 and size + above <= 20 * GIB) if len(times) > 1 else None,
                f"{floor if len(times) > 1 else ''}{growth:.1f} times one tenth of it; "
                f"{_phases(result.seconds)}; residual {residual:.0e}",
            )
        )
    return table


@numba.njit(nogil=True)
def _looked_at(tenants, levels):
    found = 0
    for k in range(tenants.size):
        found += levels[tenants[k]] > 0.5
    return found


def _look_seconds(demands: SparseDemands) -> float:
    """What it takes one thread to look at the level of the tenant of each entry, resource by resource."""
    tenants = demands.matrix().tocsc().indices
    levels = np.random.default_rng(1).random(demands.n_tenants)
    _looked_at(tenants[:10], levels)
    return best_seconds(lambda: _looked_at(tenants, levels), 2)


def _phases(seconds: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items())
