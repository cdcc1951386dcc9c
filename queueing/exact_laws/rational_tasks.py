r"""Tasks of a policy in many states of a pool, as fractions, from the definitions alone.

A class of :math:`x_i` jobs of weight :math:`w_i` is a class of one job of weight :math:`x_iw_i`; a limit of
:math:`\ell_i` tasks per job is one more resource, of which each task of the class holds the share
:math:`1/(x_i\ell_i)` and which nobody else demands. Then the definitions of
:mod:`fairness.properties.exact.pools` apply state by state:

- *filling* (max-min, DRF with any weights per resource, asset fairness) and *bottleneck max fairness* have
  rational tasks in every state; where bottleneck max fairness leaves a choice, the tasks are those next to
  the floats of the policy;
- *proportional fairness* has rational tasks where a set of full resources falls apart into pieces that are
  one resource, :math:`\varphi_i = W_i/(b_{ij}\sum_k W_k)` with :math:`W_i = x_iw_i`, or as many resources as
  classes, so that "all of them are full" determines the tasks. With two classes that is always so. Prices
  :math:`p \ge 0` of the full resources with :math:`\sum_j p_jb_{ij} = W_i/\varphi_i` are solved for in
  fractions too: they prove the optimum. Elsewhere the tasks are algebraic numbers, and are refused.

All numbers count as what they are: integers and fractions as given, floats as binary numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import FloatArray
from fairness.errors import ModelError
from fairness.exact.linear_algebra import dot, reduced
from fairness.exact.server_rows import as_fractions
from fairness.filling.fractions import fill, growth_rates
from fairness.model.problem import Problem
from fairness.properties.exact import pools
from fairness.properties.exact.rational import NEAR, Enclosure, RationalModel, Row, Rows, Unproved
from fairness.protocol.calling import policy_tasks
from fairness.protocol.family import ByFamily
from fairness.protocol.policy import policy_name

__all__ = ["RationalPool", "exact_tasks", "proportional", "state_tasks"]


@dataclass(frozen=True)
class RationalPool:
    """The numbers of a pool as fractions.

    Attributes
    ----------
    shares : nested list, (n_classes, n_resources)
        Part of each resource that one task holds, 0 where the capacity is 0.
    weights : list, (n_classes,)
    limits : list, (n_classes,)
        None without a limit.
    blocked : list of bool, (n_classes,)
    """

    shares: Rows
    weights: Row
    limits: list[Fraction | None]
    blocked: list[bool]

    @classmethod
    def of(cls, problem: Problem) -> RationalPool:
        """Read a problem."""
        demands, capacities = as_fractions(problem)
        shares = [
            [d / c if c > 0 else Fraction(0) for d, c in zip(row, capacities, strict=True)] for row in demands
        ]
        limits = [None if np.isinf(limit) else Fraction(limit) for limit in problem.limits.tolist()]
        weights = [Fraction(w) for w in problem.weights.tolist()]
        return cls(shares, weights, limits, problem.blocked.tolist())

    def present(self, counts: Sequence[int]) -> list[int]:
        """Classes with jobs that can run."""
        return [i for i, x in enumerate(counts) if x and not self.blocked[i]]

    def state(self, counts: Sequence[int], present: list[int]) -> RationalModel:
        """The present classes with one job each; limits are resources at the end."""
        limited = [i for i in present if self.limits[i] is not None]
        rows = []
        for i in present:
            ends = [
                1 / (counts[i] * Fraction(self.limits[i] or 1)) if i == k else Fraction(0) for k in limited
            ]
            rows.append([*self.shares[i], *ends])
        alone = [[1 / max(row)] for row in rows]
        weights = [counts[i] * self.weights[i] for i in present]
        return RationalModel(rows, [[Fraction(1)] * len(rows[0])], alone, alone, weights, "resource")


@ByFamily
def state_tasks(
    policy: Any, model: RationalModel, pool: RationalPool, present: list[int], hint: FloatArray
) -> Enclosure | Unproved:
    """Tasks of the present classes by a policy's definition; that of a new family is registered here.

    Parameters
    ----------
    policy : callable
        Its family is a key to a definition; it is not called.
    model : RationalModel
        The present classes, one job each, whose weights are those of all their jobs.
    pool : RationalPool
        All classes.
    present : list of int
        Which of them the model has.
    hint : ndarray of shape (n_present,), tasks
        What the policy answers in floats.
    """
    return Unproved(
        f"no exact definition is known for {policy_name(policy)}; known are MaxMin, DRF, AssetFair, "
        "BottleneckMax and, where its tasks are rational, ProportionalFair"
    )


@state_tasks.register("filling")
def _(
    policy: Any, model: RationalModel, pool: RationalPool, present: list[int], hint: FloatArray
) -> Enclosure | Unproved:
    told = policy.family.parameters
    if told["growth"] == "own":
        return state_tasks.otherwise(policy, model, pool, present, hint)
    own = told.get("resource_weights")
    # Resources that stand for limits tell nothing of growth.
    shares = [pool.shares[i] for i in present]
    rates = growth_rates(told["growth"], shares, model.weights, own and [own[i] for i in present])
    return Enclosure.at(fill([rows[0] for rows in model.shares], rates), "progressive filling, in fractions")


@state_tasks.register("bottleneck-max")
def _(policy: Any, model: RationalModel, pool: Any, present: Any, hint: Any) -> Enclosure | Unproved:
    return pools.bottleneck_max(model, hint)


@state_tasks.register("alpha-fair")
def _(policy: Any, model: RationalModel, pool: Any, present: Any, hint: Any) -> Enclosure | Unproved:
    if policy.family.parameters["alpha"] == 1:
        return proportional(model, hint)
    return Unproved(f"the tasks of {policy_name(policy)} are roots of rational numbers")


def exact_tasks(
    policy: Any, problem: Problem, counts: NDArray[np.int64], hints: FloatArray | None = None
) -> list[Row]:
    """Tasks of a policy in some states, as fractions.

    Parameters
    ----------
    policy : callable
        Of a family that :func:`state_tasks` knows.
    problem : Problem
    counts : ndarray of int, shape (n_states, n_classes), jobs
    hints : ndarray of shape (n_states, n_classes), optional
        What the policy answers there in floats; by default it is asked.

    Returns
    -------
    list of lists of Fraction, (n_states, n_classes)

    Raises
    ------
    ModelError
        If no exact definition of the policy is known, or its tasks in some state are irrational or could not
        be proved.

    Examples
    --------
    >>> from fairness import ProportionalFair
    >>> exact_tasks(ProportionalFair(), Problem([[1, 10], [10, 1]], [11, 11]), np.array([[1, 1], [20, 1]]))
    [[Fraction(1, 1), Fraction(1, 1)], [Fraction(22, 21), Fraction(11, 21)]]
    """
    pool = RationalPool.of(problem)
    if hints is None:
        hints = policy_tasks(problem, policy, counts.astype(float))
    rows = []
    for state, hint in zip(counts.tolist(), hints, strict=True):
        row = [Fraction(0)] * len(state)
        if present := pool.present(state):
            found = state_tasks(policy, pool.state(state, present), pool, present, hint[present])
            if isinstance(found, Unproved):
                raise ModelError.of(
                    "policy",
                    f"has no exact tasks that are known in the state {tuple(state)}: {found.reason}; use "
                    "stationary, which takes any policy, in floats",
                )
            for i, value in zip(present, found.lower.tolist(), strict=True):
                row[i] = value
        rows.append(row)
    return rows


def proportional(model: RationalModel, hint: FloatArray) -> Enclosure | Unproved:
    """The proportionally fair allocation where it is rational, see the module docstring.

    Parameters
    ----------
    model : RationalModel
        Of a pool.
    hint : ndarray of shape (n_classes,), tasks

    Examples
    --------
    >>> from fairness.properties.exact.rational import rational
    >>> proportional(rational(Problem([[1, 4], [3, 1]], [9, 18])), np.array([45 / 11, 18 / 11])).lower
    array([Fraction(45, 11), Fraction(18, 11)], dtype=object)
    """
    shares = [rows[0] for rows in model.shares]
    used = hint @ np.array([[float(v) for v in row] for row in shares])
    full = np.flatnonzero(used >= 1 - NEAR).tolist()
    for size in range(1, min(len(full), len(shares)) + 1):
        for chosen in combinations(full, size):
            tasks = _by_pieces(shares, model.weights, chosen)
            if tasks is not None and all(dot(tasks, column) <= 1 for column in zip(*shares, strict=True)):
                return Enclosure.at(tasks, "prices of full resources at which every job spends its weight")
    return Unproved(
        "its tasks are rational where one resource is full, where as many are as there are classes, or where "
        "the classes fall apart into such groups; here they are, as far as is known, roots of a polynomial"
    )


def _by_pieces(shares: Rows, weights: Row, full: Sequence[int]) -> Row | None:
    """Tasks that fill these resources at prices >= 0, if each connected piece is simple; else None."""
    tasks: Row = [Fraction(0)] * len(shares)
    left = set(range(len(shares)))
    for piece in _pieces(shares, full):
        classes = [i for i in sorted(left) if any(shares[i][j] for j in piece)]
        left -= set(classes)
        if len(piece) == 1:
            money = sum((weights[i] for i in classes), Fraction(0))
            found = [weights[i] / (shares[i][piece[0]] * money) for i in classes]
        elif len(piece) == len(classes):
            filled = _solved([[*(shares[i][j] for i in classes), Fraction(1)] for j in piece])
            if filled is None or min(filled) <= 0:
                return None
            found = filled
            costs = [
                [*(shares[i][j] for j in piece), weights[i] / x] for i, x in zip(classes, found, strict=True)
            ]
            prices = _solved(costs)
            if prices is None or min(prices) < 0:
                return None
        else:
            return None
        for i, value in zip(classes, found, strict=True):
            tasks[i] = value
    return None if left else tasks


def _pieces(shares: Rows, resources: Sequence[int]) -> list[list[int]]:
    """The resources, grouped by the classes that connect them."""
    pieces: list[list[int]] = [[j] for j in resources]
    for row in shares:
        joined = [piece for piece in pieces if any(row[j] for j in piece)]
        if len(joined) > 1:
            pieces = [piece for piece in pieces if piece not in joined]
            pieces.append(sorted(j for piece in joined for j in piece))
    return pieces


def _solved(rows: Rows) -> Row | None:
    """The only solution of a square system whose right side is its last column."""
    found, pivots = reduced(rows, len(rows))
    return [row[-1] for row in found] if len(pivots) == len(rows) else None
