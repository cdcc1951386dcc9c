"""Bounds that are proved: means of infinite chains between two numbers, and estimates beside them."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from examples.capacity_figures.models import MATRICES
from examples.gallery import Check, Page, Table
from fairness import DRF, ProportionalFair
from fairness.catalogue import colour
from fairness.display.colours import part_colour
from fairness.protocol.policy import Policy
from queueing import System, balanced_fairness, enclose, stationary
from queueing.results import Enclosure, Stationary

__all__ = ["enclosures"]

FLUID = next(iter(MATRICES))
EQUAL, UNEQUAL = (1, 1), (3, 1)
POLICIES: dict[str, Policy] = {"DRF": DRF(), "PF": ProportionalFair()}
WIDTH = 1e-5
COARSE = 1e-2
"""Tail of the chains whose estimates are to be seen beside the bounds."""

# Mean durations over mean sizes of the first example, computed independently of this library: at load .9 by the
# law of a far larger box, and for loads 3 to 1 by bounds in fractions (statement br-pf-durations-example).
KNOWN = {
    ("DRF", EQUAL, 0.9): (29.8808, 29.8808),
    ("PF", EQUAL, 0.9): (10.1536, 10.1536),
    ("PF", UNEQUAL, 0.9): (10.0157, 1.8479),
}


class _Gap(NamedTuple):
    """Mean duration of class 1 under PF over that under balanced fairness, less 1: bounds."""

    load: float
    lower: float
    upper: float


class _Row(NamedTuple):
    """Bounds of the mean duration of class 1, and an estimate from a box that leaves out ``COARSE``."""

    load: float
    enclosure: Enclosure
    estimate: Stationary

    @property
    def off(self) -> tuple[float, float]:
        """Bounds of the relative error of the estimate."""
        lower, upper = (float(bound[0]) for bound in self.enclosure.mean_jobs)
        value = float(self.estimate.mean_jobs[0])
        apart = (value - upper, lower - value)
        return max(0.0, *apart) / upper, max(upper - value, value - lower) / lower

    @property
    def claimed(self) -> float:
        """The relative error that the estimate claims."""
        return float(self.estimate.mean_jobs_error[0] / self.estimate.mean_jobs[0])


def enclosures(*, full: bool) -> Page:
    """Lower and upper bounds against load: where PF is longer than balanced fairness, and errors of estimates."""
    loads = (0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95) if full else (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)
    gaps = {name: [_gap(name, load) for load in loads] for name in MATRICES}
    rising = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95) if full else (0.3, 0.5, 0.7, 0.9)
    rows = {name: [_row(name, load) for load in rising] for name in POLICIES}
    figure, axes = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
    _draw_gaps(axes[0], gaps)
    _draw_errors(axes[1], rows)
    checks = [_sign(name, gaps[name][0], -1) for name in MATRICES]
    checks += [_sign(name, gap, 1) for name in MATRICES for gap in gaps[name] if gap.load == 0.9]
    checks += [_known(key, values) for key, values in KNOWN.items()]
    every = [row for listed in rows.values() for row in listed]
    short = sum(row.off[0] > row.claimed for row in every)
    checks.append(
        Check("claimed errors of estimates that bounds exceed", f"0 of {len(every)}", str(short), short == 0)
    )
    table = Table(
        f"Mean durations over mean sizes of class 1, (10,1; 1,10), equal loads: bounds, and the estimate of a box that leaves out {COARSE:g}",
        ["policy", "load", "lower", "upper", "states", "estimate", "off by (relative)", "claimed"],
        [
            [
                name,
                f"{row.load:g}",
                *(f"{bound[0]:.9g}" for bound in row.enclosure.mean_durations),
                f"{int(np.prod(row.enclosure.certificate.shape)):,}",
                f"{row.estimate.mean_durations[0]:.6g}",
                f"{row.off[1]:.2g}",
                f"{row.claimed:.2g}",
            ]
            for name, listed in rows.items()
            for row in listed
        ],
    )
    longer = {name: [gap.load for gap in listed if gap.lower > 0] for name, listed in gaps.items()}
    said = "; ".join(f"{name} from load {min(found):g}" for name, found in longer.items() if found)
    return Page(
        "enclosures",
        "13. Bounds that are proved",
        "Every point stands for two numbers between which the mean of the infinite chain lies, with a certificate that a checker without solvers accepts (docs, theory of enclosures).",
        "Left: is a class ever worse off under PF than under balanced fairness? With loads 3 to 1 class 1, on the busier resource, is, if only by parts of a thousand: of the loads drawn, "
        f"{said}. Both bounds lie inside the marks, or at the ends of bars; marks are filled where both are on one side of 0. Right: the relative error of a chain cut off where {COARSE:g} of the probability is left out: what it claims of itself, and what it is, which only the bounds can tell. "
        "It is largest under DRF, whose queues are long.",
        figure,
        {
            **{
                f"{name}, PF over balanced fairness - 1": {"load": loads, "bounds": [g[1:] for g in listed]}
                for name, listed in gaps.items()
            },
            **{
                f"{name}, mean durations of class 1": {
                    "load": rising,
                    "lower": [float(row.enclosure.mean_durations.lower[0]) for row in listed],
                    "upper": [float(row.enclosure.mean_durations.upper[0]) for row in listed],
                    "estimate": [float(row.estimate.mean_durations[0]) for row in listed],
                    "claimed": [row.claimed for row in listed],
                    "off": [row.off for row in listed],
                }
                for name, listed in rows.items()
            },
        },
        checks,
        [table],
    )


@cache
def _enclosed(example: str, mix: tuple[int, int], load: float, policy: str) -> Enclosure:
    return enclose(_system(example, mix, load), POLICIES[policy], width=WIDTH)


def _system(example: str, mix: tuple[int, int], load: float) -> System:
    return System.with_load(MATRICES[example](), mix, load)


def _gap(example: str, load: float) -> _Gap:
    bounds = _enclosed(example, UNEQUAL, load, "PF").mean_jobs
    balanced = balanced_fairness(_system(example, UNEQUAL, load))
    value, error = float(balanced.mean_jobs[0]), float(balanced.mean_jobs_error[0])
    # The bound is of what a box leaves out. Rounding adds at most some 1e-15 per job, as all terms are positive.
    error += 1e-11 * value
    return _Gap(
        load, float(bounds.lower[0]) / (value + error) - 1, float(bounds.upper[0]) / (value - error) - 1
    )


def _row(policy: str, load: float) -> _Row:
    system = _system(FLUID, EQUAL, load)
    return _Row(
        load, _enclosed(FLUID, EQUAL, load, policy), stationary(system, POLICIES[policy], tail=COARSE)
    )


def _draw_gaps(ax: Axes, gaps: dict[str, list[_Gap]]) -> None:
    for k, (name, listed) in enumerate(gaps.items()):
        x = [gap.load for gap in listed]
        low, high = (1e3 * np.array([gap[j] for gap in listed]) for j in (1, 2))
        ax.plot(x, (low + high) / 2, "-", color=part_colour(k), lw=1, label=name)
        for load, one, other in zip(x, low, high, strict=True):
            known = one * other > 0
            ax.errorbar(
                load, (one + other) / 2, yerr=(other - one) / 2, fmt="o", color=part_colour(k),
                mfc=part_colour(k) if known else "white", capsize=3, ms=5,
            )  # fmt: skip
    ax.axhline(0, color="0.5", lw=1)
    ax.set(
        xlabel="load of the busiest resource",
        ylabel="PF over balanced fairness − 1 (‰)",
        title="Mean duration of class 1, loads 3 to 1: PF is not always shorter",
    )
    ax.legend(fontsize="small")


def _draw_errors(ax: Axes, rows: dict[str, list[_Row]]) -> None:
    for name, listed in rows.items():
        x, shade = [row.load for row in listed], colour(name)
        ax.plot(x, [row.claimed for row in listed], "--", color=shade, label=f"{name}, claimed")
        ax.plot(x, [row.off[1] for row in listed], "o-", color=shade, ms=4, label=f"{name}, proved")
        ax.plot(
            x,
            [row.enclosure.reached for row in listed],
            ":",
            color=shade,
            label=f"{name}, width of the bounds",
        )
    ax.set_yscale("log")
    ax.set(
        xlabel="load of the busiest resource",
        ylabel="relative error of the mean duration",
        title=f"Errors of chains that leave out {COARSE:g}, equal loads",
    )
    ax.legend(fontsize="small")


def _sign(name: str, gap: _Gap, sign: int) -> Check:
    """PF is longer (1) or shorter (-1) at this load."""
    words = {1: "longer", -1: "shorter"}[sign]
    return Check(
        f"PF against balanced fairness, class 1, {name}, loads 3 to 1, load {gap.load:g}",
        words,
        f"{1e3 * gap.lower:.4f} to {1e3 * gap.upper:.4f} ‰",
        bool(sign * gap.lower > 0 and sign * gap.upper > 0),
    )


def _known(key: tuple[str, tuple[int, int], float], values: tuple[float, float]) -> Check:
    """The bounds are closer than a digit, and hold what is known, which is rounded to four."""
    name, mix, load = key
    lower, upper = _enclosed(FLUID, mix, load, name).mean_durations
    near = (lower <= np.add(values, 0.5e-4)) & (upper >= np.subtract(values, 0.5e-4)) & (upper - lower < 1e-3)
    return Check(
        f"mean durations under {name}, loads {mix[0]} to {mix[1]}, load {load:g}",
        " and ".join(f"{v:.4f}" for v in values),
        " and ".join(f"[{low:.6f}, {high:.6f}]" for low, high in zip(lower, upper, strict=True)),
        bool(near.all()),
    )
