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

import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fairness.errors import ModelError

__all__ = ["BOTTLENECKS", "STOPS", "BestRank", "LowestShare", "SequentialMinMax", "check_stop"]

STOPS = ("first misfit", "skip")
"""What to do when the task of the chosen class does not fit: stop, or pass on to the next class."""

BOTTLENECKS = ("blocking", "fullest", "all")


@dataclass(frozen=True)
class LowestShare:
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

    def __init__(
        self, stop: str = "first misfit", factors: Sequence[Fraction | int | float] | None = None
    ) -> None:
        object.__setattr__(self, "stop", check_stop(stop))
        if factors is not None:
            if not isinstance(factors, Iterable):
                raise ModelError(f"factors must list one number per class; got {factors!r}")
            factors = tuple(factors)
            for k, value in enumerate(factors):
                if not (isinstance(value, numbers.Real) and np.isfinite(float(value)) and value >= 0):
                    raise ModelError(f"factors must be finite and >= 0; got {value!r} at index {k}")
            factors = tuple(Fraction(v) if isinstance(v, numbers.Rational) else float(v) for v in factors)
        object.__setattr__(self, "factors", factors)


@dataclass(frozen=True)
class SequentialMinMax:
    """Serve the class whose dominant share is lowest after the allocation, among those whose task fits."""

    name = "SequentialMinMax"
    stop = "skip"


@dataclass(frozen=True)
class BestRank:
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
        check_stop(self.stop)
        if self.bottlenecks not in BOTTLENECKS:
            raise ModelError(f"bottlenecks must be one of {', '.join(BOTTLENECKS)}; got {self.bottlenecks!r}")


def check_stop(stop: str) -> str:
    """Return the stop rule, or refuse it."""
    if stop not in STOPS:
        raise ModelError(f"stop must be one of {', '.join(map(repr, STOPS))}; got {stop!r}")
    return stop
