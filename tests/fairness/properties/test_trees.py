"""Properties of policies that share by a tree of queues."""

from fractions import Fraction as F

import numpy as np
import pytest

from fairness import (
    DRF,
    AssetFair,
    BottleneckMax,
    Cluster,
    Hierarchical,
    MaxMin,
    Problem,
    ProportionalFair,
    Tree,
    audit,
)
from fairness.properties.changes.changed_model import Leave, Lie
from fairness.properties.counterexamples.search import search
from fairness.properties.definitions.catalogue import property_named
from fairness.properties.exact.confirm import confirm
from fairness.properties.exact.enclosure import enclose
from fairness.properties.protocol.property import Witness, tree_of
from tests.fairness.properties.instances import answered, judged, random_allocation, small_models

HSG, GSP = property_named("HSG"), property_named("GSP")
PAIR = Tree(
    ["all", "A", "B"], [-1, 0, 0],
    job_classes=[f"class {n}" for n in range(1, 5)], class_nodes=[1, 1, 2, 2],
)  # fmt: skip


class Collapsed(DRF):
    """DRF with a weight for each class, the product of its parts down the tree: queues are not looked at."""

    name = "collapsed"

    def __init__(self, tree, weighted=True):
        super().__init__()
        object.__setattr__(self, "tree", tree)
        object.__setattr__(self, "weighted", weighted)

    def __call__(self, problem, counts):
        if not self.weighted:
            return super().__call__(problem, counts)
        flat = problem.replaced(weights=parts(self.tree, problem))
        return DRF()(flat, counts)


class Deaf(DRF):
    """DRF that claims to share by a tree."""

    tree = PAIR
    name = "deaf"


def parts(tree, model):
    """What is guaranteed to each class, by recursion from the root."""

    def below(node, part):
        own = [n for n, v in enumerate(tree.require_classes(model)) if v == node]
        queues = [int(v) for v in tree.children(node) if holds(int(v))]
        total = sum(F(model.weights[n]) for n in own) + sum(F(tree.weights[v]) for v in queues)
        found = {n: part * F(model.weights[n]) / total for n in own}
        for v in queues:
            found |= below(v, part * F(tree.weights[v]) / total)
        return found

    def holds(node):
        return node in tree.require_classes(model) or any(holds(int(v)) for v in tree.children(node))

    found = below(0, F(1))
    return np.array([found[n] for n in range(model.n_classes)], dtype=float)


def random_tree(rng, model):
    n = int(rng.integers(1, 6))
    return Tree(
        [f"q{v}" for v in range(n)],
        [-1, *(int(rng.integers(v)) for v in range(1, n))],
        weights=rng.integers(1, 4, n),
        job_classes=model.job_classes,
        class_nodes=rng.integers(n, size=model.n_classes),
    )


def test_the_guarantee_is_what_the_statement_says():
    met = set()
    for rng, model, division in small_models(7, 20):
        tree = random_tree(rng, model)
        finding = judged(HSG, model, random_allocation(rng, model, division), division=division, tree=tree)
        met.add((type(model), finding.holds))
    assert met == {(Problem, True), (Problem, False), (Cluster, True), (Cluster, False)}


def test_collapsed_hierarchies_break_the_guarantee_of_a_queue():
    # A has a CPU class and a GPU class, B one of both: by products 1/4, 1/4, 1/2, DRF gives A a third.
    pool = Problem([[1, 0], [0, 1], [1, 1]], [12, 12])
    finding = HSG.of(Collapsed(PAIR), pool)
    assert finding.violation == pytest.approx(1 / 3)
    assert (
        finding.text
        == "the classes of all/A hold at most 0.333333 of a resource; its part of the tree is 0.5"
    )
    assert finding.users == (0, 1)
    fair = np.array([F(6), F(6), F(6)], dtype=object)
    assert HSG.within(PAIR).check(pool, fair).violation == 0


def test_without_a_tree_it_is_the_sharing_incentive():
    for rng, model, division in small_models(8, 10):
        allocation = random_allocation(rng, model, division)
        other = property_named("SI").check(model, allocation, division=division)
        assert HSG.check(model, allocation, division=division).violation == other.violation


def test_a_queue_of_nobody_counts_nothing():
    pool = Problem([[1], [1]], [12], job_classes=["class 1", "class 2"])
    assert HSG.of(Deaf(), pool).violation == pytest.approx(0)
    blocked = Problem([[1, 0], [1, 0], [1, 1]], [12, 0])
    assert HSG.of(Deaf(), blocked).violation == pytest.approx(0)
    assert answered(DRF(), blocked).tolist() == [6, 6, 0]


def test_bounds_of_queues_are_not_asked_about():
    bounded = Tree(["all"], [-1], job_classes=PAIR.job_classes, class_nodes=[0] * 4, maximum=3)
    assert not HSG.within(bounded).applies(Problem([[1], [1]], [4]))
    assert HSG.within(PAIR).applies(Problem([[1], [1]], [4]))


def test_the_search_finds_a_witness_that_fractions_confirm():
    found = search(Deaf(), HSG, budget=300)
    assert found.mark == "✗"
    assert "confirmed in fractions" in found.confirmation
    assert found.witness.model.n_classes == 3


def test_an_audit_asks_about_trees_only_where_there_are_some():
    rows = audit([DRF()], budget=5).properties
    assert HSG.name not in rows
    table = audit([DRF(), Deaf()], budget=5)
    assert table.properties == (*rows, HSG.name)
    assert audit([DRF()], ["HSG"], budget=50).to_dataframe().iloc[0, 0] == "✓"
    assert tree_of(DRF()) is None


NESTED = Tree(
    ["all", "A", "A1", "B"],
    [-1, 0, 1, 0],
    weights=[1, 2, 1, 1],
    job_classes=PAIR.job_classes,
    class_nodes=[2, 2, 1, 3],
)


def test_hierarchies_are_known_in_fractions():
    rng = np.random.default_rng(4)
    for _ in range(6):
        pool = Problem(rng.integers(1, 5, (4, 2)), rng.integers(3, 9, 2), weights=rng.integers(1, 3, 4))
        for rule in (DRF(), MaxMin(), AssetFair(), ProportionalFair(), BottleneckMax()):
            policy = Hierarchical(NESTED, rule)
            tasks = policy(pool, np.ones(4))
            found = enclose(policy, pool, tasks)
            np.testing.assert_allclose(found.lower.astype(float), tasks, rtol=1e-6)
            assert (found.lower <= found.upper).all()
    assert "no whole numbers" in enclose(Hierarchical(odd_weights(), ProportionalFair()), pool, tasks).reason


def odd_weights():
    return Tree(
        ["all", "A", "B"],
        [-1, 0, 0],
        weights=[1, 0.1, 0.7],
        job_classes=PAIR.job_classes,
        class_nodes=[1, 1, 2, 2],
    )


def test_a_departure_may_hurt_outside_of_the_own_queue():
    # A1 stops counting double when class 2 leaves it, so class 1 comes up, and class 3 beside A1 goes down.
    pool = Problem([[1, 1], [1, 2], [2, 1]], [1, 1])
    policy, leave = Hierarchical(NESTED), Leave((1,))
    before, after = policy(pool, np.ones(3)), policy(leave.apply(pool), np.ones(2))
    np.testing.assert_allclose(before, [2 / 7, 1 / 7, 2 / 7])
    np.testing.assert_allclose(after, [1 / 2, 1 / 4])
    finding = property_named("PM").check(pool, before, leave, after)
    witness = Witness(policy.name, finding.name, pool, leave, finding, before, after)
    assert confirm(witness, policy).violation == F(1, 8)


@pytest.mark.long
def test_what_hierarchies_have_and_lack():
    policies = [Hierarchical(NESTED, rule) for rule in (DRF(), ProportionalFair(), BottleneckMax(), MaxMin())]
    # With this seed a hundred calls find every violation.
    table = audit(policies, ["SI", "PE", "SP", "GSP", "HSG", "PM"], budget=100, rng=2)
    assert not any("?" in cell.mark for cell in table.cells.values())
    assert {p: "".join(table.cells[p, q].mark for q in table.properties) for p in table.policies} == {
        "H-DRF": "✗✓✓✓✓✗",
        "H-PF": "✗✓✗✗✓✗",
        "H-BMF": "✗✓✗✗✗✗",
        "H-MMF": "✗✓✗✗✗✗",
    }


class Generous:
    """Gives A everything, alike, if all three classes of A claim to need both resources; else equal parts."""

    name = "generous"
    tree = Tree(["all", "A", "B"], [-1, 0, 0], job_classes=PAIR.job_classes, class_nodes=[1, 1, 1, 2])

    def __call__(self, problem, counts):
        shares = problem.task_shares.max(axis=1)
        whole = (problem.demands > 0).all(axis=1)
        part = np.full(problem.n_classes, 1 / problem.n_classes)
        if problem.n_classes == 4 and whole[:3].all():
            part = np.array([1 / 3, 1 / 3, 1 / 3, 0])
        return np.broadcast_to(part / shares, np.shape(counts))


def test_all_classes_of_a_queue_may_lie_together():
    pool = Problem([[2, 0], [2, 0], [2, 0], [1, 1]], [12, 12])
    sizes = {len(lie.users) for lie in GSP.changes(pool, np.random.default_rng(0), 200)}
    inside = {
        len(lie.users) for lie in GSP.within(Generous.tree).changes(pool, np.random.default_rng(0), 200)
    }
    assert (sizes, inside) == ({1, 2}, {1, 2, 3, 4})
    lie = Lie((0, 1, 2), ((2, 1), (2, 1), (2, 1)))
    before, after = (Generous()(model, np.ones(4)) for model in (pool, lie.apply(pool)))
    finding = GSP.within(Generous.tree).check(pool, before, lie, after)
    assert finding.violation == pytest.approx(1 / 3)
    assert finding.users == (0, 1, 2)
    assert property_named("SP").of(Generous(), pool, changes=60).holds
