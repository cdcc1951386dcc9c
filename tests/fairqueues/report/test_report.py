"""Reports: everything on one page, nothing from elsewhere, and the command that makes it again.

How the page looks in a browser is tested with Chromium where it is installed.
"""

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairness.evidence.pools import Certificate
from fairqueues.report import page
from fairqueues.report.outcome import Evidence, Outcome
from fairqueues.report.page import _asset
from fairqueues.report.pivoting import pivoted
from tests.fairqueues.commands.command_line import TWO, run
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
    assert text.count("<script") == 1  # ours, which enlarges the figure
    assert "alert(1)</script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; co" in text
    Page(text)


def test_a_table_that_is_shown_is_not_shown_again():
    """Of a long result the page shows the brief table, which may be one of the others, too."""
    short, long = pd.DataFrame({"status": ["stable"]}), pd.DataFrame({"time": range(300)})
    other = pd.DataFrame({"price": [1.0]})
    text = page(Outcome("Long", long, brief=short, tables={"verdicts": short, "prices": other}), "command")
    assert text.count("<th>status</th>") == 1
    assert text.count("<caption>prices</caption>") == 1


KEYS = pd.MultiIndex.from_product(
    [["drf", "pf"], [0.3, 0.5, 0.7], ["A", "B"]], names=["policy", "load", "job_class"]
)


def table_of(index, **columns):
    numbers = np.arange(len(index), dtype=float)
    return pd.DataFrame({"mean_jobs": numbers / 4, **columns}, index=index)


def test_a_table_that_repeats_itself_has_a_column_per_class():
    index = pd.MultiIndex.from_product([["drf", "pf", "bmf"], ["A", "B"]], names=["method", "job_class"])
    table = table_of(
        index, load=[1.0, 2.0] * 3, mean_jobs_half_width=0.011, jobs_lower=0.25, jobs_upper=0.5,
        error="", variance=[np.nan, *range(5)],
    )  # fmt: skip
    same, jobs, variance = pivoted(table)
    assert same.rows == [["load", "1", "2"], ["jobs", *["[0.2, 0.5]"] * 2]]
    assert same.heads == [[("", 1), ("A", 1), ("B", 1)]]
    assert (jobs.caption, jobs.heads) == ("mean jobs", [[("method", 1), ("A", 1), ("B", 1)]])
    assert jobs.rows[1] == ["pf", "0.500 ± 0.011", "0.750 ± 0.011"]
    assert variance.rows[0] == ["drf", "–", "0"]
    table["mean_jobs_half_width"] = [np.nan, 0.011, np.inf, 0.011, 0.011, np.nan]
    table.loc[("bmf", "B"), "mean_jobs"] = np.nan
    bare = pivoted(table)[1]
    assert [row[1:] for row in bare.rows] == [
        ["0", "0.250 ± 0.011"],
        ["0.5, no interval", "0.750 ± 0.011"],
        ["1.000 ± 0.011", "–"],
    ]


def test_policies_stand_beside_each_other_above_a_third_key():
    for order in (KEYS.names, ["load", "job_class", "policy"]):
        table = table_of(KEYS).reorder_levels(order)
        (grid,) = pivoted(table)
        assert grid.heads == [
            [("", 1), ("drf", 2), ("pf", 2)],
            [(n, 1) for n in ("load", "A", "B", "A", "B")],
        ]
        assert grid.rows[1] == ["0.5", "0.5", "0.75", "2", "2.25"]
        # Every number is where its keys say.
        for load, *entries in grid.rows:
            for (policy, one), entry in zip(
                ((p, c) for p in ("drf", "pf") for c in "AB"), entries, strict=True
            ):
                assert float(entry) == table_of(KEYS).loc[(policy, float(load), one), "mean_jobs"]
    wide = pd.MultiIndex.from_product([["drf", "pf"], [0.3, 0.5], list("ABCDE")], names=KEYS.names)
    (grid,) = pivoted(table_of(wide))
    assert [row[:2] for row in grid.rows] == [["drf", "0.3"], ["drf", "0.5"], ["pf", "0.3"], ["pf", "0.5"]]


def test_what_does_not_repeat_stays_one_table():
    plain = pd.DataFrame({"tasks": [1.0, 2.0]}, index=pd.Index(["A", "B"], name="job_class"))
    assert pivoted(plain) == pivoted(plain.reset_index()) == pivoted(table_of(KEYS[:-1])) == []
    assert pivoted(table_of(KEYS[:4].droplevel("load"))) == []  # the same key twice
    text = page(Outcome("Long", table_of(KEYS), tables={"<again>": table_of(KEYS)}), "command")
    assert text.count("<caption>mean jobs</caption>") == 2
    assert "<h3>&lt;again&gt;</h3>" in text
    Page(text)


def luminance(colour):
    """Relative luminance of #rgb or #rrggbb, as the guidelines for web content (WCAG 2) define it."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
    parts = np.array([int(digits[k : k + 2], 16) for k in (0, 2, 4)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_colours_are_readable_in_light_and_dark():
    light, dark = _asset("page.css").split("@media screen and (prefers-color-scheme: dark)")
    dark = dark[: dark.index("\n}")]
    themes = [dict(re.findall(r"--(\w+): (#[0-9a-f]+)", part)) for part in (light, dark)]
    assert set(themes[0]) == set(themes[1])
    for theme in themes:
        for ground in ("page", "code"):
            for ink in ("text", "pale", "fails", "holds"):
                bright, dim = sorted((luminance(theme[ink]), luminance(theme[ground])), reverse=True)
                assert (bright + 0.05) / (dim + 0.05) >= 4.5, (ink, ground, theme)
    assert luminance(themes[1]["page"]) < 0.05 < luminance(themes[1]["text"])


CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


@pytest.mark.long
@pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="chromium or chromedriver is missing")
def test_a_figure_is_enlarged_and_readable_in_the_dark(place):
    webdriver = pytest.importorskip("selenium.webdriver")
    run("solve", "two.toml", "--report", "r.html")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
        browser.get((place / "r.html").as_uri())

        def style(element, name):
            said = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
            return browser.execute_script(said, element, name)

        def box():
            said = "return document.querySelector('svg').getAttribute('viewBox')"
            return list(map(float, browser.execute_script(said).split()))

        assert style("body", "backgroundColor") == "rgb(22, 24, 27)"
        assert style("svg", "backgroundColor") == "rgb(255, 255, 255)"
        plus, minus, whole, full = browser.find_elements("css selector", ".zoom button")
        start = box()
        plus.click()
        plus.click()
        assert box()[2:] == pytest.approx([side / 1.5**2 for side in start[2:]])
        assert box()[0] == pytest.approx(start[2] * (1 - 1 / 1.5**2) / 2)
        # What is drawn moves with the pointer.
        svg = browser.find_element("css selector", "svg")
        webdriver.ActionChains(browser).drag_and_drop_by_offset(svg, 60, 0).perform()
        moved = box()
        assert moved[0] < start[2] * (1 - 1 / 1.5**2) / 2
        minus.click()
        assert box()[2] == pytest.approx(start[2] / 1.5)
        whole.click()
        assert box() == start
        full.click()
        assert style("figure", "position") == "fixed"
        full.click()
        assert style("figure", "position") == "relative"
        assert browser.get_log("browser") == []
    finally:
        browser.quit()


def test_keys_of_pivoted_tables_have_the_digits_of_flat_ones() -> None:
    keys = pd.MultiIndex.from_product([[0.1 + 0.2, 0.7], ["A", "B"]], names=["load", "job_class"])
    [grid] = pivoted(pd.DataFrame({"mean_jobs": [1.0, 2.0, 3.0, 4.0]}, index=keys))
    assert [row[0] for row in grid.rows] == ["0.3", "0.7"]


def test_bounds_are_rounded_to_their_side():
    assert str(Evidence("DRF", "tail mass", 1.2341e-7)) == "DRF: tail mass 1.23e-07"
    assert str(Evidence("DRF", "tail mass", 1.2341e-7, bound="upper")) == "DRF: tail mass 1.24e-07"
    assert str(Evidence("DRF", "multiple that is inside", 1.2389, bound="lower")).endswith("1.23")
    assert str(Evidence("DRF", "width", np.inf, bound="upper")) == "DRF: width inf"
    assert str(Evidence("DRF", "width", np.nan, bound="upper")) == "DRF: width"
