"""Adaptation to demands that change and to another deadline (Figure 11).

The clock of this page is not that of the machine: it advances by a fixed time at every look, and DC-DRF looks at it once per round. So a round takes a fixed
number of "seconds", all runs are the same on every machine, and 8 "seconds" are a tenth of the rounds of the exact allocation.
"""

from __future__ import annotations

import time

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from examples.dcdrf_figures.instances import CONFIGURATIONS, SEED, scale
from examples.gallery import Check, Page
from fairness.cloud import (
    ControlInterval,
    DeadlineController,
    Pattern,
    churned,
    compare,
    dcdrf,
    demand_profile,
    edrf,
)

__all__ = ["adaptation"]

INTERVALS = 100
ABRUPT, LONGER, SHORTER = 30, 50, 70
"""Intervals in which half of the demands change, the deadline becomes longer, and it becomes as before."""

DEADLINE, RAISED = 8.0, 10.0

EXACT_DEADLINES = 10
"""Deadlines that DC-DRF would need for the exact allocation of the first demands."""

SETTLES = {1: 20, ABRUPT: 10, LONGER: 10, SHORTER: 10}
"""Intervals within which the controller has settled after each event. The paper: search until about interval 20, "minor adjustment", about 10 intervals."""

LATE = 0.25
"""Part of the intervals after settling that may time out. With demands that stay it is one in ten; here they change in every interval."""


class _Clock:
    """Seconds that pass only when somebody looks."""

    def __init__(self, tick: float) -> None:
        self.looks = 0
        self._tick = tick

    def __call__(self) -> float:
        self.looks += 1
        return self.looks * self._tick


def adaptation(*, quick: bool) -> Page:
    """Figure 11: epsilon and elapsed time in 100 control intervals."""
    n_tenants, n_resources = scale(True) if quick else (50_000, 5_000)
    demands = demand_profile("G0", n_tenants, n_resources, rng=SEED)
    pattern = Pattern.of(demands)
    # From here on by rounds alone.
    exact_rounds = dcdrf(demands, 0.0, pattern=pattern, threads=1).rounds
    tick = EXACT_DEADLINES * DEADLINE / exact_rounds
    clock = _Clock(tick)
    controller = DeadlineController(DEADLINE)
    stream = np.random.default_rng(SEED)
    settled, unfinished, std, worst, tenth = [], [], [], [], []
    taken = []  # by the clock of the machine: DC-DRF, exact
    for interval in range(1, INTERVALS + 1):
        if interval > 1:
            demands, _ = churned(demands, rng=stream)
        if interval == ABRUPT:
            demands, _ = churned(demands, fraction=0.5, change=0.5, rng=stream)
        if interval in (LONGER, SHORTER):
            controller.deadline = RAISED if interval == LONGER else DEADLINE
        begin = time.perf_counter()
        result = controller.step(demands, pattern=pattern, clock=clock, threads=1)
        between = time.perf_counter()
        exact = edrf(demands, pattern=pattern)
        taken.append((between - begin, time.perf_counter() - between))
        comparison = compare(result, exact)
        settled.append(controller.settled and not result.timed_out)
        unfinished.append(result.unfinished)
        std.append(comparison.relative_std)
        worst.append(comparison.worst_shortfall)
        tenth.append(comparison.shortfall(0.1))

    history = controller.history
    number = np.array([entry.interval for entry in history])
    late = np.array([entry.timed_out for entry in history])
    chosen = np.array([entry.epsilon for entry in history])
    # The clock is looked at once more before and after the rounds.
    elapsed = tick * np.array([entry.rounds or 0 for entry in history])
    deadline = np.array([entry.deadline for entry in history])
    colour, warning = CONFIGURATIONS["DC-DRF"], CONFIGURATIONS["pEDRF"]
    figure, axes = plt.subplots(3, 1, figsize=(11, 9.5), layout="constrained", sharex=True)
    axes[0].plot(number, chosen, color=colour, lw=1.5)
    axes[0].plot(number[late], chosen[late], "x", color=warning, ls="none")
    decade = np.floor(np.log10(chosen[chosen > 0].min()))
    axes[0].set_yscale("symlog", linthresh=10.0**decade, linscale=0.3)
    decades = np.arange(decade, np.ceil(np.log10(chosen.max())) + 1)
    axes[0].set_yticks([0, *10.0**decades], ["0", *(f"$10^{{{int(k)}}}$" for k in decades)])
    axes[0].set(ylabel="ε", ylim=(-0.2 * 10.0**decade, 2 * 10.0 ** decades[-1]))

    axes[1].plot(number, elapsed, color=colour, lw=1.5, label="DC-DRF")
    axes[1].plot(number[late], elapsed[late], "x", color=warning, ls="none", label="timed out")
    axes[1].step(number, deadline, where="mid", color="black", lw=1, ls="--", label="deadline")
    axes[1].set(ylabel='elapsed, "seconds" of rounds', ylim=(0, 1.25 * RAISED))
    axes[1].legend(fontsize="small", ncols=3, loc="lower right")

    for values, style, name in (
        (worst, "-", "worst tenant"),
        (tenth, ":", "0.1 % of the tenants miss more"),
        (std, "--", "standard deviation"),
    ):
        axes[2].plot(number, values, color=colour, ls=style, lw=1.5, label=f"DC-DRF: {name}")
    lowest = np.floor(np.log10(min(value for value in std if value > 0)))
    axes[2].set_yscale("symlog", linthresh=10.0**lowest, linscale=0.3)
    decades = np.arange(lowest, 1)
    axes[2].set_yticks([0, *10.0**decades], ["0", *(f"$10^{{{int(k)}}}$" for k in decades)])
    axes[2].axhline(
        0, color=CONFIGURATIONS["EDRF by events"], lw=2, label="EDRF by events: exact, no epsilon to search"
    )
    axes[2].set(
        xlabel="control interval",
        ylabel="missing, or deviating, part\nof the exact allocation",
        xlim=(0, INTERVALS + 1),
        ylim=(-0.2 * 10.0**lowest, 1.5),
    )
    figure.legend(
        *axes[2].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=2,
        fontsize="small",
        frameon=False,
    )
    _events(axes)

    found = {event: _settles(settled, event) for event in SETTLES}
    names = {
        1: "from epsilon 0",
        ABRUPT: "after half of the tenants change by 50 %",
        LONGER: "after the deadline becomes longer",
        SHORTER: "after it becomes shorter",
    }
    paper = {1: "about 20", ABRUPT: "minor adjustment", LONGER: "about 10", SHORTER: "adapts"}
    rate, counted = _late_rate(history, found)
    checks = [
        Check(
            "the first control interval, with epsilon 0, times out",
            "yes",
            f"{'yes' if late[0] else 'no'}, after {history[0].rounds:,} of {exact_rounds:,} rounds",
            bool(late[0] and chosen[0] == 0),
        ),
        *(
            Check(
                f"intervals until the controller has settled, {names[event]}",
                paper[event],
                f"{found[event]} (at most {most} asked for)",
                found[event] <= most,
            )
            for event, most in SETTLES.items()
        ),
        Check(
            "intervals that time out once it has settled",
            "some, to detect changes",
            f"{rate:.1%} of {counted} (at most {LATE:.0%} asked for)",
            rate <= LATE,
        ),
        Check(
            "every interval that is in time is done to its end",
            "yes",
            "yes",
            all(left == 0 for left, out in zip(unfinished, late, strict=True) if not out),
        ),
        Check(
            "worst shortfall: median over intervals in time, and largest over those that timed out",
            "-",
            f"{np.median(np.array(worst)[~late]):.2g}, {max(np.array(worst)[late]):.2g}",
            None,
        ),
        Check(
            "milliseconds of an interval on this machine, median: DC-DRF (one thread), exact filling by events",
            "-",
            ", ".join(f"{1000 * value:.3g}" for value in np.median(taken, axis=0)),
            None,
        ),
    ]
    return Page(
        "dcdrf06_adaptation",
        "Adapting to demands and to the deadline",
        f"Figure 11 (epsilon and elapsed time by control interval); the plotted values are not in the text. Profile G0, {n_tenants:,} tenants, {n_resources:,} resources (a million and 100,000 in the paper). "
        f"One round counts as {tick:.3g} seconds, so that the exact allocation takes {EXACT_DEADLINES} deadlines of {DEADLINE:g} seconds.",
        "In every interval 5 % of the tenants change their demands by 5 %. As in the paper, the first interval times out, a search with growing steps follows, and then epsilon stays close to the deadline with a timeout now and then, to see "
        "whether a smaller one would do. The steps of the search are this library's; the paper does not give its own. An interval that times out leaves some tenants with a small part of what is theirs (third panel). "
        "Filling by events needs no search: the exact allocation comes out in every interval, whatever the demands are.",
        figure,
        {
            "interval": number,
            "epsilon": chosen,
            "elapsed": elapsed,
            "deadline": deadline,
            "rounds": [entry.rounds for entry in history],
            "timed out": late,
            "settled and in time": settled,
            "worst shortfall": worst,
            "shortfall at 0.1 %": tenth,
            "standard deviation": std,
            "exact rounds": exact_rounds,
            "seconds per round": tick,
        },
        checks,
    )


def _events(axes: np.ndarray[tuple[int], np.dtype[np.object_]]) -> None:
    """What happens when."""
    texts = {
        ABRUPT: "half of the tenants\nchange by 50 %",
        LONGER: f"deadline\n{DEADLINE:g} → {RAISED:g} s",
        SHORTER: f"deadline\n{RAISED:g} → {DEADLINE:g} s",
    }
    ax: Axes
    for ax in axes:
        for event in texts:
            ax.axvline(event, color="grey", lw=0.8, ls=":")
    for event, text in texts.items():
        axes[0].text(
            event + 0.5,
            0.96,
            text,
            transform=axes[0].get_xaxis_transform(),
            va="top",
            fontsize="small",
            color="dimgrey",
        )


def _settles(settled: list[bool], event: int) -> int:
    """Intervals from an event up to the first that was in time and left the controller settled."""
    return next((k for k, state in enumerate(settled[event - 1 :], start=1) if state), INTERVALS)


def _late_rate(history: tuple[ControlInterval, ...], found: dict[int, int]) -> tuple[float, int]:
    """Part of the intervals that timed out, those before settling left out, and how many count."""
    searching = {k for event, length in found.items() for k in range(event, event + length)}
    counted = [entry.timed_out for entry in history if entry.interval not in searching]
    return float(np.mean(counted)), len(counted)
