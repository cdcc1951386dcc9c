"""Sparse demands: what is refused, and how the message helps."""

import numpy as np
import pytest
from scipy import sparse

from fairness import ModelError
from fairness.cloud import SparseDemands


def csr(data, columns, starts, m=4):
    return sparse.csr_array((np.array(data), np.array(columns), np.array(starts)), shape=(len(starts) - 1, m))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 0]], "must be a scipy.sparse array .* got list; use .*csr_array.*, SparseDemands.from_lists"),
        (sparse.csr_array((0, 3)), "at least one tenant and one resource; got shape"),
        (csr([0.5, 0.5], [2, 1], [0, 2]), "tenant 0: columns must rise .* after column 2 comes 1; call"),
        (csr([0.5, 0.5], [1, 1], [0, 2]), "tenant 0: columns must rise .* after column 1 comes 1"),
        (csr([0.5], [1], [0, 1, 1]), "tenant 1: it demands nothing; leave the tenant out"),
        (csr([0.5, np.nan], [0, 3], [0, 1, 2]), r"tenant 1: the demand of column 3 is nan; .* > 0 and <= 1"),
        (csr([-0.5], [1], [0, 1]), r"tenant 0: the demand of column 1 is -0.5"),
        (csr([1.5], [1], [0, 1]), r"tenant 0: the demand of column 1 is 1.5.*divide units by capacities"),
        (csr([0.0], [1], [0, 1]), r"the demand of column 1 is 0.0.*eliminate_zeros"),
        (csr([0.5j], [1], [0, 1]), "demands must be real numbers; got entries of type complex128"),
    ],
)
def test_bad_demands(matrix, message):
    with pytest.raises(ModelError, match=message):
        SparseDemands(matrix)


def test_column_out_of_range():
    matrix = csr([0.5], [1], [0, 1])
    matrix.indices[0] = 9
    with pytest.raises(ModelError, match=r"tenant 0: column 9 is outside 0..3"):
        SparseDemands(matrix)
    # As an int32 it would be column 1.
    matrix.indices = np.array([2**32 + 1])
    with pytest.raises(ModelError, match=r"tenant 0: column 4294967297 is outside 0..3"):
        SparseDemands(matrix)


@pytest.mark.parametrize(
    ("tenants", "message"),
    [
        ([[(0, 1.0), (2, 0.5)]], r"numbered below n_resources = 2; got 0..2"),
        ([[(-1, 1.0)]], r"numbered below n_resources = 2; got -1..-1"),
        ([[(0.7, 1.0)]], "resources must be whole numbers; got entries of type float64"),
        ([[("cpu", 1.0)]], "resources must be whole numbers"),
        ([[(0, "much")]], "demands must be an array of numbers"),
        ([[0, 1]], "lists of pairs"),
        ([0, 1], "lists of pairs"),
        ([[(0, 0.5), (0, 0.5)]], "columns must rise within a row, each once"),
        ([[]], "tenant 0: it demands nothing"),
        ([], "at least one tenant"),
    ],
)
def test_bad_lists(tenants, message):
    with pytest.raises(ModelError, match=message):
        SparseDemands.from_lists(tenants, n_resources=2)


@pytest.mark.parametrize("starts", [[0, 3, 2], [0, 1, 3], [1, 1, 2]])
def test_rows_that_lie_outside_of_the_entries(starts):
    matrix = csr([0.5, 0.5], [1, 2], [0, 1, 2])
    matrix.indptr = np.array(starts, dtype=np.int32)
    with pytest.raises(ModelError, match="indptr of demands must rise from 0 to at most 2"):
        SparseDemands(matrix)


def test_room_for_more_entries_is_no_demand():
    matrix = csr([0.5, 0.25], [1, 2], [0, 1, 2])
    matrix.data, matrix.indices = np.append(matrix.data, 9.0), np.append(matrix.indices, np.int32(7))
    demands = SparseDemands(matrix)
    assert demands.n_entries == 2
    np.testing.assert_array_equal(demands.largest, [0.5, 0.25])


def test_too_many_resources_for_the_index_type():
    wide = sparse.coo_array(([0.5], ([0], [2**31])), shape=(1, 2**31 + 1))
    with pytest.raises(ModelError, match="numbered up to 2147483647"):
        SparseDemands(wide)


@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.long), np.float64])
def test_entries_of_a_csr_array_are_not_copied(dtype):
    matrix = csr(np.array([0.5, 1.0], dtype=dtype), [0, 3], [0, 1, 2])
    demands = SparseDemands(matrix)
    assert np.shares_memory(demands.values, matrix.data)
    assert demands.values.dtype == dtype
    assert (demands.n_tenants, demands.n_resources, demands.n_entries) == (2, 4, 2)
    assert (demands.matrix() != matrix).nnz == 0
    assert np.shares_memory(demands.matrix().indices, demands.columns)
    assert np.shares_memory(demands.matrix().data, matrix.data)
    assert repr(demands) == f"SparseDemands(2 tenants x 4 resources, 2 entries, {np.dtype(dtype).name})"


def test_other_formats_and_types_are_converted():
    dense = np.array([[0, 1], [1, 1]])
    for matrix in (sparse.csc_array(dense), sparse.coo_array(dense), sparse.csr_matrix(dense)):
        assert SparseDemands(matrix).values.dtype == float
        np.testing.assert_array_equal(SparseDemands(matrix).matrix().toarray(), dense)


def test_lists_may_be_in_any_order():
    demands = SparseDemands.from_lists([[(3, 0.5), (1, 1.0)], [(0, 0.25)]], n_resources=4)
    np.testing.assert_array_equal(demands.matrix().toarray(), [[0, 1, 0, 0.5], [0.25, 0, 0, 0]])
    np.testing.assert_array_equal(demands.largest, [1, 0.25])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1], r"weights must have shape \(n_tenants,\) = \(2,\) .* got shape \(1,\)"),
        ([1, 0], r"weights must be finite and > 0; got 0.0 at index \(1,\)"),
        ([1, np.inf], r"got inf at index \(1,\)"),
        ([1, np.nan], r"got nan at index \(1,\)"),
        (["a", "b"], "weights must be an array of numbers"),
        ([[1], [1, 2]], "weights must be an array of numbers"),
        (csr([1.0, 1.0], [0, 2], [0, 1, 2]), "weights must have an entry exactly where demands have one"),
        (csr([1.0, -1.0], [0, 3], [0, 1, 2]), "weights must be finite and > 0; got -1.0 at entry 1"),
    ],
)
def test_bad_weights(weights, message):
    demands = SparseDemands(csr([0.5, 1.0], [0, 3], [0, 1, 2]))
    with pytest.raises(ModelError, match=message):
        demands.check_weights(weights)


def test_weights_beyond_the_range_of_floats():
    demands = SparseDemands(csr([1e-30, 1.0, 1e-30], [0, 1, 3], [0, 2, 3]))
    with pytest.raises(ModelError, match=r"demands of tenant 1: it would run inf tasks .* scale them"):
        demands.check_weights([1, 1e300])
    # A weight of 1e-300 for a 1e-30th of the largest demand counts 1e-270; one of 1e300, not at all.
    for weight, expected in ((1e-300, 1e-270), (1e300, 1.0)):
        table = csr([weight, 1.0, 1.0], [0, 1, 3], [0, 2, 3])
        np.testing.assert_allclose(demands.check_weights(table), [expected, 1.0], rtol=1e-15)
