"""The four-user experiment as a timeline, and utilization with many users."""

from __future__ import annotations

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

from examples.gallery import Check, Page, Table
from examples.tdrf_figures.swapping import CONTRIBUTIONS, DEMANDS
from fairness import DRF, Problem, allocate
from fairness.display.colours import part_colour
from fairness.timed.timeline import Timeline, timeline

__all__ = ["four_users", "many_users"]

F = Fraction
TIMES = (1, 2, 3, 4)
"""t1 < t2 < t3 < t4; the paper gives no numbers."""
WIDTHS = (6.5, 4.2, 2.5, 1.2)
"""Of the lines of the users."""


def four_users(*, full: bool) -> Page:
    """Figure 1: what the four users hold over time."""
    result = timeline(
        CONTRIBUTIONS,
        DEMANDS,
        [TIMES[0], TIMES[0], TIMES[1], TIMES[3]],
        [TIMES[2], None, None, None],
        capacities=[1, 1, 1],
        initial_time=0,
    )
    figure, axes = plt.subplots(2, 2, figsize=(12, 7.2), layout="constrained", sharex=True)
    for r, ax in enumerate(axes.flat[:3]):
        _steps(ax, result, lambda interval, k, r=r: float(interval.exchange.holdings[k, r]))
        ax.axhline(1, color="black", linewidth=0.8, linestyle="--", label="capacity")
        ax.set(title=f"r{r + 1} held after the exchange", ylabel="units", ylim=(-0.05, 1.4))
    _steps(axes[1, 1], result, lambda interval, k: float(interval.filling.dominant_shares[k]))
    axes[1, 1].set(title="dominant share", ylabel="share", ylim=(-0.05, 1.4))
    for ax in axes[1]:
        ax.set_xticks([*TIMES, 5], ["$t_1$", "$t_2$", "$t_3$", "$t_4$", ""])
        ax.set_xlabel("time")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)

    first = result.intervals[0]
    tasks = [float(v) for v in first.supported]
    plain = allocate(Problem([DEMANDS[0], DEMANDS[1]], [1, 1, 1]), DRF()).tasks
    started = int(first.filling.tasks.sum())
    checks = [
        Check(
            "t1: tasks that the holdings of users 1, 2 support",
            "2, 1.5",
            ", ".join(f"{v:g}" for v in tasks),
            tasks == [2, 1.5],
        ),
        Check.exact("t1: DRF on the whole system, users 1, 2", (F(10, 3), F(10, 3)), plain),
        Check.refuted(
            "TDRF is Pareto efficient (theorem 3)",
            "yes",
            f"{started} tasks started on top of 2 and 1.5 where DRF runs 10/3 and 10/3",
            started == 0 and tasks == [2, 1.5],
            "what the exchange gave counts as in use, usable or not: the next task of either user would exceed r1 or r3, while user 1 holds 1/2 of r1 idle",
        ),
        Check.refuted(
            "a contribution comes back at most whole (k' ≤ k in the definition of DSI)",
            "k' ≤ k",
            f"user 1: k' = {float(first.exchange.holdings[0, 0]):g}, k = {float(CONTRIBUTIONS[0][0]):g} of r1",
            first.exchange.holdings[0, 0] > CONTRIBUTIONS[0][0],
            "an exchange gives more of one resource for less of another",
        ),
    ]
    excess = [
        [
            f"from t{TIMES.index(interval.start) + 1}",
            ", ".join(f"user {k + 1}" for k in interval.present),
            ", ".join(f"{float(v):g}" for v in interval.excess),
        ]
        for interval in result.intervals
    ]
    return Page(
        "tdrf03_four_users",
        "3. Four users come and go",
        "Figure 1 and the experiment; the paper orders t1 < t2 < t3 < t4 and gives no times (1, 2, 3, 4 here, user 1 leaves at t3).",
        "At each event those present exchange their contributions anew; nothing is carried over. Dashed: the capacity of the system; where lines have one height, the thin ones lie on the thick ones. The contributions exceed it in two intervals, so what users hold "
        "cannot all be there at once; the table says by how much.",
        figure,
        {"timeline": result.to_dataframe().to_dict(orient="list")},
        checks,
        [
            Table(
                "Contributions beyond the capacities (r1, r2, r3)", ["interval", "present", "excess"], excess
            )
        ],
    )


def many_users(*, full: bool) -> Page:
    """Figure 2: utilization while more and more users join."""
    rounds = 20
    present = range(1, 41) if full else (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40)
    users = present[-1]
    curves = {"exchange and TDRF": [], "DRF of what was contributed": []}
    for rng in np.random.default_rng(2015).spawn(rounds):
        contributions, demands = _random_users(rng, users)
        held, plain = [], []
        for n in present:
            total = contributions[:n].sum(axis=0)
            line = timeline(contributions[:n], demands[:n], [1] * n, capacities=total, initial_time=0)
            interval = line.intervals[-1]
            work = interval.supported.astype(float) @ demands[:n] + interval.filling.tasks @ demands[:n]
            held.append(float(np.mean(np.minimum(work, total) / total)))
            plain.append(float(allocate(Problem(demands[:n], total), DRF()).utilization.mean()))
        for curve, values in zip(curves.values(), (held, plain), strict=True):
            curve.append(values)
    figure, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
    numbers = {}
    for n, (name, values) in enumerate(curves.items()):
        mean, low, high = np.mean(values, axis=0), *np.quantile(values, [0.1, 0.9], axis=0)
        ax.plot(present, mean, "o-", markersize=3, color=part_colour(n), label=name)
        ax.fill_between(
            present, low, high,
            color=part_colour(n), alpha=0.15, linewidth=0, label=f"four fifths of {rounds} runs",
        )  # fmt: skip
        numbers[name] = {"users": list(present), "runs": rounds, "mean": mean, "10 %": low, "90 %": high}
    ax.set(xlabel="users present", ylabel="utilization, mean of three resources", ylim=(0, 1.02))
    ax.legend(fontsize="small")
    last = {name: value["mean"][-1] for name, value in numbers.items()}
    wasted = last["exchange and TDRF"] < last["DRF of what was contributed"]
    return Page(
        "tdrf04_many_users",
        "4. Utilization as users join",
        'Figure 2, "infinite users": the paper gives no numbers; random users here.',
        f"Each user can use two of three resources and brings random amounts; lines are means of {rounds} runs, bands go from their .1 to their .9 quantile. An exchange one for one leaves over what nobody wants to swap, and "
        "whole tasks on top of it stop at the first misfit; DRF of the pooled contributions has neither loss.",
        figure,
        numbers,
        [
            Check.refuted(
                "the exchange improves the effectiveness of the system",
                "yes, against DRF",
                f"{last['exchange and TDRF']:.3f} against {last['DRF of what was contributed']:.3f} in use with {users} users",
                bool(wasted),
                "DRF of the same pooled resources uses more of them on these users",
            )
        ],
    )


def _random_users(rng: np.random.Generator, users: int) -> tuple[np.ndarray, np.ndarray]:
    contributions = rng.uniform(0.05, 0.5, (users, 3))
    demands = rng.uniform(0.02, 0.1, (users, 3))
    demands[np.arange(users), rng.integers(3, size=users)] = 0.0
    return contributions, demands


def _steps(ax: plt.Axes, result: Timeline, value: object) -> None:
    for user in range(4):
        times, heights = [], []
        for interval in result.intervals:
            end = 5.0 if interval.end is None else float(interval.end)
            here = user in interval.present
            times += [float(interval.start), end]
            heights += [value(interval, interval.present.index(user)) if here else np.nan] * 2
        # Thin on thick, so that all show where levels are equal.
        ax.plot(
            times,
            heights,
            color=part_colour(user),
            linewidth=WIDTHS[user],
            solid_capstyle="butt",
            solid_joinstyle="miter",
            label=f"user {user + 1}",
        )
