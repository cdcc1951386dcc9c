"""Explain an allocation to one of its classes: what it has, and what the policy would give in other cases.

Every number is that of an allocation which the policy made, or of a definition (what an equal part of
everything would run alone). Nothing is predicted from duals: a price says what a small change of a full
resource is worth to the objective of the policy, not what it does to the tasks of one class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fairness.arguments.plain import near
from fairness.arguments.validation import FloatArray, require_whole
from fairness.catalogue import CATALOGUE, CLUSTER_CATALOGUE
from fairness.errors import ModelError, NotConvergedError
from fairness.explanations.explanation import Explanation
from fairness.explanations.queues import Rung, queue_alterations, tree_of, way
from fairness.explanations.records import Case
from fairness.explanations.resource_use import holdings
from fairness.explanations.sensitivity import one_sided_rate
from fairness.explanations.sentences import in_words
from fairness.explanations.stopping_rules import stops
from fairness.explanations.uniqueness import choice_of
from fairness.explanations.what_if import Model, alterations, amount_of, with_capacity
from fairness.machine.work import OutOfTime, ProgressOption, Task, stopped, watching
from fairness.model.problem import Problem
from fairness.protocol.calling import policy_tasks
from fairness.protocol.policy import offers, policy_name
from fairness.results.allocation import allocate
from fairness.results.any_allocation import AnyAllocation

__all__ = ["explain"]

SAME = 1e-6
"""Relative difference of tasks up to which a policy gives an allocation again."""

EXACT, UNKNOWN = 1e-12, 1e-9
"""Relative errors of tasks: of policies with a certificate, beside its residual, and of others."""

SOLVES = 12
"""Allocations that a place takes: one unit more and less, twice, and four steps to each side."""


def explain(
    allocation: AnyAllocation,
    job_class: str | int,
    policy: Any = None,
    *,
    others: Sequence[Any] | None = None,
    places: int = 24,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> Explanation:
    """Why a class runs what it runs: what stops it, who holds that, and what would change it.

    Parameters
    ----------
    allocation : Allocation or ClusterAllocation
        As :func:`fairness.allocate` gives it.
    job_class : str or int
        Name or number of the class.
    policy : callable, optional
        The policy that made the allocation, which is asked again. Default: the one that it keeps.
    others : sequence of callables, optional
        Policies to compare with. Default: the other ones of the catalogue for this kind of model.
    places : int
        Most places (a resource of a pool, or of a server) whose capacity is changed: first those that stop
        the class, then other full ones, then those that it needs.
    progress : bool or callable, optional
        See :class:`fairness.machine.work.Task`.
    time_limit : float, seconds, optional

    Returns
    -------
    Explanation

    Raises
    ------
    ModelError
        If there is no such class, the allocation has lost its policy in a file, or the policy does not give
        this allocation.
    NotConvergedError
        If the time is over; ``best`` is the explanation with the cases that are known.

    Examples
    --------
    >>> from fairness import DRF, Problem, allocate, explain
    >>> pool = Problem([[1, 4], [3, 1]], [9, 18], job_classes=["A", "B"], resources=["cpu", "ram"])
    >>> why = explain(allocate(pool, DRF()), "A", others=[])
    >>> why
    Why A runs 3 tasks under DRF
      It is stopped by cpu: all 9 units are in use. B holds 6 (66.7 %), A itself 3 (33.3 %).
      ...
    >>> [stop.resource for stop in why.stops]
    ['cpu']
    >>> round(why.cases["with twice the weight"].tasks, 4)
    4.1538
    """
    if not isinstance(allocation, AnyAllocation):
        raise ModelError.of(
            "allocation",
            f"must be what allocate() gives; got {type(allocation).__name__}; use allocate first",
        )
    require_whole("places", places, 0)
    model = allocation.model
    i = _index(model, job_class)
    asked = _asked(model, allocation, policy)
    compared = _compared(model, allocation, asked) if others is None else list(others)
    names = [policy_name(other) for other in compared]
    found: list[Case] = []
    held, tree = holdings(allocation), tree_of(asked)
    seen = stops(asked, allocation, held, i)
    rungs: tuple[Rung, ...] = ()
    if tree is not None and allocation.counts[i] > 0:
        rungs = way(tree, model, allocation.counts, held.totals, i)
    chosen = _places(allocation, model, i) if allocation.counts[i] > 0 else []
    unasked, chosen = max(0, len(chosen) - places), chosen[:places]

    def told() -> Explanation:
        choice = choice_of(asked, allocation, i)
        return Explanation(allocation, model.job_classes[i], seen, tuple(found), choice, unasked, rungs)

    ask = _Question(allocation, asked, i)
    try:
        with watching(progress, time_limit), _task(model, i, len(chosen), len(compared)) as task:
            ask.advance = task.advance
            for s, r in chosen:
                found.extend(ask.capacity(s, r))
            found.extend(ask.altered())
            found.extend(_equal_part(model, allocation, i, rungs))
            if allocation.counts[i] > 0:
                found.extend(map(ask.under, compared, names))
            task.advance(done=task.total)
    except (OutOfTime, KeyboardInterrupt) as stop:
        raise stopped(stop, f"{len(found)} cases of the explanation are known", told()) from None
    return told()


class _Question:
    """What class i would run if ...; each answer is an allocation of the policy."""

    def __init__(self, allocation: AnyAllocation, policy: Any, i: int) -> None:
        self.model, self.policy, self.counts, self.i = allocation.model, policy, allocation.counts, i
        self.here = float(policy_tasks(self.model, policy, self.counts)[i])
        certified = offers(policy, "solve")
        self.noise = EXACT + 10 * allocation.certificate.residual if certified else UNKNOWN
        self.advance: Callable[[], None] = lambda: None

    def tasks(self, model: Model, counts: FloatArray | None = None, policy: Any = None) -> float:
        """Tasks of the class in another case."""
        self.advance()
        x = self.counts if counts is None else counts
        return float(policy_tasks(model, self.policy if policy is None else policy, x)[self.i])

    def case(self, kind: str, words: str, tasks: Callable[[], float], **more: Any) -> Case:
        """A case, or why it has no answer."""
        try:
            found = tasks()
        except OutOfTime:
            raise
        except (ModelError, NotConvergedError) as error:
            return Case(kind, words, np.nan, np.nan, refusal=str(error), **more)
        return Case(kind, words, found, found - self.here, **more)

    def then(self, model: Model, counts: FloatArray, policy: Any) -> tuple[str, ...]:
        """What stops the class in another case; nothing known if its evidence is not found."""
        self.advance()
        try:
            result = allocate(model, policy, counts)
        except NotConvergedError:
            return ()
        held = holdings(result)
        return tuple(dict.fromkeys(in_words(stop, held) for stop in stops(policy, result, held, self.i)))

    def altered(self) -> Iterator[Case]:
        """Cases without one of the constraints, with another weight, alone."""
        asked = self.model, self.counts, self.i, self.policy
        for other in (*alterations(*asked), *queue_alterations(*asked)):
            case = self.case(other.kind, other.words, lambda make=other.make: self.tasks(*make()))  # type: ignore[misc]
            yield case if case.refusal else replace(case, then=self.then(*other.make()))

    def capacity(self, server: int, resource: int) -> Iterator[Case]:
        """One unit more of a place, and one less, with the derivative to that side."""
        capacity = float(self.model.server_capacities[server, resource])
        amount, place = amount_of(capacity), self.model.place(server, resource)
        unit = "one unit" if amount == 1 else f"{amount:.4g} units"

        def at(added: float) -> float:
            return self.tasks(with_capacity(self.model, server, resource, added))

        for sign, kind in ((1.0, "more"), (-1.0, "less")):
            if sign < 0 and capacity < amount:
                continue
            words = f"with {unit} {kind} of {place}"
            case = self.case(kind, words, partial(at, sign * amount), place=place, amount=amount)
            if not case.refusal:
                error = self.noise * max(self.here, case.tasks)
                with suppress(ModelError, NotConvergedError):  # no derivative then, which is what NaN says
                    rate, known = one_sided_rate(at, self.here, capacity or amount, sign, error)
                    case = replace(case, rate=rate, rate_error=known)
                altered = with_capacity(self.model, server, resource, sign * amount)
                case = replace(case, then=self.then(altered, self.counts, self.policy))
            yield case

    def under(self, policy: Any, name: str) -> Case:
        """The same under another policy."""
        return self.case("policy", f"under {name}", lambda: self.tasks(self.model, policy=policy))


def _task(model: Model, i: int, places: int, others: int) -> Task:
    return Task(
        f"why {model.job_classes[i]} runs what it runs",
        SOLVES * places + others + 2 * model.n_resources + 6,
        "allocations",
        instead="lower places, or give fewer others",
    )


def _index(model: Model, job_class: str | int) -> int:
    names = model.job_classes
    if isinstance(job_class, str):
        if job_class in names:
            return names.index(job_class)
        raise ModelError.of("job_class", f"{job_class!r} is not in the model; {near(job_class, names)}")
    try:
        require_whole("job_class", job_class, 0)
    except ModelError:
        raise ModelError.of(
            "job_class", f"must be the name or the number of a class; got {job_class!r}"
        ) from None
    if job_class >= len(names):
        raise ModelError.of("job_class", f"= {job_class}, but the classes are numbered 0..{len(names) - 1}")
    return int(job_class)


def _asked(model: Model, allocation: AnyAllocation, policy: Any) -> Any:
    """The policy of the allocation, which gives it again."""
    asked = allocation.policy if policy is None else policy
    if asked is None:
        raise ModelError.of(
            "policy",
            f"is needed: explain asks it again about other cases, and no file could hold {allocation.name}, "
            "which made this allocation; give it",
        )
    again = policy_tasks(model, asked, allocation.counts)
    given = allocation.tasks
    if not np.allclose(again, given, rtol=SAME, atol=SAME * float(given.max(initial=0.0))):
        raise ModelError.of(
            "policy",
            f": {policy_name(asked)} gives {np.round(again, 6).tolist()} tasks, and the allocation has "
            f"{np.round(given, 6).tolist()}; give policy, the one that made it",
        )
    return asked


def _compared(model: Model, allocation: AnyAllocation, asked: Any) -> list[Any]:
    catalogue = CATALOGUE if isinstance(model, Problem) else CLUSTER_CATALOGUE
    # That of the leaves of a tree is asked about as "without queues".
    known = {allocation.name, getattr(getattr(asked, "policy", None), "name", None)}
    return [entry.policy for entry in catalogue if entry.name not in known]


def _places(allocation: AnyAllocation, model: Model, i: int) -> list[tuple[int, int]]:
    """Places by how much they have to do with class i; those that nobody needs are left out."""
    present = allocation.counts > 0
    held = allocation.placed[i][:, None] * model.server_shares[i]
    full, mine = allocation.saturated.reshape(held.shape), model.needs[i]
    rank = np.where(mine & full, 0, np.where(full, 1, np.where(mine, 2, 3)))
    order = np.lexsort((-held.ravel(), rank.ravel()))
    needed = model.needs[present].any(axis=0).ravel()
    return [(int(k) // model.n_resources, int(k) % model.n_resources) for k in order if needed[k]]


def _equal_part(model: Model, allocation: AnyAllocation, i: int, rungs: Sequence[Rung]) -> Iterator[Case]:
    """What its part by weight of everything would run, alone: the sharing incentive compares with it."""
    mass = allocation.counts * model.weights
    if allocation.counts[i] == 0 or np.count_nonzero(mass) < 2:
        return
    part = math.prod(rung.part for rung in rungs) if rungs else float(mass[i] / mass.sum())
    largest = model.server_shares[i][model.runs[i]].max(axis=1)
    alone = np.divide(1.0, largest, out=np.full_like(largest, np.inf), where=largest > 0).sum()
    tasks = float(min(model.most_tasks(allocation.counts)[i], part * alone))
    words = f"with {100 * part:.3g} % of everything for itself"
    yield Case("equal part", words, tasks, tasks - float(allocation.tasks[i]), amount=part)
