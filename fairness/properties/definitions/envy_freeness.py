r"""Envy-freeness: nobody would rather have what another class has.

Class p holds the shares :math:`h_{pir} = x_{pi} b_{pir}` of the resources of server i. With these, scaled
by the weights, class n would run

.. math::

    e_{np} = \frac{\varphi_n}{\varphi_p}
             \sum_{i:\,\gamma_{ni}>0}\ \min_{r:\,b_{nir}>0} \frac{h_{pir}}{b_{nir}}

tasks; on servers where it may not run the bundle is of no use to it. The property [1]_ [2]_ says
:math:`x_n \ge e_{np}` for all n and p. Under time division the bundle is the time
:math:`x_{pi}/\gamma_{pi}` on every server. The violation is the largest
:math:`(e_{np} - x_n)/\max(e_{np}, x_n)`, which is :math:`1 - x_n/e_{np}` where there is envy.

References
----------
.. [1] A. Ghodsi et al., "Dominant resource fairness: fair allocation of multiple resource types", NSDI 2011.
.. [2] J. Khamse-Ashari et al., "Per-server dominant-share fairness (PS-DSF)", ICC 2017. arXiv:1611.00404.
"""

from __future__ import annotations

import numpy as np

from fairness.properties.protocol.arithmetic import fall, read, shown, tasks_from
from fairness.properties.protocol.property import Finding, Property, Question

__all__ = ["EnvyFreeness"]

BLOCK = 2**22
"""Numbers held at a time while bundles are compared."""


class EnvyFreeness(Property):
    """Nobody would run more tasks with the bundle of another class, scaled by the weights.

    Examples
    --------
    >>> from fairness import MaxMin, Problem
    >>> print(EnvyFreeness().of(MaxMin(), Problem([[1, 3], [3, 2]], [1, 1])).text)
    class 1 runs 0.2 tasks; with what class 2 holds it would run 0.133333
    """

    name = "envy-freeness"
    key = "EF"
    statement = "Nobody would run more tasks with the bundle of another class, scaled by the weights."

    def judge(self, question: Question) -> Finding:
        """Largest relative gain from swapping bundles."""
        reading, model = read(question), question.model
        if model.n_classes == 1:
            return Finding(self.name, -1, text="nobody to envy", tolerance=reading.tolerance)
        shares, weights, tasks = reading.shares, reading.weights, reading.tasks
        held = reading.placement[:, :, None] * shares
        block = max(1, BLOCK // held.size)
        parts = [
            tasks_from(shares[start : start + block, None], held[None])
            for start in range(0, model.n_classes, block)
        ]
        envied = np.concatenate(parts) * (weights[:, None] / weights)
        envy = fall(envied, tasks[:, None])
        np.fill_diagonal(envy, -1)
        n, p = divmod(int(np.argmax(envy)), model.n_classes)
        users = tuple(np.flatnonzero((envy > reading.tolerance).any(axis=1)).tolist())
        scaled = "" if weights[n] == weights[p] else ", scaled by the weights,"
        text = (
            f"{model.job_classes[n]} runs {shown(tasks[n])} tasks; with what {model.job_classes[p]} holds"
            f"{scaled} it would run {shown(envied[n, p])}"
        )
        return Finding(self.name, envy[n, p], users, text, reading.tolerance)
