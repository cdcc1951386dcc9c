from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from fairness import Cluster, Problem
from fairness.errors import ModelError, UnstableError
from fairness.testing import KINDS, random_problem
from queueing.balanced.duration_bound import duration_bound
from queueing.balanced.fairness import balanced_fairness
from queueing.balanced.groups import merge_classes, thinned
from queueing.balanced.plan import balanced_plan
from queueing.model.system import System

SMALL = 1e-17  # tail of the boxes: times counts up to 100 squared far below ROUNDING
ROUNDING = 1e-12  # sums of up to 10^6 positive terms, and differences of second moments


def random_kinds(rng, limited):
    """Classes of up to three kinds; within a kind demands and limits are proportional."""
    kinds = random_problem(
        rng, int(rng.integers(1, 4)), int(rng.integers(1, 4)), kind=KINDS[rng.integers(3)], limited=limited
    )
    which = rng.permutation(np.append(np.arange(kinds.n_classes), rng.integers(0, kinds.n_classes, 1)))
    scale = 2.0 ** rng.integers(-2, 3, len(which)) if rng.random() < 0.5 else rng.uniform(0.5, 2, len(which))
    problem = Problem(
        kinds.demands[which] * scale[:, None], kinds.capacities, limits=kinds.limits[which] / scale
    )
    load = rng.uniform(0.1, 0.4)
    return System.with_load(problem, rng.uniform(0.1, 1, len(which)), load), kinds.n_classes


@pytest.mark.parametrize("limited", [False, True])
def test_merged_equals_unmerged(limited):
    rng = np.random.default_rng(3)
    for _ in range(15):
        system, kinds = random_kinds(rng, limited)
        merged = balanced_fairness(system, tail=SMALL)
        single = balanced_fairness(system, tail=SMALL, distribution=True)
        assert len(merged.groups) <= kinds < len(single.groups)
        assert sorted(i for group in merged.groups for i in group) == list(range(system.n_classes))
        assert merged.mean_jobs == pytest.approx(single.mean_jobs, rel=ROUNDING)
        assert merged.variances == pytest.approx(single.variances, rel=10 * ROUNDING)
        assert merged.covariance == pytest.approx(single.covariance, rel=1e-10, abs=1e-12)
        assert merged.empty_probability == pytest.approx(single.empty_probability, rel=ROUNDING)
        assert np.diag(merged.covariance) == pytest.approx(merged.variances, rel=1e-10)
        for one, other in zip(merged.marginals, single.marginals, strict=True):
            size = min(len(one), len(other))
            assert one[:size] == pytest.approx(other[:size], rel=ROUNDING, abs=1e-15)


def test_covariance_by_definition():
    rng = np.random.default_rng(8)
    for n in (1, 2, 3, 4):
        problem = random_problem(rng, n, 3, kind=KINDS[0], limited=n == 3)
        system = System.with_load(problem, rng.uniform(0.2, 1, n), 0.3)
        law = balanced_fairness(system, shape=9, distribution=True)
        counts = np.stack(np.meshgrid(*[np.arange(9)] * n, indexing="ij"), axis=-1).reshape(-1, n)
        expected = np.cov(counts.T, aweights=law.distribution.ravel(), ddof=0).reshape(n, n)
        assert law.covariance == pytest.approx(expected, abs=1e-12)
        assert balanced_fairness(system, shape=9).covariance == pytest.approx(expected, abs=1e-12)


def test_limits_that_differ_are_not_merged():
    system = System(Problem([[1, 0.1], [2, 0.2], [0.1, 1]], [1, 1], limits=[0.4, 0.4, 1]), [0.1, 0.1, 0.2])
    assert balanced_fairness(system).groups == ((0,), (1,), (2,))
    system = System(Problem([[1, 0.1], [2, 0.2], [0.1, 1]], [1, 1], limits=[0.4, 0.2, 1]), [0.1, 0.1, 0.2])
    assert balanced_fairness(system).groups == ((0, 1), (2,))


def test_components_are_independent():
    left = Problem([[1, 0.2], [0.3, 1]], [1, 1])
    both = np.zeros((4, 4))
    both[:2, :2] = both[2:, 2:] = left.demands
    loads = np.array([0.2, 0.3, 0.4, 0.1])
    law = balanced_fairness(System(Problem(both, np.ones(4)), loads), tail=1e-14)
    parts = [balanced_fairness(System(left, part), tail=0.5e-14) for part in (loads[:2], loads[2:])]
    assert law.methods == ("box", "box")
    assert law.mean_jobs == pytest.approx(np.concatenate([p.mean_jobs for p in parts]), rel=1e-14)
    assert law.empty_probability == pytest.approx(math.prod(p.empty_probability for p in parts), rel=1e-14)
    assert np.all(law.covariance[:2, 2:] == 0)
    assert law.tail_mass == pytest.approx(sum(p.tail_mass for p in parts), rel=1e-10)
    assert law.tail_mass <= 1e-14


def test_tail_mass_of_merged_classes_is_an_upper_bound():
    system = System.with_load(Problem([[1, 0.2]] * 3 + [[0.3, 1]] * 2, [1, 1]), [1, 2, 3, 2, 1], 0.8)
    for tail in (1e-2, 1e-4):
        rough, fine = balanced_fairness(system, tail=tail), balanced_fairness(system, tail=1e-13)
        assert rough.tail_mass <= tail
        gap = np.abs(rough.mean_jobs - fine.mean_jobs)
        assert np.all(gap <= rough.mean_jobs_error)
        assert np.all(gap >= 1e-3 * rough.mean_jobs_error)


def test_thousands_of_classes():
    demands = [[1, 0.1]] * 1500 + [[0.1, 1]] * 1500
    crowd = System.with_load(Problem(demands, [1, 1]), np.ones(3000), 0.9)
    pair = System.with_load(Problem([[1, 0.1], [0.1, 1]], [1, 1]), [1, 1], 0.9)
    law, two = balanced_fairness(crowd), balanced_fairness(pair)
    assert law.mean_durations == pytest.approx(np.repeat(two.mean_durations, 1500), rel=1e-9)
    assert "2 groups" in repr(law)
    assert "2960 more classes" in repr(law)
    # The marginal of one of 1500 equal classes has the mean of its count.
    few = balanced_fairness(System.with_load(Problem(demands[:3], [1, 1]), np.ones(3), 0.5))
    assert few.marginals[1] @ np.arange(few.shape[1]) == pytest.approx(few.mean_jobs[1], rel=1e-12)


def test_thinned_by_definition():
    law = np.random.default_rng(0).dirichlet(np.ones(40))
    for keep in (1.0, 0.3, 1e-3):
        expected = [law @ stats.binom.pmf(k, np.arange(40), keep) for k in range(40)]
        assert thinned(law, keep) == pytest.approx(expected, rel=1e-12, abs=1e-280)
        assert thinned.py_func(law, keep) == pytest.approx(expected, rel=1e-12, abs=1e-280)


def test_resources_that_never_bind_do_not_keep_classes_apart():
    # The third resource is dominated by the first; without it the first two classes are alike.
    problem = Problem([[1, 0.1, 0.5], [1, 0.1, 0.9], [0.1, 1, 0.1]], [1, 1, 1])
    assert len(merge_classes(System(problem, [0.2, 0.2, 0.2])).members) == 2


def test_samples_of_a_box():
    system = System.with_load(Problem([[1, 0.2], [1, 0.2], [0.3, 1], [0, 1]], [1, 1]), [1, 2, 2, 0], 0.7)
    law = balanced_fairness(system)
    check_moments(law, 40_000, 5)
    assert np.array_equal(law.sample(5, rng=1), law.sample(5, rng=1))
    assert law.sample(0).shape == (0, 4)


def check_moments(law, size, seed):
    """First two moments of a sample; 6 standard errors: false alarms below 1e-7 for some ten comparisons."""
    states = law.sample(size, rng=seed)
    assert states.shape == (size, law.system.n_classes)
    gap = states - law.mean_jobs
    assert np.all(np.abs(gap.mean(axis=0)) <= 6 * np.sqrt(law.variances / size) + 1e-15)
    products = gap[:, :, None] * gap[:, None, :]
    error = products.std(axis=0) / math.sqrt(size)
    assert np.all(np.abs(products.mean(axis=0) - law.covariance) <= 6 * error + 1e-12)


@pytest.mark.long
def test_plan():
    demands = [[1, 0.1, 0]] * 100 + [[0.1, 1, 0]] * 100 + [[0, 0, 1]]
    system = System.with_load(Problem(demands, [1, 1, 1]), [1] * 201, 0.5)
    plan, law = balanced_plan(system), balanced_fairness(system)
    assert [step.method for step in plan.steps] == list(law.methods) == ["box", "closed form"]
    assert plan.groups == law.groups
    assert plan.steps[0].box == (law.shape[0], law.shape[150])
    assert plan.states == math.prod(plan.steps[0].box)
    assert plan.feasible
    assert "box: 200 classes in 2 groups" in repr(plan)
    rng = np.random.default_rng(0)
    large = System.with_load(Problem(rng.uniform(0.1, 1, (12, 6)), np.ones(6)), np.ones(12), 0.9)
    plan = balanced_plan(large)
    assert not plan.feasible
    assert "does not suffice" in plan.summary()
    assert list(plan.to_dataframe()["classes"]) == [12]
    with pytest.raises(ModelError, match="exceeds max_states"):
        balanced_fairness(large)
    with pytest.raises(ModelError, match=r"needs .* GiB"):
        balanced_fairness(large, max_states=10**40)


def test_errors():
    problem = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    with pytest.raises(UnstableError, match="load"):
        balanced_plan(System(problem, [1, 1]))
    with pytest.raises(ModelError, match="tail must be"):
        balanced_plan(System(problem, [0.1, 0.1]), tail=2)
    with pytest.raises(ModelError, match="size must be a whole number"):
        balanced_fairness(System(problem, [0.1, 0.1])).sample(-1)
    servers = System(Cluster([[1, 1]], [[2, 2], [3, 3]]), [0.5])
    for compute in (balanced_fairness, balanced_plan, duration_bound):
        with pytest.raises(ModelError, match=r"(balanced fairness|duration bound) needs one pool"):
            compute(servers)
