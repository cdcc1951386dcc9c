r"""Bounds of mean counts without a chain: quadratic functions of the counts, found by linear programs.

*Comparison.* If :math:`f + Qg \le c` in all states, where Q is the generator and g has mean drift 0, then
:math:`E f \le c`. Here f is a weighted sum of the counts and g quadratic, so that f + Qg is linear in the
counts, the tasks and their products :math:`x_k\varphi_i`. What is known of a policy in every state makes this
a linear program (:mod:`queueing.certificates.moments.moments`), of a size that grows with the square of the
number of classes, and not with the number of states. Its multipliers, made exact, are the proof
(:mod:`queueing.certificates.drift_certificate`). [1]_, [2]_, [3]_ have the method for queueing networks,
[4]_ one function for PF.

On one resource the bounds meet under filling, PF and BMF, which then are discriminatory processor sharing.
Otherwise quadratic functions leave a gap, which grows with the load.

References
----------
.. [1] P. W. Glynn and A. Zeevi, "Bounding stationary expectations of Markov processes", IMS Collections 4,
   2008. DOI 10.1214/074921708000000381.
.. [2] S. Kumar and P. R. Kumar, "Performance bounds for queueing networks and scheduling policies", IEEE
   Transactions on Automatic Control 39(8), 1994. DOI 10.1109/9.310033.
.. [3] D. Bertsimas, I. Paschalidis and J. Tsitsiklis, "Optimization of multiclass queueing networks:
   polyhedral and nonlinear characterizations of achievable performance", Annals of Applied Probability 4(1),
   1994. DOI 10.1214/aoap/1177005200.
.. [4] T. Bonald and L. Massoulié, "Impact of fairness on Internet performance", SIGMETRICS 2001.
   DOI 10.1145/378420.378438.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import model_array, require_whole
from fairness.display.tables import aligned
from fairness.errors import ModelError
from fairness.exact.outward import above, below
from fairness.machine.work import ProgressOption, Task, watching
from fairness.model.problem import FloatArray
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.policy import policy_name
from queueing.certificates.bounded_means import BoundedMeans
from queueing.certificates.drift_certificate import DriftCertificate
from queueing.certificates.errors import CertificateError
from queueing.certificates.families import certified
from queueing.certificates.moments.families import finite_moments, moments_of, names_of
from queueing.certificates.moments.free_moments import FreeMoments
from queueing.certificates.moments.moments import Moments, Numbers
from queueing.certificates.pool import Pool
from queueing.enclosures.moment_programs.moment_program import MomentProgram
from queueing.enclosures.moment_programs.rounding import Spare, exact, repaired, repaired_freely
from queueing.model.system import System, check_system

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["DriftBound", "drift_bound"]

ROUNDS = 60


@dataclass(frozen=True, eq=False, repr=False)
class DriftBound(BoundedMeans):
    """Proved bounds of mean counts in the infinite chain; made by :func:`drift_bound`.

    Attributes
    ----------
    system : System
    policy : str
        Its name, or "any policy".
    names : tuple of str
        What is bounded.
    weights : ndarray of shape (n_bounds, n_classes)
        Weights of the classes' mean counts in each.
    lower, upper : ndarray of shape (n_bounds,)
        Bounds; ``upper`` is infinite where none was found.
    lower_proofs : tuple of DriftCertificate
    upper_proofs : tuple of DriftCertificate or None
    """

    system: System
    policy: str
    names: tuple[str, ...]
    weights: FloatArray
    lower: FloatArray
    upper: FloatArray
    lower_proofs: tuple[DriftCertificate, ...]
    upper_proofs: tuple[DriftCertificate | None, ...]

    def check(self) -> None:
        """Check all proofs again, in fractions; CertificateError if one does not hold."""
        for k in range(len(self.names)):
            pairs = [(self.lower_proofs[k], self.lower[k]), (self.upper_proofs[k], self.upper[k])]
            for proof, claimed in pairs:
                if proof is None:
                    holds = claimed == np.inf
                else:
                    proved, same = proof.check(), proof.system is self.system
                    same = same and [float(w) for w in proof.weights] == self.weights[k].tolist()
                    holds = same and (above(proved) <= claimed if proof.upper else below(proved) >= claimed)
                    holds = holds and proof.upper == (proof is self.upper_proofs[k])
                    holds = holds and self.policy in names_of(proof.policy, proof.parameters, self.policy)
                if not holds:
                    raise CertificateError(
                        "claim", f"{self.names[k]}: {claimed} is not what its proof proves"
                    )

    def to_dataframe(self) -> pd.DataFrame:
        """One row per bound: lower, upper."""
        return super().to_dataframe().drop(columns="width")

    def summary(self) -> str:
        """The bounds and what they rest on."""
        bounds = zip(self.names, self.lower, self.upper, strict=True)
        rows = [[name, f"{low:.6g} to {high:.6g}"] for name, low, high in bounds]
        n = self.system.n_classes
        head = f"drift bounds under {self.policy}, {n} {'class' if n == 1 else 'classes'}"
        return "\n".join([head, *aligned(rows, words=1), f"  {self._evidence()}"])

    def _evidence(self) -> str:
        proofs = [proof for proof in (*self.lower_proofs, *self.upper_proofs) if proof is not None]
        what = "function" if len(proofs) == 1 else "functions"
        text = f"proved: {len(proofs)} quadratic {what} of the counts, checked in fractions"
        if np.isinf(self.upper).any():
            text += "; no function was found that bounds what has no upper bound"
        return text

    def plot(self, ax: Axes | None = None) -> Axes:
        """From the lower to the upper bound of each; hatched where there is no upper one."""
        return self._drawn(ax, f"bounds under {self.policy}", "mean jobs")


def drift_bound(
    system: System,
    policy: AnyPolicy | None = None,
    *,
    of: str | int | Sequence[str] | ArrayLike | None = None,
    rounds: int = ROUNDS,
    progress: ProgressOption = None,
) -> DriftBound:
    """Bound mean counts of the infinite chain, with proof, for any number of classes.

    Parameters
    ----------
    system : System
        A pool with Poisson arrivals, exponential sizes and load below 1.
    policy : callable, optional
        ProportionalFair, MaxMin, DRF, AssetFair, BottleneckMax or AlphaFair. For other policies, for jobs
        with limits and without a policy the bounds hold for every policy, and there are lower ones only.
    of : str, int, sequence of str, or array_like of shape (n_classes,) or (n_bounds, n_classes)
        What is bounded: the mean count of a class, by name or index, of each class named, or sums of them
        with weights >= 0. Default: all jobs.
    rounds : int
        Most rounds of cuts per bound; with more of them the upper bounds may fall.
    progress : bool or callable, optional

    Returns
    -------
    DriftBound

    Raises
    ------
    UnstableError
        If a resource has relative load >= 1.
    ModelError
        If the system is none of these, or ``of`` names no weights.
    NotConvergedError
        If a linear program has no solution that can be used.

    Examples
    --------
    >>> from fairness import DRF, Problem
    >>> pool = Problem([[1, 0.3], [0.2, 1]], [1, 1])
    >>> system = System.with_load(pool, [1, 2], 0.8)
    >>> bound = drift_bound(system, DRF())
    >>> bound.lower.round(2), bound.upper.round(2)
    (array([4.49]), array([5.85]))
    >>> print(drift_bound(system, of="class 1"))
    drift bounds under any policy, 2 classes
      jobs of class 1  0.533333 to inf
      proved: 1 quadratic function of the counts, checked in fractions; no function was found that bounds
      what has no upper bound
    """
    problem = check_system(system).require_pool("the drift bound")
    system.require_poisson("the drift bound")
    system.require_exponential("the drift bound")
    require_whole("rounds", rounds, 0)
    weights, names = _targets(system, of)
    system.require_stable()
    try:
        pool = Pool.of(system)
    except CertificateError as error:
        raise ModelError(f"the drift bound cannot take this system: {error}") from None
    name, parameters = ("any", {}) if policy is None else _told(policy)
    if np.shape(parameters.get("resource_weights", problem.demands)) != problem.demands.shape:
        raise ModelError.of("resource_weights", f"must have the shape {problem.demands.shape} of demands")
    if np.isfinite(problem.limits[pool.classes]).any():
        name, parameters = "any", {}
    numbers = Numbers.of(pool)
    blank = DriftCertificate(
        system, name, parameters, (Fraction(0),) * system.n_classes, True, Fraction(0), {}, {}, ()
    )
    with watching(progress), Task("drift bounds", 2 * len(names) * rounds, "linear programs") as task:
        bounding = _Bounding(numbers, blank, rounds, task)
        proofs = [bounding.bounds(tuple(map(Fraction, row.tolist()))) for row in weights]
    return DriftBound(
        system,
        "any policy" if policy is None else policy_name(policy),
        names,
        weights,
        np.array([below(low.value) for low, _ in proofs]),
        np.array([math.inf if high is None else above(high.value) for _, high in proofs]),
        tuple(low for low, _ in proofs),
        tuple(high for _, high in proofs),
    )


def _told(policy: AnyPolicy) -> tuple[str, dict[str, Any]]:
    """A policy as a name and parameters; "any" if nothing is known of it."""
    try:
        name, parameters = certified(policy)
    except CertificateError:
        return "any", {}
    return ("alpha" if name == "alpha-fair" else name), parameters


def _targets(system: System, of: Any) -> tuple[FloatArray, tuple[str, ...]]:
    """Weights (n_bounds, n_classes) and names."""
    n, classes = system.n_classes, system.problem.job_classes
    if of is None:
        return np.ones((1, n)), ("all jobs",)
    if isinstance(of, str | int | np.integer) and not isinstance(of, bool):
        k = system.class_index(of if isinstance(of, str) else int(of))
        return np.eye(n)[[k]], (f"jobs of {classes[k]}",)
    if isinstance(of, Sequence) and of and all(isinstance(one, str) for one in of):
        chosen = [system.class_index(one) for one in of]
        return np.eye(n)[chosen], tuple(f"jobs of {classes[k]}" for k in chosen)
    weights = np.atleast_2d(model_array("of", of, system.problem, "job_classes"))
    good = weights.ndim == 2 and weights.shape[1] == n and len(weights) > 0
    if not (good and np.isfinite(weights).all() and (weights >= 0).all() and weights.any(axis=1).all()):
        raise ModelError.of(
            "of",
            f"must be a class, names of classes, or weights >= 0, not all 0, of shape ({n},) or "
            f"(n_bounds, {n}); got {of!r:.80}",
        )
    if len(weights) == 1:
        return weights, ("weighted jobs",)
    return weights, tuple(f"weighted jobs {k}" for k in range(len(weights)))


class _Bounding:
    """Lower and upper bounds under one policy."""

    def __init__(self, numbers: Numbers, blank: DriftCertificate, rounds: int, task: Task) -> None:
        self.pool, self.blank, self.rounds, self.task = numbers.pool, blank, rounds, task
        self.load = max(map(float, self._relative_loads(numbers)))
        self.free = FreeMoments(numbers)
        self.moments = moments_of(blank.policy, blank.parameters, numbers)
        self.spare: Spare | None = None
        self.finite: DriftCertificate | None = None
        if blank.policy != "any":
            self.program = MomentProgram(self.moments, self.load)
            self._find_spare()
        self.free_program = MomentProgram(self.free, self.load)

    @staticmethod
    def _relative_loads(numbers: Numbers) -> list[Fraction]:
        columns = zip(*numbers.shares, strict=True)
        return [sum((r * a for r, a in zip(numbers.loads, one, strict=True)), Fraction(0)) for one in columns]

    def _find_spare(self) -> None:
        """A proof that all moments are finite, with slack; where no theorem does, by a function >= 0."""
        theorem = finite_moments(self.blank.policy, self.blank.parameters)
        program = self.program if theorem else MomentProgram(self.moments, self.load, one_sided=True)
        found = program.solve(1.0 / program.scales, self.rounds, self.task, any_bound=True)
        if found is None:
            return
        certificate = exact(self.moments, self.blank, found, program.cuts)
        if not theorem:
            drifts = {pair: alpha for pair, alpha in certificate.drifts.items() if alpha > 0}
            certificate = replace(certificate, drifts=drifts)
        spare = Spare(self.moments, certificate)
        if not spare.positive:
            return
        self.spare = spare
        if not theorem:
            numbers = self.moments.numbers
            weights = [Fraction(0)] * self.blank.system.n_classes
            for k in range(numbers.n):
                # No column is part of the jobs of two classes.
                weights[self.pool.classes[k]] = min(
                    spare.slacks[column] / value for column, value in self.moments.jobs(k).items()
                )
            self.finite = replace(certificate, weights=tuple(weights), value=spare.bound)

    def bounds(self, weights: tuple[Fraction, ...]) -> tuple[DriftCertificate, DriftCertificate | None]:
        """Lower bound, and upper bound if there is one."""
        live = [weights[i] for i in self.pool.classes]
        if not any(live):  # never any jobs: 0 by no multipliers at all
            least, most = (replace(self.blank, weights=weights, upper=upper) for upper in (False, True))
            least.check()
            most.check()
            return least, most
        if self.spare is None:
            return self._lower_freely(weights, live), None
        high = self._by_policy(weights, live, upper=True)
        low = self._by_policy(weights, live, upper=False)
        return low or self._lower_freely(weights, live), high

    def _by_policy(
        self, weights: tuple[Fraction, ...], live: list[Fraction], *, upper: bool
    ) -> DriftCertificate | None:
        assert self.spare is not None
        found = self.program.solve(
            _objective(self.moments, live) * (1 if upper else -1), self.rounds, self.task
        )
        if found is None:
            return None
        blank = replace(self.blank, weights=weights, upper=upper, finite=self.finite)
        certificate = exact(self.moments, blank, found, self.program.cuts)
        certificate = repaired(self.moments, live, certificate, self.spare)
        certificate.check()
        return certificate

    def _lower_freely(self, weights: tuple[Fraction, ...], live: list[Fraction]) -> DriftCertificate:
        blank = replace(self.blank, policy="any", parameters={}, weights=weights, upper=False)
        certificate = blank
        if any(live):
            found = self.free_program.solve(-_objective(self.free, live), 0, self.task)
            if found is not None:
                certificate = repaired_freely(self.free, live, exact(self.free, blank, found, []))
        certificate.check()
        return certificate


def _objective(moments: Moments, weights: list[Fraction]) -> FloatArray:
    objective = np.zeros(len(moments.columns))
    for k, weight in enumerate(weights):
        for column, value in moments.jobs(k).items():
            objective[column] += float(weight * value)
    return objective
