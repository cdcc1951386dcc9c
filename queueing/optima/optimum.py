"""What is known of the best possible policy: a proved lower bound for all, and one that comes near it."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairness.display.drawing import given_axes
from fairness.display.lettering import folded, label
from fairness.display.result import Result
from fairness.display.tables import aligned, rounded_down, rounded_up
from fairness.errors import ModelError
from fairness.model.problem import FloatArray
from queueing.certificates.errors import CertificateError
from queueing.certificates.lower_certificate import LowerCertificate
from queueing.certificates.table_policy import TablePolicy
from queueing.certificates.upper_certificate import UpperCertificate
from queueing.chain.stationary_law import Stationary
from queueing.enclosures.moment_programs.drift_bound import DriftBound
from queueing.model.system import System

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Optimum"]

SELDOM = 1e-4
"""Probability of more jobs than a picture of the policy shows."""
DIGITS = 10
"""Of the costs in a summary."""
FEWEST = 10
"""States of a count that it shows at least."""


@dataclass(frozen=True, eq=False, repr=False)
class Optimum(Result):
    """How low mean holding costs can be; made by :func:`queueing.optimal`.

    Attributes
    ----------
    system : System
    cost : str
        "jobs", "duration" or "own".
    costs : ndarray of shape (n_classes,), per job and unit of time
    policy : TablePolicy
        The policy that was found.
    lower_proof : LowerCertificate
        What proves a lower bound for every policy; without states, which proves 0, where the next one does.
    upper_proof : UpperCertificate
        What proves the upper bound for the policy that was found.
    by_hand : DriftBound
        Another bound for every policy, from a quadratic function that can be read.
    law : Stationary
        Its stationary law, with estimates of its errors.
    precision : float
        Relative gap that was asked for.
    shortfall : str
        Why it is not reached; empty if it is.

    Examples
    --------
    Proportional fairness is half a per cent above the best:

    >>> from fairness import Problem, ProportionalFair
    >>> from queueing import System, optimal, stationary
    >>> system = System.with_load(Problem([[1, 0.3], [0.3, 1]], [1, 1]), [1, 1], 0.5)
    >>> best = optimal(system)
    >>> fair = stationary(system, ProportionalFair()).mean_jobs.sum()
    >>> print(round(fair / best.lower, 3), best.gap < 1e-6)
    1.005 True
    """

    system: System
    cost: str
    costs: FloatArray
    policy: TablePolicy
    lower_proof: LowerCertificate
    upper_proof: UpperCertificate
    by_hand: DriftBound
    law: Stationary
    precision: float
    shortfall: str = field(default="")

    def check(self) -> None:
        """Check all bounds again, in fractions; CertificateError if one does not hold."""
        ours = self.system
        for proved in (self.lower_proof.system, self.upper_proof.system, self.by_hand.system):
            if not (
                ours.problem.same(proved.problem)
                and np.array_equal(ours.arrival_rates, proved.arrival_rates)
                and np.array_equal(ours.mean_sizes, proved.mean_sizes)
            ):
                raise CertificateError("data", "a certificate is one of another system")
        costs = tuple(map(Fraction, self.costs.tolist()))
        by_hand = tuple(map(Fraction, self.by_hand.weights[0].tolist()))
        if {self.lower_proof.costs, self.upper_proof.costs, by_hand} != {costs}:
            raise CertificateError("data", "a certificate is one of other costs")
        if self.upper_proof.policy is not self.policy:
            raise CertificateError("data", "the upper bound is one of another policy")
        self.lower_proof.check()
        self.upper_proof.check()
        self.by_hand.check()

    @cached_property
    def lower(self) -> float:
        """Mean costs per unit of time are at least this under every policy; proved."""
        return float(max(self.lower_proof.lower[0], self.by_hand.lower[0]))

    @cached_property
    def upper(self) -> float:
        """Mean costs per unit of time are at most this under the policy that was found; proved."""
        return float(self.upper_proof.upper[0])

    @cached_property
    def value(self) -> float:
        """Mean costs per unit of time under the policy that was found; an estimate."""
        return float(self.costs @ self.law.mean_jobs)

    @cached_property
    def value_error(self) -> float:
        """Estimated absolute error of ``value``."""
        return float(self.costs @ self.law.mean_jobs_error)

    @property
    def gap(self) -> float:
        """How far the policy that was found is above the best at most, relatively; proved."""
        return self.upper / self.lower - 1.0

    def to_dataframe(self) -> pd.DataFrame:
        """One row per figure: mean costs per unit of time, their estimated error, whether they are proved."""
        import pandas as pd

        rows = {
            "every policy, at least": (self.lower, 0.0, True),
            "the same by hand": (float(self.by_hand.lower[0]), 0.0, True),
            "policy found, at most": (self.upper, 0.0, True),
            "policy found": (self.value, self.value_error, False),
        }
        index = pd.Index(rows, name="mean costs")
        return pd.DataFrame(list(rows.values()), index, columns=["value", "error", "proved"])

    @property
    def _tabulated(self) -> int:
        return 4

    def summary(self) -> str:
        """What a person wants to read: the bounds, the policy found, and what they rest on."""
        what = {"jobs": "mean jobs", "duration": "mean duration of the classes"}.get(self.cost, "mean costs")
        frame = self.to_dataframe()
        low, hand, high, value = frame["value"].tolist()
        shown = [rounded_down(low, DIGITS), rounded_down(hand, DIGITS), rounded_up(high, DIGITS), value]
        error = f"about {self.value_error:.1e}" if np.isfinite(self.value_error) else "not estimated"
        known = [*["proved"] * 3, f"error {error}"]
        first = f"on {len(self.lower_proof.h):,} and" if len(self.lower_proof.h) else "by hand and on"
        rows = [
            [name, f"{one:.{DIGITS}g}", how] for name, one, how in zip(frame.index, shown, known, strict=True)
        ]
        asked = f"{self.precision:.1e} asked" + (f": {self.shortfall}" if self.shortfall else "")
        return "\n".join(
            [
                f"the best possible: {what}",
                *aligned(rows, words=1),
                f"  the policy found is at most {rounded_up(self.gap, 2):.1e} above the best; {asked}",
                f"  proofs {first} {len(self.upper_proof.h):,} states; check() checks them in fractions",
            ]
        )

    def plot(self, ax: Axes | None = None, job_class: int | str | None = None) -> Axes:
        """Tasks that the policy runs of a class, by default the first with arrivals.

        To the right its jobs, upwards those of the next class with arrivals; of a third there is one.

        Raises
        ------
        ModelError
            If no jobs of the class arrive.
        """
        live, names = list(self.policy.classes), self.system.problem.job_classes
        own = live[0] if job_class is None else self.system.class_index(job_class)
        if own not in live:
            raise ModelError.of("job_class", f"must be one with arrivals; got {job_class!r}")
        other = live[(live.index(own) + 1) % len(live)]
        right, upwards = (self._shown(own), 1) if other == own else (self._shown(own), self._shown(other))
        counts = np.zeros((right, upwards, self.system.n_classes))
        counts[..., live] = 1
        counts[..., other] = np.arange(upwards)
        counts[..., own] = np.arange(right)[:, None]
        tasks = self.policy(self.system.problem, counts)[..., own]
        ax, texts = given_axes(ax), {"xlabel": f"jobs of {names[own]}", "ylabel": "tasks"}
        if other == own:
            ax.step(np.arange(right), tasks[:, 0], where="mid", color="black")
        else:
            edges = [np.arange(size + 1) - 0.5 for size in (right, upwards)]
            mesh = ax.pcolormesh(*edges, tasks.T, cmap="viridis_r")
            ax.figure.colorbar(mesh, ax=ax, label="tasks")
            texts["ylabel"] = f"jobs of {names[other]}"
        ax.locator_params(axis="x", integer=True, min_n_ticks=1)
        title = f"policy found: tasks of {names[own]}"
        ax.set(**{key: folded(label(text)) for key, text in (texts | {"title": title}).items()})
        return ax

    def _shown(self, i: int) -> int:
        """States of a count that a picture shows."""
        beyond = np.cumsum(self.law.marginals[i][::-1])[::-1]
        return max(FEWEST, int(np.count_nonzero(beyond >= SELDOM)))
