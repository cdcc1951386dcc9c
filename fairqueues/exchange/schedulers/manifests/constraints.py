"""Where a pod may run: node selector, required node affinity, taints and tolerations of Kubernetes.

These depend on the pod and the node alone, so they become an exact matrix of classes and servers. What
depends on other pods (affinity between pods, spread over zones), on volumes or on ports of the host has no
place in a model of divisible resources and is named; what is only preferred never forbids a node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fairqueues.exchange.schedulers.manifests.fields import Field
from fairqueues.exchange.schedulers.parts import Server, Taint

__all__ = ["FORBIDDING", "Condition", "constraints_of", "runs_on", "taints_of", "tolerated"]

Condition = Callable[[Server], bool]

_REQUIRED = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
FORBIDDING = ("NoSchedule", "NoExecute")


def constraints_of(spec: Field) -> list[Any]:
    """All that decides where the pods of a spec may run, as data to compare."""
    return [spec["nodeSelector"].value, spec.at(*_REQUIRED).value, spec["tolerations"].value]


def runs_on(spec: Field) -> Condition:
    """Whether the pods of a spec may run on a server.

    Raises
    ------
    ModelError
        If an operator is unknown, or a field has the wrong kind.
    """
    selector = {key: one.text() for key, one in spec["nodeSelector"].items()}
    required = spec.at(*_REQUIRED)
    terms = [_term(term) for term in required["nodeSelectorTerms"].entries()]
    tolerates = tolerated(spec["tolerations"])

    def allowed(server: Server) -> bool:
        if any(server.labels.get(key) != value for key, value in selector.items()):
            return False
        # Terms are alternatives; the expressions of a term hold together, and one without any never does.
        if required.value is not None and not any(
            term and all(holds(server) for holds in term) for term in terms
        ):
            return False
        return all(taint[2] not in FORBIDDING or tolerates(taint) for taint in server.taints)

    return allowed


def _term(term: Field) -> list[Condition]:
    expressions = [_expression(one, names=False) for one in term["matchExpressions"].entries()]
    return expressions + [_expression(one, names=True) for one in term["matchFields"].entries()]


def _expression(one: Field, names: bool) -> Condition:
    """An expression about a label, or about the name of the node."""
    key, operator = one["key"].text(), one["operator"].text()
    values = [value.text() for value in one["values"].entries()]
    if names and key != "metadata.name":
        one["key"].fail(f"matchFields knows metadata.name only; got {key!r}")

    def found(server: Server) -> str | None:
        return server.name if names else server.labels.get(key)

    if operator in ("Gt", "Lt"):
        if len(values) != 1 or not values[0].lstrip("-").isdigit():
            one["values"].fail(f"{operator} needs one whole number in quotes")
        bound, sign = int(values[0]), 1 if operator == "Gt" else -1

        def compares(server: Server) -> bool:
            label = found(server)
            return label is not None and label.lstrip("-").isdigit() and sign * (int(label) - bound) > 0

        return compares
    conditions: dict[str, Condition] = {
        "In": lambda server: found(server) in values,
        "NotIn": lambda server: found(server) not in values,
        "Exists": lambda server: found(server) is not None,
        "DoesNotExist": lambda server: found(server) is None,
    }
    if operator not in conditions:
        one["operator"].fail(
            f"unknown operator {operator!r}; known are {', '.join([*conditions, 'Gt', 'Lt'])}"
        )
    return conditions[operator]


def taints_of(taints: Field) -> list[Taint]:
    """The taints of a node, or of the nodes of a flavor."""
    return [(one["key"].text(), one["value"].value or "", one["effect"].text()) for one in taints.entries()]


def tolerated(tolerations: Field) -> Callable[[Taint], bool]:
    """Whether one of the tolerations matches a taint."""
    known = []
    for one in tolerations.entries():
        operator = one["operator"].text("Equal")
        if operator not in ("Equal", "Exists"):
            one["operator"].fail(f"unknown operator {operator!r}; known are Equal, Exists")
        # Values may be empty text, which is a value.
        key, value, effect = (one[name].value or "" for name in ("key", "value", "effect"))
        if not key and operator == "Equal":
            one.fail("a toleration without a key needs operator: Exists")
        known.append((key, None if operator == "Exists" else value, effect))

    def matches(taint: Taint) -> bool:
        return any(
            key in ("", taint[0]) and value in (None, taint[1]) and effect in ("", taint[2])
            for key, value, effect in known
        )

    return matches
