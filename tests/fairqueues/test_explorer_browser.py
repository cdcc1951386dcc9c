"""The explorer in a real browser: headless Chromium, driven by selenium.

Needs the Debian packages chromium and chromium-driver (the test set-up installs them); skipped without them.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from fairqueues.explorer.model import State
from tests.processes import PATIENCE, line_of, running, wait_for

pytest.importorskip("selenium", reason="selenium is not installed: pip install 'fairqueues[test]'")

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
# One browser for the file: parallel runs keep it on one worker.
pytestmark = [
    pytest.mark.skipif(
        not (CHROMIUM and DRIVER),
        reason="chromium or chromedriver is missing: apt-get install chromium chromium-driver",
    ),
    pytest.mark.long,
]


@pytest.fixture(scope="module")
def address(port: int) -> str:
    return f"http://127.0.0.1:{port}/"


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_page_load_timeout(PATIENCE)
    driver.set_script_timeout(PATIENCE)
    size = {"width": 1366, "height": 768, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield driver
    driver.quit()


class Visit:
    """A page and what a person does with it."""

    def __init__(self, browser: webdriver.Chrome, address: str, query: str = "") -> None:
        self.browser, self.address = browser, address
        browser.get(address + (f"?{query}" if query else ""))
        wait_for(lambda: self.data("ready") == "yes", "the page")

    def data(self, name: str) -> str | None:
        return self.browser.execute_script("return document.body?.dataset[arguments[0]]", name)

    def settle(self, answered: str | None) -> None:
        """Wait for an answer after the given one, and until none is under way."""
        wait_for(lambda: self.data("answered") != answered and self.data("busy") == "no", "an answer")

    def type(self, field: str, text: str) -> None:
        before = self.data("answered")
        place = self.browser.find_element(By.ID, field)
        place.send_keys(Keys.CONTROL, "a")
        place.send_keys(text or Keys.DELETE)
        self.settle(before)

    def text(self, selector: str) -> str:
        return self.browser.find_element(By.CSS_SELECTOR, selector).text

    def columns(self, figure: str, column: str) -> list[list[float]]:
        """All columns of this name in the data of a figure, as the browser draws them."""
        return self.browser.execute_script(
            """const plot = Bokeh.documents[0].get_model_by_name(arguments[0]);
            return plot.renderers.map((r) => r.data_source.data[arguments[1]])
              .filter((c) => c !== undefined).map((c) => Array.from(c, (v) => Array.from([v].flat())[0]));""",
            figure,
            column,
        )

    def query(self) -> str:
        return self.browser.execute_script("return location.search.slice(1)")


@pytest.fixture
def visit(browser: webdriver.Chrome, address: str) -> Iterator[Visit]:
    browser.get_log("browser")
    browser.get_log("performance")
    yield Visit(browser, address)
    # Whatever a test did: nothing went wrong in the browser, and no request left this machine.
    complaints = [entry for entry in browser.get_log("browser") if entry["level"] in ("WARNING", "SEVERE")]
    assert complaints == []
    assert all(url.startswith((address, "data:", "ws://127.0.0.1:")) for url in requests(browser))


def requests(browser: webdriver.Chrome) -> list[str]:
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    return urls + [e["params"]["url"] for e in events if e["method"] == "Network.webSocketCreated"]


def download(url: str) -> str:
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        return str(answer.read().decode())


def test_page_loads_and_asks_nobody_else(visit: Visit) -> None:
    urls = requests(visit.browser)
    assert any("bokeh" in url for url in urls)
    assert any(url.startswith("ws://") for url in urls)
    assert all(url.startswith((visit.address, "data:", "ws://127.0.0.1:")) for url in urls)
    assert visit.text("#tasks tbody tr:nth-child(2)").split() == ["DRF", "3", "2"]
    assert visit.text("#bottlenecks td[data-resource=cpu]") == "all policies"
    assert "PF" in visit.text("#bottlenecks td[data-resource=ram]")
    assert "DRF" not in visit.text("#bottlenecks td[data-resource=ram]")


def test_all_fits_on_a_laptop_without_overlap(visit: Visit) -> None:
    for state in (State(), State().resized(3, 4), State().resized(2, 4)):
        visit = Visit(visit.browser, visit.address, state.query())
        boxes = visit.browser.execute_script(
            """return [...document.querySelectorAll("#views > section, #inputs")].map((e) => {
                const b = e.getBoundingClientRect();
                return [b.left, b.top, b.right, b.bottom, e.scrollHeight - e.clientHeight]; });"""
        )
        for left, top, right, bottom, hidden in boxes:
            assert 0 <= left < right <= 1366
            assert 0 <= top < bottom <= 768
            assert hidden <= 0
        for k, one in enumerate(boxes):
            for other in boxes[k + 1 :]:
                apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
                assert apart


def test_changing_a_demand_changes_pictures_tables_and_link(visit: Visit) -> None:
    before = {name: visit.columns(name, "x") for name in ("sharing", "region", "drift")}
    rates = visit.columns("rates", "balanced")
    visit.type("demands-0-0", "2.5")
    for name, columns in before.items():
        assert visit.columns(name, "x") != columns
    assert visit.columns("rates", "balanced") != rates
    assert visit.text("#tasks tbody tr:nth-child(2)").split() != ["DRF", "3", "2"]
    assert State.from_query(visit.query()).demands[0][0] == 2.5


def test_wrong_input_has_a_message_beside_it_and_the_picture_stays(visit: Visit) -> None:
    visit.type("demands-0-0", "2")
    good, query = visit.columns("sharing", "x"), visit.query()
    for field, text, message in (
        ("demands-0-0", "-3", "cpu: must be 0 or more; got -3"),
        ("demands-0-0", "", "cpu: is empty; enter a number"),
        ("capacities-1", "many", "ram: is not a number: 'many'"),
        ("load", "1.1", "unstable: the load must be below 1; got 1.1"),
    ):
        right = visit.browser.find_element(By.ID, field).get_attribute("value") or ""
        visit.type(field, text)
        assert visit.text(f"#error-{field}") == message
        assert visit.browser.find_element(By.ID, field).get_attribute("aria-invalid") == "true"
        assert visit.columns("sharing", "x") == good
        assert visit.query() == query
        visit.type(field, right)
        assert visit.text(f"#error-{field}") == ""


def test_link_reproduces_the_state(visit: Visit) -> None:
    visit.type("capacities-0", "12.5")
    visit.type("load", "0.45")
    before = visit.data("answered")
    Select(visit.browser.find_element(By.ID, "policy")).select_by_visible_text("PF")
    visit.settle(before)
    link = visit.browser.find_element(By.ID, "link").get_attribute("href")
    shown = visit.columns("drift", "x"), visit.columns("rates", "load"), visit.text("#tasks")
    assert link is not None
    again = Visit(visit.browser, visit.address, link.partition("?")[2])
    assert (again.columns("drift", "x"), again.columns("rates", "load"), again.text("#tasks")) == shown
    assert again.browser.find_element(By.ID, "load").get_attribute("value") == "0.45"


def test_dragging_the_start_changes_the_trajectory(visit: Visit) -> None:
    path = visit.columns("drift", "x")
    plot = visit.browser.find_element(By.CSS_SELECTOR, "#place-drift .plot")
    before = visit.data("answered")
    drag = ActionChains(visit.browser).move_to_element_with_offset(plot, 60, -20).click_and_hold()
    for _ in range(5):
        drag.move_by_offset(-12, -10)
    drag.release().perform()
    visit.settle(before)
    state = State.from_query(visit.query())
    assert state.start != State().start
    assert visit.columns("drift", "x") != path
    # The trajectory begins where the dot is.
    starts = [column[0] for column in visit.columns("drift", "x") if column]
    assert starts == pytest.approx([state.start[0]] * 2)


def test_keyboard_moves_sliders_and_reaches_every_control(visit: Visit) -> None:
    before = visit.data("answered")
    slider = visit.browser.find_element(By.ID, "slide-load")
    slider.send_keys(Keys.ARROW_RIGHT)
    visit.settle(before)
    assert State.from_query(visit.query()).load == pytest.approx(0.71)
    order = []
    visit.browser.find_element(By.ID, "n-classes").send_keys("")
    for _ in range(40):
        order.append(visit.browser.execute_script("return document.activeElement.id"))
        ActionChains(visit.browser).send_keys(Keys.TAB).perform()
    fields = [name for name in order if name in State().texts]
    assert fields == list(dict.fromkeys(fields))
    assert set(fields) == set(State().texts)
    assert order.index("scenario") > order.index("link") > order.index("reach") > order.index("policy")
    unlabelled = visit.browser.execute_script(
        """return [...document.querySelectorAll("input, select")].filter((e) =>
            !e.labels?.length && !e.ariaLabel && e.type !== "hidden").map((e) => e.id);"""
    )
    assert unlabelled == []


def test_exports_are_of_the_state_on_the_page(visit: Visit) -> None:
    visit.type("demands-1-0", "2.25")
    state = State.from_query(visit.query())
    link = visit.browser.find_element(By.ID, "scenario").get_attribute("href")
    text = download(str(link))
    assert text == state.to_toml()
    assert tomllib.loads(text)["pool"]["demands"][1][0] == 2.25
    figures = visit.browser.find_elements(By.CSS_SELECTOR, "a.svg")
    assert len(figures) == 4
    for anchor in figures:
        root = ElementTree.fromstring(download(str(anchor.get_attribute("href"))))
        assert root.tag.endswith("svg")


def test_three_classes_one_more_resource_by_the_menus(visit: Visit) -> None:
    Select(visit.browser.find_element(By.ID, "n-classes")).select_by_visible_text("3")
    wait_for(
        lambda: "place-region-1-3" in visit.browser.page_source and visit.data("ready") == "yes",
        "three classes",
    )
    before = visit.columns("region-1-3", "x")
    visit.type("demands-2-1", "7")
    assert visit.columns("region-1-3", "x") != before
    assert len(visit.browser.find_elements(By.CSS_SELECTOR, "#tasks tbody tr:first-child td")) == 3


def test_names_are_text_and_never_markup(visit: Visit) -> None:
    evil = "<img src=http://example.org/x onerror=alert(1)>{{ 7 * 7 }}"
    state = State(job_classes=(evil, "B"), resources=(evil, '"x"'))
    other = Visit(visit.browser, visit.address, state.query())
    assert other.browser.find_elements(By.TAG_NAME, "img") == []
    assert other.text("#tasks thead th:nth-child(2)") == evil
    assert other.text("#bottlenecks td") == "all policies"


def test_interrupt_ends_the_server() -> None:
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{heard}; from fairqueues.explorer import serve; serve(port=0, open_browser=False)"
    with running(sys.executable, "-c", code, stderr=subprocess.PIPE) as process:
        assert "fairqueues explorer: http://127.0.0.1:" in line_of(process.stderr, "the address")
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
