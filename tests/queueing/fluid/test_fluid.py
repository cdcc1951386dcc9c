"""Fluid trajectories against closed forms, conservation of work and a second integrator."""

from __future__ import annotations

import numpy as np
import pytest

from fairness import (
    DRF,
    AssetFair,
    BottleneckMax,
    MaxMin,
    ModelError,
    NotConvergedError,
    Problem,
    UnstableError,
)
from fairness.testing import KINDS, random_problem
from queueing.fluid.trajectory import drift, trajectory
from queueing.model.system import System
from tests.own_policies import longest_first, priority, short_first

CROSSED = Problem([[1, 0.1], [0.1, 1]], [1, 1])
LINEAR = Problem([[1, 1], [1, 0], [0, 1]], [1, 1])


def crossed_pf(problem, counts):
    """Proportional fairness (and BMF) of CROSSED in closed form."""
    x = np.asarray(counts, dtype=float)
    first, second = x[..., 0], x[..., 1]
    total = np.where(first + second > 0, first + second, 1.0)
    cone = np.full_like(x, 10 / 11)
    left = np.stack([first, 10 * second], axis=-1) / total[..., None]
    right = np.stack([10 * first, second], axis=-1) / total[..., None]
    tasks = np.where((first > 10 * second)[..., None], left, cone)
    return np.where((second > 10 * first)[..., None], right, tasks) * (x > 0)


def linear_pf(problem, counts):
    """Proportional fairness of LINEAR with unit capacities: the long class gets x_0 / sum(x)."""
    x = np.asarray(counts, dtype=float)
    total = np.maximum(x.sum(axis=-1), 1e-300)
    long = x[..., 0] / total
    return np.stack([long, (1 - long) * (x[..., 1] > 0), (1 - long) * (x[..., 2] > 0)], axis=-1)


BALANCED, UNBALANCED = (1, 1), (3, 1)


def test_drift_is_batched_and_uses_mean_sizes():
    system = System(CROSSED, [0.1, 0.2], [2.0, 4.0])
    counts = np.random.default_rng(0).uniform(0, 5, (3, 4, 2))
    field = drift(system, DRF(), counts)
    assert field.shape == counts.shape
    for index in np.ndindex(3, 4):
        one = system.arrival_rates - DRF()(CROSSED, counts[index]) / system.mean_sizes
        np.testing.assert_array_equal(field[index], one)


@pytest.mark.parametrize("policy", [DRF(), AssetFair(), MaxMin()])
def test_single_resource_drains_its_work_at_the_free_capacity(policy):
    problem = Problem([[2.0], [1.0], [0.5]], [4.0], weights=[1, 2, 1])
    system = System(problem, [0.3, 0.2, 1.5], [2.0, 1.0, 3.0])
    start = np.array([3.0, 0.0, 5.0])
    work = float(start * system.mean_sizes @ problem.demands[:, 0])
    path = trajectory(system, policy, start)
    expected = work / (4.0 - float(system.resource_loads[0]))
    # rtol 1e-9 per step, some hundred steps.
    assert path.emptying_time == pytest.approx(expected, rel=1e-7)
    assert path.status == "emptied"
    assert path.events[-1].kind == "all empty"
    # The part that is not integrated is of the order of 1e-9.
    assert 0 < path.closing < 1e-8 * path.emptying_time
    np.testing.assert_allclose(
        path.workloads[:, 0], work * (1 - path.times / expected), atol=1e-7 * work, rtol=0
    )


@pytest.mark.parametrize("policy", [DRF(), pytest.param(crossed_pf, marks=pytest.mark.long), MaxMin()])
@pytest.mark.parametrize("start", [(10.0, 1.0), (1.0, 10.0), (30.0, 10.0), (4.0, 0.0)])
@pytest.mark.parametrize("mix", [BALANCED, pytest.param(UNBALANCED, marks=pytest.mark.long)])
def test_a_saturated_resource_loses_work_at_its_free_capacity(policy, start, mix):
    system = System.with_load(CROSSED, mix, 0.9, mean_sizes=[2.0, 0.5])
    path = trajectory(system, policy, start)
    tasks = policy(CROSSED, path.counts)
    full = tasks @ CROSSED.demands >= 1 - 1e-9
    both = full[1:] & full[:-1]
    # Not at the end points of the regimes, where a resource may be full on one side only.
    both[:-1] &= full[2:]
    both[1:] &= full[:-2]
    assert both[:-3].any()
    gain = np.diff(path.workloads, axis=0) - np.diff(path.times)[:, None] * (system.resource_loads - 1.0)
    np.testing.assert_allclose(gain[:-1][both[:-1]], 0.0, atol=1e-7 * path.workloads[0].max())
    # Nobody drains faster than the busiest resource allows.
    bound = (path.workloads[0] / (1.0 - system.resource_loads)).max()
    assert path.emptying_time >= bound * (1 - 1e-7)


@pytest.mark.long
def test_both_classes_drain_inside_the_cone_under_pf_but_not_under_drf():
    system = System.with_load(CROSSED, BALANCED, 0.9)
    fair = trajectory(system, crossed_pf, (10.0, 4.0))
    # x_1 - x_2 = 6 is kept at drift -1/11 each until x_1 = 10 x_2 at x_2 = 6/9.
    bend = 11 * (4.0 - 6 / 9)
    early = fair.times < bend
    np.testing.assert_allclose(fair.counts[early, 1], 4.0 - fair.times[early] / 11, atol=1e-7)
    dominant = trajectory(system, DRF(), (10.0, 4.0))
    assert dominant.counts[:, 1].max() > 6


def test_priority_keeps_the_first_class_empty():
    system = System(Problem([[1], [1], [1]], [1]), [0.2, 0.3, 0.1])
    path = trajectory(system, priority, [1.0, 2.0, 3.0])
    first, second, last = path.events
    # Class 1 alone is served, then 1 and 2 at total rate 1, then all.
    assert (first.kind, first.job_class) == ("empties", "class 1")
    assert first.time == pytest.approx(1.0 / (1 - 0.2), rel=1e-9)
    assert second.job_class == "class 2"
    assert second.time == pytest.approx(3.0 / (1 - 0.5), rel=1e-9)
    assert last.time == pytest.approx(6.0 / (1 - 0.6), rel=1e-8)
    assert not path.counts[path.times > 1.2501, 0].any()


def test_more_jobs_than_a_million_times_as_many_are_not_endless():
    """While the first class is served, at 1e-9 jobs per unit of time, 0.5 others arrive."""
    system = System(Problem([[1], [1]], [1]), [1e-10, 0.5], mean_sizes=[1e9, 1])
    path = trajectory(system, priority, [1, 0])
    assert path.status == "emptied"
    assert path.counts.sum(axis=1).max() == pytest.approx(0.5e9 / 0.9, rel=1e-6)
    # The work is that of any order.
    assert path.emptying_time == pytest.approx(1e9 / 0.4, rel=1e-6)


def test_short_first_is_stable_if_and_only_if_both_links_are_idle_often_enough():
    # The long class runs a part (1 - rho_1)(1 - rho_2) of the time: Bonald and Massoulie, SIGMETRICS 2001.
    stable = System(LINEAR, [0.3, 0.4, 0.4])
    path = trajectory(stable, short_first, [1.0, 1.0, 2.0])
    # The links empty at 1/0.6 and 2/0.6; the long class is then at 1 + 0.3 * 2/0.6 = 2; it drains at
    # 0.36 - 0.3.
    assert path.emptying_time == pytest.approx(2 / 0.6 + 2 / 0.06, rel=1e-8)
    unstable = System(LINEAR, [0.4, 0.4, 0.4])
    assert (unstable.relative_loads < 1).all()
    path = trajectory(unstable, short_first, [1.0, 1.0, 2.0])
    assert path.status == "diverged"
    assert path.emptying_time == np.inf
    slope = np.diff(path.counts[-2:, 0]) / np.diff(path.times[-2:])
    # rtol 1e-9 per step, some hundred steps, and a difference of close numbers.
    assert slope[0] == pytest.approx(0.04, rel=1e-5)


def euler(system, policy, start, step, end):
    """Explicit Euler that serves at most what is there: on a face it chatters, and so averages."""
    x = np.array(start, dtype=float)
    for _ in range(round(end / step)):
        tasks = policy(system.problem, np.where(x < 1e-12, 0.0, x))
        x = np.maximum(x + step * (system.arrival_rates - tasks / system.mean_sizes), 0.0)
    return x


def test_an_empty_class_of_the_linear_network_stays_empty_as_euler_says():
    system = System(LINEAR, [0.4, 0.3, 0.5])
    path = trajectory(system, linear_pf, [1.0, 1.0, 2.0])
    empties = path.events[0]
    assert (empties.kind, empties.job_class) == ("empties", "class 2")
    # Link 2 always works: x_0 + x_2 = 3 drains at rate 0.1.
    assert path.emptying_time == pytest.approx(30.0, rel=1e-7)
    end = empties.time + 2.0
    step = 5e-4
    here = [np.interp(end, path.times, path.counts[:, i]) for i in range(3)]
    # Euler is of first order, with a constant of some units.
    np.testing.assert_allclose(here, euler(system, linear_pf, [1, 1, 2], step, end), atol=20 * step)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_random_pools_drain_and_agree_with_euler(kind):
    rng = np.random.default_rng(7)
    for _ in range(4):
        n = int(rng.integers(2, 5))
        problem = random_problem(rng, n, 3, kind=kind, weighted=True)
        system = System.with_load(
            problem, rng.uniform(0.2, 1, n), rng.uniform(0.4, 0.9), rng.uniform(0.5, 2, n)
        )
        start = rng.uniform(1, 4, n)
        path = trajectory(system, DRF(), start)
        assert path.status == "emptied"
        assert (path.counts >= 0).all()
        assert (np.diff(path.times) >= 0).all()
        bound = (path.workloads[0] / (problem.capacities - system.resource_loads)).max()
        assert path.emptying_time >= bound * (1 - 1e-7)
        # Until the first class empties, where Euler is a plain integrator; steps of 1/2000 of the way.
        end = 0.9 * path.events[0].time
        here = [np.interp(end, path.times, path.counts[:, i]) for i in range(n)]
        np.testing.assert_allclose(
            here, euler(system, DRF(), start, end / 2000, end), atol=5e-3 * start.sum()
        )


def test_a_class_at_zero_leaves_at_once_under_a_continuous_policy():
    system = System.with_load(CROSSED, BALANCED, 0.9)
    path = trajectory(system, DRF(), [4.0, 0.0])
    assert (path.events[0].time, path.events[0].kind, path.events[0].job_class) == (
        0.0,
        "leaves zero",
        "class 2",
    )
    assert (path.counts[1:-1, 1] > 0).all()
    near = trajectory(system, DRF(), [4.0, 1e-6])
    assert path.emptying_time == pytest.approx(near.emptying_time, abs=1e-4)


def test_a_class_without_arrivals_stays_empty_once_it_is():
    system = System(CROSSED, [0.5, 0.0])
    path = trajectory(system, DRF(), [2.0, 0.0])
    assert path.emptying_time == pytest.approx(2.0 / 0.5, rel=1e-8)
    assert not path.counts[:, 1].any()


def test_a_held_class_leaves_when_the_allocation_no_longer_keeps_it():
    # Class 2 has priority only while class 1 is the smaller part of the pool (continuous in between).
    def fading(problem, counts):
        x = np.asarray(counts, dtype=float)
        part = x[..., 0] / np.maximum(x.sum(axis=-1), 1e-300)
        other = x[..., 2] / np.maximum(x.sum(axis=-1), 1e-300)
        second = other * (x[..., 1] > 0)
        return np.stack([part * (1 - second), second, (1 - part) * (1 - second)], axis=-1) * (x > 0)

    # Class 3 shrinks against class 1, so the rate of class 2 when present falls below its load.
    system = System(Problem(np.ones((3, 1)), [1]), [1.0, 0.2, 0.0])
    path = trajectory(system, fading, [1.0, 0.0, 2.0], horizon=30.0)
    assert (path.events[0].kind, path.events[0].job_class) == ("leaves zero", "class 2")
    k = int(np.searchsorted(path.times, path.events[0].time))
    other = path.counts[k, 2] / path.counts[k].sum()
    # It leaves when the part of class 3 has come down to rho_2 = 0.2.
    assert other == pytest.approx(0.2, abs=1e-6)


def test_scaling_the_start_scales_jobs_and_time():
    system = System.with_load(CROSSED, UNBALANCED, 0.8)
    small, large = trajectory(system, DRF(), [1.0, 2.0]), trajectory(system, DRF(), [1e5, 2e5])
    assert large.emptying_time == pytest.approx(1e5 * small.emptying_time, rel=1e-9)


def test_horizon_overload_and_after_the_end():
    overloaded = System.with_load(CROSSED, BALANCED, 1.2)
    with pytest.raises(UnstableError, match=r"resource 'resource 1' is not below 1.*give a horizon"):
        trajectory(overloaded, DRF(), [1, 1])
    path = trajectory(overloaded, DRF(), [1, 1], horizon=50.0)
    assert path.status == "horizon"
    assert np.isnan(path.emptying_time)
    assert path.times[-1] == pytest.approx(50.0, rel=1e-9)
    # On the diagonal each class runs 10/11 tasks.
    np.testing.assert_allclose(path.counts[-1], 1 + 50 * (1.2 - 1) * 10 / 11, rtol=1e-8)
    stable = System.with_load(CROSSED, BALANCED, 0.5)
    path = trajectory(stable, DRF(), [1, 1], horizon=50.0)
    assert path.status == "emptied"
    assert path.times[-1] == 50.0
    assert not path.counts[-1].any()


def test_a_jump_inside_the_orthant_is_reported_with_the_path_so_far():
    system = System(Problem([[1], [1]], [1]), [0.3, 0.3])
    with pytest.raises(NotConvergedError, match=r"2000 evaluations are spent.*may jump inside") as caught:
        trajectory(system, longest_first, [3.0, 1.0], max_evaluations=2000)
    path = caught.value.best
    assert path.status == "unfinished"
    # Class 1 drains at 0.7 and class 2 grows at 0.3, so they meet at time 2 with 1.6 jobs each.
    assert path.times[-1] == pytest.approx(2.0, abs=1e-3)
    np.testing.assert_allclose(path.counts[-1], [1.6, 1.6], atol=1e-3)


def test_errors_say_what_to_do():
    system = System.with_load(CROSSED, BALANCED, 0.5)
    limited = System(Problem([[1], [1]], [1], limits=[1, np.inf]), [0.1, 0.1])

    def half(problem, counts):
        return np.minimum(np.asarray(counts, dtype=float), 0.5)

    def ones(problem, counts):
        return np.ones(np.shape(counts))

    for given, policy, start, options, message in [
        (system, DRF(), [0, 0], {}, r"start must be one vector of 2 counts, not all 0"),
        (system, DRF(), [1, -1], {}, r"counts must be finite and >= 0"),
        (system, DRF(), [1, 1], {"horizon": -1}, r"horizon must be a finite number > 0, or None"),
        (system, DRF(), [1, 1], {"rtol": 1.0}, r"rtol must be a finite number >= 1e-13 and <= 0.01"),
        (system, DRF(), [1, 1], {"method": "Euler"}, r"method must be one of 'auto', 'RK23', .*got 'Euler'"),
        (system, DRF(), [1, 1], {"refine": 0}, r"refine must be a whole number >= 1"),
        (system, half, [0.1, 0.1], {}, r"policy half gives tasks .* for 1024 times as many"),
        (limited, DRF(), [1, 1], {}, r"'class 1' has a limit of 1 tasks per job.*remove them"),
        (system, ones, [1, 0], {}, r"gave 1.0 tasks to class 'class 2' in state \[1. 0.\]"),
        (system, lambda problem, counts: np.ones(2), [1, 1], {}, r"returned shape \(2,\) for counts"),
    ]:
        with pytest.raises(ModelError, match=message):
            trajectory(given, policy, start, **options)
    with pytest.raises(ModelError, match=r"gave nan tasks to class 'class 1' in state \[1. 1.\]"):
        drift(system, lambda problem, counts: counts * np.nan, [1, 1])


@pytest.mark.long
def test_many_empty_classes():
    # Twenty classes leave zero together under a continuous policy ...
    crowd = Problem(np.ones((21, 1)), [1])
    system = System(crowd, np.full(21, 0.04))
    path = trajectory(system, DRF(), [1.0] + [0.0] * 20)
    assert path.emptying_time == pytest.approx(1 / (1 - 0.84), rel=1e-7)
    # ... and are held there together by strict priorities: the last class has what 20 x 0.04 leave.
    path = trajectory(system, priority, [0.0] * 20 + [1.0])
    assert path.emptying_time == pytest.approx(1 / (1 - 0.84), rel=1e-7)
    assert not path.counts[:, :20].any()

    def lottery(problem, counts):
        """All for one class, drawn anew for every set of classes present: nothing but subsets tells."""
        present = np.asarray(counts) > 0
        marks = (present * np.sqrt(np.arange(2.0, 2.0 + present.shape[-1]))).sum(axis=-1, keepdims=True)
        ranks = np.where(present, np.sin(1e4 * marks * np.arange(1.0, 1.0 + present.shape[-1])), -2.0)
        return (ranks.argmax(axis=-1)[..., None] == np.arange(present.shape[-1])) & present

    with pytest.raises(ModelError, match=r"20 classes are empty at once.*take simulate"):
        trajectory(system, lottery, [0.0] * 20 + [1.0])


def test_blocked_classes_grow():
    problem = Problem([[1, 0], [1, 1]], [1, 0])
    system = System(problem, [0.2, 0.3])
    path = trajectory(system, DRF(), [1, 1], horizon=10.0)
    with pytest.raises(UnstableError, match=r"jobs of class 'class 2' demand a resource of capacity 0"):
        trajectory(System(problem, [0.2, 0.0]), DRF(), [1, 1])
    # rtol 1e-9 per step.
    assert path.counts[-1, 1] == pytest.approx(1 + 0.3 * 10, rel=1e-7)
    assert path.counts[-1, 0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("method", ["LSODA", "BDF"])
@pytest.mark.parametrize("left", [1e-11, 2.0**-52])
def test_where_progress_is_rounding_the_path_ends_at_a_point_that_was_reached(method, left):
    system = System.with_load(Problem([[1, 4], [3, 1]], [9, 18]), [1, 1], 1 - left)
    for policy in (DRF(), BottleneckMax()):
        try:
            path = trajectory(system, policy, [8, 2], rtol=1e-4, method=method, max_evaluations=2000)
        except NotConvergedError as error:
            path = error.best
        assert np.isfinite(path.times).all()
        assert np.all(path.counts >= 0)
        # 10 jobs at load 1: the sizes along the ray of the fixed point do not grow.
        assert path.counts.sum(axis=1).max() <= 10 + 1e-6
