"""Small work is interpreted, and large work compiled, from one source: the numbers are the same."""

import math
import os
from types import SimpleNamespace

import numpy as np
import pytest

from fairness import (
    DRF,
    PSDSF,
    TSF,
    AlphaFair,
    AssetFair,
    BottleneckMax,
    Cluster,
    Hierarchical,
    MaxMin,
    Problem,
    ProportionalFair,
    Tree,
)
from fairness.machine import compiling
from fairness.machine.compiling import Kernel, asked, compiled_as, helper, stored
from fairness.machine.kernels import exp, log
from queueing import System, balanced_fairness, simulate, stationary
from queueing.chain.solvers.elimination import eliminate_box
from tests.fairness.evidence.test_tree_certificates import JUMP, JUMP_STAGES, LIMITED
from tests.processes import python


@helper(error_model="numpy")
def divided(x, y):
    return x / y


@stored(error_model="numpy")
def inner(x):
    """A kernel that calls a helper."""
    return divided(x[0], x[1])


def make():
    """A kernel that calls another one, and of which nothing has been asked yet."""

    def outer(x):
        return inner(x) + 1.0

    return stored(error_model="numpy")(outer)


def test_what_is_interpreted_calls_nothing_compiled():
    outer = make()
    assert outer.small(1.0)(np.array([1.0, 2.0])) == 1.5
    assert outer.small(1.0)(np.array([1.0, 0.0])) == math.inf  # as compiled: no warning
    assert "dispatcher" not in vars(outer)


@pytest.mark.long
def test_one_kernel_may_be_both():
    outer = make()
    for kernel in (outer.small(1.0), outer, outer.small(1e9)):
        assert kernel(np.array([1.0, 0.0])) == math.inf
        assert kernel(np.array([3.0, 2.0])) == 2.5
    assert outer.dispatcher.signatures


def test_the_choice_is_by_the_request_as_a_whole():
    kernel, other = make(), make()
    assert kernel.small(10.0, 1e5) == kernel.interpreted
    assert kernel.small(10.0, 1.01e5) is kernel
    with asked(2e5):
        assert kernel.small(10.0, 1) is kernel  # a batch of it is no request
        with asked(1):
            assert kernel.small(10.0, 1) is kernel
    with asked(100):
        assert other.small(10.0, 1) == other.interpreted
        assert other.small(10.0, 1e7) == other.interpreted  # chosen once


@pytest.mark.parametrize(
    ("at_hand", "others", "part"),
    [(False, 1, 1.0), (True, 0, compiling.AT_HAND), (True, 1, compiling.AT_HAND * compiling.FURTHER)],
)
def test_what_is_interpreted_for_long_is_compiled_after_all(at_hand, others, part, monkeypatch):
    kernel = make()
    known = SimpleNamespace(currsize=others)
    monkeypatch.setattr(compiling, "compiler", SimpleNamespace(cache_info=lambda: known))
    assert not kernel.is_at_hand
    kernel._at_hand = at_hand
    requests, work = 0, compiling.SMALL / 64
    while kernel.small(work) is not kernel:
        requests += 1
    assert requests == math.floor(part * compiling.PATIENCE / work) + 1


def test_a_kernel_that_another_process_compiles_is_found(monkeypatch):
    monkeypatch.setattr(
        compiling, "compiler", SimpleNamespace(cache_info=lambda: SimpleNamespace(currsize=1))
    )
    kernel, looks, there = make(), [], []
    monkeypatch.setattr(kernel, "_is_stored", lambda: looks.append(1) or bool(there))
    work = compiling.PATIENCE / 1024
    for _ in range(512):
        assert kernel.small(work) == kernel.interpreted
    assert len(looks) < 16  # a folder is read each time
    there.append("kernel")
    for _ in range(513):
        if kernel.small(work) is kernel:
            break
    assert kernel.spent <= compiling.PATIENCE
    assert kernel.is_at_hand


def test_a_kernel_is_not_exchanged_within_a_request():
    kernel = make()
    kernel.spent = compiling.PATIENCE
    with asked(compiling.SMALL):
        first = kernel.small(1.0)
        assert kernel.spent == compiling.PATIENCE + compiling.SMALL
        assert kernel.small(1.0) == first == kernel.interpreted
    assert kernel.small(1.0) is kernel


@pytest.mark.long
def test_logarithms_and_exponentials_have_the_same_bits():
    @stored()
    def both(x, result):
        for k in range(x.size):
            result[0, k], result[1, k] = log(x[k]), exp(x[k])

    x = np.random.default_rng(0).normal(0.0, 200.0, 10_000)
    x = np.concatenate([x, np.exp(x), [0.0, -0.0, math.inf, -math.inf, math.nan, 709.782712893384, 709.79]])
    one, other = np.empty((2, x.size)), np.empty((2, x.size))
    both.interpreted(x, one)
    both(x, other)
    np.testing.assert_array_equal(one, other)


def random_pool(rng, trial):
    n, m = rng.integers(1, 9), rng.integers(1, 6)
    demands = rng.integers(0, 5, (n, m)).astype(float)
    if trial % 2:
        demands = rng.random((n, m)) * 10.0 ** rng.integers(-3, 4, (n, m)) * (rng.random((n, m)) < 0.7)
    limits = np.where(rng.random(n) < 0.3, 2.0 * rng.random(n), np.inf)
    limits[~demands.any(axis=1)] = 1.5
    return Problem(demands, rng.integers(1, 10, m), weights=rng.integers(1, 4, n), limits=limits)


def both_ways(monkeypatch, compute):
    """What is computed without compiling, and by compiled kernels."""
    results = []
    for small in (math.inf, -1.0):
        monkeypatch.setattr(compiling, "SMALL", small)
        monkeypatch.setattr(compiling, "PATIENCE", math.inf)
        results.append(compute())
    return results


POLICIES = [
    DRF(), MaxMin(), AssetFair(), ProportionalFair(), AlphaFair(2), AlphaFair(0.5), AlphaFair(3.3),
    BottleneckMax(),
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_pools_have_the_same_bits(policy, monkeypatch):
    rng = np.random.default_rng(1)
    for trial in range(40):
        pool = random_pool(rng, trial)
        counts = rng.integers(0, 4, (5, pool.n_classes))
        one, other = both_ways(monkeypatch, lambda pool=pool, counts=counts: policy(pool, counts))
        np.testing.assert_array_equal(one, other)


@pytest.mark.long
def test_many_resources_agree(monkeypatch):
    """Their products of matrices are those of BLAS both ways, of rows that lie elsewhere."""
    rng = np.random.default_rng(2)
    pool = Problem(rng.random((70, 60)) * (rng.random((70, 60)) < 0.2) + np.eye(70, 60), np.ones(60))
    one, other = both_ways(monkeypatch, lambda: ProportionalFair()(pool, np.ones(70)))
    np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.long
def test_clusters_agree(monkeypatch):
    rng = np.random.default_rng(3)
    for _ in range(20):
        n, k, m = rng.integers(2, 6), rng.integers(1, 5), rng.integers(1, 4)
        cluster = Cluster(rng.integers(1, 6, (n, m)), rng.integers(1, 20, (k, m)))
        counts = rng.integers(0, 3, (3, n))
        for compute in (
            lambda cluster=cluster, counts=counts: PSDSF()(cluster, counts).sum(axis=-1),
            lambda cluster=cluster, counts=counts: TSF().tasks(cluster, counts),
        ):
            one, other = both_ways(monkeypatch, compute)
            # Entries at the same level are sorted otherwise, and sums of numpy go in pairs.
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


@pytest.mark.long
def test_trees_have_the_same_bits(monkeypatch):
    queues = {"ml": {"classes": ["a"], "minimum": {"r0": 2}}, "web": {"classes": ["b", "c"], "weight": 3}}
    tree = Tree.from_dict({"all": {"queues": queues}})
    rng = np.random.default_rng(4)
    for _ in range(20):
        pool = Problem(
            rng.integers(1, 6, (3, 2)),
            rng.integers(4, 20, 2),
            job_classes=list("abc"),
            resources=["r0", "r1"],
        )
        counts = rng.integers(0, 4, (4, 3))
        one, other = both_ways(monkeypatch, lambda p=pool, x=counts: Hierarchical(tree)(p, x))
        np.testing.assert_array_equal(one, other)


def test_trees_are_the_same_where_nothing_is_compiled(monkeypatch):
    """With NUMBA_DISABLE_JIT the records of numpy, which kernels are made for, would be copied by Python."""
    policy, counts = Hierarchical(JUMP), [4, 1, 1, 1, 1]
    np.testing.assert_allclose(policy(LIMITED, counts), JUMP_STAGES[-1], rtol=1e-12)
    monkeypatch.setattr(compiling, "SMALL", -1.0)
    monkeypatch.setattr(Kernel, "dispatcher", property(lambda kernel: kernel.py_func))
    np.testing.assert_allclose(policy(LIMITED, counts), JUMP_STAGES[-1], rtol=1e-12)


@pytest.mark.long
def test_queues_have_the_same_bits(monkeypatch):
    system = System.with_load(Problem([[1, 2], [2, 1]], [2, 2], limits=[2, np.inf]), (1, 1), 0.5)
    for compute in (
        lambda: stationary(system, DRF()).distribution,
        lambda: stationary(system, DRF()).mean_jobs_error,
        lambda: balanced_fairness(system).mean_jobs,
        lambda: simulate(system, DRF(), events=2_000, replications=2, rng=0).mean_jobs,
        lambda: eliminate_box(np.full((3, 1), 0.3), np.ones((3, 5 * 4 * 6)), (5, 4, 6)),
    ):
        one, other = both_ways(monkeypatch, compute)
        np.testing.assert_array_equal(one, other)


SMALL = """
import sys
from fairness import DRF, PSDSF, TSF, AlphaFair, BottleneckMax, Cluster, Hierarchical, Problem
from fairness import ProportionalFair, Tree, allocate, explain
from queueing import System, balanced_fairness, duration_bound, simulate, stationary

pool = Problem([[1, 4], [3, 1]], [9, 18], job_classes=["A", "B"], resources=["cpu", "ram"])
tree = Tree.from_dict({"all": {"queues": {"one": {"classes": ["A"]}, "two": {"classes": ["B"]}}}})
for policy in (DRF(), ProportionalFair(), AlphaFair(2), BottleneckMax(), Hierarchical(tree)):
    repr(explain(allocate(pool, policy), "A"))
cluster = Cluster([[1, 2], [2, 1]], [[2, 2], [1, 3]])
for policy in (PSDSF(), TSF()):
    repr(allocate(cluster, policy))
system = System(pool, arrival_rates=[2.0, 1.5], mean_sizes=[1.0, 1.0])
balanced_fairness(system).mean_durations, duration_bound(system).mean_durations
for policy in (DRF(), ProportionalFair(), BottleneckMax()):
    stationary(system, policy)
simulate(system, DRF(), events=2_000, replications=2, rng=0, progress=False)
print("numba" in sys.modules)
"""


@pytest.mark.long
def test_small_questions_compile_nothing(tmp_path):
    """They do not even import the compiler, where no kernel lies compiled."""
    run = python("-W", "error", "-c", SMALL, env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)})
    assert run.stdout == "False\n", run.stderr


def test_a_function_for_kernels_is_python_for_python():
    @compiled_as(lambda x: lambda x: x + 1)
    def more(x):
        return x + 2

    assert more(1) == 3
