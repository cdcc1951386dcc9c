"""Cells of foreign tables: whole numbers exactly, within their range; rows, columns and ends of lines."""

import numpy as np
import pytest

from fairness import ModelError
from fairness.arguments.quantities import decimal, whole
from fairqueues.traces import read_alibaba_2018_machines, read_google_2019
from queueing import NodeList
from queueing.recorded import columns
from queueing.recorded.columns import pieces
from tests.fairqueues.traces.files import EVENTS, written
from tests.fairqueues.traces.foreign_files import FILES, READ, write

TABLES = [kind for kind, files in FILES.items() if any(name.endswith(".csv") for name in files)]


def google(folder, *events):
    users = written(
        folder, "c.csv", "collection_id,user", "7,ann", "9007199254740993,bob", "9007199254740992,eve"
    )
    return read_google_2019(users, written(folder, "i.csv", EVENTS, *events))


def test_numbers_of_instances_that_do_not_fit_are_refused(tmp_path):
    """Narrowed to 32 bits without a look, 0 and 2**32 of one collection would be one task."""
    started = ["1000000,0,7,{},0,0,1,1", "2000000,3,7,{},0,0,1,1", "5000000,6,7,{},0,0,,"]
    events = [line.format(index) for index in (0, 2**31 - 1) for line in started]
    assert google(tmp_path, *events).n_tasks == 2
    events = [line.format(index) for index in (0, 2**32) for line in started]
    with pytest.raises(
        ModelError, match=r"i\.csv, line 5, instance_index: .* 0 to 2147483647; got 4294967296"
    ):
        google(tmp_path, *events)


def test_numbers_of_collections_are_exact(tmp_path):
    """Floats would take 2**53 and 2**53 + 1 for one; so would a column with one decimal point in it."""
    events = [
        f"{time},{kind},{2**53 + k}{dot},0,0,0,1,1"
        for k in (0, 1)
        for time, kind, dot in ((1000000, 0, ""), (2000000, 3, ".0"), (4000000 + k, 6, ""))
    ]
    trace = google(tmp_path, *events)
    assert trace.n_tasks == 2
    assert [trace.users[k] for k in trace.user_of] == ["eve", "bob"]
    with pytest.raises(
        ModelError, match="line 2, collection_id: must be a whole number within 64 bits; got '1e19'"
    ):
        google(tmp_path, "1000000,0,1e19,0,0,0,1,1")
    with pytest.raises(ModelError, match="line 2, time: is no time in microseconds of a trace"):
        google(tmp_path, "1000000000000000000,0,7,0,0,0,1,1")


def test_cells_that_are_numbers():
    for text, value in (
        ("5.", 5.0),
        (".5", 0.5),
        ("+1e3", 1000.0),
        ("0." + "3" * 60, 1 / 3),
        ("1e-400", 0.0),
    ):
        assert decimal(text) == value
    for text in (
        "",
        "nan",
        "inf",
        "1e400",
        "9" * 400,
        "1_000",
        "\u0661",
        "0x10",
        "1/3",
        "4Gi",
        "1,5",
        "True",
        " 5",
    ):
        with pytest.raises(ValueError, match=r"must be a (finite )?number"):
            decimal(text)
    for text, value in (
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("1e3", 1000),
        ("5.0", 5),
    ):
        assert whole(text) == value
    for text in ("9223372036854775808", "1e19", "9" * 5000, "1e999999999", "1.5", "1e-999999999", "x", ""):
        with pytest.raises(ValueError, match="must be a whole number"):
            whole(text)


def refusal(kind, folder, name, lines, end="\n"):
    """What is said of a table with these lines; None if it is read."""
    before = (folder / name).read_bytes()
    (folder / name).write_bytes(end.join(lines).encode())
    try:
        READ[kind](folder)
    except ModelError as error:
        return str(error)
    finally:
        (folder / name).write_bytes(before)
    return None


def tables(kind):
    """The tables of a kind: name and lines."""
    return [(name, text.splitlines()) for name, text in FILES[kind].items() if name.endswith(".csv")]


@pytest.mark.parametrize("kind", TABLES)
def test_a_number_of_400_digits_is_refused_or_one_that_nobody_reads(kind, tmp_path):
    write(tmp_path, kind)
    for name, (*lines, last) in tables(kind):
        for j in range(last.count(",") + 1):
            cells = last.split(",")
            cells[j] = "9" * 400
            said = refusal(kind, tmp_path, name, [*lines, ",".join(cells)])
            assert said is None or ".csv" in said


@pytest.mark.parametrize("kind", TABLES)
def test_ends_of_lines_are_those_of_any_system(kind, tmp_path):
    write(tmp_path, kind)
    expected = repr(READ[kind](tmp_path))
    for name, lines in tables(kind):
        for end in ("\r\n", "\r"):
            (tmp_path / name).write_bytes(end.join([*lines, ""]).encode())
            assert repr(READ[kind](tmp_path)) == expected
        assert name in refusal(kind, tmp_path, name, ["", ""])


@pytest.mark.parametrize("kind", TABLES)
def test_of_two_columns_with_one_name_none_is_taken(kind, tmp_path):
    write(tmp_path, kind)
    for name, (heads, *rows) in tables(kind):
        if name in ("batch_task.csv", "machine_meta.csv"):  # without a head
            continue
        said = {
            head: refusal(
                kind, tmp_path, name, [f"{heads},{head}", *(f"{row},{row.split(',')[k]}" for row in rows)]
            )
            for k, head in enumerate(heads.split(","))
        }
        # Columns that nobody reads may be there as often as they like.
        told = {head: text for head, text in said.items() if text is not None}
        assert told
        for head, text in told.items():
            assert f"{name}, line 1, {head}: there are two columns of this name" in text


@pytest.mark.parametrize("kind", TABLES)
def test_rows_that_are_cut_are_refused(kind, tmp_path):
    """A pod without its last cells would be one that never ran."""
    write(tmp_path, kind)
    for name, (*lines, last) in tables(kind):
        for n in range(1, last.count(",") + 1):
            said = refusal(kind, tmp_path, name, [*lines, last.rsplit(",", n)[0]])
            assert f"{name}, line {len(lines) + 1}, " in said
            assert f": is missing: {last.count(',') + 1 - n} cells for" in said


def test_machines_that_stand_twice_are_merged_with_a_note(tmp_path):
    lines = ("m_1,0,1,2,96,100,USING", "m_1,500,1,2,96,100,USING", "m_2,0,1,2,64,50,USING")
    nodes = read_alibaba_2018_machines(written(tmp_path, "m.csv", *lines))
    assert nodes.notes == ("1 line repeats a node of lines above: merged",)
    assert "note: 1 line repeats a node" in nodes.summary()
    assert nodes.only([0]).notes == nodes.notes
    nodes.save(tmp_path / "nodes.json")
    assert NodeList.load(tmp_path / "nodes.json").notes == nodes.notes
    assert read_alibaba_2018_machines(written(tmp_path, "m.csv", *lines[1:])).notes == ()


def test_plain_blocks_are_what_they_are_cell_by_cell(tmp_path, monkeypatch):
    """Decimal numbers of any length are the nearest floats on both ways, and lines keep their numbers."""
    rng = np.random.default_rng(3)
    values = np.concatenate([rng.uniform(0, 1e6, 200), 10 ** rng.uniform(-300, 300, 200)])
    rows = [f" a {k},{k**7},{value!r}" for k, value in enumerate(values.tolist())]
    for k in range(7, 300, 5):  # quotes that are not needed
        rows[k] = f'"a {k}","{k**7}",{values.tolist()[k]!r}'
    written(tmp_path, "f.csv", '"t",n,x', *rows)
    found = []
    for plain in (columns._plain, lambda *_: None):
        monkeypatch.setattr(columns, "_plain", plain)
        monkeypatch.setattr(columns, "BLOCK", 1000)
        parts = list(pieces(tmp_path / "f.csv", ["x"], ["t"], wholes=["n"]))
        found.append([np.concatenate([part.columns[name] for part in parts]).tolist() for name in "xtn"])
        found[-1].append(np.concatenate([part.lines for part in parts]).tolist())
    assert found[0] == found[1]
    assert found[0] == [
        values.tolist(),
        [f"a {k}" for k in range(400)],
        [k**7 for k in range(400)],
        list(range(2, 402)),
    ]


def test_a_mark_of_the_byte_order_within_a_file_is_part_of_its_cell(tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "BLOCK", 1)  # every line is a block, and pandas would take the mark away
    (tmp_path / "f.csv").write_text("\ufeffa,b\nx,1\n\ufeffx,2\n", encoding="utf-8")
    assert [text for part in pieces(tmp_path / "f.csv", ["b"], ["a"]) for text in part.columns["a"]] == [
        "x",
        "\ufeffx",
    ]


def test_quoted_cells_may_hold_commas_and_ends_of_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "BLOCK", 12)
    path = tmp_path / "f.csv"
    path.write_text('"a","b,\nc"\n1,x\n2,"y,z"\n"3","u\n\nv"\n\n4,w\n')
    parts = list(pieces(path, ["a"], ["b,\nc"]))
    assert [n for part in parts for n in part.lines] == [3, 4, 5, 9]
    assert [text for part in parts for text in part.columns["b,\nc"]] == ["x", "y,z", "u\n\nv", "w"]
    path.write_text('a,b\n1,x\n2,"y\n3,z\n')
    with pytest.raises(ModelError, match=r"f\.csv, line 3: no CSV: unexpected end of data"):
        list(pieces(path, ["a"], ["b"]))
    path.write_bytes(b"a,b\n1,x\n2,\xff\n")
    with pytest.raises(ModelError, match=r"f\.csv, line 3: is no text in UTF-8"):
        list(pieces(path, ["a"], ["b"]))
