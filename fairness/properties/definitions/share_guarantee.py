r"""Hierarchical share guarantee: every queue and every class has its part of what is above it.

A policy may share by a tree of queues. A node (a queue or a class) is *demanding* if a class below it can
run; limits play no part here, so it always wants more. The part that is guaranteed to it [1]_ is

.. math:: g_{\text{root}} = 1, \qquad
   g_v = \frac{w_v}{\sum_{u} w_u}\, g_{\text{parent of } v},

the sum over the demanding children u of its parent, v among them. A class weighs its own weight, a queue that
of the tree. The property says that

* a class runs at least :math:`g_n \sum_i \gamma_{ni}` tasks, this part of what it would run alone;
* on a pool, the classes below a queue together hold at least the part :math:`g_v` of some resource.

Without a tree all classes are children of the root, and this is the sharing incentive. The violation is the
largest :math:`1 - x_n/(g_n\sum_i\gamma_{ni})` or :math:`1 - s_v/g_v`, with :math:`s_v` the largest share of a
resource that is held below v. Bounds of queues may contradict it, so trees with a minimum, a maximum or a
reserve are not asked about.

References
----------
.. [1] A. A. Bhattacharya, D. Culler, E. Friedman, A. Ghodsi, S. Shenker and I. Stoica, "Hierarchical
   scheduling for diverse datacenter workloads", SoCC 2013. DOI 10.1145/2523616.2523637.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fairness.model.problem import Problem
from fairness.model.tree import Tree
from fairness.properties.protocol.arithmetic import Reading, quotient, read, shown, total_alone
from fairness.properties.protocol.property import Finding, Model, Property, Question

__all__ = ["HierarchicalShareGuarantee"]


class HierarchicalShareGuarantee(Property):
    """Every queue and class has at least its part, by weights down the tree, of what it could have alone.

    Examples
    --------
    Proportional fairness knows no queues: what A has depends on the number of classes in B.

    >>> from fairness import Problem, ProportionalFair, Tree
    >>> pool = Problem([[1], [1], [1]], [12], job_classes=["a", "b1", "b2"])
    >>> tree = Tree(["all", "A", "B"], [-1, 0, 0], job_classes=["a", "b1", "b2"], class_nodes=[1, 2, 2])
    >>> guarantee = HierarchicalShareGuarantee().within(tree)
    >>> print(guarantee.of(ProportionalFair(), pool).text)
    a runs 4 tasks; its part of the tree (0.5) of what it would run alone is 6
    """

    name = "hierarchical share guarantee"
    key = "HSG"
    statement = (
        "Every queue and class has at least its part, by weights down the tree, of what it could have."
    )
    about_trees = True

    def applies(self, model: Model) -> bool:
        """Whether the tree, if there is one, has no bounds."""
        tree = self.tree
        free = tree is None or not tree.is_bounded
        return super().applies(model) and free

    def judge(self, question: Question) -> Finding:
        """Largest relative shortfall below what is guaranteed."""
        reading, model = read(question), question.model
        tree = Tree.flat(model) if self.tree is None else self.tree
        home = tree.require_classes(model).tolist()
        alone = total_alone(reading)
        told, queues = tree.parts(home, reading.weights.tolist(), (alone > 0).tolist())
        classes = np.array(told, dtype=reading.weights.dtype)
        has = reading.tasks
        short = 1 - quotient(has, classes * alone, 1)
        worst = int(np.argmax(short))
        violation = short[worst]
        users = set(np.flatnonzero(short > reading.tolerance).tolist())
        text = (
            f"{model.job_classes[worst]} runs {shown(has[worst])} tasks; its part of the tree "
            f"({shown(classes[worst])}) of what it would run alone is {shown(classes[worst] * alone[worst])}"
        )
        held = _held(reading, tree, home) if isinstance(model, Problem) else []
        for v in range(1, len(held)):
            lacks = 1 - held[v] / queues[v] if queues[v] > 0 else 0
            if lacks > reading.tolerance:
                users.update(n for n, u in enumerate(home) if v in tree.way(u))
            if lacks - violation > reading.tolerance:
                text = (
                    f"the classes of {tree.path(v)} hold at most {shown(held[v])} of a resource; its part of "
                    f"the tree is {shown(queues[v])}"
                )
            violation = max(violation, lacks)
        return Finding(self.name, violation, tuple(sorted(users)), text, reading.tolerance)


def _held(reading: Reading, tree: Tree, home: list[int]) -> list[Any]:
    """Largest share of a resource that the classes below each queue hold together, on a pool."""
    rows: list[Any] = [reading.usage[0] * 0 for _ in range(tree.n_nodes)]
    for n, v in enumerate(home):
        for u in tree.way(v):
            rows[u] = rows[u] + reading.tasks[n] * reading.shares[n, 0]
    return [max(row) for row in rows]
