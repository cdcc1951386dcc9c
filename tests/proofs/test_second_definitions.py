"""Second definitions: all that can have one do, it is apart from the first, and the two can disagree."""

import ast
import random
from fractions import Fraction as F
from pathlib import Path

import pytest

import proofs.definitions
from proofs import statements
from proofs.checking.cases import cases_of
from proofs.claims import Computation, Counterexample, Enumeration, Search
from proofs.definitions import definition, plain
from proofs.definitions.exact import InfeasibleError, determinant, largest, possible, solved, vertices
from proofs.definitions.registry import second_definition, second_method

HERE = Path(proofs.definitions.__file__).parent
FILES = sorted((HERE / "second").rglob("*.py"))

ALONE = {"heavy_gap"}
"""A simulation has no second method here: the library's chain is compared with it in tests."""

DRAWN = (Computation, Counterexample, Enumeration, Search)
CLAIMS = [
    (s.id, step.claim) for s in statements() for step in s.ask(s.question()) if isinstance(step.claim, DRAWN)
]
FUNCTIONS = sorted({claim.function for _, claim in CLAIMS})


def test_all_but_the_simulation_are_defined_twice():
    assert {name for name in FUNCTIONS if second_method(name) != "definition"} == ALONE
    assert len(FUNCTIONS) > 100


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(HERE)))
def test_second_definitions_call_nothing_of_the_first(path):
    allowed = {"proofs.errors", "proofs.definitions.registry", "proofs.definitions.exact"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module]
            if node.module == "proofs.definitions.registry":
                assert {a.name for a in node.names} <= {"define_again", "fraction", "fractions"}
        for name in names:
            own = name.startswith("proofs.definitions.second")
            library = name.split(".")[0] in ("fairness", "queueing", "capacity", "numpy", "scipy")
            assert own or name in allowed or not (name.startswith("proofs") or library), name


def judged(claim, case):
    """What the second definition says of a case, as plain data."""
    return second_definition(claim.function).function(plain(case), **claim.arguments)


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in ALONE])
def test_both_definitions_agree_on_the_catalogue(name):
    second = second_definition(name)
    for identity, claim in (pair for pair in CLAIMS if pair[1].function == name):
        if isinstance(claim, Computation):
            assert plain(second.function(**claim.arguments)) == plain(claim.value), identity
        elif isinstance(claim, Counterexample):
            told, again = (plain(f(**claim.arguments)) for f in (definition(name), second.function))
            assert again["holds"] is False, identity
            assert len(again) > 1
            assert {key: told[key] for key in again} == again
        else:
            number = 0
            for number, (case, holds) in enumerate(cases_of(claim), 1):
                if number <= 150:  # the rest is for check and verify, which ask for all of them
                    assert judged(claim, case) is holds is True, (identity, plain(case))
            if second.cases:
                assert second.cases(**claim.arguments) == number, identity


def poorer(value):
    """A case in which the last number that is found is one more."""
    if isinstance(value, dict):
        for key in reversed(value):
            changed = poorer(value[key])
            if changed is not None:
                return value | {key: changed}
    elif isinstance(value, list):
        for k in reversed(range(len(value))):
            changed = poorer(value[k])
            if changed is not None:
                return [*value[:k], changed, *value[k + 1 :]]
    elif isinstance(value, int) and not isinstance(value, bool):
        return value + 1
    elif isinstance(value, str):
        try:
            return str(F(value) + 1)
        except ValueError:
            return None
    return None


TELL = [
    "balance_below_others",
    "balanced_usage",
    "bmf_fixed_points",
    "bmf_path_pieces",
    "cpu_use_of_class_d",
    "dcdrf_lemma_rounds",
    "dcdrf_lonely_loss",
    "dcdrf_rounds_equal",
    "dcdrf_work",
    "duration_terms",
    "edrf_lies",
    "edrf_rounds_of",
    "exchange_loses_nothing",
    "filling_keeps_up",
    "integer_thresholds",
    "levels_and_full",
    "mass_of_totals",
    "minmax_fair",
    "one_server_cases",
    "two_classes",
]
"""Enumerations whose cases tell what was computed, as their last number."""


@pytest.mark.parametrize("name", TELL)
def test_another_number_in_a_case_is_noticed(name):
    claim = next(c for _, c in CLAIMS if c.function == name)
    told = [
        judged(claim, poorer(plain(case))) for (case, _), _ in zip(cases_of(claim), range(5), strict=False)
    ]
    assert False in told


# The same functions on other arguments than those of the catalogue.


def random_pool(rng, n, m, least=0):
    while True:
        rows = [[rng.randint(least, 4) for _ in range(m)] for _ in range(n)]
        if all(any(row) for row in rows):
            return {"demands": rows, "capacities": [rng.randint(1, 4) for _ in range(m)]}


def both(name, **arguments):
    values = [plain(f(**arguments)) for f in (definition(name), second_definition(name).function)]
    assert values[0] == values[1], (name, arguments)
    return values[0]


@pytest.mark.parametrize("name", ["drf_tasks", "mmf_tasks", "asset_tasks"])
def test_filling_is_max_min_by_assignments(name):
    rng = random.Random(1)
    for _ in range(60):
        both(name, **random_pool(rng, rng.randint(1, 4), rng.randint(1, 3)))


def test_other_bottleneck_max_fair_points():
    rng = random.Random(2)
    for _ in range(25):
        pool = random_pool(rng, rng.randint(1, 3), 2, least=1)
        assert both("bmf_vertices", **pool)


def test_other_runs_in_rounds():
    rng = random.Random(3)
    for _ in range(60):
        n, m = rng.randint(1, 4), rng.randint(1, 3)
        demands = [[F(d, 4) for d in row] for row in random_pool(rng, n, m)["demands"]]
        weights = rng.choice([None, [rng.randint(1, 5) for _ in range(n)]])
        both("edrf_tasks", demands=demands, weights=weights)
        both("dcdrf_tasks", demands=demands, epsilon=rng.choice([0, "1/10", "1/3"]), weights=weights)


def test_other_exchanges_and_orders():
    rng = random.Random(4)
    for _ in range(60):
        n = rng.randint(2, 4)
        needs = [[rng.randint(0, 1) for _ in range(3)] for _ in range(n)]
        brought = [[F(rng.randint(0, 9), 10) for _ in range(3)] for _ in range(n)]
        both("exchanged", contributions=brought, needs=needs, order=rng.sample(range(1, n + 1), n))
        pool = random_pool(rng, n, 2, least=1)
        pool["capacities"] = [c * 5 for c in pool["capacities"]]
        both("whole_task_order", **pool, ties=rng.sample(range(1, n + 1), n), poorest=rng.random() < 0.8)
        both("minmax_bundles", **pool)


def test_other_regions_and_mixes():
    rng = random.Random(5)
    for _ in range(40):
        shares = [[F(rng.randint(1, 9), rng.randint(1, 4)) for _ in range(rng.randint(1, 4))]]
        shares.append([F(rng.randint(1, 9), rng.randint(1, 4)) for _ in shares[0]])
        both("capacity_corners", shares=shares)
        both("balanced_bound", shares=shares, loads=["1/100", "1/90"])
        pool = {"demands": [[rng.randint(1, 5) for _ in range(2)] for _ in range(2)], "capacities": [16, 11]}
        for whole in (True, False):
            both("largest_mixes", **pool, whole=whole)
            both("mix_limit", **pool, direction=[rng.randint(1, 3), rng.randint(1, 3)], whole=whole)


def test_other_drifts():
    rng = random.Random(6)
    for _ in range(40):
        shares = [[F(rng.randint(1, 9), 4) for _ in range(2)] for _ in range(2)]
        for policy in ("PF", "DRF"):
            both(
                "fluid_drift",
                policy=policy,
                shares=shares,
                loads=[1, 1],
                counts=[rng.randint(1, 6), rng.randint(1, 6)],
            )


def test_other_clusters():
    rng = random.Random(7)
    for _ in range(60):
        n, s = rng.randint(1, 3), rng.randint(1, 2)
        cluster = {
            "demands": random_pool(rng, n, 2)["demands"],
            "capacities": [[rng.randint(1, 5) for _ in range(2)] for _ in range(s)],
            "weights": [rng.randint(1, 2) for _ in range(n)],
        }
        both("cluster_gammas", cluster=cluster)
        placement = [[F(rng.randint(0, 4), 2) for _ in range(s)] for _ in range(n)]
        both("psdsf_levels", cluster=cluster, placement=placement)
        for division in ("resource", "time"):
            both("psdsf_tasks", cluster=cluster, placement=placement, division=division)


# The tools.


def test_cramer_and_determinants():
    assert determinant([[F(2), F(1)], [F(4), F(3)]]) == 2
    assert solved([[F(2), F(1)], [F(4), F(3)]], [F(1), F(1)]) == [1, -1]
    assert solved([[F(1), F(2)], [F(2), F(4)]], [F(1), F(1)]) is None


def test_linear_programs_meet_the_best_vertex():
    rng = random.Random(8)
    for _ in range(60):
        n = rng.randint(1, 3)
        rows = [[F(rng.randint(0, 4)) for _ in range(n)] for _ in range(3)] + [[F(1)] * n]
        right = [F(rng.randint(0, 6)) for _ in range(3)] + [F(5)]
        gain = [F(rng.randint(-2, 5)) for _ in range(n)]
        best = max(sum(g * x for g, x in zip(gain, corner, strict=True)) for corner in vertices(rows, right))
        assert largest(gain, rows, right) == best
        # With a floor under the first variable the origin is no longer feasible.
        floor = [[F(-(k == 0)) for k in range(n)]]
        corners = vertices([*rows, *floor], [*right, F(-1)])
        assert possible([*rows, *floor], [*right, F(-1)]) is bool(corners)
        if corners:
            best = max(sum(g * x for g, x in zip(gain, corner, strict=True)) for corner in corners)
            assert largest(gain, [*rows, *floor], [*right, F(-1)]) == best
    with pytest.raises(InfeasibleError):
        largest([F(1)], [[F(1)], [F(-1)]], [F(1), F(-2)])
    with pytest.raises(ArithmeticError, match="unbounded"):
        largest([F(1)], [[F(-1)]], [F(0)])
