r"""Rules for whole tasks on a cluster: by which share the poorest class is found.

With :math:`x_n` tasks of class n in all, effective weight :math:`\varphi_n` (jobs times weight), demands d,
capacities c and :math:`\gamma_{ni}` the tasks of class n alone on server i, a class has the level

* **DRF** (DRFH on servers, as in Mesos): :math:`x_n \max_r d_{nr}/(\varphi_n\sum_i c_{ir})`;
* **TSF**: :math:`x_n / (\varphi_n\sum_i\gamma_{ni})` with gamma as if nobody were excluded anywhere;
* **PS-DSF**: :math:`x_n/(\varphi_n\gamma_{ni})`, another one on each server;
* **rPS-DSF** (residual): the same with the capacity that is still free,
  :math:`x_n \max_r d_{nr}/(\varphi_n (c_{ir} - \sum_k x_{ki} d_{kr}))`.

References
----------
.. [1] Y. Shan, A. Jain, G. Kesidis, B. Urgaonkar, J. Khamse-Ashari and I. Lambadaris, "Online scheduling of
   Spark workloads with Mesos using different fair allocation algorithms", 2018. arXiv:1803.00922.
.. [2] G. Kesidis et al., "Scheduling distributed resources in heterogeneous private clouds", MASCOTS 2018.
   arXiv:1705.06102.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from fairness.indivisible.free_resources import Ledger, Number
from fairness.indivisible.rational_model import ClusterAmounts

__all__ = ["ClusterRule", "DominantShare", "Level", "ResidualShare", "TaskShare", "VirtualShare"]

Level = Callable[[int, int], Number]
"""Level of a class on a server."""


class ClusterRule(ABC):
    """A share by which the poorest class is found; subclasses are frozen dataclasses.

    Attributes
    ----------
    name : str
    per_server : bool
        Whether the level of a class depends on the server.
    """

    name: str
    per_server: bool

    @abstractmethod
    def level(self, amounts: ClusterAmounts, ledger: Ledger, tasks: list[int]) -> Level:
        """Level of a class on a server, which follows ``tasks`` (totals) and the ledger, and only rises."""


@dataclass(frozen=True)
class DominantShare(ClusterRule):
    """DRF: share of the resources of the whole cluster."""

    name = "DRF"
    per_server = False

    def level(self, amounts: ClusterAmounts, ledger: Ledger, tasks: list[int]) -> Level:
        """Level of a class, the same on all servers."""
        units = amounts.dominant_units
        return lambda n, i: tasks[n] * units[n]


@dataclass(frozen=True)
class TaskShare(ClusterRule):
    """TSF: part of the tasks that the class would run alone on the whole cluster without constraints."""

    name = "TSF"
    per_server = False

    def level(self, amounts: ClusterAmounts, ledger: Ledger, tasks: list[int]) -> Level:
        """Level of a class, the same on all servers."""
        open_to_all = ClusterAmounts(amounts.cluster.replaced(eligible=None), amounts.counts)
        units = [
            1 / (sum(alone) * weight) if weight > 0 else 0
            for alone, weight in zip(open_to_all.gamma, amounts.weights, strict=True)
        ]
        return lambda n, i: tasks[n] * units[n]


@dataclass(frozen=True)
class VirtualShare(ClusterRule):
    """PS-DSF: all tasks of the class as a part of what it would run alone on this server."""

    name = "PS-DSF"
    per_server = True

    def level(self, amounts: ClusterAmounts, ledger: Ledger, tasks: list[int]) -> Level:
        """Virtual dominant share."""
        units = [
            [1 / (gamma * weight) if gamma > 0 and weight > 0 else 0 for gamma in alone]
            for alone, weight in zip(amounts.gamma, amounts.weights, strict=True)
        ]
        return lambda n, i: tasks[n] * units[n][i]


@dataclass(frozen=True)
class ResidualShare(ClusterRule):
    """rPS-DSF: as PS-DSF, relative to what is still free on the server."""

    name = "rPS-DSF"
    per_server = True

    def level(self, amounts: ClusterAmounts, ledger: Ledger, tasks: list[int]) -> Level:
        """Virtual dominant share with residual capacities; infinite where no task fits."""

        def level(n: int, i: int) -> Number:
            if not ledger.fits(n, i):
                return math.inf
            value = tasks[n] * ledger.residual_share(n, i) / Fraction(amounts.weights[n])
            return value if amounts.exact else float(value)

        return level
