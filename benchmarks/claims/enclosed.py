r"""The estimates of ``stationary`` against proved bounds of the infinite chain, on random systems.

``python -m benchmarks.claims.enclosed [--systems N] [--seed S] [--jobs J]`` draws systems of two classes with
mean sizes over six decades and loads from .3 to .95, every tenth of three classes with sizes over two decades
and loads to .5; one to three resources, demands with zeros and ties, weights, and policies for which
:func:`queueing.enclose` has a proof. Each is solved by ``stationary`` with a tail from 1e-3 to 1e-7, and
enclosed.

A claimed error of the means *covers* if no value between the bounds differs more from the mean of the chain,
in any class; it is *short* if every value differs more in some class; else it is *open*, as the bounds are
too far apart to tell. The *worst true/claimed* is a lower bound of the largest understatement. ``tail_mass``
is compared with the sum over the classes of the probabilities of counts outside of the box, in the same way;
it is an estimate of a probability and not of an error.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from typing import NamedTuple

import joblib
import numpy as np

from benchmarks.claims.chains import random_system
from fairness import (
    DRF,
    AlphaFair,
    AssetFair,
    BottleneckMax,
    MaxMin,
    ModelError,
    NotConvergedError,
    ProportionalFair,
)
from fairness.protocol.policy import Policy, policy_name
from queueing import AtLeast, Enclosure, Stationary, System, enclose, stationary

__all__ = ["Comparison", "measure", "report"]

POLICIES: tuple[Policy, ...] = (
    MaxMin(),
    DRF(),
    AssetFair(),
    ProportionalFair(),
    AlphaFair(2.0),
    BottleneckMax(),
)
MOST_STATES = 600_000
WIDTH = 1e-9


class Comparison(NamedTuple):
    """A claim of ``stationary``, and the least and the largest value that the truth may have."""

    what: str
    policy: str
    claimed: float
    least: float
    most: float
    about: str

    @property
    def verdict(self) -> str:
        """Whether the claim covers the truth: "covered", "short", or "open"."""
        if self.most <= self.claimed:
            return "covered"
        return "short" if self.least > self.claimed else "open"

    @property
    def ratio(self) -> float:
        """What is proved of true over claimed: at least this."""
        return 0.0 if self.least == 0 else self.least / self.claimed if self.claimed > 0 else math.inf


def drawn(rng: np.random.Generator, three: bool) -> System:
    """A system of two or three classes at a load that is interesting."""
    while True:
        system = random_system(rng, decades=2.0 if three else 6.0, most_load=0.5 if three else 0.95)
        if system.n_classes == 2 + three and float(system.relative_loads.max()) >= 0.3:
            return system


def measure(number: int, seed: int) -> list[Comparison] | str:
    """Comparisons on one random system, or why there are none."""
    rng = np.random.default_rng([seed, number])
    system = drawn(rng, three=number % 10 == 9)
    policy = POLICIES[int(rng.integers(len(POLICIES)))]
    about = f"{policy_name(policy)}, {system.n_classes} classes, load {system.relative_loads.max():.3f}"
    try:
        law = stationary(system, policy, tail=float(10.0 ** -rng.uniform(3, 7)), max_states=MOST_STATES)
        events = [AtLeast(side) for side in sorted({side for side in law.shape if side > 1})]
        proved = enclose(system, policy, of=["jobs", *events], width=WIDTH, max_states=MOST_STATES)
    except (ModelError, NotConvergedError) as error:
        return f"{about}: {error}"
    return [_means(law, proved, about), _outside(law, proved, about)]


def _means(law: Stationary, proved: Enclosure, about: str) -> Comparison:
    """The class whose claim is nearest to being short."""
    lower, upper = proved.mean_jobs
    claimed = law.mean_jobs_error
    least = np.maximum(0.0, np.maximum(lower - law.mean_jobs, law.mean_jobs - upper))
    most = np.maximum(upper - law.mean_jobs, law.mean_jobs - lower)
    k = int(np.argmax(most / np.maximum(claimed, 1e-300)))
    told = f"{about}, box {law.shape}"
    return Comparison("mean_jobs_error", law.policy, float(claimed[k]), float(least[k]), float(most[k]), told)


def _outside(law: Stationary, proved: Enclosure, about: str) -> Comparison:
    """Probabilities of counts outside, summed over the classes."""
    there = [proved.probability(side, k) for k, side in enumerate(law.shape) if side > 1]
    low, high = sum(max(0.0, p.low) for p in there), sum(p.high for p in there)
    return Comparison("tail_mass", law.policy, law.tail_mass, low, high, about)


def report(found: Sequence[Comparison]) -> str:
    """The table: a line for each claim and policy, and one for all policies."""
    lines = [
        "| claim | policy | systems | covered | short | open | worst true/claimed | median claimed/true |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for what in dict.fromkeys(one.what for one in found):
        mine = [one for one in found if one.what == what]
        for policy in (*sorted({one.policy for one in mine}), "all"):
            some = [one for one in mine if policy in (one.policy, "all")]
            parts = [sum(one.verdict == v for one in some) for v in ("covered", "short", "open")]
            told = [1.0 / one.ratio for one in some if one.ratio > 0]
            median = f"{np.median(told):.3g}" if told else "-"
            worst = max(one.ratio for one in some)
            cells = (f"`{what}`", policy, len(some), *parts, f"{worst:.3g}", median)
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--systems", type=int, default=300)
    parser.add_argument("--seed", type=int, default=20261122)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    each = joblib.Parallel(n_jobs=given.jobs)(
        joblib.delayed(measure)(k, given.seed) for k in range(given.systems)
    )
    found = [one for some in each if not isinstance(some, str) for one in some]
    refused = [some for some in each if isinstance(some, str)]
    table = report(found)
    print(table)
    print(f"{len(refused)} of {given.systems} systems were not enclosed", file=sys.stderr)
    for line in refused:
        print(f"  {line[:200]}", file=sys.stderr)
    for one in sorted(found, key=lambda c: -c.ratio)[:10]:
        print(
            f"{one.what}: claimed {one.claimed:.2e}, true {one.least:.2e}..{one.most:.2e}: {one.about}",
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()
