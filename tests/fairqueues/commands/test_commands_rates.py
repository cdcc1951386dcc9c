"""The hero figure in one command: mean service rates against the load, for a file of one's own."""

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import typer
import xarray as xr

import queueing
from fairqueues.console.inputs import examples
from fairqueues.console.output import Delivery
from fairqueues.errors import OutputError, WrongUse
from fairqueues.scenario import Scenario
from tests.fairqueues.commands.command_line import TWO, run

CLUSTER = """\
policies = ["psdsf"]
[cluster]
demands = [[1, 1], [1, 2]]
capacities = [[4, 4], [9, 9]]
[traffic]
mix = [1, 1]
load = 0.5
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "two.toml"
    path.write_text(TWO)
    return path


def test_the_figure_and_its_numbers(file):
    outputs = [word for name in ("r.svg", "r.json", "r.nc") for word in ("-o", name)]
    printed = run("rates", file, "--loads", ".2:.6:3", *outputs).stdout
    words = Path("r.svg").read_text()
    for name in ("balanced fairness", "bound", "DRF", "PF"):
        # In the legend, and at the ends of the lines of both classes.
        assert words.count(f"<!-- {name} -->") == 3, name
    assert "mean service rate (tasks per active job)" in words
    scenario = Scenario.read(file)
    with xr.open_dataset("r.nc") as data:
        assert data.policy.values.tolist() == ["balanced fairness", "bound", "DRF", "PF"]
        for load in (0.2, 0.4, 0.6):
            system = scenario.system.at_load(load)
            known = [queueing.balanced_fairness(system), queueing.duration_bound(system)]
            known += [queueing.stationary(system, policy, tail=1e-6) for policy in scenario.policies]
            for k, law in enumerate(known):
                found = data.service_rates.sel(load=load).isel(policy=k)
                np.testing.assert_array_equal(found, law.service_rates)
    rows = json.loads(Path("r.json").read_text())["results"]
    assert {row["found_by"] for row in rows} == {"balanced", "bound", "chain"}
    assert "DRF: Markov chain at 3 of 3 loads, relative error of the mean jobs, estimated" in printed
    assert not list(Path().glob("*.part"))


@pytest.mark.long
def test_methods_loads_and_durations_are_chosen(file):
    printed = run("rates", file, "--loads", ".3,.6", "-p", "bound", "--durations", "-o", "d.svg").stdout
    assert printed.splitlines()[1].split() == ["job", "class", "load", "bound"]
    bound = queueing.duration_bound(Scenario.read(file).system.at_load(0.6))
    assert printed.splitlines()[3].split() == ["A", "0.6", f"{bound.mean_durations[0]:.6g}"]
    assert "mean duration (time)" in Path("d.svg").read_text()


@pytest.mark.long
def test_tables_of_the_file_count(file):
    simulation = "[simulation]\nevents = 3000\nreplications = 4\nprecision = 5\n"
    file.write_text(TWO + "[chain]\nmax_states = 20\n" + simulation)
    run("rates", file, "--loads", ".3", "-p", "pf", "-o", "r.json")
    known = json.loads(Path("r.json").read_text())
    assert {row["found_by"] for row in known["results"]} == {"simulation"}
    assert known["seed"] == 7
    run("rates", file, "--loads", ".3", "-p", "pf", "--seed", "8", "-o", "r.json")
    assert known["results"] != json.loads(Path("r.json").read_text())["results"]


def test_servers_have_no_balanced_fairness(file):
    file.write_text(CLUSTER)
    printed = run("rates", file, "--loads", ".3").stdout
    assert "balanced fairness and its bound are known for one pool, and left out here" in printed
    assert printed.splitlines()[1].split() == ["job", "class", "load", "PS-DSF", "rdm"]
    assert "'bound' is known for one pool" in run("rates", file, "-p", "bound", code=2).stderr


@pytest.mark.long
def test_what_a_method_cannot_is_a_failure_beside_the_others(file):
    file.write_text(TWO.replace("capacities = [10, 10]\n", "capacities = [10, 10]\nlimits = [0.5, 0.5]\n"))
    result = run("rates", file, "--loads", ".3", "-p", "bound", "-p", "balanced", "-o", "r.svg", code=1)
    assert (
        "failed: bound: no means at load 0.3: ModelError: the bound is for jobs without lim" in result.stderr
    )
    assert Path("r.svg").exists()


@pytest.mark.parametrize(
    ("loads", "message"),
    [
        (".1:.9", "--loads must be FIRST:LAST:N, such as .1:.95:18"),
        (".1:.9:0", "--loads must be FIRST:LAST:N"),
        (".1:.9:2.5", "--loads must be FIRST:LAST:N"),
        ("high", "--loads must be FIRST:LAST:N"),
        (".1:1:3", "--loads must be increasing and between 0 and 1"),
        (".6,.3", "--loads must be increasing and between 0 and 1"),
    ],
)
def test_wrong_loads(file, loads, message):
    assert message in run("rates", file, "--loads", loads, code=2).stderr


def test_where_points_are_kept(tmp_path):
    """Beside the first output until that is written, also where a check failed; not where nothing is."""
    report = tmp_path / "r.html"
    deliver = Delivery(None, False, False, (tmp_path / "r.svg", tmp_path / "r.nc"), report)
    part = tmp_path / "r.svg.part"
    for failed, stays in ((None, False), (typer.Exit(1), False), (OutputError("disk full"), True)):
        with suppress(typer.Exit, OutputError), deliver.finished_points(None) as passing:
            assert passing == part
            part.write_text("points")
            if failed is not None:
                raise failed
        assert part.exists() == stays
    kept = tmp_path / "kept"
    kept.write_text("points")
    for given, of_file in ((kept, "of the file"), (None, str(kept))):
        with deliver.finished_points(given, of_file) as path:
            assert path == kept
        assert kept.exists()
    with replace(deliver, out=()).finished_points(None) as path:
        assert path is None
    for path in (report, tmp_path / "." / "r.nc"):
        with (
            pytest.raises(WrongUse, match="is both the checkpoint and the result"),
            deliver.finished_points(None, str(path)),
        ):
            pass


def test_answers_in_a_given_time_go_on(file, tmp_path):
    """A day is enough for any machine; what was kept is not looked for again."""
    options = ("--seconds", "86400", "--checkpoint", "kept.json", "--json")
    first = json.loads(run("rates", file, "--loads", ".3", "-p", "pf", "-p", "bound", *options).stdout)
    law = queueing.stationary(Scenario.read(file).system.at_load(0.3), Scenario.read(file).policies[1])
    rows = [row for row in first["results"] if row["policy"] == "PF"]
    assert [row["known"].split(",")[0] for row in rows] == ["chain", "chain"]
    claimed = np.array([row["mean_jobs_error"] for row in rows]) + law.mean_jobs_error
    assert (np.abs([row["mean_jobs"] for row in rows] - law.mean_jobs) <= claimed).all()
    assert (claimed <= 2e-6 * law.mean_jobs).all()  # each of the two is known to 1e-6
    again = json.loads(run("rates", file, "--loads", ".3", "-p", "pf", "-p", "bound", *options).stdout)
    assert again["results"] == first["results"]
    assert "start was found for other loads" in run(
        "rates", file, "--loads", ".4", "-p", "pf", "-p", "bound", *options, code=2
    ).stderr  # fmt: skip


def test_orders_of_whole_jobs_stand_where_policies_do():
    rows = json.loads(run("solve", "whole_jobs", "--json").stdout)["results"]
    system = Scenario.read(examples()["whole_jobs"]).system
    for order in (queueing.FCFS(), queueing.FCFS(lookahead=1), queueing.ServerFilling()):
        law = queueing.stationary(system, order)
        told = [row["mean_jobs"] for row in rows if row["method"] == order.name]
        np.testing.assert_array_equal(told, law.mean_jobs)
    assert {"MaxWeight", "priorities, most first", "PF", "balanced fairness"} < {
        row["method"] for row in rows
    }
    text = run("simulate", "whole_jobs", "-p", "fcfs", "-p", "pf", "--events", "20000").stdout
    assert "FCFS: 95 % intervals from 180,000 events" in text
    run("simulate", "whole_jobs", "-p", "max-weight", "-p", "pf", "--events", "2000", "--replications", "2")
    for command in (("allocate", "--counts", "3,2"), ("fluid",), ("audit",)):
        told = run(*command, "whole_jobs", "-p", "fcfs", code=2).stderr
        assert "an order of whole jobs is for is_stable, stationary, simulate and solve" in told
    assert "certified is not for whole jobs" in run("solve", "whole_jobs", "--certified", code=2).stderr
    told = run("simulate", "whole_jobs", "-p", "server-filling", code=2).stderr
    assert "stationary(system, ServerFilling())" in told


def test_solve_in_a_given_time(file):
    text = run("solve", file, "--load", "1.5", "--seconds", "86400").stdout
    assert "overload" in text
    text = run("solve", file, "--load", ".5", "--seconds", "86400").stdout
    assert "at load 0.5 no policy has fewer than " in text
    assert "PF has at most" in text
    for wrong in (("--seconds", "9", "--tail", "1e-3"), ("--precision", ".1")):
        assert "--seconds" in run("solve", file, *wrong, code=2).stderr
