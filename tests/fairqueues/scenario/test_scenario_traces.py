"""[trace] in scenario files: the system is that of the readers and of the fit; a replay takes the record."""

from typing import get_args

import pytest

from fairness import DRF, Hierarchical, ModelError, Problem
from fairqueues.scenario import Scenario, ScenarioError
from fairqueues.scenario.choices import Reader
from fairqueues.scenario.recorded import Trace
from fairqueues.traces import read_tasks
from fairqueues.traces.readers import READERS, read_recorded
from queueing import (
    DRFScheduler,
    FIFOScheduler,
    System,
    TargetScheduler,
    fit_trace,
    read_trace,
    replay,
)
from tests.fairqueues.commands.command_line import as_json, run

TASKS = "submit,duration,user,cpu,gpu\n60,5,b,2,0\n40,30,a,1,0.5\n90,10,a,4,2\n"
NODES = "server,gpu,cpu\ns1,2,4\ns2,,8\n"
TRACE = '[trace]\nreader = "tasks"\nfile = "tasks.csv"\nnodes = "nodes.csv"\nclasses = 2\n'
TRACE += 'columns = { arrival_time = "submit" }\ndevices = "gpu"\nsizes = "exponential"\n'
JOBS = "t,job_class,size\n0,A,2\n1,B,1\n4,A,6\n"
POOL = '[pool]\ndemands = [[1, 4], [3, 1]]\ncapacities = [9, 18]\njob_classes = ["A", "B"]\n'


@pytest.fixture
def folder(tmp_path):
    for name, text in (("tasks", TASKS), ("nodes", NODES), ("jobs", JOBS)):
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


def scenario(folder, text):
    (folder / "s.toml").write_text(text)
    return Scenario.read(folder / "s.toml")


def test_tasks_and_nodes_are_those_of_the_tables(folder):
    trace, nodes = read_tasks(
        folder / "tasks.csv", folder / "nodes.csv", columns={"arrival_time": "submit"}, devices="gpu"
    )
    assert trace.resources == nodes.resources == ("gpu", "cpu")
    assert nodes.capacities.tolist() == [[2, 4], [0, 8]]
    assert (trace.arrivals.tolist(), trace.durations.tolist()) == ([0, 20, 50], [30, 5, 10])
    assert trace.types[trace.type_of].tolist() == [[0.5, 1], [0, 2], [2, 4]]
    assert [trace.users[k] for k in trace.user_of] == ["a", "b", "a"]
    assert "sorted" in trace.notes[0]
    (folder / "plain.csv").write_text("arrival_time,duration,cpu,gpu\n1,2,3,0\n2,1,1,0\n")
    alone, _ = read_tasks(folder / "plain.csv", folder / "nodes.csv")
    assert (alone.users, alone.notes) == (("all",), ())


def test_a_recorded_cluster_is_the_fit_of_its_record(folder):
    made = scenario(folder, TRACE)
    trace, nodes = read_recorded(
        "tasks", folder / "tasks.csv", folder / "nodes.csv", {"arrival_time": "submit"}, "gpu"
    )
    fit = fit_trace(trace, nodes, classes=2, sizes="exponential")
    assert made.system.arrival_rates.tolist() == fit.arrival_rates.tolist()
    assert made.system.sizes == fit.sizes
    assert made.model.demands.tolist() == fit.problem.demands.tolist()
    assert made.recorded[0].arrivals.tolist() == trace.arrivals.tolist()
    slow = scenario(folder, TRACE + "load = 0.5\n")
    assert slow.system.relative_loads.max() == pytest.approx(0.5)
    assert slow.recorded[1].offered_load(slow.recorded[0]).max() == pytest.approx(0.5)
    for reader, save in zip(("t", "n"), made.recorded, strict=True):
        save.save(folder / f"{reader}.json.gz")
    with pytest.raises(ScenarioError, match=r"line 1, trace: .* below 1 .*\); add load = 0\.8, say"):
        _ = scenario(folder, TRACE.replace('"gpu"', '"gpu"\nload = 1.5')).stable_system
    saved = '[trace]\nreader = "saved"\nfile = "t.json.gz"\nnodes = "n.json.gz"\nsizes = "exponential"\n'
    saved += "classes = 2\n"
    assert scenario(folder, saved).system.arrival_rates.tolist() == fit.arrival_rates.tolist()


def test_recorded_jobs_are_the_traffic_of_the_model(folder):
    text = POOL + '[trace]\nreader = "jobs"\nfile = "jobs.csv"\ncolumns = { arrival_time = "t" }\n'
    system = scenario(folder, text).system
    pool = Problem([[1, 4], [3, 1]], [9, 18], job_classes=["A", "B"])
    jobs = read_trace(folder / "jobs.csv", pool, columns={"arrival_time": "t"})
    assert system.arrivals.arrival_times.tolist() == [0, 1, 4]
    assert system.arrival_rates.tolist() == System.from_trace(jobs).arrival_rates.tolist() == [0.5, 0.25]
    assert system.mean_sizes.tolist() == [4, 1]
    assert system.relative_loads.tolist() == pytest.approx([2.75 / 9, 8.25 / 18])


def test_names_of_readers_are_the_same_everywhere():
    assert list(get_args(Reader)) == list(READERS)
    assert {"jobs", *READERS} == set(get_args(Trace.model_fields["reader"].annotation))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TRACE.replace("tasks.csv", "none.csv"), r"line 1, trace: .*none.csv: cannot be read"),
        (TRACE.replace('"tasks"', '"task"'), "line 2, trace.reader: got 'task'; reader must be"),
        (TRACE.replace("submit", "submitted"), "there is no column 'submitted'"),
        (TRACE.replace("arrival_time", "arrivals"), "line 6, trace.columns.arrivals: columns has no entry"),
        (TRACE.replace('nodes = "nodes.csv"\n', ""), "line 1, trace: the key 'nodes' is missing"),
        (TRACE.replace('"tasks"', '"saved"'), 'line 6, trace.columns: columns go with reader "tasks"'),
        (POOL + TRACE, "line 5, trace: .*makes a model of its own"),
        (TRACE + "[traffic]\nloads = [1, 1]\n", r"line 1, trace: .* \[traffic\] too"),
        ('[trace]\nreader = "jobs"\nfile = "jobs.csv"\n', "line 1, trace: .*needs their classes"),
        (
            POOL + '[trace]\nreader = "jobs"\nfile = "jobs.csv"\n',
            "jobs.csv, line 1: there is no column 'arrival_time'",
        ),
        (
            POOL + '[trace]\nreader = "jobs"\nfile = "j"\nload = 0.5\n',
            "line 8, trace.load: is for a",
        ),
        (
            POOL + '[trace]\nreader = "jobs"\nfile = "jobs.csv"\ncolumns = { size = "t" }\n',
            "there is no column",
        ),
        (POOL + '[trace]\nreader = "jobs"\nfile = "jobs.csv"\ncolumns = { size = "job_class" }\n', "twice"),
    ],
)
def test_records_that_do_not_fit_are_told_with_line_and_key(text, said, folder):
    with pytest.raises(ScenarioError, match=said):
        scenario(folder, text)


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        ("arrival_time,duration,cpu,gpu\n1,0,3,0\n", "line 2, duration: must be a finite number > 0; got 0"),
        ("arrival_time,duration,cpu,gpu\n1,2,0,0\n", "line 2, gpu: and all other demands are 0"),
        ("arrival_time,duration,cpu\n1,2,3\n", "there is no column 'gpu'"),
        ("arrival_time,duration,cpu,gpu,user\n1,2,3,0,\n", "line 2, user: is missing"),
    ],
)
def test_tasks_that_are_none(tasks, said, folder):
    (folder / "wrong.csv").write_text(tasks)
    with pytest.raises(ModelError, match=said):
        read_tasks(folder / "wrong.csv", folder / "nodes.csv")


@pytest.mark.long
def test_a_replay_places_tasks_by_the_rule_of_the_scenario_or_of_the_option(folder):
    (folder / "s.toml").write_text(TRACE + '[simulation]\nplacement = "first-fit"\n')
    asked = ("replay", str(folder / "s.toml"), "--scheduler", "fifo")
    assert "Replay(FIFO, first fit: " in run(*asked).stdout
    assert "Replay(FIFO, worst fit: " in run(*asked, "--placement", "worst-fit").stdout
    (folder / "s.toml").write_text(TRACE)
    assert "Replay(FIFO, best fit: " in run(*asked).stdout
    told = run(*asked, "--placement", "", code=2).stderr
    assert "unknown placement ''" in told


def test_a_replay_takes_the_schedulers_of_the_scenario(folder):
    given = '[simulation]\nschedulers = ["fifo", { scheduler = "drf", blocking = true }]\n'
    (folder / "s.toml").write_text('policies = ["pf"]\n' + TRACE + given)
    found = run("replay", str(folder / "s.toml"), "--seed", "1")
    trace, nodes = Scenario.read(folder / "s.toml").recorded
    for one in (FIFOScheduler(blocking=False), DRFScheduler(blocking=True)):
        for line in replay(trace, nodes, one).summary().splitlines():
            assert line.strip() in found.stdout
    assert "Replay(PF" not in found.stdout
    only = run("replay", str(folder / "s.toml"), "--scheduler", "drf")
    assert "Replay(FIFO" not in only.stdout
    (folder / "s.toml").write_text(TRACE + '[simulation]\nschedulers = ["drf:true", "drf"]\n')
    assert "DRF is given twice" in run("replay", str(folder / "s.toml"), code=2).stderr


TREE = '[tree]\nlab = {{ weight = 3, classes = ["{}"] }}\nweb = {{ classes = ["{}"] }}\n'


def test_a_replay_shares_among_the_users_in_the_queues_of_the_scenario(folder):
    (folder / "s.toml").write_text('policies = ["h-drf"]\n' + TRACE + TREE.format("a", "b"))
    made = Scenario.read(folder / "s.toml")
    assert made.tree.job_classes == ("a", "b")
    trace, nodes = made.recorded
    expected = replay(trace, nodes, TargetScheduler(Hierarchical(made.tree, DRF()), blocking=False))
    found = run("replay", str(folder / "s.toml"), "--seed", "1")
    for line in expected.summary().splitlines():
        assert line.strip() in found.stdout
    assert "Replay(H-MMF" in run("replay", str(folder / "s.toml"), "-s", "h-mmf").stdout
    with pytest.raises(ScenarioError, match=r"tree: the class 'b' is in no queue"):
        scenario(folder, TRACE + '[tree]\nlab = { classes = ["a"] }\n')


def test_queues_of_the_fitted_classes_are_none_for_a_replay(folder):
    names = scenario(folder, TRACE).model.job_classes
    (folder / "s.toml").write_text('policies = ["h-drf"]\n' + TRACE + TREE.format(*names))
    assert Scenario.read(folder / "s.toml").tree.job_classes == names
    said = run("replay", str(folder / "s.toml"), code=2).stderr
    assert (
        "a replay shares among the users of the trace, so the classes of the queues in [tree] must be" in said
    )


def test_bursts_that_a_fit_leaves_out_are_told_where_it_is_solved(folder):
    rows = [f"{1000 * (k // 50)},1,u,1,0" for k in range(200)]
    (folder / "tasks.csv").write_text("\n".join(["submit,duration,user,cpu,gpu", *rows]))
    (folder / "s.toml").write_text('policies = ["drf"]\n' + TRACE)
    told = run("simulate", str(folder / "s.toml"), "--seed", "1").stderr
    assert "note: arrivals come in bursts: their numbers vary" in told
    assert "bursts" not in run("replay", str(folder / "s.toml"), "-s", "fifo").stderr
    slow = run("replay", str(folder / "s.toml"), "-s", "fifo", "--load", "2").stdout
    assert "note: arrivals 100 times" in " ".join(slow.split()) or "times as fast as recorded" in slow


@pytest.mark.long
def test_a_replay_takes_the_record_of_the_scenario(folder):
    (folder / "s.toml").write_text('title = "mine"\n' + TRACE)
    found = as_json("replay", str(folder / "s.toml"), "--scheduler", "fifo")
    assert found["title"] == "Replay: mine"
    assert sum(row["tasks"] for row in found["results"]) == 3
    (folder / "p.toml").write_text(POOL)
    assert "a replay needs [trace] of a cluster" in run("replay", str(folder / "p.toml"), code=2).stderr
    both = run("replay", str(folder / "s.toml"), "--trace", "a", "--nodes", "b", code=2)
    assert "leave out --trace and --nodes" in both.stderr
