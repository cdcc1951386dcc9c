r"""Population monotonicity: when a class leaves, nobody else loses.

With x the tasks before and x' those after class q has left, :math:`x'_n \ge x_n` for every other class n
[1]_. The violation is the largest :math:`(x_n - x'_n)/\max(x_n, x'_n)`, the relative loss where there is
one.

References
----------
.. [1] A. Ghodsi et al., "Dominant resource fairness: fair allocation of multiple resource types", NSDI 2011.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairness.properties.changes.changed_model import Leave
from fairness.properties.protocol.arithmetic import expected, fall, read, shown, totals_after
from fairness.properties.protocol.property import Change, Finding, Model, Numbers, Property

__all__ = ["PopulationMonotonicity"]


class PopulationMonotonicity(Property):
    """When a class leaves, nobody else loses.

    Examples
    --------
    >>> from fairness import Problem, ProportionalFair
    >>> pool = Problem([[4, 1], [1, 16], [16, 1]], [100, 100])
    >>> print(PopulationMonotonicity().of(ProportionalFair(), pool).text)
    class 3 leaves; class 2 then runs 4.7619 tasks instead of 5.35137
    """

    name = "population monotonicity"
    key = "PM"
    statement = "When a class leaves, nobody else loses."
    compares = True

    def applies(self, model: Model) -> bool:
        """Whether somebody is left when one leaves."""
        return super().applies(model) and model.n_classes > 1

    def changes(self, model: Model, rng: np.random.Generator, number: int) -> Iterator[Change]:
        """Each class leaves, in random order."""
        if model.n_classes > 1:
            yield from (Leave((int(n),)) for n in rng.permutation(model.n_classes)[:number])

    def check(
        self,
        model: Model,
        allocation: Numbers,
        change: Change | None = None,
        allocation_after: Numbers | None = None,
        *,
        division: str = "resource",
    ) -> Finding:
        """Largest relative loss of those who stay."""
        leave, answer = expected(self.name, model, change, Leave, allocation_after)
        stay = np.array([n for n in range(model.n_classes) if n not in leave.users])
        before = read(model, allocation, division)
        had, has = before.tasks[stay], totals_after(before, model, len(stay), answer)
        lost = fall(had, has)
        worst = int(np.argmax(lost))
        text = (
            f"{leave.text(model)}; {model.job_classes[stay[worst]]} then runs {shown(has[worst])} tasks "
            f"instead of {shown(had[worst])}"
        )
        users = tuple(stay[lost > before.tolerance].tolist())
        return Finding(self.name, lost[worst], users, text, before.tolerance)
