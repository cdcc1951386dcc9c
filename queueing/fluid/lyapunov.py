r"""Lyapunov functions of the fluid limit: certificates that all trajectories drain.

Functions V, homogeneous in the counts, positive but at 0, whose drift :math:`\nabla V\cdot f` is negative at
all directions:

* "max": :math:`V = \max_i c_i x_i`. A theorem for progressive filling with growth :math:`r_i` per job
  (max-min, DRF, asset fairness; weights within :math:`r_i`) and :math:`c_i = r_i/\rho_i`, as for flows [2]_:
  if i attains the maximum and j is the resource that stops it, at level :math:`\ell`, then
  :math:`C_j = \sum_k \varphi_k a_{kj} \le \ell\sum_k x_k r_k a_{kj} \le \ell V \sum_k\rho_k a_{kj}`, so
  :math:`\varphi_i = x_i r_i\ell = \rho_i V\ell \ge \rho_i\,C_j/\varrho_j`. Nothing is said of resources that
  fill up later, so this holds too for policies that stop at the first full resource.
* "power": :math:`V = \sum_i c_i x_i^{\alpha+1}`. A theorem for :math:`\alpha`-fairness with
  :math:`c_i = w_i^\alpha\sigma_i/\rho_i^\alpha` (PF: :math:`\alpha=1`) [1]_.
* "workload": :math:`V = \sum_i c_i x_i`, found by a linear program over directions.
* "quadratic": :math:`V = x^\top P x` with :math:`P\ge0`, found by a linear program.

The first two are proofs for their policies when no resource is overloaded. For anything else a function is
fitted to some directions and checked at others: evidence, not proof, and the result says so.

References
----------
.. [1] T. Bonald and L. Massoulié, "Impact of fairness on Internet performance", SIGMETRICS 2001.
   DOI 10.1145/378420.378438.
.. [2] G. de Veciana, T.-J. Lee and T. Konstantopoulos, "Stability and performance analysis of networks
   supporting elastic services", IEEE/ACM Transactions on Networking 9(1), 2001. DOI 10.1109/90.909020.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairness.arguments.validation import frozen
from fairness.model.problem import FloatArray
from fairness.policies.maxmin import MaxMin
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.family import Family, family_of
from queueing.model.system import System

__all__ = ["Certificate", "fitted_certificate", "known_certificate"]


@dataclass(frozen=True, eq=False)
class Certificate:
    """A Lyapunov function and how it was checked.

    Attributes
    ----------
    kind : {"max", "power", "workload", "quadratic"}
    coefficients : ndarray of shape (n_classes,) or (n_classes, n_classes)
        c or P of the module docstring.
    exponent : float
        alpha + 1 for "power"; otherwise 1 or 2, the degree of V.
    proof : bool
        Whether a theorem covers the policy; otherwise the check is all the evidence.
    directions : int
        Where the drift was computed.
    drift : float, 1/time
        Largest drift of V there, over V, at a total of one job.
    """

    kind: str
    coefficients: FloatArray
    exponent: float
    proof: bool
    directions: int = 0
    drift: float = np.nan

    def value(self, counts: FloatArray) -> FloatArray:
        """V at counts of shape (..., n_classes)."""
        c = self.coefficients
        if self.kind == "max":
            return np.asarray((c * counts).max(axis=-1))
        if self.kind == "quadratic":
            return np.asarray(((counts @ c) * counts).sum(axis=-1))
        return np.asarray((c * counts**self.exponent).sum(axis=-1))

    def checked(self, directions: FloatArray, drifts: FloatArray) -> Certificate:
        """The same function with its largest relative drift over ``directions``, (n, n_classes)."""
        c, u = self.coefficients, directions
        if self.kind == "max":
            top = (c * u).argmax(axis=1)[:, None]
            slope = np.take_along_axis(c * drifts, top, axis=1)[:, 0]
        elif self.kind == "quadratic":
            slope = 2 * ((u @ c) * drifts).sum(axis=1)
        else:
            slope = self.exponent * (c * u ** (self.exponent - 1) * drifts).sum(axis=1)
        drift = float((slope / self.value(u)).max())
        return replace(self, directions=len(u), drift=drift)


def known_certificate(system: System, policy: AnyPolicy) -> Certificate | None:
    """The function that proves stability of this policy below load 1; None if none is known.

    Coefficients of classes without arrivals are 0: they stay away.
    """
    if system.is_cluster or np.isfinite(system.limits[system.arrival_rates > 0]).any():
        return None
    problem = system.problem
    live = (system.arrival_rates > 0) & problem.demands.any(axis=1)
    rho, c = system.loads[live], np.zeros(system.n_classes)
    match family_of(policy):
        case Family("filling", {"growth": growth}):
            # Alpha-fairness with infinite alpha is max-min, and has no growth rates itself.
            filling: Any = MaxMin() if growth == "tasks" else policy
            c[live] = filling.growth(problem)[live] / rho
            kind, exponent = "max", 1.0
        case Family("alpha-fair", {"alpha": alpha}) if alpha > 0:
            c[live] = (problem.weights[live] / rho) ** alpha * system.mean_sizes[live]
            kind, exponent = "power", alpha + 1.0
        case _:
            return None
    return Certificate(kind, frozen(c / c.max()), exponent, True)


def fitted_certificate(
    directions: FloatArray, drifts: FloatArray, others: tuple[FloatArray, FloatArray]
) -> Certificate | None:
    """A function whose drift is negative at ``directions`` and at ``others`` (directions, drifts).

    All arrays have shape (n, n_classes), classes with arrivals only.
    """
    n = directions.shape[1]
    scale = float(np.abs(drifts).max())
    candidates = []
    w = _program(drifts / scale, np.zeros(n))
    if w is not None:
        candidates.append(Certificate("workload", frozen(w), 1.0, False))
    i, j = np.triu_indices(n)
    products = directions[:, i] * drifts[:, j] + directions[:, j] * drifts[:, i]
    # Each diagonal entry keeps V positive on its axis.
    least = np.where(i == j, 1e-3 / n, 0.0)
    entries = _program(products / scale, least)
    if entries is not None:
        matrix = np.zeros((n, n))
        matrix[i, j] = entries
        candidates.append(Certificate("quadratic", frozen((matrix + matrix.T) / 2), 2.0, False))
    both = tuple(np.vstack(pair) for pair in zip((directions, drifts), others, strict=True))
    for candidate in candidates:
        result = candidate.checked(*both)
        if result.drift < 0 and (candidate.value(both[0]) > 0).all():
            return result
    return None


def _program(rows: FloatArray, least: FloatArray) -> FloatArray | None:
    """Weights w >= least with sum 1 and the smallest max of rows @ w; None if that is not negative."""
    from scipy.optimize import linprog

    n = rows.shape[1]
    solution = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.column_stack([rows, -np.ones(len(rows))]),
        b_ub=np.zeros(len(rows)),
        A_eq=[[1.0] * n + [0.0]],
        b_eq=[1.0],
        bounds=[*((low, None) for low in least), (None, None)],
    )
    return solution.x[:n] if solution.status == 0 and solution.fun < -1e-9 else None
