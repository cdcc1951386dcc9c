r"""Bottleneck fairness: if everybody wants one resource most, that resource is shared max-min.

Resource r is dominantly demanded by every class on every server that it may use (:math:`b_{nir}\ge b_{nis}`
for all s). Then [1]_ [2]_ the amounts :math:`a_n = x_n d_{nr}` of it must be max-min fair with weights
:math:`\varphi_n`: no feasible allocation gives a class more without giving less to one whose *level*
:math:`\ell = a/\varphi` is not larger.

Locally this says, with :math:`a_{pi} = x_{pi} d_{pr}`,

1. every server that somebody may use is full on r;
2. :math:`a_{pi} > 0` implies :math:`\ell_p \le \ell_n` for every class n that may use server i.

*Proof.* As r is dominant, amounts are feasible exactly if :math:`\sum_n a_{ni} \le c_{ir}`. Let 1 and 2
hold, and let S be the classes of level at most :math:`\ell_n`. A server that a class of S may use serves
only classes of S, by 2, and is full, by 1, so S holds all that it can ever hold: if n gains then another
class of S loses. Conversely, if a server is not full, a class gains there at nobody's cost; if
:math:`a_{pi}>0` and :math:`\ell_p > \ell_n`, a little of p's part of server i can go to n, and only p, of
larger level, loses.

In a pool: r is full and all levels are equal. *Time division* allows the same amounts, because the part of
the time that a class has a server, :math:`x_{ni}/\gamma_{ni}`, equals the part of r that it holds there. So
the statement is the same. With effective capacities (given gamma) the amount of a resource that a task
needs depends on the server, and the property does not apply.

The violation is the largest free part of r on a server, or :math:`\min(h_{pi}, 1 - \ell_n/\ell_p)` with
:math:`h_{pi} = a_{pi}/c_{ir}` the part that p holds, so that traces of a class count as little as they
matter.

References
----------
.. [1] A. Ghodsi et al., "Dominant resource fairness: fair allocation of multiple resource types", NSDI 2011.
.. [2] J. Khamse-Ashari et al., "Per-server dominant-share fairness (PS-DSF)", ICC 2017. arXiv:1611.00404.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.properties.protocol.arithmetic import (
    as_given,
    demands_in,
    given_gamma,
    may_run,
    quotient,
    read,
    shown,
    task_shares,
)
from fairness.properties.protocol.property import Finding, Model, Property, Question

__all__ = ["BottleneckFairness", "common_bottleneck", "max_min_finding"]

TIE = 1e-12
"""Shares that differ relatively by less are equal: small rationals differ by 1e-16 or by much more."""


class BottleneckFairness(Property):
    """If one resource is dominantly demanded by every class wherever it may run, it is shared max-min.

    With one resource this is single-resource fairness.

    Examples
    --------
    >>> from fairness import AssetFair, Problem
    >>> pool = Problem([[3, 2], [4, 1]], [21, 21])
    >>> print(BottleneckFairness().of(AssetFair(), pool).text)
    class 2 holds 0.571429 of resource 1: 12 units in all, 12 by weight; class 1, who may have it, only 9
    """

    name = "bottleneck fairness"
    key = "BF"
    statement = (
        "If one resource is dominantly demanded by every class wherever it may run, it is shared max-min."
    )
    implies: tuple[str, ...] = ("single-resource fairness",)

    def applies(self, model: Model) -> bool:
        """Whether there is such a resource."""
        return super().applies(model) and common_bottleneck(model) is not None

    def suit(self, model: Model) -> Model:
        """Demands of the first resource raised as far as needed."""
        return model if self.applies(model) else _with_bottleneck(model)

    def judge(self, question: Question) -> Finding:
        """Largest deviation from max-min amounts."""
        resource = common_bottleneck(question.model)
        if resource is None:
            raise ModelError(
                f"{self.name} needs a resource that every class demands dominantly wherever it may run, and "
                "no given gamma; suit(model) makes one"
            )
        return max_min_finding(self.name, question._replace(division="resource"), resource)


def common_bottleneck(model: Model) -> int | None:
    """First resource that every class demands dominantly wherever it may run; None without one."""
    if given_gamma(model) is not None:
        return None
    shares = task_shares(model)
    dominant = (shares >= shares.max(axis=2, keepdims=True) * (1 - TIE)).all(axis=(0, 1))
    return int(np.argmax(dominant)) if dominant.any() else None


def max_min_finding(name: str, question: Question, resource: int) -> Finding:
    """Check conditions 1 and 2 for a resource that is dominant for all."""
    reading, model = read(question), question.model
    shares = reading.shares[:, :, resource]
    held = reading.placement * shares
    free = np.where((shares > 0).any(axis=0), 1 - held.sum(axis=0), 0)
    amounts = reading.tasks * demands_in(reading, model)[:, resource]
    levels = amounts / reading.weights
    rivals = np.where(shares > 0, levels[:, None], np.inf)
    above = 1 - quotient(rivals.min(axis=0), np.broadcast_to(levels[:, None], shares.shape), 1)
    unfair = np.minimum(held, np.where(held > 0, above, 0))
    what = model.resources[resource]
    idle = int(np.argmax(free))
    p, i = np.unravel_index(int(np.argmax(unfair)), unfair.shape)
    users: tuple[int, ...] = ()
    if free[idle] > unfair[p, i]:
        where = f" of {model.servers[idle]}" if isinstance(model, Cluster) else ""
        text = f"{shown(free[idle])} of {what}{where}, which everybody wants, is free"
        return Finding(name, free[idle], users, text, reading.tolerance)
    n = int(np.argmin(rivals[:, i]))
    violation = unfair[p, i]
    if violation > reading.tolerance:
        users = (n,)
        where = f" of {model.servers[i]}" if isinstance(model, Cluster) else ""
        text = (
            f"{model.job_classes[p]} holds {shown(held[p, i])} of {what}{where}: {shown(amounts[p])} units "
            f"in all, {shown(levels[p])} by weight; {model.job_classes[n]}, who may have it, "
            f"only {shown(levels[n])}"
        )
    else:
        text = f"{what} is full and shared max-min"
    return Finding(name, violation, users, text, reading.tolerance)


def _with_bottleneck(model: Model) -> Model:
    """The model with resource 0 everywhere and its demands raised until it is dominant; integers stay so."""
    demands, capacities = as_given(model)
    capacities[..., 0] = np.where(capacities[..., 0] > 0, capacities[..., 0], 1)
    cluster = model if isinstance(model, Cluster) else None
    for n, row in enumerate(demands):
        servers = capacities[None] if cluster is None else capacities[may_run(cluster)[n]]
        wanted = np.flatnonzero(row > 0)
        needed = [
            max(_ratio(row[r] * c[0], c[r]) for r in wanted)
            for c in servers
            if wanted.size and (c[wanted] > 0).all()
        ]
        first = max(needed, default=1)
        row[0] = ceil(first) if all(isinstance(v, int) for v in row) else first
    if cluster is None:
        return model.replaced(demands=demands, capacities=capacities)
    eligible = cluster.given_eligible if cluster.given_gamma is None else cluster.eligible
    return cluster.replaced(demands=demands, capacities=capacities, gamma=None, eligible=eligible)


def _ratio(top: Any, bottom: Any) -> Any:
    exact = not isinstance(top, float) and not isinstance(bottom, float)
    return Fraction(top) / bottom if exact else top / bottom
