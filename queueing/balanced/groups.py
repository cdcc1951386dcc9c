r"""Which classes of a pool balanced fairness cannot tell apart, and which do not meet at all.

Write :math:`b_i = (a_{i1}/C_1, \ldots, a_{im}/C_m, 1/\ell_i)` for all that the balance function
:math:`\Phi` of :mod:`queueing.balanced.fairness` sees of class :math:`i`.

*Merging.* Let the rows of the classes :math:`i` of each group :math:`g` be proportional,
:math:`b_i = c_i B_g`, and let :math:`\Phi_G` be the balance function of the groups with rows :math:`B_g`.
With :math:`N_g = \sum_{i \in g} x_i`,

.. math:: \Phi(x) = \Phi_G(N) \prod_g \binom{N_g}{(x_i)_{i \in g}} \prod_{i \in g} c_i^{x_i}.

Proof by induction on :math:`|x|`: put the formula into the recursion and divide by the product on the
right. As :math:`\binom{N}{x - e_i} = \frac{x_i}{N}\binom{N}{x}`, the sum over a group becomes
:math:`\sum_{i \in g} c_i B_{gj} \frac{x_i}{N_g} \frac{\Phi_G(N - e_g)}{c_i} = B_{gj} \Phi_G(N - e_g)`, and
the limit of class :math:`i` becomes
:math:`\frac{c_i B_{g,m+1}}{x_i} \frac{x_i}{N_g} \frac{\Phi_G(N - e_g)}{c_i} = \frac{B_{g,m+1}}{N_g}
\Phi_G(N - e_g)`: what is left is the recursion of :math:`\Phi_G`. The weight of a group total under the
loads is :math:`\Phi_G(N) \prod_g (\sum_{i \in g} \rho_i c_i)^{N_g}`: the rows :math:`\rho_i b_i` of a group
are added up; and given :math:`N`, the counts in a group are multinomial with probabilities
:math:`p_i \propto \rho_i c_i`. Hence, with :math:`i \in g`, :math:`k \in h`,

.. math:: E[x_i] = p_i E[N_g], \qquad
          \mathrm{cov}(x_i, x_k) = p_i p_k (\mathrm{cov}(N_g, N_h) - 1_{g = h} E[N_g]) + 1_{i = k} p_i E[N_g],

and the count of a class is the total of its group, each job kept with probability :math:`p_i`.

*Splitting.* A resource that another one dominates never binds and is left out. Groups that share none of
the others are independent: :math:`\Phi` is a product over the components that the resources connect, because
the product satisfies all constraints and meets one of them in every component.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from fairness.machine.compiling import stored
from fairness.model.problem import FloatArray
from queueing.balanced.tail_bound import binding_resources
from queueing.model.system import System
from queueing.states.box import SMALLEST

__all__ = ["Component", "Groups", "merge_classes", "thinned"]

SAME = 8 * float(np.finfo(float).eps)
"""Relative difference of two proportional rows: a quotient, its scaling and the norm round thrice each."""


@dataclass(frozen=True, eq=False)
class Component:
    """Groups that the resources connect.

    Attributes
    ----------
    groups : tuple of int
        Which of the groups of the system.
    gain : ndarray of shape (n_groups, n_resources)
        Share of each binding resource that the load of the group takes, sum of rho_i a_ij/C_j.
    ceiling : ndarray of shape (n_groups,)
        Load over limit, sum of rho_i/l_i; 0 without limits.
    resources : tuple of str
        Names of the binding resources.
    """

    groups: tuple[int, ...]
    gain: FloatArray
    ceiling: FloatArray
    resources: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Groups:
    """Classes with arrivals, merged; components partition the groups.

    Attributes
    ----------
    members : tuple of ndarray
        Classes of each group, in order.
    split : ndarray of shape (n_classes,)
        Probability p_i that a job of the group belongs to the class; 0 without arrivals.
    label : ndarray of shape (n_classes,)
        Group of each class; -1 without arrivals.
    components : tuple of Component
    """

    members: tuple[NDArray[np.intp], ...]
    split: FloatArray
    label: NDArray[np.intp]
    components: tuple[Component, ...]

    def covariance(self, mean: FloatArray, between: FloatArray) -> FloatArray:
        """Covariance of the counts, (n_classes, n_classes), from mean and covariance of the group totals."""
        inner = between - np.diag(mean)
        live = self.label >= 0
        result = np.zeros((len(self.label), len(self.label)))
        p, g = self.split[live], self.label[live]
        result[np.ix_(live, live)] = p[:, None] * inner[np.ix_(g, g)] * p + np.diag(p * mean[g])
        return result


def merge_classes(system: System) -> Groups:
    """Groups and components of a stable system."""
    loads = system.loads
    live = np.flatnonzero(loads > 0)
    shares = system.problem.task_shares[live]
    used = binding_resources(loads[live, None] * shares)
    rows = np.column_stack([shares[:, used], 1.0 / system.problem.limits[live]])
    label = _proportional(rows)
    n_groups = int(label.max(initial=-1)) + 1
    gains = loads[live, None] * rows
    split, labels = np.zeros(len(loads)), np.full(len(loads), -1, dtype=np.intp)
    labels[live] = label
    if n_groups == len(live):
        merged, members = gains, tuple(live[k : k + 1] for k in range(n_groups))
        split[live] = 1.0
    else:
        merged = np.zeros((n_groups, gains.shape[1]))
        np.add.at(merged, label, gains)
        order = np.argsort(label, kind="stable")
        members = tuple(np.split(live[order], np.flatnonzero(np.diff(label[order])) + 1))
        weight = gains.max(axis=1)
        split[live] = weight / np.bincount(label, weights=weight)[label]
    names = [system.problem.resources[j] for j in used]
    gain, ceiling = merged[:, :-1], merged[:, -1]
    components = []
    for inside, columns in _connected(gain > 0):
        part = gain[inside][:, columns]
        resources = tuple(names[j] for j in columns)
        components.append(Component(tuple(inside.tolist()), part, ceiling[inside], resources))
    return Groups(members, split, labels, tuple(components))


def _proportional(rows: FloatArray) -> NDArray[np.intp]:
    """Number of the group of each row, groups in order of their first row."""
    unit = rows / rows.max(axis=1, initial=0.0, keepdims=True)
    label = np.full(len(rows), -1, dtype=np.intp)
    count = 0
    for k in range(len(rows)):
        if label[k] < 0:
            rest = unit[k:]
            alike: NDArray[np.bool_] = np.all(np.abs(rest - unit[k]) <= SAME * unit[k], axis=1) & (
                label[k:] < 0
            )
            label[k + np.flatnonzero(alike)] = count
            count += 1
    return label


def _connected(use: NDArray[np.bool_]) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Groups and resources of each component; ``use`` has shape (n_groups, n_resources)."""
    n, m = use.shape
    if not n:
        return []
    if use.all(axis=0).any():  # one resource that all share; the general way takes longer than a small law
        return [(np.arange(n), np.flatnonzero(use.any(axis=0)))]
    rows, columns = np.nonzero(use)
    edges = sparse.coo_array((np.ones(len(rows)), (rows, n + columns)), shape=(n + m, n + m))
    # Numbered in the order of the nodes, so that the components with groups come first.
    label = connected_components(edges, directed=False)[1]
    numbers = range(label[:n].max() + 1)
    return [(np.flatnonzero(label[:n] == k), np.flatnonzero(label[n:] == k)) for k in numbers]


@stored(nogil=True)
def thinned(law: FloatArray, keep: float) -> FloatArray:
    """Law of what is left of a random total when each unit stays with probability ``keep``.

    Horner's rule on the generating function sum_N law[N] (1 - keep + keep z)^N: positive terms only.
    """
    result = np.zeros(law.size)
    high = 0  # all beyond is 0
    for total in range(law.size - 1, -1, -1):
        high = min(high + 1, law.size - 1)
        for k in range(high, 0, -1):
            value = (1.0 - keep) * result[k] + keep * result[k - 1]
            result[k] = value if value > SMALLEST else 0.0
        result[0] = (1.0 - keep) * result[0] + law[total]
        while high > 0 and result[high] == 0.0:
            high -= 1
    return result
