"""Bounds of versions in ``pyproject.toml``: each names the lowest version that ``make lowest`` tests."""

import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.lowest import BOUND, constraints, requirements

ROOT = Path(__file__).parent.parent


def bounds():
    return {one.name: one.specifier for one in map(Requirement, requirements())}


def test_constraints_are_the_bounds():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    assert all(BOUND.fullmatch(one) for one in requirements()), "a requirement is NAME>=VERSION"
    pinned = {one.name: one.specifier for one in map(Requirement, constraints())}
    assert {Requirement(one).name for one in asked} <= set(pinned) == set(bounds())
    assert len(constraints()) == len(pinned), "two bounds of one package"
    for name, specifier in bounds().items():
        (bound,), (pin,) = specifier, pinned[name]
        assert (bound.operator, pin.operator, pin.version) == (">=", "==", bound.version)


def test_what_is_installed_is_within_the_bounds():
    installed = {dist.name.lower().replace("_", "-") for dist in metadata.distributions()}
    for name, specifier in bounds().items():
        if name.lower() in installed:
            assert metadata.version(name) in specifier


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("typer", "0.12.0"),  # no command starts
        ("typer", "0.12.5"),
        ("scipy", "1.13.0"),  # a matching refuses 64-bit indices: TSF, C-DRFH
        ("scipy", "1.14.1"),
        ("highspy", "1.12.0"),  # without changeRowsBounds
        ("pandas", "2.2.0"),  # warns when it is imported
        ("netCDF4", "1.6.1"),  # warns of numpy's sizes
        ("psutil", "5.9.3"),  # no wheel for Python 3.11
    ],
)
def test_versions_that_do_not_work_are_not_allowed(name, version):
    assert version not in bounds()[name]


def test_the_make_target_takes_these_constraints():
    makefile = (ROOT / "Makefile").read_text()
    assert "-m tests.lowest > out/lowest.txt" in makefile
    assert "--constraint out/lowest.txt" in makefile
