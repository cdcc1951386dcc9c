"""Averages over runs, where servers or ties are drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import Entropy, Seed, entropy_of, generator, require_whole, spawned
from fairness.display.drawing import bars
from fairness.display.result import Result
from fairness.display.tables import aligned
from fairness.indivisible.cluster import fill_cluster
from fairness.indivisible.server_shares import ClusterRule, DominantShare
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FillingRuns", "repeat_filling"]


@dataclass(frozen=True, eq=False, repr=False)
class FillingRuns(Result):
    """Several fillings of one cluster with fresh random numbers; made by :func:`repeat_filling`.

    Attributes
    ----------
    cluster : Cluster
    rule : ClusterRule
    server_rule : str
    placements : ndarray of int, shape (n_runs, n_classes, n_servers), tasks
    entropy : int, list of int or str
        The seed: ``rng=entropy`` repeats the runs; "a generator" where no seed does.
    """

    cluster: Cluster
    rule: ClusterRule
    server_rule: str
    placements: NDArray[np.int64]
    entropy: Entropy

    @cached_property
    def mean(self) -> FloatArray:
        """Mean tasks of each class on each server, shape (n_classes, n_servers)."""
        return np.asarray(self.placements.mean(axis=0))

    @cached_property
    def std(self) -> FloatArray:
        """Standard deviation between runs, shape (n_classes, n_servers)."""
        return np.asarray(self.placements.std(axis=0, ddof=1))

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        """All tasks of each run, shape (n_runs,)."""
        return np.asarray(self.placements.sum(axis=(1, 2)))

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class and server: mean and standard deviation of the tasks."""
        index = pd.MultiIndex.from_product(
            [self.cluster.job_classes, self.cluster.servers], names=["job_class", "server"]
        )
        return pd.DataFrame({"mean": self.mean.ravel(), "std": self.std.ravel()}, index=index)

    def summary(self) -> str:
        """Mean and standard deviation of the placement."""
        head = (
            f"{self.rule.name}, servers by {self.server_rule}, {len(self.placements)} runs: "
            f"{self.totals.mean():.2f} tasks (std {self.totals.std(ddof=1):.2f})"
        )
        table = [["class", *self.cluster.servers]]
        for name, mean, std in zip(self.cluster.job_classes, self.mean, self.std, strict=True):
            table.append([name, *(f"{m:.2f} (std {s:.2f})" for m, s in zip(mean, std, strict=True))])
        return "\n".join([head, *aligned(table)])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars: mean tasks of each class on each server, with one standard deviation to both sides."""
        cluster = self.cluster
        names = [f"{name}, {server}" for name in cluster.job_classes for server in cluster.servers]
        mean, std = self.mean.ravel(), self.std.ravel()
        title = f"{self.rule.name}, servers by {self.server_rule}, {len(self.placements)} runs"
        return bars(ax, names, mean, error=std, ylabel="mean tasks", title=title)


def repeat_filling(
    cluster: Cluster,
    rule: ClusterRule | None = None,
    counts: ArrayLike | None = None,
    *,
    runs: int = 200,
    server_rule: str = "rrr",
    stop: str = "skip",
    ties: str | Sequence[int] = "first",
    rng: Seed = None,
) -> FillingRuns:
    """Fill a cluster several times, each with its own stream of random numbers.

    Parameters
    ----------
    runs : int
        At least 2.
    cluster, rule, counts, server_rule, stop, ties, rng
        As in :func:`fill_cluster`.

    Returns
    -------
    FillingRuns
        The placement of every run, with means and spread.

    Raises
    ------
    ModelError
        As :func:`fill_cluster`, or if there are fewer than two runs.

    Examples
    --------
    >>> from fairness import Cluster
    >>> from fairness.indivisible import VirtualShare
    >>> cluster = Cluster([[5, 1], [1, 5]], [[100, 30], [30, 100]])
    >>> repeat_filling(cluster, VirtualShare(), runs=20, rng=1).mean.shape
    (2, 2)
    """
    require_whole("runs", runs, 2, 2**31 - 1, ", for a standard deviation")
    rule = DominantShare() if rule is None else rule
    parent = generator(rng)
    entropy = entropy_of(parent)
    placements = [
        fill_cluster(
            cluster, rule, counts, server_rule=server_rule, stop=stop, ties=ties, rng=stream
        ).placement
        for stream in spawned(parent, runs)
    ]
    return FillingRuns(cluster, rule, server_rule, np.array(placements), entropy)
