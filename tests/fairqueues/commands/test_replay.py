"""The command ``replay`` against the library: numbers, a figure, a checkpoint, wrong use."""

import pathlib

import numpy as np
import pytest

from fairness import BottleneckMax
from fairqueues.commands.replay import _read
from fairqueues.traces import synthetic_gpu_trace
from queueing import (
    ClusterTrace,
    DRFScheduler,
    FIFOScheduler,
    FirstFit,
    NodeList,
    TargetScheduler,
    replay,
)
from queueing.replays import running
from tests.fairqueues.commands.command_line import as_json, run


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """A small trace and its nodes, in files."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    trace = ClusterTrace(
        ["CPU", "GPU"], ["cores", "devices"], np.sort(rng.uniform(0, 50, 60)), rng.uniform(1, 20, 60),
        [[2, 0], [1, 0.5], [4, 1]], rng.integers(0, 3, 60), ["a", "b"], rng.integers(0, 2, 60), devices=1,
        source="by hand",
    )  # fmt: skip
    nodes = NodeList(["x", "y"], ["CPU", "GPU"], ["cores", "devices"], [[8, 1], [8, 2]])
    trace.save("trace.json")
    nodes.save("nodes.json")
    return trace, nodes


GIVEN = ("--trace", "trace.json", "--nodes", "nodes.json", "--seed", 1)


@pytest.mark.parametrize(
    ("name", "scheduler"),
    [
        ("fifo", FIFOScheduler(blocking=False)),
        pytest.param(
            "bmf", TargetScheduler(BottleneckMax(), blocking=False), marks=pytest.mark.long
        ),  # compiles
    ],
)
def test_the_command_gives_what_the_library_gives(saved, name, scheduler):
    trace, nodes = saved
    data = as_json(
        "replay", *GIVEN, "-s", "drf", "-s", name, "--placement", "first-fit", "--weight", "b=2",
        "--load", 2, "--until", 30,
    )  # fmt: skip
    faster = trace.scaled(2 / float(nodes.offered_load(trace).max()))
    rows = iter(data["results"])
    for one in (DRFScheduler(blocking=False), scheduler):
        record = replay(faster, nodes, one, placement=FirstFit(), weights=[1, 2], until=30)
        for user, wait in zip(trace.users, record.to_dataframe()["mean_wait"], strict=True):
            row = next(rows)
            assert (row["scheduler"], row["user"]) == (one.name, user)
            assert row["mean_wait"] == pytest.approx(wait, rel=1e-12)
    printed = run("replay", *GIVEN, "-s", "drf", "--blocking").stdout
    for line in replay(trace, nodes, DRFScheduler()).summary().splitlines():
        assert line.strip() in printed


def test_the_command_goes_on_from_a_checkpoint(saved, monkeypatch):
    monkeypatch.setattr(running, "SHORT_STRIDE", 10)
    monkeypatch.setattr("fairness.machine.work.SHOWN", -1.0)
    arguments = ("replay", *GIVEN, "-s", "drf", "--checkpoint", "kept")
    stopped = run(*arguments, "--time-limit", 0, code=1)
    assert ": 0 of 120 arrivals and ends are done; raise time_limit" in stopped.stderr
    assert not pathlib.Path("kept").exists()

    def stop(progress):
        if progress.done >= 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replay(*saved, DRFScheduler(blocking=False), rng=1, checkpoint="kept", progress=stop)
    before = pathlib.Path("kept").stat().st_size
    stopped = run(*arguments, "--time-limit", 0, code=1)
    assert "of 120 arrivals and ends are done and kept in kept" in stopped.stderr
    assert pathlib.Path("kept").stat().st_size == before
    assert run(*arguments).stdout == run("replay", *GIVEN, "-s", "drf").stdout


@pytest.mark.long  # six pictures
def test_the_command_draws_what_each_scheduler_does(saved):
    run("replay", *GIVEN, "--out", "r.svg")
    assert pathlib.Path("r.svg").read_text().count("part stranded") == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--trace", "trace.json"], "--trace and --nodes go together"),
        (["--schema", "philly"], "--schema says what --trace and --nodes are"),
        ([*GIVEN, "--load", 0], "load must be a finite number > 0"),
        ([*GIVEN, "--tasks", 5], "--tasks is how long a synthetic trace is"),
        ([*GIVEN, "-s", "drf", "--checkpoint", "trace.json"], "trace.json is the trace itself"),
        (["--trace", "t.csv", "--nodes", "n.csv", "--out", "n.csv"], "n.csv is the list of nodes itself"),
        ([*GIVEN, "--checkpoint", "kept"], "--checkpoint is for one scheduler"),
        ([*GIVEN, "--weight", "b"], "--weight must be USER=W"),
        ([*GIVEN, "--weight", "c=1"], "names 'c', who is no user of the trace"),
        ([*GIVEN, "-s", "sjf"], "unknown policy 'sjf'"),
        ([*GIVEN, "--placement", "on-arrival"], "binds jobs to servers"),
        (["--trace", "nodes.json", "--nodes", "trace.json"], "holds NodeList, not ClusterTrace"),
    ],
)
def test_wrong_use_is_one_line(saved, arguments, said):
    assert said in run("replay", *arguments, code=2).stderr


def test_without_files_the_trace_is_synthetic():
    trace, nodes = _read(None, None, None, None, 50, 7)
    expected, of = synthetic_gpu_trace(50, rng=7, scale=0.02, load=4.0)
    np.testing.assert_array_equal(trace.arrivals, expected.arrivals)
    assert nodes.n_nodes == of.n_nodes
    assert run("replay", "--tasks", 50, "--seed", 7, "-s", "fifo").stdout.count("seed 7") == 1
