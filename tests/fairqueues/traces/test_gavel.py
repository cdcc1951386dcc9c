"""Gavel's files, and max-min fairness of effective throughput by its own linear program."""

import json
import re

import numpy as np
import pytest
from scipy.optimize import linprog

from fairness import PSDSF, TSF, ModelError, allocate
from fairqueues.traces import Throughputs, read_gavel, read_gavel_jobs
from tests.fairqueues.traces.files import written

A3C, LM = "('A3C', 1)", "('LM (batch size 5)', 2)"
MEASURED = {
    "k80": {A3C: {"null": 2.0, A3C: [1.5, 1.25], LM: [0.0, 0.0]}, LM: {"null": 3.0}},
    "v100": {A3C: {"null": 4.0}, LM: {"null": 18.0}},
    "p100": {A3C: {"null": 3.0}},
}


def measured(folder, data=MEASURED):
    return read_gavel(written(folder, "throughputs.json", json.dumps(data)))


def max_min(rates, scale, devices, counts, *, one_place):
    """The linear program of Gavel's max-min fairness ([1], section 4.1), with equal priorities.

    Maximise t subject to t <= s_m throughput(m, X) / throughput(m, X_equal) for each job m, to
    sum_m s_m X_mj <= W_j, and, if asked for, to sum_j X_mj <= 1; throughput(m, X_equal) up to a factor.
    """
    rates, scale = np.repeat(rates, counts, axis=0), np.repeat(scale, counts).astype(float)
    n, m = rates.shape
    equal = (rates * devices).sum(axis=1)
    rows, bounds = [], []
    for i in range(n):
        row = np.zeros(n * m + 1)
        row[i * m : (i + 1) * m] = -scale[i] * rates[i] / equal[i]
        row[-1] = 1.0
        rows.append(row)
        bounds.append(0.0)
    for j in range(m):
        row = np.zeros(n * m + 1)
        row[j : n * m : m] = scale
        rows.append(row)
        bounds.append(devices[j])
    for i in range(n if one_place else 0):
        row = np.zeros(n * m + 1)
        row[i * m : (i + 1) * m] = 1.0
        rows.append(row)
        bounds.append(1.0)
    cost = np.zeros(n * m + 1)
    cost[-1] = -1.0
    found = linprog(cost, A_ub=np.array(rows), b_ub=bounds, method="highs")
    assert found.status == 0
    return -found.fun


def test_a_matrix_becomes_gamma(tmp_path):
    throughputs = measured(tmp_path)
    assert throughputs.accelerators == ("k80", "v100", "p100")
    assert throughputs.job_types == ("A3C", "LM (batch size 5), 2 devices")
    assert throughputs.beside("A3C", "A3C", "k80") == 1.5
    assert np.isnan(throughputs.beside("A3C", "A3C", "v100"))
    assert np.isnan(throughputs.rate("LM (batch size 5)", 2, "p100"))
    assert np.isnan(throughputs.rate("LM (batch size 5)", 4, "v100"))
    cluster = throughputs.cluster(devices={"v100": 6, "k80": 1})
    # Steps a second on all devices of a type; two are not found on one K80.
    assert cluster.gamma.tolist() == [[24, 2], [54, 0]]
    assert cluster.servers == ("v100", "k80")
    assert cluster.demands.tolist() == [[1], [2]]
    with pytest.raises(ModelError, match=r"'LM \(batch size 5\), 2 devices' was not measured on 'p100'"):
        throughputs.cluster(devices={"p100": 6})
    with pytest.raises(ModelError, match="'v10' is unknown; did you mean 'v100'"):
        throughputs.cluster(devices={"v10": 6})
    assert throughputs.cluster(["A3C"], devices={"p100": 6}).gamma.tolist() == [[18]]


@pytest.mark.parametrize("seed", range(4))
def test_tsf_is_gavels_max_min_where_jobs_need_not_be_in_two_places(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 5)), int(rng.integers(2, 4))
    rates, scale = np.round(rng.uniform(0.5, 20, (n, m)), 2), rng.choice([1, 2, 4], n)
    devices, counts = rng.integers(4, 9, m), rng.integers(4, 9, n)
    names = [f"accelerator {j}" for j in range(m)]
    throughputs = Throughputs([f"model {i}" for i in range(n)], scale, names, rates)
    held = dict(zip(names, map(int, devices), strict=True))
    allocation = allocate(throughputs.cluster(devices=held), TSF(), counts)
    share = (allocation.tasks / counts * scale / (rates * devices).sum(axis=1)).min()
    # The solver's tolerance is 1e-7 of its own scaled rows.
    assert share == pytest.approx(max_min(rates, scale, devices, counts, one_place=False), rel=1e-6)
    # Nobody is in two places at once, so the constraint that a cluster does not know changes nothing.
    assert throughputs.times(allocation.placement, counts, devices=held).sum(axis=1).max() <= 1
    assert share == pytest.approx(max_min(rates, scale, devices, counts, one_place=True), rel=1e-6)


def test_where_a_job_would_have_to_be_in_two_places_gavel_gives_less():
    throughputs = Throughputs(("A", "B"), [1, 1], ("k80", "v100"), [[1, 4], [2, 4]])
    devices = {"k80": 1, "v100": 1}
    allocation = allocate(throughputs.cluster(devices=devices), TSF())
    assert throughputs.times(allocation.placement, devices=devices).sum(axis=1).max() > 1
    share = (allocation.tasks / [5, 6]).min()
    assert share == pytest.approx(6 / 11)
    # Each in one place at a time, and all in use: A has the v100 and B the k80, but for z of the time, when
    # they change places. A makes (4 - 3 z)/5, B (2 + 2 z)/6: both are 1/2 for z = 1/2.
    exact = max_min(throughputs.alone, [1, 1], np.array([1, 1]), [1, 1], one_place=True)
    assert exact == pytest.approx(1 / 2, rel=1e-9)
    assert share > exact


@pytest.mark.long
def test_ps_dsf_takes_the_same_cluster(tmp_path):
    cluster = measured(tmp_path).cluster(devices={"v100": 6, "k80": 4})
    allocation = allocate(cluster, PSDSF(), [2, 3])
    assert allocation.certificate


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([1], "must be an object of accelerators"),
        ({}, "must be an object of accelerators"),
        ({"k80": {"A3C": {"null": 1}}}, "k80: 'A3C' must be a model and a number of devices"),
        ({"k80": {A3C: {}}}, "must be an object with 'null', the throughput alone"),
        ({"k80": {A3C: {"null": -1}}}, "k80, ('A3C', 1): a throughput must be a finite number >= 0; got -1"),
        ({"k80": {A3C: {"null": "fast"}}}, "a throughput must be a finite number >= 0; got 'fast'"),
        ({"k80": {A3C: {"null": 1, LM: [1, 1]}}}, "must be a job type with two throughputs"),
        ({"k80": {A3C: {"null": 1, A3C: [1]}}}, "must be a job type with two throughputs"),
    ],
)
def test_matrices_that_are_wrong_are_named(tmp_path, data, said):
    with pytest.raises(ModelError, match=re.escape(said)):
        measured(tmp_path, data)


def test_text_that_is_no_json_is_named_by_its_line(tmp_path):
    with pytest.raises(ModelError, match=r"t\.json, line 2: no JSON"):
        read_gavel(written(tmp_path, "t.json", "{", "oops}"))


LONG = "A3C\tpython3 main.py\tdir\t-n\t1\t900\t1\t1\t-1.000000\t6"
SHORT = "LM (batch size 5)\tpython3 main.py\t-n\t1\t900\t3.000000\t2"


def test_jobs_in_both_layouts(tmp_path):
    throughputs = measured(tmp_path)
    trace = read_gavel_jobs(written(tmp_path, "jobs.trace", LONG, SHORT), throughputs)
    assert trace.arrivals.tolist() == [3, 6]
    assert trace.durations.tolist() == [900 / 18, 900 / 4]
    assert trace.types[trace.type_of, 0].tolist() == [2, 1]
    assert [trace.users[k] for k in trace.user_of] == ["job 2", "job 1"]
    slow = read_gavel_jobs(written(tmp_path, "jobs.trace", LONG), throughputs, accelerator="k80")
    assert slow.durations.tolist() == [450]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("A3C\t1\t2", "line 2: must have 10 or 7 fields separated by tabs; got 3"),
        (SHORT.replace("900", "many"), "line 2, total_steps: must be a whole number >= 1; got 'many'"),
        (SHORT.replace("900", "-900"), "line 2, total_steps: must be a whole number >= 1; got '-900'"),
        (SHORT.replace("3.0", "-3.0"), "line 2, arrival_time: must be a number >= 0"),
        (SHORT.replace("LM (", "LN ("), "line 2: 'LN (batch size 5)' on 2 devices makes no steps on 'v100'"),
    ],
)
def test_jobs_that_are_wrong_are_named(tmp_path, line, said):
    throughputs = measured(tmp_path)
    with pytest.raises(ModelError, match=re.escape(said)):
        read_gavel_jobs(written(tmp_path, "jobs.trace", LONG, line), throughputs)


def test_jobs_that_were_not_measured_can_be_dropped(tmp_path):
    file = written(tmp_path, "jobs.trace", LONG, SHORT)
    trace = read_gavel_jobs(file, measured(tmp_path), accelerator="p100", unmeasured="drop")
    assert trace.n_tasks == 1
    assert "1 task dropped: no steps on p100, or not measured there" in trace.notes


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"alone": [[1, -1]]}, "alone must be >= 0, or NaN; got -1.0 at index (0, 1) ('A', 'v100')"),
        ({"alone": [[1]]}, "alone must have shape (n_types, n_accelerators) = (1, 2)"),
        ({"scale_factors": [1.5]}, "scale_factors must be whole and >= 1"),
        ({"accelerators": ["k80", "k80"]}, "accelerators must be distinct"),
        ({"models": ["A", "A"], "scale_factors": [1, 1], "alone": [[1, 1]] * 2}, "models must be distinct"),
        ({"pairs": [[[1.0]]]}, "pairs must have shape (2, 1, 1)"),
    ],
)
def test_throughputs_that_are_wrong_are_named(changes, said):
    good = {"models": ["A"], "scale_factors": [1], "accelerators": ["k80", "v100"], "alone": [[1, 2]]}
    with pytest.raises(ModelError, match=re.escape(said)):
        Throughputs(**good | changes)
