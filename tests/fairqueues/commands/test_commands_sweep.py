"""A sweep on the command line that is stopped, by a kill or by Ctrl-C, goes on and gives the same file."""

import signal
import subprocess
import sys
from contextlib import chdir
from importlib.util import find_spec

import pytest
import xarray as xr

from tests.fairqueues.commands.command_line import TWO, environment, run
from tests.processes import PATIENCE, WAITS, points_kept, require_nobody_left, stop_at

GRID = TWO.replace("[0.2, 0.4, 1.2]", "{ start = 0.5, stop = 0.8, number = 12 }")
POINTS = 24


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "grid.toml").write_text(GRID)
    with chdir(folder):
        run("sweep", "grid.toml", "--out", "whole.nc")
    return folder


def start(place, *arguments, before=""):
    """The command in a process of its own session; ``before`` is code that runs first."""
    # Ctrl-C must reach it also where these tests run in the background, which ignores it.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{heard}\n{before}\nfrom fairqueues.commands.app import main\nmain()"
    # On a busy machine that compiles kernels beside, workers of dask may take long to answer.
    patience = {f"DASK_DISTRIBUTED__COMM__TIMEOUTS__{name}": "120s" for name in ("CONNECT", "TCP")}
    return subprocess.Popen(
        [sys.executable, "-c", code, "sweep", "grid.toml", *arguments],
        cwd=place, env=environment(**patience), stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def same(one, other):
    """Equal in values, labels and attributes."""
    with xr.open_dataset(one) as a, xr.open_dataset(other) as b:
        xr.testing.assert_identical(a.load(), b.load())


@pytest.mark.long
def test_a_killed_sweep_goes_on_and_gives_the_same_file(place):
    """Begun by processes of joblib, ended by workers of dask where there are some."""
    out, path = place / "killed.nc", place / "killed.nc.part"
    options = ["--out", out.name, "--jobs", "2", "--backend"]
    with start(place, *options, "loky", before=WAITS.format(points=3)) as process:
        assert stop_at(process, path, signal.SIGKILL) == -signal.SIGKILL
    assert points_kept(path) == 3
    # Nobody computes on, or waits, for a process that is gone.
    require_nobody_left(process.pid)
    assert not out.exists()
    with start(place, *options, "dask" if find_spec("distributed") else "loky") as again:
        _, errors = again.communicate(timeout=PATIENCE)
    assert again.returncode == 0, errors
    assert not path.exists()
    same(out, place / "whole.nc")


@pytest.mark.long
def test_ctrl_c_says_what_is_kept(place):
    path = place / "kept"
    with start(place, "--checkpoint", "kept", "--csv", before=WAITS.format(points=3)) as process:
        assert stop_at(process, path, signal.SIGINT) == 130
        errors = process.stderr.read()
    assert points_kept(path) == 3
    assert errors.count("\n") == 1
    assert f"interrupted; sweep: 3 of {POINTS} points are kept in kept" in errors
    with chdir(place):
        run("sweep", "grid.toml", "--checkpoint", "kept", "--out", "resumed.nc")
    same(place / "resumed.nc", place / "whole.nc")
    assert path.exists()
