"""Spoiled files: refused with file and place, or read as a second reader reads them; never a traceback."""

import pytest
from typer.testing import CliRunner

from fairness import FairqueuesError
from fairness.files import BLOCK, LONGEST
from fairqueues.commands.app import app
from fairqueues.traces import read_alibaba_2018_machines
from queueing.recorded import columns
from tests.fairqueues.traces.foreign_files import FILES, READ, write
from tests.fairqueues.traces.mutations import spoiled
from tests.oracles.second_readers import SECOND

PLACES = (
    "line ", "cannot be read: ", "has no line of data", "no task is left", "is empty", "nothing is in it",
    "rows must be", "no rows below the head", "no machine is there", "twice in one object", "no YAML: ",
)  # fmt: skip
"""What a refusal tells besides the file: the line, or what is wrong with the whole of it."""

WITHOUT = ("no job classes: give", "no capacities: give", "devices must be one of")
"""Refusals of files that lack each other, not of one of them."""


def plain(tasks):
    """Tasks as texts of nine digits, in some order."""

    def told(value):
        return f"{float(value) + 0.0:.9g}"

    return sorted(
        (told(arrival), told(duration), tuple(map(told, demands)), user)
        for arrival, duration, demands, user in tasks
    )


def tasks_of(found):
    trace = found[0] if isinstance(found, tuple) else found
    users = (trace.users[k] for k in trace.user_of)
    return plain(zip(trace.arrivals, trace.durations, trace.types[trace.type_of], users, strict=True))


def answer(kind, folder):
    """What was found, or the refusal."""
    try:
        found = READ[kind](folder)
    except FairqueuesError as error:
        said = str(error).replace(str(folder), "")
        assert "\n" not in said
        if not said.startswith(WITHOUT):
            assert any(name in said for name in FILES[kind]) or "<imported>" in said, said
            assert any(place in said for place in PLACES) or kind in ("gavel", "import yarn"), said
        return said
    return tasks_of(found) if kind in SECOND else None


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("count", [25, pytest.param(60, marks=pytest.mark.long)])
def test_spoiled_files_are_refused_with_a_place_or_read_as_the_second_reader_reads_them(
    kind, count, tmp_path, monkeypatch
):
    write(tmp_path, kind)
    READ[kind](tmp_path)
    for seed in range(count):
        name = list(FILES[kind])[seed % len(FILES[kind])]
        text = FILES[kind][name]
        (tmp_path / name).write_bytes(spoiled(name, text, seed, len(kind)))
        found = answer(kind, tmp_path)
        if kind in SECOND:
            if isinstance(found, list):
                assert found == plain(SECOND[kind](tmp_path)), (kind, seed)
            # Plain blocks, which are read at once, are what they are cell by cell.
            with monkeypatch.context() as patch:
                patch.setattr(columns, "_plain", lambda *_: None)
                assert answer(kind, tmp_path) == found, (kind, seed)
        (tmp_path / name).write_text(text)


@pytest.mark.parametrize("kind", SECOND)
def test_the_second_readers_read_files_that_are_right(kind, tmp_path):
    write(tmp_path, kind)
    assert tasks_of(READ[kind](tmp_path)) == plain(SECOND[kind](tmp_path))


REPLAYED = {
    "alibaba gpu": ("pods.csv", "nodes.csv", "alibaba-gpu-2023"),
    "tasks": ("tasks.csv", "nodes.csv", "tasks"),
    "philly": ("log", "machines", "philly"),
}


@pytest.mark.long  # compiles
@pytest.mark.parametrize("kind", REPLAYED)
def test_a_replay_of_a_spoiled_file_ends_in_an_answer_or_in_one_line(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, kind)
    trace, nodes, schema = REPLAYED[kind]
    call = ["replay", "--trace", trace, "--nodes", nodes, "--schema", schema, "-s", "fifo", "--load", "1.1"]
    for seed in range(40):
        name = (trace, nodes)[seed % 2]
        (tmp_path / name).write_bytes(spoiled(name, FILES[kind][name], seed))
        found = CliRunner().invoke(app, call)
        assert found.exception is None or isinstance(found.exception, SystemExit), seed
        assert found.exit_code == 0 or len(found.stderr.splitlines()) == 1, seed
        (tmp_path / name).write_text(FILES[kind][name])


def test_files_without_an_end_are_refused_at_once(tmp_path):
    endless = tmp_path / "machine_meta.csv"
    endless.symlink_to("/dev/zero")
    with pytest.raises(FairqueuesError, match=r"machine_meta\.csv: .*: it is a device and no file"):
        READ["alibaba 2018 machines"](tmp_path)
    endless.unlink()
    endless.write_bytes(b"7" * (LONGEST + BLOCK))
    with pytest.raises(FairqueuesError, match=r"machine_meta\.csv, line 1: has no end"):
        READ["alibaba 2018 machines"](tmp_path)
    with pytest.raises(FairqueuesError, match="cannot be read: Is a directory"):
        read_alibaba_2018_machines(tmp_path)
