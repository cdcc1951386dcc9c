"""Updates of an EDRF allocation against allocations made anew."""

import numpy as np
import pytest
from scipy import sparse

from fairness import ModelError
from fairness.cloud import SparseDemands, edrf
from tests.fairness.cloud.instances import random_rows


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("same_resources", [True, False])
def test_same_as_a_fresh_allocation(same_resources, weighted):
    rng = np.random.default_rng(1)
    for _ in range(60):
        n, m = (int(v) for v in rng.integers(2, 40, 2))
        demands = random_rows(n, m, 4, rng)
        weights = rng.uniform(0.5, 2, n) if weighted else None
        who = rng.permutation(n)[: int(rng.integers(1, n + 1))]
        rows = demands[who] if same_resources else random_rows(len(who), m, 4, rng)
        if same_resources:
            rows.data = rng.uniform(0.01, 1, rows.nnz)
        before = edrf(demands, weights)
        after = before.update(who, rows)
        expected = demands.tolil()
        expected[who] = rows
        # The changed tenants' growth is divided and multiplied by their largest demand once more.
        np.testing.assert_allclose(after.tasks, edrf(expected.tocsr(), weights).tasks, rtol=1e-14)
        np.testing.assert_array_equal(after.demands.matrix().toarray(), expected.toarray())
        assert (after.demands.columns is before.demands.columns) == same_resources
        assert after.certificate.residual <= 1e-13


def test_new_weights_with_new_demands():
    rng = np.random.default_rng(2)
    demands, rows, who = random_rows(20, 8, 4, rng), random_rows(3, 8, 4, rng), [4, 17, 0]
    weights = rng.uniform(0.5, 2, 20)
    after = edrf(demands, weights).update(who, rows, [1.0, 3.0, 2.0])
    expected, weights[who] = demands.tolil(), [1.0, 3.0, 2.0]
    expected[who] = rows
    np.testing.assert_allclose(after.tasks, edrf(expected.tocsr(), weights).tasks, rtol=1e-14)


def test_weights_by_resource():
    rng = np.random.default_rng(3)
    demands, rows, who = random_rows(20, 8, 4, rng), random_rows(2, 8, 4, rng), [3, 11]
    table = rng.uniform(0.5, 2, (20, 8))
    given = sparse.csr_array(np.where(demands.toarray() > 0, table, 0))
    before = edrf(demands, given)
    with pytest.raises(ModelError, match="weights of the changed tenants are needed"):
        before.update(who, rows)
    new = sparse.csr_array(np.where(rows.toarray() > 0, table[who], 0))
    expected = demands.tolil()
    expected[who] = rows
    fresh = edrf(expected.tocsr(), sparse.csr_array(np.where(expected.toarray() > 0, table, 0)))
    np.testing.assert_allclose(before.update(who, rows, new).tasks, fresh.tasks, rtol=1e-14)
    # Entitlements per resource may come with an update, too.
    later = edrf(demands).update(who, rows, new)
    with pytest.raises(ModelError, match="weights of the changed tenants are needed"):
        later.update(who, rows)


def test_many_updates_do_not_drift():
    # Naive sums would keep what rounding left of tenants that went from 1 to 1e-9 and back.
    rng = np.random.default_rng(4)
    low = random_rows(30, 5, 4, rng)
    low.data *= 1e-9
    high = low.copy()
    high.data = rng.uniform(0.1, 1, low.nnz)
    start = result = edrf(low)
    everybody = np.arange(30)
    for _ in range(200):
        result = result.update(everybody, high).update(everybody, low)
    np.testing.assert_allclose(result.loads[:, :2].sum(axis=1), start.loads[:, :2].sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(result.tasks, start.tasks, rtol=1e-12)


def test_precision_of_storage():
    rng = np.random.default_rng(5)
    single = edrf(random_rows(10, 6, 4, rng, np.float32))
    assert single.update([1], random_rows(1, 6, 4, rng, np.float32)).demands.values.dtype == np.float32
    assert single.update([1], random_rows(1, 6, 4, rng)).demands.values.dtype == np.float64


@pytest.mark.parametrize(
    ("who", "n_rows", "n_resources", "message"),
    [
        ([0, 1], 1, 4, r"must have shape \(2, 4\), a row for each tenant; got \(1, 4\)"),
        ([0], 1, 5, r"must have shape \(1, 4\).*got \(1, 5\)"),
        ([6], 1, 4, r"tenants must be numbered 0..5; got 6..6"),
        ([-1], 1, 4, "tenants must be numbered"),
        ([2, 2], 2, 4, "named once each"),
        ([0.5], 1, 4, "list of whole numbers"),
    ],
)
def test_bad_tenants(who, n_rows, n_resources, message):
    rng = np.random.default_rng(6)
    result = edrf(random_rows(6, 4, 4, rng))
    with pytest.raises(ModelError, match=message):
        result.update(who, random_rows(n_rows, n_resources, 4, rng))


def test_update_does_not_change_the_result_it_starts_from():
    rng = np.random.default_rng(7)
    result = edrf(random_rows(6, 4, 4, rng))
    before = result.demands.values.copy(), result.loads.copy(), result.growth.copy()
    rows = SparseDemands.from_lists([[(0, 0.25)]], n_resources=4)
    result.update([2], rows)
    for old, new in zip(before, (result.demands.values, result.loads, result.growth), strict=True):
        np.testing.assert_array_equal(old, new)
