"""Names and titles are shown as they are: in every figure, in spreadsheets, and on old terminals."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
import xarray as xr
from matplotlib.figure import Figure

from capacity import policy_stability_region, stability_region
from capacity.studies.heat_maps import heat_map
from fairness import DRF, PSDSF, Cluster, ModelError, Problem, allocate
from fairness.display.lettering import folded, label, printed, spelled, unprintable
from fairness.results.plotting import plot_sharing
from fairqueues.commands.app import stop
from fairqueues.console.figures import class_bars, sweep_lines
from fairqueues.report.tables import print_line, print_table
from tests.fairqueues.commands.command_line import program, run
from tests.markup import CLASSES, RESOURCES, Priced, words_of

LIMITED = Problem([[1, 4], [3, 1]], [9, 18], limits=[5, 2], job_classes=CLASSES, resources=RESOURCES)
NAMES = {"job_classes": [*CLASSES, "$third$"], "resources": [*RESOURCES, "$\\bad$"]}
CUBE = Problem([[3, 1, 1], [1, 3, 1], [1, 1, 3]], [1, 1, 1], **NAMES)
GRID = xr.Dataset(
    {"service_rates": (("$p$", "policy", "job_class"), np.ones((2, 1, 2)))},
    coords={"$p$": [1.0, 2.0], "policy": ["$\\frac{$"], "job_class": CLASSES},
)

HEAT = xr.DataArray(
    [[1.0, 2.0], [3.0, 4.0]],
    coords={"$a$": ["$x$", "$\\y{$"], "$\\b{$": [1, 2]},
    name="$n$",
    attrs={"units": "$\\u{$"},
)

FIGURES = {
    "sharing polygon": lambda: plot_sharing(LIMITED, [DRF(), Priced()]),
    "region of three classes": lambda: stability_region(CUBE).plot(),
    "policy region of three classes": lambda: policy_stability_region(CUBE, Priced(), points=10).plot(),
    "heat map": lambda: heat_map(HEAT),
    "bars of classes": lambda: class_bars({"$\\m{$": [1.0, 2.0]}, CLASSES, "$\\l{$"),
    "lines of a sweep": lambda: sweep_lines(GRID, "$p$", "service_rates"),
}


@pytest.mark.parametrize("kind", FIGURES)
@pytest.mark.long
def test_dollars_are_dollars_in_every_figure(kind):
    drawn = FIGURES[kind]()
    figure = drawn if isinstance(drawn, Figure) else drawn.figure
    words = words_of(figure)
    assert "$" in words
    assert "\\$" not in words


def wide(prefix):
    return f"{prefix:x<40}"


def test_names_without_blanks_leave_room_for_the_bars():
    names = {"job_classes": [wide("a"), wide("b")], "resources": [wide("c"), wide("d")]}
    cluster = Cluster([[1, 4], [3, 1]], [[9, 18]], servers=[wide("e")], **names)
    drawn = allocate(cluster, PSDSF()).plot()
    drawn.figure.draw_without_rendering()
    assert drawn.get_position().width > 0.3
    tick = drawn.get_yticklabels()[0].get_text()
    assert tick.replace("\n", "").startswith(wide("e"))


def test_lines_are_broken_within_words_but_not_within_signs_and_formulas():
    assert folded("on " + "x" * 10, 6) == "on\nxxxxxx\nxxxx"
    assert folded(label("xxx$y"), 4) == "xxx\\$\ny"
    assert folded("$\\Sigma\\;a_{i1}/a_{i2}$", 6) == "$\\Sigma\\;a_{i1}/a_{i2}$"
    assert folded("a\n\nb") == "a\n\nb"


def test_a_label_shows_what_is_given():
    assert label("$a$") == r"\$a\$"
    assert label("a\x01\ud800\n") == "a\\x01\\ud800\\n"
    assert label(3.5) == "3.5"
    assert label("größer – 10 °") == "größer – 10 °"


@pytest.mark.parametrize(
    "sign",
    ["\x00", "\x1b", "\n", "\x85", "\ud800", "\u202e", "\u2066", "\u200f", "\u2028", "\ufeff", "\U000e0041"],
)
def test_names_without_a_picture_are_refused(sign):
    for argument in ("job_classes", "resources"):
        with pytest.raises(ModelError, match=f"{argument}: .* has the character .*, which cannot be shown"):
            Problem([[1, 2], [2, 1]], [1, 1], **{argument: ["a", f"b{sign}"]})
    with pytest.raises(ModelError, match="servers: "):
        Cluster([[1]], [[1], [1]], servers=["a", f"b{sign}"])


TURNED = "\u202eFRD\x1b[2J"
"""A name that reads backwards, and clears the screen."""


def test_what_joins_letters_is_shown():
    for text in ("👩\u200d💻", "می\u200cخواهم", "größer\N{NO-BREAK SPACE}–"):
        assert label(text) == printed(text) == text
        assert Problem([[1]], [1], resources=[text]).resources == (text,)
    assert printed("a\nb\u202e", kept="\n") == "a\nb\\u202e"


def test_no_name_turns_a_figure_or_a_terminal(capsys):
    named = Priced(TURNED)
    result = allocate(LIMITED, named)
    assert result.name == "\\u202eFRD\\x1b[2J"
    words = words_of(result.plot().figure)
    frame = pd.DataFrame({"user": [TURNED], TURNED: [1.0]})
    print_table(frame, TURNED)
    print_line(f"  {TURNED}\n  below")
    with pytest.raises(typer.Exit):
        stop(f"fairqueues: there is no file {TURNED}", 2)
    seen = "".join(capsys.readouterr())
    assert seen.count("\\u202eFRD\\x1b[2J") == 5
    assert "\n  below" in seen
    assert not unprintable((seen + words).replace("\n", ""))


SCENARIO = """
title = 'Prices in $, or $\\frac{'
policies = ["drf"]
[pool]
demands = [[1, 4], [3, 1]]
capacities = [9, 18]
job_classes = ['=HYPERLINK("x")', "@b"]
resources = ["$c$", "-r"]
"""


@pytest.fixture
def file(place):
    path = place / "two.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def test_dollars_in_a_scenario_and_its_report(file):
    run("allocate", file, "--report", "r.html", "--out", "f.pdf")
    assert "Prices in $, or $\\frac{" in Path("r.html").read_text()
    assert Path("f.pdf").stat().st_size > 0


def test_control_characters_in_a_title_are_refused(file):
    file.write_text(SCENARIO.replace("title = 'Prices in $, or $\\frac{'", 'title = "bell \\u0007"'))
    assert "title must be text without control characters" in run("allocate", file, code=2).stderr


def test_a_spreadsheet_computes_no_name(file):
    text = run("allocate", file, "--csv", "--out", "a.csv").stdout
    assert text == Path("a.csv").read_text()
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert '\'=HYPERLINK("x")' in cells
    assert "'@b" in cells
    for cell in cells:
        assert not cell.startswith(("=", "@", "+"))
        assert not cell.startswith("-") or float(cell) <= 0


AUDITS = {
    "ascii": "fairqueues audit -p drf --property SI --budget 20 --seed 1",
    "latin-1": "fairness.properties --policies DRF --properties SI --budget 20",
}


@pytest.mark.long
@pytest.mark.parametrize("encoding", AUDITS)
def test_audits_on_a_terminal_that_is_not_utf_8(encoding):
    """Legend and cells go the same way, in the encoding of the stream."""
    text, _ = program(*AUDITS[encoding].split(), encoding=encoding)
    assert re.search(r"(?m)^ *sharing incentive +v$", text)
    assert "x violated, with a witness;  v no violation found" in text


@pytest.mark.long
def test_json_in_ascii_is_json(file):
    file.write_text(SCENARIO.replace('"@b"', '"größer 😀"'), encoding="utf-8")
    text, _ = program("fairqueues", "allocate", file, "--json", encoding="ascii")
    assert "größer 😀" in {row["job_class"] for row in json.loads(text)["results"]}


@pytest.mark.long
def test_csv_says_which_names_a_terminal_lacks(file):
    file.write_text(SCENARIO.replace('"@b"', '"größer 中 – 😀"'), encoding="utf-8")
    text, told = program("fairqueues", "allocate", file, "--csv", encoding="cp1252")
    assert "größer \\u4e2d – \\U0001f600" in text
    assert "note: standard output is cp1252, which lacks \\u4e2d \\U0001f600: " in told
    assert "--out FILE.csv has every sign" in told
    text, told = program("fairqueues", "allocate", file, "--csv")
    assert "größer 中 – 😀" in text
    assert "note" not in told


def test_streams_without_an_encoding_stay_as_they_are():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    spelled(stream, io.StringIO(), None)
    stream.write("✓ ≤ é")
    stream.flush()
    assert stream.buffer.getvalue() == b"v <= \\xe9"
