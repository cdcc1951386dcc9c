r"""Does the fluid limit drain? A verdict on the stability of any policy.

If all trajectories of the fluid limit reach 0, the random system has a stationary law [1]_; if the
trajectories around a direction grow for ever, it has none. What decides, in this order:

1. *Load.* A resource (or cluster) with load at least 1 keeps its work, whatever the policy: unstable.
2. *Theorem.* For progressive filling and alpha-fairness a Lyapunov function is known
   (:mod:`queueing.fluid.lyapunov`): stable, a proof. Its drift is also computed at many directions.
3. *Rays.* With one or two classes the direction of the jobs moves on an interval, and the growth along its
   invariant directions decides (:mod:`queueing.fluid.rays`): exact but for zeros closer than the grid.
4. *Search.* With more classes trajectories are followed from the corners, the centre, random directions and,
   again and again, from near the start that has drained most slowly so far. A trajectory ends on a ray (its
   direction stops) or on a cycle (it meets a face of the orthant in the direction of an earlier visit), and
   the growth there is known; or it shrinks or grows a thousandfold. One that grows makes the verdict
   unstable. If all drain, a Lyapunov function is fitted: with it or without, this is numerical evidence.

``evidence`` says which of these, in words.

A trajectory is followed in units of work, :math:`\sigma_i x_i`: while one long job is served short ones may
pile up by the million, and yet all of them are little work.

References
----------
.. [1] J. G. Dai, "On positive Harris recurrence of multiclass queueing networks: a unified approach via
   fluid limit models", Annals of Applied Probability 5(1), 1995. DOI 10.1214/aoap/1177004828.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairness.arguments.validation import Entropy, Seed, entropy_of, frozen, generator, require_whole
from fairness.display.drawing import bars
from fairness.display.result import Result
from fairness.model.problem import FloatArray
from fairness.protocol.calling import policy_tasks
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.policy import policy_name
from queueing.fluid.faces import BARELY, Exhausted
from queueing.fluid.integration import Integrator, check_homogeneous
from queueing.fluid.lyapunov import Certificate, fitted_certificate, known_certificate
from queueing.fluid.rays import Ray, rays
from queueing.model.system import System, check_system

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["FluidVerdict", "Outcome", "Probe", "described", "fluid_verdict", "grows", "jobs_of", "shown"]

CRITICAL = 1e-9
"""Growth below this part of the arrival rate is not told from 0."""

FAR = 1e3
"""Factor by which a trajectory shrinks or grows before it is given up as drained or growing."""

STILL = 1e-8
"""The direction stands still when it moves more slowly than this part of the arrival rate."""

SAME = 1e-6
"""Directions closer than this on two visits of a face close a cycle."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """How one trajectory went.

    Attributes
    ----------
    start : ndarray of shape (n_classes,)
        Parts of the classes among the jobs at the start.
    kind : {"ray", "cycle", "drained", "grown", "unfinished"}
    direction : ndarray of shape (n_classes,)
        At the end: the ray, or a point of the cycle.
    growth : float, jobs per unit of time
        Rate of growth of |x| along a ray; on a cycle and, for "drained" and "grown", over the whole
        trajectory the mean rate of the work per unit of it, in jobs of its last direction.
    peak : float
        Largest |x| over the first.
    """

    start: FloatArray
    kind: str
    direction: FloatArray
    growth: float
    peak: float


@dataclass(frozen=True, eq=False, repr=False)
class FluidVerdict(Result):
    """Whether the fluid limit drains; made by :func:`fluid_verdict`.

    Attributes
    ----------
    system : System
    policy : str
    status : {"stable", "unstable", "undecided"}
    basis : {"load", "theorem", "rays", "certificate", "trajectories"}
        What the verdict rests on; "load" and "theorem" are proofs.
    evidence : str
    growth : float, jobs per unit of time
        Largest growth found along rays and cycles (for "trajectories" also over whole ones), on which the
        verdict depends; nan for "load" and "theorem", and where a trajectory was given up.
    rays : tuple of Ray
        One or two classes: all that were found.
    outcomes : tuple of Outcome
        The trajectories of the search.
    certificate : Certificate or None
    entropy : int, list of int or str, or None
        The seed: ``rng=entropy`` repeats the verdict; "a generator" where no seed does, None where nothing
        was drawn.
    """

    system: System
    policy: str
    status: str
    basis: str
    evidence: str
    growth: float = math.nan
    rays: tuple[Ray, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    certificate: Certificate | None = None
    entropy: Entropy | None = None

    @property
    def stable(self) -> bool:
        """Whether the status is "stable"."""
        return self.status == "stable"

    def to_dataframe(self) -> pd.DataFrame:
        """One row per ray or trajectory: kind, growth, direction."""
        import pandas as pd

        found: tuple[Ray | Outcome, ...] = self.rays or self.outcomes
        frame = pd.DataFrame({"kind": [one.kind for one in found], "growth": [one.growth for one in found]})
        for i, name in enumerate(self.system.problem.job_classes):
            frame[f"part {name}"] = [one.direction[i] for one in found]
        return frame

    def summary(self) -> str:
        """The verdict and what it rests on."""
        return f"{self.policy} is {self.status} in the fluid limit: {self.evidence}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars: growth along every ray or trajectory; where none was needed, the relative loads."""
        found = self.to_dataframe()
        title = f"{self.policy}: {self.status}"
        if found.empty:
            loads = self.system.relative_loads
            return bars(ax, self.system.load_names, loads, ylabel="relative load", title=title)
        names = [f"{k}: {kind}" for k, kind in enumerate(found["kind"])]
        return bars(ax, names, found["growth"], ylabel="growth (jobs per unit of time)", title=title)


def fluid_verdict(
    system: System,
    policy: AnyPolicy,
    *,
    starts: int = 12,
    rng: Seed = 0,
    max_evaluations: int = 20_000,
    theorems: bool = True,
) -> FluidVerdict:
    """Stability of a policy at the loads of a system, from its fluid limit.

    Parameters
    ----------
    system : System
        A pool or a cluster. Classes without arrivals are left out.
    policy : callable
        Homogeneous of degree 0 in counts, and continuous where all counts are positive (with two classes it
        may jump there too).
    starts : int
        With three or more classes: trajectories beside those from the corners and the centre; half of them
        at random, half near the slowest.
    rng : numpy Generator or seed
    max_evaluations : int
        Calls of the policy per trajectory; after one that was given up, of all that follow: with it stability
        is not to be seen any more, only growth.
    theorems : bool
        False asks for evidence from the policy's allocations even where stability is proved.

    Returns
    -------
    FluidVerdict

    Raises
    ------
    ModelError
        If the policy depends on more than the proportions of the counts, a class with arrivals has a limit of
        tasks per job, or starts is negative.

    Examples
    --------
    Strict priority to short flows wastes a link while the long flow waits for both [2]_.

    >>> from fairness import Problem
    >>> line = Problem([[1, 1], [1, 0], [0, 1]], [1, 1])
    >>> def short_first(problem, counts):
    ...     here = (np.asarray(counts) > 0).astype(float)
    ...     long = here[..., 0] * (1 - here[..., 1]) * (1 - here[..., 2])
    ...     return np.stack([long, here[..., 1], here[..., 2]], axis=-1)
    >>> fluid_verdict(System(line, [0.3, 0.4, 0.4]), short_first).status
    'stable'
    >>> fluid_verdict(System(line, [0.4, 0.4, 0.4]), short_first).status
    'unstable'

    References
    ----------
    .. [2] T. Bonald and L. Massoulié, "Impact of fairness on Internet performance", SIGMETRICS 2001.
       DOI 10.1145/378420.378438.
    """
    check_system(system)
    require_whole("starts", starts, 0)
    require_whole("max_evaluations", max_evaluations, 1)
    name, stream = policy_name(policy), generator(rng)
    entropy = entropy_of(stream)
    live = np.flatnonzero(system.arrival_rates > 0)
    if not len(live):
        return FluidVerdict(system, name, "stable", "load", "no job ever arrives")
    middle = np.zeros(system.n_classes)
    middle[live] = 1.0 / len(live)
    # From a small part of a job to several jobs.
    check_homogeneous(system, policy, middle / 32)
    if system.overloaded.any():
        k = int(np.argmax(system.relative_loads))
        text = (
            f"{system.load_names[k]} has load {system.relative_loads[k]:.6g}, and below 1 is needed (proof)"
        )
        return FluidVerdict(system, name, "unstable", "load", text)
    known = known_certificate(system, policy) if theorems else None
    if known is not None:
        known = known.checked(*_inside(system, policy, live, 200, stream))
        text = (
            f"proved by a Lyapunov function of type {known.kind}; its drift, over its value, was also "
            f"computed at {known.directions} directions and is at most {known.drift:.3g}"
        )
        # A drift that is not negative contradicts the theorem: the policy is not what it says it is.
        status = "stable" if known.drift < 0 else "undecided"
        return FluidVerdict(system, name, status, "theorem", text, certificate=known, entropy=entropy)
    if len(live) <= 2:
        return _by_rays(system, policy, name)
    found = _by_search(system, policy, name, live, starts, stream, max_evaluations)
    return replace(found, entropy=entropy)


def _by_rays(system: System, policy: AnyPolicy, name: str) -> FluidVerdict:
    found = rays(system, policy)
    tolerance = CRITICAL * float(system.arrival_rates.sum())
    worst = max(found, key=lambda ray: ray.growth)
    decisive = max(
        (ray for ray in found if ray.kind == "attracting"), key=lambda ray: ray.growth, default=worst
    )
    if decisive.kind == "attracting" and decisive.growth > tolerance:
        status, ray = "unstable", decisive
        text = f"the jobs grow along the {ray.kind} ray {shown(ray.direction)}"
    elif worst.growth < -tolerance:
        status, ray = "stable", worst
        which = (
            f"all {len(found)} invariant rays, most slowly on"
            if len(found) > 1
            else "the only invariant ray,"
        )
        text = f"the jobs drain along {which} {shown(ray.direction)}"
    else:
        status, ray = "undecided", worst
        text = (
            f"the jobs grow along the ray {shown(ray.direction)}, but it "
            + ("repels" if ray.kind == "repelling" else "does not attract from both sides")
            if ray.growth > tolerance
            else f"no growth or drain is seen along the ray {shown(ray.direction)}"
        )
    text += f" ({ray.growth:+.4g} jobs per unit of time)"
    return FluidVerdict(system, name, status, "rays", text, ray.growth, found)


def _by_search(
    system: System,
    policy: AnyPolicy,
    name: str,
    live: np.ndarray,
    starts: int,
    stream: np.random.Generator,
    budget: int,
) -> FluidVerdict:
    n = len(live)
    # Off the faces, where a policy may serve a present class and an absent one by different rules.
    corners = [np.where(np.arange(n) == i, 1.0 - 0.01 * (n - 1), 0.01) for i in range(n)]
    planned = [*corners, np.full(n, 1.0 / n), *np.eye(n)]
    planned += [stream.dirichlet(np.full(n, 0.7)) for _ in range((starts + 1) // 2)]
    outcomes: list[Outcome] = []
    extra, left = starts // 2, budget
    while (planned or extra) and left > 0:
        if planned:
            part = planned.pop(0)
        else:
            slowest = max(outcomes, key=lambda one: (one.growth, one.peak)).start * system.mean_sizes
            part = 0.7 * slowest[live] / slowest.sum() + 0.3 * stream.dirichlet(np.full(n, 0.5))
            extra -= 1
        start = np.zeros(system.n_classes)
        start[live] = part
        probe = Probe(system, policy, jobs_of(system, start), left)
        outcomes.append(probe.outcome())
        if any(one.kind == "unfinished" for one in outcomes[:-1]):
            left -= probe.evaluations
        if grows(system, outcomes[-1]):
            break
    done = tuple(outcomes)
    worst = max(done, key=lambda one: one.growth)
    unfinished = [one for one in done if one.kind == "unfinished"]
    growing = [one for one in done if grows(system, one)]
    if growing:
        one = growing[0]
        where = "ends on" if one.kind in ("ray", "cycle") else "has grown a thousandfold at"
        text = f"the trajectory from {shown(one.start)} {where} {described(one)}"
        return FluidVerdict(system, name, "unstable", "trajectories", text, one.growth, outcomes=done)
    if unfinished or not all(grows(system, one, sign=-1) for one in done):
        one = unfinished[0] if unfinished else worst
        text = (
            f"the trajectory from {shown(one.start)} was given up after {budget} evaluations at"
            if unfinished
            else f"no growth or drain is seen from {shown(one.start)}:"
        )
        text += f" {described(one)}"
        growth = math.nan if unfinished else one.growth
        return FluidVerdict(system, name, "undecided", "trajectories", text, growth, outcomes=done)
    text = (
        f"{len(done)} trajectories drain, the slowest along {described(worst)}; numerical evidence, no proof"
    )
    fitted = _fitted(system, policy, live, stream)
    if fitted is None:
        return FluidVerdict(system, name, "stable", "trajectories", text, worst.growth, outcomes=done)
    text += (
        f"; a Lyapunov function of type {fitted.kind} has drift at most {fitted.drift:.3g} of its value at "
        f"{fitted.directions} directions"
    )
    return FluidVerdict(
        system, name, "stable", "certificate", text, worst.growth, outcomes=done, certificate=fitted
    )


def _fitted(
    system: System, policy: AnyPolicy, live: np.ndarray, stream: np.random.Generator
) -> Certificate | None:
    """Fitted to some directions, and checked at more of them and at directions of the faces."""
    first = _inside(system, policy, live, 60 * len(live), stream)
    second = _inside(system, policy, live, 240 * len(live), stream)
    faces = _faces(system, policy, live, 12 * len(live), stream)
    pairs = [tuple(array[:, live] for array in pair) for pair in (first, second, faces)]
    fit = tuple(np.vstack(pair) for pair in zip(pairs[0], pairs[2], strict=True))
    found = fitted_certificate(*fit, others=pairs[1])  # type: ignore[misc,arg-type]
    if found is None:
        return None
    shape = (system.n_classes,) * found.coefficients.ndim
    coefficients = np.zeros(shape)
    coefficients[np.ix_(*[live] * found.coefficients.ndim)] = found.coefficients
    return replace(found, coefficients=frozen(coefficients))


def _inside(
    system: System, policy: AnyPolicy, live: np.ndarray, number: int, stream: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Directions with all classes ``live`` present, some barely, and the drift there."""
    parts = stream.dirichlet(np.full(len(live), 0.6), number)
    parts[: number // 4][stream.uniform(size=(number // 4, len(live))) < 0.4] = 0.0
    parts[0] = 1.0
    parts = np.maximum(parts / np.maximum(parts.sum(axis=1, keepdims=True), 1e-300), BARELY)
    u = np.zeros((number, system.n_classes))
    u[:, live] = parts
    f = system.arrival_rates - policy_tasks(system.problem, policy, u) / system.mean_sizes
    return u, f


def _faces(
    system: System, policy: AnyPolicy, live: np.ndarray, number: int, stream: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Directions with some classes empty, and the mean drift where these stay empty."""
    directions, drifts = [], []
    for _ in range(number):
        u = np.zeros(system.n_classes)
        here = stream.uniform(size=len(live)) < 0.5
        here[stream.integers(len(live))] = True
        u[live[here]] = stream.dirichlet(np.ones(int(here.sum())))
        probe = Probe(system, policy, u, 20_000)
        directions.append(u)
        drifts.append(probe.mean_drift())
    return np.array(directions), np.array(drifts)


def jobs_of(system: System, work: FloatArray) -> FloatArray:
    """Parts of the classes among the jobs, from those in the work."""
    jobs: FloatArray = work / system.mean_sizes
    return jobs / jobs.sum()


def grows(system: System, one: Outcome, *, sign: int = 1, least: float = CRITICAL) -> bool:
    """Whether a trajectory ends in growth (of the opposite sign: in drain) that is told from 0."""
    work = one.growth * float(one.direction @ system.mean_sizes)
    return one.kind != "unfinished" and sign * work > least * float(system.loads.sum())


class Probe(Integrator):
    """A trajectory that is followed, in units of work, only until its fate is known.

    Of the largest mean size: jobs of size :math:`\\sigma_i` count as :math:`\\sigma_i/\\max_k\\sigma_k`.
    """

    def __init__(
        self,
        system: System,
        policy: AnyPolicy,
        start: FloatArray,
        budget: int,
        *,
        rtol: float = 1e-7,
        smallest: float = 1.0 / FAR,
    ) -> None:
        largest = system.mean_sizes.max()
        self.units = system.mean_sizes / largest
        work = System(system.problem, system.arrival_rates * self.units, np.full(system.n_classes, largest))
        super().__init__(work, policy, start * self.units, None, rtol, "LSODA", 1, budget)
        rate = float(work.arrival_rates.sum())
        self.smallest, self.largest, self.still = smallest, FAR, STILL * rate
        self.start = start

    def _ask(self, states: FloatArray) -> FloatArray:
        return super()._ask(states / self.units)

    def outcome(self) -> Outcome:
        """Follow the pieces until the direction stops or repeats, or the size has changed a lot."""
        visits: list[tuple[int, bytes, FloatArray, float, float]] = []
        try:
            for cause, face in self.regimes():
                if not isinstance(cause, int):
                    continue
                held = face.empty.tobytes()
                for where, what, u, log_size, steps in visits:
                    if (where, what) == (cause, held) and np.abs(u - self.u).max() < SAME:
                        passed = self.steps - steps
                        # Standing still at an event is no cycle.
                        if passed > 1e-3 / float(self.system.arrival_rates.sum()):
                            return self._end("cycle", (self.log_size - log_size) / passed)
                visits.append((cause, held, self.u.copy(), self.log_size, self.steps))
            if cause == "still":
                return self._end("ray", float(self.face.drift(self.u).sum()))
            return self._end("drained" if cause == "emptied" else "grown", self.log_size / self.steps)
        except Exhausted:
            return self._end("unfinished", self.log_size / self.steps if self.steps else 0.0)

    def mean_drift(self) -> FloatArray:
        """Drift at the start, its empty classes staying empty where they do."""
        face = self._settle(None, self.u == 0)
        return face.drift(self.u) / self.units

    def _end(self, kind: str, growth: float) -> Outcome:
        jobs = self.u / self.units
        number = float(jobs.sum())
        sizes = (np.array(self.counts) / self.units).sum(axis=1)
        peak = float(sizes.max() / sizes[0])
        return Outcome(self.start, kind, frozen(jobs / number), growth * number, peak)


def described(one: Outcome) -> str:
    """Where a trajectory ended, and how fast its jobs grow there."""
    what = {"ray": "the ray", "cycle": "a cycle through"}.get(one.kind, "direction")
    return f"{what} {shown(one.direction)} ({one.growth:+.4g} jobs per unit of time)"


def shown(direction: FloatArray) -> str:
    """Parts of the classes, to four digits."""
    return "(" + ", ".join(f"{v:.4g}" for v in direction) + ")"
