"""What was recorded, as a scenario names it: jobs of its classes, or the tasks and nodes of a cluster.

Recorded jobs are the traffic of a model: their arrivals and sizes are those of the file. Of a recorded
cluster classes, rates and laws are estimated (:mod:`queueing.model.trace_fit`); the record itself is for a
replay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairqueues.scenario.building import Built, located
from fairqueues.scenario.reading import Place
from fairqueues.scenario.sections import Document, Queues, Trace

if TYPE_CHECKING:
    from fairness import Cluster, Problem
    from queueing import ClusterTrace, NodeList, System, TraceFit

__all__ = ["Recorded", "build_recorded"]


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


def build_recorded(trace: Trace, document: Document, built: Built, place: Place) -> Recorded:
    """Read the files of [trace].

    Raises
    ------
    ScenarioError
        If they are not what the reader reads, or another table says what the record says.
    """
    from queueing import System, read_trace

    if document.traffic is not None or built.loads is not None:
        given = "traffic" if document.traffic is not None else "network.traffic"
        raise place.error(("trace",), f"is what arrives, but there is [{given}] too; remove one of them")
    if trace.reader == "jobs":
        for key in ("nodes", "classes", "sizes", "load", "devices"):
            if key in trace.model_fields_set:
                raise place.error(("trace", key), 'is for a recorded cluster; with reader = "jobs" remove it')
        if built.model is None:
            raise place.error(
                ("trace",), 'reader = "jobs" needs their classes; add [pool], [cluster] or [network]'
            )
        with located(place, ("trace",)):
            jobs = read_trace(place.beside(trace.file), built.model, columns=trace.columns)
            return Recorded(System.from_trace(jobs))
    if built.model is not None:
        raise place.error(
            ("trace",),
            "makes a model of its own of a recorded cluster; remove [pool], [cluster] or [network]",
        )
    if trace.nodes is None:
        raise place.error(("trace",), "the key 'nodes' is missing; give the file of the nodes")
    return _cluster(trace, place)


def _cluster(trace: Trace, place: Place) -> Recorded:
    from fairqueues.traces.readers import read_recorded
    from queueing import System, fit_trace

    assert trace.nodes is not None  # checked by the caller
    with located(place, ("trace",)):
        files = place.beside(trace.file), place.beside(trace.nodes)
        tasks, nodes = read_recorded(trace.reader, *files, columns=trace.columns, devices=trace.devices)
        if trace.load is not None:
            tasks = nodes.at_load(tasks, float(trace.load))
        fit = fit_trace(tasks, nodes, classes=trace.classes, sizes=trace.sizes)
        return Recorded(System.from_trace(fit), (tasks, nodes), fit)
