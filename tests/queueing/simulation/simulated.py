"""What tests of simulations share: how sure they are, other laws at the same loads, equal results."""

from __future__ import annotations

import numpy as np

from queueing import System

# Statistical tests compare with intervals at this level; false alarms have probability 1e-6 per number.
SURE = 1 - 1e-6


def off(estimate, exact):
    """Deviation over the half-width of the interval at level SURE; below 1 unless by a false alarm."""
    assert estimate.sound
    return np.abs(estimate.value - exact) / estimate.half_width_at(SURE)


def inside(result, exact, widest, name="mean_jobs"):
    """Whether the intervals hold the exact values and are at most ``widest`` of them."""
    estimate = result.estimates[name]
    assert (off(estimate, exact) < 1).all()
    assert (estimate.half_width_at(SURE) < widest * np.asarray(exact)).all()


def erlang_c(servers, load):
    """Probability that a job of M/M/c waits."""
    terms = np.cumprod([1.0, *(load / k for k in range(1, servers + 1))])
    terms[-1] /= 1 - load / servers
    return terms[-1] / terms.sum()


def same(one, other):
    """Every value of every replication is the same."""
    assert (one.events, one.time) == (other.events, other.time)
    assert one.columns().keys() == other.columns().keys()
    for name, estimate in one.columns().items():
        np.testing.assert_array_equal(estimate.values, other.columns()[name].values)
    if getattr(one, "servers", None) and other.servers:
        for name in ("utilization", "waiting", "fragmented"):
            values = (getattr(result.servers, name).values for result in (one, other))
            np.testing.assert_array_equal(*values)


def under(system, sizes=None, arrivals=None):
    """The system under laws of other shapes, with the same rates and mean sizes."""
    shapes = System(system.problem, system.arrival_rates, sizes=sizes).sizes if sizes else system.sizes
    laws = [law.with_mean(mean) for law, mean in zip(shapes, system.mean_sizes.tolist(), strict=True)]
    return System(system.problem, system.arrival_rates, sizes=laws, arrivals=arrivals)


def same_trace(one, other):
    """Two records of whole tasks agree in every event."""
    for name in ("times", "jobs", "running", "job_departures", "task_jobs", "task_starts", "task_ends"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
