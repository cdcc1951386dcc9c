r"""The table of A. Ghodsi et al., "Dominant Resource Fairness", NSDI 2011: eight properties, three policies.

Each cell is a statement "the policy has the property"; crosses are refuted by a small pool, ticks are
proved from the descriptions of the policies in :mod:`proofs.catalogue.drf.lemmas`.

Hypotheses
    claim: the liar's level counts all that she holds
    covers: the tasks fit into the bundle
    demand: demands are positive
    dominant: the resource is dominant for all users
    feasible: the other allocation fits
    fits: the allocation before fits
    full: a resource is full
    income: all spend an income of 1
    income other: the other user spends an income of 1
    nothing: a resource of which the liar claims nothing, and gets nothing
    level: all users have the same level: dominant share under DRF, sum of shares under asset fairness
    level later: so they have after the change
    level other: the other user has the common level
    level own: the user has the common level
    no loss: nobody runs less
    part: the bundle is an equal part of every resource
    price: prices are >= 0
    signs: tasks, demands and shares are not negative
    sold out: resources with a price are sold out
    tasks: everybody runs something
    users: there is a user
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.drf.lemmas import (
    asset_envy,
    ceei_bottleneck,
    ceei_envy,
    ceei_pareto,
    ceei_sharing,
    ceei_single,
    drf_bottleneck,
    drf_envy,
    drf_sharing,
    filled_pareto,
    filled_population,
    filled_single,
    truthful_steps,
)
from proofs.catalogue.examples import against, model
from proofs.claims import Step
from proofs.statement import Question, Said

__all__ = ["SOURCE", "STATEMENTS"]

SOURCE = (
    'A. Ghodsi et al., "Dominant Resource Fairness: Fair Allocation of Multiple Resource Types", NSDI 2011'
)
STATEMENTS = Chapter(SOURCE, place="section 6, table of properties", scope="all pools", known=__doc__)

NAMES = {"asset": "Asset fairness", "ceei": "CEEI", "drf": "DRF"}


Property = tuple[str, str, str]
"""Key, words and formula."""


def _cross(policy: str, named: Property, case: str, function: str, arguments: dict[str, Any]) -> None:
    key, words, latex = named
    STATEMENTS.refute(
        f"drf-table-{policy}-{key}",
        words=f"{NAMES[policy]} {words}",
        latex=latex,
        case=case,
        remark="The paper says so too: this cell of its table has no tick.",
        said=Said.DENIED,
    )(lambda: against(function, policy=policy, **arguments))


def _tick(
    policy: str,
    named: Property,
    steps: Callable[[Question], Iterable[Step]],
    hypotheses: str,
    scope: str = "all real demands > 0, any numbers of users and resources",
) -> None:
    key, words, latex = named
    STATEMENTS.add(
        f"drf-table-{policy}-{key}",
        words=f"{NAMES[policy]} {words}",
        latex=latex,
        hypotheses=hypotheses,
        scope=scope,
        remark="The paper says so: this cell of its table has a tick.",
    )(steps)


PAIR = "any two users with real demands > 0, any number of resources"
ALONE = "all real demands > 0, any number of users"

# In the order of the paper: row by row, asset fairness, CEEI, DRF.

SI = (
    "si",
    "gives every user at least the tasks that an equal part of every resource runs.",
    r"x_i \ge \frac1n \min_j \frac{c_j}{a_{ij}}",
)
_cross(
    "asset",
    SI,
    "User 2 of demands (1, 3) and (1, 1) runs fewer tasks than in half of the pool.",
    "sharing_incentive",
    model([[1, 3], [1, 1]], [30, 30]),
)
_tick("ceei", SI, ceei_sharing, "income*, sold out*, price, part*, signs, users")
_tick("drf", SI, drf_sharing, "full*, level*, demand, part*, signs, users")

SP = ("sp", "is strategy-proof: claiming other demands pays for nobody.", r"u_i(a_i', a_{-i}) \le u_i(a)")
TRUTHFUL = "full*, feasible*, covers*, claim, nothing, level, level later, demand, signs"
_tick("asset", SP, lambda q: truthful_steps(q, "asset"), TRUTHFUL)
_cross(
    "ceei",
    SP,
    "User 1 of demands (16, 1) and (1, 2) gains by claiming (16, 8).",
    "truthfulness",
    model(
        [[16, 1], [1, 2]],
        [100, 100],
        claim=[16, 8],
        prices=["29/1500", "1/1500"],
        claimed_prices=["1/100", "1/100"],
    ),
)
_tick("drf", SP, lambda q: truthful_steps(q, "drf"), TRUTHFUL)

EF = (
    "ef",
    "is envy-free: nobody would run more with another's bundle.",
    r"x_k a_{kj}\ge y a_{ij}\ \forall j \Rightarrow y\le x_i",
)
OWN = "covers*, demand, level other*, level own, signs"
_tick("asset", EF, asset_envy, OWN, PAIR)
_tick(
    "ceei",
    EF,
    ceei_envy,
    "covers*, price*, income other*, income, tasks",
    PAIR,
)
_tick("drf", EF, drf_envy, OWN, PAIR)

PE = ("pe", "is Pareto-efficient.", r"z \ge x,\ za \le c \Rightarrow z = x")
_tick("asset", PE, filled_pareto, "full*, feasible, demand*, no loss*, signs")
_tick("ceei", PE, ceei_pareto, "income*, sold out, feasible*, price, no loss, tasks, signs")
_tick("drf", PE, filled_pareto, "full*, feasible, demand*, no loss*, signs")

ONE = ("single", "gives equal parts of a single resource.", r"m = 1 \Rightarrow x_i a_i = c/n")
_tick("asset", ONE, filled_single, "level*, full*", ALONE)
_tick("ceei", ONE, ceei_single, "income*, sold out*", ALONE)
_tick("drf", ONE, filled_single, "level*, full*", ALONE)

BF = (
    "bottleneck",
    "gives equal parts of a resource that is dominant for all users.",
    r"a_{ir}/c_r = \max_j a_{ij}/c_j\ \forall i \Rightarrow x_i a_{ir} = c_r/n",
)
_cross(
    "asset",
    BF,
    "Of 21 units that both need most, users of demands (3, 2) and (4, 1) get 9 and 12.",
    "bottleneck_fairness",
    model([[3, 2], [4, 1]], [21, 21]),
)
_tick("ceei", BF, ceei_bottleneck, "income*, sold out, price, dominant*, tasks, feasible*")
_tick("drf", BF, drf_bottleneck, "full*, dominant, feasible*")

PM = (
    "population",
    "is population-monotone: nobody loses when a user leaves.",
    r"x_i(N\setminus k) \ge x_i(N)",
)
_tick("asset", PM, filled_population, "full*, fits*, demand, level, level later, signs")
_cross(
    "ceei",
    PM,
    "User 2 of demands (4, 1), (1, 16) and (16, 1) loses when user 3 leaves.",
    "population_monotonicity",
    model([[4, 1], [1, 16], [16, 1]], [9, 6], prices=["1/5", "1/5"], later_prices=["17/345", "179/690"]),
)
_tick("drf", PM, filled_population, "full*, fits*, demand, level, level later, signs")

RM = (
    "resource",
    "is resource-monotone: nobody loses when a capacity grows.",
    r"c' \ge c \Rightarrow x_i(c') \ge x_i(c)",
)
SMALL: dict[str, Any] = model([[2, 1], [1, 2]], [1, 1], more=[2, 1])
DOUBLED = "With demands (2, 1) and (1, 2) the second user loses when the first of two units is doubled."
_cross("asset", RM, DOUBLED, "resource_monotonicity", SMALL)
_cross("ceei", RM, DOUBLED, "resource_monotonicity", SMALL | {"prices": [1, 1], "later_prices": [0, 2]})
_cross("drf", RM, DOUBLED, "resource_monotonicity", SMALL)
