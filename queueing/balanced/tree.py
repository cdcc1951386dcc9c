r"""Balanced fairness on trees of resources, exactly and without a box.

The groups of classes that use a resource are contained in each other or disjoint, and one resource, the root,
is used by all; by the choice of its unit of work a task of every group takes the part :math:`1/\kappa_v` of
each resource :math:`v` on its way to the root (access links and a trunk, parking lots, clusters in racks).

On such a tree balanced fairness is Pareto-efficient [1]_: let :math:`m_v(x)` be the most work that can run
below :math:`v`,

.. math:: m_v(x) = \min\Big(\kappa_v, \sum_{w \text{ child of } v} m_w(x)\Big), \qquad
          m_v(x) = \kappa_v \text{ if a group that ends at } v \text{ is present};

balanced fairness runs :math:`m_v(x)` of the subtree of :math:`v` alone. So its balance function
:math:`\Phi_v` is the product of those of its children while :math:`m_v(x) < \kappa_v`, and
:math:`\kappa_v \Phi_v(x) = \sum_i \Phi_v(x - e_i)` in all *full* states, where
:math:`m_v(x) = \kappa_v`. With the loads of work :math:`r_i`, let :math:`F_v(m)` be the sum of
:math:`\Phi_v(x) r^x` over the states where :math:`m_v(x) = m`. For :math:`m < \kappa_v` it is the convolution
of the children's. As much work leaves as arrives, :math:`\sum_m m F_v(m) = R_v \sum_m F_v(m)` with
:math:`R_v` the load below :math:`v`, so

.. math:: F_v(\kappa_v) = \frac{1}{\kappa_v - R_v} \sum_{m < \kappa_v} (R_v - m) F_v(m) .

The normalisation is the sum of :math:`F` at the root: the recursion of [1]_ with values of :math:`m` in the
place of sets of branches, so that it is polynomial when capacities are multiples of a common unit. Moments
are derivatives with respect to :math:`\log r_i`, carried along by arithmetic modulo
:math:`\epsilon_1^2, \epsilon_2^2`; a marginal law is the discrete Fourier inverse of the normalisation at
:math:`r_i e^{\mathrm{i} t}` (absolute accuracy about 1e-15).

*Proof of efficiency* (for completeness). Write :math:`D_u\Phi = \sum_{i \text{ below } u}\Phi(x - e_i)`, and
:math:`M_v` for the sum over the children in :math:`m_v`, infinite if a group that ends at :math:`v` is
present. Define :math:`\Phi_v` by the two formulas above. Every full state meets the constraint of :math:`v`,
and every other one a constraint of a child, so it suffices that :math:`D_u\Phi_v \le m_u\Phi_v` for all
:math:`u` below :math:`v`: as :math:`m_u \le \kappa_u`, the recursion of balanced fairness then holds.
By induction over the tree it does in states that are not full. In a full state, by induction on
:math:`|x|`, :math:`\kappa_v\Phi_v(y) = D_v\Phi_v(y) + (\kappa_v - M_v(y))^+\Phi_v(y)` at
:math:`y = x - e_i` gives

.. math:: \kappa_v D_u\Phi_v(x) \le \sum_k m_u(x - e_k)\Phi_v(x - e_k)
          + \sum_{i \text{ below } u} (\kappa_v - M_v(x - e_i))^+\Phi_v(x - e_i),

which is at most :math:`m_u(x)\sum_k\Phi_v(x - e_k) = \kappa_v m_u(x)\Phi_v(x)`, because
:math:`\kappa_v - M_v(x - e_i) \le M_v(x) - M_v(x - e_i) \le m_u(x) - m_u(x - e_i)`: on the way from
:math:`u` to :math:`v` a cap only makes increments smaller.

*Sampling.* Unrolling the equation of the full states, each of them is a state that is not full, one job that
fills it, and a geometric number of further jobs (ratio :math:`R_v/\kappa_v`), all classes in proportion to
:math:`r_i`. States that are not full are drawn as independent states of the children, until one is not full:
by Markov's inequality a part :math:`1 - R_v/\kappa_v` of them is.

References
----------
.. [1] T. Bonald and J. Virtamo, "Calculating the flow level performance of balanced fairness in tree
   networks", Performance Evaluation 58, 2004. DOI 10.1016/j.peva.2004.03.001.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray
from queueing.balanced.closed_forms import LEAST_FREE
from queueing.balanced.groups import SAME, Component
from queueing.balanced.tail_bound import StoreAndForward, free_shares

__all__ = ["POINTS", "Node", "Sums", "TreeLaw", "tree_nodes", "tree_sums"]

MOST = 20_000
"""Most values of m at one node."""

PAIRS = 4_000_000
"""Most pairs of values that one convolution may join."""

JUST = 1 - 1e-12
"""Sums above this part of a capacity fill it, up to their rounding."""

POINTS = 64
"""Points at which the normalisation is computed at once."""


@dataclass(frozen=True, eq=False)
class Node:
    """A resource of the tree.

    Attributes
    ----------
    capacity : float
        Work that it can run, in parts of the root.
    own : int
        Group that ends here, or -1.
    children : tuple of int
        Places of the children in the list of nodes; they come before their parent.
    below : ndarray
        Groups that use the resource.
    """

    capacity: float
    own: int
    children: tuple[int, ...]
    below: NDArray[np.intp]


def tree_nodes(component: Component) -> list[Node] | None:
    """Nodes, children first and the root last, if the component is a tree without limits; else None."""
    gain = component.gain
    use = gain > 0
    order = np.argsort(use.sum(axis=0), kind="stable")
    if component.ceiling.any() or not use.shape[1] or not use[:, order[-1]].all():
        return None
    parent = np.full(len(order), -1)
    for place, j in enumerate(order):
        for later in range(place + 1, len(order)):
            shared = use[:, j] & use[:, order[later]]
            if (shared == use[:, j]).all():
                if parent[place] < 0:
                    parent[place] = later
            elif shared.any():
                return None
    work = gain[:, order[-1]]
    nodes: list[Node] = []
    for place, j in enumerate(order):
        below = np.flatnonzero(use[:, j])
        scale = gain[below, j] / work[below]
        if scale.max() - scale.min() > SAME * scale.max():
            return None
        children = tuple(int(k) for k in np.flatnonzero(parent == place))
        inner = {int(g) for k in children for g in nodes[k].below}
        own = [int(g) for g in below if int(g) not in inner]
        if len(own) > 1:
            return None  # same path, told apart by rounding only
        nodes.append(Node(1.0 / float(scale.mean()), own[0] if own else -1, children, below))
    return nodes


@dataclass(frozen=True, eq=False)
class Sums:
    """Where the convolutions at one node put what, for all loads alike.

    Attributes
    ----------
    joins : list of (int, list of (int, ndarray, ndarray))
        Per child the number of values of m after it, and for each value of the child the places of the
        elder siblings' values that stay below the capacity, and of the sums.
    values : ndarray
        Values of m; the capacity is the last one if it can be reached.
    fills : bool
        Whether it can.
    """

    joins: list[tuple[int, list[tuple[int, NDArray[np.intp], NDArray[np.intp]]]]]
    values: FloatArray
    fills: bool


def tree_sums(nodes: list[Node]) -> list[Sums] | None:
    """The convolutions of all nodes; None if one has more than MOST values of m or joins more than PAIRS."""
    done: list[Sums] = []
    for node in nodes:
        full, values, fills = float(_rounded(node.capacity)), np.zeros(1), node.own >= 0
        joins = []
        for child in node.children:
            if len(values) * len(done[child].values) > PAIRS:
                return None
            total = _rounded(values + done[child].values[:, None])
            fits = total < full * JUST
            fills |= not fits.all()
            values = np.unique(total[fits])
            if len(values) > MOST:
                return None
            moves = []
            for b in np.flatnonzero(fits.any(axis=1)):
                source = np.flatnonzero(fits[b])
                moves.append((int(b), source, np.searchsorted(values, total[b, source])))
            joins.append((len(values), moves))
        done.append(Sums(joins, np.append(values, full) if fills else values, fills))
    return done


class TreeLaw:
    """Law of the group totals of a tree; exact.

    Parameters
    ----------
    component : Component
    nodes : list of Node
        From :func:`tree_nodes`.
    sums : list of Sums
        From :func:`tree_sums`.
    tail : float
        Marginals are listed up to this tail probability.
    """

    method = "tree"
    tail_mass = 0.0

    def __init__(self, component: Component, nodes: list[Node], sums: list[Sums], tail: float) -> None:
        free_shares(component.gain, component.resources, LEAST_FREE)
        self._nodes, self._sums = nodes, sums
        self._bound = StoreAndForward(component.gain, component.ceiling, component.resources)
        self._tail = tail
        root = np.flatnonzero((component.gain > 0).all(axis=0))[-1]
        self._loads: FloatArray = component.gain[:, root]
        every = np.arange(len(component.groups))
        total, one, _, both = self._derivatives(every, every)
        self.empty = 1.0 / float(total[0])
        self.mean: FloatArray = one / total
        self.variance: FloatArray = both / total - self.mean**2
        self.error = np.zeros(len(component.groups))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the marginals."""
        return self._bound.box(self._tail)

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariance of the totals, (n_groups, n_groups)."""
        rows, columns = np.triu_indices(len(self.mean))
        result = np.empty((len(self.mean),) * 2)
        for begin in range(0, len(rows), POINTS):
            i, k = rows[begin : begin + POINTS], columns[begin : begin + POINTS]
            total, one, two, both = self._derivatives(i, k)
            result[i, k] = result[k, i] = both / total - one / total * (two / total)
        return result

    def _derivatives(self, i: NDArray[np.intp], k: NDArray[np.intp]) -> NDArray:
        """G and its derivatives by log r_i, by log r_k and by both, shape (4, len(i))."""
        points = np.arange(len(i))
        loads = np.zeros((len(self._loads), 4, len(i)))
        loads[:, 0] = self._loads[:, None]
        loads[i, 1, points] = self._loads[i]
        loads[k, 2, points] = self._loads[k]
        loads[i[i == k], 3, points[i == k]] = self._loads[i[i == k]]
        return self._normalisation(loads)

    def _masses(self, loads: NDArray) -> list[NDArray]:
        """F of all nodes, (values, parts, points), at loads (n_groups, parts, points).

        parts are 1, or value and derivatives.
        """
        done: list[NDArray] = []
        for node, sums in zip(self._nodes, self._sums, strict=True):
            masses = np.zeros((1, *loads.shape[1:]), dtype=loads.dtype)
            masses[0, 0] = 1.0
            for child, (size, moves) in zip(node.children, sums.joins, strict=True):
                before, masses = masses, np.zeros((size, *loads.shape[1:]), dtype=loads.dtype)
                for b, source, target in moves:
                    # Two sums may fall together by rounding.
                    np.add.at(masses, target, _times(before[source], done[child][b]))
            if sums.fills:
                below = loads[node.below].sum(axis=0)
                moment = np.tensordot(sums.values[:-1], masses, axes=1)
                full = _times(_times(masses.sum(axis=0), below) - moment, _inverse(node.capacity, below))
                masses = np.concatenate([masses, full[None]])
            done.append(masses)
        return done

    def _normalisation(self, loads: NDArray) -> NDArray:
        """G at loads (n_groups, parts, points), shape (parts, points)."""
        return self._masses(loads)[-1].sum(axis=0)

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Totals, shape (size, n_groups)."""
        return self._draw(len(self._nodes) - 1, size, rng)

    @cached_property
    def _full(self) -> list[float]:
        """Probability that a node is full when its subtree is alone."""
        masses = self._masses(self._loads[:, None, None])
        return [
            max(float(mass[-1, 0, 0] / mass[:, 0, 0].sum()), 0.0) if sums.fills else 0.0
            for mass, sums in zip(masses, self._sums, strict=True)
        ]

    def _draw(self, v: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """States of the subtree of a node alone, shape (size, n_groups)."""
        node = self._nodes[v]
        n_full = int(rng.binomial(size, self._full[v]))
        states = np.zeros((size, len(self._loads)), dtype=np.int64)
        states[n_full:] = self._draw_open(v, size - n_full, rng)
        weights = self._loads[node.below] / self._loads[node.below].sum()
        done = 0
        while done < n_full:
            trial = self._draw_open(v, max(64, 2 * (n_full - done)), rng)
            trial[np.arange(len(trial)), rng.choice(node.below, len(trial), p=weights)] += 1
            trial = trial[self._running(v, trial) >= _rounded(node.capacity)][: n_full - done]
            states[done : done + len(trial)] = trial
            done += len(trial)
        free = 1.0 - self._loads[node.below].sum() / node.capacity
        extra = rng.geometric(free, n_full) - 1
        states[:n_full, node.below] += rng.multinomial(extra, weights)
        return states[rng.permutation(size)]

    def _draw_open(self, v: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """States that are not full, of the subtree of a node alone."""
        node = self._nodes[v]
        states = np.zeros((size, len(self._loads)), dtype=np.int64)
        done = 0
        while done < size:
            trial = np.zeros((max(64, size - done), len(self._loads)), dtype=np.int64)
            for child in node.children:
                trial += self._draw(child, len(trial), rng)
            trial = trial[self._running(v, trial) < _rounded(node.capacity)][: size - done]
            states[done : done + len(trial)] = trial
            done += len(trial)
        return states

    def _running(self, v: int, states: NDArray[np.int64]) -> FloatArray:
        """Work m_v(x) that runs in each state, capped and rounded as in the recursion."""
        node, full = self._nodes[v], float(_rounded(self._nodes[v].capacity))
        work = np.zeros(len(states))
        for child in node.children:
            work += self._running(child, states)
        if node.own >= 0:
            work[states[:, node.own] > 0] = full
        # Sums within rounding of the capacity count as full here as there.
        return np.where(work >= full * JUST, full, work)

    @property
    def marginals(self) -> tuple[FloatArray, ...]:
        """Law of each total, up to its length, with an absolute error of about 1e-15."""
        return tuple(self._marginal(g) for g in range(len(self.shape)))

    def _marginal(self, group: int) -> FloatArray:
        # What lies beyond the points is folded back onto the law; the bound keeps it below rounding.
        size = self.shape[group]
        scale = math.exp(self._bound.log_mass) * self.empty
        while scale * self._bound.tails(group, size)[-1] > 1e-17:
            size *= 2
        size += size % 2
        require_memory(64.0 * size, "the law of a job count", "reduce the load")
        points = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)
        transform = []
        for begin in range(0, len(points), 4 * POINTS):
            part = points[begin : begin + 4 * POINTS]
            loads = np.tile(self._loads[:, None, None].astype(complex), (1, 1, len(part)))
            loads[group, 0] *= part
            transform.append(self._normalisation(loads)[0])
        law = np.fft.irfft(np.concatenate(transform) * self.empty, size)
        return np.maximum(law[: self.shape[group]], 0.0)


def _rounded(m: float | FloatArray) -> FloatArray:
    """To 43 bits, about 13 digits.

    Ties may go either way: where children just fill a resource, both formulas hold.
    """
    part, power = np.frexp(m)
    return np.ldexp(np.rint(np.ldexp(part, 43)), power - 43)


def _times(a: NDArray, b: NDArray) -> NDArray:
    """Product modulo eps_1^2, eps_2^2 of arrays (..., parts, points) by one (parts, points).

    The parts are those of 1, eps_1, eps_2, eps_1 eps_2; or of 1 alone.
    """
    result: NDArray = a * b[0]
    if len(b) == 4:
        result[..., 1:, :] += a[..., :1, :] * b[1:]
        result[..., 3, :] += a[..., 1, :] * b[2] + a[..., 2, :] * b[1]
    return result


def _inverse(capacity: float, loads: NDArray) -> NDArray:
    """1/(capacity - loads), to the same order."""
    first = 1.0 / (capacity - loads[:1])
    if len(loads) == 1:
        return first
    tail = loads[1:] * first**2
    result = np.concatenate([first, tail])
    result[3] += 2.0 * loads[1] * loads[2] * first[0] ** 3
    return result
