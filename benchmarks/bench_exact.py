"""Exact laws of boxes and means as functions of the load, seconds of one core; the first call compiles."""

from __future__ import annotations

from fractions import Fraction
from time import process_time

from benchmarks.harness import Row
from fairness import DRF, BottleneckMax, Problem, ProportionalFair
from fairness.protocol.policy import Policy
from queueing import System, exact_stationary, mean_jobs_by_load, stationary

__all__ = ["rows"]

TENTH, FIFTH, LOAD = Fraction(1, 10), Fraction(1, 5), Fraction(9, 10)
TWO = System.with_load(Problem([[1, TENTH], [FIFTH, 1]], [1, 1]), [1, 2], LOAD)
FLOATS = System.with_load(Problem([[1, 0.1], [0.2, 1]], [1, 1]), [1, 2], 0.9)
THREE = System.with_load(
    Problem([[1, TENTH], [FIFTH, 1], [Fraction(1, 2), Fraction(1, 3)]], [1, 1]), [1, 2, 1], LOAD
)

LAWS: tuple[tuple[str, System, Policy, tuple[int, ...], bool, float | None], ...] = (
    ("961 states, DRF", TWO, DRF(), (31, 31), False, 5.0),
    ("961 states, PF", TWO, ProportionalFair(), (31, 31), False, 5.0),
    ("961 states, BMF, every probability", TWO, BottleneckMax(), (31, 31), True, None),
    ("961 states, DRF, numbers given as floats", FLOATS, DRF(), (31, 31), False, None),
    ("10,000 states, DRF", TWO, DRF(), (100, 100), False, None),
    ("9,702 states of three classes, DRF", THREE, DRF(), (21, 21, 22), False, None),
)


def rows() -> list[Row]:
    exact_stationary(TWO, DRF(), shape=3)
    mean_jobs_by_load(TWO, DRF(), shape=3)
    return [_law(*case) for case in LAWS] + [_function(side) for side in (20, 31)]


def _law(
    name: str, system: System, policy: Policy, shape: tuple[int, ...], keep: bool, target: float | None
) -> Row:
    begin = process_time()
    law = exact_stationary(system, policy, shape=shape, distribution=keep)
    seconds = process_time() - begin
    near = stationary(system, policy, shape=shape).mean_jobs
    worst = max(
        abs(float(mean / Fraction(value)) - 1)
        for mean, value in zip(law.mean_jobs, near.tolist(), strict=True)
    )
    return Row(
        f"exact law, {name}",
        f"{seconds:.2f} s of one core",
        "on record" if target is None else f"< {target:g} s",
        None if target is None else seconds < target,
        f"denominator of {law.total.bit_length():,} bits; the chain in floats is off by {worst:.0e}",
    )


def _function(side: int) -> Row:
    begin = process_time()
    means = mean_jobs_by_load(TWO, DRF(), shape=side)
    seconds = process_time() - begin
    table = means.to_dataframe()
    return Row(
        f"means as functions of the load, {side**2} states, DRF",
        f"{seconds:.1f} s of one core",
        "on record",
        None,
        f"degree {table['degree'].max()}, coefficients of up to {table['bits'].max():,} bits, "
        f"{means.n_primes} primes",
    )
