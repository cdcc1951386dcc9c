"""``explain``: why a class has what it has, and what would change it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import typer

from fairqueues.console import completion
from fairqueues.console.command import Call, command, stacked
from fairqueues.console.inputs import chosen, numbers
from fairqueues.console.options import File, Policies
from fairqueues.report.outcome import certificates

__all__ = ["explain"]


@command("time_limit")
def explain(
    call: Call,
    file: File,
    job_class: Annotated[str, typer.Argument(autocompletion=completion.classes)],
    policy: Policies = None,
    counts: str | None = None,
    places: Annotated[int, typer.Option(min=0)] = 24,
) -> None:
    """Say why a class runs what it runs: what stops it, who holds that, and what would change it.

    Parameters
    ----------
    job_class : CLASS
        Name of the job class, or its number from 1 on.
    places : N
        Most resources (of servers) whose capacity is changed.

    Examples
    --------
    $ fairqueues explain drf_example A --policy drf --out why.svg
    """
    scenario = call.read(file)
    # The first policy of the file: one explanation is what a person reads.
    policies = chosen(scenario, policy)
    asked = policies if policy else dict([next(iter(policies.items()))])
    jobs = numbers("--counts", counts, scenario.model.n_classes, scenario.counts)

    import pandas as pd

    import fairness
    from fairqueues.console.figures import explanations

    which = _which(scenario.model, job_class)

    def explained(name: str, rule: Any) -> Any:
        shared = replace(fairness.allocate(scenario.model, rule, jobs), name=name)
        return fairness.explain(shared, which, rule, places=places)

    results = call.run({name: partial(explained, name, rule) for name, rule in asked.items()})
    call.deliver(
        "Explanation",
        stacked(results, "policy"),
        certificates({name: why.allocation for name, why in results.items()}),
        tables={f"holders, {name}": why.holders() for name, why in results.items()},
        brief=pd.DataFrame(),  # the sentences say it
        notes=(line for why in results.values() for line in why.summary().splitlines()[:-1]),
        figure=lambda: explanations(results),
        extra={"explanations": {name: why.to_dict() for name, why in results.items()}},
    )


def _which(model: Any, job_class: str) -> str | int:
    """The class by its name or, where none is called so, by its number from 1 on."""
    number = job_class.isdecimal() and job_class not in model.job_classes
    return int(job_class) - 1 if number and 0 < int(job_class) <= model.n_classes else job_class
