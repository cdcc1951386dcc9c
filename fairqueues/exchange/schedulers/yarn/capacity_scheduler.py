"""The queues of YARN's Capacity Scheduler, ``capacity-scheduler.xml``.

Each queue has a *capacity* in one of three ways [1]_: percent of its parent's (those of siblings make 100), a
weight against its siblings (``2w``), or absolute resources, ``[memory=10240,vcores=12]``. In the terms of
:class:`fairness.Tree` it is the minimum, all of it lent while the queue does not need it. The scheduler
serves next the queue that uses the least of its capacity, so a queue weighs its capacity: percentages and
weights as they are, absolute resources by the largest share of the cluster that they are. The maximum is
``maximum-capacity``.

References
----------
.. [1] Apache Hadoop documentation, "Hadoop: Capacity Scheduler", queue properties.
"""

from __future__ import annotations

import re
from fractions import Fraction

from fairness.errors import ModelError
from fairqueues.exchange.schedulers.parts import Amounts, Parts, Queue, QueuePath
from fairqueues.exchange.schedulers.yarn.elements import Element

__all__ = ["PREFIX", "read_capacity_scheduler"]

PREFIX = "yarn.scheduler.capacity."
_NUMBER = r"[0-9]{1,18}(?:\.[0-9]{0,18})?"
_OFF = Fraction(1, 20)
"""Percent that the sum of siblings may miss 100 by: YARN allows 0.05."""
_WHOLE = Amounts(share=Fraction(1))
_NOT_CARRIED = {
    "user-limit-factor": "limits of single users are not carried over",
    "minimum-user-limit-percent": "limits of single users are not carried over",
    "state": "a stopped queue takes part here",
    "ordering-policy": "the order of applications in a queue is not part of an allocation",
    "acl_submit_applications": "who may submit is not checked",
    "acl_administer_queue": "who may submit is not checked",
    "accessible-node-labels": "partitions of nodes by labels are not carried over",
    "maximum-applications": "numbers of applications are not limited",
    "maximum-am-resource-percent": "application masters are not apart",
    "queue-mappings": "who submits where is said by the classes",
    "disable_preemption": "an allocation is where preemption ends, not how it goes",
}


def read_capacity_scheduler(root: Element, parts: Parts) -> None:
    """Add the queues of a configuration.

    Raises
    ------
    ModelError
        If a property is there twice, a queue has no capacity, or capacities do not add up.
    """
    given = _Properties(root)
    top = given.of((), "queues")
    if top is None:
        root.fail(f"there is no property {PREFIX}root.queues; is this a capacity-scheduler.xml?")
    for key in ("capacity", "maximum-capacity"):  # of the root: all there is
        whole = given.of((), key)
        if whole is not None and not re.fullmatch(r"100(\.0*)?|-1(\.0*)?|1(\.0*)?w", whole.text):
            why = f"is {whole.text}; here root has the whole cluster"
            parts.leave(whole, f"{PREFIX}root.{key}", why)
    parts.add_queue(Queue((), top.place))
    waiting: list[tuple[QueuePath, Amounts, Amounts]] = [((), _WHOLE, _WHOLE)]
    for path, capacity, most in waiting:  # grows while it is read
        names = given.of(path, "queues")
        if names is not None:
            waiting += _siblings(names, path, capacity, most, given, parts)
    if not given.compares_all():
        parts.notes.append(
            "in YARN the queues share by memory alone, as resource-calculator is not "
            "DominantResourceCalculator; choose the policy of the tree to fit"
        )
    given.name_unread(parts)
    parts.notes.append(
        "YARN gives one user of a queue its capacity at most, by default; here users are not apart"
    )


class _Properties:
    """Values by name, and which of them were read."""

    def __init__(self, root: Element) -> None:
        self.values: dict[str, Element] = {}
        self.used: set[str] = set()
        for one in root.named("property"):
            name, value = one.only("name"), one.only("value")
            if name is None or value is None:
                one.fail("needs <name> and <value>")
            if "${" in value.text:
                value.fail(f"got {value.text!r:.60}; write out what stands for ${{...}}")
            if name.text in self.values:
                name.fail(f"{name.text} is there twice; keep one of them")
            value.attributes["name"] = name.text
            self.values[name.text] = value

    def of(self, path: QueuePath, key: str) -> Element | None:
        """Value of a property of a queue."""
        name = PREFIX + ".".join(("root", *path, key))
        self.used.add(name)
        return self.values.get(name)

    def compares_all(self) -> bool:
        """Whether all resources are compared, by their dominant share; by default YARN sees memory alone."""
        name = f"{PREFIX}resource-calculator"
        self.used.add(name)
        return name in self.values and self.values[name].text.endswith(".DominantResourceCalculator")

    def name_unread(self, parts: Parts) -> None:
        """Name what was not read."""
        for name, value in self.values.items():
            if name not in self.used:
                ending = next((key for key in _NOT_CARRIED if re.search(rf"\.{key}(\.|$)", name)), "")
                parts.leave(value, name, _NOT_CARRIED.get(ending, "unknown property, not read"))


def _siblings(
    names: Element, path: QueuePath, capacity: Amounts, most: Amounts, given: _Properties, parts: Parts
) -> list[tuple[QueuePath, Amounts, Amounts]]:
    """Add the queues below one; each with its capacity and its most."""
    values: dict[str, Element] = {}
    weights: dict[str, Fraction] = {}
    for name in (name.strip() for name in names.text.split(",") if name.strip()):
        value = given.of((*path, name), "capacity")
        if value is None:
            names.fail(
                f"the queue {name!r} has no capacity; add the property {'.'.join((*path, name))!r}.capacity"
            )
        values[name] = value
        if found := re.fullmatch(rf"({_NUMBER})\s*w?", value.text):
            weights[name] = Fraction(found[1])
            if not weights[name]:
                value.fail(
                    "is 0: such a queue gets what is left over, which no weight > 0 says; give a small one"
                )
    kinds = {_kind(value) for value in values.values()}
    if len(kinds) > 1:
        names.fail(f"its queues have capacities as {' and as '.join(sorted(kinds))}; write all in one way")
    total = sum(weights.values(), Fraction(0))
    if kinds == {"percent"} and abs(total - 100) > _OFF:
        names.fail(f"the capacities of {', '.join(values)} make {float(total):g}%; siblings make 100%")
    found_queues = []
    for name, value in values.items():
        here = (*path, name)
        own = capacity.scaled(weights[name] / total) if name in weights else _absolute(value)
        highest = _maximum(given.of(here, "maximum-capacity"), most)
        parts.add_queue(Queue(here, value.place, weights.get(name), own, highest), ".".join(("root", *here)))
        found_queues.append((here, own, highest))
    return found_queues


def _kind(value: Element) -> str:
    if re.fullmatch(_NUMBER, value.text):
        return "percent"
    if re.fullmatch(rf"{_NUMBER}\s*w", value.text):
        return "weights"
    _absolute(value)  # fails if it is none
    return "absolute resources"


def _absolute(value: Element) -> Amounts:
    """Resources such as [memory=10240,vcores=12]."""
    found = re.fullmatch(r"\[(.*)\]", value.text)
    if not found:
        value.fail(
            f"got {value.text!r:.60}; write a percentage (12.5), a weight (2w), or [memory=10240,vcores=12]"
        )
    units: dict[str, Fraction] = {}
    for part in found[1].split(","):
        one = re.fullmatch(rf"\s*([^=\s]+)\s*=\s*({_NUMBER})\s*([kMGTP]|[KMGTP]i|)\s*", part)
        if not one or (one[3] and one[1] not in ("memory", "memory-mb")):
            value.fail(f"got {part.strip()!r:.60}; write resource=number, such as vcores=12")
        name = "memory-mb" if one[1] == "memory" else one[1]
        units[name] = Fraction(one[2]) * _MEBIBYTES[one[3]]
    return Amounts(units)


_MEBIBYTES = {
    **{"": Fraction(1), "Ki": Fraction(1, 1024), "Mi": Fraction(1), "Gi": Fraction(1024)},
    **{"Ti": Fraction(1024**2), "Pi": Fraction(1024**3)},
    **{name: Fraction(1000**k, 1024**2) for k, name in enumerate("kMGTP", 1)},
}


def _maximum(value: Element | None, above: Amounts) -> Amounts:
    """The most of a queue: a percentage of its parent's most, or absolute."""
    if value is None or re.fullmatch(r"-1(\.0*)?", value.text):
        return above
    if re.fullmatch(_NUMBER, value.text):
        percent = Fraction(value.text)
        if not 0 < percent <= 100:
            raise ModelError(f"{value.place}: got {value.text}; a maximum is above 0 and at most 100 percent")
        return above.scaled(percent / 100)
    return _absolute(value)
