"""``solve``: stationary means of every policy beside balanced fairness, or proved bounds of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairqueues.console.command import command
from fairqueues.console.inputs import (
    chain_options,
    chosen,
    heading,
    is_cluster,
    loaded,
    numbers,
    settings,
)
from fairqueues.console.options import File, Load, Policies
from fairqueues.console.output import Delivery
from fairqueues.errors import WrongUse
from fairqueues.report.outcome import Evidence, Outcome

if TYPE_CHECKING:
    from fairqueues.scenario import Scenario
    from queueing import Enclosure, Stationary, System

__all__ = ["solve"]


@command(writes="certificate")
def solve(
    deliver: Delivery,
    file: File,
    policy: Policies = None,
    load: Load = None,
    shape: Annotated[
        str | None, typer.Option("--shape", metavar="K,L,...", help="States per class; default: as needed.")
    ] = None,
    tail: Annotated[
        float | None,
        typer.Option("--tail", min=0.0, max=1.0, metavar="P", help="Probability that may be left out."),
    ] = None,
    certified: Annotated[
        bool | None, typer.Option("--certified/--estimated", help="Proved bounds instead of estimates.")
    ] = None,
    width: Annotated[
        float | None,
        typer.Option("--width", metavar="W", help="Largest width of proved bounds, part of the mean."),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            "--certificate", metavar="FILE", help="Write the proof of the bounds (.json, .json.gz)."
        ),
    ] = None,
) -> None:
    """Solve the Markov chain of every policy; on a pool also balanced fairness and the duration bound.

    With --certified the means of every policy are enclosed between bounds that are proved.
    """
    scenario = deliver.read(file)
    policies = chosen(scenario, policy)
    system = loaded(scenario, load)

    import pandas as pd

    from fairqueues.console.figures import rate_bars
    from fairqueues.console.progress import reached
    from queueing import balanced_fairness, duration_bound, stationary

    if scenario.section("chain").certified if certified is None else certified:
        if shape is not None:
            raise WrongUse("--shape is for estimates: proved bounds are those of the infinite chain")
        if certificate is not None and len(policies) > 1:
            raise WrongUse("--certificate writes the proof of one policy; choose it with --policy")
        deliver(_certified(scenario, system, policies, tail, width, certificate))
        return
    if width is not None or certificate is not None:
        raise WrongUse("--width and --certificate are for proved bounds; add --certified")
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
        closed, refused = reached(calls, "solve", unit="result", refusals=True)
        if "balanced fairness" in closed:
            tail = closed["balanced fairness"].tail_mass
            evidence.append(Evidence("balanced fairness", "tail mass", tail, bound="upper"))
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
            figure=lambda: rate_bars(
                {name: law.service_rates for name, law in results.items()},
                system.problem.job_classes,
            ),
            scenario=scenario.text,
            extra={"relative_loads": dict(zip(system.load_names, system.relative_loads, strict=True))},
        )
    )


def _certified(
    scenario: Scenario,
    system: System,
    policies: dict[str, Any],
    tail: float | None,
    width: float | None,
    certificate: Path | None,
) -> Outcome:
    """Bounds of the means of every policy, and what proves them."""
    import pandas as pd

    from fairqueues.console.figures import rate_bars
    from fairqueues.console.progress import reached
    from queueing import stationary

    options = chain_options(scenario, tail=tail) | settings(scenario, "chain", ("width",), width=width)
    # The largest box is that of the scenario if it names one: estimates reach further by default.
    if "max_states" not in scenario.section("chain").model_fields_set:
        del options["max_states"]
    runs = {
        name: partial(stationary, system, policy, distribution=False, certified=True, **options)
        for name, policy in policies.items()
    }
    laws: dict[str, Any]
    laws, failures = reached(runs, "solve")
    found: dict[str, Enclosure] = {n: law.enclosure for n, law in laws.items() if law.enclosure is not None}
    if not found:
        return _without_bounds(scenario, system, laws, failures)
    evidence = [
        Evidence(
            name,
            f"certificate on {' x '.join(map(str, one.certificate.shape))} states, largest width",
            one.reached,
            not one.shortfall,
            bound="upper",
        )
        for name, one in found.items()
    ]
    evidence += [_estimated(name, laws[name]) for name in found]
    return Outcome(
        heading("Proved bounds of stationary means", scenario),
        pd.concat({name: one.by_class() for name, one in found.items()}, names=["method"]),
        tuple(evidence),
        notes=(repr(system),),
        failures=(
            *failures,
            *(
                f"{name}: {one.shortfall}; raise width (here: --width)"
                for name, one in found.items()
                if one.shortfall
            ),
        ),
        figure=lambda: rate_bars(
            {name: (one.service_rates.lower + one.service_rates.upper) / 2 for name, one in found.items()},
            system.problem.job_classes,
        ),
        scenario=scenario.text,
        extra={"relative_loads": dict(zip(system.load_names, system.relative_loads, strict=True))},
        # With a file for the certificate there is one policy.
        files={} if certificate is None else {certificate: next(iter(found.values())).certificate.save},
    )


def _without_bounds(
    scenario: Scenario, system: System, laws: dict[str, Stationary], failures: tuple[str, ...]
) -> Outcome:
    """The estimates that are left where no bounds were found; the failures say why."""
    import pandas as pd

    from fairqueues.console.figures import rate_bars

    return Outcome(
        heading("Stationary means, estimates without bounds", scenario),
        pd.concat({name: law.to_dataframe() for name, law in laws.items()}, names=["method"]),
        tuple(
            Evidence(name, f"{law.method} on {law.region}, tail mass", law.tail_mass)
            for name, law in laws.items()
        ),
        notes=(repr(system),),
        failures=failures,
        figure=lambda: rate_bars(
            {name: law.service_rates for name, law in laws.items()},
            system.problem.job_classes,
        ),
        scenario=scenario.text,
    )


def _estimated(name: str, law: Stationary) -> Evidence:
    """The estimate beside the bounds, which lie within its claimed error if that is right."""
    import numpy as np

    assert law.enclosure is not None
    lower, upper = law.enclosure.mean_jobs
    apart = np.maximum(0.0, np.maximum(lower - law.mean_jobs, law.mean_jobs - upper))
    some = law.mean_jobs > 0
    return Evidence(
        name,
        f"estimate by {law.method} on {law.region}, relative distance from the bounds",
        float((apart[some] / law.mean_jobs[some]).max()),
        bool((apart <= law.mean_jobs_error).all()),
    )
