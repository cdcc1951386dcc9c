"""``audit``: which policy has which property, by a search for counterexamples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fairqueues.console import completion
from fairqueues.console.command import command
from fairqueues.console.inputs import heading, labelled, seed_of
from fairqueues.console.options import Jobs, Policies, Seed
from fairqueues.console.output import Delivery
from fairqueues.errors import WrongUse
from fairqueues.report.outcome import Evidence, Outcome

__all__ = ["audit"]


@command(figures=False, report=False, writes="resume")
def audit(
    deliver: Delivery,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help="Scenario with policies and [audit].", autocompletion=completion.scenarios
        ),
    ] = None,
    policy: Policies = None,
    properties: Annotated[
        list[str] | None,
        typer.Option(
            "--property",
            metavar="KEY",
            help="Such as SI, EF, SP; may be repeated. Default: all.",
            autocompletion=completion.properties,
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option("--budget", min=1, max=10**9, metavar="N", help="Models asked per cell (default 2000)."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", metavar="FILE", help="Keep finished cells here, and go on from there."),
    ] = None,
    jobs: Jobs = 1,
    seed: Seed = None,
) -> None:
    """Ask every policy about every property; a cross comes with a smallest witness, confirmed exactly."""
    scenario = None if file is None else deliver.read(file)
    policies = _policies(scenario, policy)

    import fairness

    section: Any = None if scenario is None else scenario.section("audit")
    most: int = budget if budget is not None else getattr(section, "budget", 2000)
    table = fairness.audit(
        policies,
        properties or getattr(section, "properties", None),
        budget=most,
        rng=None if seed is None and scenario is None else seed_of(seed, scenario),
        n_jobs=jobs,
        progress=True,
        resume=resume,
    )
    crosses = [cell for cell in table.cells.values() if cell.violated]
    deliver(
        Outcome(
            "Audit" if scenario is None else heading("Audit", scenario),
            table.to_dataframe(),
            tuple(Evidence(c.policy, f"violates {c.property}: {c.confirmation}", c.best) for c in crosses),
            notes=tuple(line for line in table.summary().splitlines()[-3:] if line),
            failures=table.contradictions,
            scenario="" if scenario is None else scenario.text,
            seed=table.settings["seed"],
            extra={"witnesses": {f"{c.policy}, {c.property}": c.summary() for c in crosses}},
        )
    )


def _policies(scenario: Any, names: list[str] | None) -> dict[str, Any]:
    from fairqueues.scenario.names import policy_named

    tree = None if scenario is None else scenario.tree
    policies = list(scenario.policies) if scenario else []
    if names:
        policies = [policy_named(name, tree=tree, folder=Path()) for name in names]
    if not policies:
        raise WrongUse("no policy is given; name some with --policy NAME, or give a scenario that has them")
    return labelled(policies, names or scenario.document.policies)
