r"""Sharing incentive: nobody would do better with an equal part of everything.

Class n has the part :math:`f_n = \varphi_n/\sum_p\varphi_p` of every resource of every server as its own,
whether it may use the server or not. Alone with that part it would run :math:`f_n \sum_i \gamma_{ni}` tasks
(in a pool :math:`f_n \min_r C_r/d_{nr}`). The property [1]_ [2]_ says that it runs at least as many:

.. math:: x_n \ge f_n \sum_i \gamma_{ni}.

The violation is the largest :math:`1 - x_n/(f_n\sum_i\gamma_{ni})`; a class that can run nothing has
nothing to lose.

References
----------
.. [1] A. Ghodsi et al., "Dominant resource fairness: fair allocation of multiple resource types", NSDI 2011.
.. [2] J. Khamse-Ashari et al., "Per-server dominant-share fairness (PS-DSF)", ICC 2017. arXiv:1611.00404.
"""

from __future__ import annotations

from fairness.properties.protocol.arithmetic import entitlements, largest, quotient, read, shown
from fairness.properties.protocol.property import Finding, Property, Question

__all__ = ["SharingIncentive"]


class SharingIncentive(Property):
    """Nobody would run more tasks with its equal part, by weight, of every resource of every server.

    It implies the dynamic sharing incentive, which is the same statement for every group that has joined: see
    :mod:`fairness.properties.definitions.dynamic_incentive`.

    Examples
    --------
    >>> from fairness import AssetFair, Problem
    >>> print(SharingIncentive().of(AssetFair(), Problem([[2, 2], [1, 2]], [70, 70])).text)
    class 1 runs 15 tasks; its equal part (0.5) of everything, alone, would run 17.5
    """

    name = "sharing incentive"
    key = "SI"
    statement = (
        "Nobody would run more tasks with its equal part, by weight, of every resource of every server."
    )
    implies = ("dynamic sharing incentive",)

    def judge(self, question: Question) -> Finding:
        """Largest relative shortfall below the tasks of the own part."""
        reading, model = read(question), question.model
        tasks, entitled = reading.tasks, entitlements(reading)
        short = 1 - quotient(tasks, entitled, 1)
        worst, users = largest(short, reading.tolerance)
        part = reading.weights[worst] / reading.weights.sum()
        text = (
            f"{model.job_classes[worst]} runs {shown(tasks[worst])} tasks; its equal part "
            f"({shown(part)}) of everything, alone, would run {shown(entitled[worst])}"
        )
        return Finding(self.name, short[worst], users, text, reading.tolerance)
