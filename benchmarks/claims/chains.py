r"""The errors that chains claim, against references, on thousands of random systems.

``python -m benchmarks.claims.chains [--systems N] [--seed S] [--only KIND ...]`` prints a table: for each
kind of claim how often the true error is at most the claimed one (*coverage*) and the largest true over
claimed error (*understatement*). Systems have two to four classes with mean sizes over ten decades, one to
three resources, demands with zeros and ties, loads from .05 to .97, six policies; tolerances from 1e-4 to
1e-12.

========== =================================================================================================
kind       claim and reference
========== =================================================================================================
box        ``mean_error`` on a given box, by the automatic method and by multilevel; reference: elimination
           without subtractions in extended precision, on the dense matrix of rates
large      the same by multilevel on boxes of 2,000 to 30,000 states; reference: elimination
infinite   ``mean_jobs_error`` on the automatic box; reference: E[x_i] = rho_i/(1 - rho) (one resource, DRF)
tail       ``tail_mass`` of the same chains against the probability outside
seldom     ``mean_jobs_error`` of two or three classes, of which one or two are seldom present (loads from
           1e-12), weights and sizes over ten decades; reference: closed forms of discriminatory processor
           sharing and of priorities
seldom -   the same, of those that are refused: what ``NotConvergedError.best`` claims
policies   ``mean_jobs_error`` of two classes under any policy; reference: a box twice as long
admission  ``mean_error`` with limits per class and in all; reference as for box
phases     ``mean_error`` with phase-type sizes; reference as for box, on the chain with phases
tagged     ``mean_error`` and ``variance_error`` of a tagged job's duration; reference: a far smaller tail
balanced   ``mean_jobs_error`` of balanced fairness; reference: a box with tail 1e-12
heavy      errors of the scaled means of ``heavy_traffic``; reference: one resource, DRF
reached    what is claimed where a method gives up (``NotConvergedError.best``)
========== =================================================================================================
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import special

from benchmarks.claims.closed_forms import discriminatory_means, priority_means
from capacity import heavy_traffic
from fairness import DRF, AssetFair, BottleneckMax, MaxMin, NotConvergedError, Problem, ProportionalFair
from fairness.display.wording import said
from fairness.protocol.policy import Policy
from queueing import (
    Automatic,
    Elimination,
    Multilevel,
    System,
    admission,
    balanced_fairness,
    stationary,
    tabulate,
    tagged_duration,
)
from queueing.chain.phases.states import PhaseGrid, class_states
from queueing.model.laws import Erlang, Exponential, Hyperexponential
from queueing.model.phase_type import phases_of
from queueing.results import Stationary

__all__ = ["Claim", "measure", "report"]

Extended = NDArray[np.longdouble]
SELDOM_STATES = 1_000_000
"""Most states where a class is seldom present."""
LAWS = (Exponential(), Erlang(2), Hyperexponential.fit(scv=4), Hyperexponential.fit(scv=50))
POLICIES: tuple[Policy, ...] = (DRF(), MaxMin(), ProportionalFair(), BottleneckMax(), AssetFair())


class Claim(NamedTuple):
    """A claimed error and the true one, both relative or both absolute."""

    kind: str
    claimed: float
    true: float
    about: str

    @property
    def understatement(self) -> float:
        """True over claimed error; 0 where both vanish."""
        if self.true == 0:
            return 0.0
        return self.true / self.claimed if self.claimed > 0 else math.inf


def random_system(rng: np.random.Generator, decades: float = 10.0, most_load: float = 0.97) -> System:
    """Two to four classes, sizes over so many decades, one to three resources."""
    n, m = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    demands = rng.choice([0.0, 1.0, 1.0, 2.0, 0.1, 3.0], size=(n, m)) * rng.choice([1.0, rng.uniform(0.2, 5)])
    demands[~demands.any(axis=1), 0] = 1.0
    weights = rng.choice([1.0, 1.0, 2.0, 5.0], size=n)
    pool = Problem(demands, np.ones(m), weights=weights)
    sizes = 10.0 ** rng.uniform(-decades / 2, decades / 2, size=n)
    if rng.random() < 0.3:  # two time scales
        sizes = np.where(rng.random(n) < 0.5, sizes[0], sizes[-1])
    direction = rng.dirichlet(np.ones(n)) + 1e-3
    load = float(rng.uniform(0.05, most_load))
    return System.with_load(pool, direction, load, mean_sizes=sizes)


def random_policy(rng: np.random.Generator, n_classes: int) -> Policy:
    """One of the library's, or strict priorities that turn with the counts."""
    if rng.random() < 0.15:
        return Switching()
    return POLICIES[int(rng.integers(len(POLICIES)))]


class Switching:
    """Priority to the class with most jobs times its index: its rates jump from state to state."""

    name = "switching"

    def __call__(self, problem: Problem, counts: Any) -> Any:
        counts = np.asarray(counts, dtype=float)
        alone = 1.0 / problem.task_shares.max(axis=1)
        first = np.argmax(counts * (1.0 + np.arange(problem.n_classes)), axis=-1)
        tasks = np.zeros_like(counts)
        np.put_along_axis(tasks, first[..., None], 1.0, axis=-1)
        return tasks * alone * (counts > 0)


class Priority:
    """All for the first class present."""

    name = "priority"

    def __call__(self, problem: Problem, counts: Any) -> Any:
        here = np.asarray(counts) > 0
        return np.where(np.cumsum(here, axis=-1) == 1, here, 0.0)


def random_box(rng: np.random.Generator, n: int, most: int) -> tuple[int, ...]:
    """States per class, at most so many in all."""
    while True:
        box = tuple(
            int(k) for k in np.round(np.exp(rng.uniform(np.log(2), np.log(most ** (1.6 / n)), size=n)))
        )
        if 2 * n <= math.prod(box) <= most and min(box) >= 2:
            return box


def extended_means(rates: Extended, counts: NDArray[np.float64]) -> Extended:
    """E[counts] under the stationary law of dense rates (row to column), eliminated in extended precision.

    A second, separately written method: dense and vectorised, in numbers of 64 bits of mantissa or more.
    """
    a = rates.copy()
    size = len(a)
    np.fill_diagonal(a, 0)
    for n in range(size - 1, 0, -1):
        live = np.flatnonzero(a[:n, n])
        to = np.flatnonzero(a[n, :n])
        a[live, n] /= a[n, to].sum()
        a[np.ix_(live, to)] += np.outer(a[live, n], a[n, to])
    law = np.zeros(size, dtype=np.longdouble)
    law[0] = 1
    for n in range(1, size):
        law[n] = law[:n] @ a[:n, n]
        if law[n] > 1e1000:
            law /= law[n]
    law /= law.sum()
    return counts.T.astype(np.longdouble) @ law


def box_rates(system: System, policy: Policy, box: Sequence[int]) -> tuple[Extended, NDArray[np.float64]]:
    """Dense rates and counts of the chain on a box, the longest axis first."""
    tasks = tabulate(system.problem, policy, box).tasks
    order = np.argsort([-k for k in box], kind="stable")
    counts = np.stack(np.meshgrid(*(np.arange(k) for k in box), indexing="ij"), axis=-1)
    number = np.arange(math.prod(box)).reshape([box[i] for i in order]).transpose(np.argsort(order))
    rates = np.zeros((number.size, number.size), dtype=np.longdouble)
    for i in range(len(box)):
        low = number.take(np.arange(box[i] - 1), axis=i).ravel()
        high = number.take(np.arange(1, box[i]), axis=i).ravel()
        rates[low, high] = system.arrival_rates[i]
        served = tasks[..., i].take(np.arange(1, box[i]), axis=i).ravel()
        rates[high, low] = served.astype(np.longdouble) / np.longdouble(system.mean_sizes[i])
    flat = np.empty((number.size, len(box)))
    flat[number.ravel()] = counts.reshape(-1, len(box))
    return rates, flat


def box_claims(rng: np.random.Generator) -> Iterator[Claim]:
    """The solver's error on a given box, by three methods."""
    system = random_system(rng)
    policy = random_policy(rng, system.n_classes)
    box = random_box(rng, system.n_classes, 900)
    tolerance = float(10.0 ** -rng.uniform(4, 12))
    means = extended_means(*box_rates(system, policy, box))
    for solver in (Automatic(tolerance), Multilevel(tolerance)):
        kind = "box"
        try:
            law = stationary(system, policy, shape=box, solver=solver)
        except NotConvergedError as error:
            law, kind = error.best, "reached"
        true = float(np.max(np.abs(law.mean_jobs - means) / means))
        yield Claim(kind, law.mean_error, true, f"{_told(system, policy)} {box} {solver}")


def large_claims(rng: np.random.Generator) -> Iterator[Claim]:
    """The error of multilevel on boxes of thousands of states, against elimination."""
    while True:
        system = random_system(rng)
        n = system.n_classes
        box = random_box(rng, n, 30_000)
        if math.prod(box) >= 2_000 and math.prod(box) * (math.prod(box) / max(box)) ** 2 <= 5e8:
            break
    policy = random_policy(rng, n)
    tolerance = float(10.0 ** -rng.uniform(4, 11))
    means = stationary(system, policy, shape=box, solver=Elimination()).mean_jobs
    kind = "large"
    try:
        law = stationary(system, policy, shape=box, solver=Multilevel(tolerance))
    except NotConvergedError as error:
        law, kind = error.best, "reached"
    true = float(np.max(np.abs(law.mean_jobs / means - 1)))
    yield Claim(kind, law.mean_error, true, f"{_told(system, policy)} {box} {tolerance:.0e}")


def infinite_claims(rng: np.random.Generator) -> Iterator[Claim]:
    """Means and tail on the automatic box of processor sharing, against its closed form."""
    n = int(rng.integers(2, 4))
    most = {2: 0.95, 3: 0.8}[n]
    sizes = 10.0 ** rng.uniform(-5, 5, size=n)
    mix = rng.dirichlet(np.ones(n)) + 0.02
    load = float(rng.uniform(0.05, most))
    system = System.with_load(Problem(np.ones((n, 1)), [1]), mix, load, mean_sizes=sizes)
    tolerance, tail = (float(10.0 ** -rng.uniform(4, k)) for k in (11, 9))
    law = stationary(system, DRF(), solver=Automatic(tolerance), tail=tail)
    exact = system.loads / (1.0 - system.loads.sum())
    yield from _error_claims("infinite", law, exact, f"{_told(system, DRF())} {law.shape} {tolerance:.0e}")
    x = np.indices(law.shape)
    logs = special.gammaln(x.sum(axis=0) + 1.0) - special.gammaln(x + 1.0).sum(axis=0)
    logs += np.tensordot(np.log(system.loads), x, axes=1)
    outside = 1.0 - (1.0 - system.loads.sum()) * math.fsum(np.exp(logs).ravel())
    # The reference is a difference of numbers near 1.
    if outside > 1e-10:
        yield Claim("tail", law.tail_mass, outside, f"{_told(system, DRF())} {law.shape}")


def seldom_claims(rng: np.random.Generator) -> Iterator[Claim]:
    """Means where a class is seldom present, against closed forms; weights and sizes over ten decades."""
    n = 2 if rng.random() < 0.7 else 3
    loads = rng.uniform(0.05, 0.9) * rng.dirichlet(np.ones(n))
    for seldom in range(1 + int(n == 3 and rng.random() < 0.3)):
        loads[seldom] = 10.0 ** rng.uniform(-12, -3)
    order = rng.permutation(n)
    loads, sizes = loads[order], 10.0 ** rng.uniform(-5, 5, n)
    pool, policy, exact = (
        Problem(np.ones((n, 1)), [1]),
        cast(Policy, Priority()),
        priority_means(loads / sizes, sizes),
    )
    if rng.random() < 0.75:
        weights = 10.0 ** rng.uniform(-5, 5, n)
        pool, policy = Problem(np.ones((n, 1)), [1], weights=weights), DRF()
        exact = discriminatory_means(weights, loads / sizes, sizes)
    kind = "seldom"
    try:
        law = stationary(System(pool, loads / sizes, sizes), policy, max_states=SELDOM_STATES)
    except NotConvergedError as error:
        kind, law = "seldom - refused", error.best
        if law is None:
            return
    about = f"{policy}, weights {pool.weights}, loads {loads}, sizes {sizes}, {law.shape}"
    yield from _error_claims(kind, law, exact, about)


def policy_claims(rng: np.random.Generator) -> Iterator[Claim]:
    """Means on the automatic box of two classes under any policy, against a box twice as long."""
    while True:
        system = random_system(rng, most_load=0.9)
        if system.n_classes == 2:
            break
    policy = POLICIES[int(rng.integers(len(POLICIES)))]
    tolerance, tail = (float(10.0 ** -rng.uniform(4, k)) for k in (9, 6))
    try:
        law = stationary(system, policy, solver=Automatic(tolerance), tail=tail, max_states=60_000)
        larger = [2 * k for k in law.shape]
        exact = stationary(system, policy, shape=larger, solver=Automatic(1e-12, 1000)).mean_jobs
    except NotConvergedError:
        return
    yield from _error_claims("policies", law, exact, f"{_told(system, policy)} {law.shape} {tolerance:.0e}")


def balanced_claims(rng: np.random.Generator) -> Iterator[Claim]:
    """Means of balanced fairness on the automatic box, against a smaller tail and, for one resource, E[x]."""
    system = random_system(rng, most_load=0.9)
    if system.n_classes == 4:
        return
    law = balanced_fairness(system, tail=float(10.0 ** -rng.uniform(2, 7)))
    exact = balanced_fairness(system, tail=1e-12).mean_jobs
    about = f"{_told(system, DRF())} {law.shape}"
    for claimed, value, true in zip(law.mean_jobs_error, law.mean_jobs, exact, strict=True):
        # The bound is of the truncation; rounding is said not to be in it.
        yield Claim("balanced", float(claimed), max(0.0, abs(value - true) - 1e-12 * true), about)


def _error_claims(kind: str, law: Stationary, exact: NDArray[np.float64], about: str) -> Iterator[Claim]:
    for claimed, true in zip(law.mean_jobs_error, np.abs(law.mean_jobs - exact), strict=True):
        yield Claim(kind, float(claimed), float(true), about)


def admission_claims(rng: np.random.Generator) -> Iterator[Claim]:
    """The solver's error with limits per class and in all."""
    system = random_system(rng, most_load=2.0)
    policy = random_policy(rng, system.n_classes)
    box = random_box(rng, system.n_classes, 700)
    total = int(rng.integers(max(box) - 1, sum(box) + 1))
    tolerance = float(10.0 ** -rng.uniform(4, 12))
    rates, counts = box_rates(system, policy, box)
    inside = counts.sum(axis=1) <= total
    means = extended_means(rates[np.ix_(inside, inside)], counts[inside])
    for solver in (Automatic(tolerance), Multilevel(tolerance)):
        kind = "admission"
        limits = [k - 1 for k in box]
        try:
            law = admission(system, policy, max_jobs=limits, max_total=total, solver=solver)
        except NotConvergedError as error:
            law, kind = error.best, "reached"
        true = float(np.max(np.abs(law.mean_jobs - means) / means))
        about = f"{_told(system, policy)} {box} {total} {solver}"
        yield Claim(kind, law.mean_error, true, about)


def phase_claims(rng: np.random.Generator) -> Iterator[Claim]:
    """The solver's error with phase-type sizes."""
    while True:
        system = random_system(rng, decades=6.0, most_load=0.9)
        if system.n_classes == 2:
            break
    policy = random_policy(rng, 2)
    laws = [LAWS[int(rng.integers(len(LAWS)))].with_mean(m) for m in system.mean_sizes]
    system = replace(system, sizes=laws)
    box = (int(rng.integers(2, 8)), int(rng.integers(2, 8)))
    tolerance = float(10.0 ** -rng.uniform(4, 11))
    for solver in (Automatic(tolerance), Multilevel(tolerance)):
        kind = "phases"
        try:
            law = stationary(system, policy, shape=box, solver=solver)
        except NotConvergedError as error:
            law, kind = error.best, "reached"
        tasks = np.moveaxis(tabulate(system.problem, policy, box).tasks, -1, 0)
        grid = PhaseGrid(
            [class_states(phases_of(one), k) for one, k in zip(laws, box, strict=True)],
            system.arrival_rates,
            np.ascontiguousarray(tasks),
        )
        counts = np.stack(np.unravel_index(grid.counts_of.ravel(), box), axis=-1).astype(float)
        means = extended_means(grid.rates().toarray().astype(np.longdouble), counts)
        true = float(np.max(np.abs(law.mean_jobs - means) / means))
        about = f"{_told(system, policy)} {laws} {box} {solver}"
        yield Claim(kind, law.mean_error, true, about)


def tagged_claims(rng: np.random.Generator) -> Iterator[Claim]:
    """Mean and variance of a tagged job's duration, against a far smaller tail."""
    system = random_system(rng, decades=2.0, most_load=0.8)
    if system.n_classes > 2:
        return
    policy = POLICIES[int(rng.integers(len(POLICIES)))]
    chosen = int(rng.integers(system.n_classes))
    law = tagged_duration(system, policy, chosen, tail=float(10.0 ** -rng.uniform(2, 7)))
    exact = tagged_duration(system, policy, chosen, tail=1e-11)
    about = f"{_told(system, policy)} {law.shape} class {chosen}"
    yield Claim("tagged", law.mean_error, abs(law.mean / exact.mean - 1), about)
    yield Claim("tagged, variance", law.variance_error, abs(law.variance / exact.variance - 1), about)


def heavy_claims(rng: np.random.Generator) -> Iterator[Claim]:
    """Scaled means towards load 1 of one resource under DRF, where (1 - u) E[x_i] = u rho_i."""
    n = int(rng.integers(2, 4))
    sizes = 10.0 ** rng.uniform(-3, 3, size=n)
    mix = rng.dirichlet(np.ones(n)) + 0.02
    pool = Problem(np.ones((n, 1)), [1])
    loads = [0.3, 0.4, 0.5, 0.6] if n == 3 else [0.6, 0.7, 0.8, 0.85]
    found = heavy_traffic(pool, mix, [DRF()], loads=loads, mean_sizes=sizes)
    queue = found.queues[0]
    exact = np.outer(queue.loads, mix / mix.sum())
    about = f"sizes {sizes}"
    for claimed, value, true in zip(queue.errors.ravel(), queue.values.ravel(), exact.ravel(), strict=True):
        yield Claim("heavy", float(claimed), float(abs(value - true)), about)


def _told(system: System, policy: Policy) -> str:
    sizes = ", ".join(f"{s:.2g}" for s in system.mean_sizes)
    return f"{getattr(policy, 'name', policy)}, sizes {sizes}, load {system.relative_loads.max():.3f}"


KINDS: dict[str, Callable[[np.random.Generator], Iterator[Claim]]] = {
    "box": box_claims,
    "infinite": infinite_claims,
    "policies": policy_claims,
    "seldom": seldom_claims,
    "admission": admission_claims,
    "phases": phase_claims,
    "tagged": tagged_claims,
    "heavy": heavy_claims,
    "balanced": balanced_claims,
    "large": large_claims,
}


def measure(kind: str, number: int, seed: int) -> list[Claim]:
    """Claims on one random system."""
    return list(KINDS[kind](np.random.default_rng([seed, number, *kind.encode()])))


def report(claims: Sequence[Claim]) -> str:
    """Coverage and worst understatement per kind."""
    by_kind: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        by_kind[claim.kind].append(claim)
    lines = [
        "| claim | claims | covered | worst true/claimed | median claimed/true |",
        "|---|---|---|---|---|",
    ]
    for kind, some in by_kind.items():
        ratios = np.array([c.understatement for c in some])
        finite = [1.0 / r for r in ratios if r > 0]
        median = f"{np.median(finite):.3g}" if finite else "-"
        covered = f"{said(100 * np.mean(ratios <= 1))} %"
        lines.append(f"| {kind} | {len(some):,} | {covered} | {ratios.max():.3g} | {median} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--systems", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20261122)
    parser.add_argument("--only", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    work = [(kind, number) for kind in given.only for number in range(given.systems)]
    found = joblib.Parallel(n_jobs=given.jobs)(joblib.delayed(measure)(k, i, given.seed) for k, i in work)
    claims = [claim for some in found for claim in some]
    print(report(claims))
    for claim in sorted(claims, key=lambda c: -c.understatement)[:10]:
        print(
            f"{claim.kind}: claimed {claim.claimed:.2e}, true {claim.true:.2e}: {claim.about}",
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()
