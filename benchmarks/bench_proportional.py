"""Proportional and alpha fairness: large instances, beside Clarabel and an interior point in numpy."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array, diags_array

from benchmarks.bench_filling import five_demands_each
from benchmarks.harness import Row, alternating_seconds, best_seconds
from fairness import AlphaFair, allocate
from fairness.model.problem import FloatArray, Problem
from fairness.policies.proportional import ProportionalFair
from fairness.results import Allocation
from fairness.testing import random_problem

__all__ = ["rows"]


def rows() -> list[Row]:
    result = []
    large = random_problem(np.random.default_rng(0), 100_000, 16)
    policy = ProportionalFair()
    solution = policy.solve(large)
    seconds = best_seconds(lambda: policy.solve(large))
    product = best_seconds(lambda: large.task_shares.T @ large.task_shares, repeat=10)
    gap = solution.certificate.duality_gap
    result.append(
        Row(
            "PF, 100,000 classes x 16 resources, certified",
            f"{seconds:.2f} s, gap {gap:.0e}",
            "< 2 s, gap <= 1e-9",
            bool(seconds < 2 and solution.certificate.holds and gap is not None and gap <= 1e-9),
            f"{seconds / product:.0f} times one product of the demands with themselves",
        )
    )
    for name, problem in (
        ("2,000 classes x 300 resources", _dense(2_000, 300)),
        ("10,000 classes x 1,000 resources, 10 demanded by each", _sparse(10_000, 1_000, 10)),
    ):
        solution = policy.solve(problem)
        seconds = best_seconds(lambda p=problem: policy.solve(p))
        conic, difference = _clarabel(problem, solution.tasks)
        result.append(
            Row(
                f"PF, {name}",
                f"{seconds:.2f} s, residual {solution.certificate.residual:.0e}",
                "< a third of cvxpy with Clarabel",
                bool(solution.certificate.holds and seconds < conic / 3),
                f"Clarabel, default tolerances: {conic:.1f} s, {conic / seconds:.0f} times; "
                f"tasks differ by {difference:.0e}",
            )
        )
    result += [_sparse_row(*case) for case in ((20_000, 0), (20_000, 6), (100_000, 0))]
    pool = Problem(five_demands_each(np.random.default_rng(0), 20_000, 1_000), np.ones(1_000))
    for alpha in (0.5, 2.0):
        solution = AlphaFair(alpha).solve(pool)
        seconds = best_seconds(lambda a=alpha: AlphaFair(a).solve(pool))
        result.append(
            Row(
                f"alpha = {alpha:g}, 20,000 x 1,000, five demands each",
                f"{seconds:.2f} s, gap {solution.certificate.duality_gap:.0e}",
                "",
                None,
            )
        )
    return result


def _sparse_row(n: int, decades: float) -> Row:
    """Pool, allocation and certificate, beside the interior point one would write, of one precision."""
    rng = np.random.default_rng(0)
    demands = five_demands_each(rng, n, 1_000)
    weights = 10.0 ** rng.uniform(-decades / 2, decades / 2, n)
    ours, numpys = alternating_seconds(
        [lambda: _allocated(demands, weights), lambda: _in_numpy(demands, weights)], repeat=3
    )
    certificate = _allocated(demands, weights).certificate
    gap = certificate.duality_gap or 0.0
    return Row(
        f"PF, {n:,} x 1,000, five demands each, weights over {decades:g} decades; numpy in the same run",
        f"{ours * 1e3:.0f} ms, gap {gap:.0e}; {numpys * 1e3:.0f} ms",
        "<= 1/2, gap <= 1e-12",
        bool(ours <= 0.5 * numpys and certificate.holds and gap <= 1e-12),
    )


def _allocated(demands: csr_array, weights: FloatArray) -> Allocation:
    return allocate(Problem(demands, np.ones(demands.shape[1]), weights=weights), ProportionalFair())


def _in_numpy(demands: csr_array, weights: FloatArray) -> FloatArray:
    """A primal-dual interior point: prices p, slacks s = 1 - A'(w/(A p)), p s to 0, to a gap of 1e-12."""
    m = demands.shape[1]
    by_resource = demands.T.tocsr()
    p, s = np.full(m, 2.0 * weights.sum() / m), np.full(m, 0.5)
    for _ in range(100):
        bills = demands @ p
        missing = 1.0 - by_resource @ (weights / bills) - s
        mean = p @ s / m
        if abs(missing).max() < 1e-13 and p @ s < 1e-12 * weights.sum():
            break
        roots = diags_array(np.sqrt(weights) / bills) @ demands
        factor = cho_factor((roots.T @ roots).toarray() + np.diag(s / p), lower=True, check_finite=False)
        aim = -p * s
        for corrector in (False, True):
            dp = cho_solve(factor, aim / p - missing)
            ds = (aim - s * dp) / p
            step = min(1.0, 0.995 / max((-dp / p).max(), (-ds / s).max()))
            if not corrector:
                left = (p + step * dp) @ (s + step * ds) / m / mean
                aim = left**3 * mean - p * s - step * step * dp * ds
        p, s = p + step * dp, s + step * ds
    return weights / (demands @ p)


def _dense(n: int, m: int) -> Problem:
    rng = np.random.default_rng(0)
    return Problem(10.0 ** rng.uniform(-1, 1, (n, m)), np.ones(m))


def _sparse(n: int, m: int, each: int) -> Problem:
    rng = np.random.default_rng(0)
    demands = np.zeros((n, m))
    for row in demands:
        row[rng.choice(m, each, replace=False)] = 10.0 ** rng.uniform(-1, 1, each)
    return Problem(demands, np.full(m, n * each / m))


def _clarabel(problem: Problem, tasks: FloatArray) -> tuple[float, float]:
    """Seconds of the solver alone (one run, default tolerances), largest relative difference of tasks."""
    phi = cp.Variable(problem.n_classes)
    rules = [csr_array(problem.task_shares.T) @ phi <= 1]
    conic = cp.Problem(cp.Maximize(cp.sum(cp.log(phi))), rules)
    conic.solve(solver=cp.CLARABEL)
    return float(conic.solver_stats.solve_time), float(np.max(np.abs(phi.value / tasks - 1.0)))
