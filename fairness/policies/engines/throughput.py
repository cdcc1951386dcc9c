r"""Maximum throughput: the limit of weighted :math:`\alpha`-fairness as :math:`\alpha \to 0`.

With :math:`W_i = x_i w_i`, the utility of a class expands at :math:`\alpha = 0` into

.. math:: W_i^\alpha \frac{\varphi_i^{1-\alpha}}{1-\alpha}
   = \varphi_i + \alpha\,\varphi_i \Bigl(1 + \log\frac{W_i}{\varphi_i}\Bigr) + O(\alpha^2) .

So the limit has the largest number of tasks, :math:`\sum_i\varphi_i`, and among the allocations that have it,
often many, the largest weighted entropy :math:`\sum_i \varphi_i (1 + \log(W_i/\varphi_i))`. The entropy is
strictly concave: the limit is unique.

1. A linear program finds prices :math:`p` of the resources (capacities 1) and the gain
   :math:`d_i = 1 - \sum_j a_{ij} p_j` of one more task. By complementary slackness the best allocations are
   the feasible ones with :math:`\varphi_i = 0` where :math:`d_i < 0`, with :math:`\varphi_i` at the limit
   :math:`L_i` where :math:`d_i > 0`, and with full resources where :math:`p_j > 0`. Prices are not unique;
   each choice describes this same face.
2. Other classes may be 0 all over the face. A second program finds all classes that are not [1]_: over
   :math:`v = \theta\varphi`, :math:`\theta \ge 1`, it maximises :math:`\sum_i \min(v_i/s_i, 1)` for any units
   :math:`s_i > 0`. Its multipliers prove that the others are 0: with them, the sum of their
   :math:`\varphi_i/s_i` is at most 0.
3. For these the entropy asks for :math:`\varphi_i = \min(L_i, W_i e^{-\sum_j a_{ij} r_j})`, with prices
   :math:`r_j` of either sign where :math:`p_j > 0`, else :math:`0 \le r_j \perp 1 - \sum_i a_{ij}\varphi_i
   \ge 0`. They minimise a convex function (the dual), which is done by projected Newton steps.

The evidence is computed from the tasks and the prices alone. A gain or a price that is neither clearly 0 nor
clearly not 0 leaves the face in doubt: that is an error, not a guess.

References
----------
.. [1] R. M. Freund, R. Roundy and M. J. Todd, "Identifying the set of always-active constraints in a system
   of linear inequalities by a single linear program", MIT Sloan working paper 1674-85, 1985.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.errors import NotConvergedError
from fairness.evidence.pools import Certificate
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.policy import Solution, evaluate, unit_prices

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

__all__ = ["throughput_solution", "throughput_tasks"]

BoolArray = NDArray[np.bool_]

CERTIFIED = 1e-10
"""Largest relative residual of a solved state."""

_ZERO, _CLEAR = 1e-11, 1e-8  # gains and prices in between leave the face in doubt
_TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}  # HiGHS' least
_STEPS = 200


def throughput_tasks(problem: Problem, counts: ArrayLike) -> FloatArray:
    """Tasks running per class, shape (..., n_classes), state by state.

    Raises
    ------
    NotConvergedError
        If a state cannot be certified to a relative accuracy of 1e-10.
    """
    evidence = np.zeros(2)
    return evaluate(problem, counts, _states, problem.weights, np.zeros(problem.n_resources), evidence)


def throughput_solution(problem: Problem, counts: FloatArray) -> Solution:
    """Allocation, prices of the linear program, and evidence for one vector of counts."""
    evidence = np.zeros(2)
    share_prices = np.zeros(problem.n_resources)
    tasks = evaluate(problem, counts, _states, problem.weights, share_prices, evidence)
    claim = "the most tasks, and of these allocations the one of largest weighted entropy"
    certificate = Certificate(claim, float(evidence[0]), CERTIFIED, float(evidence[1]))
    return Solution(tasks, certificate, prices=unit_prices(problem, share_prices))


def _states(
    task_shares: FloatArray,
    limits: FloatArray,
    counts: FloatArray,
    tasks: FloatArray,
    weights: FloatArray,
    prices: FloatArray,
    evidence: FloatArray,
) -> None:
    """Fill ``tasks``; ``prices`` and ``evidence`` (residual, duality gap) of the last state."""
    tasks[:] = 0.0
    for state, x in enumerate(counts):
        live = np.flatnonzero(x > 0)
        prices[:] = 0.0
        evidence[:] = 0.0
        if live.size:
            used = task_shares[live].any(axis=0)
            tasks[state, live], prices[used], evidence[:] = _one_state(
                task_shares[np.ix_(live, used)], x[live] * limits[live], x[live] * weights[live], x
            )


def _one_state(
    shares: FloatArray, caps: FloatArray, weight: FloatArray, counts: FloatArray
) -> tuple[FloatArray, FloatArray, tuple[float, float]]:
    """Tasks, prices, (residual, gap) when every class has jobs and every resource is demanded."""
    prices = _best_prices(shares, caps, counts)
    gain = 1.0 - shares @ prices
    doubtful = (np.abs(gain) > _ZERO) & (np.abs(gain) < _CLEAR)
    # A price is as large as its part of the bill, 1 or less, of a class that runs.
    bills = prices * shares[gain > -_CLEAR].max(axis=0, initial=0.0)
    priced = bills > _ZERO
    if doubtful.any() or (bills[priced] < _CLEAR).any():
        _fail(counts, "gains or prices are too near to 0 to tell which allocations are the best")
    prices[~priced] = 0.0
    at_limit = gain > _ZERO
    if np.isinf(caps[at_limit]).any():
        _fail(counts, "the linear program was not solved accurately")
    tasks = np.where(at_limit, caps, 0.0)
    free = 1.0 - tasks @ shares
    inside = np.abs(gain) <= _ZERO
    inside[inside] = _positive(shares[inside], caps[inside], free, priced, counts)
    residual = 0.0
    if inside.any():
        tasks[inside], residual = _most_entropy(
            shares[inside], caps[inside], weight[inside], free, priced, prices, counts
        )
    slack = 1.0 - tasks @ shares
    residual = max(residual, float(np.max(-slack, initial=0.0)), float(np.max(slack[priced], initial=0.0)))
    bound = prices.sum() + gain[at_limit] @ tasks[at_limit]
    gap = abs(float(bound - tasks.sum())) / float(bound)
    if not max(residual, gap) <= CERTIFIED:
        _fail(counts, f"residual {residual:.1e}, duality gap {gap:.1e}", max(residual, gap))
    return tasks, prices, (residual, gap)


def _best_prices(shares: FloatArray, caps: FloatArray, counts: FloatArray) -> FloatArray:
    """Optimal dual prices of max sum(tasks), to rounding where the face is clear."""
    if not shares.size:
        return np.zeros(shares.shape[1])
    # In units of the largest number of tasks that a class alone could run.
    with np.errstate(divide="ignore"):
        unit = float(np.max(np.minimum(caps, 1.0 / shares.max(axis=1))))
    result = _program(
        counts,
        -np.ones(len(caps)),
        A_ub=shares.T * unit,
        b_ub=np.ones(shares.shape[1]),
        bounds=np.column_stack([np.zeros_like(caps), caps / unit]),
    )
    prices = np.maximum(-result.ineqlin.marginals, 0.0) * unit
    # HiGHS promises 1e-10 only: solve once more for the prices that are not 0.
    basic = np.abs(1.0 - shares @ prices) < 1e-10
    priced = prices > 0
    scale = prices[priced]
    system = shares[np.ix_(basic, priced)] * scale
    for _ in range(2):
        prices[priced] += scale * np.linalg.lstsq(system, 1.0 - shares[basic] @ prices, rcond=1e-12)[0]
    return np.maximum(prices, 0.0)


def _positive(
    shares: FloatArray, caps: FloatArray, free: FloatArray, priced: BoolArray, counts: FloatArray
) -> BoolArray:
    """Which classes are positive somewhere on the face (step 2)."""
    n, m = shares.shape
    if not n:
        return np.zeros(0, dtype=bool)
    unit = np.minimum(1.0 / shares.max(axis=1), caps)  # gains are 0, so each class demands something
    # Variables: min(v/unit, 1), the rest of v/unit, theta.
    rows = shares.T * unit
    usage = np.hstack([rows, rows, -free[:, None]])
    capped = np.isfinite(caps)
    bound = np.hstack([np.eye(n), np.eye(n), -(caps / unit)[:, None]])[capped]
    result = _program(
        counts,
        np.r_[-np.ones(n), np.zeros(n + 1)],
        A_ub=np.vstack([usage[~priced], bound]),
        b_ub=np.zeros(m - int(priced.sum()) + int(capped.sum())),
        A_eq=usage[priced],
        b_eq=np.zeros(int(priced.sum())),
        bounds=[(0, 1)] * n + [(0, None)] * n + [(1, None)],
    )
    runs = result.x[:n] > 0.5
    multipliers = np.zeros(m)
    multipliers[~priced], multipliers[priced] = (
        -result.ineqlin.marginals[: m - int(priced.sum())],
        -result.eqlin.marginals,
    )
    cap_multipliers = np.zeros(n)
    cap_multipliers[capped] = -result.ineqlin.marginals[m - int(priced.sum()) :]
    # sum(coefficient v/unit) <= bound for all allocations of the face.
    coefficient = multipliers @ rows + cap_multipliers
    bound_on_sum = multipliers @ free + cap_multipliers[capped] @ (caps / unit)[capped]
    signs = min(float(multipliers[~priced].min(initial=0.0)), float(cap_multipliers.min(initial=0.0)))
    zero_proved = coefficient[~runs].min(initial=1.0) > 0.5 and bound_on_sum <= 1e-9
    if not (zero_proved and coefficient.min() > -1e-9 and signs > -1e-9):
        _fail(counts, "which classes run at all is in doubt")
    return np.asarray(runs)


def _most_entropy(
    shares: FloatArray,
    caps: FloatArray,
    weight: FloatArray,
    free: FloatArray,
    priced: BoolArray,
    prices: FloatArray,
    counts: FloatArray,
) -> tuple[FloatArray, float]:
    """Tasks of step 3 and their residual: |slack| where priced, else the excess and min(r, slack)."""
    # sum(a p) = 1 for each class here: along p all tasks change by the same factor, and sum to p.free.
    with np.errstate(divide="ignore"):
        kink = np.log(weight / caps)  # -inf without a limit
    r = prices * np.log(weight.sum() / float(prices @ free))

    def tasks_at(cost: FloatArray) -> FloatArray:
        return np.minimum(caps, weight * np.exp(-np.maximum(cost, -700.0)))

    def dual(r: FloatArray) -> float:
        cost = shares @ r
        over = np.where(cost < kink, kink - cost, 0.0)
        tasks = tasks_at(cost)
        return float(np.sum(tasks * (1.0 + over)) + free @ r)

    best, best_residual = tasks_at(shares @ r), np.inf
    for _ in range(_STEPS):
        cost = shares @ r
        tasks = tasks_at(cost)
        slope = free - tasks @ shares
        complementary = np.where(priced, np.abs(slope), np.abs(np.minimum(slope, r)))
        residual = float(complementary.max())
        if residual < best_residual:
            best, best_residual = tasks, residual
        elif best_residual <= CERTIFIED:
            break
        moving = priced | (r > 0) | (slope < 0)
        # A class at its limit has no curvature, but gets some when prices rise far enough.
        curvature = tasks * np.where(cost > kink, 1.0, min(0.01, residual))
        pull = shares * np.sqrt(curvature)[:, None]
        while True:
            step = _newton_step(pull[:, moving], slope[moving])
            # A resource overflows but needs no price, when the others' new prices already mend it.
            needless = ~priced[moving] & (r[moving] == 0) & (step < 0)
            if not needless.any():
                break
            moving[np.flatnonzero(moving)[needless]] = False
        whole = np.zeros_like(r)
        whole[moving] = step
        # The step ends where a price reaches 0: what is beyond was computed for a set that has changed.
        falling = ~priced & (whole < 0)
        ends = np.where(falling, r / np.where(falling, -whole, 1.0), np.inf)
        # Tasks change by no more than a factor of exp(5): the quadratic model knows no exponentials.
        change = float(np.abs(shares @ whole).max())
        length, here = min(1.0, 5.0 / max(change, 1e-100), float(ends.min())), dual(r)
        while True:
            trial = np.where(length >= ends, 0.0, r + length * whole)
            # Near the end the decrease drowns in rounding errors, and full steps are right.
            if length < 1e-12 or dual(trial) <= here + 1e-4 * float(slope @ (trial - r)) + 1e-13 * abs(here):
                break
            length *= 0.5
        r = trial
    return best, best_residual


def _newton_step(pull: FloatArray, slope: FloatArray) -> FloatArray:
    """Minus the inverse of pull'pull times the slope; far along directions of no curvature."""
    scale = np.sqrt(np.maximum(np.sum(pull**2, axis=0), 1e-100))
    hessian = (pull / scale).T @ (pull / scale) + 1e-12 * np.eye(slope.size)
    return np.asarray(-np.linalg.solve(hessian, slope / scale) / scale)


def _program(counts: FloatArray, objective: FloatArray, **rules: object) -> OptimizeResult:
    from scipy.optimize import linprog

    result = linprog(objective, **rules, method="highs-ds", options=_TOLERANCES)
    if result.status != 0:
        _fail(counts, f"the linear program was not solved: {result.message}")
    return result


def _fail(counts: FloatArray, why: str, residual: float = float("nan")) -> None:
    raise NotConvergedError(
        f"alpha = 0: counts {counts}: {why}; take a small alpha such as 0.05", residual=residual
    )
