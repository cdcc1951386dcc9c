"""System: what it accepts, what it derives, and how it complains."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from fairness import DRF, Problem
from fairness.arguments.validation import require_number
from fairness.errors import ModelError, UnstableError
from queueing.balanced.plan import balanced_plan
from queueing.fluid.trajectory import trajectory
from queueing.model.system import System
from queueing.simulation.counts import simulate
from queueing.simulation.jobs.simulation import simulate_jobs
from queueing.simulation.tasks import FIFOScheduler, trace

POOL = Problem([[10, 1], [1, 10]], [10, 10], job_classes=["A", "B"], resources=["cpu", "ram"])


def test_loads():
    system = System(POOL, [1, 2], [0.5, 0.25])
    assert system.loads.tolist() == [0.5, 0.5]
    assert system.resource_loads == pytest.approx([5.5, 5.5])
    assert system.relative_loads == pytest.approx([0.55, 0.55])
    assert System(POOL, [1, 2], 0.25).mean_sizes.tolist() == [0.25, 0.25]
    scaled = System.with_load(POOL, [3, 1], 0.93, [2, 4])
    assert scaled.relative_loads.max() == pytest.approx(0.93, rel=1e-14)
    assert scaled.loads[0] / scaled.loads[1] == pytest.approx(3, rel=1e-14)
    assert scaled.mean_sizes.tolist() == [2, 4]


def test_little():
    system = System(POOL, [0.2, 0.0], [2, 1])
    assert system.mean_durations([0.5, 0.0]) == pytest.approx([2.5, np.nan], nan_ok=True)
    assert system.service_rates([0.5, 0.0]) == pytest.approx([0.8, np.nan], nan_ok=True)


def test_stability():
    System.with_load(POOL, [1, 1], 0.999).require_stable()
    with pytest.raises(UnstableError, match=r"not on 'cpu' \(load 1.05\); reduce arrival_rates"):
        System(POOL, [1.0, 0.5]).require_stable()
    blocked = System(Problem([[1]], [0]), [0.1])
    assert blocked.relative_loads.tolist() == [np.inf]


@pytest.mark.parametrize(
    ("rates", "sizes", "message"),
    [
        ([1, 2, 3], 1, r"arrival_rates must have shape \(2,\), one entry per job class; got \(3,\)"),
        (1, 1, r"arrival_rates must have shape \(2,\)"),
        ([[1], [1, 2]], 1, "arrival_rates must be an array of numbers with rows of equal length"),
        (["a", "b"], 1, "arrival_rates must be an array of numbers"),
        ([np.nan, 1], 1, r"arrival_rates must be finite and >= 0; got nan at index 0 \('A'\)"),
        ([1, -1], 1, r"arrival_rates must be finite and >= 0; got -1.0 at index 1 \('B'\)"),
        ([1, 1], 0, r"mean_sizes must be finite and > 0; got 0.0 at index 0 \('A'\)"),
        ([1, 1], [1, np.inf], r"mean_sizes must be finite and > 0; got inf at index 1"),
        ([1, 1], [1, 1, 1], r"mean_sizes must have shape \(2,\)"),
    ],
)
def test_bad_input(rates, sizes, message):
    with pytest.raises(ModelError, match=message):
        System(POOL, rates, sizes)


@pytest.mark.parametrize(
    ("mix", "load", "sizes", "message"),
    [
        ([1, 2, 3], 0.5, 1, r"mix must have shape \(2,\), one entry per job class; got \(3,\)"),
        ([1, -2], 0.5, 1, r"mix must be finite and >= 0; got -2.0 at index 1 \('B'\)"),
        ([0, 0], 0.5, 1, "puts relative load 0 on the busiest resource"),
        ([1, 2], np.nan, 1, "load must be a finite number > 0; got nan"),
        ([1, 2], 0.5, [0, 1], r"mean_sizes must be finite and > 0; got 0.0 at index 0 \('A'\)"),
        ([1, 2], 0.5, [1, 1, 1], r"mean_sizes must have shape \(2,\)"),
    ],
)
def test_bad_input_of_with_load(mix, load, sizes, message):
    with pytest.raises(ModelError, match=message):
        System.with_load(POOL, mix, load, sizes)


@pytest.mark.parametrize("wrong", ["0.5", None, [0.5], np.nan, np.inf, -1, 0, True, 1j])
def test_scalars_that_are_no_numbers_are_model_errors(wrong):
    """Every argument that is one number says so, by name, whatever else it is given."""
    pool = Problem([[1]], [1])
    system = System(pool, [0.5])
    calls = {
        "load": lambda: System.with_load(pool, [1], wrong),
        "warmup": lambda: simulate(system, DRF(), warmup=-1 if wrong == 0 else wrong),
        "confidence": lambda: simulate(system, DRF(), confidence=wrong),
        "rtol": lambda: trajectory(system, DRF(), [1], rtol=wrong),
        "tail": lambda: balanced_plan(system, tail=wrong),
        "precision": lambda: simulate_jobs(system, DRF(), precision="1" if wrong is None else wrong),
        "horizon": lambda: trace(system, FIFOScheduler(), wrong),
    }
    for name, call in calls.items():
        with pytest.raises(ModelError, match=rf"^{name} must be a (finite )?number"):
            call()


def test_bounds_of_a_number():
    assert require_number("x", np.float32(0.5), least=0.5, below=1) == 0.5
    for huge in (10**400, -(10**400), Fraction(10**5000)):  # the last has more digits than Python prints
        for most in (None, math.inf):
            with pytest.raises(ModelError, match=r"x must be a .*number; got a number too large for floats"):
                require_number("x", huge, most=most)
    assert require_number("x", math.inf, most=math.inf) == math.inf
    assert require_number("x", Fraction(1, 10**400)) == 0
    assert require_number("x", Fraction(1, 4)) == 0.25
    assert require_number("x", np.inf, least=1, most=np.inf) == np.inf
    for bounds, bad, rule in [
        ({"least": 1}, 0.999, "finite number >= 1"),
        ({"above": 1}, 1, "finite number > 1"),
        ({"most": 1}, 1.001, "finite number <= 1"),
        ({"below": 1}, 1, "finite number < 1"),
        ({"above": 0, "below": 1}, 1, "number between 0 and 1"),
        ({"least": 1, "most": np.inf}, -np.inf, "number >= 1"),
        ({}, np.inf, "finite number"),
    ]:
        with pytest.raises(ModelError, match=rf"^x must be a {rule}, say 2; got {bad}$"):
            require_number("x", bad, hint=", say 2", **bounds)
