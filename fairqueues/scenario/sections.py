"""What a scenario file may hold: one class per table, which is also the JSON schema.

A table says what its keys are, builds what it describes (:mod:`~fairqueues.scenario.models`,
:mod:`~fairqueues.scenario.queues`, :mod:`~fairqueues.scenario.recorded`) and checks whether it fits the rest
(:mod:`~fairqueues.scenario.computations`, :mod:`~fairqueues.scenario.sweeping`). Here they stand together.
"""

from __future__ import annotations

from typing import get_args

from pydantic import ConfigDict, Field

from fairqueues.scenario.computations import Audit, Chain, Cloud, Fluid, Region, Simulated, Targets
from fairqueues.scenario.key_types import NotNegative, Policy, Section, Seed, Words
from fairqueues.scenario.models import Built, Network, Pool, Servers, Traffic
from fairqueues.scenario.place import Place
from fairqueues.scenario.queues import Queues
from fairqueues.scenario.recorded import Trace
from fairqueues.scenario.sweeping import Sweep

__all__ = ["SECTIONS", "Document", "schema"]


class Document(Section):
    """A scenario."""

    model_config = ConfigDict(title="fairqueues scenario")

    title: Words = Field("", strict=True)
    """What this is."""
    source: str | None = Field(None, strict=True)
    """Where it comes from."""
    policies: list[Policy] = Field([], examples=[["drf", "alpha:2"]])
    """Policies by name, or those of a Python file beside this one, "mine.py:priority"."""
    counts: list[NotNegative] | None = None
    """Jobs present, per class; default: 1 each."""
    seed: Seed = 1
    """Of all random numbers."""
    pool: Pool | None = None
    """One pool of resources."""
    cluster: Servers | None = None
    """Several servers."""
    network: Network | None = None
    """Links and routes."""
    tree: Queues | None = None
    """Queues within queues, to which the classes submit."""
    traffic: Traffic | None = None
    """Jobs that arrive."""
    trace: Trace | None = None
    """Recorded jobs, or a recorded cluster."""
    chain: Chain | None = None
    """Stationary law of the Markov chain."""
    simulation: Simulated | None = None
    """Simulation."""
    fluid: Fluid | None = None
    """Fluid trajectory."""
    region: Region | None = None
    """Region of loads."""
    sweep: Sweep | None = None
    """Grid of parameters."""
    cloud: Cloud | None = None
    """Tenants of a data centre."""
    targets: Targets | None = None
    """Provisioning."""
    audit: Audit | None = None
    """Properties to audit."""

    def model(self, place: Place) -> Built:
        """The pool, cluster or network; nothing where tenants or a record stand for it."""
        given = [key for key in ("pool", "cluster", "network") if getattr(self, key) is not None]
        if len(given) > 1:
            told = f"a scenario has one model, but there is [{given[0]}] too; remove one"
            raise place.error((given[1],), told)
        if not given and self.cloud is None and self.trace is None:
            raise place.error((), "no model; add a table [pool], [cluster], [network], [trace] or [cloud]")
        built: Built = getattr(self, given[0]).build(place) if given else Built()
        return built


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
