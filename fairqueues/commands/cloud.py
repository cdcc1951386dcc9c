"""``cloud``: extended DRF of many tenants, exact and by the rounds of DC-DRF, and its deadline controller."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairqueues.console.command import Call, command
from fairqueues.console.inputs import setting
from fairqueues.console.options import AnyFile
from fairqueues.errors import WrongUse
from fairqueues.report.outcome import certificates

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["cloud"]


@command("seed")
def cloud(
    call: Call,
    file: AnyFile = None,
    tenants: Annotated[int | None, typer.Option(min=1)] = None,
    resources: Annotated[int | None, typer.Option(min=1)] = None,
    profile: str | None = None,
    epsilon: Annotated[float | None, typer.Option(min=0.0)] = None,
    deadline: Annotated[float | None, typer.Option(min=0.0)] = None,
    rounds: Annotated[int | None, typer.Option(min=1)] = None,
    intervals: Annotated[int, typer.Option(min=1, max=1_000_000)] = 20,
) -> None:
    """Share resources among a cloud of tenants: exactly, by DC-DRF with epsilon, and under a deadline.

    Parameters
    ----------
    file : FILE
        Scenario with [cloud].
    tenants : N
        Instead of those of the file.
    resources : N
        Instead of those of the file.
    profile : NAME
        Of the demands, such as G0 (default).
    epsilon : E
        Approximation of DC-DRF.
    deadline : SECONDS
        Let the controller choose epsilon.
    rounds : N
        Also EDRF by rounds, at most so many.
    intervals : N
        Of the controller, with --deadline.

    Examples
    --------
    $ fairqueues cloud dcdrf_profile
    """
    scenario = None if file is None else call.read(file)
    told: Any = partial(setting, scenario, "cloud")
    n, m = told("tenants", tenants), told("resources", resources)
    if n is None or m is None:
        raise WrongUse("give --tenants and --resources, or a scenario with [cloud]")
    eps, limit = told("epsilon", epsilon), told("deadline", deadline)

    import pandas as pd

    from fairness.cloud import DeadlineController, demand_profile
    from fairqueues.console.figures import levels

    demands = demand_profile(told("profile", profile, "G0"), n, m, longest=min(128, m), rng=call.seed)
    results, rows, notes = _compared(demands, told("rounds", rounds), eps)
    tables: dict[str, pd.DataFrame] = {}
    if limit is not None:
        controller = DeadlineController(limit, **({} if eps is None else {"epsilon": eps}))
        for _ in range(intervals):
            controller.step(demands)
        tables["deadline controller"] = controller.to_dataframe()
        notes += controller.summary().splitlines()
    call.deliver(
        f"{n:,} tenants on {m:,} resources",
        pd.DataFrame(rows).set_index("algorithm"),
        certificates(results),
        tables=tables,
        notes=notes,
        figure=lambda: levels(results),
        seed=call.seed,
        extra={"demands": {"tenants": n, "resources": m, "entries": demands.n_entries}},
    )


def _compared(
    demands: Any, rounds: int | None, epsilon: float | None
) -> tuple[dict[str, Any], list[dict[str, Any]], list[str]]:
    """What each algorithm finds, a row for each, and in words what the others lack of the exact one."""
    from fairness.cloud import compare, dcdrf, edrf, edrf_rounds

    methods: dict[str, Any] = {
        "EDRF": lambda: edrf(demands),
        "EDRF by rounds": rounds and (lambda: edrf_rounds(demands, max_rounds=rounds)),
        "DC-DRF": epsilon and (lambda: dcdrf(demands, epsilon=epsilon)),
    }
    results: dict[str, Any] = {}
    rows, notes = [], []
    for name, run in methods.items():
        if not run:
            continue
        begin = time.perf_counter()
        results[name] = result = run()
        seconds = time.perf_counter() - begin
        shortfall = 0.0
        if name != "EDRF":
            difference = compare(result, results["EDRF"])
            shortfall = difference.worst_shortfall
            notes += [f"{name}: {line.strip()}" for line in difference.summary().splitlines()[1:]]
        rows.append(
            {
                "algorithm": name,
                "seconds": seconds,
                "rounds": result.events if name == "EDRF" else result.rounds,
                "least_level": float(result.levels.min()),
                "largest_level": float(result.levels.max()),
                "utilization": result.utilization,
                "worst_shortfall": shortfall,
            }
        )
    return results, rows, notes
