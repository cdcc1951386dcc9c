r"""Strategy-proofness: a lie does not pay.

A class tells the provider its demands and where it may run; weights are known to the provider. After a lie it
is given :math:`x'_{ni}` tasks of the kind that it claimed, so it holds the shares
:math:`h'_{nir} = x'_{ni} b'_{nir}` of the resources of the servers, with the claimed :math:`b'`. What it can
really run with them is

.. math:: u'_n = \sum_{i:\,\gamma_{ni}>0}\ \min_{r:\,b_{nir}>0} h'_{nir}/b_{nir},

by its true demands on the servers that it may truly use. A policy is strategy-proof [1]_ [2]_ if
:math:`u'_n \le x_n` for every class and lie. The violation
is :math:`u'_n/x_n - 1`, or :math:`u'_n/\Gamma_n`, as a part of what it would run alone, if it ran nothing.

It is *group strategy-proof* [3]_ if no set of liars can all run at least as many tasks as before, and one
of them more. The violation is then the largest gain of a liar if none of them loses, else the smallest
(negative) gain. A single liar is a group, so this implies strategy-proofness. Of a policy that shares by a
tree of queues it is also asked whether all classes of a queue gain together [4]_.

*Time division.* What a class is given are the resources of its claimed tasks there as well: that is how [2]_
counts (eq. 1), and PS-DSF under time division is then found strategy-proof. If a liar could use the whole
server in its time, lies would pay, as they do in linear Fisher markets: servers (1, 1) and (2, 1), demands
(2, 1) and (1, 1), weights 2 and 1; by claiming (1, 1) class 1 is given a third of server 1 and all of server
2, time enough for 7/6 of its tasks instead of 1.

Effective capacities (given gamma) are measured by the provider: a class that lies about its demands keeps its
gamma.

References
----------
.. [1] A. Ghodsi et al., "Dominant resource fairness: fair allocation of multiple resource types", NSDI 2011.
.. [2] J. Khamse-Ashari et al., "Per-server dominant-share fairness (PS-DSF)", ICC 2017. arXiv:1611.00404.
.. [3] D. C. Parkes, A. D. Procaccia and N. Shah, "Beyond dominant resource fairness: extensions, limitations,
   and indivisibilities", EC 2012; ACM Transactions on Economics and Computation 3(1), 2015.
.. [4] A. A. Bhattacharya, D. Culler, E. Friedman, A. Ghodsi, S. Shenker and I. Stoica, "Hierarchical
   scheduling for diverse datacenter workloads", SoCC 2013. DOI 10.1145/2523616.2523637.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.tree import Tree
from fairness.properties.changes.changed_model import Lie
from fairness.properties.changes.claims import distinct_lies
from fairness.properties.protocol.arithmetic import (
    demands_in,
    expected,
    in_arithmetic_of,
    quotient,
    read,
    shown,
    tasks_from,
    total_alone,
    totals_after,
)
from fairness.properties.protocol.property import Change, Finding, Model, Numbers, Property, Question

__all__ = ["GroupStrategyProofness", "StrategyProofness"]

SLIGHT = 1e-8
"""A relative loss below this is rounding: what the least exact policy leaves."""


class StrategyProofness(Property):
    """Nobody runs more tasks by lying about its demands or about the servers that it may use.

    Examples
    --------
    >>> from fairness import Problem, ProportionalFair
    >>> pool, lie = Problem([[16, 1], [1, 2]], [100, 100]), Lie((0,), ((16, 8),))
    >>> before, after = ProportionalFair()(pool, [1, 1]), ProportionalFair()(lie.apply(pool), [1, 1])
    >>> print(StrategyProofness().check(pool, before, lie, after).text)
    class 1 claims (16, 8) instead of (16, 1) and can then run 4.16667 tasks instead of 3.22581
    """

    name = "strategy-proofness"
    key = "SP"
    statement = "Nobody runs more tasks by lying about its demands or about the servers that it may use."
    compares = True

    def changes(self, model: Model, rng: np.random.Generator, number: int) -> Iterator[Change]:
        """Lies of single classes."""
        yield from distinct_lies(model, rng, number, 1)

    def judge(self, question: Question) -> Finding:
        """Gain of the liar.

        Raises
        ------
        ModelError
            Also if there are several liars: that one of them gains while others lose is no violation, and
            what a group gains is for :class:`GroupStrategyProofness` to say.
        """
        lie, answer = expected(self.name, question, Lie)
        if len(lie.users) > 1:
            raise ModelError(
                f"{self.name} is about one liar; got {len(lie.users)}; GroupStrategyProofness is for groups"
            )
        return self._gain(question, lie, answer)

    def _gain(self, question: Question, lie: Lie, answer: Numbers) -> Finding:
        tolerance, before, after, gains = _gains(question, lie, answer)
        model, least = question.model, min(gains)
        violation = max(gains) if least >= (-SLIGHT if tolerance else 0) else least
        text = f"{lie.text(model)} and can then run {_listed(after)} tasks instead of {_listed(before)}"
        users = tuple(n for n, gain in zip(lie.users, gains, strict=True) if gain > tolerance)
        return Finding(self.name, violation, users if violation > tolerance else (), text, tolerance)


class GroupStrategyProofness(StrategyProofness):
    """No group of classes lies so that all of them run at least as many tasks and one of them more."""

    name = "group strategy-proofness"
    key = "GSP"
    statement = "No group can lie so that all of it run at least as many tasks and one of it more."
    implies = ("strategy-proofness",)

    def changes(self, model: Model, rng: np.random.Generator, number: int) -> Iterator[Change]:
        """Lies of single classes and of pairs; with a tree of queues also of all classes of a queue."""
        yield from distinct_lies(model, rng, number, 2, _coalitions(self.tree, model))

    def judge(self, question: Question) -> Finding:
        """Largest gain of a liar if no liar loses."""
        return self._gain(question, *expected(self.name, question, Lie))


def _coalitions(tree: Tree | None, model: Model) -> list[tuple[int, ...]]:
    """All classes below each queue, where these are three or more."""
    if tree is None:
        return []
    home = tree.require_classes(model).tolist()
    below: list[list[int]] = [[] for _ in range(tree.n_nodes)]
    for n, v in enumerate(home):
        for u in tree.way(v):
            below[u].append(n)
    return list(dict.fromkeys(tuple(classes) for classes in below if len(classes) > 2))


def _gains(question: Question, lie: Lie, answer: Numbers) -> tuple[float, Numbers, Numbers, list[Any]]:
    """Tolerance, tasks of the liars before and after, and their relative gains."""
    # Resources under both divisions, see the module docstring.
    truth, model, users = read(question._replace(division="resource")), question.model, list(lie.users)
    shares = truth.shares[users]
    if isinstance(model, Cluster):
        claimed = lie.apply(model)
        claims = read(Question(claimed, answer))
        held = claims.placement[users, :, None] * claims.shares[users]
        if isinstance(claimed, Cluster) and claimed.n_servers < model.n_servers:
            # Servers that nobody claims to use have dropped out.
            shares = shares[:, [model.servers.index(name) for name in claimed.servers]]
    else:
        # The same without a second model, because searches check very many lies to pools.
        tasks = totals_after(truth, model, model.n_classes, answer)[users]
        needs = demands_in(truth, model)[users]
        claimed_needs = needs if lie.demands is None else in_arithmetic_of(truth, "demands", lie.demands)
        shares, held = needs[:, None, :], (tasks[:, None] * claimed_needs)[:, None, :]
    before, after = truth.tasks[users], tasks_from(shares, held)
    base = np.where(before > 0, before, total_alone(truth)[users])
    return truth.tolerance, before, after, list(quotient(after - before, base, 0))


def _listed(values: Numbers) -> str:
    return " and ".join(shown(v) for v in values)
