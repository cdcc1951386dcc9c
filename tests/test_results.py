"""Every result keeps one contract: it tells itself, is a table, a picture, HTML, a pickle and a file.

The walk imports all modules and finds every class that inherits from ``Result``; each has a small instance
here, with names that must stay text wherever they are shown.
"""

import functools
import importlib
import inspect
import pickle
import pkgutil
from html.parser import HTMLParser

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import capacity
import fairness
import proofs
import queueing
from capacity.studies.instability import RandomLines
from fairness import DRF, PSDSF, BottleneckMax, Cluster, Problem, ProportionalFair
from fairness.cloud import DeadlineController, SparseDemands, compare, dcdrf, edrf
from fairness.display.result import Result
from fairness.indivisible import VirtualShare, deviation, fill_cluster, fill_tasks, repeat_filling
from fairness.properties import audit
from fairness.timed.exchange import exchange
from fairness.timed.timeline import timeline
from queueing import System
from queueing.networks.backbones import abilene
from queueing.networks.gravity import gravity_traffic

plt.switch_backend("Agg")

PACKAGES = ("fairness", "queueing", "capacity", "proofs", "fairqueues")
VOID = {"br", "hr", "img", "meta", "link", "input"}
CLASSES = ["<b>A</b>", 'B & "c"']
RESOURCES = ["<script>cpu</script>", "$ram"]
POOL = Problem([[1, 4], [3, 1]], [9, 18], job_classes=CLASSES, resources=RESOURCES)
CLUSTER = Cluster(
    [[1, 2], [1, 0]], [[9, 12], [12, 0]], job_classes=CLASSES, servers=["<i>s</i>", "t"], resources=RESOURCES
)
SYSTEM = System(POOL, [1.0, 0.7])
DEMANDS = SparseDemands.from_lists([[(0, 1.0)], [(0, 0.5), (1, 1.0)], [(1, 1.0)]], n_resources=2)


def controlled():
    controller = DeadlineController(1.0)
    for late in (True, True, False, False):
        controller.observe(late, elapsed=0.5, rounds=3)
    return controller


@functools.cache
def audited():
    return audit([DRF(), ProportionalFair()], ["SI", "EF"], budget=60, rng=1)


MAKERS = {
    "Allocation": lambda: fairness.allocate(POOL, DRF(), [1, 2]),
    "Circulation": lambda: queueing.circulate(POOL),
    "ClusterAllocation": lambda: fairness.allocate(CLUSTER, PSDSF()),
    "BottleneckSet": lambda: fairness.all_bottleneck_max(POOL),
    "DistributedRun": lambda: fairness.distributed_psdsf(CLUSTER, 4.0, rng=1),
    "Exchange": lambda: exchange([[5, 1, 3], [1, 8, 3]], [[0, 1, 1], [1, 0, 1]]),
    "Timeline": lambda: timeline([[5, 1], [1, 8]], [[1, 1], [2, 1]], [0, 3], [8, None], capacities=[9, 9]),
    "TaskFilling": lambda: fill_tasks(POOL),
    "ClusterFilling": lambda: fill_cluster(CLUSTER),
    "FillingRuns": lambda: repeat_filling(CLUSTER, VirtualShare(), runs=3, rng=1),
    "Deviation": lambda: deviation(fill_tasks(POOL)),
    "Edrf": lambda: edrf(DEMANDS),
    "Rounds": lambda: dcdrf(DEMANDS, epsilon=0.25),
    "Comparison": lambda: compare(dcdrf(DEMANDS, epsilon=0.25), edrf(DEMANDS)),
    "DeadlineController": controlled,
    "AuditTable": audited,
    "SearchResult": lambda: audited().cells["PF", "sharing incentive"],
    "GravityTraffic": lambda: gravity_traffic(abilene(), 10, weights="population", pairs=20),
    "DurationBound": lambda: queueing.duration_bound(SYSTEM),
    "BalancedFairness": lambda: queueing.balanced_fairness(SYSTEM, distribution=True),
    "BalancedPlan": lambda: queueing.balanced_plan(SYSTEM),
    "Stationary": lambda: queueing.stationary(SYSTEM, DRF(), shape=12),
    "Transient": lambda: queueing.transient(SYSTEM, DRF(), [0.5, 1.0], shape=12),
    "TaggedDuration": lambda: queueing.tagged_duration(SYSTEM, DRF(), 0, shape=12),
    "Admission": lambda: queueing.admission(SYSTEM, DRF(), max_jobs=4),
    "Trajectory": lambda: queueing.trajectory(SYSTEM, DRF(), [3.0, 2.0]),
    "FluidVerdict": lambda: queueing.fluid_verdict(SYSTEM, BottleneckMax()),
    "StabilityVerdict": lambda: capacity.is_stable(SYSTEM),
    "Provision": lambda: capacity.provision(POOL, [1.0, 0.7], [1, 1], maximum_duration=2.0),
    "HeavyTraffic": lambda: capacity.heavy_traffic(POOL, [1, 1], ["balanced"], loads=[0.3, 0.5, 0.6, 0.7]),
    "InstabilitySearch": lambda: capacity.search_instability(BottleneckMax(), RandomLines(), 3, rng=1),
    "Report": lambda: proofs.check_all(["br-feasible"]),
    "Verdict": lambda: proofs.check("br-feasible"),
    "Simulation": lambda: queueing.simulate(SYSTEM, DRF(), events=2000, replications=4, rng=1),
}


@functools.cache
def made(name):
    return MAKERS[name]()


every_result = pytest.mark.parametrize("name", MAKERS)


def concrete(cls):
    for sub in cls.__subclasses__():
        if not inspect.isabstract(sub) and sub.__module__.partition(".")[0] in PACKAGES:
            yield sub
        yield from concrete(sub)


def test_every_result_has_an_instance_here():
    for package in map(importlib.import_module, PACKAGES):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    # A verdict keeps the contract without the base class, since the checker knows no library.
    assert {cls.__name__ for cls in concrete(Result)} | {"Verdict"} == set(MAKERS)
    for name in MAKERS:
        assert type(made(name)).__name__ == name


class Page(HTMLParser):
    """Tags in balance, and the text in all."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.text, self.attributes = [], set(), [], []
        self.feed(html)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)


@every_result
def test_tells_itself(name):
    result = made(name)
    assert repr(result) == result.summary()
    frame = result.to_dataframe()
    assert frame.size > 0
    page = Page(result._repr_html_())
    # Only what the library writes: a name of a class never becomes a tag, and nothing is loaded.
    assert page.tags <= {"div", "style", "strong", "table", "thead", "tbody", "tr", "th", "td", "p"}
    assert not {key for key, _ in page.attributes} & {"src", "href", "onclick"}
    if type(result)._repr_html_ is Result._repr_html_:
        assert page.text[0] == repr(result).splitlines()[0]


@every_result
def test_draws_itself_and_leaves_the_rest_alone(name):
    result = made(name)
    before, open_figures = dict(mpl.rcParams), plt.get_fignums()
    figure = mpl.figure.Figure()
    ax = figure.subplots()
    assert result.plot(ax) is ax
    assert ax.has_data()
    # Drawn in full: a name that no font or formula can show would warn or fail here.
    figure.canvas.draw()
    assert plt.get_fignums() == open_figures
    own = result.plot()
    assert own.figure.number not in open_figures
    plt.close(own.figure)
    assert dict(mpl.rcParams) == before


def assert_same(one, other, where="result", *, frozen=True):
    """The same values bit by bit, in fields and containers; caches do not count."""
    assert type(one) is type(other), where
    if isinstance(one, np.ndarray) and one.dtype != object:
        assert one.shape == other.shape, where
        assert one.dtype == other.dtype, where
        assert one.tobytes() == other.tobytes(), where
        # numpy writes no flag into a pickle.
        assert not frozen or one.flags.writeable == other.flags.writeable, where
    elif isinstance(one, np.ndarray | list | tuple):
        assert len(one) == len(other), where
        for k, pair in enumerate(zip(one, other, strict=True)):
            assert_same(*pair, f"{where}[{k}]", frozen=frozen)
    elif isinstance(one, dict):
        assert list(one) == list(other), where
        for key in one:
            assert_same(one[key], other[key], f"{where}[{key!r}]", frozen=frozen)
    elif isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, other)
    elif type(one).__module__.partition(".")[0] in PACKAGES and hasattr(one, "__dict__"):
        caches = {k for k in dir(type(one)) if isinstance(getattr(type(one), k), functools.cached_property)}
        fields = [{k: v for k, v in vars(value).items() if k not in caches} for value in (one, other)]
        assert_same(*fields, where, frozen=frozen)
    elif isinstance(one, float):
        assert np.float64(one).tobytes() == np.float64(other).tobytes(), where
    elif isinstance(one, functools.partial):
        assert_same(
            (one.func, one.args, one.keywords), (other.func, other.args, other.keywords), where, frozen=frozen
        )
    else:
        assert one == other, where


@every_result
@pytest.mark.parametrize("suffix", ["json", "json.gz", "pickle"])
def test_comes_back_from_a_file_as_it_was(name, suffix, tmp_path):
    result, path = made(name), tmp_path / f"result.{suffix}"
    if suffix == "pickle":
        again = pickle.loads(pickle.dumps(result))
    else:
        result.save(path)
        again = type(result).load(path)
        assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert repr(again) == repr(result)
    assert_same(result, again, frozen=suffix != "pickle")
    pd.testing.assert_frame_equal(again.to_dataframe(), result.to_dataframe())
