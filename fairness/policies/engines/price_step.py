r"""Newton's step of the prices, in logarithms.

Steps are those of the logarithms of usages :math:`u_j` in the logarithms of prices, which one resource by
itself makes linear: :math:`u_j \log u_j` takes the place of :math:`u_j - 1`, and a price is multiplied by
:math:`\exp(\Delta p_j/p_j)`, unless it would more than double or vanish. Prices of a state nearby are then
two or three steps away.

The Hessian is singular where the users of a resource pay for others in the same proportions. Such a resource
keeps its price while its load is theirs in these proportions; where it is not, they cannot all be full, and
prices are exchanged between them, which no class notices, until one of them is 0.
"""

from __future__ import annotations

import numpy as np

from fairness.arguments.validation import IntArray
from fairness.machine.compiling import inlined, part
from fairness.machine.kernels import exp, log
from fairness.model.nonzeros import Nonzeros
from fairness.model.problem import FloatArray
from fairness.policies.engines.cholesky import factorise, gram, solve
from fairness.policies.engines.conjugate import conjugate_step
from fairness.policies.engines.price_space import FARTHEST, SHARP, Space, bill_of

__all__ = ["find_step", "leave_limits", "take_step"]

_SLACK = 0.1  # usage of a resource so far below its capacity that its price may well be 0
_CONTRADICTION = 1e-10  # loads of dependent resources that differ by less than this may stay so
_INEXACT = 0.01  # part of a right side that conjugate gradients may leave; less and less, towards the end


@part
def find_step(
    shares: Nonzeros, users: IntArray, alpha: float, space: Space, near: bool, residual: float, rounds: float
) -> bool:
    """Newton's step of the prices of active resources; whether it is an exchange of prices instead.

    By conjugate gradients if they need no more than so many rounds.
    """
    farthest = FARTHEST * max(1.0, alpha)
    p, load, active, step, more = space.price, space.load, space.active, space.step, space.more
    for j in range(p.size):
        # Damping: with slack alone, a price falls by exp(-farthest); near the solution there is none.
        more[j] = max(-load[j], 0.0) / (p[j] * farthest) if not near and p[j] > 0 else 0.0
    exchanged, again = False, True
    while again:
        if rounds > 0.0:
            for j in range(p.size):
                space.right[j] = _wanted(space, j) if active[j] > 0 else np.nan
            precision = max(min(residual, _INEXACT), 1e-10)
            met = conjugate_step(
                shares, users, space.root, more, space.right, step, space.gradients, precision, rounds
            )
            rounds = rounds if met else 0.0
        if rounds == 0.0:
            exchanged = _factor_step(shares, users, space)
        # A resource overflows but needs no price, when the others' new prices already mend it.
        again = False
        for j in range(p.size):
            if p[j] == 0 and step[j] < 0:
                active[j] = 0.0
                again = True
    return exchanged


@inlined
def _wanted(space: Space, j: int) -> float:
    """What Newton's method in logarithms puts in the place of the excess of a resource."""
    excess = space.load[j]
    usage = 1.0 + excess
    return usage * log(usage) if space.price[j] > 0 and usage > _SLACK else excess


@part
def _factor_step(shares: Nonzeros, users: IntArray, space: Space) -> bool:
    """The step by a Cholesky factor; whether it is an exchange of prices instead."""
    load, active, step, more = space.load, space.active, space.step, space.more
    matrix, kept = space.matrix, space.kept
    gram(shares, users, space.root, active, matrix)
    k = 0
    for j in range(load.size):
        step[j] = 0.0
        # A full resource that only classes at their limits use keeps its price.
        if matrix[j, j] + more[j] > 0:
            kept[k] = j
            k += 1
    small, right = space.packed[: k * k].reshape((k, k)), space.right[:k]
    for r in range(k):
        right[r] = load[kept[r]]
        for c in range(r + 1):
            small[r, c] = matrix[kept[r], kept[c]]
        small[r, r] += more[kept[r]]
    factorise(small)
    exchanged = _exchange(small, right, space.forward)
    if not exchanged:
        for r in range(k):
            right[r] = _wanted(space, kept[r])
        solve(small, right)
    # An exchange changes nothing but the prices, until one of them is 0.
    for r in range(k):
        step[kept[r]] = right[r]
    return exchanged


@part
def _exchange(factor: FloatArray, load: FloatArray, forward: FloatArray) -> bool:
    """Whether loads contradict each other: then ``load`` becomes a change of prices that no class notices.

    A resource whose users pay for others in the same proportions depends on these (it is left out of the
    Cholesky ``factor``). If its load is not theirs in these proportions, they cannot all be full: prices move
    from those with less load than it to it, or back.
    """
    n = load.size
    dependent, worst, sign = -1, _CONTRADICTION, 0.0
    for k in range(n):
        forward[k] = load[k]
        for c in range(k):
            forward[k] -= factor[k, c] * forward[c]
        if factor[k, k] == np.inf:
            if abs(forward[k]) > worst:
                dependent, worst = k, abs(forward[k])
                sign = 1.0 if forward[k] > 0 else -1.0
            forward[k] = 0.0
        else:
            forward[k] /= factor[k, k]
    if dependent < 0:
        return False
    load[:] = 0.0
    load[dependent] = sign
    for k in range(dependent - 1, -1, -1):
        if factor[k, k] < np.inf:
            value = -sign * factor[dependent, k]
            for r in range(k + 1, dependent):
                value -= factor[r, k] * load[r]
            load[k] = value / factor[k, k]
    return True


@part
def leave_limits(shares: Nonzeros, users: IntArray, alpha: float, space: Space) -> bool:
    """Raise the price of what classes at their limits alone overfill, to where the first leaves its limit.

    Up to there no load changes, and the dual objective falls. Whether there is such a resource.
    """
    weight, cap, factor = space.weight, space.limit, space.root
    p, load, active, step, raised = space.price, space.load, space.active, space.step, space.spare
    stuck = False
    for j in range(p.size):
        raised[j] = np.inf if active[j] > 0 and step[j] == 0.0 and load[j] > SHARP else 0.0
        stuck = stuck or raised[j] > 0
    if not stuck:
        return False
    for i in users:
        bill = bill_of(shares, i, p)
        most = (weight[i] / cap[i]) ** alpha * (1.0 + _CONTRADICTION) if factor[i] == 0.0 else bill
        for e in range(shares.start[i], shares.start[i + 1]):
            j, a = shares.resource[e], shares.share[e]
            raised[j] = min(raised[j], max(most - bill, 0.0) / a)
    stuck = False
    for j in range(p.size):
        if 0.0 < raised[j] < np.inf:
            p[j] += raised[j]
            stuck = True
    return stuck


@part
def take_step(space: Space, exchanged: bool) -> tuple[float, int, float]:
    """Change the prices; the length, the resource whose price ends the step, and a lower price for it.

    The step ends where a price reaches 0: what is beyond was computed for a set that has changed. If an
    exchange meets no end, its length is infinite, and nothing changes.
    """
    p, load, step = space.price, space.load, space.step
    length, blocking, lower = np.inf if exchanged else 1.0, -1, 0.0
    for j in range(p.size):
        if p[j] > 0 and step[j] < 0 and p[j] < -length * step[j]:
            length = p[j] / -step[j]
            blocking = j
    if length == np.inf:
        return length, blocking, lower
    if blocking >= 0:
        lower = p[blocking] * (1.0 + load[blocking])
    for j in range(p.size):
        if length == 1.0 and abs(step[j]) < p[j]:
            p[j] *= exp(step[j] / p[j])
        else:
            p[j] += length * step[j]
        if not p[j] > 0 or j == blocking:
            p[j] = 0.0
    return length, blocking, lower
