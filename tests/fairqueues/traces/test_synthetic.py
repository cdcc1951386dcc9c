"""The synthetic trace has the published shares, and says what is assumed."""

import numpy as np
import pytest
from scipy import stats

from fairness import ModelError
from fairqueues.traces import synthetic_gpu_trace
from fairqueues.traces.synthetic import GPU_SHARES, MEAN_DURATION, MEDIAN, NAMING, SIGMA

PUBLISHED = {0: 13.3, 0.5: 37.8, 1: 48.0, 2: 0.2, 4: 0.2, 8: 0.5}
"""Weng et al., ATC 2023, Table 1: per cent of the tasks with a GPU request; 0.5 is any part of a device."""

ALPHA = 1e-6
"""False-alarm rate of each test below, were the seed not fixed."""


def test_shares_load_and_names_are_those_that_are_said():
    n = 20_000
    trace, nodes = synthetic_gpu_trace(n, rng=7, load=0.8)
    assert (nodes.n_nodes, nodes.total_capacities[2]) == (1523, 6212)
    gpus = trace.types[trace.type_of, 2]
    requests = [0, 1, 2, 4, 8]
    seen = [np.count_nonzero(gpus == g) for g in requests] + [np.count_nonzero((gpus > 0) & (gpus < 1))]
    said = np.array([PUBLISHED[g] for g in (*requests, 0.5)]) / 100
    assert {g: 100 * part for g, part in GPU_SHARES.items()} == pytest.approx(PUBLISHED)
    assert stats.chisquare(seen, n * said).pvalue > ALPHA
    named = ~trace.eligible_models.all(axis=1)[trace.type_of]
    with_gpus = np.count_nonzero(gpus > 0)
    assert stats.binomtest(int(named.sum()), with_gpus, NAMING).pvalue > ALPHA
    assert not named[gpus == 0].any()
    assert stats.kstest(np.log(trace.durations / MEDIAN) / SIGMA, "norm").pvalue > ALPHA
    assert stats.kstest(np.diff(trace.arrivals), "expon", (0, trace.span / (n - 1))).pvalue > ALPHA
    # GPU seconds of a task have a finite variance; the span's own error is 1/sqrt(n).
    work = gpus * trace.durations
    error = work.std() / work.mean() / np.sqrt(n) + 1 / np.sqrt(n)
    assert nodes.offered_load(trace)[2] == pytest.approx(0.8, rel=error * stats.norm.isf(ALPHA / 2))
    assert pytest.approx(MEDIAN * np.exp(SIGMA**2 / 2)) == MEAN_DURATION


def test_every_task_fits_some_node():
    trace, nodes = synthetic_gpu_trace(20_000, rng=3, scale=0.02)
    allowed = nodes.eligible(trace)
    fits = (trace.types[:, None, :] <= nodes.capacities[None, :, :]).all(axis=2)
    assert (allowed & fits).any(axis=1).all()


def test_seeds_and_arguments():
    one, two = (synthetic_gpu_trace(100, rng=5)[0] for _ in range(2))
    assert (one.arrivals == two.arrivals).all()
    assert (one.type_of == two.type_of).all()
    assert synthetic_gpu_trace(100, rng=6)[0].arrivals[-1] != one.arrivals[-1]
    for wrong in ({"load": 0}, {"scale": -1}, {"n_users": 0}, {"n_tasks": 0}):
        with pytest.raises(ModelError, match=next(iter(wrong))):
            synthetic_gpu_trace(**{"n_tasks": 3} | wrong)
