"""Figure 5, table IV and figure 6: 120 servers with the configurations of a Google cluster."""

from __future__ import annotations

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

from examples.gallery import Check, Page, Table
from examples.psdsf_figures.clusters import DATA_CENTER
from examples.psdsf_figures.drawing import draw_cluster, draw_placement, listed
from fairness import CDRFH, PSDSF, TSF, allocate, distributed_psdsf
from fairness.catalogue import colour

__all__ = ["google_cluster", "utilization_over_time"]

F = Fraction

TOTALS = {
    "PS-DSF rdm": (F(210), F(105), F(165, 2), F(55, 2)),
    "TSF": (F(1115 * 42, 2) / F(457, 4), F(585 * 42, 2) / F(457, 4), F(320 * 33, 181), F(195 * 33, 181)),
    "C-DRFH": (F(210), F(105), F(320 * 33, 181), F(195 * 33, 181)),
}

TOGETHER = {"classes A and B": [0, 1], "class C": [2], "class D": [3]}
"""Bars of figure 5: how the tasks of users 1 and 2 are split between A and B is arbitrary."""

OFF = (100.0, 250.0)
"""Seconds between which user 4 is away; the printed interval is lost."""


def google_cluster(*, full: bool) -> Page:
    """Figure 5 and table IV: who gets which class of servers."""
    figure, axes = plt.subplots(2, 2, figsize=(12, 9.5), layout="constrained")
    draw_cluster(DATA_CENTER, axes[0, 0])
    gamma = [[80, 340, 82.5, 55], [40, 170, 41.25, 41.25], [0, 0, 82.5, 27.5], [0, 0, 27.5, 27.5]]
    same = bool(np.allclose(DATA_CENTER.gamma, gamma, rtol=1e-12, atol=0))
    checks = [
        Check(
            "tasks alone on a class of servers (table IV)",
            "16 printed numbers",
            "the same" if same else "others",
            same,
        )
    ]
    numbers, rows = {}, []
    for policy, ax in ((PSDSF(), axes[0, 1]), (TSF(), axes[1, 0]), (CDRFH(), axes[1, 1])):
        result = allocate(DATA_CENTER, policy)
        draw_placement(result, ax, together=TOGETHER)
        numbers[policy.name] = {
            "tasks": result.tasks,
            "placement": result.placement,
            "utilization": result.utilization,
        }
        checks.append(Check.exact(f"{policy.name}: tasks of users 1 to 4", TOTALS[policy.name], result.tasks))
        rows += [
            [
                f"{policy.name}, {user}",
                *(
                    f"{round(v, 9):.5g}" if ok else "-"
                    for v, ok in zip(result.placement[n], DATA_CENTER.eligible[n], strict=True)
                ),
                f"{result.tasks[n]:.6g}",
            ]
            for n, user in enumerate(DATA_CENTER.job_classes)
        ]
    psdsf = allocate(DATA_CENTER, PSDSF())
    checks.append(
        Check.exact(
            "PS-DSF: class C to user 3, class D to user 4",
            (F(165, 2), F(55, 2)),
            np.array([psdsf.placement[2, 2], psdsf.placement[3, 3]]),
        )
    )
    printed = numbers["TSF"]["placement"][2, 2]
    checks.append(Check.close("TSF: tasks of user 3 on class C (printed 58.33)", 58.3425, printed))
    cpu = (psdsf.utilization[:2, 0] * DATA_CENTER.capacities[:2, 0]).sum() / DATA_CENTER.capacities[
        :2, 0
    ].sum()
    checks.append(Check.close("PS-DSF: CPU in use on classes A and B together", 0.75, cpu))
    # Any CPU demand of user 2 that fits table IV is at most .2 * 1/1.5 = 2/15 per task.
    most = (4 + 20 * 2 / 15) / 8
    checks.append(
        Check.refuted(
            "CPU of classes A and B",
            '"fully utilised under any mechanism"',
            f"{cpu:.2f}, and at most {most:.3f} on class A whatever CPU demand fits table IV",
            cpu < 0.76 and most < 1,
            "it is the memory that is full there",
        )
    )
    return Page(
        "psdsf04_google_cluster",
        "4. Four users, 120 servers in four classes",
        "Figure 5 and table IV.",
        "PS-DSF gives each class of servers to those who make most of it: user 3 all of class C, user 4 all of class D. TSF and C-DRFH level tasks over the whole cluster, "
        "so user 4 also takes a part of class C, where it wastes CPU. Users 1 and 2 have equal ratios on A and B, so their split between the two is not unique: only totals compare, and the bars take both classes together. "
        "For users 3 and 4 C-DRFH equals TSF because (0.3/58.5)/(0.2/64) = 320/195 exactly.",
        figure,
        numbers,
        checks,
        [
            Table(
                "Placements (table IV; totals in the last column)", ["", *DATA_CENTER.servers, "total"], rows
            )
        ],
    )


def utilization_over_time(*, full: bool) -> Page:
    """Figure 6: servers that act on their own find the allocation again when user 4 leaves and returns."""
    transient = distributed_psdsf(
        DATA_CENTER,
        300.0,
        period=1.0,
        delay=(0.0, 0.5),
        activity={3: [(0.0, OFF[0]), (OFF[1], 300.0)]},
        rng=2017,
    )
    figure, axes = plt.subplots(2, 2, figsize=(12, 7.5), layout="constrained", sharex=True)
    counts = {"all": np.ones(4), "off": np.array([1.0, 1, 1, 0])}
    numbers = {"times": transient.times, "utilization": transient.utilization, "tasks": transient.tasks}
    levels = {}
    for policy in (CDRFH(), TSF()):
        both = {phase: allocate(DATA_CENTER, policy, x).utilization for phase, x in counts.items()}
        levels[policy.name] = both
        numbers[policy.name] = both
    for row, server in zip(axes, (2, 3), strict=True):
        for ax, resource in zip(row, (0, 1), strict=True):
            for (name, both), style in zip(levels.items(), ("--", ":"), strict=True):
                values = [
                    both["all"][server, resource],
                    both["off"][server, resource],
                    both["all"][server, resource],
                ]
                ax.step(
                    [0, *OFF, 300],
                    [*values, values[-1]],
                    where="post",
                    color=colour(name),
                    linestyle=style,
                    linewidth=2.5,
                    label=f"{name}, recomputed",
                )
            ax.plot(
                transient.times,
                transient.utilization[:, server, resource],
                color=colour("PS-DSF rdm"),
                label="PS-DSF, servers on their own",
            )
            ax.axvspan(*OFF, color="0.93", zorder=0)
            ax.set(
                ylim=(0, 1.06),
                ylabel="part in use",
                title=f"{DATA_CENTER.resources[resource]} on {DATA_CENTER.servers[server]}",
            )
    for ax in axes[1]:
        ax.set(xlabel="time, s (shaded: user 4 away)", xlim=(0, 300))
    axes[0, 0].legend(fontsize="small", loc="lower left")

    off = allocate(DATA_CENTER, PSDSF(), counts["off"])
    before, during = (int(np.searchsorted(transient.times, t)) - 1 for t in OFF)
    checks = [
        Check.exact(
            "user 4 away: tasks of users 1, 2, 3", (F(1755, 7), F(1755, 14), F(1170, 14)), off.tasks[:3]
        ),
        Check.exact(
            "user 4 away: tasks of users 2, 3 on class D", (F(285, 7), F(15, 14)), off.placement[1:3, 3]
        ),
        Check.close(
            "distributed, just before user 4 leaves: CPU on class C", 1.0, transient.utilization[before, 2, 0]
        ),
        Check.close(
            "distributed, just before user 4 returns: CPU on class D",
            0.7792,
            transient.utilization[during, 3, 0],
        ),
        Check.close("distributed, at the end: CPU on class D", 1.0, transient.utilization[-1, 3, 0]),
        Check.close("C-DRFH and TSF, all active: CPU on class C", 0.8048, levels["TSF"]["all"][2, 0]),
        Check.close("C-DRFH and TSF, user 4 away: CPU on class D", 1.0, levels["C-DRFH"]["off"][3, 0]),
        Check(
            "seconds until the servers have settled after each change",
            "-",
            listed(np.asarray(transient.settle_times)),
            None,
        ),
    ]
    memory = levels["TSF"]["off"][3, 1]
    checks.append(
        Check.refuted(
            "memory while user 4 is away",
            '"fully utilised on all servers under any mechanism"',
            f"{memory:.4f} of class D under TSF and C-DRFH",
            abs(memory - 1 / 3) < 1e-9,
            "user 3 needs half as much memory as CPU, so CPU is full first",
        )
    )
    checks.append(
        Check.refuted(
            "CPU on classes C and D",
            '"greater utilization" under PS-DSF',
            f"{off.utilization[3, 0]:.3f} against {levels['TSF']['off'][3, 0]:.3f} on class D while user 4 is away",
            off.utilization[3, 0] < levels["TSF"]["off"][3, 0],
            "true with all users (1 against 0.805 on class C); it would be true throughout if user 2 needed 2/15 of a CPU",
        )
    )
    return Page(
        "psdsf05_over_time",
        "5. User 4 leaves and returns",
        "Figure 6 (the interval of absence is lost in print; 100 to 250 s here).",
        "Every second each server repeats its own part of the computation, at its own phase and with totals that are up to half a second old. "
        "PS-DSF is found again within seconds. The other two mechanisms are solved anew at each change, as in the paper.",
        figure,
        numbers,
        checks,
    )
