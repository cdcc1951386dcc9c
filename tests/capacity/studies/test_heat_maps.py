"""Heat maps of sweeps: what is drawn where."""

import matplotlib
import numpy as np
import pytest
import xarray as xr

from capacity import heat_map, sweep
from fairness import DRF, ModelError, Problem, ProportionalFair
from queueing import System

matplotlib.use("Agg")
POOL = Problem([[1, 0.1], [0.1, 1]], [1, 1], job_classes=["A", "B"])


def system(load, ratio):
    return System.with_load(POOL, [ratio, 1], load)


def test_a_sweep_drawn_over_load_and_mix():
    found = sweep(system, [DRF(), ProportionalFair()], over={"load": [0.2, 0.5], "ratio": [1.0, 2.0, 3.0]})
    values = found["mean_durations"].sel(policy="DRF", job_class="A")
    ax = heat_map(values, contours=[1.5])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("ratio", "load")
    drawn = ax.collections[0]
    np.testing.assert_array_equal(drawn.get_array(), values.to_numpy())
    # Cells stand around their labels.
    corners = drawn.get_coordinates()
    np.testing.assert_allclose(corners[0, :, 0], [0.5, 1.5, 2.5, 3.5])
    np.testing.assert_allclose(corners[:, 0, 1], [0.05, 0.35, 0.65])


def test_names_stand_side_by_side():
    values = xr.DataArray(
        [[1.0, 2.0], [np.nan, 4.0]],
        coords={"policy": ["DRF", "PF"], "load": [0.1, 0.2]},
        attrs={"units": "s"},
    )
    ax = heat_map(values)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["DRF", "PF"]
    assert ax.figure.axes[1].get_ylabel() == "value (s)"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.ones((2, 2)), "xarray.DataArray"),
        (xr.DataArray(np.ones(3), dims="load"), "its dimensions are load"),
        (xr.DataArray([["a"]], dims=("x", "y")), "must hold numbers"),
        (xr.DataArray(1.0), "its dimensions are none"),
    ],
)
def test_what_has_no_two_dimensions_is_refused(values, message):
    with pytest.raises(ModelError, match=message):
        heat_map(values)
