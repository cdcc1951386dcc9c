"""The path of a newcomer: the wheel in an empty environment, and README and tutorial run as printed.

The environment holds the wheel and what the wheel declares, nothing else: the distributions that its metadata
asks for, and theirs, are linked from the environment of the tests, which takes no registry and no time. A
dependency that is used without being declared is therefore missing here. That the registry has what is
declared, and that an sdist installs, is one test more, ``python -m pytest -m registry``, which ``.ci/run``
runs; it downloads some 300 MB, so that ``make test`` leaves it out. There kernels are compiled afresh, as for
a newcomer; here those are taken along that the checkout has compiled, as a clean one has just done.
"""

import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from functools import partial
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.fairqueues.docs.test_docs import FLAGS, ROOT, blocks, check_commands, commands

PAGES = (ROOT / "README.md", ROOT / "docs" / "tutorial.md")
PACKAGES = ("capacity", "fairness", "fairqueues", "proofs", "queueing")
DOCTEST = """
import doctest, pathlib, sys
failures, attempted = doctest.testfile(
    sys.argv[1], module_relative=False, optionflags=int(sys.argv[2]), globs={"here": pathlib.Path(".")}
)
sys.exit(failures > 0 or attempted == 0)
"""

# Builds, and downloads from the registry.
pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]


def call(*command, **options):
    """Run to the end; the whole output if it fails."""
    run = subprocess.run(command, capture_output=True, text=True, timeout=900, **options)
    assert run.returncode == 0, f"{shlex.join(map(str, command))}\n{run.stdout}\n{run.stderr}"
    return run


def build(target, *what):
    call(sys.executable, "-m", "build", "--no-isolation", "--outdir", target, *what, ROOT)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Folder with an sdist and the wheel made from it."""
    folder = tmp_path_factory.mktemp("built")
    build(folder)
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    return next(built.glob("*.whl"))


def contents(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_holds_the_packages_and_nothing_else(wheel):
    inside = {name for name in contents(wheel) if ".dist-info/" not in name}
    sources = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    scenarios = {f"fairqueues/scenarios/{path.name}" for path in (ROOT / "examples/scenarios").glob("*.toml")}
    assert scenarios
    assert inside == sources | scenarios
    # One of each kind of file that is not a module, so that an empty source tree would be noticed.
    assert inside >= {
        *(f"{package}/py.typed" for package in PACKAGES),
        *(f"{package}/__init__.pyi" for package in ("fairness", "queueing", "capacity")),
        "queueing/networks/backbones/data/abilene.json",
        "fairqueues/scenarios/drf_example.toml",
        *(f"fairqueues/explorer/assets/page.{kind}" for kind in ("html", "css", "js")),
        *(f"fairqueues/report/assets/page.{kind}" for kind in ("css", "js")),
    }


def test_the_sdist_makes_the_same_wheel(wheel, tmp_path):
    build(tmp_path, "--wheel")
    assert contents(next(tmp_path.glob("*.whl"))) == contents(wheel)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no git checkout: what is tracked is not known")
def test_the_sdist_holds_what_is_tracked(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    tracked = call("git", "ls-files", "-z", cwd=ROOT).stdout.split("\0")
    assert {name for name in tracked if name and (ROOT / name).is_file()} - inside == set()


def needed(requirements):
    """Distributions that meet the requirements which apply here, and theirs."""
    found = {}
    pending = [(text, ()) for text in requirements]
    while pending:
        text, extras = pending.pop()
        requirement = Requirement(text)
        if requirement.marker and not any(
            requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras)
        ):
            continue
        if (requirement.name, extras) not in found:
            distribution = metadata.distribution(requirement.name)
            assert requirement.specifier.contains(distribution.version, prereleases=True), text
            found[requirement.name, extras] = distribution
            pending += [(line, tuple(requirement.extras)) for line in distribution.requires or ()]
    return list(found.values())


class Environment:
    """A virtual environment that knows nothing of the checkout, and the empty folder of its user."""

    def __init__(self, root):
        self.home = root / "home"
        self.home.mkdir()
        self.programs = root / "venv" / "bin"
        call(sys.executable, "-m", "venv", "--without-pip", root / "venv")
        self.python = self.programs / "python"
        found = self.run(self.python, "-c", "import site; print(site.getsitepackages()[0])")
        self.site = Path(found.stdout.strip())

    def variables(self):
        own = ("PYTHON", "VIRTUAL_ENV", "COVERAGE", "NUMBA_", "MPL")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        return kept | {"PATH": path, "HOME": str(self.home), "COLUMNS": "120", "NO_COLOR": "1"}

    def run(self, *command, folder=None):
        return call(*command, cwd=folder or self.home, env=self.variables())

    def shell(self, command, folder):
        """What a command prints in a shell, errors last, and its exit code."""
        run = subprocess.run(
            command, shell=True, cwd=folder, env=self.variables(), capture_output=True, text=True, timeout=900
        )
        return run.stdout + run.stderr, run.returncode

    def install(self, *arguments):
        pip = (sys.executable, "-m", "pip", "--python", self.python)
        call(*pip, "install", "--quiet", *arguments, cwd=self.home)


def take_kernels_along(folder):
    """Compiled kernels of the checkout beside the same sources, which Numba knows by their size and time."""
    for package in PACKAGES:
        for kernel in (ROOT / package).rglob("__pycache__/*.nb[ic]"):
            place = folder / kernel.relative_to(ROOT)
            place.parent.mkdir(exist_ok=True)
            shutil.copy2(kernel, place)
        for source in (ROOT / package).rglob("*.py"):
            shutil.copystat(source, folder / source.relative_to(ROOT))


def link(distributions, folder):
    """Distributions of the environment of the tests, in a folder too."""
    for distribution in distributions:
        for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            if not (folder / top).exists():
                (folder / top).symlink_to(distribution.locate_file(top))


@pytest.fixture(scope="module")
def environment(tmp_path_factory, wheel):
    made = Environment(tmp_path_factory.mktemp("newcomer"))
    made.install("--no-deps", "--no-index", wheel)
    take_kernels_along(made.site)
    link(needed(required(wheel)), made.site)
    return made


def required(wheel):
    """What the wheel says that it requires."""
    text = next(data for name, data in contents(wheel).items() if name.endswith(".dist-info/METADATA"))
    return re.findall(r"(?m)^Requires-Dist: (.*)$", text.decode())


def test_the_environment_is_empty_but_for_the_wheel(environment):
    """It finds the packages in itself, and neither the checkout nor the tools of the developers."""
    program = (
        "import json, sys\n"
        "from importlib.util import find_spec\n"
        "print(json.dumps([find_spec(name).origin for name in sys.argv[1].split()]))\n"
        "print(json.dumps([name for name in sys.argv[2].split() if find_spec(name)]))"
    )
    others = "pytest z3 bokeh dask cvxpy examples benchmarks"
    run = environment.run(environment.python, "-c", program, " ".join(PACKAGES), others)
    origins, extra = map(json.loads, run.stdout.splitlines())
    assert {Path(origin).parents[1] for origin in origins} == {environment.site}
    assert extra == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_runs_as_printed(page, environment, tmp_path):
    """The README asks for one extra, exact, beside its example about statements; the tutorial for none."""
    text = page.read_text(encoding="utf-8")
    extras = tmp_path / "extras"
    extras.mkdir()
    if page.stem == "README":
        assert "counterexample: `pip install '.[exact]'`" in text
        link(needed(["z3-solver"]), extras)
    examples = tmp_path / f"{page.stem}.txt"
    examples.write_text("\n".join(blocks(page, "python")), encoding="utf-8")
    work = tmp_path / "work"
    work.mkdir()
    program = f"import sys; sys.path.append({str(extras)!r})\n{DOCTEST}"
    environment.run(environment.python, "-c", program, examples, str(FLAGS), folder=work)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_print_what_is_printed(page, environment, tmp_path):
    assert len(commands(page)) >= 3
    check_commands(page, tmp_path, partial(environment.shell, folder=tmp_path))


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("explore drf_example --no-browser", "explore"),
        ("sweep talk_sweep --backend dask", "cluster"),
        ("sweep talk_sweep --out rates.nc", "netcdf"),
    ],
)
def test_what_an_extra_brings_is_asked_for_in_one_line(command, extra, environment, tmp_path):
    printed, code = environment.shell(f"fairqueues {command}", tmp_path)
    assert code == 2, printed
    assert f"fairqueues[{extra}]" in printed
    assert len(printed.strip().splitlines()) == 1


@pytest.mark.registry
def test_the_sdist_installs_from_the_registry(built, tmp_path):
    """``pip install .`` as a newcomer calls it: isolated build, every dependency downloaded."""
    made = Environment(tmp_path)
    made.install(next(built.glob("*.tar.gz")))
    call(sys.executable, "-m", "pip", "--python", made.python, "check")
    ((command, expected), *_) = commands(PAGES[0])
    printed, code = made.shell(command, made.home)
    assert code == 0, printed
    assert doctest.OutputChecker().check_output(expected, printed, FLAGS), printed
