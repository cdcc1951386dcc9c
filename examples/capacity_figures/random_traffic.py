"""A backbone under random traffic: flows of 110 routes come and go, and share the links by each policy."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from examples.capacity_figures.backbone import MAPPED, POLICIES, Study, draw_map, study_of
from examples.gallery import Check, Page
from fairness.catalogue import colour
from fairness.model.problem import FloatArray
from queueing import System, duration_bound, simulate
from queueing.results import Simulation

__all__ = ["long_enough", "random_traffic", "spread_in_errors"]

LOAD = 0.8


def random_traffic(*, full: bool) -> Page:
    """Mean rates of flows on a map's routes, with intervals, against the closed bound."""
    study = study_of(MAPPED)
    traffic = study.traffic
    system = System.with_load(traffic.problem, traffic.loads, LOAD)
    # The same seed: the same random numbers for all policies.
    effort = {"events": 100_000, "replications": 8} if full else {"events": 40_000, "replications": 4}
    runs = {policy.name: simulate(system, policy, rng=1, progress=False, **effort) for policy in POLICIES}
    bound = duration_bound(system).service_rates
    figure, axes = plt.subplots(
        1, 3, figsize=(16, 4.8), layout="constrained", gridspec_kw={"width_ratios": [1.35, 1.2, 0.9]}
    )
    draw_map(axes[0], study, LOAD)
    order = np.argsort(bound)
    _rates(axes[1], study, runs, bound, order)
    _gains(axes[2], runs, bound)
    worst = traffic.problem.job_classes[order[0]]
    events = sum(run.events for run in runs.values())
    gains = {name: float(np.median(run.service_rates / bound)) for name, run in runs.items()}
    return Page(
        "random-traffic",
        "5. A backbone under random traffic",
        "Flows as jobs, links as resources (slide \"Data networks\"); the bound is that of T. Bonald and J. Roberts' talk for balanced fairness, in closed form for any number of classes. The states of 110 classes cannot be listed: each policy is asked about those that a run visits.",
        f"{MAPPED} in 2005, flows between all {traffic.problem.n_classes} ordered pairs of cities at {LOAD:g} of the largest gravity traffic (left): Poisson arrivals, exponential sizes. Mean rate of a flow of each route (middle), from {events:,} simulated events in all, with 95 % intervals, "
        f"beside the bound for balanced fairness, which puts the flows {worst} last. The median route gets {gains['PF']:.2f} times its bound under PF and {gains['MMF']:.2f} times under max-min fairness (right), which BMF equals here: a flow takes the same share of each link of its capacity. "
        f"In these runs {_below(runs['PF'], bound)} of the routes are below their bound under PF and {_below(runs['MMF'], bound)} under max-min fairness: that PF exceeds the bound in each route is no theorem, and intervals of single routes may say otherwise."
        f"{_above(runs, system.most_tasks, study.unit)}",
        figure,
        {
            "routes": np.array(traffic.problem.job_classes),
            "bound on the mean rate of a flow": bound,
            **{f"{name}, mean rate of a flow": run.service_rates for name, run in runs.items()},
            **{f"{name}, half-width": run.half_widths["service_rates"] for name, run in runs.items()},
        },
        _checks(system, runs, 200_000 if full else 40_000),
    )  # fmt: skip


def _below(run: Simulation, bound: FloatArray) -> str:
    """Part of the routes whose mean rate, as it was seen, is below the bound."""
    return f"{100 * float((run.service_rates < bound).mean()):.0f} per cent"


def _above(runs: dict[str, Simulation], alone: FloatArray, unit: str) -> str:
    """What is to be said where a mean rate comes out above the rate of a flow that is alone."""
    marks = {name: runs[name].estimates["service_rates"] for name in ("PF", "MMF")}
    above = {name: one.value > alone for name, one in marks.items()}
    count = sum(int(found.sum()) for found in above.values())
    if not count:
        return ""
    most = max(float(one.value[above[name]].max()) for name, one in marks.items() if above[name].any())
    sure = sum(int((one.interval[0] > alone)[above[name]].sum()) for name, one in marks.items())
    lies = "one mark lies" if count == 1 else f"{count} marks lie"
    reach = "its interval reaches" if count == 1 else "their intervals reach"
    noise = f", which is noise of short runs: {reach} below" if not sure else ""
    return f" No flow can be faster than alone on its route; {lies} above that (at {most:.2f} {unit}{' and less' * (count > 1)}){noise}."


def _rates(ax: Axes, study: Study, runs: dict[str, Simulation], bound: FloatArray, order: FloatArray) -> None:
    place = np.arange(len(bound))
    for k, name in enumerate(("PF", "MMF")):
        estimate = runs[name].estimates["service_rates"]
        ax.errorbar(
            place + 0.3 * k,
            estimate.value[order],
            estimate.half_width[order],
            fmt=".",
            markersize=3,
            elinewidth=0.8,
            color=colour(name),
            label=name if name == "PF" else "MMF = BMF",
        )
    ax.plot(place, bound[order], "-", color=colour("bound"), label="bound (balanced fairness)")
    ax.set(
        xlabel="routes, by their bound",
        ylabel=f"mean rate of a flow ({study.unit})",
        ylim=(0, None),
        title="What a flow gets",
    )
    ax.legend(fontsize="small", loc="upper left")


def _gains(ax: Axes, runs: dict[str, Simulation], bound: FloatArray) -> None:
    for name, style in (("PF", "-"), ("MMF", "-"), ("BMF", "--")):
        gain = np.sort(runs[name].service_rates / bound)
        part = np.arange(1, len(gain) + 1) / len(gain)
        ax.step(gain, part, style, where="post", color=colour(name), label=name)
    ax.axvline(1.0, color=colour("bound"), lw=1)
    ax.set(
        xlabel="mean rate over its bound",
        ylabel="part of the routes at most there",
        title="Mean rate over its bound",
    )
    ax.legend(fontsize="small", loc="lower right")


def _checks(system: System, runs: dict[str, Simulation], jobs: int) -> list[Check]:
    # A second kernel: flows with sizes of their own, and their durations, instead of Little's law.
    single = simulate(system, POLICIES[0], level="jobs", jobs=jobs, replications=4, rng=2, progress=False)
    spread = spread_in_errors(runs["PF"], single)
    same = float(np.abs(runs["BMF"].mean_jobs / runs["MMF"].mean_jobs - 1).max())
    return [
        Check("PF, counts and flow by flow: mean durations of the routes, root mean square of their differences in standard errors", "< 2", f"{spread:.2f}", spread < 2),
        Check("BMF is max-min fairness when flows hold one unit on each link: mean flows, same random numbers, relative difference", "< 1e-6", f"{same:.1e}", same < 1e-6),
        long_enough(runs),
    ]  # fmt: skip


def spread_in_errors(one: Simulation, other: Simulation) -> float:
    """Root mean square, over the classes, of the differences of mean durations in standard errors."""
    a, b = one.estimates["mean_durations"], other.estimates["mean_durations"]
    apart = (a.value - b.value) / np.hypot(a.standard_error, b.standard_error)
    return float(np.sqrt(np.mean(np.square(apart))))


def long_enough(runs: dict[str, Simulation]) -> Check:
    """Whether no run warns that it is too short for its intervals."""
    sound = [name for name, run in runs.items() if not run.warnings]
    return Check(
        "runs long enough for their intervals", ", ".join(runs), ", ".join(sound), len(sound) == len(runs)
    )
