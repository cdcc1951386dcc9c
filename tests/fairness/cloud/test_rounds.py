"""Algorithm 1 by passes over all rows, against itself in fractions and against event-driven filling."""

import ast
import os
import subprocess
import sys
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fairness import ModelError, NotConvergedError
from fairness.cloud.approximate import dcdrf
from fairness.cloud.certificates import residuals
from fairness.cloud.exact import edrf
from fairness.cloud.rounds import TILES, Rounds, edrf_rounds
from tests.fairness.cloud.instances import WORKED, algorithm_1, quarters, random_rows, sparse_of
from tests.processes import PATIENCE


def test_worked_example():
    result = edrf_rounds(WORKED, threads=1)
    np.testing.assert_array_equal(result.allocation().toarray(), [[3 / 4, 0], [1 / 4, 1 / 2], [0, 1 / 2]])
    np.testing.assert_array_equal(result.round_levels, [3 / 2, 9 / 4])
    assert (result.rounds, result.unfinished, result.timed_out, result.epsilon) == (2, 0, False, 0)
    assert result.certificate.residual == 0
    np.testing.assert_array_equal(result.free, 0)


def test_same_as_fractions():
    rng = np.random.default_rng(1)
    for _ in range(1500):
        rows, weights, given_weights = quarters(rng)
        expected, rises = algorithm_1(rows, weights)
        result = edrf_rounds(sparse_of(rows), given_weights, threads=1)
        ours = result.allocation().toarray()
        # Sums of at most 6 numbers and rounds.
        np.testing.assert_allclose(ours, np.array(expected, dtype=float), rtol=1e-13, atol=0)
        # Ties that round apart take rounds of their own, which raise nobody.
        rise = np.diff(result.round_levels, prepend=0.0)
        assert (rise >= 0).all()
        assert (rise > 1e-14 * result.round_levels[-1]).sum() == len(rises)
        assert result.certificate.residual <= 1e-14
        np.testing.assert_allclose(1 - ours.sum(axis=0), result.free, rtol=0, atol=1e-14)


def test_cut_short_same_as_fractions():
    rng = np.random.default_rng(2)
    for _ in range(500):
        rows, weights, given_weights = quarters(rng)
        expected, _ = algorithm_1(rows, weights, most=1)
        result = edrf_rounds(sparse_of(rows), given_weights, max_rounds=1, threads=1)
        ours = result.allocation().toarray()
        np.testing.assert_allclose(ours, np.array(expected, dtype=float), rtol=1e-14, atol=0)
        assert result.rounds == 1
        assert np.ptp(result.levels) == 0
        # The others demand a resource that is full.
        demands, full = np.array(rows) > 0, result.free == 0
        assert result.unfinished == (~(demands & full).any(axis=1)).sum()
        np.testing.assert_allclose(1 - ours.sum(axis=0), result.free, rtol=0, atol=1e-15)
        assert result.certificate.holds


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
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


@st.composite
def instances(draw):
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    entry = st.one_of(st.just(0.0), st.sampled_from([1e-6, 0.1, 0.25, 1.0]), st.floats(1e-3, 1.0))
    rows = [draw(st.lists(entry, min_size=m, max_size=m).filter(any)) for _ in range(n)]
    weights = np.array([draw(st.lists(st.floats(0.01, 1.0), min_size=m, max_size=m)) for _ in range(n)])
    return np.array(rows), weights / weights.sum(axis=0)


@given(instances(), st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_cut_short_is_feasible_and_below_the_exact_levels(instance, most):
    demands, weights = instance
    given_weights = sparse.csr_array(np.where(demands > 0, weights, 0))
    cut = edrf_rounds(sparse.csr_array(demands), given_weights, max_rounds=most, threads=1)
    exact = edrf(sparse.csr_array(demands), given_weights)
    assert cut.rounds <= most
    assert (cut.levels <= exact.levels * (1 + 1e-12)).all()
    # [1] x_1 >= 1, so even one round gives everybody its entitlement.
    assert cut.levels.min() >= 1 - 1e-12
    assert cut.certificate.residual <= 1e-14
    if cut.unfinished == 0:
        np.testing.assert_allclose(cut.levels, exact.levels, rtol=1e-11)


def test_deadline_on_any_clock():
    rows = random_rows(40, 12, 3)
    whole = edrf_rounds(rows, threads=1)
    assert whole.rounds > 4
    for deadline, rounds in ((0.5, 1), (1.0, 2), (2.5, 3)):
        # The clock shows 10 at the start and one second more each time; more than the deadline must pass.
        looks = count(10)
        cut = edrf_rounds(rows, deadline=deadline, clock=lambda looks=looks: next(looks), threads=1)
        assert (cut.rounds, cut.timed_out) == (rounds, True)
        assert next(looks) == 10 + 1 + rounds
        np.testing.assert_array_equal(cut.round_levels, whole.round_levels[:rounds])
        np.testing.assert_array_equal(cut.levels, np.minimum(whole.levels, cut.round_levels[-1]))
        assert 0 < cut.unfinished == (whole.levels > cut.round_levels[-1]).sum()
        assert cut.certificate.claim == f"no resource is overfull (cut short in round {rounds})"
        assert cut.certificate.holds
    # Nobody looks at the clock without a deadline, nor loses anything with a late one.
    assert edrf_rounds(rows, clock=None, threads=1).rounds == whole.rounds
    looks = count()
    late = edrf_rounds(rows, deadline=1e9, clock=lambda: next(looks), threads=1)
    assert not late.timed_out
    np.testing.assert_array_equal(late.levels, whole.levels)
    assert next(looks) == whole.rounds + 1


def test_a_deadline_that_passes_in_the_last_round_cuts_nothing_short():
    looks = count()
    result = edrf_rounds(WORKED, deadline=1.5, clock=lambda: next(looks), threads=1)
    assert (result.rounds, result.timed_out, result.unfinished) == (2, True, 0)
    assert result.certificate.claim.startswith("every tenant has a full resource")


def test_certificate_refuses_other_levels():
    matrix = random_rows(500, 60, 4)
    result = edrf_rounds(matrix, threads=1)

    def evidence(levels, epsilon):
        return residuals(result.demands, result.growth, levels, epsilon)

    def moved(factor):
        levels = result.levels.copy()
        levels[7] *= factor
        return levels

    assert max(evidence(result.levels, 0.0)) <= 1e-12
    overfull, short = evidence(moved(1.001), 0.0)
    assert overfull > 1e-7
    overfull, short = evidence(moved(0.999), 0.0)
    assert overfull <= 1e-14
    assert short > 1e-7
    # A tenth more free everywhere is allowed with this epsilon, and with no smaller one.
    assert evidence(0.9 * result.levels, 0.1 + 1e-12) == (0, 0)
    assert evidence(0.9 * result.levels, 0.09)[1] == pytest.approx(0.01)
    # With epsilon a resource counts only where the level is the largest.
    assert evidence(moved(0.5), 0.5)[1] > 0.1
    assert evidence(-result.levels, 0.0) == (np.inf, np.inf)
    assert evidence(moved(np.nan), 0.0) == (np.inf, np.inf)


def test_uncompiled_kernels_give_the_same_numbers():
    matrix = random_rows(60, 12, 4)
    code = (
        "import sys, numpy as np; from scipy import sparse\n"
        "from fairness.cloud.rounds import edrf_rounds; from fairness.cloud.approximate import dcdrf\n"
        "d = sparse.csr_array(np.array(eval(sys.stdin.read())))\n"
        "print([r.levels.tolist() for r in (edrf_rounds(d, threads=1), edrf_rounds(d, threads=2),"
        " dcdrf(d, 0.01, threads=1), dcdrf(d, 0.01, threads=2), dcdrf(d, 0.01, deadline=1e9, threads=1))])"
    )
    plain = subprocess.run(
        [sys.executable, "-c", code],
        input=repr(matrix.toarray().tolist()),
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    rounds, approximate = edrf_rounds(matrix, threads=1).levels, dcdrf(matrix, 0.01, threads=1).levels
    for ours, expected in zip(ast.literal_eval(plain.stdout), [rounds] * 2 + [approximate] * 3, strict=True):
        # Compiled sums may fuse a product and a sum.
        np.testing.assert_allclose(ours, expected, rtol=1e-13)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_rounds": 0}, "max_rounds must be a whole number >= 1, or None for no limit; got 0"),
        ({"max_rounds": 1.5}, "max_rounds must be .*; got 1.5"),
        ({"max_rounds": True}, "max_rounds must be .*; got True"),
        ({"deadline": 0}, "deadline must be a number of seconds > 0, or None for none; got 0"),
        ({"deadline": float("nan")}, "deadline must be .*; got nan"),
        ({"deadline": "8"}, "deadline must be .*; got '8'"),
        ({"threads": 0}, "threads must be a whole number >= 1, or None for all cores; got 0"),
        ({"threads": 2.0}, "threads must be .*; got 2.0"),
        ({"weights": [1, 2]}, r"weights must have shape \(n_tenants,\) = \(3,\)"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ModelError, match=message):
        edrf_rounds(WORKED, **arguments)


def test_arguments_are_checked_before_the_demands():
    for arguments in ({"max_rounds": 0}, {"deadline": 0}):
        with pytest.raises(ModelError, match=next(iter(arguments))):
            edrf_rounds("what takes long to check", **arguments)


@pytest.mark.parametrize("weight", [1e-320, 1.7e308])
def test_weights_at_the_limits_of_a_float_are_an_error(weight):
    with pytest.raises(NotConvergedError, match="levels are 0 or infinite"):
        edrf_rounds(WORKED, [weight] * 3, threads=1)
    np.testing.assert_allclose(edrf_rounds(WORKED, [1e300] * 3, threads=1).tasks, [3 / 4, 1 / 2, 1 / 2])


def test_summary_says_what_happened():
    text = repr(edrf_rounds(WORKED, threads=1))
    assert "EDRF of 3 tenants and 2 resources" in text
    assert "stopped after 2 rounds\n" in text
    assert "holds" in text
    looks = count()
    cut = edrf_rounds(WORKED, deadline=0.5, clock=lambda: next(looks), threads=1)
    assert isinstance(cut, Rounds)
    assert "stopped at the deadline after 1 rounds; 1 tenants still grew" in repr(cut)
