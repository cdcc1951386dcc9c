"""Figures of several methods side by side: panels that a page is wide enough for."""

import numpy as np
import pytest
import xarray as xr

from fairqueues.console.figures import sweep_lines


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
