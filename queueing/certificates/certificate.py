r"""What a certificate of mean values says: the data that a checker needs, and nothing that it trusts.

The counts :math:`x \in \mathbb N^n` move up at rates :math:`\lambda_i`, or with the phases of the arrivals,
and down at rates :math:`\mu_i\varphi_i(x)`, where :math:`\mu_i = 1/\sigma_i`. A certificate bounds the
stationary means of some functions f of the counts, each a :class:`Functional`. It consists of a box
:math:`A = \prod_i [0, s_i)`, a function V of the counts that falls on average outside of A (:class:`Drift`),
for each f an array h on A and a number :math:`\delta`, and an array v on A that serves all. What has to hold,
and why the bounds follow, is told in :mod:`queueing.certificates.checking`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from fairness.errors import ModelError
from fairness.model.problem import FloatArray
from queueing.certificates.bounded_means import BoundedMeans
from queueing.certificates.intervals import Interval, total
from queueing.model.system import System

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Certificate", "Drift", "Functional"]

Kind = Literal["jobs", "products", "at least"]


@dataclass(frozen=True)
class Functional:
    """A function of the counts x whose stationary mean is bounded.

    Parameters
    ----------
    kind : {"jobs", "products", "at least"}
        The count y, the product y z of two counts (y times y if only one class is named), or 1 if y is at
        least ``level`` and else 0: its mean is a probability.
    job_class, other_class : int or None
        Classes whose counts y and z are; None for the jobs of all classes together.
    level : int
        Of "at least".

    Examples
    --------
    >>> Functional("jobs", 1).name, Functional("at least", None, level=7).name
    ('jobs of class 1', 'all jobs >= 7')
    """

    kind: Kind
    job_class: int | None = None
    other_class: int | None = None
    level: int = 0

    @property
    def factors(self) -> list[int | None]:
        """Classes whose counts are multiplied, None for all jobs; as many as the degree of the function."""
        both = [self.job_class, self.job_class if self.other_class is None else self.other_class]
        return both[: {"jobs": 1, "products": 2, "at least": 0}[self.kind]]

    def largest(self, counts: Mapping[int, Interval]) -> Interval:
        """Product of the factors, and so at least the function, where the counts are at most these."""
        bound = Interval.of(1.0)
        for k in self.factors:
            bound = bound * (total(counts.values()) if k is None else counts.get(k, Interval(0.0, 0.0)))
        return bound

    @property
    def name(self) -> str:
        """In words; classes are counted from 0."""
        first, second = (
            "all jobs" if k is None else f"jobs of class {k}" for k in (self.job_class, self.other_class)
        )
        if self.kind == "at least":
            return f"{first} >= {self.level}"
        if self.kind == "jobs":
            return first
        return f"{first} squared" if self.other_class in (None, self.job_class) else f"{first} times {second}"


@dataclass(frozen=True, eq=False)
class Drift:
    r"""The function V of the counts that falls outside of the box.

    .. math:: V(x) = e^{\theta (T(x) - T_A)}, \quad T(x) = \Bigl(\sum_i (b_i x_i)^p\Bigr)^{1/p},
       \quad T_A = \min_i b_i s_i,

    so that V is at least 1 outside of the box. The claim, proved by the checker from the definition of the
    policy, is :math:`QV \le -\gamma V` there. Or :math:`V = (T/T_A)^p`, if :math:`\theta` is 0: then the
    claim is :math:`QV \le -\gamma U` with :math:`U(x) = \max(1, \max_i x_i/s_i)^{p-1}`. Where arrivals have
    phases V is such a power, of :math:`x_i + \kappa_i` (:mod:`queueing.certificates.drifts.powers`).

    Parameters
    ----------
    exponent : float
        p > 1; at least 2 if theta is 0.
    scales : ndarray of shape (n_classes,)
        b > 0, per job; not used for classes without arrivals.
    theta : float
        > 0, or 0 for a power.
    gamma : float
        > 0, per unit of time.
    hints : dict of str to float or ndarray
        Numbers that a lemma wants to be given (:mod:`queueing.certificates.families`); none is trusted.
    """

    exponent: float
    scales: FloatArray
    theta: float
    gamma: float
    hints: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(BoundedMeans):
    """Bounds of stationary means, with all that is needed to check them.

    Attributes
    ----------
    system : System
        With exponential sizes and arrivals Poisson, OnOff or MAP.
    policy : str
        A policy by name, one of :data:`queueing.certificates.families.FAMILIES`.
    parameters : dict
        Of the policy, as the family wants them.
    shape : tuple of int
        States per class of the box; 1 for a class without arrivals.
    drift : Drift
    functionals : tuple of Functional
    h : ndarray of shape (n_functionals, *shape)
        With one axis more, of the phases, where arrivals have any.
    v : ndarray of shape ``shape``
        The same.
    delta : ndarray of shape (n_functionals,)
        >= 0
    lower, upper : ndarray of shape (n_functionals,)
        What is claimed of the means; -inf and inf claim nothing.
    """

    system: System
    policy: str
    parameters: dict[str, Any]
    shape: tuple[int, ...]
    drift: Drift
    functionals: tuple[Functional, ...]
    h: FloatArray
    v: FloatArray
    delta: FloatArray
    lower: FloatArray
    upper: FloatArray

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The functionals in words."""
        return tuple(one.name for one in self.functionals)

    def summary(self) -> str:
        """The claims, and the box they rest on."""
        drift = self.drift
        return "\n".join(
            [
                f"certificate of {len(self.functionals)} means under {self.policy}",
                *self._claims(),
                f"  box {' x '.join(map(str, self.shape))}; V with exponent {drift.exponent:g}, theta "
                f"{drift.theta:.4g}, gamma {drift.gamma:.3g}; check_certificate() checks it",
            ]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Middle of the bounds of each mean, with the bounds as error bars."""
        if not all(map(math.isfinite, (*self.lower, *self.upper))):
            raise ModelError("the certificate claims no bounds on one side; nothing can be drawn")
        return self._drawn(ax, f"bounds under {self.policy}")
