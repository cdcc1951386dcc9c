"""The independent checker on the classical counterexamples, and on witnesses that are none."""

import ast
import math
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from fairness import (
    DRF,
    AlphaFair,
    AssetFair,
    BottleneckMax,
    Cluster,
    MaxMin,
    Problem,
    ProportionalFair,
)
from fairness.policies.servers.per_server import PerServerDRF
from fairness.policies.servers.psdsf import PSDSF
from fairness.policies.servers.task_share import CDRF, CDRFH, DRFH, TSF
from fairness.properties.changes.changed_model import Grow, Join, Leave, Lie, Units
from fairness.properties.definitions.catalogue import PROPERTIES, property_named
from fairness.properties.exact import statements
from fairness.properties.exact.confirm import confirm
from fairness.properties.exact.enclosure import enclose
from fairness.properties.exact.rational import rational
from fairness.properties.exact.statements import COMPARISONS, JUDGEMENTS, Situation, legal
from fairness.properties.protocol.property import Finding, Witness, division_of
from fairness.testing import random_cluster, random_problem

F = Fraction


def witness_of(policy, name, model, change=None):
    """A witness with what the policy answers, whether it violates anything or not."""
    prop = property_named(name)
    before = policy(model, np.ones(model.n_classes))
    after = None
    if change is not None:
        changed = change.apply(model)
        after = policy(changed, np.ones(changed.n_classes))
    finding = Finding(prop.name, 1.0, text="by hand")
    return Witness("policy", prop.name, model, change, finding, before, after)


def verdict(policy, name, model, change=None):
    return confirm(witness_of(policy, name, model, change), policy)


def test_every_property_of_the_catalogue_has_a_statement_in_fractions():
    assert set(JUDGEMENTS) | set(COMPARISONS) == {prop.name for prop in PROPERTIES}
    assert set(COMPARISONS) == {prop.name for prop in PROPERTIES if prop.compares}


# --- pools ---------------------------------------------------------------------------------------------


def test_the_confirmation_shares_no_code_with_checkers_and_solvers():
    """Imports inside the package: the model, shared words, and in the registry the types of the policies."""
    folder = Path(statements.__file__).parent
    shared = {
        "fairness.model.cluster",
        "fairness.errors",
        "fairness.model.problem",
        "fairness.arguments.validation",
        "fairness.properties.protocol.property",
        "fairness.protocol.policy",
    }
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            assert not isinstance(node, ast.Import) or "fairness" not in node.names[0].name
            source = node.module if isinstance(node, ast.ImportFrom) else ""
            if source.startswith("fairness.policies"):
                # all_bottleneck_max tells whether there are other allocations, after one was proved.
                names = {item.name for item in node.names} - {"all_bottleneck_max", "policy_name"}
                assert path.name == "enclosure.py"
                assert all(isinstance(getattr(import_module(source), name), type) for name in names)
            elif source.startswith("fairness"):
                assert source in shared or source.startswith("fairness.properties.exact"), (path.name, source)


def test_asset_fairness_lacks_the_sharing_incentive():
    """15 of 35 tasks alone are less than a half: Ghodsi et al., NSDI 2011, and lecture notes."""
    result = verdict(AssetFair(), "SI", Problem([[2, 2], [1, 2]], [70, 70]))
    assert result.confirmed
    assert result.violation == F(1, 7)
    assert result.text == "class 1 runs 15 tasks; 1/2 of everything, alone, would run 1/2 x 35 = 35/2"


def test_asset_fairness_lacks_bottleneck_fairness():
    result = verdict(AssetFair(), "BF", Problem([[3, 2], [4, 1]], [21, 21]))
    assert result.confirmed
    # Class 1 holds 9 units, class 2 holds 12; all that class 2 does not need for 9 would be 12/3 = 4 tasks.
    assert result.violation > 0
    assert "class 1 runs 3 tasks" in result.text
    # No resource is dominant for both: no violation.
    assert not verdict(AssetFair(), "BF", Problem([[2, 1], [1, 2]], [70, 70])).confirmed


def test_ceei_rewards_a_lie():
    result = verdict(ProportionalFair(), "SP", Problem([[16, 1], [1, 2]], [100, 100]), Lie((0,), ((16, 8),)))
    assert result.confirmed
    assert result.violation == 1 - F(100, 31) / F(25, 6)
    assert "class 1 runs 100/31 tasks; with what the lie gives it, 25/6" in result.text


def test_ceei_is_not_population_monotone():
    pool = Problem([[4, 1], [1, 16], [16, 1]], [100, 100])
    result = verdict(ProportionalFair(), "PM", pool, Leave((2,)))
    assert result.confirmed
    # 5.351 tasks are irrational: a bound, to the four digits printed.
    assert float(result.violation) == pytest.approx(1 - 100 / 21 / 5.351, rel=1e-3)
    assert "100/21 after" in result.text
    # Without class 2 nobody loses.
    assert not verdict(ProportionalFair(), "PM", pool, Leave((1,))).confirmed


def test_drf_is_not_resource_monotone():
    result = verdict(DRF(), "RM", Problem([[2, 1], [1, 2]], [1, 1]), Grow((1, 0)))
    assert result.confirmed
    assert result.violation == F(1, 4)  # 1/3 before, 1/4 after
    assert result.text == "class 2 runs 1/3 tasks before and 1/4 after"
    assert not verdict(DRF(), "RM", Problem([[2, 1], [1, 2]], [1, 1]), Grow((1, 1))).confirmed


def test_max_min_fairness_of_tasks_depends_on_how_work_is_cut():
    pool = Problem([[1, 3], [3, 2]], [1, 1])
    result = verdict(MaxMin(), "SC", pool, Units((1, 1), (2, 1)))
    assert result.confirmed
    assert result.violation == F(3, 8)  # 1/5 before; 1/8 of both after, and 1/4 in the old tasks of class 1
    assert not verdict(DRF(), "SC", pool, Units((1, 3), (2, F(1, 2)))).confirmed
    assert not verdict(MaxMin(), "SC", pool, Units((5, 3), (1, 1))).confirmed


def test_max_min_fairness_of_tasks_lacks_the_sharing_incentive_and_single_resource_fairness():
    pool = Problem([[1], [3]], [8])
    assert verdict(MaxMin(), "SI", pool).violation == F(1, 2)  # 2 tasks instead of 4
    result = verdict(MaxMin(), "SRF", pool)
    assert result.confirmed
    assert verdict(MaxMin(), "EF", pool).violation == F(2, 3)  # 2 tasks, with the 6 units of class 2 it has 6
    for name in ("SI", "SRF", "BF", "EF", "PE"):
        assert not verdict(DRF(), name, pool).confirmed
    assert verdict(MaxMin(), "SRF", Problem([[3], [1]], [8], weights=[1, 3])).confirmed
    assert not verdict(DRF(), "SRF", Problem([[3], [1]], [8], weights=[1, 3])).confirmed


def test_dynamic_sharing_incentive_of_those_who_have_joined():
    pool = Problem([[2, 2], [1, 2], [1, 1]], [105, 105])
    result = verdict(AssetFair(), "DSI", pool, Join((0, 1)))
    assert result.confirmed
    assert result.violation == F(1, 7)  # 15 tasks instead of 35/2, as with the two classes alone
    assert not verdict(DRF(), "DSI", pool, Join((0, 1))).confirmed
    # Join lists classes in any order.
    assert verdict(AssetFair(), "DSI", pool, Join((1, 0))).violation == F(1, 7)


def test_an_irrational_violation_is_confirmed_with_bounds():
    """alpha = 2 lacks the sharing incentive: 1/(1 + sqrt 3) of the link against a half."""
    result = verdict(AlphaFair(2), "SI", Problem([[1], [3]], [1]))
    assert result.confirmed
    # Tasks x, y maximise -1/x - 1/y on x + 3 y = 1, so x = sqrt 3 y = 1/(1 + sqrt 3) = 0.366.
    exact = 1 - 2 / (1 + math.sqrt(3))
    assert float(result.violation) == pytest.approx(exact, rel=1e-12)
    assert not verdict(AlphaFair(2), "SI", Problem([[2], [2]], [1])).confirmed


def test_group_lies_count_if_nobody_loses():
    # Two liars under CEEI: class 1 gains by its lie, class 3 says the truth and class 2 pays.
    pool = Problem([[16, 1], [1, 2]], [100, 100])
    lie = Lie((0, 1), ((16, 8), (1, 2)))
    result = verdict(ProportionalFair(), "GSP", pool, lie)
    assert not result.confirmed  # class 2 falls from 1500/31 to 100/3
    assert verdict(ProportionalFair(), "GSP", pool, Lie((0,), ((16, 8),))).confirmed
    assert "one liar" in verdict(ProportionalFair(), "SP", pool, lie).text


def test_what_drf_satisfies_is_never_confirmed_as_violated():
    """Random integer pools with zero demands too: DRF fills to the end, so it stays efficient."""
    rng = np.random.default_rng(3)
    for k in range(60):
        sizes = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        drawn = random_problem(rng, *sizes, kind="integer", weighted=k % 2 == 1)
        pool = Problem(drawn.demands.astype(int), drawn.capacities.astype(int), weights=drawn.weights)
        for prop in map(property_named, ("SI", "EF", "PE", "BF", "SRF", "DSI", "SC")):
            if prop.applies(pool):
                for change in prop.changes(pool, rng, 2) if prop.compares else (None,):
                    result = verdict(DRF(), prop.key, pool, change)
                    assert not result.confirmed, (prop.key, pool, change, result)


def test_the_checkers_and_the_confirmation_agree():
    """Two implementations of each property that share nothing but the definition."""
    rng = np.random.default_rng(5)
    seen = dict.fromkeys((prop.key for prop in PROPERTIES), 0)
    for _ in range(40):
        drawn = random_problem(rng, int(rng.integers(2, 4)), int(rng.integers(1, 4)), kind="integer")
        pool = Problem(drawn.demands.astype(int), drawn.capacities.astype(int))
        for policy in (MaxMin(), AssetFair(), ProportionalFair()):
            for prop in PROPERTIES:
                if not prop.applies(pool):
                    continue
                for change in prop.changes(pool, rng, 2) if prop.compares else (None,):
                    witness = witness_of(policy, prop.key, pool, change)
                    found = prop.check(pool, witness.allocation, change, witness.allocation_after)
                    if abs(found.violation) > 1e-6:  # else it is a tie that floats cannot decide
                        result = confirm(witness, policy)
                        assert result.confirmed == (found.violation > 0), (
                            prop.key,
                            pool,
                            change,
                            found,
                            result,
                        )
                        seen[prop.key] += result.confirmed
    assert sum(count > 0 for count in seen.values()) >= 8, seen


# --- clusters ------------------------------------------------------------------------------------------

MIRRORED = Cluster([[1, 3], [3, 1]], [[4, 2], [2, 4]])
TIMED = PSDSF(division="time")
CONSTRAINED = Cluster([[F(1, 10), 1], [1, F(1, 10)]], [[10, 1], [1, 10]], eligible=[[1, 1], [0, 1]])


def test_ps_dsf_under_resource_division_is_not_pareto_efficient():
    """Each class alone on its better server, 4/3 tasks; 3/2 each are feasible."""
    result = verdict(PSDSF(), "PE", MIRRORED)
    assert result.confirmed
    assert result.violation == F(1, 9)  # 4/3 instead of 3/2
    assert "(1/4, 5/4)" in result.text
    assert "Theorem 1" in result.how
    assert not verdict(TIMED, "PE", MIRRORED).confirmed


def test_ps_dsf_under_resource_division_rewards_a_hidden_server():
    cluster = Cluster([[3, 1], [1, 3]], [[2, 1], [4, 3]])
    hide = Lie((0,), eligible=((False, True),))
    result = verdict(PSDSF(), "SP", cluster, hide)
    assert result.confirmed
    assert result.violation == 1 - F(44, 39) / F(52, 45)
    assert "class 1 runs 44/39 tasks; with what the lie gives it, 52/45" in result.text
    assert result.how.endswith("may depend on the choice")
    assert not verdict(TIMED, "SP", cluster, hide).confirmed
    # The truth told in full is no lie: nothing is gained.
    assert not verdict(PSDSF(), "SP", cluster, Lie((0,), eligible=((True, True),))).confirmed


def test_a_liar_under_time_division_holds_what_it_claimed_not_the_server():
    """PS-DSF is strategy-proof by the resources of the claimed tasks, not by the time given."""
    cluster = Cluster([[2, 1], [1, 1]], [[1, 1], [2, 1]], weights=[2, 1])
    lie = Lie((0,), demands=((1, 1),))
    # After the lie: 1/3 of a task on server 1, in 1/3 of the time, and 1 on server 2, in all of the time.
    after = enclose(TIMED, lie.apply(cluster), TIMED(lie.apply(cluster)))
    assert after.lower.tolist()[0] == [F(1, 3), 1]
    result = verdict(TIMED, "SP", cluster, lie)
    assert not result.confirmed
    # By time it would be 1/3 x 1/2 + 1 = 7/6 of its true tasks; by resources (1/3 + 1)/2 = 2/3, less than 1.
    assert "class 1 runs 1 tasks; with what the lie gives it, 2/3" in result.text


def test_a_hidden_server_that_nobody_else_uses_drops_out():
    cluster = Cluster([[1], [1]], [[2], [4]], eligible=[[1, 1], [0, 1]])
    hide = Lie((0,), eligible=((False, True),))
    assert hide.apply(cluster).n_servers == 1
    result = verdict(TSF(), "SP", cluster, hide)
    assert not result.confirmed
    assert result.violation < 0


def test_tsf_with_equal_weights_lacks_the_sharing_incentive():
    result = verdict(TSF(), "SI", CONSTRAINED)
    assert result.confirmed
    assert result.violation == F(9, 11)
    assert result.text == "class 1 runs 1 tasks; 1/2 of everything, alone, would run 1/2 x 11 = 11/2"
    for division in ("resource", "time"):
        assert not verdict(PSDSF(division=division), "SI", CONSTRAINED).confirmed


def test_c_drfh_lacks_the_sharing_incentive_and_bottleneck_fairness_of_figure_1():
    cluster = Cluster(
        [[1, 2, 10], [1, 2, 1], [F(1, 2), 1, 0]], [[9, 12, 100], [12, 12, 0]], weights=[1, 1, 2]
    )
    # RAM is dominant for all wherever they run, and 6, 6 and 12 GB are max-min fair by weight.
    for policy in (CDRFH(), TSF()):
        result = verdict(policy, "BF", cluster)
        assert result.confirmed, policy
    assert not verdict(PSDSF(), "BF", cluster).confirmed
    assert not verdict(TIMED, "BF", cluster).confirmed


def test_per_server_drf_is_not_efficient():
    cluster = Cluster([[F(1, 5), 1], [1, F(1, 5)]], [[2, 12], [12, 2]])
    result = verdict(PerServerDRF(), "PE", cluster)
    assert result.confirmed
    assert result.violation == F(2, 5)  # 6 instead of 10
    assert not verdict(DRFH(), "PE", cluster).confirmed
    assert not verdict(CDRF(), "PE", cluster).confirmed


def test_what_the_mechanisms_satisfy_on_clusters_is_never_confirmed_as_violated():
    rng = np.random.default_rng(12)
    for k in range(16):
        sizes = (int(v) for v in rng.integers(2, 4, 3))
        drawn = random_cluster(rng, *sizes, kind="integer", weighted=k % 2 == 1, constrained=k % 3 == 1)
        cluster = whole(drawn)
        kept = {
            PSDSF(): ("SI", "EF", "BF", "DSI"),
            TIMED: ("SI", "EF", "PE", "BF", "SP", "SRF"),
            TSF(): ("PE", "EF"),
            CDRFH(): ("PE", "EF"),
            PerServerDRF(): ("SI", "EF"),
        }
        for policy, names in kept.items():
            for prop in map(property_named, names):
                if prop.applies(cluster):
                    for change in prop.changes(cluster, rng, 2) if prop.compares else (None,):
                        result = verdict(policy, prop.key, cluster, change)
                        assert result.violation is not None, (policy, prop.key, cluster, result)
                        assert not result.confirmed, (policy, prop.key, cluster, result)


def test_the_checkers_and_the_confirmation_agree_on_clusters():
    rng = np.random.default_rng(13)
    seen = dict.fromkeys((prop.key for prop in PROPERTIES), 0)
    for k in range(18):
        sizes = (int(v) for v in rng.integers(2, 4, 3))
        cluster = whole(random_cluster(rng, *sizes, kind="integer", constrained=k % 2 == 1))
        for policy in (PSDSF(), TIMED, TSF(), CDRFH(), PerServerDRF()):
            for prop in PROPERTIES:
                if not prop.applies(cluster):
                    continue
                for change in prop.changes(cluster, rng, 1) if prop.compares else (None,):
                    witness = witness_of(policy, prop.key, cluster, change)
                    found = prop.check(
                        cluster,
                        witness.allocation,
                        change,
                        witness.allocation_after,
                        division=division_of(policy),
                    )
                    if abs(found.violation) > 1e-6:  # else it is a tie that floats cannot decide
                        result = confirm(witness, policy)
                        assert result.confirmed == (found.violation > 0), (
                            policy,
                            prop.key,
                            cluster,
                            change,
                            result,
                        )
                        seen[prop.key] += result.confirmed
    assert sum(count > 0 for count in seen.values()) >= 4, seen


def whole(cluster):
    """The cluster in integers."""
    return Cluster(
        cluster.demands.astype(int),
        cluster.capacities.astype(int),
        eligible=cluster.eligible,
        weights=cluster.weights,
    )


# --- false witnesses -----------------------------------------------------------------------------------


def test_a_false_witness_is_refused():
    pool = Problem([[1, 4], [3, 1]], [9, 18])
    result = verdict(DRF(), "SI", pool)
    assert not result.confirmed
    assert result.violation < 0
    assert "NOT confirmed" in str(result)
    # A made-up allocation does not count for a policy that is computed, nor as a hint for one that is proved.
    for policy in (DRF(), BottleneckMax(), ProportionalFair()):
        lie = Witness(
            "x", "sharing incentive", pool, None, Finding("sharing incentive", 1.0), np.array([0.5, 2.0])
        )
        assert not confirm(lie, policy).confirmed


def test_a_witness_of_the_wrong_kind_is_refused():
    pool = Problem([[2, 1], [1, 2]], [1, 1])
    witness = witness_of(DRF(), "RM", pool, Grow((1, 0)))
    for name in ("population monotonicity", "strategy-proofness", "scale invariance"):
        other = Witness(
            "DRF", name, pool, witness.change, witness.finding, witness.allocation, witness.allocation_after
        )
        assert "needs a change of kind" in confirm(other, DRF()).how
    nothing = Witness("DRF", "resource monotonicity", pool, None, witness.finding, witness.allocation)
    assert "needs a change" in confirm(nothing, DRF()).how
    unknown = Witness("DRF", "beauty", pool, None, witness.finding, witness.allocation)
    assert confirm(unknown, DRF()).how == "no exact definition known for beauty"
    floats = Problem([[2.0, 1.0], [1.0, 2.0]], [1, 1])
    assert "given as floats" in verdict(DRF(), "SI", floats).how
    assert "no exact definition known" in verdict(lambda problem, counts: counts / 9, "SI", pool).how


def test_a_change_that_does_more_than_it_says_is_refused():
    pool = Problem([[2, 1], [1, 2]], [1, 1])
    situation = lambda model: Situation(  # noqa: E731
        rational(model), [[F(0)]] * 2, [[F(0)]] * 2, model.job_classes, ("pool",)
    )
    lie = Lie((0,), ((1, 1),))
    assert legal(situation(pool), lie, situation(lie.apply(pool)))
    assert not legal(situation(pool), lie, situation(lie.apply(pool).replaced(capacities=[1, 2])))
    assert not legal(situation(pool), lie, situation(pool.replaced(demands=[[1, 1], [1, 1]])))
    assert not legal(situation(pool), lie, situation(pool.replaced(weights=[1, 2])))
    grow = Grow((1, 0))
    assert legal(situation(pool), grow, situation(grow.apply(pool)))
    assert not legal(situation(pool), grow, situation(pool.replaced(capacities=[F(1, 2), 2])))
    units = Units((1, 3), (2, 1))
    assert legal(situation(pool), units, situation(units.apply(pool)))
    assert not legal(situation(pool), units, situation(pool))


def test_the_hint_may_be_missing_after_the_change():
    witness = witness_of(DRF(), "RM", Problem([[2, 1], [1, 2]], [1, 1]), Grow((1, 0)))
    short = Witness(
        *(getattr(witness, f) for f in ("policy", "property", "model", "change", "finding", "allocation"))
    )
    assert confirm(short, DRF()).violation == F(1, 4)


def test_what_some_allocation_between_the_bounds_satisfies_is_no_certain_violation():
    """All of (0, 0) to (1, 1) is possible; (1, 1) is efficient, fair and free of envy."""
    model = rational(Problem([[1], [1]], [2]))
    box = Situation(model, [[F(0)], [F(0)]], [[F(1)], [F(1)]], ("A", "B"), ("pool",))
    for name, judge in JUDGEMENTS.items():
        assert judge(box).violation <= 0, name
    half = replace(box, upper=[[F(1, 2)], [F(1)]])
    assert JUDGEMENTS["Pareto efficiency"](half).violation > 0
    assert JUDGEMENTS["sharing incentive"](half).violation == F(1, 2)


def test_a_better_allocation_must_be_verified(monkeypatch):
    """The linear program only proposes: what is infeasible, or at somebody's cost, proves nothing."""
    pool = Problem([[2, 1], [1, 2]], [1, 1])
    best = verdict(DRF(), "PE", pool)
    for proposal in ([F(1), F(1)], [F(1), F(0)], None):
        monkeypatch.setattr(statements, "vertex", lambda *_, proposal=proposal: proposal)
        assert not verdict(DRF(), "PE", pool).confirmed
        assert not verdict(DRF(), "SRF", Problem([[2], [1]], [1])).confirmed
    assert not best.confirmed
