"""D. C. Parkes, A. D. Procaccia, N. Shah, "Beyond dominant resource fairness", ACM TEAC 3(1), 2015: EDRF.

Agent i demands the part D_ir of resource r per task and is entitled to w_ir of it. With
d_ir = D_ir / max_k D_ik and rho_i = min over demanded r of w_ir / d_ir it grows at the rate
g_ir = rho_i d_ir; a resource that is exhausted stops everybody who demands it.
"""

from __future__ import annotations

from proofs.claims import Computation, Enumeration, Implication, InWords, Search, Step
from proofs.statement import Hypothesis, Question, Size, Statement

__all__ = [
    "SOURCE",
    "STATEMENTS",
    "WEIGHTS",
    "WORKED",
    "envy_steps",
    "first_round_steps",
    "incentive_steps",
]

SOURCE = (
    'D. C. Parkes, A. D. Procaccia, N. Shah, "Beyond dominant resource fairness: extensions, '
    "limitations, and "
    'indivisibilities", ACM TEAC 3(1), 2015, DOI 10.1145/2739040'
)

WORKED = [["1", "0"], ["1/2", "1"], ["0", "1"]]
"""Three agents and two resources: a second round goes on after the first."""

WEIGHTS = [None, [1, 3], [3, 1], [[1, 2], [2, 1]]]
"""Entitlements of two agents: equal, of one number each, and of one number per resource."""


Hints = tuple[tuple[tuple[str, ...], str], ...]


def first_round_steps(question: Question) -> list[Step]:
    """The first round ends at the level 1 or later."""
    n = question.sizes["n"]
    agents = range(1, n + 1)
    rates = {f"rate {i}": f"g{i} <= w{i}" for i in agents}
    held = question.kept(
        rates
        | {
            "entitlements": " + ".join(f"w{i}" for i in agents) + " <= 1",
            "exhausted": f"x*({' + '.join(f'g{i}' for i in agents)}) == 1",
            "upwards": "x >= 0",
        }
    )
    return [
        Step(
            "On every resource an agent grows at most at the rate of its entitlement.",
            InWords("rho_i is the smallest w_ir/d_ir, so rho_i d_ir <= w_ir; where d_ir = 0 the rate is 0."),
        ),
        Step(
            "The rates on the first exhausted resource add up to 1 at most, so that it lasts to the level 1.",
            Implication(held, "x >= 1"),
        ),
        Step(
            "For more agents the sums only have more terms.",
            InWords("The certificate adds one rate per agent."),
        ),
    ]


def incentive_steps(question: Question) -> list[Step]:
    """At the level 1 or more an agent runs what its entitlement runs."""
    held = question.kept(
        {
            "demand": "D > 0",
            "entitled": "w >= 0",
            "tight": "g == w",
            "level": "z >= 1",
            "tasks": "T*D == g*z",
            "entitlement": "U*D <= w",
        }
    )
    return [
        Step(
            "Whoever stops at the level 1 or later runs as many tasks T as its entitlements run, U.",
            Implication(held, "U <= T"),
        ),
    ]


def envy_steps(question: Question) -> list[Step]:
    """Nobody envies those who stop no later, nor those who go on."""
    earlier = question.kept(
        {
            "demand": "D > 0",
            "entitled": "u > 0",
            "other entitled": "v > 0",
            "other level": "y >= 0",
            "tight": "g == u",
            "rate": "h <= v",
            "stops all": "y <= z",
            "tasks": "T*D == g*z",
            "envied": "U*D*v <= u*h*y",
        }
    )
    hints = (
        (("not the conclusion", "demand", "other entitled"), "1"),
        (("entitled", "other entitled", "stops all"), "1"),
        (("entitled", "other level", "rate"), "1"),
    )
    later = {
        "demand": "D > 0",
        "tasks": "T >= 0",
        "nothing held": "h == 0",
        "envied": "U*D <= k*h",
    }
    return [
        Step(
            "If j stops no later than i, i prefers its own: on the resource that fixes rho_i, j holds "
            "too little.",
            Implication(earlier, "U <= T", hints=hints),
        ),
        Step(
            "If j goes on after i, it demands nothing of the resource that stopped i, and i can run "
            "nothing with that.",
            Implication(later, "U <= T"),
        ),
    ]


def _sharing_incentive(question: Question) -> list[Step]:
    return [
        *first_round_steps(question),
        Step(
            "Levels only rise after the first round; so z >= 1, and there is a resource with rho d = w.",
            InWords("Everybody takes part in the first round, and rho is attained."),
        ),
        *incentive_steps(question),
        Step(
            "The same, computed from the algorithm.",
            Enumeration("edrf_fair", {"n": 2, "m": 2, "largest": 3, "weights": WEIGHTS}),
        ),
    ]


def _envy(question: Question) -> list[Step]:
    return [
        *envy_steps(question),
        Step(
            "One of the two is the case.",
            InWords("An exhausted resource stops all of its demanders, in the same round."),
        ),
        Step(
            "The same, computed from the algorithm.",
            Enumeration("edrf_fair", {"n": 2, "m": 2, "largest": 3, "weights": WEIGHTS}),
        ),
    ]


def _pareto(question: Question) -> list[Step]:
    agents = range(1, question.sizes["n"] + 1)
    own, other = (" + ".join(f"{x}{i}*D{i}" for i in agents) for x in "xy")
    held = question.kept(
        {f"demand {i}": f"D{i} >= 0" for i in agents}
        | {f"no loss {i}": f"y{i} >= x{i}" for i in agents}
        | {"demanded": "D1 > 0", "exhausted": f"{own} == 1", "fits": f"{other} <= 1"}
    )
    return [
        Step(
            "Every agent demands an exhausted resource.",
            InWords("That is what stops it, and EDRF ends when all have stopped."),
        ),
        Step(
            "There agent 1 can have more only if somebody has less.",
            Implication(held, "y1 <= x1"),
        ),
    ]


def _one_round(question: Question) -> list[Step]:
    least = 1 if question.holds("positive") else 0
    return [
        Step(
            "The first exhausted resource stops all of its demanders.",
            InWords("Without zeros everybody demands it, so that nobody is left for a second round."),
        ),
        Step(
            "The same, computed from the algorithm.",
            Enumeration(
                "edrf_rounds_of",
                {"n": question.sizes["n"], "m": 2, "largest": 3, "least": least, "weights": [None]},
            ),
        ),
        Step(
            "Three agents with zeros: tasks after two rounds.",
            Computation("edrf_tasks", {"demands": WORKED}, ["3/4", "1/2", "1/2"]),
        ),
    ]


def _strategyproof(question: Question) -> list[Step]:
    epsilon = 0 if question.holds("exact") else "1/4"
    arguments = {"n": 4, "m": 3, "largest": 3, "epsilon": epsilon}
    return [Step("One or two of four agents claim other demands.", Search("edrf_lie", arguments, 1500))]


DEMAND = Hypothesis("demand", "demands are positive (or not negative where so said)")
TIGHT = Hypothesis("tight", "some resource fixes rho: there the rate is the entitlement")
SHARE = Hypothesis("tasks", "tasks times demand is what the agent holds")

INCENTIVE = (
    Hypothesis("rate", "on every resource the rate is at most the entitlement"),
    Hypothesis("entitlements", "entitlements to a resource add up to 1 at most"),
    Hypothesis("exhausted", "the first round exhausts the resource"),
    Hypothesis("upwards", "the level of the first round is not negative"),
    DEMAND,
    Hypothesis("entitled", "entitlements are not negative"),
    TIGHT,
    Hypothesis("level", "the agent stops at the level 1 or later"),
    SHARE,
    Hypothesis("entitlement", "U tasks fit into the entitlement"),
)
"""Hypotheses of :func:`first_round_steps` and :func:`incentive_steps`."""

ENVY = (
    DEMAND,
    Hypothesis("entitled", "the agent's entitlement is positive"),
    Hypothesis("other entitled", "the other's entitlement is positive"),
    Hypothesis("other level", "the other's level is not negative"),
    TIGHT,
    Hypothesis("rate", "the other's rate is at most its entitlement"),
    Hypothesis("stops all", "the other demands what stopped the agent, so that it stopped no later"),
    SHARE,
    Hypothesis("envied", "U tasks fit into what the other holds, scaled by the ratio of entitlements"),
)
"""Hypotheses of :func:`envy_steps`."""

STATEMENTS = (
    Statement(
        id="edrf-first-round",
        source=SOURCE,
        place="section 3 (extended DRF); Algorithm 1 in Kash et al., SoCC 2018",
        words="The first round of EDRF brings everybody at least to the level 1 of its entitlement.",
        latex=r"x_1 = \min_r \frac{1}{\sum_i \rho_i d_{ir}} \ge 1",
        hypotheses=INCENTIVE[:4],
        scope="all demands and entitlements, any number of resources; n = {n} agents, more in words",
        steps=first_round_steps,
        sizes={"n": Size(3, 1, 8, "agents", deep=6)},
        mutants=("rate", "entitlements", "exhausted", "upwards"),
    ),
    Statement(
        id="edrf-sharing-incentive",
        source=SOURCE,
        place="section 3",
        words="EDRF gives every agent at least as many tasks as its entitlements run.",
        latex=r"u_i(A_i) \ge u_i(w_{i\cdot})",
        hypotheses=INCENTIVE,
        scope="all demands and entitlements; the first round with n = {n} agents, more in words; "
        "algorithm run for "
        "all 2 x 2 demands in thirds and four tables of entitlements",
        steps=_sharing_incentive,
        sizes={"n": Size(3, 1, 8, "agents", deep=6)},
        mutants=("entitlements", "tight", "level", "tasks"),
    ),
    Statement(
        id="edrf-envy-freeness",
        source=SOURCE,
        place="section 3",
        words="In EDRF nobody prefers what another holds, scaled on each resource by the ratio of their "
        "entitlements.",
        latex=r"u_i(A_i) \ge u_i\bigl((w_{ir}/w_{jr}\,A_{jr})_r\bigr)",
        hypotheses=ENVY,
        scope="all demands, entitlements and pairs of any number of agents; algorithm run for all 2 x 2 "
        "demands in "
        "thirds and four tables of entitlements",
        steps=_envy,
        mutants=("rate", "stops all", "tight", "tasks"),
    ),
    Statement(
        id="edrf-pareto",
        source=SOURCE,
        place="section 3",
        words="EDRF is Pareto optimal: nobody can run more tasks unless somebody runs fewer.",
        latex=r"y \ge x,\ \textstyle\sum_i y_i D_{ir} \le 1 \implies y = x",
        hypotheses=(
            DEMAND,
            Hypothesis("no loss", "nobody has less"),
            Hypothesis("demanded", "agent 1 demands the resource"),
            Hypothesis("exhausted", "the resource is exhausted"),
            Hypothesis("fits", "the other allocation does not exceed the resource"),
        ),
        scope="all demands and tasks, n = {n} agents, any number of resources",
        steps=_pareto,
        sizes={"n": Size(3, 1, 6, "agents", deep=5)},
        mutants=("no loss", "demanded", "exhausted", "fits"),
    ),
    Statement(
        id="edrf-one-round",
        source=SOURCE,
        place="section 3; I. A. Kash et al., SoCC 2018, section 2.3",
        words="If everybody demands something of every resource, EDRF ends after one round.",
        latex=r"D > 0 \implies A_{ir} = \rho_i d_{ir} \big/ \max_k \textstyle\sum_j \rho_j d_{jk}",
        hypotheses=(Hypothesis("positive", "all demands are positive"),),
        scope="all demands in words; {n} agents, 2 resources and demands 1 to 3 by computation",
        steps=_one_round,
        sizes={"n": Size(3, 2, 4, "agents", deep=4)},
        mutants=("positive",),
    ),
    Statement(
        id="edrf-strategyproof",
        source=SOURCE,
        place="section 3",
        words="EDRF is group-strategyproof: agents who claim other demands never gain unless one of "
        "them loses.",
        latex=r"u_i(A'_i) \ge u_i(A_i)\ \forall i \in S \implies u_i(A'_i) = u_i(A_i)\ \forall i \in S",
        hypotheses=(Hypothesis("exact", "resources count as exhausted when nothing is left (epsilon = 0)"),),
        scope="1,500 random lies of one or two of four agents, three resources, demands in thirds",
        steps=_strategyproof,
        mutants=("exact",),
        remark="The paper proves it for groups of any size. The argument follows the process with the "
        "lies beside the "
        "one without, and is not made formal here, so that the verdict is support by search.",
    ),
)
