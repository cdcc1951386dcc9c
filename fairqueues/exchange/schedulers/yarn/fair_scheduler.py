"""The allocation file of YARN's Fair Scheduler, ``fair-scheduler.xml``.

In the terms of :class:`fairness.Tree` [1]_: ``weight`` is the weight, ``minResources`` the minimum, all of it
lent while the queue does not need it, ``maxResources`` the maximum (by default that of
``queueMaxResourcesDefault``). Resources are written ``vcores=4, memory-mb=10240``, ``10240 mb, 4 vcores``, or
as percentages of the whole cluster: ``vcores=50%, memory-mb=25%``, ``50% cpu, 25% memory``, or one percentage
for all.

References
----------
.. [1] Apache Hadoop documentation, "Hadoop: Fair Scheduler", allocation file format.
"""

from __future__ import annotations

import re
from fractions import Fraction

from fairqueues.exchange.schedulers.parts import Amounts, Parts, Queue
from fairqueues.exchange.schedulers.yarn.elements import Element

__all__ = ["read_fair_scheduler", "resources_of"]

_OWN = ("weight", "minResources", "maxResources", "queue", "pool", "schedulingPolicy")
_REASONS = {
    "numbers of applications are not limited": (
        *("maxRunningApps", "queueMaxAppsDefault", "userMaxAppsDefault", "user"),
    ),
    "application masters are not apart": ("maxAMShare", "queueMaxAMShareDefault"),
    "who may submit where is not checked": ("aclSubmitApps", "aclAdministerApps", "queuePlacementPolicy"),
    "sizes of single containers are not limited": ("maxContainerAllocation",),
    "queues that YARN makes by itself are not there": ("maxChildResources",),
    "an allocation is where preemption ends, not how it goes": (
        *("minSharePreemptionTimeout", "fairSharePreemptionTimeout", "fairSharePreemptionThreshold"),
        *("defaultMinSharePreemptionTimeout", "defaultFairSharePreemptionTimeout"),
        *("defaultFairSharePreemptionThreshold", "allowPreemptionFrom"),
    ),
    "reservations in advance are not read": (
        *("reservation", "reservation-agent", "reservation-policy", "reservation-planner"),
    ),
}
_NOT_CARRIED = {tag: why for why, tags in _REASONS.items() for tag in tags}
_OLD = {"mb": "memory-mb", "vcores": "vcores"}
_PERCENT = {"memory": "memory-mb", "cpu": "vcores"}
_NUMBER = r"([0-9]{1,18}(?:\.[0-9]{1,18})?)"


def read_fair_scheduler(root: Element, parts: Parts) -> None:
    """Add the queues of an allocation file.

    Raises
    ------
    ModelError
        If a name, a weight or an amount of resources is wrong, or a queue is there twice.
    """
    default = root.only("queueMaxResourcesDefault")
    usual = None if default is None else resources_of(default)
    chosen = root.only("defaultQueueSchedulingPolicy")
    policy = "fair" if chosen is None else chosen.text.lower()
    shared: dict[str, list[str]] = {}
    if not any(one.attributes.get("name", "").strip() == "root" for one in root.named("queue", "pool")):
        shared[policy] = ["root"]
    for one in root.named("queue", "pool"):
        _queue(one, (), usual, policy, shared, parts)
    own = ("queue", "pool", "queueMaxResourcesDefault", "defaultQueueSchedulingPolicy")
    _name_fields(root, own, parts)
    for name, queues in shared.items():
        if name != "drf":
            what = "by memory alone" if name == "fair" else f"by {name!r}"
            parts.notes.append(
                f"in YARN {', '.join(queues)} shared {what}; choose the policy of the tree to fit"
            )


def _queue(
    one: Element, above: tuple[str, ...], usual: Amounts | None, policy: str, shared: dict[str, list[str]],
    parts: Parts,
) -> None:  # fmt: skip
    name = one.attributes.get("name", "").strip()
    if not name:
        one.fail("has no name; write <queue name=...>")
    if "." in name:
        one.fail(f"the name {name!r} has a dot in it; write queues inside of queues")
    path = () if not above and name == "root" else (*above, name)
    told = "root" if not path else ".".join(("root", *path))
    weight = one.only("weight")
    factor = Fraction(1)
    if weight is not None:
        if not re.fullmatch(_NUMBER, weight.text) or not Fraction(weight.text):
            weight.fail(f"must be a number > 0; got {weight.text!r}")
        factor = Fraction(weight.text)
    low, high = one.only("minResources"), one.only("maxResources")
    minimum = Amounts() if low is None else resources_of(low)
    most = usual if path and usual is not None else Amounts()
    if high is not None:
        most = resources_of(high)
    parts.add_queue(Queue(path, one.place, factor, minimum, most), told)
    mine = one.only("schedulingPolicy")
    shared.setdefault(policy if mine is None else mine.text.lower(), []).append(told)
    for child in one.named("queue", "pool"):
        _queue(child, path, usual, policy, shared, parts)
    _name_fields(one, _OWN, parts)


def _name_fields(one: Element, known: tuple[str, ...], parts: Parts) -> None:
    for child in one.elements:
        if child.tag not in known:
            parts.leave(child, f"<{child.tag}>", _NOT_CARRIED.get(child.tag, "unknown element, not read"))


def resources_of(one: Element) -> Amounts:
    """Amounts in one of YARN's ways to write them.

    Raises
    ------
    ModelError
        If the text is none of them, or names a resource twice.
    """
    text = one.text.strip()
    if found := re.fullmatch(_NUMBER + r"\s*%", text):
        return Amounts(share=Fraction(found[1]) / 100)
    units: dict[str, Fraction] = {}
    shares: dict[str, Fraction] = {}
    # Old files have a comma or a blank between "1024 mb" and "1 vcores", and any case.
    for part in re.split(r"\s*,\s*|(?<=[A-Za-z])\s+(?=[0-9])", text):
        if found := re.fullmatch(r"([^=\s]+)\s*=\s*" + _NUMBER + r"\s*(%?)", part):
            name, number, percent = found[1], found[2], found[3]
        elif found := re.fullmatch(_NUMBER + r"\s*(mb|vcores)", part.lower()):
            name, number, percent = _OLD[found[2]], found[1], ""
        elif found := re.fullmatch(_NUMBER + r"\s*%\s*(memory|cpu)", part.lower()):
            name, number, percent = _PERCENT[found[2]], found[1], "%"
        else:
            one.fail(
                f"got {part!r:.60}; write resources as 'vcores=4, memory-mb=10240', '10240 mb, 4 vcores', "
                "'50% memory, 25% cpu' or '50%'"
            )
        name = "memory-mb" if name == "memory" else name
        if name in units or name in shares:
            one.fail(f"names {name} twice; keep one of them")
        if percent:
            shares[name] = Fraction(number) / 100
        else:
            units[name] = Fraction(number)
    return Amounts(units, shares)
