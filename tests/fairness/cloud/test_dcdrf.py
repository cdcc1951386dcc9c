"""DC-DRF against Algorithm 2 in fractions, against exact filling, and against what is proven of it."""

import os
import subprocess
import sys
import threading
from fractions import Fraction as F
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fairness import ModelError, NotConvergedError
from fairness.cloud.approximate import dcdrf
from fairness.cloud.engines.eviction import BLOCK, CHUNK, SHARED_EVICTION
from fairness.cloud.engines.threads import SHARED_ENTRIES
from fairness.cloud.exact import edrf
from fairness.cloud.instances.families import HARD_FAMILIES
from fairness.cloud.model.demands import SparseDemands
from fairness.cloud.model.pattern import Pattern
from tests.fairness.cloud.instances import WORKED, quarters, random_rows, sparse_of
from tests.processes import PATIENCE


def algorithm_2(demands, weights, epsilon, most=None):
    """Inner loop of Kash et al., Algorithm 2, in fractions: levels z, y_t of each round, s at the end."""
    n, m = len(demands), len(demands[0])
    needs = [[r for r in range(m) if row[r] > 0] for row in demands]
    d = [[v / max(row) for v in row] for row in demands]
    rho = [min(weights[i][r] / d[i][r] for r in needs[i]) for i in range(n)]
    left, active, y = [F(1)] * m, set(range(n)), [F(0)]
    mu = [sum((rho[i] * d[i][r] for i in range(n)), F(0)) for r in range(m)]  # line 8
    z = [F(0)] * n
    while active and len(y) - 1 != most:
        x = min(left[r] / mu[r] for r in range(m) if mu[r] > 0)  # line 13
        y.append(y[-1] + x)
        left = [left[r] - x * mu[r] for r in range(m)]  # line 15
        kept = {i for i in active if all(left[r] > epsilon for r in needs[i])}  # line 16
        for i in active - kept:
            mu = [mu[r] - rho[i] * d[i][r] for r in range(m)]  # line 17
            z[i] = y[-1]  # line 18
        active = kept
    for i in active:
        z[i] = y[-1]  # line 21
    # Levels are in units of the largest demand.
    return z, y[1:], left


# Enough entries for threads, evictions that are shared and ones that are not, several blocks and chunks.
LARGE = SparseDemands(random_rows(120_000, 5000, 18, dtype=np.float32))


@pytest.mark.parametrize("epsilon", [0, 0.1, 0.2499])
def test_worked_example_below_a_quarter_is_edrf(epsilon):
    result = dcdrf(WORKED, epsilon, threads=1)
    np.testing.assert_array_equal(result.allocation().toarray(), [[3 / 4, 0], [1 / 4, 1 / 2], [0, 1 / 2]])
    np.testing.assert_array_equal(result.round_levels, [3 / 2, 9 / 4])
    assert (result.rounds, result.unfinished, result.timed_out, result.epsilon) == (2, 0, False, epsilon)


@pytest.mark.parametrize("epsilon", [0.25, 0.5, 0.99])
def test_worked_example_from_a_quarter_on_is_one_round(epsilon):
    result = dcdrf(WORKED, epsilon, threads=1)
    np.testing.assert_array_equal(result.allocation().toarray(), [[1 / 2, 0], [1 / 4, 1 / 2], [0, 1 / 2]])
    np.testing.assert_array_equal(result.round_levels, [3 / 2])
    np.testing.assert_array_equal(result.free, [1 / 4, 0])
    assert result.certificate.residual == 0


# As exact binary fractions with 50 digits these are met by no residual of small demands; zero is.
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.03, 0.137, 0.41, 0.77])
def test_same_as_algorithm_2_in_fractions(epsilon):
    rng = np.random.default_rng(8)
    several = 0
    for _ in range(500):
        rows, weights, given_weights = quarters(rng)
        z, y, left = algorithm_2(rows, weights, F(epsilon))
        result = dcdrf(sparse_of(rows), epsilon, given_weights, threads=1)
        # Sums of at most 7 numbers and rounds.
        np.testing.assert_allclose(result.levels, np.array(z, dtype=float), rtol=1e-13)
        np.testing.assert_allclose(result.free, np.array(left, dtype=float), rtol=0, atol=1e-14)
        if epsilon > 0:
            # Resources that fill up together are exhausted together, however they round.
            np.testing.assert_allclose(result.round_levels, np.array(y, dtype=float), rtol=1e-13)
        else:
            rise = np.diff(result.round_levels, prepend=0.0)
            assert (rise >= 0).all()
            assert (rise > 1e-14 * result.round_levels[-1]).sum() == len(y)
        assert result.certificate.residual <= 1e-14
        assert (result.unfinished, result.timed_out) == (0, False)
        several += len(y) > 1
    assert several > 0


def test_cut_short_same_as_fractions():
    rng = np.random.default_rng(9)
    for _ in range(400):
        rows, weights, given_weights = quarters(rng)
        most = int(rng.integers(1, 4))
        z, y, left = algorithm_2(rows, weights, F(0.05), most)
        looks = count()
        # One second a look: the deadline has passed after so many rounds.
        result = dcdrf(
            sparse_of(rows),
            0.05,
            given_weights,
            deadline=most - 0.5,
            clock=lambda looks=looks: next(looks),
            threads=1,
        )
        np.testing.assert_allclose(result.levels, np.array(z, dtype=float), rtol=1e-13)
        np.testing.assert_allclose(result.free, np.array(left, dtype=float), rtol=0, atol=1e-14)
        assert result.rounds == len(y) == next(looks) - 1
        assert result.timed_out == (len(y) == most)
        assert result.certificate.holds
        assert ("cut short" in result.certificate.claim) == (result.unfinished > 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("family", sorted(HARD_FAMILIES))
def test_zero_is_edrf(family, dtype):
    demands = HARD_FAMILIES[family](3000, 300, rng=7)
    matrix = demands.matrix().astype(dtype)
    result, exact = dcdrf(matrix, 0, threads=1), edrf(matrix)
    # Both are right to a few ulp of 1 - F; a level is that over mu, of which 1e-10 may be left.
    np.testing.assert_allclose(result.levels, exact.levels, rtol=1e-10)
    np.testing.assert_allclose(result.free, exact.free, rtol=0, atol=1e-13)
    assert result.certificate.residual <= 1e-13
    assert exact.certificate.residual <= 1e-13


@pytest.mark.parametrize("epsilon", [0, 1e-4, 1e-2, 0.3])
@pytest.mark.parametrize("family", sorted(HARD_FAMILIES))
def test_hard_families_are_certified(family, epsilon):
    result = dcdrf(HARD_FAMILIES[family](3000, 300, rng=7), epsilon, threads=1)
    assert result.unfinished == 0
    assert result.certificate.residual <= 1e-13
    assert (np.diff(result.round_levels) >= 0).all()


@st.composite
def instances(draw):
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    entry = st.one_of(st.just(0.0), st.sampled_from([1e-6, 0.1, 0.25, 1.0]), st.floats(1e-3, 1.0))
    rows = [draw(st.lists(entry, min_size=m, max_size=m).filter(any)) for _ in range(n)]
    weights = np.array([draw(st.lists(st.floats(0.01, 1.0), min_size=m, max_size=m)) for _ in range(n)])
    return np.array(rows), weights / weights.sum(axis=0)


epsilons = st.one_of(st.sampled_from([0.0, 1e-9, 1e-3, 0.25, 0.999]), st.floats(0, 0.999))


@given(instances(), epsilons)
@settings(max_examples=300, deadline=None)
def test_properties_for_every_epsilon(instance, epsilon):
    demands, weights = instance
    given_weights = sparse.csr_array(np.where(demands > 0, weights, 0))
    result = dcdrf(sparse.csr_array(demands), epsilon, given_weights, threads=1)
    held = result.allocation().toarray()
    used = held.sum(axis=0)
    # Sums of at most 6 numbers.
    tiny = 1e-13
    assert (used <= 1 + tiny).all()
    for i, row in enumerate(demands):
        needs = row > 0
        # Sharing incentive.
        assert result.tasks[i] >= (weights[i, needs] / row[needs]).min() * (1 - tiny)
        # Some demanded resource is allocated up to epsilon.
        assert used[needs].max() >= 1 - epsilon - tiny
        # There is one on which nobody's level is higher. So if all who hold it got the same factor more, the
        # factor would be 1 / (1 - epsilon) at most: the shortfall that the paper proves.
        top = np.array([result.levels[demands[:, r] > 0].max(initial=0.0) for r in range(len(used))])
        own = needs & (result.levels[i] >= top * (1 - tiny))
        assert (1 / used[own]).min() <= 1 / (1 - epsilon) * (1 + tiny / (1 - epsilon))
        # Weighted envy-freeness.
        for j in range(len(demands)):
            scaled = held[j, needs] * weights[i, needs] / weights[j, needs]
            assert (scaled / row[needs]).min() <= result.tasks[i] * (1 + tiny)


@given(instances(), epsilons)
@settings(max_examples=100, deadline=None)
def test_without_zeros_one_round_gives_edrf(instance, epsilon):
    demands, weights = instance
    demands = np.where(demands > 0, demands, 0.5)
    result = dcdrf(sparse.csr_array(demands), epsilon, sparse.csr_array(weights), threads=1)
    exact = edrf(sparse.csr_array(demands), sparse.csr_array(weights))
    assert result.rounds == 1
    np.testing.assert_allclose(result.levels, exact.levels, rtol=1e-13)


@pytest.mark.parametrize("epsilon", [0, 0.01])
def test_threads_change_no_bit(epsilon):
    assert LARGE.n_entries > SHARED_EVICTION > SHARED_ENTRIES
    assert LARGE.n_resources > 4 * BLOCK
    assert LARGE.n_tenants > CHUNK
    one = dcdrf(LARGE, epsilon, threads=1)
    for threads in (2, 5):
        many = dcdrf(LARGE, epsilon, threads=threads)
        np.testing.assert_array_equal(many.levels, one.levels)
        np.testing.assert_array_equal(many.free, one.free)
        np.testing.assert_array_equal(many.round_levels, one.round_levels)
    assert one.certificate.residual <= 1e-13


def test_large_evictions_are_shared():
    # One round stops everybody: every entry is worked through by the threads.
    one, two = (dcdrf(LARGE, 0.999, threads=threads) for threads in (1, 2))
    assert one.rounds == 1
    np.testing.assert_array_equal(one.levels, two.levels)
    np.testing.assert_array_equal(one.free, two.free)
    held = np.bincount(LARGE.columns, weights=np.repeat(one.tasks, np.diff(LARGE.starts)) * LARGE.values)
    np.testing.assert_allclose(held + one.free[: len(held)], 1, rtol=0, atol=1e-12)


def test_used_from_several_python_threads_at_once():
    results = []
    callers = [
        threading.Thread(daemon=True, target=lambda: results.append(dcdrf(LARGE, 0.1, threads=2)))
        for _ in range(2)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(PATIENCE)
    assert len(results) == 2
    for result in results[1:]:
        np.testing.assert_array_equal(result.levels, results[0].levels)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_one_thread_starts_none_and_a_forked_child_uses_one():
    code = (
        "import os, sys, numba, numpy as np; from scipy import sparse\n"
        "from fairness import ModelError; from fairness.cloud.approximate import dcdrf\n"
        "from fairness.cloud.rounds import edrf_rounds\n"
        "d = sparse.csr_array(np.full((1200, 300), 0.5, dtype=np.float32))\n"
        "before = dcdrf(d, 0.1, threads=1).levels\n"
        "edrf_rounds(d, max_rounds=1, threads=1)\n"
        "dcdrf(d[:900], 0.1, threads=2)\n"
        "try:\n"
        "    sys.exit(numba.threading_layer())\n"
        "except ValueError:\n"
        "    pass  # One thread has started no layer of threads, nor has what is too small to be shared.\n"
        "assert (dcdrf(d, 0.1, threads=2).levels == before).all()\n"
        "child = os.fork()\n"
        "if child:\n"
        "    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        "try:\n"
        "    dcdrf(d, 0.1, threads=2)\n"
        "except ModelError as error:\n"
        "    good = 'spawn' in str(error) and (dcdrf(d, 0.1).levels == before).all()\n"
        "    os._exit(0 if good else 3)\n"
        "os._exit(4)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=PATIENCE)


def test_a_kept_pattern_serves_other_demands():
    matrix = random_rows(3000, 400, 5)
    demands = SparseDemands(matrix)
    other = matrix.copy()
    other.data = np.sqrt(other.data)
    expected = dcdrf(other, 1e-3, threads=1)
    assert expected.seconds["list"] > 0
    kept = dcdrf(other, 1e-3, pattern=Pattern.of(demands), threads=1)
    assert kept.seconds["list"] == 0
    np.testing.assert_array_equal(kept.levels, expected.levels)
    # One that lists a part of the resources is completed.
    some = np.arange(400) % 3 == 0
    partly = dcdrf(other, 1e-3, pattern=Pattern.of(demands, some), threads=1)
    assert partly.seconds["list"] > 0
    np.testing.assert_array_equal(partly.levels, expected.levels)


def test_a_pattern_of_other_demands_is_refused():
    matrix = random_rows(3000, 400, 5)
    with pytest.raises(ModelError, match="does not belong to"):
        dcdrf(matrix[:100], 0.1, pattern=Pattern.of(SparseDemands(matrix)))
    # As many entries, in other places.
    turned = SparseDemands(sparse.csr_array(matrix[::-1]))
    for epsilon in (0, 0.1):
        with pytest.raises(ModelError, match="pattern names other tenants than demand a resource"):
            dcdrf(matrix, epsilon, pattern=Pattern.of(turned), threads=1)
    # Too many of a resource; as many as demand it, but not the same, in a run cut short after that.
    few, many = sparse_of([[1, 0], [1, 0], [0, 1]]), sparse_of([[1, 0], [1, 0], [1, 0]])
    with pytest.raises(ModelError, match="pattern names other tenants"):
        dcdrf(few, 0, pattern=Pattern.of(many), threads=1)
    one, other = sparse_of([[1, 0], [0, 1]]), sparse_of([[0, 1], [1, 0]])
    looks = count()
    with pytest.raises(ModelError, match="pattern names other tenants"):
        dcdrf(one, 0, [1, 2], pattern=Pattern.of(other), deadline=0.5, clock=lambda: next(looks), threads=1)


def test_deadline_on_any_clock():
    rows = random_rows(3000, 400, 5)
    whole = dcdrf(rows, 1e-3, threads=1)
    assert whole.rounds > 20
    for deadline, rounds in ((0.5, 1), (1.0, 2), (17.5, 18)):
        # The clock shows 10 at the start and one second more each time; more than the deadline must pass.
        looks = count(10)
        cut = dcdrf(rows, 1e-3, deadline=deadline, clock=lambda looks=looks: next(looks), threads=1)
        assert (cut.rounds, cut.timed_out) == (rounds, True)
        assert next(looks) == 10 + 1 + rounds
        np.testing.assert_array_equal(cut.round_levels, whole.round_levels[:rounds])
        np.testing.assert_array_equal(cut.levels, np.minimum(whole.levels, cut.round_levels[-1]))
        assert 0 < cut.unfinished == (whole.levels > cut.round_levels[-1]).sum()
        used = cut.allocation().sum(axis=0)
        np.testing.assert_allclose(used + cut.free, 1, rtol=0, atol=1e-13)
    assert dcdrf(rows, 1e-3, clock=None, threads=1).rounds == whole.rounds
    looks = count()
    late = dcdrf(rows, 1e-3, deadline=1e9, clock=lambda: next(looks), threads=1)
    assert not late.timed_out
    np.testing.assert_array_equal(late.levels, whole.levels)
    assert next(looks) == whole.rounds + 1


def test_a_deadline_that_passes_in_the_last_round_cuts_nothing_short():
    looks = count()
    result = dcdrf(WORKED, 0, deadline=1.5, clock=lambda: next(looks), threads=1)
    assert (result.rounds, result.timed_out, result.unfinished) == (2, True, 0)
    assert result.certificate.claim.startswith("every tenant has a full resource")


def test_a_level_that_rounding_lowers_is_found():
    # A light tenant of resource 0 stops at resource 70, in another block, and takes a last bit of the level
    # of resource 0 with it: what its block was said to reach at the earliest came later than that.
    heavy, light, little = 1.329830120371516, 1.5056694953044012, 6.988177663220585e-17
    demands = SparseDemands.from_lists([[(0, 1.0)], [(0, little), (70, 1.0)]], n_resources=2 * BLOCK)
    before, after = 1 / (heavy + light * little), (1 - little) / heavy
    assert after < before
    for epsilon in (0, 1e-17, 1e-3):
        result = dcdrf(demands, epsilon, [heavy, light], threads=1)
        assert result.rounds == 2
        np.testing.assert_allclose(result.levels, [1 / heavy, 1 / light], rtol=1e-15)


def test_rates_that_are_lost_beside_others_are_an_error():
    # Forty decades: what a heavy tenant leaves of the load of resource 1 is rounding.
    demands = sparse_of([[F(1), F(1, 3)], [F(1), F(1, 7)], [F(0), F(7, 10)]])
    with pytest.raises(NotConvergedError, match="some tenants are so light") as caught:
        dcdrf(demands, 0, [1.0, 0.3, 1e-40], threads=1)
    assert caught.value.best.unfinished == 1
    for weight in (1e-320, 1.7e308):
        with pytest.raises(NotConvergedError, match="weights so near the limits of a float"):
            dcdrf(WORKED, 0, [weight] * 3, threads=1)
    # Ten decades are none of its business.
    assert dcdrf(demands, 0, [1.0, 0.3, 1e-10], threads=1).certificate.residual <= 1e-14


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": 1}, r"epsilon must be a number in \[0, 1\); got 1"),
        ({"epsilon": -1e-9}, "epsilon must be .*; got -1e-09"),
        ({"epsilon": float("nan")}, "epsilon must be .*; got nan"),
        ({"epsilon": "0.1"}, "epsilon must be .*; got '0.1'"),
        ({"epsilon": None}, "epsilon must be .*; got None"),
        ({"epsilon": False}, "epsilon must be .*; got False"),
        ({"epsilon": 2, "demands": "what takes long to check"}, "epsilon must be"),
        ({"deadline": -1, "demands": "what takes long to check"}, "deadline must be"),
        ({"deadline": 0.0}, "deadline must be a number of seconds > 0, or None for none; got 0.0"),
        ({"deadline": True}, "deadline must be .*; got True"),
        ({"threads": 0}, "threads must be a whole number >= 1, or None for all cores; got 0"),
        ({"threads": True}, "threads must be .*; got True"),
        ({"weights": [1, 0, 1]}, "weights must be finite and > 0; got 0.0 at entry 1"),
        ({"demands": [[1, 0]]}, "demands must be a scipy.sparse array"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ModelError, match=message):
        dcdrf(**({"demands": WORKED, "epsilon": 0.1} | arguments))


def test_summary_says_what_happened():
    text = repr(dcdrf(WORKED, 0.25, threads=1))
    assert "DC-DRF with epsilon 0.25 of 3 tenants and 2 resources" in text
    assert "stopped after 1 rounds\n" in text
    assert (
        "every tenant has a resource with at most 0.25 free on which its level is the largest: hold" in text
    )


@pytest.mark.parametrize("epsilon", [0.0, 0.01])
@pytest.mark.parametrize(("light", "lost"), [(1e-10, False), (1e-28, None), (1e-33, True)])
def test_lost_rates_are_never_a_silent_answer(light, lost, epsilon):
    # Heavy tenants leave next to nothing of mu on resource 1; what is left may be all rounding.
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(30):
        rows = [[(0, 1.0), (1, float(v))] for v in rng.uniform(0.1, 0.9, 40)]
        demands = SparseDemands.from_lists([*rows, [(1, 0.7)]], n_resources=2)
        try:
            result = dcdrf(demands, epsilon, np.r_[np.ones(40), light])
        except NotConvergedError:
            refused += 1
        else:
            assert result.certificate.holds
    if lost is not None:
        assert (refused > 0) == lost
