r"""Leximin over placements: the engine of the max-min mechanisms on a cluster.

What levels are, and what leximin makes of them, is said beside the evidence (:mod:`.level_evidence`). The
totals of a leximin placement are unique; the placement is often not.

One linear program finds the lowest level only: it leaves the other classes anywhere between their level and
what they could have. Here the classes that its dual values show to be at their maximum are frozen, and the
next program raises the others (:mod:`.level_program`). A class at its maximum whose multiplier happens to be
0 (the dual values of a degenerate program are not unique) comes out in a later round at the same level.
The dual values of all rounds together prove that the placement is leximin (:mod:`.level_evidence`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import FloatArray
from fairness.errors import NotConvergedError
from fairness.evidence.pools import Certificate
from fairness.model.cluster import Cluster
from fairness.policies.servers.engines.level_evidence import (
    Level,
    Pairs,
    leximin_certificate,
    tasks_at_level_1,
)
from fairness.policies.servers.engines.level_program import FAR_APART, LevelProgram

__all__ = ["Level", "Leximin", "leximin", "leximin_certificate"]


@dataclass(frozen=True, eq=False)
class Leximin:
    """A leximin placement with its evidence.

    Attributes
    ----------
    placement : ndarray of shape (n_classes, n_servers), tasks
    levels : ndarray of shape (n_classes,)
        Levels x_n/g_n; 0 for classes without jobs.
    rounds : tuple of Level
        The evidence, one record per linear program.
    certificate : Certificate
    """

    placement: FloatArray
    levels: FloatArray
    rounds: tuple[Level, ...]
    certificate: Certificate


def leximin(cluster: Cluster, counts: ArrayLike | None, yardsticks: ArrayLike) -> Leximin:
    """Weighted leximin of tasks over yardsticks, with evidence for each level.

    Parameters
    ----------
    cluster : Cluster
    counts : array_like of shape (n_classes,), jobs
        All 1 when None.
    yardsticks : array_like of shape (n_classes,), tasks
        h_n > 0: what a level of 1 gives to a class of effective weight (jobs times weight) 1.

    Raises
    ------
    ModelError
        If counts or yardsticks have the wrong shape or sign.
    NotConvergedError
        If a linear program fails, or the certificate of the result does not hold.

    Notes
    -----
    The totals are those of the leximin point to about 12 digits as long as effective weights and demands of
    the classes lie within about eight decades.

    Examples
    --------
    Class 1 may run on the first server only. One linear program would stop at the level 1 of both.

    >>> cluster = Cluster([[1], [1]], [[2], [4]], eligible=[[True, False], [True, True]])
    >>> result = leximin(cluster, [2, 1], [1, 1])
    >>> result.placement.sum(axis=1)
    array([2., 4.])
    >>> [(round.level, round.classes, round.bound) for round in result.rounds]
    [(1.0, (0,), 1.0), (4.0, (1,), 4.0)]
    """
    x, goals = tasks_at_level_1(cluster, counts, yardsticks)
    placement = np.zeros((cluster.n_classes, cluster.n_servers))
    levels = np.zeros(cluster.n_classes)
    rounds: list[Level] = []
    if x.any():
        pairs = Pairs(cluster, x > 0)
        program = LevelProgram(pairs, goals)
        while program.free.any():
            rounds.append(program.round(rounds[-1].level if rounds else 0.0))
            program.freeze(rounds[-1])
        levels = program.levels
        placement[pairs.job_class, pairs.server] = _with_totals(pairs, program.tasks(), levels * goals)
    certificate = leximin_certificate(cluster, x, placement, yardsticks, rounds)
    result = Leximin(placement, levels, tuple(rounds), certificate)
    if not certificate.holds:
        raise NotConvergedError(
            f"the leximin placement is off by {certificate.residual:.1e}; {FAR_APART}",
            best=result,
            residual=certificate.residual,
        )
    return result


def _with_totals(pairs: Pairs, tasks: FloatArray, totals: FloatArray) -> FloatArray:
    """Tasks per pair whose sums are the totals; they are so but for rounding."""
    sums = pairs.totals(tasks)
    correction = np.divide(totals, sums, out=np.ones_like(sums), where=sums > 0)
    return tasks * correction[pairs.job_class]
