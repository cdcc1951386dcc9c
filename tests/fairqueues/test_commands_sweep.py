"""A sweep on the command line that is stopped, by a kill or by Ctrl-C, goes on and gives the same file."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
import xarray as xr
from typer.testing import CliRunner

from fairqueues.commands.app import app

ROOT = Path(__file__).parents[2]

GRID = """\
title = "A sweep to be stopped"
policies = ["drf", "pf"]
[pool]
demands = [[10, 1], [1, 10]]
capacities = [10, 10]
[traffic]
mix = [2, 1]
[sweep]
over = { load = { start = 0.5, stop = 0.8, number = 12 } }
"""
POINTS = 24


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "grid.toml").write_text(GRID)
    here = Path.cwd()
    os.chdir(folder)
    try:
        result = CliRunner().invoke(app, ["sweep", "grid.toml", "--out", "whole.nc"])
    finally:
        os.chdir(here)
    assert result.exit_code == 0, result.output
    return folder


def start(place, *arguments):
    command = [sys.executable, "-m", "fairqueues", "sweep", "grid.toml", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, cwd=place, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def stopped(place, process, path, number):
    """Send a signal once some points are kept; what came on standard error, and the points kept."""
    deadline = time.monotonic() + 120
    try:
        while process.poll() is None and time.monotonic() < deadline:
            if path.exists() and path.read_bytes().count(b"\n") > 2:
                break
            time.sleep(0.005)
        process.send_signal(number)
        if number != signal.SIGKILL:
            _, errors = process.communicate(timeout=120)
        else:
            errors = ""
            process.wait()
    finally:
        # Workers of a killed process would wait for new points; they end with its group.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.stderr.close()
    return errors, path.read_bytes().count(b"\n") - 1


def resumed(place, monkeypatch, *arguments):
    """The same command again, in this process."""
    monkeypatch.chdir(place)
    result = CliRunner().invoke(app, ["sweep", "grid.toml", *arguments])
    assert result.exit_code == 0, result.output


def same(one, other):
    """Equal in values, labels and attributes."""
    with xr.open_dataset(one) as a, xr.open_dataset(other) as b:
        xr.testing.assert_identical(a.load(), b.load())


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_a_killed_sweep_goes_on_and_gives_the_same_file(place, backend, monkeypatch):
    if backend == "dask":
        pytest.importorskip("distributed")
    out = place / f"{backend}.nc"
    path = place / f"{backend}.nc.part"
    options = ["--out", out.name, "--jobs", "2", "--backend", backend]
    process = start(place, *options)
    _, kept = stopped(place, process, path, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert 2 <= kept < POINTS
    assert not out.exists()
    if backend == "loky":  # here, which spares a start of the interpreter
        resumed(place, monkeypatch, *options)
    else:
        again = start(place, *options)
        _, errors = again.communicate(timeout=120)
        assert again.returncode == 0, errors
    assert not path.exists()
    same(out, place / "whole.nc")


def test_ctrl_c_says_what_is_kept(place, monkeypatch):
    path = place / "kept"
    process = start(place, "--checkpoint", "kept", "--csv")
    errors, kept = stopped(place, process, path, signal.SIGINT)
    assert process.returncode == 130
    assert errors.count("\n") == 1
    assert f"interrupted; sweep: {kept} of {POINTS} points are kept in kept" in errors
    resumed(place, monkeypatch, "--checkpoint", "kept", "--out", "resumed.nc")
    same(place / "resumed.nc", place / "whole.nc")
    assert path.exists()
