r"""What balanced fairness of a system takes: method, boxes, memory and time, before anything is computed.

Classes are merged and split into components (:mod:`queueing.balanced.groups`). Each component is solved by
the first method that fits: a closed form for one group or a linear network
(:mod:`queueing.balanced.closed_forms`), the recursion over subtrees (:mod:`queueing.balanced.tree`), or else
the recursion over all states in a box (:mod:`queueing.balanced.recursion`), whose size is the product over
the groups of the component.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from fairness.arguments.validation import require_number
from fairness.display.drawing import bars
from fairness.display.result import Result
from fairness.machine.memory import fits_memory
from queueing.balanced.closed_forms import LinearLaw, OneGroupLaw, linear_order
from queueing.balanced.groups import Component, Groups, merge_classes
from queueing.balanced.recursion import BoxLaw, box_bytes, box_seconds
from queueing.balanced.tail_bound import StoreAndForward
from queueing.balanced.tree import POINTS, TreeLaw, tree_nodes, tree_sums
from queueing.model.system import System, check_system
from queueing.states.box import box_name, count_states

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BalancedPlan", "GroupLaw", "Step", "balanced_plan", "check_tail", "steps"]

PRODUCTS_PER_SECOND = 1e7
"""Products of sums and their derivatives in the recursion over a tree, about."""


GroupLaw = BoxLaw | LinearLaw | OneGroupLaw | TreeLaw
"""Law of the totals of the groups of one component.

Each has ``mean`` and ``variance``, (n_groups,), ``covariance``, (n_groups, n_groups), ``marginals``, the law
of each total, ``shape``, their lengths (of a box, its states per group), ``empty``, the probability that no
job is present, and ``sample(size, rng)``, totals, (size, n_groups). What a box leaves out: ``error``, a
bound of what it takes from the means, (n_groups,), and ``tail_mass``, one of the probability outside.
``method`` is its name.
"""


@dataclass(frozen=True, eq=False)
class Step:
    """How one component is solved.

    Attributes
    ----------
    component : Component
    method : str
        "closed form", "linear network", "tree" or "box".
    box : tuple of int
        States per group; empty unless the method is "box".
    n_bytes, seconds : float
        Memory and time, about.
    solve : callable
        () -> GroupLaw
    """

    component: Component
    method: str
    box: tuple[int, ...]
    n_bytes: float
    seconds: float
    solve: Callable[[], GroupLaw]

    @property
    def states(self) -> float:
        """States of the box, infinite rather than out of range; 0 without a box."""
        return count_states(self.box) if self.box else 0.0


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
        """States of all boxes together."""
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
            if step.box:
                line += f", box {box_name(step.box)}, {step.n_bytes / 2**20:.3g} MiB, {step.seconds:.2g} s"
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
        Largest probability that the boxes may leave out.

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

    >>> from fairness import Problem
    >>> from queueing import System
    >>> demands = [[1, 0.1, 0]] * 100 + [[0.1, 1, 0]] * 100 + [[0, 0, 1]]
    >>> plan = balanced_plan(System.with_load(Problem(demands, [1, 1, 1]), [1] * 201, 0.5))
    >>> [(step.method, step.box) for step in plan.steps]
    [('box', (40, 40)), ('closed form', ())]
    """
    groups, found = steps(system, tail)
    members = tuple(tuple(int(i) for i in group) for group in groups.members)
    return BalancedPlan(system, members, tuple(found))


def check_tail(tail: float) -> None:
    """Refuse what is no probability."""
    require_number("tail", tail, above=0, below=1, hint=", a probability")


def steps(system: System, tail: float) -> tuple[Groups, list[Step]]:
    """Groups of a system, and how each component is solved."""
    check_system(system).require_pool("balanced fairness")
    system.require_poisson("balanced fairness")
    system.require_stable()
    check_tail(tail)
    groups = merge_classes(system)
    # What a box may leave out: every group its part.
    return groups, [_step(c, tail * len(c.groups) / len(groups.members)) for c in groups.components]


def _step(component: Component, tail: float) -> Step:
    n = len(component.groups)
    if n == 1:
        return Step(component, OneGroupLaw.method, (), 0.0, 0.0, partial(OneGroupLaw, component))
    if not (component.ceiling.any() or (component.gain > 0).all()):
        order = linear_order(component)
        if order is not None:
            return Step(component, LinearLaw.method, (), 0.0, 0.0, partial(LinearLaw, component, order))
        nodes = tree_nodes(component)
        sums = None if nodes is None else tree_sums(nodes)
        if nodes is not None and sums is not None:
            size = max(len(part.values) for part in sums)
            joins = sum(len(moves) * count for part in sums for count, moves in part.joins)
            n_bytes, seconds = 96.0 * POINTS * size, joins * n / PRODUCTS_PER_SECOND
            solve = partial(TreeLaw, component, nodes, sums, tail)
            return Step(component, TreeLaw.method, (), n_bytes, seconds, solve)
    bound = StoreAndForward(component.gain, component.ceiling, component.resources)
    box = bound.box(tail)
    seconds = box_seconds(box, component.gain.shape[1])
    return Step(component, BoxLaw.method, box, box_bytes(box, False), seconds, partial(BoxLaw, bound, box))
