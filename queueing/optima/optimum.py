"""What is known of the best possible policy: a proved lower bound for all, and one that comes near it."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairness.arguments.validation import require_choice
from fairness.display.drawing import bars, given_axes
from fairness.display.lettering import folded, label
from fairness.display.result import Result
from fairness.display.tables import aligned
from fairness.errors import ModelError
from fairness.model.problem import FloatArray
from queueing.certificates.errors import CertificateError
from queueing.certificates.lower_certificate import LowerCertificate
from queueing.certificates.table_policy import TablePolicy
from queueing.certificates.upper_certificate import UpperCertificate
from queueing.chain.stationary_law import Stationary
from queueing.enclosures.moment_programs.drift_bound import DriftBound
from queueing.model.class_results import class_table
from queueing.model.system import System

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Optimum"]

SELDOM = 1e-4
"""Probability of more jobs than a picture of the policy shows."""
FEWEST = 10
"""Jobs that it shows at least, if the table has them."""


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
        What proves the lower bound for every policy.
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
        if any(costs != one for one in (self.lower_proof.costs, self.upper_proof.costs)) or (
            [self.costs.tolist()] != self.by_hand.weights.tolist()
        ):
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
            "every policy, at least": (float(self.lower_proof.lower[0]), 0.0, True),
            "the same by hand": (float(self.by_hand.lower[0]), 0.0, True),
            "policy found, at most": (self.upper, 0.0, True),
            "policy found": (self.value, self.value_error, False),
        }
        index = pd.Index(rows, name="mean costs")
        return pd.DataFrame(list(rows.values()), index, columns=["value", "error", "proved"])

    def by_class(self) -> pd.DataFrame:
        """One row per class under the policy found: load, cost; mean jobs, their error, duration, rate."""
        law = self.law
        return class_table(
            self.system,
            cost=self.costs,
            mean_jobs=law.mean_jobs,
            mean_jobs_error=law.mean_jobs_error,
            mean_duration=law.mean_durations,
            service_rate=law.service_rates,
        )

    @property
    def _tabulated(self) -> int:
        return 4

    def summary(self) -> str:
        """What a person wants to read: the bounds, the policy found, and what they rest on."""
        what = {"jobs": "mean jobs", "duration": "mean duration, all classes alike"}.get(
            self.cost, "mean costs"
        )
        frame = self.to_dataframe()
        rows = [
            [str(name), f"{row.value:.10g}", "proved" if row.proved else f"error about {row.error:.1e}"]
            for name, row in zip(frame.index, frame.itertuples(), strict=True)
        ]
        asked = f"{self.precision:.1e} asked" + (f": {self.shortfall}" if self.shortfall else "")
        return "\n".join(
            [
                f"the best possible: {what}",
                *aligned(rows, words=1),
                f"  the policy found is at most {self.gap:.1e} above the best; {asked}",
                f"  proofs on {len(self.lower_proof.h):,} and {len(self.upper_proof.h):,} states; check() "
                "checks them in fractions",
            ]
        )

    def plot(self, ax: Axes | None = None, what: str = "tasks", job_class: int | str | None = None) -> Axes:
        """Draw the policy that was found, or the bounds.

        Parameters
        ----------
        ax : Axes, optional
        what : {"tasks", "bounds"}
            Tasks of a class over the jobs of it and of the next class with arrivals, at one job of a third;
            or the figures of the table.
        job_class : int or str, optional
            Default: the first with arrivals.

        Raises
        ------
        ModelError
            If an argument is wrong, or no jobs of the class arrive.
        """
        if require_choice("what", what, ("tasks", "bounds")) == "bounds":
            frame = self.to_dataframe()
            return bars(
                ax,
                list(frame.index),
                frame.value,
                error=frame.error,
                ylabel="mean costs",
                title="the best possible",
            )
        live = np.flatnonzero(self.system.arrival_rates > 0).tolist()
        own = live[0] if job_class is None else self.system.class_index(job_class)
        if own not in live:
            raise ModelError.of("job_class", f"must be one with arrivals; got {job_class!r}")
        names, order = (
            self.system.problem.job_classes,
            [own, *live[live.index(own) + 1 :], *live[: live.index(own)]],
        )
        ax, axes = given_axes(ax), [np.arange(self._shown(i)) for i in order[:2]]
        counts = np.ones((*map(len, axes), self.system.n_classes)) * (self.system.arrival_rates > 0)
        for place, (i, values) in enumerate(zip(order, axes, strict=False)):
            counts[..., i] = np.expand_dims(values, tuple(k for k in range(len(axes)) if k != place))
        tasks = self.policy(self.system.problem, counts)[..., own]
        texts = {"xlabel": f"jobs of {names[own]}", "title": f"policy found: tasks of {names[own]}"}
        if len(axes) == 1:
            ax.step(axes[0], tasks, where="mid", color="black")
            texts["ylabel"] = "tasks"
        else:
            edges = [np.arange(len(values) + 1) - 0.5 for values in axes]
            mesh = ax.pcolormesh(*edges, tasks.T, cmap="viridis_r")
            ax.figure.colorbar(mesh, ax=ax, label="tasks")
            texts["ylabel"] = f"jobs of {names[order[1]]}"
        ax.locator_params(axis="x", integer=True, min_n_ticks=1)
        ax.set(**{key: folded(label(text)) for key, text in texts.items()})
        return ax

    def _shown(self, i: int) -> int:
        """States of a count that a picture shows."""
        beyond = np.cumsum(self.law.marginals[i][::-1])[::-1]
        return min(self.policy.table.shape[i], max(FEWEST, int(np.count_nonzero(beyond >= SELDOM))))
