"""Wrong use: one line on standard error, exit code 2, and no file written."""

import os
import re
import resource
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from fairqueues.files import OutputError, write_all
from tests.fairqueues.commands.command_line import TWO, environment, program, run
from tests.processes import PATIENCE


def refused(place, *arguments, typed=None):
    """The one line of a refusal; nothing else may have happened."""
    before = {p: p.read_bytes() for p in place.rglob("*") if p.is_file()}
    result = run(*arguments, code=2, typed=typed)
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("fairqueues")
    assert {p: p.read_bytes() for p in place.rglob("*") if p.is_file()} == before
    return result.stderr


WRONG_FILES = {
    "negative demand": ("[[10, 1]", "[[-10, 1]", "allocate", "line 5, pool.demands"),
    "unstable load": ("load = 0.5", "load = 1.5", "solve", "load"),
    "unstable simulation": ("load = 0.5", "load = 1.5", "simulate", "load"),
    "unstable fluid": ("load = 0.5", "load = 1.5", "fluid", "horizon"),
    "no traffic": (TWO[TWO.index("[traffic]") :], "", "solve", "needs [traffic]"),
    "no sweep": (TWO[TWO.index("[sweep]") : TWO.index("[targets]")], "", "sweep", "needs [sweep]"),
    "no targets": (TWO[TWO.index("[targets]") : TWO.index("[cloud]")], "", "provision", "needs [targets]"),
    "too few points": ("points = 3", 'points = 2\nkind = "policy"', "region", "line 15, region.points: "),
    "no policies": ('policies = ["drf", "pf"]\n', "", "solve", "no policy"),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG_FILES)
def test_wrong_files(place, kind):
    before, after, command, told = WRONG_FILES[kind]
    assert before in TWO
    (place / "two.toml").write_text(TWO.replace(before, after))
    message = refused(place, command, "two.toml", "--out", "a.json", "--report", "r.html")
    assert told in message
    assert re.match(r"fairqueues: (two\.toml|no |no stationary|the load)", message), message


@pytest.mark.parametrize("command", ["allocate", "solve", "simulate", "fluid", "region", "sweep", "cloud", "audit",  # noqa: E501
                                     "provision", "explore"])  # fmt: skip
def test_no_such_file_no_file_no_text(place, command):
    assert "nowhere.toml" in refused(place, command, "nowhere.toml")
    (place / "folder").mkdir()
    assert "folder" in refused(place, command, "folder")
    (place / "binary.toml").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in refused(place, command, "binary.toml")


WRONG_OPTIONS = {
    "unknown option": (["allocate", "two.toml", "--conts", "1,2"], "--counts"),
    "unknown command": (["alocate", "two.toml"], "allocate"),
    "unknown option of the program": (["--verbose"], "--verbose"),
    "no file given": (["allocate"], "FILE"),
    "json and csv": (["allocate", "two.toml", "--json", "--csv"], "exclude"),
    "unknown suffix": (["allocate", "two.toml", "--out", "a.xlsx"], ".svg, .png"),
    "no suffix": (["allocate", "two.toml", "--out", "a"], "suffix"),
    "figure where there is none": (["audit", "two.toml", "--out", "a.svg"], "draws no figure"),
    "figure of verdicts": (["fluid", "two.toml", "--verdict", "--out", "a.svg"], "trajectory"),
    "size without a figure": (
        ["allocate", "two.toml", "--size", "page", "--out", "a.csv"], "--size is for figures"
    ),
    "no title without a figure": (["allocate", "two.toml", "--no-title"], "--no-title is for figures"),
    "size of no figure": (["audit", "two.toml", "--size", "page"], "--size"),
    "unknown size": (["allocate", "two.toml", "--size", "poster"], "column"),
    "report that is no page": (["allocate", "two.toml", "--report", "a.pdf"], ".html"),
    "missing folder": (["allocate", "two.toml", "--out", "nowhere/a.svg"], "there is no folder 'nowhere'"),
    "folder as file": (["allocate", "two.toml", "--out", "sub.csv"], "it is a folder"),
    "unwritable folder": (["sweep", "two.toml", "--out", "/proc/a.nc"], "cannot write /proc/a.nc"),
    "unwritable report": (["solve", "two.toml", "--report", "/proc/a.html"], "cannot write /proc/a.html"),
    "unwritable checkpoint": (["sweep", "two.toml", "--checkpoint", "/proc/c"], "cannot write /proc/c"),
    "named twice": (["allocate", "two.toml", "--out", "a.csv", "--out", "./a.csv"], "named twice"),
    "counts of wrong length": (["allocate", "two.toml", "--counts", "1"], "one number for each of the 2"),
    "counts that are no numbers": (["allocate", "two.toml", "--counts", "1,two"], "must be numbers"),
    "negative counts": (["allocate", "two.toml", "--counts", "1,-2"], "counts"),
    "unknown policy": (["solve", "two.toml", "-p", "dfr"], "did you mean 'drf'"),
    "cluster policy on a pool": (["solve", "two.toml", "-p", "tsf"], "is for servers"),
    "a policy twice": (["solve", "two.toml", "-p", "drf", "-p", "DRF"], "given twice"),
    "alpha without a value": (["solve", "two.toml", "-p", "alpha"], "alpha"),
    "load above 1": (["solve", "two.toml", "--load", "1.5"], "no stationary law"),
    "negative load": (["solve", "two.toml", "--load", "-1"], "--load"),
    "tail above 1": (["solve", "two.toml", "--tail", "2"], "--tail"),
    "huge shape": (["solve", "two.toml", "--shape", "1000000,1000000"], ""),
    "broken shape": (["solve", "two.toml", "--shape", "2.5,3"], "shape"),
    "shape that is no number": (["solve", "two.toml", "--shape", "nan,3"], "shape"),
    "infinite shape": (["solve", "two.toml", "--shape", "inf,3"], "shape"),
    "events without an end": (["simulate", "two.toml", "--events", "1" + "0" * 400], "--events"),
    "budget without an end": (["audit", "two.toml", "--budget", "1" + "0" * 400], "--budget"),
    "alpha beyond the floats": (["solve", "two.toml", "-p", "alpha:1" + "0" * 400], "alpha"),
    "points without an end": (["region", "two.toml", "--kind", "policy", "--points", "100000000"],
        "--points"),
    "too few points": (["region", "two.toml", "--kind", "policy", "--points", "2"],
        "--points must be a whole number >= 3; got 2"),
    "policy of a region of all": (["region", "two.toml", "-p", "drf"], "--kind policy"),
    "rate of a region of all": (["region", "two.toml", "--rate", "0.3"], "--kind service"),
    "section of a policy": (["region", "two.toml", "--kind", "policy", "--section", "A"], "--kind stability"),
    "ray of wrong length": (["region", "two.toml", "--ray", "1"], "one number for each of the 2"),
    "volume of a policy": (["region", "two.toml", "--kind", "policy", "--volume"], "--kind packing"),
    "section twice": (["region", "two.toml", "--section", "A", "--section", "A"], "different classes"),
    "points of facets": (["region", "two.toml", "--kind", "packing", "--points", "5"], "--points"),
    "name that is too long": (["allocate", "a" * 5000], "too long"),
    "pages into a file": (["reproduce", "drf", "--folder", "two.toml"], "it is a file"),
    "negative seed": (["simulate", "two.toml", "--seed", "-1"], "--seed"),
    "no workers": (["sweep", "two.toml", "--jobs", "0"], "--jobs"),
    "unknown backend": (["sweep", "two.toml", "--backend", "spark"], "spark"),
    "backend that is not installed": (["sweep", "two.toml", "--backend", "ray"], "needs ray"),
    "precision of counts": (["simulate", "two.toml", "--level", "counts", "--precision", "0.1"],
        "--precision"),
    "most replications without a precision": (["simulate", "two.toml", "--max-replications", "20"],
        "give --precision"),
    "most replications of counts": (["simulate", "two.toml", "--level", "counts", "--max-replications", "20"],
        "--max-replications is for level jobs"),
    "fewer replications than it starts with": (["simulate", "two.toml", "--precision", "0.1",
        "--max-replications", "5"], "--max-replications 5 is fewer than the 10 to start with"),
    "simulation at a load above 1": (["simulate", "two.toml", "--load", "1.5"], "no stationary law"),
    "service region without a rate": (["region", "two.toml", "--kind", "service"], "--rate"),
    "service region on servers": (["region", "tsf_sharing_incentive", "--kind", "service", "--rate", "0.2"],
        "--kind service is for one pool, and the model has servers; take stability or policy"),
    "unknown kind": (["region", "two.toml", "--kind", "stable"], "stable"),
    "unknown statement": (["prove", "fermat"], "fermat"),
    "a statement twice": (["prove", "drf-lemma-8", "drf-lemma-8"], "twice"),
    "cloud of nothing": (["cloud", "--tenants", "5"], "--resources"),
    "unknown demand profile": (["cloud", "--tenants", "5", "--resources", "5", "--profile", "G7"], "G7"),
    "audit of nothing": (["audit"], "--policy"),
    "unknown property": (["audit", "-p", "drf", "--property", "XX"], "XX"),
    "port out of range": (["explore", "two.toml", "--port", "99999"], "--port"),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG_OPTIONS)
def test_wrong_options(place, kind):
    arguments, told = WRONG_OPTIONS[kind]
    if kind == "folder as file":
        (place / "sub.csv").mkdir()
    if kind == "backend that is not installed" and find_spec("ray"):
        pytest.skip("ray is installed")
    assert told in refused(place, *arguments)


@pytest.mark.long
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"]])
def test_standard_output_that_takes_nothing(place, form, unbuffered):
    """In a process of its own, which also has to end without a second complaint."""
    command = [sys.executable, "-m", "fairqueues", "allocate", "two.toml", *form]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE,
            env=environment(PYTHONUNBUFFERED=unbuffered),
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        "fairqueues: cannot write the result to standard output: No space left on device\n"
    )


@pytest.mark.long
def test_a_disk_that_is_full(place):
    """The shell bounds the size of files; no part of any stays."""
    # Python would store a part of the code of a module that has changed, and read it the next time.
    command = f"ulimit -f 8; {shlex.quote(sys.executable)} -B -m fairqueues sweep two.toml -o a.svg"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, env=environment(), timeout=PATIENCE
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert "checkpoint: cannot write a.svg.part: disk I/O error; make room" in done.stderr
    assert [path.name for path in place.iterdir()] == ["two.toml"]


@contextmanager
def largest_file(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("suffix", [".pdf", ".png", ".svg", ".nc", ".csv", ".json"])
@pytest.mark.long
def test_a_full_disk_under_any_file(place, suffix, monkeypatch):
    """No program of a format has its own way to fail, and nothing half-written stays."""
    sweep = ["sweep", "two.toml", "-p", "drf", "--checkpoint", "kept"]
    run(*sweep)
    with largest_file(600):
        result = run(*sweep, "-o", f"a{suffix}", code=2)
    assert result.stderr.count("\n") == 1
    assert f"cannot write a{suffix}: " in result.stderr
    assert not [path for path in place.iterdir() if path.suffix == suffix]


def test_a_full_disk_under_a_new_checkpoint_and_an_audit(place):
    (place / "new").touch()
    audit = ["audit", "-p", "drf", "--property", "SI", "--budget", "5", "--resume", "cells"]
    with largest_file(50):
        assert "checkpoint: cannot write new: " in refused(place, "sweep", "two.toml", "--checkpoint", "new")
        assert "resume: cannot write cells: " in refused(place, *audit)
    assert not (place / "cells").exists()


def test_an_edited_audit_is_no_result(place):
    audit = shlex.split("audit -p maxmin --property SI --budget 50 --resume cells")
    run(*audit)
    run(*audit)
    with closing(sqlite3.connect(place / "cells")) as file, file:
        file.execute("""UPDATE pieces SET text = replace(text, '"MMF"', '"DRF"')""")
    assert "was changed after it was written" in refused(place, *audit)
    for text in ("[]", "SQLite", "{"):
        (place / "cells").write_text(text)
        assert "is no checkpoint of audits" in refused(place, *audit)


@pytest.mark.long
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x:y"])
def test_an_unreachable_scheduler(place, address, monkeypatch):
    """In a process of its own: a client that nobody answers stays the default one as long as it lives."""
    pytest.importorskip("distributed")
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", address)
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "1s")
    _, said = program("fairqueues", "sweep", "two.toml", "-p", "drf", "--backend", "dask", code=2)
    assert said.count("\n") == 1
    assert f"no scheduler answers at DASK_SCHEDULER_ADDRESS={address}" in said
    assert [path.name for path in place.iterdir()] == ["two.toml"]


NUMBERS_AND_DEPTHS = {
    "5,000 digits": (f"seed = {'9' * 5000}", "x.toml, line 1: a number of thousands of digits"),
    "4,000 digits": (f"seed = 1\npool.capacities = [{'9' * 4000}]", "must be"),
    "dotted keys": (f"{'.'.join('a' * 1000)} = 1", "nested too deeply"),
    "a deep table": (f"[{'.'.join('a' * 1000)}]\nb = 1", "nested too deeply"),
    "deep arrays": (f"seed = {'[' * 300}{']' * 300}", "nested too deeply"),
    "beyond all measure": (f"seed = {'[' * 5000}", "nested too deeply"),
}


@pytest.mark.parametrize("kind", NUMBERS_AND_DEPTHS)
def test_numbers_and_depths_that_nobody_means(place, kind):
    text, told = NUMBERS_AND_DEPTHS[kind]
    (place / "x.toml").write_text(text)
    assert told in refused(place, "allocate", "x.toml", "-p", "drf")


def test_standard_input_that_is_wrong(place):
    for given, told in (("[pool", "<standard input>, line 1"), (b"\xff\xfe", "UTF-8"), ("", "empty")):
        assert told in refused(place, "allocate", "-", typed=given)


def test_the_scenario_is_never_overwritten(place):
    (place / "two.csv").write_text(TWO)
    assert "would be overwritten" in refused(place, "allocate", "two.csv", "--out", "two.csv")


def test_what_the_scenario_reads_is_never_overwritten(place):
    (place / "jobs.csv").write_text("arrival_time,job_class,size\n0,A,2\n1,B,1\n")
    trace = '[trace]\nreader = "jobs"\nfile = "jobs.csv"\n'
    pool = '[pool]\ndemands = [[1], [2]]\ncapacities = [9]\njob_classes = ["A", "B"]\n'
    (place / "recorded.toml").write_text(pool + trace)
    told = refused(place, "allocate", "recorded.toml", "-p", "drf", "--out", "jobs.csv")
    assert "jobs.csv is read by the scenario and would be overwritten" in told


def test_a_checkpoint_of_another_sweep_is_refused(place):
    sweep = ("sweep", "two.toml", "--checkpoint", "c", "-p")
    run(*sweep, "drf")
    assert "'policy' was" in refused(place, *sweep, "pf")
    (place / "two.toml").write_text(TWO.replace("[10, 1]", "[9, 1]"))
    told = refused(place, *sweep, "drf")
    there, here = told.split("model was ")[1].split(" there and is ")
    assert "'demands': [[10, 1]" in there
    assert "'demands': [[9, 1]" in here


def test_files_appear_all_or_none(tmp_path):
    old = tmp_path / "b"
    old.write_text("old")

    def fails(path):
        path.write_text("half")
        raise OSError(28, os.strerror(28))

    with pytest.raises(OutputError, match="No space left"):
        write_all({tmp_path / "a": lambda path: path.write_text("whole") and None, old: fails})
    assert [p.name for p in tmp_path.iterdir()] == ["b"]
    assert old.read_text() == "old"


def test_new_files_have_the_usual_permissions(tmp_path):
    mask = os.umask(0o022)
    try:
        write_all({tmp_path / "a": lambda path: path.write_text("") and None})
    finally:
        os.umask(mask)
    assert Path(tmp_path / "a").stat().st_mode & 0o777 == 0o644
