r"""Job-level simulation: the Markov chain of job counts, event by event.

With Poisson arrivals, exponential sizes and :math:`\varphi_i(x)` tasks of class :math:`i` running in state
:math:`x`, the jobs present form a Markov chain that leaves :math:`x` at rate

.. math:: q(x) = \sum_i \lambda_i + \sum_i \varphi_i(x)/\sigma_i,

to :math:`x + e_i` with probability :math:`\lambda_i/q(x)` and to :math:`x - e_i` with probability
:math:`\varphi_i(x)/(\sigma_i q(x))`. Only these jumps are drawn, one uniform number each; a visit to
:math:`x` counts with its *expected* holding time :math:`1/q(x)` instead of an exponential draw
(discrete-time conversion [1]_): same limit, never a larger asymptotic variance, and faster. So

.. math:: E[x_i] = \frac{\sum_{\text{visits}} x_i/q(x)}{\sum_{\text{visits}} 1/q(x)}

and Little's law gives the mean durations :math:`E[x_i]/\lambda_i` and the mean service rates
:math:`\rho_i/E[x_i]`. The interval of a service rate comes from the ratio of totals (delta method), so
that the three estimates obey Little's law exactly.

What the policy does is read from a table that grows when the walk leaves it, or, with many classes, from the
states visited so far (:mod:`queueing.simulation.policy_rows`). The walk stops where it knows nothing, and
goes on from the same state with the same generator: the state space is never truncated, and the result does
not depend on the size of the first table.

References
----------
.. [1] A. Hordijk, D. L. Iglehart and R. Schassberger, "Discrete time methods for simulating continuous time
   Markov chains", Adv. Appl. Probab. 8(4), 1976. DOI 10.2307/1425933.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import Entropy
from fairness.machine.cache_lines import apart
from fairness.model.problem import FloatArray
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.following import Question
from fairness.protocol.policy import policy_name
from queueing.model.system import System
from queueing.simulation import policy_rows
from queueing.simulation.kernels import kernel
from queueing.simulation.policy_rows import MISSING, Lookup, PolicySource, find, largest_grid, moved, visit
from queueing.simulation.replications import RunLength, estimate_ratio, skewness
from queueing.simulation.results import Simulation
from queueing.simulation.run_length_checks import Measured, Memory, run_warnings
from queueing.simulation.sampling import Level, Pace
from queueing.simulation.starts import given_start, stationary_start
from queueing.states.table import Table

__all__ = ["CountLevel", "CountOptions"]

STEPS = 5
"""Microseconds per event and class, interpreted."""

DRAWN = 2**16
"""Random numbers drawn at a time. To hand a kernel the generator takes as long as a hundred events."""

Run = tuple[FloatArray, tuple[int, ...] | None]
"""Integrals of the job counts and the time, (2 + n_parts, n_classes + 1): halves of the warm-up, then the
measured parts; and the grid of the table that the replication read, if one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CountOptions:
    """Options of ``simulate`` for counts."""

    events: int = 1_000_000
    start: ArrayLike | None = None
    table: Table | None = None


class CountLevel(Level[Run]):
    """The chain of job counts of a system under a policy."""

    kind, options = "counts", CountOptions

    def __init__(
        self,
        system: System,
        policy: AnyPolicy,
        length: RunLength,
        options: CountOptions,
    ) -> None:
        self.name = policy_name(policy)
        fixed = None if options.start is None else given_start(system, options.start)
        system.require_arrivals()
        system.require_poisson("the simulation of counts", 'level="jobs"')
        present = 0.0 if fixed is None else fixed.mean_jobs
        system.require_exponential("the simulation of counts", 'level="jobs"', present)
        system.require_stable()
        self.system, self.length = system, length
        self.effort = float(length.events)
        self.source = PolicySource(system, policy, options.table, self.effort * length.replications)
        self.start = fixed or stationary_start(system, self.source.table is not None)

    def sample(self, generator: np.random.Generator, pace: Pace) -> Run:
        """One replication."""
        system = self.system
        # The start has a stream of its own: the walk is the same from wherever it begins.
        counts = apart(self.start.draw(generator.spawn(1)[0]))
        totals = apart(np.zeros((2 + self.length.parts, system.n_classes + 1)))
        reader = self.source.reader()
        lookup = reader.at(counts)
        rates = system.arrival_rates, 1.0 / system.mean_sizes
        step = walk.small(STEPS * system.n_classes, self.effort * self.length.replications)

        drawn = np.empty(0)

        def go(total: FloatArray, events: int) -> int:
            nonlocal lookup, drawn
            drawn = drawn if len(drawn) else generator.random(min(events, DRAWN))
            points = drawn[:events]
            made = int(step(lookup, *reader.answers, *rates, counts, total, points))
            drawn = drawn[made:]
            if made < len(points):
                lookup = reader.at(counts)
            return made

        for total, events in zip(totals, self.length.pieces, strict=True):
            pace.through(events, partial(go, total))
        return totals, reader.shape

    def result(self, samples: Sequence[Run], entropy: Entropy | None) -> Simulation:
        """What finished replications estimate."""
        system, confidence = self.system, self.length.confidence
        parts = np.stack([run for run, _ in samples])
        totals = parts[:, 2:].sum(axis=1)
        area, time = totals[:, :-1], totals[:, -1:]
        # Of a class that was never present nothing is known.
        area[:, (system.arrival_rates > 0) & ~area.any(axis=0)] = np.nan
        live = np.where(system.arrival_rates > 0, 1.0, np.nan)
        rates, loads = system.arrival_rates * live, system.loads * live
        areas, times = parts[:, 2:, :-1], parts[:, 2:, -1:]
        skew = skewness(areas, times)
        estimates = {
            "mean_jobs": estimate_ratio(area, time, confidence, skew),
            "mean_durations": estimate_ratio(area, rates * time, confidence, skew),
            "service_rates": estimate_ratio(loads * time, area, confidence, skewness(times, areas)),
        }
        measured = Measured.of_runs(parts, np.nan_to_num(estimates["mean_jobs"].value), self.start.mean_jobs)
        warnings = run_warnings(Memory.of(system), measured)
        return self.told(
            Simulation,
            estimates,
            warnings,
            replications=len(samples),
            events=len(samples) * self.length.measured_events,
            time=float(time.sum()),
            entropy=entropy,
            table_shape=largest_grid(shape for _, shape in samples),
        )


@kernel(policy_rows)
def walk(
    lookup: Lookup,
    ask: Any,
    question: Question | None,
    arrival_rates: FloatArray,
    completion_rates: FloatArray,
    counts: NDArray[np.int64],
    totals: FloatArray,
    points: FloatArray,
) -> int:
    """Walk from ``counts``, a jump a point, or to a state without row and answer; jumps made.

    The ``points`` are uniform on [0, 1). ``counts`` moves along; ``totals`` (n_classes + 1,) collects
    x_i/q(x) and 1/q(x).
    """
    n = counts.size
    tasks = lookup.tasks
    row = find(lookup, counts)
    if row == MISSING:
        row = visit(lookup, ask, question, counts)
        if row == MISSING:
            return 0
    arrivals = 0.0
    for i in range(n):
        arrivals += arrival_rates[i]
    # Continue the sum where it stopped: the result must not show where a table was left.
    time = totals[n]
    for event in range(len(points)):
        rate = arrivals
        for i in range(n):
            rate += tasks[row, i] * completion_rates[i]
        holding = 1.0 / rate
        time += holding
        for i in range(n):
            totals[i] += counts[i] * holding
        point = points[event] * rate
        # Rounding may carry the point past the last interval: the last class with a positive rate gets it.
        chosen = -1
        if point < arrivals:
            for i in range(n):
                if arrival_rates[i] > 0:
                    chosen = i
                    if point < arrival_rates[i]:
                        break
                    point -= arrival_rates[i]
            step = 1
        else:
            point -= arrivals
            for i in range(n):
                departures = tasks[row, i] * completion_rates[i]
                if departures > 0:
                    chosen = i
                    if point < departures:
                        break
                    point -= departures
            step = -1
        counts[chosen] += step
        row = moved(lookup, counts, row, chosen, step)
        if row == MISSING:
            row = visit(lookup, ask, question, counts)
            if row == MISSING:
                totals[n] = time
                return event + 1
    totals[n] = time
    return len(points)
