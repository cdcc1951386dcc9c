r"""The properties once more, in fractions and for a whole box of allocations.

Each function here states one property from its definition and returns the largest violation that is certain:
it holds for *every* allocation between the lower and the upper bounds :math:`\underline x \le x \le
\overline x` of a :class:`Situation`. With :math:`b_{nir}` as in :mod:`fairness.properties.exact.rational`,
totals :math:`T_n`, weights :math:`w_n` of sum W and :math:`e_n = \sum_i \gamma_{ni}` tasks alone, a
property fails when

- *sharing incentive*: :math:`\overline T_n < e_n w_n/W` for some n;
- *envy-freeness*:
  :math:`\overline T_n < \frac{w_n}{w_p}\sum_i\min_r \underline x_{pi} b_{pir}/b_{nir}` for some n and p;
- *Pareto efficiency*: a feasible placement has :math:`T' \ge \overline T`, somewhere greater;
- *(group) strategy-proofness*: the true tasks that every liar runs with what it is given are
  :math:`\ge \overline T_n`, for one of them greater;
- *population and resource monotonicity*: a class has :math:`\overline T'_n < \underline T_n` after others
  left, or with more capacity;
- *scale invariance*: a class has other tasks in other units;
- *dynamic sharing incentive*: :math:`\overline T'_n < e_n w_n/W` among those who have joined;
- *hierarchical share guarantee*: :math:`\overline T_n < g_n e_n`, with :math:`g_n` the product of weight
  over the sum of the siblings' weights up the tree, or on a pool a queue holds less than :math:`g_v` of every
  resource;
- *single-resource and bottleneck fairness*: a feasible placement gives one class more while nobody loses who
  holds as much or less, by weight, of the only resource (or of the one that is dominant for everybody).

What a liar is given are the resources of the tasks that it claimed (Khamse-Ashari et al., arXiv:1611.00404,
eq. 1), under time division too. With the whole server in its time it could run more: with
:math:`x'/\gamma'` of the time :math:`\gamma x'/\gamma'` tasks, and
:math:`\gamma/\gamma' \ge \min_r d'_r/d_r` (take the r that attains :math:`\gamma`). So what is confirmed here
is a gain in either reading.

Where a better placement is needed, a float solver proposes one; it is made rational and verified here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fairness.properties.exact.rational import RationalModel, Row, Rows, vertex
from fairness.properties.exact.servers import totals
from fairness.properties.exact.situations import NONE, Claim, Situation, less, shown, worst
from fairness.properties.protocol.property import Change

__all__ = ["COMPARISONS", "JUDGEMENTS", "legal"]


Judgement = Callable[[Situation], Claim]
Comparison = Callable[[Situation, Change, Situation], Claim]


def sharing_incentive(now: Situation) -> Claim:
    """Nobody has less than its part of everything would give."""
    return _shortfalls(now, now, range(len(now.job_classes)), "{0} of everything, alone,")


def envy_freeness(now: Situation) -> Claim:
    """Nobody would run more tasks with the scaled bundle of another."""
    model, claims = now.model, []
    for n, own in enumerate(now.most):
        for p, held in enumerate(now.lower):
            if n != p:
                ratio = model.weights[n] / model.weights[p]
                times = f", times {shown(ratio)}," if ratio != 1 else ""
                swapped = sum(
                    (
                        ratio * held[i] * _exchange(model.shares[p][i], model.shares[n][i])
                        for i, alone in enumerate(model.gamma[n])
                        if alone > 0
                    ),
                    Fraction(0),
                )
                claims.append(
                    less(
                        own,
                        swapped,
                        f"{now.job_classes[n]} runs {now.tasks(n)} tasks; with what {now.job_classes[p]} "
                        f"holds{times} it would run {shown(swapped)}",
                    )
                )
    return worst(claims)


def pareto_efficiency(now: Situation) -> Claim:
    """Nobody can be given more without a loss of another."""
    better = _placement(now.model, dict(enumerate(now.most)), [1 / v if v > 0 else v for v in now.alone])
    if better is None:
        return NONE
    return worst(
        [
            less(
                now.most[n],
                tasks,
                f"{now.job_classes[n]} runs {now.tasks(n)} tasks; {_in_words(now, better)} would give it "
                f"{shown(tasks)} and nobody less",
            )
            for n, tasks in enumerate(totals(better))
        ]
    )


def strategy_proofness(now: Situation, change: Change, after: Situation) -> Claim:
    """A liar does not gain."""
    if len(change.users) > 1:
        return Claim(Fraction(0), "strategy-proofness is about one liar")
    return group_strategy_proofness(now, change, after)


def group_strategy_proofness(now: Situation, change: Change, after: Situation) -> Claim:
    """No liar gains unless another liar loses."""
    gains, texts = [], []
    for n in change.users:
        true = _true_tasks(now, after, n)
        gains.append(less(now.most[n], true, "").violation)
        texts.append(
            f"{now.job_classes[n]} runs {now.tasks(n)} tasks; with what the lie gives it, {shown(true)}"
        )
    return Claim(min(gains) if min(gains) < 0 else max(gains), "; ".join(texts))


def monotonicity(now: Situation, change: Change, after: Situation) -> Claim:
    """Nobody loses when others leave, or when there is more."""
    stay = [n for n in range(len(now.job_classes)) if n not in change.users]
    return worst(
        [
            less(
                after.most[k],
                now.least[n],
                f"{now.job_classes[n]} runs {now.tasks(n)} tasks before and {after.tasks(k)} after",
            )
            for k, n in enumerate(stay)
        ]
    )


def scale_invariance(now: Situation, change: Change, after: Situation) -> Claim:
    """Other units of resources and tasks change nothing."""
    factors: Any = getattr(change, "tasks", None)
    claims = []
    for n, name in enumerate(now.job_classes):
        unit = Fraction(factors[n])
        text = (
            f"{name} runs {now.tasks(n)} tasks; in the other units {after.tasks(n)}, each {shown(unit)} "
            "times as large"
        )
        claims.append(less(unit * after.most[n], now.least[n], text))
        claims.append(less(now.most[n], unit * after.least[n], text))
    return worst(claims)


def dynamic_sharing_incentive(now: Situation, change: Change, after: Situation) -> Claim:
    """Nobody who has joined has less than what it brought would give."""
    return _shortfalls(now, after, change.users, "what it brought, {0} of all,")


def single_resource_fairness(now: Situation) -> Claim:
    """With one resource, the amounts of it are max-min fair."""
    if len(now.model.demands[0]) != 1:
        return Claim(Fraction(0), "there is more than one resource")
    return bottleneck_fairness(now)


def bottleneck_fairness(now: Situation) -> Claim:
    """If one resource bounds the tasks of everybody alone everywhere, its amounts are max-min fair."""
    model = now.model
    for r in range(len(model.demands[0])):
        if all(
            alone == 0 or model.capacities[i][r] == alone * model.demands[n][r]
            for n, row in enumerate(model.gamma)
            for i, alone in enumerate(row)
        ):
            return _unfair(now, [row[r] for row in model.demands])
    return Claim(Fraction(0), "no resource is dominant for all")


def hierarchical_share_guarantee(now: Situation) -> Claim:
    """No class and no queue has less than its part, by weights down the tree, of what it could have alone."""
    branches = _branches(now)
    claims = []
    for n, branch in branches.items():
        part = Fraction(1)
        for depth, (name, weight) in enumerate(branch):
            siblings = {other[depth] for other in branches.values() if other[:depth] == branch[:depth]}
            part *= weight / sum(w for _, w in siblings)
            if depth < len(branch) - 1 and len(now.servers) == 1:
                below = [k for k, other in branches.items() if other[: depth + 1] == branch[: depth + 1]]
                columns = zip(
                    *([now.most[k] * b for b in now.model.shares[k][0]] for k in below), strict=True
                )
                held = max(sum(column, Fraction(0)) for column in columns)
                text = f"{name} holds at most {shown(held)} of a resource; its part is {shown(part)}"
                claims.append(less(held, part, text))
        alone = now.alone[n]
        text = (
            f"{now.job_classes[n]} runs {now.tasks(n)} tasks; {shown(part)} of what it would run alone is "
            f"{shown(part * alone)}"
        )
        claims.append(less(now.most[n], part * alone, text))
    return worst(claims)


def _branches(now: Situation) -> dict[int, list[tuple[str, Fraction]]]:
    """For every class that can run: names and weights of the queues above it, from the top, and its own."""
    found = {}
    for n, name in enumerate(now.job_classes):
        branch = [(name, now.model.weights[n])]
        v = 0 if now.tree is None else int(now.tree.class_nodes[now.tree.job_classes.index(name)])
        while now.tree is not None and v > 0:
            branch.insert(0, (now.tree.path(v), Fraction(float(now.tree.weights[v]))))
            v = int(now.tree.parents[v])
        if now.alone[n] > 0:
            found[n] = branch
    return found


JUDGEMENTS: dict[str, Judgement] = {
    "sharing incentive": sharing_incentive,
    "envy-freeness": envy_freeness,
    "Pareto efficiency": pareto_efficiency,
    "single-resource fairness": single_resource_fairness,
    "bottleneck fairness": bottleneck_fairness,
    "hierarchical share guarantee": hierarchical_share_guarantee,
}
"""Properties of one allocation, by name."""

COMPARISONS: dict[str, tuple[str, Comparison]] = {
    "strategy-proofness": ("lie", strategy_proofness),
    "group strategy-proofness": ("lie", group_strategy_proofness),
    "population monotonicity": ("leave", monotonicity),
    "resource monotonicity": ("add capacity", monotonicity),
    "scale invariance": ("units", scale_invariance),
    "dynamic sharing incentive": ("join", dynamic_sharing_incentive),
}
"""Properties that compare two allocations, by name, with the kind of change between them."""


def legal(now: Situation, change: Change, after: Situation) -> bool:
    """Whether the model after a change differs from the one before only as a change of its kind may."""
    a, b = now.model, after.model
    everybody = list(range(len(now.job_classes)))
    stay = everybody
    if change.kind == "leave":
        stay = [n for n in everybody if n not in change.users]
    elif change.kind == "join":
        stay = list(change.users)
    if b.weights != [a.weights[n] for n in stay]:
        return False
    part = sum(b.weights) / sum(a.weights) if change.kind == "join" else Fraction(1)
    units = [Fraction(v) for v in getattr(change, "tasks", ())] or [Fraction(1)] * len(stay)
    for k, n in enumerate(stay):
        if change.kind == "lie" and n in change.users:
            continue
        for i, server in enumerate(now.servers):
            alone = a.gamma[n][i]
            if server not in after.servers:
                # Servers drop out when nobody can use them.
                if alone > 0:
                    return False
                continue
            j = after.servers.index(server)
            if change.kind == "add capacity":
                more = all(new >= c for new, c in zip(b.capacities[j], a.capacities[i], strict=True))
                same = more and b.demands[k] == a.demands[n] and b.gamma[k][j] >= alone
            else:
                scaled = [v * units[k] / part for v in a.shares[n][i]]
                same = b.gamma[k][j] == alone * part / units[k] and b.shares[k][j] == scaled
            if not same:
                return False
    return True


def _exchange(held: Row, needed: Row) -> Fraction:
    """Tasks that can be run with the shares that one task of another class holds."""
    return min(h / need for h, need in zip(held, needed, strict=True) if need > 0)


def _true_tasks(now: Situation, after: Situation, n: int) -> Fraction:
    """True tasks that a liar runs with what it is given after the lie, where it may truly run."""
    true, claimed = (replace(one.model, division="resource").shares[n] for one in (now, after))
    total = Fraction(0)
    for k, server in enumerate(after.servers):
        i = now.servers.index(server)
        if now.model.gamma[n][i] > 0 and after.model.gamma[n][k] > 0:
            total += after.lower[n][k] * _exchange(claimed[k], true[i])
    return total


def _shortfalls(now: Situation, after: Situation, users: Sequence[int], source: str) -> Claim:
    """What users run, below what the source of their own, a part of everything by weight, would give."""
    claims = []
    for k, n in enumerate(users):
        part, alone = now.model.weights[n] / sum(now.model.weights), now.alone[n]
        claims.append(
            less(
                after.most[k],
                part * alone,
                f"{now.job_classes[n]} runs {after.tasks(k)} tasks; {source.format(shown(part))} would run "
                f"{shown(part)} x {shown(alone)} = {shown(part * alone)}",
            )
        )
    return worst(claims)


def _unfair(now: Situation, amounts: Row) -> Claim:
    """Whether a class can be given more while nobody of the same or a lower level loses."""
    scale = [a / w for a, w in zip(amounts, now.model.weights, strict=True)]
    claims = []
    for n, top in enumerate(now.most):
        floors = {
            p: value
            for p, value in enumerate(now.most)
            if p == n or now.least[p] * scale[p] <= top * scale[n]
        }
        better = _placement(now.model, floors, [Fraction(int(p == n)) for p in range(len(scale))])
        if better is not None:
            tasks = totals(better)[n]
            claims.append(
                less(
                    top,
                    tasks,
                    f"{now.job_classes[n]} runs {now.tasks(n)} tasks; {_in_words(now, better)} would give it "
                    f"{shown(tasks)}, and no class of the same or a lower level would lose",
                )
            )
    return worst(claims)


def _placement(model: RationalModel, floors: dict[int, Fraction], gains: Row) -> Rows | None:
    """A feasible placement with at least so many tasks and the most gains in sight; None if none is found."""
    n, s, m = model.sizes
    places = [(k, i) for k in range(n) for i in range(s) if model.gamma[k][i] > 0]
    # Variables are parts of what the class would run alone, so that all are of one size.
    constraints = [
        (
            [model.gamma[k][i] * model.shares[k][i][r] if i == j else Fraction(0) for k, i in places],
            Fraction(1),
        )
        for j in range(s)
        for r in range(m)
    ]
    constraints += [
        ([-model.gamma[k][i] / total if k == p else Fraction(0) for k, i in places], -floor / total)
        for p, floor in floors.items()
        if (total := sum(model.gamma[p])) > 0
    ]
    found = vertex([gains[k] * model.gamma[k][i] for k, i in places], constraints)
    if found is None:
        return None
    result = [[Fraction(0) for _ in range(s)] for _ in range(n)]
    for (k, i), value in zip(places, found, strict=True):
        result[k][i] = value * model.gamma[k][i]
    tasks = totals(result)
    kept = all(tasks[p] >= floor for p, floor in floors.items())
    return result if kept and model.misfit(result) is None else None


def _in_words(now: Situation, placement: Rows) -> str:
    rows = (
        name + ": " + (shown(row[0]) if len(row) == 1 else "(" + ", ".join(map(shown, row)) + ")")
        for name, row in zip(now.job_classes, placement, strict=True)
    )
    return "the allocation " + ", ".join(rows)
