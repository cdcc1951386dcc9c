"""Statements of the PS-DSF paper: verdicts, mutants, and the witnesses without the definitions."""

import itertools
from fractions import Fraction as F
from functools import cache

import numpy as np
import pytest

from fairness.evidence.clusters import resource_division_certificate, time_division_certificate
from fairness.model.cluster import Cluster
from fairness.policies.servers.psdsf import PSDSF
from fairness.properties.exact.enclosure import enclose
from proofs import ProofError, Status, check, verify
from proofs.catalogue import statement_named
from proofs.catalogue.psdsf import mechanism as psdsf
from proofs.definitions import definition, fractions
from proofs.definitions.servers.points import psdsf_points
from proofs.definitions.servers.shares import (
    Servers,
    cannot_gain,
    envies,
    fits,
    is_leximin,
    is_psdsf,
    uniform_tasks,
)
from proofs.prover.library import library_value
from tests.proofs.needed import shows_the_need

EXPECTED = {
    "psdsf-time-implies-resource": "PROVED",
    "psdsf-theorem-1": "PROVED",
    "psdsf-theorem-2": "PROVED",
    "psdsf-single-server": "PROVED",
    "psdsf-sharing-incentive": "PROVED",
    "psdsf-sharing-incentive-two-users": "PROVED",
    "psdsf-envy-free": "PROVED",
    "psdsf-bottleneck-fair": "PROVED",
    "psdsf-time-fisher-market": "PROVED",
    "psdsf-time-pareto": "PROVED",
    "psdsf-time-unique": "PROVED",
    "psdsf-lemma-2": "PROVED",
    "psdsf-time-strategy-proof": "PROVED",
    "psdsf-lemma-1": "REFUTED",
    "psdsf-lemma-1-hidden-servers": "SUPPORTED",
    "psdsf-lemma-1-demands": "SUPPORTED",
    "psdsf-lemma-1-one-server": "PROVED",
    "psdsf-figure-1": "PROVED",
    "psdsf-figure-2": "PROVED",
    "psdsf-table-4": "PROVED",
    "psdsf-two-servers": "PROVED",
    "psdsf-all-drf-properties": "REFUTED",
    "psdsf-resource-pareto": "REFUTED",
    "psdsf-definition-5-for-totals": "REFUTED",
    "psdsf-resource-unique": "REFUTED",
    "psdsf-resource-strategy-proof": "REFUTED",
    "psdsf-time-slots-strategy-proof": "REFUTED",
    "psdsf-c-drfh-bottleneck-fair": "REFUTED",
    "psdsf-tsf-bottleneck-fair": "REFUTED",
    "psdsf-tsf-sharing-incentive": "REFUTED",
    "psdsf-cpu-full-under-any-mechanism": "REFUTED",
    "psdsf-memory-full": "REFUTED",
    "psdsf-greater-cpu-use": "PROVED",
    "psdsf-fluid-stability": "REFUTED",
}
MUTANTS = [(s.id, m) for s in psdsf.STATEMENTS for m in s.mutants]


@cache
def verdict(name):
    return check(name)


def test_the_table_names_every_statement():
    assert sorted(EXPECTED) == sorted(s.id for s in psdsf.STATEMENTS)


@pytest.mark.parametrize("name", EXPECTED)
def test_verdicts(name):
    answer = verdict(name)
    assert answer.status == Status(EXPECTED[name]), answer
    verify(answer)


def negative_values(answer):
    """Witnesses of mutants with values below 0; nobody would call them counterexamples."""
    kinds = [f.evidence for f in answer.findings if f.status == Status.REFUTED]
    values = [e["values"] for e in kinds if e["kind"] == "assignment"]
    return [v for v in values if min(map(F, v.values())) < 0]


@pytest.mark.parametrize(("name", "hypothesis"), MUTANTS)
def test_mutants(name, hypothesis):
    answer = check(name, drop=[hypothesis])
    if hypothesis in ("weights", "equal weights", "constraints") and name != "psdsf-single-server":
        # Another instance has other values: no proof of the stated ones, and nothing refuted in general.
        assert answer.status == Status.UNKNOWN
        assert "where the statement says" in answer.reason
    else:
        assert shows_the_need(answer), answer
        # Without "part" the negative time is the point.
        assert not negative_values(answer) or hypothesis == "part"
    verify(answer)


def test_proved_statements_have_mutants():
    assert all(statement_named(name).mutants for name, status in EXPECTED.items() if status == "PROVED")


@pytest.mark.parametrize(
    ("name", "sizes"), [(s.id, {k: v.most + 1}) for s in psdsf.STATEMENTS for k, v in s.sizes.items()]
)
def test_sizes_out_of_scope(name, sizes):
    with pytest.raises(ProofError, match="is checked for"):
        check(name, **sizes)


@pytest.mark.parametrize(
    "name", ["psdsf-theorem-1", "psdsf-sharing-incentive", "psdsf-time-pareto", "psdsf-time-unique"]
)
def test_other_sizes(name):
    sizes = {k: v.least for k, v in statement_named(name).sizes.items()}
    assert check(name, **sizes).status == Status.PROVED


def random_cluster(rng):
    n, s, m = rng.integers(1, 4), rng.integers(1, 4), rng.integers(1, 4)
    demands, capacities = rng.integers(0, 4, (n, m)), rng.integers(0, 5, (s, m))
    demands[np.arange(n), rng.integers(0, m, n)] += 1
    capacities[rng.integers(s)] = rng.integers(1, 5, m)
    eligible = rng.random((n, s)) < 0.8
    able = np.array(
        [[all(c >= 1 for c, d in zip(cap, row, strict=True) if d) for cap in capacities] for row in demands]
    )
    usable = able & eligible
    if not usable.any(1).all() or not usable.any(0).all():
        return random_cluster(rng)
    return {
        "demands": demands.tolist(),
        "capacities": capacities.tolist(),
        "eligible": eligible.astype(int).tolist(),
        "weights": rng.integers(1, 4, n).tolist(),
    }


def library(cluster):
    return Cluster(
        fractions(cluster["demands"]),
        fractions(cluster["capacities"]),
        eligible=np.array(cluster["eligible"], bool),
        weights=fractions(cluster["weights"]),
    )


@pytest.mark.parametrize("division", ["resource", "time"])
def test_definitions_and_library_agree_on_random_clusters(division):
    rng, met = np.random.default_rng(11), 0
    certificate = resource_division_certificate if division == "resource" else time_division_certificate
    for _ in range(30):
        given = random_cluster(rng)
        model, cluster, policy = Servers.of(given), library(given), PSDSF(division=division)
        assert np.allclose(np.array(model.gamma, float), cluster.gamma, rtol=1e-14)
        exact = enclose(policy, cluster, policy.solve(cluster).placement)
        if not hasattr(exact, "lower"):
            continue
        placement = exact.lower.tolist()
        assert is_psdsf(model, placement, division)
        assert cannot_gain(model, placement, division)
        # The two properties that are proved for both divisions hold.
        assert all(sum(x) >= u for x, u in zip(placement, uniform_tasks(model), strict=True))
        assert not any(envies(model, placement, n, p) for n, p in itertools.permutations(model.users, 2))
        # A placement with one tenth less on one server is not PS-DSF, for definition and library.
        n, i = next((n, i) for n, row in enumerate(placement) for i, x in enumerate(row) if x)
        placement[n][i] *= F(9, 10)
        wrong = certificate(cluster, None, np.array(placement, float)).residual > 1e-6
        assert is_psdsf(model, placement, division) == cannot_gain(model, placement, division) == (not wrong)
        met += 1
    assert met >= 20


def test_second_methods_name_the_same_values():
    for step in [
        s for name in ("psdsf-figure-1", "psdsf-figure-2", "psdsf-table-4") for s in verdict(name).findings
    ]:
        claim = step.claim
        value, how = library_value(claim["function"], claim["arguments"])
        if how is not None:
            assert value == definition(claim["function"])(**claim["arguments"])


def test_all_points_hold_the_one_of_the_library():
    rng, met = np.random.default_rng(3), 0
    while met < 12:
        given = {
            "demands": rng.integers(1, 5, (2, 2)).tolist(),
            "capacities": rng.integers(1, 5, (2, 2)).tolist(),
        }
        points = psdsf_points(Servers.of(given))
        policy, cluster = PSDSF(), Cluster(fractions(given["demands"]), fractions(given["capacities"]))
        exact = enclose(policy, cluster, policy.solve(cluster).placement)
        if hasattr(exact, "lower"):
            assert [sum(row) for row in exact.lower.tolist()] in points
            met += 1


def levels(cluster, x):
    """Tasks over weight times tasks alone, by hand: (user, server) -> level, where the user can run."""
    d, c = cluster["demands"], cluster["capacities"]
    found = {}
    for n, i in itertools.product(range(len(d)), range(len(c))):
        if cluster.get("eligible", [[1] * len(c)] * len(d))[n][i]:
            alone = min(F(b) / F(a) for a, b in zip(d[n], c[i], strict=True) if F(a))
            if alone:
                found[n, i] = sum(map(F, x[n])) / alone / cluster.get("weights", [1] * len(d))[n]
    return found


def use(cluster, x, i):
    columns = zip(*cluster["demands"], strict=True)
    return [sum(F(x[n][i]) * F(d) for n, d in enumerate(column)) for column in columns]


def has_bottlenecks(cluster, x):
    level = levels(cluster, x)
    assert all(
        use(cluster, x, i)[r] <= F(c)
        for i, row in enumerate(cluster["capacities"])
        for r, c in enumerate(row)
    )
    return all(
        any(
            F(cluster["demands"][n][r])
            and use(cluster, x, i)[r] == F(cluster["capacities"][i][r])
            and all(level[p, i] <= mine for p in range(len(x)) if F(x[p][i]) * F(cluster["demands"][p][r]))
            for r in range(len(cluster["demands"][0]))
        )
        for (n, i), mine in level.items()
    )


def argument(name, step=0):
    return verdict(name).findings[step].claim["arguments"]


def test_the_unfair_and_dominated_placements_by_hand():
    for name in ("psdsf-resource-pareto", "psdsf-definition-5-for-totals", "psdsf-all-drf-properties"):
        case = argument(name)
        assert has_bottlenecks(case["cluster"], case["placement"])
        for i, row in enumerate(case["cluster"]["capacities"]):
            assert all(u <= c for u, c in zip(use(case["cluster"], case["better"], i), row, strict=True))
        pairs = zip(case["placement"], case["better"], strict=True)
        assert all(sum(map(F, x)) < sum(map(F, y)) for x, y in pairs)
    case = argument("psdsf-resource-unique")
    one, other = case["placement"], case["other"]
    assert has_bottlenecks(case["cluster"], one)
    assert has_bottlenecks(case["cluster"], other)
    assert [sum(map(F, row)) for row in one] == [F(103, 63), F(103, 126)]
    assert [sum(map(F, row)) for row in other] == [F(53, 33), F(53, 66)]


def test_the_lies_by_hand():
    case = argument("psdsf-resource-strategy-proof")
    assert has_bottlenecks(case["cluster"], case["placement"])
    assert has_bottlenecks(case["cluster"] | {"eligible": case["lie"]}, case["after"])
    assert F(2, 3) + F(6, 13) == F(44, 39) < F(52, 45)
    # All demand all, so these are the only PS-DSF allocations before and after.
    assert psdsf_points(Servers.of(case["cluster"])) == [[F(44, 39), F(11, 13)]]
    assert psdsf_points(Servers.of(case["cluster"] | {"eligible": case["lie"]})) == [[F(52, 45), F(13, 15)]]
    # Divided time: alone (2, 1) and (1/2, 3/4); claimed (2/5, 1/2). Time 1 and 1/10 of the servers, user 2
    # has 9/10.
    assert min(F(2), F(3)) == 2
    assert (min(F(2, 5), F(3, 2)), min(F(3, 5), F(1, 2))) == (F(2, 5), F(1, 2))
    x1, x2 = F(2, 5) + F(1, 10) * F(1, 2), F(9, 10) * F(3, 4)
    assert x1 / F(1, 2) == x2 / F(3, 4)
    assert x1 / F(2, 5) <= x2 / F(1, 2)
    assert 1 * F(2) + F(1, 10) * 1 == F(21, 10) > 2


@pytest.mark.parametrize("division", ["resource", "time"])
def test_tasks_where_they_may_not_run_do_not_fit(division):
    model = Servers.of({"demands": [[1]], "capacities": [[1], [1]], "eligible": [[1, 0]]})
    assert fits(model, [[F(1), F(0)]], division)
    assert not fits(model, [[F(0), F(1)]], division)


def test_half_of_max_min_fair_shares_are_not():
    case = argument("psdsf-tsf-bottleneck-fair")
    model, x, prices = (Servers.of(case["cluster"]), *fractions([case["placement"], case["prices"]]))
    assert is_leximin(model, x, "unconstrained", prices)
    assert not is_leximin(model, [[v / 2 for v in row] for row in x], "unconstrained", prices)


def test_the_shares_by_hand():
    # Figure 1: RAM is full (24), so C-DRFH and TSF, equal shares that fill it, cannot be raised.
    assert 2 * F(60, 23) + 2 * F(72, 23) + F(288, 23) == 24 == 2 * 2 + 2 * 2 + 16
    assert F(60, 23) / 10 == F(72, 23) / 12 == F(288, 23) / 48
    assert F(2, 6) == F(2, 6) == F(16, 48)
    # TSF without sharing incentive: (1, 1) fills memory of server 1 and CPU of server 2 at equal shares 1/11.
    assert (F(1) * 1, F(1) * 1 + 0) == (1, 1)
    assert (10 / F(1, 10), F(1) / 1, F(1, 10) / F(1, 10)) == (100, 1, 1)
    assert (F(1) + 10) / 2 > 1


def test_the_utilisation_by_hand():
    # PS-DSF of Table IV: 210 tasks of user 1 and 105 of user 2 on A and B with 42 CPU.
    assert (210 * F(1, 10) + 105 * F(1, 10)) / 42 == F(3, 4)
    assert (210 * F(1, 10) + 105 * F(2, 15)) / 42 == F(5, 6)
    # Without user 4, TSF puts 27.5 tasks of user 3 on class D: all of its 5.5 CPU, a third of its 8.25
    # memory.
    assert F(55, 2) * F(1, 5) / F(11, 2) == 1
    assert F(55, 2) * F(1, 10) / F(33, 4) == F(1, 3)


def without_user_4(c, t):
    """Table IV without user 4, c CPU for a task of user 2, and the placement with t tasks of user 2."""
    cluster = {
        "demands": [[F(1, 10), F(1, 10)], [c, F(1, 5)], [F(1, 5), F(1, 10)]],
        "capacities": [[8, 8], [34, 34], [F(33, 2), F(33, 4)], [F(11, 2), F(33, 4)]],
        "eligible": [[1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 1, 1]],
    }
    placement = [
        [80, 2 * t - 80, 0, 0],
        [0, 210 - t, 0, 2 * t - 210],
        [0, 0, F(165, 2), F(2, 3) * t - F(165, 2)],
    ]
    return cluster, placement


def test_the_cpu_of_class_d_by_hand():
    # At 1/10 as at 37/285 memory stops class D; at 37/285 its CPU is just full, at 2/15 with fewer tasks.
    for c, t, part in (
        (F(1, 10), F(1755, 14), F(60, 77)),
        (F(37, 285), F(1755, 14), F(1)),
        (F(2, 15), F(125), F(1)),
    ):
        cluster, placement = without_user_4(c, t)
        assert has_bottlenecks(cluster, placement)
        assert use(cluster, placement, 3)[0] / F(11, 2) == part
    cluster, placement = without_user_4(F(1, 10), F(125))
    assert not has_bottlenecks(cluster, placement)
    # The paper's claim is neither proved nor refuted: the demand is a parameter of the statement.
    assert "0 < c <= 2/15" in statement_named("psdsf-greater-cpu-use").scope


def test_the_policy_ends_at_these_placements():
    for c, t in ((F(1, 10), F(1755, 14)), (F(2, 15), F(125))):
        given, placement = without_user_4(c, t)
        model, policy = library(given | {"weights": [1, 1, 1]}), PSDSF()
        exact = enclose(policy, model, policy.solve(model).placement)
        assert [sum(row) for row in exact.lower.tolist()] == [sum(row) for row in placement]


def test_the_threshold_of_the_enumeration_can_be_missed():
    arguments = {"denominator": 570, "largest": "2/15"}
    for threshold, holds in (("37/285", True), ("73/570", False), ("75/570", False)):
        cases = definition("cpu_use_of_class_d")(**arguments, threshold=threshold)
        assert all(well for _, well in cases) is holds


def test_the_false_claim_by_hand():
    # Servers (1, 1) and (100, 100), one task needs (1, 1); user 1 can use only the first, user 2 the second.
    case = argument("psdsf-lemma-1")
    assert has_bottlenecks(case["cluster"], case["placement"])
    assert case["placement"] == [[1, 0], [0, 100]]
    claimed = case["cluster"] | {"eligible": case["lie"]}
    assert has_bottlenecks(claimed, case["after"])
    # Server 1 is full with 1 task; on server 2 the levels (1 + 99/2)/100 and (101/2)/100 are equal, and full.
    assert 1 + F(99, 2) == F(101, 2) == 100 - F(99, 2)
    # On the only server where it can run user 1 has 1 task before and after; user 2 loses 99/2.
    assert case["after"][0][0] == 1 == case["placement"][0][0]
    assert F(case["after"][1][1]) < 100


def test_only_false_claims_that_cost_nothing_refute_the_lemma():
    function = definition("false_claim_hurts_nobody_else")
    case = argument("psdsf-lemma-1")
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
    from random import Random

    from proofs.definitions.servers import points as servers_points

    assert all(definition(name)(Random(k), 2, 2, 5)[1] for k in range(4))
    given = servers_points.psdsf_points
    told = []

    def worse_for_others(model):
        told.append(given(model))
        return told[-1] if len(told) == 1 else [[told[0][0][0] * 100, F(0)]]

    monkeypatch.setattr(servers_points, "psdsf_points", worse_for_others)
    rng = Random(0)
    while len(told) != 2:
        told.clear()
        case, holds = definition(name)(rng, 2, 2, 5)
    assert not holds, case


def test_the_growing_ray_by_hand():
    case = argument("psdsf-fluid-stability")
    cluster = case["cluster"] | {"weights": case["jobs"]}
    assert has_bottlenecks(cluster, case["placement"])
    served = [sum(map(F, row)) for row in case["placement"]]
    loads = [sum(map(F, row)) for row in case["optimal"]]
    assert loads[0] / loads[1] == F(3, 7)
    growth = [(load - x) / jobs for load, x, jobs in zip(loads, served, case["jobs"], strict=True)]
    assert growth[0] == growth[1] == F(35, 2189) > 0
    for i, row in enumerate(cluster["capacities"]):
        assert all(u < c for u, c in zip(use(cluster, case["optimal"], i), row, strict=True))
