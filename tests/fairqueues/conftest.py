"""What tests of the front door start from: a folder with a scenario, and an explorer that is served."""

import subprocess
import sys

import pytest

from tests.fairqueues.commands.command_line import TWO
from tests.processes import line_of, running

SERVER = """
import fairqueues.explorer.page as page
import fairqueues.explorer.rates as rates
from fairqueues.explorer import State, make_server
rates.LOADS, rates.SECONDS, page.MORE = tuple(sorted(rates.COARSE)), 1.0, 0.3
server = make_server(State(), port=0)
print(server.address, server.port, flush=True)
server.run()
"""
"""Its curves have few points, of which many come at once: a picture of each is most of the time."""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The current folder; it holds the scenario two.toml."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.toml").write_text(TWO)
    return tmp_path


@pytest.fixture(scope="module")
def port():
    """Where a process of its own serves the explorer."""
    with running(sys.executable, "-c", SERVER, stdout=subprocess.PIPE) as process:
        address, number = line_of(process.stdout, "the address of the server").split()
        assert address == "127.0.0.1"
        yield int(number)
