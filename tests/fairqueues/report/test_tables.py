"""Tables on terminals of any width: all of every number and word, and the keys with each block."""

import io
import re

import numpy as np
import pandas as pd
import pytest

from fairqueues.report.tables import print_line, print_table

WORDS = "of a sentence that is longer than most terminals are wide, and incomprehensibilities"


class Terminal(io.StringIO):
    """What is written, as on a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def shown(monkeypatch):
    """Call a function with a terminal of some width; the lines, without colours."""

    def lines(width, function, *arguments):
        terminal = Terminal()
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("LINES", "24")
        monkeypatch.setenv("TERM", "xterm")
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", terminal)
            function(*arguments)
        return re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue()).splitlines()

    return lines


def table(columns, rows=3):
    """Keys in two columns, numbers, and a sentence."""
    values = np.random.default_rng(1).normal(size=(rows, columns))
    index = pd.MultiIndex.from_tuples([("policy", f"class{k}") for k in range(rows)], names=["name", "of"])
    frame = pd.DataFrame(values, index=index, columns=[f"mean value {k}" for k in range(columns)])
    return frame.assign(words=WORDS)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200, 400])
@pytest.mark.parametrize("columns", [1, 12])
def test_every_number_and_word_is_there_and_no_line_is_too_long(shown, width, columns):
    frame = table(columns)
    found = shown(width, print_table, frame, "Title")
    assert found[0] == "Title"
    assert max(map(len, found)) <= width
    text = " ".join(found)
    whole = [line for line in found if "class1" in line]
    full = (columns == 1 and width > 130) or width == 400
    for value in frame.iloc[1, :-1]:
        assert f"{value:.{6 if full else 4}g}" in " ".join(whole)
    # Words may go on in the next line, but are whole themselves up to 24 signs.
    for word in WORDS.split():
        assert word in text
    # Each block says which row is which.
    assert all(line.split()[:2] in (["policy", "class1"], ["│", "policy"]) for line in whole)
    heads = [line for line in found if re.search(r"\bof\b.*(mean|value|words|\d)", line)]
    assert len(heads) >= len(whole)


def test_a_block_holds_what_there_is_room_for(shown):
    """At 40 signs: two keys (12 signs with the lines between) and a number of 7 at most, three times."""
    frame = table(6).drop(columns="words")
    blocks = [line for line in shown(42, print_table, frame, "") if "class1" in line]
    assert [len(line.split()) - 2 for line in blocks] == [3, 3]


@pytest.mark.parametrize(
    "frame", [table(3, rows=0), pd.DataFrame({"a": [1.5]}), pd.DataFrame({"a b": [WORDS] * 2})]
)
def test_small_tables(shown, frame):
    for width in (20, 200):
        text = " ".join(shown(width, print_table, frame, "Title"))
        assert all(word in text for head in frame.columns for word in str(head).split())


def test_what_no_terminal_has_room_for_runs_over(shown):
    frame = table(4).drop(columns="words")
    text = "\n".join(shown(10, print_table, frame, ""))
    for value in frame.to_numpy().ravel():
        assert f"{value:.4g}" in text


def test_notes_are_broken_between_words(shown):
    text = f"  note: {WORDS} 0.123456789"
    found = shown(40, print_line, text)
    assert max(map(len, found)) <= 40
    assert " ".join(" ".join(found).split()) == text.strip()
    assert all(line.startswith("    ") for line in found[1:])
    assert shown(400, print_line, text) == [text]
