"""``audit``: which policy has which property, by a search for counterexamples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fairqueues.console import completion
from fairqueues.console.command import Call, command
from fairqueues.console.inputs import labelled, setting
from fairqueues.console.options import AnyFile, Policies
from fairqueues.errors import WrongUse
from fairqueues.report.outcome import Evidence

__all__ = ["audit"]


@command("jobs", "seed", figures=False, report=False, writes="resume")
def audit(
    call: Call,
    file: AnyFile = None,
    policy: Policies = None,
    properties: Annotated[
        list[str] | None, typer.Option("--property", autocompletion=completion.properties)
    ] = None,
    budget: Annotated[int | None, typer.Option(min=1, max=10**9)] = None,
    resume: Path | None = None,
) -> None:
    """Ask every policy about every property; a cross comes with a smallest witness, confirmed exactly.

    Parameters
    ----------
    file : FILE
        Scenario with policies and [audit].
    properties : KEY
        Such as SI, EF, SP; may be repeated. Default: all.
    budget : N
        Models asked per cell (default 2000).
    resume : FILE
        Keep finished cells here, and go on from there.

    Examples
    --------
    $ fairqueues audit drf_audit
    """
    scenario = None if file is None else call.read(file)
    policies = _policies(scenario, policy)

    import fairness

    table = fairness.audit(
        policies,
        setting(scenario, "audit", "properties", properties or None),
        budget=setting(scenario, "audit", "budget", budget, 2000),
        rng=call.known_seed,
        n_jobs=call.jobs,
        progress=True,
        resume=resume,
    )
    crosses = [cell for cell in table.cells.values() if cell.violated]
    call.deliver(
        "Audit",
        table.to_dataframe(),
        (
            Evidence(c.policy, f"violates {c.property}: {c.confirmation}; relatively by", c.best)
            for c in crosses
        ),
        notes=[*table.legend(), *(["--json holds the models of the witnesses"] if crosses else [])],
        failures=table.contradictions,
        seed=table.settings["seed"],
        extra={"witnesses": {f"{c.policy}, {c.property}": c.summary() for c in crosses}},
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
