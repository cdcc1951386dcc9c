"""Packages load what is heavy only when it is asked for, and export what their stubs say.

That is what makes an import take a fraction of a second; how long it takes stands in ``benchmarks``.
"""

import ast
import importlib
import json
import subprocess
import sys

import pytest

from tests.fairqueues.docs.test_docs import PACKAGES, ROOT
from tests.processes import PATIENCE

HEAVY = (
    "bokeh",
    "dask",
    "highspy",
    "joblib",
    "matplotlib",
    "networkx",
    "numba",
    "numpy",
    "pandas",
    "pydantic",
    "scipy",
    "sympy",
    "xarray",
    "z3",
)
FRONT = (*PACKAGES, "fairqueues")
STUBS = sorted(
    path
    for package in ("fairness", "queueing", "capacity", "proofs", "fairqueues")
    for path in (ROOT / package).rglob("__init__.pyi")
)
PROBE = """
import json, sys
sys.argv = ["fairqueues", *sys.argv[2:]] if sys.argv[2:] else sys.argv
code = 0
try:
    exec({program!r})
except SystemExit as end:
    code = end.code or 0
print(json.dumps([code, sorted(set(sys.modules) & {heavy!r})]), file=sys.stderr)
"""


def loaded(program, *arguments):
    """What a fresh process prints, and the heavy packages that it has loaded at its end."""
    probe = PROBE.format(program=program, heavy=set(HEAVY))
    run = subprocess.run(
        [sys.executable, "-c", probe, "-", *arguments],
        capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    code, heavy = json.loads(run.stderr.splitlines()[-1])
    assert code == 0, run.stdout + run.stderr
    return run.stdout, heavy


@pytest.mark.parametrize("package", FRONT)
def test_importing_a_package_loads_nothing_heavy(package):
    assert loaded(f"import {package}")[1] == []


def test_the_probe_sees_what_is_heavy():
    assert "numpy" in loaded("from fairness import allocate")[1]


COMMAND = "from fairqueues.commands.app import main; main()"


@pytest.mark.parametrize("arguments", [["--help"], ["sweep", "--help"], ["explore", "--help"]])
def test_help_loads_nothing_heavy(arguments):
    printed, heavy = loaded(COMMAND, *arguments)
    assert printed.startswith("Usage: fairqueues")
    assert set(heavy) <= {"pydantic"}  # typer looks at it when it draws the help of a command


def exported(stub):
    """Names of a stub, each with the module and the name that it comes from."""
    found = {}
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            source = "." * node.level + (node.module or "")
            for alias in node.names:
                whole = importlib.import_module(source).__all__ if alias.name == "*" else [alias.name]
                found |= {
                    name if alias.name == "*" else alias.asname or name: (source, name) for name in whole
                }
    return found


@pytest.mark.parametrize("stub", STUBS, ids=lambda path: path.parent.relative_to(ROOT).as_posix())
def test_stub_and_package_agree(stub):
    package = ".".join(stub.parent.relative_to(ROOT).parts)
    module = importlib.import_module(package)
    names = exported(stub)
    assert names
    assert set(names) == set(module.__all__)
    for name, (source, original) in names.items():
        defined = importlib.import_module(source, package)
        assert getattr(module, name) is getattr(defined, original), name


def test_there_are_stubs():
    assert {path.parent.name for path in STUBS} >= {"fairness", "queueing", "capacity", "cloud", "properties"}


def test_the_front_door_has_names_of_the_packages_each_once():
    import fairqueues

    packages = map(importlib.import_module, ("fairness", "queueing", "capacity", "proofs"))
    public = [name for package in packages for name in package.__all__]
    assert len(set(public)) == len(public)
    assert set(fairqueues.__all__) - set(public) == {"Scenario", "ScenarioError", "schema", "__version__"}
    assert dir(fairqueues) == fairqueues.__all__
    with pytest.raises(AttributeError, match="module 'fairqueues' has no attribute 'allocat'"):
        _ = fairqueues.allocat


@pytest.mark.parametrize("policies", [["drf", "pf"], ["maxmin", "asset"]])
def test_allocate_for_two_users_loads_no_compiler_and_no_data_frames(policies):
    options = [word for policy in policies for word in ("--policy", policy)]
    printed, heavy = loaded(COMMAND, "allocate", "drf_example", *options)
    assert printed.count("holds") == 2
    assert set(heavy) <= {"numpy", "pydantic"}


@pytest.mark.parametrize("package", ["fairness", "queueing", "capacity"])
def test_names_of_results_are_found_where_they_were(package):
    room = f"{package}.results"
    old, new = importlib.import_module(package), importlib.import_module(room)
    assert new.__all__
    assert not set(old.__all__) & set(new.__all__)
    for name in new.__all__:
        for place in (old, importlib.import_module("fairqueues")):
            with pytest.warns(DeprecationWarning, match=rf"{place.__name__}.{name} is {room}.{name} now"):
                assert getattr(place, name) is getattr(new, name)


def test_names_that_the_front_door_had_are_found():
    import fairqueues
    import proofs

    with pytest.warns(DeprecationWarning, match=r"fairqueues\.Step is proofs\.Step now"):
        assert fairqueues.Step is proofs.Step
