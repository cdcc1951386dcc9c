"""Joint laws of two classes, and what pictures of laws show."""

import itertools
import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from fairness import DRF, ModelError, Problem
from fairness.display.colours import part_colour
from fairness.display.drawing import squares
from queueing import System, balanced_fairness, exact_stationary, stationary

plt.switch_backend("Agg")

THREE = System(Problem([[1, 0.2], [0.3, 1], [1, 1]], [1, 1], job_classes=["A", "B", "C"]), [0.2, 0.1, 0.15])


@pytest.fixture(scope="module")
def law():
    return stationary(THREE, DRF(), shape=(6, 5, 4))


def summed(law, shape, i, k):
    """Joint law of counts i and k, state by state."""
    pair = np.zeros((shape[i], shape[k]))
    for state in itertools.product(*map(range, shape)):
        pair[state[i], state[k]] += law[state]
    return pair


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.mark.parametrize("pair", [(0, 1), (2, 0), (1, 2)])
def test_a_joint_law_is_the_sum_over_the_other_classes(law, pair):
    i, k = pair
    # Sums of at most 120 terms in another order.
    assert law.joint(i, k) == pytest.approx(summed(law.distribution, law.shape, i, k), rel=1e-13)
    assert law.joint("ABC"[i], k).sum(axis=1) == pytest.approx(law.marginal(i), rel=1e-13)


@pytest.mark.long
def test_a_joint_law_on_a_set_of_states():
    """On one resource DRF is balanced, and two classes are as in a queue without the others."""
    loads = np.array([0.1, 0.05, 0.02, 0.02, 0.01])
    law = stationary(System(Problem([[1]] * 5, [1]), loads), DRF(), tail=1e-7)
    assert law.states is not None
    pair = law.joint(0, 1)
    assert pair.shape == law.shape[:2]
    own = loads[:2] / (1 - loads[2:].sum())
    for a, b in itertools.product(range(3), repeat=2):
        known = math.comb(a + b, a) * (1 - own.sum()) * own[0] ** a * own[1] ** b
        # What is cut off, about 1e-7 of all, is less than 1e-3 of the least of these probabilities.
        assert pair[a, b] == pytest.approx(known, rel=1e-3)
        assert law.joint(1, 0)[b, a] == pair[a, b]


def test_balanced_joint_laws_without_the_kept_law():
    """Classes 0 and 1 are merged, class 2 is apart, class 3 never arrives: both ways agree."""
    pool = Problem([[1, 0], [2, 0], [0, 1], [1, 1]], [1, 1])
    system = System(pool, [0.1, 0.05, 0.2, 0.0])
    brief, kept = (
        balanced_fairness(system),
        balanced_fairness(system, shape=(20, 20, 20, 1), distribution=True),
    )
    assert len(brief.groups) == 2
    for i, k in itertools.permutations(range(4), 2):
        one, other = brief.joint(i, k), kept.joint(i, k)
        n, m = np.minimum(one.shape, other.shape)
        # The law on the box is conditioned on it: at load 0.2 it leaves out about 1e-14.
        assert one[:n, :m] == pytest.approx(other[:n, :m], rel=1e-9, abs=1e-13)


def test_a_joint_law_that_needs_the_law_says_so():
    tangled = balanced_fairness(THREE)
    with pytest.raises(ModelError, match=r"call balanced_fairness\(..., distribution=True\)"):
        tangled.joint("A", "B")
    short = stationary(THREE, DRF(), shape=4, distribution=False)
    with pytest.raises(ModelError, match=r"call stationary\(..., distribution=True\)"):
        short.plot(what="joint", job_classes=["A", "B"])
    exact = exact_stationary(THREE, DRF(), shape=2)
    with pytest.raises(ModelError, match=r"call exact_stationary\(..., distribution=True\)"):
        exact.plot(what="marginals")
    assert not plt.get_fignums()


def test_wrong_wishes_are_refused_by_name(law, ax):
    with pytest.raises(ModelError, match="what must be one of 'marginals', 'joint', 'mean_jobs'; got 'law'"):
        law.plot(ax, "law")
    with pytest.raises(ModelError, match=r"must name two classes .* 3 classes have arrivals") as error:
        law.plot(ax, "joint")
    assert error.value.argument == "job_classes"
    with pytest.raises(ModelError, match=r"such as \['A', 'B'\]; got \['B', 1\]"):
        law.plot(ax, "joint", ["B", 1])
    with pytest.raises(ModelError, match="'D' is unknown"):
        law.plot(ax, job_classes=["D"])
    for chosen in ([], ["A", 0]):
        with pytest.raises(ModelError, match="must name classes, each once"):
            law.plot(ax, "marginals", chosen)


def test_the_picture_of_a_joint_law_shows_its_numbers(law, ax):
    law.plot(ax, what="joint", job_classes=["B", "A"])
    (mesh,) = ax.collections
    shown, pair = mesh.get_array(), law.joint("B", "A")
    # To the right B, upwards A; without ends of mass below 1e-4.
    assert np.array_equal(np.ma.getdata(shown), pair[: shown.shape[1], : shown.shape[0]].T)
    for axis, size in ((1, shown.shape[1]), (0, shown.shape[0])):
        beyond = pair.sum(axis=axis)[::-1].cumsum()[::-1]
        assert (beyond[:size] >= 1e-4).all()
        assert (beyond[size:] < 1e-4).all()
    unlikely = np.ma.getdata(shown) < 1e-6 * pair.max()
    assert (np.ma.getmaskarray(shown) == unlikely).all()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("jobs of B", "jobs of A")


def test_a_class_that_is_never_present_has_one_row_of_full_height(ax):
    mesh = squares(ax, [[0.75], [0.25]]).collections[0]
    assert np.ptp(mesh.get_coordinates(), axis=(0, 1)).tolist() == [2, 1]
    # What colours mean reaches no farther than the law.
    assert mesh.get_clim() == (0.075, 0.75)


def test_chosen_marginals_keep_the_colours_of_their_classes(law, ax):
    law.plot(ax, job_classes=["C", "A"])
    dots = {line.get_label(): line for line in ax.lines}
    assert {name: dots[name].get_color() for name in dots} == {"C": part_colour(2), "A": part_colour(0)}
    assert np.array_equal(dots["A"].get_ydata(), law.marginal("A")[: len(dots["A"].get_ydata())])


@pytest.mark.long
def test_many_classes_show_their_means(ax):
    many = balanced_fairness(System(Problem([[1]] * 7, [1]), [0.1] * 7))
    assert len(many.plot(ax).patches) == 7
    assert [line.get_label() for line in many.plot(Figure().subplots(), job_classes=[6]).lines] == ["class 7"]
