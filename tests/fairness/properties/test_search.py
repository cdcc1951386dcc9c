"""The search for counterexamples, mostly against toy properties whose smallest witness is known."""

from itertools import takewhile

import numpy as np
import pytest

from fairness import DRF, AssetFair, Cluster, MaxMin, ModelError, NotConvergedError, Problem, ProportionalFair
from fairness.evidence.pools import feasibility_certificate
from fairness.properties.changes.changed_model import Lie
from fairness.properties.counterexamples.exploring import PHASES
from fairness.properties.counterexamples.instances import Sizes, all_sketches
from fairness.properties.counterexamples.search import search
from fairness.properties.counterexamples.shrinking import CLEAR, magnitude
from fairness.properties.definitions.catalogue import property_named
from fairness.properties.protocol.property import Finding, Property
from fairness.protocol.cluster_policy import ClusterPolicy, ClusterSolution


class Toy(Property):
    """A property of one line: the violation is a function of what is asked."""

    name, key, statement = "toy", "TOY", "..."

    def __init__(self, violation, models=(Problem, Cluster)):
        self.violation, self.models = violation, models

    def judge(self, asked):
        return Finding(self.name, float(self.violation(asked)), text="falls behind")


def behind_equal_part(asked):
    """Sharing incentive of pools, in one line."""
    part = asked.model.weights / asked.model.weights.sum() / asked.model.task_shares.max(axis=1)
    return np.max(1 - asked.allocation / part)


def needle(asked):
    """Positive only where a demand is 37 and the capacity of that resource 23: for climbers."""
    return 0.5 - np.abs(asked.model.demands[0, 0] - 37) - np.abs(asked.model.capacities[0] - 23)


def shaped(*shape):
    """Broken by models of one shape."""

    def violation(asked):
        servers = asked.model.n_servers if isinstance(asked.model, Cluster) else 1
        return ((asked.model.n_classes, servers, asked.model.n_resources) == shape) - 0.5

    return Toy(violation)


EQUAL_PART, SP = Toy(behind_equal_part, (Problem,)), property_named("SP")


def always(witness):
    return True


def test_finds_the_smallest_witness():
    """Asset fairness against the equal part: nothing smaller among all models of two classes."""
    result = search(AssetFair(), EQUAL_PART, accept=always)
    assert result.violated
    assert result.mark == "✗"
    sizes = [
        sketch.size
        for sketch in takewhile(lambda s: s.size[0] == 2 and s.size[2] <= 2, all_sketches(Problem))
        if EQUAL_PART.of(AssetFair(), sketch.build()).violation > CLEAR
    ]
    model = result.witness.model
    assert model.is_rational
    assert model.demands.sum() + model.capacities.sum() == min(sizes)[5]
    assert (model.n_classes, model.n_resources) == (2, 2)
    # The witness says what the policy gives, and its finding is that of the checker.
    np.testing.assert_array_equal(result.witness.allocation, AssetFair()(model, [1, 1]))
    assert result.witness.finding.violation == EQUAL_PART.of(AssetFair(), model).violation
    assert "violated" in result.summary()
    assert "falls behind" in result.summary()


@pytest.mark.parametrize("budget", [1, 37, 700])
def test_spends_the_budget_and_says_how_far_it_came(budget):
    result = search(DRF(), EQUAL_PART, budget=budget)
    assert not result.violated
    assert result.exhausted
    assert result.mark == "✓"
    assert result.evaluated == budget
    assert set(result.searched) == set(PHASES)
    assert result.searched["shrinking"] == 0
    assert abs(result.best) < 1e-12  # the equal part is attained by DRF where one resource is there
    text = result.summary()
    assert f"{budget:,} models asked" in text
    assert "no violation found" in text
    assert "exhaustive into " in text


def test_all_phases_have_their_part():
    result = search(DRF(), EQUAL_PART, budget=1000)
    assert [result.searched[phase] for phase in PHASES] == [200, 400, 400, 0]


@pytest.mark.long
def test_repeats_with_the_seed_and_leaves_it_with_another():
    class Recorder:
        name = "recorder"

        def __init__(self):
            self.asked = []

        def __call__(self, problem, counts):
            self.asked.append((problem.demands.tolist(), problem.capacities.tolist()))
            return DRF()(problem, counts)

    asked = []
    for seed in (3, 3, 4):
        policy = Recorder()
        search(policy, SP, budget=400, rng=seed)
        asked.append(policy.asked)
    assert asked[0] == asked[1] != asked[2]


@pytest.mark.long
def test_climbs_to_what_chance_does_not_meet():
    """Two entries of up to 100 must be right at once: 1 chance in 20,000 for a random model."""
    result = search(DRF(), Toy(needle, (Problem,)), budget=6000, accept=always)
    assert result.searched["local"] > 0
    assert result.violated
    assert result.witness.model.demands[0, 0] == 37
    assert result.witness.model.n_classes == 1  # shrinking drops what plays no role


@pytest.mark.long
def test_properties_that_compare():
    result = search(ProportionalFair(), SP, accept=always)
    witness = result.witness
    assert witness.change.users == witness.finding.users
    after = ProportionalFair()(witness.change.apply(witness.model), np.ones(witness.model.n_classes))
    np.testing.assert_array_equal(witness.allocation_after, after)
    assert witness.change.text(witness.model) in result.summary()
    assert (witness.model.n_classes, witness.model.n_resources) == (2, 2)
    assert set(witness.model.weights) == {1}
    # No lie nearby that is smaller pays.
    for smaller in witness.change.neighbours(witness.model, np.random.default_rng(0)):
        if magnitude(smaller) < magnitude(witness.change):
            after = ProportionalFair()(smaller.apply(witness.model), np.ones(2))
            assert SP.check(witness.model, witness.allocation, smaller, after).violation < CLEAR
    assert not search(DRF(), SP, budget=500).violated


def test_shrinking_respects_what_the_caller_accepts():
    def even(witness):
        return witness.model.n_classes == 3 and witness.model.capacities[0] % 2 == 0

    result = search(MaxMin(), EQUAL_PART, budget=1000, accept=even)
    assert result.witness.model.n_classes == 3
    assert result.witness.model.capacities[0] % 2 == 0
    assert result.confirmation == "accepted by the caller"


def test_a_doubtful_violation_is_marked_and_not_hidden():
    result = search(MaxMin(), EQUAL_PART, accept=lambda witness: False)
    assert result.violated
    assert result.mark == "✗?"
    assert "not confirmed" in result.summary()
    # No exact definition of this property is known to the independent check.
    assert search(MaxMin(), EQUAL_PART, budget=100).mark == "✗?"


def test_a_violation_that_is_not_clear_is_shown_as_doubtful():
    hairline = Toy(lambda asked: 1e-5 * (asked.allocation[0] > 1), (Problem,))
    result = search(DRF(), hairline, budget=300)
    assert result.best == 1e-5
    assert result.mark == "✗?"
    assert result.witness.allocation[0] > 1


def test_failures_are_counted_with_their_model():
    class Moody:
        name = "moody"

        def __call__(self, problem, counts):
            if problem.n_classes == 3:
                raise NotConvergedError("stuck", residual=0.5)
            return DRF()(problem, counts)

    result = search(Moody(), EQUAL_PART, budget=500)
    assert 50 < result.failures < 450
    assert result.failure.model.n_classes == 3
    assert "NotConvergedError: stuck" in result.failure.message
    assert result.mark == "✓!"
    assert f"the policy failed on {result.failures} models" in result.summary()
    compared = search(Moody(), SP, budget=500)
    assert compared.failures > 5  # models whose class count is not 3 are asked about many changes


def test_a_refused_answer_is_a_failure():
    def refused(asked):
        raise ModelError("allocation must be >= 0")

    result = search(DRF(), Toy(refused), budget=20)
    assert result.failures == result.evaluated > 10
    assert "ModelError: allocation must be >= 0" in result.failure.message


def test_mistakes_of_a_policy_are_not_swallowed():
    def broken(problem, counts):
        return None + 1

    with pytest.raises(TypeError):
        search(broken, EQUAL_PART)


def test_a_property_without_meaning_is_not_searched():
    never = Toy(behind_equal_part)
    never.applies = lambda model: False
    for prop in (Toy(behind_equal_part, (Cluster,)), never):
        result = search(DRF(), prop)
        assert result.mark == "–"
        assert not result.exhausted
        assert "not applicable" in result.summary()


def test_suit_makes_the_models_that_are_asked():
    def apart(asked):
        assert twins.applies(asked.model)
        return asked.allocation.max() - asked.allocation.min()

    twins = Toy(apart)
    twins.applies = lambda model: (model.demands == model.demands[0]).all()
    twins.suit = lambda model: model.replaced(demands=[[int(v) for v in model.demands[0]]] * model.n_classes)
    result = search(MaxMin(), twins, budget=600, accept=always)
    # Weights are all that tells twins apart.
    assert sorted(result.witness.model.weights) == [1, 2]


def test_stops_in_time():
    # So many models take a quarter of an hour.
    result = search(DRF(), EQUAL_PART, budget=10**7, seconds=0.3)
    assert result.evaluated < result.budget
    assert "stopped early" in result.summary()
    # However little time there is, a model is asked: only what has no meaning is "not applicable".
    assert search(DRF(), EQUAL_PART, seconds=1e-9).evaluated == 1


@pytest.mark.long
def test_domains_and_sizes():
    no_zero = Toy(lambda asked: (asked.model.demands == 0).any() - 0.5)
    assert not search(DRF(), no_zero, budget=500).violated
    assert search(DRF(), no_zero, budget=500, domain="any", accept=always).violated
    sizes = Sizes(classes=(5,), resources=(4,))
    assert search(DRF(), shaped(5, 1, 4), budget=2000, sizes=sizes, accept=always).violated
    assert not search(DRF(), shaped(5, 1, 4), budget=2000, accept=always).violated


class FirstServer(ClusterPolicy):
    """Each class has an equal part of the first server that it may use, and wastes the rest."""

    name = "first server"

    def __init__(self, handles_constraints=True):
        self.handles_constraints = handles_constraints
        self.constrained = 0

    def solve(self, cluster, counts=None):
        banned = (~cluster.eligible & (cluster.unconstrained_gamma > 0)).any()
        if banned and not self.handles_constraints:
            raise ModelError("no constraints, please")
        self.constrained += bool(banned)
        first = cluster.eligible.argmax(axis=1)
        placement = np.zeros((cluster.n_classes, cluster.n_servers))
        rows = np.arange(cluster.n_classes)
        placement[rows, first] = cluster.gamma[rows, first] / cluster.n_classes
        pool = Problem([[1]], [1])
        return ClusterSolution(placement, feasibility_certificate(pool, np.ones(1), np.zeros(1)))


class Hiding(Toy):
    """Nobody may hide a server; whether servers dropped out is noted."""

    compares = True

    def __init__(self):
        super().__init__(self.noted, (Cluster,))
        self.dropped = []

    def noted(self, asked):
        self.dropped.append(asked.change.apply(asked.model).n_servers < asked.model.n_servers)
        return -1.0

    def changes(self, model, rng, number):
        for n in range(model.n_classes):
            for i in range(model.n_servers):
                claim = model.eligible[n].copy()
                claim[i] = False
                if claim.any():
                    yield Lie((n,), eligible=(tuple(claim.tolist()),))


@pytest.mark.long
def test_clusters_with_and_without_constraints():
    """A policy that refuses constraints meets none, not even after a change."""
    free, refusing = FirstServer(), FirstServer(handles_constraints=False)
    for policy in (free, refusing):
        result = search(policy, Hiding(), budget=600)
        assert result.failures == 0
        assert result.models == "clusters"
    assert free.constrained > 50
    assert refusing.constrained == 0


@pytest.mark.long
def test_no_server_drops_out_by_a_change():
    """Else C-DRFH, which knows the capacities of all servers, would seem to lose strategy-proofness."""
    hiding = Hiding()
    search(FirstServer(), hiding, budget=1000)
    assert len(hiding.dropped) > 100
    assert not any(hiding.dropped)
    cluster = Cluster([[1], [1]], [[1], [1]], eligible=[[True, True], [False, True]])
    assert Lie((0,), eligible=((False, True),)).apply(cluster).n_servers == 1


@pytest.mark.long
def test_cluster_witnesses_shrink_too():
    def waste(asked):
        return (asked.model.eligible.any(axis=0) & (asked.allocation.sum(axis=0) == 0)).mean()

    result = search(FirstServer(), Toy(waste), accept=always)
    model = result.witness.model
    assert (model.n_classes, model.n_servers, model.n_resources) == (1, 2, 1)
    assert model.eligible.all()
    assert model.demands.sum() + model.capacities.sum() == 3
    assert "2 servers" in result.summary()
    shape = search(FirstServer(), shaped(2, 3, 2), budget=3000, accept=always)
    assert shape.witness.model.n_servers == 3
    assert shape.witness.model.capacities.sum() == 6


@pytest.mark.parametrize(
    ("policy", "prop", "options", "words"),
    [
        (DRF, EQUAL_PART, {}, "policy must be callable"),
        ("DRF", EQUAL_PART, {}, "policy must be callable"),
        (DRF(), "SI", {}, "search needs a Property"),
        (DRF(), Toy, {}, "search needs a Property"),
        *(
            (DRF(), EQUAL_PART, {"budget": budget}, "budget must be a whole number")
            for budget in (0, 2.5, True, 10**400)
        ),
        *(
            (DRF(), EQUAL_PART, {"seconds": seconds}, "seconds must be a number > 0")
            for seconds in (0, np.nan, "1")
        ),
        (DRF(), EQUAL_PART, {"domain": "zeros"}, "domain must be one of"),
    ],
)
def test_wrong_arguments(policy, prop, options, words):
    with pytest.raises(ModelError, match=words):
        search(policy, prop, **options)
