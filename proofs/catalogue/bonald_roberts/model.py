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

from collections.abc import Callable, Mapping, Sequence

from proofs.claims import Enumeration, Implication, InWords, Step
from proofs.statement import Hypothesis, Question, Said, Size, Statement

__all__ = [
    "SOURCE",
    "STATEMENTS",
    "drf_has_bottlenecks",
    "implied",
    "indexed",
    "property_statement",
    "total",
]

SOURCE = 'T. Bonald and J. Roberts, "Resource sharing in data centers" (2014)'

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
PLACE = "slides on the properties of allocations"


def total(names: Sequence[str]) -> str:
    """Text of a sum."""
    return " + ".join(names) if names else "0"


def indexed(name: str, size: int) -> list[str]:
    """Names with the indices 1 to size."""
    return [f"{name}{k}" for k in range(1, size + 1)]


def implied(
    question: Question,
    says: str,
    hypotheses: Mapping[str, str],
    conclusion: str,
    *,
    degree: int = 2,
    hints: tuple[tuple[tuple[str, ...], str], ...] = (),
) -> Step:
    """A step that implies its conclusion from what is kept of its hypotheses."""
    return Step(says, Implication(question.kept(hypotheses), conclusion, hints=hints, degree=degree))


def hypotheses(*names: str) -> tuple[Hypothesis, ...]:
    """The named conditions in words."""
    return tuple(Hypothesis(name, WORDS[name]) for name in names)


def _feasible_after_scaling(question: Question) -> list[Step]:
    n = question.sizes["n"]
    load = total([f"x{i}*A{i}" for i in range(1, n + 1)])
    share = total([f"x{i}*a{i}" for i in range(1, n + 1)])
    scaled = {f"scaling {i}": f"a{i}*C == A{i}" for i in range(1, n + 1)}
    common = question.kept({"capacity": "C > 0", **scaled})
    return [
        Step(
            "If the usage is at most the capacity, the shares add up to at most 1.",
            Implication(common | {"fits": f"{load} <= C"}, f"{share} <= 1"),
            states=True,
        ),
        Step(
            "If the shares add up to at most 1, the usage is at most the capacity.",
            Implication(common | {"fits": f"{share} <= 1"}, f"{load} <= C"),
            states=True,
        ),
    ]


# Pareto efficiency.


def _nobody_gains_alone(question: Question) -> list[Step]:
    """A user on a full resource gains only if another user of it loses: what makes all three efficient."""
    n = question.sizes["n"]
    before, after = indexed("x", n), indexed("y", n)
    a = indexed("a", n)
    held = {f"others {k}": f"y{k} >= x{k}" for k in range(2, n + 1)}
    signs = {f"a{k}": f"a{k} >= 0" for k in range(2, n + 1)}
    return [
        implied(
            question,
            "If a user of a full resource gains and nobody loses, the resource holds more than its capacity.",
            {
                "demand": "a1 > 0",
                "gain": "y1 > x1",
                **held,
                **signs,
                "full": f"{total([f'{x}*{d}' for x, d in zip(before, a, strict=True)])} == 1",
            },
            f"{total([f'{y}*{d}' for y, d in zip(after, a, strict=True)])} > 1",
        ),
    ]


def _pf_efficient(question: Question) -> list[Step]:
    m = question.sizes["m"]
    signs = {f"prices {j}": f"p{j} >= 0" for j in range(1, m + 1)}
    demands = {f"a{j}": f"a{j} >= 0" for j in range(1, m + 1)}
    elsewhere = {f"nothing is paid for {j}": f"p{j}*a{j} <= 0" for j in range(1, m)}
    cost = total([f"p{j}*a{j}" for j in range(1, m + 1)])
    return [
        implied(
            question,
            "A task costs something, so the user demands a resource that has a price.",
            {**signs, **demands, **elsewhere, "positive": "x > 0", "optimal": f"x*({cost}) == 1"},
            f"p{m}*a{m} > 0",
        ),
        implied(
            question,
            "A resource with a price is full.",
            {"paid": "p*a > 0", "fits": "u <= 1", "slackness": "p*(1 - u) == 0"},
            "u == 1",
        ),
        *_nobody_gains_alone(question),
    ]


def _drf_efficient(question: Question) -> list[Step]:
    return [*drf_has_bottlenecks(), *_nobody_gains_alone(question)]


def _bmf_efficient(question: Question) -> list[Step]:
    return [
        Step("The bottleneck of a user is full and demanded by it.", InWords("By definition of BMF.")),
        *_nobody_gains_alone(question),
    ]


def drf_has_bottlenecks() -> list[Step]:
    """What the statements on DRF rest on."""
    return [
        Step(
            "Everybody demands a full resource on which nobody has a larger dominant share.",
            InWords(
                "Filling stops a user when one that it demands is full; who stopped earlier has no more."
            ),
        ),
        Step(
            "So it is in all pools of three users and two resources with demands up to 2.",
            Enumeration("drf_bottlenecks", {"n": 3, "m": 2, "largest": 2}),
        ),
    ]


# Sharing incentive.


def _pf_incentive(question: Question) -> list[Step]:
    m = question.sizes["m"]
    resources = range(1, m + 1)
    cost = total([f"p{j}*a{j}" for j in resources])
    return [
        *_pf_budget(question),
        implied(
            question,
            "The largest share of a user is at least 1/n, for every n.",
            {
                **{f"prices {j}": f"p{j} >= 0" for j in resources},
                **{f"largest {j}": f"x*a{j} <= s" for j in resources},
                "optimal": f"x*({cost}) == 1",
                "budget": f"{total(indexed('p', m))} == n",
            },
            "n*s >= 1",
        ),
    ]


def _pf_budget(question: Question) -> list[Step]:
    """Prices add up to the number of users: what is paid is what is earned."""
    n, m = question.sizes["n"], question.sizes["m"]
    users, resources = range(1, n + 1), range(1, m + 1)
    costs = {f"optimal {i}": f"x{i}*({total([f'p{j}*a{i}{j}' for j in resources])}) == 1" for i in users}
    full = {f"slackness {j}": f"p{j} == {total([f'p{j}*x{i}*a{i}{j}' for i in users])}" for j in resources}
    paid = total(indexed("p", m))
    return [
        implied(question, "Prices add up to at most the number of users.", costs | full, f"{paid} <= {n}"),
        implied(question, "Prices add up to at least the number of users.", costs | full, f"{paid} >= {n}"),
    ]


def _bottleneck_incentive(question: Question) -> Step:
    n = question.sizes["n"]
    return implied(
        question,
        "On a full resource the largest share of n users is at least 1/n.",
        {
            **{f"bottleneck {k}": f"h{k} <= s" for k in range(1, n + 1)},
            "full": f"{total(indexed('h', n))} == 1",
        },
        f"{n}*s >= 1",
    )


def _drf_incentive(question: Question) -> list[Step]:
    return [
        *drf_has_bottlenecks(),
        implied(
            question,
            "On the bottleneck of a user, others hold at most the dominant share of that user.",
            {"largest": "h <= d", "level": "d <= s"},
            "h <= s",
        ),
        _bottleneck_incentive(question),
    ]


def _bmf_incentive(question: Question) -> list[Step]:
    return [_bottleneck_incentive(question)]


def property_statement(
    name: str,
    words: str,
    latex: str,
    steps: Callable[[Question], Sequence[Step]],
    used: Sequence[str],
    scope: str,
    sizes: Sequence[str] = (),
    mutants: Sequence[str] = (),
    remark: str = "",
    said: Said = Said.CLAIMED,
) -> Statement:
    """A statement on a property of a policy; hypotheses and sizes by name."""
    known = {"n": USERS, "m": RESOURCES}
    if name.startswith("pf-") and not remark:
        remark = "By the optimality conditions of PF; they are sufficient, as the problem is concave."
    return Statement(
        id=f"br-{name}",
        source=SOURCE,
        place=PLACE,
        words=words,
        latex=latex,
        hypotheses=hypotheses(*used),
        scope=scope,
        steps=steps,
        sizes={size: known[size] for size in sizes},
        mutants=tuple(mutants),
        remark=remark,
        said=said,
    )


EFFICIENT = r"y \ge x,\ y \ne x \Rightarrow \exists j: \textstyle\sum_i y_i a_{ij} > 1"
INCENTIVE = r"\max_j x_i a_{ij} \ge 1/n"

STATEMENTS = (
    Statement(
        id="br-feasible",
        source=SOURCE,
        place='slides on the model, "Capacity constraints"',
        words="Tasks fit into the capacities if and only if their shares of each resource add up to at "
        "most 1.",
        latex=r"\varphi A \le C \iff \varphi a \le 1, \quad a_{ij} = A_{ij}/C_j",
        hypotheses=hypotheses("capacity", "scaling"),
        scope="one resource (they do not interact); all real tasks and demands, n = {n}",
        steps=_feasible_after_scaling,
        sizes={"n": Size(3, 1, 8, "jobs", deep=6)},
        mutants=("capacity", "scaling"),
    ),
    property_statement(
        "pf-efficient",
        "Under proportional fairness nobody can gain unless somebody loses.",
        EFFICIENT,
        _pf_efficient,
        ("prices", "positive", "optimal", "fits", "slackness", "demand", "gain", "others", "full"),
        "all demands; a user's price for m = {m}, any n; the full resource for n = {n}",
        ("n", "m"),
        ("slackness", "optimal", "others", "full"),
    ),
    property_statement(
        "drf-efficient",
        "Under dominant resource fairness nobody can gain unless somebody loses.",
        EFFICIENT,
        _drf_efficient,
        ("demand", "gain", "others", "full"),
        "all demands, n = {n}, any m; that DRF has bottlenecks in words and for pools of 3 users, demands "
        "up to 2",
        ("n",),
        ("demand", "others", "full"),
    ),
    property_statement(
        "bmf-efficient",
        "Under bottleneck-max fairness nobody can gain unless somebody loses.",
        EFFICIENT,
        _bmf_efficient,
        ("demand", "gain", "others", "full"),
        "all demands and all BMF allocations, n = {n}, any m",
        ("n",),
        ("demand", "others", "full"),
    ),
    property_statement(
        "pf-sharing-incentive",
        "Under proportional fairness each of n users has a share of at least 1/n of some resource.",
        INCENTIVE,
        _pf_incentive,
        ("prices", "largest", "optimal", "budget", "slackness"),
        "all demands, m = {m}; any n where the prices add up to n, which is shown for n = {n}",
        ("n", "m"),
        ("prices", "optimal", "budget", "slackness"),
    ),
    property_statement(
        "drf-sharing-incentive",
        "Under dominant resource fairness each of n users has a share of at least 1/n of some resource.",
        INCENTIVE,
        _drf_incentive,
        ("largest", "level", "bottleneck", "full"),
        "all demands, n = {n}, any m; that DRF has bottlenecks in words and for pools of 3 users, demands "
        "up to 2",
        ("n",),
        ("level", "bottleneck", "full"),
    ),
    property_statement(
        "bmf-sharing-incentive",
        "Under bottleneck-max fairness each of n users has a share of at least 1/n of some resource.",
        INCENTIVE,
        _bmf_incentive,
        ("bottleneck", "full"),
        "all demands and all BMF allocations, n = {n}, any m",
        ("n",),
        ("bottleneck", "full"),
    ),
)
