r"""Mean numbers of jobs on one server shared by classes of exponential sizes, in closed form.

*Discriminatory processor sharing* serves :math:`g_i x_i/\sum_k g_k x_k` of class i. The mean durations
:math:`W_k` satisfy [1]_

.. math:: W_k\Big(1 - \sum_j \frac{\lambda_j g_j}{\mu_j g_j + \mu_k g_k}\Big)
          - \sum_j \frac{\lambda_j g_j W_j}{\mu_j g_j + \mu_k g_k} = \frac{1}{\mu_k} ,

for two classes :math:`E[x_1] = \frac{\rho_1}{1-\rho}\big(1 + \frac{\mu_1\rho_2(g_2-g_1)}{\mu_1 g_1(1-\rho_1)
+ \mu_2 g_2(1-\rho_2)}\big)`. *Preemptive priorities*, class 0 first, with :math:`\sigma_i` the load of the
classes up to i [2]_:

.. math:: W_i = \frac{(1 - \sigma_i)/\mu_i + \sum_{j \le i} \lambda_j/\mu_j^2}
          {(1 - \sigma_{i-1})(1 - \sigma_i)} .

References
----------
.. [1] G. Fayolle, I. Mitrani and R. Iasnogorodski, "Sharing a processor among many job classes", Journal of
   the ACM 27(3), 1980. DOI 10.1145/322203.322212.
.. [2] L. Kleinrock, "Queueing Systems", vol. 2, Wiley 1976, section 3.6.
"""

from __future__ import annotations

import mpmath
import numpy as np

from fairness.model.problem import FloatArray

__all__ = ["discriminatory_means", "priority_means"]


def discriminatory_means(weights: FloatArray, rates: FloatArray, sizes: FloatArray) -> FloatArray:
    """Mean jobs per class under discriminatory processor sharing.

    The equations lose half of the digits of floats where sizes and weights lie decades apart.
    """
    with mpmath.workdps(50):
        g, lam, sigma = (mpmath.matrix(values.tolist()) for values in (weights, rates, sizes))
        classes = range(len(g))
        parts = mpmath.matrix(
            [[lam[j] * g[j] / (g[j] / sigma[j] + g[k] / sigma[k]) for j in classes] for k in classes]
        )
        matrix = mpmath.diag([1 - sum(parts[k, j] for j in classes) for k in classes]) - parts
        durations = mpmath.lu_solve(matrix, sigma)
        return np.array([float(lam[k] * durations[k]) for k in classes])


def priority_means(rates: FloatArray, sizes: FloatArray) -> FloatArray:
    """Mean jobs per class where the first class present is served alone."""
    load = np.cumsum(rates * sizes)
    before, work = load - rates * sizes, np.cumsum(rates * sizes**2)
    means: FloatArray = rates * (sizes * (1.0 - load) + work) / ((1.0 - before) * (1.0 - load))
    return means
