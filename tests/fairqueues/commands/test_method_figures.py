"""Figures of several methods side by side: panels that a page is wide enough for."""

from itertools import pairwise

import numpy as np
import pytest
import xarray as xr

from fairness import allocate, explain
from fairqueues.console.figures import explanations, sweep_lines
from fairqueues.console.inputs import example
from fairqueues.scenario import Scenario


@pytest.mark.parametrize(("n_classes", "rows", "columns"), [(1, 1, 1), (3, 1, 3), (7, 3, 3)])
def test_a_sweep_of_many_classes_is_a_grid_of_panels(n_classes, rows, columns):
    classes = [f"class {k}" for k in range(n_classes)]
    data = xr.Dataset(
        {"service_rates": (("load", "policy", "job_class"), np.ones((2, 2, n_classes)))},
        coords={"load": [0.2, 0.4], "policy": ["DRF", "PF"], "job_class": classes},
    )
    figure = sweep_lines(data, "load", "service_rates")
    assert [ax.get_title() for ax in figure.axes] == classes
    grid = figure.axes[0].get_gridspec()
    assert (grid.nrows, grid.ncols) == (rows, columns)
    assert figure.get_figwidth() <= 0.6 + 4 * 3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["DRF", "PF"]


def test_a_second_parameter_is_told_in_the_legend():
    data = xr.Dataset(
        {"service_rates": (("load", "weights_A", "kind", "policy"), np.ones((2, 2, 1, 1)))},
        coords={"load": [0.2, 0.4], "weights_A": [1.0, 2.5], "kind": ["new"], "policy": ["DRF"]},
    )
    legend = sweep_lines(data, "load", "service_rates").legends[0]
    told = [text.get_text() for text in legend.get_texts()]
    assert told == ["DRF", "weights A = 1, kind = new", "weights A = 2.5, kind = new"]


def test_names_of_the_rows_of_an_explanation_do_not_meet():
    scenario = Scenario.read(example("departments"))
    why = explain(allocate(scenario.model, scenario.policies[-1]), "train")
    figure = explanations({"H-DRF": why})
    figure.draw_without_rendering()
    for ax in figure.axes:
        boxes = [text.get_window_extent() for text in ax.get_yticklabels()]
        assert all(above.y0 >= below.y1 for above, below in pairwise(boxes))
