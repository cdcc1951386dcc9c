"""Volcano: queues with weights, limits, guarantees and deserved amounts, in a tree.

In the terms of :class:`fairness.Tree` [1]_: ``capability`` is the maximum; ``guarantee.resource`` is
reserved, minimum that is not lent; ``deserved`` is minimum that is lent while the queue does not need it. A
tree comes from ``spec.parent`` (capacity plugin), or from the annotations ``volcano.sh/hierarchy:
root/sci/dev`` and ``volcano.sh/hierarchy-weights: 1/2/4`` of hierarchical DRF (drf plugin), whose last name
is the queue's own. The capacity plugin has no weights: it serves next the queue that holds the least of what
it deserves, which the reader says.

References
----------
.. [1] Volcano documentation, "Queue", "Capacity plugin" and "Hierarchical queues"
   (scheduling.volcano.sh/v1beta1); design document "Hierarchical dominant resource fairness".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from fairqueues.exchange.schedulers.manifests.fields import Field
from fairqueues.exchange.schedulers.parts import Amounts, Parts, Queue, largest_of

__all__ = ["Volcano"]

_HIERARCHY, _WEIGHTS = "volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"
_OWN = ("weight", "capability", "guarantee", "deserved", "parent")
_NOT_CARRIED = {
    "reclaimable": "whether tasks are evicted is not part of an allocation",
    "state": "a closed queue takes part here",
    "type": "the type is not part of the model",
    "affinity": "groups of nodes by queue are not carried over",
    "extendClusters": "other clusters are not looked at",
    "priority": "the order in which queues are served is not part of an allocation",
    "dequeueStrategy": "the order of waiting jobs is not part of an allocation",
}


@dataclass
class Volcano:
    """Queues that were read, to be put together when all are there."""

    queues: dict[str, Field] = field(default_factory=dict)

    def read(self, one: Field, parts: Parts) -> bool:
        """Take an object; False if it is no queue."""
        if one["kind"].text() != "Queue":
            return False
        name = one["metadata"]["name"].text()
        parts.require_new("Volcano queue", name, one.place, one["metadata"]["name"].fail)
        self.queues[name] = one
        one["spec"].name_unread(_OWN, _NOT_CARRIED, parts)
        return True

    def put_together(self, parts: Parts) -> None:
        """Add the queues.

        Raises
        ------
        ModelError
            If parents lead in a circle or nowhere, or the annotations of two queues contradict each other.
        """
        inner: dict[tuple[str, ...], tuple[Fraction, Field]] = {}
        for name, one in self.queues.items():
            if name == "root":
                parts.add_queue(self._queue(one, (), Fraction(1)))
                continue
            annotation = one["metadata"]["annotations"][_HIERARCHY]
            if annotation.value is None:
                weight = one["spec"]["weight"]
                factor = Fraction(1) if weight.value is None else _positive(weight)
                parts.add_queue(self._queue(one, self._path(name), factor), f"Volcano queue {name}")
                continue
            if one["spec"]["parent"].value is not None:
                annotation.fail("there is spec.parent too; a queue has one place in the tree")
            path, weights = self._annotated(one, annotation)
            for depth in range(1, len(path)):
                known = inner.setdefault(path[:depth], (weights[depth - 1], annotation))
                if known[0] != weights[depth - 1]:
                    one["metadata"]["annotations"][_WEIGHTS].fail(
                        f"gives {'/'.join(path[:depth])!r} the weight {weights[depth - 1]}, but "
                        f"{known[1].place} gives it {known[0]}; write the same"
                    )
            parts.add_queue(self._queue(one, path, weights[-1]), f"Volcano queue {name}")
        if any(one["spec"]["deserved"].value for one in self.queues.values()):
            parts.notes.append(
                "Volcano's capacity plugin compares what queues hold of what they deserve; here beyond that "
                "their weights decide"
            )
        given = {queue.path for queue in parts.queues}
        for path, (factor, annotation) in inner.items():
            if path not in given:
                parts.add_queue(Queue(path, annotation.place, factor))

    def _path(self, name: str) -> tuple[str, ...]:
        """Names from below the root, by spec.parent."""
        path = [name]
        while (parent := self.queues[path[-1]]["spec"]["parent"]).value not in (None, "root"):
            above = parent.text()
            if above not in self.queues:
                parent.fail(f"the queue {above!r} is in none of the files; add it")
            if above in path:
                circle = [*path[path.index(above) :], above]
                parent.fail(f"has a cycle: {' under '.join(circle)}; each queue must lead up to root")
            path.append(above)
        return tuple(reversed(path))

    @staticmethod
    def _annotated(one: Field, annotation: Field) -> tuple[tuple[str, ...], list[Fraction]]:
        """Path below the root, and the weight of each queue on it, by the annotations."""
        weights = one["metadata"]["annotations"][_WEIGHTS]
        path, factors = annotation.text().split("/"), weights.text().split("/")
        if path[0] != "root" or len(path) < 2:
            annotation.fail(
                f"must lead from root to the queue, such as root/sci/dev; got {annotation.text()!r}"
            )
        if len(factors) != len(path):
            weights.fail(f"has {len(factors)} weights for the {len(path)} queues of {annotation.text()!r}")
        found = [_positive(Field(weights.document, weights.path, factor)) for factor in factors]
        return tuple(path[1:]), found[1:]

    @staticmethod
    def _queue(one: Field, path: tuple[str, ...], weight: Fraction) -> Queue:
        spec = one["spec"]
        kept, deserved = spec["guarantee"]["resource"].amounts(), spec["deserved"].amounts()
        minimum = largest_of(kept, deserved)
        lends = {r: minimum[r] - amount for r, amount in kept.items()}
        maximum = spec["capability"].amounts()
        for resource, amount in minimum.items():
            if resource in maximum and amount > maximum[resource]:
                key = "guarantee" if amount == kept.get(resource) else "deserved"
                spec[key].fail(f"has more {resource} than capability; lower it or raise the capability")
        return Queue(path, one.place, weight, Amounts(minimum), Amounts(maximum), Amounts(lends))


def _positive(one: Field) -> Fraction:
    found = one.amount()
    if found == 0:
        one.fail("is 0; a weight must be > 0")
    return found
