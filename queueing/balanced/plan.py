r"""What balanced fairness of a system takes: method, boxes, memory and time, before anything is computed.

Classes are merged and split into components (:mod:`queueing.balanced.groups`). Each component is solved by
the first method that fits: a closed form for one group or a linear network
(:mod:`queueing.balanced.closed_forms`), the recursion over subtrees (:mod:`queueing.balanced.tree`), or else
the recursion over all states in a box (:mod:`queueing.balanced.recursion`), whose size is the product over
the groups of the component. Where that would take long, the recursion over the states that matter
(:mod:`queueing.balanced.pruned`) takes its place if it takes less time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from fairness.arguments.validation import require_number
from fairness.display.drawing import bars
from fairness.display.result import Result
from fairness.display.wording import rough
from fairness.machine.memory import fits_memory
from fairness.machine.work import duration
from queueing.balanced.closed_forms import LinearLaw, OneGroupLaw, linear_order
from queueing.balanced.groups import Component, Groups, merge_classes
from queueing.balanced.pruned import PrunedLaw, plan_pruning
from queueing.balanced.recursion import BoxLaw, box_bytes, box_seconds
from queueing.balanced.tail_bound import StoreAndForward
from queueing.balanced.tree import POINTS, TreeLaw, tree_nodes, tree_sums
from queueing.model.system import System, check_system
from queueing.states.box import box_name, count_states

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["BalancedPlan", "GroupLaw", "Step", "balanced_plan", "check_balanced", "steps"]

WORTH_PRUNING = 1.0
"""Seconds on a box from which trial runs of the pruned recursion pay."""

PRODUCTS_PER_SECOND = 1e7
"""Products of sums and their derivatives in the recursion over a tree, about."""


GroupLaw = BoxLaw | LinearLaw | OneGroupLaw | PrunedLaw | TreeLaw
"""Law of the totals of the groups of one component.

Each has ``mean`` and ``variance``, (n_groups,), ``covariance``, (n_groups, n_groups), ``marginals``, the law
of each total, ``shape``, their lengths (of a box, its states per group), ``empty``, the probability that no
job is present, and ``sample(size, rng)``, totals, (size, n_groups). What a box or pruning leaves out:
``error``, a bound of what that changes in the means, (n_groups,), and ``tail_mass``, one of its probability.
``method`` is its name.
"""


@dataclass(frozen=True, eq=False)
class Step:
    """How one component is solved.

    Attributes
    ----------
    component : Component
    method : str
        "closed form", "linear network", "tree", "box" or "pruned".
    box : tuple of int
        States per group; empty unless the method is "box".
    states : float
        States of the box, infinite rather than out of range; of the pruned recursion, about; else 0.
    n_bytes, seconds : float
        Memory and time, about.
    solve : callable
        () -> GroupLaw
    """

    component: Component
    method: str
    box: tuple[int, ...]
    states: float
    n_bytes: float
    seconds: float
    solve: Callable[[], GroupLaw]

    @property
    def name(self) -> str:
        """What is solved, for people."""
        if self.box:
            return f"a box of {box_name(self.box)} states"
        how = "pruned recursion" if self.method == PrunedLaw.method else self.method
        return f"the {how} of {len(self.component.groups)} groups of classes"


@dataclass(frozen=True, eq=False, repr=False)
class BalancedPlan(Result):
    """What :func:`queueing.balanced.fairness.balanced_fairness` would do; made by :func:`balanced_plan`.

    Attributes
    ----------
    system : System
    groups : tuple of tuple of int
        Classes that are merged; classes without arrivals are in none.
    steps : tuple of Step
        One per component, that is per set of groups that share resources.
    """

    system: System
    groups: tuple[tuple[int, ...], ...]
    steps: tuple[Step, ...]

    @property
    def states(self) -> float:
        """States of all boxes and pruned recursions together."""
        return sum(step.states for step in self.steps)

    @property
    def n_bytes(self) -> float:
        """Memory of the largest step, bytes; the steps are taken one after the other."""
        return max((step.n_bytes for step in self.steps), default=0.0)

    @property
    def seconds(self) -> float:
        """Time on one core, about."""
        return sum(step.seconds for step in self.steps)

    @property
    def feasible(self) -> bool:
        """Whether the memory that is free now suffices."""
        return fits_memory(self.n_bytes)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per component: method, groups, classes, box, states, memory and time."""
        import pandas as pd

        steps = self.steps
        columns = {
            "method": [step.method for step in steps],
            "groups": [len(step.component.groups) for step in steps],
            "classes": [self._classes(step) for step in steps],
            "box": [box_name(step.box) if step.box else "" for step in steps],
            "states": [step.states for step in steps],
            "bytes": [step.n_bytes for step in steps],
            "seconds": [step.seconds for step in steps],
        }
        return pd.DataFrame(columns).rename_axis("component")

    def _classes(self, step: Step) -> int:
        return sum(len(self.groups[g]) for g in step.component.groups)

    def summary(self) -> str:
        """What a person wants to read."""
        live = sum(map(len, self.groups))
        lines = [f"balanced fairness of {live} classes in {len(self.groups)} groups"]
        for step in self.steps[:20]:
            line = f"  {step.method}: {self._classes(step)} classes in {len(step.component.groups)} groups"
            if step.states:
                size = f"box {box_name(step.box)}" if step.box else f"about {rough(step.states)} states"
                line += f", {size}, {step.n_bytes / 2**20:.3g} MiB, {duration(step.seconds)}"
            lines.append(line)
        if len(self.steps) > 20:
            lines.append(f"  ... {len(self.steps) - 20} more components")
        if not self.feasible:
            lines.append("  the memory of this machine does not suffice")
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars: time of each component, about."""
        names = [f"{k}: {step.method}" for k, step in enumerate(self.steps)]
        title = self.summary().partition("\n")[0]
        return bars(ax, names, [step.seconds for step in self.steps], ylabel="seconds, about", title=title)


def balanced_plan(system: System, *, tail: float = 1e-12) -> BalancedPlan:
    """What balanced fairness of a system takes, without computing it.

    Parameters
    ----------
    system : System
        A pool. Weights play no role.
    tail : float
        Largest probability that boxes and pruning may leave out.

    Returns
    -------
    BalancedPlan

    Raises
    ------
    UnstableError
        If a resource has relative load >= 1.
    ModelError
        If tail is no probability, or too small for the load.

    Examples
    --------
    Two hundred classes of two kinds, and one class with a resource of its own.

    >>> import numpy as np
    >>> from fairness import Problem
    >>> from queueing import System
    >>> demands = [[1, 0.1, 0]] * 100 + [[0.1, 1, 0]] * 100 + [[0, 0, 1]]
    >>> plan = balanced_plan(System.with_load(Problem(demands, [1, 1, 1]), [1] * 201, 0.5))
    >>> [(step.method, step.box) for step in plan.steps]
    [('box', (40, 40)), ('closed form', ())]

    Six classes that nothing merges: a box would have more than 10^10 states.

    >>> rng = np.random.default_rng(0)
    >>> mixed = System.with_load(Problem(rng.uniform(0.1, 1, (6, 3)), [1, 1, 1]), [1] * 6, 0.8)
    >>> plan = balanced_plan(mixed)
    >>> plan.steps[0].method, plan.states < 2e9
    ('pruned', True)
    """
    groups, found = steps(system, tail)
    members = tuple(tuple(int(i) for i in group) for group in groups.members)
    return BalancedPlan(system, members, tuple(found))


def check_balanced(system: System, tail: float) -> None:
    """Refuse a system whose law under balanced fairness is not known, and what is no probability."""
    check_system(system).require_pool("balanced fairness")
    system.require_poisson("balanced fairness")
    system.require_stable()
    require_number("tail", tail, above=0, below=1, hint=", a probability")


def steps(system: System, tail: float, prune: bool = True) -> tuple[Groups, list[Step]]:
    """Groups of a system, and how each component is solved; pruned only where that is allowed."""
    check_balanced(system, tail)
    groups = merge_classes(system)
    # What a box may leave out: every group its part.
    return groups, [_step(c, tail * len(c.groups) / len(groups.members), prune) for c in groups.components]


def _step(component: Component, tail: float, prune: bool) -> Step:
    n = len(component.groups)
    if n == 1:
        return Step(component, OneGroupLaw.method, (), 0.0, 0.0, 0.0, partial(OneGroupLaw, component))
    if not (component.ceiling.any() or (component.gain > 0).all()):
        order = linear_order(component)
        if order is not None:
            solved = partial(LinearLaw, component, order)
            return Step(component, LinearLaw.method, (), 0.0, 0.0, 0.0, solved)
        nodes = tree_nodes(component)
        sums = None if nodes is None else tree_sums(nodes)
        if nodes is not None and sums is not None:
            size = max(len(part.values) for part in sums)
            joins = sum(len(moves) * count for part in sums for count, moves in part.joins)
            n_bytes, seconds = 96.0 * POINTS * size, joins * n / PRODUCTS_PER_SECOND
            solve = partial(TreeLaw, component, nodes, sums, tail)
            return Step(component, TreeLaw.method, (), 0.0, n_bytes, seconds, solve)
    bound = StoreAndForward(component.gain, component.ceiling, component.resources)
    box = bound.box(tail)
    states, n_bytes, seconds = count_states(box), box_bytes(box, False), box_seconds(box, bound.gain.shape[1])
    if prune and seconds > WORTH_PRUNING:
        plan = plan_pruning(bound, tail)
        if plan is not None and plan.seconds < seconds:
            law = partial(PrunedLaw, plan)
            return Step(component, PrunedLaw.method, (), plan.states, plan.n_bytes, plan.seconds, law)
    return Step(component, BoxLaw.method, box, states, n_bytes, seconds, partial(BoxLaw, bound, box))
