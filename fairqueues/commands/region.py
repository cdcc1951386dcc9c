"""``region``: which loads fit, keep a service rate, are carried by a policy, or fit as whole tasks."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairqueues.console.command import command
from fairqueues.console.inputs import chosen, heading, numbers, read, settings
from fairqueues.console.options import File, Policies, TimeLimit
from fairqueues.console.output import Delivery
from fairqueues.errors import WrongUse
from fairqueues.report.outcome import Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Kind", "region"]


class Kind(StrEnum):
    """Which region."""

    STABILITY = "stability"
    SERVICE = "service"
    POLICY = "policy"
    PACKING = "packing"


@command()
def region(
    deliver: Delivery,
    file: File,
    kind: Annotated[
        Kind | None,
        typer.Option(
            "--kind",
            help="Loads that some policy carries (stability), that keep a mean service rate (service), "
            "that this policy carries (policy), that fit as whole tasks (packing).",
        ),
    ] = None,
    policy: Policies = None,
    rate: Annotated[
        str | None,
        typer.Option("--rate", metavar="G,...", help="Least mean tasks of an active job, for kind service."),
    ] = None,
    points: Annotated[
        int | None,
        typer.Option(
            "--points", min=2, max=10_000, metavar="N", help="Directions, for kinds service and policy."
        ),
    ] = None,
    time_limit: TimeLimit = None,
) -> None:
    """Compute the region of loads, with facets, boundary points and evidence."""
    scenario = read(file)
    section = scenario.section("region")
    what = kind or Kind(section.kind)
    _require_used(what, {"--policy": policy, "--points": points, "--rate": rate})
    n = scenario.model.n_classes
    drawn = n in (2, 3)
    deliver.require_figure(drawn, f"a region is drawn for 2 or 3 classes, not for {n}")

    import pandas as pd

    from fairqueues.console.progress import reached

    least = _least(rate, section, n) if what is Kind.SERVICE else None
    runs = _runs(scenario, what, policy, least, points)
    regions, failures = reached(runs, "region", what=f"{what} region", time_limit=time_limit, unit="region")
    table = pd.concat({name: r.to_dataframe() for name, r in regions.items()}, names=["region"])
    # The sentences of the evidence are in JSON, CSV and the report.
    brief = table.loc[:, ~table.columns.str.contains("evidence")] if what is Kind.POLICY else None
    deliver(
        Outcome(
            heading(f"{str(what).capitalize()} region", scenario),
            table,
            failures=failures,
            notes=tuple(line.strip() for r in regions.values() for line in r.summary().splitlines()),
            dataset=deliver.dataset(table, scenario.model.job_classes, "load"),
            figure=(lambda: _figure(scenario, regions, n)) if drawn else None,
            brief=brief,
            scenario=scenario.text,
            extra={"summaries": {name: r.summary() for name, r in regions.items()}, **_exact(regions)},
        )
    )


def _require_used(what: Kind, given: dict[str, Any]) -> None:
    """WrongUse if an option is given that this kind does not read."""
    read = {Kind.SERVICE: ("--policy", "--points", "--rate"), Kind.POLICY: ("--policy", "--points")}
    for option, value in given.items():
        if value is not None and option not in read.get(what, ()):
            kinds = " and ".join(f"--kind {kind}" for kind, options in read.items() if option in options)
            raise WrongUse(f"{option} is for {kinds}; this is kind {what}")


def _least(rate: str | None, section: Any, n: int) -> Any:
    if rate is not None:
        return numbers("--rate", rate, n) if "," in rate else numbers("--rate", rate, 1)[0]  # type: ignore[index]
    least = section.minimum_service_rate
    if least is None:
        raise WrongUse("a service region needs --rate, or minimum_service_rate in [region]")
    return least


def _runs(
    scenario: Any, what: Kind, names: list[str] | None, least: Any, points: int | None
) -> dict[str, Callable[[], Any]]:
    """Regions to compute, by name."""
    import capacity

    model = scenario.model
    options = settings(scenario, "region", ("points", "precision"), points=points)
    if scenario.has_traffic:
        options["mean_sizes"] = scenario.system.mean_sizes
    if what is Kind.STABILITY:
        most = settings(scenario, "region", ("max_vertices", "max_facets"))
        return {"stability": lambda: _listed(capacity.stability_region(model, **most))}
    if what is Kind.PACKING:
        most = settings(scenario, "region", ("max_configurations", "max_facets"))
        return {"whole tasks": lambda: _listed(capacity.packing_region(model, **most))}
    if what is Kind.POLICY:
        return {
            name: partial(capacity.policy_stability_region, model, policy, **options)
            for name, policy in chosen(scenario, names).items()
        }
    methods: dict[str, Any] = {name: name for name in names or () if name in ("balanced", "bound")}
    if others := [name for name in names or () if name not in methods]:
        methods |= chosen(scenario, others)
    if not methods:
        given = scenario.region_method
        methods = {str(getattr(given, "name", given)): given}
    options |= settings(scenario, "region", ("max_states",))
    return {
        name: partial(capacity.service_region, model, method, least, **options)
        for name, method in methods.items()
    }


def _listed(region: Any) -> Any:
    """The region, with the vertices that the table shows: they are the long work."""
    if getattr(region, "bounded", True):
        _ = region.vertices
    return region


def _exact(regions: dict[str, Any]) -> dict[str, Any]:
    """Vertices, where a region has them, as fractions and as numbers."""
    found: dict[str, Any] = {}
    for name, one in regions.items():
        if getattr(one, "bounded", True) and hasattr(one, "vertices"):
            found[name] = {"vertices": one.vertices, "volume": one.volume}
            if (exact := getattr(one, "exact_vertices", None)) is not None:
                found[name]["exact_vertices"] = [[str(v) for v in vertex] for vertex in exact]
    return {"regions": found}


def _figure(scenario: Any, regions: dict[str, Any], n: int) -> Figure:
    from matplotlib.figure import Figure

    from fairness.display.lettering import label

    figure = Figure(figsize=(1 + 5.4 * len(regions), 4.8), layout="constrained")
    for k, (name, one) in enumerate(regions.items()):
        ax: Any = figure.add_subplot(1, len(regions), k + 1, **({"projection": "3d"} if n == 3 else {}))
        one.plot(ax)
        ax.set_title(label(name))
        if scenario.has_traffic:
            load = ([value] for value in scenario.system.loads)
            ax.plot(*load, "k*", markersize=10, label="load of the file")
            ax.legend(fontsize="small")
    return figure
