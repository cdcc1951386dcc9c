"""Proportional fairness: large instances, beside cvxpy with Clarabel."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from scipy.sparse import csr_array

from benchmarks.harness import Row, best_seconds
from fairness.model.problem import FloatArray, Problem
from fairness.policies.proportional import ProportionalFair
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
    return result


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
