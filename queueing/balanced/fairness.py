r"""Balanced fairness, exactly.

Every allocation that makes the stationary law of the job counts insensitive to the law of job sizes has a
balance function :math:`\Phi`: its tasks are :math:`\varphi_i(x) = \Phi(x - e_i)/\Phi(x)`. Balanced fairness
is the one with the smallest balance function that fits, so that the system is empty with the largest
probability:

.. math:: \Phi(0) = 1, \qquad \Phi(x) = \max\Big(\max_j \sum_i \frac{a_{ij}}{C_j}\Phi(x - e_i),\
          \max_{i:\,x_i>0} \frac{\Phi(x - e_i)}{x_i \ell_i}\Big),

so that in every state a resource is full or the jobs of a class run at their limit :math:`\ell_i`, and the
stationary law is :math:`\pi(x) = \Phi(x)\prod_i \rho_i^{x_i} / G` [1]_, [2]_. The weights of a problem play
no role.

Classes whose demands and limits are proportional are merged, and groups that share no resource are solved one
by one (:mod:`queueing.balanced.groups`); single groups, linear networks and trees have exact solutions on all
states (:mod:`queueing.balanced.closed_forms`, :mod:`queueing.balanced.tree`); what remains is solved by the
recursion on a box (:mod:`queueing.balanced.recursion`) with rigorous bounds of what it leaves out
(:mod:`queueing.balanced.tail_bound`), or, where that is large, on the states that matter
(:mod:`queueing.balanced.pruned`) with rigorous bounds of what is dropped.
:func:`queueing.balanced.plan.balanced_plan` says which, and what it takes.

References
----------
.. [1] T. Bonald and A. Proutière, "Insensitive bandwidth sharing in data networks", Queueing Systems 44,
   2003. DOI 10.1023/A:1024094807532.
.. [2] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and Control of
   Large-Scale Networks, Eindhoven, 2014.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import Seed, generator, require_number, require_whole
from fairness.display.wording import rough
from fairness.errors import ModelError
from fairness.machine.memory import gibibytes, require_memory
from fairness.machine.work import duration
from fairness.model.problem import FloatArray
from queueing.balanced.groups import Component, Groups, thinned
from queueing.balanced.plan import GroupLaw, check_balanced, steps
from queueing.balanced.pruned import PrunedLaw
from queueing.balanced.recursion import BoxLaw, box_bytes, box_seconds
from queueing.balanced.tail_bound import INSTEAD, StoreAndForward
from queueing.model.class_results import MomentTable, class_lines
from queueing.model.system import System
from queueing.pictures.counts import Chosen, plot_law, two_classes
from queueing.states.box import box_name, check_box, count_states, pair_law, sides

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BalancedFairness", "balanced_fairness"]

_log = logging.getLogger(__name__)

MOST_LINES = 40
"""Classes that a summary lists."""


@dataclass(frozen=True, eq=False, repr=False)
class BalancedFairness(MomentTable):
    """Stationary law under balanced fairness; made by :func:`balanced_fairness`.

    All moments are those of the law conditioned on the boxes, if there are any, and of what pruning keeps,
    scaled to a law.

    Attributes
    ----------
    system : System
    groups : tuple of tuple of int
        Classes that were merged; given the total of a group, its counts are multinomial with probabilities
        proportional to the loads times the demands. Classes without arrivals are in none.
    methods : tuple of str
        How each set of groups that share resources was solved: "closed form", "linear network", "tree",
        "box" or "pruned".
    mean_jobs, variances : ndarray of shape (n_classes,), jobs and jobs squared
        Of the counts.
    tail_mass : float
        Rigorous upper bound of the probability outside the boxes, and of the total variation that pruning
        makes; 0 if there are neither.
    mean_jobs_error : ndarray of shape (n_classes,), jobs
        Rigorous upper bound of the error that truncation makes in ``mean_jobs``; rounding is not included.
    empty_probability : float
        Probability that no job is present.
    distribution : ndarray of shape ``shape``, or None
        The law itself, if asked for.
    """

    system: System
    groups: tuple[tuple[int, ...], ...]
    methods: tuple[str, ...]
    mean_jobs: FloatArray
    variances: FloatArray
    tail_mass: float
    mean_jobs_error: FloatArray
    empty_probability: float
    distribution: FloatArray | None
    _merged: Groups
    _laws: tuple[GroupLaw, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """States per class that ``marginals`` lists; with a box, 0 <= x_i < shape[i] are its states."""
        sizes = _scattered(self._merged, [law.shape for law in self._laws], 1)
        return tuple(int(sizes[g]) if g >= 0 else 1 for g in self._merged.label)

    @cached_property
    def marginals(self) -> tuple[FloatArray, ...]:
        """Law of each count; entry i has shape (shape[i],).

        Without a box it is listed up to the tail asked for. In a tree the absolute error is about 1e-15.
        """
        n_bytes = 8.0 * sum(self.shape)
        require_memory(n_bytes, f"the laws of {self.system.n_classes} counts", "raise tail")
        totals = self._totals
        alone = [len(group) == 1 for group in self._merged.members]
        pairs = zip(self._merged.label, self._merged.split, strict=True)
        return tuple(
            np.ones(1) if g < 0 else totals[g] if alone[g] else thinned(totals[g], p) for g, p in pairs
        )

    @property
    def _totals(self) -> list[FloatArray]:
        """Law of the number of jobs of each group."""
        totals: list[FloatArray] = [np.ones(1)] * len(self._merged.members)
        for part, law in zip(self._merged.components, self._laws, strict=True):
            for g, marginal in zip(part.groups, law.marginals, strict=True):
                totals[g] = marginal
        return totals

    def joint(self, job_class: int | str, other: int | str) -> FloatArray:
        """Joint law of the counts of two classes, given by index or name; shape (shape[i], shape[k]).

        Exact without a kept law where the classes share no resource, directly or through others, and where
        they were merged: a job of both is then one of the first with the same probability, independently.

        Raises
        ------
        ModelError
            If the law was not kept and is needed, or both are one class.
        """
        i, k = two_classes(self.system, (job_class, other))
        if self.distribution is not None:
            return pair_law(self.distribution, i, k)
        groups = self._merged
        g, h = int(groups.label[i]), int(groups.label[k])
        if min(g, h) < 0 or not any({g, h} <= set(part.groups) for part in groups.components):
            return np.outer(self.marginals[i], self.marginals[k])
        if g != h:
            raise ModelError("the law was not kept; call balanced_fairness(..., distribution=True)")
        return _split(self._totals[g], groups.split[[i, k]], self.shape[i])

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariance of the counts, (n_classes, n_classes); a box takes another run of the recursion."""
        n = self.system.n_classes
        require_memory(24.0 * n * n, f"the covariance of {n} classes", "use the variances")
        between = np.zeros((len(self._merged.members),) * 2)
        for part, law in zip(self._merged.components, self._laws, strict=True):
            between[np.ix_(part.groups, part.groups)] = law.covariance
        return self._merged.covariance(_scattered(self._merged, [law.mean for law in self._laws]), between)

    def sample(self, size: int, rng: Seed = None) -> NDArray[np.int64]:
        """Independent states from the law.

        Closed forms, linear networks and trees are sampled directly, without truncation; a box by inversion,
        for which its law is computed once and kept; a pruned recursion by inversion, for which it is run once
        more. Merged classes are told apart by multinomial draws.

        Parameters
        ----------
        size : int
        rng : numpy Generator or seed, optional
            By default drawn anew each time, which an array cannot tell: to repeat a sample, give a seed.

        Returns
        -------
        ndarray of shape (size, n_classes), jobs

        Raises
        ------
        ModelError
            If size is no whole number >= 0, or the law on a box does not fit in the memory of this machine.

        Examples
        --------
        >>> from fairness import Problem
        >>> from queueing import System
        >>> law = balanced_fairness(System(Problem([[1], [2]], [1]), [0.3, 0.2]))
        >>> law.sample(4, rng=1).shape
        (4, 2)
        """
        count, stream = require_whole("size", size, 0), generator(rng)
        require_memory(16.0 * count * self.system.n_classes, f"a sample of {count} states", "reduce size")
        return self.drawn(count, stream)

    def drawn(self, count: int, stream: np.random.Generator) -> NDArray[np.int64]:
        """What :meth:`sample` gives, for a few states: without a look at the memory that is free."""
        states = np.zeros((count, self.system.n_classes), dtype=np.int64)
        for part, law in zip(self._merged.components, self._laws, strict=True):
            for g, totals in zip(part.groups, law.sample(count, stream).T, strict=True):
                classes = self._merged.members[g]
                if len(classes) == 1:
                    states[:, classes[0]] = totals
                else:
                    states[:, classes] = stream.multinomial(totals, self._merged.split[classes])
        return states

    def tasks(self) -> FloatArray:
        """Tasks running in each state of the box, shape ``(*shape, n_classes)``: rho_i P(x - e_i)/P(x).

        0 where P underflows. Needs ``distribution=True``.
        """
        law = self.distribution
        if law is None:
            raise ModelError("the law was not kept; call balanced_fairness(..., distribution=True)")
        tasks = np.zeros((*self.shape, self.system.n_classes))
        for i, load in enumerate(self.system.loads):
            before, here = sides(i)
            np.divide(load * law[before], law[here], out=tasks[..., i][here], where=law[here] > 0)
        return tasks

    def summary(self) -> str:
        """What a person wants to read: the means per class and what the boxes leave out."""
        lines = class_lines(self.to_dataframe().head(MOST_LINES))
        if self.system.n_classes > MOST_LINES:
            lines.append(f"  ... {self.system.n_classes - MOST_LINES} more classes")
        boxes = [f"box {box_name(law.shape)}" for law in self._laws if law.method == "box"]
        others = sorted(set(self.methods) - {"box", "pruned"})
        merged = len(self.groups) < sum(map(len, self.groups))
        how = ([f"{len(self.groups)} groups"] if merged else []) + others + boxes[:3]
        how += [f"{len(boxes) - 3} more boxes"] if len(boxes) > 3 else []
        kept = [law.states for law in self._laws if isinstance(law, PrunedLaw)]
        how += [f"pruned to {sum(kept):,} states"] if kept else []
        return "\n".join(
            [
                "balanced fairness",
                *lines,
                f"  {', '.join(how) or 'no arrivals'}; probability outside <= {self.tail_mass:.1e}; "
                f"empty with probability {self.empty_probability:.6g}",
            ]
        )

    @property
    def _tabulated(self) -> int:
        shown = min(self.system.n_classes, MOST_LINES)
        return 1 + shown + (shown < self.system.n_classes)

    def plot(self, ax: Axes | None = None, what: str | None = None, job_classes: Chosen = None) -> Axes:
        """Draw the law.

        Parameters
        ----------
        ax : Axes, optional
        what : {"marginals", "joint", "mean_jobs"}, optional
            Law of the count of each class, joint law of two, or means with their bounds of the error.
            Default: marginals, for more than six classes means.
        job_classes : sequence of int or str, optional
            Classes whose marginals are drawn, or the two of the joint law.

        Raises
        ------
        ModelError
            If an argument is wrong, or the joint law needs the law that was not kept.
        """
        return plot_law(ax, self, what, job_classes, title="balanced fairness", error=self.mean_jobs_error)


def balanced_fairness(
    system: System,
    *,
    shape: Sequence[int] | int | None = None,
    tail: float = 1e-12,
    max_states: int = 100_000_000_000,
    distribution: bool = False,
) -> BalancedFairness:
    """Stationary law and means under balanced fairness.

    Parameters
    ----------
    system : System
        A pool with any number of classes, as long as boxes and pruned recursions are small enough; see
        :func:`~queueing.balanced.plan.balanced_plan`. Weights play no role.
    shape : sequence of int or int, optional
        States per class, at least 2 for a class with arrivals: the law is then conditioned on this box of
        counts, and no classes are merged. Default: closed forms, trees, and boxes of group totals or pruned
        recursions whose tail bound is at most ``tail``.
    tail : float
        Largest probability that the automatic boxes and pruning may leave out.
    max_states : int
        Most states of an automatic box or a pruned recursion; a box takes about 10^9 states per second, a
        pruned recursion 10^7 to 10^8.
    distribution : bool
        Keep the law on a whole box of counts; no classes are merged then. Without it the memory needed is
        that of the boxes over their longest axes.

    Returns
    -------
    BalancedFairness

    Raises
    ------
    UnstableError
        If a resource has relative load >= 1.
    ModelError
        If the system is a cluster, the shape is wrong, an automatic box or pruned recursion exceeds
        ``max_states``, or does not fit in the memory of this machine.

    Examples
    --------
    >>> from fairness import Problem
    >>> from queueing import System
    >>> pool = Problem([[1, 0.1], [0.1, 1]], [1, 1], job_classes=["A", "B"])
    >>> balanced_fairness(System.with_load(pool, [1, 1], 0.5)).mean_durations.round(4)
    array([2.0397, 2.0397])

    A thousand classes of two kinds.

    >>> crowd = Problem([[1, 0.1]] * 500 + [[0.1, 1]] * 500, [1, 1])
    >>> law = balanced_fairness(System.with_load(crowd, [1] * 1000, 0.5))
    >>> law.mean_durations[[0, -1]].round(4), len(law.groups)
    (array([2.0397, 2.0397]), 2)
    """
    require_number("max_states", max_states, least=1, most=math.inf)
    if shape is not None or distribution:
        return _on_box(system, shape, tail, max_states, distribution)
    groups, found = steps(system, tail)
    for step in found:
        _require(step.name, step.states, step.n_bytes, step.seconds, max_states)
    return _result(system, groups, [step.solve() for step in found], None)


def _on_box(
    system: System, shape: Sequence[int] | int | None, tail: float, max_states: int, distribution: bool
) -> BalancedFairness:
    """The law on a box of counts, each class by itself."""
    check_balanced(system, tail)
    bound = StoreAndForward.of(system)
    if shape is None:
        sizes = bound.box(tail)
        seconds = box_seconds(sizes, bound.gain.shape[1])
        need = count_states(sizes), box_bytes(sizes, distribution), seconds
        _require(f"a box of {box_name(sizes)} states", *need, max_states)
    else:
        sizes = check_box(shape, system)
    law = BoxLaw(bound, sizes, keep=distribution)
    every = np.arange(system.n_classes)
    part = Component(tuple(every.tolist()), bound.gain, bound.ceiling, bound.resources)
    groups = Groups(tuple(every[:, None]), np.ones(len(every)), every, (part,))
    return _result(system, groups, [law], law.distribution)


def _require(what: str, states: float, n_bytes: float, seconds: float, max_states: int) -> None:
    """Refuse what takes too many states or too much memory, before anything is computed."""
    if states > max_states:
        raise ModelError(
            f"{what} exceeds max_states={max_states:,}: about {rough(states)} states, {gibibytes(n_bytes)} "
            f"and about {duration(seconds)}; raise tail or max_states, give a smaller shape, or {INSTEAD}"
        )
    need = f"{what}, {rough(states)} states in about {duration(seconds)}," if states else what
    require_memory(n_bytes, need, f"raise tail, or {INSTEAD}")


def _result(
    system: System, groups: Groups, laws: list[GroupLaw], distribution: FloatArray | None
) -> BalancedFairness:
    _log.info("balanced fairness of %d groups: %s", len(laws), ", ".join(law.method for law in laws))
    mean, variance, error = (
        _scattered(groups, values)
        for values in ([w.mean for w in laws], [w.variance for w in laws], [w.error for w in laws])
    )
    # Without arrivals split is 0, whatever group the label -1 picks.
    p, g = groups.split, groups.label
    live = system.loads > 0
    if len(mean):
        means = p * mean[g]
        variances = p * p * (variance[g] - mean[g]) + means
        errors = p * error[g]
    else:
        means = variances = errors = np.zeros(system.n_classes)
    return BalancedFairness(
        system=system,
        groups=tuple(tuple(int(i) for i in group) for group in groups.members if live[group[0]]),
        methods=tuple(law.method for law in laws),
        mean_jobs=means,
        variances=variances,
        tail_mass=min(1.0, sum(law.tail_mass for law in laws)),
        mean_jobs_error=errors,
        empty_probability=float(np.prod([law.empty for law in laws])),
        distribution=distribution,
        _merged=groups,
        _laws=tuple(laws),
    )


def _split(total: FloatArray, split: FloatArray, size: int) -> FloatArray:
    """Joint law (size, size) of two parts of a total whose jobs belong to them with probabilities split."""
    from scipy.stats import binom

    both = thinned(total, min(1.0, float(split.sum())))
    a, b = np.indices((size, size))
    here = a + b < len(both)
    law: FloatArray = np.where(here, both[np.where(here, a + b, 0)], 0.0)
    return law * binom.pmf(a, a + b, split[0] / split.sum())


def _scattered(
    groups: Groups, values: Sequence[Sequence[float] | FloatArray], missing: float = 0.0
) -> FloatArray:
    """One value per group from those of each component."""
    result = np.full(len(groups.members), missing)
    for part, row in zip(groups.components, values, strict=True):
        result[list(part.groups)] = row
    return result
