"""Accelerators on which jobs run at different speeds: time shared equally, and three ways to do better."""

from __future__ import annotations

from fractions import Fraction as F

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linprog

from examples.gallery import Check, Page, Table
from fairness import PSDSF, TSF, allocate
from fairness.catalogue import colour
from fairness.display.colours import part_colour
from fairqueues.traces import Throughputs

__all__ = ["throughputs"]

JOBS = ("job 0", "job 1", "job 2")
DEVICES = {"V100": 1, "K80": 1}
MATRIX = [[40, 10], [12, 4], [100, 50]]
PRINTED = [[0.45, 0.0], [0.45, 0.09], [0.09, 0.91]]
"""Time fractions that the paper prints for its max-min policy."""
MAX_MIN = "max-min, one place at a time"


def throughputs(*, full: bool) -> Page:
    """Gavel's example of section 4.1 under time sharing, its own max-min policy, TSF and PS-DSF."""
    measured = Throughputs(
        JOBS, [1] * 3, tuple(DEVICES), MATRIX, source="Narayanan et al., OSDI 2020, section 4.1"
    )
    cluster = measured.cluster(devices=DEVICES)
    equal = np.full((3, 2), 1 / 3)
    times = {"equal time": equal, MAX_MIN: _max_min(measured.alone)}
    for policy in (TSF(), PSDSF()):
        placement = allocate(cluster, policy, [1, 1, 1]).placement
        times[policy.name] = measured.times(placement, [1, 1, 1], devices=DEVICES)
    steps = {name: (measured.alone * part).sum(axis=1) for name, part in times.items()}
    alike = measured.alone @ np.full(2, 1 / 3)
    gains = {name: value / alike for name, value in steps.items()}
    tsf, psdsf = TSF().name, PSDSF().name
    checks = [
        Check(
            "max-min: parts of time on (V100, K80) of the three jobs, by a linear program",
            _matrix(np.array(PRINTED)) + " (printed)",
            _matrix(times[MAX_MIN]),
            bool(np.abs(times[MAX_MIN] - PRINTED).max() <= 0.0051),
        ),
        Check.exact("max-min: every job gains", [F(12, 11)] * 3, gains[MAX_MIN]),
        Check.exact("TSF: every job gains, if a job may be in two places at once", [F(54, 49)] * 3, gains[tsf]),
        Check.exact("PS-DSF: steps per second", [F(20), F(6), F(50)], steps[psdsf]),
        Check(
            "time of an accelerator in use, all ways, largest", "1",
            f"{max(float(part.sum(axis=0).max()) for part in times.values()):.12g}",
            all(abs(float(part.sum(axis=0).max()) - 1) < 1e-9 for part in times.values()),
        ),
    ]  # fmt: skip
    rows = [
        [name, *(f"{x:.4g}" for x in steps[name]), *(f"{x - 1:+.1%}" for x in gains[name]), f"{part.sum(axis=1).max():.3f}"]
        for name, part in times.items()
    ]  # fmt: skip
    return Page(
        "throughputs",
        "Accelerators: max-min fairness of effective throughput, TSF and PS-DSF",
        "D. Narayanan et al., Heterogeneity-aware cluster scheduling policies for deep learning workloads (Gavel), OSDI 2020, section 4.1: three jobs, one V100 and one K80.",
        "Job 0 is four times as fast on the V100, job 2 only twice: time on the V100 is worth more to job 0. With a third of the time everywhere all are worse off than they need be. "
        f"The paper's max-min policy raises all three by the same {gains[MAX_MIN].min() - 1:.1%} (it says: about 10 %). TSF equalises the same gains, but a cluster does not know that one job can be in one place at a time: it promises {gains[tsf].min() - 1:.1%}, and job 2 would need {times[tsf].sum(axis=1).max():.1%} of its time. "
        "PS-DSF shares each accelerator by what a job could run there if it had it alone: the V100 goes to jobs 0 and 1, which K80s help little, and job 2 gets the K80 and is as well off as with equal time; jobs 0 and 1 gain most. "
        "From measured files: fairqueues.traces.read_gavel, which names what was not measured.",
        _figure(times, gains),
        {"parts of time": times, "steps per second": steps, "gain over equal time": gains},
        checks,
        [
            Table("Steps per second, measured alone (stated in the paper)", ["job", *DEVICES], [[name, *map(str, row)] for name, row in zip(JOBS, MATRIX, strict=True)]),
            Table(
                "Steps per second, gain over equal time, and the largest part of its time that a job is somewhere",
                ["way", *JOBS, *(f"gain of {job}" for job in JOBS), "largest part of time"],
                rows,
            ),
        ],
    )  # fmt: skip


def _max_min(rates: np.ndarray) -> np.ndarray:
    """Parts of time that maximise the smallest gain over equal time, by a linear program."""
    n, m = rates.shape
    gain = np.zeros((n, n * m))
    for i in range(n):
        gain[i, i * m : (i + 1) * m] = rates[i] / (rates[i].sum() / n)
    places = np.vstack([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])
    found = linprog(
        np.r_[np.zeros(n * m), -1.0],
        A_ub=np.block([[places, np.zeros((n + m, 1))], [-gain, np.ones((n, 1))]]),
        b_ub=np.r_[np.ones(n + m), np.zeros(n)],
    )
    return np.asarray(found.x[:-1]).reshape(n, m)


def _matrix(values: np.ndarray) -> str:
    return "; ".join(", ".join(f"{x:.2f}" for x in row) for row in values)


def _figure(times: dict[str, np.ndarray], gains: dict[str, np.ndarray]) -> plt.Figure:
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.6), layout="constrained", width_ratios=[1.5, 1])
    place = 0.0
    ticks, names = [], []
    for name, part in times.items():
        for j, device in enumerate(DEVICES):
            below = 0.0
            for i, job in enumerate(JOBS):
                left.barh(
                    place, part[i, j], 0.8, left=below, color=part_colour(i),
                    label=None if ticks else job,
                )  # fmt: skip
                if part[i, j] > 0.06:
                    left.text(
                        below + part[i, j] / 2,
                        place,
                        f"{part[i, j]:.2f}",
                        ha="center",
                        va="center",
                        color="white",
                        fontsize="small",
                    )
                below += part[i, j]
            ticks.append(place)
            names.append(f"{name}: {device}")
            place += 1.0
        place += 0.5
    left.set_yticks(ticks, names)
    left.invert_yaxis()
    left.set(xlim=(0, 1), xlabel="part of the accelerator's time", title="Who runs where")
    left.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3)
    for k, (name, gain) in enumerate((n, g) for n, g in gains.items() if n != "equal time"):
        shade = "0.3" if name == MAX_MIN else colour(name)
        right.bar(np.arange(3) + (k - 1) * 0.2, 100 * (gain - 1), 0.2, color=shade, label=name)
    right.axhline(0, color="0.3", lw=0.8)
    right.set_xticks(range(3), JOBS)
    right.set(ylabel="more steps per second than with equal time, %", title="Gain over equal time")
    right.legend(fontsize="small")
    return figure
