r"""Rigorous intervals of the alpha-fair tasks in one state, by their definition.

With :math:`W_i = x_i w_i > 0` the tasks :math:`\varphi^*` are the largest point of

.. math:: F(\varphi) = \sum_i W_i^\alpha \frac{\varphi_i^{1-\alpha}}{1-\alpha}
   \quad\bigl(\sum_i W_i \log\varphi_i \text{ for } \alpha = 1\bigr) \quad\text{subject to}\quad
   \sum_i \varphi_i a_{ij} \le C_j, \quad \varphi_i \le L_i = x_i \ell_i

(:mod:`fairness.policies.proportional`). An approximate solution is handed in by who calls, prices and tasks
with which full resources are full to some thirty digits (:class:`Guess`), and then *verified*: nothing below
depends on how it was found.

**Theorem.** Let :math:`\varphi > 0` be feasible, :math:`p \ge 0` any prices of the resources and :math:`q
\ge 0` of the limits, and with the bills :math:`B_i = W_i^\alpha \varphi_i^{1-\alpha} = \varphi_i
F_i'(\varphi_i)` let

.. math:: \kappa = \sum_j p_j \Bigl(C_j - \sum_i \varphi_i a_{ij}\Bigr) + \sum_i q_i (L_i - \varphi_i), \qquad
   \varepsilon_i = \Bigl| 1 - \frac{\varphi_i}{B_i} \Bigl(\sum_j a_{ij} p_j + q_i\Bigr) \Bigr| .

With :math:`R = 1/(4(\alpha + 1))`, :math:`c = 0.77\,\alpha` and :math:`G = \kappa + \sum_i B_i
\varepsilon_i^2/(2c)` let :math:`r_i = \varepsilon_i/c + \sqrt{2 G/(c B_i)}`. If all :math:`r_i < R`, then
:math:`|\varphi^*_i/\varphi_i - 1| \le r_i` for all i.

*Proof.* Let :math:`z_i = \varphi^*_i/\varphi_i` and :math:`\psi(z) = (z - 1) - (z^{1-\alpha} - 1)/(1 -
\alpha)`, or :math:`z - 1 - \log z` for :math:`\alpha = 1`: convex, with :math:`\psi(1) = \psi'(1) = 0`. By
definition of :math:`\psi`, :math:`F(\varphi^*) - F(\varphi) = \sum_i B_i (z_i - 1) - \sum_i B_i \psi(z_i)`,
which is not negative. With :math:`B_i = \varphi_i (\sum_j a_{ij} p_j + q_i) + \theta_i B_i`,
:math:`|\theta_i| = \varepsilon_i`, and :math:`\varphi^*` feasible,

.. math:: \sum_i B_i \psi(z_i) \le \sum_i B_i (z_i - 1)
   = \sum_j p_j \sum_i a_{ij}(\varphi^*_i - \varphi_i) + \sum_i q_i(\varphi^*_i - \varphi_i)
   + \sum_i \theta_i B_i (z_i - 1) \le \kappa + \sum_i B_i \varepsilon_i |z_i - 1| .

:math:`t \mapsto \sum_i B_i [\psi(1 + t(z_i - 1)) - t\,\varepsilon_i |z_i - 1|]` is convex, 0 at :math:`t =
0` and at most :math:`\kappa` at 1, hence at most :math:`\kappa` in between. If :math:`\max_i |z_i - 1| > R`,
take the t at which :math:`v = t(z - 1)` has :math:`\max_i |v_i| = R`; otherwise :math:`t = 1`. As
:math:`\psi''(z) = \alpha z^{-\alpha-1} \ge \alpha (1 + R)^{-\alpha-1} \ge \alpha e^{-1/4} \ge c` for
:math:`z \le 1 + R`, :math:`\psi(1 + v_i) \ge c v_i^2/2`, and :math:`\sum_i B_i \frac c2 (|v_i| -
\varepsilon_i/c)^2 \le G`. So :math:`|v_i| \le r_i < R` for all i, which contradicts the choice of t unless
:math:`t = 1`. ∎

The root of :math:`\kappa` is why full resources must be full to twice the digits: then prices and slacks
that are both nearly 0 (ties, resources that are nearly parallel) do no harm, and :math:`r_i` is a few units
of rounding times :math:`\sqrt{\sum_k B_k/B_i}`. Where the verification fails, the interval is that of the
constraints alone, from 0 to the most tasks that the class can run.

With two classes these are the tasks of bottleneck max fairness (BMF) too, on any number of resources, with
weights and limits, if :math:`\alpha = 1`. *Proof.* Let :math:`s_{ij} = a_{ij}\varphi_i/W_i`. PF asks for
prices :math:`p_j \ge 0` of full resources with :math:`\sum_j p_j s_{ij} = 1`, :math:`\le 1` where class i is
at its limit; BMF for a full resource with :math:`s_{ij} = \max_k s_{kj}` for each i that is not at its
limit. Neither class at its limit: :math:`\sum_j p_j (s_{1j} - s_{2j}) = 0` is solvable by prices that are
not all 0 if and only if some full resource has :math:`s_{1j} \ge s_{2j}` and some :math:`s_{1j} \le s_{2j}`;
the sum :math:`\sum_j p_j s_{1j}` is then positive, since a full resource is used, and can be scaled to 1.
Only class 1 at its limit: :math:`\sum_j p_j s_{1j} \le \sum_j p_j s_{2j}` is solvable if and only if some
full resource has :math:`s_{1j} \le s_{2j}`. Both at their limits: no condition. One class alone: some
resource is full or the limit is reached, under either. ∎ The same holds for any number of classes on one
resource, where each class that is not at its limit has the largest share, and group by group where groups of
classes share no resource.

PS-DSF of servers that divide their time is PF in the totals that they can run: a class k that is served has
the largest :math:`W_k\gamma_{ki}/\varphi_k` of all on server i, which are the optimality conditions of
:math:`\max \sum_k W_k \log\varphi_k` over all divisions of time
(:mod:`fairness.policies.servers.engines.market`). These totals are a pool whose resources are facets
(:mod:`queueing.certificates.facets`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fairness.machine.compiling import UNCOUNTED, helper, part, stored
from fairness.model.problem import FloatArray
from queueing.certificates.errors import CertificateError
from queueing.certificates.pool import Pool
from queueing.certificates.rates import interface, slack
from queueing.certificates.rates.interface import Rates
from queueing.certificates.rates.slack import UNIT, slack_of, two_product

__all__ = [
    "ROWS",
    "TIME_DIVISION",
    "Guess",
    "Resources",
    "aversion",
    "guess_in",
    "guess_size",
    "masses",
    "memory",
    "numbers",
    "resources_of",
    "tasks",
]

ROWS = 6
"""Of work space over classes: mass, limit and its second part, tasks' second part, bills and errors."""

TIME_DIVISION = "PS-DSF tdm"
"""PF in the totals that servers can run when they divide their time, see the end of the docstring above."""


class Resources(NamedTuple):
    """Those that matter: views of what :func:`numbers` has prepared."""

    demands: FloatArray  # (n, m), without resources that others imply
    capacities: FloatArray  # (m,)
    shares: FloatArray  # (n, m), demands over capacities, rounded
    alpha: float


class Guess(NamedTuple):
    """An approximate solution in one state, in units where capacities are 1; none of it is trusted."""

    prices: FloatArray  # (m,)
    high: FloatArray  # (n,): tasks
    low: FloatArray  # (n,): what is to be added to them, beyond the digits of a float
    excess: FloatArray  # (1,): largest relative excess over a capacity


def aversion(pool: Pool, policy: str, parameters: Mapping[str, Any]) -> float:
    """The alpha of PF, "alpha-fair", BMF or PS-DSF; CertificateError where these tasks are not alpha-fair."""
    given = dict(parameters)
    if policy == TIME_DIVISION:
        if given.pop("division", "time") != "time" or given.pop("method", "filling") != "filling":
            raise CertificateError("data", f"{policy} divides the time of servers")
        given.pop("max_sweeps", None)  # of the other division
        if (pool.demands != pool.demands_above).any():
            raise CertificateError(
                "data",
                "the facets of the cluster are no floats; give demands, capacities and gamma as whole "
                "numbers or fractions with few digits",
            )
    alpha = given.pop("alpha", None) if policy == "alpha-fair" else 1.0
    if given:
        raise CertificateError("data", f"{policy} has no parameter {next(iter(given))!r}")
    if type(alpha) is not float or not 0 < alpha <= 64:
        raise CertificateError("data", f"alpha must be a float > 0, at most 64; got {alpha!r}")
    if policy == "BMF":
        for classes in _groups(pool):
            if len(classes) > 2 and len(pool.binding(classes)) > 1:
                raise CertificateError(
                    "data",
                    f"BMF of {len(classes)} classes that share several resources is not PF, and has no "
                    "definition here",
                )
    return alpha


def numbers(pool: Pool, policy: str, parameters: Mapping[str, Any]) -> FloatArray:
    """One row: alpha, the number of resources that matter, capacities, demands and shares of these."""
    alpha = aversion(pool, policy, parameters)
    kept = pool.binding(range(pool.n))
    demands, capacities = pool.demands[:, kept], pool.capacities[kept]
    head = np.array([alpha, len(kept)])
    return np.concatenate([head, capacities, demands.ravel(), (demands / capacities).ravel()])[None]


def guess_size(n: int, m: int) -> int:
    """Length of a guess."""
    return m + 2 * n + 1


def memory(n: int, m: int) -> int:
    """Length of the work space of :func:`tasks`, with the guess."""
    return guess_size(n, m) + ROWS * n


def _groups(pool: Pool) -> list[list[int]]:
    """Classes that share resources, directly or by way of others."""
    groups: list[list[int]] = []
    for i in range(pool.n):
        linked = [g for g in groups if ((pool.demands[g] > 0) & (pool.demands[i] > 0)).any()]
        joined = [k for g in linked for k in g] + [i]
        groups = [g for g in groups if g not in linked] + [joined]
    return groups


@helper()
def resources_of(rates: Rates) -> Resources:
    """Views of :func:`numbers`."""
    n, flat = rates.demands.shape[0], rates.numbers[0]
    m = int(flat[1])
    first, second = 2 + m, 2 + m + n * m
    return Resources(
        flat[first:second].reshape((n, m)), flat[2:first], flat[second:].reshape((n, m)), flat[0]
    )


@helper()
def guess_in(memory: FloatArray, n: int, m: int) -> tuple[Guess, FloatArray]:
    """The guess at the head of the work space, and the rest; m is the number of resources that matter."""
    last = m + 2 * n
    guess = Guess(memory[:m], memory[m : m + n], memory[m + n : last], memory[last : last + 1])
    return guess, memory[last + 1 :]


@part
def masses(rates: Rates, counts: Any, mass: FloatArray, cap: FloatArray, cap_low: FloatArray) -> None:
    """Masses W_i and, in two parts, limits L_i of the classes in a state."""
    for i in range(mass.size):
        x = float(counts[i])
        mass[i] = x * rates.weights[i]
        cap[i], cap_low[i] = np.inf, 0.0
        if x > 0 and rates.limits[i] < np.inf:
            cap[i], cap_low[i] = two_product(x, rates.limits[i])


@part
def _verify(
    resources: Resources, guess: Guess, rows: FloatArray, shrink: float, lo: FloatArray, hi: FloatArray
) -> bool:
    """The theorem of the module, for the tasks high + low less the part ``shrink``; whether it applies."""
    demands, capacities, alpha = resources.demands, resources.capacities, resources.alpha
    n, m = demands.shape
    prices, high, low = guess.prices, guess.high, guess.low
    mass, cap, cap_low, less, bills, dual = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    curvature = 0.77 * alpha
    radius = 0.25 / (alpha + 1.0)
    # Units of rounding, relative: m + 2 of a bill; mass, quotient and product; 4 for the tasks' second part.
    margin = (m + 16.0) * UNIT
    if alpha != 1.0 and alpha != 2.0:  # a power is right to 16 units: libraries promise less than 4
        margin += (16.0 + 8.0 * alpha) * UNIT
    for i in range(n):
        less[i] = low[i] - shrink * high[i]
    gap = 0.0
    for j in range(m):
        value, error = slack_of(demands, capacities[j], j, high, less)
        if not (prices[j] >= 0 and value >= error):
            return False
        gap += prices[j] / capacities[j] * (value + error)
    for i in range(n):
        if mass[i] == 0:
            continue
        if not (high[i] > 0 and abs(less[i]) <= 4 * UNIT * high[i]):
            return False
        base = high[i] / mass[i]
        inverse = base if alpha == 1.0 else base * base if alpha == 2.0 else base**alpha
        bill = 0.0
        for j in range(m):
            bill += demands[i, j] * (prices[j] / capacities[j])
        ratio = bill * inverse
        bills[i] = high[i] / inverse
        if cap[i] < np.inf:
            room = (cap[i] - high[i]) + (cap_low[i] - less[i])
            wrong = (abs(room) + abs(cap_low[i]) + abs(less[i])) * 4 * UNIT + 1e-300
            if not room >= wrong:
                return False
            if ratio < 1.0 and room <= 2.0**-80 * high[i]:  # the limit may have a price
                gap += bills[i] * (1.0 - ratio) / high[i] * (room + wrong)
                ratio = 1.0
        dual[i] = abs(1.0 - ratio) + margin * (1.0 + ratio)
    total = gap
    for i in range(n):
        if mass[i] > 0:
            total += bills[i] * dual[i] * dual[i] / (2.0 * curvature)
    for i in range(n):
        if mass[i] == 0:
            continue
        # All terms are positive and known to ten digits or better.
        part = (dual[i] / curvature + np.sqrt(2.0 * total / (curvature * bills[i]))) * (1.0 + 1e-6)
        if not part < radius:
            return False
        dual[i] = part + 16 * UNIT
    for i in range(n):
        if mass[i] > 0:
            lo[i] = high[i] * (1.0 - dual[i])
            hi[i] = high[i] * (1.0 + dual[i])
    return True


@stored(interface, slack, **UNCOUNTED)
def tasks(rates: Rates, counts: Any, lower: FloatArray, upper: FloatArray, memory: FloatArray) -> None:
    """Bounds of the tasks in one state, see :mod:`queueing.certificates.rates.interface`.

    A :class:`Guess` stands at the head of ``memory``, see :func:`guess_in`.
    """
    n = rates.demands.shape[0]
    resources = resources_of(rates)
    m = resources.capacities.size
    guess, space = guess_in(memory, n, m)
    rows = space[: ROWS * n].reshape((ROWS, n))
    mass, cap = rows[0], rows[1]
    masses(rates, counts, mass, cap, rows[2])
    present = 0
    for i in range(n):
        lower[i] = upper[i] = 0.0
        if mass[i] == 0:
            guess.high[i] = guess.low[i] = 0.0
            continue
        present += 1
        # What the resources and the limit allow: it stays where the theorem does not apply.
        upper[i] = cap[i]
        for j in range(m):
            if resources.demands[i, j] > 0:
                upper[i] = min(upper[i], resources.capacities[j] / resources.demands[i, j])
        upper[i] *= 1.0 + 4 * UNIT
    if present == 0:
        return
    excess = guess.excess[0]
    tight = 2.0**-104 * (4 * n + 4) * n
    for shrink in (excess + tight, excess + 2.0**-80, excess + 2.0**-56):
        if _verify(resources, guess, rows, shrink, lower, upper):
            return
