"""Definitions in plain fractions: each stands twice, the two are apart and agree, and notice what is wrong.

Comparisons of what they give are written once, run on both, and written again in tests/oracles/comparisons.

That both agree on what the catalogue asks is what its verdicts say (test_catalogue).
"""

import ast
import random
from dataclasses import replace
from fractions import Fraction as F
from itertools import islice
from pathlib import Path

import pytest

import proofs.definitions
from proofs import ProofError, SumSchema, statements
from proofs.catalogue import statement_named
from proofs.catalogue.bonald_roberts.queues import EXAMPLE
from proofs.checking import cases as checking_cases
from proofs.checking.cases import Disagreement, cases_of, counterexample
from proofs.claims import Computation, Counterexample, Enumeration, Search
from proofs.definitions import definition, fractions, plain, registry
from proofs.definitions.cloud.families import dcdrf_operations, light_tenants
from proofs.definitions.cloud.rounds import algorithm_1, algorithm_2, instances
from proofs.definitions.exact import InfeasibleError, determinant, largest, possible, solved, usage, vertices
from proofs.definitions.pools import bottleneck_max, filling, mechanisms, timed
from proofs.definitions.pools.filling import (
    are_optimal_prices,
    bottlenecks,
    filled,
    is_bottleneck_max,
    is_feasible,
    tasks_with,
)
from proofs.definitions.queues import drifts, enclosures
from proofs.definitions.queues.balance import balance_table, balanced_enclosure, store_and_forward_table
from proofs.definitions.registry import second_definition, second_method
from proofs.definitions.servers import points
from proofs.definitions.servers.shares import Servers, fits, is_leximin
from proofs.language.relations import relation
from proofs.prover.library import library_value
from tests.oracles.comparisons import cloud, pools, queues, servers, tasks
from tests.oracles.comparisons.judges import JUDGES
from tests.proofs.instances import random_pool, random_tenants

HERE = Path(proofs.definitions.__file__).parent
FILES = sorted((HERE / "second").rglob("*.py"))

ALONE = {"heavy_gap"}
"""A simulation has no second method here: the library's chain is compared with it in tests."""

DRAWN = (Computation, Counterexample, Enumeration, Search)
CLAIMS = [
    (s.id, step.claim) for s in statements() for step in s.ask(s.question()) if isinstance(step.claim, DRAWN)
]
FUNCTIONS = sorted({claim.function for _, claim in CLAIMS})
registry._load()
ON_BOTH = set(registry._ON_BOTH)


def test_all_but_the_simulation_are_defined_twice():
    assert {name for name in FUNCTIONS if second_method(name) != "definition"} == ALONE
    assert len(FUNCTIONS) > 100


@pytest.mark.long
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


WRITTEN_AGAIN = {
    name: function
    for room in (cloud, pools, queues, servers, tasks)
    for name, function in vars(room).items()
    if name in FUNCTIONS and name in ON_BOTH and name not in JUDGES
}


def test_comparisons_are_those_that_are_written_again():
    assert set(WRITTEN_AGAIN) | set(JUDGES) == ON_BOTH & set(FUNCTIONS)
    for name in ON_BOTH:
        assert second_definition(name).function is not definition(name)


@pytest.mark.parametrize("name", sorted(WRITTEN_AGAIN))
def test_a_comparison_written_again_says_the_same(name):
    for claim in (c for _, c in CLAIMS if c.function == name):
        told = plain(WRITTEN_AGAIN[name](**claim.arguments))
        values = plain(definition(name)(**claim.arguments))
        assert told == (values if not isinstance(values, dict) else {key: values[key] for key in told})


def test_comparisons_run_on_second_definitions(monkeypatch):
    """A mistake in a second definition is seen by what compares its values, and by nothing else."""
    again = second_definition("filled")
    claim = next(c for _, c in CLAIMS if c.function == "joining_times")

    def wrong(demands, capacities, rates):
        return [F(1, 7) for _ in demands]

    monkeypatch.setitem(registry._AGAIN, "filled", replace(again, function=wrong))
    with pytest.raises(Disagreement):
        counterexample(claim)
    assert definition("joining_times")(**claim.arguments)["holds"] is False
    bundles = next(c for _, c in CLAIMS if c.function == "lowest_share_incentive")
    assert counterexample(bundles)[1] is False


def test_another_case_by_the_second_definition_is_noticed(monkeypatch):
    """Both give the cases of an enumeration: another value, one case more, one less."""
    claim = next(c for _, c in CLAIMS if c.function == "dcdrf_rounds_quarter")
    again = second_definition("algorithm_2")

    def longer(demands, epsilon, weights=None, frozen=False):
        run = again.function(demands, epsilon, weights, frozen)
        return replace(run, levels=[*run.levels, F(9)])

    assert all(holds for _, holds in cases_of(claim))
    monkeypatch.setitem(registry._AGAIN, "algorithm_2", replace(again, function=longer))
    with pytest.raises(Disagreement, match="by the first and"):
        list(cases_of(claim))
    for change, said in (([-1], "None by the second"), ([1], "more cases by the second")):

        def other(name, change=change):
            def cases(most):
                return definition("dcdrf_rounds_quarter")(most + change[0])

            return replace(again, function=cases, gives=True)

        monkeypatch.setattr(checking_cases, "second_definition", other)
        with pytest.raises(Disagreement, match=said):
            list(cases_of(claim))


def judged(claim, case):
    """What the second definition, or the one of tests, says of a case, as plain data."""
    again = JUDGES.get(claim.function) or second_definition(claim.function)
    return again.function(plain(case), **claim.arguments)


def first_cases(claim):
    """The cases of a claim by the first definition; that the second agrees is asked of the catalogue."""
    for case, holds in checking_cases._given(claim, definition(claim.function)):
        yield plain(case), holds


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
    "endless_sweeps",
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


@pytest.mark.parametrize("claim", [c for _, c in CLAIMS if c.function in JUDGES], ids=lambda c: c.function)
def test_cases_judged_again_are_judged_the_same(claim):
    given = list(islice(first_cases(claim), 10))
    assert [judged(claim, case) for case, _ in given] == [holds for _, holds in given]


@pytest.mark.long
@pytest.mark.parametrize("claim", [c for _, c in CLAIMS if c.function in JUDGES], ids=lambda c: c.function)
def test_all_cases_judged_again_are_judged_the_same(claim):
    again, cases = JUDGES[claim.function], list(first_cases(claim))
    assert all(judged(claim, case) == holds for case, holds in cases)
    assert again.cases is None or again.cases(**claim.arguments) == len(cases)


# The same functions on other arguments than those of the catalogue, and the library where it is exact.


EXACT = {
    *("asset_tasks", "bmf_vertices", "capacity_corners", "cluster_gammas", "drf_tasks", "exchanged"),
    *("minmax_bundles", "mmf_tasks", "whole_task_order"),
}
"""Functions for which the library answers in fractions; test_definitions_by_library has the others."""


def both(name, **arguments):
    values = [plain(f(**arguments)) for f in (definition(name), second_definition(name).function)]
    assert values[0] == values[1], (name, arguments)
    if name in EXACT:
        assert plain(library_value(name, arguments)[0]) == values[0], (name, arguments)
    return values[0]


@pytest.mark.parametrize("name", ["drf_tasks", "mmf_tasks", "asset_tasks"])
def test_filling_is_max_min_by_assignments(name):
    rng = random.Random(1)
    for _ in range(60):
        pool = random_pool(rng, rng.randint(1, 4), rng.randint(1, 3))
        assert is_feasible(*map(fractions, pool.values()), fractions(both(name, **pool)))


def test_weighted_filling():
    both("drf_tasks", demands=[[1, 2], [3, 1]], capacities=[4, 6], weights=[1, 2])


def test_other_bottleneck_max_fair_points():
    rng = random.Random(2)
    for _ in range(25):
        pool = random_pool(rng, rng.randint(1, 3), 2, least=1)
        corners = fractions(both("bmf_vertices", **pool))
        assert corners
        assert all(is_bottleneck_max(*map(fractions, pool.values()), corner) for corner in corners)


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
        both("whole_task_order", **pool, ties=rng.sample(range(1, n + 1), n))
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


# What the definitions say of small cases, and what they must notice.


def claims_of(name):
    """The claims of a statement of the catalogue."""
    statement = statement_named(name)
    return [step.claim for step in statement.ask(statement.question())]


def test_fixed_points_by_hand():
    # Two users alike on one resource: levels 1/2 leave it where it is, as 2 * 1/2 fills it.
    assert [case["vertices"] for case, _ in pools_of_fixed_points([[2, 1, 1]])] == [[[F(1, 2), F(1, 2)]]]
    # Users of one resource each: both full, levels 1, no room.
    case = next(c for c, _ in pools_of_fixed_points([[2, 2, 1]]) if c["demands"] == ((0, 1), (1, 0)))
    assert case["vertices"] == [[1, 1]]


def pools_of_fixed_points(sizes):
    return list(definition("bmf_fixed_points")(sizes=sizes))


def test_what_is_no_fixed_point_is_noticed(monkeypatch):
    assert all(holds for _, holds in pools_of_fixed_points([[2, 2, 2]]))
    monkeypatch.setattr(bottleneck_max, "bmf_vertices", lambda a, c: [definition("mmf_tasks")(a, c)])
    assert not all(holds for _, holds in pools_of_fixed_points([[2, 2, 2]]))
    monkeypatch.setattr(bottleneck_max, "bmf_vertices", lambda a, c: [])
    assert not any(holds for _, holds in pools_of_fixed_points([[2, 2, 2]]))


def test_a_broken_piece_is_noticed():
    arguments = {"demands": [[1, 3], [3, 2]], "capacities": [1, 1]}
    assert not all(holds for _, holds in definition("bmf_path_pieces")(**arguments, capped=False))


def test_prices():
    third = fractions([[1, 1, 1], [2, 1, "3/2"], [1, 2, "3/2"]])
    tasks, ones = fractions(["1/3", "2/9", "2/9"]), [F(1)] * 3
    assert are_optimal_prices(third, ones, tasks, fractions([0, 0, 3]))
    assert are_optimal_prices(third, ones, tasks, fractions(["3/2", "3/2", 0]))  # resource 3 is their mean
    assert not are_optimal_prices(third, ones, tasks, fractions([3, 0, 0]))
    assert not are_optimal_prices(third, ones, fractions(["2/5", "1/5", "1/5"]), fractions([0, 0, 3]))
    assert not are_optimal_prices(third, ones, tasks, fractions([-1, -1, 5]))
    assert definition("pf_tasks")(demands=[[1, 3], [3, 2]], capacities=[1, 1], prices=[2, 0]) is None


def test_bundles_and_bottlenecks():
    assert tasks_with(fractions([1, 0, 2]), fractions([3, 0, 1])) == F(1, 2)
    assert bottlenecks(fractions([[1, 3], [3, 2]]), fractions([1, 1]), fractions(["1/6", "1/4"])) == [
        [1],
        [1],
    ]
    assert bottlenecks(fractions([[1, 3], [3, 2]]), fractions([1, 1]), fractions(["1/5", "1/5"])) == [[1], []]
    assert usage(fractions([[1, 3], [3, 2]]), fractions(["1/5", "1/5"])) == [F(4, 5), 1]


def test_lies_are_of_use_under_another_rule(monkeypatch):
    # So the enumeration of lies can fail.
    monkeypatch.setattr(filling, "drf_tasks", filling.mmf_tasks)
    assert not all(holds for _, holds in filling.drf_lies(2, 2, 2))


def test_tables_by_hand():
    table = balance_table(fractions([[1, 2], [3, 1]]), 2)
    assert (table[1, 0], table[0, 1], table[1, 1]) == (2, 3, 9)  # max(1*3 + 3*2, 2*3 + 1*2) = 9
    series = store_and_forward_table(fractions([[1, 2], [3, 1]]), 2)
    # (1 - p - 3q)^-1 (1 - 2p - q)^-1: the coefficient of pq is 6 + 1*1 + 3*2 + 4.
    assert (series[1, 0], series[1, 1]) == (3, 17)


def test_an_enclosure_with_few_states_is_wide_but_right():
    shares, rho = fractions(EXAMPLE), [F(9, 11)] * 2
    low, high = balanced_enclosure(shares, rho, 60)[0]
    assert low < F("10.7588") < high
    assert high - low > 1
    assert "between" in definition("balanced_durations")(shares, rho, 60)[0]


def test_an_enclosure_of_pf_by_a_small_box_is_wide_but_right():
    shares, rho = fractions(EXAMPLE), [F(15, 31), F(5, 31)]
    for (low, high), value in zip(
        enclosures.pf_enclosure(shares, rho, [16, 16]), ("2.0010", "1.2634"), strict=True
    ):
        assert low < F(value) < high
        assert 1e-4 < high - low < 1
    assert "between" in definition("pf_durations")(shares, rho, [16, 16])[0]
    low, high = enclosures.pf_enclosure(shares, rho, [4, 4])[0]
    assert low < F("2.0010") < high
    with pytest.raises(ProofError, match="below 1"):
        definition("pf_durations")(shares, [F(1), F(1)], [4, 4])


def pf_bounds(change=None, box=(36, 20)):
    """Bounds of an example, with another function inside the box than the one that is found."""
    found = enclosures._Eliminated.function
    with pytest.MonkeyPatch.context() as patch:
        if change is not None:
            patch.setattr(
                enclosures._Eliminated, "function", lambda self, k, delta: change(found, self, k, delta)
            )
        return enclosures._enclosed.__wrapped__(
            ((F(1), F(1, 10)), (F(1, 10), F(1))), (F(15, 31), F(5, 31)), box
        )


def test_an_enclosure_of_pf_trusts_no_number_inside_the_box():
    # Whatever the elimination gives, the bounds hold; they only become wider.
    def bent(found, self, k, delta):
        return {x: v * (1 + 0.01 * ((3 * x[0] + 5 * x[1]) % 7)) for x, v in found(self, k, delta).items()}

    for (low, high), value in zip(pf_bounds(bent), ("2.0010", "1.2634"), strict=True):
        assert low < F(value) < high
        assert high - low > 0.1


def test_an_enclosure_of_pf_sees_what_is_next_to_the_box():
    plain = pf_bounds()
    # A function for 0 outside is far from V there, on both sides.
    for (low, high), (best_low, best_high) in zip(
        pf_bounds(lambda found, self, k, delta: found(self, k, 0.0)), plain, strict=True
    ):
        assert low < best_low - 1
        assert high > best_high + 1
    # Larger than V inside, jobs that leave the outside would seem to be no loss.
    for sign in (1, -1):
        with pytest.raises(ProofError, match="too large"):
            pf_bounds(
                lambda found, self, k, delta, sign=sign: {
                    x: v + (sign * 1e5 if delta * sign > 0 else 0.0) for x, v in found(self, k, delta).items()
                }
            )


def test_an_enclosure_of_pf_looks_at_the_outside(monkeypatch):
    shares, rho = fractions(EXAMPLE), [F(15, 31), F(5, 31)]
    for x in [(0, 0), (0, 3), (7, 1), (20, 25), (1, 40)]:
        tasks = enclosures._tasks(shares, x)
        change = F(0)
        for n, r, t in zip(x, rho, tasks, strict=True):
            change += r * F((n + 1) ** 2 - n**2) / r + t * F((n - 1) ** 2 - n**2) / r
        assert enclosures._drift_of_squares(shares, rho, x) == change
    monkeypatch.setattr(enclosures, "_drift_of_squares", lambda shares, rho, x: F(10**6))
    assert all(high > 10**5 and low < -(10**5) for low, high in pf_bounds(box=(4, 4)))


def test_classes_that_do_not_demand_the_full_resource_may_stop_later():
    # Classes 1 and 2 share resource 1 and stop at level 1/2; class 3 has resource 2 for itself, level 1. With
    # equal loads 1/4 the maximum V of r x/rho is 4, and class 3 runs more than t V rho = 1/2.
    shares, ones, rho = fractions([[1, 0], [1, 0], [0, 1]]), [F(1)] * 3, [F(1, 4)] * 3
    tasks, level, top = filled(shares, [F(1)] * 2, ones), F(1, 2), F(4)
    assert tasks == [F(1, 2), F(1, 2), F(1)]
    assert tasks[2] > level * top * rho[2]
    values = {"t": level, "V": top}
    for i, (row, x, r) in enumerate(zip(shares, tasks, rho, strict=True), 1):
        values |= {f"a_i{i}": row[0], f"rho_i{i}": r, f"f_i{i}": x}
    # The step that adds up what all hold of resource 1 is about this state too: its hypotheses are met.
    [schema] = [c for c in claims_of("br-drf-stable") if isinstance(c, SumSchema)]
    added = schema.instance(3)
    assert all(relation(text).holds(values) for text in added.hypotheses.values())
    assert relation(added.conclusion).holds(values)


def test_a_policy_that_does_not_keep_up_is_noticed(monkeypatch):
    families = [[2, 2, 1, 2]]
    assert all(holds for _, holds in definition("filling_keeps_up")(families))
    half = drifts.filled_with_jobs
    monkeypatch.setattr(drifts, "filled_with_jobs", lambda a, r: [x / 2 for x in half(a, r)])
    assert not all(holds for _, holds in definition("filling_keeps_up")(families))


def test_equilibria_are_checked():
    rng = random.Random(3)
    for _ in range(60):
        demands = random_pool(rng, rng.randint(2, 4), rng.randint(1, 3), least=1)["demands"]
        prices = [F(rng.randint(1, 5), rng.randint(1, 5)) for _ in demands[0]]
        bought = [1 / sum(p * d for p, d in zip(prices, row, strict=True)) for row in demands]
        capacities = [
            sum(x * row[j] for x, row in zip(bought, demands, strict=True)) for j in range(len(prices))
        ]
        assert mechanisms.ceei_tasks(demands, capacities, prices) == bought
        for wrong in ([c / 2 for c in capacities], [c * 2 for c in capacities]):
            with pytest.raises(ProofError, match="does not clear"):
                mechanisms.ceei_tasks(demands, wrong, prices)


@pytest.mark.parametrize("policy", ["drf", "asset"])
def test_ticks_hold_on_random_pools(policy):
    rng = random.Random(4)
    for _ in range(80):
        demands, capacities = random_pool(rng, 3, rng.randint(1, 3), least=1, largest=20).values()
        claim = [rng.randint(1, 5) for _ in capacities]
        assert mechanisms.truthfulness(policy, demands, capacities, claim)["holds"]
        assert mechanisms.population_monotonicity(policy, demands, capacities)["holds"]
        if policy == "drf":
            assert mechanisms.sharing_incentive(policy, demands, capacities)["holds"]


def test_definitions_refuse_what_they_do_not_mean():
    with pytest.raises(ProofError, match="dominant for all"):
        mechanisms.bottleneck_fairness("drf", [[1, 2], [2, 1]], [1, 1])
    with pytest.raises(ProofError, match="capacity falls"):
        mechanisms.resource_monotonicity("drf", [[1, 2], [2, 1]], [1, 1], [2, "1/2"])


def test_work_of_an_instance_counted_by_hand():
    """One round ends for both tenants with the resource that they share; they have three demands."""
    counted = dcdrf_operations([[F(1), F(0)], [F(1), F(1)]], F(0), [3, 1])
    assert counted["I"] == 1
    # One resource is full after one round, and both tenants demand it.
    assert [counted[f"line {k}"] for k in ("8", "13", "15", "16", "17", "18", "23")] == [3, 2, 2, 2, 3, 2, 3]
    demands, weights = light_tenants(3, 2, 4)
    assert algorithm_2(demands, F(0), weights).rounds == 4


def test_instances_are_all_but_for_the_order():
    assert sum(1 for _ in instances(2, 2, 2)) == 8 * 9 // 2
    assert all(0 < max(row) <= 1 for demands in instances(2, 2, 2) for row in demands)


def test_random_lies_of_groups_of_any_size():
    """Not all members gain, with weights per resource and larger demands than edrf-strategyproof tries."""
    rng = random.Random(4)
    for _ in range(400):
        rows, _ = random_tenants(rng)
        n, m = len(rows), len(rows[0])
        weights = [[F(rng.randint(1, 9)) for _ in row] for row in rows]
        group = rng.sample(range(n), rng.randint(1, n))
        claims = list(rows)
        for i in group:
            claims[i] = [F(rng.choice([0, rng.randint(1, 8)]), 8) for _ in range(m)]
            claims[i][rng.randrange(m)] = F(1)
        honest, held = algorithm_1(rows, weights).tasks(rows), algorithm_1(claims, weights).held
        assert any(tasks_with(rows[i], held[i]) <= honest[i] for i in group)


def test_several_first_users_are_no_case_of_the_paper():
    with pytest.raises(NotImplementedError):
        timed.tdrf_tasks([[1, 2], [3, 1]], [9, 9], [0, 0])


@pytest.mark.parametrize("division", ["resource", "time"])
def test_tasks_where_they_may_not_run_do_not_fit(division):
    model = Servers.of({"demands": [[1]], "capacities": [[1], [1]], "eligible": [[1, 0]]})
    assert fits(model, [[F(1), F(0)]], division)
    assert not fits(model, [[F(0), F(1)]], division)


def test_half_of_max_min_fair_shares_are_not():
    case = claims_of("psdsf-tsf-bottleneck-fair")[0].arguments
    model, x, prices = (Servers.of(case["cluster"]), *fractions([case["placement"], case["prices"]]))
    assert is_leximin(model, x, "unconstrained", prices)
    assert not is_leximin(model, [[v / 2 for v in row] for row in x], "unconstrained", prices)


def test_the_threshold_of_the_enumeration_can_be_missed():
    arguments = {"denominator": 570, "largest": "2/15"}
    for threshold, holds in (("37/285", True), ("73/570", False), ("75/570", False)):
        cases = definition("cpu_use_of_class_d")(**arguments, threshold=threshold)
        assert all(well for _, well in cases) is holds


def test_only_false_claims_that_cost_nothing_refute_the_lemma():
    function = definition("false_claim_hurts_nobody_else")
    case = claims_of("psdsf-lemma-1")[0].arguments
    assert not function(**case)["holds"]
    # No lie, another user lies as well, or placements that are not PS-DSF: nothing is refuted.
    assert function(**case | {"lie": case["cluster"]["eligible"], "after": case["placement"]})["holds"]
    assert function(**case | {"lie": [[1, 1], [1, 1]]})["holds"]
    assert function(**case | {"after": [[1, 49], [0, 51]]})["holds"]
    # Where the server is really open to user 1 the claim is the truth.
    open_to_both = case["cluster"] | {"eligible": [[1, 1], [0, 1]]}
    assert function(**case | {"cluster": open_to_both, "placement": case["after"]})["holds"]


@pytest.mark.parametrize("name", ["hiding_hurts_nobody_else", "lying_hurts_nobody_else"])
def test_a_search_for_lies_that_hurt_can_fail(monkeypatch, name):
    assert all(definition(name)(random.Random(k), 2, 2, 5)[1] for k in range(4))
    given = points.psdsf_points
    told = []

    def worse_for_others(model):
        told.append(given(model))
        return told[-1] if len(told) == 1 else [[told[0][0][0] * 100, F(0)]]

    monkeypatch.setattr(points, "psdsf_points", worse_for_others)
    rng = random.Random(0)
    while len(told) != 2:
        told.clear()
        case, holds = definition(name)(rng, 2, 2, 5)
    assert not holds, case
