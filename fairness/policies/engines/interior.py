r"""A primal-dual interior point in price space, for weighted :math:`\alpha`-fairness.

With capacities 1, weights :math:`W`, caps :math:`L`, bills :math:`e_i = \sum_j a_{ij} p_j + q_i` and slacks
:math:`s_j, t_i`, Newton's method follows the central path of

.. math:: \alpha\log(\varphi_i/W_i) + \log e_i = 0, \quad \sum_i a_{ij}\varphi_i + s_j = 1, \quad
   \varphi_i/L_i + t_i = 1, \quad p_j s_j = \mu\,\omega_j, \quad q_i t_i = \mu\, e_i ;

for :math:`\alpha = 1` the first line is :math:`\varphi_i e_i = W_i`, as in linear programming. A cap is a
resource that one class uses alone, so :math:`q_i, t_i` and :math:`\varphi_i` are eliminated by scalars, and a
step costs one system with the matrix :math:`P A^\top G A P + P S`, as large as there are resources, with
predictor and corrector [1]_.

Bills differ by a hundred decades when :math:`\alpha` is large. So complementarity is measured against
:math:`\omega_j = \min_i e_i/a_{ij}`, the price at which resource :math:`j` alone makes up the bill of one of
its users, everything else is relative, and the path starts just inside the max-min allocation, the limit
:math:`\alpha\to\infty`, where the bills have about their final sizes
(:mod:`fairness.filling.floats`).

References
----------
.. [1] S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J. Optim. 2(4), 1992.
"""

from __future__ import annotations

import numpy as np

from fairness.arguments.validation import FloatArray, IntArray
from fairness.filling.floats import fill, work_for
from fairness.machine.compiling import COUNTED, helper, part
from fairness.machine.kernels import log
from fairness.model.nonzeros import Nonzeros

__all__ = ["BLOCK", "COLUMNS", "ROWS", "factorise", "gram", "interior_point", "solve"]

ROWS, COLUMNS = 14, 9
"""Work space of this method and of Newton's, in vectors over the classes and over the resources."""

BLOCK = 64
"""Number of resources up to which plain loops beat products of matrices; the width of a block beyond."""

_BATCH = 500  # classes per matrix product; not a power of 2, whose multiples share one place in the cache
_PAIR = 20  # terms of a matrix product in the time of one pair of nonzeros
_ITERATIONS = 150  # 8 to 15 are usual; up to 70 occur for alpha = 0.05


@helper(nogil=True, error_model="numpy")
def interior_point(
    shares: Nonzeros, users: IntArray, alpha: float, rows: FloatArray, columns: FloatArray, matrix: FloatArray
) -> float:
    """Put prices into ``columns[0]``, 0 where slack outweighs them; return the unit of the weights.

    ``rows`` starts with the weights W and the caps L of all classes; those listed in ``users`` take part, and
    the weights of others are 0.
    The weights are divided by the unit, so that bills are centred on 1: they would overflow for large alpha.
    Whether the result is a solution is for the caller to certify.
    """
    m = columns.shape[1]
    phi, bill, room, q, aim_q = rows[2], rows[3], rows[4], rows[5], rows[6]
    d_phi, d_room, d_q = rows[11], rows[12], rows[13]
    p, s, omega, aim_p, y, d_s = columns[0], columns[1], columns[2], columns[4], columns[5], columns[6]
    fill(shares, rows[0], rows[1], phi, work_for(rows.shape[1], m))
    unit, pairs = _enter(shares, users, alpha, rows, columns)
    steps, most = 0, _ITERATIONS
    while True:
        worst, mu = _measure(shares, users, alpha, rows, columns)
        mu /= pairs
        # In a tie p_j = s_j = 0, and both tend to 0 like sqrt(mu) only: hence some steps more, if possible.
        if worst <= 1e-11 and mu <= 1e-15 and most > steps + 4:
            most = steps + 4
        if (worst <= 1e-11 and mu <= 1e-22) or steps >= most or not worst < np.inf:
            break
        steps += 1
        gram(shares, users, rows[9], p, matrix)
        for j in range(m):
            matrix[j, j] += p[j] * s[j] if omega[j] > 0 else 1.0
        factorise(matrix)

        for i in users:
            aim_q[i] = -q[i] * room[i]
        for j in range(m):
            aim_p[j] = -p[j] * s[j]
        length = min(1.0, _direction(shares, users, rows, columns, matrix))

        after = 0.0
        for i in users:
            after += (q[i] + length * d_q[i]) * (room[i] + length * d_room[i]) / bill[i]
        for j in range(m):
            after += p[j] * (1.0 + length * y[j]) * (s[j] + length * d_s[j]) * omega[j]
        # Products and not powers, of which the last bit depends on who computes them.
        left = min(1.0, after / pairs / mu)
        aim = left * left * left * mu
        # Complementarity waits for stationarity, or the path stalls at the boundary.
        wrong = min(worst, 1.0)
        aim = max(aim, min(2.0 * mu, 0.01 * (wrong * wrong)))
        for i in users:
            if rows[1, i] < np.inf:
                aim_q[i] += aim * bill[i] - length * length * d_q[i] * d_room[i]
        for j in range(m):
            if omega[j] > 0:
                aim_p[j] += aim / omega[j] - length * length * p[j] * y[j] * d_s[j]
        length = min(1.0, 0.995 * _direction(shares, users, rows, columns, matrix))
        length = _balanced_length(users, rows, columns, pairs, length)
        for i in users:
            phi[i] += length * d_phi[i]
            room[i] += length * d_room[i]
            q[i] += length * d_q[i]
        for j in range(m):
            p[j] += length * p[j] * y[j]
            s[j] += length * d_s[j]
    for j in range(m):
        if not p[j] * omega[j] > s[j]:
            p[j] = 0.0
    return unit


@part
def _enter(
    shares: Nonzeros, users: IntArray, alpha: float, rows: FloatArray, columns: FloatArray
) -> tuple[float, int]:
    """Begin just inside the max-min allocation; the unit of the weights, and the pairs of the path."""
    m = columns.shape[1]
    weight, cap, phi, bill, room, q = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    p, s, omega = columns[0], columns[1], columns[2]
    low, high = np.inf, 0.0
    for i in users:
        low, high = min(low, weight[i] / phi[i]), max(high, weight[i] / phi[i])
    unit = np.sqrt(low) * np.sqrt(high)
    pairs = 0
    for j in range(m):
        s[j] = 1.0
        omega[j] = 0.0  # holds 1/omega of the text, 0 for resources without users
    for i in users:
        weight[i] /= unit
        phi[i] *= 0.9
        bill[i] = (weight[i] / phi[i]) ** alpha
        room[i] = max(1.0 - phi[i] / cap[i], 0.1)
        q[i] = 0.1 * bill[i] / (m * room[i]) if cap[i] < np.inf else 0.0
        pairs += cap[i] < np.inf
        for e in range(shares.start[i], shares.start[i + 1]):
            j, a = shares.resource[e], shares.share[e]
            s[j] -= a * phi[i]
            omega[j] = max(omega[j], a / bill[i])
    for j in range(m):
        s[j] = max(s[j], 0.1)
        p[j] = 0.1 / (m * s[j] * omega[j]) if omega[j] > 0 else 0.0
        pairs += omega[j] > 0
    return unit, pairs


@part
def _measure(
    shares: Nonzeros, users: IntArray, alpha: float, rows: FloatArray, columns: FloatArray
) -> tuple[float, float]:
    """Errors of the equations and bills at the present point; the worst error, and the sum of the pairs."""
    weight, cap, phi, bill, room, q = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    gain, factor, error = rows[8], rows[9], rows[10]
    p, s, omega, gap = columns[0], columns[1], columns[2], columns[3]
    for j in range(p.size):
        omega[j] = 0.0
        gap[j] = 1.0
    worst = 0.0
    mu = 0.0
    for i in users:
        cost = q[i]
        largest = 0.0
        for e in range(shares.start[i], shares.start[i + 1]):
            j, a = shares.resource[e], shares.share[e]
            cost += a * p[j]
            gap[j] -= a * phi[i]
            largest = max(largest, a)
        for e in range(shares.start[i], shares.start[i + 1]):
            j, a = shares.resource[e], shares.share[e]
            omega[j] = max(omega[j], a / cost)
        bill[i] = cost
        error[i] = log(cost) - alpha * log(weight[i] / phi[i])
        # A class too small to be seen in any usage does not hold up the others.
        seen = min(1.0, largest * phi[i] * users.size)
        worst = max(worst, abs(error[i]) * seen / min(1.0, alpha), abs(1.0 - phi[i] / cap[i] - room[i]))
        mu += q[i] * room[i] / cost
        gain[i] = 1.0 / (alpha * cost / phi[i] + q[i] / (room[i] * cap[i]))
        factor[i] = np.sqrt(gain[i])
    for j in range(p.size):
        gap[j] -= s[j]
        if omega[j] > 0:
            worst = max(worst, abs(gap[j]))
            mu += p[j] * s[j] * omega[j]
    return worst, mu


@part
def _balanced_length(
    users: IntArray, rows: FloatArray, columns: FloatArray, pairs: int, length: float
) -> float:
    """A step after which no pair is far below the others: predictor and corrector could cycle."""
    cap, bill, room, q, d_room, d_q = rows[1], rows[3], rows[4], rows[5], rows[12], rows[13]
    p, s, omega, y, d_s = columns[0], columns[1], columns[2], columns[5], columns[6]
    for _ in range(10):
        least, total = np.inf, 0.0
        for i in users:
            if cap[i] < np.inf:
                pair = (q[i] + length * d_q[i]) * (room[i] + length * d_room[i]) / bill[i]
                least, total = min(least, pair), total + pair
        for j in range(p.size):
            if omega[j] > 0:
                pair = p[j] * (1.0 + length * y[j]) * (s[j] + length * d_s[j]) * omega[j]
                least, total = min(least, pair), total + pair
        if least * pairs >= 1e-3 * total:
            break
        length *= 0.8
    return length


@part
def _direction(
    shares: Nonzeros, users: IntArray, rows: FloatArray, columns: FloatArray, matrix: FloatArray
) -> float:
    """Solve the Newton system for given changes of p s and q t; return the step that meets the boundary."""
    m = columns.shape[1]
    cap, phi, bill, room, q, aim_q, pull = rows[1], rows[2], rows[3], rows[4], rows[5], rows[6], rows[7]
    gain, error, d_phi, d_room, d_q = rows[8], rows[10], rows[11], rows[12], rows[13]
    p, s, gap, aim_p, y, d_s = columns[0], columns[1], columns[3], columns[4], columns[5], columns[6]
    y[:] = 0.0
    for i in users:
        missing = 1.0 - phi[i] / cap[i] - room[i]
        pull[i] = -bill[i] * error[i] - (aim_q[i] - q[i] * missing) / room[i]
        for e in range(shares.start[i], shares.start[i + 1]):
            j, a = shares.resource[e], shares.share[e]
            y[j] += a * (gain[i] * pull[i])
    for j in range(m):
        y[j] = p[j] * (y[j] - gap[j]) + aim_p[j]
        d_s[j] = gap[j]
    solve(matrix, y)
    inverse = 0.0
    for j in range(m):
        inverse = max(inverse, -y[j])
    for i in users:
        move = 0.0
        for e in range(shares.start[i], shares.start[i + 1]):
            j, a = shares.resource[e], shares.share[e]
            move += a * (p[j] * y[j])
        d_phi[i] = gain[i] * (pull[i] - move)
        for e in range(shares.start[i], shares.start[i + 1]):
            j, a = shares.resource[e], shares.share[e]
            d_s[j] -= a * d_phi[i]
        d_room[i] = 1.0 - phi[i] / cap[i] - room[i] - d_phi[i] / cap[i]
        d_q[i] = (aim_q[i] - q[i] * d_room[i]) / room[i]
        inverse = max(inverse, -d_phi[i] / phi[i], -d_room[i] / room[i])
        if q[i] > 0:
            inverse = max(inverse, -d_q[i] / q[i])
    for j in range(m):
        inverse = max(inverse, -d_s[j] / s[j])
    return 1.0 / inverse if inverse > 0 else np.inf


@part
def gram(
    shares: Nonzeros, users: IntArray, factor: FloatArray, scale: FloatArray, matrix: FloatArray
) -> None:
    """Put B'B into ``matrix`` (its lower triangle at least), where b_ij = factor_i a_ij scale_j.

    By pairs of nonzeros or, if there are too many, by BLAS, without resources of scale 0.
    """
    start, resource, share, _ = shares
    matrix[:] = 0.0
    if scale.size > BLOCK:
        kept, pairs = 0, 0.0
        for j in range(scale.size):
            kept += scale[j] != 0.0
        for i in users:
            number = 0
            for e in range(start[i], start[i + 1]):
                number += scale[resource[e]] != 0.0
            pairs += 0.5 * number * number
        if _PAIR * pairs >= 0.5 * users.size * float(kept) ** 2:
            _add_in_blocks(shares, users, factor, scale, matrix)
            return
    for i in users:
        for e in range(start[i], start[i + 1]):
            left = factor[i] * share[e] * scale[resource[e]]
            if left != 0.0:
                line = matrix[resource[e]]
                for f in range(start[i], e + 1):
                    line[resource[f]] += left * (factor[i] * share[f] * scale[resource[f]])


@helper(**COUNTED)
def _add_in_blocks(
    shares: Nonzeros,
    users: IntArray,
    factor: FloatArray,
    scale: FloatArray,
    matrix: FloatArray,
) -> None:
    """Products of the resources whose scale is not 0, for so many classes at once."""
    start, resource, share, _ = shares
    kept = np.flatnonzero(scale)
    place = np.zeros(scale.size, dtype=np.int64)
    place[kept] = np.arange(kept.size)
    block = np.zeros((kept.size, _BATCH))
    for low in range(0, users.size, _BATCH):
        block[:] = 0.0
        for r in range(min(_BATCH, users.size - low)):
            i = users[low + r]
            for e in range(start[i], start[i + 1]):
                j = resource[e]
                if scale[j] != 0.0:
                    block[place[j], r] = factor[i] * share[e] * scale[j]
        # In stripes, to spare most of the upper triangle.
        for left_end in range(0, kept.size, 2 * BLOCK):
            right_end = min(left_end + 2 * BLOCK, kept.size)
            product = np.dot(block[left_end:], block[left_end:right_end].T)
            for r in range(left_end, kept.size):
                for c in range(left_end, min(right_end, r + 1)):
                    matrix[kept[r], kept[c]] += product[r - left_end, c - left_end]


@helper(**COUNTED)
def factorise(matrix: FloatArray) -> None:
    """Cholesky factor in place, in the lower triangle; a dependent row (duplicated resource) is left out."""
    m = matrix.shape[0]
    if m <= BLOCK:
        _factorise_panel(matrix.T, matrix, 0)
        return
    for low in range(0, m, BLOCK):
        high = min(low + BLOCK, m)
        # The transpose of a block of columns, so that the inner loops run along rows.
        panel = np.ascontiguousarray(matrix[low:, low:high].T)
        if low > 0:
            left = np.ascontiguousarray(matrix[low:high, :low])
            product = np.dot(left, np.ascontiguousarray(matrix[low:, :low]).T)
            for c in range(high - low):
                for r in range(m - low):
                    panel[c, r] -= product[c, r]
        _factorise_panel(panel, matrix, low)
        put_back(panel, matrix, low)


@helper(nogil=True, error_model="numpy")
def put_back(panel: FloatArray, matrix: FloatArray, low: int) -> None:
    """Write transposed columns from ``low`` on into the matrix; numba takes seconds to compile ``[:] =``."""
    for r in range(panel.shape[1]):
        for c in range(panel.shape[0]):
            matrix[low + r, low + c] = panel[c, r]


@helper(nogil=True, error_model="numpy")
def _factorise_panel(panel: FloatArray, matrix: FloatArray, low: int) -> None:
    """Cholesky factor of the columns of a matrix from ``low`` on, in place, or in a transposed copy."""
    for k in range(panel.shape[0]):
        whole = matrix[low + k, low + k]
        # Three columns at a time, which reads and writes this one a third as often.
        whole_threes = k - k % 3
        for c in range(0, whole_threes, 3):
            first, second, third = panel[c, k], panel[c + 1, k], panel[c + 2, k]
            for r in range(k, panel.shape[1]):
                panel[k, r] -= first * panel[c, r] + second * panel[c + 1, r] + third * panel[c + 2, r]
        for c in range(whole_threes, k):
            factor = panel[c, k]
            for r in range(k, panel.shape[1]):
                panel[k, r] -= factor * panel[c, r]
        # 1e-14: what rounding leaves of a pivot that is zero.
        root = np.sqrt(panel[k, k]) if panel[k, k] > 1e-14 * whole else np.inf
        for r in range(k + 1, panel.shape[1]):
            panel[k, r] /= root
        panel[k, k] = root


@helper(nogil=True, error_model="numpy")
def solve(matrix: FloatArray, vector: FloatArray) -> None:
    """Solve L L' x = vector in place."""
    m = vector.size
    for k in range(m):
        value = vector[k]
        for c in range(k):
            value -= matrix[k, c] * vector[c]
        vector[k] = value / matrix[k, k]
    for k in range(m - 1, -1, -1):
        vector[k] /= matrix[k, k]
        for c in range(k):
            vector[c] -= matrix[k, c] * vector[k]
