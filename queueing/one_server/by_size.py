r"""Mean duration of a job of given size in the M/G/1 queue, in the orders that have a formula.

Jobs arrive in a Poisson process of rate :math:`\lambda` and bring independent sizes; the server works at
rate 1. With :math:`\rho_{s} = \lambda E[S; S \le s]` (strictly below: :math:`\rho_{s-}`), a job of size s
takes on average

=========== ======================================================================================== =======
order       E[T(s)]
=========== ======================================================================================== =======
``fcfs``    :math:`s + \lambda E[S^2]/(2(1-\rho))`                                                    [1]_
``ps``      :math:`s/(1-\rho)`                                                                        [2]_
``sjf``     :math:`s + \lambda E[S^2]/(2(1-\rho_{s-})(1-\rho_s))`                                     [1]_
``psjf``    :math:`s/(1-\rho_{s-}) + \lambda E[S^2; S \le s]/(2(1-\rho_{s-})(1-\rho_s))`              [1]_
``srpt``    :math:`\int_0^s dt/(1-\rho_{t-})
            + \lambda E[\min(S,s)^2]/(2(1-\rho_{s-})(1-\rho_s))`                                      [3]_
``las``     :math:`s/(1-\bar\rho_s) + \lambda E[\min(S,s)^2]/(2(1-\bar\rho_s)^2)`,
            :math:`\bar\rho_s = \lambda E[\min(S, s)]`                                                [2]_
=========== ======================================================================================== =======

where ties go to who came first, so that equal sizes may have probability: then a job waits for the work of
its equals that it meets, :math:`\rho_s`, but not for those that come later, :math:`\rho_{s-}`.

References
----------
.. [1] R. W. Conway, W. L. Maxwell and L. W. Miller, "Theory of Scheduling", Addison-Wesley, 1967, chapter 8.
.. [2] L. Kleinrock, "Queueing Systems, volume 2: Computer Applications", Wiley, 1976, sections 4.4 and 4.6.
.. [3] L. E. Schrage and L. W. Miller, "The queue M/G/1 with the shortest remaining processing time
   discipline", Operations Research 14(4), 1966. DOI 10.1287/opre.14.4.670.
"""

from __future__ import annotations

from collections.abc import Callable

from fairness.model.problem import FloatArray
from queueing.one_server.size_table import SizeTable

__all__ = ["FORMULAS"]


def _fcfs(table: SizeTable, rate: float) -> FloatArray:
    return table.sizes + rate * table.moments[2] / (2 * (1 - rate))


def _ps(table: SizeTable, rate: float) -> FloatArray:
    return table.sizes / (1 - rate)


def _free(table: SizeTable, rate: float) -> tuple[FloatArray, FloatArray]:
    """What jobs below each size leave of the server, and what those up to it leave.

    That is what nobody needs and the work of all others: close to load 1 a difference has no digits.
    """
    return 1 - rate + rate * table.at_least[1], 1 - rate + rate * table.above[1]


def _sjf(table: SizeTable, rate: float) -> FloatArray:
    below, upto = _free(table, rate)
    return table.sizes + rate * table.moments[2] / (2 * below * upto)


def _psjf(table: SizeTable, rate: float) -> FloatArray:
    below, upto = _free(table, rate)
    return table.sizes / below + rate * table.upto[2] / (2 * below * upto)


def _srpt(table: SizeTable, rate: float) -> FloatArray:
    below, upto = _free(table, rate)
    return table.integral(1 / below) + rate * table.cut[2] / (2 * below * upto)


def _las(table: SizeTable, rate: float) -> FloatArray:
    free = 1 - rate + rate * (table.above[1] - table.sizes * table.above[0])
    return table.sizes / free + rate * table.cut[2] / (2 * free**2)


FORMULAS: dict[str, Callable[[SizeTable, float], FloatArray]] = {
    "fcfs": _fcfs,
    "ps": _ps,
    "sjf": _sjf,
    "psjf": _psjf,
    "srpt": _srpt,
    "las": _las,
}
"""E[T(s)] at the sizes of a table in units of the mean, by order; the rate of arrivals is the load."""
