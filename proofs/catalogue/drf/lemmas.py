"""Why asset fairness, equal incomes (CEEI) and DRF have the properties that they have, step by step.

Capacities are 1 and demands are positive. Each policy has a short description, which the proofs start from:
under DRF all dominant shares are equal, under asset fairness all sums of shares are, and in both some
resource is full; under CEEI everybody spends an income of 1 at prices that are positive only for resources
that are sold out. Users and resources are written out for the sizes asked for; the argument is the same for
all sizes. The arguments are those of A. Ghodsi et al., "Dominant Resource Fairness: Fair Allocation of
Multiple Resource Types", NSDI 2011.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.texts import each, signs, total
from proofs.claims import InWords, Step
from proofs.statement import Question

__all__ = [
    "asset_envy",
    "ceei_bottleneck",
    "ceei_envy",
    "ceei_pareto",
    "ceei_sharing",
    "ceei_single",
    "drf_bottleneck",
    "drf_envy",
    "drf_sharing",
    "filled_pareto",
    "filled_population",
    "filled_single",
    "truthful_steps",
]


def _users(question: Question) -> range:
    return range(1, question.sizes["n"] + 1)


def _resources(question: Question) -> range:
    return range(1, question.sizes["m"] + 1)


def _bought(question: Question) -> Step:
    """What costs at most 1 is no better than what an income of 1 buys."""
    held = {"income": "x*P == 1", "tasks": "x > 0", "cost": "y*P <= 1"}
    held |= signs(not_negative="P y")
    return Step("Who spends an income of 1 could not afford more tasks.", question.implies(held, "y <= x"))


def _income(question: Question) -> Step:
    """The prices of resources of capacity 1 add up to the number of users."""
    n, m = _users(question), _resources(question)
    spent = {f"income {i}": total(f"p@*h{i}@", m) + " == 1" for i in n}
    sold = {f"sold out {j}": f"p{j}*(1 - " + " - ".join(f"h{i}{j}" for i in n) + ") == 0" for j in m}
    held = spent | sold
    held |= signs(not_negative=" ".join([*(f"p{j}" for j in m), *(f"h{i}{j}" for i in n for j in m)]))
    return Step(
        "All income is spent on all resources.", question.implies(held, f"{total('p@', m)} == {len(n)}")
    )


def ceei_sharing(question: Question) -> Iterator[Step]:
    """Sharing incentive: an equal part of everything is affordable."""
    m, n = _resources(question), question.sizes["n"]
    part = each("part", f"{n}*y*a@ <= 1", m) | each("price", "p@ >= 0", m)
    held = part | {
        "cost of a task": f"P == {total('p@*a@', m)}",
        "incomes": f"{total('p@', m)} == {n}",
        **signs("y", " ".join(f"a{j}" for j in m)),
    }
    yield _income(question)
    yield Step("An equal part of every resource costs at most 1.", question.implies(held, "y*P <= 1"))
    yield _bought(question)


def drf_sharing(question: Question) -> Iterator[Step]:
    """Sharing incentive: of the full resource somebody holds at least 1/n."""
    n = _users(question)
    held = {"full": f"{total('h@', n)} == 1", **each("level", "h@ <= s", n)}
    held |= each("held", "h@ >= 0", n) | {"share": "s >= 0"}
    own = {"level": "x*d == s", "demand": "d > 0", "part": f"{len(n)}*y*d <= 1"}
    yield Step("Of a full resource somebody holds at least 1/n.", question.implies(held, f"{len(n)}*s >= 1"))
    yield Step(
        "With that dominant share one runs at least what 1/n of all runs.",
        question.implies(own | {"enough": f"{len(n)}*s >= 1"} | signs(not_negative="x y"), "y <= x"),
    )


def truthful_steps(question: Question, policy: str) -> Iterator[Step]:
    """A lie that pays under "drf" or "asset" makes everybody hold more, also of the resource that is full."""
    others = range(2, question.sizes["n"] + 1)
    if policy == "drf":
        own = {"covers": "u*d <= h", "claim": "h <= t", "level": "x*d == s", "demand": "d > 0"}
    else:
        m = _resources(question)
        own = each("covers", "u*d@ <= h@", m) | each("demand", "d@ > 0", m)
        own |= {"claim": f"{total('h@', m)} == t", "level": f"x*({total('d@', m)}) == s"}
    other = {"demand": "d > 0", "level": "y*d == s", "level later": "z*d == t"}
    full = {
        "full": f"x1*a1 + {total('x@*a@', others)} == 1",
        "feasible": f"H + {total('z@*a@', others)} <= 1",
        "covers": "u*a1 <= H",
        **each("demand", "a@ > 0", [1, *others]),
    }
    grown = each("grown", "z@ > x@", others) | each("tasks", "x@ >= 0", [1, *others])
    grown |= signs(not_negative="H u")
    yield Step(
        "Only lies that claim something of every resource need a look.",
        InWords("Who claims 0 of a resource gets nothing of it, and each of her tasks needs some of it."),
    )
    yield Step(
        "If the lie pays, u > x, then the level of the liar and so of all rises.",
        question.implies(own | {"pays": "u > x"}, "t > s"),
    )
    yield Step(
        "At a higher level every other user runs more.", question.implies(other | {"risen": "t > s"}, "z > y")
    )
    yield Step(
        "So a lie that pays would overfill the resource that was full.",
        question.implies(full | grown, "u <= x1"),
    )


def asset_envy(question: Question) -> Iterator[Step]:
    """Envy-freeness: all bundles have the same sum of shares."""
    m = _resources(question)
    held = each("covers", "y*d@ <= h@", m) | each("demand", "d@ > 0", m)
    held |= {"level other": f"{total('h@', m)} == t", "level own": f"x*({total('d@', m)}) == t"}
    sensible = signs("x", " ".join(["y", *(f"h{j}" for j in m)]))
    yield Step(
        "No bundle of the same sum runs more tasks.", question.implies(held | sensible, "y <= x"), states=True
    )


def ceei_envy(question: Question) -> Iterator[Step]:
    """Envy-freeness: everybody could have bought any other bundle."""
    m = _resources(question)
    held = each("covers", "y*a@ <= h@", m) | each("price", "p@ >= 0", m)
    held |= {"income other": f"{total('p@*h@', m)} == 1"}
    cost = {"cost of a task": f"P == {total('p@*a@', m)}"}
    cost |= signs(" ".join(f"a{j}" for j in m), " ".join(["y", *(f"h{j}" for j in m)]))
    yield Step("Tasks that another's bundle runs cost at most 1.", question.implies(held | cost, "y*P <= 1"))
    yield _bought(question)


def drf_envy(question: Question) -> Iterator[Step]:
    """Envy-freeness: all have the same dominant share."""
    held = {"covers": "y*d <= h", "level other": "h <= s", "level own": "x*d == s", "demand": "d > 0"}
    yield Step(
        "Nobody holds more of my dominant resource than I do.",
        question.implies(held | signs("x", "h y"), "y <= x"),
        states=True,
    )


def filled_pareto(question: Question) -> Iterator[Step]:
    """Pareto efficiency: everybody uses the resource that is full."""
    n = _users(question)
    held = {"full": f"{total('x@*a@', n)} == 1", "feasible": f"{total('z@*a@', n)} <= 1"}
    held |= each("demand", "a@ > 0", n) | each("no loss", "z@ >= x@", n)
    tasks = each("tasks", "x@ >= 0", n) | signs(not_negative=" ".join(f"a{i}" for i in n))
    yield Step(
        "Of the resource that is full nobody can hold more unless somebody holds less.",
        question.implies(held | tasks, "z1 <= x1"),
    )


def ceei_pareto(question: Question) -> Iterator[Step]:
    """Pareto efficiency: the first theorem of welfare economics."""
    n, m = _users(question), _resources(question)
    fits = {f"feasible {j}": total(f"z@*a@{j}", n) + " <= 1" for j in m} | each("price", "p@ >= 0", m)
    sensible = signs(not_negative=" ".join([*(f"z{i}" for i in n), *(f"a{i}{j}" for i in n for j in m)]))
    costs = {f"cost of a task {i}": f"P{i} == " + total(f"p@*a{i}@", m) for i in n}
    incomes = {"incomes": f"{total('p@', m)} == {len(n)}"}
    spent = each("income", "x@*P@ == 1", n) | each("demand", "P@ > 0", n) | each("no loss", "z@ >= x@", n)
    tasks = signs(not_negative=" ".join(f"x{i}" for i in n))
    sum_of_costs = {"total": f"{total('z@*P@', n)} <= {len(n)}"}
    yield _income(question)
    yield Step(
        "What fits costs at most all incomes.",
        question.implies(
            fits | costs | incomes | sensible,
            f"{total('z@*P@', n)} <= {len(n)}",
            *(f"feasible {j} * price {j}" for j in m),
        ),
    )
    yield Step(
        "If nobody runs less, one who ran more would spend more than there is.",
        question.implies(spent | tasks | sum_of_costs, "z1 <= x1"),
    )


def filled_single(question: Question) -> Iterator[Step]:
    """A single resource: equal levels are equal shares."""
    n = _users(question)
    held = each("level", "h@ == s", n) | {"full": f"{total('h@', n)} == 1"}
    shares = each("share", "h@ >= 0", n)
    yield Step(
        "Equal shares that fill it are 1/n.",
        question.implies(held | shares, f"{len(n)}*h1 == 1"),
        states=True,
    )


def ceei_single(question: Question) -> Iterator[Step]:
    """A single resource: equal incomes are equal shares."""
    n = _users(question)
    held = each("income", "p*h@ == 1", n) | {"sold out": f"{total('h@', n)} == 1"}
    own = {"income": "p*h1 == 1"} | {"incomes": f"p == {len(n)}"}
    sensible = signs("p", " ".join(f"h{i}" for i in n))
    yield Step("All incomes are the price of all of it.", question.implies(held | sensible, f"p == {len(n)}"))
    yield Step("Equal incomes buy equal shares.", question.implies(own, f"{len(n)}*h1 == 1"))


def ceei_bottleneck(question: Question) -> Iterator[Step]:
    """A resource that is dominant for all: nobody pays more than for all resources in its place."""
    n, m = _users(question), _resources(question)
    held = each("dominant", "a@ <= a1", m) | each("price", "p@ >= 0", m)
    sensible = signs(not_negative=" ".join(f"a{j}" for j in m))
    own = {"income": "x*P == 1", "tasks": "x > 0"}
    known = {"cost of a task": f"P == {total('p@*a@', m)}", "incomes": f"{total('p@', m)} == {len(n)}"}
    fits = {"feasible": f"{total('h@', n)} <= 1"} | each("enough", f"{len(n)}*h@ >= 1", n)
    yield _income(question)
    yield Step(
        "A task costs at most as if it needed its share of the common resource of all resources.",
        question.implies(held | known | sensible, f"P <= {len(n)}*a1"),
    )
    yield Step(
        "So an income of 1 buys at least 1/n of the common resource.",
        question.implies(
            own | {"cost": f"P <= {len(n)}*a1"} | signs(not_negative="P a1"), f"{len(n)}*x*a1 >= 1"
        ),
    )
    yield Step("At least 1/n for all is exactly 1/n.", question.implies(fits, f"{len(n)}*h1 == 1"))


def drf_bottleneck(question: Question) -> Iterator[Step]:
    """A resource that is dominant for all: dominant shares are its shares, and they fill it."""
    n = _users(question)
    held = {
        "full": f"{total('h@', n)} == 1",
        **each("dominant", "h@ <= s", n),
        "feasible": f"{len(n)}*s <= 1",
    }
    held |= each("share", "h@ >= 0", n)
    yield Step(
        "Shares s of the common resource fit, and some full resource shows that s is at least 1/n.",
        question.implies(held, f"{len(n)}*s == 1"),
        states=True,
    )


def filled_population(question: Question) -> Iterator[Step]:
    """A user leaves: the level, which all share, cannot fall."""
    held = {
        "full": "t*U == 1",
        "fits": "s*(U + v) <= 1",
        "demand": "v >= 0",
        "level": "s >= 0",
        "level later": "t >= 0",
    }
    yield Step(
        "Look at the resource that is full afterwards: per unit of the common level, those who stay hold U "
        "of it.",
        InWords(
            "Holdings are proportional to the level, with factors that depend on demands only; v is the "
            "factor of the user who leaves."
        ),
    )
    yield Step("The level cannot fall.", question.implies(held, "t >= s", degree=3))
