r"""Enclosures of random systems against a second method, and the estimates of ``stationary`` against them.

``python -m benchmarks.claims.enclosed [--systems N] [--seed S] [--jobs J] [--seconds T] [--results FILE]``
draws systems with mean sizes over six decades, one to three resources, demands with zeros and ties, and
weights: of ten, eight of two classes at loads from .3 to .95, one of three classes at loads from .3 to .6,
and one of two classes on two or three servers. Policies are all those for which :func:`queueing.enclose` has
a proof. Each is solved by ``stationary`` with a tail from 1e-3 to 1e-7, and enclosed.

*Is the enclosure right?* The law of a box that leaves 1e-11 outside (three classes: 1e-9) is found by a
second method, with an estimate of its error. An enclosure *fails* if it is farther from that mean than the
estimate, in any class.

*Is the estimate right?* A claimed error of the means *covers* if no value between the bounds differs more
from the mean of the chain, in any class; it is *short* if every value differs more in some class; else it is
*open*, as the bounds are too far apart to tell. The *worst true/claimed* is a lower bound of the largest
understatement. ``tail_mass`` is compared with the sum over the classes of the probabilities of counts outside
of the box, in the same way; it is an estimate of a probability and not of an error.

Each system has ``T`` seconds of processor time. What is found of it is a line of the file of results, so that
a run that was ended goes on where it was; systems that were out of time are tried again if they have more.
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from benchmarks.claims.chains import random_system
from fairness import (
    CDRF,
    CDRFH,
    DRF,
    DRFH,
    PSDSF,
    TSF,
    AlphaFair,
    AssetFair,
    BottleneckMax,
    Cluster,
    MaxMin,
    ModelError,
    NotConvergedError,
    PerServerDRF,
    ProportionalFair,
)
from fairness.protocol.policy import Policy, policy_name
from queueing import AtLeast, System, enclose, stationary
from queueing.results import Enclosure, Stationary

__all__ = ["Comparison", "Finding", "measure", "report"]

ON_POOLS: tuple[Policy, ...] = (
    MaxMin(),
    DRF(),
    AssetFair(),
    ProportionalFair(),
    AlphaFair(1.5),
    AlphaFair(2.0),
    BottleneckMax(),
)
ON_CLUSTERS: tuple[Policy, ...] = (TSF(), CDRF(), CDRFH(), DRFH(), PerServerDRF(), PSDSF(division="time"))
MOST_STATES = {2: 1_000_000, 3: 2_000_000}
"""By the number of classes."""
WIDTHS = {2: 1e-9, 3: 1e-5}
"""By the number of classes."""
TAILS = {2: 1e-11, 3: 1e-9}
"""Of the law that an enclosure has to hold, by the number of classes."""


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


@dataclass(frozen=True)
class Finding:
    """What is found of one system.

    Attributes
    ----------
    number : int
    about : str
    refused : str
        Why it is not enclosed; empty if it is.
    seconds : float
        Of processor time that it may have had, where it was out of time; else 0.
    reached : float
        Largest width of the bounds.
    apart : float
        From the bounds to the mean of the second method, in units of its error: above 1 the enclosure fails.
    claims : tuple of Comparison
    """

    number: int
    about: str
    refused: str = ""
    seconds: float = 0.0
    reached: float = math.inf
    apart: float = 0.0
    claims: tuple[Comparison, ...] = ()


def drawn(rng: np.random.Generator, number: int) -> tuple[System, Policy]:
    """A system at a load that is interesting, and a policy."""
    if number % 10 == 9:
        policy = ON_CLUSTERS[int(rng.integers(len(ON_CLUSTERS)))]
        return _on_servers(rng, anywhere=isinstance(policy, CDRF | DRFH)), policy
    n = 3 if number % 10 == 4 else 2
    while True:
        system = random_system(rng, decades=6.0, most_load=0.95 if n == 2 else 0.6)
        if system.n_classes == n and float(system.relative_loads.max()) >= 0.3:
            return system, ON_POOLS[int(rng.integers(len(ON_POOLS)))]


def _on_servers(rng: np.random.Generator, anywhere: bool) -> System:
    """Two classes on two or three servers with two resources; eligible ``anywhere``, or not."""
    servers = int(rng.integers(2, 4))
    # Whole numbers: the checker wants the facets of the region as floats, exactly.
    demands, capacities = rng.choice([1, 1, 2, 4, 8], size=(2, 2)), rng.integers(16, 65, size=(servers, 2))
    eligible = rng.random((2, servers)) < (1.0 if anywhere else 0.7)
    # Every class runs somewhere, and every server is of use.
    eligible[:, 0] = True
    eligible[rng.integers(2, size=servers), np.arange(servers)] = True
    cluster = Cluster(demands, capacities, eligible=eligible)
    sizes = 10.0 ** rng.uniform(-3, 3, size=2)
    return System.with_load(cluster, rng.dirichlet([1, 1]) + 1e-3, rng.uniform(0.3, 0.8), mean_sizes=sizes)


def _told(system: System, policy: Policy) -> str:
    return f"{policy_name(policy)}, {system.n_classes} classes, load {system.relative_loads.max():.3f}"


def measure(number: int, seed: int) -> Finding:
    """What is found of one random system."""
    rng = np.random.default_rng([seed, number])
    system, policy = drawn(rng, number)
    n, about = system.n_classes, _told(system, policy)
    most = MOST_STATES[n]
    try:
        law = stationary(system, policy, tail=float(10.0 ** -rng.uniform(3, 7)), max_states=most)
        events = [AtLeast(side) for side in sorted({side for side in law.shape if side > 1})]
        proved = enclose(system, policy, of=["jobs", *events], width=WIDTHS[n], max_states=most)
        larger = stationary(system, policy, tail=TAILS[n])
    except (ModelError, NotConvergedError) as error:
        return Finding(number, about, str(error))
    found = (_means(law, proved, about), _outside(law, proved, about))
    return Finding(number, about, reached=proved.reached, apart=_apart(proved, larger), claims=found)


def _apart(proved: Enclosure, law: Stationary) -> float:
    """How far a mean lies outside of its bounds, in units of its error."""
    lower, upper = proved.mean_jobs
    outside = np.maximum(0.0, np.maximum(lower - law.mean_jobs, law.mean_jobs - upper))
    return float((outside / np.maximum(law.mean_jobs_error, 1e-300)).max())


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


def limited(number: int, seed: int, seconds: float) -> Finding:
    """The same, and a failure if there is an error; the process dies when it has worked so many seconds."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return measure(number, seed)
    except Exception as error:
        # Some are lost on the way to another process, and then look like one that was killed.
        about = _told(*drawn(np.random.default_rng([seed, number]), number))
        return Finding(number, f"{about}: {type(error).__name__}: {error}", apart=math.inf)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def apart(numbers: Iterable[int], seed: int, seconds: float) -> Iterable[Finding]:
    """Findings, one after the other, in a process apart."""
    workers = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    for number in numbers:
        try:
            yield workers.submit(limited, number, seed, seconds).result()
        except BrokenProcessPool:
            # Killed by the timer, or by the system for its memory.
            workers = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
            about = _told(*drawn(np.random.default_rng([seed, number]), number))
            yield Finding(number, about, f"not within {seconds:g} s", seconds)
    workers.shutdown()


class Results:
    """Findings in a file, a line each, after one that says of which draw they are."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path, self.lock = path, Lock()
        self.found: dict[int, Finding] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text().splitlines() if path.exists() else []
        head = {"seed": seed}
        if not lines:
            path.write_text(json.dumps(head) + "\n")
        elif json.loads(lines[0]) != head:
            raise SystemExit(f"{path} holds findings of {lines[0]}; use another file")
        for line in lines[1:]:
            one: dict[str, Any] = json.loads(line)
            one["claims"] = tuple(Comparison(*claim) for claim in one["claims"])
            self.found[one["number"]] = Finding(**one)

    def missing(self, systems: int, seconds: float) -> list[int]:
        """Numbers of systems of which nothing is known, or that may have more time now."""
        known = self.found
        return [k for k in range(systems) if k not in known or 0 < known[k].seconds < seconds]

    def add(self, one: Finding) -> None:
        """Keep a finding."""
        with self.lock, self.path.open("a") as file:
            self.found[one.number] = one
            file.write(json.dumps(asdict(one)) + "\n")


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


def main() -> int:
    """Draw, measure, and report; 1 if an enclosure fails."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--systems", type=int, default=300)
    parser.add_argument("--seed", type=int, default=20261122)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=300.0, help="of processor time for a system")
    parser.add_argument("--results", type=Path, default=Path("out/enclosed.jsonl"))
    given = parser.parse_args()
    results = Results(given.results, given.seed)
    missing = results.missing(given.systems, given.seconds)

    def work(part: int) -> None:
        for one in apart(missing[part :: given.jobs], given.seed, given.seconds):
            results.add(one)

    with ThreadPoolExecutor(given.jobs) as threads:
        list(threads.map(work, range(given.jobs)))
    found = [results.found[k] for k in range(given.systems)]
    enclosed = [one for one in found if not one.refused]
    failed = [one for one in enclosed if not one.apart <= 1.0]
    print(report([claim for one in enclosed for claim in one.claims]))
    print(f"{len(enclosed)} of {given.systems} systems enclosed, {len(failed)} enclosures fail")
    print(f"largest distance from the second method: {max(one.apart for one in enclosed):.2g} of its error")
    for one in failed:
        print(f"  FAILS: system {one.number}, {one.about}: {one.apart:.3g} errors apart", file=sys.stderr)
    for one in found:
        if one.refused:
            print(f"  system {one.number}, {one.about}: {one.refused[:200]}", file=sys.stderr)
    for claim in sorted((c for one in enclosed for c in one.claims), key=lambda c: -c.ratio)[:10]:
        print(
            f"{claim.what}: claimed {claim.claimed:.2e}, true {claim.least:.2e}..{claim.most:.2e}: "
            f"{claim.about}",
            file=sys.stderr,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
