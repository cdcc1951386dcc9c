"""Figures 1 to 4: the small examples of the paper."""

from __future__ import annotations

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

from examples.gallery import Check, Page, Table
from examples.psdsf_figures.clusters import CHANNELS, EXAMPLE_1, EXAMPLE_2
from examples.psdsf_figures.drawing import draw_cluster, draw_placement, listed
from fairness import CDRFH, PSDSF, TSF, allocate

__all__ = ["four_users", "three_users", "wireless"]

F = Fraction


def three_users(*, full: bool) -> Page:
    """Figure 1: what the three mechanisms make of the memory."""
    figure, axes = plt.subplots(2, 2, figsize=(12, 9.5), layout="constrained")
    draw_cluster(EXAMPLE_1, axes[0, 0])
    expected = {
        "PS-DSF rdm": (F(3), F(3), F(12)),
        "C-DRFH": (F(60, 23), F(72, 23), F(288, 23)),
        "TSF": (F(2), F(2), F(16)),
    }
    checks, numbers, rows = [], {}, []
    for policy, ax in ((PSDSF(), axes[0, 1]), (CDRFH(), axes[1, 0]), (TSF(), axes[1, 1])):
        result = allocate(EXAMPLE_1, policy)
        draw_placement(result, ax)
        ram = result.tasks * EXAMPLE_1.demands[:, 1]
        numbers[policy.name] = {"tasks": result.tasks, "placement": result.placement, "RAM": ram}
        checks.append(
            Check.exact(f"{policy.name}: tasks of users 1, 2, 3", expected[policy.name], result.tasks)
        )
        rows.append([policy.name, listed(result.tasks), listed(ram), f"{result.certificate.residual:.0e}"])
    ours = allocate(EXAMPLE_1, PSDSF())
    checks.append(
        Check.exact(
            "PS-DSF: GB of users 1, 2, 3 (printed: 6, 6 and 12)",
            (F(6), F(6), F(12)),
            ours.tasks * EXAMPLE_1.demands[:, 1],
        )
    )
    time = allocate(EXAMPLE_1, PSDSF(division="time"))
    checks.append(Check.exact("PS-DSF, time division: tasks", expected["PS-DSF rdm"], time.tasks))
    return Page(
        "psdsf01_three_users",
        "1. Three users, two servers",
        "Figure 1 and sections II-B, III.",
        "Memory is dominant for every user on every server it may use, so 24 GB in proportion to the weights 1:1:2 are 6, 6 and 12 GB: PS-DSF does that. C-DRFH takes "
        "bandwidth, of which the second server has none, for the dominant resource of user 1; TSF compares with tasks on the whole cluster, which users 1 and 2 cannot use.",
        figure,
        numbers,
        checks,
        [Table("Allocations", ["mechanism", "tasks", "GB of memory", "residual of the certificate"], rows)],
    )


def four_users(*, full: bool) -> Page:
    """Figures 2 and 3: four users, and the virtual dominant shares that prove the allocation."""
    figure, axes = plt.subplots(2, 2, figsize=(12, 9.5), layout="constrained")
    draw_cluster(EXAMPLE_2, axes[0, 0])
    result = allocate(EXAMPLE_2, PSDSF())
    draw_placement(result, axes[0, 1], title=f"{result.name} (figure 3)")
    checks = [
        Check.exact("PS-DSF: tasks of users 1 to 4", (F(18, 5), F(18, 5), F(8), F(8)), result.tasks),
        Check(
            "tasks of users 3 and 4 on server 1",
            "none",
            listed(result.placement[2:, 0]),
            bool((result.placement[2:, 0] == 0).all()),
        ),
    ]
    shares = result.virtual_dominant_shares
    checks.append(
        Check.exact("virtual dominant shares on server 1", (F(3, 5), F(3, 5), F(2, 3), F(8, 9)), shares[:, 0])
    )
    checks.append(
        Check.exact("virtual dominant shares of users 3, 4 on server 2", (F(2, 3), F(2, 3)), shares[2:, 1])
    )
    checks.append(Check.exact("server 1: CPUs and GB in use", (F(9), F(54, 5)), result.usage[0, :2]))
    numbers = {
        "PS-DSF": {
            "tasks": result.tasks,
            "placement": result.placement,
            "vds": np.where(np.isfinite(shares), shares, np.nan),
        }
    }
    others = ((CDRFH(), (3.5503, 3.5503, 8.5207, 7.4556)), (TSF(), (2.625, 2.625, 10.5, 9.1875)))
    for (policy, values), ax in zip(others, axes[1], strict=True):
        other = allocate(EXAMPLE_2, policy)
        draw_placement(other, ax)
        numbers[policy.name] = {"tasks": other.tasks, "placement": other.placement}
        checks += [
            Check.close(f"{policy.name}: tasks of user {n + 1}", value, other.tasks[n])
            for n, value in enumerate(values)
        ]
    time = allocate(EXAMPLE_2, PSDSF(division="time"))
    numbers["PS-DSF tdm"] = {"tasks": time.tasks}
    checks.append(Check.exact("PS-DSF, time division: tasks", (F(3), F(3), F(6), F(6)), time.tasks))
    return Page(
        "psdsf02_four_users",
        "2. Four users, the same servers",
        "Figures 2 and 3.",
        "On server 1 the CPUs are full and users 1 and 2, who hold them, have the smallest virtual dominant share (0.6): they cannot gain without taking from each other. Users 3 "
        "and 4 stand higher there (2/3 and 8/9, counting what they run on server 2) and get nothing from server 1.",
        figure,
        numbers,
        checks,
    )


def wireless(*, full: bool) -> Page:
    """Figure 4: two users on three channels with different rates."""
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
    draw_cluster(CHANNELS, axes[0], unit="Mb/s", host="channel")
    checks, numbers = [], {}
    for division in ("time", "resource"):
        result = allocate(CHANNELS, PSDSF(division=division))
        numbers[division] = {"placement": result.placement, "rates": result.tasks}
        checks.append(
            Check.exact(f"rates of users 1 and 2, Mb/s ({division} division)", (F(3, 2), F(1)), result.tasks)
        )
    busy = result.placement / CHANNELS.gamma
    checks.append(Check.exact("part of channel 2 for users 1 and 2", (F(1, 2), F(1, 2)), busy[:, 1]))
    draw_placement(result, axes[1], title=f"{result.name}: channel 2 is shared equally", unit="Mb/s")
    return Page(
        "psdsf03_wireless",
        "3. A wireless cell: effective capacities",
        "Figure 4 and section IV, scenario 1 (rates that fit the text; the printed ones are lost).",
        "Each channel goes to the user who makes most of it; the middle channel is shared, and both users have the same virtual dominant share on it. With one resource, dividing "
        "the resource and dividing time are the same.",
        figure,
        numbers,
        checks,
    )
