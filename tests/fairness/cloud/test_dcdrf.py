"""DC-DRF: its epsilon against exact filling, threads, forks and the tenants that rounding loses."""

import os
from itertools import count

import numpy as np
import pytest
from scipy import sparse

from fairness import ModelError, NotConvergedError
from fairness.cloud.approximate import dcdrf
from fairness.cloud.engines.eviction import BLOCK, CHUNK, SHARED_EVICTION
from fairness.cloud.engines.threads import SHARED_ENTRIES
from fairness.cloud.exact import edrf
from fairness.cloud.instances.families import HARD_FAMILIES
from fairness.cloud.model.demands import SparseDemands
from fairness.cloud.model.pattern import Pattern
from tests.fairness.cloud.instances import random_rows, sparse_of
from tests.processes import at_once, python

# Enough entries for threads, evictions that are shared and ones that are not, several blocks and chunks.
LARGE = SparseDemands(random_rows(120_000, 5000, 18, dtype=np.float32))


@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.long), np.float64])
@pytest.mark.parametrize("epsilon", [0, 1e-4, 1e-2, 0.3])
@pytest.mark.parametrize("family", sorted(HARD_FAMILIES))
def test_hard_families_are_certified(family, epsilon, dtype):
    matrix = HARD_FAMILIES[family](3000, 300, rng=7).matrix().astype(dtype)
    result = dcdrf(matrix, epsilon, threads=1)
    assert result.unfinished == 0
    assert result.certificate.residual <= 1e-13
    assert (np.diff(result.round_levels) >= 0).all()
    if epsilon == 0:
        exact = edrf(matrix)
        # Both are right to a few ulp of 1 - F; a level is that over mu, of which 1e-10 may be left.
        np.testing.assert_allclose(result.levels, exact.levels, rtol=1e-10)
        np.testing.assert_allclose(result.free, exact.free, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    "epsilon", [pytest.param(0, marks=pytest.mark.long), 0.01, pytest.param(0.999, marks=pytest.mark.long)]
)
def test_threads_change_no_bit(epsilon):
    # With 0.999 one round stops everybody: every entry is worked through by the threads.
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
    assert (one.rounds == 1) == (epsilon == 0.999)
    amounts = np.repeat(one.tasks, np.diff(LARGE.starts)) * LARGE.values
    held = np.bincount(LARGE.columns, weights=amounts, minlength=LARGE.n_resources)
    np.testing.assert_allclose(held + one.free, 1, rtol=0, atol=1e-12)


def test_used_from_several_python_threads_at_once():
    one, other = at_once(2, lambda: dcdrf(LARGE, 0.1, threads=2))
    np.testing.assert_array_equal(one.levels, other.levels)


@pytest.mark.long
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
    python("-W", "ignore", "-c", code)


def test_a_pattern_of_other_demands_is_refused():
    matrix = random_rows(3000, 400, 5)
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


@pytest.mark.parametrize("epsilon", [0.0, 0.01])
@pytest.mark.parametrize(("light", "lost"), [(1e-10, False), (1e-28, None), (1e-33, True)])
def test_lost_rates_are_never_a_silent_answer(light, lost, epsilon):
    # Heavy tenants leave next to nothing of mu on resource 1; what is left may be all rounding.
    rng = np.random.default_rng(0)
    refused = []
    for _ in range(30):
        rows = [[(0, 1.0), (1, float(v))] for v in rng.uniform(0.1, 0.9, 40)]
        demands = SparseDemands.from_lists([*rows, [(1, 0.7)]], n_resources=2)
        try:
            result = dcdrf(demands, epsilon, np.r_[np.ones(40), light])
        except NotConvergedError as error:
            refused.append(str(error))
        else:
            assert result.certificate.holds
    assert all("some tenants are so light" in text for text in refused)
    if lost is not None:
        assert bool(refused) == lost
