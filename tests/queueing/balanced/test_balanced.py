from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from fairness import Problem
from fairness.errors import ModelError, UnstableError
from fairness.machine import compiling
from fairness.testing import KINDS, random_problem
from queueing.balanced.fairness import balanced_fairness
from queueing.model.system import System

# A law is a quotient of sums of up to 10^6 positive terms, each the result of a few hundred roundings.
ROUNDING = 1e-12


def phi(rows, limits, shape):
    """Balance function over the rationals, from its definition."""
    values = {}
    for x in itertools.product(*map(range, shape)):
        before = [(i, values[tuple(v - (k == i) for k, v in enumerate(x))]) for i in range(len(x)) if x[i]]
        terms = [sum(rows[i][j] * p for i, p in before) for j in range(len(rows[0]))]
        terms += [p / (x[i] * limits[i]) for i, p in before if limits is not None]
        values[x] = max(terms) if before else Fraction(1)
    return values


def random_systems(seed, number=12, limited=False):
    rng = np.random.default_rng(seed)
    for k in range(number):
        n, m = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        problem = random_problem(rng, n, m, kind=KINDS[k % 3], weighted=True, limited=limited)
        yield System.with_load(
            problem, rng.uniform(0.1, 1, n), rng.uniform(0.2, 0.8), 10 ** rng.uniform(-1, 1, n)
        )


@pytest.mark.parametrize("limited", [False, True])
def test_recursion_in_rationals(limited):
    rng = np.random.default_rng(5)
    for n in (1, 2, 3):
        a = rng.integers(0, 5, (n, 2)) + np.eye(n, 2, dtype=int)
        limits = [Fraction(int(k), 7) for k in rng.integers(1, 5, n)] if limited else None
        a[~a.any(axis=1)] = 1
        shares = [[Fraction(int(v), 9) for v in row] for row in a]
        loads = [Fraction(1, 3 + i) for i in range(n)]
        shape = (4, 3, 5)[:n]
        exact = phi(shares, limits, shape)
        total = sum(p * math.prod(r**k for r, k in zip(loads, x, strict=True)) for x, p in exact.items())
        problem = Problem(a, [9, 9], limits=None if limits is None else [float(v) for v in limits])
        system = System(problem, [float(r) for r in loads])
        law = balanced_fairness(system, shape=shape, distribution=True).distribution
        for x, p in exact.items():
            expected = p * math.prod(r**k for r, k in zip(loads, x, strict=True)) / total
            assert law[x] == pytest.approx(float(expected), rel=ROUNDING)


@pytest.mark.parametrize("limited", [False, True])
def test_feasible_and_saturating_in_each_state(limited):
    for system in random_systems(1, limited=limited):
        problem, shape = system.problem, (9, 8, 7)[: system.n_classes]
        law = balanced_fairness(system, shape=shape, distribution=True)
        tasks = law.tasks()
        counts = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1)
        usage = (tasks @ problem.task_shares).max(axis=-1)
        speed = (tasks / (np.maximum(counts, 1) * problem.limits)).max(axis=-1)
        tight = np.maximum(usage, speed)
        assert tight.flat[0] == 0
        assert tight.reshape(-1)[1:] == pytest.approx(1, rel=1e-13)


@pytest.mark.parametrize("limited", [False, True])
def test_balance_equations_and_conservation(limited):
    for system in random_systems(2, number=6, limited=limited):
        law = balanced_fairness(system, distribution=True, tail=1e-11)
        tasks = law.tasks().reshape(-1, system.n_classes)
        carried = law.distribution.reshape(-1) @ tasks
        # Mean tasks = load; 0 at underflow and the outer faces cost at most the tail.
        assert carried == pytest.approx(system.loads, rel=1e-8)


@pytest.mark.parametrize("keep", [False, True])
def test_limits_give_poisson_beyond_the_range_of_floats(keep):
    # exp(1500) is the scale of the largest P: it must be rescaled on the way.
    law = balanced_fairness(System(Problem([[0], [0]], [1], limits=[1, 2]), [1500, 4]), distribution=keep)
    assert law.mean_jobs == pytest.approx([1500, 2], rel=1e-10)
    k = np.arange(law.shape[0])
    # The Poisson probabilities of scipy themselves are good to about 1e-11 here (exp of differences of 10^4).
    assert law.marginals[0] == pytest.approx(stats.poisson.pmf(k, 1500), rel=1e-9, abs=1e-30)
    if keep:
        assert law.distribution.sum() == pytest.approx(1, rel=1e-12)
        assert law.distribution.sum(axis=1) == pytest.approx(law.marginals[0], rel=1e-12, abs=1e-60)


def test_with_and_without_the_distribution():
    for system in random_systems(3, limited=True):
        shape = (7, 30, 12)[: system.n_classes]
        kept = balanced_fairness(system, shape=shape, distribution=True)
        bare = balanced_fairness(system, shape=shape)
        assert bare.distribution is None
        assert bare.tail_mass == pytest.approx(kept.tail_mass, rel=ROUNDING)
        for i, marginal in enumerate(bare.marginals):
            others = tuple(k for k in range(system.n_classes) if k != i)
            assert marginal == pytest.approx(kept.distribution.sum(axis=others), rel=ROUNDING, abs=1e-280)
        assert bare.empty_probability == pytest.approx(kept.distribution.flat[0], rel=ROUNDING)


def test_kernel_uncompiled(monkeypatch):
    system = next(random_systems(8, limited=True))
    monkeypatch.setattr(compiling, "SMALL", -1.0)
    compiled = balanced_fairness(system, shape=6, distribution=True)
    monkeypatch.setattr(compiling, "SMALL", np.inf)
    monkeypatch.setattr(compiling, "PATIENCE", np.inf)
    # Compiled code may contract a product and a sum into one operation.
    assert balanced_fairness(system, shape=6, distribution=True).distribution == pytest.approx(
        compiled.distribution, rel=1e-14
    )


def test_long_rows_are_cut_into_chunks():
    system = System.with_load(Problem([[1, 0.1], [0.1, 1]], [1, 1], limits=[0.5, np.inf]), [1, 2], 0.9)
    law = balanced_fairness(system, shape=(1200, 1300))
    small = balanced_fairness(system)
    assert law.mean_jobs == pytest.approx(small.mean_jobs, rel=1e-10)  # tail of the small box


@pytest.mark.parametrize("limited", [False, True])
def test_tail_mass_is_an_upper_bound(limited):
    for system in random_systems(4, limited=limited):
        box = balanced_fairness(system, tail=1e-3, distribution=True)
        large = balanced_fairness(system, tail=1e-10, distribution=True)
        outside = 1 - large.distribution[tuple(slice(k) for k in box.shape)].sum()
        assert outside <= box.tail_mass + 1e-9
        assert np.all(np.abs(box.mean_jobs - large.mean_jobs) <= box.mean_jobs_error + large.mean_jobs_error)
        # The bound is not empty words: it is within three orders of magnitude.
        assert outside >= 1e-3 * box.tail_mass


def test_automatic_box():
    system = System.with_load(Problem([[1, 0.1], [0.1, 1]], [1, 1]), [3, 1], 0.7)
    for tail in (1e-3, 1e-6, 1e-12):
        law = balanced_fairness(system, tail=tail)
        assert law.tail_mass <= tail
        smaller = tuple(k - 1 for k in law.shape)
        assert balanced_fairness(system, shape=tuple(k // 2 for k in smaller)).tail_mass > tail


def test_relabelling_and_weights():
    a = np.array([[1, 0.2, 0.1], [0.3, 1, 0.2], [0.1, 0.5, 1]])
    loads = np.array([0.3, 0.2, 0.4])
    one = balanced_fairness(System(Problem(a, [1, 1.2, 1]), loads))
    turn = [2, 0, 1]
    other = balanced_fairness(System(Problem(a[turn], [1, 1.2, 1], weights=[1, 5, 2]), loads[turn]))
    assert other.mean_jobs == pytest.approx(one.mean_jobs[turn], rel=1e-12)


def test_class_without_arrivals():
    pool = Problem([[1, 0.1], [0.1, 1], [1, 1]], [1, 1])
    law = balanced_fairness(System(pool, [0.4, 0.5, 0.0]))
    pair = balanced_fairness(System(Problem([[1, 0.1], [0.1, 1]], [1, 1]), [0.4, 0.5]))
    assert law.shape == (*pair.shape, 1)
    assert law.mean_jobs[:2] == pytest.approx(pair.mean_jobs, rel=1e-14)
    assert law.mean_jobs[2] == 0
    assert np.isnan(law.mean_durations[2])
    nobody = balanced_fairness(System(pool, [0, 0, 0]))
    assert nobody.shape == (1, 1, 1)
    assert nobody.empty_probability == 1
    assert nobody.tail_mass == 0


def test_a_load_of_1_up_to_rounding():
    rng = np.random.default_rng(0)
    for _ in range(50):
        problem = Problem(rng.uniform(0.1, 1, (3, 2)), rng.uniform(0.1, 3, 2))
        with pytest.raises((UnstableError, ModelError), match="load"):
            balanced_fairness(System.with_load(problem, rng.uniform(0, 1, 3), 1 - 1.2e-16))


def test_errors():
    pool = Problem([[1, 0.1], [0.1, 1]], [1, 1], resources=["cpu", "ram"])
    system, full = System(pool, [0.4, 0.5]), System(pool, [1 - 1e-13, 1e-14])
    three = System(Problem(np.eye(3), np.ones(3)), [0.1] * 3)
    crowd = System(Problem(np.ones((400, 1)), [1]), np.full(400, 1e-3))
    with pytest.raises(UnstableError, match="cpu"):
        balanced_fairness(System(pool, [1.0, 0.0]))
    for given, options, message in [
        (system, {"tail": 0}, "tail must be"),
        (system, {"shape": 10**6, "distribution": True}, "leave the distribution out"),
        (
            system,
            {"max_states": 1000},
            "max_states=1,000: .* GiB and about .*; raise tail or max_states",
        ),
        (system, {"shape": (5, 1)}, "shape gives 1 state to class 'class 2', which has arrivals"),
        (three, {"shape": 10**7}, r"10000000 x 10000000 x 10000000 states needs .* give a smaller shape"),
        (full, {}, "tail of a job count"),
        (crowd, {"shape": 10**4}, r"10000 x 10000 x ... x 10000 \(400 classes\) states needs inf GiB"),
    ]:
        with pytest.raises(ModelError, match=message):
            balanced_fairness(given, **options)
    for shape in ((3, 4, 5), "ab", 2.5, np.nan, (np.inf, 3), True, (10**400, 3), 0):
        with pytest.raises(ModelError, match="shape must give 2 positive integers"):
            balanced_fairness(system, shape=shape)
    with pytest.raises(ModelError, match="distribution=True"):
        balanced_fairness(system).tasks()
