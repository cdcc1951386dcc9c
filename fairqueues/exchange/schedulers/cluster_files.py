"""Clusters from the files that people have: queues, nodes, pods and tables, of several systems, in one go.

What a file is, is seen by what it says: the root of XML, apiVersion and kind of YAML and JSON, the first
column of CSV. No cluster is contacted, and nothing is guessed: what has no place in the models of this
package is named in ``unread``, and what was decided in ``notes``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fairness.arguments.quantities import quantity
from fairness.arguments.validation import FloatArray
from fairness.errors import ModelError
from fairness.files import text_of
from fairness.machine.memory import require_memory
from fairqueues.exchange.schedulers.joining import joined
from fairqueues.exchange.schedulers.manifests.fields import Field, json_document, yaml_documents
from fairqueues.exchange.schedulers.manifests.kubernetes import Kubernetes
from fairqueues.exchange.schedulers.manifests.kueue import Kueue
from fairqueues.exchange.schedulers.manifests.volcano import Volcano
from fairqueues.exchange.schedulers.parts import Parts, Unread
from fairqueues.exchange.schedulers.tables import read_table
from fairqueues.exchange.schedulers.yarn.capacity_scheduler import read_capacity_scheduler
from fairqueues.exchange.schedulers.yarn.elements import xml_root
from fairqueues.exchange.schedulers.yarn.fair_scheduler import read_fair_scheduler
from fairqueues.scenario import Scenario
from fairqueues.scenario.toml_text import toml

__all__ = ["ImportedCluster", "read_cluster"]

BYTES = 16.0
"""Of memory that a byte of a file takes: its text, and its values."""

Systems = Mapping[str, Kueue | Volcano | Kubernetes]
"""Systems whose objects are read, by the group of their API."""

SYSTEMS = (
    "Kueue or Volcano queues, nodes and pods (YAML, JSON), fair-scheduler.xml, capacity-scheduler.xml, or "
    "CSV tables of classes, servers and queues"
)


@dataclass(frozen=True, eq=False)
class ImportedCluster:
    """What the files of a cluster say, as models; made by :func:`read_cluster`.

    Attributes
    ----------
    tables : dict
        Tables of a scenario: pool or cluster, counts, tree.
    unread : tuple of Unread
        Fields that were not carried over, each with file, line and why.
    notes : tuple of str
        What was decided or left out, with counts.
    files : tuple of str
    tree_policy : str
        How the system of the queues shares among them, as a scenario names it.
    """

    tables: dict[str, Any]
    unread: tuple[Unread, ...]
    notes: tuple[str, ...]
    files: tuple[str, ...]
    tree_policy: str = "h-drf"

    @cached_property
    def scenario(self) -> Scenario:
        """All of it as a scenario, which is checked."""
        return Scenario.parse(self.to_toml(), "<imported>")

    @property
    def model(self) -> Any:
        """The :class:`fairness.Problem` or :class:`fairness.Cluster`."""
        return self.scenario.model

    @property
    def tree(self) -> Any:
        """The :class:`fairness.Tree` of queues; None if the files have none."""
        return self.scenario.tree

    @property
    def counts(self) -> FloatArray:
        """Jobs of each class, shape (n_classes,)."""
        return np.array(self.scenario.counts)

    def to_toml(self) -> str:
        """Scenario file, with what was not carried over as comments."""
        if "cluster" in self.tables:
            policies = ["psdsf", "tsf"]
        else:
            policies = [self.tree_policy if "tree" in self.tables else "drf"]
        title = " and ".join(Path(name).name for name in self.files)
        told = [*self.notes, *(f"not carried over: {one}" for one in self.unread)]
        comments = "".join(f"# {' '.join(line.split())}\n" for line in told)
        return comments + toml({"title": title, "policies": policies, **self.tables})

    def __str__(self) -> str:
        model = next(self.tables[key] for key in ("pool", "cluster") if key in self.tables)
        servers = f", {len(model['servers'])} servers" if "servers" in model else ""
        queues = f", {len(self.tables['tree'])} queues" if "tree" in self.tables else ""
        head = f"{len(model['job_classes'])} classes, {', '.join(model['resources'])}{servers}{queues}"
        told = [*self.notes, *(f"not carried over: {one}" for one in self.unread)]
        return "\n".join([head, *(f"  {line}" for line in told)])


def read_cluster(
    *files: str | os.PathLike[str],
    capacities: Mapping[str, str | float] | None = None,
    servers: bool | None = None,
) -> ImportedCluster:
    """Read the files of a cluster.

    Parameters
    ----------
    *files : path-like
        Kueue ClusterQueues, Cohorts, LocalQueues and ResourceFlavors, Volcano Queues, Kubernetes nodes and
        pods (YAML or JSON), YARN's fair-scheduler.xml and capacity-scheduler.xml, CSV tables of classes,
        servers and queues; any number of each that goes together.
    capacities : mapping, optional
        Units of each resource in all, numbers or quantities such as "4Ti", instead of those of the files.
    servers : bool, optional
        Keep servers apart (a cluster), or add them up to one pool. Default: apart, unless there are queues,
        or jobs with a most number of tasks, such as those of pods: a pool keeps both.

    Returns
    -------
    ImportedCluster

    Raises
    ------
    ModelError
        One line that names file, line and field: if a file cannot be read or is none of these, if something
        is not what it says, or if the parts do not go together.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     jobs, queues = Path(folder, "jobs.csv"), Path(folder, "queues.csv")
    ...     _ = jobs.write_text("job_class,queue,cpu,memory\\ntrain,research,1,4Gi\\nserve,web,3,1Gi\\n")
    ...     _ = queues.write_text("queue,weight,minimum cpu\\nresearch,2,\\nweb,1,3\\n")
    ...     found = read_cluster(jobs, queues, capacities={"cpu": 9, "memory": "18Gi"})
    >>> found.tree
    Tree(3 queues, 2 classes)
      queue       weight  minimum of cpu  classes
      root             1               0
        research       2               0  train
        web            1               3  serve
    >>> found.model.resources, found.model.capacities
    (('cpu', 'memory (GiB)'), array([ 9., 18.]))
    """
    if not files:
        raise ModelError(f"no file is given; give {SYSTEMS}")
    parts, kueue = Parts(), Kueue()
    systems: Systems = {"kueue.x-k8s.io": kueue, "scheduling.volcano.sh": Volcano(), "": Kubernetes()}
    for file in files:
        _read(Path(file), parts, systems)
    for system in systems.values():
        system.put_together(parts)
    given = None
    if capacities is not None:
        given = {}
        for resource, amount in capacities.items():
            try:
                given[resource] = quantity(str(amount))
            except ValueError as error:
                raise ModelError.of("capacities", f"of {resource!r}: {error}", resource) from None
            if given[resource] < 0:
                raise ModelError.of("capacities", f"of {resource!r} must be >= 0; got {amount}", resource)
    tables = joined(parts, given, None if servers is None else not servers)
    names = tuple(os.fspath(file) for file in files)
    policy = "h-drf:borrowed" if kueue.queues else "h-drf"  # Kueue compares what is borrowed
    return ImportedCluster(tables, _grouped(parts.unread), tuple(parts.notes), names, policy)


def _grouped(unread: list[Unread]) -> tuple[Unread, ...]:
    """One entry for all that have the same field and reason: the first, with their number."""
    alike: dict[tuple[str, str], list[Unread]] = {}
    for one in unread:
        alike.setdefault((re.sub(r"\[\d+\]", "", one.field), one.why), []).append(one)
    return tuple(
        first if not more else replace(first, why=f"{first.why} (and {len(more)} more)")
        for first, *more in alike.values()
    )


def _read(path: Path, parts: Parts, systems: Systems) -> None:
    """Add what a file says."""
    if path.is_file():
        size = float(path.stat().st_size)
        require_memory(BYTES * size, f"reading {path}", "give the queues, nodes and pods only")
    text, name = text_of(path, f"give {SYSTEMS}"), str(path)
    first = text.lstrip()[:1]
    suffix = path.suffix.lower()
    if suffix == ".csv":
        read_table(text, name, parts)
    elif first == "<":
        root = xml_root(text, name)
        if root.tag == "allocations":
            read_fair_scheduler(root, parts)
        elif root.tag == "configuration":
            read_capacity_scheduler(root, parts)
        else:
            root.fail(
                "is none of <allocations> (fair-scheduler.xml), <configuration> (capacity-scheduler.xml)"
            )
    elif first == "{" or suffix in (".yaml", ".yml", ".json"):
        documents = (
            [json_document(text, name)] if first == "{" or suffix == ".json" else yaml_documents(text, name)
        )
        if not documents:
            raise ModelError(f"{name}: nothing is in it; give {SYSTEMS}")
        for document in documents:
            _objects(document.root, parts, systems)
    else:
        raise ModelError(f"{name}: no file that is known by its ending or its first sign; give {SYSTEMS}")


def _objects(one: Field, parts: Parts, systems: Systems) -> None:
    """Take an object of Kubernetes, or those of a list."""
    version, kind = one["apiVersion"].text(), one["kind"].text()
    if kind.endswith("List"):
        inner = kind.removesuffix("List")
        for item in one["items"].entries():
            if inner and item["kind"].value is None:  # the items of a typed list may not repeat its kind
                item = Field(item.document, item.path, {"apiVersion": version, "kind": inner, **item.value})
            _objects(item, parts, systems)
        return
    system = systems.get(version.rpartition("/")[0])
    if system is None or not system.read(one, parts):
        parts.leave(one, f"{version} {kind}", "objects of this kind are not read")
