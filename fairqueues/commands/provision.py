"""``provision``: the cheapest capacities that keep the targets of a scenario."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from fairqueues.console import completion
from fairqueues.console.command import Call, command
from fairqueues.console.inputs import settings
from fairqueues.console.options import File
from fairqueues.report.outcome import Evidence

__all__ = ["provision"]


@command("time_limit")
def provision(
    call: Call,
    file: File,
    method: Annotated[str, typer.Option(autocompletion=completion.methods)] = "balanced",
) -> None:
    """Buy the cheapest capacities with which the traffic keeps its targets, with a proven lower bound.

    Parameters
    ----------
    method : NAME
        balanced, bound, a policy (its chain), or simulated:POLICY.

    Examples
    --------
    $ fairqueues provision provisioning
    """
    scenario = call.read(file)
    targets = scenario.section("targets")
    system = scenario.system
    how = scenario.rate_method(method, Path())

    import capacity
    from fairqueues.console.figures import class_bars

    # That the model is a pool was checked with [targets].
    pool: Any = scenario.model
    run = partial(
        capacity.provision,
        pool,
        system.loads,
        targets.costs,
        method=how,
        minimum_service_rate=targets.minimum_service_rates,
        maximum_duration=targets.mean_durations,
        maximum_load=1.0 if targets.relative_load is None else targets.relative_load,
        mean_sizes=system.mean_sizes,
        **settings(scenario, "targets", ("precision", "max_states", "max_evaluations")),
    )
    result = call.run({"provision": run}, unit="search")["provision"]
    table = result.to_dataframe()
    call.deliver(
        "Provision",
        result.resource_table(),
        (
            Evidence("targets", "every class keeps its service rate", holds=bool(table["kept"].all())),
            Evidence("cost", "relative distance from the proven lower bound", result.gap),
        ),
        tables={"classes": table},
        notes=(line.strip() for line in result.summary().splitlines()),
        figure=lambda: class_bars(
            {"service rate": result.service_rates, "target": result.minimum_service_rates},
            result.problem.job_classes,
            "tasks per active job",
        ),
        seed=how.rng if isinstance(how, capacity.Simulated) else None,
        extra={"cost": result.cost, "lower_cost": result.lower_cost, "floor_cost": result.floor_cost,
               "bound_cost": result.bound_cost, "optimal": result.optimal},
    )  # fmt: skip
