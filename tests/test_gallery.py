"""The gallery writes what a reader needs, whole or not at all."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from examples.gallery import (
    THUMBNAIL,
    Check,
    Page,
    Table,
    distance,
    write_figure,
    write_front_page,
    write_gallery,
)
from examples.stamp import stamp
from tests.processes import PATIENCE, line_of, require_nobody_left, running


def page(key, checks=(), figure=None):
    if figure is None:
        figure = Figure()
        figure.add_subplot().plot([0, 1], [1, 0])
    numbers = {"x": np.array([1.0, np.nan]), "n": np.int64(3)}
    return Page(key, f"Title <{key}>", "Slide", "See", figure, numbers, checks)


def write(tmp_path, pages):
    drawn = [write_figure(page, tmp_path, 1.5) for page in pages]
    return write_gallery(tmp_path, "All", "Intro", drawn, stem="talk", command="make it", sources="today")


def test_files_and_index(tmp_path):
    checks = [Check("a", "1", "1", True), Check("b", "2", "3", False), Check("c", "-", "4", None)]
    tally = write(tmp_path, [page("fig1", checks), page("fig2")])
    assert (tally.pages, tally.seconds, tally.folder) == (2, 3.0, tmp_path.name)
    names = sorted(path.name for path in tmp_path.iterdir())
    figures = [f"fig{k}.{kind}" for k in (1, 2) for kind in ("png", "svg", "thumb.png")]
    assert names == [*figures, "index.html", "talk.json"]
    for name in ("fig1", "fig2"):
        with (
            Image.open(tmp_path / f"{name}.png") as whole,
            Image.open(tmp_path / f"{name}.thumb.png") as small,
        ):
            assert small.width < whole.width
            assert small.width == THUMBNAIL[0] or small.height == THUMBNAIL[1]
            assert small.width / small.height == pytest.approx(whole.width / whole.height, rel=0.01)
        assert (tmp_path / f"{name}.thumb.png").stat().st_size < (tmp_path / f"{name}.png").stat().st_size / 2
    text = (tmp_path / "index.html").read_text()
    assert 'href="./index.html#fig1"><img src="./fig1.thumb.png"' in text
    assert "3 comparisons: 1 agree, 0 claims of the source are refuted, 1 differ, 1 numbers are new" in text
    assert "Title &lt;fig1&gt;" in text
    assert "DIFFERS" in text
    record = json.loads((tmp_path / "talk.json").read_text())
    assert record["sources"] == "today"
    assert (record["figures"]["fig1"]["see"], record["figures"]["fig1"]["pictured"]) == ("See", True)
    assert record["figures"]["fig1"]["numbers"] == {"x": [1.0, None], "n": 3}
    assert [c["verdict"] for c in record["figures"]["fig1"]["checks"]] == ["agrees", "DIFFERS", "new"]
    assert record["figures"]["fig1"]["seconds"] == 1.5


def test_a_refuted_claim_is_shown_with_its_reason(tmp_path):
    sound = Check.refuted("DRF violates SP", "yes", "no", True, "Ghodsi et al. prove <the opposite>")
    unsound = Check.refuted("2 + 2 = 4", "yes", "no", False, "it is 5")
    assert (sound.verdict, unsound.verdict) == ("refuted", "DIFFERS")
    tally = write(tmp_path, [page("fig1", [sound, unsound])])
    assert tally.verdicts == {"refuted": 1, "DIFFERS": 1}
    assert "refuted: Ghodsi et al. prove &lt;the opposite&gt;" in (tmp_path / "index.html").read_text()


def test_a_page_may_hold_tables_and_no_figure(tmp_path):
    table = Table("A <caption>", ["what", "value"], [["a", "1 < 2"]])
    only = Page("table1", "T", "Table I", "See", None, {}, tables=[table], listings={"<L>": "a & b"})
    write(tmp_path, [only])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.html", "talk.json"]
    text = (tmp_path / "index.html").read_text()
    assert "<caption>A &lt;caption&gt;</caption>" in text
    assert "<td>a</td><td>1 &lt; 2</td>" in text
    record = json.loads((tmp_path / "talk.json").read_text())
    assert record["figures"]["table1"]["tables"][0]["rows"] == [["a", "1 < 2"]]
    assert "<figcaption>&lt;L&gt;</figcaption><pre>a &amp; b</pre>" in text
    assert record["figures"]["table1"]["listings"] == {"<L>": "a & b"}


def test_the_column_of_statements_is_wide_enough_to_be_read(tmp_path):
    table = Table("Verdicts", ["id", "statement", "verdict"], [["a", "what is said", "PROVED"]])
    write(tmp_path, [Page("table1", "T", "Table I", "See", None, {}, tables=[table])])
    text = (tmp_path / "index.html").read_text()
    assert '<td>a</td><td class="statement">what is said</td><td>PROVED</td>' in text
    assert ".statement { min-width:" in text


def test_front_page_leads_to_every_source(tmp_path):
    check = Check("a", "1", "1", True)
    tallies = [write(tmp_path / name, [page("fig1", [check])]) for name in ("one", "two")]
    text = write_front_page(tmp_path, tallies, "make it").read_text()
    for name in ("one", "two"):
        assert f'href="{name}/index.html"' in text
        assert (tmp_path / name / "index.html").exists()
        assert f'href="{name}/index.html#fig1"><img src="{name}/fig1.thumb.png"' in text
    assert text.count("1 agree") == 2


def test_the_stamp_is_of_names_contents_and_tools(tmp_path, monkeypatch):
    """It changes with what is written, added or renamed, with versions of tools, and with nothing else."""
    (tmp_path / "examples").mkdir()
    source = tmp_path / "examples" / "a.py"
    source.write_text("x = 1")
    first = stamp(tmp_path)
    (tmp_path / "examples" / "notes.txt").write_text("no source")
    assert stamp(tmp_path) == first
    source.write_text("x = 2")
    second = stamp(tmp_path)
    source.rename(tmp_path / "examples" / "b.py")
    third = stamp(tmp_path)
    monkeypatch.setattr("examples.stamp.version", lambda package: f"{package} of tomorrow")
    assert len({first, second, third, stamp(tmp_path)}) == 4


def test_svg_is_the_same_in_every_run(tmp_path):
    write(tmp_path, [page("fig1")])
    first = (tmp_path / "fig1.svg").read_bytes()
    write(tmp_path, [page("fig1")])
    assert (tmp_path / "fig1.svg").read_bytes() == first


def test_nothing_half_written(tmp_path):
    class Broken(Figure):
        def savefig(self, target, **options):
            target.write_text("half")
            raise OSError("disk full")

    (tmp_path / "fig1.svg").write_text("old")
    with pytest.raises(OSError, match="disk full"):
        write(tmp_path, [page("fig1", figure=Broken())])
    assert [path.name for path in tmp_path.iterdir()] == ["fig1.svg"]
    assert (tmp_path / "fig1.svg").read_text() == "old"


@pytest.mark.parametrize(("ours", "agrees"), [(1.23449, True), (1.2346, False), (np.nan, False)])
def test_check_close_compares_the_printed_digits(ours, agrees):
    assert Check.close("x", 1.2345, ours).agrees is agrees


def test_an_interval_without_end_agrees_with_nothing():
    off = distance([2.0, 2.0, 2.0], 1.0, [2.0, 0.5, np.inf])
    assert off.tolist() == [0.5, 2.0, np.inf]
    assert (off <= 1).tolist() == [True, False, False]


HEARS = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
"""A terminal's process hears Ctrl-C; one that a script starts in the background is deaf to it."""

IMPORTED = """
import examples.interrupted
import sys, time
print("waits", flush=True)
time.sleep(600)
"""
DRAWN = r"""
import os, signal, sys, time
from examples.reproduce import Source, command

def page(*, full):
    # That is for the process that shares the pages out. Two draw: a line in one piece, else they mix.
    os.write(1, b"waits\n" if signal.getsignal(signal.SIGINT) == signal.SIG_IGN else b"hears\n")
    time.sleep(600)

if __name__ == "__main__":
    sys.exit(command([Source("talk", "Talk", "", [page, page], [])], "examples.talk", ["--out", "out"]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal interrupts otherwise there")
@pytest.mark.parametrize(
    ("code", "status", "said"),
    [
        (IMPORTED, -signal.SIGINT, "interrupted\n"),
        pytest.param(DRAWN, 130, "interrupted; galleries written: none\n", marks=pytest.mark.long),
    ],
)
def test_ctrl_c_ends_the_figures_in_one_line(code, status, said, tmp_path):
    """As a terminal says it: to the process and to those that draw for it."""
    script = tmp_path / "talk.py"
    script.write_text(HEARS + code)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
    with running(sys.executable, script, cwd=tmp_path, **pipes) as process:
        assert line_of(process.stdout, "the point to be stopped at") == "waits\n"
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE) == status
        lines = process.stderr.read()
    assert lines.endswith(said)
    assert "Traceback" not in lines
    require_nobody_left(process.pid)


def test_the_command_says_how_it_is_interrupted_before_all_else():
    text = (Path(__file__).parent.parent / "examples" / "__main__.py").read_text()
    modules = [line.split()[1] for line in text.splitlines() if re.match("(import|from) examples", line)]
    assert modules[0] == "examples.interrupted"
