"""The explorer without a browser: its state, the data of its figures, its messages and its files."""

from __future__ import annotations

import json
import math
import time
import tomllib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from bokeh.document import Document

from capacity.means import formulas
from fairness import DRF, ModelError, NotConvergedError, allocate
from fairness.catalogue import CATALOGUE, colour
from fairqueues.explorer import rates, views
from fairqueues.explorer.drawing import STYLES, figure_file
from fairqueues.explorer.examples import Examples
from fairqueues.explorer.fields import DISTINCT, FieldErrors, field_tables, short_fraction
from fairqueues.explorer.model import POLICIES, SERVER_POLICIES, SERVER_SHOWN, SHOWN, State, nice_above
from fairqueues.explorer.page import ANSWER, Page, open_page
from fairqueues.explorer.palette import DASHES, DAY, NIGHT, Palette, contrast, hue_of, legible
from fairqueues.explorer.pictures import drawings_of
from fairqueues.explorer.rates import ACCURACY, BALANCED, BOUND, CHAIN_STATES, COARSE, LOADS, rates_view
from fairqueues.explorer.server import ExplorerServer, make_server, serve
from fairqueues.explorer.views import drift_view, region_view, sharing_view
from fairqueues.scenario import Scenario
from queueing import System, balanced_fairness, duration_bound, stationary

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
    shown=("DRF", "Asset"),
    rated=2,
)
SIX = State().resized(6, 4)
# A class that may run on the third server only, which lacks a resource.
CLUSTER = replace(
    State().resized(3, 2, 3),
    demands=((1.0, 4.0), (3.0, 1.0), (1.0, 0.0)),
    capacities=(9.0, 18.0, 12.0, 6.0, 8.0, 0.0),
    eligible=(1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0),
    servers=("old", "new", "gpu"),
)
TWENTY = State().resized(20, 3)


def changed(state: State, **texts: str) -> State:
    renamed = {name.replace("_", "-"): text for name, text in texts.items()}
    return State.from_texts(
        state.texts | renamed,
        state.policy,
        state.job_classes,
        state.resources,
        state.shown,
        state.rated,
        servers=state.servers,
        section=state.section,
    )


@pytest.mark.parametrize(
    "state",
    [
        *(State(), THREE, ODD, State().resized(2, 4), State().resized(3, 1), SIX),
        *(CLUSTER, replace(TWENTY, section=(7, 20)), State().resized(30, 4, 8)),
    ],
)
def test_link_and_fields_give_the_same_state_back(state: State) -> None:
    assert State.from_query(state.query()) == state
    assert changed(state) == state
    sizes = state.n_classes, state.n_resources, len(state.servers)
    tables = field_tables(*sizes).values()
    assert set(state.texts) == {name for rows in tables for row in rows for name in row}


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("demands-0-1", "-1", "must be 0 or more; got -1"),
        ("demands-1-0", "", "is empty; enter a number"),
        ("demands-1-0", "1,5", "is not a number: '1,5'; write the decimal point as a point"),
        ("demands-1-0", "abc", "is not a number: 'abc'"),
        ("capacities-0", "0", "must be above 0; got 0"),
        ("demands-1-0", "1/0", "divides by zero: '1/0'"),
        ("demands-1-0", "1/", "is not a number: '1/'"),
        ("demands-1-0", "1/2/3", "is not a number: '1/2/3'"),
        ("capacities-0", "inf", "must be finite"),
        ("capacities-0", "nan", "must be finite"),
        ("weights-1", "0", "must be above 0; got 0"),
        ("capacities-0", "1e308", "must be 0 or from 1e-60 to 1e+60; take another unit"),
        ("counts-0", "1/1e300", "must be 0 or from 1e-60 to 1e+60; take another unit"),
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


WRONG_LINKS = [
    "load=0.5",
    "demands=1,2;3",
    "demands=1,2",
    "demands=1,2;3,4&capacities=1",
    "demands=1,2;3,4&speed=1",
    "demands=1,2;3,4&policy=FIFO",
    "demands=1,2;3,4&class=A",
    "demands=1,2;3,4&class=A&class=A",
    "demands=1e300,2;3,4&capacities=1e-300,1",
    "demands=" + ";".join(["1"] * 31),
    "demands=1,2;3,4&section=1,1",
    "demands=1,2;3,4&section=x",
    "demands=1,2;3,4&server=a&capacities=1,1&policy=DRF",
    "demands=1,2;3,4&server=a&server=b&capacities=9,9,9,9&eligible=1,1,0,0",
    "demands=1,2;3,4&server=a&server=b&capacities=9,9,9,9&eligible=1,1,1,2",
    "demands=1;1;1;1;1;1;1&rated=0",
    "demands=1,2;3,4&show=FIFO",
    "demands=1,2;3,4&rated=3",
    "demands=1,2;3,4&rated=-1",
    "example=nothing",
    "demands=1,1,1,1,1;1,1,1,1,1",
    "demands=;",
]


@pytest.mark.parametrize("query", WRONG_LINKS)
def test_wrong_link_is_refused(query: str) -> None:
    with pytest.raises(FieldErrors):
        Examples(State()).state(query)


@pytest.mark.long
@pytest.mark.parametrize("query", WRONG_LINKS[:2])
def test_the_page_of_a_wrong_link_opens_with_a_notice(query: str) -> None:
    page = open_page(Document(), query, Examples(State()))
    assert page.state == State()
    assert "could not be read" in page.notice


def test_sharing_view_is_what_allocate_says_in_the_colours_of_the_catalogue() -> None:
    everything = replace(THREE, shown=tuple(POLICIES))
    view = sharing_view(everything)
    assert view.names == tuple(POLICIES)
    assert len(view.names) == len(CATALOGUE)
    for name, allocation in zip(view.names, view.allocations, strict=True):
        direct = allocate(THREE.problem, POLICIES[name], THREE.counts)
        assert np.array_equal(allocation.tasks, direct.tasks)
        assert hue_of(everything, name) == colour(name)
    assert sharing_view(THREE).names == SHOWN


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
    view = region_view(changed(State(), mix_0="3", load="0.37"))
    assert np.allclose(view.point, 0.37 * view.edge, rtol=1e-12)


def test_section_of_three_classes_ends_where_the_region_ends() -> None:
    view = region_view(replace(THREE, section=(1, 3)))
    full = view.edge[0] * THREE.problem.task_shares[0] + view.edge[1] * THREE.problem.task_shares[2]
    full += THREE.system.loads[1] * THREE.problem.task_shares[1]
    assert full.max() == pytest.approx(1.0, rel=1e-12)
    assert view.note == f"fixed: B at its load {THREE.system.loads[1]:.3g}"
    assert region_view(State()).note == ""


@pytest.mark.long
def test_rates_are_those_of_the_models() -> None:
    view = rates_view(State())
    assert list(view.curves) == [BALANCED, BOUND, *SHOWN]
    # The view leaves out 1e-6 of the probability, which moves these means by less than 1e-4.
    assert np.allclose(view.curves[BALANCED].now, balanced_fairness(State().system).service_rates, rtol=1e-4)
    assert np.array_equal(view.curves[BOUND].now, duration_bound(State().system).service_rates)
    assert (np.diff(view.curves[BOUND].rates, axis=0) < 0).all()
    for name in SHOWN:
        curve = view.curves[name]
        # Second method: the whole chain, to a tail of 1e-9, and at a load of the curve the same.
        assert 0 < curve.error <= ACCURACY
        here, there = (0.7, curve.now, curve.error), (curve.loads[12], curve.rates[12], ACCURACY)
        for load, numbers, rtol in (here, there):
            law = stationary(changed(State(), load=str(load)).system, POLICIES[name])
            assert np.allclose(numbers, law.service_rates, rtol=rtol)
    silent = rates_view(ODD).curves
    for name in (BALANCED, BOUND, "DRF"):
        assert np.isnan(silent[name].now[1])
        assert np.isfinite(silent[name].now[0])


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes long is given up soon; nothing here depends on what is known by then."""
    monkeypatch.setattr(rates, "SECONDS", 0.5)


@pytest.mark.long
@pytest.mark.usefixtures("hurried")
def test_rates_that_do_not_fit_the_page_are_said_and_the_bound_stays() -> None:
    view = rates_view(changed(THREE, load="0.995"), light=True)
    assert not view.complete
    view = rates_view(changed(SIX, load="0.6"))
    assert view.complete
    assert view.note.endswith(
        "dots only: curves of policies take too long for a page with more than 4 classes"
    )
    assert np.isfinite(view.curves[BOUND].now).all()


def test_all_points_that_are_computed_are_drawn() -> None:
    assert set(COARSE) <= set(LOADS)


@pytest.mark.long
def test_curves_come_bit_by_bit_and_end_as_those_computed_at_once() -> None:
    state = changed(State(), demands_0_0="1.0625")
    page = Page(state)
    answer = page.show(state)
    assert not answer["complete"]
    assert answer["rates"][0] == ["load (tasks)", *(f"{v:.4g}" for v in state.system.loads)]
    points = [len(page.rates.view.curves["DRF"].loads)]
    while not answer["complete"]:
        answer = page.reply({"more": True})
        points.append(len(page.rates.view.curves["DRF"].loads))
    assert points == sorted(points)
    assert points[-1] > points[0]
    whole = rates_view(state).curves
    for name, curve in page.rates.view.curves.items():
        assert np.array_equal(curve.rates, whole[name].rates, equal_nan=True)
    assert [row[0] for row in answer["rates"]] == ["load (tasks)", *whole]
    assert "…" not in json.dumps(answer)
    lines = page.rates.sources["line"].data
    hues = [hue for hue, job_class in zip(lines["colour"], lines["class"], strict=True) if job_class]
    assert hues == [DAY.hue(state, name) for name in whole for _ in range(2)]


def test_a_defect_of_a_curve_is_said_and_ends_the_wish_for_more(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(system: System) -> None:
        raise ValueError("math domain error")

    monkeypatch.setattr(formulas, "duration_bound", broken)
    page = Page(replace(changed(State(), demands_0_0="1.1875"), shown=()))
    answer = page.show(page.state)
    assert answer["notes"]["rates"] == "bound: internal error (ValueError); see the log of the server"
    assert "no rates under bound at load 0.7" in caplog.text
    while not answer["complete"]:
        answer = page.reply({"more": True})
    assert [row[0] for row in answer["rates"] if row[1] == "–"] == ["bound"]


def test_next_to_load_one_no_box_is_looked_for() -> None:
    """To find that it has too many states took four seconds, and more where demands differ much."""
    line = rates_view(changed(State(), load="0.9999995"), until=0.0).curves[BALANCED]
    assert line.now is None
    with pytest.raises(NotConvergedError, match=r"loads above 0\.9999 take too long"):
        rates._means(changed(State(), load="0.9999995").system, "balanced", True)


def test_a_way_that_no_policy_tells_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*given: object, **named: object) -> None:
        raise NotConvergedError("no allocation found; raise", residual=1.0, best=np.zeros(2))

    monkeypatch.setattr(views, "trajectory", lost)
    view = drift_view(State())
    assert view.note == "no trajectory: no allocation found; raise"
    assert view.path.tolist() == [[8.0, 2.0]]


def test_no_answer_begins_a_long_chain() -> None:
    state = changed(State(), load="0.94", demands_0_0="1.03125")
    view = rates_view(state, until=time.perf_counter() + ANSWER, light=True)
    assert view.curves[BOUND].now is not None  # however slow the machine is
    assert view.curves["DRF"].now is None
    assert max(view.curves["DRF"].loads, default=0.0) <= 0.8


def test_drift_points_along_the_drift_and_the_path_begins_at_the_start() -> None:
    state = changed(State(), start_0="1", start_1="9")
    view = drift_view(state)
    assert np.allclose(view.path[0], [1, 9])
    speeds, lengths = [], []
    for strokes in view.arrows:
        step, middle = strokes[1] - strokes[0], (strokes[0] + strokes[1]) / 2
        speeds.append(np.hypot(*(state.system.arrival_rates - DRF()(state.problem, middle))))
        lengths.append(np.hypot(*step))
        # Heads are shorter than their arrows.
        assert np.hypot(*(strokes[2] - strokes[1])) < lengths[-1]
    speeds, lengths = np.array(speeds) / max(speeds), np.array(lengths) / max(lengths)
    seen = speeds > 0.09  # shorter ones could not be seen
    assert np.allclose(lengths[seen], speeds[seen], rtol=1e-9)
    assert seen.any()
    for strokes in view.arrows[::17]:
        step, middle = strokes[1] - strokes[0], (strokes[0] + strokes[1]) / 2
        field = state.system.arrival_rates - DRF()(state.problem, middle)
        # Parallel, and not opposite: rounding of the cross product only.
        assert step @ field == pytest.approx(np.hypot(*step) * np.hypot(*field), rel=1e-9)


def test_page_answers_wrong_fields_and_keeps_the_last_good_state() -> None:
    page = Page(State())
    page.show(State())
    before = {k: list(v) for k, v in page.sharing.sources["point"].data.items()}
    answer = page.reply({"fields": State().texts | {"demands-0-0": "-2"}, "policy": "DRF"})
    assert answer == {"errors": {"demands-0-0": "must be 0 or more; got -2"}}
    assert {k: list(v) for k, v in page.sharing.sources["point"].data.items()} == before
    answer = page.reply({"fields": State().texts | {"demands-0-0": "2"}, "policy": "PF"})
    assert answer["errors"] == {}
    assert State.from_query(answer["query"]) == page.state
    assert page.state.policy == "PF"
    assert list(page.sharing.sources["point"].data["x"]) != before["x"]
    json.dumps(answer)


def test_page_of_another_size_is_a_link() -> None:
    page = Page(State())
    for size in ((3, 4), (6, 1)):
        state = State.from_query(page.reply({"resize": list(size)})["go"])
        assert (state.n_classes, state.n_resources) == size
    told = page.reply({"resize": [31, 4]})["errors"]["form"]
    assert told == "the explorer shows 2 to 30 classes; got 31"


def test_a_cluster_has_placements_with_their_certificates() -> None:
    answer = Page(CLUSTER).show(CLUSTER)
    assert [policy["name"] for policy in answer["policies"]] == list(SERVER_SHOWN)
    for k, name in enumerate(SERVER_SHOWN):
        direct = allocate(CLUSTER.problem, SERVER_POLICIES[name], CLUSTER.counts)
        for i, row in enumerate(answer["placements"][k]):
            allowed = [bool(v) for v in CLUSTER.eligible[3 * i : 3 * i + 3]]
            # Class A demands what the third server lacks.
            able = [can and (i == 2 or server != 2) for server, can in enumerate(allowed)]
            assert [text != "–" for text in row] == [*able[:2], able[2] and i == 2]
            told = [float(text) for text in row if text != "–"]
            assert told == pytest.approx(direct.placement[i][able], rel=1e-3, abs=1e-12)
        assert answer["certificates"][k] == str(direct.certificate)
        assert "holds" in answer["certificates"][k]
        for i, text in enumerate(answer["full"][k]):
            full = direct.saturated[i] & (CLUSTER.problem.capacities[i] > 0)
            assert text == (", ".join(r for r, yes in zip(("cpu", "ram"), full, strict=True) if yes) or "–")
    assert [row[0] for row in answer["rates"]] == ["load (tasks)", *SERVER_SHOWN]


def test_region_of_a_cluster_is_that_of_its_loads() -> None:
    view = region_view(replace(CLUSTER, section=(1, 3)))
    assert view.lines == ()
    assert np.allclose(view.point, CLUSTER.system.loads[[0, 2]])
    # Second method: at the edge, and at each vertex, the servers are just full (a linear program).
    for point in (view.edge, *view.outline[view.outline.any(axis=1)]):
        loads = CLUSTER.system.loads.copy()
        loads[[0, 2]] = point
        # The section is known to 1e-8 of the relative load.
        assert System(CLUSTER.problem, loads).relative_loads.max() == pytest.approx(1.0, abs=1e-6)


def test_policies_that_do_not_place_under_constraints_say_so_and_the_others_are_shown() -> None:
    view = sharing_view(replace(CLUSTER, shown=("TSF", "DRFH")))
    assert view.names == ("TSF",)
    assert view.note.startswith("DRFH: DRFH has no placement constraints")


def test_rates_of_policies_that_are_not_defined_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "solve", lambda *_, **__: pytest.fail("asked in vain"))
    view = rates_view(replace(CLUSTER, shown=("DRFH", "CDRF")))
    assert view.complete
    assert [np.isnan(curve.now).all() for curve in view.curves.values()] == [True, True]
    reason = "but 'B' is not eligible on 'new', which has all that it demands"
    assert view.note == f"DRFH, CDRF: no placement constraints, {reason}"


def test_rates_of_a_policy_of_ones_own_that_refuses_a_pool_say_why() -> None:
    def lonely(problem: object, counts: object) -> object:
        raise ModelError("one class is served; remove the others")

    state = replace(State(), offered={"lonely": lonely}, shown=("lonely",))
    view = rates_view(state)
    assert view.complete
    assert view.note == "lonely: one class is served"


@pytest.mark.parametrize(
    ("field", "text", "where", "message"),
    [
        ("capacities-5", "-1", "capacities-5", "must be 0 or more; got -1"),
        ("eligible-0", "2", "eligible-0", "must be 0 (no) or 1 (yes); got 2"),
        ("eligible-8", "0", "eligible-6", "a class must be allowed on some server"),
    ],
)
def test_wrong_field_of_a_cluster_is_named(field: str, text: str, where: str, message: str) -> None:
    with pytest.raises(FieldErrors) as caught:
        changed(CLUSTER, **{field: text})
    assert caught.value.messages == {where: message}


def test_a_pool_becomes_servers_and_a_pool_again() -> None:
    there = State.from_query(Page(State()).reply({"resize": [2, 2, 3]})["go"])
    assert there.capacities == State().capacities * 3
    assert (there.shown, there.drifts) == (SERVER_SHOWN, False)
    back = State.from_query(Page(CLUSTER).reply({"resize": [3, 2, 0]})["go"])
    assert (back.capacities, back.shown, back.servers) == ((9.0, 18.0), SHOWN, ())
    told = Page(State()).reply({"resize": [2, 2, 9]})["errors"]["form"]
    assert told == "the explorer shows 0 to 8 servers; got 9"


def test_rates_of_many_classes_and_of_clusters_are_those_of_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def quick(system: System, policies: dict[str, object], *, seconds: float, **options: object) -> object:
        asked.append(seconds)
        rates = np.full((1, 1, system.n_classes), 2.0)
        way, known = ("simulation", "simulated, 95 %") if system.n_classes == 20 else ("unstable", "nothing")
        error = np.full_like(rates, 0.1)  # of 2
        names = "service_rates", "service_rates_error", "found_by", "known", "errors"
        return SimpleNamespace(
            **dict(zip(names, (rates, error, ((way,),), ((known,),), ((way,),)), strict=True))
        )

    monkeypatch.setattr(rates, "solve", quick)
    state = replace(changed(TWENTY, demands_0_0="1.21875"), shown=("DRF",))
    answer = Page(state).show(state)
    assert answer["rates"][3] == ["DRF", *["…"] * 20]
    view = rates_view(state)
    assert view.complete
    assert (view.curves["DRF"].now == 2.0).all()
    page = Page(state)
    answer = page.show(state)
    assert answer["rates"][3] == ["DRF", *["2"] * 20]
    assert answer["error"] == "DRF ± 5 % (simulated, 95 %)."
    view = rates_view(replace(changed(CLUSTER, demands_0_0="1.21875"), shown=("TSF",)))
    assert np.isnan(view.curves["TSF"].now).all()
    assert view.note.startswith("TSF: unstable at this load; dots only: curves of policies take too long")
    assert asked == [rates.SECONDS] * 2


def test_a_defect_is_answered_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    page = Page(State())
    assert "internal error (KeyError)" in page.reply({})["errors"]["form"]
    assert "could not answer" in caplog.text


@pytest.mark.parametrize(
    "state",
    [State(), *(pytest.param(s, marks=pytest.mark.long) for s in (ODD, THREE, ODD.resized(3, 2), SIX))],
)
@pytest.mark.usefixtures("hurried")
def test_every_figure_is_an_svg_that_does_not_change(state: State) -> None:
    for name in (drawing.name for drawing in drawings_of(state)):
        text = figure_file(state, name, "svg")
        assert ElementTree.fromstring(text).tag.endswith("svg")
        assert figure_file(state, name, "svg") == text
    with pytest.raises(ModelError, match="no figure"):
        figure_file(state, "nothing", "svg")


@pytest.mark.long
def test_figures_are_pictures_and_documents_that_publishers_accept() -> None:
    for name in (drawing.name for drawing in drawings_of(ODD)):
        assert figure_file(ODD, name, "png").startswith(b"\x89PNG")
        document = figure_file(ODD, name, "pdf")
        assert document.startswith(b"%PDF")
        assert b"/Type3" not in document
        assert figure_file(ODD, name, "pdf") == document


@pytest.mark.parametrize("state", [State(), THREE, ODD, SIX, CLUSTER, TWENTY])
def test_export_is_a_scenario_that_gives_the_state_back(state: State) -> None:
    text = state.to_toml()
    pool = tomllib.loads(text)["cluster" if state.servers else "pool"]
    read = [[float(Fraction(v)) for v in row] for row in pool["demands"]]
    assert np.array_equal(read, state.problem.demands)
    back = State.from_scenario(Scenario.parse(text))
    assert back.problem.demands.tolist() == state.problem.demands.tolist()
    # The mix comes back as loads, in another unit; two roundings.
    assert np.allclose(back.system.loads, state.system.loads, rtol=1e-12)
    assert (back.policy, back.counts, back.start) == (state.policy, state.counts, state.start)
    assert (back.job_classes, back.resources) == (state.job_classes, state.resources)
    assert set(back.shown) == {state.policy, *state.shown}
    assert (back.servers, back.eligible) == (state.servers, state.eligible)


def test_policies_of_the_file_are_shown_whatever_their_name() -> None:
    text = "policies = ['alpha:3', 'pf']\n[pool]\ndemands = [[1, 4], [3, 1]]\ncapacities = [9, 18]\n"
    state = State.from_scenario(Scenario.parse(text))
    assert (state.policy, state.shown) == ("alpha=3", ("PF", "alpha=3"))
    assert list(sharing_view(state).names) == ["PF", "alpha=3"]
    assert State.from_query(state.query(), state.offered) == state
    assert hue_of(state, "alpha=3") not in {entry.colour for entry in CATALOGUE}
    with pytest.raises(FieldErrors, match="unknown policy 'alpha=3'"):
        State.from_query(state.query())
    assert tomllib.loads(state.to_toml())["policies"] == ["alpha:3", "pf"]


@pytest.mark.long
def test_policies_on_trees_find_their_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "LOADS", tuple(sorted(COARSE)))
    state = Examples(State()).state("example=departments")
    curve = rates_view(replace(state, load=0.3, shown=("H-DRF",))).curves["H-DRF"]
    law = stationary(replace(state, load=0.3).system, state.offered["H-DRF"])
    assert np.allclose(curve.now, law.service_rates, rtol=curve.error)
    assert len(curve.loads) > 3
    again = Scenario.parse(state.to_toml())
    assert list(again.policies) == [state.offered[name] for name in state.shown]


def test_a_policy_of_ones_own_is_shown_beside_the_others(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def halves(problem, counts):\n"
        "    return 0.5 / problem.task_shares.max(axis=1) * (counts > 0) / problem.n_classes\n"
    )
    text = "policies = ['mine.py:halves', 'drf']\n[pool]\ndemands = [[1, 4], [3, 1]]\ncapacities = [9, 18]\n"
    (tmp_path / "own.toml").write_text(text + "[traffic]\nmix = [1, 1]\nload = 0.1\n")
    state = State.from_scenario(Scenario.read(tmp_path / "own.toml"))
    assert set(state.shown) == {"halves", "DRF"}
    assert len({hue_of(state, name) for name in state.offered}) == len(state.offered)
    # It gives 1.125 tasks to class A whoever else is present: a queue of its own, M/M/1.
    curve = rates_view(state, light=True).curves["halves"]
    rho = state.system.loads[0] / 1.125
    assert curve.now[0] == pytest.approx(state.system.loads[0] * (1 - rho) / rho, rel=max(1e-9, curve.error))
    with pytest.raises(ModelError, match="policy 'halves' is of a Python file"):
        state.to_toml()


def test_fractions_are_read_and_written() -> None:
    state = changed(State(), demands_0_0="1/3", capacities_0="7/2")
    assert (state.demands[0][0], state.capacities[0]) == (1 / 3, 3.5)
    assert (state.texts["demands-0-0"], state.texts["capacities-0"]) == ("1/3", "3.5")
    assert "demands=1/3,4;3,1&" in state.query()
    assert state.problem.is_rational is False
    assert changed(State(), demands_0_0="1/3").problem.is_rational
    rng = np.random.default_rng(3)
    for value in rng.uniform(0, 10, 200):
        part = short_fraction(value)
        assert part is None or float(part) == value


def test_every_example_of_the_menu_can_be_shown() -> None:
    examples = Examples(State())
    assert len(examples.menu) > 20
    for name, title in examples.menu:
        state = examples.state(f"example={name}")
        assert title
        assert examples.state(state.query()) == state
    assert examples.state("") == State()


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


@pytest.mark.parametrize("palette", [DAY, NIGHT])
def test_every_colour_of_the_page_stands_out_from_it(palette: Palette) -> None:
    def channels(hue: str) -> list[int]:
        return [int(hue[k : k + 2], 16) for k in (1, 3, 5)]

    def luminance(hue: str) -> float:
        parts = (c / 255 for c in channels(hue))
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    names = (*POLICIES, BALANCED, BOUND)
    hues = [legible(colour(name), palette.page) for name in names]
    assert len(set(hues)) == len(hues)
    for hue in (*hues, palette.ink, palette.quiet):
        high, low = sorted((luminance(hue), luminance(palette.page)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 3.0
        assert contrast(channels(hue), channels(palette.page)) == pytest.approx((high + 0.05) / (low + 0.05))
    answer = Page(State()).show(State(), dark=palette is NIGHT)
    assert answer["hues"] == dict(zip(POLICIES, hues, strict=False))
    assert [key["colour"] for key in answer["legends"]["rates"]][:2] == hues[-2:]


def test_rates_of_the_table_are_those_of_the_library() -> None:
    state = State()
    rows = Page(state).show(state)["rates"]
    laws = balanced_fairness(state.system), duration_bound(state.system)
    # Four digits are shown, and 1e-6 of the probability is left out.
    for row, numbers in zip(rows, (state.system.loads, *(law.service_rates for law in laws)), strict=False):
        np.testing.assert_allclose(np.array(row[1:], dtype=float), numbers, rtol=1e-3)


def test_a_scenario_whose_traffic_does_not_fit_is_refused_in_words() -> None:
    text = "[pool]\ndemands = [[1], [1]]\ncapacities = [1]\n[traffic]\nmix = [1, 1]\nload = 1.25\n"
    with pytest.raises(ModelError, match=r"shows traffic that fits; .* is 1\.25, so set a traffic\.load"):
        State.from_scenario(Scenario.parse(text))


def test_dashes_are_numbers_that_every_drawing_reads_alike() -> None:
    """BokehJS draws "dashed" in a column as 3 2, and as 6 where it is said for a whole line."""
    assert DASHES[0] == "solid"
    for dash, style in zip(DASHES[1:], STYLES[1:], strict=True):
        assert style == (0, tuple(int(part) for part in dash.split(" ")))
        assert len(style[1]) % 2 == 0  # an odd number is repeated by some
    assert len(set(DASHES)) == DISTINCT


@pytest.mark.usefixtures("hurried")
def test_a_curve_that_ends_says_why() -> None:
    state = replace(changed(State().resized(5, 2), demands_0_0="1.15625"), shown=("DRF",))
    curve = rates_view(state, until=0.0).curves[BOUND]
    assert (curve.end, curve.why) == (math.inf, "")
    curve = rates_view(state).curves["DRF"]
    assert (curve.end, curve.why) == (0.02, "curves of such models take too long for a page")


def test_the_ends_of_curves_are_marked_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CHAIN_STATES, 2, 100)
    page = Page(replace(changed(State(), demands_0_0="1.171875"), shown=("DRF", "PF")))
    page.rates.update(page.state)
    data = page.rates.sources["point"].data
    marked = list(zip(data["marker"], data["x"], data["told"], strict=True))
    ends = {told.partition(" ")[0]: (load, told) for sign, load, told in marked if sign == "x"}
    assert set(ends) == {"DRF", "PF"}
    for method, (load, told) in ends.items():
        curve = page.rates.view.curves[method]
        assert curve.loads[-1] == load < curve.end < 0.95
        assert told.startswith(f"{method} has no point from load {curve.end:.4g} on: ")
        assert "exceeds max_states=100" in told
        assert "raise" not in told
    assert page.rates.keys[-1]["mark"] == "cross"


def test_kernels_are_compiled_before_a_page_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    text = "policies = ['mmf']\n[pool]\ndemands = [[1, 4], [3.0625, 1]]\ncapacities = [9, 18]\n"
    scenario = Scenario.parse(text)
    state = State.from_scenario(scenario)

    def started(server: ExplorerServer) -> None:
        opened.extend(name for name, c in rates_view(state, until=0.0).curves.items() if len(c.loads) > 1)
        raise KeyboardInterrupt

    monkeypatch.setattr(ExplorerServer, "run", started)
    serve(scenario, port=0, open_browser=False)
    assert opened == [BALANCED, BOUND, "MMF"]
