"""Properties that compare two allocations, against brute-force twins in fractions and against theorems."""

from fractions import Fraction as F

import numpy as np
import pytest

from fairness import DRF, AssetFair, Cluster, MaxMin, ModelError, Problem, ProportionalFair
from fairness.properties.changes.changed_model import Grow, Join, Leave, Lie, Units
from fairness.properties.definitions.bottleneck_fairness import BottleneckFairness
from fairness.properties.definitions.catalogue import property_named
from fairness.properties.definitions.dynamic_incentive import DynamicSharingIncentive, contribution_finding
from fairness.properties.definitions.population_monotonicity import PopulationMonotonicity
from fairness.properties.definitions.resource_monotonicity import ResourceMonotonicity
from fairness.properties.definitions.scale_invariance import ScaleInvariance
from fairness.properties.definitions.sharing_incentive import SharingIncentive
from fairness.properties.definitions.single_resource import SingleResourceFairness
from fairness.properties.definitions.strategy_proofness import GroupStrategyProofness, StrategyProofness
from tests.fairness.properties import twins

SP, GSP = StrategyProofness(), GroupStrategyProofness()
PM, RM, SC, DSI = (
    PopulationMonotonicity(),
    ResourceMonotonicity(),
    ScaleInvariance(),
    DynamicSharingIncentive(),
)


def questions(seed, one, number=20):
    """Random models, changes and allocations before and after, in fractions."""
    rng = np.random.default_rng(seed)
    for k in range(number):
        n, m, s = (int(v) for v in rng.integers(1, 4, 3))
        pool = twins.integer_pool(rng, n, m)
        cluster = twins.integer_cluster(rng, n, s, m, effective=k % 3 == 0)
        for model, division in ((pool, "resource"), (cluster, "time" if k % 2 else "resource")):
            for change in one.changes(model, rng, 4):
                after = change.apply(model)
                assert after.is_rational
                before_x = twins.random_placement(rng, model, division)
                after_x = twins.random_placement(rng, after, division)
                yield model, change, after, before_x, after_x, division


def agree(one, model, change, before_x, after_x, division, expected):
    """Exact agreement with the twin, and agreement of the floats up to a few roundings."""
    before, after = twins.as_allocation(model, before_x), twins.as_allocation(model, after_x)
    finding = one.check(model, before, change, after, division=division)
    assert finding.violation == expected
    assert finding.tolerance == 0
    rounded = one.check(model, twins.floats(before), change, twins.floats(after), division=division)
    assert float(rounded.violation) == pytest.approx(float(expected), rel=1e-10, abs=1e-10)
    return finding


def true_gains(model, lie, after, before_x, after_x):
    """Relative gains of the liars, by the resources that they hold and truly need on each server."""
    table, claimed = twins.holdings(model, "resource"), twins.holdings(after, "resource")
    servers = list(model.servers) if isinstance(model, Cluster) else ["pool"]
    kept = list(after.servers) if isinstance(after, Cluster) else ["pool"]
    gains = []
    for n in lie.users:
        can = F(0)
        for j, name in enumerate(kept):
            need, have = table[n][servers.index(name)], claimed[n][j]
            if need and have:
                can += min(after_x[n][j] * h / d for h, d in zip(have, need, strict=True) if d > 0)
        had = sum(before_x[n])
        alone = sum(1 / max(entry) for entry in table[n] if entry)
        gains.append((can - had) / (had or alone))
    return gains


def test_strategy_proofness_twin():
    count = 0
    for model, lie, after, before_x, after_x, division in questions(1, SP):
        assert len(lie.users) == 1
        gains = true_gains(model, lie, after, before_x, after_x)
        finding = agree(SP, model, lie, before_x, after_x, division, max(gains))
        assert finding.users == (lie.users if gains[0] > 0 else ())
        count += finding.holds
    assert count > 10


def test_group_strategy_proofness_twin():
    pairs = 0
    for model, lie, after, before_x, after_x, division in questions(2, GSP):
        gains = true_gains(model, lie, after, before_x, after_x)
        least = min(gains)
        agree(GSP, model, lie, before_x, after_x, division, max(gains) if least >= 0 else least)
        pairs += len(lie.users) == 2
    assert pairs > 20


def test_liars_hold_units_of_resources():
    # The same in units instead of shares: what is given on a server is tasks times claimed demands.
    for model, lie, after, before_x, after_x, _ in questions(3, SP):
        if isinstance(model, Cluster) and model.given_gamma is None:
            (n,) = lie.users
            demands, claimed = model.as_fractions()[0][n], after.as_fractions()[0][n]
            can = sum(
                min(after_x[n][j] * c / d for c, d in zip(claimed, demands, strict=True) if d > 0)
                for j, name in enumerate(after.servers)
                if model.eligible[n, model.servers.index(name)]
            )
            # Read in resource division, as the placement is any array of numbers to the checker.
            finding = SP.check(model, before_x, lie, after_x)
            had = sum(before_x[n])
            if had > 0:
                assert finding.violation == can / had - 1


def test_population_twin():
    for model, leave, _, before_x, after_x, division in questions(4, PM):
        stay = [n for n in range(model.n_classes) if n not in leave.users]
        losses = [
            (sum(before_x[n]) - sum(after_x[k])) / (max(sum(before_x[n]), sum(after_x[k])) or 1)
            for k, n in enumerate(stay)
        ]
        finding = agree(PM, model, leave, before_x, after_x, division, max(losses))
        assert finding.users == tuple(n for n, loss in zip(stay, losses, strict=True) if loss > 0)


def test_resource_monotonicity_twin():
    for model, grow, after, before_x, after_x, division in questions(5, RM):
        assert (np.asarray(after.capacities) >= model.capacities).all()
        assert (np.asarray(after.capacities) > model.capacities).any()
        losses = [
            (sum(u) - sum(v)) / (max(sum(u), sum(v)) or 1) for u, v in zip(before_x, after_x, strict=True)
        ]
        agree(RM, model, grow, before_x, after_x, division, max(losses))


def test_scale_twin():
    for model, units, after, before_x, after_x, division in questions(6, SC):
        scaled = [sum(v) * t for v, t in zip(after_x, units.tasks, strict=True)]
        apart = [abs(sum(u) - v) / (max(sum(u), v) or 1) for u, v in zip(before_x, scaled, strict=True)]
        agree(SC, model, units, before_x, after_x, division, max(apart))
        # The same allocation in the new units is the same, and feasible.
        same = before_x / np.array([F(t) for t in units.tasks], dtype=object)[:, None]
        agree(SC, model, units, before_x, same, division, 0)
        old, new = twins.holdings(model, division), twins.holdings(after, division)
        for line, other, t in zip(old, new, units.tasks, strict=True):
            for entry, scaled_entry in zip(line, other, strict=True):
                assert (entry is None) == (scaled_entry is None)
                assert entry is None or [v * t for v in entry] == scaled_entry


def test_dynamic_incentive_is_the_sharing_incentive_of_those_who_joined():
    single = SharingIncentive()
    for model, join, after, before_x, after_x, division in questions(7, DSI):
        expected = twins.shortfall(after, after_x)
        finding = agree(DSI, model, join, before_x, after_x, division, expected)
        assert (
            single.check(after, twins.as_allocation(after, after_x), division=division).violation == expected
        )
        assert set(finding.users) <= set(join.users)


def test_contributions_of_any_size():
    # Chunyan Zhu's two users on (9, 9): with 4 tasks and 1 task the second one loses by having joined.
    pool = Problem([[2, 1], [1, 3]], [9, 9])
    half = [[F(9, 2)] * 2] * 2
    finding = contribution_finding(pool, half, np.array([F(4), F(1)], dtype=object))
    assert finding.violation == F(1, 3)
    assert finding.users == (1,)
    assert contribution_finding(pool, half, np.array([4.0, 1.0])).violation == pytest.approx(1 / 3)
    assert contribution_finding(pool, [[8, 4], [0, 5]], np.array([4.0, 0.0])).holds
    with pytest.raises(ModelError, match="contributions must have shape"):
        contribution_finding(pool, [[1, 2]], np.array([4.0, 1.0]))
    with pytest.raises(ModelError, match=">= 0"):
        contribution_finding(pool, [[1, 2], [-1, 2]], np.array([4.0, 1.0]))
    with pytest.raises(ModelError, match="contributions must consist"):
        contribution_finding(pool, [[0.5, 2], [1, 2]], np.array([F(4), F(1)], dtype=object))


def test_group_with_a_loser_does_not_count():
    pool, lie = Problem([[1, 2], [2, 1]], [9, 9]), Lie((0, 1), ((1, 3), (3, 1)))
    before = np.array([F(3), F(3)], dtype=object)
    gain_and_loss = np.array([F(5), F(1)], dtype=object)
    assert GSP.check(pool, before, lie, gain_and_loss).violation == F(-2, 3)
    with pytest.raises(ModelError, match="GroupStrategyProofness"):
        SP.check(pool, before, lie, gain_and_loss)
    weakly = np.array([F(4), F(3)], dtype=object)
    assert GSP.check(pool, before, lie, weakly).violation == F(1, 3)
    assert GSP.check(pool, before, lie, weakly).users == (0,)
    assert GSP.check(pool, before, lie, before).holds
    # In floats a loss of rounding size is none.
    assert GSP.check(pool, twins.floats(before), lie, np.array([4.0, 3 - 1e-10])).violation > 0.3


def test_a_liar_who_ran_nothing():
    pool, lie = Problem([[1, 2], [2, 1]], [10, 10]), Lie((0,), ((1, 3),))
    before, after = np.array([F(0), F(5)], dtype=object), np.array([F(1), F(4)], dtype=object)
    assert SP.check(pool, before, lie, after).violation == F(1, 5)
    assert SP.check(pool, before, lie, before).violation == 0


def test_hiding_a_server_that_nobody_else_uses():
    cluster = Cluster([[1, 1], [1, 2]], [[4, 4], [2, 2]], eligible=[[True, True], [True, False]])
    lie = Lie((0,), eligible=((True, False),))
    after = lie.apply(cluster)
    assert after.servers == ("server 1",)
    finding = SP.check(
        cluster,
        np.array([[F(1), F(2)], [F(1), F(0)]], dtype=object),
        lie,
        np.array([[F(4)], [F(0)]], dtype=object),
    )
    assert finding.violation == F(1, 3)
    assert "hides that it may use server 2" in finding.text


def test_tasks_on_forbidden_servers_are_worth_nothing():
    cluster = Cluster([[1, 1], [1, 2]], [[4, 4], [2, 2]], eligible=[[True, True], [True, False]])
    lie = Lie((1,), eligible=((True, True),))
    before, after = np.array([[F(2), F(2)], [F(1), F(0)]]), np.array([[F(2), F(0)], [F(1), F(1)]])
    assert SP.check(cluster, before, lie, after).violation == 0
    assert "claims that it may use server 2" in SP.check(cluster, before, lie, after).text


def test_missing_or_wrong_changes_are_refused():
    pool, tasks = Problem([[1, 2], [2, 1]], [9, 9]), np.array([3.0, 3.0])
    for one in (SP, GSP, PM, RM, SC, DSI):
        with pytest.raises(ModelError, match="compares two allocations"):
            one.check(pool, tasks)
        wrong = Leave((0,)) if one is not PM else Join((0,))
        with pytest.raises(ModelError, match="compares two allocations"):
            one.check(pool, tasks, wrong, tasks)
    with pytest.raises(ModelError, match="one row per class, 1"):
        PM.check(pool, tasks, Leave((0,)), tasks)
    with pytest.raises(ModelError, match="fractions"):
        RM.check(pool, np.array([F(3), F(3)]), Grow((1, 0)), tasks)


@pytest.mark.parametrize(
    ("key", "change", "words"),
    [
        ("SP", Lie((0,), ((1, 2, 3),)), "2 entries per liar"),
        ("SP", Lie((0,), ((1,),)), "2 entries per liar"),
        ("SP", Lie((7,), ((1, 2),)), "users must be below 2"),
        ("SP", Lie((0, 1), ((1, 2), (1, 2))), "about one liar; got 2"),
        ("SP", Lie((0,), eligible=((True,),)), "eligible must be None on a pool"),
        ("GSP", Lie((0, 2), ((1, 2), (1, 2))), "users must be below 2"),
        ("PM", Leave((0, 1)), "nobody would be left"),
        ("DSI", Join((2,)), "users must be below 2"),
        ("RM", Grow((1, 1), 0), "None on a pool"),
        ("SC", Units((1, 1), (1,)), "2 factors"),
    ],
)
def test_changes_that_do_not_fit_are_refused(key, change, words):
    pool = Problem([[1, 2], [2, 1]], [9, 9])
    with pytest.raises(ModelError, match=words):
        property_named(key).check(pool, np.array([3.0, 3.0]), change, np.array([3.0, 3.0]))


# What is known about policies on one pool (Ghodsi et al., NSDI 2011, Table 2; Parkes et al. for groups).
# Found violations must be larger than what the solvers leave, 1e-8.
KNOWN = {
    DRF(): "SI EF PE SP GSP SRF BF PM SC DSI",
    AssetFair(): "EF PE SP SRF PM",
    ProportionalFair(): "SI EF PE SRF BF SC DSI",
    MaxMin(): "PE PM",
}
FAILS = {
    DRF(): "RM",
    AssetFair(): "SI BF RM",
    ProportionalFair(): "SP GSP PM",
    MaxMin(): "SI EF BF SRF SC",
}


def worst(policy, key, seed, number, changes):
    rng = np.random.default_rng(seed)
    one = property_named(key)
    largest = -np.inf
    for _ in range(number):
        n, m = int(rng.integers(2, 4)), int(rng.integers(2, 4))
        demands, capacities = rng.integers(1, 10, (n, m)), rng.integers(5, 30, m)
        pool = one.suit(Problem(demands, capacities))
        largest = max(largest, one.of(policy, pool, rng=rng, changes=changes).violation)
    return largest


@pytest.mark.parametrize("policy", KNOWN, ids=lambda policy: policy.name)
def test_known_properties_hold(policy):
    for key in KNOWN[policy].split():
        assert worst(policy, key, 11, 20, 6) < 1e-6, key


@pytest.mark.parametrize("policy", FAILS, ids=lambda policy: policy.name)
def test_known_violations_are_found(policy):
    for key in FAILS[policy].split():
        assert worst(policy, key, 12, 60, 10) > 1e-3, key


def test_implications():
    """A property that implies another is violated wherever the other is."""
    rng = np.random.default_rng(13)
    for _ in range(40):
        pool = twins.integer_pool(rng, int(rng.integers(2, 4)), 2, zeros=False)
        ceei = ProportionalFair()
        for lie in SP.changes(pool, rng, 3):
            before, after = (
                ceei(pool, np.ones(pool.n_classes)),
                ceei(lie.apply(pool), np.ones(pool.n_classes)),
            )
            assert (
                GSP.check(pool, before, lie, after).violation == SP.check(pool, before, lie, after).violation
            )
        single = SingleResourceFairness().suit(pool)
        tasks = MaxMin()(single, np.ones(pool.n_classes))
        found = [
            one.check(single, tasks).violation for one in (SingleResourceFairness(), BottleneckFairness())
        ]
        assert found[0] == found[1]


def test_of_asks_the_policy():
    pool = Problem([[2, 1], [1, 2]], [1, 1])
    assert RM.of(DRF(), pool, changes=30).violation > 0.2
    assert RM.of(DRF(), pool, changes=0).violation == -np.inf
    assert PM.of(DRF(), Problem([[1]], [1])).text == "no change to ask about"
    assert Units((1, 1), (1, 1)).text(pool) == "the units stay"
