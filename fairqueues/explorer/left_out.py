"""What a scenario says and the explorer leaves out, in short sentences.

The page shows the keys of :data:`TAKEN`, and says what it has instead of those of :data:`TOLD`. Whatever else
a file gives is named, so that a key which scenarios learn tomorrow is not passed over in silence.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fairqueues.scenario.names import arrivals_spec, law_spec
from fairqueues.scenario.sections import SECTIONS, Document
from queueing import Exponential, Poisson

__all__ = ["TAKEN", "TOLD", "left_out"]

_TAKEN = {
    "pool": ("demands", "capacities", "weights", "limits", "job_classes", "resources"),
    "cluster": ("demands", "capacities", "eligible", "weights", "job_classes", "servers", "resources"),
    "network": ("backbone", "links", "graphml", "capacity", "names", "parallel", "routes", "traffic",
                "length", "weights", "limits"),
    "traffic": ("arrival_rates", "loads", "mix", "load"),
    "trace": ("reader", "file", "nodes", "columns", "devices", "load", "classes", "sizes"),
    "fluid": ("start",),
    "region": ("kind",),
}  # fmt: skip

TAKEN = frozenset({"title", "source", "policies", "counts", "seed"}).union(
    f"{table}.{key}" for table, keys in _TAKEN.items() for key in keys
)
"""Keys that the page shows, or that make what it shows."""

TOLD = frozenset({"traffic.mean_sizes", "traffic.sizes", "traffic.arrivals", "tree"})
"""Keys of which the page has something else, and says what."""


def left_out(scenario: Any) -> tuple[str, ...]:
    """Sentences about what the explorer does not take from a scenario; none if it shows all.

    Parameters
    ----------
    scenario : fairqueues.scenario.Scenario
        Of one pool or a cluster.

    Examples
    --------
    >>> from fairqueues.scenario import Scenario
    >>> pool = {"demands": [[1], [2]], "capacities": [1]}
    >>> traffic = {"loads": [0.1, 0.1], "sizes": "erlang:2"}
    >>> left_out(Scenario.of({"pool": pool, "traffic": traffic}))
    ('Sizes are erlang:2 in the file, exponential here; rates of policies may depend on them.',)
    """
    return (*_traffic(scenario), *_whole_tasks(scenario), *_tree(scenario), *_unused(scenario))


def _traffic(scenario: Any) -> list[str]:
    if not scenario.has_traffic:
        return ["The file has no traffic; here all classes have the same load, 0.7 of the busiest resource."]
    system = scenario.system
    if not isinstance(system.arrivals, tuple):
        return [
            "Jobs are recorded in the file; here arrivals are Poisson and sizes exponential, with the same "
            "loads."
        ]
    told = []
    sizes = [law for law in system.sizes if not isinstance(law, Exponential)]
    if sizes:
        told.append(
            f"Sizes are {_specs(map(law_spec, sizes))} in the file, exponential here; rates of policies may "
            "depend on them."
        )
    means = np.unique(system.mean_sizes)
    if len(means) > 1:
        told.append(
            f"Mean sizes are {means[0]:.4g} to {means[-1]:.4g} in the file, all 1 here, with the same loads; "
            "rates and drifts of policies may depend on them."
        )
    elif means[0] != 1:
        told.append(f"The mean size is {means[0]:.4g} in the file, 1 here; times are multiples of it.")
    arrivals = [process for process in system.arrivals if not isinstance(process, Poisson)]
    if arrivals:
        told.append(
            f"Arrivals are {_specs(map(arrivals_spec, arrivals))} in the file, Poisson here; rates may "
            "depend on that, those of balanced fairness and the bound too."
        )
    return told


def _specs(specs: Any) -> str:
    """Names of laws, each once."""
    names = (spec if isinstance(spec, str) else spec["law"] for spec in specs)
    return ", ".join(dict.fromkeys(names))


def _whole_tasks(scenario: Any) -> list[str]:
    document = scenario.document
    whole = [
        document.simulation is not None and document.simulation.level == "tasks",
        document.region is not None and document.region.kind == "packing",
    ]
    return ["Tasks are whole in the file, divisible here."] if any(whole) else []


def _tree(scenario: Any) -> list[str]:
    """A tree is shown by the policies that share on it."""
    if scenario.tree is None or any(getattr(policy, "tree", None) for policy in scenario.policies):
        return []
    return ["No policy of the file shares among the queues of its [tree], so they are not here."]


def _unused(scenario: Any) -> list[str]:
    """The tables and keys that are for other commands."""
    document = scenario.document
    taken = TAKEN | TOLD
    if scenario.model.n_classes != 2 or document.cluster is not None:
        taken -= {"fluid.start"}
    if document.region is not None and document.region.kind != "stability":
        taken -= {"region.kind"}
    names = []
    for name in Document.model_fields:
        if name not in document.model_fields_set or name in taken:
            continue
        known = {f"{name}.{key}" for key in SECTIONS[name].model_fields} if name in SECTIONS else set()
        if not known & taken:
            names.append(f"[{name}]" if known else name)
            continue
        given = sorted(f"{name}.{key}" for key in getattr(document, name).model_fields_set)
        names += [key for key in given if key not in taken]
    return [f"Not used here: {', '.join(names)}."] if names else []
