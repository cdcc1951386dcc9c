r"""Proportional fairness, and the family of :math:`\alpha`-fair allocations.

With :math:`x_i` jobs of weight :math:`w_i` in class :math:`i` and :math:`W_i = x_i w_i`, the tasks solve

.. math:: \max_\varphi \sum_i W_i^\alpha \frac{\varphi_i^{1-\alpha}}{1-\alpha}
   \quad\text{subject to}\quad \sum_i \varphi_i a_{ij} \le C_j, \quad \varphi_i \le x_i \ell_i ,

:math:`\sum_i W_i \log\varphi_i` when :math:`\alpha = 1`: *proportional fairness* (PF) [1]_, the competitive
equilibrium from equal incomes (CEEI) [2]_. Each resource has a price :math:`p_j`, positive only where the
resource is saturated, each limit a price :math:`q_i`, and

.. math:: \varphi_i = W_i \Bigl(\sum_j a_{ij} p_j + q_i\Bigr)^{-1/\alpha} ;

under PF a job of weight :math:`w` spends :math:`w`. The tasks are unique for every :math:`\alpha > 0`, the
prices need not be (think of a duplicated resource). From :math:`\alpha \to 0`, maximum throughput
(:mod:`fairness.policies.engines.throughput`), the family runs to :math:`\alpha \to \infty`, weighted max-min
fairness of tasks.

The weight :math:`w_i^\alpha` in front of a job makes a job of weight :math:`w` equal to :math:`w` jobs of
weight 1 for every :math:`\alpha`. The weight of Mo and Walrand [3]_ is our :math:`w_i^\alpha`, and
theirs tends to *unweighted* max-min fairness.

Prices are found as said in :mod:`fairness.policies.engines.prices`; every state of a batch is certified
there. Of two classes, tasks follow from a closed form, on the edges of their polygon
(:mod:`fairness.policies.engines.polygon`); what is checked in each state is that they are possible.

References
----------
.. [1] F. P. Kelly, A. K. Maulloo and D. K. H. Tan, "Rate control for communication networks: shadow prices,
   proportional fairness and stability", J. Oper. Res. Soc. 49(3), 1998. DOI 10.1057/palgrave.jors.2600523.
.. [2] A. Ghodsi et al., "Dominant resource fairness: fair allocation of multiple resource types",
   NSDI 2011, section 4.2.
.. [3] J. Mo and J. Walrand, "Fair end-to-end window-based congestion control", IEEE/ACM Trans. Networking
   8(5), 2000. DOI 10.1109/90.879343.
.. [4] T. Bonald and J. Roberts, "Multi-resource fairness: objectives, algorithms and performance",
   ACM SIGMETRICS 2015. arXiv:1410.0782.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import frozen, require_number
from fairness.errors import NotConvergedError
from fairness.evidence.pools import price_certificate, relative_usage, rounding
from fairness.model.nonzeros import Nonzeros, reduced
from fairness.model.problem import FloatArray, Problem
from fairness.policies.engines.polygon import edge_tasks
from fairness.policies.engines.prices import CERTIFIED, price_kernel, solve_states
from fairness.policies.engines.throughput import throughput_solution, throughput_tasks
from fairness.policies.maxmin import MaxMin
from fairness.protocol.family import Family
from fairness.protocol.following import AnsweringFollower, Follower
from fairness.protocol.policy import Solution, evaluate, unit_prices

__all__ = ["AlphaFair", "ProportionalFair"]


@dataclass(frozen=True)
class ProportionalFair:
    """Proportional fairness: the largest weighted product of tasks; CEEI.

    It gives every job its share of some resource (sharing incentive), is free of envy and Pareto efficient,
    and does not depend on how work is cut into tasks; it is not strategy-proof (reference 4 of the module).

    Examples
    --------
    >>> from fairness import Problem, allocate
    >>> from fairness.policies.proportional import ProportionalFair
    >>> result = allocate(Problem([[1, 4], [3, 1]], [9, 18]), ProportionalFair())
    >>> result.tasks * 11
    array([45., 18.])
    >>> result.prices
    array([0.2       , 0.01111111])
    """

    name = "PF"
    batches = "compiled"
    family = Family("alpha-fair", {"alpha": 1.0})

    def __call__(self, problem: Problem, counts: ArrayLike) -> FloatArray:
        """Tasks running per class, shape (..., n_classes).

        Raises
        ------
        NotConvergedError
            If a state cannot be certified to a relative accuracy of 1e-10.
        """
        return _solve(problem, counts, 1.0)[0]

    def follow(self, problem: Problem) -> Follower:
        """One state after the other, each from the prices of the one before."""
        return _PriceFollower(problem, 1.0)

    def solve(self, problem: Problem, counts: ArrayLike | None = None) -> Solution:
        """Allocation with prices, KKT certificate and duality gap for one vector of counts."""
        return _solution(problem, problem.check_state(counts), 1.0)


@dataclass(frozen=True)
class AlphaFair:
    """Weighted alpha-fairness of the numbers of tasks.

    It depends on how work is cut into tasks unless ``alpha`` is 1.

    Parameters
    ----------
    alpha : float
        Aversion to inequality, >= 0: 1 is proportional fairness, 2 minimises potential delay. 0 and ``inf``
        are the limits, maximum throughput and max-min fairness. Between 0.05 and 50 all but extreme problems
        are solved; elsewhere,
        :math:`(W_i/\\varphi_i)^\\alpha` leaves the range of floating-point numbers.

    Examples
    --------
    >>> from fairness import Problem
    >>> from fairness.policies.proportional import AlphaFair
    >>> line = Problem([[1, 1], [1, 0], [0, 1]], [1, 1])  # one flow on two links, two on one link each
    >>> for alpha in (0, 0.5, 1, 2, float("inf")):
    ...     AlphaFair(alpha)(line, [1, 1, 1]).round(4)
    array([0., 1., 1.])
    array([0.2, 0.8, 0.8])
    array([0.3333, 0.6667, 0.6667])
    array([0.4142, 0.5858, 0.5858])
    array([0.5, 0.5, 0.5])
    """

    alpha: float

    batches = "compiled"

    def __post_init__(self) -> None:
        hint = " (0 for maximum throughput, inf for max-min)"
        alpha = require_number("alpha", self.alpha, least=0, most=math.inf, hint=hint)
        object.__setattr__(self, "alpha", alpha)

    @property
    def name(self) -> str:
        """Name for tables and legends."""
        return f"alpha={self.alpha:g}"

    @property
    def family(self) -> Family:
        """Alpha-fairness, and max-min fairness when ``alpha`` is infinite."""
        return MaxMin.family if math.isinf(self.alpha) else Family("alpha-fair", {"alpha": self.alpha})

    def __call__(self, problem: Problem, counts: ArrayLike) -> FloatArray:
        """Tasks running per class, shape (..., n_classes).

        Raises
        ------
        NotConvergedError
            If a state cannot be certified to a relative accuracy of 1e-10; when ``alpha`` is 0, also if
            rounding errors leave open which allocations have the most tasks.
        """
        if math.isinf(self.alpha):
            return MaxMin()(problem, counts)
        if self.alpha == 0:
            return throughput_tasks(problem, counts)
        return _solve(problem, counts, self.alpha)[0]

    def follow(self, problem: Problem) -> Follower:
        """One state after the other, each from the prices of the one before."""
        if math.isinf(self.alpha):
            return MaxMin().follow(problem)
        if self.alpha == 0:
            return lambda counts: throughput_tasks(problem, counts)
        return _PriceFollower(problem, self.alpha)

    def solve(self, problem: Problem, counts: ArrayLike | None = None) -> Solution:
        """Allocation with prices, KKT certificate and duality gap for one vector of counts.

        When ``alpha`` is infinite there are levels instead of prices.
        """
        if math.isinf(self.alpha):
            return MaxMin().solve(problem, counts)
        if self.alpha == 0:
            return throughput_solution(problem, problem.check_state(counts))
        return _solution(problem, problem.check_state(counts), self.alpha)


class _PriceFollower(AnsweringFollower):
    def __init__(self, problem: Problem, alpha: float) -> None:
        self.problem, self.alpha = problem, alpha
        super().__init__(problem, solve_states, MaxMin().growth(problem), alpha, CERTIFIED)

    def __call__(self, counts: FloatArray) -> FloatArray:
        tasks = super().__call__(counts)
        return tasks if self.residuals[0] <= CERTIFIED else _solve(self.problem, counts, self.alpha)[0]


def _solve(
    problem: Problem, counts: ArrayLike, alpha: float, *, priced: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Tasks, shape (..., n_classes), and if wanted the prices of a single state, for capacities 1.

    States in which one way fails are left to the next.
    """
    x, growth = problem.check_counts(counts), MaxMin().growth(problem)
    states = x.reshape(-1, problem.n_classes)
    tasks, residuals = np.empty_like(states), np.zeros(len(states))
    by_edges = problem.n_classes == 2 and not priced and np.isfinite(growth).all()
    left: Any = slice(None)
    for kernel in (*([edge_tasks] if by_edges else []), price_kernel, _in_dominant_shares):
        prices, found = np.zeros(problem.n_resources), residuals[left]
        tasks[left] = evaluate(
            problem, states[left], kernel, growth, alpha, prices, found, shares=problem.nonzeros
        )
        residuals[left] = found
        left = ~(residuals <= CERTIFIED)
        if not left.any():
            return tasks.reshape(x.shape), prices
    worst = int(np.argmax(np.where(np.isnan(residuals), np.inf, residuals)))
    raise NotConvergedError(
        f"alpha = {alpha:g}: the tasks for counts {states[worst]} have a residual of "
        f"{residuals[worst]:.1e} > {CERTIFIED:g}; {_remedy(alpha)}",
        best=tasks.reshape(x.shape),
        residual=float(residuals[worst]),
    )


def _in_dominant_shares(
    shares: Nonzeros,
    limits: FloatArray,
    counts: FloatArray,
    tasks: FloatArray,
    growth: FloatArray,
    alpha: float,
    prices: FloatArray,
    residuals: FloatArray,
) -> None:
    """As ``price_kernel``, in tasks of which one takes all of some resource: with other roundings."""
    size = reduced(np.maximum, shares.share, shares.start, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        pace = growth * size ** (1.0 - 1.0 / alpha)
        # Read-only, as those of a problem are: the kernel is compiled for one of the two.
        price_kernel(
            shares.divided(size), frozen(limits * size), counts, tasks, pace, alpha, prices, residuals
        )
        tasks /= size


def _remedy(alpha: float) -> str:
    far = "if demands, capacities, counts or weights are many decades apart, leave out what is negligible"
    return far if alpha == 1.0 else f"take alpha nearer to 1, or inf (max-min); {far}"


def _solution(problem: Problem, counts: FloatArray, alpha: float) -> Solution:
    tasks, share_prices = _solve(problem, counts, alpha, priced=True)
    prices = unit_prices(problem, share_prices)
    # A class at its limit pays the rest of its bill (W/tasks)^alpha for the limit.
    cost = problem.nonzeros.bills(share_prices)
    limit_prices = np.zeros_like(cost)
    caps = np.where(counts > 0, counts, 1.0) * problem.limits
    at_limit = (tasks > 0) & (tasks >= caps)
    with np.errstate(over="ignore"):
        bill = (counts[at_limit] * problem.weights[at_limit] / tasks[at_limit]) ** alpha
    limit_prices[at_limit] = np.maximum(bill - cost[at_limit], 0.0)
    if not (np.isfinite(prices).all() and np.isfinite(limit_prices).all()):
        raise NotConvergedError(
            f"alpha = {alpha:g}: the prices exceed the floating-point numbers; measure work in tasks of "
            f"another size; {_remedy(alpha)}",
            best=tasks,
        )
    # Duality gap of tasks/over, which are feasible, relative to all bills: that of the tasks, which are
    # stationary, and a bound on how much the concave objective falls from tasks to tasks/over.
    bills = tasks * (cost + limit_prices)
    over = max(1.0, float(relative_usage(problem, tasks)[problem.capacities > 0].max(initial=0.0)))
    slack = float(prices @ problem.capacities + limit_prices[at_limit] @ tasks[at_limit] - bills.sum())
    gap = 0.0
    if bills.sum() > 0:
        gap = abs(slack) / float(bills.sum()) + (1.0 - 1.0 / over) * over**alpha
        gap += rounding(problem.n_classes + problem.n_resources) * max(1.0, alpha)
    certificate = price_certificate(
        problem, counts, tasks, prices, limit_prices=limit_prices, alpha=alpha, duality_gap=gap
    )
    return Solution(tasks, certificate, prices=prices)
