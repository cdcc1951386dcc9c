"""A policy that the library does not have: one file and one line of the catalogue, as in CONTRIBUTING.md."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fairness import Problem
from fairness.protocol.family import family_of
from tests.new_policy.utilitarian import Utilitarian

ROOT = Path(__file__).parents[2]
FILE, LINE = re.findall(
    r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.DOTALL
)


@pytest.fixture(scope="module")
def answers():
    """Of a process whose catalogue has the line."""
    line = re.sub(r"\s+", " ", LINE).replace("fairness.policies.utilitarian", "tests.new_policy.utilitarian")
    command = [sys.executable, "-m", "tests.new_policy.answers", line]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_recipe_is_this_file():
    printed = re.sub(r"(?m)^ {3}", "", FILE)
    assert printed == Path(__file__).with_name("utilitarian.py").read_text(encoding="utf-8")


def test_most_tasks_by_hand_and_ties_to_the_first():
    policy, tied = Utilitarian(), Problem([[1], [1]], [1])
    assert family_of(policy) is None
    assert np.allclose(policy(tied, [[1, 1], [0, 2], [0, 0]]), [[1, 0], [0, 1], [0, 0]])
    assert np.allclose(policy(Problem([[1], [1]], [3], limits=[1, 1]), [2, 5]), [2, 1])
    # The corner x + 3 y = 9, 4 x + y = 18.
    assert np.allclose(policy(Problem([[1, 4], [3, 1]], [9, 18]), [1, 1]), [45 / 11, 18 / 11])


@pytest.mark.long
def test_it_has_a_name_in_files_and_commands(answers):
    assert answers["named"] == ["Utilitarian", "utilitarian"]
    assert 'policies = ["utilitarian", "drf"]' in answers["explorer"]["file"]


@pytest.mark.long
def test_it_allocates_and_is_explained(answers):
    tasks, residual = answers["allocate"]
    assert np.allclose(tasks, [45 / 11, 18 / 11])
    assert residual < 1e-9
    assert "Utilitarian: within all capacities and limits: holds" in answers["explain"]
    assert "stopped by resource 1" in answers["explain"]
    assert "Utilitarian 1.636" in answers["compared"]  # an explanation of DRF names it


@pytest.mark.long
def test_its_chain_is_a_queue_with_priorities(answers):
    """The first class has the whole pool, 2 tasks; the second, 1 task when the first is away.

    So the first is M/M/1 of load 0.2, and the second the lower class of preemptive priorities:
    E[T] = 1/(1 - .2) + (.4 * .25 + .2 * 1)/((1 - .2)(1 - .4)).
    """
    second = 0.2 * (1 / 0.8 + 0.3 / (0.8 * 0.6))
    # 1e-4 of the probability is left out.
    assert np.allclose(answers["stationary"], [0.25, second], rtol=1e-3)
    # Seed fixed; ten standard errors of 4 x 2,000 jobs or so.
    assert np.allclose(answers["simulate"], [0.25, second], rtol=0.25)
    assert answers["fluid"].startswith("Utilitarian is stable in the fluid limit")


@pytest.mark.long
def test_its_audit_finds_what_it_violates(answers):
    assert re.search(r"sharing incentive +✗", answers["audit"])
    assert re.search(r"Pareto efficiency +✓", answers["audit"])


@pytest.mark.long
def test_the_explorer_shows_it(answers):
    shown = answers["explorer"]
    assert shown["colour"] == "#F0E442"
    assert "Utilitarian allocation" in shown["sharing"]
    assert shown["note"] == ""
    assert min(shown["rates"]) > 0
