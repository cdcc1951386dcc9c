"""What a researcher looks for is the first result of the search in the documentation, and one click away.

Menus and the lists of names can be read, on a phone and in the dark too.

The search is that of the pages themselves, asked in a browser. The pages are those of ``make docs`` if they
are younger than what they were made from, else they are made here, which takes minutes.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
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


def found_for(word: str, browser, address) -> list[str]:
    """Addresses of all that a search finds, in their order."""
    browser.get(f"{address}search.html?q={quote(word)}")
    wait_for(
        lambda: "found" in browser.find_element(By.CSS_SELECTOR, "#search-results .search-summary").text,
        "the end of the search",
    )
    links = browser.find_elements(By.CSS_SELECTOR, "#search-results li a")
    return [link.get_attribute("href") for link in links]


def test_files_of_the_source_are_found_after_guides_and_public_names(browser, address) -> None:
    files = ["generated/modules/" in link for link in found_for("stability", browser, address)]
    assert any(files)
    assert not all(files)
    assert files == sorted(files)


def test_a_term_of_which_the_word_is_a_part_comes_after_the_page_of_the_word(browser, address) -> None:
    links = found_for("DRF", browser, address)
    pages = [link.removeprefix(address).partition("?")[0] for link in links]
    places = [page.partition("#")[0] for page in pages]
    assert places[: places.index("generated/api/fairness.DRF.html")].count("glossary.html") == 1


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


@pytest.fixture
def sized(browser) -> Iterator[Callable[[int, int], None]]:
    """Sets the size of the window; afterwards it is that of before."""
    command = "Emulation.setDeviceMetricsOverride"

    def size(width: int, height: int) -> None:
        new = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 576}
        browser.execute_cdp_cmd(command, new)

    yield size
    size(1366, 768)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_letters_of_the_list_of_modules_can_be_read(browser, address, theme):
    browser.get(f"{address}py-modindex.html")
    browser.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
    row = browser.find_element(By.CSS_SELECTOR, "tr.cap")
    word = browser.find_element(By.CSS_SELECTOR, "tr.cap strong")
    browser.execute_script(
        "arguments[0].style.backgroundColor = getComputedStyle(arguments[1]).backgroundColor", word, row
    )
    assert browser.execute_script(CONTRAST, word) >= 4.5


def test_a_phone_shows_names_of_modules_whole(browser, address, sized):
    sized(390, 844)
    browser.get(f"{address}py-modindex.html")
    ends = browser.execute_script(
        """return [...document.querySelectorAll("table.indextable td a")].map((name) =>
          [name.getBoundingClientRect().left, name.getBoundingClientRect().right]);"""
    )
    assert len(ends) > 100
    assert [pair for pair in ends if not 0 < pair[0] < pair[1] < 390] == []


def test_calls_and_options_are_not_torn(browser, address, sized):
    sized(390, 844)
    torn = """return [...document.querySelectorAll("article code .pre")].flatMap((code) => {
      const found = [];
      for (const part of code.textContent.matchAll(/(?<![\\w-])-{1,2}\\w[\\w-]*|\\(\\)/g)) {
        const walk = document.createTreeWalker(code, NodeFilter.SHOW_TEXT), range = document.createRange();
        for (let at = 0; walk.nextNode(); at += walk.currentNode.length) {
          const from = part.index - at, to = from + part[0].length, long = walk.currentNode.length;
          if (0 <= from && from < long) range.setStart(walk.currentNode, from);
          if (0 < to && to <= long) range.setEnd(walk.currentNode, to);
        }
        const rows = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
        if (rows.size > 1) found.push(part[0]);
      }
      return found;
    });"""
    for page in ("tutorial.html", "how-to/command_line.html", "how-to/which_verb.html"):
        browser.get(address + page)
        assert browser.execute_script(torn) == [], page


@pytest.mark.parametrize("width", [960, 1100, 1280])
def test_the_head_of_a_page_has_one_row(browser, address, sized, width):
    sized(width, 800)
    browser.get(f"{address}units.html")
    links = browser.find_elements(By.CSS_SELECTOR, ".bd-header .navbar-header-items .nav-item > :first-child")
    assert (
        len({round(link.rect["y"] + link.rect["height"] / 2) for link in links if link.is_displayed()}) == 1
    )


def test_words_of_statements_have_more_room_than_who_says_so(browser, address):
    browser.get(f"{address}statements.html")
    for head in browser.find_elements(By.CSS_SELECTOR, "article table thead tr"):
        words, said = head.find_elements(By.TAG_NAME, "th")[:2]
        assert words.rect["width"] > said.rect["width"]
