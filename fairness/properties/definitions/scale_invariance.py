r"""Scale invariance: units do not matter.

Measuring resource r in units :math:`1/u_r` as large turns demands and capacities into :math:`d_{nr}u_r,
c_{ir}u_r`; cutting the work of class n into tasks :math:`t_n` times as large turns its demands into
:math:`d_{nr}t_n`. Nothing real has changed, so the tasks should become :math:`x'_n = x_n/t_n`. The
violation is the largest :math:`|x'_n t_n - x_n|/\max(x'_n t_n, x_n)`. Totals are compared: placements
behind them are often not unique.

Bonald and Roberts [1]_ note that max-min fairness of tasks fails it: it depends on how work is cut.

References
----------
.. [1] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and Control of
   Large-Scale Networks, Eindhoven, 2014.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairness.properties.changes.changed_model import Units
from fairness.properties.protocol.arithmetic import (
    expected,
    fall,
    in_arithmetic_of,
    largest,
    read,
    shown,
    totals_after,
)
from fairness.properties.protocol.property import Change, Finding, Model, Property, Question

__all__ = ["ScaleInvariance"]

FACTORS = (2, 3, 10, 100)


class ScaleInvariance(Property):
    """Other units of a resource or of a class's tasks change nothing but the units.

    Examples
    --------
    >>> from fairness import MaxMin, Problem
    >>> pool, units = Problem([[1, 3], [3, 2]], [1, 1]), Units((1, 1), (2, 1))
    >>> before, after = MaxMin()(pool, [1, 1]), MaxMin()(units.apply(pool), [1, 1])
    >>> print(ScaleInvariance().check(pool, before, units, after).text)
    a task of class 1 becomes 2 times as large; class 2 then runs the equivalent of 0.125 tasks instead of 0.2
    """

    name = "scale invariance"
    key = "SC"
    statement = "Other units of a resource or of a class's tasks change nothing but the units."
    compares = True

    def changes(self, model: Model, rng: np.random.Generator, number: int) -> Iterator[Change]:
        """Another unit for one resource, or other tasks for one class."""
        for _ in range(number):
            resources, tasks = [1] * model.n_resources, [1] * model.n_classes
            chosen = tasks if rng.random() < 0.5 else resources
            chosen[int(rng.integers(len(chosen)))] = FACTORS[int(rng.integers(len(FACTORS)))]
            yield Units(tuple(resources), tuple(tasks))

    def judge(self, question: Question) -> Finding:
        """Largest relative difference of the tasks, in the old units."""
        units, answer = expected(self.name, question, Units)
        before, model = read(question), question.model
        factors = in_arithmetic_of(before, "tasks", units.tasks)
        same = totals_after(before, model, model.n_classes, answer) * factors
        apart = abs(fall(before.tasks, same))
        worst, users = largest(apart, before.tolerance)
        text = (
            f"{units.text(model)}; {model.job_classes[worst]} then runs the equivalent of "
            f"{shown(same[worst])} tasks instead of {shown(before.tasks[worst])}"
        )
        return Finding(self.name, apart[worst], users, text, before.tolerance)
