"""T. Bonald and J. Roberts, "Resource sharing in data centers", Eindhoven 2014 (arXiv:1404.2266, 1410.0782).

This module: the model, and Pareto efficiency and sharing incentive of dominant resource fairness (DRF),
proportional fairness (PF) and bottleneck-max fairness (BMF). Much holds for any number of users, because
the condition of one user, or of a pair, is enough. With shares :math:`a_{ij}` of resource j per task of
user i and tasks :math:`x_i`:

* PF: prices :math:`p_j\\ge 0`, 0 unless j is full, with :math:`x_i\\sum_j p_ja_{ij}=1`.
  Hence :math:`\\sum_jp_j=n`.
* DRF: user i demands a full resource on which nobody has a dominant share larger than that of i.
* BMF: user i has the largest share of a full resource.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.texts import each, total
from proofs.claims import Enumeration, InWords, Step
from proofs.statement import Question, Size

__all__ = ["SOURCE", "STATEMENTS", "drf_has_bottlenecks", "named"]

SOURCE = 'T. Bonald and J. Roberts, "Resource sharing in data centers" (2014)'
PLACE = "slides on the properties of allocations"
STATEMENTS = Chapter(SOURCE, place=PLACE)

RESOURCES = Size(3, 1, 8, "resources", deep=5)
USERS = Size(3, 1, 8, "users", deep=6)
WORDS = {
    "capacity": "the capacity of the resource is positive",
    "scaling": "shares are demands over capacity",
    "prices": "prices are at least 0",
    "optimal": "tasks are one over the cost of a task at the prices",
    "budget": "prices add up to the number of users",
    "slackness": "only full resources have a price",
    "demand": "the user demands some of the resource",
    "full": "the resource is full",
    "fits": "no resource holds more than its capacity",
    "largest": "no share of the user is greater than its largest share",
    "level": "users on the bottleneck have no larger dominant share",
    "bottleneck": "users hold no larger share of the bottleneck",
    "bundle": "the user can run the tasks with what the other holds",
    "gain": "the user gains",
    "others": "no other user loses",
    "units": "the work of the user is cut into tasks of another size",
    "positive": "tasks are positive",
    "shares": "shares are tasks times demands",
    "honest": "the allocation for the true demands has a bottleneck for everybody",
    "lied": "the allocation for the stated demands has a bottleneck for everybody",
}
BY_PRICES = "By the optimality conditions of PF; they are sufficient, as the problem is concave."


def named(*names: str) -> dict[str, str]:
    """The named conditions in words."""
    return {name: WORDS[name] for name in names}


EFFICIENT = r"y \ge x,\ y \ne x \Rightarrow \exists j: \textstyle\sum_i y_i a_{ij} > 1"
INCENTIVE = r"\max_j x_i a_{ij} \ge 1/n"


@STATEMENTS.add(
    "br-feasible",
    place='slides on the model, "Capacity constraints"',
    words="Tasks fit into the capacities if and only if their shares of each resource add up to at most 1.",
    latex=r"\varphi A \le C \iff \varphi a \le 1, \quad a_{ij} = A_{ij}/C_j",
    hypotheses=named("capacity", "scaling"),
    scope="one resource (they do not interact); all real tasks and demands, n = {n}",
    sizes={"n": Size(3, 1, 8, "jobs", deep=6)},
    mutants=("capacity", "scaling"),
)
def _feasible_after_scaling(question: Question) -> Iterator[Step]:
    n = question.sizes["n"]
    load = total("x@*A@", range(1, n + 1))
    share = total("x@*a@", range(1, n + 1))
    scaled = each("scaling", "a@*C == A@", range(1, n + 1))
    common = {"capacity": "C > 0", **scaled}
    yield Step(
        "If the usage is at most the capacity, the shares add up to at most 1.",
        question.implies(common | {"fits": f"{load} <= C"}, f"{share} <= 1"),
        states=True,
    )
    yield Step(
        "If the shares add up to at most 1, the usage is at most the capacity.",
        question.implies(common | {"fits": f"{share} <= 1"}, f"{load} <= C"),
        states=True,
    )


def _nobody_gains_alone(question: Question) -> Iterator[Step]:
    """A user on a full resource gains only if another user of it loses: what makes all three efficient."""
    n = question.sizes["n"]
    users = range(1, n + 1)
    held = each("others", "y@ >= x@", range(2, n + 1))
    signs = {f"a{k}": f"a{k} >= 0" for k in range(2, n + 1)}
    yield Step(
        "If a user of a full resource gains and nobody loses, the resource holds more than its capacity.",
        question.implies(
            {"demand": "a1 > 0", "gain": "y1 > x1", **held, **signs, "full": f"{total('x@*a@', users)} == 1"},
            f"{total('y@*a@', users)} > 1",
        ),
    )


@STATEMENTS.add(
    "br-pf-efficient",
    words="Under proportional fairness nobody can gain unless somebody loses.",
    latex=EFFICIENT,
    hypotheses=named(
        "prices", "positive", "optimal", "fits", "slackness", "demand", "gain", "others", "full"
    ),
    scope="all demands; a user's price for m = {m}, any n; the full resource for n = {n}",
    sizes={"n": USERS, "m": RESOURCES},
    mutants=("slackness", "optimal", "others", "full"),
    remark=BY_PRICES,
)
def _pf_efficient(question: Question) -> Iterator[Step]:
    m = question.sizes["m"]
    signs = each("prices", "p@ >= 0", range(1, m + 1))
    demands = {f"a{j}": f"a{j} >= 0" for j in range(1, m + 1)}
    elsewhere = each("nothing is paid for", "p@*a@ <= 0", range(1, m))
    cost = total("p@*a@", range(1, m + 1))
    yield Step(
        "A task costs something, so the user demands a resource that has a price.",
        question.implies(
            {**signs, **demands, **elsewhere, "positive": "x > 0", "optimal": f"x*({cost}) == 1"},
            f"p{m}*a{m} > 0",
        ),
    )
    yield Step(
        "A resource with a price is full.",
        question.implies({"paid": "p*a > 0", "fits": "u <= 1", "slackness": "p*(1 - u) == 0"}, "u == 1"),
    )
    yield from _nobody_gains_alone(question)


@STATEMENTS.add(
    "br-drf-efficient",
    words="Under dominant resource fairness nobody can gain unless somebody loses.",
    latex=EFFICIENT,
    hypotheses=named("demand", "gain", "others", "full"),
    scope="all demands, n = {n}, any m; that DRF has bottlenecks in words and for pools of 3 users, demands "
    "up to 2",
    sizes={"n": USERS},
    mutants=("demand", "others", "full"),
)
def _drf_efficient(question: Question) -> Iterator[Step]:
    yield from drf_has_bottlenecks()
    yield from _nobody_gains_alone(question)


@STATEMENTS.add(
    "br-bmf-efficient",
    words="Under bottleneck-max fairness nobody can gain unless somebody loses.",
    latex=EFFICIENT,
    hypotheses=named("demand", "gain", "others", "full"),
    scope="all demands and all BMF allocations, n = {n}, any m",
    sizes={"n": USERS},
    mutants=("demand", "others", "full"),
)
def _bmf_efficient(question: Question) -> Iterator[Step]:
    yield Step("The bottleneck of a user is full and demanded by it.", InWords("By definition of BMF."))
    yield from _nobody_gains_alone(question)


def drf_has_bottlenecks() -> Iterator[Step]:
    """What the statements on DRF rest on."""
    yield Step(
        "Everybody demands a full resource on which nobody has a larger dominant share.",
        InWords("Filling stops a user when one that it demands is full; who stopped earlier has no more."),
    )
    yield Step(
        "So it is in all pools of three users and two resources with demands up to 2.",
        Enumeration("drf_bottlenecks", {"n": 3, "m": 2, "largest": 2}),
    )


@STATEMENTS.add(
    "br-pf-sharing-incentive",
    words="Under proportional fairness each of n users has a share of at least 1/n of some resource.",
    latex=INCENTIVE,
    hypotheses=named("prices", "largest", "optimal", "budget", "slackness"),
    scope="all demands, m = {m}; any n where the prices add up to n, which is shown for n = {n}",
    sizes={"n": USERS, "m": RESOURCES},
    mutants=("prices", "optimal", "budget", "slackness"),
    remark=BY_PRICES,
)
def _pf_incentive(question: Question) -> Iterator[Step]:
    m = question.sizes["m"]
    resources = range(1, m + 1)
    cost = total("p@*a@", resources)
    yield from _pf_budget(question)
    yield Step(
        "The largest share of a user is at least 1/n, for every n.",
        question.implies(
            {
                **each("prices", "p@ >= 0", resources),
                **each("largest", "x*a@ <= s", resources),
                "optimal": f"x*({cost}) == 1",
                "budget": f"{total('p@', resources)} == n",
            },
            "n*s >= 1",
        ),
    )


def _pf_budget(question: Question) -> Iterator[Step]:
    """Prices add up to the number of users: what is paid is what is earned."""
    n, m = question.sizes["n"], question.sizes["m"]
    users, resources = range(1, n + 1), range(1, m + 1)
    costs = {f"optimal {i}": f"x{i}*({total(f'p@*a{i}@', resources)}) == 1" for i in users}
    full = {f"slackness {j}": f"p{j} == {total(f'p{j}*x@*a@{j}', users)}" for j in resources}
    paid = total("p@", resources)
    yield Step(
        "Prices add up to at most the number of users.", question.implies(costs | full, f"{paid} <= {n}")
    )
    yield Step(
        "Prices add up to at least the number of users.", question.implies(costs | full, f"{paid} >= {n}")
    )


def _bottleneck_incentive(question: Question) -> Step:
    n = question.sizes["n"]
    users = range(1, n + 1)
    return Step(
        "On a full resource the largest share of n users is at least 1/n.",
        question.implies(
            {**each("bottleneck", "h@ <= s", range(1, n + 1)), "full": f"{total('h@', users)} == 1"},
            f"{n}*s >= 1",
        ),
    )


@STATEMENTS.add(
    "br-drf-sharing-incentive",
    words="Under dominant resource fairness each of n users has a share of at least 1/n of some resource.",
    latex=INCENTIVE,
    hypotheses=named("largest", "level", "bottleneck", "full"),
    scope="all demands, n = {n}, any m; that DRF has bottlenecks in words and for pools of 3 users, demands "
    "up to 2",
    sizes={"n": USERS},
    mutants=("level", "bottleneck", "full"),
)
def _drf_incentive(question: Question) -> Iterator[Step]:
    yield from drf_has_bottlenecks()
    yield Step(
        "On the bottleneck of a user, others hold at most the dominant share of that user.",
        question.implies({"largest": "h <= d", "level": "d <= s"}, "h <= s"),
    )
    yield _bottleneck_incentive(question)


@STATEMENTS.add(
    "br-bmf-sharing-incentive",
    words="Under bottleneck-max fairness each of n users has a share of at least 1/n of some resource.",
    latex=INCENTIVE,
    hypotheses=named("bottleneck", "full"),
    scope="all demands and all BMF allocations, n = {n}, any m",
    sizes={"n": USERS},
    mutants=("bottleneck", "full"),
)
def _bmf_incentive(question: Question) -> Iterator[Step]:
    yield _bottleneck_incentive(question)
