"""The explorer in a real browser."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from xml.etree import ElementTree

import pytest

from fairness import allocate
from fairqueues.explorer.examples import Examples
from fairqueues.explorer.model import POLICIES, SERVER_POLICIES, SHOWN, State
from fairqueues.explorer.palette import DASHES, DAY, NIGHT
from fairqueues.explorer.rates import BALANCED, BOUND
from queueing import stationary
from tests.fairqueues.explorer.chromium import NEEDED, chromium
from tests.processes import PATIENCE, line_of, running, wait_for

pytest.importorskip("selenium", reason="selenium is not installed: pip install 'fairqueues[test]'")

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

# One browser for the file: parallel runs keep it on one worker.
pytestmark = [NEEDED, pytest.mark.long]


@pytest.fixture(scope="module")
def address(port: int) -> str:
    return f"http://127.0.0.1:{port}/"


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as driver:
        yield driver


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

    def complete(self) -> None:
        """Wait until nothing is left to be computed."""
        wait_for(lambda: self.data("complete") == "yes" and self.data("busy") == "no", "all rates")

    def value(self, field: str) -> str:
        return str(self.browser.find_element(By.ID, field).get_attribute("value"))

    def slide(self, field: str, *keys: str) -> None:
        for key in keys:
            before = self.data("answered")
            self.browser.find_element(By.ID, f"slide-{field}").send_keys(key)
            self.settle(before)

    def thumb(self, field: str) -> tuple[float, float]:
        """Where the thumb of a slider is, and the end of its range."""
        slider = self.browser.find_element(By.ID, f"slide-{field}")
        return float(str(slider.get_attribute("value"))), float(str(slider.get_attribute("max")))

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

    def keys(self, figure: str) -> list[str]:
        """Labels of a legend."""
        spans = self.browser.find_elements(By.CSS_SELECTOR, f"#legend-{figure} span")
        return [span.text for span in spans]

    def query(self) -> str:
        return self.browser.execute_script("return location.search.slice(1)")


Open = Callable[..., Visit]
Resize = Callable[[int, int], None]


@pytest.fixture
def opened(browser: webdriver.Chrome, address: str) -> Iterator[Open]:
    """Opens a page by its link. Whatever a test does there: nothing goes wrong in the browser, and no request
    leaves this machine."""
    browser.get_log("browser")
    browser.get_log("performance")
    yield partial(Visit, browser, address)
    complaints = [entry for entry in browser.get_log("browser") if entry["level"] in ("WARNING", "SEVERE")]
    assert complaints == []
    assert all(url.startswith((address, "data:", "ws://127.0.0.1:")) for url in requests(browser))


@pytest.fixture
def visit(opened: Open) -> Visit:
    """The page of the first state."""
    return opened()


@pytest.fixture
def light(opened: Open) -> Visit:
    """The same with one policy, which has fewer curves to wait for."""
    return opened(replace(State(), shown=("DRF",)).query())


@pytest.fixture
def sized(browser: webdriver.Chrome) -> Iterator[Resize]:
    """Makes the window as large; afterwards it is that of a laptop again."""

    def resize(width: int, height: int) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    yield resize
    resize(1366, 768)


def requests(browser: webdriver.Chrome) -> list[str]:
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    return urls + [e["params"]["url"] for e in events if e["method"] == "Network.webSocketCreated"]


def fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        return bytes(answer.read())


def download(url: str) -> str:
    return fetched(url).decode()


def test_page_loads_and_asks_nobody_else(visit: Visit) -> None:
    urls = requests(visit.browser)
    assert any("bokeh" in url for url in urls)
    assert any(url.startswith("ws://") for url in urls)
    assert all(url.startswith((visit.address, "data:", "ws://127.0.0.1:")) for url in urls)
    assert visit.text("#tasks tbody tr:nth-child(1)").split() == ["DRF", "3", "2"]
    assert visit.text("#bottlenecks td[data-resource=cpu]") == "all policies"
    assert "PF" in visit.text("#bottlenecks td[data-resource=ram]")
    assert "DRF" not in visit.text("#bottlenecks td[data-resource=ram]")


@pytest.mark.parametrize("state", [State(), *(State().resized(*k) for k in ((3, 4), (4, 2), (6, 4)))])
def test_all_fits_without_overlap(opened: Open, sized: Resize, state: State) -> None:
    visit = opened(state.query())
    for size in (1366, 768), (1280, 720), (1920, 1080):
        sized(*size)
        visit.complete()
        # Pictures take their new size a moment after the window has.
        wait_for(lambda size=size: fits(visit.browser, *size), f"a page that fits into {size}")


def fits(browser: webdriver.Chrome, width: int, height: int) -> bool:
    try:
        require_fit(browser, width, height)
    except AssertionError:
        return False
    return True


def require_fit(browser: webdriver.Chrome, width: int, height: int) -> None:
    boxes = browser.execute_script(
        """return [...document.querySelectorAll("#views > section, #inputs")].map((e) => {
            const b = e.getBoundingClientRect();
            return [b.left, b.top, b.right, b.bottom, e.scrollHeight - e.clientHeight,
                    e.scrollWidth - e.clientWidth]; });"""
    )
    clipped = browser.execute_script(
        """const kinds = "#inputs button, #inputs select, .legend span, #tables td";
        const wide = (e) => e.scrollWidth > e.clientWidth + 1;
        return [...document.querySelectorAll(kinds)].filter(wide).map((e) => e.outerHTML);"""
    )
    for left, top, right, bottom, below, beside in boxes:
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height
        assert below <= 0
        assert beside <= 0
    assert clipped == []
    for k, one in enumerate(boxes):
        for other in boxes[k + 1 :]:
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


TWENTY = State().resized(20, 4)
CLUSTER = replace(State().resized(4, 3, 5), shown=tuple(SERVER_POLICIES))


@pytest.mark.parametrize("state", [replace(TWENTY, shown=tuple(POLICIES)), CLUSTER])
def test_tables_of_many_classes_and_servers_are_whole(opened: Open, sized: Resize, state: State) -> None:
    visit = opened(state.query())
    for width in 1280, 390:
        sized(width, 720)
        wide, cut, below = visit.browser.execute_script(
            """const over = (e) => e.scrollWidth > e.clientWidth + 1;
            const tables = document.getElementById("tables"), views = document.getElementById("views");
            return [document.documentElement.scrollWidth,
              [tables, ...tables.children].filter(over).map((e) => e.outerHTML.slice(0, 80)),
              [...tables.children].filter((e) => e.scrollHeight > e.clientHeight + 1).length];"""
        )
        assert wide <= width
        assert below == 0
        # On a phone a table scrolls by itself.
        assert cut == [] or width == 390
    rows = len(visit.browser.find_elements(By.CSS_SELECTOR, "#tasks tbody tr"))
    assert rows == (20 if state.n_classes == 20 else len(SERVER_POLICIES))


def test_a_cluster_by_the_menu_and_its_constraints_by_boxes(visit: Visit) -> None:
    Select(visit.browser.find_element(By.ID, "n-servers")).select_by_visible_text("2")
    wait_for(lambda: "eligible-3" in visit.browser.page_source and visit.data("ready") == "yes", "servers")
    assert visit.browser.find_elements(By.ID, "place-drift") == []
    before = visit.data("answered")
    visit.browser.find_element(By.ID, "eligible-3").click()
    visit.settle(before)
    state = State.from_query(visit.query())
    assert state.eligible == (1, 1, 1, 0)
    rows = [visit.text(f"#placements tbody tr:nth-child({k})").split() for k in (2, 3)]
    placement = allocate(state.problem, SERVER_POLICIES["PS-DSF rdm"], state.counts).placement
    assert [float(text) for text in rows[0][1:]] == pytest.approx(placement[0], rel=1e-3)
    assert (rows[1][0], rows[1][2]) == ("B", "–")
    visit.browser.find_element(By.ID, "eligible-2").click()
    wait_for(lambda: "a class must be allowed on some server" in visit.text("#error-eligible-2"), "a message")


TUTORIAL = replace(
    State().resized(3, 3),
    job_classes=("cpu-bound", "ram-bound", "net-bound"),
    resources=("cpu", "ram", "net"),
    demands=((4.0, 1.0, 1.0), (1.0, 4.0, 1.0), (1.0, 1.0, 4.0)),
    capacities=(16.0, 16.0, 16.0),
    mix=(2.0, 1.0, 1.0),
    load=0.7,
)
"""The scenario with which the tutorial begins."""


@pytest.mark.parametrize("query", ["example=provisioning", "example=talk_difference", TUTORIAL.query()])
def test_titles_names_and_tables_of_examples_are_not_cut(opened: Open, sized: Resize, query: str) -> None:
    sized(1280, 720)
    visit = opened(query)
    visit.complete()
    cut = visit.browser.execute_script(
        """const over = (e) => e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1;
        return [...document.querySelectorAll("h2, .head, #tables, #tables > div, #inputs")]
          .filter(over).map((e) => e.outerHTML);"""
    )
    assert cut == []


def test_on_a_phone_each_table_scrolls_beside_the_names_of_its_rows(opened: Open, sized: Resize) -> None:
    sized(390, 844)
    visit = opened(State().resized(6, 4).query())
    visit.complete()
    moved = visit.browser.execute_script(
        """const box = document.getElementById("rates").parentElement;
        const head = box.querySelector("tbody th"), at = head.getBoundingClientRect().left;
        box.scrollLeft = 500;
        return [document.documentElement.scrollWidth, box.scrollLeft,
                head.getBoundingClientRect().left - at,
                [...document.querySelectorAll("#tables > div")].map((e) =>
                  [e.classList.contains("scrolls"), e.scrollWidth > e.clientWidth + 1])];"""
    )
    assert moved[0] <= 390
    assert moved[1] > 50
    assert abs(moved[2]) <= 2
    # Shadows stand where there is more, and nowhere else.
    assert [shaded for shaded, _ in moved[3]] == [more for _, more in moved[3]]
    assert any(more for _, more in moved[3])


def test_legend_and_lines_have_the_same_dashes(opened: Open, sized: Resize) -> None:
    visit = opened(replace(State().resized(3, 2), shown=("DRF",)).query())
    visit.complete()
    drawn = visit.browser.execute_script(
        """const plot = Bokeh.documents[0].get_model_by_name("rates");
        const all = plot.renderers.map((r) => r.data_source.data);
        const data = all.find((d) => d.dash && d.class.some(Boolean));
        return [...new Set(data.class)].filter(Boolean).map((name) => data.dash[data.class.indexOf(name)]);"""
    )
    keys = visit.browser.execute_script(
        """return [...document.querySelectorAll("#legend-rates span")].slice(-4)
          .map((e) => e.querySelector("svg").firstChild.getAttribute("stroke-dasharray"));"""
    )
    assert drawn == list(DASHES[:3])
    assert keys == ["none", *DASHES[1:3], None]
    assert visit.keys("rates")[-1] == "ends (hover: why)"


def test_what_an_example_leaves_out_opens_on_click(opened: Open, sized: Resize) -> None:
    state = Examples(State()).state("example=heavy_tails").resized(6, 4)
    sized(1280, 720)
    visit = opened(state.query())
    assert len(state.left_out) > 2
    assert visit.text("#left-out summary") == f"{len(state.left_out)} left out"
    assert visit.text("#left-out ul") == ""
    visit.browser.find_element(By.CSS_SELECTOR, "#left-out summary").click()
    assert visit.text("#left-out ul").splitlines() == list(state.left_out)
    outside = visit.browser.execute_script(
        """const list = document.querySelector("#left-out ul").getBoundingClientRect();
        const form = document.getElementById("inputs"), box = form.getBoundingClientRect();
        return [box.left > list.left, list.right > box.right, list.bottom > box.bottom,
                form.scrollHeight > form.clientHeight, form.scrollWidth > form.clientWidth];"""
    )
    assert not any(outside)
    assert opened().browser.find_elements(By.ID, "left-out") == []


def test_changing_a_demand_changes_pictures_tables_and_link(visit: Visit) -> None:
    before = {name: visit.columns(name, "x") for name in ("sharing", "region", "drift")}
    rates = visit.columns("rates", "y")
    visit.type("demands-0-0", "2.5")
    for name, columns in before.items():
        assert visit.columns(name, "x") != columns
    assert visit.columns("rates", "y") != rates
    assert visit.text("#tasks tbody tr:nth-child(1)").split() != ["DRF", "3", "2"]
    assert State.from_query(visit.query()).demands[0][0] == 2.5


def test_wrong_input_has_a_message_beside_it_and_the_picture_stays(light: Visit) -> None:
    visit = light
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


def test_link_reproduces_the_state(visit: Visit, opened: Open) -> None:
    visit.type("capacities-0", "12.5")
    visit.type("load", "0.45")
    before = visit.data("answered")
    Select(visit.browser.find_element(By.ID, "policy")).select_by_visible_text("PF")
    visit.settle(before)
    link = visit.browser.find_element(By.ID, "link").get_attribute("href")
    visit.complete()
    shown = visit.columns("drift", "x"), visit.columns("rates", "y"), visit.text("#tables")
    assert link is not None
    again = opened(link.partition("?")[2])
    again.complete()
    assert (again.columns("drift", "x"), again.columns("rates", "y"), again.text("#tables")) == shown
    assert again.browser.find_element(By.ID, "load").get_attribute("value") == "0.45"


def test_dragging_the_start_changes_the_trajectory(light: Visit) -> None:
    visit = light
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
    (_, way), dots = (column for column in visit.columns("drift", "x") if column)
    assert [way[0], *dots] == pytest.approx([state.start[0]] * 2)


def test_keyboard_moves_sliders_and_reaches_every_control(visit: Visit) -> None:
    before = visit.data("answered")
    slider = visit.browser.find_element(By.ID, "slide-load")
    slider.send_keys(Keys.ARROW_RIGHT)
    visit.settle(before)
    assert State.from_query(visit.query()).load == pytest.approx(0.71)
    order = []
    visit.browser.find_element(By.ID, "n-classes").send_keys("")
    for _ in range(60):
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
    figures = visit.browser.find_elements(By.CSS_SELECTOR, "a.file")
    assert len(figures) == 4 * 3
    for anchor in figures:
        held = fetched(str(anchor.get_attribute("href")))
        ending = anchor.get_attribute("data-ending")
        if ending == "svg":
            assert ElementTree.fromstring(held).tag.endswith("svg")
        else:
            assert held.startswith({"pdf": b"%PDF", "png": b"\x89PNG"}[str(ending)])


def test_three_classes_one_more_resource_by_the_menus(visit: Visit) -> None:
    Select(visit.browser.find_element(By.ID, "n-classes")).select_by_visible_text("3")
    wait_for(
        lambda: "demands-2-0" in visit.browser.page_source and visit.data("ready") == "yes",
        "three classes",
    )
    before = visit.columns("region", "x")
    visit.type("demands-2-1", "7")
    assert visit.columns("region", "x") != before
    answered = visit.data("answered")
    Select(visit.browser.find_elements(By.CSS_SELECTOR, "select.section")[1]).select_by_visible_text("A")
    visit.settle(answered)
    assert State.from_query(visit.query()).section == (2, 1)
    axes = "return Bokeh.documents[0].get_model_by_name('region').below[0].axis_label"
    assert visit.browser.execute_script(axes) == "load of B (tasks)"
    assert len(visit.browser.find_elements(By.CSS_SELECTOR, "#tasks tbody tr:first-child td")) == 3


def test_rates_of_the_policies_fill_in_beside_balanced_fairness_and_bound(visit: Visit) -> None:
    visit.type("demands-0-0", "1.5")
    visit.complete()
    rows = [row.split() for row in visit.text("#rates tbody").splitlines()]
    heads = [" ".join(row[:-2]) for row in rows]
    assert heads == ["load (tasks)", BALANCED, BOUND, *SHOWN]
    state = State.from_query(visit.query())
    for name, row in zip(SHOWN, rows[3:], strict=True):
        law = stationary(state.system, POLICIES[name])
        # The page leaves out a probability of 2e-4 and shows four digits.
        assert [float(text) for text in row[-2:]] == pytest.approx(law.service_rates, rel=2e-3)
    assert "stationary laws" in visit.text("#exact")
    assert visit.keys("rates") == [BALANCED, BOUND, *SHOWN, "A", "B"]
    # A change goes before what is still to come, and what comes then is of the new state.
    visit.type("load", "0.9")
    visit.type("demands-0-0", "1.25")
    visit.complete()
    rows = [row.split() for row in visit.text("#rates tbody").splitlines()]
    law = stationary(State.from_query(visit.query()).system, POLICIES["PF"])
    assert [float(text) for text in rows[4][-2:]] == pytest.approx(law.service_rates, rel=1e-2)


def test_policies_and_the_class_of_the_rates_are_chosen(visit: Visit) -> None:
    for name in ("PF", "Asset"):
        before = visit.data("answered")
        visit.browser.find_element(By.CSS_SELECTOR, f"input.shown[value={name}]").click()
        visit.settle(before)
    assert State.from_query(visit.query()).shown == ("DRF", "BMF", "Asset")
    assert visit.text("#tasks tbody").split()[::3] == ["DRF", "BMF", "Asset"]
    before = visit.data("answered")
    Select(visit.browser.find_element(By.ID, "rated")).select_by_visible_text("B")
    visit.settle(before)
    visit.complete()
    assert State.from_query(visit.query()).rated == 2
    assert {name for names in visit.columns("rates", "class") for name in names} - {""} == {"B"}
    assert visit.keys("rates")[2:] == ["DRF", "BMF", "Asset", "B"]


def test_sliders_keep_one_range_and_do_not_jump(light: Visit) -> None:
    visit = light
    visit.type("demands-0-0", "1/3")
    at, end = visit.thumb("demands-0-0")
    assert (at, end) == (pytest.approx(1 / 3), 10.0)
    visit.slide("demands-0-0", Keys.ARROW_RIGHT)
    assert float(visit.value("demands-0-0")) == pytest.approx(1 / 3 + 0.1, abs=1e-5)
    visit.slide("demands-0-0", Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert float(visit.value("demands-0-0")) == pytest.approx(1 / 3 - 0.1, abs=1e-5)
    # A number beyond the range makes it larger for all sliders of its kind, and moves no number.
    visit.type("demands-0-1", "30")
    thumbs = [visit.thumb(f"demands-{i}-{j}") for i in range(2) for j in range(2)]
    assert {end for _, end in thumbs} == {100.0}
    assert [at for at, _ in thumbs] == pytest.approx([1 / 3 - 0.1, 30, 3, 1], abs=1e-5)
    visit.slide("demands-1-0", Keys.PAGE_UP)
    assert visit.value("demands-1-0") == "13"
    visit.slide("capacities-0", Keys.HOME)
    assert 0 < float(visit.value("capacities-0")) <= 0.5
    visit.slide("load", Keys.END)
    assert visit.value("load") == "0.99"


def test_example_and_reset(visit: Visit) -> None:
    menu = Select(visit.browser.find_element(By.ID, "example"))
    title = next(option.text for option in menu.options if "DRF collapses" in option.text)
    menu.select_by_visible_text(title)
    wait_for(lambda: visit.data("ready") == "yes" and visit.query() == "example=talk_balanced", "the example")
    assert visit.text("#tasks thead").split() == ["policy", "cpu-bound", "ram-bound"]
    assert visit.value("example") == "talk_balanced"
    visit.type("load", "0.5")
    assert visit.value("example") == ""
    assert State.from_query(visit.query()).job_classes == ("cpu-bound", "ram-bound")
    visit.browser.find_element(By.ID, "reset").click()
    wait_for(lambda: visit.query() == "" and visit.data("ready") == "yes", "the first state")
    assert visit.value("load") == "0.7"


def test_a_page_that_the_back_button_brings_back_still_answers(visit: Visit) -> None:
    Select(visit.browser.find_element(By.ID, "n-classes")).select_by_visible_text("4")
    wait_for(
        lambda: "demands-3-0" in visit.browser.page_source and visit.data("ready") == "yes", "four classes"
    )
    visit.complete()
    visit.browser.back()
    wait_for(
        lambda: (
            visit.query() == ""
            and visit.data("ready") == "yes"
            and visit.browser.execute_script(
                "return performance.getEntriesByType('navigation')[0].type === 'reload'"
            )
        ),
        "the first page",
    )
    assert visit.value("n-classes") == "2"
    visit.type("load", "0.4")
    assert State.from_query(visit.query()).load == 0.4
    # The page says by itself that its connection was closed when it was left.
    visit.browser.get_log("browser")


def test_dark_page_has_dark_figures_and_is_remembered(visit: Visit, opened: Open) -> None:
    def colours(place: Visit) -> list[str]:
        return place.browser.execute_script(
            """const plot = Bokeh.documents[0].get_model_by_name("sharing");
            return [getComputedStyle(document.body).backgroundColor, plot.background_fill_color];"""
        )

    assert colours(visit) == ["rgb(255, 255, 255)", DAY.page]
    before = visit.data("answered")
    visit.browser.find_element(By.ID, "theme").click()
    visit.settle(before)
    assert colours(visit) == ["rgb(22, 25, 30)", NIGHT.page]
    again = opened()
    again.complete()
    assert colours(again) == ["rgb(22, 25, 30)", NIGHT.page]
    assert again.query() == ""
    before = again.data("answered")
    again.browser.find_element(By.ID, "theme").click()
    again.settle(before)
    assert colours(again) == ["rgb(255, 255, 255)", DAY.page]
    again.browser.execute_script("localStorage.clear()")


def test_six_classes_have_their_numbers_in_the_tables(visit: Visit) -> None:
    Select(visit.browser.find_element(By.ID, "n-classes")).select_by_visible_text("6")
    wait_for(
        lambda: "demands-5-0" in visit.browser.page_source and visit.data("ready") == "yes", "six classes"
    )
    visit.complete()
    assert len(visit.browser.find_elements(By.CSS_SELECTOR, "#tasks tbody tr:first-child td")) == 6
    # What is known of it within the seconds depends on the machine.
    assert visit.text("#rates tbody tr:nth-child(4)").split()[0] == "DRF"
    assert "dots only: curves of policies take too long" in visit.text("#note-rates")
    assert visit.text("#note-region").startswith("fixed: class 1 at its load")
    assert {name for names in visit.columns("rates", "class") for name in names} - {""} == {"A"}


def test_long_names_stay_where_they_belong(opened: Open, sized: Resize) -> None:
    names = ("x" * 40, "W" * 40, "class 1")
    three = replace(State().resized(3, 2), shown=("DRF",))
    visit = opened(replace(three, job_classes=names, resources=("W" * 40, "ram")).query())
    visit.complete()
    for size in (1280, 720), (390, 844):
        sized(*size)
        wide, out = visit.browser.execute_script(
            """const right = (e) => e.getBoundingClientRect().right;
            return [document.documentElement.scrollWidth,
              [...document.querySelectorAll("section.figure > div *, section.figure .note")].filter((e) =>
                right(e) > right(e.closest("section")) + 1).map((e) => e.outerHTML)];"""
        )
        assert wide <= size[0]
        assert out == []
    heads = visit.browser.execute_script(
        """const plot = Bokeh.documents[0].get_model_by_name("sharing");
        return [...plot.below[0].major_label_overrides.values()];"""
    )
    assert heads == ["x" * 13 + "…", "W" * 13 + "…", "class 1"]


def test_the_menu_of_the_rates_shows_its_words_whole(opened: Open) -> None:
    shown, whole = opened(State().query()).browser.execute_script(
        """const menu = document.getElementById("rated"), shown = menu.offsetWidth;
        menu.style.maxWidth = "none";
        return [shown, menu.offsetWidth];"""
    )
    assert shown == whole


def test_names_are_text_and_never_markup(opened: Open) -> None:
    evil = "<img src=http://example.org/x onerror=alert(1)>{{ 7 * 7 }}"
    state = State(job_classes=(evil, "B"), resources=(evil, '"x"'))
    other = opened(state.query())
    assert other.browser.find_elements(By.TAG_NAME, "img") == []
    assert other.text("#tasks thead th:nth-child(2)") == evil
    assert other.text("#bottlenecks td") == "all policies"


def test_interrupt_ends_the_server_and_the_page_says_so(browser: webdriver.Chrome) -> None:
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    few = "import fairqueues.explorer.rates as rates; rates.LOADS = tuple(sorted(rates.COARSE))"
    code = f"{heard}; {few}; from fairqueues.explorer import serve; serve(port=0, open_browser=False)"
    with running(sys.executable, "-c", code, stderr=subprocess.PIPE) as process:
        line = line_of(process.stderr, "the address")
        assert "fairqueues explorer: http://127.0.0.1:" in line
        visit = Visit(browser, line.split()[2])
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
        wait_for(lambda: "no connection" in visit.text("#working"), "the notice")
