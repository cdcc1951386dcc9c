"""Lists of tenants per resource, work on tiles, and sums from which terms are taken out again."""

import math

import numpy as np
import pytest

from fairness.cloud import Pattern, SparseDemands, edrf
from fairness.cloud.engines import loads as loading
from fairness.cloud.engines.eviction import run, shared_rows
from fairness.cloud.engines.sums import add, table
from fairness.cloud.model import tiles
from tests.fairness.cloud.instances import random_rows
from tests.processes import at_once


@pytest.fixture
def demands():
    return SparseDemands(random_rows(400, 30, 12))


def test_lists_of_some_resources_and_tenants(demands):
    rng = np.random.default_rng(1)
    listed, kept = rng.random(30) < 0.4, rng.random(400) < 0.5
    pattern = Pattern.of(demands, listed, kept)
    dense = demands.matrix().toarray()
    for r in range(30):
        expected = np.flatnonzero((dense[:, r] > 0) & kept) if listed[r] else []
        np.testing.assert_array_equal(pattern.tenants[pattern.starts[r] : pattern.starts[r + 1]], expected)
    expected = f"Pattern({listed.sum()} of 30 resources, 400 tenants, {demands.n_entries:,} entries)"
    assert repr(pattern) == expected


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_the_same_whatever_the_number_of_cores(demands, cores, monkeypatch):
    monkeypatch.setattr(tiles, "WORTHWHILE", 1)
    expected = edrf(demands), Pattern.of(demands)
    monkeypatch.setattr(tiles, "available_cores", lambda: cores)
    result, pattern = edrf(demands), Pattern.of(demands)
    np.testing.assert_array_equal(result.levels, expected[0].levels)
    np.testing.assert_array_equal(result.loads, expected[0].loads)
    np.testing.assert_array_equal(pattern.tenants, expected[1].tenants)


@pytest.mark.parametrize("number", [1, 2, 4, 1000])
def test_tiles_cover_all_tenants_once(demands, number, monkeypatch):
    monkeypatch.setattr(tiles, "WORTHWHILE", 1)
    monkeypatch.setattr(tiles, "TILES", number)
    cuts = tiles.tenant_tiles(demands)
    np.testing.assert_array_equal(np.concatenate([np.arange(*cut) for cut in cuts]), np.arange(400))
    if number <= 4:
        entries = [demands.starts[last] - demands.starts[first] for first, last in cuts]
        # Tiles are cut between tenants, who demand at most 30 resources.
        assert len(cuts) == number
        assert max(entries) - min(entries) <= 60
    # Tiles change the order of a sum; compensated, its result hardly.
    np.testing.assert_allclose(Pattern.of(demands).tenants, demands.matrix().tocsc().indices)
    loads = loading.loads_of(demands, np.ones(400))
    columns = demands.matrix().tocsc()
    exact = [math.fsum(columns.data[a:b]) for a, b in zip(columns.indptr, columns.indptr[1:], strict=False)]
    np.testing.assert_array_equal(loads[:, 0] + loads[:, 1], exact)
    np.testing.assert_array_equal(loads[:, 2], np.diff(columns.indptr))


def test_work_on_tiles_from_several_threads(demands, monkeypatch):
    monkeypatch.setattr(tiles, "WORTHWHILE", 1)
    expected = edrf(demands).levels
    for result in at_once(4, lambda: edrf(demands)):
        np.testing.assert_array_equal(result.levels, expected)


def test_an_error_in_a_tile_is_raised():
    def work(number, first, last):
        raise ZeroDivisionError(f"tile {number}")

    with pytest.raises(ZeroDivisionError, match="tile 0"):
        tiles.map_tiles(work, [(0, 1), (1, 2)])


@pytest.mark.parametrize("width", [4, 8])
def test_rows_of_a_table_lie_within_cache_lines(width):
    for rows in (1, 7, 1000):
        sums = table(rows, width)
        assert sums.shape == (rows, width)
        assert not sums.any()
        assert sums.ctypes.data % 64 == 0


def test_what_is_taken_out_of_a_sum_leaves_the_rest():
    # Magnitudes over 24 decades; in plain floats nothing would be left of the small ones.
    rng = np.random.default_rng(2)
    large, small = 10.0 ** rng.uniform(0, 12, 200), 10.0 ** rng.uniform(-12, 0, 50)
    sums = table(1, 4)
    for value in rng.permutation(np.r_[large, small]):
        add(sums, 0, 0, value)
    for value in rng.permutation(large):
        add(sums, 0, 0, -value)
    # 250 roundings of a compensation of at most 1e12 / 2^53.
    assert sums[0, 0] + sums[0, 1] == pytest.approx(math.fsum(small), abs=250 * 1e12 / 2.0**106, rel=1e-13)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_rows_are_cut_where_the_parts_of_the_resources_end(demands, threads, monkeypatch):
    monkeypatch.setattr(tiles, "WORTHWHILE", 0)
    places = shared_rows(demands, threads)
    ends = [0, *(last for _, last in tiles.resource_tiles(demands, threads))]
    assert len(ends) == threads + 1
    for i, (first, last) in enumerate(zip(demands.starts[:-1], demands.starts[1:], strict=True)):
        inside = np.searchsorted(demands.columns[first:last], ends)
        np.testing.assert_array_equal(places[i], first + inside)


def test_resources_are_spent_when_nothing_is_left_of_them(demands):
    growth = np.ones(demands.n_tenants)
    state, *_ = run(demands, growth, loading.loads_of(demands, growth))
    np.testing.assert_array_equal(state.spent, np.abs(state.left) < 1e-9)
    assert state.spent.any()
