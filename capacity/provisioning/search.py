"""From the duration bound's optimum to the cheapest servers that an exact model verifies.

See :mod:`capacity.provisioning.provision`: a floor by linear programming, a line search after fitting the
bound to the model for real numbers, and trial in the order of cost for whole numbers.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from capacity.boundaries.service_rates import RateModel, Rates, rate_model
from capacity.boundaries.service_simulation import SearchedRates, Simulated
from capacity.provisioning.program import BoundProgram, Choice
from fairness.errors import ModelError, NotConvergedError
from fairness.machine.work import Task
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.policy import Policy

__all__ = ["Verifier", "cheapest_floor", "search_whole", "tighten"]

TAILS = (1e-4, 1e-8, 1e-11, 1e-14)
"""Tails tried until the rates decide whether the targets are kept."""

TAIL = 1e-8
"""Tail for rates whose lower ends are trusted."""

EVALUATIONS = 20
"""Evaluations that most searches take."""

ROUNDS = 12
"""Most refits of the bound to the model."""

CANDIDATES = 200_000
"""Whole numbers of servers looked at, most of them without the model: some seconds."""


@dataclass(eq=False)
class Verifier:
    """The exact model at given numbers of servers; counts its evaluations.

    ``best`` are the cheapest servers found so far that keep the targets.
    """

    base: Problem
    method: str | Policy | Simulated
    loads: FloatArray
    mean_sizes: FloatArray
    target: FloatArray
    program: BoundProgram
    max_states: int | None
    max_evaluations: int
    evaluations: int = field(default=0, init=False)
    best: Choice | None = field(default=None, init=False)
    _seen: dict[tuple[bytes, float], Rates] = field(default_factory=dict, init=False)
    _runs: Iterator[int] = field(default_factory=lambda: count(1), init=False)

    def __post_init__(self) -> None:
        model = self._model(self.base)
        self.name = model.name
        self.told: dict[str, Any] = {"method": model.name, "evidence": model.evidence, "proves": model.proves}
        self.work = Task("the model at some capacities", 1, "evaluations of the model")
        self.live = self.loads > 0

    def _model(self, problem: Problem) -> RateModel:
        if isinstance(self.method, Simulated):
            return SearchedRates(problem, self.method, self.mean_sizes, self._runs)
        return rate_model(problem, self.method, self.mean_sizes, self.max_states)

    @property
    def exhausted(self) -> bool:
        """No evaluation is left."""
        return self.evaluations >= self.max_evaluations

    def problem(self, servers: FloatArray) -> Problem:
        """The problem with the capacities of these servers."""
        return self.base.replaced(capacities=servers @ self.program.supplies)

    def enough(self, servers: FloatArray) -> bool:
        """What every policy needs: capacities above the loads, for the load targets, and for lone jobs."""
        c, program = servers @ self.program.supplies, self.program
        used = program.demands.any(axis=0)
        return bool((c > program.resource_loads)[used].all() and (c >= needs(program)).all())

    def _kept(self, servers: FloatArray) -> None:
        found = self.program.choice(servers.copy())
        if self.best is None or found.cost < self.best.cost:
            self.best = found

    def rates(self, servers: FloatArray, tail: float = TAIL, *, last: bool = False) -> Rates:
        """Service rates of the model; each is computed once, the ``last`` whatever the budget."""
        key = (servers.tobytes(), tail)
        if key in self._seen:
            return self._seen[key]
        if self.exhausted and not last:
            raise NotConvergedError(
                f"{self.evaluations} evaluations of the model did not finish the search for the cheapest "
                "capacities; best, if any, keeps the targets: take it, or raise max_evaluations"
            )
        if not last:
            self.work.advance(0)
        self.evaluations += 1
        self._seen[key] = self._model(self.problem(servers)).rates(self.loads, tail)
        if not last:
            self.work.advance()
        return self._seen[key]

    def searching(self, bound: Choice) -> Task:
        """The search that starts at the bound's optimum, as work whose time is told before it starts."""
        expected, what = min(EVALUATIONS, self.max_evaluations), f"the cheapest capacities under {self.name}"
        seconds = expected * self._model(self.problem(bound.servers)).seconds(self.loads, TAIL)
        self.work = Task(what, expected, "evaluations of the model", seconds, "take method='bound'")
        return self.work

    def keeps(self, servers: FloatArray) -> bool | None:
        """Whether the targets are kept, certainly; None if the model cannot say."""
        if not self.enough(servers):
            return False
        for tail in TAILS:
            try:
                rates = self.rates(servers, tail)
            except NotConvergedError:
                return None
            if (rates.low >= self.target)[self.live].all():
                self._kept(servers)
                return True
            if (rates.high < self.target)[self.live].any():
                return False
        return None

    def surely(self, servers: FloatArray) -> bool:
        """Whether the targets are kept within the enclosures; False where the model cannot be computed."""
        if not self.enough(servers):
            return False
        try:
            kept = bool((self.rates(servers).low >= self.target)[self.live].all())
            if kept:
                self._kept(servers)
            return kept
        except NotConvergedError:
            if self.exhausted:
                raise
            return False


def needs(program: BoundProgram) -> FloatArray:
    """Capacities for the load targets, and for lone jobs: a_ij over the largest relative duration."""
    return np.maximum(program.least, (program.demands / program.durations[:, None]).max(axis=0))


def cheapest_floor(program: BoundProgram, whole: bool) -> Choice:
    """Cheapest servers with the capacities that every policy needs; its cost from below."""
    solved = milp(
        program.costs,
        constraints=LinearConstraint(program.supplies.T, lb=needs(program)),
        integrality=np.full(len(program.costs), int(whole)),
        bounds=Bounds(0, np.floor(program.most) if whole else program.most),
        options={"mip_rel_gap": 0.0},
    )
    if not solved.success:
        raise ModelError(
            "what can be bought does not even carry the loads and the targets of lone jobs; raise most"
        )
    servers = np.rint(solved.x) if whole else np.maximum(solved.x, 0.0)
    # 1e-9: the feasibility tolerance of the solver, relative to right sides of the same size.
    return Choice(servers, program.cost(servers) * (1.0 if whole else 1.0 - 1e-9))


def tighten(verifier: Verifier, bound: Choice, floor: Choice, precision: float) -> Choice:
    """Real numbers of servers near the cheapest that the model verifies."""
    program = verifier.program
    n = len(program.costs)
    if not np.isfinite(program.durations).any():
        return bound
    x = bound.servers
    for _ in range(ROUNDS):
        x, rates = _computable(verifier, x, floor.servers)
        exact = 1.0 / rates.low[verifier.live]
        factors = exact / program.relative_durations(x @ program.supplies)
        fitted = replace(program, durations=program.durations / factors).solve(np.zeros(n), program.most)
        if fitted is None:
            break
        change = float(np.abs(fitted.servers - x) @ program.costs) / fitted.cost
        x = fitted.servers
        if change < precision:
            break

    def at(part: float) -> FloatArray:
        return np.clip(floor.servers + part * (x - floor.servers), 0.0, program.most)

    # The smallest part that keeps the targets, between one that does not and one that does.
    step, kept, lost = precision, 1.0, 0.0
    if verifier.surely(at(1.0)):
        while kept - step > 0.0:
            if not verifier.surely(at(kept - step)):
                lost = kept - step
                break
            kept, step = kept - step, 4.0 * step
    else:
        lost = 1.0
        while not verifier.surely(at(lost + step)):
            lost, step = lost + step, 4.0 * step
            if step > 1e6 or (at(lost + step) == at(lost)).all():
                raise NotConvergedError(
                    f"no capacities on the line from the floor through the fitted optimum keep the targets "
                    f"under {verifier.name}, up to {at(lost)}; raise most or lower the targets"
                )
        kept = lost + step
    worth = program.cost(np.abs(x - floor.servers))
    while (kept - lost) * worth > precision * program.cost(at(kept)):
        middle = 0.5 * (kept + lost)
        if verifier.surely(at(middle)):
            kept = middle
        else:
            lost = middle
    best = program.choice(at(kept))
    return bound if best.cost > bound.cost and verifier.surely(bound.servers) else best


def _computable(verifier: Verifier, x: FloatArray, floor: FloatArray) -> tuple[FloatArray, Rates]:
    """The model at x, or at more servers where it cannot be computed (an unstable policy)."""
    for _ in range(30):
        try:
            return x, verifier.rates(x)
        except NotConvergedError:
            if verifier.exhausted or (x >= verifier.program.most).all():
                raise
        x = np.minimum(floor + 1.5 * (x - floor), verifier.program.most)
    return x, verifier.rates(x)


def search_whole(verifier: Verifier, bound: Choice, floor: Choice) -> tuple[Choice, float, bool]:
    """Cheapest whole numbers that keep the targets, a lower bound of that cost, whether all was tried.

    First servers are taken away one by one as long as the targets stay kept; then everything cheaper is tried
    in the order of cost, so that nothing is assumed about how the rates depend on the capacities.
    """
    program = verifier.program
    best = _descended(verifier, _reached(verifier, bound))
    # Alone, a type must supply what no other type has.
    only = (program.supplies > 0).sum(axis=0) == 1
    least, low = needs(program), np.zeros(len(program.costs))
    for t in range(len(low)):
        own = only & (program.supplies[t] > 0)
        # 1e-12: a quotient that is whole up to rounding stays.
        low[t] = np.ceil((least[own] / program.supplies[t, own]).max(initial=0.0) * (1.0 - 1e-12))
    queue = [(program.cost(low), tuple(low), 0)]
    lower = best.cost
    for _ in range(CANDIDATES):
        if not queue or queue[0][0] >= best.cost * (1.0 - 1e-12):
            return best, lower, True
        cost, servers, first = heapq.heappop(queue)
        x = np.array(servers)
        if cost >= floor.cost * (1.0 - 1e-12) and verifier.enough(x):
            if verifier.exhausted:
                return best, min(lower, cost), False
            kept = verifier.keeps(x)
            if kept:
                return Choice(x, cost), min(lower, cost), True
            if kept is None:  # it might: nothing is proven above its cost
                lower = min(lower, cost)
        # Every vector is reached once: raise entries from `first` on only.
        for t in range(first, len(low)):
            if x[t] + 1 <= program.most[t]:
                more = x.copy()
                more[t] += 1
                heapq.heappush(queue, (program.cost(more), tuple(more), t))
    return best, min(lower, max(floor.cost, queue[0][0])), not queue


def _reached(verifier: Verifier, bound: Choice) -> Choice:
    """The bound's optimum, or more servers until the model keeps the targets (for policies)."""
    x, program = bound.servers, verifier.program
    while not verifier.surely(x):
        more = np.minimum(np.maximum(np.ceil(1.1 * x), x + (x > 0)), np.floor(program.most))
        if (more == x).all() or program.cost(more) > 1e3 * bound.cost:
            raise NotConvergedError(
                f"no servers from {bound.servers} to {x} keep the targets under {verifier.name}; raise "
                "most or lower the targets"
            )
        x = more
    return program.choice(x)


def _descended(verifier: Verifier, choice: Choice) -> Choice:
    x, program = choice.servers.copy(), verifier.program
    for t in np.argsort(-program.costs, kind="stable"):
        while x[t] >= 1 and not verifier.exhausted:
            fewer = x.copy()
            fewer[t] -= 1
            if not verifier.surely(fewer):
                break
            x = fewer
    return program.choice(x)
