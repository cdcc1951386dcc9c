"""``allocate``: who gets how much, by every policy, with certificates."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from fairness.display.wording import in_use
from fairqueues.console.command import Call, command, stacked
from fairqueues.console.inputs import chosen, numbers
from fairqueues.console.options import File, Policies
from fairqueues.report.outcome import certificates
from fairqueues.report.tables import lines

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["allocate"]


@command()
def allocate(call: Call, file: File, policy: Policies = None, counts: str | None = None) -> None:
    """Share a pool or a cluster among its classes, by every policy, each with its certificate.

    Examples
    --------
    $ fairqueues allocate drf_example --report drf.html
    """
    scenario = call.read(file)
    policies = chosen(scenario, policy)
    jobs = numbers("--counts", counts, scenario.model.n_classes, scenario.counts)

    import fairness
    from fairqueues.console.figures import allocations

    runs = {name: partial(fairness.allocate, scenario.model, p, jobs) for name, p in policies.items()}
    results = {name: replace(one, name=name) for name, one in call.run(runs).items()}
    queues = None if scenario.tree is None else _queues(scenario.tree, scenario.model, results)
    notes = [] if scenario.is_cluster else [_use(name, r) for name, r in results.items()]
    call.deliver(
        "Allocations",
        stacked(results, "policy"),
        certificates(results),
        notes=(*notes, *(() if queues is None else lines(queues))),
        tables={} if queues is None else {"queues": queues},
        figure=lambda: allocations(scenario.model, policies, results, jobs),
        extra={
            "utilization": {name: r.utilization for name, r in results.items()},
            "prices": {name: r.prices for name, r in results.items() if r.prices is not None},
        },
    )


def _use(name: str, result: Any) -> str:
    """Line on the use of each resource."""
    used = (
        in_use(resource, u, c, full)
        for resource, u, c, full in zip(
            result.problem.resources, result.usage, result.problem.capacities, result.saturated, strict=True
        )
    )
    return f"{name}: in use: {', '.join(used)}"


def _queues(tree: Any, model: Any, results: dict[str, Any]) -> pd.DataFrame:
    """What each queue holds of each resource, with all below it, and the largest share that this is."""
    import numpy as np
    import pandas as pd

    total = getattr(model, "total_capacities", model.capacities)
    held = {
        name: tree.totals(model, result.tasks[:, None] * model.demands) for name, result in results.items()
    }
    order = list(tree.in_depth_order)
    rows = []
    for name, usage in held.items():
        shares = np.divide(usage, total, out=np.zeros_like(usage), where=total > 0).max(axis=1)
        for v in order:
            row = {"queue": tree.path(v), "policy": name, "weight": tree.weights[v]}
            row |= {f"usage of {r}": usage[v, j] for j, r in enumerate(model.resources)}
            rows.append(row | {"dominant share": shares[v]})
    return pd.DataFrame(rows).set_index(["queue", "policy"])
