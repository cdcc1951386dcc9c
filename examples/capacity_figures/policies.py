"""What single policies lose: their stability regions inside the optimal one, on a pool and on a cluster."""

from __future__ import annotations

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from tqdm.auto import tqdm

from capacity.boundaries.policy import PolicyRegion, policy_stability_region
from examples.capacity_figures.models import SERVERS, fluid_example
from examples.gallery import Check, Page, Table
from fairness import DRF, PSDSF, AssetFair, Cluster, PerServerDRF, Problem
from fairness.catalogue import coloured
from fairness.protocol.policy import Policy, policy_name

__all__ = ["policy_regions"]


class FirstRound:
    """DRF that stops when the first resource is full and hands nothing more out."""

    name = "first round of DRF"

    def __call__(self, problem: Problem, counts: ArrayLike) -> np.ndarray:
        jobs, shares = np.asarray(counts, dtype=float), problem.task_shares
        tasks = jobs / shares.max(axis=1)
        busiest = (tasks @ shares).max(axis=-1, keepdims=True)
        return np.divide(tasks, busiest, out=np.zeros_like(tasks), where=busiest > 0)


class Halves:
    """Static partition: each class owns half of every resource, used or not."""

    name = "static halves"

    def __call__(self, problem: Problem, counts: ArrayLike) -> np.ndarray:
        return np.where(np.asarray(counts) > 0, 0.5 / problem.task_shares.max(axis=1), 0.0)


class Priority:
    """Class 1 takes all it can, class 2 what is left."""

    name = "priority to class 1"

    def __call__(self, problem: Problem, counts: ArrayLike) -> np.ndarray:
        here, shares = np.asarray(counts) > 0, problem.task_shares
        first = here[..., 0] / shares[0].max()
        rest = ((1.0 - first[..., None] * shares[0]) / shares[1]).min(axis=-1)
        return np.stack([first, here[..., 1] * np.maximum(rest, 0.0)], axis=-1)


POOL: tuple[Policy, ...] = (DRF(), AssetFair(), FirstRound(), Priority(), Halves())
CLUSTER = (PSDSF(), PerServerDRF())

LOST = {"DRF": Fraction(0), "Asset": Fraction(0), "first round of DRF": Fraction(0), "priority to class 1": Fraction(9, 20), "static halves": Fraction(29, 40)}  # fmt: skip
"""Parts of 10/11 that are lost: none; all but the triangle 1/2; all but the square 1/4."""


def policy_regions(*, full: bool) -> Page:
    """Regions of five policies on a pool and two on a cluster, each with the part that is lost."""
    figure, axes = plt.subplots(1, 2, figsize=(13, 5.4), layout="constrained")
    work: list[tuple[Axes, Problem | Cluster, object, int, float]] = [
        (axes[0], fluid_example(), policy, 12, 1e-3 if full else 1e-2) for policy in POOL
    ]
    work += [(axes[1], SERVERS, policy, 9 if full else 3, 1e-2) for policy in CLUSTER[::-1]]
    found: list[PolicyRegion] = []
    rows, numbers, used = [], {}, dict.fromkeys(axes, 0)
    shades = coloured([policy_name(policy) for policy in (*POOL, *CLUSTER)])
    for ax, model, policy, points, precision in tqdm(work, desc="policies", leave=False, disable=None):
        region = policy_stability_region(model, policy, points=points, precision=precision)
        found.append(region)
        if not used[ax]:
            ax.plot(*region.directions.T, color="0.8", lw=6, label="optimal region", solid_capstyle="round")
        k = used[ax]
        ax.plot(
            *region.loads.T, ["-", "--", ":", "-.", "-"][k], color=shades[policy_name(policy)], label=f"{_name(policy)}: {_lost(region)} lost"
        )  # fmt: skip
        outer = region.directions * np.array([point.outer for point in region.points])[:, None]
        ax.fill(*np.vstack([region.loads, outer[::-1]]).T, color=shades[policy_name(policy)], alpha=0.2, lw=0)
        used[ax] += 1
        where = "pool" if ax is axes[0] else "three servers"
        slowest = min(region.points, key=lambda point: point.inner)
        rows.append(
            [where, _name(policy), _lost(region), f"{region.relative_loads.min():.4f}", slowest.evidence]
        )
        numbers[f"{where}, {_name(policy)}"] = {"loads": region.loads, "lost": region.lost_share}
    for ax, title in zip(axes, ("(10,1; 1,10) on 10 and 10", "three servers"), strict=True):
        ax.set(
            title=f"{title}: part of the area lost\n(lines: inner ends of brackets, shaded to the outer ends)",
            xlabel="load of class 1 (tasks)",
            ylabel="load of class 2 (tasks)",
            xlim=(0, None),
            ylim=(0, None),
        )
        ax.legend(fontsize="small", loc="lower left")
    table = Table(
        "Part of the area of the optimal region that a policy loses (inner and outer ends of the brackets), the least relative load of a boundary point, and what shows stability there",
        ["model", "policy", "lost", "least relative load", "evidence"],
        rows,
    )
    return Page(
        "policy_regions",
        "6. What a policy loses",
        "The stability region of a policy: the loads at which its jobs stay in check, here by the fluid limit (capacity.boundaries.policy).",
        "Efficiency is not needed for stability: on the pool, asset fairness and DRF that stops at the first full resource lose nothing, because the proportions of the jobs adapt until the right resources are full. Shares that do not adapt lose much: priority leaves ρ₁ + ρ₂ < 1, "
        "static halves a square. On servers "
        f"{_on_servers(found[len(POOL) :])}",
        figure,
        numbers,
        [_check(region) for region in found if region.name in LOST] + [_inside(found)],
        [table],
    )


def _name(policy: object) -> str:
    return {"Asset": "asset fairness", "PS-DSF rdm": "PS-DSF"}.get(policy_name(policy), policy_name(policy))


def _on_servers(found: list[PolicyRegion]) -> str:
    """Which policies lose something by the outer ends of their brackets."""
    names = {"DRF per server": "DRF on each server by itself"}
    lose = [names.get(_name(r.policy), _name(r.policy)) for r in found if r.lost_at_least > 0]
    rest = [names.get(_name(r.policy), _name(r.policy)) for r in found if r.lost_at_least <= 0]
    text = ""
    if lose:
        text += f"{' and '.join(lose)} {'lose' if len(lose) > 1 else 'loses'} part of what placements can carry: classes should make room for each other where the other has no choice."
    if rest:
        text += f"{' Of' if lose else 'of'} {' and '.join(rest)} no loss is seen at these brackets."
    return text


def _lost(region: PolicyRegion) -> str:
    low, high = 100 * region.lost_at_least, 100 * region.lost_share
    return f"{low:.1f} to {high:.1f} %" if high - low > 0.1 else f"{(low + high) / 2:.1f} %"


def _check(region: PolicyRegion) -> Check:
    lost = LOST[region.name]
    return Check(
        f"(10,1; 1,10), {region.name}: lost part",
        str(lost),
        f"{region.lost_at_least:.4f} to {region.lost_share:.4f}",
        # The brackets bound the area of the polygons; their corners lie on rays that were taken.
        bool(region.lost_at_least - 1e-3 <= lost <= region.lost_share + 1e-3),
    )


def _inside(found: list[PolicyRegion]) -> Check:
    worst = max(float(region.relative_loads.max()) for region in found)
    return Check(
        "largest relative load of a boundary point of any policy", "<= 1", f"{worst:.6f}", worst <= 1
    )
