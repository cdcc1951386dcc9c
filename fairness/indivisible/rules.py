r"""Rules for whole tasks on one pool: which class starts the next task.

A class of :math:`x_i` jobs of weight :math:`w_i` that runs :math:`k_i` tasks holds the weighted share
:math:`s_{ij} = k_i a_{ij} / (x_i w_i C_j)` of resource :math:`j`.

* **Lowest share** ([1]_ Algorithm 1, weighted DRF as in Mesos): the class with the lowest dominant share
  :math:`s_i = \max_j s_{ij}`. If its task does not fit, everything stops ("first misfit", as in the paper),
  or the class is left out and the next one is asked ("skip").
* **SequentialMinMax** [2]_: among the classes whose next task fits, the one with the lowest dominant share
  *after* the allocation, :math:`(k_i + 1) \max_j a_{ij}/(x_i w_i C_j)`.
* **Best rank** (BMF, "serve the most deprived" [3]_): on each bottleneck the classes are ranked by share,
  rank 1 for the largest; the best rank of a class is its smallest one; the class with the worst best rank
  is served. A class of several jobs counts as so many jobs in the ranks. With whole tasks the source leaves
  open which resource is a bottleneck: a resource that some waiting class finds too scarce for its next
  task, and every demanded resource while there is none ("blocking"); the resources with the largest
  utilisation ("fullest"); or all that somebody demands ("all").

References
----------
.. [1] A. Ghodsi et al., "Dominant resource fairness: fair allocation of multiple resource types",
   NSDI 2011.
.. [2] D. C. Parkes, A. D. Procaccia and N. Shah, "Beyond dominant resource fairness: extensions,
   limitations, and indivisibilities", ACM TEAC 3(1), 2015. DOI 10.1145/2739040.
.. [3] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and
   Control of Large-Scale Networks, Eindhoven, 2014.
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from fairness.arguments.validation import require_choice
from fairness.errors import ModelError
from fairness.indivisible.free_resources import Ledger, Number
from fairness.indivisible.priority_queue import LowestFirst, Ties
from fairness.indivisible.rational_model import PoolAmounts
from fairness.model.problem import FloatArray, Problem

__all__ = [
    "BOTTLENECKS",
    "STOPS",
    "BestRank",
    "LowestShare",
    "PoolRule",
    "SequentialMinMax",
    "Started",
]

STOPS = ("first misfit", "skip")
"""What to do when the task of the chosen class does not fit: stop, or pass on to the next class."""

BOTTLENECKS = ("blocking", "fullest", "all")


class Started:
    """A filling in progress: what runs, in which order it was started, and who waits."""

    def __init__(self, amounts: PoolAmounts, ledger: Ledger, ties: Ties) -> None:
        self.amounts, self.ledger, self.ties = amounts, ledger, ties
        limited = list(zip(amounts.units, amounts.most, strict=True))
        # A class without demand (its unit is 0) has a limit and takes nothing from anybody.
        self.tasks = [0 if unit > 0 else int(most) for unit, most in limited]
        self.waiting = [n for n, (unit, most) in enumerate(limited) if unit > 0 and most > 0]
        self.order: list[int] = []

    def start(self, n: int) -> bool:
        """Start a task of class n; whether its limit allows another one."""
        self.ledger.take(n, 0)
        self.tasks[n] += 1
        self.order.append(n)
        return self.tasks[n] < self.amounts.most[n]


class PoolRule(ABC):
    """Which class of a pool starts the next task; subclasses are frozen dataclasses.

    Attributes
    ----------
    stop : str
    factors : tuple of numbers, or None
        Of the dominant shares.
    bounds : str
        What tasks stay within, in words.
    """

    stop: str
    factors: tuple[Fraction | float, ...] | None = None
    bounds: ClassVar[str] = "capacities"

    @property
    @abstractmethod
    def name(self) -> str:
        """What the rule is called."""

    @abstractmethod
    def fill(self, started: Started) -> int | None:
        """Start tasks of the waiting classes to the end; return who stopped everything, if anyone."""

    def excess(self, problem: Problem, held: FloatArray) -> float:
        """Part by which units that the classes hold, (n_classes, n_resources), exceed bounds of the rule."""
        return 0.0

    def held_back(self, started: Started) -> list[tuple[str, ...]]:
        """Per class, what keeps it from starting another task beside the scarcity of resources."""
        return [()] * len(started.tasks)


class _ByShare(PoolRule):
    """The class whose share is lowest when so many tasks more than run are counted."""

    ahead: ClassVar[int]

    def fill(self, started: Started) -> int | None:
        queue = LowestFirst(started.waiting, self._key(started), started.ties.place.__getitem__, started.ties)
        while (n := queue.pop()) is not None:
            if started.ledger.fits(n, 0):
                if started.start(n):
                    queue.push(n)
            elif self.stop == "first misfit":
                return n
        return None

    def _key(self, started: Started) -> Callable[[int], Number]:
        amounts, tasks, ahead = started.amounts, started.tasks, self.ahead
        factors = self.factors or [1] * len(tasks)
        if amounts.holdings is None:
            units = [unit * factor for unit, factor in zip(amounts.units, factors, strict=True)]
            return lambda n: units[n] * (tasks[n] + ahead)
        return lambda n: amounts.dominant_share(n, tasks[n] + ahead) * factors[n]


@dataclass(frozen=True)
class LowestShare(_ByShare):
    """Serve the class with the lowest weighted dominant share: DRF task by task.

    Parameters
    ----------
    stop : {"first misfit", "skip"}
    factors : sequence of numbers >= 0, one per class, optional
        The dominant share of a class is multiplied by its factor. Unlike a weight, a factor may be 0: then
        the class always counts as the poorest. Default: 1.
    """

    stop: str = "first misfit"
    factors: tuple[Fraction | float, ...] | None = None

    name = "DRF"
    ahead = 0

    def __init__(
        self, stop: str = "first misfit", factors: Sequence[Fraction | int | float] | None = None
    ) -> None:
        object.__setattr__(self, "stop", require_choice("stop", stop, STOPS))
        if factors is not None:
            if not isinstance(factors, Iterable):
                raise ModelError.of("factors", f"must list one number per class; got {factors!r}")
            factors = tuple(factors)
            for k, value in enumerate(factors):
                if not (isinstance(value, numbers.Real) and np.isfinite(float(value)) and value >= 0):
                    raise ModelError.of("factors", f"must be finite and >= 0; got {value!r} at index {k}", k)
            factors = tuple(Fraction(v) if isinstance(v, numbers.Rational) else float(v) for v in factors)
        object.__setattr__(self, "factors", factors)


@dataclass(frozen=True)
class SequentialMinMax(_ByShare):
    """Serve the class whose dominant share is lowest after the allocation, among those whose task fits."""

    name = "SequentialMinMax"
    stop = "skip"
    ahead = 1


@dataclass(frozen=True)
class BestRank(PoolRule):
    """Serve the class with the worst best rank on the bottlenecks: BMF task by task.

    Parameters
    ----------
    stop : {"first misfit", "skip"}
    bottlenecks : {"blocking", "fullest", "all"}
        Which resources count as bottlenecks; see the module docstring.
    """

    stop: str = "first misfit"
    bottlenecks: str = "blocking"

    name = "BMF"

    def __post_init__(self) -> None:
        require_choice("stop", self.stop, STOPS)
        require_choice("bottlenecks", self.bottlenecks, BOTTLENECKS)

    def fill(self, started: Started) -> int | None:
        """Serve the most deprived."""
        amounts, ledger, ties = started.amounts, started.ledger, started.ties
        tasks, waiting = started.tasks, started.waiting
        present = [n for n, unit in enumerate(amounts.units) if unit > 0]
        demanded = [
            r for r in range(len(amounts.capacities)) if any(amounts.demands[n][r] > 0 for n in present)
        ]
        parts = {(n, r): amounts.share_parts(n, r) for n in present for r in demanded}
        while waiting:
            lacking = {n: ledger.lacking(n, 0) for n in waiting}
            # Who does not fit is not asked under "skip", but it still waits, and so it makes bottlenecks.
            asked = [n for n in waiting if self.stop == "first misfit" or not lacking[n]]
            if not asked:
                break
            if self.bottlenecks == "blocking":
                scarce = set().union(*lacking.values())
                bottlenecks = [r for r in demanded if r in scarce] or demanded
            elif self.bottlenecks == "fullest":
                bottlenecks = _fullest(amounts, demanded, tasks, ties)
            else:
                bottlenecks = demanded
            best = dict.fromkeys(asked, math.inf)
            for r in bottlenecks:
                held: dict[int, Number] = {n: parts[n, r][0] + tasks[n] * parts[n, r][1] for n in present}
                rank = _ranks(held, amounts, ties)
                for n in asked:
                    best[n] = min(best[n], rank[n])
            worst = max(best.values())
            tied = [n for n in asked if best[n] == worst]
            n = tied[ties.pick(tied, ties.place.__getitem__)]
            if lacking[n]:
                return n
            if not started.start(n):
                waiting.remove(n)
        return None


def _fullest(amounts: PoolAmounts, demanded: list[int], tasks: list[int], ties: Ties) -> list[int]:
    """The demanded resources with the largest utilisation."""
    classes = range(len(tasks))
    used: dict[int, Number] = {
        r: sum(amounts.before[n][r] + tasks[n] * amounts.demands[n][r] for n in classes)
        / amounts.capacities[r]
        for r in demanded
    }
    return [r for r in demanded if ties.ceiling(used[r]) >= max(used.values())]


def _ranks(held: dict[int, Number], amounts: PoolAmounts, ties: Ties) -> dict[int, float]:
    """Rank by share, 1 for the largest: 1 + the jobs with a strictly larger share."""
    ranks: dict[int, float] = {}
    larger = same = 0.0
    previous: Number = math.inf
    for n in sorted(held, key=lambda k: -held[k]):
        if ties.ceiling(held[n]) < previous:
            larger, same, previous = larger + same, 0.0, held[n]
        ranks[n] = 1.0 + larger
        same += float(amounts.counts[n])
    return ranks
