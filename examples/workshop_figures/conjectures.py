"""What became of the talk's three conjectures: existence and stability of BMF, and PF in heavy traffic."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from examples.gallery import Check, Page, Table
from fairness import DRF, BottleneckMax, Problem, ProportionalFair, all_bottleneck_max
from fairness.catalogue import colour
from fairness.display.colours import part_colour
from proofs import Verdict, check
from proofs.catalogue import statement_named
from queueing import System, balanced_fairness, stationary, trajectory

__all__ = ["conjectures"]

KNOWN = (
    (
        "Existence of BMF",
        "br-bmf-exists",
        "settled; that there is only one holds on two resources (br-bmf-unique-two), not on three (br-bmf-segment)",
    ),
    ("Stability of BMF", "br-bmf-stable-97", "settled on two resources, for loads below .97"),
    ("", "br-bmf-not-by-pf", "above 33/34 another function is needed"),
    ("", "br-bmf-stable", "open from there on, and on three resources and more"),
    ("PF = BF in heavy traffic", "br-heavy-traffic", "open"),
    ("", "br-pf-below-balanced", "and PF may be the longer one at other loads"),
)
"""Conjecture, statement, and what that says of it."""
VERDICTS = ("PROVED", "PROVED", "REFUTED", "SUPPORTED", "SUPPORTED", "REFUTED")
"""On which these words rest."""

THREE = [[1, 1, 1], [2, 1, 1.5], [1, 2, 1.5]]
LINE = Problem([[1, 0], [1, 1], [0, 1]], [1, 1])
START = np.array([5.0, 7.0, 5.0])
PAIR = Problem([[1, 0.1], [0.1, 1]], [1, 1])


def conjectures(*, full: bool) -> Page:
    """The three conjectures of the last slide, and where each stands."""
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained")
    segment = _segment(axes[0])
    emptied = _drained(axes[1], (0.9, 0.97, 0.99))
    loads, apart = _apart(axes[2], (0.6, 0.8, 0.9, 0.95, *((0.98, 0.99) if full else ())))
    # The pages of statements check them all; this one does so again at full scale.
    found = {name: check(name) for _, name, _ in KNOWN} if full else {}
    told = ", ".join(f"{time:.0f} ({load})" for load, time in emptied.items())
    verdicts = [str(verdict.status) for verdict in found.values()]
    return Page(
        "conjectures",
        "14. What became of the conjectures",
        'Slide "Future work": existence of BMF, stability of BMF, PF = BF in heavy traffic.',
        "Left: on these three resources every point of the thick line is bottleneck-max fair; one exists whenever everybody demands something. Middle: the function that proves stability below .97, "
        f"along fluid paths of three classes on two resources under BMF: near load 1 it rises at first, and all jobs are gone in the end, after {told} units of time. Right: mean durations of PF and "
        "balanced fairness, how far they are apart times 1 - load: more up to load .9, and less from there on, slowly. The table says which statement settles what; `python -m proofs ID` shows its steps.",
        figure,
        {"segment": segment, "emptied after": emptied, "load": loads, "difference times (1 - load)": apart},
        [
            *(
                [Check("verdicts", ", ".join(VERDICTS), ", ".join(verdicts), verdicts == [*VERDICTS])]
                if full
                else []
            ),
            Check(
                "the segment ends at DRF and PF",
                "both",
                "both" if segment["ends"] else "not",
                segment["ends"],
            ),
            Check(
                "jobs empty under BMF at loads .9, .97, .99",
                "all",
                f"{sum(np.isfinite(list(emptied.values())))} of 3",
                bool(np.isfinite(list(emptied.values())).all()),
            ),
            Check(
                "the difference of PF and balanced fairness, times 1 - load, falls from .9 on",
                "falls, if the conjecture holds",
                ", ".join(f"{v:.4f}" for v in apart[2:]),
                bool((np.diff(apart[2:]) < 0).all()),
            ),
        ],
        [_table(found)],
    )


def _segment(ax: plt.Axes) -> dict[str, object]:
    """All bottleneck-max allocations of the third example, and the policies at its ends."""
    problem = Problem(THREE, [1, 1, 1])
    ((first, last),) = all_bottleneck_max(problem).segments
    ends = np.array([[float(v) for v in vertex] for vertex in (first, last)])
    ax.plot(ends[:, 1], ends[:, 0], color=colour("BMF"), lw=6, solid_capstyle="round")
    near = []
    for policy, place in ((DRF(), (10, -2)), (ProportionalFair(), (-28, 6))):
        tasks = policy(problem, [1, 1, 1])
        ax.plot(tasks[1], tasks[0], "o", ms=10, color=colour(policy.name), mec="white", zorder=5)
        ax.annotate(policy.name, (tasks[1], tasks[0]), xytext=place, textcoords="offset points")
        near.append(float(np.abs(ends - tasks).max(axis=1).min()))
    ax.annotate("all BMF\nallocations", ends.mean(axis=0)[[1, 0]], xytext=(12, 8), textcoords="offset points")
    ax.set(
        xlabel="tasks of job 2, and of job 3",
        ylabel="tasks of job 1",
        title="Existence: proved; not unique\non three resources",
    )
    ax.margins(0.25)
    return {"from": ends[0], "to": ends[1], "ends": max(near) < 1e-9}


def _drained(ax: plt.Axes, loads: tuple[float, ...]) -> dict[str, float]:
    """The function that proves stability of PF along fluid paths of BMF; when the jobs are gone, by load."""
    gone = {}
    for k, load in enumerate(loads):
        system = System.with_load(LINE, [1, 1, 1], load)
        path = trajectory(system, BottleneckMax(), START, horizon=4.0 * START.sum() / (1 - load))
        jobs = path.counts.sum(axis=-1)
        empty = np.flatnonzero(jobs < 1e-6 * START.sum())
        gone[f"load {load:g}"] = float(path.times[empty[0]]) if len(empty) else np.inf
        times = np.linspace(0, 150, 601)
        counts = np.transpose([np.interp(times, path.times, each) for each in path.counts.T])
        function = (counts**2 / system.arrival_rates).sum(axis=1)
        ax.plot(times, function / function[0], color=part_colour(k), label=f"load {load:g}")
    ax.axhline(1, color="0.7", lw=1)
    ax.set(xlabel="time", ylabel="sum of squared jobs over loads, at first 1", xlim=(0, 150), ylim=(0.7, 1.1))
    ax.set_title("Stability on two resources:\nproved below load .97, open beyond")
    ax.legend(loc="lower right")
    return gone


def _apart(ax: plt.Axes, loads: tuple[float, ...]) -> tuple[list[float], np.ndarray]:
    """How far the mean durations of PF and balanced fairness are apart, times 1 - load."""
    found = []
    for load in loads:
        system = System.with_load(PAIR, [1, 1], load)
        fair, balanced = (
            result.mean_jobs[0] / system.arrival_rates[0]
            for result in (stationary(system, ProportionalFair()), balanced_fairness(system))
        )
        found.append((1 - load) * (balanced - fair))
    apart = np.array(found)
    ax.plot(loads, apart, "o-", color=part_colour(0))
    ax.set(
        xlabel="load",
        ylabel="(1 - load) (E T balanced - E T of PF)",
        title="PF = BF in heavy traffic: open",
        ylim=(0, None),
    )
    return list(loads), apart


def _table(found: dict[str, Verdict]) -> Table:
    rows = [
        [told, name, statement_named(name).words, *([str(found[name].status)] if found else []), says]
        for told, name, says in KNOWN
    ]
    columns = ["conjecture", "statement", "it says", *(["verdict"] if found else []), "so the conjecture is"]
    return Table("Where the three conjectures stand, by the statements of this project", columns, rows)
