"""EDRF and DC-DRF of tenants in files on several machines, against one process: the same bits."""

import numpy as np
import pytest
from scipy import sparse

from fairness import ModelError, NotConvergedError
from fairness.cloud import HARD_FAMILIES, SparseDemands, dcdrf, demand_profile, edrf, edrf_blocks
from fairness.cloud.spread import windows
from fairness.cloud.spread.allocation import _read, on_machines
from fairness.cloud.spread.owner import Owner
from fairness.machine.residents import Residents
from tests.fairness.cloud.instances import random_rows


def written(folder, demands, number):
    """Files of consecutive tenants."""
    matrix, paths = demands.matrix(), []
    for rows in np.array_split(np.arange(demands.n_tenants), number):
        paths.append(f"{folder}/{rows[0]}.npz")
        sparse.save_npz(paths[-1], matrix[rows[0] : rows[-1] + 1], compressed=False)
    return paths


def same(ours, one, epsilon=0.0):
    """Whether all bits are those of one process."""
    np.testing.assert_array_equal(ours.levels, one.levels)
    np.testing.assert_array_equal(ours.free, one.free)
    np.testing.assert_array_equal(ours.tasks, one.tasks)
    assert ours.certificate.residual == one.certificate.residual
    assert ours.certificate.claim == one.certificate.claim
    if epsilon:
        assert ours.rounds == one.rounds
    else:
        np.testing.assert_array_equal(ours.stoppers, one.stoppers)
        assert ours.events == one.events
    return True


def instances(family):
    for seed, (n, m) in enumerate([(40, 6), (300, 40), (300, 299)]):
        if family in HARD_FAMILIES:
            yield HARD_FAMILIES[family](n, m, rng=seed)
        elif family == "random":
            yield SparseDemands(random_rows(n, m, 8, seed, np.float32))
        else:
            yield demand_profile(family, n, m, shortest=1, longest=6, rng=seed)


@pytest.mark.parametrize(
    "family",
    [*HARD_FAMILIES, "random", *(pytest.param(name, marks=pytest.mark.long) for name in ("U0", "G0", "G2"))],
)
def test_same_bits_as_one_process(family, tmp_path):
    rng = np.random.default_rng(3)
    for demands in instances(family):
        weights = rng.choice([None, "whole", "decades"])
        if weights is not None:
            spread = rng.integers(1, 4, demands.n_tenants)
            weights = 10.0**-spread if weights == "decades" else spread.astype(float)
        exact, rounds = edrf(demands, weights), dcdrf(demands, 0.01, weights, threads=1)
        paths = written(tmp_path, demands, int(rng.integers(1, 6)))
        for number in (1, 2, 3):
            for window in (1, 2, 7, demands.n_resources):
                same(on_machines(Residents(Owner, number), paths, weights, window=window), exact)
            same(on_machines(Residents(Owner, number), paths, weights, 0.01), rounds, 0.01)


def test_sums_in_tiles_and_rounds_of_many_tenants(tmp_path):
    # More than 200,000 entries: loads are summed in tiles of tenants, which no file and no machine respects.
    demands = SparseDemands(random_rows(60_000, 2_000, 8))
    paths = written(tmp_path, demands, 5)
    exact, rounds = edrf(demands), dcdrf(demands, 0.1, threads=1)
    ours = on_machines(Residents(Owner, 3), paths, None, window=100)
    assert same(ours, exact)
    assert 2 < ours.windows < ours.rounds / 10
    machines = Residents(Owner, 3)
    _, cuts, _ = _read(machines, paths, None)
    for one, first, last in zip(machines._objects, cuts, cuts[1:], strict=False):
        np.testing.assert_array_equal(one.sums[:, 2:5], exact.loads[first:last, :3])
    # One round stops so many that they are taken in the order of their rows.
    assert same(on_machines(Residents(Owner, 2), paths, None, 0.1), rounds, 0.1)
    assert np.unique(rounds.levels, return_counts=True)[1].max() > demands.n_tenants // 32


def test_fewer_windows_send_more(tmp_path):
    demands = demand_profile("U0", 3000, 300, shortest=2, longest=16, rng=1)
    paths = written(tmp_path, demands, 2)
    few, many = (on_machines(Residents(Owner, 2), paths, None, window=k) for k in (100, 10))
    assert few.windows < many.windows
    # Twelve bytes an entry of a window; at most all entries, several times where windows overlap.
    assert few.sent["fill"] > 12 * demands.n_entries / 10
    # Half of the entries change machines, 8 bytes each, and so do lengths and growth of rows.
    swapped = few.sent["read"] - on_machines(Residents(Owner, 1), paths, None).sent["read"]
    entries, rows = 8 * demands.n_entries, 12 * demands.n_tenants
    assert 0.4 * entries + rows < swapped < 0.6 * entries + rows + 5000


def test_levels_that_tie_are_never_cut_apart(tmp_path):
    # Twenty copies of a market: a window of one resource must take in its nineteen twins.
    rows = [[(2 * k, 1.0), (2 * k + 1, 0.3)] for k in range(20) for _ in range(3)]
    rows += [[(2 * k + 1, 0.7)] for k in range(20)]
    demands = SparseDemands.from_lists(rows, 40)
    ours = on_machines(Residents(Owner, 2), written(tmp_path, demands, 3), None, window=1)
    assert same(ours, edrf(demands))
    assert ours.windows == 2


def test_levels_that_only_rounding_tells_apart_lie_in_one_window(tmp_path):
    # 0.01 + 0.05 rounds to something else than 0.06.
    demands = SparseDemands.from_lists([[(0, 1.0)], [(0, 1.0)], [(1, 1.0)], [(2, 1.0)]], 3)
    ours = on_machines(Residents(Owner, 2), written(tmp_path, demands, 1), [0.01, 0.05, 0.06, 0.01], window=1)
    assert same(ours, edrf(demands, [0.01, 0.05, 0.06, 0.01]))
    assert (ours.rounds, ours.windows) == (3, 2)


def test_the_window_stops_where_others_might_be_full(monkeypatch, tmp_path):
    # A window that goes on to its end is wrong: these levels cannot be right by luck.
    demands = demand_profile("U0", 3000, 300, shortest=2, longest=16, rng=1)
    paths, exact = written(tmp_path, demands, 2), edrf(demands)

    def unlimited(rates, pattern, sums, since, ceiling, many, run=windows.run_below):
        return run(rates, pattern, sums, since, np.inf, many)

    monkeypatch.setattr(windows, "run_below", unlimited)
    with pytest.raises((AssertionError, NotConvergedError)):
        same(on_machines(Residents(Owner, 2), paths, None, window=30), exact)


def test_lost_rates_are_told(tmp_path):
    heavy = [[(0, 1.0), (1, 0.3 + 0.1 * (k % 7))] for k in range(50)]
    demands = SparseDemands.from_lists([*heavy, [(1, 0.7)]], 2)
    weights = np.r_[np.ones(50), 1e-40]
    paths = written(tmp_path, demands, 2)
    for solve in (lambda: edrf(demands, weights), lambda: edrf_blocks(paths, weights)):
        with pytest.raises(NotConvergedError, match="rates are lost") as refusal:
            solve()
        assert len(refusal.value.best.levels) == 51


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"paths": []}, "paths must be a list of one or more files"),
        ({"paths": "one.npz"}, "paths must be a list of one or more files; got 'one.npz'"),
        ({"paths": ["nowhere.npz"]}, r"nowhere\.npz' cannot be read \(FileNotFoundError"),
        ({"weights": [1.0, 2.0]}, r"weights must have shape \(n_tenants,\) = \(3,\)"),
        ({"weights": [1.0, 2.0, 0.0]}, "finite and > 0"),
        ({"epsilon": 1.0}, "epsilon"),
        ({"window": 0}, "window"),
    ],
)
def test_bad_arguments(arguments, words, tmp_path):
    paths = written(tmp_path, SparseDemands.from_lists([[(0, 1.0)]] * 3, 2), 2)
    with pytest.raises(ModelError, match=words):
        edrf_blocks(**{"paths": paths, **arguments})


def test_bad_files(tmp_path):
    one, other, wrong = (f"{tmp_path}/{name}.npz" for name in ("one", "other", "wrong"))
    for path, rows in ((one, [[1.0, 0.5]]), (other, [[1.0]]), (wrong, [[1.0, 2.0]])):
        sparse.save_npz(path, sparse.csr_array(rows))
    with pytest.raises(ModelError, match=r"other\.npz' has 1 resources, .*one\.npz' 2"):
        edrf_blocks([one, other])
    with pytest.raises(
        ModelError, match=r"in .*wrong\.npz' demands of tenant 0: the demand of column 1 is 2"
    ):
        edrf_blocks([one, wrong])


def test_the_result_reads_well(tmp_path):
    demands = SparseDemands.from_lists([[(0, 1.0)], [(0, 0.5), (1, 1.0)], [(1, 1.0)]], n_resources=2)
    ours = edrf_blocks(written(tmp_path, demands, 1))
    assert ours.summary().startswith("EDRF of 3 tenants and 2 resources\n  1 machine, 1 windows, 2 resources")
    frame = ours.to_dataframe()
    np.testing.assert_array_equal(frame["stopper"], edrf(demands).stoppers)
    np.testing.assert_allclose(frame["dominant_share"], edrf(demands).dominant_shares, rtol=1e-15)
