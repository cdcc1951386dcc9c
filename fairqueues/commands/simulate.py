"""``simulate``: confidence intervals by independent replications, of jobs, counts or whole tasks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairness.display.wording import percent
from fairqueues.console.command import Call, command, stacked
from fairqueues.console.inputs import chosen, labelled, loaded, settings
from fairqueues.console.options import File, Load, Policies
from fairqueues.errors import WrongUse
from fairqueues.report.outcome import Evidence
from fairqueues.scenario.choices import Level

if TYPE_CHECKING:
    from fairqueues.scenario import Scenario
    from queueing import Tasks

__all__ = ["simulate"]

_SHOWN = ("mean_jobs", "mean_durations", "service_rates")


@command("jobs", "backend", "seed", "time_limit")
def simulate(
    call: Call,
    file: File,
    policy: Policies = None,
    load: Load = None,
    level: Level | None = None,
    events: Annotated[int | None, typer.Option(min=1, max=10**12)] = None,
    replications: Annotated[int | None, typer.Option(min=2, max=100_000)] = None,
    precision: Annotated[float | None, typer.Option(min=0.0)] = None,
    max_replications: Annotated[int | None, typer.Option(min=2, max=100_000)] = None,
) -> None:
    """Simulate every policy, or the schedulers of the file at level tasks, with common random numbers.

    Where a precision is missed the result so far is shown and written, and the exit code is 1.

    Parameters
    ----------
    level
        Jobs with sizes, counts of jobs, or whole tasks.
    events : N
        Events (or jobs) per replication.
    replications : N
        Independent runs.
    precision : P
        Relative half-width to reach, for jobs.
    max_replications : N
        Most runs to reach the precision.

    Examples
    --------
    $ fairqueues simulate cluster_traffic --jobs 2 --seed 1
    """
    scenario = call.read(file)
    system = loaded(scenario, load)
    what: Level = level or scenario.section("simulation").level
    options = _lengths(scenario, what, events, replications)
    options |= _sequential(scenario, what, options, precision, max_replications)

    import queueing
    from fairqueues.console.figures import class_bars
    from fairqueues.console.remedies import placed
    from queueing.waiting.whole_jobs import waits

    said: tuple[str, ...] = ()
    if what == "tasks":
        simulated, options["tasks"] = _whole_tasks(scenario, policy)
        said = _not_simulated(scenario, list(simulated))
    else:
        simulated, options["level"] = chosen(scenario, policy), what
        if what == "jobs":
            options |= settings(scenario, "simulation", ("order",))
            within = scenario.section("simulation").order
            said = () if within in (None, "ps") else (f"order in which jobs of a class are served: {within}",)
    whole = _lengths(scenario, "tasks", events, replications)
    run = partial(queueing.simulate, system, rng=call.seed, n_jobs=call.jobs)
    with call.workers():
        asked = {
            name: partial(run, one, **(whole if waits(system, one) else options))
            for name, one in simulated.items()
        }
        results = call.run(asked)
    said += tuple(
        f"warning: {name}: {placed(text, 'simulate')}"
        for name, result in results.items()
        for text in (*result.gaps, *result.warnings)
    )
    table = stacked(results, "policy")
    call.deliver(
        f"Simulation of {what}",
        table,
        (_evidence(name, result) for name, result in results.items()),
        notes=(repr(system), *said),
        figure=lambda: class_bars(
            {name: r.service_rates for name, r in results.items()},
            system.problem.job_classes,
            half_widths={name: r.half_widths["service_rates"] for name, r in results.items()},
        ),
        seed=call.seed,
        extra={"notes": list(said)},
        brief=table[[f"{n}{w}" for n in _SHOWN for w in ("", "_half_width")]],
    )


def _lengths(scenario: Scenario, what: Level, events: int | None, replications: int | None) -> dict[str, Any]:
    """How long and how often is simulated."""
    length = "jobs" if what == "jobs" else "events"
    keys = (length, "replications", "warmup", "confidence")
    return settings(scenario, "simulation", keys, **{length: events}, replications=replications)


def _sequential(
    scenario: Scenario,
    what: Level,
    lengths: dict[str, Any],
    precision: float | None,
    max_replications: int | None,
) -> dict[str, Any]:
    """The precision to go on for, at level jobs."""
    if what != "jobs":
        if precision is not None or max_replications is not None:
            name = "--max-replications" if precision is None else "--precision"
            raise WrongUse(f"{name} is for level jobs; at level {what} set --events and --replications")
        return {}
    given = {"precision": precision, "max_replications": max_replications}
    found = settings(scenario, "simulation", tuple(given), **given)
    if max_replications is not None:
        if "precision" not in found:
            raise WrongUse("--max-replications goes with a precision; give --precision, or --replications")
        if max_replications < (first := lengths["replications"]):
            told = f"--max-replications {max_replications} is fewer than the {first} to start with"
            raise WrongUse(f"{told}; give --replications too")
    return found


def _whole_tasks(scenario: Scenario, policy: list[str] | None) -> tuple[dict[str, Any], Tasks]:
    """The schedulers of the file by their names, and what whole tasks are there."""
    from queueing import Tasks

    if policy:
        raise WrongUse(
            "--policy is for fluid policies, and whole tasks are started by schedulers: leave it out and "
            'give them in the file as [simulation] schedulers = ["drf", "fifo"], or take --level jobs'
        )
    section = scenario.section("simulation")
    tasks = Tasks(per_job=section.tasks_per_job, times=section.task_times, placement=scenario.placement)
    return {scheduler.name: scheduler for scheduler in scenario.schedulers}, tasks


def _not_simulated(scenario: Scenario, run: list[str]) -> tuple[str, ...]:
    """What a file with policies is told when schedulers are simulated instead."""
    if not scenario.policies:
        return ()
    names = ", ".join(labelled(scenario.policies, scenario.document.policies))
    given = "schedulers" in scenario.section("simulation").model_fields_set
    source = "of [simulation] schedulers" if given else "the default"
    return (
        f"whole tasks are started by schedulers: simulated here are {', '.join(run)}, {source}, "
        f"and not the policies of the file ({names}); --level jobs simulates those",
    )


def _evidence(name: str, result: Any) -> Evidence:
    import numpy as np

    live = result.system.arrival_rates > 0
    if result.warnings:
        return Evidence(name, f"no intervals from {result.events:,} events, see the warning")
    with np.errstate(invalid="ignore"):
        width = (result.half_widths["mean_durations"] / result.mean_durations)[live]
    known = width[np.isfinite(width)]
    if not len(known):
        return Evidence(name, f"no intervals of means from {result.events:,} events, see the warnings")
    claim = (
        f"{percent(result.confidence)} intervals from {result.events:,} events, largest relative half-width"
    ) + " of those given" * (len(known) < len(width))
    return Evidence(name, claim, float(known.max()))
