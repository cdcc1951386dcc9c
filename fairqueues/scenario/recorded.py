"""What was recorded, the table [trace]: jobs of the classes, or the tasks and nodes of a cluster.

Recorded jobs are the traffic of a model: their arrivals and sizes are those of the file. Of a recorded
cluster classes, rates and laws are estimated (:mod:`queueing.model.trace_fit`); the record itself is for a
replay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from fairqueues.scenario.choices import Reader
from fairqueues.scenario.key_types import Count, Name, Positive, Section
from fairqueues.scenario.models import Built
from fairqueues.scenario.place import Place
from fairqueues.scenario.queues import Queues

if TYPE_CHECKING:
    from fairness import Cluster, Problem
    from queueing import ClusterTrace, NodeList, System
    from queueing.results import TraceFit

__all__ = ["Recorded", "Trace"]


@dataclass(frozen=True, eq=False)
class Recorded:
    """The system that a record makes, the record of a cluster, and how the one was estimated of the other."""

    system: System
    cluster: tuple[ClusterTrace, NodeList] | None = None
    fit: TraceFit | None = None

    def sharing(self, tree: Queues) -> Problem | Cluster:
        """Whose classes are in the queues: the users of the record, if some are named, else the system's."""
        if self.cluster is not None:
            tasks, nodes = self.cluster
            named = {name for queue in tree.__pydantic_extra__.values() for name in queue.classes}
            if named & set(tasks.users):
                return nodes.pool(tasks, by="user")
        return self.system.problem


class Trace(Section):
    """What was recorded: jobs of the classes, or the tasks and nodes of a cluster, which make a model."""

    reader: Literal["jobs", Reader] = Field(
        description='What the files are: "jobs" of the classes (CSV); "tasks" of a cluster (CSV), or "saved" '
        "ones; or a public trace."
    )
    file: Name
    """File of the jobs or tasks, seen from the folder of this one."""
    nodes: Name | None = None
    """File of the nodes of the cluster."""
    columns: dict[str, Name] = Field({}, examples=[{"arrival_time": "submit"}])
    """What the file calls its columns, for "jobs" and "tasks"."""
    devices: Name | None = None
    """Resource that "tasks" count in devices."""
    load: Positive | None = None
    """Let tasks arrive faster or slower: relative load of the busiest resource."""
    classes: Count = 8
    """Most classes that stand for the tasks."""
    sizes: Literal["phases", "exponential", "recorded"] = "phases"
    """Laws that stand for the durations of the tasks."""
    arrivals: Literal["poisson", "on-off"] = "poisson"
    """Processes that stand for their arrivals."""

    def build(self, built: Built, given: str, place: Place) -> Recorded:
        """Read the files.

        Parameters
        ----------
        built : Built
            What other tables make.
        given : str
            The table that says already what arrives, if there is one.
        place : Place

        Raises
        ------
        ScenarioError
            If they are not what the reader reads, or another table says what the record says.
        """
        from queueing import System, read_trace

        if given:
            raise place.error(("trace",), f"is what arrives, but there is [{given}] too; remove one of them")
        models = "[pool], [cluster] or [network]"
        if self.reader != "jobs":
            if built.model is not None:
                told = f"makes a model of its own of a recorded cluster; remove {models}"
                raise place.error(("trace",), told)
            return self._cluster(place)
        for key in ("nodes", "classes", "sizes", "arrivals", "load", "devices"):
            if key in self.model_fields_set:
                raise place.error(("trace", key), 'is for a recorded cluster; with reader = "jobs" remove it')
        if built.model is None:
            raise place.error(("trace",), f'reader = "jobs" needs their classes; add {models}')
        with place.located("trace"):
            jobs = read_trace(place.beside(self.file), built.model, columns=self.columns)
            return Recorded(System.from_trace(jobs))

    def _cluster(self, place: Place) -> Recorded:
        from fairqueues.traces.readers import read_recorded
        from queueing import System, fit_trace

        if self.nodes is None:
            raise place.error(("trace",), "the key 'nodes' is missing; give the file of the nodes")
        with place.located("trace"):
            files = place.beside(self.file), place.beside(self.nodes)
            tasks, nodes = read_recorded(self.reader, *files, columns=self.columns, devices=self.devices)
            if self.load is not None:
                tasks = nodes.at_load(tasks, float(self.load))
            fit = fit_trace(tasks, nodes, classes=self.classes, sizes=self.sizes, arrivals=self.arrivals)
            return Recorded(System.from_trace(fit), (tasks, nodes), fit)
