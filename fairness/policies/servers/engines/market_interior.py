r"""A primal-dual interior point for the linear Fisher market, as a flow of money.

With budgets :math:`w_k`, money :math:`b_{ki}`, log-prices :math:`q_i` and, for class k,
:math:`\lambda_k \le \min_i (q_i - \log\gamma_{ki})`, minus the logarithm of what a unit of money buys, the
central path of the market (:mod:`fairness.policies.servers.engines.market_support`) is

.. math:: \sum_i b_{ki} = w_k, \qquad \sum_k b_{ki} = e^{q_i}, \qquad
   b_{ki}\, z_{ki} = \mu\, w_k, \qquad z_{ki} = q_i - \lambda_k - \log\gamma_{ki} > 0 .

Only the second line is not a network: a Newton step solves a Laplacian with the conductances
:math:`D_{ki} = b_{ki}/z_{ki}`, grounded at server i by :math:`e^{q_i}`,

.. math:: \begin{pmatrix} R & -D \\ -D^\top & C + e^q\end{pmatrix}
   \begin{pmatrix}\Delta\lambda \\ \Delta q\end{pmatrix} = \begin{pmatrix} g \\ h \end{pmatrix},

with R and C the row and column sums of D. The longer side, classes or servers, is eliminated by scalars;
the Schur complement is grounded too, by known amounts, and is factorised without a single subtraction [1]_,
so conductances that differ by 16 decades, as they do near the end of the path, do no harm. Predictor and
corrector as in [2]_; primal and dual take the same step, because :math:`e^q` ties them.

References
----------
.. [1] A. S. Alfa, J. Xue and Q. Ye, "Accurate computation of the smallest eigenvalue of a diagonally
   dominant M-matrix", Mathematics of Computation 71, 2002. doi:10.1090/S0025-5718-01-01325-4.
.. [2] S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J. Optim. 2(4), 1992.
"""

from __future__ import annotations

import numpy as np

from fairness.arguments.validation import FloatArray, IntArray
from fairness.machine.compiling import helper, stored
from fairness.policies.engines import cholesky
from fairness.policies.engines.cholesky import BLOCK, put_back, solve

__all__ = ["GAP", "interior_market"]

GAP = 1e-7
"""Loss per unit of money (of a logarithm) at which the path is left: pivots are cheaper from there."""

_LEAST = 1e-3  # loss with which the path is entered, if that of the given money is smaller
_PART = 0.1  # of the mean of money times slack: what every pair gets at least
_ITERATIONS = 60  # 3 to 30 are usual; a path that is longer than this, pivots cut short


@helper(nogil=True, error_model="numpy")
def _enter(
    classes: IntArray, servers: IntArray, logs: FloatArray, w: FloatArray, q: FloatArray,
    money: FloatArray, slack: FloatArray,
) -> None:  # fmt: skip
    """Put money and slacks near the central path: every pair gets a little of both."""
    offset, spent, pairs = np.full(w.size, np.inf), np.zeros(w.size), np.zeros(w.size)
    for e in range(classes.size):
        offset[classes[e]] = min(offset[classes[e]], q[servers[e]] - logs[e])
        spent[classes[e]] += money[e]
        pairs[classes[e]] += 1.0
    loss = 0.0
    for e in range(classes.size):
        slack[e] = q[servers[e]] - logs[e] - offset[classes[e]]
        money[e] *= w[classes[e]] / spent[classes[e]]
        loss += money[e] * slack[e]
    loss = max(loss / w.sum(), _LEAST)
    part = _PART * loss * w.sum() / np.sum(pairs * w)
    spent[:] = 0.0
    for e in range(classes.size):
        slack[e] += loss
        money[e] += part * w[classes[e]] / slack[e]
        spent[classes[e]] += money[e]
    for e in range(classes.size):
        money[e] *= w[classes[e]] / spent[classes[e]]


@helper(nogil=True, error_model="numpy")
def _factorise(matrix: FloatArray, ground: FloatArray) -> None:
    """Cholesky factor in place, in the lower triangle, of diag(ground) plus a Laplacian.

    ``matrix`` holds the conductances, positive, below its diagonal, which is not read: it is what they and
    the ground add up to [1], and stays so as nodes are eliminated.
    """
    m = ground.size
    for low in range(0, m, BLOCK):
        high = min(low + BLOCK, m)
        # The transpose of a block of columns, so that the inner loops run along rows.
        panel = np.ascontiguousarray(matrix[low:, low:high].T)
        if low > 0:
            left = np.ascontiguousarray(matrix[low:high, :low])
            product = np.dot(left, np.ascontiguousarray(matrix[low:, :low]).T)
            for k in range(high - low):
                for r in range(m - low):
                    panel[k, r] += product[k, r]
                for c in range(low):
                    ground[low + k] -= left[k, c] * ground[c]
        for k in range(high - low):
            for c in range(k):
                factor = panel[c, k]  # < 0 once it is part of the factor: both lines below add
                for r in range(k + 1, m - low):
                    panel[k, r] += factor * panel[c, r]
                ground[low + k] -= factor * ground[low + c]
            pivot = ground[low + k]
            for r in range(k + 1, m - low):
                pivot += panel[k, r]
            root = np.sqrt(pivot)
            for r in range(k + 1, m - low):
                panel[k, r] /= -root
            ground[low + k] /= root
            panel[k, k] = root
        put_back(panel, matrix, low)


@helper(nogil=True, error_model="numpy")
def _laplacian(
    start: IntArray, other: IntArray, conductance: FloatArray, total: FloatArray, grounds: FloatArray,
    matrix: FloatArray, ground: FloatArray,
) -> None:  # fmt: skip
    """Eliminate the nodes of the longer side, which have the pairs start[l] to start[l + 1] - 1.

    ``total`` and ``grounds`` belong to them: all conductance at a node, and that to the ground.
    """
    matrix[:] = 0.0
    for node in range(start.size - 1):
        for e in range(start[node], start[node + 1]):
            part = conductance[e] / total[node]
            line = matrix[other[e]]
            for f in range(start[node], e):
                line[other[f]] += part * conductance[f]
            ground[other[e]] += part * grounds[node]


@helper(nogil=True, error_model="numpy")
def _eliminate(
    longer: IntArray, shorter: IntArray, d: FloatArray, sums: FloatArray, matrix: FloatArray,
    d_longer: FloatArray, d_shorter: FloatArray,
) -> None:  # fmt: skip
    """Solve the Newton system for given right sides, of which the longer is eliminated by scalars."""
    for e in range(d.size):
        d_shorter[shorter[e]] += d[e] * (d_longer[longer[e]] / sums[longer[e]])
    solve(matrix, d_shorter)
    for e in range(d.size):
        d_longer[longer[e]] += d[e] * d_shorter[shorter[e]]
    d_longer /= sums


@stored(cholesky, nogil=True, error_model="numpy")
def interior_market(
    start: IntArray, classes: IntArray, servers: IntArray, by_class: bool, logs: FloatArray,
    w: FloatArray, q: FloatArray, money: FloatArray, slack: FloatArray,
) -> int:  # fmt: skip
    """Follow the central path; the number of steps.

    Pairs e of class and server, with the logarithm of gamma, come class by class (``by_class``, if there
    are at least as many classes as servers) or server by server; ``start`` says where. Improves the
    log-prices ``q`` and ``money``, of which every class spends some of its budget ``w``; fills ``slack``.
    """
    n, m, size = w.size, q.size, classes.size
    matrix = np.empty((m, m)) if by_class else np.empty((n, n))
    d, aim, d_money, d_slack = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    rows, columns, d_offset, d_q = np.empty(n), np.empty(m), np.empty(n), np.empty(m)
    everything, pairs = w.sum(), 0.0
    for e in range(size):
        pairs += w[classes[e]]
    _enter(classes, servers, logs, w, q, money, slack)
    steps = 0
    while True:
        p = np.exp(q)
        loss = 0.0
        rows[:] = 0.0
        for i in range(m):
            columns[i] = p[i]
        missing = p.copy()
        for e in range(size):
            k, i = classes[e], servers[e]
            d[e] = money[e] / slack[e]
            loss += money[e] * slack[e]
            rows[k] += d[e]
            columns[i] += d[e]
            missing[i] -= money[e]
        worst = np.max(np.abs(missing) / p)
        if (loss <= GAP * everything and worst <= GAP) or steps >= _ITERATIONS or not loss < np.inf:
            return steps
        steps += 1
        if by_class:
            ground = p.copy()
            _laplacian(start, servers, d, rows, np.zeros(n), matrix, ground)
        else:
            ground = np.zeros(n)
            _laplacian(start, classes, d, columns, p, matrix, ground)
        _factorise(matrix, ground)
        mu = loss / pairs
        aim[:] = 0.0
        for corrector in range(2):
            for i in range(m):
                d_q[i] = -p[i]
            for k in range(n):
                d_offset[k] = w[k]
            for e in range(size):
                part = aim[e] / slack[e]
                d_q[servers[e]] += part
                d_offset[classes[e]] -= part
            if by_class:
                _eliminate(classes, servers, d, rows, matrix, d_offset, d_q)
            else:
                _eliminate(servers, classes, d, columns, matrix, d_q, d_offset)
            inverse = 1e-300
            for e in range(size):
                d_slack[e] = d_q[servers[e]] - d_offset[classes[e]]
                d_money[e] = (aim[e] - money[e] * d_slack[e]) / slack[e] - money[e]
                inverse = max(inverse, -d_slack[e] / slack[e], -d_money[e] / money[e])
            if corrector == 0:
                length = min(1.0, 1.0 / inverse)
                after = 0.0
                for e in range(size):
                    after += (money[e] + length * d_money[e]) * (slack[e] + length * d_slack[e])
                target = min(1.0, after / loss) ** 3 * mu
                if worst > 1e-3:
                    # Complementarity waits for the prices, or the path stalls at the boundary.
                    target = max(target, 0.1 * mu)
                for e in range(size):
                    aim[e] = target * w[classes[e]] - length * length * d_money[e] * d_slack[e]
        largest = np.max(np.abs(d_q))
        if not largest < np.inf:
            return steps
        # 2: prices change by a factor of e^2 at most, or the linear model of e^q means nothing.
        length = min(1.0, 0.995 / inverse, 2.0 / largest)
        for e in range(size):
            money[e] += length * d_money[e]
            slack[e] += length * d_slack[e]
        q += length * d_q
