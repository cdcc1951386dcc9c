"""``simulate``: confidence intervals by independent replications, of jobs, counts or whole tasks."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import Annotated, Any

import typer

from fairness.display.wording import percent
from fairqueues.console.command import command
from fairqueues.console.inputs import chosen, heading, loaded, seed_of, settings
from fairqueues.console.options import Backend, BackendOption, File, Jobs, Load, Policies, Seed, TimeLimit
from fairqueues.console.output import Delivery
from fairqueues.errors import WrongUse
from fairqueues.report.outcome import Evidence, Outcome

__all__ = ["Level", "simulate"]

_SHOWN = ("mean_jobs", "mean_durations", "service_rates")


class Level(StrEnum):
    """What is simulated."""

    JOBS = "jobs"
    COUNTS = "counts"
    TASKS = "tasks"


@command()
def simulate(
    deliver: Delivery,
    file: File,
    policy: Policies = None,
    load: Load = None,
    level: Annotated[
        Level | None, typer.Option("--level", help="Jobs with sizes, counts of jobs, or whole tasks.")
    ] = None,
    events: Annotated[
        int | None,
        typer.Option("--events", min=1, max=10**12, metavar="N", help="Events (or jobs) per replication."),
    ] = None,
    replications: Annotated[
        int | None,
        typer.Option("--replications", min=2, max=100_000, metavar="N", help="Independent runs."),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option("--precision", min=0.0, metavar="P", help="Relative half-width to reach, for jobs."),
    ] = None,
    max_replications: Annotated[
        int | None,
        typer.Option(
            "--max-replications", min=2, max=100_000, metavar="N", help="Most runs to reach the precision."
        ),
    ] = None,
    jobs: Jobs = 1,
    backend: BackendOption = Backend.LOKY,
    seed: Seed = None,
    time_limit: TimeLimit = None,
) -> None:
    """Simulate every policy, or the schedulers of the file at level tasks, with common random numbers.

    Where a precision is missed the result so far is shown and written, and the exit code is 1.
    """
    scenario = deliver.read(file)
    system = loaded(scenario, load)
    section = scenario.section("simulation")
    what = level or Level(section.level)
    entropy = seed_of(seed, scenario)
    length = "jobs" if what is Level.JOBS else "events"
    keys = (length, "replications", "warmup", "confidence")
    options = settings(scenario, "simulation", keys, **{length: events}, replications=replications)
    if what is Level.JOBS:
        sequential = {"precision": precision, "max_replications": max_replications}
        options |= settings(scenario, "simulation", tuple(sequential), **sequential)
        if max_replications is not None and "precision" not in options:
            raise WrongUse("--max-replications goes with a precision; give --precision, or --replications")
        first = options["replications"]
        if max_replications is not None and max_replications < first:
            told = f"--max-replications {max_replications} is fewer than the {first} to start with"
            raise WrongUse(f"{told}; give --replications too")
    elif precision is not None or max_replications is not None:
        option = "--max-replications" if precision is None else "--precision"
        raise WrongUse(f"{option} is for level jobs; at level {what} set --events and --replications")
    options |= {"rng": entropy, "n_jobs": jobs}

    import pandas as pd

    import queueing
    from fairqueues.console.backends import workers
    from fairqueues.console.figures import rate_bars
    from fairqueues.console.progress import reached
    from fairqueues.console.remedies import placed

    if what is Level.TASKS:
        if policy:
            raise WrongUse(
                "--policy is for fluid policies, and whole tasks are started by schedulers: leave it out and "
                'give them in the file as [simulation] schedulers = ["drf", "fifo"], or take --level jobs'
            )
        tasks = queueing.Tasks(
            per_job=section.tasks_per_job, times=section.task_times, placement=scenario.placement
        )
        run = partial(queueing.simulate, system, tasks=tasks, **options)
        simulated = {scheduler.name: scheduler for scheduler in scenario.schedulers}
        said = _not_simulated(scenario, list(simulated))
    else:
        run = partial(queueing.simulate, system, level=str(what), **options)
        simulated, said = chosen(scenario, policy), ()
    calls = {name: partial(run, one) for name, one in simulated.items()}
    with workers(backend, jobs):
        results, failures = reached(calls, "simulate", time_limit=time_limit)
    evidence = [_evidence(name, result) for name, result in results.items()]
    said += tuple(
        f"warning: {name}: {placed(text, 'simulate')}"
        for name, result in results.items()
        for text in (*result.gaps, *result.warnings)
    )
    table = pd.concat({name: r.to_dataframe() for name, r in results.items()}, names=["policy"])
    deliver(
        Outcome(
            heading(f"Simulation of {what}", scenario),
            table,
            tuple(evidence),
            notes=(repr(system), *said),
            failures=failures,
            figure=lambda: rate_bars(
                {name: r.service_rates for name, r in results.items()},
                system.problem.job_classes,
                {name: r.half_widths["service_rates"] for name, r in results.items()},
            ),
            scenario=scenario.text,
            seed=entropy,
            extra={"notes": list(said)},
            brief=table[[f"{n}{w}" for n in _SHOWN for w in ("", "_half_width")]],
        )
    )


def _not_simulated(scenario: Any, run: list[str]) -> tuple[str, ...]:
    """What a file with policies is told when schedulers are simulated instead."""
    from fairness.protocol.policy import policy_name

    if not scenario.policies:
        return ()
    names = ", ".join(policy_name(policy) for policy in scenario.policies)
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
