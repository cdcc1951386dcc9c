"""Reports: everything on one page, nothing from elsewhere, and the command that makes it again."""

import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

from fairness.evidence.pools import Certificate
from fairqueues.report import page
from fairqueues.report.outcome import Outcome
from tests.fairqueues.command_line import TWO, run
from tests.markup import Page

COMMANDS = {
    "allocate": [],
    "solve": [],
    "simulate": ["--events", "300", "--replications", "2", "--seed", "3"],
    "fluid": [],
    "region": ["--kind", "policy", "--points", "3"],
    "sweep": [],
    "cloud": [],
    "provision": [],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_report_has_everything_and_repeats_itself(place, command):
    run(command, "two.toml", *COMMANDS[command], "--report", "r.html")
    text = Path("r.html").read_text()
    shown = Page(text)
    assert {"Figure", "Results", "Inputs", "Repeat"} <= set(shown.heads)
    loaded = [v for name, v in shown.attributes if name in ("src", "href", "xlink:href", "data")]
    assert all(link.startswith("#") for link in loaded)
    ids = [v for name, v in shown.attributes if name == "id"]
    assert len(set(ids)) == len(ids)
    # Nothing but names of XML may look like an address.
    addresses = set(re.findall(r'https?://[^"\s<]+', text))
    assert all(address.startswith("http://www.w3.org/") for address in addresses), addresses
    assert text.count("<svg") == 1
    assert "demands = [[10, 1], [1, 10]]" in text
    assert "<td>numpy</td>" in text
    assert "Seed: " in text
    told = re.search(r"<pre>(fairqueues [^<]*|root [^<]*)</pre>", text)
    again = shlex.split(told[1])[1:]
    assert again[:2] == [command, "two.toml"]
    Path("r.html").unlink()
    run(*again)
    if command != "cloud":  # which measures seconds
        assert Path("r.html").read_text() == text


def test_certificates_and_failures_are_on_the_page(place, monkeypatch):
    run("allocate", "two.toml", "--report", "r.html")
    text = Path("r.html").read_text()
    assert '<li class="holds">DRF: every class has a saturated resource' in text
    assert "Failed" not in text
    monkeypatch.setattr(Certificate, "holds", False)
    run("allocate", "two.toml", "--report", "r.html", code=1)
    assert "<h2>Failed</h2>" in Path("r.html").read_text()


def test_text_of_the_file_cannot_break_the_page(place):
    (place / "two.toml").write_text(TWO.replace("Two classes", "<script>alert(1)</script> & co"))
    run("allocate", "two.toml", "--report", "r.html")
    text = Path("r.html").read_text()
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; co" in text
    Page(text)


def test_a_table_that_is_shown_is_not_shown_again():
    """Of a long result the page shows the brief table, which may be one of the others, too."""
    short, long = pd.DataFrame({"status": ["stable"]}), pd.DataFrame({"time": range(300)})
    other = pd.DataFrame({"price": [1.0]})
    text = page(Outcome("Long", long, brief=short, tables={"verdicts": short, "prices": other}), "command")
    assert text.count("<th>status</th>") == 1
    assert text.count("<caption>prices</caption>") == 1
