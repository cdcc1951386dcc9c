"""Large CSV files in pieces: lines, fields, memory, and names that must be unique."""

import gzip

import numpy as np
import pytest

from fairness import ModelError
from fairness.machine import memory
from fairness.machine.memory import Room
from fairqueues.traces import read_alibaba_2018_sample
from fairqueues.traces.reading import identities
from fairqueues.traces.reading.gathering import Numbered
from fairqueues.traces.reading.identities import Identities
from queueing.recorded import columns
from queueing.recorded.columns import pieces
from tests.fairqueues.traces.files import SAMPLE, written


@pytest.fixture
def small(monkeypatch):
    """Pieces of three rows."""
    monkeypatch.setattr(columns, "PIECE", 3)


def rows_of(path, **options):
    found = list(pieces(path, ["a"], ["b"], **options))
    return [
        (int(n), a, b) for r in found for n, a, b in zip(r.lines, r.columns["a"], r.columns["b"], strict=True)
    ]


def test_rows_know_their_lines_across_pieces(small, tmp_path):
    path = written(tmp_path, "f.csv", "b,a", "x,1", "", " y ,2", "z,3", "", "", "", "w,4", "")
    assert rows_of(path) == [(2, 1, "x"), (4, 2, "y"), (5, 3, "z"), (9, 4, "w")]
    packed = tmp_path / "f.csv.gz"
    packed.write_bytes(gzip.compress(b"\xef\xbb\xbf" + path.read_bytes()))
    assert rows_of(packed) == rows_of(path)
    bare = written(tmp_path, "g.csv", "x,1", "y,2")
    assert rows_of(bare, header=("b", "a")) == [(1, 1, "x"), (2, 2, "y")]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["b,a", "x,1", "x,1", "x,1", "x,one"], "line 5, a: must be a number; got 'one'"),
        (["b,a", "x,1", "x,1", "x,1", "x,1,1"], "line 5: 3 cells for 2 columns"),
        (["b,c", "x,1"], "line 1: there is no column 'a' (columns: b, c)"),
        (["b,a"], "has no line of data"),
        ([], "has no line of data"),
    ],
)
def test_what_is_no_table_is_refused(small, tmp_path, lines, said):
    path = written(tmp_path, "f.csv", *lines)
    with pytest.raises(ModelError) as caught:
        rows_of(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_files_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(ModelError, match="No such file"):
        rows_of(tmp_path / "none.csv")
    path = tmp_path / "f.csv"
    path.write_bytes(b"b,a\nx,1\n\xff\xfe,2\n")
    with pytest.raises(ModelError, match="no text in UTF-8"):
        rows_of(path)
    path.write_bytes(gzip.compress(b"b,a\nx,1\n" * 10_000)[:-20])
    with pytest.raises(ModelError, match="cannot be read"):
        rows_of(path)


def test_a_result_that_does_not_fit_is_refused_before_it_is_read(small, tmp_path, monkeypatch):
    path = written(tmp_path, "jobs.csv", SAMPLE, *(f"{k},{k},10,1,0.005,{k},1,1,0" for k in range(25)))
    monkeypatch.setattr(memory, "UNASKED", 0)
    monkeypatch.setattr(memory, "free_memory", lambda: Room(1800.0, ""))
    # The first piece takes the whole file into its buffer, and still each piece asks for what was read.
    with pytest.raises(ModelError, match=r"jobs\.csv with about [0-9e+.]+ rows needs .* read a part of it"):
        read_alibaba_2018_sample(path)
    monkeypatch.setattr(memory, "free_memory", lambda: Room(1e5, ""))
    assert read_alibaba_2018_sample(path).n_tasks == 25
    # A task of many instances is many tasks.
    path = written(tmp_path, "many.csv", SAMPLE, "0,0,10,1,0.005,0,1,1000000,0")
    with pytest.raises(ModelError, match=r"many\.csv, down to line 2, with 1,000,000 tasks needs"):
        read_alibaba_2018_sample(path)


def test_names_that_stand_twice_are_found_across_pieces(small, tmp_path):
    lines = [f"n{k},{k}" for k in range(20)]
    path = written(tmp_path, "f.csv", "b,a", *lines)

    def ask(*fields):
        names = Identities(*fields)
        for rows in pieces(path, ["a"], ["b"]):
            names.add(rows)
        names.require_distinct()

    ask("b")
    written(tmp_path, "f.csv", "b,a", *lines, "n3,7")
    ask("b", "a")
    with pytest.raises(ModelError, match=r"line 22, b: repeats 'n3' of line 5"):
        ask("b")


def test_equal_hashes_of_different_names_are_no_repetition(tmp_path, monkeypatch):
    path = written(tmp_path, "f.csv", "b,a", "x,1", "y,2")
    monkeypatch.setattr(identities, "hash", lambda key: 0, raising=False)
    names = Identities("b")
    for rows in pieces(path, ["a"], ["b"]):
        names.add(rows)
    names.require_distinct()


def test_rows_are_numbered_as_they_appear():
    rng = np.random.default_rng(5)
    numbered, seen = Numbered(), {}
    for _ in range(4):
        parts = [
            rng.integers(0, 4, 50) / 8,
            rng.integers(0, 3, 50) * 1.0,
            rng.integers(0, 2, 50).astype(object),
        ]
        numbers = numbered.of_rows(parts)
        for number, row in zip(numbers, zip(*(c.tolist() for c in parts), strict=True), strict=True):
            assert seen.setdefault(row, number) == number
    assert sorted(seen.values()) == list(range(len(seen)))
    assert list(numbered.places) == sorted(seen, key=seen.get)
