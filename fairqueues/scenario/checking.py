"""What must hold between the tables of a scenario: lengths, names, sizes of grids, kinds of models, loads.

A scenario that passes can be computed with; what may still fail is a solver.
"""

from __future__ import annotations

import math
from typing import Any

from fairness import Cluster
from fairness.machine.memory import require_memory
from fairqueues.scenario import names
from fairqueues.scenario.building import distinct, located
from fairqueues.scenario.content import Content
from fairqueues.scenario.sweeping import check_sweep
from fairqueues.scenario.toml_text import Path

__all__ = ["check_document"]

_ENTRY_BYTES = 16
"""Of one demand of one tenant: value, index, and its place in the transposed pattern."""


def check_document(scenario: Content) -> None:
    """Refuse a scenario whose tables do not fit together.

    Raises
    ------
    ScenarioError
    """
    document = scenario.document
    if scenario.has_model:
        n_classes = scenario.model.n_classes
        _length(scenario, ("counts",), document.counts, n_classes)
    for section in ("traffic", "region", "fluid", "targets", "sweep", "chain"):
        if scenario.has(section) and not scenario.has_model:
            raise scenario.error((section,), "needs a model; add [pool], [cluster] or [network]")
    for section in ("chain", "fluid"):
        if scenario.has(section) and not scenario.has_traffic:
            raise scenario.error((section,), "needs [traffic]: arrival_rates, or loads, or mix and load")
    for section, check in _CHECKS.items():
        if scenario.has(section):
            check(scenario, getattr(document, section))


def _length(scenario: Content, path: Path, given: Any, count: int, per: str = "job classes") -> None:
    if isinstance(given, list):
        scenario.place.require_length(path, given, count, per)


def _chain(scenario: Content, chain: Any) -> None:
    n_classes = scenario.model.n_classes
    _length(scenario, ("chain", "shape"), chain.shape, n_classes)
    if chain.shape is not None:
        sizes = chain.shape if isinstance(chain.shape, list) else [chain.shape] * n_classes
        states = math.prod(sizes)
        if states > chain.max_states:
            raise scenario.error(
                ("chain", "shape"),
                f"shape has {states:.3g} states, more than max_states = {chain.max_states}; "
                "give a smaller shape, or use [simulation]",
            )
    if not scenario.has("sweep"):  # there each point has its own load, and an unstable one is told apart
        _ = scenario.stable_system


def _simulation(scenario: Content, simulation: Any) -> None:
    for k, spec in enumerate(simulation.schedulers):
        with located(scenario.place, ("simulation", "schedulers", k)):
            names.scheduler_named(spec)
    replayed = scenario.recorded is not None
    if simulation.placement is not None:
        if not scenario.has("cluster") and not replayed:
            raise scenario.error(
                ("simulation", "placement"),
                "needs servers to choose among; it is for a [cluster], or the [trace] of one",
            )
        with located(scenario.place, ("simulation", "placement")):
            names.placement_named(simulation.placement)
    if scenario.has_model:
        _length(scenario, ("simulation", "tasks_per_job"), simulation.tasks_per_job, scenario.model.n_classes)
    if simulation.level != "tasks":
        for key in ("schedulers", "placement", "tasks_per_job", "task_times"):
            of_replays = replayed and key in ("schedulers", "placement")
            if key in simulation.model_fields_set and not of_replays:
                raise scenario.error(
                    ("simulation", key), 'is for whole tasks only; add level = "tasks" or remove it'
                )
    if simulation.level != "jobs":
        for key in ("jobs", "precision"):
            if getattr(simulation, key) is not None:
                raise scenario.error(("simulation", key), 'is for level = "jobs"; give events instead')


def _fluid(scenario: Content, fluid: Any) -> None:
    _length(scenario, ("fluid", "start"), fluid.start, scenario.model.n_classes)


def _region(scenario: Content, region: Any) -> None:
    path: Path = ("region", "minimum_service_rate")
    _length(scenario, path, region.minimum_service_rate, scenario.model.n_classes)
    if region.kind == "service":
        if isinstance(scenario.model, Cluster):
            raise scenario.error(
                ("region", "kind"), 'kind "service" is for one pool; take "stability" or "policy"'
            )
        if region.minimum_service_rate is None:
            raise scenario.error(
                ("region",), 'kind "service" needs minimum_service_rate, tasks of an active job'
            )
        _ = scenario.region_method
        return
    for key in ("minimum_service_rate", "method"):
        if key in region.model_fields_set:
            raise scenario.error(("region", key), f'is for kind = "service", not {region.kind!r}; remove it')
    if region.kind == "policy" and not scenario.policies:
        raise scenario.error(
            ("region", "kind"), 'kind "policy" needs policies, for example policies = ["drf"]'
        )


def _cloud(scenario: Content, cloud: Any) -> None:
    # Lengths lie between 2 and 128; their mean is at most that of the uniform law.
    entries = cloud.tenants * min(65, cloud.resources)
    with located(scenario.place, ("cloud", "tenants")):
        require_memory(
            _ENTRY_BYTES * entries + 64.0 * (cloud.tenants + cloud.resources),
            f"tenants = {cloud.tenants} with {cloud.resources} resources",
            "take fewer tenants",
        )


def _targets(scenario: Content, targets: Any) -> None:
    model = scenario.model
    if isinstance(model, Cluster):
        raise scenario.error(
            ("targets",), "provisioning is for one pool, whose capacities are bought; use [pool]"
        )
    _length(scenario, ("targets", "costs"), targets.costs, model.n_resources, "resources")
    for key in ("minimum_service_rates", "mean_durations"):
        _length(scenario, ("targets", key), getattr(targets, key), model.n_classes)
    if not scenario.has_traffic:
        raise scenario.error(("targets",), "needs [traffic]: loads, or arrival_rates")


def _audit(scenario: Content, audit: Any) -> None:
    if audit.properties is None:
        return
    from fairness.properties import property_named

    distinct(audit.properties, ("audit", "properties"), property_named, scenario.place)


_CHECKS = {
    "chain": _chain,
    "simulation": _simulation,
    "fluid": _fluid,
    "region": _region,
    "sweep": check_sweep,
    "cloud": _cloud,
    "targets": _targets,
    "audit": _audit,
}
