"""The search for counterexamples: models per second of one core, against the bare cost of a policy call."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.harness import Row, best_seconds
from fairness import DRF, BottleneckMax, Problem, ProportionalFair
from fairness.policies.servers.psdsf import PSDSF
from fairness.policies.servers.task_share import TSF
from fairness.properties.counterexamples.instances import random_sketch
from fairness.properties.counterexamples.search import search
from fairness.properties.definitions.catalogue import property_named

__all__ = ["rows"]

_KEYS = ("SI", "EF", "PE", "SRF", "BF", "SP")
_MODELS = 2000


def rows() -> list[Row]:
    return [
        *(_pools(policy, keys) for policy, keys in _POOL_CELLS),
        *(_clusters(policy) for policy in (PSDSF("resource"), PSDSF("time"), TSF())),
    ]


# Cells without a violation: what a search costs that spends its whole budget.
_POOL_CELLS = (
    (DRF(), _KEYS),
    (ProportionalFair(), _KEYS[:-1]),
    (BottleneckMax(), _KEYS[:-1]),
)


def _pools(policy: object, keys: tuple[str, ...]) -> Row:
    rates = {key: _rate(policy, key) for key in keys}
    rng = np.random.default_rng(0)
    sketches = [random_sketch(rng, Problem) for _ in range(_MODELS)]
    bare = _MODELS / best_seconds(lambda: [policy(k.build(), np.ones(len(k.demands))) for k in sketches])
    slowest = min(rates, key=rates.__getitem__)
    return Row(
        f"audit, {policy.name}, {len(keys)} properties of pools",
        f"{rates[slowest]:,.0f}/s ({slowest}), {rates[slowest] / bare:.2f} of bare",
        ">= 2,000 models/s in each",
        rates[slowest] >= 2000,
        f"floor: to build each model and ask the policy once {bare:,.0f}; a property asks it two or three "
        "times. Models/s: " + ", ".join(f"{key} {rate:,.0f}" for key, rate in rates.items()),
    )


def _clusters(policy: object) -> Row:
    rates = {key: _rate(policy, key, budget=300) for key in ("EF", "PE", "PM")}
    return Row(
        f"audit, {policy.name}, clusters",
        ", ".join(f"{key} {rate:,.0f}/s" for key, rate in rates.items()),
        "",
        None,
    )


def _rate(policy: object, key: str, budget: int = _MODELS) -> float:
    """Policy calls per second in the search itself, shrinking not counted."""
    prop = property_named(key)
    seconds = np.inf
    search(policy, prop, budget=100)
    for seed in range(2):
        start = time.perf_counter()
        result = search(policy, prop, budget=budget, rng=seed, accept=lambda witness: False)
        seconds = min(seconds, (time.perf_counter() - start) / sum(result.searched.values()))
    return 1 / seconds
