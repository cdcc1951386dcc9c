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
from fairness.properties.protocol.arithmetic import expected, fall, largest, read, shown, totals_after
from fairness.properties.protocol.property import Change, Finding, Model, Property, Question

__all__ = ["PopulationMonotonicity", "loss_finding"]


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

    def judge(self, question: Question) -> Finding:
        """Largest relative loss of those who stay."""
        return loss_finding(self.name, question, Leave)


def loss_finding(name: str, question: Question, kind: type[Change]) -> Finding:
    """Largest relative loss, by a change of this kind, of those who do not make it themselves."""
    change, answer = expected(name, question, kind)
    before, model = read(question), question.model
    stay = [n for n in range(model.n_classes) if n not in change.users]
    had, has = before.tasks[stay], totals_after(before, model, len(stay), answer)
    lost = fall(had, has)
    worst, users = largest(lost, before.tolerance, stay)
    text = (
        f"{change.text(model)}; {model.job_classes[stay[worst]]} then runs {shown(has[worst])} tasks instead "
        f"of {shown(had[worst])}"
    )
    return Finding(name, lost[worst], users, text, before.tolerance)
