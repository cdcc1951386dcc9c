"""Proved bounds of stationary means beside the estimates, the checker beside the search; CPU seconds."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from time import process_time
from typing import Any

from scipy import sparse

from benchmarks.bench_fluid import gravity_traffic
from benchmarks.harness import Row
from fairness import DRF, Problem, ProportionalFair
from fairness.protocol.policy import Policy
from queueing import System, drift_bound, enclose, stationary, tabulate
from queueing.chain.solvers.balance import box_rates, grid_factors
from queueing.networks.backbones import abilene
from queueing.results import Enclosure
from queueing.states.table import departure_rates

__all__ = ["rows"]

TWO = Problem([[1, 0.1], [0.1, 1]], [1, 1])
THREE = Problem([[1, 0.1, 0.2], [0.1, 1, 0.3], [0.3, 0.2, 1]], [1, 1, 1])
REPEAT = 3


def rows() -> list[Row]:
    for policy in (DRF(), ProportionalFair()):
        enclose(System.with_load(TWO, [1, 1], 0.3), policy, width=1e-2)
    poisson = importlib.import_module("queueing.enclosures.poisson_equation")
    plane, poisson.PLANE, poisson.SMALL = (poisson.PLANE, poisson.SMALL), 0, 0
    enclose(System.with_load(TWO, [1, 1], 0.3), DRF(), width=1e-2)  # compiles multigrid
    poisson.PLANE, poisson.SMALL = plane
    two = [
        _against(policy, load, target)
        for policy in (DRF(), ProportionalFair())
        for load, target in ((0.9, 3.0), (0.95, None))
    ]
    three = [_three(policy) for policy in (DRF(), ProportionalFair())]
    routes = [_backbone(pairs, ProportionalFair()) for pairs in (30, 60, 110)] + [_backbone(110, DRF())]
    return [row for pair in two + three for row in pair] + routes


def _seconds(function: Callable[[], Any], repeat: int = REPEAT) -> tuple[float, Any]:
    """Least CPU time of some runs, and the result."""
    best, result = float("inf"), None
    for _ in range(repeat):
        begin = process_time()
        result = function()
        best = min(best, process_time() - begin)
    return best, result


def _against(policy: Policy, load: float, target: float | None) -> tuple[Row, Row]:
    system = System.with_load(TWO, [1, 1], load)
    own, found = _seconds(lambda: enclose(system, policy))
    estimated, _ = _seconds(lambda: stationary(system, policy))
    ratio = own / estimated
    factors, _ = _seconds(_factorisation(system, policy, found.certificate.shape))
    checking, _ = _seconds(found.check, 1)
    parts = (
        f"floor: sparse factors of its generator take {factors / estimated:.1f} estimates, the check that "
        f"nothing can do without {checking / estimated:.1f}"
    )
    first = Row(
        f"bounds 1e-8 apart, two classes at {load:g}, {found.policy}",
        f"{ratio:.1f} times the estimate",
        "on record" if target is None else f"< {target:g} times",
        None if target is None else ratio < target,
        f"{parts}; {own:.2f} s; {_reached(found)}",
    )
    return first, _checked(found, own, f"two classes at {load:g}, {found.policy}")


def _factorisation(system: System, policy: Policy, shape: tuple[int, ...]) -> Callable[[], Any]:
    """What factorises the generator on a box without its first state, as every Poisson equation needs."""
    down = departure_rates(tabulate(system.problem, policy, shape), system.mean_sizes, range(len(shape)))
    rates = box_rates(system.arrival_rates, down)
    matrix = (sparse.diags_array(rates.sum(axis=1)) - rates)[1:, 1:].tocsc()
    return lambda: grid_factors(matrix, panel_size=2, relax=2)


def _three(policy: Policy) -> tuple[Row, Row]:
    system = System.with_load(THREE, [1, 1, 1], 0.8)
    own, found = _seconds(lambda: enclose(system, policy, width=1e-6), 1)
    name = f"three classes at 0.8, {found.policy}"
    first = Row(f"bounds 1e-6 apart, {name}", f"{own:.1f} s", "< 60 s", own < 60.0, _reached(found))
    return first, _checked(found, own, name)


def _backbone(pairs: int, policy: Policy) -> Row:
    """All jobs of many classes, without a chain."""
    traffic = gravity_traffic(abilene().to_directed(), pairs=pairs)
    system = System.with_load(traffic.problem, traffic.loads, 0.7)
    own, found = _seconds(lambda: drift_bound(system, policy), 1)
    return Row(
        f"drift bounds, Abilene at 0.7, {pairs} routes, {found.policy}",
        f"{own:.1f} s",
        "< 60 s",
        own < 60.0,
        f"jobs {found.lower[0]:.3f} to {found.upper[0]:.3f}",
    )


def _checked(found: Enclosure, own: float, name: str) -> Row:
    """The checker alone beside all of it."""
    seconds, _ = _seconds(found.check, 1)
    part = seconds / (own - seconds)
    return Row(f"checker, {name}", f"{part:.2f} of the search", "< 1", part < 1.0, f"{seconds:.2f} s")


def _reached(found: Enclosure) -> str:
    return f"{' x '.join(map(str, found.certificate.shape))} states, widths up to {found.reached:.1e}"
