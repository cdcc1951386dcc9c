"""The epsilon to which DC-DRF converges, by deadline (Figure 10)."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np

from examples.dcdrf_figures.deadline_runs import EPSILONS, SURE, THREADS, Deadlines, measured
from examples.dcdrf_figures.deadlines import deadline_axis, end, exact_price, setting
from examples.dcdrf_figures.instances import CONFIGURATIONS, PAPER_SECONDS
from examples.dcdrf_figures.measuring import seconds_text, zero_axis
from examples.gallery import Check, Page
from fairness.cloud import DeadlineController
from fairness.machine.cores import available_cores

__all__ = ["epsilon"]

INTERVALS = 40
"""Control intervals in which the controller finds its epsilon, from 0."""


def epsilon(*, full: bool) -> Page:
    """Figure 10: the epsilon to which DC-DRF converges, by deadline."""
    m = measured(full)
    figure, ax = plt.subplots(figsize=(12, 5.4), layout="constrained")
    least = min(value for value in EPSILONS if value > 0)
    found: dict[str, dict[float, float]] = {}
    checks: list[Check] = []
    for configuration in sorted(THREADS, reverse=True):
        colour = CONFIGURATIONS[configuration]
        every = m.seconds[configuration]
        ax.plot(
            list(every.values()),
            list(every),
            "o",
            color=colour,
            ms=5,
            alpha=0.5,
            label=f"{configuration}: every measured ε",
        )
        chosen, seconds = m.points(configuration)
        quickest, slowest = seconds[0], seconds[-1]
        if chosen[-1] == 0:
            seconds, chosen = np.append(seconds, m.limit), np.append(chosen, 0.0)
        width = 1.6 if configuration == "DC-DRF" else 3.2
        ax.plot(
            seconds, chosen, color=colour, lw=width, label=f"{configuration}: those that no smaller ε beats"
        )
        deadlines = np.geomspace(1.02 * quickest, 1.2 * slowest, 8)
        runs = {float(d): _settle(float(d), m.replayed(configuration)) for d in deadlines}
        found[configuration] = {d: run.epsilon for d, run in runs.items()}
        ax.plot(
            deadlines,
            list(found[configuration].values()),
            "o",
            mfc="none",
            mec=colour,
            ms=8,
            label=f"{configuration}: where the controller settles",
        )
        settled = sum(run.settled for run in runs.values())
        checks.append(
            Check(
                f"{configuration}: the controller settles at every deadline within {INTERVALS} intervals of replayed seconds",
                f"{len(runs)} of {len(runs)}",
                f"{settled} of {len(runs)}",
                settled == len(runs),
            )
        )
    zero_axis(ax, least)
    deadline_axis(ax, m, 0.0, end(m))
    ax.set(ylabel="ε", xlabel="deadline, seconds")
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    ratios = _ratios(m)
    checks += [
        Check(
            "ε of sDC-DRF over that of DC-DRF at the same deadline",
            "two orders of magnitude (48 cores)",
            f"{min(ratios):.2g} to {max(ratios):.2g} ({available_cores()} cores)"
            if ratios
            else "no deadline at which both are > 0",
            None,
        ),
        Check(
            "deadline from which on ε = 0 is in time",
            "-",
            "; ".join(f"{name} {_zero(m, name)}" for name in THREADS),
            None,
        ),
        Check(
            "the same for exact filling by events",
            f"{PAPER_SECONDS} s (baseline, rounds)",
            seconds_text(m.exact_seconds),
            None,
        ),
    ]
    return Page(
        "dcdrf05_epsilon",
        "5. The ε that a deadline allows",
        f"Figure 10 (ε as a function of the deadline); the plotted values are not in the text. {setting(full)}",
        "The paper saw ε fall steeply with the deadline up to a knee after a few seconds, and ε of DC-DRF two orders below that of sDC-DRF. Dots here: every measured ε; lines join those that no smaller ε beats (others are slower by chance, where other processes want the cores); rings: where the controller (the outer loop) settles, "
        "with a clock that replays the measured seconds, interpolated between ε. Any ε between 0 and the smallest measured one counts there as slow as 0, so a few rings lie off the line. "
        + _first_round(m)
        + f"{exact_price(m)} The two orders come with 48 cores; the comparison below is that of this machine's. The star is exact filling by events: the allocation of ε = 0 after {seconds_text(m.exact_seconds)}, with nothing to search for.",
        figure,
        {**m.numbers(), "controller settles at": found},
        checks,
    )


def _settle(deadline: float, seconds: Callable[[float], float]) -> DeadlineController:
    """The outer loop from epsilon 0, after its clock has replayed the measured seconds."""
    controller = DeadlineController(deadline)
    for _ in range(INTERVALS):
        taken = seconds(controller.epsilon)
        controller.observe(taken > deadline, elapsed=taken)
    return controller


def _first_round(m: Deadlines) -> str:
    """How much of the time goes where epsilon does not matter."""
    rounds, small = m.outcomes[EPSILONS[0]].rounds, m.outcomes[SURE].rounds
    part = m.seconds["sDC-DRF"][EPSILONS[0]] / m.seconds["sDC-DRF"][SURE]
    return (
        "As the paper says, the first round passes over all tenants and resources whatever ε is: measured on one thread, "
        f"ε = {EPSILONS[0]:g} ({rounds:,} {'round' if rounds == 1 else 'rounds'}) takes {part:.2g} times the seconds of ε = {SURE:g} ({small:,} rounds). "
    )


def _ratios(m: Deadlines) -> list[float]:
    """Epsilon of sDC-DRF over that of DC-DRF at the deadlines that measured epsilons just meet."""
    times = sorted(t for name in THREADS for t in m.points(name)[1])
    result = []
    for deadline in times:
        chosen = []
        for name in ("sDC-DRF", "DC-DRF"):
            values, seconds = m.points(name)
            chosen.append(values[seconds <= deadline][-1:])
        if all(len(value) and value[0] > 0 for value in chosen):
            result.append(float(chosen[0][0] / chosen[1][0]))
    return result


def _zero(m: Deadlines, configuration: str) -> str:
    value = m.seconds[configuration].get(0.0)
    return f"after more than {m.limit:g} s" if value is None else seconds_text(value)
