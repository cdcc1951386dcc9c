"""``cloud``: extended DRF of many tenants, exact and by the rounds of DC-DRF, and its deadline controller."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairqueues.console import completion
from fairqueues.console.command import command
from fairqueues.console.inputs import seed_of
from fairqueues.console.options import Seed
from fairqueues.console.output import Delivery
from fairqueues.errors import WrongUse
from fairqueues.report.outcome import Outcome, certificates

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["cloud"]


@command()
def cloud(
    deliver: Delivery,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="Scenario with [cloud].", autocompletion=completion.scenarios),
    ] = None,
    tenants: Annotated[int | None, typer.Option("--tenants", min=1, metavar="N")] = None,
    resources: Annotated[int | None, typer.Option("--resources", min=1, metavar="N")] = None,
    profile: Annotated[
        str | None, typer.Option("--profile", metavar="NAME", help="Of the demands, such as G0 (default).")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", min=0.0, metavar="E", help="Approximation of DC-DRF.")
    ] = None,
    deadline: Annotated[
        float | None,
        typer.Option("--deadline", min=0.0, metavar="SECONDS", help="Let the controller choose epsilon."),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", min=1, metavar="N", help="Also EDRF by rounds, at most so many.")
    ] = None,
    intervals: Annotated[
        int,
        typer.Option(
            "--intervals", min=1, max=1_000_000, metavar="N", help="Of the controller, with --deadline."
        ),
    ] = 20,
    seed: Seed = None,
) -> None:
    """Share resources among a cloud of tenants: exactly, by DC-DRF with epsilon, and under a deadline."""
    scenario = None if file is None else deliver.read(file)
    section = scenario.section("cloud") if scenario is not None and scenario.has("cloud") else None

    def setting(given: Any, name: str, default: Any = None) -> Any:
        return given if given is not None else getattr(section, name, None) or default

    n, m = setting(tenants, "tenants"), setting(resources, "resources")
    if n is None or m is None:
        raise WrongUse("give --tenants and --resources, or a scenario with [cloud]")
    eps, limit = setting(epsilon, "epsilon"), setting(deadline, "deadline")
    entropy = seed_of(seed, scenario)

    import pandas as pd

    from fairness.cloud import DeadlineController, compare, dcdrf, demand_profile, edrf, edrf_rounds

    demands = demand_profile(setting(profile, "profile", "G0"), n, m, longest=min(128, m), rng=entropy)
    tables: dict[str, pd.DataFrame] = {}
    notes: list[str] = []
    most = setting(rounds, "rounds")
    methods: dict[str, Any] = {
        "EDRF": lambda: edrf(demands),
        "EDRF by rounds": most and (lambda: edrf_rounds(demands, max_rounds=most)),
        "DC-DRF": eps and (lambda: dcdrf(demands, epsilon=eps)),
    }
    results: dict[str, Any] = {}
    rows = []
    for name, run in methods.items():
        if run:
            begin = time.perf_counter()
            result = results[name] = run()
            rows.append(_row(name, result, time.perf_counter() - begin))
            if name != "EDRF":
                difference = compare(result, results["EDRF"])
                rows[-1]["worst_shortfall"] = difference.worst_shortfall
                notes += [f"{name}: {line.strip()}" for line in difference.summary().splitlines()[1:]]
    if limit is not None:
        controller = DeadlineController(limit, **({} if eps is None else {"epsilon": eps}))
        for _ in range(intervals):
            controller.step(demands)
        tables["deadline controller"] = controller.to_dataframe()
        notes += controller.summary().splitlines()
    deliver(
        Outcome(
            f"{n:,} tenants on {m:,} resources",
            pd.DataFrame(rows).set_index("algorithm"),
            certificates(results),
            tables,
            notes=tuple(notes),
            figure=lambda: _figure(results),
            scenario="" if scenario is None else scenario.text,
            seed=entropy,
            extra={"demands": {"tenants": n, "resources": m, "entries": demands.n_entries}},
        )
    )


def _row(name: str, result: Any, seconds: float) -> dict[str, Any]:
    return {
        "algorithm": name,
        "seconds": seconds,
        "rounds": result.events if name == "EDRF" else result.rounds,
        "least_level": float(result.levels.min()),
        "largest_level": float(result.levels.max()),
        "utilization": result.utilization,
        "worst_shortfall": 0.0,
    }


def _figure(results: dict[str, Any]) -> Figure:
    """Levels of the tenants, sorted."""
    import numpy as np
    from matplotlib.figure import Figure

    from fairness.display.colours import part_line
    from fairness.display.drawing import legend_beside
    from fairness.display.lettering import label

    figure = Figure(layout="constrained")
    ax = figure.add_subplot()
    for k, (name, result) in enumerate(results.items()):
        levels = np.sort(result.levels)
        # A thousand points draw a million tenants.
        shown = np.unique(np.linspace(0, len(levels) - 1, 1000).astype(int))
        ax.plot((shown + 1) / len(levels), levels[shown], label=label(name), **part_line(k))
    # A few tenants stand decades above the others.
    scale = "log" if all(result.levels.min() > 0 for result in results.values()) else "linear"
    ax.set(xlabel="part of the tenants", ylabel="level at most", xlim=(0, 1), yscale=scale)
    legend_beside(ax)
    return figure
