"""The deadline controller against what it promises, on systems without real time."""

import math
import re
from dataclasses import FrozenInstanceError
from itertools import count, pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fairness import ModelError
from fairness.cloud import SparseDemands
from fairness.cloud import controller as module
from fairness.cloud.controller import DeadlineController

FLOOR, CEILING = 1e-9, 0.5


def log_uniform(low, high):
    return st.floats(math.log(low), math.log(high)).map(math.exp)


def critical_values():
    """0, values below the floor, and many decades above."""
    return st.one_of(st.just(0.0), st.just(FLOOR / 3), log_uniform(FLOOR, CEILING))


def run(controller, critical, intervals):
    """So many intervals of a system that times out below the critical value; the values that were used."""
    used = [controller.epsilon]
    for _ in range(intervals):
        used.append(controller.observe(controller.epsilon < critical))
    return used


def trials(ratio, stride):
    """Smallest number of trials, each stride the square of the one before, that exceed the ratio."""
    m = 1
    # 1e-6: the ratio itself is rounded.
    while (2**m - 1) * math.log(stride) <= math.log(ratio) + 1e-6:
        m += 1
    return m


def assert_settled(controller, critical, precision):
    """The controller rests where it has promised to."""
    assert controller.settled
    low, high = controller.window
    assert critical <= high
    assert low is None or low < critical
    # 1e-8: the window may exceed its ratio by 1e-9.
    assert high <= max(FLOOR if critical > 0 else 0, precision * critical * (1 + 1e-8))


def test_figure_11():
    """Kash et al., section 5.6: start at 0, an abrupt change, a longer deadline and back, churn."""
    rng = np.random.default_rng(1)
    controller = DeadlineController(8.0, rest=4)
    work = 2e-4
    values, late = [], []
    for interval in range(1, 91):
        if interval == 30:
            work *= 1.2
        controller.deadline = 10.0 if 50 <= interval < 70 else 8.0
        values.append(controller.epsilon)
        # Two seconds for the first round, the others as in Lemma 3.1.
        elapsed = 2 + min(760, work * rng.uniform(0.99, 1.01) / max(values[-1], 1e-12))
        late.append(elapsed > controller.deadline)
        controller.observe(late[-1], elapsed=elapsed)
    # The first interval times out at 0, the next ones complete with less and less until one does not.
    assert (values[0], late[0]) == (0, True)
    first = late.index(True, 1)
    assert first > 2
    assert values[1:first] == sorted(values[1:first], reverse=True)
    for at, seconds, size in ((28, 8, 1), (48, 8, 1.2), (68, 10, 1.2), (88, 8, 1.2)):
        exact = 2e-4 * size / (seconds - 2)
        resting = [entry.epsilon for entry in controller.history[at - 3 : at + 1] if not entry.timed_out]
        # 1 % of noise, which a window can follow by one more stride.
        assert all(exact / 1.01 < epsilon < exact * 1.1**2 * 1.01 for epsilon in resting)
        assert len(resting) >= 2
    # Stable: a probe in five intervals, and what the noise adds.
    assert sum(late[18:28]) <= 4
    table = controller.to_dataframe()
    assert table.loc[50:69, "deadline"].eq(10).all()
    assert table["timed_out"].tolist() == late
    assert table["epsilon"].tolist() == values
    assert (table["elapsed"] > table["deadline"]).tolist() == late


@given(critical_values(), log_uniform(1e-6, 0.4), st.floats(1.01, 1.9), st.floats(1.0, 30.0))
@settings(max_examples=400, deadline=None)
def test_settles_from_zero_within_the_stated_intervals(critical, start, precision, faster):
    controller = DeadlineController(
        8.0, start=start, precision=precision, fast_start=precision * faster, floor=FLOOR, ceiling=CEILING
    )
    s = precision * faster
    if critical > 0:
        reached = max(critical, FLOOR)
        m = trials(max(start / reached, reached / start), s)
        bound = 2 * m + 1 + math.ceil(math.log2(math.log(s) / math.log(precision)) - 1e-9)
    else:
        bound = 1
    used = run(controller, critical, bound)
    assert_settled(controller, critical, precision)
    assert all(value == 0 or FLOOR <= value <= CEILING for value in used)


@given(critical_values(), st.integers(1, 12), st.floats(1.01, 2.0))
@settings(max_examples=200, deadline=None)
def test_settled_one_interval_in_rest_plus_one_times_out(critical, rest, precision):
    controller = DeadlineController(8.0, rest=rest, precision=precision)
    run(controller, critical, 60)
    assert_settled(controller, critical, precision)
    run(controller, critical, 5 * (rest + 1))
    late = [entry.timed_out for entry in controller.history[60:]]
    assert sum(late) == (5 if critical > 0 else 0)
    # Never two in a row, and always the same two values.
    assert not any(a and b for a, b in pairwise(late))
    assert len({entry.epsilon for entry in controller.history[60:]}) == (2 if critical > 0 else 1)


@given(critical_values(), critical_values(), st.integers(0, 30), st.integers(1, 9), st.floats(1.02, 1.5))
@settings(max_examples=500, deadline=None)
@pytest.mark.long
def test_finds_the_critical_value_again_after_a_jump(before, after, phase, rest, precision):
    controller = DeadlineController(8.0, rest=rest, precision=precision, floor=FLOOR, ceiling=CEILING)
    run(controller, before, 60 + phase)
    assert_settled(controller, before, precision)
    low, high = controller.window
    if after > high > 0:
        bound = 2 * trials(after / high, precision) + 1
    elif after > high:
        ratio = max(0.01 / max(after, FLOOR), max(after, FLOOR) / 0.01)
        bound = 2 * trials(ratio, 10) + 1 + math.ceil(math.log2(math.log(10) / math.log(precision)))
    elif low is not None and after <= low:
        down = trials(low / max(after, FLOOR), precision) if low > 0 else 0
        bound = rest + 2 * down + 1
    else:
        bound = 0
    run(controller, after, bound)
    assert_settled(controller, after, precision)


@pytest.mark.long
@given(critical_values(), critical_values(), st.integers(0, 30), st.floats(1.02, 1.5))
@settings(max_examples=300, deadline=None)
def test_another_deadline_is_searched_at_once(one, other, phase, precision):
    controller = DeadlineController(8.0, precision=precision)
    run(controller, one, 60 + phase)
    _, high = controller.window
    controller.deadline = 10.0 if other < one else 6.0
    # What cannot be wrong is kept: a longer deadline is not missed where the shorter one was kept.
    assert controller.window[1] == (high if other < one else None)
    if high == 0 or other == one:
        assume(other == 0)
        bound = 1
    else:
        ratio = max(max(other, FLOOR) / high, high / max(other, FLOOR))
        bound = 2 * trials(ratio, precision) + 1
    run(controller, other, bound)
    assert_settled(controller, other, precision)


def test_a_deadline_set_in_the_middle_of_a_search_begins_with_a_small_stride():
    for deadline, factor in ((10.0, 1 / 1.1), (7.0, 1.1)):
        controller = DeadlineController(8.0)
        run(controller, 3e-4, 6)
        low, high = controller.window
        assert not controller.settled
        assert high > 1.1 * low > 0
        controller.deadline = deadline
        assert controller.epsilon == pytest.approx(high * factor, rel=1e-12)


@given(
    log_uniform(1e-5, 1e-3),
    st.floats(1.0, 3.0),
    st.floats(1.02, 1.5),
    st.integers(1, 9),
    st.lists(st.booleans(), min_size=200, max_size=200),
)
@settings(max_examples=300, deadline=None)
@pytest.mark.long
def test_noisy_times_keep_it_near_the_critical_value(c, s, precision, rest, coins):
    """Within the band the outcome is arbitrary, outside it is certain."""
    controller = DeadlineController(8.0, rest=rest, precision=precision)
    settled = False
    for late in coins:
        epsilon = controller.epsilon
        if settled:
            # 1e-6: strides are rounded.
            assert c / (s**3 * precision) / (1 + 1e-6) <= epsilon <= c * s**3 * precision * (1 + 1e-6)
        controller.observe(late if c / s <= epsilon < c * s else epsilon < c)
        settled = settled or controller.settled
    # Whatever the outcomes are, a search ends.
    assert settled


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([None, 5.0, 8.0, 11.0])), max_size=80))
@settings(max_examples=300, deadline=None)
def test_any_history_keeps_the_rules(events):
    """Whatever happens: raise after a timeout unless it was a probe, lower otherwise, within the bounds."""
    controller = DeadlineController(8.0, rest=2)
    for late, deadline in events:
        if deadline is not None:
            controller.deadline = deadline
        used = controller.epsilon
        new = controller.observe(late)
        low, high = controller.window
        assert new == 0 or FLOOR <= new <= CEILING
        assert low is None or high is None or low < high
        if late:
            assert low == used
            assert new > used or used == CEILING
        else:
            assert high == used
            assert new < used or (new == used and controller.settled)


def test_below_the_floor_comes_zero():
    # In time with 0 after all: from 1e-4 down to 0 and no further.
    controller = DeadlineController(8.0, epsilon=1e-4, floor=1e-7)
    used = run(controller, 0.0, 10)
    np.testing.assert_allclose(used[:4], [1e-4, 1e-5, 1e-7, 0], rtol=1e-12)
    assert set(used[3:]) == {0.0}
    # 0 is too slow: it rests at the floor.
    controller = DeadlineController(8.0, epsilon=1e-4, floor=1e-7)
    used = run(controller, 1e-8, 40)
    assert used[3:6] == [0, 1e-7, 1e-7]
    assert set(used[4:]) == {0, 1e-7}


def test_what_no_epsilon_makes_fast_stays_at_the_ceiling():
    controller = DeadlineController(8.0)
    used = run(controller, 1.0, 30)
    assert used[-20:] == [0.5] * 20
    # And comes down gently.
    assert controller.observe(False) == pytest.approx(0.5 / 1.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"deadline": 0}, "deadline must be a finite number > 0; got 0"),
        ({"deadline": math.inf}, "deadline must be a finite number"),
        ({"epsilon": -0.1}, "epsilon must be 0 or from floor = 1e-09 to ceiling = 0.5; got -0.1"),
        ({"epsilon": 0.6}, "epsilon must be 0 or from floor"),
        ({"epsilon": 1e-12}, "epsilon must be 0 or from floor"),
        ({"epsilon": math.nan}, "epsilon must be a finite number; got nan"),
        ({"start": 1e-10}, "0 < floor <= start <= ceiling < 1; got 1e-09, 1e-10, 0.5"),
        ({"ceiling": 1.0}, "0 < floor <= start <= ceiling < 1"),
        ({"floor": 0.0}, "floor must be a finite number > 0"),
        ({"precision": 1.0}, "1 < precision <= fast_start; got 1, 10"),
        ({"fast_start": 1.05}, "1 < precision <= fast_start"),
        ({"rest": 0}, "rest must be a whole number >= 1 (intervals); got 0"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ModelError, match=re.escape(message)):
        DeadlineController(**({"deadline": 8.0} | arguments))


def test_the_same_deadline_or_a_bad_one_changes_nothing():
    controller = DeadlineController(8.0)
    run(controller, 1e-4, 5)
    state = controller.window, controller.epsilon
    with pytest.raises(ModelError, match="deadline must be a finite number > 0; got -1"):
        controller.deadline = -1.0
    controller.deadline = 8
    assert controller.deadline == 8
    assert (controller.window, controller.epsilon) == state


def test_step_hands_everything_over_and_notes_the_outcome(monkeypatch):
    calls = []

    def allocate(demands, epsilon, weights, *, pattern, deadline, clock, threads):
        calls.append((demands, epsilon, weights, pattern, deadline, threads))
        clock()
        return SimpleNamespace(timed_out=epsilon < 1e-3, rounds=7)

    monkeypatch.setattr(module, "dcdrf", allocate)
    controller = DeadlineController(8.0)
    for _ in range(2):
        result = controller.step(
            "demands", "weights", pattern="pattern", clock=count(0.5, 0.5).__next__, threads=1
        )
    assert not result.timed_out
    assert calls == [("demands", e, "weights", "pattern", 8.0, 1) for e in (0.0, 0.01)]
    entry = controller.history[1]
    assert (entry.interval, entry.epsilon, entry.deadline, entry.elapsed) == (2, 0.01, 8.0, 1.0)
    assert (entry.timed_out, entry.rounds) == (False, 7)
    with pytest.raises(FrozenInstanceError):
        entry.epsilon = 0.0


def test_an_interrupted_step_leaves_the_controller_as_it_was(monkeypatch):
    def allocate(*_, **__):
        raise KeyboardInterrupt

    controller = DeadlineController(8.0)
    run(controller, 1e-4, 3)
    state = controller.window, controller.epsilon, controller.history
    monkeypatch.setattr(module, "dcdrf", allocate)
    with pytest.raises(KeyboardInterrupt):
        controller.step("demands")
    assert (controller.window, controller.epsilon, controller.history) == state


def test_with_dcdrf_it_finds_an_epsilon_in_time():
    """A clock that advances with every look at it: DC-DRF looks once per round."""
    rng = np.random.default_rng(3)
    tenants = [
        [(int(r), float(rng.uniform(0.01, 1))) for r in rng.choice(60, rng.integers(1, 6), replace=False)]
        for _ in range(150)
    ]
    demands = SparseDemands.from_lists(tenants, 60)
    controller = DeadlineController(12.0, rest=3)
    results = [controller.step(demands, clock=count(1).__next__, threads=1) for _ in range(40)]
    assert (results[0].timed_out, results[0].epsilon) == (True, 0)
    late = controller.to_dataframe()["timed_out"].to_numpy()
    assert [result.timed_out for result in results] == late.tolist()
    assert controller.settled
    assert 0 < controller.epsilon < CEILING
    assert late[-16:].sum() == 4
    completed = [result for result in results[-16:] if not result.timed_out]
    # Just in time, where EDRF needs far more.
    assert all(8 <= result.rounds <= 13 for result in completed)
    assert all(
        entry.rounds == result.rounds for entry, result in zip(controller.history, results, strict=True)
    )
    # With enough time it goes down to exact EDRF.
    controller.deadline = 1000.0
    for _ in range(12):
        last = controller.step(demands, clock=count(1).__next__, threads=1)
    assert (last.epsilon, last.timed_out) == (0, False)
    assert controller.epsilon == 0
    assert last.rounds > 20


@pytest.mark.parametrize("outcome", ["no", None, 1])
def test_an_outcome_is_a_bool(outcome):
    controller = DeadlineController(8.0, rest=np.int64(2))
    with pytest.raises(ModelError, match="timed_out must be True or False; got"):
        controller.observe(outcome)
    assert controller.history == ()


def test_summary():
    controller = DeadlineController(8.0)
    assert "searching: nothing known yet" in controller.summary()
    assert controller.to_dataframe().empty
    run(controller, 3e-4, 2)
    assert repr(controller).splitlines() == [
        "deadline controller: 8 s, epsilon 0.001",
        "  searching: 0 timed out, 0.01 completed",
        "  2 intervals, 1 of them timed out",
    ]
