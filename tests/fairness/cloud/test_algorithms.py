"""What event-driven EDRF, Algorithm 1 by rounds and DC-DRF have in common, against fractions."""

import ast
import os
from fractions import Fraction as F
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fairness import ModelError, NotConvergedError
from fairness.cloud import Pattern, SparseDemands, dcdrf, edrf, edrf_rounds
from fairness.cloud.rounds import TILES
from tests.fairness.cloud.instances import WORKED, in_fractions, quarters, random_rows, sparse_of
from tests.processes import python


def by_rounds(demands, weights=None, **options):
    return edrf_rounds(demands, weights, **{"threads": 1, **options})


def without_epsilon(demands, weights=None, **options):
    return dcdrf(demands, 0, weights, **{"threads": 1, **options})


EXACT = pytest.mark.parametrize("algorithm", [edrf, by_rounds, without_epsilon])
IN_ROUNDS = pytest.mark.parametrize("algorithm", [by_rounds, without_epsilon])


# The last is some roundings away from the threshold, a quarter.
@pytest.mark.parametrize("epsilon", [None, 0, 0.1, 0.25 * (1 - 1e-14)])
def test_worked_example_as_printed(epsilon):
    results = [edrf(WORKED), by_rounds(WORKED)] if epsilon is None else [dcdrf(WORKED, epsilon, threads=1)]
    for result in results:
        np.testing.assert_array_equal(result.allocation().toarray(), [[3 / 4, 0], [1 / 4, 1 / 2], [0, 1 / 2]])
        np.testing.assert_array_equal(result.levels, [9 / 4, 3 / 2, 3 / 2])
        np.testing.assert_array_equal(result.free, 0)
        assert result.certificate.residual == 0
    if epsilon is None:
        assert (results[0].events, results[0].stoppers.tolist()) == (2, [0, 1, 1])
    # Two rounds: x = 3/2 and then 3/4 more.
    np.testing.assert_array_equal(results[-1].round_levels, [3 / 2, 9 / 4])
    assert results[-1].epsilon == (epsilon or 0)


# As exact binary fractions with 50 digits these are met by no residual of small demands; zero is.
@pytest.mark.parametrize(
    "epsilon",
    [
        pytest.param(e, marks=() if e == 0.137 else pytest.mark.long)
        for e in (0, 1e-6, 0.03, 0.137, 0.41, 0.77)
    ],
)
def test_same_as_in_fractions(epsilon):
    # Demands in quarters are full of ties; sums of weights need not be 1.
    rng = np.random.default_rng(8)
    several = 0
    for _ in range(200 if epsilon else 500):
        rows, weights, given_weights = quarters(rng)
        z, y, left = in_fractions(rows, weights, F(epsilon))
        results = [dcdrf(sparse_of(rows), epsilon, given_weights, threads=1)]
        if epsilon == 0:
            results += [edrf(sparse_of(rows), given_weights), by_rounds(sparse_of(rows), given_weights)]
        for result in results:
            # Sums of at most 7 numbers and rounds.
            np.testing.assert_allclose(result.levels, z, rtol=1e-13)
            np.testing.assert_allclose(result.free, left, rtol=0, atol=1e-14)
            assert result.certificate.residual <= 1e-14
        for result in results[::2]:
            if epsilon > 0:
                # Resources that fill up together are exhausted together, however they round.
                np.testing.assert_allclose(result.round_levels, y, rtol=1e-13)
            else:
                # Ties that round apart take rounds of their own, which raise nobody.
                rise = np.diff(result.round_levels, prepend=0.0)
                assert (rise >= 0).all()
                assert (rise > 1e-14 * result.round_levels[-1]).sum() == len(y)
            assert (result.unfinished, result.timed_out) == (0, False)
        if epsilon == 0:
            assert results[1].events >= len(y)
        several += len(y) > 1
    assert several > 0


@pytest.mark.long
def test_cut_short_same_as_in_fractions():
    rng = np.random.default_rng(9)
    for _ in range(400):
        rows, weights, given_weights = quarters(rng)
        demands, most, looks = sparse_of(rows), int(rng.integers(1, 4)), count()
        # One second a look: the deadline has passed after so many rounds.
        late = {"deadline": most - 0.5, "clock": looks.__next__}
        by_clock = dcdrf(demands, 0.05, given_weights, threads=1, **late)
        once = by_rounds(demands, given_weights, max_rounds=1)
        for result, expected in (
            (by_clock, in_fractions(rows, weights, F(0.05), most)),
            (once, in_fractions(rows, weights, most=1)),
        ):
            z, y, left = expected
            np.testing.assert_allclose(result.levels, z, rtol=1e-13)
            np.testing.assert_allclose(result.free, left, rtol=0, atol=1e-14)
            assert result.rounds == len(y)
            assert result.certificate.holds
            assert ("cut short" in result.certificate.claim) == (result.unfinished > 0)
        assert by_clock.rounds == next(looks) - 1
        assert by_clock.timed_out == (by_clock.rounds == most)
        # The others demand a resource that is full.
        full = once.free == 0
        assert once.unfinished == (~((np.array(rows) > 0) & full).any(axis=1)).sum()


@st.composite
def entitled(draw):
    """Demands, zeros and ties among them, and entitlements to each resource that sum to 1."""
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    entry = st.one_of(st.just(0.0), st.sampled_from([1e-6, 0.1, 0.25, 1.0]), st.floats(1e-3, 1.0))
    rows = np.array([draw(st.lists(entry, min_size=m, max_size=m).filter(any)) for _ in range(n)])
    weights = np.array([draw(st.lists(st.floats(0.01, 1.0), min_size=m, max_size=m)) for _ in range(n)])
    weights = np.where(rows > 0, weights / weights.sum(axis=0), 0.0)
    return rows, sparse.csr_array(rows), sparse.csr_array(weights)


@given(entitled(), st.one_of(st.sampled_from([0.0, 1e-9, 1e-3, 0.25, 0.999]), st.floats(0, 0.999)))
@settings(max_examples=300, deadline=None)
@pytest.mark.long
def test_properties_for_every_epsilon(instance, epsilon):
    demands, matrix, given_weights = instance
    weights, exact = given_weights.toarray(), edrf(matrix, given_weights)
    assert exact.certificate.residual <= 1e-12
    cut = dcdrf(matrix, epsilon, given_weights, threads=1)
    # Lemma 3.1 of Kash et al., whatever mu does: levels of successive rounds are so far apart.
    rounding = 1e-13 / (1 - epsilon)
    assert (cut.round_levels[1:] >= cut.round_levels[:-1] / (1 - epsilon) * (1 - rounding)).all()
    assert cut.rounds == 1 or (demands == 0).any()
    # Sums of at most 6 numbers.
    for result, part, tiny in ((cut, epsilon, 1e-13), (exact, 0.0, 1e-12)):
        held = result.allocation().toarray()
        used = held.sum(axis=0)
        assert (used <= 1 + tiny).all()
        for i, row in enumerate(demands):
            needs = row > 0
            # Sharing incentive.
            assert result.tasks[i] >= (weights[i, needs] / row[needs]).min() * (1 - tiny)
            # Some demanded resource is allocated up to epsilon.
            assert used[needs].max() >= 1 - part - tiny
            # There is one on which nobody's level is higher. So if all who hold it got the same factor more,
            # the factor would be 1 / (1 - epsilon) at most: the shortfall that the paper proves.
            top = np.array([result.levels[column > 0].max(initial=0.0) for column in demands.T])
            own = needs & (result.levels[i] >= top * (1 - tiny))
            assert (1 / used[own]).min() <= 1 / (1 - part) * (1 + tiny / (1 - part))
            # Weighted envy-freeness; who lacks a resource that is needed is not envied.
            for j in np.flatnonzero((demands[:, needs] > 0).all(axis=1)):
                scaled = held[j, needs] * weights[i, needs] / weights[j, needs]
                assert (scaled / row[needs]).min() <= result.tasks[i] * (1 + tiny)


@pytest.mark.long
@given(entitled(), st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_cut_short_is_feasible_and_below_the_exact_levels(instance, most):
    _, matrix, weights = instance
    cut, exact = by_rounds(matrix, weights, max_rounds=most), edrf(matrix, weights)
    assert cut.rounds <= most
    assert (cut.levels <= exact.levels * (1 + 1e-12)).all()
    # x_1 >= 1, so even one round gives everybody its entitlement.
    assert cut.levels.min() >= 1 - 1e-12
    assert cut.certificate.residual <= 1e-14
    if cut.unfinished == 0:
        np.testing.assert_allclose(cut.levels, exact.levels, rtol=1e-11)


@IN_ROUNDS
def test_deadline_on_any_clock(algorithm):
    rows = random_rows(1000, 100, 5)
    whole = algorithm(rows)
    assert whole.rounds > 20
    for deadline, rounds in ((0.5, 1), (1.0, 2), (17.5, 18)):
        # The clock shows 10 at the start and one second more each time; more than the deadline must pass.
        looks = count(10)
        cut = algorithm(rows, deadline=deadline, clock=looks.__next__)
        assert (cut.rounds, cut.timed_out) == (rounds, True)
        assert next(looks) == 10 + 1 + rounds
        np.testing.assert_array_equal(cut.round_levels, whole.round_levels[:rounds])
        np.testing.assert_array_equal(cut.levels, np.minimum(whole.levels, cut.round_levels[-1]))
        assert 0 < cut.unfinished == (whole.levels > cut.round_levels[-1]).sum()
        np.testing.assert_allclose(cut.allocation().sum(axis=0) + cut.free, 1, rtol=0, atol=1e-13)
        assert cut.certificate.claim == f"no resource is overfull (cut short in round {rounds})"
        assert cut.certificate.holds
    # Nobody looks at the clock without a deadline, nor loses anything with a late one.
    assert algorithm(rows, clock=None).rounds == whole.rounds
    looks = count()
    late = algorithm(rows, deadline=1e9, clock=looks.__next__)
    assert not late.timed_out
    np.testing.assert_array_equal(late.levels, whole.levels)
    assert next(looks) == whole.rounds + 1


@IN_ROUNDS
def test_a_deadline_that_passes_in_the_last_round_cuts_nothing_short(algorithm):
    result = algorithm(WORKED, deadline=1.5, clock=count().__next__)
    assert (result.rounds, result.timed_out, result.unfinished) == (2, True, 0)
    assert result.certificate.claim.startswith("every tenant has a full resource")


def with_little_epsilon(demands, **options):
    return dcdrf(demands, 1e-3, threads=1, **options)


@pytest.mark.parametrize("algorithm", [edrf, with_little_epsilon])
def test_a_kept_pattern_serves_other_demands(algorithm):
    matrix = random_rows(3000, 400, 5)
    pattern, other = Pattern.of(SparseDemands(matrix)), matrix.copy()
    other.data = np.sqrt(other.data)
    fresh, kept = algorithm(other), algorithm(other, pattern=pattern)
    assert fresh.seconds["list"] > 0
    np.testing.assert_array_equal(kept.levels, fresh.levels)
    if algorithm is edrf:
        # The pattern that a result kept lists a part of the resources.
        again = edrf(other, pattern=edrf(matrix).pattern)
        np.testing.assert_array_equal(again.stoppers, kept.stoppers)
    else:
        assert kept.seconds["list"] == 0
        again = algorithm(other, pattern=Pattern.of(SparseDemands(matrix), np.arange(400) % 3 == 0))
        # One that lists a part of the resources is completed.
        assert again.seconds["list"] > 0
    np.testing.assert_array_equal(again.levels, fresh.levels)
    with pytest.raises(ModelError, match="does not belong to"):
        algorithm(matrix[:100], pattern=pattern)


@pytest.mark.long
def test_uncompiled_kernels_give_the_same_numbers():
    matrices = [random_rows(60, 12, 4), random_rows(60, 4, 4), sparse.csr_array(np.ones((3, 4)))]
    # EDRF also if its kernel returns after every event: at the end, with few resources, when nobody is left
    # for the next.
    code = (
        "import sys, numpy as np; from scipy import sparse\n"
        "from fairness.cloud import dcdrf, edrf, edrf_rounds\n"
        "from fairness.cloud.engines import eviction\n"
        "ds = [sparse.csr_array(np.array(d)) for d in eval(sys.stdin.read())]; d = ds[0]; events = []\n"
        "for eviction.WHILE in (eviction.WHILE, 1): events.append([edrf(d).levels.tolist() for d in ds])\n"
        "print([events, [r.levels.tolist() for r in (edrf_rounds(d, threads=1), edrf_rounds(d, threads=2),"
        " dcdrf(d, 0.01, threads=1), dcdrf(d, 0.01, threads=2), dcdrf(d, 0.01, deadline=1e9, threads=1))]])"
    )
    given = repr([matrix.toarray().tolist() for matrix in matrices])
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}
    events, rounds = ast.literal_eval(python("-c", code, input=given, env=environment).stdout)
    assert events == [[edrf(matrix).levels.tolist() for matrix in matrices]] * 2
    first, cut = by_rounds(matrices[0]).levels, dcdrf(matrices[0], 0.01, threads=1).levels
    for ours, expected in zip(rounds, [first] * 2 + [cut] * 3, strict=True):
        # Compiled sums may fuse a product and a sum.
        np.testing.assert_allclose(ours, expected, rtol=1e-13)


@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.long), np.float64])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_same_as_events(dtype, threads):
    # More tenants than resources and more than 1000: several tiles.
    matrix = random_rows(4000, 150, 4, dtype=dtype)
    result, exact = edrf_rounds(matrix, threads=threads), edrf(matrix)
    # About 50 summands per resource, and s reduced once a round.
    np.testing.assert_allclose(result.levels, exact.levels, rtol=1e-11)
    np.testing.assert_allclose(result.free, exact.free, rtol=0, atol=1e-13)
    assert result.rounds == exact.events
    assert result.certificate.residual <= 1e-12
    np.testing.assert_array_equal(result.levels, edrf_rounds(matrix, threads=1).levels)


def test_tiles_drop_and_keep_as_one_tile_does():
    # The tiles of a large instance of disjoint small ones are full of dropped and kept tenants.
    small = random_rows(30, 6, 3)
    large = sparse.block_diag([small] * 70, format="csr")
    one = edrf_rounds(small, np.ones(30), threads=1)
    for threads in (1, 3):
        many = edrf_rounds(large, np.ones(2100), threads=threads)
        rises = [np.diff(result.round_levels, prepend=0.0) for result in (one, many)]
        # Copies that another order of summation rounds apart take rounds of their own.
        real = [rise[rise > 1e-13 * rise.sum()] for rise in rises]
        np.testing.assert_allclose(*real, rtol=1e-12)
        np.testing.assert_allclose(many.levels.reshape(70, 30), np.tile(one.levels, (70, 1)), rtol=1e-13)
    assert TILES > 1


@EXACT
@pytest.mark.parametrize("weight", [1e-320, 1.7e308])
def test_weights_at_the_limits_of_a_float_are_an_error(algorithm, weight):
    with pytest.raises(NotConvergedError, match="near the limits of a float"):
        algorithm(WORKED, [weight] * 3)
    np.testing.assert_allclose(algorithm(WORKED, [1e300] * 3).tasks, [3 / 4, 1 / 2, 1 / 2])


def late(algorithm):
    return algorithm(WORKED, deadline=0.5, clock=count().__next__)


@pytest.mark.parametrize(
    ("solve", "lines"),
    [
        (lambda: edrf(WORKED), ["EDRF of 3 tenants and 2 resources", "2 resources stopped somebody"]),
        (lambda: edrf(WORKED), ["dominant shares 0.5 to 0.75", "holds"]),
        (
            lambda: by_rounds(WORKED),
            ["EDRF of 3 tenants and 2 resources", "stopped after 2 rounds\n", "holds"],
        ),
        (lambda: late(by_rounds), ["stopped at the deadline after 1 rounds; 1 tenants still grew"]),
        (
            lambda: dcdrf(WORKED, 0.25, threads=1),
            [
                "DC-DRF with epsilon 0.25 of 3 tenants and 2 resources",
                "stopped after 1 rounds\n",
                "every tenant has a resource with at most 0.25 free on which its level is the largest: hold",
            ],
        ),
    ],
)
def test_summary_says_what_happened(solve, lines):
    text = repr(solve())
    for line in lines:
        assert line in text


BAD = [
    ({"deadline": 0}, r"deadline must be a number > 0 \(seconds\), or None for none; got 0"),
    ({"deadline": float("nan")}, "deadline must be .*; got nan"),
    ({"deadline": -1, "demands": "what takes long to check"}, "deadline must be"),
    ({"threads": 0}, "threads must be a whole number >= 1, or None for all cores; got 0"),
    ({"threads": 2.0}, "threads must be .*; got 2.0"),
    ({"weights": [1, 2]}, r"weights must have shape \(n_tenants,\) = \(3,\)"),
    ({"weights": [1, 0, 1]}, r"weights must be finite and > 0; got 0.0 at index \(1,\)"),
    ({"demands": [[1, 0]]}, "demands must be a scipy.sparse array"),
]


@pytest.mark.parametrize(
    ("algorithm", "arguments", "message"),
    [
        *((one, *bad) for one in (edrf_rounds, dcdrf) for bad in BAD),
        (
            edrf_rounds,
            {"max_rounds": 0},
            "max_rounds must be a whole number >= 1, or None for no limit; got 0",
        ),
        (edrf_rounds, {"max_rounds": 0, "demands": "what takes long to check"}, "max_rounds must be"),
        (dcdrf, {"epsilon": 1}, "epsilon must be a finite number >= 0 and < 1; got 1"),
        (dcdrf, {"epsilon": -1e-9}, "epsilon must be .*; got -1e-09"),
        (dcdrf, {"epsilon": None}, "epsilon must be .*; got None"),
        (dcdrf, {"epsilon": 2, "demands": "what takes long to check"}, "epsilon must be"),
    ],
)
def test_bad_input(algorithm, arguments, message):
    given_arguments = {"demands": WORKED, **({"epsilon": 0.1} if algorithm is dcdrf else {}), **arguments}
    with pytest.raises(ModelError, match=message):
        algorithm(**given_arguments)
