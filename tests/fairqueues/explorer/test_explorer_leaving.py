"""What leaves the explorer: smaller states, scenario files and figures, with names of any length."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import Any

import pytest
from matplotlib.figure import Figure as Canvas

pytest.importorskip("bokeh")

from fairqueues.explorer import State, drawing
from fairqueues.scenario import Scenario


def test_what_is_left_of_a_state_without_its_jobs_can_be_shown() -> None:
    state = replace(State().resized(3, 2), mix=(0.0, 0.0, 2.0), counts=(0.0, 0.0, 1.0)).resized(2, 2)
    assert State.from_query(state.query()) == state
    assert state.mix == state.counts == (1.0, 1.0)


def test_of_three_classes_the_saved_policies_are_those_that_are_shown() -> None:
    # There is no drift, so its policy is nothing that a person sees or could change.
    state = replace(State().resized(3, 2), shown=("PF",))
    assert tomllib.loads(state.to_toml())["policies"] == ["pf"]
    none = Scenario.parse(replace(state, shown=()).to_toml())
    assert State.from_scenario(none).shown == State().shown


@pytest.mark.long
@pytest.mark.parametrize("name", ["region", "rates"])
def test_nothing_of_a_file_lies_outside_of_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Canvas] = []

    def keep(canvas: Canvas, ending: str) -> Any:
        canvas.draw_without_rendering()
        kept.append(canvas)
        return b""

    monkeypatch.setattr(drawing, "drawn_file", keep)
    names = ("x" * 60, "long name " * 6 + "$_%", *(f"class {k}" for k in range(4)))
    drawing.figure_file(replace(State().resized(6, 2), load=0.3, job_classes=names), name, "png")
    [canvas] = kept
    [ax] = canvas.axes
    texts = [ax.title, ax.xaxis.label, ax.yaxis.label, *canvas.legends[0].get_texts()]
    for box in (text.get_window_extent() for text in texts):
        assert 0 <= box.x0 < box.x1 <= canvas.bbox.x1 or not box.width
        assert 0 <= box.y0 < box.y1 <= canvas.bbox.y1 or not box.width
