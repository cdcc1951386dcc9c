r"""Evidence that a placement is leximin: the dual values of each of its levels.

Class :math:`n` with yardstick :math:`h_n` (tasks) and effective weight :math:`\varphi_n` (jobs times weight)
stands at the level :math:`y_n = x_n/g_n`, where :math:`x_n = \sum_i x_{ni}` and :math:`g_n = \varphi_n h_n`.
*Leximin* makes the lowest level as high as possible, then the next lowest, and so on, over all placements
:math:`x_{ni} \ge 0` on eligible pairs with :math:`\sum_n x_{ni} b_{nir} \le 1` for every resource of every
server. The evidence consists of rounds. Round k speaks about some classes :math:`S_k`, all at the level
:math:`t_k`, and has a price :math:`\lambda_{ir}` for every resource and a multiplier :math:`\mu_n` for every
class. With reduced costs :math:`c_{ni} = \sum_r \lambda_{ir} b_{nir} - \mu_n` it must satisfy

1. :math:`c_{ni} \ge 0` on all open pairs, and :math:`c_{ni} = 0` where :math:`x_{ni} > 0`;
2. resources with :math:`\lambda_{ir} > 0` are full, and :math:`\lambda_{ir} \ge 0` except on *pinned* ones;
3. :math:`\mu_n > 0` on :math:`S_k`, and :math:`\mu_n = 0` for classes of later rounds.

All pairs are open and no resource is pinned at first; then pairs with :math:`c_{ni} > 0` are closed, and
resources with :math:`\lambda_{ir} > 0` are pinned, for the rounds that follow.

*Theorem: if every class belongs to one* :math:`S_k` *and levels do not fall from round to round, the
placement is leximin.* Proof: by 1 nobody runs on a pair that is closed, and by 2 the pinned resources are
full. Let another placement :math:`x'` give no class of :math:`S_1, \dots, S_k` less. Suppose that it gives
those of the earlier rounds just the same, uses no closed pair and fills the pinned resources. Then

.. math:: \sum_n \mu_n x'_n \le \sum_{n,i} x'_{ni} \sum_r \lambda_{ir} b_{nir} \le \sum_{i,r} \lambda_{ir}
   = \sum_n \mu_n x_n,

the first inequality by 1, the second by 2 and the capacities, the equality by both for x. The classes of
earlier rounds add the same to both ends and those of later rounds nothing, so by 3 :math:`x'_n = x_n` on
:math:`S_k`, and there is equality throughout: :math:`x'` uses no pair that round k closes, fills the
resources that it pins, and the induction goes on. In words: raising a class lowers another whose level is
not higher. That is max-min fairness, and a max-min fair vector is the leximin one [1]_. Given the rounds
before, the inequality also bounds the level, by

.. math:: t \le \Bigl(\sum_{i,r} \lambda_{ir} - \sum_{n \text{ of earlier rounds}} \mu_n x_n\Bigr) \Big/
   \sum_{n \in S_k} \mu_n g_n .

*Rounding.* The hypotheses are measured as relative errors: a residual of :math:`10^{-9}` means that what is
said of a class is true for a cluster whose demands and capacities differ by no more than about that.
Rounding also leaves multipliers of :math:`10^{-17}` where they should be 0. One counts as positive if it is
large, or contains a price that is a visible part of the costs of a class that counts, and if it is not the
remainder of terms that cancel. A class of small jobs on a server of giants counts by this rule.

References
----------
.. [1] B. Radunović and J.-Y. Le Boudec, "A unified framework for max-min and min-max fairness with
   applications", IEEE/ACM Transactions on Networking 15(5), 2007. DOI 10.1109/TNET.2007.896231.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import FloatArray, model_array, require
from fairness.errors import ModelError
from fairness.evidence.clusters import placement_residual
from fairness.evidence.pools import SATURATION, Certificate, rounding
from fairness.model.cluster import Cluster

__all__ = ["BoolArray", "Level", "Pairs", "leximin_certificate", "tasks_at_level_1"]

BoolArray = NDArray[np.bool_]

LARGE = 1e-6
"""A multiplier times g counts by itself if it is at least this part of the largest of a free class."""

VISIBLE = 1e-10
"""A term is a visible part of the costs of a class if it makes up at least this part of them."""


@dataclass(frozen=True, eq=False)
class Level:
    """Evidence of one round: why these classes cannot be raised without lowering a class that is not higher.

    Parameters
    ----------
    level : float
        The level x_n/g_n of the classes. Successive records may share one level.
    classes : tuple of int
        Classes frozen in this round.
    prices : ndarray of shape (n_servers, n_resources), level per whole resource of a server
        Dual prices, scaled so that the sum of multiplier times g over ``classes`` is 1. Negative only on
        resources that had a positive price in an earlier round.
    multipliers : ndarray of shape (n_classes,), level per task
        Multipliers of the classes; positive for ``classes``, 0 for those frozen later.
    bound : float
        What the prices prove: given the classes frozen before, no placement has a higher level.
    """

    level: float
    classes: tuple[int, ...]
    prices: FloatArray
    multipliers: FloatArray
    bound: float


def leximin_certificate(
    cluster: Cluster,
    counts: ArrayLike | None,
    placement: ArrayLike,
    yardsticks: ArrayLike,
    levels: Sequence[Level],
) -> Certificate:
    """Certify a leximin placement from the evidence of its levels, without solving anything.

    Checks the hypotheses of the theorem of the module docstring and the bounds for all rounds, in time
    proportional to their number times that of the eligible pairs. The residual is the largest relative
    violation. Tasks on a wrong pair count by the smaller of their part of the server and of the relative
    reduced cost.

    Parameters
    ----------
    cluster, counts, yardsticks
        As for :func:`leximin`.
    placement : array_like of shape (n_classes, n_servers), tasks
    levels : sequence of Level
        Evidence in the order in which the classes were frozen.

    Raises
    ------
    ModelError
        If counts, yardsticks, placement or the arrays of a level have the wrong shape or sign.
    """
    x, goals = tasks_at_level_1(cluster, counts, yardsticks)
    held = model_array("placement", placement, cluster, "job_classes", "servers")
    if held.shape != (cluster.n_classes, cluster.n_servers):
        raise ModelError.of(
            "placement",
            f"must have shape (n_classes, n_servers) = {(cluster.n_classes, cluster.n_servers)}; "
            f"got {held.shape}",
        )
    shapes = ((cluster.n_servers, cluster.n_resources), (cluster.n_classes,))
    for k, record in enumerate(levels):
        if (record.prices.shape, record.multipliers.shape) != shapes:
            raise ModelError(
                f"prices and multipliers of levels[{k}] must have the shapes {shapes[0]} and {shapes[1]}; "
                f"got {record.prices.shape} and {record.multipliers.shape}"
            )
    residual = placement_residual(cluster, x, held)
    listed = [n for record in levels for n in record.classes]
    if sorted(listed) != np.flatnonzero(x > 0).tolist() or not all(record.classes for record in levels):
        residual = np.inf
    if np.isfinite(residual) and listed:
        pairs, tasks = Pairs(cluster, x > 0), held.sum(axis=1)
        at = np.divide(tasks, goals, out=np.zeros_like(tasks), where=x > 0)
        on_pair = held[pairs.job_class, pairs.server]
        slack = 1.0 - np.einsum("ni,nir->ir", held, cluster.task_shares)
        opened, before, full = np.ones(len(on_pair), dtype=bool), x == 0, np.zeros(slack.shape, dtype=bool)
        last = 0.0
        for record in levels:
            wrong, dear = _round_residual(record, pairs, goals, on_pair, slack, opened, full, before)
            group = list(record.classes)
            residual = max(residual, wrong)
            if not np.isfinite(residual):
                break
            proved = record.prices.sum() - (record.multipliers * tasks)[before].sum()
            proved /= (record.multipliers * goals)[group].sum()
            off = max(np.abs(at[group] - record.level).max(), last - record.level, abs(record.bound - proved))
            residual = max(residual, float(off / record.level))
            opened &= ~dear
            full |= record.prices > 0
            before[group], last = True, record.level
        residual += rounding(cluster.n_classes + cluster.n_servers * cluster.n_resources)
    claim = "raising a class lowers one whose level is not higher, by the prices of every level"
    return Certificate(claim, residual)


def _round_residual(
    record: Level,
    pairs: Pairs,
    goals: FloatArray,
    held: FloatArray,
    slack: FloatArray,
    opened: BoolArray,
    full: BoolArray,
    before: BoolArray,
) -> tuple[float, BoolArray]:
    """Violation of the hypotheses on one round, and the pairs that are dear by its prices."""
    multipliers, prices = record.multipliers, record.prices
    group = np.zeros(len(goals), dtype=bool)
    group[list(record.classes)] = True
    counted, _ = pairs.counted(multipliers, multipliers * goals, prices, opened, ~before)
    sound = (
        np.isfinite([record.level, record.bound, np.abs(multipliers).max(), np.abs(prices).max()]).all()
        and min(record.level, multipliers[~before].min(), prices[~full].min(initial=0.0)) >= 0
        and record.level > 0
        and counted[group].all()
        and not multipliers[~(group | before)].any()
    )
    if not sound:
        return np.inf, np.zeros_like(opened)
    reduced, _ = pairs.reduced_costs(multipliers, prices, opened)
    wrong = np.minimum(held / pairs.alone, reduced)
    residual = max(
        float(-reduced[opened].min(initial=0.0)),
        float(wrong.max(initial=0.0)),
        float(slack[prices > 0].max(initial=0.0)),
    )
    return residual, reduced > SATURATION


class Pairs:
    """The eligible pairs of class and server, for classes with jobs, as flat arrays."""

    def __init__(self, cluster: Cluster, live: BoolArray) -> None:
        self.job_class, self.server = np.nonzero(cluster.eligible & live[:, None])
        self.shares = cluster.task_shares[self.job_class, self.server]
        self.alone = cluster.gamma[self.job_class, self.server]
        self.n_classes, self.n_servers, self.n_resources = cluster.task_shares.shape

    def parts(self, prices: FloatArray) -> FloatArray:
        """What each resource adds to the cost of a task, shape (n_pairs, n_resources)."""
        return np.asarray(self.shares * prices[self.server])

    def totals(self, values: FloatArray) -> FloatArray:
        """Sum over the servers, shape (n_classes,)."""
        return np.bincount(self.job_class, weights=values, minlength=self.n_classes).astype(float)

    def reduced_costs(
        self, multipliers: FloatArray, prices: FloatArray, opened: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """Cost less multiplier of the pairs, relative to the terms of the class, which come second.

        The terms of a class, shape (n_classes,), are the sum of the sizes of the terms of this difference, on
        that open pair where it vanishes on which this is largest: where signs differ, much can cancel.
        """
        parts, worth = self.parts(prices), multipliers[self.job_class]
        size, reduced = np.abs(parts).sum(axis=1) + np.abs(worth), parts.sum(axis=1) - worth
        terms = np.zeros(self.n_classes)
        tight = opened & (np.abs(reduced) <= SATURATION * size)
        np.maximum.at(terms, self.job_class[tight], size[tight])
        size = np.maximum(size, terms[self.job_class])
        return np.divide(reduced, size, out=np.zeros_like(size), where=size > 0), terms

    def counted(
        self,
        multipliers: FloatArray,
        worth: FloatArray,
        prices: FloatArray,
        opened: BoolArray,
        free: BoolArray,
    ) -> tuple[BoolArray, BoolArray]:
        """Classes and prices whose dual values are not what rounding leaves of a 0.

        ``worth`` is what raising the class by one level is worth, multiplier times g.
        """
        parts = np.abs(self.parts(prices))
        # Tasks run on tight pairs only, by complementary slackness.
        reduced, terms = self.reduced_costs(multipliers, prices, opened)
        tight = opened & (np.abs(reduced) <= SATURATION)
        visible = (parts > 0) & (parts >= VISIBLE * terms[self.job_class, None]) & tight[:, None]
        worth = np.abs(worth)
        classes = (worth > 0) & (worth >= LARGE * worth[free].max(initial=0.0))
        counted = np.zeros((self.n_servers, self.n_resources), dtype=bool)
        while True:
            bills = visible & classes[self.job_class][:, None]
            for r in range(self.n_resources):
                counted[self.server[bills[:, r]], r] = True
            more = classes.copy()
            more[self.job_class[(visible & counted[self.server]).any(axis=1)]] = True
            if (more == classes).all():
                return classes & (~free | (multipliers > VISIBLE * terms)), counted
            classes = more


def tasks_at_level_1(
    cluster: Cluster, counts: ArrayLike | None, yardsticks: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Validated counts, and the tasks g_n of each class at level 1."""
    x, h = cluster.check_state(counts), model_array("yardsticks", yardsticks, cluster, "job_classes")
    if h.shape != x.shape:
        raise ModelError.of("yardsticks", f"must have shape (n_classes,) = {x.shape}; got {h.shape}")
    require("yardsticks", h, np.isfinite(h) & (h > 0), "finite and > 0", cluster.job_classes)
    return x, x * cluster.weights * h
