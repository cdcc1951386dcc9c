"""Means against the load: those of the single verbs, simulated where no chain fits, drawn apart."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from scipy.optimize import lsq_linear

from capacity import load_curves
from fairness import DRF, PSDSF, Cluster, ModelError, NotConvergedError, Problem, ProportionalFair
from fairness.display.lines import label_ends, line_styles, spread
from queueing import Deterministic, System, balanced_fairness, duration_bound, stationary

POOL = Problem([[10, 1], [1, 10]], [1, 1], job_classes=["A", "B"])
SYSTEM = System.with_load(POOL, [2, 1], 0.5)
MEANS = ("mean_jobs", "mean_durations", "service_rates")


def test_means_are_those_of_the_verbs_with_their_errors():
    curves = load_curves(SYSTEM, ["balanced", "bound", DRF()], [0.3, 0.6])
    assert curves.methods == ("balanced fairness", "bound", "DRF")
    assert curves.found_by == (("balanced", "bound", "chain"),) * 2
    assert curves.entropy is None
    for k, load in enumerate((0.3, 0.6)):
        system = SYSTEM.at_load(load)
        laws = balanced_fairness(system), duration_bound(system), stationary(system, DRF(), tail=1e-6)
        for m, law in enumerate(laws):
            for name in MEANS:
                np.testing.assert_array_equal(getattr(curves, name)[k, m], getattr(law, name))
        for m in (0, 2):
            # The farthest rate and duration that the error of the mean number allows.
            error = laws[m].mean_jobs_error
            lowest = system.service_rates(laws[m].mean_jobs - error)
            # Differences of numbers of size 0.1 near each other: absolute rounding.
            wide = lowest - laws[m].service_rates
            np.testing.assert_allclose(curves.service_rates_error[k, m], wide, rtol=1e-6, atol=1e-13)
            longest = system.mean_durations(laws[m].mean_jobs + error) - laws[m].mean_durations
            np.testing.assert_allclose(curves.mean_durations_error[k, m], longest, rtol=1e-6, atol=1e-13)
        assert not curves.service_rates_error[k, 1].any()
    table = curves.table("mean_durations")
    assert table.loc[("B", 0.6), "DRF"] == curves.mean_durations[1, 2, 1]
    data = curves.to_dataset()
    assert (
        float(data.service_rates.sel(load=0.3, policy="bound", job_class="A"))
        == curves.service_rates[0, 1, 0]
    )


def test_where_no_chain_fits_the_policy_is_simulated_with_intervals():
    # Intervals of level 1 - 1e-6: with two classes at two loads a false alarm in 250,000 (fixed seed).
    options = {"events": 20_000, "confidence": 1 - 1e-6, "precision": 10.0, "rng": 5}
    curves = load_curves(SYSTEM, [ProportionalFair()], [0.3, 0.6], max_states=20, **options)
    assert curves.found_by == (("simulation",),) * 2
    assert curves.entropy == 5
    assert all("exceeds max_states=20" in row[0] for row in curves.remarks)
    for k, load in enumerate((0.3, 0.6)):
        law = stationary(SYSTEM.at_load(load), ProportionalFair())
        for name in MEANS:
            apart = np.abs(getattr(curves, name)[k, 0] - getattr(law, name))
            width = getattr(curves, f"{name}_error")[k, 0]
            assert (apart <= width).all()
            assert (width < 0.5 * getattr(law, name)).all()
    again = load_curves(SYSTEM, [ProportionalFair()], [0.3, 0.6], max_states=20, **options)
    np.testing.assert_array_equal(again.mean_jobs, curves.mean_jobs)
    axes = curves.plot(Figure().subplots())
    assert len(axes.containers) == 1  # bars of errors


@pytest.mark.long
@pytest.mark.parametrize(("load", "tail", "faster"), [(0.1, 1e-6, False), (0.95, 1e-3, True)])
def test_the_first_figure_of_the_tutorial_is_of_chains_from_end_to_end(load, tail, faster):
    """DRF does cross balanced fairness at the highest loads, in the class of the busiest resource alone."""
    pool = Problem([[4, 1, 1], [1, 4, 1], [1, 1, 4]], [16, 16, 16])
    curves = load_curves(System.with_load(pool, [2, 1, 1], 0.7), ["balanced", DRF()], [load], tail=tail)
    assert curves.found_by == (("balanced", "chain"),)
    assert (curves.service_rates_error < 1e-3 * curves.service_rates).all()
    ((balanced, drf),) = curves.service_rates
    assert (drf > balanced).tolist() == [faster, False, False]


@pytest.mark.long
def test_other_laws_of_sizes_are_simulated_job_by_job():
    system = System.with_load(Problem([[1]], [1]), [1], 0.5, sizes=Deterministic())
    curves = load_curves(system, [DRF()], [0.5], jobs=4000, confidence=1 - 1e-6, precision=10.0, rng=1)
    assert curves.found_by == (("simulation",),)
    # Processor sharing: twice the size at load 1/2, whatever the law; a false alarm in a million.
    assert abs(curves.mean_durations[0, 0, 0] - 2) <= curves.mean_durations_error[0, 0, 0] < 0.5


@pytest.mark.long
def test_points_without_an_interval_are_told_and_not_drawn():
    curves = load_curves(SYSTEM, [DRF()], [0.3, 0.99], max_states=300, events=1000, rng=2)
    [(load, name, why)] = curves.without_interval()
    assert (load, name) == (0.99, "DRF")
    assert why.startswith("too short")
    assert "DRF at load 0.99: no interval: too short" in curves.summary()
    [line, *_] = curves.plot(Figure().subplots()).lines
    assert line.get_xdata().tolist() == [0.3]


def test_a_class_that_no_simulation_saw_is_told():
    # A job in a billion is of class B: none among a few thousand, but once in a hundred thousand runs.
    rare = System(POOL, [0.05, 5e-11])
    short = {"max_states": 2, "events": 1000, "replications": 2}
    curves = load_curves(rare, [DRF()], [0.3], **short, precision=10.0, rng=1)
    assert curves.found_by == (("simulation",),)
    assert np.isnan(curves.mean_jobs[0, 0, 1])
    told = "no job was seen of 'B'; give more events"
    [(load, name, why)] = curves.without_interval()
    assert (load, name) == (0.3, "DRF")
    assert why.startswith(told)
    assert f"DRF at load 0.3: no interval: {told}" in curves.summary()
    [(_, worst)] = curves.evidence()["DRF"]
    assert worst == np.inf
    axes = curves.plot(Figure().subplots(), job_class="B")
    assert [text.get_text() for text in axes.texts] == ["no point has an interval"]


def test_a_class_without_arrivals_is_told_in_its_panel():
    idle = System(POOL, [0.05, 0.0])
    curves = load_curves(idle, ["balanced", "bound"], [0.3])
    assert not curves.without_interval()
    assert all(np.isfinite(worst) for _, worst in curves.evidence()["balanced fairness"])
    figure = curves.figure("mean_jobs")
    FigureCanvasAgg(figure).draw()  # warnings are errors
    assert [text.get_text() for text in figure.axes[1].texts] == ["no arrivals"]
    assert not len(figure.axes[1].get_yticks())


def test_errors_are_told_rounded_up():
    curves = load_curves(SYSTEM, ["balanced", DRF()], [0.3])
    for name, [(claim, worst)] in curves.evidence().items():
        [line] = [line for line in curves.summary().splitlines() if line.startswith(f"  {name}: ")]
        assert claim in line
        told = float(line.split()[-1])
        # Two digits: at most a tenth above.
        assert worst <= told <= 1.1 * worst


def test_what_a_method_cannot_is_told_beside_the_others():
    limited = System.with_load(Problem([[10, 1], [1, 10]], [1, 1], limits=[0.05, 1]), [2, 1], 0.5)
    curves = load_curves(limited, ["bound", "balanced"], [0.3, 0.6])
    [line] = curves.missing("bound")
    assert line.startswith(
        "bound: no means at load 0.3, 0.6: ModelError: the bound is for jobs without limits"
    )
    assert not curves.missing("balanced fairness")
    assert np.isnan(curves.service_rates[:, 0]).all()
    with pytest.raises(
        NotConvergedError, match="no method has means at any load; the first says: ModelError"
    ):
        load_curves(limited, ["bound"], [0.3])


@pytest.mark.long
def test_points_are_kept_and_only_for_the_same_system(tmp_path, monkeypatch):
    ask = partial(load_curves, methods=["bound", DRF()], loads=[0.3, 0.6], checkpoint=tmp_path / "kept")
    first = ask(SYSTEM)

    def never(*_):
        raise AssertionError

    monkeypatch.setattr("capacity.means.ladder._run", never)
    np.testing.assert_array_equal(ask(SYSTEM).mean_jobs, first.mean_jobs)
    # Beyond the digits that people read.
    other = System.with_load(Problem([[10, 1], [1, 10 + 1e-12]], [1, 1], job_classes=["A", "B"]), [2, 1], 0.5)
    assert repr(other) == repr(SYSTEM)
    with pytest.raises(ModelError, match="model"):
        ask(other)


CLUSTER = System.with_load(Cluster([[1, 1], [1, 2]], [[4, 4], [9, 9]]), [1, 1], 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loads": [0.3, 1.0]}, "loads must be increasing and between 0 and 1"),
        ({"loads": [0.6, 0.3]}, "loads must be increasing"),
        ({"loads": []}, "loads must be increasing"),
        ({"methods": ["balance"]}, "methods: 'balance' is none"),
        ({"methods": []}, "methods is empty"),
        ({"methods": DRF()}, "methods must be a list of policies"),
        ({"methods": [DRF(), DRF()]}, "two methods are called 'DRF'"),
        ({"system": CLUSTER}, "methods: 'balanced' is known for one pool, not for servers; leave it out"),
        ({"system": POOL}, "system must be a System"),
        ({"precision": 0}, "precision must be"),
        ({"events": 10}, "events must be"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(ModelError, match=message):
        load_curves(**{"system": SYSTEM, "methods": ["balanced"], "loads": [0.3], **options})


def test_servers_have_curves():
    curves = load_curves(CLUSTER, [PSDSF()], [0.4])
    law = stationary(CLUSTER.at_load(0.4), PSDSF(), tail=1e-6)
    np.testing.assert_array_equal(curves.mean_jobs[0, 0], law.mean_jobs)


def test_names_at_the_ends_are_as_near_as_they_can_be():
    rng = np.random.default_rng(8)
    for n in (1, 2, 5, 9):
        wanted = rng.integers(0, 6, n) + rng.random(n) * 0.1
        found = spread(wanted, 1.0, -100.0, 100.0)
        order = np.argsort(wanted, kind="stable")
        # Second method: the first place and the gaps beyond 1 by bounded least squares.
        steps = np.tril(np.ones((n, n)))
        bounds = (np.r_[-np.inf, np.zeros(n - 1)], np.full(n, np.inf))
        best = lsq_linear(steps, wanted[order] - np.arange(n), bounds, tol=1e-14)
        # The residual, since the solver stops near the optimum: its square is flat there.
        assert ((found - wanted) ** 2).sum() <= 2 * best.cost + 1e-8
        assert (np.diff(found[order]) >= 1 - 1e-12).all()
    inside = spread([0.0, 0.0, 0.0], 1.0, 0.0, 9.0)
    np.testing.assert_allclose(inside, [0, 1, 2], atol=1e-12)


@pytest.mark.parametrize("size", [(3.5, 2.6), (12, 8)])
def test_names_at_the_ends_never_lie_on_each_other(size):
    figure = Figure(figsize=size, layout="constrained")
    ax = figure.subplots()
    names = ["balanced fairness", "bound", "DRF", "PF", "BMF", "alpha=2"]
    for k, name in enumerate(names):
        ax.plot([0, 1], [1, 0.001 * k], **line_styles(names, dict.fromkeys(names, "C0"), 2)[name])
    label_ends(ax, {name: (1.0, 0.001 * k, "C0") for k, name in enumerate(names)})
    FigureCanvasAgg(figure).draw()
    for text in ax.texts:
        text.arrowprops = text.arrow_patch = (
            None  # measured are the letters, without the lines that lead to them
        )
    known = {text.get_text(): text.get_window_extent() for text in ax.texts}
    boxes = sorted(known.values(), key=lambda box: box.y0)
    assert len(boxes) == len(names)
    assert all(upper.y0 >= lower.y1 for lower, upper in pairwise(boxes))
    assert all(box.x0 > ax.bbox.x1 and box.x1 <= figure.bbox.x1 and box.y0 >= 0 for box in boxes)
    # In the order of the ends.
    assert sorted(known, key=lambda name: known[name].y0) == names


def test_lines_that_lie_on_each_other_differ_in_width_dashes_and_markers():
    names = ["balanced fairness", "bound", "DRF", "PF", "BMF"]
    styles = line_styles(names, dict.fromkeys(names, "k"), 18, names[:2])
    widths = [styles[name]["linewidth"] for name in names]
    assert widths == sorted(widths, reverse=True)
    assert len({str(styles[name]["linestyle"]) for name in names}) == 5
    places = [
        set(range(*styles[name]["markevery"][:1], 18, styles[name]["markevery"][1])) for name in names[2:]
    ]
    assert set.union(*places) == set(range(18))
    assert sum(map(len, places)) == 18
    # With few points every one is marked.
    few = line_styles(names, dict.fromkeys(names, "k"), 4)
    assert few["PF"]["markevery"] == (0, 1)
    assert few["PF"]["markersize"] < few["DRF"]["markersize"]
