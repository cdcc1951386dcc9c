"""``fairqueues import``: it writes a scenario that the other commands run, whole or not at all."""

import json
import re

import pytest

from fairqueues.scenario import Scenario
from tests.fairqueues.commands.command_line import as_json, run

JOBS = "job_class,queue,cpu,ram\nA,research/a,1,4\nB,web,3,1\n"
QUEUES = "queue,weight,minimum cpu\nresearch,2,\nresearch/a,1,\nweb,1,3\n"
CAPACITY = ("--capacity", "cpu=9", "--capacity", "ram=18")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "queues.csv").write_text(QUEUES)
    return ["jobs.csv", "queues.csv"]


def test_import_writes_what_allocate_runs(files, tmp_path):
    said = run("import", *files, *CAPACITY, "--output", "c.toml").stdout
    assert said.startswith("c.toml: 2 classes, cpu, ram, 3 queues")
    scenario = Scenario.read("c.toml")
    assert scenario.tree.classes(scenario.tree.node("root/research/a")) == ("A",)
    assert [policy.tree for policy in scenario.policies] == [scenario.tree]
    found = as_json("allocate", "c.toml", "--policy", "drf")
    assert [row["tasks"] for row in found["results"]] == [3, 2]
    queues = {row["queue"]: row for row in found["tables"]["queues"]}
    assert queues["root/research"]["usage of ram"] == queues["root/research/a"]["usage of ram"] == 12
    assert queues["root/web"]["dominant share"] == pytest.approx(6 / 9)
    assert queues["root"]["usage of cpu"] == 9
    text = run("allocate", "c.toml", "--policy", "drf").stdout
    assert "root/research/a" in text
    assert run("import", *files, *CAPACITY).stdout == (tmp_path / "c.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--output", "c.json"], "a scenario is a TOML file, name it .toml"),
        (["--output", "no/c.toml"], "there is no folder 'no'"),
        (["--capacity", "cpu"], "--capacity 'cpu': write RESOURCE=UNITS"),
        (["--capacity", "cpu=1", "--capacity", "cpu=2"], "--capacity gives cpu twice"),
        (["--capacity", "cpu=many"], "'many' is no quantity"),
        (["--capacity", "cpu=9"], "left out|no class can run|nowhere"),
        ([], "no capacities: give nodes"),
        (["nowhere.yaml"], "nowhere.yaml: cannot be read"),
    ],
)
def test_what_import_refuses_leaves_nothing_behind(arguments, said, files, tmp_path):
    if "--output" not in arguments:
        arguments = [*arguments, "--output", "c.toml"]
    result = run("import", *files, *arguments, code=2)
    assert re.search(said, result.stderr)
    assert result.stderr.startswith("fairqueues: ")
    assert result.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(files)


def test_what_is_read_is_not_written_over(files, tmp_path):
    (tmp_path / "nodes.toml").write_text(json.dumps({}))
    assert (
        "would be overwritten" in run("import", *files, "nodes.toml", "--output", "nodes.toml", code=2).stderr
    )
