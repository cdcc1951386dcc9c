"""Other processes in tests: every wait has an end that says what did not come, and no speed matters.

A sweep that is to be stopped runs behind :data:`WAITS`: after so many points it waits for its signal, however
fast or slow the machine is.
"""

import os
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import joblib
import pytest

from fairness.machine.checkpoint import Checkpoint

PATIENCE = 240.0
"""Seconds that anything may take: a machine that is busy and has compiled no kernel yet is slow."""

WAITS = f"""
import sys, time
from pathlib import Path
from fairness.machine.checkpoint import Checkpoint

def until_the_signal_comes(self, key, text, write=Checkpoint.write, points={{points}}):
    write(self, key, text)
    if self.kept == points:
        Path(f"{{{{self.path}}}}.waits").touch()
        time.sleep({PATIENCE})
        sys.exit("no signal came")

Checkpoint.write = until_the_signal_comes
"""
"""Code before that of a sweep with a checkpoint: after ``points`` points it waits for a signal."""


def python(*arguments, **options):
    """Another Python that has ended well, with what it printed as text."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def at_once(number, call):
    """What so many threads get that make the same call at once."""
    results = []
    threads = [threading.Thread(daemon=True, target=lambda: results.append(call())) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(results) == number
    return results


def wait_for(condition, what, seconds=PATIENCE, step=0.02):
    """What the condition gives, once it is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(step)
    raise AssertionError(f"{what} did not come within {seconds:g} s")


@contextmanager
def running(*command, **options):
    """A process that is told to end when it is no longer needed, and ended if it does not."""
    with subprocess.Popen(command, text=True, **options) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


@contextmanager
def backend_of(name, processes=True, deaths=0, workers=2):
    """Workers of joblib; a task whose workers died more often than that has failed."""
    if name == "loky":
        yield
        return
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": workers, "threads_per_worker": 1, "processes": processes}
    # A port of its own: None takes Dask's usual one, and warns where a test beside has it.
    options["dashboard_address"] = ":0"
    settings = {
        "distributed.scheduler.allowed-failures": deaths,
        # On a busy machine that compiles kernels beside, a worker may take long to answer.
        "distributed.comm.timeouts.connect": "120s",
        "distributed.comm.timeouts.tcp": "120s",
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        yield


def line_of(stream, what):
    """The next line that a process prints; for a stream of which nothing was read yet."""
    ready, _, _ = select.select([stream], [], [], PATIENCE)
    assert ready, f"{what} did not come within {PATIENCE:g} s"
    return stream.readline()


def points_kept(path):
    """Points in the checkpoint of a sweep that has ended."""
    with Checkpoint(path, "sweep", "checkpoint") as file:
        return file.kept


def stop_at(process, path, number):
    """Send a signal once the process waits for it; the exit code comes back.

    The process runs behind :data:`WAITS`, as the leader of its own session, and is ended whatever happens.
    """
    try:
        waits = Path(f"{path}.waits")
        wait_for(lambda: process.poll() is not None or waits.exists(), "the point to be stopped at")
        assert process.poll() is None, f"the sweep ended by itself, with {process.returncode}"
        waits.unlink()
        process.send_signal(number)
        return process.wait(PATIENCE)
    finally:
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)


def session(leader):
    """Processes of a session that are alive, by their numbers; for Linux."""
    alive = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with suppress(OSError):
                with open(f"/proc/{entry}/stat") as file:
                    state, _, _, of = file.read().rpartition(")")[2].split()[:4]
                if int(of) == leader and state != "Z":
                    alive.append(int(entry))
    return alive


def require_nobody_left(leader):
    """No process of the session outlives its leader for long; who does is ended, and the test fails."""
    try:
        wait_for(lambda: not session(leader), f"the end of the processes {session(leader)}", seconds=60)
    finally:
        for number in session(leader):
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
