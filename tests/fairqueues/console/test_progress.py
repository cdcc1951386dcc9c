"""What a terminal is told while something runs: which policy, how much work, that kernels are compiled."""

import importlib.util
import io
import logging
import math
import re
from contextlib import redirect_stderr

import pandas as pd
import pytest

from fairness.errors import NotConvergedError
from fairness.machine import work
from fairness.machine.compilation_log import BEGUN, ENDED
from fairqueues.console import progress
from fairqueues.console.progress import listening, reached, telling_of_kernels


class Terminal(io.StringIO):
    """What is written, as on a terminal."""

    def isatty(self):
        return True

    def lines(self):
        """What was shown one after the other, without the signs that move the cursor."""
        text = re.sub(r"\x1b\[\d*[A-Za-z]", "", self.getvalue())
        return [line.strip() for line in re.split(r"[\r\n]", text)]


@pytest.fixture
def terminal(monkeypatch):
    """Standard error within its block, as a terminal."""
    monkeypatch.setattr(work, "SHOWN", -1.0)  # a report for each unit
    monkeypatch.setattr(progress, "AT_ONCE", math.inf)  # however slow the machine is
    return redirect_stderr(Terminal())


def counting(seconds, units=4):
    """A run of so many units, and of so many seconds as far as its task knows."""

    def run():
        with work.Task("counting", 2000, "sheep", seconds) as task:
            for _ in range(units):
                task.advance(500)
        return pd.DataFrame()

    return run


def test_progress_counts_work_and_says_for_which_policy(terminal):
    with terminal as written:
        results, failures = reached({"DRF": counting(60), "PF": counting(60)}, "solve")
    assert list(results) == ["DRF", "PF"]
    assert not failures
    told = written.lines()
    assert "counting: about 2000 sheep, about 60 s; Ctrl-C stops" in told
    for k, name in enumerate(results, 1):
        first = told.index(f"solve: {name} (policy {k} of 2)")
        shown = re.findall(r"counting: .*? ([\d.]+k?)/2.00k", "\n".join(told[first:]))
        assert list(dict.fromkeys(shown)) == ["0.00", "500", "1.00k", "1.50k", "2.00k"]
    assert not any("/2 " in line for line in told)  # nobody counts policies


def test_a_single_run_is_not_counted_and_short_work_has_no_bar(terminal):
    with terminal as written:
        reached({"DRF": counting(0.1)}, "simulate", what="a simulation")
    assert set(written.lines()) == {"a simulation: DRF", ""}


def test_a_bar_goes_with_its_run(terminal):
    """What a run that was stopped leaves is kept, and its bar is not in the way of the next."""

    def stops():
        with work.Task("counting", 2000, "sheep", 60) as task:
            task.advance(500)
            raise NotConvergedError("enough", best=None)

    with terminal as written:
        results, failures = reached({"A": stops, "B": counting(60)}, "solve")
    assert list(results) == ["B"]
    assert failures == ("A: enough",)
    told = written.lines()
    assert any("500/2.00k" in line for line in told[told.index("solve: B (policy 2 of 2)") :])


def test_nothing_is_shown_where_nobody_looks():
    with redirect_stderr(io.StringIO()) as written:
        with telling_of_kernels():
            logging.getLogger("fairness.machine.compiling").info(BEGUN, "a kernel")
            reached({"DRF": counting(20)}, "solve")
        assert written.getvalue() == ""
        reached({"DRF": counting(60)}, "solve")  # more than half a minute is said to whoever reads later
    assert written.getvalue() == "counting: about 2000 sheep, about 60 s; Ctrl-C stops\n"


def test_kernels_are_told_once_and_counted(terminal):
    log = logging.getLogger("fairness.machine.compiling")
    level, handlers = log.level, list(log.handlers)
    with terminal as written, telling_of_kernels():
        for name in ("one", "two"):
            log.info(BEGUN, name)
            log.info(BEGUN, f"{name}, inside")
            log.info(ENDED, f"{name}, inside", 1.0)
            log.info(ENDED, name, 2.0)
        log.warning("compiled kernels cannot be stored")
    told = written.lines()
    assert told.count("compiling kernels for the first time; later runs find them stored") == 1
    assert told[-2] == "compiled kernels cannot be stored"
    assert [line[17] for line in told if line.startswith("compiling kernel ")] == list("1234")
    assert (log.level, log.handlers) == (level, handlers)


def test_what_verbose_shows_is_said_once(terminal):
    log = logging.getLogger("fairness.machine.compiling")
    with terminal as written, telling_of_kernels(), listening(1):
        log.info(BEGUN, "one")
        log.info(ENDED, "one", 1.0)
        log.warning("compiled kernels cannot be stored")
        reached({"DRF": counting(60)}, "solve")
    told = "\n".join(written.lines())
    assert told.count("for the first time") == told.count("cannot be stored") == 1
    assert told.count("about 60 s") == 1
    assert "compiling kernel 1" in told  # the line that counts stays


KERNEL = """
from fairness.machine.compiling import stored
@stored()
def twice(x):
    return 2 * x
"""


@pytest.mark.long
def test_a_stored_kernel_is_not_compiled_again(tmp_path):
    file = tmp_path / "kernel.py"
    file.write_text(KERNEL)
    for told in (True, False):
        spec = importlib.util.spec_from_file_location("kernel", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        with redirect_stderr(Terminal()) as written, telling_of_kernels():
            assert module.twice(21) == 42
        assert ("for the first time" in written.getvalue()) is told
