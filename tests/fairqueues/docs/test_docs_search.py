"""What a researcher looks for is the first result of the search in the documentation, and one click away.

Menus can be read.

The search is that of the pages themselves, asked in a browser. The pages are those of ``make docs`` if they
are younger than what they were made from, else they are made here, which takes minutes.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.fairqueues.commands.command_line import ROOT
from tests.fairqueues.explorer.chromium import NEEDED, chromium
from tests.processes import wait_for

pytest.importorskip("sphinx", reason="sphinx is not installed: pip install 'fairqueues[docs]'")

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

pytestmark = [NEEDED, pytest.mark.long, pytest.mark.timeout(1800)]

SOUGHT = {
    "tolerance": "glossary.html#term-tolerance",
    "what is BMF": "theory/policies.html",
    "tail mass": "glossary.html#term-tail-mass",
    "citing": "how-to/cite.html",
    "weights": "glossary.html#term-weights",
    "Dask": "how-to/dask_ray.html",
    "units": "units.html",
    "adding a policy": "how-to/policy.html",
    "memory": "memory.html",
    "whole law": "how-to/traffic.html",
    "many classes": "reach.html",
    "own conjecture": "how-to/statements.html",
}
"""What is typed, and the page (with a place, where it has to be that) that the first result must lead to."""

OTHERS = {
    "BMF": "glossary.html#term-BMF",
    "service rate": "glossary.html#term-service-rate",
    "response time": "glossary.html#term-response-time",
    "Ray": "how-to/dask_ray.html",
    "offline": "installation.html",
    "reproduce": "installation.html",
    "SimGrid": "comparison.html",
}

CONTRAST = """
const drawn = document.createElement("canvas").getContext("2d");
function light(colour) {
  drawn.fillStyle = colour; drawn.fillRect(0, 0, 1, 1);
  const part = [...drawn.getImageData(0, 0, 1, 1).data.slice(0, 3)].map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2] + 0.05;
}
const word = light(getComputedStyle(arguments[0]).color);
const paper = light(getComputedStyle(arguments[0]).backgroundColor);
return Math.max(word, paper) / Math.min(word, paper);
"""
"""Contrast of a word to its own background, as WCAG defines it."""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_: object) -> None:
        pass


def made_from() -> float:
    """When the youngest source of the pages was changed."""
    sources = [p for p in (ROOT / "docs").rglob("*") if p.is_file() and "generated" not in p.parts]
    return max(p.stat().st_mtime for p in sources if "__pycache__" not in p.parts)


@pytest.fixture(scope="module")
def pages() -> Path:
    out = ROOT / "out" / "docs"
    index = out / "searchindex.js"
    if not index.exists() or index.stat().st_mtime < made_from():
        command = [sys.executable, "-m", "sphinx", "-q", "-j", "2", "-b", "html", "docs", str(out)]
        subprocess.run(command, cwd=ROOT, check=True, timeout=1500)
    return out


@pytest.fixture(scope="module")
def address(pages: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(pages))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as driver:
        yield driver


@pytest.mark.parametrize(("typed", "wanted"), (SOUGHT | OTHERS).items())
def test_the_first_result_is_what_was_sought(typed: str, wanted: str, browser, address) -> None:
    browser.get(f"{address}search.html?q={quote(typed)}")
    links = "#search-results li a"
    wait_for(lambda: browser.find_elements(By.CSS_SELECTOR, links), f"a result for {typed!r}")
    found = browser.find_elements(By.CSS_SELECTOR, links)[0].get_attribute("href")
    page, _, place = found.removeprefix(address).partition("?")[0].partition("#")
    assert page == wanted.partition("#")[0]
    if "#" in wanted:
        assert place == wanted.partition("#")[2]
    # What it leads to is there.
    browser.get(found)
    assert not place or browser.find_elements(By.ID, place)


def test_files_of_the_source_are_found_after_guides_and_public_names(browser, address) -> None:
    browser.get(f"{address}search.html?q=stability")
    wait_for(
        lambda: "found" in browser.find_element(By.CSS_SELECTOR, "#search-results .search-summary").text,
        "the end of the search",
    )
    links = browser.find_elements(By.CSS_SELECTOR, "#search-results li a")
    files = ["generated/modules/" in link.get_attribute("href") for link in links]
    assert any(files)
    assert not all(files)
    assert files == sorted(files)


def test_what_is_sought_is_one_click_from_the_first_page(browser, address) -> None:
    browser.get(f"{address}index.html")
    links = browser.find_elements(By.CSS_SELECTOR, "article a")
    led = {link.get_attribute("href").removeprefix(address) for link in links}
    led |= {link.partition("#")[0] for link in led}
    assert {typed: page for typed, page in SOUGHT.items() if page not in led} == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_menu_can_be_read_where_it_is_pointed_at(browser, address, theme):
    browser.get(f"{address}units.html")
    browser.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
    menu = browser.find_element(By.CSS_SELECTOR, ".bd-header .nav-item.dropdown")
    menu.find_element(By.CSS_SELECTOR, ".dropdown-toggle").click()
    link = menu.find_element(By.CSS_SELECTOR, ".dropdown-menu a")
    ActionChains(browser).move_to_element(link).perform()
    browser.execute_script("document.getAnimations().forEach(one => one.finish())")
    assert link == browser.find_element(By.CSS_SELECTOR, ".dropdown-menu a:hover")
    assert browser.execute_script(CONTRAST, link) >= 4.5
