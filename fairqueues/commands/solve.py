"""``solve``: stationary means of every policy beside balanced fairness and its closed bound."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import typer

from fairqueues.console.command import command
from fairqueues.console.inputs import chain_options, chosen, heading, is_cluster, numbers, read
from fairqueues.console.options import File, Policies
from fairqueues.console.output import Delivery
from fairqueues.report.outcome import Evidence, Outcome

__all__ = ["solve"]


@command()
def solve(
    deliver: Delivery,
    file: File,
    policy: Policies = None,
    load: Annotated[
        float | None, typer.Option("--load", min=0.0, metavar="L", help="Scale the traffic to this load.")
    ] = None,
    shape: Annotated[
        str | None, typer.Option("--shape", metavar="K,L,...", help="States per class; default: as needed.")
    ] = None,
    tail: Annotated[
        float | None, typer.Option("--tail", min=0.0, max=1.0, help="Probability that may be left out.")
    ] = None,
) -> None:
    """Solve the Markov chain of every policy; on a pool also balanced fairness and the duration bound."""
    scenario = read(file)
    policies = chosen(scenario, policy)
    system = scenario.stable_system if load is None else scenario.system

    import pandas as pd

    from fairqueues.console.figures import class_bars
    from fairqueues.console.progress import reached
    from queueing import balanced_fairness, duration_bound, stationary

    if load is not None:
        system = system.at_load(load)
    system.require_stable()
    given = numbers("--shape", shape, system.n_classes)
    box = None if given is None else [int(k) if k.is_integer() else k for k in given]
    options = chain_options(scenario, shape=box, tail=tail)
    runs = {n: partial(stationary, system, p, distribution=False, **options) for n, p in policies.items()}
    results: dict[str, Any]
    results, failures = reached(runs, "solve")
    evidence = []
    for name, law in results.items():
        # A box that was given leaves out what it leaves out; one that was found must keep its promise.
        kept = None if options.get("shape") else bool(law.tail_mass <= options.get("tail", 1.0))
        evidence += [
            Evidence(name, f"{law.method} on {law.region}, tail mass", law.tail_mass, kept),
            Evidence(name, "violation of the balance equations", law.residual),
        ]
    if not is_cluster(scenario):
        # What is too large for the one, or not for the other, does not cost the chains.
        calls: dict[str, Callable[[], Any]] = {
            "balanced fairness": partial(balanced_fairness, system),
            "bound": partial(duration_bound, system),
        }
        closed, refused = reached(calls, "solve", what="balanced fairness", unit="result", refusals=True)
        if "balanced fairness" in closed:
            evidence.append(Evidence("balanced fairness", "tail mass", closed["balanced fairness"].tail_mass))
        results, failures = results | closed, failures + refused
    # The lower bounds would be a column of the bound alone; in Python its result has them.
    tables = {
        n: law.to_dataframe().drop(columns="least_duration", errors="ignore") for n, law in results.items()
    }
    deliver(
        Outcome(
            heading("Stationary means", scenario),
            pd.concat(tables, names=["method"]),
            tuple(evidence),
            notes=(repr(system),),
            failures=failures,
            figure=lambda: class_bars(
                {name: law.service_rates for name, law in results.items()},
                system.problem.job_classes,
                "mean service rate (tasks per active job)",
            ),
            scenario=scenario.text,
            extra={"relative_loads": dict(zip(system.load_names, system.relative_loads, strict=True))},
        )
    )
