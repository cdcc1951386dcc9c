"""Pools whose demands are given as sparse arrays: the same answers as of a table, and none is made."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairness import DRF, AlphaFair, MaxMin, ModelError, Problem, ProportionalFair, allocate
from fairness.evidence.pools import level_certificate
from fairness.model import problem as pools
from fairness.model.nonzeros import nonzeros, sparse_nonzeros
from fairness.policies.asset import AssetFair
from fairness.protocol.calling import policy_tasks
from queueing import System, fluid_verdict

POLICIES = [DRF(), MaxMin(), AssetFair(), ProportionalFair(), AlphaFair(2), AlphaFair(0.5)]


def drawn(seed, n=40, m=12, density=0.2):
    """A table with some resource of capacity 0 and one that nobody demands, limits, and weights."""
    rng = np.random.default_rng(seed)
    table = rng.uniform(0.1, 2.0, (n, m)) * (rng.random((n, m)) < density)
    table[:, 3] = 0.0
    limits = np.where((rng.random(n) < 0.3) | ~table.any(axis=1), rng.uniform(0.01, 2.0, n), np.inf)
    capacities = rng.uniform(1.0, 5.0, m)
    capacities[5] = 0.0
    return table, capacities, {"weights": rng.uniform(0.5, 3.0, n), "limits": limits}


def has_no_table(problem):
    return "demands" not in vars(problem)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
@pytest.mark.parametrize("seed", range(4))
def test_answers_are_those_of_a_table_and_none_is_made(policy, seed):
    table, capacities, rest = drawn(seed)
    dense, listed = Problem(table, capacities, **rest), Problem(sparse.csr_array(table), capacities, **rest)
    counts = np.random.default_rng(seed).integers(0, 3, 40).astype(float)
    expected, found = allocate(dense, policy, counts), allocate(listed, policy, counts)
    np.testing.assert_array_equal(found.tasks, expected.tasks)
    assert found.certificate.holds
    assert found.certificate.residual == pytest.approx(expected.certificate.residual, abs=1e-13)
    np.testing.assert_allclose(found.usage, expected.usage, rtol=1e-13)
    np.testing.assert_allclose(found.utilization, expected.utilization, rtol=1e-13)
    np.testing.assert_array_equal(found.dominant_shares, expected.dominant_shares)
    assert found.bottlenecks == expected.bottlenecks
    assert str(found).partition("(residual")[0] == str(expected).partition("(residual")[0]
    np.testing.assert_array_equal(policy_tasks(listed, policy, counts), expected.tasks)
    states = np.array([counts, counts[::-1]])
    np.testing.assert_array_equal(policy(listed, states), policy(dense, states))
    assert has_no_table(listed)
    np.testing.assert_array_equal(found.shares, expected.shares)  # for which one is made
    np.testing.assert_array_equal(listed.demands, table)


def test_a_wrong_allocation_is_seen():
    table, capacities, rest = drawn(1)
    listed = Problem(sparse.csr_array(table), capacities, **rest)
    growth, tasks = DRF().growth(listed), DRF()(listed, np.ones(40))
    assert level_certificate(listed, np.ones(40), tasks, growth).holds
    for k in np.flatnonzero(tasks):
        for factor in (0.999, 1.001):
            wrong = tasks.copy()
            wrong[k] *= factor
            assert not level_certificate(listed, np.ones(40), wrong, growth).holds


def test_any_form_is_read_and_what_stands_twice_is_added_up():
    """COO with doubles and explicit zeros, CSC, matrices of the old kind; what is given is left alone."""
    table = np.array([[1.0, 0.0], [0.5, 2.0]])
    doubled = sparse.coo_array(
        ([0.25, 0.75, 2.0, 0.5, 0.0], ([0, 0, 1, 1, 0], [0, 0, 1, 0, 1])), shape=(2, 2)
    )
    untidy = sparse.csr_array(([0.25, 0.75, 2.0, 0.5], [0, 0, 1, 0], [0, 2, 4]), shape=(2, 2))
    for given in (
        doubled,
        untidy,
        sparse.csc_array(table),
        sparse.csr_matrix(table),
        sparse.lil_array(table),
    ):
        entries = given.nnz
        problem = Problem(given, [1, 1])
        np.testing.assert_array_equal(problem.demands, table)
        assert problem.units.share.size == 3
        assert given.nnz == entries


def test_models_are_copied_compared_and_changed():
    table, capacities, rest = drawn(2)
    listed = Problem(sparse.csr_array(table), capacities, **rest)
    for other in (copy.deepcopy(listed), pickle.loads(pickle.dumps(listed)), listed.replaced()):
        assert listed.same(other)
        assert has_no_table(other)
    assert not listed.same(listed.replaced(capacities=capacities + 1.0))
    assert listed.same(Problem(table, capacities, **rest))
    assert Problem.from_dict(listed.to_dict()).same(listed)
    assert repr(Problem(sparse.csr_array([[1, 4], [3, 1]]), [9, 18])) == repr(
        Problem([[1, 4], [3, 1]], [9, 18])
    )
    assert not listed.is_rational


def test_labels_of_the_other_tables_are_names():
    capacities = pd.Series({"cpu": 1.0, "ram": 2.0})
    problem = Problem(sparse.csr_array([[1.0, 0.0], [1.0, 1.0]]), capacities)
    assert problem.resources == ("cpu", "ram")


def test_everything_else_makes_a_table():
    system = System.with_load(Problem(sparse.csr_array([[1.0, 4.0], [3.0, 0.0]]), [9, 18]), [1, 1], 0.5)
    assert fluid_verdict(system, DRF()).stable


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (np.nan, r"demands must be finite and >= 0; got nan at index \(1, 2\) \('class 2', 'resource 3'\)"),
        (-1.0, r"got -1\.0 at index \(1, 2\)"),
        (1e-300, r"demands\[1, 2\] = 1e-300 over capacities\[2\] = 1e\+200 \('class 2', 'resource 3'\)"),
    ],
)
def test_a_bad_entry_is_named(entry, told):
    table = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, entry]])
    with pytest.raises(ModelError, match=told):
        Problem(sparse.csr_array(table), [1, 1, 1e200])


def test_what_is_refused():
    with pytest.raises(ModelError, match="job class 'class 2' demands nothing and has no limit"):
        Problem(sparse.csr_array([[1.0], [0.0]]), [1])
    with pytest.raises(ModelError, match=r"must be an array of numbers; got entries of type complex128"):
        Problem(sparse.csr_array([[1j]]), [1])
    with pytest.raises(ModelError, match=r"demands must have 2 dimensions; got shape \(2,\)"):
        Problem(sparse.coo_array(np.array([1.0, 2.0])), [1, 1])
    with pytest.raises(ModelError, match=r"demands has shape \(2, 1\), so weights must have shape \(2,\)"):
        Problem(sparse.csr_array([[1.0], [2.0]]), [1], weights=[1.0])
    with pytest.raises(ModelError, match=r"demands has shape \(0, 2\); give at least one class"):
        Problem(sparse.csr_array((0, 2)), [1, 1])


def test_a_table_that_would_not_fit_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(pools, "LARGEST_TABLE", 11)
    problem = Problem(sparse.csr_array(np.eye(4, 3) + np.eye(4, 3, -1)), [1, 1, 1])
    result = allocate(problem, DRF())
    assert result.certificate.holds
    with pytest.raises(ModelError, match=r"a table of 4 x 3 numbers is needed, 9\.6e-08 GB"):
        _ = result.shares


def test_looking_makes_no_table():
    n = 2_000
    problem = Problem(sparse.csr_array((np.ones(n), (np.arange(n), np.arange(n) % 1_000))), np.ones(1_000))
    assert "2,000 demands are not 0" in problem._repr_html_()
    result = allocate(problem, MaxMin())
    assert "<table" not in result._repr_html_()
    assert "holds" in result._repr_html_()
    assert has_no_table(problem)
    assert "<table" in Problem(sparse.csr_array(np.eye(3)), np.ones(3))._repr_html_()


def test_long_summaries_are_cut():
    n = 1_000
    problem = Problem(sparse.csr_array((np.ones(n), (np.arange(n), np.arange(n) % 500))), np.ones(500))
    told = str(allocate(problem, MaxMin()))
    assert "... 800 more classes: see tasks" in told
    assert "... 300 more resources: see utilization" in told
    assert told.count("\n") < 210


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("decades", [0, 6])
def test_thousands_of_classes_with_weights_far_apart_are_certified(alpha, decades):
    rng = np.random.default_rng(0)
    n, m = 6_000, 300
    resources = (rng.integers(0, m, (n, 1)) + np.cumsum(rng.integers(1, m // 5, (n, 5)), axis=1)) % m
    places = (np.repeat(np.arange(n), 5), resources.ravel())
    demands = sparse.coo_array((rng.uniform(0.1, 1.0, 5 * n), places), shape=(n, m))
    weights = 10.0 ** rng.uniform(-decades / 2, decades / 2, n)
    limits = np.where(rng.random(n) < 0.1, rng.uniform(0.01, 1.0, n), np.inf)
    pool = Problem(demands, 10.0 ** rng.uniform(-1, 1, m), weights=weights, limits=limits)
    result = allocate(pool, AlphaFair(alpha))
    assert result.certificate.holds
    assert result.certificate.duality_gap < 1e-12


@pytest.mark.parametrize("density", [0.02, 0.5])
def test_a_table_is_listed_as_the_sparse_array_is(density):
    """A table that is mostly empty is listed in another way than a full one."""
    rng = np.random.default_rng(1)
    table = rng.uniform(0.1, 1.0, (200, 30)) * (rng.random((200, 30)) < density)
    listed, given = nonzeros(table), sparse_nonzeros("demands", sparse.csr_array(table))
    for one, other in zip((*listed[:3], *listed.columns), (*given[:3], *given.columns), strict=True):
        np.testing.assert_array_equal(one, other)
