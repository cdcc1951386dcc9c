r"""Kueue: cluster queues in cohorts, with quotas, and the flavors of resources.

A cohort is a queue, and so is a ClusterQueue, under its cohort. Kueue gives out quotas, not nodes: the pool
is the sum of all nominal quotas (unless nodes are given too). In the terms of :class:`fairness.Tree` [1]_:

* minimum: the nominal quota; of a cohort, its own and those below it;
* maximum: the nominal quota and the borrowing limit, where there is one. Outside of cohorts nothing is
  borrowed or lent, and a ClusterQueue runs nothing that asks for a resource which it does not cover;
* lends: the lending limit, where there is one;
* weight: that of fair sharing, 1 by default. Kueue shares so only where fair sharing is turned on. It divides
  what is borrowed by what the cohort can lend, all flavors of a resource together; a tree takes it as a part
  of the capacity of each resource, which is the same for one cohort with one flavor and no lending limits.

Kueue counts in each cohort only what lies above the reserves of its members,
:math:`\max(0, u_c - R_c)` of the quota :math:`\sum_c (F_c - R_c)`; a tree counts
:math:`\max(u_c, R_c)` of :math:`\sum_c F_c`. Both differ by the constant :math:`\sum_c R_c`, so they allow
the same.

A *flavor* tells kinds of a resource apart, such as nodes on demand and spot nodes. Where several flavors of a
resource have quotas, each is a resource of its own, "spot/cpu". Jobs use the flavor that their queue offers,
if there is one only, or the one whose labels and taints their pods fit, if that is one only. Else which
flavor Kueue takes depends on who came before, and the reader says so. Where ``pods`` is covered, each task
takes one of them.

References
----------
.. [1] Kueue documentation, "Cluster Queue", "Cohort" and "Fair Sharing" (kueue.x-k8s.io/v1beta1, v1beta2).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from fairness.errors import ModelError
from fairqueues.exchange.schedulers.manifests.constraints import FORBIDDING, taints_of, tolerated
from fairqueues.exchange.schedulers.manifests.fields import Field
from fairqueues.exchange.schedulers.parts import Amounts, Jobs, Parts, Queue, QueuePath, Server, total_of

__all__ = ["Flavors", "Kueue"]

_NOT_CARRIED = {
    "queueingStrategy": "the order of waiting jobs is not part of an allocation",
    "namespaceSelector": "which namespaces may submit is not checked",
    "preemption": "an allocation is where preemption ends, not how it goes",
    "flavorFungibility": "how flavors are tried is not part of the model",
    "admissionChecks": "further checks are not made",
    "admissionChecksStrategy": "further checks are not made",
    "admissionScope": "jobs are not ordered by their use of the past",
    "topologyName": "placement by topology is not part of the model",
    "fairSharing": "shares among the LocalQueues of a ClusterQueue are not carried over",
    "stopPolicy": "a queue that Kueue stops takes part here",
}
_QUOTA = ("name", "nominalQuota", "borrowingLimit", "lendingLimit")


@dataclass
class _Quotas:
    """Of one ClusterQueue or Cohort, by (flavor, resource)."""

    place: Field
    name: str
    parent: str | None
    weight: Fraction
    nominal: dict[tuple[str, str], Fraction]
    borrowing: dict[tuple[str, str], Fraction]
    lending: dict[tuple[str, str], Fraction]


@dataclass
class Kueue:
    """Objects of Kueue that were read, to be put together when all are there."""

    queues: dict[str, _Quotas] = field(default_factory=dict)
    cohorts: dict[str, _Quotas] = field(default_factory=dict)
    local: dict[str, Field] = field(default_factory=dict)
    flavors: dict[str, Field] = field(default_factory=dict)

    def read(self, one: Field, parts: Parts) -> bool:
        """Take an object; False if its kind says nothing about queues."""
        kind, name = one["kind"].text(), one["metadata"]["name"].text()
        if kind == "LocalQueue":
            name = f"{one['metadata']['namespace'].text('default')}/{name}"
        parts.require_new(kind, name, one.place, one["metadata"]["name"].fail)
        if kind in ("ClusterQueue", "Cohort"):
            known = self.queues if kind == "ClusterQueue" else self.cohorts
            known[name] = _quotas(one, name, parts)
        elif kind == "LocalQueue":
            self.local[name] = one
            one["spec"].name_unread(("clusterQueue",), _NOT_CARRIED, parts)
        elif kind == "ResourceFlavor":
            self.flavors[name] = one
            one["spec"].name_unread(("nodeLabels", "nodeTaints", "tolerations"), _NOT_CARRIED, parts)
        else:
            return False
        return True

    def put_together(self, parts: Parts) -> None:
        """Add the queues and their quotas.

        Raises
        ------
        ModelError
            If cohorts lead in a circle, a LocalQueue leads nowhere, or a flavor is not there.
        """
        if not self.queues and not self.cohorts and not self.local:
            return
        every = [*self.cohorts.values(), *self.queues.values()]
        offered: dict[str, set[str]] = {}
        for one in every:
            for flavor, resource in one.nominal:
                offered.setdefault(resource, set()).add(flavor)
        names = {
            (flavor, resource): f"{flavor}/{resource}" if len(kinds) > 1 else resource
            for resource, kinds in offered.items()
            for flavor in kinds
        }
        told = {name for (_, resource), name in names.items() if name != resource}
        if told:
            parts.notes.append(f"resources of several flavors are apart: {', '.join(sorted(told))}")
            for flavor in sorted({flavor for (flavor, r), name in names.items() if name != r}):
                if flavor not in self.flavors:
                    where = next(q.place for q in every if any(f == flavor for f, _ in q.nominal))
                    where["spec"]["resourceGroups"].fail(
                        f"the flavor {flavor!r} is in none of the files; add the ResourceFlavor "
                        "(kubectl get resourceflavors -o yaml)"
                    )
        cohorts = {name: self._below(name) for name in self._all_cohorts()}
        roots = [one for one in (*cohorts.values(), *self.queues.values()) if one.parent is None]
        for name, one in cohorts.items():
            parts.add_queue(_bounded(one, self._chain(name), names, len(roots) == 1, None))
            members = [q for q in every if q.parent == name]
            if one.borrowing and any(q.lending for q in members):
                why = "a borrowingLimit counts what members reserve in Kueue, here only what they use"
                parts.leave(one.place["spec"]["resourceGroups"], f"Cohort {name}", why)
        for one in self.queues.values():
            covers = frozenset(names[key] for key in one.nominal)
            queue = _bounded(one, self._path(one), names, len(roots) == 1, covers)
            parts.add_queue(queue, f"ClusterQueue {one.name}")
        for one in roots:
            own = {names[key]: amount for key, amount in one.nominal.items()}
            parts.quotas = total_of([parts.quotas, own])
        for local, place in self.local.items():
            target = place["spec"]["clusterQueue"]
            if target.text() not in self.queues:
                target.fail(f"the ClusterQueue {target.text()!r} is in none of the files; add it")
            parts.queue_names[f"LocalQueue {local}"] = self._path(self.queues[target.text()])
        if told or len(roots) > 1 or parts.servers or any(one.lending for one in every):
            parts.notes.append(
                "Kueue divides what a queue borrows by what its cohort can lend, all flavors together; "
                "here by the capacity"
            )
        parts.flavors.append(Flavors(names, self.flavors, {self._path(q): q for q in self.queues.values()}))

    def _all_cohorts(self) -> list[str]:
        """Names of all cohorts, those without an object of their own too, parents first."""
        named = [
            *self.cohorts,
            *(q.parent for q in (*self.queues.values(), *self.cohorts.values()) if q.parent),
        ]
        return sorted(dict.fromkeys(named), key=lambda name: len(self._chain(name)))

    def _chain(self, cohort: str) -> tuple[str, ...]:
        """Cohorts from the top to this one."""
        chain = [cohort]
        while (above := self.cohorts[chain[-1]].parent if chain[-1] in self.cohorts else None) is not None:
            if above in chain:
                circle = [*chain[chain.index(above) :], above]
                self.cohorts[above].place["spec"].fail(
                    f"has a cycle: {' under '.join(circle)}; each cohort must lead up to one without a parent"
                )
            chain.append(above)
        return tuple(reversed(chain))

    def _path(self, one: _Quotas) -> tuple[str, ...]:
        return (*(self._chain(one.parent) if one.parent else ()), one.name)

    def _below(self, cohort: str) -> _Quotas:
        """Quotas of a cohort: its own and all below it."""
        own = self.cohorts.get(cohort)
        members = (*self.queues.values(), *self.cohorts.values())
        below = [q for q in members if q.parent and cohort in self._chain(q.parent)]
        place = own.place if own else next(q for q in below if q.parent == cohort).place
        nominal = total_of(one.nominal for one in [*([own] if own else []), *below])
        if own is None:
            return _Quotas(place, cohort, None, Fraction(1), nominal, {}, {})
        return replace(own, nominal=nominal)


def _bounded(
    one: _Quotas,
    path: QueuePath,
    names: dict[tuple[str, str], str],
    only: bool,
    covers: frozenset[str] | None,
) -> Queue:
    """A queue with the bounds that its quotas are; ``only``: nothing stands beside the one at the top."""
    minimum = {names[key]: amount for key, amount in one.nominal.items()}
    if one.parent is not None:
        maximum = {names[key]: one.nominal[key] + most for key, most in one.borrowing.items()}
        lends = {names[key]: most for key, most in one.lending.items()}
    else:  # alone, or at the top: nothing is borrowed from those beside it, so nothing is lent to them
        maximum, lends = minimum, {}
        if only and covers is None:  # a cohort that has everything: no more is said by guaranteeing it
            minimum = {}
    return Queue(
        path, one.place.place, one.weight, Amounts(minimum), Amounts(maximum), Amounts(lends), covers
    )


def _quotas(one: Field, name: str, parts: Parts) -> _Quotas:
    """Quotas of a ClusterQueue or a Cohort."""
    spec, cohort = one["spec"], one["kind"].text() == "Cohort"
    keys = ("parentName", "parent") if cohort else ("cohortName", "cohort")
    spec.name_unread((*keys, "resourceGroups", "fairSharing"), _NOT_CARRIED, parts)
    parent = next((spec[key].text() for key in keys if spec[key].value), None)
    weight = spec["fairSharing"]["weight"]
    factor = Fraction(1) if weight.value is None else weight.amount()
    if factor == 0:
        weight.fail(
            "is 0: in Kueue such a queue comes last of all, which no weight > 0 says; give a small one"
        )
    found = _Quotas(one, name, parent, factor, {}, {}, {})
    for group in spec["resourceGroups"].entries():
        covered = [r.text() for r in group["coveredResources"].entries()]
        for flavor in group["flavors"].entries():
            names = []
            for quota in flavor["resources"].entries():
                resource = quota["name"].text()
                key = (flavor["name"].text(), resource)
                names.append(resource)
                if any(r == resource for _, r in found.nominal) and (
                    key in found.nominal or resource not in covered
                ):
                    quota["name"].fail(
                        f"has a quota for {resource!r} twice; a resource is in one group, once a flavor"
                    )
                found.nominal[key] = quota["nominalQuota"].amount()
                for limit, amounts in (("borrowingLimit", found.borrowing), ("lendingLimit", found.lending)):
                    if quota[limit].value is not None:
                        if parent is None:
                            quota[limit].fail(
                                "is for members of a cohort; add the cohort, or leave the limit out"
                            )
                        amounts[key] = quota[limit].amount()
                quota.name_unread(_QUOTA, {}, parts)
            if sorted(names) != sorted(covered):
                flavor["resources"].fail(
                    f"has quotas for {', '.join(names) or 'nothing'}, but coveredResources are "
                    f"{', '.join(covered) or 'none'}; write one for each"
                )
    return found


@dataclass(frozen=True)
class Flavors:
    """Which flavor of a resource jobs use."""

    names: dict[tuple[str, str], str]
    flavors: dict[str, Field]
    queues: dict[QueuePath, _Quotas]

    def demands(self, jobs: Jobs, queue: QueuePath) -> dict[str, Fraction]:
        """Demands of jobs in a queue, by the resources that have flavors.

        Raises
        ------
        ModelError
            If their queue offers several flavors that fit.
        """
        found: dict[str, Fraction] = {}
        offered = self.queues[queue].nominal if queue in self.queues else {}
        counted = any(r == "pods" for _, r in offered)  # a task is a pod
        pods = {"pods": Fraction(1)} if counted else {}
        for resource, amount in (pods | dict(jobs.demands)).items():
            kinds = [f for f, r in offered if r == resource]
            if not kinds:  # not covered, or named with its flavor already
                found[resource] = amount
                continue
            # Of tables with one flavor there is no choice, and nothing is said of labels and taints.
            alone = len(kinds) == 1 and (jobs.tolerates is None or kinds[0] not in self.flavors)
            fit = kinds if alone else [f for f in kinds if self._fits(f, jobs, kinds)]
            if len(fit) != 1:
                told = "none fits" if not fit else f"{', '.join(fit)} fit"
                raise ModelError(
                    f"{jobs.place}: the queue {'/'.join(queue)!r} offers {resource} in the flavors "
                    f"{', '.join(kinds)}, of which {told} the jobs {jobs.name!r}; give the pods a node "
                    f"selector and tolerations that fit one of them, or in CSV demand "
                    f"{self.names[kinds[0], resource]!r}"
                )
            found[self.names[fit[0], resource]] = amount
        return found

    def _fits(self, flavor: str, jobs: Jobs, among: list[str]) -> bool:
        labels = {f: self._labels(f) for f in among}
        keys = {key for one in labels.values() for key in one}
        selector = {k: v for k, v in jobs.selector.items() if k in keys}
        if any(labels[flavor].get(key) != value for key, value in selector.items()):
            return False
        spec = self.flavors[flavor]["spec"]
        for taint in taints_of(spec["nodeTaints"]):
            own = jobs.tolerates is not None and jobs.tolerates(taint)
            if taint[2] in FORBIDDING and not own and not tolerated(spec["tolerations"])(taint):
                return False
        return True

    def _labels(self, flavor: str) -> dict[str, str]:
        return {key: one.text() for key, one in self.flavors[flavor]["spec"]["nodeLabels"].items()}

    def capacities(self, server: Server) -> dict[str, Fraction]:
        """Capacities of a server by the resources that have flavors: those whose labels it bears.

        Raises
        ------
        ModelError
            If it bears the labels of several flavors of one resource.
        """
        found: dict[str, Fraction] = {}
        for resource, amount in server.capacities.items():
            kinds = {f: name for (f, r), name in self.names.items() if r == resource}
            if not kinds:
                found[resource] = amount
                continue
            bears = server.labels.items()
            fit = [f for f in kinds if f not in self.flavors or self._labels(f).items() <= bears]
            if len(fit) > 1:
                raise ModelError(
                    f"{server.place}: the node {server.name!r} bears the labels of the flavors "
                    f"{', '.join(fit)} of {resource}; give each node one of them"
                )
            found |= {kinds[f]: amount for f in fit}
        return found
