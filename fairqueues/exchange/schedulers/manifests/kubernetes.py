"""Nodes and pods of Kubernetes, as ``kubectl get nodes,pods -A -o json`` prints them.

A node is a server with its allocatable resources. A pod is a task; the pods of one controller (a job, a
replica set) are one job, which runs at most so many tasks; jobs with the same demands, queue, constraints and
number of pods are one class. A pod demands, for each resource, what the scheduler reserves for it [1]_: the
sum over its containers, sidecars included, or what an init container needs beside the sidecars that were
started before it, if that is more, and the overhead of its runtime. A container that gives a limit and no
request requests the limit.

Pods that have ended demand nothing. Pods of daemon sets and of nodes themselves belong to their node: what
they request is taken off its resources.

References
----------
.. [1] Kubernetes documentation, "Resource Management for Pods and Containers", "Sidecar Containers" and
   "Pod Overhead".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from fairness.display.wording import many
from fairqueues.exchange.schedulers.manifests.constraints import (
    Condition,
    constraints_of,
    runs_on,
    taints_of,
    tolerated,
)
from fairqueues.exchange.schedulers.manifests.fields import Field
from fairqueues.exchange.schedulers.parts import Jobs, Parts, Server, largest_of, total_of

__all__ = ["Kubernetes", "without_held"]

_QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
_QUEUE_ANNOTATIONS = ("scheduling.volcano.sh/queue-name", "volcano.sh/queue-name")
_ABOUT_OTHERS = {
    "topologySpreadConstraints": "spread over zones or nodes depends on other pods",
    "volumes": "volumes that exist in some zones only are not looked at",
    "priorityClassName": "priorities and preemption are not part of the model",
    "schedulingGates": "the pod waits for a gate; here it takes part",
    "resourceClaims": "devices by claims (DRA) are not counted",
}

_READ = ("containers", "initContainers", "nodeSelector", "affinity", "tolerations", "overhead", "resources")
_NODE = ("taints", "unschedulable", "podCIDR", "podCIDRs", "providerID", "externalID", "configSource")
_WITHOUT_EFFECT = frozenset(
    (
        *("nodeName", "schedulerName", "priority", "preemptionPolicy", "restartPolicy", "os", "volumes"),
        *("terminationGracePeriodSeconds", "activeDeadlineSeconds", "readinessGates", "runtimeClassName"),
        *("dnsPolicy", "dnsConfig", "hostname", "hostnameOverride", "subdomain", "setHostnameAsFQDN"),
        *("hostAliases", "hostNetwork", "hostPID", "hostIPC", "hostUsers", "shareProcessNamespace"),
        *("serviceAccount", "serviceAccountName", "automountServiceAccountToken", "securityContext"),
        *("imagePullSecrets", "enableServiceLinks", "ephemeralContainers"),
    )
)
"""Fields of a pod that say nothing about what it demands or where it may run, or repeat what others say."""


@dataclass
class Kubernetes:
    """Nodes and pods; the pods are grouped when all are there."""

    found: list[tuple[Field, dict[str, Fraction]]] = field(default_factory=list)
    ended: int = 0
    held: int = 0

    def read(self, one: Field, parts: Parts) -> bool:
        """Take an object; False if it is no node and no pod."""
        kind = one["kind"].text()
        if kind == "Node":
            _read_node(one, parts)
        elif kind == "Pod":
            self._read_pod(one, parts)
        return kind in ("Node", "Pod")

    def put_together(self, parts: Parts) -> None:
        """Add the jobs that the pods make, and say what was done."""
        conditions: dict[str, Condition] = {}
        by_owner: dict[Any, list[tuple[Field, dict[str, Fraction]]]] = {}
        for pod, demands in self.found:
            constraints = repr(constraints_of(pod["spec"]))
            if constraints not in conditions:
                conditions[constraints] = runs_on(pod["spec"])
            key = (_namespace(pod), _owner(pod), _queue(pod), tuple(sorted(demands.items())), constraints)
            by_owner.setdefault(key, []).append((pod, demands))
        alike: dict[Any, list[Any]] = {}
        for (namespace, owner, queue, demands, constraints), pods in by_owner.items():
            kind = (namespace, queue, demands, constraints, len(pods))
            alike.setdefault(kind, []).append((f"{namespace}/{owner[1]}", pods[0]))
        names: Counter[str] = Counter()
        for (_, queue, _, constraints, tasks), jobs in alike.items():
            name, (pod, demands) = jobs[0]
            if len(jobs) > 1:
                name += f" and {len(jobs) - 1} more"
            names[name] += 1
            if names[name] > 1:  # one controller with pods of several kinds
                name += f" ({names[name]})"
            parts.jobs.append(
                Jobs(
                    name, pod.document.file, demands, queue, Fraction(len(jobs)), Fraction(tasks),
                    runs_on=conditions[constraints],
                    selector={key: one.text() for key, one in pod["spec"]["nodeSelector"].items()},
                    tolerates=tolerated(pod["spec"]["tolerations"]), pods=True,
                )
            )  # fmt: skip
        parts.notes += [
            f"{number} pods {what}"
            for number, what in (
                (len(self.found), f"are {len(by_owner)} jobs of {len(alike)} classes; each pod is a task"),
                (self.ended, "have ended; they demand nothing"),
                (self.held, "of daemon sets and of nodes: their requests were taken off their nodes"),
            )
            if number
        ]
        _name_the_rest(self.found, parts)

    def _read_pod(self, pod: Field, parts: Parts) -> None:
        """Remember a pod that has not ended; take one that belongs to its node off the node."""
        if pod["status"]["phase"].value in ("Succeeded", "Failed"):
            self.ended += 1
            return
        demands = _requests(pod["spec"])
        owner, node = _controller(pod), pod["spec"]["nodeName"].value
        if owner is not None and node and owner["kind"].text() in ("DaemonSet", "Node"):
            self.held += 1
            # A pod is one of those that its node may have.
            held = demands | {"pods": Fraction(1)}
            parts.held[node] = total_of([parts.held.get(node, {}), held])
            return
        self.found.append((pod, demands))


def _namespace(pod: Field) -> str:
    return pod["metadata"]["namespace"].text("default")


def _controller(pod: Field) -> Field | None:
    return next(
        (one for one in pod["metadata"]["ownerReferences"].entries() if one["controller"].flag()), None
    )


def _owner(pod: Field) -> tuple[str, str]:
    """Kind and name of what the pod belongs to; itself without a controller."""
    owner = _controller(pod)
    one = pod["metadata"] if owner is None else owner
    return "Pod" if owner is None else one["kind"].text(), one["name"].text()


def _queue(pod: Field) -> str | None:
    """What the pod calls its queue, as :attr:`Parts.queue_names` has it."""
    metadata = pod["metadata"]
    local = metadata["labels"][_QUEUE_LABEL]
    if local.value is not None:
        return f"LocalQueue {_namespace(pod)}/{local.text()}"
    for name in _QUEUE_ANNOTATIONS:
        if metadata["annotations"][name].value is not None:
            return f"Volcano queue {metadata['annotations'][name].text()}"
    return "Volcano queue default" if pod["spec"]["schedulerName"].value == "volcano" else None


def _read_node(node: Field, parts: Parts) -> None:
    """Add a node as a server."""
    name = node["metadata"]["name"].text()
    parts.require_new("server", name, node.name, node["metadata"]["name"].fail)
    spec, status = node["spec"], node["status"]
    allocatable = status["allocatable"] if status["allocatable"].value is not None else status["capacity"]
    if allocatable.value is None:
        status.fail("has neither allocatable nor capacity; give the output of kubectl get nodes -o json")
    taints = taints_of(spec["taints"])
    if spec["unschedulable"].flag() and not any(
        key == "node.kubernetes.io/unschedulable" for key, *_ in taints
    ):
        taints.append(("node.kubernetes.io/unschedulable", "", "NoSchedule"))
    for key, one in spec.items():
        if key not in _NODE and not parts.another("field of nodes", key, node.name):
            parts.leave(one, f"spec.{key}", "unknown field, not read")
    labels = {key: one.value or "" for key, one in node["metadata"]["labels"].items()}
    for key, _, effect in taints:
        if effect == "PreferNoSchedule" and not parts.another("taint", key, node.name):
            parts.leave(node, f"taint {key}", "PreferNoSchedule forbids nothing")
    parts.servers.append(Server(name, node.name, allocatable.amounts(), labels, tuple(taints)))


def _requests(spec: Field) -> dict[str, Fraction]:
    """What the scheduler reserves for a pod."""
    total = total_of(_container(one) for one in spec["containers"].entries())
    sidecars: dict[str, Fraction] = {}
    peak: dict[str, Fraction] = {}
    for one in spec["initContainers"].entries():
        if one["restartPolicy"].value == "Always":
            sidecars = total_of([sidecars, _container(one)])
            peak = largest_of(peak, sidecars)
        else:
            peak = largest_of(peak, total_of([sidecars, _container(one)]))
    found = largest_of(total_of([total, sidecars]), peak)
    found |= _container(spec)  # resources of the whole pod take the place of the sums
    return {r: v for r, v in total_of([found, spec["overhead"].amounts()]).items() if v > 0}


def _container(one: Field) -> dict[str, Fraction]:
    resources = one["resources"]
    return resources["limits"].amounts() | resources["requests"].amounts()


def without_held(parts: Parts) -> list[Server]:
    """Servers without what the pods that belong to them hold."""
    found = []
    for server in parts.servers:
        held = parts.held.get(server.name, {})
        left = {r: max(Fraction(0), v - held.get(r, Fraction(0))) for r, v in server.capacities.items()}
        found.append(replace(server, capacities=left))
    return found


def _name_the_rest(found: list[tuple[Field, dict[str, Fraction]]], parts: Parts) -> None:
    """Name what constrains pods and is not carried over, once for all pods that have it."""
    alike: dict[str, list[tuple[Field, str]]] = {}
    for pod, _ in found:
        for name, one, why in _not_carried(pod["spec"]):
            alike.setdefault(name, []).append((one, why))
    for name, pods in alike.items():
        one, why = pods[0]
        parts.leave(one, name, f"{why} ({many(len(pods), 'pod')})")


def _not_carried(spec: Field) -> Iterator[tuple[str, Field, str]]:
    """What constrains a pod and is not carried over: how it is called, the field, why."""
    for key, why in _ABOUT_OTHERS.items():
        given = spec[key].value
        if key == "volumes":
            given = any(one["persistentVolumeClaim"].value for one in spec[key].entries())
        if given:
            yield f"spec.{key}", spec[key], why
    for key, one in spec.items():
        if key not in _READ and key not in _WITHOUT_EFFECT and key not in _ABOUT_OTHERS:
            yield f"spec.{key}", one, "unknown field, not read"
    for key in ("podAffinity", "podAntiAffinity"):
        if spec["affinity"][key].value:
            yield f"spec.affinity.{key}", spec["affinity"][key], "affinity depends on other pods"
    soft = spec.at("affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution")
    if soft.value:
        yield "spec.affinity.nodeAffinity.preferred...", soft, "a preference forbids no node"
    for one in spec["containers"].entries():
        for port in one["ports"].entries():
            if port["hostPort"].value is not None:
                name = "spec.containers.ports.hostPort"
                yield name, port["hostPort"], "ports of the host are not counted"
