"""Policies of Python files, named in scenarios and options: what they give, and errors with file and line."""

import importlib
import pickle
import sys

import numpy as np
import pytest
from cloudpickle import dumps

from fairness import Problem, allocate
from fairness.machine.digests import digest_of, told
from fairqueues.scenario import Scenario, ScenarioError
from fairqueues.scenario.names import policy_named
from queueing import TargetScheduler
from tests.fairqueues.commands.command_line import TWO, as_json, program, run

MINE = """\
from __future__ import annotations
from dataclasses import dataclass
import numpy as np
from fairness import one_state
from ours import alone

@one_state
def priority(problem, counts):
    first, second = alone(problem)
    return [first, 0] if counts[0] > 0 else [0, second if counts[1] > 0 else 0]

@dataclass(frozen=True)
class Powers:
    exponent: float = 1

    def __call__(self, problem, counts):
        x = np.asarray(counts, dtype=float) ** self.exponent
        total = x.sum(axis=-1, keepdims=True)
        return np.divide(x, total, out=np.zeros_like(x), where=total > 0) * alone(problem)

def one_argument(problem):
    return 0

def too_much(problem, counts):
    return 5 * np.asarray(counts)

def stops(problem, counts):
    return counts[99]

number = 3
"""
OURS = """\
def alone(problem):
    return 1 / problem.task_shares.max(axis=1)
"""


@pytest.fixture
def folder(place):
    (place / "rules").mkdir()
    (place / "rules" / "mine.py").write_text(MINE)
    (place / "rules" / "ours.py").write_text(OURS)
    return place


def written(folder, *policies, text=TWO):
    """A scenario in the folder of the file; its policies are TOML."""
    file = folder / "rules" / "two.toml"
    file.write_text(text.replace('"drf", "pf"', ", ".join(policies)))
    return file


def test_a_scenario_names_policies_of_a_file_beside_it(folder):
    table = '{ policy = "mine.py:Powers", exponent = 3 }'
    file = written(folder, '"mine.py:priority"', '"mine.py:Powers:2"', '"drf"')
    _, powers, _ = Scenario.read(file).policies
    assert powers.exponent == 2
    assert Scenario.read(written(folder, table)).policies[0].exponent == 3
    file = written(folder, '"mine.py:priority"', '"mine.py:Powers:2"', '"drf"')
    data = as_json("allocate", file, "--counts", "1,2")
    tasks = {(row["policy"], row["job_class"]): row["tasks"] for row in data["results"]}
    # By hand: alone, a job of either class runs 1 task; by squares the second class has four fifths.
    assert [tasks["priority", c] for c in "AB"] == [1, 0]
    assert [tasks["Powers", c] for c in "AB"] == pytest.approx([1 / 5, 4 / 5])
    assert data["inputs"]["scenario"] == file.read_text()


def test_an_option_names_policies_of_the_current_folder(folder):
    data = as_json("allocate", "two.toml", "-p", "rules/mine.py:priority")
    assert [row["tasks"] for row in data["results"]] == [1, 0]
    assert data["command"].endswith("--policy rules/mine.py:priority")
    assert "no file mine.py in" in run("allocate", "two.toml", "-p", "mine.py:priority", code=2).stderr


def test_a_text_that_is_no_file_runs_nothing(folder, monkeypatch):
    monkeypatch.chdir(folder / "rules")
    text = written(folder, '"mine.py:priority"').read_text()
    for name in ("<text>", "two.toml", str(folder / "rules" / "two.toml")):
        with pytest.raises(ScenarioError, match="this scenario is no file"):
            Scenario.parse(text, name)
    assert "this scenario is no file" in run("allocate", "-", typed=text, code=2).stderr
    assert Scenario.parse(text, folder=folder / "rules").policies


@pytest.mark.long
def test_a_worker_needs_no_file(folder):
    """Pickled here, and asked in a process that finds neither the file nor its folder."""
    scenario = Scenario.read(written(folder, '"mine.py:priority"', '"mine.py:Powers:2"'))
    (folder / "sent").write_bytes(dumps((scenario, scenario.policies)))
    for file in ("mine.py", "ours.py"):
        (folder / "rules" / file).unlink()
    code = (
        "import pickle; scenario, policies = pickle.load(open('sent', 'rb')); "
        "print([p(scenario.model, [2.0, 1.0]).tolist() for p in (*policies, *scenario.policies)])"
    )
    (folder / "asked.py").write_text(code)
    out, _ = program("asked", cwd=folder)
    assert np.allclose(eval(out), [[1, 0], [0.8, 0.2]] * 2)


WRONG = {
    "unknown name": ("mine.py:prority", "mine.py defines no 'prority'; did you mean 'priority'"),
    "no name": ("mine.py", "say which policy of mine.py is meant, such as mine.py:priority"),
    "no file": ("yours.py:priority", "there is no file yours.py in"),
    "no policy": ("mine.py:number", "mine.py:number is 3 and no policy"),
    "parameter of a function": ("mine.py:priority:2", "takes no parameters, as it is no class"),
    "too many parameters": ("mine.py:Powers:2:3", "no Powers with these parameters"),
    "parameter of the wrong kind": ("mine.py:Powers:abc", "mine.py, line 17: "),
    "wrong arguments": (
        "mine.py:one_argument",
        "one_argument() takes 1 positional argument but 2 were given",
    ),
    "more than there is": ("mine.py:too_much", "too_much uses 5.5 times the capacity of 'cpu'"),
    "error": ("mine.py:stops", "mine.py, line 28: IndexError: index 99"),
    "no Python": ("broken.py:f", "broken.py, line 2: no valid Python"),
    "error of the file": ("failing.py:f", "failing.py, line 1: ModuleNotFoundError"),
    "no text": ("binary.py:f", "is no text in UTF-8"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_errors_name_file_and_line(folder, kind):
    spec, told = WRONG[kind]
    rules = folder / "rules"
    (rules / "broken.py").write_text("x = 1\nf = (\n")
    (rules / "failing.py").write_text("import nothing_of_this_name\n")
    (rules / "binary.py").write_bytes(b"\xff\xfe")
    with pytest.raises(ScenarioError) as caught:
        Scenario.read(written(folder, '"drf"', f'"{spec}"'))
    assert told in str(caught.value)
    assert f"{rules / 'two.toml'}, line 2, policies[1]: " in str(caught.value)


@pytest.mark.long
def test_an_error_in_the_middle_of_the_work_is_told_with_its_line(folder):
    """The audit asks for pools of one class and three, of which this policy knows nothing."""
    told = run("audit", "-p", "rules/mine.py:priority", "--property", "SI", "--budget", "20", code=2).stderr
    assert told.startswith("fairqueues: rules/mine.py, line 9: ValueError: ")
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("changed", "old", "new"), [("mine", "first, 0", "first / 2, 0"), ("ours", "1 /", "0.5 /")]
)
def test_checkpoints_know_what_the_files_held(folder, changed, old, new):
    """Those of sweeps, of curves and of replays, whether a file or an option names the policy."""

    def known():
        read = Scenario.read(written(folder, '"mine.py:priority"')).policies[0]
        named = policy_named("rules/mine.py:priority", folder=folder)
        return told(read), told(named), digest_of(TargetScheduler(named))

    before = known()
    assert known() == before
    path = folder / "rules" / f"{changed}.py"
    path.write_text(path.read_text().replace(old, new))
    assert not set(known()) & set(before)


def test_checkpoints_know_what_two_files_import(folder, monkeypatch):
    """Also where Python finds it without the file, as in a notebook, and where somebody has imported it."""
    rules = folder / "rules"
    monkeypatch.syspath_prepend(str(rules))
    (rules / "yours.py").write_text(MINE)

    def known():
        return [told(policy_named(f"{name}.py:priority", folder=rules)) for name in ("mine", "yours")]

    before = known()
    assert known() == before
    (rules / "ours.py").write_text(OURS.replace("1 /", "0.5 /"))
    importlib.invalidate_caches()
    assert not set(known()) & set(before)
    importlib.import_module("ours")
    monkeypatch.setitem(sys.modules, "ours", sys.modules.pop("ours"))  # gone after this test
    between = known()
    (rules / "ours.py").write_text(OURS.replace("1 /", "0.25 /"))
    assert not set(known()) & set(between)


def test_two_policies_of_one_name_are_called_as_they_were_written(folder):
    (folder / "yours.py").write_text(
        "def priority(problem, counts):\n    return problem.task_shares[..., 0] * 0 + (counts[..., :1] * 0)\n"
    )
    file = written(folder, '"drf"')
    both = ("--policy", "rules/mine.py:priority", "--policy", "yours.py:priority", "--policy", "drf")
    found = as_json("allocate", file, *both)
    assert sorted({row["policy"] for row in found["results"]}) == [
        "DRF",
        "rules/mine.py:priority",
        "yours.py:priority",
    ]
    told = run("allocate", file, *both[:2], *both[:2], code=2).stderr
    assert "the policy rules/mine.py:priority is given twice; name each one once" in told


def test_checkpoints_know_the_parameters_of_a_policy_without_a_repr(folder):
    (folder / "plain.py").write_text(
        "class Plain:\n    def __init__(self, p):\n        self.p = p\n"
        "    def __call__(self, problem, counts):\n        return counts * 0\n"
    )
    two, again, three = (told(policy_named(f"plain.py:Plain:{p}", folder=folder)) for p in (2, 2, 3))
    assert two == again != three


@pytest.mark.long
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_sweep_in_processes_of_its_own(folder, jobs):
    """Priority to the first class: it is a queue of its own, so its mean is rho/(1 - rho)."""
    file = written(folder, '"mine.py:priority"', text=TWO.replace("[0.2, 0.4, 1.2]", "[0.3, 0.6]"))
    run("sweep", file, "--jobs", jobs, "-o", "s.csv")
    rows = [row.split(",") for row in (folder / "s.csv").read_text().splitlines()]
    mean = rows[0].index("mean_jobs")
    for row in rows[1:]:
        if "A" in row:
            load = float(row[0]) / 1.05  # of the first class, with half as many of the second, on the cpu
            assert float(row[mean]) == pytest.approx(load / (1 - load), rel=1e-6)  # the tail left out


def test_an_object_that_certifies_itself_keeps_doing_so(folder):
    """A policy is what the file defines, and not a wrapper without its other methods."""
    (folder / "rules" / "kinds.py").write_text(
        "from fairness import DRF\nclass Own(DRF):\n    name = 'own'\n"
    )
    (own,) = Scenario.read(written(folder, '"kinds.py:Own"')).policies
    pool = Problem([[1, 4], [3, 1]], [9, 18])
    assert allocate(pool, own).certificate.claim.startswith("every class has a saturated resource")
    assert pickle.loads(dumps(own)).name == "own"


def test_replays_and_audits_under_policies_of_one_name_are_told_apart(folder):
    for name in ("mine", "yours"):
        (folder / f"{name}.py").write_text("def alike(problem, counts):\n    return 0.01 * counts\n")
    own = ("-p", "mine.py:alike", "-p", "yours.py:alike")
    [row] = as_json("audit", *own, "--property", "SI", "--budget", "5")["results"]
    assert {"mine.py:alike", "yours.py:alike"} < set(row)
    assert "given twice" in run("audit", "-p", "drf", "-p", "drf", code=2).stderr
    asked = ("replay", "--tasks", "20", "--seed", "1", "-s", "mine.py:alike", "-s", "yours.py:alike")
    rows = as_json(*asked)["results"]
    assert {row["scheduler"] for row in rows} == {"mine.py:alike", "yours.py:alike"}
    assert "given twice" in run("replay", "--tasks", "20", "-s", "drf", "-s", "drf", code=2).stderr
