r"""States in which simulations start: independent draws from an approximate stationary law.

A run that starts empty first has to fill, which takes as long as its memory
(:mod:`queueing.simulation.run_length_checks`): near saturation most runs end before. Started in stationarity,
a run of any length is free of bias. The law under the policy is what is to be found; close to it, and easy to
draw from, are

* **balanced fairness** (:mod:`queueing.balanced.fairness`), where its box is small: the law itself for
  processor sharing, one resource shared by DRF among them, and the right order of magnitude for the others;
* on a pool where that box is large, one processor-sharing queue per resource, independent of each other, plus
  the jobs that run at their limits (the store-and-forward network of :mod:`queueing.balanced.tail_bound`):
  what proportional fairness tends to near saturation [1]_;
* on a cluster, independent geometric counts (:func:`queueing.model.cluster_load.geometric_ratios`).

Laws of balanced fairness do not depend on the law of the sizes, and what is left of each job present is
drawn from the law of the rest of a size, of density :math:`P(S > s)/E[S]`.

Where a table of the policy is read, a draw is cut, along its ray, lest the table become large: such a run
must forget its start as any other, which is checked afterwards.

References
----------
.. [1] W. Kang, F. Kelly, N. Lee and R. Williams, "State space collapse and diffusion approximation for a
   network operating under a fair bandwidth sharing policy", Ann. Appl. Probab. 19(5), 2009.
   DOI 10.1214/08-AAP591.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.errors import ModelError
from fairness.model.problem import FloatArray
from queueing.balanced.fairness import balanced_fairness
from queueing.balanced.plan import steps
from queueing.balanced.tail_bound import binding_resources
from queueing.model.laws import Exponential, Law
from queueing.model.system import System
from queueing.states.box import MOST

__all__ = ["Start", "given_start", "rest_of_sizes", "stationary_start"]

Draw = Callable[[np.random.Generator], NDArray[np.int64]]

TAIL = 1e-4
"""Probability that the box of balanced fairness may leave out."""

MOST_STATES = 2**20
"""Largest box of balanced fairness to draw from: some milliseconds."""

MOST_TABLE = 2**18
"""States of the smallest box that holds a draw, at most: more would be work for the policy before the run."""

LEAST_FREE = 1e-9
"""Least part left free that is told from none."""

DRAWN = 4096
"""Sizes among which those of jobs present are chosen."""


@dataclass(frozen=True, eq=False)
class Start:
    """A law of states to start in.

    Attributes
    ----------
    mean_jobs : ndarray of shape (n_classes,)
        Mean of the draws, about.
    """

    mean_jobs: FloatArray
    _draw: Draw
    _room: FloatArray

    def draw(self, generator: np.random.Generator) -> NDArray[np.int64]:
        """One state, (n_classes,)."""
        state = self._draw(generator)
        part = min(1.0, float((self._room / np.maximum(state, 1)).min(initial=1.0)))
        return np.asarray(np.floor(part * state), dtype=np.int64)


def given_start(system: System, start: ArrayLike) -> Start:
    """The same job counts, (n_classes,), for every replication."""
    counts = system.problem.check_counts(start)
    if counts.ndim != 1 or (counts != np.floor(counts)).any() or (counts > MOST).any():
        raise ModelError.of(
            "start", f"must list {system.n_classes} whole numbers of jobs, <= 2**53; got {start!r}"
        )
    return Start(counts, lambda _: counts.astype(np.int64), np.full(len(counts), np.inf))


def stationary_start(system: System, tabled: bool = True) -> Start:
    """An approximate stationary law of a stable system, to draw from; cut if the policy is ``tabled``."""
    means, draw = _independent(system) if system.is_cluster else _fair(system)
    room = _room(means) if tabled else np.full(len(means), np.inf)
    with np.errstate(divide="ignore"):
        cut = float((room / means)[means > 0].min(initial=np.inf))
    # As if totals were exponential.
    return Start(means * -math.expm1(-cut), draw, room)


def _independent(system: System) -> tuple[FloatArray, Draw]:
    """Independent geometric counts."""
    ratios = system.geometric_ratios(LEAST_FREE)

    def draw(generator: np.random.Generator) -> NDArray[np.int64]:
        return generator.geometric(1.0 - ratios) - 1

    return ratios / (1.0 - ratios), draw


def _fair(system: System) -> tuple[FloatArray, Draw]:
    """Balanced fairness, or the store-and-forward network where that takes a large box."""
    # As if arrivals were Poisson.
    system = System(system.problem, system.arrival_rates, sizes=system.sizes)
    _, parts = steps(system, TAIL, prune=False)
    if all(step.states <= MOST_STATES and step.method != "tree" for step in parts):
        law = balanced_fairness(system, tail=TAIL)
        return law.mean_jobs, lambda generator: law.drawn(1, generator)[0]
    problem = system.problem
    gain = system.loads[:, None] * problem.task_shares
    gain = gain[:, binding_resources(gain)]
    loads, limited = gain.sum(axis=0), system.loads / problem.limits
    free = np.maximum(1.0 - loads, LEAST_FREE)

    def draw(generator: np.random.Generator) -> NDArray[np.int64]:
        state = generator.poisson(limited)
        for total, column, load in zip(generator.geometric(free) - 1, gain.T, loads, strict=True):
            state += generator.multinomial(total, column / load)
        return state

    return (gain / free).sum(axis=1) + limited, draw


def _room(means: FloatArray) -> FloatArray:
    """Largest counts, in proportion to the means, whose box has at most MOST_TABLE states."""
    live = means > 0
    if not live.any():
        return np.full(len(means), np.inf)
    # Geometric mean: the product of what is cut equally.
    scale = np.exp((np.log(MOST_TABLE) - np.log(means[live]).sum()) / live.sum())
    return np.where(live, np.maximum(scale * means, 1.0), np.inf)


def rest_of_sizes(law: Law, count: int, generator: np.random.Generator) -> FloatArray:
    """What is left of the sizes of jobs present, (count,): part U of one chosen in proportion to itself."""
    if isinstance(law, Exponential) or not count:
        return law.sample(generator, count)
    sizes = law.sample(generator, DRAWN)
    total = np.cumsum(sizes)
    chosen = np.searchsorted(total, generator.random(count) * total[-1], side="right")
    # 1 - U is never 0.
    return sizes[np.minimum(chosen, DRAWN - 1)] * (1.0 - generator.random(count))
