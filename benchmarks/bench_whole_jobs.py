"""Whole jobs that wait in order, the best possible policy, and arrivals in bursts."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from benchmarks.harness import Row, alternating_seconds, best_seconds
from capacity import is_stable
from fairness import Problem, ProportionalFair
from queueing import FCFS, MAP, System, optimal, simulate, stationary

__all__ = ["rows"]

NEEDS = (8, 10, 12, 16, 20, 24, 32, 40, 48, 64)
"""Of ten classes on 64 servers, all equally many."""
WIDE = (16, 18, 20, 22, 24, 26, 28, 30, 32, 64)
"""The same, of which fewer are in service at once."""
PAIR = Problem([[1, 0.1], [0.1, 1]], [1, 1])


def rows() -> list[Row]:
    return [*_orders(), *_best(), _bursts()]


def _orders() -> list[Row]:
    system = System(Problem([[need] for need in NEEDS], [64]), np.full(len(NEEDS), 0.1))
    found = is_stable(system, FCFS())
    stability = best_seconds(lambda: is_stable(system, FCFS()))
    wide = System(Problem([[need] for need in WIDE], [64]), np.full(len(WIDE), 0.1))
    loaded = System(wide.problem, wide.arrival_rates * 0.9 * float(is_stable(wide, FCFS()).throughput))
    law = stationary(loaded, FCFS())
    means = best_seconds(lambda: stationary(loaded, FCFS()), 1)
    pair = System(Problem([[1], [2]], [2]), [0.5, 0.5])
    simulate(pair, FCFS(), events=10_000, replications=2, rng=1)
    events = 4_000_000
    running = best_seconds(lambda: simulate(pair, FCFS(), events=events // 4, replications=4, rng=1), 2)
    return [
        Row(
            "FCFS, ten needs from 8 to 64 on 64 servers: throughput",
            f"{stability:.2f} s",
            "<= 1 s",
            stability <= 1.0,
            f"{found.n_states:,} states; small needs have more, and beyond 30,000 are not listed",
        ),
        Row(
            "FCFS, ten needs from 16 to 64 on 64 servers, at .9: means",
            f"{means:.1f} s",
            "<= 10 s",
            means <= 10.0,
            f"{law.n_states:,} states a level, means to {law.mean_error:.0e}",
        ),
        Row(
            "FCFS, needs 1 and 2 on two servers: simulation",
            f"{events / running / 1e6:.1f} M events/s",
            ">= 5 M events/s",
            events / running >= 5e6,
            "an event is an arrival, a start or an end; one core",
        ),
    ]


def _best() -> list[Row]:
    table = []
    three = Problem(0.1 + 0.9 * np.eye(3), [1, 1, 1])
    for name, system, precision, most in (
        ("two classes, equal loads of .9", System.with_load(PAIR, [1, 1], 0.9), 1e-6, 10.0),
        ("two classes, loads 3:1, .9", System.with_load(PAIR, [3, 1], 0.9), 1e-6, 10.0),
        ("three classes, equal loads of .7", System.with_load(three, [1, 1, 1], 0.7), 1e-4, 60.0),
    ):
        begin = perf_counter()
        best = optimal(system, precision=precision)
        seconds = perf_counter() - begin
        table.append(
            Row(
                f"optimal, {name}, to {precision:g}",
                f"{seconds:.1f} s",
                f"<= {most:g} s",
                seconds <= most and best.gap <= precision,
                f"bounds {best.gap:.1e} apart, checked in fractions; {len(best.upper_proof.h):,} states",
            )
        )
    return table


def _bursts() -> Row:
    """One class of two in bursts, on one box."""
    bursts = [MAP.modulated([2, 0.5], [[0, 1], [0.5, 0]]), MAP([[-1]], [[1]])]
    plain, bursty = (System.with_load(PAIR, [1, 1], 0.7, arrivals=a) for a in (None, bursts))
    box = stationary(bursty, ProportionalFair(), tail=1e-6).shape
    own, other = alternating_seconds(
        [lambda s=s: stationary(s, ProportionalFair(), shape=box) for s in (bursty, plain)]
    )
    return Row(
        f"stationary, box {box[0]} x {box[1]}, one class in bursts of two phases; Poisson arrivals",
        f"{1e3 * own:.0f} ms; {1e3 * other:.0f} ms",
        "<= 4 times",
        own <= 4 * other,
        "floor: twice the states in a band twice as wide, which are eight times the multiplications",
    )
