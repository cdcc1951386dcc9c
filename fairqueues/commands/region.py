"""``region``: which loads fit, keep a service rate, are carried by a policy, or fit as whole tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairqueues.console import completion
from fairqueues.console.command import Call, command, stacked
from fairqueues.console.inputs import chosen, method_name, numbers, settings, sourced
from fairqueues.console.options import File, Policies
from fairqueues.errors import WrongUse
from fairqueues.scenario.choices import RegionKind

if TYPE_CHECKING:
    from fairqueues.scenario import Scenario

__all__ = ["region"]


SIMULATED = 0.05
"""Precision of a boundary by simulation, unless the file gives one."""

LISTED = {"stability": "stability", "packing": "whole tasks"}
"""Kinds known by their facets, and how tables call the region."""


@command("seed", "time_limit")
def region(
    call: Call,
    file: File,
    kind: RegionKind | None = None,
    policy: Policies = None,
    rate: str | None = None,
    points: Annotated[int | None, typer.Option(min=2, max=10_000)] = None,
    section: Annotated[list[str] | None, typer.Option(autocompletion=completion.classes)] = None,
    ray: str | None = None,
    volume: bool = False,
) -> None:
    """Compute the region of loads, with facets, boundary points and evidence.

    Of many classes, whose vertices cannot be listed, it shows the facets, whether the loads of the file fit,
    and the largest multiple of them that fits; --section cuts through a few classes. Kinds service and
    policy tell, of more than three classes, how far the loads of the file, or the mix of --ray, can grow.

    Parameters
    ----------
    kind
        Loads that some policy carries (stability), that keep a mean service rate (service), that this policy
        carries (policy), that fit as whole tasks (packing).
    rate : G,...
        Least mean tasks of an active job, for kind service.
    points : N
        Directions, for kinds service and policy.
    section : CLASS
        Only loads of this class, of two or three, beside the file's loads of the others; may be repeated.
    ray : LOAD,...
        Mix whose largest multiple is found; else the file's loads.
    volume
        Estimate the volume too, for dozens of classes.

    Examples
    --------
    $ fairqueues region talk_capacity_region --out region.svg
    """
    scenario = call.read(file)
    table = scenario.section("region")
    what: RegionKind = kind or table.kind
    _require_used(
        what,
        {"--policy": policy, "--points": points, "--rate": rate},
        {"--section": section, "--ray": ray, "--volume": volume or None},
    )
    if what == "service" and scenario.is_cluster:
        raise WrongUse("--kind service is for one pool, and the model has servers; take stability or policy")
    n = scenario.model.n_classes
    if what in LISTED:
        _list(call, scenario, what, section, ray, call.seed if volume else None)
        return
    single = n > 3 or ray is not None
    if not single:
        call.to.require_figure(n in (2, 3), f"a region is drawn for 2 or 3 classes, not for {n}")
    elif points is not None:
        raise WrongUse(f"--points is for regions of at most 3 classes without --ray; here are {n} classes")
    elif ray is None and not scenario.has_traffic:
        raise WrongUse(f"a {what} region of {n} classes is found along one mix of loads; give --ray")
    if what == "service":
        runs = _kept(scenario, policy, _least(rate, table, n), call.seed, points, single)
    else:
        runs = _carried(scenario, policy, points, single)
    if single:
        _reach(call, scenario, what, runs, ray)
    else:
        _trace(call, scenario, what, runs, points)


def _trace(
    call: Call, scenario: Scenario, what: RegionKind, runs: dict[str, partial[Any]], points: int | None
) -> None:
    """Deliver regions that are found point by point."""
    from fairqueues.console import figures

    n = scenario.model.n_classes
    loads = scenario.system.loads if scenario.has_traffic else None
    with sourced(scenario, "region", points=points):
        regions = call.run(runs, what=f"{what} region", unit="region")
    table = stacked(regions, "region")
    # The sentences of the evidence are in JSON, CSV and the report.
    told = ~table.columns.str.contains("evidence")
    call.deliver(
        f"{what.capitalize()} region",
        table,
        notes=(line.strip() for r in regions.values() for line in r.summary().splitlines()),
        axis=(scenario.model.job_classes, "load"),
        figure=(lambda: figures.regions(regions, n, loads)) if n in (2, 3) else None,
        brief=table.loc[:, told] if what == "policy" else None,
        seed=call.seed if _draws(runs) else None,
        extra={
            "summaries": {name: r.summary() for name, r in regions.items()},
            "regions": {name: r.to_dict() for name, r in regions.items()},
        },
    )


def _list(
    call: Call,
    scenario: Scenario,
    what: RegionKind,
    through: list[str] | None,
    ray: str | None,
    entropy: int | None,
) -> None:
    """Deliver a region that is known by its facets; with an entropy also its volume, estimated."""
    import numpy as np

    n = scenario.model.n_classes
    loads = scenario.system.loads if scenario.has_traffic else None
    # Loads of 0 are no direction.
    file_mix = loads if loads is not None and loads.any() else None
    mix = file_mix if ray is None else np.array(numbers("--ray", ray, n))
    many = through is None and n > 3
    call.to.require_figure(
        len(through or ()) in (2, 3) or (many and mix is not None) or (through is None and n in (2, 3)),
        f"a region is drawn for 2 or 3 classes, not for {n}; give --section, or --ray",
    )

    import pandas as pd

    import capacity
    from fairqueues.console import figures
    from fairqueues.console.listing import Listing

    name = LISTED[what]
    stability = what == "stability"
    limits = ("max_vertices" if stability else "max_configurations", "max_facets")
    make = capacity.stability_region if stability else capacity.packing_region
    estimates: list[Any] = []

    def run() -> Listing:
        region: Any = make(scenario.model, **settings(scenario, "region", limits))
        if through is not None:
            region = capacity.region_section(region, through, loads)
        if entropy is not None:
            estimates.append(capacity.region_volume(region, rng=entropy))
        shown = [scenario.model.job_classes.index(one) for one in region.job_classes]
        inside = None if loads is None else loads[shown]
        return Listing.of(region, inside, inside if ray is None else np.asarray(mix)[shown])

    listing = call.run({name: run}, what=f"{what} region", unit="region")[name]
    region, table = listing.region, pd.concat({name: listing.table()}, names=["region"])
    estimate = (line.strip() for one in estimates for line in one.summary().splitlines())
    asked = ray is not None or not listing.vertices
    figure: Callable[[], Any] | None = None
    if region.n_classes in (2, 3):
        figure = partial(figures.regions, {name: region}, region.n_classes, listing.loads)
    elif listing.mix is not None:
        figure = listing.figure
    call.deliver(
        f"{what.capitalize()} region",
        table,
        listing.evidence() if asked else (),
        notes=(*listing.notes(ray=asked), *estimate),
        axis=(region.job_classes, "load" if listing.vertices else "demand"),
        figure=figure,
        brief=listing.brief(table),
        seed=entropy,
        extra={
            "summaries": {name: region.summary()} if listing.facets else {},
            "regions": {name: region.to_dict(vertices=listing.vertices)} if listing.facets else {},
            **listing.extra(),
            "volumes": [{"logarithm": v.logarithm, "relative_half_width": v.relative_half_width,
                         "confidence": v.confidence, "value": v.value} for v in estimates],
        },
    )  # fmt: skip


def _reach(
    call: Call, scenario: Scenario, what: RegionKind, searches: dict[str, partial[Any]], ray: str | None
) -> None:
    """Deliver how far one mix of loads can grow within a region that is known on rays."""
    import numpy as np

    from fairqueues.console import figures
    from fairqueues.console.boundaries import Boundary

    n, classes = scenario.model.n_classes, scenario.model.job_classes
    mix = scenario.system.loads if ray is None else np.array(numbers("--ray", ray, n))
    runs = {name: partial(Boundary.found, search, mix, classes) for name, search in searches.items()}
    told = f"boundary of the {what} region"
    found = call.run(runs, what=told, unit="point")
    call.deliver(
        told.capitalize(),
        stacked(found, "region"),
        (line for name, one in found.items() for line in one.evidence(name)),
        notes=(one.note(name) for name, one in found.items()),
        figure=lambda: figures.multiples(found, loads=ray is None),
        seed=call.seed if _draws(searches) else None,
        extra={
            "boundaries": {
                name: {"mix": one.mix, "multiples": one.multiples, "loads": one.point.loads}
                for name, one in found.items()
            }
        },
    )


def _require_used(what: RegionKind, traced: dict[str, Any], listed: dict[str, Any]) -> None:
    """WrongUse if an option is given that this kind does not read."""
    read: dict[str, tuple[str, ...]] = {
        "service": ("--policy", "--points", "--rate", "--ray"),
        "policy": ("--policy", "--points", "--ray"),
        **{kind: tuple(listed) for kind in LISTED},
    }
    for name, value in (traced | listed).items():
        if value is not None and name not in read[what]:
            kinds = " and ".join(f"--kind {kind}" for kind, names in read.items() if name in names)
            raise WrongUse(f"{name} is for {kinds}; this is kind {what}")


def _least(rate: str | None, section: Any, n: int) -> Any:
    if rate is not None:
        return numbers("--rate", rate, n) if "," in rate else numbers("--rate", rate, 1)[0]
    least = section.minimum_service_rate
    if least is None:
        raise WrongUse("a service region needs --rate, or minimum_service_rate in [region]")
    return least


def _options(scenario: Scenario, points: int | None, single: bool) -> dict[str, Any]:
    """How a region is found point by point, or a ``single`` one of its points."""
    keys = ("precision",) if single else ("points", "precision")
    options = settings(scenario, "region", keys, **({} if single else {"points": points}))
    return options | ({"mean_sizes": scenario.system.mean_sizes} if scenario.has_traffic else {})


def _carried(
    scenario: Scenario, names: list[str] | None, points: int | None, single: bool
) -> dict[str, partial[Any]]:
    """What finds the loads that policies carry, by name; or ``single`` points of them, in a direction."""
    import capacity

    found = capacity.policy_stability_boundary if single else capacity.policy_stability_region
    options = _options(scenario, points, single)
    return {
        name: partial(found, scenario.model, policy, **options)
        for name, policy in chosen(scenario, names).items()
    }


def _kept(
    scenario: Scenario, names: list[str] | None, least: Any, entropy: int, points: int | None, single: bool
) -> dict[str, partial[Any]]:
    """What finds the loads that keep a service rate, by method; or ``single`` points, in a direction."""
    import capacity

    given = [scenario.rate_method(name, Path()) for name in names] if names else [scenario.region_method]
    methods = {method_name(method): method for method in given}
    if len(methods) < len(given):
        raise WrongUse(f"a method is given twice: {', '.join(names or ())}; name each one once")
    kept = capacity.service_boundary if single else capacity.service_region
    pool: Any = scenario.model  # kind service is for nothing else
    options = _options(scenario, points, single)
    runs: dict[str, partial[Any]] = {}
    for name, method in methods.items():
        if isinstance(method, capacity.Simulated):
            named = "precision" in scenario.section("region").model_fields_set
            wide = options if named else options | {"precision": SIMULATED}
            runs[name] = partial(kept, pool, replace(method, rng=entropy), least, **wide)
        else:
            states = settings(scenario, "region", ("max_states",))
            runs[name] = partial(kept, pool, method, least, **options, **states)
    return runs


def _draws(runs: dict[str, partial[Any]]) -> bool:
    """Whether a result depends on the seed: whether any method is a simulation."""
    from capacity import Simulated

    return any(isinstance(run.args[1], Simulated) for run in runs.values())
