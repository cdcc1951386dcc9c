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
from examples.dcdrf_figures.measuring import zero_axis
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
"""Intervals within which the controller has settled after each event. The paper: its window expands until interval 18 and then contracts; "minor adjustment"; about 10 intervals; no number."""

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


def adaptation(*, full: bool) -> Page:
    """Figure 11: epsilon and elapsed time in 100 control intervals."""
    n_tenants, n_resources = (50_000, 5_000) if full else scale(False)
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
    zero_axis(axes[0], chosen[chosen > 0].min(), chosen.max())
    axes[0].set(ylabel="ε")

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
    zero_axis(axes[2], min(value for value in std if value > 0))
    axes[2].axhline(
        0, color=CONFIGURATIONS["EDRF by events"], lw=2, label="EDRF by events: exact, no ε to search for"
    )
    axes[2].set(
        xlabel="control interval",
        ylabel="missing, or deviating, part\nof the exact allocation",
        xlim=(0, INTERVALS + 1),
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
        1: "from ε = 0",
        ABRUPT: "after half of the tenants change by 50 %",
        LONGER: "after the deadline becomes longer",
        SHORTER: "after it becomes shorter",
    }
    paper = {
        1: "window expands until interval 18, then contracts",
        ABRUPT: "minor adjustment of ε",
        LONGER: "about 10",
        SHORTER: "adapts; no number",
    }
    close = float(np.median((elapsed / deadline)[settled]))
    complete = all(left == 0 for left, out in zip(unfinished, late, strict=True) if not out)
    rate, counted = _late_rate(history, found)
    checks = [
        Check(
            "the first control interval, with ε = 0, times out",
            "yes",
            f"{'yes' if late[0] else 'no'}, after {history[0].rounds:,} of {exact_rounds:,} rounds",
            bool(late[0] and chosen[0] == 0),
        ),
        *(
            Check(
                f"intervals until the controller has settled, {names[event]}",
                f"{paper[event]} (asked for here: at most {most})",
                f"{found[event]}",
                found[event] <= most,
            )
            for event, most in SETTLES.items()
        ),
        Check(
            "intervals that time out once it has settled",
            f"some, to detect changes (asked for here: at most {LATE:.0%})",
            f"{rate:.1%} of {counted}",
            rate <= LATE,
        ),
        Check(
            "elapsed part of the deadline where it has settled and is in time: median",
            "close to 1 (asked for here: at least 0.8)",
            f"{close:.2f}",
            close >= 0.8,
        ),
        Check(
            "every interval that is in time stops all tenants at an exhausted resource",
            "yes",
            "yes" if complete else "no",
            complete,
        ),
        Check(
            "worst shortfall: median over intervals in time, and largest over those that timed out",
            "-",
            f"{np.median(np.array(worst)[~late]):.2g}, {max(np.array(worst)[late]):.2g}",
            None,
        ),
        Check(
            "milliseconds of an interval on this machine, median: DC-DRF (one thread), exact filling by events (all cores)",
            "-",
            ", ".join(f"{1000 * value:.3g}" for value in np.median(taken, axis=0)),
            None,
        ),
    ]
    return Page(
        "dcdrf06_adaptation",
        "6. Adapting to demands and to the deadline",
        f"Figure 11 (ε and elapsed time by control interval); the plotted values are not in the text. Profile G0, {n_tenants:,} tenants, {n_resources:,} resources (a million and 100,000 in the paper). "
        f"One round counts as {tick:.3g} “seconds”, so that the exact allocation, all its rounds, takes {EXACT_DEADLINES} deadlines of {DEADLINE:g} “seconds” and the page is the same on every machine.",
        "In every interval 5 % of the tenants change their demands by 5 %. The paper saw the first interval time out, a search for ε whose window expands until interval 18, and then small adjustments that keep the elapsed time close to the deadline, with a new search after the change to 10 s. "
        "The same is seen here, with another search: the paper leaves its steps open, and these are this library's. The intervals that time out while it searches leave some tenants with a small part of what is theirs (third panel). "
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
