"""The command line: every command against the library, output in every form, and examples that run."""

import inspect
import io
import json
import os
import re
import shlex
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from typer.main import get_command

import capacity
import fairness
import queueing
from fairness.cloud import demand_profile, edrf
from fairness.evidence.pools import Certificate
from fairqueues.commands.app import COMMANDS, app
from fairqueues.console.inputs import examples
from fairqueues.console.options import documented
from fairqueues.console.output import _write_netcdf
from fairqueues.console.remedies import placed
from fairqueues.errors import WrongUse
from fairqueues.report.outcome import Outcome
from fairqueues.scenario import Scenario
from proofs import Verdict, verify
from tests.fairqueues.commands.command_line import ROOT, TWO, as_json, environment, run
from tests.processes import PATIENCE


@pytest.fixture
def file(place):
    return place / "two.toml"


def column(data, name, where):
    """Values of a column in the rows that have some entries."""
    return [row[name] for row in data["results"] if all(row[k] == v for k, v in where.items())]


# --- against the library -------------------------------------------------------------------------------


def test_allocate(file):
    scenario = Scenario.read(file)
    data = as_json("allocate", file, "--counts", "1,3", "-p", "drf", "-p", "alpha:2")
    for policy in (fairness.DRF(), fairness.AlphaFair(2)):
        expected = fairness.allocate(scenario.model, policy, [1, 3])
        assert column(data, "tasks", {"policy": expected.name}) == expected.tasks.tolist()
        (evidence,) = [e for e in data["evidence"] if e["subject"] == expected.name]
        assert evidence["holds"] is True
    assert data["inputs"]["scenario"] == TWO
    assert data["seed"] is None


def test_allocate_on_servers(file):
    file.write_text(
        'title = "Servers"\npolicies = ["psdsf", "tsf"]\n[cluster]\ndemands = [[1, 2], [1, 0]]\n'
        "capacities = [[4, 4], [6, 0]]\n"
    )
    scenario = Scenario.read(file)
    data = as_json("allocate", file, "--out", "a.png")
    for policy in scenario.policies:
        expected = fairness.allocate(scenario.model, policy)
        assert column(data, "tasks", {"policy": expected.name}) == expected.tasks.tolist()


def test_solve_puts_chain_balanced_fairness_and_bound_side_by_side(file):
    system = Scenario.read(file).system
    data = as_json("solve", file)
    expected = {
        "DRF": queueing.stationary(system, fairness.DRF(), tail=1e-9),
        "PF": queueing.stationary(system, fairness.ProportionalFair(), tail=1e-9),
        "balanced fairness": queueing.balanced_fairness(system),
        "bound": queueing.duration_bound(system),
    }
    for name, law in expected.items():
        assert column(data, "mean_jobs", {"method": name}) == law.mean_jobs.tolist()
    scaled = as_json("solve", file, "--load", "0.25", "-p", "pf")
    half = queueing.System(system.problem, system.arrival_rates / 2)
    bound = queueing.duration_bound(half).mean_jobs
    # Rounding of the scaled loads.
    assert column(scaled, "mean_jobs", {"method": "bound"}) == pytest.approx(bound, rel=1e-12)


def test_solve_keeps_the_chains_where_the_closed_bound_does_not_hold(file):
    file.write_text(TWO.replace("[pool]", "[pool]\nlimits = [2, inf]"))
    data = as_json("solve", file, "-p", "drf", "--tail", "1e-4")
    assert {row["method"] for row in data["results"]} == {"DRF", "balanced fairness"}
    assert not data["failures"]
    # In a given time the bound is asked for beside it; that it is not known is no failure.
    data = as_json("solve", file, "-p", "drf", "--seconds", "3")
    assert not data["failures"]


@pytest.mark.long
def test_solve_takes_the_laws_of_the_sizes(file):
    file.write_text(TWO.replace("load = 0.5", 'load = 0.3\nsizes = "hyperexponential:2"'))
    scenario = Scenario.read(file)
    data = as_json("solve", file, "-p", "drf", "--tail", "1e-4")
    law = queueing.stationary(scenario.system, fairness.DRF(), tail=1e-4)
    assert column(data, "mean_jobs", {"method": "DRF"}) == pytest.approx(law.mean_jobs, rel=1e-9)  # solver


@pytest.mark.parametrize("level", ["jobs", "counts"])
def test_simulate(file, level):
    system = Scenario.read(file).system
    data = as_json("simulate", file, "-p", "pf", "--level", level, "--events", 500, "--replications", 3)
    length = {"jobs" if level == "jobs" else "events": 500}
    result = queueing.simulate(system, fairness.ProportionalFair(), **length, replications=3, rng=7)
    assert column(data, "mean_jobs", {"policy": "PF"}) == result.mean_jobs.tolist()
    assert data["seed"] == 7
    other = as_json(*shlex.split(data["command"])[1:])
    assert other["results"] == data["results"]
    again = as_json("simulate", file, "-p", "pf", "--level", level, "--events", 500, "--seed", 8)
    assert again["results"] != data["results"]
    assert again["command"].endswith("--seed 8")


@pytest.mark.long
@pytest.mark.parametrize("level", ["jobs", "counts"])
def test_simulate_at_another_load(file, level):
    short = ["--level", level, "--events", 500, "--replications", 3, "-p", "pf"]
    data = as_json("simulate", file, *short, "--load", 0.25)
    file.write_text(TWO.replace("load = 0.5", "load = 0.25"))
    assert data["results"] == as_json("simulate", file, *short)["results"]
    assert "--load 0.25" in data["command"]


def test_a_simulation_that_misses_its_precision_is_kept(file):
    options = ["--load", 0.2, "--events", 500, "--replications", 3, "--max-replications", 4]
    both = ["-p", "pf", "-p", "drf", "--precision", 1e-3]
    result = run("simulate", file, *options, *both, "-o", "kept.json", code=1)
    *wrote, pf, drf = result.stderr.splitlines()
    assert wrote == ["wrote kept.json"]
    assert pf.startswith("failed: PF: after ")
    assert drf.startswith("failed: DRF: after ")
    assert "more than the precision 0.001" in drf
    assert "raise max_replications (here: --events, --max-replications)" in drf
    data = json.loads(Path("kept.json").read_text())
    system = Scenario.read(file).system.at_load(0.2)
    told = queueing.simulate(system, fairness.DRF(), level="jobs", jobs=500, replications=4, rng=7)
    assert column(data, "mean_jobs", {"policy": "DRF"}) == told.mean_jobs.tolist()
    assert data["failures"] == [line.removeprefix("failed: ") for line in (pf, drf)]


def test_simulate_in_an_order_of_service(file):
    file.write_text(TWO + '[simulation]\njobs = 500\nreplications = 3\norder = "srpt"\n')
    system = Scenario.read(file).system
    data = as_json("simulate", file, "-p", "pf")
    result = queueing.simulate(
        system, fairness.ProportionalFair(), jobs=500, replications=3, rng=7, order="srpt"
    )
    assert column(data, "mean_jobs", {"policy": "PF"}) == result.mean_jobs.tolist()
    assert "order in which jobs of a class are served: srpt" in data["notes"]


def test_simulate_whole_tasks_and_say_that_policies_are_not_simulated(file):
    file.write_text(
        TWO + '[simulation]\nlevel = "tasks"\nevents = 500\nreplications = 2\nschedulers = ["fifo"]\n'
    )
    system = Scenario.read(file).system
    data = as_json("simulate", file)
    tasks = queueing.Tasks(per_job=queueing.GeometricTasks(100.0))
    result = queueing.simulate(
        system, queueing.FIFOScheduler(), tasks=tasks, events=500, replications=2, rng=7
    )
    assert column(data, "mean_jobs", {"policy": "FIFO"}) == result.mean_jobs.tolist()
    assert len(data["results"]) == system.n_classes
    (said,) = [note for note in data["notes"] if "schedulers" in note]
    for words in ("FIFO", "not the policies of the file", "--level jobs", "of [simulation] schedulers"):
        assert words in said
    told = run("simulate", file, "-p", "pf", code=2).stderr
    assert "schedulers" in told
    assert "--level jobs" in told


def test_simulate_says_that_a_run_is_too_short(file):
    data = as_json("simulate", file, "-p", "pf", "--events", 60, "--replications", 2)
    assert {row["mean_durations_half_width"] for row in data["results"]} == {"inf"}
    assert any(note.startswith("warning: PF: ") and "too short" in note for note in data["notes"])
    text = run("simulate", file, "-p", "pf", "--events", 60, "--replications", 2).stdout
    assert "warning: PF: " in text
    assert re.search("no intervals from [0-9,]+ events, see the warning$", text, re.M)
    assert re.search("give more jobs, .* times as much .here: --events", text)


def test_simulate_says_which_class_no_run_saw(tmp_path):
    rare = tmp_path / "rare.toml"
    # A job in a billion is of class B.
    rare.write_text(TWO.replace("mix = [2, 1]", "mix = [1, 1e-9]"))
    options = ["--level", "counts", "--events", 1000, "--replications", 2]
    data = as_json("simulate", rare, "-p", "pf", *options)
    told = "no job was seen of 'B'; give more events (here: --events)"
    assert f"warning: PF: {told}" in data["notes"]
    assert data["evidence"][0]["claim"].endswith("largest relative half-width of those given")


def test_schedulers_that_no_file_gives_are_the_default(file):
    data = as_json("simulate", file, "--level", "tasks", "--events", 500)
    (said,) = [note for note in data["notes"] if "schedulers" in note]
    assert ", the default, and not the policies" in said


def test_the_chain_is_refused_with_the_commands_that_help(file):
    model = f"demands = {[[1, 1]] * 30}\ncapacities = [8, 8]\n"
    file.write_text(f'policies = ["pf"]\n[pool]\n{model}[traffic]\nmix = {[1] * 30}\nload = 0.5\n')
    told = run("solve", file, code=2).stderr
    assert "(here: fairqueues simulate, fairqueues fluid" in told


def test_fluid(file):
    system = Scenario.read(file).system
    data = as_json("fluid", file, "-p", "drf")
    path = queueing.trajectory(system, fairness.DRF(), [5, 1])
    assert column(data, "A", {"policy": "DRF"}) == path.counts[:, 0].tolist()
    (verdict,) = data["tables"]["verdicts"]
    assert verdict["status"] == queueing.fluid_verdict(system, fairness.DRF(), rng=7).status == "stable"
    assert verdict["emptying_time"] == path.emptying_time
    only = as_json("fluid", file, "--verdict")
    assert [row["status"] for row in only["results"]] == ["stable", "stable"]


KINDS = {"stability": [], "service": ["--rate", 0.3], "policy": ["-p", "pf"], "packing": []}


@pytest.mark.parametrize("kind", KINDS)
def test_region(file, kind):
    model = Scenario.read(file).model
    data = as_json("region", file, "--kind", kind, *KINDS[kind], "--out", "r.svg")
    rays = {"points": 3, "precision": 1e-4}
    expected = {
        "stability": lambda: capacity.stability_region(model),
        "service": lambda: capacity.service_region(model, "balanced", 0.3, **rays),
        "policy": lambda: capacity.policy_stability_region(model, fairness.ProportionalFair(), **rays),
        "packing": lambda: capacity.packing_region(model),
    }[kind]().to_dataframe()
    assert len(data["results"]) == len(expected)
    name = expected.columns[0]
    np.testing.assert_array_equal([row[name] for row in data["results"]], expected[name])
    assert Path("r.svg").read_text().startswith("<?xml")


THIRTY = """policies = ["pf"]
[network]
backbone = "abilene"
traffic = { total = 10, weights = "population", pairs = 30 }
[traffic]
load = 0.7
"""


@pytest.mark.long
def test_a_region_of_thirty_routes_is_told_by_facets_and_a_ray(file):
    file.write_text(THIRTY)
    scenario = Scenario.read(file)
    data = as_json("region", file, "-o", "r.svg", "-o", "r.csv")
    region = capacity.stability_region(scenario.model)
    assert [row["facet"] for row in data["results"]] == list(region.facet_names)
    used = region.facets.normals @ scenario.system.loads / region.facets.offsets
    np.testing.assert_allclose([row["relative_load"] for row in data["results"]], used)
    assert data["membership"] == {"relative_load": pytest.approx(0.7), "fits": True}
    assert data["ray"]["multiple"] == pytest.approx(1 / 0.7)
    assert "the loads of the file: fit, relative load 0.7" in run("region", file).stdout
    assert "Los Angeles-Houston full first" in run("region", file).stdout
    assert len(pd.read_csv("r.csv").columns) == 30 + 6
    assert "ray ends at" in Path("r.svg").read_text()


def test_a_section_of_thirty_routes_is_drawn(file):
    file.write_text(THIRTY)
    scenario = Scenario.read(file)
    names = scenario.model.job_classes[:2]
    options = [word for name in names for word in ("--section", name)]
    data = as_json("region", file, *options, "-o", "s.svg")
    section = capacity.region_section(capacity.stability_region(scenario.model), names, scenario.system.loads)
    np.testing.assert_array_equal([[row[n] for n in names] for row in data["results"]], section.vertices)
    assert "inside: relative load" in Path("s.svg").read_text()
    told = run("region", file, "--section", "Seattle", code=2).stderr
    assert "did you mean" in told
    assert "classes are Los Angeles-New York" in told


@pytest.mark.long
def test_boundaries_of_thirty_routes_are_told_along_the_mix(file):
    file.write_text(THIRTY)
    scenario = Scenario.read(file)
    loads = scenario.system.loads
    data = as_json("region", file, "--kind", "service", "--rate", "0.2", "-p", "bound", "-o", "r.svg")
    point = capacity.service_boundary(scenario.model, "bound", 0.2, loads, precision=1e-4)
    np.testing.assert_array_equal(column(data, "boundary", {"region": "bound"}), point.loads)
    np.testing.assert_array_equal(column(data, "service_rate", {"region": "bound"}), point.service_rates)
    inner, outer = data["boundaries"]["bound"]["multiples"]
    assert inner == pytest.approx(point.inner / 0.7)
    assert outer == pytest.approx(point.outer / 0.7)
    assert "loads of the file" in Path("r.svg").read_text()
    mix = np.arange(30) % 3 == 0
    data = as_json("region", file, "--kind", "policy", "--ray", ",".join(map(str, mix.astype(int))))
    (told,) = data["boundaries"].values()
    most = capacity.stability_region(scenario.model).max_scale(mix.astype(float))
    assert told["multiples"][0] <= most <= told["multiples"][1] + 1e-9  # proportional fairness loses nothing
    refused = run("region", file, "--kind", "service", "--rate", "0.2", "-p", "drf", code=2).stderr
    assert "a chain of 30 classes" in refused
    assert "--policy simulated:POLICY" in refused
    assert "--points" in run("region", file, "--kind", "policy", "--points", 9, code=2).stderr


@pytest.mark.long
def test_a_boundary_and_provisioning_by_simulation(file):
    scenario = Scenario.read(file)
    method = scenario.rate_method("simulated:drf")
    assert method == capacity.Simulated(fairness.DRF(), events=100_000, replications=40, rng=7)
    given = 'kind = "service"\nminimum_service_rate = 0.3\nprecision = 0.1\nmethod = "simulated:drf"'
    file.write_text(TWO.replace("[region]", f"[region]\n{given}"))
    data = as_json("region", file, "--ray", "1,1")
    point = capacity.service_boundary(scenario.model, method, 0.3, [1, 1], precision=0.1)
    np.testing.assert_array_equal([row["boundary"] for row in data["results"]], point.loads)
    assert data["seed"] == 7
    other = as_json("region", file, "--ray", "1,1", "--seed", 8)
    assert other["seed"] == 8
    assert other["results"] != data["results"]
    data = as_json("provision", file, "--method", "simulated:drf")
    loads = scenario.system.loads
    bought = capacity.provision(scenario.model, loads, [1, 2], method=method, minimum_service_rate=0.3)
    assert data["cost"] == bought.cost
    assert data["seed"] == 7
    assert data["floor_cost"] <= data["cost"]


def test_a_ray_and_the_volume_of_a_region(file):
    data = as_json("region", file, "--ray", "1,1", "--volume", "--seed", 3)
    model = Scenario.read(file).model
    region = capacity.stability_region(model)
    assert data["ray"]["multiple"] == region.max_scale([1, 1])
    (volume,) = data["volumes"]
    assert volume["logarithm"] == capacity.region_volume(region, rng=3).logarithm
    assert data["seed"] == 3
    assert "an estimate by simulated annealing" in run("region", file, "--volume", "--seed", 3).stdout


def test_loads_of_0_give_no_ray(file):
    file.write_text("[pool]\ndemands = [[1, 2], [2, 1], [1, 1]]\ncapacities = [9, 12]\n[traffic]\n")
    with file.open("a") as text:
        text.write("mix = [1, 0, 0]\nload = 0.5\n")
    data = as_json("region", file, "--section", "class 2", "--section", "class 3", "-o", "s.svg")
    assert "ray" not in data
    assert [row["class 3"] for row in data["results"]] == [0, 6, 0]
    assert "entries >= 0, not all 0" in run("region", file, "--ray", "0,0,0", code=2).stderr
    five = "[pool]\ndemands = [[1], [2], [3], [4], [5]]\ncapacities = [60]\n[region]\nmax_vertices = 2\n"
    file.write_text(five + "[traffic]\narrival_rates = [0, 0, 0, 0, 0]\n")
    data = as_json("region", file)
    assert data["membership"]["fits"] is True
    assert [row["classes"] for row in data["results"]] == [5]
    assert "give --section, or --ray" in run("region", file, "-o", "r.svg", code=2).stderr


def test_a_cluster_with_too_many_facets_is_told_by_membership_and_a_ray(file):
    model = f"demands = {[[1 + k % 3, 2 + k % 2] for k in range(14)]}\ncapacities = [[20, 25], [30, 18]]\n"
    file.write_text(f"[cluster]\n{model}")
    told = run("region", file, code=2).stderr
    assert "more than max_facets" in told
    assert "(here: max_facets in [region], --section)" in told
    file.write_text(f"[cluster]\n{model}[traffic]\nmix = {[1] * 14}\nload = 0.5\n")
    scenario = Scenario.read(file)
    data = as_json("region", file, "-o", "r.svg")
    assert data["membership"]["relative_load"] == pytest.approx(0.5)
    edge = np.array([row["boundary"] for row in data["results"]])
    np.testing.assert_allclose(edge, 2 * scenario.system.loads, rtol=1e-8)
    assert edge @ [row["price"] for row in data["results"]] == pytest.approx(1, rel=1e-8)
    (first, second), options = (
        scenario.model.job_classes[:2],
        ("--section", "class 1", "--section", "class 2"),
    )
    rows = as_json("region", file, *options)["results"]
    assert all({first, second} <= set(row) for row in rows)


@pytest.mark.parametrize("kind", KINDS)
def test_names_that_netcdf_cannot_hold_are_values_of_a_region(file, kind):
    file.write_text(TWO.replace('["A", "B"]', '["a/b", "=1+1"]'))
    run("region", file, "--kind", kind, *KINDS[kind], "-o", "r.nc", "-o", "r.json")
    rows = json.loads(Path("r.json").read_text())["results"]
    with xr.open_dataset("r.nc") as data:
        assert data.job_class.values.tolist() == ["a/b", "=1+1"]
        name, column = ("load", "load a/b") if kind in ("service", "policy") else ("load", "a/b")
        first = data[name].isel(region=0).sel(job_class="a/b").values
        np.testing.assert_array_equal(first, [r[column] for r in rows if r["region"] == rows[0]["region"]])


def test_names_that_netcdf_cannot_hold_are_values_of_a_trajectory(file):
    file.write_text(TWO.replace('["A", "B"]', '["a/b", "=1+1"]'))
    run("fluid", file, "-o", "f.nc")
    with xr.open_dataset("f.nc") as data:
        assert data.jobs.isel(policy=0, step=0).sel(job_class=["a/b", "=1+1"]).values.tolist() == [5, 1]


def test_a_column_that_netcdf_cannot_hold_is_told_as_such(file):
    with pytest.raises(WrongUse, match="NetCDF has no variable called 'a/b'"):
        _write_netcdf(Path("a.nc"), Outcome("t", pd.DataFrame({"a/b": [1.0]})), "c")


def test_sweep_writes_netcdf_csv_and_figure(file):
    result = run("sweep", file, "-o", "s.nc", "-o", "s.csv", "-o", "s.svg", "-o", "s.json")
    scenario = Scenario.read(file)
    with xr.open_dataset("s.nc") as dataset:
        for policy in scenario.policies:
            for load in (0.2, 0.4):
                system = queueing.System.with_load(scenario.model, [2, 1], load)
                law = queueing.stationary(system, policy, tail=1e-9)
                found = dataset.mean_jobs.sel(policy=policy.name, load=load)
                np.testing.assert_array_equal(found, law.mean_jobs)
        assert np.isnan(dataset.mean_jobs.sel(load=1.2)).all()
        assert all(str(e).startswith("UnstableError") for e in dataset.error.sel(load=1.2).values.ravel())
        assert dataset.attrs["scenario"] == TWO
        assert dataset.attrs["seed"] == "7"
        assert dataset.mean_durations.attrs["units"] == "unit of time"
        assert (dataset["load"].attrs["units"], dataset.policy.attrs["long_name"]) == ("1", "policy")
        frame = pd.read_csv("s.csv")
        assert frame.mean_jobs.sum() == pytest.approx(float(dataset.mean_jobs.sum()), rel=1e-12)  # text
    assert json.loads(Path("s.json").read_text())["seed"] == 7
    assert "2 of them without a stationary law" in result.stdout
    assert result.stdout.count("UnstableError: ") == 1
    assert not list(Path().glob("*.part"))


def test_sweep_takes_the_methods_of_its_table(file):
    file.write_text(TWO.replace("[sweep]\n", '[sweep]\nmethods = ["bound", "pf", "balanced"]\n'))
    run("sweep", file, "-o", "s.nc")
    system = queueing.System.with_load(Scenario.read(file).model, [2, 1], 0.4)
    with xr.open_dataset("s.nc") as dataset:
        assert dataset.policy.values.tolist() == ["bound", "PF", "balanced fairness"]
        bound, balanced = queueing.duration_bound(system), queueing.balanced_fairness(system)
        for label, law in (("bound", bound), ("balanced fairness", balanced)):
            found = dataset.mean_durations.sel(policy=label, load=0.4)
            np.testing.assert_array_equal(found, law.mean_durations)
    asked = as_json("sweep", file, "-p", "balanced")
    assert {row["policy"] for row in asked["results"]} == {"balanced fairness"}


def test_solve_keeps_to_the_largest_grid_of_the_file(file):
    file.write_text(file.read_text() + "[chain]\nmax_states = 30\n")
    assert "exceeds max_states=30" in run("solve", file, code=1).stderr


@pytest.mark.parametrize("sizes", ["exponential", pytest.param("erlang:2", marks=pytest.mark.long)])
def test_sweep_takes_chain_and_sizes(file, sizes):
    text = TWO.replace("load = 0.5", f'load = 0.5\nsizes = "{sizes}"').replace("0.4, 1.2", "0.3")
    file.write_text(text + "[chain]\nshape = 7\n")
    run("sweep", file, "-p", "drf", "-o", "s.nc")
    scenario = Scenario.read(file)
    law_of_sizes = {"exponential": queueing.Exponential(), "erlang:2": queueing.Erlang(2)}[sizes]
    system = queueing.System.with_load(scenario.model, [2, 1], 0.3, sizes=law_of_sizes)
    law = queueing.stationary(system, fairness.DRF(), shape=7)
    with xr.open_dataset("s.nc") as dataset:
        np.testing.assert_array_equal(dataset.mean_jobs.sel(policy="DRF", load=0.3), law.mean_jobs)


def test_cloud(file):
    data = as_json("cloud", file, "--rounds", 2, "--deadline", 5, "--intervals", 2)
    exact = edrf(demand_profile("G0", 300, 40, longest=40, rng=7))
    (row,) = [r for r in data["results"] if r["algorithm"] == "EDRF"]
    assert row["least_level"] == exact.levels.min()
    assert [r["algorithm"] for r in data["results"]] == ["EDRF", "EDRF by rounds", "DC-DRF"]
    assert len(data["tables"]["deadline controller"]) == 2


def test_audit(file):
    data = as_json("audit", file)
    scenario = Scenario.read(file)
    expected = fairness.audit(list(scenario.policies), ["SI", "RM"], budget=30, rng=7).to_dataframe()
    found = pd.DataFrame(data["results"]).set_index("property")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_names=False)


def test_provision(file):
    scenario = Scenario.read(file)
    data = as_json("provision", file, "--method", "bound")
    loads = scenario.system.loads
    expected = capacity.provision(scenario.model, loads, [1, 2], method="bound", minimum_service_rate=0.3)
    assert [row["capacity"] for row in data["results"]] == expected.capacities.tolist()
    assert data["cost"] == expected.cost


def test_prove():
    name = as_json("prove", "--list")["results"][0]["id"]
    one = as_json("prove", name, "--verify")
    assert one["evidence"][0]["holds"] is True
    verify(Verdict.from_json(json.dumps(one["verdicts"][0])))
    assert [row["id"] for row in one["results"]] == [name]


def test_schema_and_version():
    assert "pool" in json.loads(run("schema").stdout)["properties"]
    data = json.loads(run("version", "--json").stdout)
    assert data["python"] == sys.version.split()[0]
    assert run("--version").stdout == f"fairqueues {data['fairqueues']}\n"


def test_the_list_of_commands_says_whole_sentences():
    text = " ".join(run("--help").stdout.split())
    for function in COMMANDS.values():
        assert function.__doc__.strip().splitlines()[0] in text


def test_explore_is_called_with_the_scenario(file, monkeypatch):
    called = []
    module = SimpleNamespace(serve=lambda scenario, **options: called.append((scenario.title, options)))
    monkeypatch.setitem(sys.modules, "fairqueues.explorer", module)
    run("explore", file, "--no-browser", "--port", 1234)
    assert called == [("Two classes", {"port": 1234, "open_browser": False})]
    monkeypatch.setattr("fairqueues.commands.explore.find_spec", lambda name: None)
    assert "pip install 'fairqueues[explore]'" in run("explore", file, code=2).stderr


def test_reproduce_and_bench_look_for_a_checkout(tmp_path, monkeypatch):
    from fairqueues.console import repository as checkout

    calls = []
    monkeypatch.setattr(checkout, "_run", lambda root, arguments: calls.append((root, arguments)) or 0)
    run("reproduce", "drf", "--full", "--folder", tmp_path)
    run("bench", "filling")
    assert calls == [
        (ROOT, ["examples.drf", "--out", str(tmp_path), "--full"]),
        (ROOT, ["benchmarks", "filling"]),
    ]
    assert "unknown source 'dfr'" in run("reproduce", "dfr", code=2).stderr
    assert "unknown topic" in run("bench", "nothing", code=2).stderr
    assert "tar xf fairqueues-" in run("bench", "--checkout", tmp_path, code=2).stderr
    monkeypatch.setattr(checkout, "_run", lambda *_: 1)
    run("bench", "filling", code=1)


# --- forms of output -----------------------------------------------------------------------------------


def test_a_table_for_people_without_colours_when_piped(file):
    text = run("allocate", file).stdout
    assert text.startswith("Allocations: Two classes\n")
    assert "\x1b" not in text
    assert re.search(r"DRF +A +1 +0\.909091", text)
    assert "every class has a saturated resource" in text


def terminal(columns, *arguments):
    """What a terminal of that width shows, without colours."""
    master, slave = os.openpty()
    termios.tcsetwinsize(slave, (24, columns))
    command = [sys.executable, "-m", "fairqueues", *arguments]
    variables = environment(TERM="xterm")
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
        variables.pop(name, None)
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=subprocess.PIPE, env=variables)
    os.close(slave)
    parts = []
    with suppress(OSError):  # how a terminal says that the other side has left
        while part := os.read(master, 65536):
            parts.append(part)
    os.close(master)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return re.sub(r"\x1b\[[0-9;]*m", "", b"".join(parts).decode()).replace("\r", "")


@pytest.mark.long
@pytest.mark.parametrize("columns", [160, 80, 30])
def test_a_terminal_of_any_width_shows_every_digit(file, columns):
    text = terminal(columns, "solve", str(file), "-p", "drf")
    law = queueing.stationary(Scenario.read(file).system, fairness.DRF(), tail=1e-9)
    digits = 6 if columns == 160 else 4
    for value in (*law.mean_jobs, *law.mean_durations):
        assert f"{value:.{digits}g}" in text
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= columns


def test_a_scenario_from_standard_input(file):
    data = json.loads(run("allocate", "-", "--json", typed="\ufeff" + TWO).stdout)
    assert data["results"] == as_json("allocate", file)["results"]
    assert data["command"] == "fairqueues allocate -"


def test_csv_is_tidy(file):
    frame = pd.read_csv(io.StringIO(run("solve", file, "--csv").stdout))
    assert list(frame.columns[:3]) == ["method", "job_class", "load"]
    assert len(frame) == 8


@pytest.mark.long
def test_files_repeat_byte_by_byte(file):
    suffixes = ("svg", "json", "pdf", "png")
    for name in ("a", "b"):
        run("solve", file, *(f"--out={name}.{suffix}" for suffix in suffixes))
    for suffix in suffixes:
        assert Path(f"a.{suffix}").read_bytes() == Path(f"b.{suffix}").read_bytes(), suffix


def test_what_fails_is_exit_code_1(file, monkeypatch):
    monkeypatch.setattr(Certificate, "holds", False)
    result = run("allocate", file, "--out", "a.json", code=1)
    assert "failed: DRF" in result.stderr
    assert json.loads(Path("a.json").read_text())["failures"]
    monkeypatch.undo()
    monkeypatch.chdir(file.parent)

    def gives_up(*_, **__):
        raise fairness.NotConvergedError("residual 0.1 after 3 steps", residual=0.1)

    monkeypatch.setattr(fairness, "allocate", gives_up)
    result = run("allocate", file, "--out", "b.json", code=1)
    assert result.stderr == "fairqueues: residual 0.1 after 3 steps\n"
    assert not Path("b.json").exists()


def test_what_one_policy_lacks_is_told_beside_the_others(file, monkeypatch):
    def gives_up(model, policy, jobs, allocate=fairness.allocate):
        if policy == fairness.DRF():
            raise fairness.NotConvergedError("residual 0.1 after 3 steps")
        return allocate(model, policy, jobs)

    monkeypatch.setattr(fairness, "allocate", gives_up)
    data = as_json("allocate", file, code=1)
    assert {row["policy"] for row in data["results"]} == {"PF"}
    assert data["failures"] == ["DRF: residual 0.1 after 3 steps"]


def test_a_bug_keeps_its_traceback(file, monkeypatch):
    monkeypatch.setattr(fairness, "allocate", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run("allocate", file)


def test_a_simulation_is_recommended_where_the_command_takes_it():
    told = placed("too many states; take Simulated(policy) as the method", "provision")
    assert told.endswith("(here: --method simulated:POLICY)")
    told = placed("too many states; take Simulated(policy) as the method", "region")
    assert told.endswith("(here: --policy simulated:POLICY)")


def test_a_remedy_names_the_key_that_helps(file):
    model = "[cluster]\ndemands = [[1, 2], [2, 1], [3, 1]]\ncapacities = [[9, 12], [12, 7]]\n"
    file.write_text(f"{model}[region]\nmax_facets = 3\n")
    assert "(here: max_facets in [region], --section)" in run("region", file, code=2).stderr
    file.write_text(f"{model}[region]\nmax_facets = 50\n")
    run("region", file)


def test_a_time_limit_shows_what_is_known(file):
    told = json.loads(run("provision", "provisioning", "--time-limit", 0, "--json", code=1).stdout)
    assert told["cost"] > 0
    assert not told["optimal"]
    assert "raise time_limit (here: --time-limit)" in told["failures"][0]
    assert "time_limit=0 seconds are over" in run("simulate", file, "--time-limit", 0, code=1).stderr


# --- help ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_told_and_nothing_else(name):
    parameters = get_command(app).commands[name].params
    assert all(one.help for one in parameters)
    told = inspect.getdoc(COMMANDS[name]).partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\w+", told, re.MULTILINE)) <= {one.name for one in parameters}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_an_example(name):
    text = run(name, "--help").stdout
    example = documented(COMMANDS[name])[1]
    assert example in text
    files = [word for word in shlex.split(example)[2:3] if not word.startswith("-")]
    if re.search(r"Usage: .*\bFILE\b", text):
        assert all(Scenario.read(examples()[name]).title for name in files)


@pytest.mark.parametrize("name", ["allocate", "solve", "fluid", "region", "provision"])
def test_the_example_of_the_help_works(name, tmp_path, monkeypatch):
    """On the files that ship; the slower ones are tried by their commands above."""
    monkeypatch.chdir(tmp_path)
    run(*shlex.split(documented(COMMANDS[name])[1])[1:])
