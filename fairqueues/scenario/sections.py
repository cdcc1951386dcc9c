"""What a scenario file may hold: one class per table, which is also the JSON schema.

Here stand the keys, with types of :mod:`fairqueues.scenario.key_types`. What involves several keys (shapes,
names, loads, stability) is checked when the model is built, in :mod:`fairqueues.scenario.building`.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from fairqueues.scenario.key_types import (
    Bound,
    Count,
    Flag,
    LawSpec,
    Limit,
    Link,
    Matrix,
    Name,
    NotNegative,
    Number,
    Part,
    PartOrZero,
    PlacementSpec,
    Policy,
    Positive,
    Repeats,
    Row,
    SchedulerSpec,
    Seed,
    Several,
    Words,
)

__all__ = ["SECTIONS", "Document", "schema"]


class Section(BaseModel):
    """A table of the file: no keys but its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Pool(Section):
    """One pool of resources."""

    demands: Matrix = Field(
        description="Units of each resource that one running task holds, a row per class.",
        examples=[[[1, 4], [3, 1]]],
    )
    capacities: Row = Field(description="Units of each resource.", examples=[[9, 18]])
    weights: list[Positive] | None = Field(None, description="Priority of one job of each class.")
    limits: list[Limit] | None = Field(
        None, description="Most tasks of one job of each class; inf for no limit."
    )
    job_classes: list[Name] | None = Field(None, description="Names of the classes.", examples=[["A", "B"]])
    resources: list[Name] | None = Field(
        None, description="Names of the resources.", examples=[["cpu", "ram"]]
    )


class Servers(Section):
    """Several servers."""

    demands: Matrix = Field(
        description="Units of each resource that one running task holds, a row per class.",
        examples=[[[1, 2], [1, 0]]],
    )
    capacities: Matrix = Field(
        description="Units of each resource, a row per server.", examples=[[[9, 12], [12, 0]]]
    )
    weights: list[Positive] | None = Field(None, description="Priority of one job of each class.")
    eligible: list[list[Flag]] | None = Field(
        None, description="Whether a class may run on a server, a row per class.", examples=[[[True, False]]]
    )
    gamma: Matrix | None = Field(None, description="Tasks of a class alone on a server, a row per class.")
    job_classes: list[Name] | None = Field(None, description="Names of the classes.")
    servers: list[Name] | None = Field(None, description="Names of the servers.")
    resources: list[Name] | None = Field(None, description="Names of the resources.")


class Gravity(Section):
    """Traffic between all nodes in proportion to their weights; its pairs are the classes."""

    total: Positive = Field(1.0, description="Demand of all pairs together, unit of the capacities.")
    weights: Name | dict[str, NotNegative] | None = Field(
        None,
        description='Node attribute, "population", or a weight per node; default: capacity of its links.',
    )
    exponent: NotNegative = Field(0.0, description="Power of the distance.")
    pairs: Count | None = Field(None, description="Keep the largest pairs only, this many.")


class Network(Section):
    """Links as resources, routes as classes."""

    backbone: Name | None = Field(None, description="A real network.", examples=["abilene"])
    links: list[Link] | None = Field(None, description="Node, node, capacity.", examples=[[["A", "B", 10]]])
    graphml: Name | None = Field(
        None, description="GraphML file with the nodes and links, seen from the folder of this one."
    )
    capacity: Name | NotNegative = Field(
        "capacity", description="Edge attribute of the file with the capacities, or that of all links."
    )
    names: Name | None = Field(
        None, description="Node attribute of the file with the names of the nodes.", examples=["label"]
    )
    parallel: Literal["refuse", "add"] = Field(
        "refuse", description="Links of the file between the same nodes: refused, or their capacities added."
    )
    routes: dict[str, Annotated[list[Name], Field(min_length=2)]] | None = Field(
        None,
        description="Class names with the nodes of their paths; of two nodes the shortest path is taken.",
        examples=[{"far": ["A", "C"]}],
    )
    traffic: Gravity | None = Field(None, description="Instead of routes: gravity traffic.")
    length: Name | None = Field(
        None, description='Edge attribute that is shortest instead of the number of links; of backbones "km".'
    )
    weights: list[Positive] | None = Field(None, description="Priority of one job of each route.")
    limits: list[Limit] | None = Field(None, description="Most tasks of one job of each route.")


class Queue(Section):
    """A queue of the tree, by its path below the root."""

    weight: Positive = Field(1, description="Weight among its siblings.")
    classes: list[Name] = Field([], description="Names of the classes that submit to it.")
    minimum: dict[Name, NotNegative] = Field(
        {}, description="Guaranteed units, by resource.", examples=[{"cpu": 4}]
    )
    maximum: dict[Name, Bound] = Field({}, description="Most units of all below it, by resource.")
    lends: dict[Name, Bound] = Field(
        {},
        description="Most of its guarantee that others may use while it is idle, by resource; default: all.",
    )


class Queues(Section):
    """Queues within queues, each by its path below the root, "research/vision"; "/" is the root."""

    model_config = ConfigDict(
        extra="allow", json_schema_extra={"examples": [{"research": {"weight": 2, "classes": ["A"]}}]}
    )
    __pydantic_extra__: dict[str, Queue]


class Traffic(Section):
    """Jobs that arrive: arrival_rates, or loads, or mix with load."""

    arrival_rates: list[NotNegative] | None = Field(None, description="Jobs per unit of time, per class.")
    loads: list[NotNegative] | None = Field(None, description="Arrival rate times mean size, per class.")
    mix: list[NotNegative] | None = Field(None, description="Proportions of the loads; needs load.")
    load: Positive | None = Field(None, description="Relative load of the busiest resource; scales the mix.")
    mean_sizes: Positive | list[Positive] = Field(1.0, description="Task-time per job, one or one per class.")
    sizes: LawSpec | list[LawSpec] = Field(
        "exponential",
        description="Law of the sizes, one or one per class.",
        examples=["exponential", {"law": "hyperexponential", "scv": 4}],
    )
    arrivals: LawSpec | list[LawSpec] = Field(
        "poisson", description="Arrival process, one or one per class.", examples=["poisson", "on-off:10:90"]
    )


class Trace(Section):
    """What was recorded: jobs of the classes, or the tasks and nodes of a cluster, which make a model."""

    reader: Literal["jobs", "saved", "tasks", "alibaba-gpu-2023", "philly"] = Field(
        description='What the files are: "jobs" of the classes (CSV); "tasks" of a cluster (CSV), or "saved" '
        "ones; or a public trace."
    )
    file: Name = Field(description="File of the jobs or tasks, seen from the folder of this one.")
    nodes: Name | None = Field(None, description="File of the nodes of the cluster.")
    columns: dict[str, Name] = Field(
        {},
        description='What the file calls its columns, for "jobs" and "tasks".',
        examples=[{"arrival_time": "submit"}],
    )
    devices: Name | None = Field(None, description='Resource that "tasks" count in devices.')
    load: Positive | None = Field(
        None, description="Let tasks arrive faster or slower: relative load of the busiest resource."
    )
    classes: Count = Field(8, description="Most classes that stand for the tasks.")
    sizes: Literal["phases", "exponential", "recorded"] = Field(
        "phases", description="Laws that stand for the durations of the tasks."
    )


class Chain(Section):
    """Stationary law of the Markov chain."""

    shape: list[Count] | Count | None = Field(
        None, description="States per class; default: as many as needed."
    )
    tail: Part = Field(1e-9, description="Probability that may be left out.")
    solver: Literal["auto", "product", "elimination", "multilevel"] = Field(
        "auto", description="How the chain is solved."
    )
    max_states: Count = Field(10_000_000, description="Refuse larger grids.")
    certified: Flag = Field(False, description="Proved bounds of the means instead of estimates.")
    width: Part = Field(1e-8, description="Largest width of proved bounds, relative to the mean.")


class Simulated(Section):
    """Simulation of jobs with sizes, of counts only, or of whole tasks."""

    level: Literal["jobs", "counts", "tasks"] = Field("jobs", description="What is simulated.")
    jobs: Count | None = Field(None, description='Jobs per replication, at level "jobs".')
    events: Count = Field(1_000_000, description='Events per replication, at levels "counts" and "tasks".')
    replications: Repeats = Field(10, description="Independent runs.")
    warmup: PartOrZero = Field(0.1, description="First part of each run that is not counted.")
    precision: Positive | None = Field(
        None, description='Go on until confidence intervals have this relative half width, at level "jobs".'
    )
    max_replications: Repeats | None = Field(
        None, description='Most runs for the precision, at level "jobs"; default: 200.'
    )
    confidence: Part = Field(0.95, description="Level of the confidence intervals.")
    schedulers: list[SchedulerSpec] = Field(
        ["drf"], min_length=1, description='Schedulers, at level "tasks" and in a replay of [trace].'
    )
    placement: PlacementSpec | None = Field(
        None, description='Which server a task goes to, at level "tasks" and in a replay of [trace].'
    )
    tasks_per_job: Positive | list[Positive] = Field(
        100.0, description='Mean tasks of a job, at level "tasks".'
    )
    task_times: Literal["exponential", "deterministic"] = Field(
        "exponential", description='Law of the time of a task, at level "tasks".'
    )


class Fluid(Section):
    """Trajectory of the fluid limit."""

    start: list[NotNegative] = Field(description="Jobs of each class at time 0.")
    horizon: Positive | None = Field(None, description="When to stop; default: when all have left.")


class Region(Section):
    """Region of loads."""

    kind: Literal["stability", "service", "policy", "packing"] = Field(
        "stability",
        description="Loads that some policy carries, that keep a service rate, that these policies carry, "
        "or of whole tasks.",
    )
    minimum_service_rate: Positive | list[Positive] | None = Field(
        None, description='Mean running tasks of an active job, for kind "service".'
    )
    method: Policy = Field(
        "balanced", description='For kind "service": "balanced", "bound", a policy or "simulated:POLICY".'
    )
    points: Several = Field(40, description="Directions of loads.")
    precision: Part = Field(1e-4, description="Relative precision along each direction.")
    max_vertices: Count | None = Field(None, description="List at most so many vertices of a pool's region.")
    max_facets: Count | None = Field(None, description="List at most so many facets of a cluster's region.")
    max_configurations: Count | None = Field(
        None, description="List at most this many configurations of whole tasks on a server."
    )
    max_states: Count | None = Field(None, description='Refuse larger grids, for kind "service".')


class Span(Section):
    """Equally spaced values."""

    start: Number = Field(description="First value.")
    stop: Number = Field(description="Last value.")
    number: Several = Field(description="How many.")


class Sweep(Section):
    """A grid of parameters."""

    over: dict[str, Span | list[Number]] = Field(
        min_length=1,
        description="Values, or {start, stop, number}, by parameter.",
        examples=[{"load": {"start": 0.1, "stop": 0.9, "number": 9}}],
    )
    methods: list[Policy] | None = Field(
        None,
        min_length=1,
        description='What is evaluated: policies, "balanced" fairness and the "bound" of it; default: the '
        "policies of the file.",
        examples=[["balanced", "bound", "drf"]],
    )
    outputs: list[Literal["mean_jobs", "mean_durations", "service_rates", "tail_mass", "residual"]] = Field(
        ["mean_jobs", "mean_durations", "service_rates"],
        min_length=1,
        description="What to keep of each point.",
    )
    checkpoint: Name | None = Field(None, description="File that a killed sweep goes on from.")


class Cloud(Section):
    """Tenants of a data centre, drawn from a demand profile."""

    tenants: Count = Field(description="Number of tenants.", examples=[1_000_000])
    resources: Count = Field(description="Number of resources.", examples=[100_000])
    profile: Literal["U0", "U1", "U2", "G0", "G1", "G2"] = Field(
        description="Demand profile: lengths uniform or Gaussian; 0, 1 or 2 kinds of locality."
    )
    epsilon: PartOrZero | None = Field(None, description="DC-DRF's approximation; default: exact only.")
    rounds: Count | None = Field(None, description="Stop EDRF by rounds after this many.")
    deadline: Positive | None = Field(None, description="Seconds that DC-DRF may take.")


class Targets(Section):
    """What a provisioning must reach, and what capacity costs."""

    costs: list[Positive] = Field(description="Cost of one unit of each resource.")
    minimum_service_rates: Positive | list[Positive] | None = Field(
        None, description="Mean running tasks of an active job, at least."
    )
    mean_durations: Positive | list[Positive] | None = Field(None, description="Mean durations, at most.")
    relative_load: Part | None = Field(None, description="Load of every resource, at most.")
    precision: Part | None = Field(None, description="Relative precision of the cost.")
    max_states: Count | None = Field(None, description="Refuse larger grids.")
    max_evaluations: Count | None = Field(None, description="Most evaluations of the model.")


class Audit(Section):
    """Search for violations of properties."""

    properties: list[Name] | None = Field(
        None, description="Names or keys; default: all.", examples=[["SI", "RM"]]
    )
    budget: Count = Field(2000, description="Models asked per property and policy.")


class Document(Section):
    """A scenario."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, title="fairqueues scenario")

    title: Words = Field("", strict=True, description="What this is.")
    source: str | None = Field(None, strict=True, description="Where it comes from.")
    policies: list[Policy] = Field(
        [],
        description='Policies by name, or those of a Python file beside this one, "mine.py:priority".',
        examples=[["drf", "alpha:2"]],
    )
    counts: list[NotNegative] | None = Field(None, description="Jobs present, per class; default: 1 each.")
    seed: Seed = Field(1, description="Of all random numbers.")
    pool: Pool | None = Field(None, description="One pool of resources.")
    cluster: Servers | None = Field(None, description="Several servers.")
    network: Network | None = Field(None, description="Links and routes.")
    tree: Queues | None = Field(None, description="Queues within queues, to which the classes submit.")
    traffic: Traffic | None = Field(None, description="Jobs that arrive.")
    trace: Trace | None = Field(None, description="Recorded jobs, or a recorded cluster.")
    chain: Chain | None = Field(None, description="Stationary law of the Markov chain.")
    simulation: Simulated | None = Field(None, description="Simulation.")
    fluid: Fluid | None = Field(None, description="Fluid trajectory.")
    region: Region | None = Field(None, description="Region of loads.")
    sweep: Sweep | None = Field(None, description="Grid of parameters.")
    cloud: Cloud | None = Field(None, description="Tenants of a data centre.")
    targets: Targets | None = Field(None, description="Provisioning.")
    audit: Audit | None = Field(None, description="Properties to audit.")


SECTIONS: dict[str, type[Section]] = {
    name: kind
    for name, key in Document.model_fields.items()
    for kind in get_args(key.annotation)
    if isinstance(kind, type) and issubclass(kind, Section)
}
"""Tables of a file by name."""


def schema() -> dict[str, object]:
    """JSON schema (draft 2020-12) of scenario files, for editors and other programs.

    It knows keys, types and ranges; shapes, names and loads are checked by reading.

    Examples
    --------
    >>> sorted(schema()["properties"])[:3]
    ['audit', 'chain', 'cloud']
    """
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Document.model_json_schema()}
