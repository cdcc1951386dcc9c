"""From a violation to a witness that a person can check: fewer classes, simple weights, small integers.

1. *Descent*: smaller models, the boldest step first (:data:`.neighbours.STAGES`), and simpler changes, as
   long as the violation stays clear and confirmed.
2. *Fewer classes*: a random and a local search among models with fewer classes than the descent ended with.
3. *Sweep*: descents get stuck, so at last all models that are smaller still are asked, in growing size.

``hypothesis.find`` does not replace this file. On an easy case it is as good: against the sharing incentive
of asset fairness it ends with the same two classes, after 20 to 31 policy calls where this needs 22. But it
shrinks the choices that make a model, so that its order is not ours by classes, weights and integers; its
shrinking keeps to no budget of policy calls; a predicate that draws changes, as lies are drawn here, counts
as flaky; what it finds, which tables and pages show, may change with each release; and a tool of tests
would be needed wherever an audit runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from fairness.properties.counterexamples.exploring import CHANGES, Case, Explorer, magnitude
from fairness.properties.counterexamples.instances import FIRST, Sizes, all_sketches
from fairness.properties.counterexamples.neighbours import STAGES
from fairness.properties.counterexamples.sketches import Sketch
from fairness.properties.protocol.property import TOLERANCE, Change, Model, Witness

__all__ = ["CLEAR", "smallest"]

CLEAR = 1e-3
"""A relative violation above this is no matter of rounding: a thousand times the checkers' tolerance."""

_DESCENT = 1500
"""Most policy calls for one descent; from four classes it takes a few hundred."""

Verdict = Callable[[Witness], str]
"""How a witness is confirmed; empty where it is not."""


def smallest(explorer: Explorer, cases: list[Case], verdict: Verdict, extra: float) -> tuple[Case, str]:
    """A smallest violation that was found below some cases, and how it is confirmed.

    Parameters
    ----------
    explorer : Explorer
    cases : list of Case
        Violations, at least one.
    verdict : callable
    extra : float
        Policy calls for each of the last two steps.
    """
    results = [_Descent(explorer, case, verdict).run() for case in cases]
    case, how = min(results, key=lambda result: result[0].size)
    if not how:
        return case, how
    for source in (_fewer_classes, _sweep):
        better = _first(source(explorer, case, extra), case, verdict, CLEAR)
        if better is not None:
            case, how = _Descent(explorer, better[0], verdict).run()
    return case, how


def _first(
    candidates: Iterator[Case], case: Case, verdict: Verdict | None, enough: float
) -> tuple[Case, str] | None:
    """First candidate that is smaller than the case, a violation, and confirmed if there is a verdict."""
    for other in candidates:
        if other.violation > enough and other.size < case.size:
            how = verdict(other.witness) if verdict else ""
            if how or verdict is None:
                return other, how
    return None


def _fewer_classes(explorer: Explorer, case: Case, extra: float) -> Iterator[Case]:
    """Cases of a random and a local search among models with fewer classes."""
    n, s, m = case.sketch.size[:3]
    if n <= 2:
        return
    kept = explorer.sizes, explorer.near, explorer.best
    explorer.sizes = Sizes(tuple(range(2, n)), tuple(range(1, s + 1)), tuple(range(min(2, m), m + 1)), 5)
    explorer.near = []
    start = explorer.total
    try:
        for part, source in ((0.5, explorer.random), (1.0, explorer.local)):
            explorer.limit = start + part * extra
            for other in source():
                explorer.remember(other)
                yield other
    finally:
        explorer.sizes, explorer.near, explorer.best = kept


def _sweep(explorer: Explorer, case: Case, extra: float) -> Iterator[Case]:
    """Cases at the smallest models that are kept, asked about more changes than before."""
    # There are hundreds of thousands with zeros.
    sketches = islice(all_sketches(explorer.kind, explorer.domain, constrained=explorer.constrained), FIRST)
    below = sorted((s for s in sketches if s.size < case.sketch.size), key=lambda sketch: sketch.size)
    explorer.limit = explorer.total + extra
    for sketch in below:
        yield from explorer.explored(sketch, 2 * CHANGES)


@dataclass(eq=False)
class _Descent:
    """Smaller and smaller violations below one."""

    explorer: Explorer
    case: Case
    verdict: Verdict
    tried: set[Any] = field(default_factory=set)

    def run(self) -> tuple[Case, str]:
        """The smallest one, confirmed if the first is, and how."""
        explorer = self.explorer
        explorer.limit = explorer.total + _DESCENT
        how = self.verdict(self.case.witness)
        verdict = self.verdict if how else None
        enough = CLEAR if self.case.violation > CLEAR else TOLERANCE
        self.tried.add((self.case.sketch, self.case.change))
        stages: list[Callable[[], Iterator[Case]]]
        stages = [*(partial(self._models, stage) for stage in STAGES), self._changes]
        progress = True
        while progress:
            progress = False
            for stage in stages:
                while better := _first(stage(), self.case, verdict, enough):
                    self.case, how = better
                    progress = True
        return self.case, how

    def _models(self, stage: Callable[[Sketch, str], Iterator[Sketch]]) -> Iterator[Case]:
        for sketch in stage(self.case.sketch, self.explorer.domain):
            made = self.explorer.made(sketch)
            if made is not None and made[0].size < self.case.sketch.size:
                yield from self._at(*made)

    def _changes(self) -> Iterator[Case]:
        case, explorer = self.case, self.explorer
        if case.change is None:
            return
        for change in islice(case.change.neighbours(case.model, explorer.rng), 50):
            if magnitude(change) < magnitude(case.change) and self._new(case.sketch, change):
                other = explorer.asked(case.sketch, case.model, change, case.before)
                if other is not None:
                    yield other

    def _at(self, sketch: Sketch, model: Model) -> Iterator[Case]:
        """Cases at a smaller model: with the same change, and with others where that may mean nothing."""
        case, explorer = self.case, self.explorer
        changes: list[Change | None] = [case.change]
        shape, shape_before = sketch.size[:3], case.sketch.size[:3]
        if case.change is not None and shape != shape_before:
            # A change that lists resources means nothing where there are fewer.
            changes = changes if shape[2] == shape_before[2] else []
            changes += explorer.prop.changes(model, explorer.rng, 2 * CHANGES)
        before = None
        for change in changes:
            if not self._new(sketch, change):
                continue
            before = explorer.answer(model) if before is None else before
            if before is None:
                return
            other = explorer.asked(sketch, model, change, before)
            if other is not None:
                yield other

    def _new(self, sketch: Sketch, change: Change | None) -> bool:
        key = sketch, change
        if key in self.tried or self.explorer.spent:
            return False
        self.tried.add(key)
        return True
