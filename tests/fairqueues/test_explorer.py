"""The explorer without a browser: its state, the data of its figures, its messages and its files."""

from __future__ import annotations

import json
import tomllib
from xml.etree import ElementTree

import numpy as np
import pytest
from bokeh.document import Document

from fairness import DRF, ModelError, allocate
from fairness.catalogue import CATALOGUE, colour
from fairqueues.explorer.drawing import figure_names, figure_svg
from fairqueues.explorer.fields import FieldErrors, field_names
from fairqueues.explorer.figures import legible
from fairqueues.explorer.model import POLICIES, State, nice_above
from fairqueues.explorer.page import Page, open_page
from fairqueues.explorer.server import make_server
from fairqueues.explorer.views import drift_view, rates_view, region_view, sharing_view
from fairqueues.scenario import Scenario
from queueing import balanced_fairness, duration_bound

THREE = State().resized(3, 3)
# A class without traffic, a zero demand, another weight, one job missing, and names that HTML, links and
# matplotlib read as something else.
ODD = State(
    demands=((1.0, 0.0), (1 / 3, 1e-3)),
    capacities=(7.0, 0.25),
    weights=(1.0, 2.5),
    counts=(0.0, 3.0),
    mix=(1.0, 0.0),
    load=0.1 + 0.2,
    policy="alpha=2",
    start=(0.0, 4.0),
    reach=5.0,
    job_classes=('A&B "x" $\\frac{$', "<b>{{ 1 }}</b> $x$"),
    resources=("cpu;1 $\\d{$", "α,β"),
)


def changed(state: State, **texts: str) -> State:
    renamed = {name.replace("_", "-"): text for name, text in texts.items()}
    return State.from_texts(state.texts | renamed, state.policy, state.job_classes, state.resources)


@pytest.mark.parametrize("state", [State(), THREE, ODD, State().resized(2, 4), State().resized(3, 1)])
def test_link_and_fields_give_the_same_state_back(state: State) -> None:
    assert State.from_query(state.query()) == state
    assert changed(state) == state
    assert set(state.texts) == set(field_names(state.n_classes, state.n_resources))


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("demands-0-1", "-1", "must be 0 or more; got -1"),
        ("demands-1-0", "", "is empty; enter a number"),
        ("demands-1-0", "1,5", "is not a number: '1,5'; write the decimal point as a point"),
        ("demands-1-0", "abc", "is not a number: 'abc'"),
        ("capacities-0", "0", "must be above 0; got 0"),
        ("capacities-0", "inf", "must be finite"),
        ("capacities-0", "nan", "must be finite"),
        ("weights-1", "0", "must be above 0; got 0"),
        ("load", "1", "unstable: the load must be below 1; got 1"),
        ("load", "0", "must be above 0 and below 1; got 0"),
        ("start-0", "11", "must lie within the axes (jobs up to 10)"),
    ],
)
def test_wrong_field_is_named_with_one_line(field: str, text: str, message: str) -> None:
    with pytest.raises(FieldErrors) as caught:
        changed(State(), **{field: text})
    assert caught.value.messages == {field: message}


@pytest.mark.parametrize("row", ["demands-0", "counts", "mix", "start"])
def test_row_of_zeros_is_refused(row: str) -> None:
    zeros = {name: "0" for name in State().texts if name.startswith(f"{row}-")}
    with pytest.raises(FieldErrors) as caught:
        changed(State(), **zeros)
    assert list(caught.value.messages) == [f"{row}-0"]


@pytest.mark.parametrize(
    "query",
    [
        "load=0.5",
        "demands=1,2;3",
        "demands=1,2",
        "demands=1,2;3,4&capacities=1",
        "demands=1,2;3,4&speed=1",
        "demands=1,2;3,4&policy=FIFO",
        "demands=1,2;3,4&class=A",
        "demands=1,2;3,4&class=A&class=A",
        "demands=1e300,2;3,4&capacities=1e-300,1",
        "demands=1;1;1;1",
        "demands=1,1,1,1,1;1,1,1,1,1",
        "demands=;",
    ],
)
@pytest.mark.long
def test_wrong_link_is_refused_and_the_page_opens_with_a_notice(query: str) -> None:
    with pytest.raises(FieldErrors):
        State.from_query(query)
    page = open_page(Document(), query, State())
    assert page.state == State()
    assert "could not be read" in page.notice


def test_sharing_view_is_what_allocate_says_in_the_colours_of_the_catalogue() -> None:
    view = sharing_view(THREE)
    assert view.names == tuple(POLICIES)
    assert len(view.names) == len(CATALOGUE)
    for name, hue, allocation in zip(view.names, view.colours, view.allocations, strict=True):
        direct = allocate(THREE.problem, POLICIES[name], THREE.counts)
        assert np.array_equal(allocation.tasks, direct.tasks)
        assert hue == colour(name)


def test_lines_of_resources_lie_on_their_inequalities_and_outline_is_the_polygon() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        demands = rng.integers(0, 5, (2, 3)) + np.array([[1, 0, 0], [0, 1, 0]])
        state = State(
            demands=tuple(map(tuple, demands.astype(float).tolist())),
            capacities=tuple(rng.uniform(1, 20, 3).tolist()),
            resources=("a", "b", "c"),
        )
        view = sharing_view(state)
        shares = dict(zip(state.resources, state.problem.task_shares.T, strict=True))
        for name, ends in view.lines:
            # Both ends are computed from one division each.
            assert np.allclose(ends[~np.isnan(ends).any(axis=1)] @ shares[name], 1.0, rtol=1e-12)
        assert (view.outline @ state.problem.task_shares <= 1 + 1e-12).all()
        x, y = view.outline.T
        area = 0.5 * abs(x @ np.roll(y, 1) - y @ np.roll(x, 1))
        # Second method: the share of random points that fit; three standard deviations of 40 000 points are
        # below 0.0075, seven (false alarm 1e-11 each) below 0.0175 of the frame.
        frame = view.outline.max(axis=0)
        points = rng.uniform(0, 1, (40_000, 2)) * frame
        inside = (points @ state.problem.task_shares <= 1).all(axis=1).mean()
        assert abs(area / frame.prod() - inside) < 0.0175


def test_current_load_lies_at_its_part_of_the_way_to_the_edge() -> None:
    view = region_view(changed(State(), mix_0="3", load="0.37"), 0, 1)
    assert np.allclose(view.point, 0.37 * view.edge, rtol=1e-12)


def test_section_of_three_classes_ends_where_the_region_ends() -> None:
    view = region_view(THREE, 0, 2)
    full = view.edge[0] * THREE.problem.task_shares[0] + view.edge[1] * THREE.problem.task_shares[2]
    full += THREE.system.loads[1] * THREE.problem.task_shares[1]
    assert full.max() == pytest.approx(1.0, rel=1e-12)


def test_rates_are_those_of_the_models() -> None:
    view = rates_view(THREE)
    # The view leaves out 1e-6 of the probability, which moves these means by less than 1e-4.
    assert np.allclose(view.balanced, balanced_fairness(THREE.system).service_rates, rtol=1e-4)
    assert np.array_equal(view.bound, duration_bound(THREE.system).service_rates)
    assert (np.diff(view.curves.bound, axis=0) < 0).all()
    silent = rates_view(ODD)
    assert np.isnan(silent.balanced[1])
    assert np.isfinite(silent.balanced[0])


def test_too_large_box_is_said_and_the_bound_stays() -> None:
    view = rates_view(changed(THREE, load="0.995"))
    assert "too large" in view.note
    assert np.isfinite(view.bound).all()


def test_drift_points_along_the_drift_and_the_path_begins_at_the_start() -> None:
    state = changed(State(), start_0="1", start_1="9")
    view = drift_view(state)
    assert np.allclose(view.path[0], [1, 9])
    assert view.colour == colour("DRF")
    for strokes in view.arrows[::17]:
        step, middle = strokes[1] - strokes[0], (strokes[0] + strokes[1]) / 2
        field = state.system.arrival_rates - DRF()(state.problem, middle)
        # Parallel, and not opposite: rounding of the cross product only.
        assert step @ field == pytest.approx(np.hypot(*step) * np.hypot(*field), rel=1e-9)


def test_page_answers_wrong_fields_and_keeps_the_last_good_state() -> None:
    page = Page(State())
    page.show(State())
    before = {k: list(v) for k, v in page.figures[0].points.data.items()}
    answer = page.reply({"fields": State().texts | {"demands-0-0": "-2"}, "policy": "DRF"})
    assert answer == {"errors": {"demands-0-0": "must be 0 or more; got -2"}}
    assert {k: list(v) for k, v in page.figures[0].points.data.items()} == before
    answer = page.reply({"fields": State().texts | {"demands-0-0": "2"}, "policy": "PF"})
    assert answer["errors"] == {}
    assert State.from_query(answer["query"]) == page.state
    assert page.state.policy == "PF"
    assert list(page.figures[0].points.data["x"]) != before["x"]
    json.dumps(answer)


def test_page_of_another_size_is_a_link() -> None:
    page = Page(State())
    state = State.from_query(page.reply({"resize": [3, 4]})["go"])
    assert (state.n_classes, state.n_resources) == (3, 4)
    assert page.reply({"resize": [4, 4]})["errors"]["form"].startswith("the explorer does not show")


def test_a_defect_is_answered_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    page = Page(State())
    assert "internal error (KeyError)" in page.reply({})["errors"]["form"]
    assert "could not answer" in caplog.text


@pytest.mark.parametrize(
    "state", [State(), ODD, *(pytest.param(s, marks=pytest.mark.long) for s in (THREE, ODD.resized(3, 2)))]
)
def test_every_figure_is_an_svg_that_does_not_change(state: State) -> None:
    for name in figure_names(state):
        text = figure_svg(state, name)
        assert ElementTree.fromstring(text).tag.endswith("svg")
        assert figure_svg(state, name) == text
    with pytest.raises(ModelError, match="no figure"):
        figure_svg(state, "nothing")


@pytest.mark.parametrize("state", [State(), THREE, ODD])
def test_export_is_a_scenario_that_gives_the_state_back(state: State) -> None:
    text = state.to_toml()
    pool = tomllib.loads(text)["pool"]
    assert np.array_equal(np.array(pool["demands"], float), state.problem.demands)
    back = State.from_scenario(Scenario.parse(text))
    assert back.problem.demands.tolist() == state.problem.demands.tolist()
    # The mix comes back as loads, in another unit; two roundings.
    assert np.allclose(back.system.loads, state.system.loads, rtol=1e-12)
    assert (back.policy, back.counts, back.start) == (state.policy, state.counts, state.start)
    assert (back.job_classes, back.resources) == (state.job_classes, state.resources)


def test_nice_above() -> None:
    for value in (1e-7, 0.2, 0.21, 1.0, 3.0, 5.0, 99.0, 1e9):
        assert value <= nice_above(value) <= 2.5 * value * (1 + 1e-12)


def test_wrong_port_is_refused() -> None:
    for port in (-1, 70_000):
        with pytest.raises(ModelError, match="port"):
            make_server(State(), port=port)


@pytest.mark.parametrize("policy", list(POLICIES))
def test_trajectories_near_load_one_reach_the_end(policy: str) -> None:
    """An explicit integrator gives up there, and what is left of the path is a straight line."""
    view = drift_view(changed(State(policy=policy), load="0.999"))
    assert "empty after" in view.note
    assert len(view.path) > 50
    assert np.abs(view.path[-1]).max() < 1e-6


def test_every_colour_of_the_page_stands_out_from_white() -> None:
    def luminance(hue: str) -> float:
        channels = (int(hue[k : k + 2], 16) / 255 for k in (1, 3, 5))
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    hues = [legible(colour(name)) for name in (*POLICIES, "balanced fairness", "bound")]
    assert len(set(hues)) == len(hues)
    for hue in hues:
        assert 1.05 / (luminance(hue) + 0.05) >= 3.0
    shown = Page(State()).show(State())["policies"]
    assert [policy["colour"] for policy in shown] == hues[: len(shown)]


def test_rates_of_the_table_are_those_of_the_library() -> None:
    state = State()
    rows = Page(state).show(state)["rates"]
    laws = balanced_fairness(state.system), duration_bound(state.system)
    columns = np.stack([state.system.loads, *(law.service_rates for law in laws)], axis=1)
    # Four digits are shown, and 1e-6 of the probability is left out.
    np.testing.assert_allclose(np.array(rows, dtype=float), columns, rtol=1e-3)


def test_a_scenario_whose_traffic_does_not_fit_is_refused_in_words() -> None:
    text = "[pool]\ndemands = [[1], [1]]\ncapacities = [1]\n[traffic]\nmix = [1, 1]\nload = 1.25\n"
    with pytest.raises(ModelError, match=r"shows traffic that fits; .* is 1\.25, so set a traffic\.load"):
        State.from_scenario(Scenario.parse(text))
