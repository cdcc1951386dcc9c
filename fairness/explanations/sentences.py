"""An explanation in sentences: plain English, each with its number and unit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fairness.display.wording import (
    NAMED,
    capital,
    listed,
    many,
    named,
    noted,
    number_of_tasks,
    percent,
    said,
    units,
)
from fairness.evidence.pools import SATURATION
from fairness.explanations.queues import Rung
from fairness.explanations.records import VISIBLE, Case, Stop
from fairness.explanations.resource_use import Holdings
from fairness.results.any_allocation import AnyAllocation
from fairness.results.cluster_allocation import ClusterAllocation

__all__ = ["in_words", "sentences"]

JUMP, FIRST_BIT = 1e-2, 1e-1
"""Relative differences that are told: of the rates to both sides, of a unit and the rate at its beginning."""


def sentences(
    allocation: AnyAllocation,
    held: Holdings,
    i: int,
    stops: Sequence[Stop],
    cases: Sequence[Case],
    choice: str,
    unasked: int,
    way: Sequence[Rung],
) -> list[str]:
    """Heading and sentences."""
    teller = _Teller(allocation, held, i, stops)
    lines = [
        teller.heading(),
        *teller.stopped(stops),
        *teller.queues(way),
        *teller.capacities(cases, unasked),
    ]
    lines += [*teller.constraints(cases), *teller.compared(cases), *([choice] if choice else [])]
    return [*lines, f"{allocation.name}: {allocation.certificate}"]


class _Teller:
    """Sentences about one class of an allocation."""

    def __init__(self, allocation: AnyAllocation, held: Holdings, i: int, stops: Sequence[Stop]) -> None:
        self.allocation, self.held, self.i = allocation, held, i
        self.name, self.tasks = held.job_classes[i], float(allocation.tasks[i])
        self.now = {in_words(stop, held) for stop in stops}

    def heading(self) -> str:
        return f"Why {self.name} runs {number_of_tasks(self.tasks)} under {self.allocation.name}"

    # --- what stops it ----------------------------------------------------------------------------------

    def stopped(self, stops: Sequence[Stop]) -> Iterator[str]:
        first = stops[0]
        if first.cause == "no job":
            yield "It has no job, so it gets nothing."
            return
        if first.cause == "no capacity":
            yield f"It needs {listed([s.resource for s in stops])}, of which there is nothing."
            return
        if first.cause == "policy":
            yield f"Nothing that the model knows stops it: {self._room()}. It was the policy that chose so."
            return
        for stop in stops:
            if stop.cause == "limit":
                yield f"Its limit stops it: {said(stop.value)} is the most that its jobs can run."
            elif stop.cause == "maximum":
                yield f"The maximum of {stop.queue} stops it: {said(stop.value)} of {stop.resource}."
            elif stop.cause == "reserve":
                kept = f"{said(stop.value)} of {stop.resource}, guaranteed and not lent"
                yield f"What is kept for {stop.queue} stops it: {kept}."
        places = [stop for stop in stops if stop.cause == "resource"]
        rows = [[stop] for stop in places]
        if len(places) > NAMED:  # one sentence for a resource, whatever its servers
            rows = [
                [stop for stop in places if stop.resource == name]
                for name in dict.fromkeys(s.resource for s in places)
            ]
        for k, row in enumerate(rows[:NAMED]):
            yield self._full(row, k > 0 or first.cause != "resource")
        if rest := rows[NAMED:]:
            yield f"It is also stopped by {named([row[0].resource for row in rest], 'other resources')}."
        yield from self._notion(places)
        model = self.allocation.model
        if shut := [model.server_names[s] for s in np.flatnonzero(~model.runs[self.i])]:
            yield f"It cannot run on {named(shut, 'other servers')}."

    def _full(self, row: Sequence[Stop], also: bool) -> str:
        """A full resource, on one server or on several together."""
        hosts = [self.held.servers.index(stop.server) for stop in row]
        r = self.held.resources.index(row[0].resource)
        by = "It is also stopped by" if also else "It is stopped by"
        where = self._place(row[0])
        if len(row) > 1:
            where = f"{row[0].resource} on {len(row)} of {len(self.held.servers)} servers"
        use = (
            "all of it is taken" if self.held.in_time else units(float(self.held.capacities[hosts, r].sum()))
        )
        return f"{by} {where}: {use}. {self._holders(hosts, r)}"

    def _holders(self, hosts: Sequence[int], r: int) -> str:
        units = self.held.units[:, hosts, r].sum(axis=1)
        parts = units / self.held.capacities[hosts, r].sum()
        order = [int(p) for p in np.argsort(-parts, kind="stable") if p != self.i and parts[p] > SATURATION]
        first = NAMED + 1 if len(order) == NAMED + 1 else NAMED
        told = [
            f"{self.held.job_classes[p]} {'' if k else 'holds '}{self._amount(units[p], parts[p])}"
            for k, p in enumerate(order[:first])
        ]
        if rest := order[first:]:
            told.append(f"{len(rest)} others together {self._amount(units[rest].sum(), parts[rest].sum())}")
        if not told:
            return f"{self.name} alone holds it."
        own = f"{self.name} itself {self._amount(units[self.i], parts[self.i])}"
        return f"{', '.join(told)}, {own}."

    def _amount(self, units: float, part: float) -> str:
        return percent(part) if self.held.in_time else f"{said(units)} ({percent(part)})"

    def _notion(self, stops: Sequence[Stop]) -> Iterator[str]:
        known = [stop for stop in stops if stop.measure]
        if not known:
            return
        first, policy = known[0], self.allocation.name
        if first.measure.startswith("part of its"):
            bill = first.measure.removeprefix("part of ")
            paid = [f"{percent(stop.value)} to {self._place(stop)}" for stop in known[:NAMED]]
            paid[0] = f"{percent(first.value)} of {bill} goes to {self._place(first)}"
            rest = sum(stop.value for stop in known[NAMED:])
            paid += [f"{percent(rest)} to the others"] * (len(known) > NAMED)
            # What is missing pays for the limit of the class.
            kept = 1.0 - sum(stop.value for stop in known)
            paid += [f"{percent(kept)} to its limit"] * (kept > 1e-6)
            yield f"At the prices of {policy} {listed(paid)}."
            return
        values = [stop.value for stop in known]
        if first.measure.startswith("share"):
            held = [f"{said(stop.value)} of {self._place(stop)}" for stop in known[:NAMED]]
            rule = "nobody has a larger one"
            what = f"Its share per job and weight is {listed(held)}"
        elif max(values) - min(values) <= VISIBLE * max(values):
            rule = self._rule(first, listed([self._place(stop) for stop in known[:NAMED]], "or"))
            what = f"{policy} compares {first.measure}: it stands at {said(first.value)}"
        else:
            levels: dict[str, list[str]] = {}
            for stop in known:
                levels.setdefault(said(stop.value), []).append(stop.server)
            rule = self._rule(first, "what stops it")
            held = [f"{v} on {named(list(dict.fromkeys(on)), 'other servers')}" for v, on in levels.items()]
            what = f"{policy} compares {first.measure}: it stands at {named(held, 'other levels')}"
        together = list(dict.fromkeys(name for stop in known for name in stop.together))
        equal = f"; {named(together)} stopped there, too" if together else ""
        yield f"{what}, and {rule}{equal}."

    def _rule(self, stop: Stop, where: str) -> str:
        """What makes a full resource stop a class, by the measure."""
        if stop.measure.startswith("virtual"):
            return f"nobody who holds some of {where} stands higher"
        if isinstance(self.allocation, ClusterAllocation) and self.allocation.levels is not None:
            return "no placement raises it without lowering one that stands no higher"
        return f"nobody who needs {where} stands higher"

    def queues(self, way: Sequence[Rung]) -> Iterator[str]:
        """Where its queues stand, from the root down."""
        if way:
            told = [
                f"{rung.name} is due {percent(rung.part)} of {rung.parent} by weight and holds "
                f"{percent(rung.share)} of {rung.resource}"
                for rung in way
            ]
            yield f"{'; '.join(told)}."
        needed = {self.held.resources[r] for r in np.flatnonzero(self.held.demanded[self.i].any(axis=0))}
        bounds = [(rung.name, *bound) for rung in way for bound in rung.guaranteed if bound[0] in needed]
        for name, resource, least, used, why in bounds[:NAMED]:
            less = f": {why}" * bool(why)
            yield f"{name} is guaranteed {said(least)} of {resource} and uses {said(used)}{less}."

    def _room(self) -> str:
        """How many more tasks would fit with all others as they are."""
        model = self.allocation.model
        shares = model.server_shares[self.i]
        free = 1.0 - self.allocation.utilization.reshape(shares.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            fits = np.where(shares > 0, np.maximum(free, 0.0) / shares, np.inf).min(axis=-1)
        ends = np.isfinite(fits)
        limit = model.most_tasks(self.allocation.counts)[self.i] - self.tasks
        more = float(min(fits[ends].sum() if ends.any() else np.inf, limit))
        return f"there is room for {number_of_tasks(more)} more"

    def _place(self, stop: Stop) -> str:
        return in_words(stop, self.held)

    # --- what would change it ---------------------------------------------------------------------------

    def capacities(self, cases: Sequence[Case], unasked: int) -> Iterator[str]:
        pairs: dict[str, dict[str, Case]] = {}
        for case in cases:
            if case.place:
                pairs.setdefault(case.place, {})[case.kind] = case
        moving = {place: pair for place, pair in pairs.items() if any(map(self._visible, pair.values()))}
        order = sorted(moving, key=lambda p: -self._reach(moving[p]))
        groups: dict[tuple[str, ...], list[str]] = {}
        for place in order:
            alike = tuple(
                f"{c.kind} {c.amount} {c.change:.6g} {c.refusal[:9]}" for c in moving[place].values()
            )
            groups.setdefault(alike, []).append(place)
        told = list(groups.values())
        for places in told[:NAMED]:
            others = f" (or of {many(len(places) - 1, 'other place')} alike)" if len(places) > 1 else ""
            yield self._pair(f"{places[0]}{others}", moving[places[0]])
        if rest := [place for places in told[NAMED:] for place in places]:
            largest = max(self._reach(moving[place]) for place in rest)
            yield f"A unit of {named(rest, 'other places')} would change it by {said(largest)} at most."
        if still := [place for place in pairs if place not in moving]:
            one = all(case.amount == 1 for place in still for case in pairs[place].values())
            little, where = "One unit" if one else "A little", named(still, "other places")
            yield f"{little} more or less of {where} would change nothing."
        if unasked:
            yield f"{many(unasked, 'more place')} {'was' if unasked == 1 else 'were'} not asked about."

    def _reach(self, pair: dict[str, Case]) -> float:
        """The largest change of a place."""
        return max((abs(case.change) for case in pair.values() if not case.refusal), default=0.0)

    def _pair(self, place: str, pair: dict[str, Case]) -> str:
        told: list[str] = []
        jump = self._jump(pair)
        for kind, case in pair.items():
            unit = "one" if case.amount == 1 else said(case.amount)
            noun = "unit" if case.amount == 1 else "units"
            what = f"with {unit} {kind}" if told else f"with {unit} {kind} {noun} of {place} it would run"
            if case.refusal:
                told.append(f"with {unit} {kind} there is no allocation: {case.refusal.partition('; ')[0]}")
            elif not self._visible(case):
                told.append(f"{what} as many as now")
            else:
                more = f"{said(abs(case.change))} {'more' if case.change > 0 else 'fewer'}"
                notes = [*self._first_bit(case, bool(jump)), *self._then(case)]
                told.append(f"{what} {more}{noted(notes)}")
        return f"{capital('; '.join(told))}.{jump}"

    def _first_bit(self, case: Case, jump: bool) -> Iterator[str]:
        """The rate, where the change of a whole unit is not that and no jump tells it."""
        first = case.rate * (1 if case.kind == "more" else -1)
        whole = first * case.amount
        if jump or not np.isfinite(whole):
            return
        if abs(whole - case.change) > FIRST_BIT * max(abs(whole), abs(case.change)):
            yield f"{said(first, sign=True)} a unit at first" if first else "not from the first bit on"

    def _then(self, case: Case) -> Iterator[str]:
        """What stops the class then, if that is something else."""
        if new := [place for place in case.then if place not in self.now]:
            yield f"then stopped by {named(new)}"
        elif case.then and set(case.then) != self.now:
            gone = sorted(self.now - set(case.then))
            few = len(case.then) <= 2
            yield (
                f"then stopped by {listed(case.then)} alone"
                if few
                else f"then no more stopped by {named(gone)}"
            )

    def _jump(self, pair: dict[str, Case]) -> str:
        if any(not np.isfinite(case.rate) and not case.refusal for case in pair.values()):
            return " A jump or a breakpoint lies so close that there is no rate."
        if len(pair) < 2 or any(case.refusal for case in pair.values()):
            return ""
        up, down = (case.rate for case in pair.values())
        if abs(up - down) <= max(JUMP * max(abs(up), abs(down)), sum(c.rate_error for c in pair.values())):
            return ""
        return f" Here the rate jumps: {said(up)} a unit upwards, {said(down)} downwards."

    def constraints(self, cases: Sequence[Case]) -> Iterator[str]:
        kinds = ("weight", "demand", "limit", "servers", "jobs")
        told = [case for case in cases if case.kind in kinds and not case.refusal]
        lacking = sorted((c for c in told if c.kind == "demand"), key=lambda c: -abs(c.change))
        short = lacking[NAMED:] if len(lacking) > NAMED + 1 else []
        told = [case for case in told if case not in short]
        rest = [f"without any other demand {self._at_most(short)}"] if short else []
        yield from self._run(told, rest)
        yield from self._run([case for case in cases if case.kind == "queue" and not case.refusal], [])
        for case in cases:
            if case.kind == "demand" and "demands nothing" in case.refusal:
                yield f"{capital(case.words)} it would demand nothing, and have no end."
            elif case.kind == "servers" and case.refusal:
                yield "What it would run on other servers is not known: gamma is given."
            elif case.kind in (*kinds, "queue") and case.refusal:
                yield f"{capital(case.words)}: {case.refusal}."

    def _run(self, cases: Sequence[Case], rest: Sequence[str]) -> Iterator[str]:
        """What it would run in several cases, as one sentence."""
        if cases:
            words = cases[0].words
            first, *others = (self._without(case) for case in cases)
            told = [first.replace(words, f"{words} it would run", 1), *others, *rest]
            yield f"{capital('; '.join(told))}."

    def _at_most(self, cases: Sequence[Case]) -> str:
        largest = max(cases, key=lambda case: abs(case.change))
        return (
            f"{said(abs(largest.change))} more or fewer at most"
            if self._visible(largest)
            else "as many as now"
        )

    def _without(self, case: Case) -> str:
        if not self._visible(case):
            return f"{case.words} as many as now"
        return f"{case.words} {said(case.tasks)}{noted([said(case.change, sign=True), *self._then(case)])}"

    def compared(self, cases: Sequence[Case]) -> Iterator[str]:
        for case in cases:
            if case.kind == "equal part":
                part = f"With its part by weight ({percent(case.amount)} of everything) for itself"
                yield f"{part} it would run {said(case.tasks)}: {self._against(case.tasks)}."
            elif case.kind == "alone":
                yield f"Alone it would run {said(case.tasks)}."
        others = [case for case in cases if case.kind == "policy"]
        answered = [
            f"{case.words.removeprefix('under ')} {said(case.tasks)}" for case in others if not case.refusal
        ]
        if answered:
            yield f"Under other policies: {', '.join(answered)}."
        if refused := [case.words.removeprefix("under ") for case in others if case.refusal]:
            yield f"Not for this model: {listed(refused)}."

    def _against(self, part: float) -> str:
        if abs(self.tasks - part) <= VISIBLE * max(self.tasks, part):
            return "just what it has"
        if part == 0:
            return "it has more than that"
        if self.tasks == 0:
            return "it has nothing"
        return f"it has {'only ' * (self.tasks < part)}{said(self.tasks / part)} times that"

    def _visible(self, case: Case) -> bool:
        return bool(abs(case.change) > VISIBLE * max(self.tasks, case.tasks))


def in_words(stop: Stop, held: Holdings) -> str:
    """What stops a class, in a word or two: the place, "its limit", "the policy"."""
    if stop.cause == "maximum":
        return f"the maximum of {stop.queue}"
    if stop.cause == "reserve":
        return f"{stop.resource} that is kept for {stop.queue}"
    if stop.cause in ("limit", "no job", "policy"):
        return {"limit": "its limit", "no job": "having no job", "policy": "the policy"}[stop.cause]
    return held.place(held.servers.index(stop.server), held.resources.index(stop.resource))
