"""What is decided on the way is logged by the standard library, quiet unless somebody listens."""

import logging
import re
from pathlib import Path

import pytest

import queueing
from fairness import DRF, Problem
from fairness.machine.work import Task
from fairqueues.console.progress import listening
from queueing import Erlang, System, stationary
from tests.fairqueues.commands.command_line import run

SYSTEM = System(Problem([[1, 4], [3, 1]], [9, 18]), [0.9, 0.6])


def test_a_box_that_grows_and_its_solver_are_told(caplog):
    caplog.set_level(logging.INFO, "queueing")
    law = stationary(SYSTEM, DRF(), tail=1e-12)
    told = [record.getMessage() for record in caplog.records]
    grown = [
        re.search(r"DRF: (.*) states leave .* outside, too much for tail=1e-12; next (.*) states", one)
        for one in told
    ]
    assert any(grown)
    last = [one for one in grown if one][-1]
    assert last[2] == " x ".join(map(str, law.shape))
    assert any(law.method in one for one in told)
    assert {record.name.partition(".")[0] for record in caplog.records} == {"queueing"}


def test_work_is_told_piece_by_piece_on_request(caplog):
    caplog.set_level(logging.DEBUG, "fairness")
    with Task("a table", 3, "rows") as task:
        task.advance(3)
    assert [record.getMessage() for record in caplog.records][:1] == ["a table: about 3 rows"]
    assert caplog.records[1].getMessage().startswith("a table: 3 rows in ")


def test_nothing_is_said_unless_somebody_listens(capfd):
    stationary(SYSTEM, DRF(), shape=8)
    assert capfd.readouterr() == ("", "")
    with listening(1):
        stationary(SYSTEM, DRF(), shape=8)
    assert capfd.readouterr().err.startswith("queueing.chain.solvers.choose_solver: ")
    stationary(SYSTEM, DRF(), shape=8)
    assert capfd.readouterr() == ("", "")


@pytest.mark.long
def test_the_simulation_says_its_level(caplog):
    caplog.set_level(logging.INFO)
    system = System(SYSTEM.problem, SYSTEM.arrival_rates, sizes=Erlang(2))
    queueing.simulate(system, DRF(), jobs=200, replications=2, rng=1)
    assert "simulation of jobs, because sizes are not exponential" in caplog.text


@pytest.mark.long
def test_verbose_commands_say_what_they_decide_beside_the_result(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = '{"policies": ["drf"], "pool": {"demands": [[1]], "capacities": [9]}, "traffic": {"loads": [3]}}'
    Path("one.json").write_text(text)
    quiet, loud = run("solve", "one.json", "--json"), run("solve", "one.json", "--json", "-v")
    assert quiet.stdout == loud.stdout
    assert quiet.stderr == ""
    assert "queueing.chain.solvers.choose_solver: " in loud.stderr
    assert not any(logging.getLogger(name).handlers for name in ("fairness", "queueing", "fairqueues"))
