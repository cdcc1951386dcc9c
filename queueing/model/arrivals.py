r"""When jobs arrive: a process per class.

A process is scaled to the arrival rate :math:`\lambda_i` of its class. Here stand renewal processes, with the
first job one interarrival time after 0, in :mod:`queueing.model.markovian` those whose times between arrivals
are correlated:

* ``Poisson``: exponential times between arrivals;
* ``Renewal(law)``: times between arrivals of any law, scaled to mean :math:`1/\lambda_i`;
* ``OnOff(mean_on, mean_off)``: the interrupted Poisson process, which is on and off for exponential times
  and emits jobs at rate :math:`\nu = \lambda_i (m_{on} + m_{off})/m_{on}` while on. Jobs arrive only while
  it is on, so arrivals are renewals; with :math:`\omega = 1/m_{on}` and :math:`\gamma = 1/m_{off}` the time
  between two is hyperexponential [1]_ with rates

  .. math:: r_{1,2} = \tfrac12\Big(\nu+\omega+\gamma \pm \sqrt{(\nu+\omega+\gamma)^2 - 4\nu\gamma}\Big),
     \qquad p_1 = \frac{\nu - r_2}{r_1 - r_2}.

``Batches(probabilities, process)`` has several jobs come at once. Arrivals recorded elsewhere are a
:class:`queueing.model.job_trace.JobTrace`.

References
----------
.. [1] A. Kuczura, "The interrupted Poisson process as an overflow process", Bell System Technical Journal
   52(3), 1973. DOI 10.1002/j.1538-7305.1973.tb01971.x.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from fairness.arguments.validation import FloatArray, float_array, require_number
from fairness.errors import ModelError
from queueing.model.laws import Exponential, Hyperexponential, Law, at_least_tiny
from queueing.model.phase_type import phases_of
from queueing.model.scipy_law import as_law

__all__ = ["Arrivals", "Batches", "Modulation", "OnOff", "Poisson", "Renewal"]

ROUNDING = 1e-9
"""Of probabilities that sum to 1: decimal fractions are off by less, mistakes by more."""


class Modulation(NamedTuple):
    """Phases that arrivals depend on: ``hidden`` and ``arriving`` rates, (n_phases, n_phases) both."""

    hidden: FloatArray
    arriving: FloatArray

    @property
    def law(self) -> FloatArray:
        """Probability of each phase, (n_phases,)."""
        generator = self.hidden + self.arriving
        # One balance equation follows from the others; the sum takes its place.
        system = np.vstack([generator.T[1:], np.ones(len(generator))])
        return np.asarray(np.linalg.solve(system, np.eye(len(generator))[-1]))


class Arrivals(ABC):
    """An arrival process, up to its rate; of independent times between arrivals unless it says otherwise."""

    @property
    def batches(self) -> FloatArray:
        """Probabilities of 1, 2, ... jobs at once; 1 of one job unless it says otherwise."""
        return np.ones(1)

    @abstractmethod
    def interarrival(self, rate: float) -> Law:
        """Law of the time between two arrivals at the given rate, > 0."""

    def modulation(self, rate: float) -> Modulation:
        """The phases that a chain follows, of batches where they come so; ModelError if there are none."""
        law = phases_of(self.interarrival(rate))
        return Modulation(law.rates, np.outer(law.exits, law.initial))

    def dispersion(self, rate: float) -> float:
        """Variance over mean of the number of arrivals in a long time."""
        return self.interarrival(rate).scv

    def gaps(self, rate: float, stream: np.random.Generator) -> Callable[[int], FloatArray]:
        """Gives the next so many times between arrivals, whenever it is asked."""
        return partial(self.interarrival(rate).sample, stream)


@dataclass(frozen=True)
class Poisson(Arrivals):
    """Poisson process."""

    def interarrival(self, rate: float) -> Law:
        """Law of the time between two arrivals."""
        return Exponential(1.0 / rate)


@dataclass(frozen=True)
class Renewal(Arrivals):
    """Independent times between arrivals.

    Parameters
    ----------
    law : Law
        Shape of the law of the time between two arrivals.
    """

    law: Law

    def __post_init__(self) -> None:
        object.__setattr__(self, "law", as_law("law", self.law, place=" of a renewal process"))

    def interarrival(self, rate: float) -> Law:
        """Law of the time between two arrivals."""
        return self.law.with_mean(1.0 / rate)


@dataclass(frozen=True)
class OnOff(Arrivals):
    """Interrupted Poisson process.

    Parameters
    ----------
    mean_on, mean_off : float, time
        Mean lengths of the periods with and without arrivals, > 0.

    Examples
    --------
    Long silences make arrivals bursty.

    >>> law = OnOff(mean_on=10, mean_off=90).interarrival(rate=1)
    >>> round(law.mean, 9), round(law.scv, 9)
    (1.0, 163.0)
    """

    mean_on: float
    mean_off: float

    def __post_init__(self) -> None:
        hint = " (for arrivals without interruption take Poisson())"
        for name in ("mean_on", "mean_off"):
            object.__setattr__(self, name, require_number(name, getattr(self, name), above=0, hint=hint))

    def interarrival(self, rate: float) -> Law:
        """Law of the time between two arrivals."""
        burst = rate * (self.mean_on + self.mean_off) / self.mean_on
        total = burst + 1.0 / self.mean_on + 1.0 / self.mean_off
        # In units of the sum of all rates: nothing overflows.
        nu, omega, gamma = burst / total, 1.0 / self.mean_on / total, 1.0 / self.mean_off / total
        # (1 - 4 nu gamma) written as a sum of squares: no cancellation.
        root = math.sqrt((nu - gamma) ** 2 + omega * (2 * nu + 2 * gamma + omega))
        fast = (1 + root) / 2
        slow = nu * gamma / fast
        # Each by itself: of two very different probabilities, 1 - p keeps no digit of the small one.
        p = nu / fast * _above(gamma, nu, omega, root) / root
        q = _above(nu, gamma, omega, root) / root
        return Hyperexponential([p, q], [1 / (fast * total), 1 / (slow * total)])


@dataclass(frozen=True)
class Batches(Arrivals):
    r"""Jobs that arrive several at once, in batches of independent sizes.

    With batches of B jobs that come with the index of dispersion I, that of the jobs is :math:`E[B] I +
    \mathrm{var}(B)/E[B]`. The rate stays that of the jobs. :func:`~queueing.simulate` and
    :func:`~queueing.stationary` know batches, and what asks for mean rates alone; nothing is proved of them.

    Parameters
    ----------
    probabilities : sequence of float
        Of batches of 1, 2, ... jobs.
    process : Arrivals
        When batches arrive. Default: Poisson.

    Examples
    --------
    >>> Batches([0.5, 0, 0.5]).mean_batch, Batches([0, 0, 1]).dispersion(1.0)
    (2.0, 3.0)
    """

    probabilities: tuple[float, ...]
    process: Arrivals = field(default_factory=Poisson)

    def __post_init__(self) -> None:
        given = float_array("probabilities", self.probabilities, 1)
        if not (given >= 0).all() or not abs(given.sum() - 1) <= ROUNDING:
            raise ModelError.of("probabilities", f"must be >= 0 and sum to 1; got {self.probabilities!r}")
        if not isinstance(self.process, Arrivals) or isinstance(self.process, Batches):
            raise ModelError.of("process", f"must be arrivals such as Poisson(); got {self.process!r}")
        object.__setattr__(self, "probabilities", tuple((given / given.sum()).tolist()))

    @property
    def batches(self) -> FloatArray:
        """Probabilities of 1, 2, ... jobs at once."""
        return np.array(self.probabilities)

    @property
    def mean_batch(self) -> float:
        """Jobs of a batch in the mean."""
        return float(np.arange(1, len(self.probabilities) + 1) @ self.batches)

    def interarrival(self, rate: float) -> Law:
        """Law of the time between two batches, where jobs arrive at the given rate."""
        return self.process.interarrival(rate / self.mean_batch)

    def modulation(self, rate: float) -> Modulation:
        """The phases of the batches, where jobs arrive at the given rate."""
        return self.process.modulation(rate / self.mean_batch)

    def dispersion(self, rate: float) -> float:
        """Variance over mean of the number of jobs in a long time."""
        mean, sizes = self.mean_batch, np.arange(1, len(self.probabilities) + 1)
        spread = float((sizes - mean) ** 2 @ self.batches)
        return mean * self.process.dispersion(rate / mean) + spread / mean

    def gaps(self, rate: float, stream: np.random.Generator) -> Callable[[int], FloatArray]:
        """Times between jobs, next to 0 within a batch; blocks do not show."""
        (of_sizes,) = stream.spawn(1)
        between = self.process.gaps(rate / self.mean_batch, stream)
        left, known = 0, np.zeros(0, dtype=np.int64)  # jobs of the batch that was cut, and sizes drawn ahead

        def drawn(size: int) -> FloatArray:
            nonlocal left, known
            more = (
                of_sizes.choice(len(self.probabilities), max(0, size - len(known)), p=self.probabilities) + 1
            )
            known = np.append(known, more)
            ends = left + np.cumsum(known)
            begun = int(np.searchsorted(ends - known, size))
            values = np.zeros(size)
            values[(ends - known)[:begun]] = between(begun)
            left += int(known[:begun].sum()) - size
            known = known[begun:]
            return at_least_tiny(values)

        return drawn


def _above(rate: float, other: float, omega: float, root: float) -> float:
    """Faster rate (1 + root)/2 minus nu or gamma, without cancellation."""
    gap = other + omega - rate
    # root^2 - gap^2 = 4 rate omega.
    return (root + gap) / 2 if gap >= 0 else 2 * rate * omega / (root - gap)
