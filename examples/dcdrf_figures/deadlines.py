"""What each configuration makes of a deadline: utilization and fairness (Figures 8 and 9)."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from examples.dcdrf_figures.deadline_runs import SURE, THREADS, Deadlines, measured, repeats
from examples.dcdrf_figures.instances import CONFIGURATIONS, PAPER_SECONDS, scale_text
from examples.dcdrf_figures.measuring import seconds_text, zero_axis
from examples.gallery import Check, Page
from fairness.machine.cores import available_cores

__all__ = ["deadline_axis", "end", "exact_price", "fairness", "setting", "utilization"]

EXACT = "EDRF by events"

SAME_LEVELS = 1e-9
"""Two algorithms add up the rates of up to a million tenants in another order."""


def _curve(ax: Axes, runs: Deadlines, configuration: str, name: str, **style: Any) -> None:
    """One outcome of a configuration by deadline; a line through the epsilons that pay."""
    colour = CONFIGURATIONS[configuration]
    if configuration in THREADS:
        chosen, seconds = runs.points(configuration)
        values = [getattr(runs.outcomes[v], name) for v in chosen]
        if chosen[-1] == 0:
            # The exact allocation stays what it is.
            seconds, values = np.append(seconds, runs.limit), [*values, values[-1]]
        # The wider one below, so that both show where they coincide.
        width, below = (1.6, 3) if configuration == "DC-DRF" else (3.2, 2)
        ax.plot(seconds, values, color=colour, label=configuration, lw=width, zorder=below, **style)
        return
    done = [rounds for rounds in runs.cut if rounds <= len(runs.clock)]
    times = [float(runs.clock[rounds - 1]) for rounds in done]
    if configuration == "pEDRF-1":
        done, times = [1, 1], [times[0], runs.limit]
    elif runs.finished:
        done, times = [*done, runs.exact_rounds], [*times, runs.limit]
    values = [getattr(runs.cut[rounds], name) for rounds in done]
    ax.plot(times, values, color=colour, label=configuration, lw=1.8, **style)


def deadline_axis(ax: Axes, runs: Deadlines, height: float, last: float | None = None) -> None:
    """Seconds below, multiples of the exact method's above, and the exact method itself."""
    exact = runs.exact_seconds
    everything = [exact, *(min(times.values()) for times in runs.seconds.values())]
    everything += [] if last else [float(runs.clock[0])]
    ax.set_xscale("log")
    ax.set_xlim(min(everything) / 1.5, last or _pedrf_end(runs))
    ax.axvline(exact, color=CONFIGURATIONS[EXACT], lw=1, ls="--")
    ax.plot(
        [exact],
        [height],
        "*",
        ms=13,
        color=CONFIGURATIONS[EXACT],
        label=f"{EXACT}: exact after {seconds_text(exact)}",
        ls="none",
        zorder=5,
    )
    top = ax.secondary_xaxis("top", functions=(lambda s: s / exact, lambda q: q * exact))
    top.set_xlabel("deadline / seconds of exact filling by events")
    ax.set_xlabel("deadline, seconds")
    for axis in (ax.xaxis, top.xaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_minor_formatter("")
    low, high = ax.get_xlim()
    span = high / low
    digits = (1, 3) if span > 100 else (1, 2, 5) if span > 10 else (1, 1.5, 2, 3, 4, 5, 7)
    plain = [v * 10.0**k for k in range(-4, 3) for v in digits]
    ax.set_xticks([v for v in plain if low <= v <= high], minor=False)
    top.set_xticks([v for v in plain if low <= v * exact <= high], minor=False)


def end(runs: Deadlines) -> float:
    """End of an axis without pEDRF."""
    slowest = max(max(times.values()) for times in runs.seconds.values())
    return min(runs.limit, 2 * max(runs.exact_seconds, slowest))


def _pedrf_end(runs: Deadlines) -> float:
    """End of an axis with pEDRF: twice its seconds, if it came to its end in time."""
    slowest = 2 * float(runs.clock[-1]) if runs.finished else runs.limit
    return min(runs.limit, max(slowest, end(runs)))


def _legend(figure: Figure, ax: Axes) -> None:
    """One legend for all panels."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize="small", frameon=False)


def _least(runs: Deadlines, name: str) -> float:
    """Smallest value of an outcome that is not 0."""
    return min(value for o in runs.outcomes.values() if (value := getattr(o, name)) > 0)


def _fastest(runs: Deadlines, configuration: str) -> float:
    return min(runs.seconds[configuration].values())


def setting(full: bool) -> str:
    """What all three pages were measured with."""
    return (
        f"Profile G0, {scale_text(full)}, {available_cores()} cores here and 48 in the paper, which varies the deadline in steps of one second. Seconds: the least of "
        f"{repeats(full)} runs after a first that does not count (pEDRF: the fastest of {repeats(full)}). DC-DRF, pEDRF and EDRF by events may use all cores, sDC-DRF one; the threads of DC-DRF and pEDRF wait for each other in every round, and so lose where another process wants a core."
    )


def exact_price(runs: Deadlines) -> str:
    """What the exact allocation costs DC-DRF itself on one thread, beside filling by events."""
    taken = runs.seconds["sDC-DRF"].get(0.0)
    if taken is None:
        return f"With ε = 0 sDC-DRF is exact too, but takes more than {runs.limit:g} s."
    return f"With ε = 0 sDC-DRF is exact too; it takes {taken / runs.exact_seconds:.2g} times the seconds of filling by events."


def utilization(*, full: bool) -> Page:
    """Figure 8: utilization against the exact one, by deadline and by rounds."""
    m = measured(full)
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained", sharey=True)
    for configuration in ("DC-DRF", "sDC-DRF", "pEDRF", "pEDRF-1"):
        _curve(left, m, configuration, "utilization")
    deadline_axis(left, m, 1.0)
    low = m.cut[1].utilization
    left.set(ylabel="utilization / exact utilization", ylim=(low - 0.03, 1.015))
    right.plot(
        m.cut.keys(),
        [o.utilization for o in m.cut.values()],
        color=CONFIGURATIONS["pEDRF"],
        lw=1.8,
        label="pEDRF, cut after so many rounds",
    )
    some = {value: o for value, o in m.outcomes.items() if value > 0}
    right.plot(
        [o.rounds for o in some.values()],
        [o.utilization for o in some.values()],
        "o-",
        color=CONFIGURATIONS["DC-DRF"],
        ms=4,
        lw=1.8,
        label="DC-DRF to the end, with several ε",
    )
    right.plot([1], [low], "D", color=CONFIGURATIONS["pEDRF-1"], label="pEDRF-1", ls="none")
    for value in (0.1, 0.03, 0.01):
        place = some[value].rounds, some[value].utilization
        right.annotate(
            f"ε = {value:g}",
            place,
            (-6, 4),
            textcoords="offset points",
            ha="right",
            color=CONFIGURATIONS["DC-DRF"],
        )
    right.legend(loc="lower right", fontsize="small")
    right.set(xscale="log", xlabel="rounds", title="The same by rounds, on any machine")
    _legend(figure, left)

    few = [o for o in m.outcomes.values() if o.rounds <= m.exact_rounds / 10]
    best = max(few, key=lambda o: o.utilization)
    rising = np.diff([o.utilization for o in m.cut.values()])
    least = min(o.utilization for o in m.outcomes.values())
    checks = [
        Check(
            "the exact allocation",
            f"{PAPER_SECONDS} s (rounds, one thread)",
            f"{seconds_text(m.exact_seconds)} (by events)",
            None,
        ),
        Check(
            "first deadline that DC-DRF meets",
            "-",
            f"{seconds_text(_fastest(m, 'DC-DRF'))}; sDC-DRF {seconds_text(_fastest(m, 'sDC-DRF'))}",
            None,
        ),
        Check(
            "DC-DRF is near the exact utilization right of the knee: with at most a tenth of the exact rounds",
            "near 1 (above 0.99)",
            f"{best.utilization:.5f} with {best.rounds:,} of {m.exact_rounds:,} rounds",
            best.utilization > 0.99,
        ),
        Check(
            "pEDRF uses more with every round, and in the end as much as EDRF",
            "yes",
            f"{low:.3f} to {m.cut[m.exact_rounds].utilization:.3f}",
            bool((rising > 0).all() and abs(m.cut[m.exact_rounds].utilization - 1) < SAME_LEVELS),
        ),
        Check(
            "pEDRF-1 performs poorly: no other configuration uses less",
            "yes",
            f"{low:.3f}; DC-DRF {least:.3f} or more",
            least >= low * (1 - SAME_LEVELS),
        ),
        Check(
            "rounds of pEDRF until the last deadline",
            "-",
            f"{len(m.clock):,} of {m.exact_rounds:,} in {seconds_text(m.clock[-1])}",
            None,
        ),
        Check(
            "levels of pEDRF at the last deadline: those of EDRF by events, cut at the level reached",
            "relative difference 0",
            f"{m.cut_error:.1e}",
            m.cut_error < SAME_LEVELS,
        ),
    ]
    return Page(
        "dcdrf03_utilization",
        "3. Utilization by deadline",
        f"Figure 8 (utilization against baseline by deadline); the plotted values are not in the text. {setting(full)}",
        "The paper saw both kinds of DC-DRF near the exact utilization from a knee on, pEDRF climbing to it as deadlines approach its own run time, and pEDRF-1 poor. The right panel shows the same without a clock: near the exact utilization DC-DRF needs a small part of the rounds, plain EDRF most of them. On the left, at this machine's scale of seconds, the "
        f"fastest ε finishes after {seconds_text(min(_fastest(m, name) for name in THREADS))}, and the exact allocation by events (star) after {seconds_text(m.exact_seconds)}. Right of the star no deadline "
        f"calls for an approximation. {exact_price(m)} Lines join the measured ε that no smaller one beats, or the rounds of pEDRF.",
        figure,
        m.numbers(),
        checks,
    )


def fairness(*, full: bool) -> Page:
    """Figure 9: deviation from the exact allocation, and the tenants that miss most of theirs."""
    m = measured(full)
    figure, axes = plt.subplots(1, 3, figsize=(15.5, 5), layout="constrained")
    for configuration in ("DC-DRF", "sDC-DRF", "pEDRF", "pEDRF-1"):
        _curve(axes[0], m, configuration, "std")
    zero_axis(axes[0], _least(m, "std"))
    deadline_axis(axes[0], m, 0.0)
    axes[0].set(ylabel="standard deviation from the exact allocation, relative")

    rounds = list(m.cut)
    spread, about_zero = ([getattr(o, name) for o in m.cut.values()] for name in ("spread", "std"))
    colour, first = CONFIGURATIONS["pEDRF"], CONFIGURATIONS["pEDRF-1"]
    axes[1].plot(rounds, about_zero, color=colour, lw=1.8, label="pEDRF: about 0")
    axes[1].plot(rounds, spread, color=colour, lw=1.8, ls="--", label="pEDRF: about the mean")
    axes[1].axhline(spread[0], color=first, lw=1, ls="--", label="pEDRF-1: about the mean")
    some = [o for value, o in m.outcomes.items() if value > 0]
    axes[1].plot(
        [o.rounds for o in some],
        [o.std for o in some],
        "o-",
        color=CONFIGURATIONS["DC-DRF"],
        ms=4,
        lw=1.8,
        label="DC-DRF to the end: about 0",
    )
    axes[1].legend(loc="upper right", fontsize="small")
    axes[1].set(
        xscale="log",
        xlabel="rounds",
        ylabel="standard deviation, relative",
        ylim=(0, 1.5 * about_zero[0]),
        title="The same by rounds, on any machine",
    )

    for configuration in THREADS:
        _curve(axes[2], m, configuration, "worst")
        _curve(axes[2], m, configuration, "tenth_percent", ls=":")
    zero_axis(axes[2], _least(m, "tenth_percent"))
    deadline_axis(axes[2], m, 0.0, end(m))
    axes[2].set(
        ylabel="part of its exact allocation that a tenant misses\n(solid: the worst, dotted: 0.1 % miss more)"
    )
    _legend(figure, axes[0])

    small = m.outcomes[SURE]
    widest = max(m.cut.values(), key=lambda o: o.spread)
    both = len(set(m.seconds["DC-DRF"]) & set(m.seconds["sDC-DRF"]))
    checks = [
        Check(
            "the error of pEDRF exceeds that of pEDRF-1: standard deviation about the mean",
            "yes",
            f"{widest.spread:.3f} after {widest.rounds:,} rounds, {spread[0]:.3f} after one",
            widest.spread > spread[0],
        ),
        Check(
            "the same about 0: no round takes anything from a tenant, so it only falls",
            "falls",
            f"{about_zero[0]:.3f} after one round, {widest.std:.3f} after {widest.rounds:,}",
            bool((np.diff(about_zero) < 0).all()),
        ),
        Check(
            f"standard deviation of DC-DRF right of the knee (ε = {SURE:g})",
            "orders of magnitude below 1 (footnote 7; at most 0.01)",
            f"{small.std:.2g} with {small.rounds:,} of {m.exact_rounds:,} rounds",
            small.std <= 0.01,
        ),
        Check(
            "it conceals outliers: shortfall of the worst tenant at the same ε",
            "larger",
            f"{small.worst:.2g}, and {small.tenth_percent:.2g} at 0.1 %",
            small.worst > small.tenth_percent > small.std,
        ),
        Check(
            "ε for which one thread and all give the same allocation, bit by bit",
            "all",
            f"{both if m.same else 'not all'} of {both} that both finished",
            m.same,
        ),
        *_shortfalls(m),
    ]
    return Page(
        "dcdrf04_fairness",
        "4. Fairness by deadline",
        f"Figure 9 (left: standard deviation; right: shortfall of outliers). Its caption says 0.01 percentile, its text one tenth of a percentile (1000 tenants), which is shown; both are in the numbers. {setting(full)}",
        "A tenant's deviation is its allocation over its exact one, less 1. The paper saw a small standard deviation of DC-DRF right of the knee, pEDRF in error by more than pEDRF-1, and a substantially smaller shortfall of DC-DRF than of sDC-DRF. "
        "How it computes the standard deviation is not in the text. Taken about 0, the deviation of an exact allocation, pEDRF is here never above pEDRF-1; taken about the mean of the deviations (dashed) it is, for many rounds (middle panel). "
        "An ε with a small standard deviation can still take a large part from the worst tenant. How far DC-DRF is ahead depends on the cores: 48 in the paper; with the "
        f"{available_cores()} here its fastest ε takes {_fastest(m, 'DC-DRF') / _fastest(m, 'sDC-DRF'):.2g} times the seconds of sDC-DRF's. The exact allocation by events (star) has no deviation and no outliers, after {seconds_text(m.exact_seconds)}.",
        figure,
        m.numbers(),
        checks,
    )


def _shortfalls(m: Deadlines) -> list[Check]:
    """Shortfalls of both configurations at the deadline that DC-DRF and sDC-DRF both meet with some room."""
    deadline = 1.2 * max(_fastest(m, configuration) for configuration in THREADS)
    found = {}
    for configuration in THREADS:
        chosen, seconds = m.points(configuration)
        found[configuration] = m.outcomes[float(chosen[seconds <= deadline][-1])]
    texts = [f"{name}: worst {o.worst:.2g}, 0.1 % {o.tenth_percent:.2g}" for name, o in found.items()]
    return [
        Check(
            f"shortfalls at a deadline of {seconds_text(deadline)}",
            "DC-DRF substantially better",
            "; ".join(texts),
            None,
        )
    ]
