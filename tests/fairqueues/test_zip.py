"""The packages inside a zip file, as zipapp and some systems ship them."""

import os
import zipfile
from pathlib import Path

import pytest

from tests.processes import python

ROOT = Path(__file__).parents[2]
PACKAGES = ("fairness", "queueing", "capacity", "proofs", "fairqueues")


@pytest.fixture(scope="module")
def zipped(tmp_path_factory):
    """What a wheel holds, in a zip file, and an environment in which nothing else is found."""
    archive = tmp_path_factory.mktemp("zip") / "fairqueues.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for package in PACKAGES:
            for file in sorted((ROOT / package).rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    packed.write(file, file.relative_to(ROOT))
        for file in sorted((ROOT / "examples" / "scenarios").glob("*.toml")):
            packed.write(file, f"fairqueues/scenarios/{file.name}")
    return archive


def run(zipped, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(zipped), "FAIRQUEUES_NOT_STORED": "1"}
    return python(*arguments, cwd=zipped.parent, env=environment).stdout


@pytest.mark.long
def test_shipped_scenarios_are_found_in_a_zip_file(zipped):
    listed = run(zipped, "-m", "fairqueues", "examples").splitlines()
    assert [line.split()[0] for line in listed] == sorted(
        file.stem for file in (ROOT / "examples" / "scenarios").glob("*.toml")
    )
    printed = run(zipped, "-m", "fairqueues", "examples", "drf_example")
    assert printed == (ROOT / "examples" / "scenarios" / "drf_example.toml").read_text()
    code = (
        "from pathlib import Path; from fairqueues.console.inputs import read; "
        "from fairqueues.console.completion import shipped; "
        "from fairqueues.explorer.examples import Examples; "
        "from fairqueues.explorer.model import State; "
        "print(read(Path('drf_example')).title, shipped('drf_ex'), len(Examples(State()).menu) > 5)"
    )
    told = "DRF: 9 CPU and 18 GB for two users"
    assert run(zipped, "-c", code) == f"{told} [('drf_example', '{told}')] True\n"


def test_files_are_read_from_within_a_zip_file(zipped):
    file = str(ROOT / "tests" / "golden" / "drf-1.json")
    code = (
        "import fairness; from fairness import Allocation; "
        f"print({str(zipped)!r} in fairness.__file__, Allocation.load({file!r}).tasks)"
    )
    assert run(zipped, "-c", code) == "True [1.8 2.4]\n"
