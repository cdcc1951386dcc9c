r"""Pareto efficiency: nobody can gain unless somebody loses.

An allocation is Pareto efficient if no feasible one gives every class at least as many tasks and one of them
more.

*One server or a pool.* This holds exactly if every class that can run demands a resource that is full. If
class n does, then in every feasible :math:`x' \ge x` the usage of that resource is at least what it was, and
more if :math:`x'_n > x_n`: impossible. If class n does not, it can be raised alone. The violation is the
largest gain of a single class, as a part of what it would run alone:
:math:`\max_n \min_{r:\,b_{nr}>0} (1 - u_r)/b_{nr} \cdot \max_r b_{nr}` with :math:`u_r` the part in use.

*Several servers.* Tasks may move, so a linear program decides. With :math:`\Gamma_n = \sum_i\gamma_{ni}` and
:math:`y_{ni} = x'_{ni}/\Gamma_n`,

.. math::

    \max \sum_n \Bigl(\sum_i y_{ni} - x_n/\Gamma_n\Bigr) \quad\text{s.t.}\quad
    \sum_n y_{ni}\Gamma_n b_{nir} \le 1,\quad \sum_i y_{ni} \ge x_n/\Gamma_n,\quad y \ge 0.

Its value is the violation: the largest total gain, each as a part of what the class would run alone. It is 0
exactly if x is efficient, so on one server both measures are 0 together. Floats go to HiGHS, fractions to
:func:`fairness.exact.linear_program.maximise`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_array

from fairness.exact.linear_program import maximise
from fairness.machine.linear_programs import linear_program, require_optimum
from fairness.properties.protocol.arithmetic import (
    Reading,
    fitted,
    quotient,
    read,
    row_text,
    shown,
    total_alone,
)
from fairness.properties.protocol.property import Finding, Model, Numbers, Property, Question

__all__ = ["ParetoEfficiency", "largest_gain"]


class ParetoEfficiency(Property):
    """No feasible allocation gives everybody at least as many tasks and somebody more.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> from fairness import Cluster
    >>> cluster = Cluster([[1, 3], [3, 1]], [[4, 2], [2, 4]])
    >>> each_alone = np.array([[0, F(4, 3)], [F(4, 3), 0]])
    >>> finding = ParetoEfficiency().check(cluster, each_alone)
    >>> finding.violation
    Fraction(1, 6)
    >>> print(finding.text)
    tasks (3/2, 3/2) instead of (4/3, 4/3) are feasible: place (1/4, 5/4); (5/4, 1/4)
    """

    name = "Pareto efficiency"
    key = "PE"
    statement = "No feasible allocation gives everybody at least as many tasks and somebody more."

    def judge(self, question: Question) -> Finding:
        """Largest gain without a loss."""
        reading = fitted(read(question))
        if reading.shares.shape[1] == 1:
            return self._one_server(question.model, reading)
        gain, better = largest_gain(reading)
        tasks, more = reading.tasks, better.sum(axis=1)
        users = tuple(np.flatnonzero(more - tasks > reading.tolerance * total_alone(reading)).tolist())
        text = "nobody can gain without a loss"
        if gain > reading.tolerance:
            text = (
                f"tasks {row_text(more)} instead of {row_text(tasks)} are feasible: "
                f"place {'; '.join(row_text(row) for row in better)}"
            )
        return Finding(self.name, gain, users, text, reading.tolerance)

    def _one_server(self, model: Model, reading: Reading) -> Finding:
        shares = reading.shares[:, 0]
        room = quotient(1 - reading.usage[0], shares, np.inf).min(axis=1)
        largest = shares.max(axis=1)
        gains = np.where(largest > 0, room, 0) * largest
        worst = int(np.argmax(gains))
        text = "every class demands a full resource"
        if gains[worst] > reading.tolerance:
            text = (
                f"{model.job_classes[worst]} runs {shown(reading.tasks[worst])} tasks and can run "
                f"{shown(room[worst])} more with what is left over"
            )
        users = tuple(np.flatnonzero(gains > reading.tolerance).tolist())
        return Finding(self.name, gains[worst], users, text, reading.tolerance)


def largest_gain(reading: Reading) -> tuple[Any, Numbers]:
    """Value of the linear program, and a placement that attains it.

    Raises
    ------
    NotConvergedError
        If HiGHS fails (floats).
    """
    shares, alone = reading.shares, total_alone(reading)
    can_run = alone > 0
    floor = quotient(reading.tasks, alone, 0)
    pairs = np.argwhere((shares > 0).any(axis=2))
    scaled = shares * alone[:, None, None]
    limits = np.argwhere((shares > 0).any(axis=0))
    classes = np.flatnonzero(can_run)
    row_of_class = np.cumsum(can_run) - 1
    # Rows: resources of servers, then the floors of the classes; columns: pairs of class and server.
    row_of_limit = np.full(shares.shape[1:], -1)
    row_of_limit[tuple(limits.T)] = np.arange(len(limits))
    use = scaled[pairs[:, 0], pairs[:, 1]]
    column, resource = np.nonzero(use > 0)
    rows = np.concatenate([row_of_limit[pairs[column, 1], resource], len(limits) + row_of_class[pairs[:, 0]]])
    columns = np.concatenate([column, np.arange(len(pairs))])
    entries = np.concatenate([use[column, resource], np.full(len(pairs), -1)])
    bounds = np.concatenate([np.full(len(limits), 1), -floor[classes]])
    if reading.is_exact:
        matrix = np.zeros((len(bounds), len(pairs)), dtype=object)
        matrix[rows, columns] = entries
        optimum = maximise([1] * len(pairs), matrix.tolist(), bounds.tolist())
        value: Any = optimum.value
        point = np.array(optimum.point, dtype=object)
    else:
        matrix = csc_array((entries.astype(float), (rows, columns)), shape=(len(bounds), len(pairs)))
        program = linear_program(
            -np.ones(len(pairs)),
            matrix,
            np.full(len(bounds), -np.inf),
            bounds,
            # The tightest that HiGHS accepts, so that its slips stay far below the tolerance of the check.
            primal_feasibility_tolerance=1e-10,
            dual_feasibility_tolerance=1e-10,
        )
        program.run()
        require_optimum(program, " on the Pareto program")
        value = -program.getInfo().objective_function_value
        point = np.maximum(program.getSolution().col_value, 0.0)
    better = np.zeros(shares.shape[:2], dtype=shares.dtype)
    better[tuple(pairs.T)] = point
    return value - floor.sum(), better * alone[:, None]
