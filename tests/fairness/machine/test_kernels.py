"""Compiled kernels: how they see the task shares, and stored kernels that notice edits in other files."""

import errno
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

import fairness
from fairness.machine.compiling import compiler, helper, part, stored
from fairness.machine.work import ASIDE
from fairness.model.nonzeros import nonzeros, reduced
from tests.processes import python


def test_nonzeros_are_the_matrix_by_class_and_by_resource():
    rng = np.random.default_rng(0)
    a = rng.random((7, 5)) * (rng.random((7, 5)) < 0.5)
    a[3], a[:, 2] = 0.0, 0.0
    shares = nonzeros(a)
    rows, columns = np.zeros_like(a), np.zeros_like(a)
    rows[np.repeat(np.arange(7), np.diff(shares.start)), shares.resource] = shares.share
    by_resource = shares.columns
    columns[by_resource.job_class, np.repeat(np.arange(5), np.diff(by_resource.start))] = by_resource.share
    np.testing.assert_array_equal(rows, a)
    np.testing.assert_array_equal(columns, a)
    np.testing.assert_allclose(shares.bills(np.arange(5.0)), a @ np.arange(5.0), rtol=1e-15)
    np.testing.assert_array_equal(reduced(np.maximum, shares.share, shares.start, 0.0), a.max(axis=1))


HELPER = """
import numba
@numba.njit
def helper(x):
    return {factor} * x
"""

KERNEL = """
from fairness.machine.compiling import stored
import helper
@stored({named})
def kernel(x):
    return helper.helper(x)
print(kernel(1))
"""


@pytest.mark.long
@pytest.mark.parametrize(("named", "second"), [("helper", "2"), ("", "1")])
def test_stored_kernels_notice_edits_of_the_helpers_that_they_name(tmp_path, named, second):
    """And numba goes on running an old helper that is not named (else, drop the naming)."""
    (tmp_path / "main.py").write_text(KERNEL.format(named=named))
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    printed = []
    for factor in (1, 2):
        (tmp_path / "helper.py").write_text(HELPER.format(factor=factor))
        printed.append(python("main.py", cwd=tmp_path, env=environment).stdout.strip())
    assert printed == ["1", second]


SHAPES = """
from typing import NamedTuple
class Pair(NamedTuple):
    first: float
    second: float
"""

SUM = """
from fairness.machine.compiling import stored
from {place} import Pair
@stored()
def kernel(pair):
    return pair.first + pair.second
print(kernel(Pair(1.0, 2.0)))
"""


@pytest.mark.long
@pytest.mark.parametrize("cut", [False, True])
def test_what_another_version_stored_is_compiled_anew(tmp_path, cut):
    """Its files name a type whose module is called otherwise today, or were never written to the end."""
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    for place in ("shapes", "shapes" if cut else "forms"):
        (tmp_path / f"{place}.py").write_text(SHAPES)
        (tmp_path / "main.py").write_text(SUM.format(place=place))
        for _ in range(2):
            assert python("main.py", cwd=tmp_path, env=environment).stdout == "3.0\n"
        (tmp_path / f"{place}.py").unlink()
        for index in (tmp_path / "cache").rglob("*.nbi") if cut else ():
            index.write_bytes(index.read_bytes()[:-4])


PACKAGE = Path(fairness.__file__).parent
ALLOCATES = """
import fairness
from fairness.machine.compiling import asked
assert fairness.__file__.startswith({place!r}), fairness.__file__
problem = fairness.Problem([[1, 4], [3, 1]], [9, 18])
with asked(1e9):  # so much that it is compiled
    print(fairness.allocate(problem, fairness.DRF()).tasks.round(9).tolist())
"""


SOURCES = [source for source in PACKAGE.rglob("*.py*") if source.suffix in (".py", ".pyi")]


def folder_that_takes_nothing(place):
    """The package where numba can make no file; also root, who may write everywhere, cannot."""
    for source in SOURCES:
        target = place / source.relative_to(PACKAGE.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
        (target.parent / "__pycache__").touch()
    return place


def zip_file(place):
    archive = place / "fairness.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for source in SOURCES:
            packed.write(source, source.relative_to(PACKAGE.parent))
    return archive


@pytest.mark.long
@pytest.mark.parametrize("make", [folder_that_takes_nothing, zip_file])
def test_kernels_that_cannot_be_stored_are_compiled_all_the_same(tmp_path, make):
    place = str(make(tmp_path))
    nowhere = {"HOME": os.devnull + "/home", "XDG_CACHE_HOME": os.devnull + "/cache"}
    environment = {**os.environ, **nowhere, "PYTHONPATH": place}
    for name in ("NUMBA_CACHE_DIR", "FAIRQUEUES_NOT_STORED"):
        environment.pop(name, None)
    run = python("-c", ALLOCATES.format(place=place), cwd=tmp_path, env=environment)
    assert run.stdout == "[3.0, 2.0]\n"
    assert run.stderr.count("cannot be stored") == 1, run.stderr


def test_a_full_disk_under_stored_kernels(monkeypatch, caplog):
    monkeypatch.setenv("FAIRQUEUES_NOT_STORED", "")  # so that it is taken away at the end
    monkeypatch.delenv("FAIRQUEUES_NOT_STORED")
    kernel = stored(nogil=True)(lambda x: x + 1)

    def full(self, key, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", full)
    before = ASIDE.seconds
    assert kernel(41) == 42
    assert ASIDE.seconds > before
    assert kernel(0.5) == 1.5
    assert caplog.text.count("No space left on device") == 1


def test_all_kernels_are_stored_in_one_way():
    """Else a read-only file system is told of where it is met first."""
    for package in ("fairness", "queueing", "capacity", "proofs", "fairqueues"):
        for source in (PACKAGE.parent / package).rglob("*.py"):
            if source.name != "compiling.py":
                assert "njit(cache" not in source.read_text(encoding="utf-8"), source


def test_one_function_compiled_in_two_ways_is_stored_twice(tmp_path, monkeypatch):
    # Not in the environment, which numba reads when it compiles next: it would look there for all kernels.
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))

    def half(x):
        return 1.0 / x

    raising, quiet = stored()(half), stored(error_model="numpy")(half)
    with pytest.raises(ZeroDivisionError):
        raising(0.0)
    assert quiet(0.0) == np.inf


@pytest.mark.parametrize("seed", ["1", "2"])
def test_options_are_told_in_one_order(seed):
    # Sets are listed in another order in each process, and what is stored would be found in none.
    code = "from fairness.machine.compiling import _told; print(_told({'b': 1, 'a': {'x', 'y', 'z'}}))"
    said = python("-c", code, env={**os.environ, "PYTHONPATH": os.getcwd(), "PYTHONHASHSEED": seed})
    assert said.stdout == "[('a', ['x', 'y', 'z']), ('b', 1)]\n"


@helper()
def _shifted(values, by):
    result = np.empty_like(values)
    for k in range(len(values)):
        result[k] = values[k] + by
    return result


@part
def _product(a, b):
    if b == 0:
        raise ZeroDivisionError
    return a * b


@helper()
def _shifted_sum(values, by):
    total = 0.0
    for value in _shifted(values, by):
        total += _product(value, by)
    return total


def test_helpers_do_in_kernels_what_they_do_as_they_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))

    @stored()
    def kernel(values, by):
        return _shifted_sum(values, by) + _shifted(values, 0.1)[0]

    values = np.array([0.1, 0.2, 0.3])
    assert kernel(values, 1.5) == kernel.interpreted(values, 1.5)
    with pytest.raises(ZeroDivisionError):
        kernel(values, 0.0)


def test_what_only_kernels_call_has_no_code_that_runs():
    number = compiler().types.float32  # that no kernel here was given
    for one, arguments in ((_product, (number, number)), (_shifted_sum, (number[::1], number))):
        one.dispatcher.compile(arguments)
        compiled = one.dispatcher.overloads[arguments]
        engine = compiled.library.codegen._engine
        assert not engine.is_symbol_defined(compiled.fndesc.mangled_name)


def test_options_are_told_apart_by_what_was_set():
    from fairness.machine.kernel_compiler import _Options

    counted, uncounted = _Options(), _Options()
    counted.nrt, uncounted.nrt = True, False
    assert counted.copy() == counted != uncounted
    assert len({counted: 1, counted.copy(): 2, uncounted: 3}) == 2


@pytest.mark.long
def test_numba_that_has_changed_inside_compiles_all_the_same(tmp_path):
    """Our pipelines save time, by private names of numba; without them it compiles as it does."""
    program = (
        "import sys\n"
        "sys.modules['fairness.machine.absorbed'] = None\n"  # as if a name that it imports were gone
        "import logging; logging.basicConfig()\n"
        "from fairness.machine.compiling import part, stored\n"
        "import half\n"
        "print(half.of_all(3.0))\n"
    )
    (tmp_path / "half.py").write_text(
        "from fairness.machine.compiling import part, stored\n"
        "@part\n"
        "def half(x):\n"
        "    return x / 2\n"
        "@stored()\n"
        "def of_all(x):\n"
        "    return half(x) + half(x)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), str(tmp_path)])}
    done = python("-c", program, cwd=tmp_path, env=environment)
    assert done.stdout.split() == ["3.0"]
    assert "numba has changed inside" in done.stderr
