r"""Prices and tasks of alpha-fair policies in twice the digits: the guess that a checker verifies.

The prices are those of the policy's own engine (:mod:`fairness.policies.engines.prices`), in units where
every capacity is 1, and begin with those of a neighbouring state. With the mass :math:`W_i = x_i w_i` of a
class and its limit :math:`L_i`, the tasks are :math:`\varphi_i = \min(L_i, W_i e_i^{-1/\alpha})` of the bills
:math:`e = b p`. From there Newton's method goes on with slacks in twice the digits until all priced resources
are full: the usages :math:`u_j = \sum_i b_{ij} \varphi_i` of the prices have the derivatives :math:`-b^\top
\mathrm{diag}(D)\, b`, :math:`D_i = \varphi_i/(\alpha e_i)` below the limits and 0 at them.

Nothing trusts what is found here: :mod:`queueing.certificates.rates.alpha_fair` verifies it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairness.arguments.validation import FloatArray, IntArray
from fairness.machine.compiling import UNCOUNTED, first_class, part, stored
from fairness.model.nonzeros import nonzeros
from fairness.policies.engines import price_space
from fairness.policies.engines.price_space import tasks_at
from fairness.policies.engines.prices import CERTIFIED, solve_states
from fairness.protocol import following
from fairness.protocol.following import Answers, Question
from queueing.certificates.rates import alpha_fair, interface, slack
from queueing.certificates.rates.alpha_fair import Guess, Resources, guess_in, masses, resources_of
from queueing.certificates.rates.interface import Rates
from queueing.certificates.rates.slack import slack_of, two_sum

__all__ = ["guess_prices", "polish"]

TIGHT = 2.0**-100
"""Slack, as a part of its capacity, up to which a resource is full."""

_PASSES = 10  # most steps
_DEPENDENT = 1e-13  # a pivot that has lost as much to those before it is 0


class Classes(NamedTuple):
    """What is known of the classes in a state, (n,) each."""

    mass: FloatArray
    cap: FloatArray
    cap_low: FloatArray  # the second part of the limit
    slope: FloatArray  # D_i; 0 where the class is at its limit


class Columns(NamedTuple):
    """Work space over resources, (m,) each, and a matrix (m, m)."""

    gap: FloatArray
    active: FloatArray  # 1 for those that are to be full
    step: FloatArray
    pivot: FloatArray
    kept: FloatArray
    null: FloatArray
    matrix: FloatArray


@part
def _evaluate(resources: Resources, classes: Classes, guess: Guess) -> None:
    """Tasks at the prices, with their slopes."""
    for i in range(classes.mass.size):
        guess.high[i] = guess.low[i] = classes.slope[i] = 0.0
        if classes.mass[i] == 0:
            continue
        bill = 0.0
        for j in range(guess.prices.size):
            bill += resources.shares[i, j] * guess.prices[j]
        guess.high[i] = tasks_at(bill, classes.mass[i], classes.cap[i], resources.alpha)
        if guess.high[i] < classes.cap[i]:
            classes.slope[i] = guess.high[i] / (resources.alpha * bill)
        else:
            guess.low[i] = classes.cap_low[i]


@part
def _solve(
    shares: FloatArray, slope: FloatArray, chosen: FloatArray, step: FloatArray, columns: Columns
) -> int:
    """Replace ``step`` by the solution of b' D b step = step on the ``chosen`` resources.

    Where one depends on those before it, its entry is 0. Return the last such resource, or -1.
    """
    m, pivot, matrix = step.size, columns.pivot, columns.matrix
    dependent = -1
    for r in range(m):
        pivot[r] = np.inf
        for c in range(r + 1 if chosen[r] > 0 else 0):
            if chosen[c] == 0:
                continue
            value = 0.0
            for i in range(slope.size):
                value += shares[i, r] * shares[i, c] * slope[i]
            whole = value
            for k in range(c):
                if pivot[k] < np.inf:
                    value -= matrix[r, k] * matrix[c, k] * pivot[k]
            if r > c:
                matrix[r, c] = value / pivot[c] if pivot[c] < np.inf else 0.0
            elif value > _DEPENDENT * whole:
                pivot[r] = value
            else:
                dependent = r
    for r in range(m):
        if pivot[r] < np.inf:
            for c in range(r):
                if pivot[c] < np.inf:
                    step[r] -= matrix[r, c] * step[c]
        else:
            step[r] = 0.0
    for r in range(m - 1, -1, -1):
        if pivot[r] < np.inf:
            step[r] /= pivot[r]
            for k in range(r + 1, m):
                if pivot[k] < np.inf:
                    step[r] -= matrix[k, r] * step[k]
    return dependent


@part
def _contradiction(resources: Resources, classes: Classes, columns: Columns, dependent: int) -> float:
    """Set ``null``, a change of prices that no class notices; what it makes of the gaps, 0 if they agree."""
    active, kept, null = columns.active, columns.kept, columns.null
    shares, slope = resources.shares, classes.slope
    for j in range(active.size):
        kept[j], null[j] = 0.0, 0.0
        if active[j] > 0 and columns.pivot[j] < np.inf:
            kept[j] = active[j]
            for i in range(slope.size):
                null[j] -= shares[i, j] * shares[i, dependent] * slope[i]
    _solve(shares, slope, kept, null, columns)
    null[dependent] = 1.0
    value = 0.0
    for j in range(active.size):
        value += null[j] * columns.gap[j]
    return value if abs(value) > TIGHT else 0.0


@part
def _exchange(
    resources: Resources, classes: Classes, guess: Guess, columns: Columns, contradiction: float
) -> bool:
    """Move prices along ``null`` until one is 0, or a class leaves its limit; False if that never happens."""
    active, null, prices = columns.active, columns.null, guess.prices
    sign = -1.0 if contradiction > 0 else 1.0
    length, leaving, freed = np.inf, -1, -1
    for j in range(active.size):
        if active[j] > 0 and sign * null[j] < -1e-9 and prices[j] < -length * sign * null[j]:
            length, leaving = -prices[j] / (sign * null[j]), j
    # A class at its limit pays less for it the more it pays for resources.
    for i in range(classes.mass.size):
        if guess.high[i] == 0 or classes.slope[i] > 0:
            continue
        bill, rise = 0.0, 0.0
        for j in range(active.size):
            bill += resources.shares[i, j] * prices[j]
            rise += resources.shares[i, j] * sign * null[j]
        value = (classes.mass[i] / guess.high[i]) ** resources.alpha
        if rise > 0 and max(value - bill, 0.0) < length * rise:
            length, leaving, freed = max(value - bill, 0.0) / rise, -1, i
    if length == np.inf:
        return False
    for j in range(active.size):
        if active[j] > 0:
            prices[j] = max(prices[j] + sign * length * null[j], 0.0)
    if freed >= 0:
        value = (classes.mass[freed] / guess.high[freed]) ** resources.alpha
        classes.slope[freed] = guess.high[freed] / (resources.alpha * value)
    else:
        prices[leaving] = 0.0
        active[leaving] = 0.0
    return True


@part
def polish(resources: Resources, classes: Classes, guess: Guess, columns: Columns) -> None:
    """Fill priced resources to twice the digits."""
    high, low, prices = guess.high, guess.low, guess.prices
    gap, active, step = columns.gap, columns.active, columns.step
    for j in range(active.size):
        active[j] = 1.0 if prices[j] > 0 else 0.0
    for _ in range(_PASSES):
        worst, over, entering = 0.0, 0.0, -1
        guess.excess[0] = 0.0
        for j in range(active.size):
            left, _ = slack_of(resources.demands, resources.capacities[j], j, high, low)
            gap[j] = left / resources.capacities[j]
            guess.excess[0] = max(guess.excess[0], -gap[j])
            if active[j] > 0:
                worst = max(worst, abs(gap[j]))
            elif -gap[j] > over:
                over, entering = -gap[j], j
        if worst <= TIGHT and over <= TIGHT:
            return
        if worst <= TIGHT:
            active[entering] = 1.0
        for j in range(active.size):
            step[j] = gap[j]
        dependent = _solve(resources.shares, classes.slope, active, step, columns)
        if dependent >= 0:
            # Prices are exchanged along the direction that no class notices, until one is 0.
            contradiction = _contradiction(resources, classes, columns, dependent)
            if contradiction != 0:
                if not _exchange(resources, classes, guess, columns, contradiction):
                    return
                continue
        for i in range(high.size):
            if classes.slope[i] == 0:
                continue
            change = 0.0
            for j in range(active.size):
                change += resources.shares[i, j] * step[j]
            high[i], low[i] = two_sum(high[i], low[i] + classes.slope[i] * change)
            cap, cap_low = classes.cap[i], classes.cap_low[i]
            if high[i] > cap or (high[i] == cap and low[i] > cap_low):
                high[i], low[i], classes.slope[i] = cap, cap_low, 0.0
        for j in range(active.size):
            if active[j] > 0:
                prices[j] -= step[j]
                if not prices[j] > 0:
                    prices[j] = active[j] = 0.0


def guess_prices(rates: Rates, states: IntArray, guesses: FloatArray) -> None:
    """Write the guess of each state (n_states, n) to its row, from the prices in the row before."""
    resources = resources_of(rates)
    n, m = resources.shares.shape
    shares, counts, prices = nonzeros(resources.shares), states.astype(float), np.zeros(m)
    tasks, residuals = np.zeros((1, n)), np.zeros(1)
    question = Question(shares, rates.limits, rates.weights, resources.alpha, prices, residuals, CERTIFIED)
    engine = first_class(solve_states, *question[:2], tasks, tasks, *question[2:6])
    space = np.zeros((5, n)), np.zeros((6 + m, m))
    _guess_states(Answers(engine, question), rates, counts, *space, guesses)


@stored(alpha_fair, following, interface, price_space, slack, **UNCOUNTED)
def _guess_states(
    answers: Answers,
    rates: Rates,
    counts: FloatArray,
    rows: FloatArray,
    columns: FloatArray,
    guesses: FloatArray,
) -> None:
    """What :func:`guess_prices` does; ``rows`` (5, n) and ``columns`` (6 + m, m) are work space."""
    question, resources = answers.question, resources_of(rates)
    n, m = resources.shares.shape
    classes = Classes(rows[0], rows[1], rows[2], rows[3])
    space = Columns(columns[0], columns[1], columns[2], columns[3], columns[4], columns[5], columns[6:])
    for s in range(len(counts)):
        answers.function(
            question.shares,
            question.limits,
            counts[s : s + 1],
            rows[4:5],
            question.growth,
            question.alpha,
            question.prices,
            question.residuals,
        )
        if not question.residuals[0] <= question.certified:
            continue  # the engine failed: there is nothing to begin with
        guess, _ = guess_in(guesses[s], n, m)
        for j in range(m):
            guess.prices[j] = question.prices[j]
        masses(rates, counts[s], classes.mass, classes.cap, classes.cap_low)
        _evaluate(resources, classes, guess)
        polish(resources, classes, guess, space)
        for j in range(m):
            question.prices[j] = guess.prices[j]
