"""Leximin against an independent sequence of linear programs, in rational arithmetic, and its certificate."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from fairness import Cluster, ModelError, NotConvergedError
from fairness.evidence.clusters import placement_residual
from fairness.machine.linear_programs import SilentSolver
from fairness.policies.servers.engines import level_program, pair_program
from fairness.policies.servers.engines import leximin as module
from fairness.policies.servers.engines.level_evidence import Pairs
from fairness.policies.servers.engines.level_program import LevelProgram
from fairness.policies.servers.engines.leximin import Level, leximin, leximin_certificate
from fairness.testing import KINDS, random_cluster
from tests.oracles.leximin import cluster_leximin, prove_leximin

F = Fraction


def instance(rng, kind, *, n=5, s=4, m=3, effective=False):
    cluster = random_cluster(
        rng, n, s, m, kind=kind, weighted=True, constrained=bool(rng.random() < 0.7), effective=effective
    )
    counts = rng.integers(0, 4, n) * rng.choice([1.0, 0.7])
    return cluster, counts, 10.0 ** rng.uniform(-1, 1, n)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("effective", [False, True])
def test_agrees_with_the_naive_sequence_of_programs(kind, effective):
    rng = np.random.default_rng(4)
    for _ in range(12):
        cluster, counts, yardsticks = instance(rng, kind, effective=effective)
        result = leximin(cluster, counts, yardsticks)
        assert result.certificate.holds
        # The other method takes a class as stuck that can rise by less than 1e-5.
        expected = cluster_leximin(cluster, counts, yardsticks)
        np.testing.assert_allclose(result.placement.sum(axis=1), expected, rtol=3e-5, atol=1e-9)
        np.testing.assert_allclose(
            result.levels * counts * cluster.weights * yardsticks, expected, rtol=3e-5, atol=1e-9
        )


def test_a_max_min_level_is_not_enough():
    # Class 1 is stuck at level 1 on the small server; the others share nine times more.
    cluster = Cluster([[1], [1], [1]], [[1], [18]], eligible=[[True, False], [False, True], [False, True]])
    result = leximin(cluster, None, [1, 1, 1])
    np.testing.assert_allclose(result.placement.sum(axis=1), [1, 9, 9], rtol=1e-14)
    lazy = np.array([[1.0, 0.0], [0.0, 6.0], [0.0, 12.0]])
    assert not leximin_certificate(cluster, None, lazy, np.ones(3), result.rounds).holds


def integer_cluster(rng):
    demands = rng.integers(0, 4, (4, 2))
    demands[~demands.any(axis=1), 0] = 1
    eligible = rng.random((4, 3)) < 0.6
    eligible[~eligible.any(axis=1), 0] = True
    eligible[rng.integers(4, size=3), np.arange(3)] = True
    return Cluster(demands, rng.integers(1, 7, (3, 2)), eligible=eligible)


def test_proved_in_rational_numbers():
    rng = np.random.default_rng(1)
    several = 0
    for _ in range(60):
        cluster = integer_cluster(rng)
        result = leximin(cluster, None, np.ones(4))
        # Yardsticks 1: totals are levels, quotients of small determinants.
        totals = [F(float(level)).limit_denominator(10**5) for level in result.levels]
        np.testing.assert_allclose(result.levels, [float(v) for v in totals], rtol=1e-14)
        prove_leximin(cluster, totals, result.placement, result.rounds)
        several += len({float(v) for v in totals}) > 1
    assert several > 20


def test_levels_and_bounds():
    rng = np.random.default_rng(7)
    for kind in KINDS:
        cluster, counts, yardsticks = instance(rng, kind, n=40, s=12)
        result = leximin(cluster, counts, yardsticks)
        levels = [record.level for record in result.rounds]
        assert levels == sorted(levels)
        for record in result.rounds:
            assert set(result.levels[list(record.classes)]) == {record.level}
            # What is not raised, since it is equal to the level before, differs from its bound by rounding.
            assert record.level == pytest.approx(record.bound, rel=1e-11)
        assert (result.levels[counts == 0] == 0).all()


def test_ties_come_out_equal():
    # Six equal classes and two equal servers each of their own: many programs at one level.
    cluster = Cluster([[2, 1]] * 6, [[4, 4], [4, 4]], eligible=[[True, False]] * 3 + [[False, True]] * 3)
    result = leximin(cluster, None, np.ones(6))
    assert set(result.levels) == {result.levels[0]}
    np.testing.assert_allclose(result.placement.sum(axis=1), 2 / 3, rtol=1e-15)
    identical = leximin(Cluster([[2, 1]] * 30, [[4, 4], [1, 9], [3, 3]]), None, np.ones(30))
    np.testing.assert_allclose(identical.placement.sum(axis=1), (2 + 1 / 2 + 3 / 2) / 30, rtol=1e-13)


def test_levels_of_different_rounds_that_are_equal_come_out_equal():
    # Servers of the same kind in other units, each with its own classes: equal but for rounding.
    units = np.array([0.1, 0.3, 0.7, 1.1, 1.3, 1.7, 1.9])
    demands = np.repeat(units, 3)[:, None] * [1 / 3, 0.7]
    eligible = np.repeat(np.eye(7, dtype=bool), 3, axis=0)
    result = leximin(Cluster(demands, units[:, None] * [0.9, 1.3], eligible=eligible), None, np.ones(21))
    assert len(result.rounds) == 7
    assert len(set(result.levels)) == 1


def test_no_jobs_no_tasks():
    cluster = Cluster([[1, 2], [2, 1]], [[4, 4], [1, 9]])
    result = leximin(cluster, [0, 0], [1, 1])
    assert not result.placement.any()
    assert result.rounds == ()
    assert result.certificate.holds
    alone = leximin(cluster, [0, 3], [1, 1])
    np.testing.assert_allclose(alone.placement.sum(axis=1), [0, 2 + 1 / 2], rtol=1e-15)


@pytest.mark.parametrize("decades", [-6, 6])
def test_counts_of_very_different_size(decades):
    rng = np.random.default_rng(3)
    for kind in KINDS:
        cluster = random_cluster(rng, 6, 4, 3, kind=kind, constrained=True)
        counts = np.array([1.0, 2.0, 10.0**decades, 3.0, 2 * 10.0**decades, 1.0])
        assert leximin(cluster, counts, np.ones(6)).certificate.holds


def test_units_do_not_matter():
    rng = np.random.default_rng(5)
    for kind in KINDS:
        cluster, counts, yardsticks = instance(rng, kind)
        totals = leximin(cluster, counts, yardsticks).placement.sum(axis=1)
        for factor in (1e-100, 1e100):
            other = leximin(cluster, counts, yardsticks * factor)
            np.testing.assert_allclose(other.placement.sum(axis=1), totals, rtol=1e-11)
            tiny = cluster.replaced(demands=cluster.demands * factor)
            np.testing.assert_allclose(
                leximin(tiny, counts, yardsticks).placement.sum(axis=1) * factor, totals, rtol=1e-11
            )


def test_many_levels_on_a_large_cluster():
    """Half of the demands are 0, so that the servers of different levels stay coupled."""
    rng = np.random.default_rng(0)
    n, s, m = 300, 60, 4
    demands = 10.0 ** rng.uniform(-1, 1, (n, m)) * (rng.random((n, m)) < 0.5)
    demands[~demands.any(axis=1), 0] = 1.0
    popularity = 1 / np.arange(1, s + 1)
    eligible = np.zeros((n, s), dtype=bool)
    for k in range(n):
        choice = rng.choice(s, rng.integers(2, 6), replace=False, p=popularity / popularity.sum())
        eligible[k, choice] = True
    eligible[rng.integers(n, size=s), np.arange(s)] = True
    cluster = Cluster(demands, 10.0 ** rng.uniform(-0.5, 0.5, (s, m)), eligible=eligible)
    result = leximin(cluster, None, cluster.unconstrained_gamma.sum(axis=1))
    assert len(set(result.levels)) > 40
    # Rounding, about 1e-16 times the condition of the bases.
    assert result.certificate.residual < 1e-11


def both_ways(instances, monkeypatch, module, size):
    """What is found on the other side of a size at which the program is treated otherwise, and before."""
    before = [leximin(*one) for one in instances]
    monkeypatch.setattr(module, size, 0)
    return zip([leximin(*one) for one in instances], before, strict=True)


@pytest.mark.parametrize("kind", KINDS)
def test_the_interior_point_method_finds_the_same(kind, monkeypatch):
    rng = np.random.default_rng(13)
    instances = [instance(rng, kind, n=30, s=8) for _ in range(4)]
    for one, other in both_ways(instances, monkeypatch, level_program, "LARGE_PROGRAM"):
        # Two bases of the same program: rounding.
        np.testing.assert_allclose(one.levels, other.levels, rtol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_tables_and_sparse_arrays_find_the_same(kind, monkeypatch):
    rng = np.random.default_rng(17)
    instances = [instance(rng, kind, n=6, s=3) for _ in range(20)]
    for one, other in both_ways(instances, monkeypatch, pair_program, "SMALL_PROGRAM"):
        # The same bases, factored in another order: rounding.
        np.testing.assert_allclose(one.placement, other.placement, rtol=1e-11, atol=1e-13)


# The certificate.


@pytest.fixture
def solved():
    rng = np.random.default_rng(11)
    cluster = random_cluster(rng, 6, 3, 3, weighted=True, constrained=True)
    counts, yardsticks = np.array([1.0, 2.0, 1.0, 0.0, 3.0, 1.0]), np.ones(6)
    result = leximin(cluster, counts, yardsticks)
    assert len(result.rounds) > 1
    return cluster, counts, yardsticks, result


def certify(solved, placement=None, rounds=None):
    cluster, counts, yardsticks, result = solved
    placement = result.placement if placement is None else placement
    rounds = result.rounds if rounds is None else rounds
    return leximin_certificate(cluster, counts, placement, yardsticks, rounds)


def test_certificate_holds_and_fails_on_perturbed_placements(solved):
    cluster, counts, _, result = solved
    assert certify(solved).holds
    for n, i in np.argwhere(result.placement > 1e-6):
        for factor in (1 - 1e-7, 1 + 1e-7):
            placement = result.placement.copy()
            placement[n, i] *= factor
            # Too much: a capacity or a level; too little: a level or a resource that should be full.
            assert not certify(solved, placement).holds
    for n, i in np.argwhere(cluster.eligible & (result.placement < 1e-9) & (counts > 0)[:, None]):
        # Move tasks of a class to a server that it does not use, and shrink all until they fit.
        placement = result.placement.copy()
        moved = 0.01 * placement[n].sum()
        placement[n] *= 0.99
        placement[n, i] += moved
        placement /= 1 + placement_residual(cluster, counts, placement)
        assert not certify(solved, placement).holds


def test_certificate_refuses_false_evidence(solved):
    cluster, counts, _, result = solved
    first, *others = result.rounds
    n = first.classes[0]
    doubled, tiny = first.multipliers.copy(), first.multipliers.copy()
    doubled[n] *= 1.001
    # A class that is listed with a multiplier that rounding could have made.
    lone = next(k for k in range(cluster.n_classes) if counts[k] > 0 and k not in first.classes)
    tiny[lone] = 1e-18 * tiny[n]
    changes = [
        {"prices": -first.prices},
        {"multipliers": doubled},
        {"multipliers": tiny, "classes": (*first.classes, lone)},
        {"multipliers": np.full(6, np.nan)},
        {"bound": first.bound * 1.001},
        *({"level": level} for level in (first.level * 1.001, 0.0, -first.level, np.inf, np.nan)),
    ]
    for rounds in (
        result.rounds[1:],
        result.rounds[::-1],
        [first, *result.rounds],
        [*result.rounds, replace(first, classes=())],
        *([replace(first, **change), *others] for change in changes),
    ):
        assert not certify(solved, rounds=rounds).holds
    wrong = replace(first, multipliers=first.multipliers[:-1])
    with pytest.raises(ModelError, match=r"levels\[1\] must have the shapes \(3, 3\) and \(6,\); got"):
        certify(solved, rounds=[first, wrong])


# Each hypothesis of the theorem, violated alone. Yardsticks are 1, so that levels are tasks.


def record(level, classes, prices, multipliers, bound=None):
    arrays = (np.array(values, dtype=float) for values in (prices, multipliers))
    return Level(level, classes, *arrays, level if bound is None else bound)


ONE, TWO = Cluster([[1]], [[2]]), Cluster([[1]], [[1], [1]])
APART = Cluster([[1], [1]], [[1], [2]], eligible=[[True, False], [False, True]])
EQUAL = APART.replaced(capacities=[[1], [1]])
# Class 1 has the first server only, so (1, 10) is leximin; the prices below speak for any sum of 11.
NESTED = Cluster([[1], [1]], [[1], [10]], eligible=[[True, False], [True, True]])
GIANT, SHARE = Cluster([[1], [1e-8]], [[1]]), 1 / (1 + 1e-8)
LOW, HIGH = record(1, (0,), [[1], [0]], [1, 0]), record(2, (1,), [[0], [2]], [0, 1])


@pytest.mark.parametrize(
    ("right", "cluster", "placement", "rounds"),
    [
        # Priced resources must be full.
        (True, ONE, [[2]], [record(2, (0,), [[2]], [1])]),
        (False, ONE, [[1]], [record(1, (0,), [[2]], [1], bound=2)]),
        # Tasks must not run where they cost more, nor cost less than the multiplier of their class elsewhere.
        (True, TWO, [[1, 1]], [record(2, (0,), [[1], [1]], [1])]),
        (False, TWO, [[1, 1]], [record(2, (0,), [[2], [1]], [1], bound=3)]),
        (False, TWO, [[1, 0]], [record(1, (0,), [[1], [0]], [1])]),
        # Levels must not fall.
        (True, APART, [[1, 0], [0, 2]], [LOW, HIGH]),
        (False, APART, [[1, 0], [0, 2]], [HIGH, LOW]),
        # The bound must be what the prices prove: in the second round the price of the first server and the
        # multiplier of class 1 cancel.
        (True, APART, [[1, 0], [0, 2]], [LOW, record(2, (1,), [[1], [2]], [1, 1], bound=2)]),
        (False, APART, [[1, 0], [0, 2]], [LOW, record(2, (1,), [[1], [2]], [1, 1], bound=1.9)]),
        (False, APART, [[1, 0], [0, 2]], [LOW, record(2, (1,), [[1], [2]], [1, 1], bound=3)]),
        # Classes of later rounds must have no multiplier.
        (
            False,
            NESTED,
            [[0.5, 0], [0.5, 10]],
            [record(0.5, (0,), [[1], [10]], [1, 1], bound=11), record(10.5, (1,), [[1], [10]], [1, 1])],
        ),
        # A negative price needs a resource that had a positive one. (1/2, 1/2) is leximin.
        (
            False,
            Cluster([[1, 0], [1, 1]], [[1, 4]]),
            [[0.2], [0.8]],
            [record(0.2, (0,), [[1, -4]], [1, 0], bound=-3), record(0.8, (1,), [[1, 0]], [1, 1])],
        ),
        # A multiplier that rounding may have made does not count; a small one on a server of giants does.
        (True, EQUAL, np.eye(2), [record(1, (0, 1), [[1 / 2], [1 / 2]], [1 / 2, 1 / 2])]),
        (False, EQUAL, np.eye(2), [record(1, (0, 1), [[1], [1e-17]], [1, 1e-17])]),
        (True, EQUAL, np.eye(2), [LOW, record(1, (1,), [[0], [1]], [0, 1])]),
        (True, GIANT, [[SHARE], [SHARE]], [record(SHARE, (0, 1), [[SHARE]], [SHARE, 1e-8 * SHARE])]),
    ],
)
def test_each_hypothesis_alone(right, cluster, placement, rounds):
    placement = np.array(placement, dtype=float)
    found = leximin_certificate(cluster, None, placement, np.ones(cluster.n_classes), rounds)
    assert found.holds == right


def test_giants_beside_dwarfs_are_certified():
    assert leximin(GIANT, [1, 1e-4], [1, 1]).certificate.holds


# What can go wrong.


def test_wrong_arguments_are_named(solved):
    cluster, counts, yardsticks, result = solved
    with pytest.raises(ModelError, match=r"yardsticks must have shape \(n_classes,\) = \(6,\); got \(5,\)"):
        leximin(cluster, counts, np.ones(5))
    with pytest.raises(ModelError, match=r"yardsticks must be finite and > 0; got 0\.0 at index"):
        leximin(cluster, counts, np.r_[yardsticks[:5], 0.0])
    with pytest.raises(ModelError, match=r"placement must have shape"):
        leximin_certificate(cluster, counts, result.placement[:5], yardsticks, result.rounds)
    with pytest.raises(ModelError, match=r"counts must have shape \(6,\); got \(2, 6\)"):
        leximin(cluster, [counts, counts], yardsticks)


def test_a_failed_program_is_reported(solved, monkeypatch):
    model = LevelProgram.model

    def impatient(*program, **options):
        solver = model(*program, **options)
        solver.setOptionValue("simplex_iteration_limit", 0)
        return solver

    monkeypatch.setattr(LevelProgram, "model", impatient)
    with pytest.raises(NotConvergedError, match="HiGHS stopped with status 'Iteration limit reached'"):
        leximin(*solved[:3])


def test_the_solver_says_nothing_and_knows_its_options(capfd):
    SilentSolver(presolve="off").run()
    assert capfd.readouterr() == ("", "")
    with pytest.raises(ValueError, match=r"HiGHS [\d.]+ has no option presovle = 'off'"):
        SilentSolver(presovle="off")


def test_what_no_float_program_resolves_is_an_error_with_a_hint():
    cluster = Cluster([[1, 2], [2, 1]], [[4, 4], [1, 9]])
    with pytest.raises(NotConvergedError, match=r"2 classes to go; .* many decades apart\?"):
        leximin(cluster, [1e-150, 1], [1, 1])
    # The same scale for all is no difficulty.
    tasks = leximin(cluster, [1e-150, 1e-150], [1, 1]).placement.sum(axis=1)
    np.testing.assert_allclose(tasks, leximin(cluster, None, [1, 1]).placement.sum(axis=1), rtol=1e-12)


def test_dual_values_lost_in_rounding_are_reported(solved, monkeypatch):
    monkeypatch.setattr(Pairs, "counted", lambda pairs, m, w, prices, *_: (m < 0, prices > 0))
    with pytest.raises(NotConvergedError, match="rounding hides all dual values, with 5 classes to go"):
        leximin(*solved[:3])


def test_an_uncertified_placement_is_reported(solved, monkeypatch):
    cluster, counts, yardsticks, result = solved
    monkeypatch.setattr(module, "_with_totals", lambda pairs, tasks, totals: tasks * 0.999)
    with pytest.raises(NotConvergedError, match="the leximin placement is off by") as caught:
        leximin(cluster, counts, yardsticks)
    assert caught.value.residual == pytest.approx(1e-3, rel=0.5)
    np.testing.assert_allclose(caught.value.best.placement, result.placement * 0.999, rtol=1e-9)
