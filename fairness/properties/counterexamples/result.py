"""What a search for a counterexample found, in words."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fairness.arguments.validation import Entropy
from fairness.display.drawing import bars
from fairness.display.result import Result
from fairness.properties.protocol.arithmetic import row_text, shown
from fairness.properties.protocol.property import Model, Numbers, Witness

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Failure", "SearchResult", "describe"]

_DOMAIN_TEXT = {"positive": "positive demands", "any": "zero demands allowed"}


@dataclass(frozen=True, eq=False)
class Failure:
    """A model on which the policy raised an error instead of answering.

    Attributes
    ----------
    model : Problem or Cluster
    message : str
        Kind and text of the error.
    """

    model: Model
    message: str


# The field called "property" hides the builtin below it.
@dataclass(frozen=True, eq=False, repr=False)
class SearchResult(Result):
    """What a search for a counterexample found, and how far it came.

    Attributes
    ----------
    policy, property : str
        Names.
    models : str
        "pools" or "clusters".
    domain : str
        "positive" or "any".
    budget : int
        Policy calls allowed before shrinking.
    searched : dict
        Policy calls per phase.
    seconds : float
        Wall time.
    reached : str
        The largest shape of the exhaustive phase.
    best : float
        Largest violation seen (before shrinking); negative is room, -inf where nothing could be asked.
    witness : Witness or None
        The smallest counterexample found.
    confirmation : str
        How the witness was confirmed in exact arithmetic; empty where it was not.
    failures : int
        Models on which the policy raised an error; they count as searched.
    failure : Failure or None
        The first of them.
    entropy : int, list of int or str, or None
        The seed: ``rng=entropy`` repeats the search; "a generator" where no seed does.
    """

    policy: str
    property: str
    models: str
    domain: str
    budget: int
    searched: dict[str, int]
    seconds: float
    reached: str
    best: float
    witness: Witness | None = None
    confirmation: str = ""
    failures: int = 0
    failure: Failure | None = None
    entropy: Entropy | None = None

    @builtins.property
    def violated(self) -> bool:
        """Whether a counterexample was found."""
        return self.witness is not None

    @builtins.property
    def applies(self) -> bool:
        """Whether the property says anything about these models."""
        return self.evaluated > 0

    @builtins.property
    def exhausted(self) -> bool:
        """Whether the search ended without a counterexample."""
        return self.applies and not self.violated

    @builtins.property
    def evaluated(self) -> int:
        """Policy calls, shrinking not counted."""
        return sum(calls for phase, calls in self.searched.items() if phase != "shrinking")

    @builtins.property
    def mark(self) -> str:
        """Mark in a table: ✗ violated, ✓ no violation found, – not applicable; ? unconfirmed, ! failures."""
        if not self.applies:
            return "–"
        mark = "✓" if self.witness is None else "✗" if self.confirmation else "✗?"
        return mark + ("!" if self.failures else "")

    def summary(self) -> str:
        """What a person wants to read: the verdict, the witness in words, how far the search came."""
        head = f"{self.policy}, {self.property} ({self.models}, {_DOMAIN_TEXT[self.domain]}): "
        if not self.applies:
            return head + "not applicable"
        phases = ", ".join(f"{calls:,} {phase}" for phase, calls in self.searched.items() if calls)
        effort = f"{self.evaluated:,} models asked ({phases}) in {self.seconds:.1f} s, {self.reached}"
        if self.witness is None:
            room = "nothing comes near" if self.best == -np.inf else f"largest violation {self.best:.2g}"
            spent = "" if self.evaluated >= self.budget else " (stopped early)"
            lines = [f"{head}no violation found", f"  budget {self.budget:,}{spent}: {effort}; {room}"]
        else:
            lines = [f"{head}violated", *("  " + line for line in describe(self.witness).splitlines())]
            lines.append(f"  {self.confirmation or 'not confirmed in exact arithmetic'}")
            lines.append(f"  {effort}")
        if self.failure is not None:
            lines.append(f"  the policy failed on {self.failures:,} models, first {self.failure.message} at")
            lines += ["    " + line for line in repr(self.failure.model).splitlines()]
        return "\n".join(lines)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per phase: policy calls."""
        return pd.DataFrame({"calls": pd.Series(self.searched, dtype=int)}).rename_axis(index="phase")

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars: policy calls per phase; the title tells the verdict."""
        title = self.summary().partition("\n")[0]
        return bars(ax, list(self.searched), list(self.searched.values()), ylabel="policy calls", title=title)


def describe(witness: Witness) -> str:
    """Model, change, allocations and finding of a witness, in words.

    Parameters
    ----------
    witness : Witness
        One of the ``witnesses`` of an audit table.

    Returns
    -------
    str
        One line or more.

    Examples
    --------
    >>> from fairness import AssetFair
    >>> from fairness.properties import audit
    >>> table = audit([AssetFair()], ["SI"], budget=300)
    >>> print(describe(table.witnesses["Asset", "sharing incentive"]))
    Problem(2 classes x 2 resources)
      class     weight  limit  resource 1  resource 2
      class 1        1    inf           1           1
      class 2        1    inf           1           2
      capacity                          1           1
    gives (0.428571, 0.285714) tasks
    class 1 runs 0.428571 tasks; its equal part (0.5) of everything, alone, would run 0.5 (violation 0.143)
    """
    lines = [*repr(witness.model).splitlines(), f"gives {_in_words(witness.allocation)}"]
    if witness.change is not None and witness.allocation_after is not None:
        lines.append(f"{witness.change.text(witness.model)}: {_in_words(witness.allocation_after)}")
    lines.append(f"{witness.finding.text} (violation {float(witness.finding.violation):.3g})")
    return "\n".join(lines)


def _in_words(allocation: Numbers) -> str:
    if allocation.ndim == 1:
        return f"{row_text(allocation)} tasks"
    rows = (
        f"{shown(row.sum())} = {' + '.join(map(shown, row))}" if len(row) > 1 else shown(row[0])
        for row in allocation
    )
    return f"({', '.join(rows)}) tasks"
