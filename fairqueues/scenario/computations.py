"""What is computed: [chain], [simulation], [fluid], [region], [cloud], [targets] and [audit]."""

from __future__ import annotations

import math
from typing import Any, Literal

from pydantic import Field

from fairness.machine.memory import require_memory
from fairqueues.scenario import names
from fairqueues.scenario.choices import Level, Order, RegionKind
from fairqueues.scenario.key_types import (
    Count,
    Flag,
    Name,
    NotNegative,
    Part,
    PartOrZero,
    PlacementSpec,
    Policy,
    Positive,
    Repeats,
    SchedulerSpec,
    Section,
    Several,
)

__all__ = ["Audit", "Chain", "Cloud", "Fluid", "Region", "Simulated", "Targets"]

_ENTRY_BYTES = 16
"""Of one demand of one tenant: value, index, and its place in the transposed pattern."""


class Chain(Section):
    """Stationary law of the Markov chain."""

    needs = ("model", "traffic")

    shape: list[Count] | Count | None = None
    """States per class; default: as many as needed."""
    tail: Part = 1e-9
    """Probability that may be left out."""
    solver: Literal["auto", "product", "elimination", "multilevel"] = "auto"
    """How the chain is solved."""
    max_states: Count = 10_000_000
    """Refuse larger grids."""
    certified: Flag = False
    """Proved bounds of the means instead of estimates."""
    width: Part = 1e-8
    """Largest width of proved bounds, relative to the mean."""

    def check(self, scenario: Any) -> None:
        """The box has a length per class and is small enough; the loads fit, unless a sweep gives them."""
        n_classes = scenario.model.n_classes
        scenario.place.require_length(("chain", "shape"), self.shape, n_classes)
        if self.shape is not None:
            states = math.prod(self.shape if isinstance(self.shape, list) else [self.shape] * n_classes)
            if states > self.max_states:
                raise scenario.error(
                    ("chain", "shape"),
                    f"shape has {states:.3g} states, more than max_states = {self.max_states}; "
                    "give a smaller shape, or use [simulation]",
                )
        if not scenario.has("sweep"):  # there each point has its own load, and an unstable one is told apart
            _ = scenario.stable_system


class Simulated(Section):
    """Simulation of jobs with sizes, of counts only, or of whole tasks."""

    level: Level = "jobs"
    """What is simulated."""
    jobs: Count | None = None
    """Jobs per replication, at level "jobs"."""
    events: Count = 1_000_000
    """Events per replication, at levels "counts" and "tasks"."""
    replications: Repeats = 10
    """Independent runs."""
    warmup: PartOrZero = 0.1
    """First part of each run that is not counted."""
    precision: Positive | None = None
    """Go on until confidence intervals have this relative half width, at level "jobs"."""
    max_replications: Repeats | None = None
    """Most runs for the precision, at level "jobs"; default: 200."""
    confidence: Part = 0.95
    """Level of the confidence intervals."""
    order: Order | list[Order] | None = None
    """Order of service in each class, at level "jobs"; default: "ps", equally, or "fcfs" of whole jobs."""
    schedulers: list[SchedulerSpec] = Field(["drf"], min_length=1)
    """Schedulers, at level "tasks" and in a replay of [trace]."""
    placement: PlacementSpec | None = None
    """Which server a task goes to, at level "tasks" and in a replay of [trace]."""
    tasks_per_job: Positive | list[Positive] = 100.0
    """Mean tasks of a job, at level "tasks"."""
    task_times: Literal["exponential", "deterministic"] = "exponential"
    """Law of the time of a task, at level "tasks"."""

    def check(self, scenario: Any) -> None:
        """Names lead to schedulers and a placement, and what is given is for what is simulated."""
        place = scenario.place
        for k, spec in enumerate(self.schedulers):
            with place.located("simulation", "schedulers", k):
                names.scheduler_named(spec)
        replayed = scenario.recorded is not None
        if self.placement is not None:
            if not scenario.has("cluster") and not replayed:
                told = "needs servers to choose among; it is for a [cluster], or the [trace] of one"
                raise place.error(("simulation", "placement"), told)
            with place.located("simulation", "placement"):
                names.placement_named(self.placement)
        if scenario.has_model:
            path = ("simulation", "tasks_per_job")
            place.require_length(path, self.tasks_per_job, scenario.model.n_classes)
            place.require_length(("simulation", "order"), self.order, scenario.model.n_classes)
        whole = ("tasks_per_job", "task_times", *(() if replayed else ("schedulers", "placement")))
        for key in whole:
            if self.level != "tasks" and key in self.model_fields_set:
                told = 'is for whole tasks only; add level = "tasks" or remove it'
                raise place.error(("simulation", key), told)
        for key in ("jobs", "precision"):
            if self.level != "jobs" and getattr(self, key) is not None:
                raise place.error(("simulation", key), 'is for level = "jobs"; give events instead')
        if self.level != "jobs" and "order" in self.model_fields_set:
            raise place.error(("simulation", "order"), 'is for level = "jobs"; remove it')


class Fluid(Section):
    """Trajectory of the fluid limit."""

    needs = ("model", "traffic")

    start: list[NotNegative]
    """Jobs of each class at time 0."""
    horizon: Positive | None = None
    """When to stop; default: when all have left."""

    def check(self, scenario: Any) -> None:
        """The start has a number per class."""
        scenario.place.require_length(("fluid", "start"), self.start, scenario.model.n_classes)


class Region(Section):
    """Region of loads."""

    needs = ("model",)

    kind: RegionKind = Field(
        "stability",
        description="Loads that some policy carries, that keep a service rate, that these policies carry, "
        "or of whole tasks.",
    )
    minimum_service_rate: Positive | list[Positive] | None = None
    """Mean running tasks of an active job, for kind "service"."""
    method: Policy = "balanced"
    """For kind "service": "balanced", "bound", a policy or "simulated:POLICY"."""
    points: Several = 40
    """Directions of loads."""
    precision: Part = 1e-4
    """Relative precision along each direction."""
    max_vertices: Count | None = None
    """List at most so many vertices of a pool's region."""
    max_facets: Count | None = None
    """List at most so many facets of a cluster's region."""
    max_configurations: Count | None = None
    """List at most this many configurations of whole tasks on a server."""
    max_states: Count | None = None
    """Refuse larger grids, for kind "service"."""

    def check(self, scenario: Any) -> None:
        """What is given is for this kind, and what it needs is there."""
        path = ("region", "minimum_service_rate")
        scenario.place.require_length(path, self.minimum_service_rate, scenario.model.n_classes)
        if self.kind == "service":
            if scenario.is_cluster:
                told = 'kind "service" is for one pool; take "stability" or "policy"'
                raise scenario.error(("region", "kind"), told)
            if self.minimum_service_rate is None:
                told = 'kind "service" needs minimum_service_rate, tasks of an active job'
                raise scenario.error(("region",), told)
            _ = scenario.region_method
            return
        for key in ("minimum_service_rate", "method"):
            if key in self.model_fields_set:
                told = f'is for kind = "service", not {self.kind!r}; remove it'
                raise scenario.error(("region", key), told)
        if self.kind == "policy" and not scenario.policies:
            told = 'kind "policy" needs policies, for example policies = ["drf"]'
            raise scenario.error(("region", "kind"), told)


class Cloud(Section):
    """Tenants of a data centre, drawn from a demand profile."""

    tenants: Count = Field(examples=[1_000_000])
    """Number of tenants."""
    resources: Count = Field(examples=[100_000])
    """Number of resources."""
    profile: Literal["U0", "U1", "U2", "G0", "G1", "G2"]
    """Demand profile: lengths uniform or Gaussian; 0, 1 or 2 kinds of locality."""
    epsilon: PartOrZero | None = None
    """DC-DRF's approximation; default: exact only."""
    rounds: Count | None = None
    """Stop EDRF by rounds after this many."""
    deadline: Positive | None = None
    """Seconds that DC-DRF may take."""

    def check(self, scenario: Any) -> None:
        """The demands fit in memory."""
        # Lengths lie between 2 and 128; their mean is at most that of the uniform law.
        entries = self.tenants * min(65, self.resources)
        with scenario.place.located("cloud", "tenants"):
            require_memory(
                _ENTRY_BYTES * entries + 64.0 * (self.tenants + self.resources),
                f"tenants = {self.tenants} with {self.resources} resources",
                "take fewer tenants",
            )


class Targets(Section):
    """What a provisioning must reach, and what capacity costs."""

    needs = ("model", "traffic")

    costs: list[Positive]
    """Cost of one unit of each resource."""
    minimum_service_rates: Positive | list[Positive] | None = None
    """Mean running tasks of an active job, at least."""
    mean_durations: Positive | list[Positive] | None = None
    """Mean durations, at most."""
    relative_load: Part | None = None
    """Load of every resource, at most."""
    precision: Part | None = None
    """Relative precision of the cost."""
    max_states: Count | None = None
    """Refuse larger grids."""
    max_evaluations: Count | None = None
    """Most evaluations of the model."""

    def check(self, scenario: Any) -> None:
        """The model is a pool, with a cost per resource."""
        model = scenario.model
        if scenario.is_cluster:
            told = "provisioning is for one pool, whose capacities are bought; use [pool]"
            raise scenario.error(("targets",), told)
        lengths = (
            ("costs", model.n_resources, "resources"),
            ("minimum_service_rates", model.n_classes, "job classes"),
            ("mean_durations", model.n_classes, "job classes"),
        )
        for key, count, per in lengths:
            scenario.place.require_length(("targets", key), getattr(self, key), count, per)


class Audit(Section):
    """Search for violations of properties."""

    properties: list[Name] | None = Field(None, examples=[["SI", "RM"]])
    """Names or keys; default: all."""
    budget: Count = 2000
    """Models asked per property and policy."""

    def check(self, scenario: Any) -> None:
        """Names lead to properties, each to another one."""
        from fairness.properties import property_named

        scenario.place.distinct(("audit", "properties"), self.properties or (), property_named)
