"""Long work: what is said before it starts, who is told, and how it stops. No test waits."""

import logging
import pickle
import threading
from contextlib import suppress

import numpy as np
import pytest

from fairness import ModelError, NotConvergedError
from fairness.machine import work
from fairness.machine.work import ASIDE, OutOfTime, Progress, Task, current_watch, duration, stopped, watching
from tests.processes import at_once


@pytest.fixture
def told():
    """What a watcher hears."""
    return []


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves when it is told to, and the processor's, which may stand still meanwhile."""
    now, worked = [1000.0], [10.0]
    monkeypatch.setattr("fairness.machine.work.time.monotonic", lambda: now[0])
    monkeypatch.setattr("fairness.machine.work.time.process_time", lambda: worked[0])

    def wait(seconds, busy=True):
        now[0] += seconds
        worked[0] += seconds * busy

    return wait


def test_a_known_time_is_announced_before_the_work_starts(told, caplog):
    caplog.set_level(logging.INFO, "fairness.machine.work")
    with watching(told.append), Task("a table", 1000, "states", seconds=90.0):
        assert told == [Progress("a table", 0.0, 1000.0, "states", 0.0, 90.0, announced=True)]
    assert caplog.messages == ["a table: about 1000 states, about 90 s"]


def test_an_unknown_time_is_read_from_a_small_sample(told, clock):
    with watching(told.append), Task("a table", 1000, "states") as task:
        clock(1.0)
        task.advance(10)
        first, second = told
        assert first.announced
        assert first.remaining == pytest.approx(100.0)
        assert (second.done, second.remaining) == (10, pytest.approx(99.0))


def test_short_work_is_not_announced(told, clock):
    with watching(told.append), Task("a table", 10, "states") as task:
        clock(1.0)
        task.advance(9)
        task.advance(1)
    assert [p.done for p in told] == [9, 10]
    assert not any(p.announced for p in told)


def test_what_would_take_weeks_is_refused_with_an_alternative(clock):
    message = (
        r"a table: about 1,000,000,000 states, about 32 years; give a smaller shape, or give a time_limit"
    )
    task = Task("a table", 1e9, "states", seconds=1e9, instead="give a smaller shape")
    with pytest.raises(ModelError, match=message), task:
        pass
    with Task("a table", 1e9, "states") as task:
        clock(1.0)
        with pytest.raises(ModelError, match="about 32 years"):
            task.advance()
    # Who limits the time may start it.
    with watching(time_limit=3.0), Task("a table", 1e9, "states", seconds=1e9) as task:
        clock(4.0)
        with pytest.raises(OutOfTime, match="time_limit=3 seconds are over during a table"):
            task.advance()


def test_time_for_which_others_had_the_machine_refuses_nothing(told, clock):
    with watching(told.append), Task("a table", 1e9, "states") as task:
        clock(1.0, busy=False)
        task.advance()
        assert told[0].announced
        clock(1.0)
        task.advance(1e6)


def test_preparation_before_the_first_unit_is_no_speed(told, clock):
    with watching(told.append), Task("a table", 1e7, "states") as task:
        clock(60.0)
        task.prepared()
        clock(1.0)
        task.advance(100)
        clock(60.0)
        task.prepared()
        task.advance(100)
    assert [p.elapsed for p in told] == [0.0, 1.0, 61.0]
    with watching(time_limit=3.0), Task("a table", 1, "states") as task:
        clock(4.0)
        with pytest.raises(OutOfTime):
            task.prepared()


def test_while_kernels_are_compiled_no_time_is_foretold(told, clock):
    with watching(told.append), Task("a table", 1e7, "states") as task:
        task.advance(5)
        outer = ASIDE.begin()
        clock(20.0)
        inner = ASIDE.begin()
        clock(30.0)
        assert ASIDE.end(inner) == 30.0
        clock(10.0)
        assert ASIDE.end(outer) == 60.0  # what lies within it counts once
        task.advance(5)
        assert not any(p.announced for p in told)
        clock(1.0)
        task.advance(90)
    assert told[-1].elapsed == pytest.approx(1.0)
    assert [p.remaining for p in told if p.announced] == [pytest.approx(1e5)]


def test_the_tighter_of_two_limits_holds(clock):
    with watching(time_limit=10.0):
        with watching(time_limit=60.0):
            assert current_watch().time_limit == 10.0
        with watching(time_limit=2.0):
            assert current_watch().time_limit == 2.0
        with watching():
            clock(11.0)
            with pytest.raises(OutOfTime, match="time_limit=10"), Task("a table", 1, "states"):
                pass
    assert current_watch().deadline == np.inf


def test_inner_work_reports_to_the_outer_watcher(told):
    with watching(told.append), watching(), Task("a table", 1, "states") as task:
        task.advance()
    assert [p.done for p in told] == [1]


def test_no_bar_where_standard_error_is_no_terminal(capsys, clock):
    with Task("a table", 2, "states", seconds=99.0) as task:
        clock(1.0)
        task.advance(2)
    assert capsys.readouterr() == ("", "")


def test_a_stop_brings_what_is_known():
    error = stopped(OutOfTime("time_limit=1 seconds are over"), "at least 3", best=[3], residual=0.5)
    assert isinstance(error, NotConvergedError)
    assert (error.best, error.residual) == ([3], 0.5)
    assert str(error) == "time_limit=1 seconds are over: at least 3; raise time_limit"
    interrupt = stopped(KeyboardInterrupt(), "at least 3", best=[3])
    assert isinstance(interrupt, KeyboardInterrupt)
    assert (interrupt.best, interrupt.__notes__) == ([3], ["at least 3"])


@pytest.mark.parametrize(
    ("name", "value"), [("time_limit", -1), ("time_limit", float("nan")), ("progress", "yes")]
)
def test_wrong_limits_and_watchers(name, value):
    with pytest.raises(ModelError, match=f"{name} must be"), watching(**{name: value}):
        pass


def test_times_for_people():
    assert [duration(s) for s in (0.25, 119, 120, 7200, 1e7)] == [
        "0.25 s",
        "120 s",
        "2 min",
        "2 h",
        "120 days",
    ]
    assert work.LONG < work.TOO_LONG


def test_threads_that_share_a_task_report_every_count(told, monkeypatch):
    monkeypatch.setattr(work, "SHOWN", -np.inf)
    with watching(told.append):
        task = Task("a table", 9, "states")
    both = threading.Barrier(2)

    def clock():
        with suppress(threading.BrokenBarrierError):
            both.wait(0.2)  # in vain where only one thread counts at a time
        return 0.0

    monkeypatch.setattr("fairness.machine.work.time.monotonic", clock)
    at_once(2, task.advance)
    assert [p.done for p in told] == [1, 2]


def test_a_task_travels_to_another_process_without_its_watcher():
    with watching(lambda progress: None, time_limit=0.0):
        task = Task("a table", 2, "states")
    copy = pickle.loads(pickle.dumps(task))
    copy.advance()
    assert copy.done == 1
