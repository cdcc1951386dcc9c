r"""A search for loads that fit but that a policy does not stand.

Whether bottleneck max fairness is stable whenever :math:`\varrho_j < C_j` for all resources is open [1]_. The
search draws random systems with loads inside the capacity region, near its boundary, and asks
:func:`queueing.fluid.verdict.fluid_verdict` about each: it knows the theorems that prove stability, follows
fluid trajectories from the corners, the centre, random directions and, again and again, near the slowest
start so far, and fits Lyapunov functions. What is found about a system is one of

* *theorem*: stable, proved (the certificate names the Lyapunov function);
* *rays*: one or two classes; the jobs drain along all invariant rays;
* *certificate*: all trajectories drain, and a fitted Lyapunov function falls at all directions checked;
* *draining*: no growing trajectory found, and no more than that;
* *undecided*: some trajectory could not be followed to an end, or the growth is 0 up to rounding;
* *unstable*: a trajectory whose jobs grow for ever, the witness.

Only the first is a proof.

The *emptying ratio* compares the jobs on an invariant ray u, which drain at the rate :math:`|g|` per job and
are gone after :math:`1/|g|`, with the least time in which any policy could empty the queues,

.. math:: T \ge \max_j \frac{\sum_i a_{ij}\sigma_i u_i}{C_j - \varrho_j},

since resource j serves at most :math:`C_j` units of the work waiting for it, while :math:`\varrho_j` arrive.
It is at least 1, infinite where the jobs grow, and shows how near the search came to an instability.

No instability among N systems is evidence, not a proof: with N systems drawn independently and none
unstable, the fraction in which this search would see an instability is below :math:`1 - 0.05^{1/N}` in the
family drawn, with 95 % confidence.

References
----------
.. [1] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and Control of
   Large-Scale Networks, Eindhoven, 2014.
.. [2] T. Bonald and L. Massoulié, "Impact of fairness on Internet performance", SIGMETRICS 2001.
   DOI 10.1145/378420.378438.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fairness.arguments.validation import Entropy, Seed, require_whole, require_workers
from fairness.display.drawing import bars
from fairness.display.result import Result
from fairness.display.wording import percent
from fairness.errors import ModelError
from fairness.machine.backends import BackendError, stream
from fairness.machine.work import OutOfTime, ProgressOption, Task, stopped, watching
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.policy import policy_name
from fairness.testing import KINDS, random_problem
from queueing.fluid.verdict import FluidVerdict, fluid_verdict
from queueing.model.system import System
from queueing.simulation.replications import spawn_streams

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "FOUND",
    "Finding",
    "InstabilitySearch",
    "RandomLines",
    "RandomSystems",
    "least_emptying_time",
    "search_instability",
]

CONFIDENCE = 0.95

FOUND = ("theorem", "rays", "certificate", "draining", "undecided", "unstable")
"""What can be found about a system."""


@dataclass(frozen=True)
class RandomSystems:
    """Random demands, loads and mean sizes with the busiest resource at a given load.

    Parameters
    ----------
    n_classes, n_resources : int
    load : (float, float)
        Relative load of the busiest resource, uniform between the two, in (0, 1).
    kinds : tuple of {"dense", "sparse", "integer"}
        Families of :func:`fairness.testing.random_problem`, taken in turn.
    """

    n_classes: int
    n_resources: int
    load: tuple[float, float] = (0.9, 0.99)
    kinds: tuple[str, ...] = KINDS

    def __post_init__(self) -> None:
        require_whole("n_classes", self.n_classes, 1)
        require_whole("n_resources", self.n_resources, 1)
        _check_load(self.load)
        for kind in self.kinds:
            if kind not in KINDS:
                raise ModelError.of("kinds", f"must be among {', '.join(KINDS)}; got {kind!r}")
        if not self.kinds:
            raise ModelError.of("kinds", f"must name at least one of {', '.join(KINDS)}")

    def __str__(self) -> str:
        return f"{self.n_classes} classes on {self.n_resources} resources"

    def __call__(self, rng: np.random.Generator, index: int) -> System:
        """The system with this index."""
        kind = self.kinds[index % len(self.kinds)]
        problem = random_problem(rng, self.n_classes, self.n_resources, kind=kind)
        mix = rng.exponential(size=self.n_classes) / problem.task_shares.max(axis=1)
        sizes = rng.uniform(0.2, 5, self.n_classes)
        return System.with_load(problem, mix, float(rng.uniform(*self.load)), sizes)


@dataclass(frozen=True)
class RandomLines:
    """Linear networks: class 0 needs all links, every other class a link of its own.

    Their answer is known where the short classes go first: unstable when the load of class 0 exceeds the
    product of the parts of time in which the links are free, and stable below [2]_ (module docstring).

    Parameters
    ----------
    links : int
    load : (float, float)
        Load of the busiest link; the others carry at least half of such a load.
    """

    links: int = 2
    load: tuple[float, float] = (0.8, 0.99)

    def __post_init__(self) -> None:
        require_whole("links", self.links, 1)
        _check_load(self.load)

    def __str__(self) -> str:
        return f"linear networks of {self.links} links"

    def __call__(self, rng: np.random.Generator, index: int) -> System:
        """The system with this index."""
        total = float(rng.uniform(*self.load)) * rng.uniform(0.5, 1.0, self.links)
        total[rng.integers(self.links)] = rng.uniform(*self.load)
        long = float(rng.uniform(0.1, 1.0) * total.min())
        demands = np.vstack([np.ones(self.links), np.eye(self.links)])
        sizes = rng.uniform(0.2, 5, self.links + 1)
        return System(Problem(demands, np.ones(self.links)), np.append(long, total - long) / sizes, sizes)


@dataclass(frozen=True, eq=False)
class Finding:
    """What was found about one system.

    Attributes
    ----------
    index : int
        Number of the system in the search: the same seed draws the same systems.
    system : System
    verdict : FluidVerdict
        With its trajectories; ``evidence`` says it in words.
    found : str
        One of ``FOUND``.
    ratio : float
        Largest emptying ratio of its invariant rays; infinite where unstable, nan where no ray was met.
    """

    index: int
    system: System
    verdict: FluidVerdict
    found: str
    ratio: float


@dataclass(frozen=True, eq=False, repr=False)
class InstabilitySearch(Result):
    """What a search for an instability found; made by :func:`search_instability`.

    Attributes
    ----------
    policy, family : str
    findings : tuple of Finding
        One per system.
    entropy : int, list of int or str
        The seed: ``rng=entropy`` repeats the search; "a generator" where no seed does.
    """

    policy: str
    family: str
    findings: tuple[Finding, ...]
    entropy: Entropy | None

    @property
    def counts(self) -> dict[str, int]:
        """How many systems of each kind of ``FOUND``."""
        found = Counter(one.found for one in self.findings)
        return {kind: found[kind] for kind in FOUND}

    @property
    def trajectories(self) -> int:
        """Fluid trajectories followed."""
        return sum(len(one.verdict.outcomes) for one in self.findings)

    @property
    def ratios(self) -> FloatArray:
        """Largest emptying ratio of each system, (n_systems,)."""
        return np.array([one.ratio for one in self.findings])

    @property
    def witness(self) -> Finding | None:
        """The unstable system whose jobs grow fastest next to its arrivals; None if there is none."""
        bad = [one for one in self.findings if one.found == "unstable"]
        return max(
            bad, key=lambda one: one.verdict.growth / float(one.system.arrival_rates.sum()), default=None
        )

    @property
    def fraction_bound(self) -> float:
        """Upper confidence bound (95 %) of the fraction of unstable systems, if none was found; else nan."""
        counts = self.counts
        decided = len(self.findings) - counts["undecided"]
        if counts["unstable"] or decided < 1:
            return math.nan
        return 1.0 - (1.0 - CONFIDENCE) ** (1.0 / decided)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per system: its load, what was found, the emptying ratio, the growth."""
        return pd.DataFrame(
            {
                "load": [float(one.system.relative_loads.max()) for one in self.findings],
                "found": [one.found for one in self.findings],
                "ratio": self.ratios,
                "growth": [one.verdict.growth for one in self.findings],
                "evidence": [one.verdict.evidence for one in self.findings],
            },
            index=pd.RangeIndex(len(self.findings), name="system"),
        )

    def summary(self) -> str:
        """The counts, what they say and what they do not."""
        counts = self.counts
        listed = ", ".join(f"{kind} {count}" for kind, count in counts.items() if count)
        lines = [
            f"{self.policy}, {len(self.findings)} systems ({self.family}), {self.trajectories} fluid "
            f"trajectories: {listed}"
        ]
        witness = self.witness
        if witness is not None:
            lines.append(f"  witness, system {witness.index}: {witness.verdict.evidence}")
        elif counts["theorem"] == len(self.findings):
            lines.append("  stable by a theorem")
        elif math.isfinite(self.fraction_bound):
            lines.append(
                f"  no instability found: evidence, no proof; with {percent(CONFIDENCE)} confidence the "
                f"search would see one in less than {100 * self.fraction_bound:.2g} % of the systems that it "
                "decides"
            )
        ratios = self.ratios[np.isfinite(self.ratios)]
        if len(ratios):
            lines.append(f"  largest finite emptying ratio {ratios.max():.4g}")
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars: how many systems of each kind."""
        found = self.counts
        title = f"{self.policy}, {len(self.findings)} systems ({self.family})"
        return bars(ax, list(found), list(found.values()), ylabel="systems", title=title)


def search_instability(
    policy: AnyPolicy,
    draw: Callable[[np.random.Generator, int], System],
    n: int,
    *,
    rng: Seed = None,
    starts: int = 2,
    max_evaluations: int = 2000,
    theorems: bool = True,
    n_jobs: int = 1,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> InstabilitySearch:
    """Search systems inside the capacity region for fluid trajectories that do not drain.

    Parameters
    ----------
    policy : callable
        ``policy(problem, counts) -> tasks``, as :func:`queueing.fluid.verdict.fluid_verdict` asks for.
    draw : callable
        ``draw(generator, index) -> System``, with all resources below load 1: :class:`RandomSystems`,
        :class:`RandomLines` or a family of one's own.
    n : int
        How many systems.
    rng : numpy Generator or seed
        Every system has its own generator, so the first systems of a longer search are the same.
    starts, max_evaluations, theorems
        Of :func:`queueing.fluid.verdict.fluid_verdict`.
    n_jobs : int
        Systems searched at the same time (joblib; processes unless ``joblib.parallel_config`` says
        otherwise). The result does not depend on it.
    progress, time_limit
        As in :func:`capacity.service_boundary`.

    Returns
    -------
    InstabilitySearch

    Raises
    ------
    ModelError
        If an argument is wrong, or a system is overloaded.
    NotConvergedError
        If the time is over; ``best`` is the search of the systems done by then, and so is that of the
        BackendError, a NotConvergedError, that comes if workers die.

    Examples
    --------
    >>> from fairness import ProportionalFair
    >>> search_instability(ProportionalFair(), RandomSystems(3, 2), 3, rng=1).counts["theorem"]
    3
    """
    require_whole("n", n, 1)
    require_workers(n_jobs)
    streams = spawn_streams(rng, n)
    findings: dict[int, Finding] = {}
    options: Any = {"starts": starts, "max_evaluations": max_evaluations, "theorems": theorems}

    def found() -> InstabilitySearch:
        known = tuple(findings[index] for index in sorted(findings))
        return InstabilitySearch(policy_name(policy), str(draw), known, streams.entropy)

    tasks = ((index, draw, policy, generator, options) for index, generator in enumerate(streams.generators))
    try:
        with (
            watching(progress, time_limit),
            Task("the search for an instability", n, "systems") as work,
            closing(stream(_searched, tasks, n_jobs)) as results,
        ):
            for index, finding in results:
                findings[index] = finding
                work.advance()
    except (OutOfTime, KeyboardInterrupt, BackendError) as stop:
        best = found() if findings else None
        raise stopped(stop, f"{len(findings)} of {n} systems are searched", best) from None
    return found()


def _searched(
    index: int,
    draw: Callable[[np.random.Generator, int], System],
    policy: AnyPolicy,
    generator: np.random.Generator,
    options: dict[str, Any],
) -> Finding:
    """One system."""
    system = draw(generator, index)
    if system.overloaded.any():
        raise ModelError(
            f"draw gave a system of relative load {system.relative_loads.max():.6g} (number {index}); every "
            "policy is unstable from 1 on: draw smaller loads"
        )
    verdict = fluid_verdict(system, policy, rng=generator, **options)
    return Finding(index, system, verdict, _found(verdict), _ratio(system, verdict))


def least_emptying_time(system: System, start: FloatArray) -> float:
    """The least time in which any policy can empty the fluid queues."""
    work = (start * system.mean_sizes) @ system.problem.task_shares
    return float((work / (1.0 - system.relative_loads)).max())


def _found(verdict: FluidVerdict) -> str:
    if verdict.status != "stable":
        return verdict.status
    return {"load": "theorem", "trajectories": "draining"}.get(verdict.basis, verdict.basis)


def _ratio(system: System, verdict: FluidVerdict) -> float:
    if verdict.status == "unstable":
        return math.inf
    met = [(ray.growth, ray.direction) for ray in verdict.rays]
    met += [(one.growth, one.direction) for one in verdict.outcomes if one.kind == "ray"]
    ratios = [-1.0 / growth / least_emptying_time(system, u) for growth, u in met if growth < 0]
    return max(ratios, default=math.nan)


def _check_load(load: tuple[float, float]) -> None:
    if not 0 < load[0] <= load[1] < 1:
        raise ModelError.of("load", f"must be two relative loads, increasing, between 0 and 1; got {load}")
