r"""The stationary law of the job counts on a box or another set of states, with its evidence.

*What the tail mass means.* The law continued geometrically along every axis has so much outside
(:mod:`queueing.chain.tails`); of five classes and more it is the sum over the faces of their set
(:mod:`queueing.chain.lower_sets.faces`). It is an estimate, not a bound.

*What the error of the means means.* Two estimates are added: what the solver leaves on this box (rounding,
and what further cycles would change), and what the box cuts off (:mod:`queueing.chain.truncation`: the effect
of the refused arrivals by Poisson's equation on a coarser and far longer box, times 1.5). How often they
cover the true error was measured on thousands of random systems (``docs/theory/claimed_errors.md``); no bound
is claimed: where a policy's tasks jump from state to state, as with the parity of the counts, the coarse grid
may be far off either way. The error is infinite where jobs pile up beyond that grid, as under an unstable
policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.display.tables import outward
from fairness.display.units import described
from fairness.errors import ModelError
from fairness.model.problem import FloatArray
from queueing.model.class_results import MomentTable, class_lines
from queueing.model.system import System
from queueing.pictures.counts import Chosen, plot_law, two_classes
from queueing.states.box import SMALLEST, box_name, count_axes, marginal_laws, mean_counts, pair_law
from queueing.states.lower_set import LowerSet

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from queueing.proved_bounds.enclosure import Enclosure

__all__ = ["Moments", "Stationary", "box_moments", "set_moments"]


class Moments(NamedTuple):
    """What a law says of the counts."""

    marginals: tuple[FloatArray, ...]  # law of each count
    covariance: FloatArray  # (n_classes, n_classes)
    counts: NDArray[np.int64] | None  # (n_states, n_classes): the states of a set


@dataclass(frozen=True, eq=False, repr=False)
class Stationary(MomentTable):
    """Stationary law of the job counts on a box, or of many classes on a set of states.

    Made by :func:`queueing.stationary`.

    Attributes
    ----------
    system : System
    policy : str
        Name of the policy.
    method : str
        "product", "elimination" or "multilevel"; of sizes with phases "phases (elimination)" or "phases
        (multilevel)", on a set "lower set (elimination)" or "lower set (multilevel)".
    shape : tuple of int
        States per class: of the box, or of the smallest box around the set.
    n_states : int
        States of counts in the box or the set.
    mean_jobs : ndarray of shape (n_classes,), jobs
    covariance : ndarray of shape (n_classes, n_classes), jobs squared
        Covariance matrix of the counts.
    tail_mass : float
        Estimate of the probability outside (see the module docstring), at most 1.
    residual : float
        Sum of the violations of all balance equations, of a chain with phases those, over the total flow.
    mean_error : float
        Estimated relative error of ``mean_jobs`` on this box (solver only). A small residual alone does not
        make the error small.
    marginals : tuple of ndarray
        Law of each count; entry i has shape (shape[i],).
    distribution : ndarray of shape ``shape`` or (n_states,), or None
        The law itself, if it was kept: on the box, or state by state in the order of ``states``.
    mean_jobs_error : ndarray of shape (n_classes,), jobs
        Estimated absolute error of ``mean_jobs``, by the solver and by the box (see the module docstring);
        infinite where jobs pile up without end. Not a bound.
    states : ndarray of shape (n_states, n_classes), or None
        Counts of the states of a set, if the law was kept; None on a box.
    enclosure : Enclosure or None
        Proved bounds of the means of the infinite chain, if they were asked for (``certified=True``).

    Examples
    --------
    The probability that at most three jobs of five classes are present:

    >>> from fairness import DRF, Problem
    >>> from queueing import System, stationary
    >>> system = System.with_load(Problem([[1]] * 5, [1]), [1] * 5, 0.4)
    >>> law = stationary(system, DRF(), tail=1e-5)
    >>> law.distribution[law.states.sum(axis=1) <= 3].sum().round(4)  # 1 - 0.4^4
    np.float64(0.9744)
    """

    system: System
    policy: str
    method: str
    shape: tuple[int, ...]
    n_states: int
    mean_jobs: FloatArray
    covariance: FloatArray
    tail_mass: float
    residual: float
    mean_error: float
    marginals: tuple[FloatArray, ...]
    distribution: FloatArray | None
    mean_jobs_error: FloatArray
    states: NDArray[np.int64] | None = None
    enclosure: Enclosure | None = None

    @cached_property
    def variances(self) -> FloatArray:
        """Variances of the counts, (n_classes,)."""
        return np.diagonal(self.covariance).copy()

    def marginal(self, job_class: int | str) -> FloatArray:
        """Law of the count of one class, given by its index or name; shape (shape[i],)."""
        return self.marginals[self.system.class_index(job_class)]

    def joint(self, job_class: int | str, other: int | str) -> FloatArray:
        """Joint law of the counts of two classes, given by index or name; shape (shape[i], shape[k]).

        Raises
        ------
        ModelError
            If the law was not kept, or both are one class.
        """
        i, k = two_classes(self.system, (job_class, other))
        if self.distribution is None:
            raise ModelError("the law was not kept; call stationary(..., distribution=True)")
        if self.states is None:
            return pair_law(self.distribution, i, k)
        pair = np.zeros((self.shape[i], self.shape[k]))
        np.add.at(pair, (self.states[:, i], self.states[:, k]), self.distribution)
        return pair

    def to_dataset(self) -> xr.Dataset:
        """The law and its moments with labels; a dim "jobs of A" for each class, and job_class.

        Covariances have the dims job_class and other_class; the policy is a coordinate without dim. A law on
        a set has the dim state instead of those of the classes, and the counts of the states beside it.
        """
        import xarray as xr

        names = list(self.system.problem.job_classes)
        axes = count_axes(names, self.shape)
        columns = self.to_dataframe()
        data: dict[str, Any] = {str(key): ("job_class", columns[key].to_numpy()) for key in columns}
        data["covariance"] = (("job_class", "other_class"), self.covariance)
        data |= {
            f"marginal of {name}": (axis, law)
            for name, axis, law in zip(names, axes, self.marginals, strict=True)
        }
        if self.distribution is not None:
            data["distribution"] = (tuple(axes) if self.states is None else "state", self.distribution)
        if self.states is not None:
            data["counts"] = (("state", "job_class"), self.states)
        labels = {"job_class": names, "other_class": names, "policy": self.policy, **axes}
        evidence = ("method", "tail_mass", "residual", "mean_error")
        return described(xr.Dataset(data, labels, {name: getattr(self, name) for name in evidence}))

    def summary(self) -> str:
        """What a person wants to read: the means per class, then the evidence."""
        return "\n".join(
            [
                f"stationary law under {self.policy}",
                *class_lines(self.to_dataframe()),
                f"  {self.region} ({self.method}); probability outside "
                f"about {self.tail_mass:.1e}; residual {self.residual:.1e}; "
                "relative error of the means about "
                f"{np.max(self.mean_jobs_error / np.maximum(self.mean_jobs, SMALLEST)):.1e}, "
                f"of which {self.mean_error:.1e} by the solver",
                *([] if self.enclosure is None else [f"  {line}" for line in self._proved(self.enclosure)]),
            ]
        )

    def _proved(self, enclosure: Enclosure) -> list[str]:
        """Lines of the summary on what is proved."""
        pairs = zip(*enclosure.mean_jobs, strict=True)
        bounds = [" to ".join(outward(float(low), float(high))) for low, high in pairs]
        names = self.system.problem.job_classes
        told = "; ".join(f"{name} {bound}" for name, bound in zip(names, bounds, strict=True))
        short = f"; {enclosure.shortfall}" if enclosure.shortfall else ""
        return [f"proved: mean jobs {told}{short}"]

    @property
    def region(self) -> str:
        """The states in words: "box 3 x 4", of a set "23 states within 4 x 5"."""
        if self.method.startswith("lower set"):
            return f"{self.n_states} states within {box_name(self.shape)}"
        return f"box {' x '.join(map(str, self.shape))}"

    def plot(self, ax: Axes | None = None, what: str | None = None, job_classes: Chosen = None) -> Axes:
        """Draw the law.

        Parameters
        ----------
        ax : Axes, optional
        what : {"marginals", "joint", "mean_jobs"}, optional
            Law of the count of each class, joint law of two, or means with their errors. Default: marginals,
            for more than six classes means.
        job_classes : sequence of int or str, optional
            Classes whose marginals are drawn, or the two of the joint law.

        Raises
        ------
        ModelError
            If an argument is wrong, or the joint law is asked for and the law was not kept.
        """
        return plot_law(
            ax,
            self,
            what,
            job_classes,
            title=f"stationary law under {self.policy}",
            error=self.mean_jobs_error,
        )


def box_moments(law: FloatArray) -> Moments:
    """Those of a law on a box; ``counts`` are None."""
    n = law.ndim
    marginals = marginal_laws(law)
    centred = [np.arange(len(p)) - mean for p, mean in zip(marginals, mean_counts(marginals), strict=True)]
    covariance = np.empty((n, n))
    for i in range(n):
        covariance[i, i] = marginals[i] @ centred[i] ** 2
        for k in range(i + 1, n):
            covariance[i, k] = covariance[k, i] = centred[i] @ pair_law(law, i, k) @ centred[k]
    return Moments(marginals, covariance, None)


def set_moments(law: FloatArray, states: LowerSet, axes: Sequence[int], n: int) -> Moments:
    """Those of a law on a set of the counts of the classes ``axes`` of n; the other classes are empty."""
    marginals = [np.ones(1)] * n
    for i, marginal in zip(axes, states.marginals(law), strict=True):
        marginals[i] = marginal
    mean_jobs = mean_counts(marginals)
    counts = np.zeros((states.n_states, n), dtype=np.int64)
    counts[:, axes] = states.counts()
    covariance = np.zeros((n, n))
    for i in axes:
        weighed = law * (counts[:, i] - mean_jobs[i])
        for k in axes:
            covariance[i, k] = weighed @ (counts[:, k] - mean_jobs[k])
    return Moments(tuple(marginals), (covariance + covariance.T) / 2, counts)
