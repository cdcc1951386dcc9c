r"""Bottleneck max fairness of large pools: by prices, on the way from proportional fairness.

With shares :math:`s_{ij} = a_{ij}/C_j` of whole resources and :math:`W_i = x_i w_i`, let a task of class
:math:`i` cost

.. math:: z_i = \Bigl(\sum_j (p_j s_{ij})^\beta + f_i^\beta\Bigr)^{1/\beta},
   \qquad \varphi_i = W_i / z_i, \qquad U_j = \sum_i \varphi_i s_{ij} ,

where :math:`f_i = w_i/\ell_i` is the cost at which a job reaches its limit. With :math:`\beta = 1`, and as
:math:`\mu \to 0`, the prices with

.. math:: U_j + \mu / p_j = 1 \quad\text{for every resource}

are those of proportional fairness; as :math:`\beta \to \infty` a task costs the dearest of what it holds,
:math:`z_i = \max_j p_j s_{ij}`, and the allocation is bottleneck max fair. On the way :math:`U` is smooth:
with the parts :math:`t_{ik} = (p_k s_{ik}/z_i)^\beta`,

.. math:: -\frac{\partial U_j}{\partial \log p_k} = L_{jk} = \sum_i \varphi_i s_{ij} t_{ik} ,

and Newton's method solves :math:`(L + \operatorname{diag}(\mu/p))\, d = U + \mu/p - 1` for the change
:math:`d` of the logarithms of the prices. From time to time the last stage is tried,
:math:`\beta = \infty` and :math:`\mu = 0`: there each class pays one resource, its *owner*
(:math:`t_{ik} = 1`), and a resource that no class pays may be left with room. Once the owners stay the same,
the equations are smooth again and a few steps give all digits. First of all the last stage is tried from
*responses* :math:`p_j \leftarrow p_j U_j`, which come near enough where many classes share each resource.

A stage costs a few products of sparse matrices and factors of a matrix of the size of the resources. Nothing
here is trusted: the caller judges the tasks by the definition.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairness.machine.memory import require_memory
from fairness.model.nonzeros import Nonzeros, reduced
from fairness.model.problem import FloatArray

__all__ = ["bottleneck_rates"]

RESPONSES = 15
"""Before the last stage is tried for the first time."""
STAGES = ((1.0, 1.0), *((2.0**k, 0.25**k) for k in range(1, 20)))
"""Exponents, and barriers in units of the mean price."""
LAST_TRIED = 32.0
"""Exponent from which the last stage is tried after each other one."""
ROUNDS = 30
"""Most steps of a stage; so many of the last one leave no doubt that its owners go in circles."""
NEAR = 0.03
"""Residual with which a stage on the way ends."""
FAR = 20.0
"""Factor by which no price changes more at once."""
DEPENDENT = 1e-8
"""Singular values below this part of the largest are none."""
SOLVED = 1e-13
"""Residual of the last stage from which further steps add nothing but rounding, if it is reached."""
CLOSE = 1e-11
"""Residual of what counts as found."""


class _Use(NamedTuple):
    rate: FloatArray  # (n_classes,): tasks over mass
    lead: FloatArray  # (entries,): logarithm of what is paid over the largest that the class pays
    part: FloatArray  # (entries,): of the cost of a task
    held: FloatArray  # (entries,): share of the resource that the class holds
    used: FloatArray  # (n_resources,)
    paid: FloatArray  # (n_resources,): share that is held by those who pay the resource


class _Pool:
    """Demands of all classes for resources of capacity 1."""

    def __init__(self, shares: Nonzeros, mass: FloatArray, floors: FloatArray, n_resources: int) -> None:
        self.shares, self.mass, self.size = shares, mass, n_resources
        self.rows = shares.spread(np.arange(mass.size))
        self.logs = np.log(shares.share)
        with np.errstate(divide="ignore"):
            self.floors = np.log(floors)
        # Who demands nothing that there is and has no limit has no jobs here: any cost will do.
        self.floors[(np.diff(shares.start) == 0) & (floors == 0)] = 0.0
        self.mean_price = mass.sum() / n_resources

    def use(self, prices: FloatArray, exponent: float) -> _Use:
        """What is used at (logarithms of) prices."""
        shares = self.shares
        bills = prices[shares.resource] + self.logs
        cost = np.maximum(reduced(np.maximum, bills, shares.start, -np.inf), self.floors)
        lead = bills - shares.spread(cost)
        if np.isinf(exponent):
            dearest = np.flatnonzero(lead == 0.0)
            _, first = np.unique(self.rows[dearest], return_index=True)
            part = np.zeros_like(lead)
            part[dearest[first]] = 1.0
        else:
            part = np.exp(exponent * lead)
            total = reduced(np.add, part, shares.start, 0.0) + np.exp(exponent * (self.floors - cost))
            part /= shares.spread(total)
            cost = cost + np.log(total) / exponent
        rate = np.exp(-cost)
        held = shares.share * shares.spread(self.mass * rate)
        used, paid = (self._per_resource(amount) for amount in (held, held * part))
        return _Use(rate, lead, part, held, used, paid)

    def _per_resource(self, amounts: FloatArray) -> FloatArray:
        return np.bincount(self.shares.resource, amounts, minlength=self.size).astype(float)

    def distances(self, use: _Use) -> FloatArray:
        """How far the logarithm of each price is below that at which the first class pays the resource."""
        distances = np.full(self.size, np.inf)
        np.minimum.at(distances, self.shares.resource, -use.lead)
        return distances

    def responses(self, use: _Use) -> FloatArray:
        """Matrix L of the module, shape (n_resources, n_resources)."""
        shape = self.mass.size, self.size
        held, part = (
            sparse.csr_array((values, self.shares.resource, self.shares.start), shape)
            for values in (use.held, use.part)
        )
        matrix: FloatArray = (held.T @ part).toarray()
        return matrix


def bottleneck_rates(shares: Nonzeros, mass: FloatArray, floors: FloatArray, n_resources: int) -> FloatArray:
    """Tasks over mass of a bottleneck max fair allocation, or near one.

    Parameters
    ----------
    shares : Nonzeros
        Shares of whole resources that a task holds; who has jobs demands something or has a limit.
    mass : ndarray of shape (n_classes,)
        Weight of all jobs.
    floors : ndarray of shape (n_classes,)
        Weight of a job over its limit, 0 without one.
    n_resources : int

    Returns
    -------
    ndarray of shape (n_classes,)
    """
    require_memory(
        32.0 * n_resources**2, f"BMF of {n_resources:,} resources", "take PF or DRF, or fewer resources"
    )
    if not mass.any():
        return np.zeros_like(mass)
    pool = _Pool(shares, mass, floors, n_resources)
    prices = np.full(n_resources, np.log(pool.mean_price))
    near = prices.copy()
    for _ in range(RESPONSES):
        near += np.log(np.maximum(pool.use(near, np.inf).used, 1.0 / FAR))
    rate, error = _last_stage(pool, near)
    for exponent, barrier in STAGES:
        if error <= CLOSE:
            break
        prices = _stage(pool, prices, exponent, barrier * pool.mean_price)
        if exponent >= LAST_TRIED:
            other, found = _last_stage(pool, prices)
            if found < error:
                rate, error = other, found
    return rate


def _stage(pool: _Pool, prices: FloatArray, exponent: float, barrier: float) -> FloatArray:
    """Prices with U + barrier/p near 1."""

    def at(prices: FloatArray) -> tuple[_Use, FloatArray]:
        use = pool.use(prices, exponent)
        return use, use.used + barrier * np.exp(-prices) - 1.0

    use, excess = at(prices)
    for _ in range(ROUNDS):
        if np.max(np.abs(excess)) <= NEAR:
            break
        matrix = pool.responses(use)
        matrix[np.diag_indices(pool.size)] += barrier * np.exp(-prices)
        step = _solved(matrix, excess)
        if step is None:
            break
        size = np.linalg.norm(excess)
        for length in 0.5 ** np.arange(8.0):
            use, excess = at(prices + length * step)
            if np.linalg.norm(excess) <= (1.0 - 0.1 * length) * size:
                break
        prices = prices + length * step
    return prices


def _last_stage(pool: _Pool, prices: FloatArray) -> tuple[FloatArray, float]:
    """Rates at which each class pays one resource, and the largest violation of U = 1, or <= 1 if unpaid."""
    use = pool.use(prices, np.inf)
    paid = (use.paid > 0.0) & (use.used > 0.5)  # what has much room has its price from the barrier
    excess = _violations(use, paid)
    best = use.rate, float(np.max(np.abs(excess)))
    for _ in range(ROUNDS):
        if best[1] <= SOLVED:
            break
        priced = np.flatnonzero(paid)
        step = _solved(pool.responses(use)[np.ix_(priced, priced)], excess[priced], paid=True)
        if step is None:
            break
        size = np.abs(excess).sum()
        for length in 0.5 ** np.arange(8.0):
            other = prices.copy()
            other[priced] += length * step
            full = ~paid & (use.used > 1.0)
            other[full] += np.log(use.used[full]) + pool.distances(use)[full]
            after = pool.use(other, np.inf)
            excess = _violations(after, after.paid > 0.0)
            if np.abs(excess).sum() < size:
                break
        else:
            break
        prices, use, paid = other, after, after.paid > 0.0
        error = float(np.max(np.abs(excess)))
        if error < best[1]:
            best = use.rate, error
    return best


def _violations(use: _Use, paid: NDArray[np.bool_]) -> FloatArray:
    return np.where(paid, use.used - 1.0, np.maximum(use.used - 1.0, 0.0))


def _solved(matrix: FloatArray, excess: FloatArray, paid: bool = False) -> FloatArray | None:
    """Newton's step, no price by more than a factor ``FAR``; None where there is none.

    Where only resources that are ``paid`` have a price, those that the same classes demand may share it in
    any way: then the shortest step.
    """
    try:
        step = np.linalg.solve(matrix, excess)
        longest = np.max(np.abs(excess), initial=0.0) / DEPENDENT
        shared = paid and not np.max(np.abs(step), initial=0.0) <= longest
    except np.linalg.LinAlgError:
        shared = True
    if shared:
        step = np.linalg.lstsq(matrix, excess, DEPENDENT)[0]
    most = np.log(FAR)
    return np.clip(step, -most, most) if np.isfinite(step).all() else None
