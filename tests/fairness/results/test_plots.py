"""Pictures show the feasible set, and refuse what they cannot show."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from fairness import DRF, MaxMin, ModelError, Problem
from fairness.catalogue import colour
from fairness.results.plotting import plot_constraints, plot_sharing

plt.switch_backend("Agg")


@pytest.fixture
def ax():
    return plt.subplots()[1]


def corners(ax):
    """Largest task numbers of the shaded set."""
    return ax.collections[0].get_paths()[0].vertices.max(axis=0)


def test_feasible_set_and_allocations(ax):
    problem = Problem([[1, 3], [4, 2]], [1, 1], resources=["CPU", "RAM"])
    plot_sharing(problem, (MaxMin(), DRF()), ax)
    np.testing.assert_allclose(corners(ax), [1 / 3, 1 / 4])
    points = {line.get_label(): line for line in ax.lines}
    assert list(points) == ["CPU", "RAM", "MMF", "DRF"]
    np.testing.assert_allclose(points["DRF"].get_xydata(), [[2 / 9, 1 / 6]])
    assert points["DRF"].get_markeredgecolor() == colour("DRF")


def test_a_line_on_another_one_is_dashed(ax):
    plot_constraints(Problem([[1, 1, 2], [1, 1, 1]], [1, 1, 1]), ax)
    assert [line.is_dashed() for line in ax.lines] == [False, True, False]


def test_limits_cut_the_feasible_set(ax):
    problem = Problem([[1, 3], [4, 2]], [1, 1], limits=[0.1, 0.05], job_classes=["A", "B"])
    plot_constraints(problem, ax, counts=[2, 3])
    np.testing.assert_allclose(corners(ax), [0.2, 0.15])
    assert {line.get_label() for line in ax.lines} >= {"limit of A", "limit of B"}


def test_a_resource_that_one_class_demands(ax):
    plot_constraints(Problem([[2, 0], [0, 4]], [1, 1]), ax)
    np.testing.assert_allclose(corners(ax), [1 / 2, 1 / 4])
    free = Problem([[2], [0]], [1], limits=[np.inf, 3])
    np.testing.assert_allclose(corners(plot_constraints(free, plt.subplots()[1])), [1 / 2, 3])


def test_what_cannot_be_drawn():
    with pytest.raises(ModelError, match="2 classes; the problem has 1"):
        plot_constraints(Problem([[1]], [1]))
    with pytest.raises(ModelError, match="class 'class 2' demands a resource of capacity 0 and never runs"):
        plot_constraints(Problem([[1, 0], [1, 1]], [1, 0]))
    with pytest.raises(ModelError, match=r"counts must have shape \(2,\)"):
        plot_sharing(Problem([[1], [1]], [1]), [DRF()], counts=np.ones((3, 2)))
    with pytest.raises(ModelError, match="demands nothing and has no job"):
        plot_constraints(Problem([[1], [0]], [1], limits=[1, 1]), counts=[1, 0])
    assert not plt.get_fignums()
