r"""Asking a policy about one model after another: the sources of cases for a search.

A *case* is a model, a change of it where the property compares, what the policy gave and what the checker
found. Cases come from all small models in growing size, from random ones, and from climbs: the violation is
meaningful below zero too (the room that is left), so from the models with the least room a random walk climbs
that accepts whatever is not worse, altering the model or the change.

An :class:`Explorer` counts the policy calls of each phase and stops at a limit. Numerical errors of the
policy are counted, and the first is kept with its model.
"""

from __future__ import annotations

import time
from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

import numpy as np

from fairness.arguments.validation import frozen
from fairness.errors import FairqueuesError, ModelError
from fairness.model.cluster import Cluster
from fairness.properties.counterexamples.instances import Sizes, all_sketches, random_sketch
from fairness.properties.counterexamples.neighbours import moved
from fairness.properties.counterexamples.result import Failure
from fairness.properties.counterexamples.sketches import Sketch
from fairness.properties.protocol.property import (
    Change,
    Finding,
    Model,
    Numbers,
    Property,
    Witness,
    division_of,
)
from fairness.protocol.policy import policy_name

__all__ = ["CHANGES", "PHASES", "Case", "Explorer", "magnitude", "witness_size"]

PHASES = ("exhaustive", "random", "local", "shrinking")

CHANGES = 12
"""Changes asked about per model."""
_NEAR = 12
"""Starts of the local search."""
_IDLE = -0.05
"""Room that the local search credits to a change without any effect."""
_KEPT = 20_000
"""Most answers, and most cases, that a search keeps, some kilobytes each."""
_SHARED = 4000
"""Most answers of a policy that its searches share, those about the smallest models among them."""
_MODELS = 1024
"""Models that are kept, and as many after a change, some kilobytes each: all searches meet the same ones."""
_PATIENCE = 40
"""Steps of a climb without progress."""

Answers = dict[tuple[Any, ...], Numbers]
"""What a policy gives, by all that it can tell a model by."""


@dataclass(frozen=True, eq=False)
class Case:
    """A model, a change of it, and what the checker found there."""

    policy: str
    sketch: Sketch
    model: Model
    change: Change | None
    finding: Finding
    before: Numbers
    after: Numbers | None = None

    @property
    def violation(self) -> float:
        """As a float."""
        return float(self.finding.violation)

    @property
    def size(self) -> tuple[float, ...]:
        """What "smaller" means."""
        return _size(self.sketch, self.change)

    @cached_property
    def witness(self) -> Witness:
        """The case as a witness."""
        name = self.finding.name
        return Witness(self.policy, name, self.model, self.change, self.finding, self.before, self.after)


@dataclass(eq=False, kw_only=True)
class Explorer:
    """State of one search: what is asked, how often, and what came nearest to a violation."""

    policy: Any
    prop: Property
    rng: np.random.Generator
    domain: str
    kind: type
    sizes: Sizes
    deadline: float
    calls: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PHASES, 0))
    phase: str = PHASES[0]
    limit: float = 0
    reached: str = "no model asked"
    failures: int = 0
    failure: Failure | None = None
    best: Case | None = None
    near: list[tuple[float, float, Case]] = field(default_factory=list)
    answers: Answers = field(default_factory=dict)
    shared: Answers = field(default_factory=dict)
    cases: dict[tuple[Sketch, Change | None], tuple[Case | None, int, int]] = field(default_factory=dict)

    # --- sources of cases ---

    def exhaustive(self) -> Iterator[Case]:
        """Cases at all small models, in growing size."""
        for sketch in all_sketches(self.kind, self.domain, constrained=self.constrained):
            if self.spent:
                return
            for case in self.explored(sketch):
                self.reached = _how_far(sketch)
                yield case

    def random(self) -> Iterator[Case]:
        """Cases at random models."""
        idle = 0
        # A property that no random model suits must not keep the search here for ever.
        while not self.spent and idle < 1000:
            asked = self.total
            sketch = random_sketch(
                self.rng, self.kind, self.domain, sizes=self.sizes, constrained=self.constrained
            )
            yield from self.explored(sketch)
            idle = 0 if self.total > asked else idle + 1

    def local(self) -> Iterator[Case]:
        """Cases on climbs from the nearest ones so far."""
        while not self.spent:
            asked = self.total
            for *_, start in reversed(self.near.copy()):
                yield from self._climb(start)
            if self.total == asked:
                return

    def _climb(self, case: Case) -> Iterator[Case]:
        stale = 0
        while stale < _PATIENCE and not self.spent:
            stale += 1
            other = self._neighbour(case)
            if other is None:
                continue
            yield other
            if other.violation > case.violation + 1e-12:
                stale = 0
            if other.violation >= case.violation - 1e-12:
                case = other

    def _neighbour(self, case: Case) -> Case | None:
        change = case.change
        if change is not None and self.rng.random() < 0.5:
            others = list(islice(change.neighbours(case.model, self.rng), 20))
            if others:
                other = others[self.rng.integers(len(others))]
                return self.asked(case.sketch, case.model, other, case.before)
        made = self.made(moved(case.sketch, self.rng, self.domain, constrained=self.constrained))
        if made is None:
            return None
        sketch, model = made
        before = self.answer(model)
        return None if before is None else self.asked(sketch, model, change, before)

    # --- one model ---

    @property
    def constrained(self) -> bool:
        """Whether the policy knows placement constraints."""
        return bool(getattr(self.policy, "handles_constraints", True))

    def explored(self, sketch: Sketch, changes: int = CHANGES) -> Iterator[Case]:
        """Cases at one model: one, or one per change."""
        made = None if self.spent else self.made(sketch)
        if made is None:
            return
        sketch, model = made
        before = None
        for change in self.prop.changes(model, self.rng, changes) if self.prop.compares else (None,):
            if self.spent:
                return
            before = self.answer(model) if before is None else before
            if before is None:
                return
            case = self.asked(sketch, model, change, before)
            if case is not None:
                yield case

    def made(self, sketch: Sketch) -> tuple[Sketch, Model] | None:
        """The model, made to suit the property; None where that is impossible."""
        try:
            model = _built(sketch)
            suited = self.prop.suit(model)
        except ModelError:
            return None
        if suited is not model:
            sketch = Sketch.of(suited)
        return (sketch, suited) if self.prop.applies(suited) else None

    def asked(self, sketch: Sketch, model: Model, change: Change | None, before: Numbers) -> Case | None:
        """What the checker finds, after a change if there is one.

        None where the change makes no sense for this model or the policy refuses the model after it; None,
        and a failure on record, where the checker refuses. What is asked again, as a sixth is, counts again
        and is not found out again.
        """
        if (sketch, change) in self.cases:
            case, calls, failures = self.cases[sketch, change]
            self.calls[self.phase] += calls
            self.failures += failures
            return case
        calls, failures = self.total, self.failures
        case = self._found(sketch, model, change, before)
        if len(self.cases) < _KEPT:
            self.cases[sketch, change] = case, self.total - calls, self.failures - failures
        return case

    def _found(self, sketch: Sketch, model: Model, change: Change | None, before: Numbers) -> Case | None:
        after = None
        if change is not None:
            after = self._after(model, change)
            if after is None:
                return None
        try:
            finding = self.prop.check(model, before, change, after, division=division_of(self.policy))
        except FairqueuesError as error:
            # A checker refuses what is no allocation; its own solver may fail as well.
            self._fail(model, error)
            return None
        if np.isnan(float(finding.violation)):
            self._fail(model, ArithmeticError("the violation is not a number"))
            return None
        return Case(policy_name(self.policy), sketch, model, change, finding, before, after)

    def _after(self, model: Model, change: Change) -> Numbers | None:
        try:
            changed = _changed(model, change)
        except ModelError:
            return None
        if isinstance(changed, Cluster) and isinstance(model, Cluster):
            if not self.constrained and _is_constrained(changed):
                return None
            # A server that nobody can use any more drops out of the model though it is still there: where
            # shares are of the whole cluster, two different mechanisms would be compared.
            if changed.n_servers < model.n_servers:
                return None
        return self.answer(changed)

    def answer(self, model: Model) -> Numbers | None:
        """What the policy gives; None, and a failure on record, where it raises a numerical error.

        A model that comes again, as a tenth to a third of them do, counts as a call and is not solved again.
        """
        self.calls[self.phase] += 1
        key = _numbers(model)
        for answers in (self.answers, self.shared):
            if key in answers:
                return answers[key]
        try:
            answer = frozen(np.array(self.policy(model, np.ones(model.n_classes)), dtype=float))
            for answers, most in ((self.answers, _KEPT), (self.shared, _SHARED)):
                if len(answers) < most:
                    answers[key] = answer
            return answer
        except (FairqueuesError, ArithmeticError, np.linalg.LinAlgError) as error:
            self._fail(model, error)
            return None

    def _fail(self, model: Model, error: Exception) -> None:
        self.failures += 1
        if self.failure is None:
            self.failure = Failure(model, f"{type(error).__name__}: {error}")

    # --- bookkeeping ---

    @property
    def total(self) -> int:
        """Policy calls so far."""
        return sum(self.calls.values())

    @property
    def spent(self) -> bool:
        """Whether the limit or the deadline is reached; one model at least is asked."""
        return self.total >= self.limit or (self.total > 0 and time.perf_counter() > self.deadline)

    def remember(self, case: Case) -> None:
        """Note how near a case comes to a violation."""
        if self.best is None or case.violation > self.best.violation:
            self.best = case
        rank = round(case.violation, 9)
        if case.change is not None and rank == 0:
            # Most changes that change nothing (a hidden server that was idle) are far from a violation.
            rank = _IDLE
        if len(self.near) < _NEAR or rank >= self.near[0][0]:
            # Ties are broken at random, or the first phase would fill the list with its tiny models.
            insort(self.near, (rank, self.rng.random(), case))
            del self.near[:-_NEAR]


@lru_cache(maxsize=_MODELS)
def _built(sketch: Sketch) -> Model:
    return sketch.build()


@lru_cache(maxsize=_MODELS)
def _changed(model: Model, change: Change) -> Model:
    return change.apply(model)


def _how_far(sketch: Sketch) -> str:
    n, s, m = sketch.size[:3]
    servers = "" if sketch.pool else f" x {s} servers"
    return f"exhaustive into {n} classes{servers} x {m} resources with entries <= {max(sketch.entries)}"


def _numbers(model: Model) -> tuple[Any, ...]:
    """All that a policy can tell a model by."""
    arrays: tuple[Numbers, ...] = (model.demands, model.capacities, model.weights)
    names: tuple[Any, ...] = (model.job_classes, model.resources)
    if isinstance(model, Cluster):
        arrays, names = (*arrays, model.gamma), (*names, model.servers)
    return (*names, *(array.tobytes() for array in arrays))


def _is_constrained(cluster: Cluster) -> bool:
    return bool((~cluster.eligible & (cluster.unconstrained_gamma > 0)).any())


def witness_size(witness: Witness) -> tuple[float, ...]:
    """What "smaller" means for witnesses: that of sketches, the numbers of the change added to the sum."""
    return _size(Sketch.of(witness.model), witness.change)


def _size(sketch: Sketch, change: Change | None) -> tuple[float, ...]:
    *shape, total, largest = sketch.size
    return (*shape, total + magnitude(change), largest)


def magnitude(value: Any) -> float:
    """Sum of the numbers in a change, of fractions the numerator and the denominator; "simpler" is less."""
    if is_dataclass(value):
        return sum(magnitude(getattr(value, item.name)) for item in fields(value))
    if isinstance(value, tuple | list | np.ndarray):
        return sum(magnitude(v) for v in value)
    if isinstance(value, Fraction) and value.denominator > 1:
        return abs(value.numerator) + value.denominator
    if isinstance(value, int | float | np.number | Fraction) and not isinstance(value, bool):
        return abs(float(value))
    return 0.0
