"""EDRF, DC-DRF and SequentialMinMax by the library: the second method beside the definitions."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from scipy import sparse

from fairness import Problem
from fairness.cloud import dcdrf, edrf
from fairness.indivisible import SequentialMinMax, fill_tasks
from proofs.definitions import fraction, fractions
from proofs.prover.library.values import near, second_method

__all__: list[str] = []


def _inputs(demands: Any, weights: Any) -> tuple[sparse.csr_array, np.ndarray]:
    """Demands, and weights per tenant as integers, so that they and their sums are exact."""
    given = [Fraction(1)] * len(demands) if weights is None else fractions(weights)
    common = lcm(*(w.denominator for w in given))
    rows = np.array([[float(v) for v in row] for row in fractions(demands)])
    return sparse.csr_array(rows), np.array([float(w * common) for w in given])


@second_method
def edrf_tasks(demands: Any, weights: Any = None) -> list[Fraction]:
    """Event-driven extended DRF of fairness.cloud."""
    return near(edrf(*_inputs(demands, weights)).tasks)


@second_method
def dcdrf_tasks(demands: Any, epsilon: Any, weights: Any = None) -> list[Fraction]:
    """DC-DRF of fairness.cloud."""
    rows, given = _inputs(demands, weights)
    return near(dcdrf(rows, float(fraction(epsilon)), given, threads=1).tasks)


@second_method
def minmax_bundles(demands: Any, capacities: Any) -> list[int]:
    """SequentialMinMax of fairness.indivisible, in exact arithmetic."""
    return [int(k) for k in fill_tasks(Problem(demands, capacities), SequentialMinMax()).tasks]
