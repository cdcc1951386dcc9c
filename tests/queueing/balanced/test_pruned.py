from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from fairness import Problem
from fairness.display.wording import rough
from fairness.errors import ModelError
from queueing.balanced import plan as balanced_plans
from queueing.balanced import pruned, pruning
from queueing.balanced.closed_forms import LinearLaw, linear_order
from queueing.balanced.fairness import balanced_fairness
from queueing.balanced.groups import merge_classes
from queueing.balanced.plan import balanced_plan
from queueing.balanced.pruned import PrunedLaw, plan_pruning
from queueing.balanced.pruning import empty_sums, next_level
from queueing.balanced.tail_bound import StoreAndForward
from queueing.balanced.tree import TreeLaw, tree_nodes, tree_sums
from queueing.model.system import System


def bound_of(system):
    (part,) = merge_classes(system).components
    return StoreAndForward(part.gain, part.ceiling, part.resources)


def random_system(rng, n, m, load, limited=False):
    demands = rng.uniform(0.1, 1, (n, m)) * (rng.random((n, m)) < 0.8)
    demands[np.arange(n), np.arange(n) % m] = 1
    limits = rng.uniform(0.3, 3, n) if limited else None
    return System.with_load(Problem(demands, np.ones(m), limits=limits), rng.uniform(0.3, 1, n), load)


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_states_and_sums_by_definition(n, limited):
    # Every kept state has the value that the definition gives when dropped states count as 0.
    rng = np.random.default_rng([n, limited])
    rows = [[Fraction(int(v), 6) for v in row] for row in rng.integers(1, 5, (n, 2))]
    limits = [Fraction(int(v), 7) for v in rng.integers(3, 9, n)] if limited else None
    loads = [Fraction(1, 2 + n + i) for i in range(n)]
    gain = np.array([[float(r * a) for a in row] for r, row in zip(loads, rows, strict=True)])
    ceiling = np.array([float(r / v) for r, v in zip(loads, limits, strict=True)]) if limited else np.zeros(n)
    threshold = 1e-5 if n < 4 else 1e-4
    plan = plan_pruning(StoreAndForward(gain, ceiling, ["a", "b"]), 0.01)
    run = pruned.replace(plan, threshold=threshold)
    weight = [[r * a for a in row] for r, row in zip(loads, rows, strict=True)]
    found, sums = {}, empty_sums(run.most)
    for n_jobs, level in enumerate(run.levels(sums)):
        for row, prefix in enumerate(level.prefix):
            for k, value in enumerate(level.values[level.starts[row] : level.starts[row + 1]]):
                y = int(level.lows[row] + k)
                rest = tuple(int(x) for x in prefix)
                state = np.empty(n, dtype=int)
                state[run.order] = (n_jobs - sum(rest) - y, *rest, y)
                found[tuple(state.tolist())] = value
    lost, lost_jobs = Fraction(0), [Fraction(0)] * n
    exact = {(0,) * n: Fraction(1)}
    for n_jobs in range(1, max(map(sum, found)) + 2):
        for x in itertools.product(range(n_jobs + 1), repeat=n):
            if sum(x) != n_jobs:
                continue
            less = [
                (i, exact.get(tuple(v - (k == i) for k, v in enumerate(x)), Fraction(0)))
                for i in range(n)
                if x[i]
            ]
            terms = [sum(weight[i][j] * p for i, p in less) for j in range(2)]
            terms += [loads[i] / limits[i] * p / x[i] for i, p in less] if limited else []
            if x in found:
                exact[x] = max(terms)
                assert found[x] == pytest.approx(float(exact[x]), rel=1e-13)
            else:
                lost += max(terms)
                lost_jobs = [s + v * max(terms) for s, v in zip(lost_jobs, x, strict=True)]
    assert sums.dropped[0] == pytest.approx(float(lost), rel=1e-12)
    assert sums.dropped[1:][np.argsort(run.order)] == pytest.approx([float(s) for s in lost_jobs], rel=1e-12)
    mass = sum(found.values())
    for axis, i in enumerate(run.order):
        for k in range(int(run.most[axis]) + 1):
            here = sum(p for x, p in found.items() if x[i] == k)
            assert sums.marginals[axis, k] == pytest.approx(here, rel=1e-12, abs=1e-300)
        for other, k in enumerate(run.order[: axis + 1]):
            both = sum(x[i] * x[k] * p for x, p in found.items())
            assert sums.moments[axis, other] == pytest.approx(both, rel=1e-12, abs=1e-300)
    # The comparison is of more than a few.
    assert len(found) > 20
    assert 0 < lost < Fraction(mass) / 10


@pytest.mark.parametrize("limited", [False, True])
def test_agrees_with_boxes(limited):
    rng = np.random.default_rng(1 + limited)
    for n, m, load in [(2, 2, 0.7), (3, 3, 0.6), (3, 1, 0.5), (4, 2, 0.4)]:
        system = random_system(rng, n, m, load, limited)
        if len(merge_classes(system).members) < 2:
            continue
        box = balanced_fairness(system, shape=StoreAndForward.of(system).box(1e-13))
        law = PrunedLaw(plan_pruning(bound_of(system), 1e-11))
        assert law.tail_mass <= 1e-11
        groups = merge_classes(system).members
        mean = np.array([box.mean_jobs[list(g)].sum() for g in groups])
        assert np.all(np.abs(law.mean - mean) <= law.error + 1e-11 * mean)
        assert law.empty == pytest.approx(box.empty_probability, rel=2e-11)
        between = np.array([[box.covariance[np.ix_(g, h)].sum() for h in groups] for g in groups])
        # Second moments of what is left out: a tail of 1e-11 at up to a few hundred jobs, squared.
        assert law.covariance == pytest.approx(between, abs=1e-6, rel=1e-7)
        assert law.variance == pytest.approx(np.diag(between), rel=1e-7)
        for group, marginal in zip(groups, law.marginals, strict=True):
            if len(group) == 1:
                reference = box.marginals[group[0]]
                size = min(len(reference), len(marginal))
                assert marginal[:size] == pytest.approx(reference[:size], abs=2e-11)


@pytest.mark.parametrize("limited", [False, True])
def test_errors_are_upper_bounds(limited):
    rng = np.random.default_rng(3)
    for k in range(12):
        n = 2 + k % 4
        bound = bound_of(random_system(rng, n, 3, rng.uniform(0.2, 0.8), limited))
        if len(bound.gain) < 2:
            continue
        plan = plan_pruning(bound, 1e-9)
        exact = PrunedLaw(plan)
        for threshold in (1e-2, 1e-3, 1e-4):
            rough = PrunedLaw(pruned.replace(plan, tail=0.99, threshold=threshold))
            if rough.tail_mass == pytest.approx(exact.tail_mass):
                continue
            # P(0) = 1: 1/empty is the mass, and what is lacking is the probability left out.
            lacking = 1 - exact.empty / rough.empty
            assert 0 <= lacking <= rough.tail_mass
            assert np.all(np.abs(rough.mean - exact.mean) <= rough.error + exact.error)
            # The bound is not empty words.
            assert lacking >= 0.02 * rough.tail_mass


def test_linear_network_of_six_classes():
    # One long route over five links of different loads; the law is known in closed form.
    loads = np.array([0.3, 0.1, 0.2, 0.25, 0.3, 0.35])
    system = System(Problem(np.vstack([np.ones(5), np.eye(5)]), np.ones(5)), loads)
    (part,) = merge_classes(system).components
    exact = LinearLaw(part, linear_order(part))
    law = PrunedLaw(plan_pruning(bound_of(system), 1e-7))
    assert law.tail_mass <= 1e-7
    assert np.all(np.abs(law.mean - exact.mean) <= law.error)
    # Second moments of what is left out: 1e-7 at up to 100 jobs.
    assert law.covariance == pytest.approx(exact.covariance, abs=1e-3)
    assert law.empty == pytest.approx(exact.empty, rel=2e-7)


def test_tree_of_five_classes():
    # A trunk with two racks of two links.
    demands = np.zeros((5, 6))
    demands[:, 0] = 1
    demands[[0, 1], 1] = demands[[2, 3], 2] = 1.6
    demands[0, 3] = demands[2, 4] = 3
    demands[4, 5] = 4
    system = System.with_load(Problem(demands, np.ones(6)), [1, 2, 1.5, 1, 0.5], 0.6)
    (part,) = merge_classes(system).components
    nodes = tree_nodes(part)
    exact = TreeLaw(part, nodes, tree_sums(nodes), 1e-9)
    law = PrunedLaw(plan_pruning(bound_of(system), 1e-8))
    assert np.all(np.abs(law.mean - exact.mean) <= law.error)
    assert law.covariance == pytest.approx(exact.covariance, abs=1e-4)


def test_samples_follow_the_law(monkeypatch):
    rng = np.random.default_rng(5)
    system = random_system(rng, 4, 3, 0.5)
    law = PrunedLaw(plan_pruning(bound_of(system), 1e-6))
    states = law.sample(20_000, rng)
    # 4 means and 16 covariances; each within 5.5 standard errors: false alarms once in 10^6.
    error = np.sqrt(law.variance / len(states))
    assert np.all(np.abs(states.mean(axis=0) - law.mean) < 5.5 * error)
    for i, k in itertools.combinations_with_replacement(range(4), 2):
        product = (states[:, i] - law.mean[i]) * (states[:, k] - law.mean[k])
        assert abs(product.mean() - law.covariance[i, k]) < 5.5 * product.std() / math.sqrt(len(states))
    # Order of the draws tells nothing: neighbours are not sorted by their number of jobs.
    totals = states.sum(axis=1)
    assert abs(np.corrcoef(totals[1:], totals[:-1])[0, 1]) < stats.norm.isf(5e-7) / math.sqrt(len(states))
    assert law.sample(0, rng).shape == (0, 4)


def test_the_front_door_chooses(monkeypatch):
    system = random_system(np.random.default_rng(6), 5, 3, 0.5)
    boxed = balanced_fairness(system, tail=1e-6)
    monkeypatch.setattr(balanced_plans, "WORTH_PRUNING", 0.0)
    monkeypatch.setattr(balanced_plans, "box_seconds", lambda *_: 100.0)
    plan, law = balanced_plan(system, tail=1e-6), balanced_fairness(system, tail=1e-6)
    assert boxed.methods == ("box",)
    assert law.methods == ("pruned",) == tuple(step.method for step in plan.steps)
    assert law.tail_mass <= 1e-6
    assert np.all(np.abs(law.mean_jobs - boxed.mean_jobs) <= law.mean_jobs_error + boxed.mean_jobs_error)
    (inner,) = law._laws
    assert plan.states == pytest.approx(inner.states, rel=1)
    assert f"pruned to {inner.states:,} states" in law.summary()
    assert f"about {rough(plan.states)} states" in plan.summary()
    assert law.shape == tuple(map(len, law.marginals))
    assert law.sample(3, rng=1).shape == (3, 5)
    with pytest.raises(ModelError, match=r"the pruned recursion of 5 .* max_states=100: .* duration_bound"):
        balanced_fairness(system, tail=1e-6, max_states=100)


def test_predictions_and_a_threshold_that_is_too_high(monkeypatch):
    bound = bound_of(random_system(np.random.default_rng(7), 5, 3, 0.6))
    honest = plan_pruning(bound, 1e-5)
    monkeypatch.setattr(pruned, "TRIAL_STATES", 2000)
    guessed = plan_pruning(bound, 1e-5)
    law = PrunedLaw(guessed)
    assert law.tail_mass <= 1e-5
    assert guessed.states == pytest.approx(law.states, rel=2)
    assert guessed.threshold == pytest.approx(honest.threshold, rel=10)
    again = PrunedLaw(pruned.replace(guessed, threshold=1e-3))
    assert again.tail_mass <= 1e-5
    monkeypatch.setattr(pruned, "TRIAL_STATES", 2)
    assert plan_pruning(bound, 1e-5) is None


def test_many_classes_have_room_for_the_keys_of_their_rows():
    # 24 classes of which each is seldom there.
    system = random_system(np.random.default_rng(8), 24, 6, 0.1)
    plan = plan_pruning(bound_of(system), 1e-2)
    assert np.prod(plan.most[1:-1] + 2.0) <= 2.0**62
    law = PrunedLaw(plan)
    assert law.tail_mass <= 1e-2
    assert plan_pruning(bound_of(random_system(np.random.default_rng(9), 60, 6, 0.1)), 1e-2) is None


def test_largest_counts_give_the_law_on_a_box():
    # Nothing is below the threshold, so that only what is outside the box is dropped.
    system = random_system(np.random.default_rng(10), 5, 3, 0.5)
    bound = bound_of(system)
    plan = plan_pruning(bound, 1e-6)
    exact = PrunedLaw(plan)
    most = np.array([5, 2, 3, 4, 6])
    narrow = PrunedLaw(pruned.replace(plan, tail=0.99, threshold=1e-100, most=most))
    shape = np.empty(5, dtype=int)
    shape[plan.order] = most + 1
    box = balanced_fairness(system, shape=shape.tolist())
    assert narrow.shape == tuple(shape) == box.shape
    assert narrow.mean == pytest.approx(box.mean_jobs, rel=1e-12)
    assert narrow.covariance == pytest.approx(box.covariance, rel=1e-9, abs=1e-12)
    assert narrow.empty == pytest.approx(box.empty_probability, rel=1e-12)
    assert narrow.states == np.prod(shape)
    assert exact.tail_mass < 1 - exact.empty / narrow.empty <= narrow.tail_mass
    assert np.all(np.abs(narrow.mean - exact.mean) <= narrow.error)


def test_largest_counts_are_large_enough(monkeypatch):
    # Limits let P grow to some e^20 before it falls: what ends at the largest counts is weighed with that.
    gain = np.array([[0.4], [0.3], [0.2]])
    bound = StoreAndForward(gain, np.full(3, 8.0), ["a"])
    plan = plan_pruning(bound, 1e-12)
    lower = pruned.replace(plan, threshold=1e-6 * plan.threshold)
    sums = empty_sums(lower.most)
    for _ in lower.levels(sums):
        pass
    assert 0 < sums.dropped[0] < 1e-16
    assert PrunedLaw(plan).tail_mass <= 1e-12
    # Where rows have no keys for so many jobs there is no plan.
    monkeypatch.setattr(pruned, "KEYS", 30.0)
    assert plan_pruning(bound, 1e-12) is None


def test_kernel_uncompiled(monkeypatch):
    bound = bound_of(random_system(np.random.default_rng(11), 3, 2, 0.4, limited=True))
    plan = pruned.replace(plan_pruning(bound, 1e-3), tail=0.5, threshold=1e-3)
    compiled = PrunedLaw(plan)
    monkeypatch.setattr(pruned, "next_level", next_level.py_func)
    helpers = ("_sizes", "_limit", "_worth_keeping", "_drop", "_keep", "_gather", "_next_row", "_fullest")
    for helper in helpers:
        monkeypatch.setattr(pruning, helper, getattr(pruning, helper).py_func)
    # Compiled code may contract a product and a sum into one operation.
    assert PrunedLaw(plan).mean == pytest.approx(compiled.mean, rel=1e-14)
