r"""Exchange of contributions: what one user cannot use for what another cannot.

User i brings the amounts :math:`k_{ij}` of resource j and can use only some resources. In [1]_ (section
2.2; we do not have the listing of its Algorithm 1) two users swap, one for one, a resource that the first
cannot use but the second can against one that the second cannot use but the first can. The rule here is
the one that reproduces the worked example and the first step of the experiment of [1]_:

* pairs of users are visited once, in a given order, and for each pair the suitable pairs of resources in the
  order of the resources;
* the amount swapped is the smaller of what the two have left of what they cannot use;
* in the end a user holds nothing that it cannot use; these amounts are left over.

A swap takes away only what its owner cannot use, so nobody loses anything usable. The holdings depend on the
order of the users. (No single rule gives all the numbers printed in [1]_: some are not feasible.) All pairs
are visited, O(n_users² n_resources²); [1]_ says O(n_users).

References
----------
.. [1] C. Zhu, "Dominant resource fairness with time constraints in cloud computing".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.labels import by_label
from fairness.arguments.validation import float_array, rationals, require, require_shape
from fairness.display.colours import part_colour
from fairness.display.drawing import given_axes, legend_beside
from fairness.display.result import Result
from fairness.indivisible.priority_queue import check_order
from fairness.indivisible.rational_model import Numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Exchange", "Swap", "exchange"]


@dataclass(frozen=True)
class Swap:
    """User ``first`` gives ``amount`` of resource ``gives`` to user ``second`` for as much of ``takes``."""

    first: int
    second: int
    gives: int
    takes: int
    amount: Fraction | float


@dataclass(frozen=True, eq=False, repr=False)
class Exchange(Result):
    """What users hold after an exchange; made by :func:`exchange`.

    Numbers are fractions if the contributions were given as integers or fractions, floats else.

    Attributes
    ----------
    contributions, holdings, left_over : array of shape (n_users, n_resources), resource units
        What each user brought; what it holds and can use afterwards; what it could neither use nor swap.
    usable : ndarray of bool, shape (n_users, n_resources)
        Who can use what.
    order : tuple of int
        The users in the order in which they were paired.
    swaps : tuple of Swap
        In the order in which they were made.
    """

    contributions: Numbers
    usable: NDArray[np.bool_]
    order: tuple[int, ...]
    holdings: Numbers
    left_over: Numbers
    swaps: tuple[Swap, ...]

    @cached_property
    def gains(self) -> Numbers:
        """Holdings beyond what the user brought and could use itself, >= 0; shape (n_users, n_resources)."""
        return np.asarray(self.holdings - np.where(self.usable, self.contributions, self.contributions * 0))

    def summary(self) -> str:
        """What a person wants to read: who brought, holds and wasted what, and the swaps."""
        lines = ["exchange of contributions"]
        for i, (brought, holds, wasted) in enumerate(
            zip(self.contributions, self.holdings, self.left_over, strict=True)
        ):
            lines.append(f"  user {i + 1}: {_row(brought)} -> {_row(holds)}, left over {_row(wasted)}")
        for swap in self.swaps:
            lines.append(
                f"  user {swap.first + 1} gives {float(swap.amount):g} of resource {swap.gives + 1} to user "
                f"{swap.second + 1} for as much of resource {swap.takes + 1}"
            )
        return "\n".join(lines)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per user: what it brought, holds and has left over of each resource."""
        kinds = (("brought", self.contributions), ("holds", self.holdings), ("left over", self.left_over))
        columns = {
            f"{kind} {r + 1}": numbers[:, r].astype(float)
            for kind, numbers in kinds
            for r in range(numbers.shape[1])
        }
        return pd.DataFrame(columns, index=pd.RangeIndex(1, len(self.holdings) + 1, name="user"))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars: what each user holds of each resource; marks: what it brought."""
        ax = given_axes(ax)
        n_users, n_resources = self.holdings.shape
        for r in range(n_resources):
            places = np.arange(n_users) + (r - (n_resources - 1) / 2) * 0.8 / n_resources
            width = 0.7 / n_resources
            held = self.holdings[:, r].astype(float)
            ax.bar(places, held, width=width, color=part_colour(r), label=f"resource {r + 1}")
            brought = self.contributions[:, r].astype(float)
            ax.hlines(brought, places - width / 2, places + width / 2, color="black")
        ax.set_xticks(range(n_users), [f"user {i + 1}" for i in range(n_users)])
        ax.set(ylabel="resource units (lines: brought)")
        legend_beside(ax)
        return ax


def exchange(contributions: ArrayLike, needs: ArrayLike, *, order: Sequence[int] | None = None) -> Exchange:
    """Swap, pair by pair, what users cannot use.

    Parameters
    ----------
    contributions : array_like of shape (n_users, n_resources), resource units
    needs : array_like of shape (n_users, n_resources)
        Positive (or True) where the user can use the resource; the demands of its tasks will do.
    order : sequence of int, optional
        The users in the order in which they are paired: the first with all others, then the second ...
        Default: as numbered.

    Returns
    -------
    Exchange

    Raises
    ------
    ModelError
        If a shape or sign is wrong, or the order is no permutation of the users.

    References
    ----------
    See :mod:`fairness.timed.exchange`.

    Examples
    --------
    >>> F = Fraction
    >>> exchange([[F(5, 10), F(1, 10), F(3, 10)], [F(1, 10), F(8, 10), F(3, 10)]], [[0, 1, 1], [1, 0, 1]])
    exchange of contributions
      user 1: (0.5, 0.1, 0.3) -> (0, 0.6, 0.3), left over (0, 0, 0)
      user 2: (0.1, 0.8, 0.3) -> (0.6, 0, 0.3), left over (0, 0.3, 0)
      user 1 gives 0.5 of resource 1 to user 2 for as much of resource 2
    """
    axes = ("job_classes", "resources")
    _, (contributions, needs) = by_label(
        dict.fromkeys(axes), {"contributions": (contributions, axes), "needs": (needs, axes)}
    )
    amounts = float_array("contributions", contributions, ndim=2)
    wanted = float_array("needs", needs, ndim=2)
    users, resources = (
        tuple(f"{stem} {k + 1}" for k in range(size))
        for stem, size in zip(("user", "resource"), amounts.shape, strict=True)
    )
    require(
        "contributions", amounts, np.isfinite(amounts) & (amounts >= 0), "finite and >= 0", users, resources
    )
    require_shape("needs", wanted, amounts.shape, "contributions", amounts)
    require("needs", wanted, np.isfinite(wanted) & (wanted >= 0), "finite and >= 0", users, resources)
    sequence = tuple(range(len(users)) if order is None else check_order("order", order, len(users), "user"))
    usable = wanted > 0
    exact = rationals(contributions)
    given = (
        amounts.astype(object) if exact is None else np.array([[Fraction(v) for v in row] for row in exact])
    )
    held = given.copy()
    swaps = []
    for i, j in combinations(sequence, 2):
        for a in np.flatnonzero(~usable[i] & usable[j]).tolist():
            for b in np.flatnonzero(usable[i] & ~usable[j]).tolist():
                amount = min(held[i, a], held[j, b])
                if amount > 0:
                    held[i, a] -= amount
                    held[j, a] += amount
                    held[j, b] -= amount
                    held[i, b] += amount
                    swaps.append(Swap(i, j, a, b, amount))
    kind = float if exact is None else object
    zero = given * 0
    arrays = [given, np.where(usable, held, zero), np.where(usable, zero, held)]
    for k, values in enumerate(arrays):
        arrays[k] = values.astype(kind)
        arrays[k].flags.writeable = False
    return Exchange(arrays[0], usable, sequence, arrays[1], arrays[2], tuple(swaps))


def _row(values: Numbers) -> str:
    return "(" + ", ".join(f"{float(v):g}" for v in values) + ")"
