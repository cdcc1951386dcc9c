r"""The volume of a region of many classes, estimated by simulated annealing.

With loads in units of the largest load of each class the region is
:math:`K = \{x \ge 0 : \sum_k s_{jk}x_k \le 1\}` between the simplex :math:`\sum_k x_k \le 1` and the unit
box. With :math:`E = \sum_k x_k` and

.. math:: Z(\beta) = \int_K e^{-\beta E(x)}\,dx, \qquad
   \frac{Z(\beta')}{Z(\beta)} = \mathbb E_\beta\big[e^{(\beta - \beta')E}\big],

the volume is :math:`Z(0)`, and is reached from a large :math:`\beta_0` in steps [1]_:

1. :math:`Z(\beta_0) = \beta_0^{-n}\,\mathbb P(X \in K)` with independent exponential variables X of rate
   :math:`\beta_0`, chosen so that the probability is about 3/4: the part of independent draws that lie in K.
2. Each :math:`\beta` is followed by the smallest for which the ratio above has a relative variance of at most
   1, by a pilot walk, but at least by a step of :math:`\beta/\sqrt n`, whose relative variance is bounded in
   any dimension [1]_.
3. Each ratio is a mean over a walk (:mod:`capacity.many_classes.hit_and_run`) that goes on from that of
   the step before; the first begins with an independent draw in K, so with the right law. From such a warm
   start coordinate hit-and-run reaches the uniform law of a body that is not thin in polynomial time [2]_.

*Evidence.* All of this is done by several independent chains. The mean of their estimates has a Student
interval, which contains what the correlation within the walks adds; its length is set by shorter chains
before, with streams of their own. The effective number of draws of each step follows from the variance
between the chains. Chains that have not mixed would drift: the first and the second halves of all walks are
compared by a Student interval at 99.9 %, and a volume whose halves disagree is refused. This is an
estimate, not a bound.

References
----------
.. [1] L. Lovász and S. Vempala, "Simulated annealing in convex bodies and an O*(n^4) volume algorithm",
   Journal of Computer and System Sciences 72(2), 2006. DOI 10.1016/j.jcss.2005.08.004.
.. [2] A. Laddha and S. Vempala, "Convergence of Gibbs sampling: coordinate hit-and-run mixes fast", Discrete
   & Computational Geometry 70, 2023. DOI 10.1007/s00454-023-00497-x.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import joblib
import numpy as np
import pandas as pd

from capacity.many_classes.hit_and_run import sweeps
from capacity.regions.inequalities import in_units
from capacity.regions.load_region import LoadRegion, check_region
from fairness.arguments.validation import Entropy, Seed, frozen, require_number
from fairness.display.colours import NEUTRAL
from fairness.display.drawing import given_axes, legend_beside
from fairness.display.result import Result
from fairness.errors import ModelError, NotConvergedError
from fairness.machine.memory import require_memory
from fairness.machine.work import OutOfTime, ProgressOption, Task, stopped, watching
from fairness.model.nonzeros import Columns, nonzeros
from fairness.model.problem import FloatArray
from queueing.simulation.replications import Streams, replicate, spawn_streams, student

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["VolumeEstimate", "region_volume"]

CHAINS = 20
"""Independent chains: enough for a Student interval whose quantile is near the normal one."""

PILOT = 1000
"""Sweeps per step of the pilot, and of the chains that set the length of the others."""

BURNED = 0.2
"""Sweeps at the beginning of each step that are left out, as a part of those that count."""

DRIFT = 1e-3
"""Level at which a difference between the halves of the walks is no chance."""

SPARE = 0.8
"""Part of the precision that the chains aim at, since their spread is known roughly only."""

SWEEP_BYTES = 32.0
"""Memory that a chain takes for each sweep of a step."""

BLOCK = 2**18
"""Numbers drawn at once."""


@dataclass(frozen=True, eq=False, repr=False)
class VolumeEstimate(Result):
    """Estimated volume of a region; made by :func:`region_volume`.

    Attributes
    ----------
    region : LoadRegion
    logarithm : float
        Natural logarithm of the volume, tasks to the power n_classes.
    relative_half_width : float
        Half-width of the confidence interval of the volume, as a part of it.
    confidence : float
    chains : ndarray of shape (n_chains,)
        What each chain says of the volume, as a part of the estimate.
    rates : ndarray of shape (n_steps,)
        beta of every step, decreasing.
    effective_draws : ndarray of shape (n_steps,)
        Independent draws that would be as accurate as the walks of all chains together, from the variance
        between the chains (itself known to about a third).
    sweeps : int
        Sweeps that count, per step and chain.
    entropy : int, list of int or str
        The seed: ``rng=entropy`` repeats the estimate; "a generator" where no seed does.
    """

    region: LoadRegion
    logarithm: float
    relative_half_width: float
    confidence: float
    chains: FloatArray
    rates: FloatArray
    effective_draws: FloatArray
    sweeps: int
    entropy: Entropy | None

    @property
    def value(self) -> float:
        """The volume, tasks to the power n_classes; 0 or infinite beyond the range of floats."""
        with np.errstate(over="ignore", under="ignore"):
            return float(np.exp(self.logarithm))

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper end of the confidence interval."""
        half = self.relative_half_width
        return max(0.0, 1.0 - half) * self.value, (1.0 + half) * self.value

    def to_dataframe(self) -> pd.DataFrame:
        """One row per step: its rate, and the effective number of draws."""
        frame = pd.DataFrame({"rate": self.rates, "effective_draws": self.effective_draws})
        frame.index.name = "step"
        return frame

    def summary(self) -> str:
        """The estimate with its interval, and what it rests on."""
        return "\n".join(
            [
                f"volume of {self.region._called} of {self.region.n_classes} classes: about "
                f"{self.value:.4g} (logarithm {self.logarithm:.4f}), "
                f"± {100 * self.relative_half_width:.2g} % with confidence {self.confidence:g}",
                f"  an estimate by simulated annealing: {len(self.chains)} independent chains, "
                f"{len(self.rates)} steps of {self.sweeps} sweeps, worth at least "
                f"{self.effective_draws.min():.3g} independent draws each",
            ]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Dots: what the chains say, sorted, as a part of the estimate; band: the confidence interval."""
        ax = given_axes(ax)
        half = self.relative_half_width
        ax.axhspan(1.0 - half, 1.0 + half, color=NEUTRAL, alpha=0.2, label=f"interval, {self.confidence:.4g}")
        ax.axhline(1.0, color=NEUTRAL, linewidth=0.8)
        ax.plot(np.sort(self.chains), "o", color=NEUTRAL, label="chain")
        ax.set(xlabel="chain, sorted", ylabel="volume over the estimate", title=f"volume {self.value:.4g}")
        legend_beside(ax)
        return ax


def region_volume(
    region: LoadRegion,
    *,
    precision: float = 0.02,
    confidence: float = 0.95,
    rng: Seed = None,
    n_jobs: int = 1,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> VolumeEstimate:
    """Estimate the volume of a region from its facets, for dozens of classes, with a confidence interval.

    For few classes ``region.volume`` is exact, and faster.

    Parameters
    ----------
    region : StabilityRegion or PackingRegion
        With facets: any pool, or a cluster of few classes; every class with a largest load above 0.
    precision : float
        Half-width that is aimed at, as a part of the volume, from 0.001 to 0.2.
    confidence : float
        Of the interval.
    rng : numpy Generator or seed
    n_jobs : int
        Threads, -1 for all cores; the estimate does not depend on them.
    progress, time_limit
        As in :func:`capacity.service_boundary`.

    Returns
    -------
    VolumeEstimate

    Raises
    ------
    ModelError
        If an argument is wrong, the region is unbounded or without interior, or it has too many facets.
    NotConvergedError
        If the walks drift, so that they have not mixed (by chance once in a thousand estimates); ``best`` is
        the estimate. Or if the time is over.

    Examples
    --------
    Twenty classes that share one resource: a simplex of volume 1/20!.

    >>> from capacity import stability_region
    >>> from fairness import Problem
    >>> found = region_volume(stability_region(Problem([[1]] * 20, [1])), precision=0.1, rng=1)
    >>> abs(found.value * math.factorial(20) - 1) < 2 * found.relative_half_width
    True
    """
    check_region(region)
    precision = require_number("precision", precision, least=1e-3, most=0.2)
    confidence = require_number("confidence", confidence, above=0, below=1)
    if region.pinned or region.free:
        raise ModelError.of(
            "region",
            "has classes without a largest load above 0, so its volume is known: take region.volume",
        )
    shares, largest = in_units(region.exact_facets)
    streams = spawn_streams(rng, 1 + 2 * CHAINS)
    pilot, *generators = streams.generators
    quantile = student(1.0 - confidence, CHAINS - 1) / math.sqrt(CHAINS)

    def chains(which: slice, counted: int, seconds: float) -> FloatArray:
        """What the chains find, (CHAINS, steps, 4)."""
        name, total = f"the volume by {CHAINS} chains of {counted} sweeps a step", CHAINS * len(plan.rates)
        with Task(name, total, "steps", seconds, "raise precision") as work:
            own = Streams(tuple(generators[which]), streams.entropy)
            ended = dict(replicate(lambda generator: plan.chain(counted, generator, work), own, n_jobs))
            return np.array([ended[k] for k in range(CHAINS)])

    try:
        with watching(progress, time_limit):
            plan = _Annealing.planned(shares, pilot)
            begun = time.perf_counter()
            spread = float(_volumes(chains(slice(CHAINS), PILOT, math.nan))[0].std(ddof=1))
            each = (time.perf_counter() - begun) / PILOT
            counted = max(PILOT, math.ceil(PILOT * (quantile * spread / (SPARE * precision)) ** 2))
            at_once = min(CHAINS, joblib.effective_n_jobs(n_jobs))
            require_memory(SWEEP_BYTES * counted * at_once, "walks of this length", "raise precision")
            found = chains(slice(CHAINS, None), counted, each * counted)
    except (OutOfTime, KeyboardInterrupt) as stop:
        raise stopped(stop, "the chains have not come to their end", None) from None
    parts, centre = _volumes(found)
    means = np.exp(found[:, 1:, 0] - found[:, 1:, 0].mean(axis=0))
    between = np.maximum((means / means.mean(axis=0)).var(axis=0, ddof=1), np.finfo(float).tiny)
    result = VolumeEstimate(
        region,
        centre
        + math.log(parts.mean())
        + sum(math.log(one.numerator) - math.log(one.denominator) for one in largest),
        quantile * float(parts.std(ddof=1) / parts.mean()),
        confidence,
        frozen(parts / parts.mean()),
        frozen(np.array(plan.rates)),
        frozen(CHAINS * found[:, 1:, 3].mean(axis=0) / between),
        counted,
        streams.entropy,
    )
    drift = (found[:, 1:, 1] - found[:, 1:, 2]).sum(axis=1)
    most = student(DRIFT, CHAINS - 1) * float(drift.std(ddof=1)) / math.sqrt(CHAINS)
    if abs(drift.mean()) > most:
        raise NotConvergedError(
            f"the first and the second halves of the walks differ by {abs(drift.mean()):.2g} in the "
            f"logarithm of the volume, by chance at most {most:.2g}; lower precision: they become longer",
            best=result,
            residual=abs(float(drift.mean())),
        )
    return result


def _volumes(found: FloatArray) -> tuple[FloatArray, float]:
    """Estimates of the chains over e^c, and c, near the logarithm of their mean."""
    logarithms = found[:, :, 0].sum(axis=1)
    centre = float(logarithms.mean())
    return np.exp(logarithms - centre), centre


@dataclass(frozen=True)
class _Annealing:
    """The steps; ``rates`` are beta_0 > beta_1 > ... > 0, and ``centres`` the mean sums at each, about."""

    shares: FloatArray
    columns: Columns
    rates: tuple[float, ...]
    centres: tuple[float, ...]

    @classmethod
    def planned(cls, shares: FloatArray, generator: np.random.Generator) -> _Annealing:
        """Steps chosen by a pilot walk."""
        columns, n = nonzeros(shares).columns, shares.shape[1]
        # With rate beta the point E/beta is inside if beta is at least the largest row of E.
        rate = float(np.quantile(_largest_rows(shares, PILOT, generator), 0.75))
        rates, centres = [rate], []
        walk = cls(shares, columns, (rate,), ())
        x = walk.inside(generator)
        while True:
            sums = walk.walked(x, rates[-1], PILOT, generator)
            centres.append(float(sums.mean()))
            step = _longest_step(sums - sums.mean(), rates[-1])
            if step >= rates[-1]:
                return cls(shares, columns, tuple(rates), tuple(centres))
            # Steps of this length do in any dimension [1]: the pilot may be too short to see it.
            rates.append(rates[-1] - max(step, rates[-1] / math.sqrt(n)))

    def chain(self, counted: int, generator: np.random.Generator, work: Task) -> FloatArray:
        """Of each step the logarithms of the ratio by all sweeps, by each half, and its relative variance."""
        inside = _largest_rows(self.shares, counted, generator) <= self.rates[0]
        first = math.log(max(inside.mean(), 0.5 / counted)) - self.shares.shape[1] * math.log(self.rates[0])
        found: list[tuple[float, ...]] = [(first, first, first, 0.0)]
        x = self.inside(generator)
        for rate, following, centre in zip(self.rates, (*self.rates[1:], 0.0), self.centres, strict=True):
            sums = self.walked(x, rate, counted, generator)
            weights = np.exp((rate - following) * (sums - centre))
            halves = weights[: counted // 2].mean(), weights[counted // 2 :].mean()
            shift = (rate - following) * centre
            logs = [math.log(mean) + shift for mean in (weights.mean(), *halves)]
            found.append((*logs, float(weights.var() / weights.mean() ** 2)))
            work.advance()
        return np.array(found)

    def inside(self, generator: np.random.Generator) -> FloatArray:
        """Independent exponential variables of the first rate, drawn until they lie in K."""
        while True:
            x = np.asarray(generator.standard_exponential(self.shares.shape[1]) / self.rates[0])
            if (self.shares @ x).max() <= 1.0:
                return x

    def walked(self, x: FloatArray, rate: float, counted: int, generator: np.random.Generator) -> FloatArray:
        """Sums of x along a walk that moves it."""
        sums = np.empty(counted)
        sweeps(*self.columns, len(self.shares), x, rate, math.ceil(BURNED * counted), sums, generator)
        return sums


def _largest_rows(shares: FloatArray, count: int, generator: np.random.Generator) -> FloatArray:
    """The largest entry of shares @ X for independent exponential variables X of rate 1, (count,)."""
    block = max(1, BLOCK // shares.shape[1])
    sizes = [min(block, count - done) for done in range(0, count, block)]
    return np.concatenate(
        [(generator.standard_exponential((size, shares.shape[1])) @ shares.T).max(axis=1) for size in sizes]
    )


def _longest_step(sums: FloatArray, most: float) -> float:
    """Largest step up to ``most`` at which e^(step * sums) has a relative variance of at most 1."""

    def steady(step: float) -> bool:
        weights = np.exp(step * (sums - sums.max()))
        return bool(weights.var() <= weights.mean() ** 2)

    if steady(most):
        return most
    low, high = 0.0, most
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if steady(middle) else (low, middle)
    return low
