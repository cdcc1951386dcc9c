"""The command line in tests: a scenario, commands in this process, and commands in one of their own."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import typer.testing
from typer.testing import CliRunner

from fairqueues.commands.app import app
from tests.processes import PATIENCE

# The program is made of its functions at every call; here it is made once.
typer.testing._get_command = functools.cache(typer.testing._get_command)

ROOT = Path(__file__).parents[3]

TWO = """\
title = "Two classes"
policies = ["drf", "pf"]
seed = 7
[pool]
demands = [[10, 1], [1, 10]]
capacities = [10, 10]
job_classes = ["A", "B"]
resources = ["cpu", "ram"]
[traffic]
mix = [2, 1]
load = 0.5
[fluid]
start = [5, 1]
[region]
points = 3
[sweep]
over = { load = [0.2, 0.4, 1.2] }
[targets]
costs = [1, 2]
minimum_service_rates = 0.3
[cloud]
tenants = 300
resources = 40
profile = "G0"
epsilon = 0.05
[audit]
properties = ["SI", "RM"]
budget = 30
"""


def run(*arguments, code=0, typed=None):
    """The command in this process; an error that nobody meant is raised."""
    result = CliRunner().invoke(app, [str(a) for a in arguments], input=typed)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def as_json(*arguments, code=0):
    """The JSON of the command."""
    data = json.loads(run(*arguments, "--json", code=code).stdout)
    assert {"title", "command", "inputs", "results", "evidence", "failures", "versions", "seed"} <= set(data)
    assert "fairqueues" in data["versions"]
    return data


def environment(**variables):
    """Variables of a process that finds this checkout."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **variables}


def program(*arguments, code=0, encoding="utf-8", **options):
    """``python -m`` in a process of its own that writes in this encoding: what it printed, and its errors."""
    done = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        env=environment(PYTHONIOENCODING=encoding), capture_output=True, timeout=PATIENCE, **options,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return done.stdout.decode(encoding), done.stderr.decode(encoding)
