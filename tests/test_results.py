"""Every result keeps one contract: it tells itself, is a table, a picture, HTML, a pickle and a file.

The walk imports all modules and finds every class that inherits from ``Result``; each has a small instance
here, with names that must stay text wherever they are shown.
"""

import base64
import dataclasses
import functools
import gzip
import importlib
import inspect
import json
import pickle
import pkgutil
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields
from tempfile import TemporaryDirectory

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy import sparse, stats

import capacity
import fairness
import fairness.results
import proofs
import queueing
from capacity.studies.instability import RandomLines
from fairness import DRF, PSDSF, TSF, BottleneckMax, Cluster, MaxMin, ModelError, Problem, ProportionalFair
from fairness.cloud import DeadlineController, SparseDemands, compare, dcdrf, edrf, edrf_blocks
from fairness.display import storage
from fairness.display.drawing import bars
from fairness.display.latex import escaped
from fairness.display.notebook import MOST_COLUMNS, MOST_LINES, MOST_ROWS, notebook_html
from fairness.display.result import Result
from fairness.display.saved_types import type_called
from fairness.indivisible import VirtualShare, deviation, fill_cluster, fill_tasks, repeat_filling
from fairness.properties import audit
from fairness.timed.exchange import exchange
from fairness.timed.timeline import timeline
from fairqueues.traces import Throughputs
from proofs.symbolic import SymbolicProblem, closed_form, where
from queueing import Erlang, System
from queueing.networks.backbones import abilene
from queueing.networks.gravity import gravity_traffic
from tests.latex import assert_plain
from tests.markup import CLASSES, RESOURCES, Page, Priced, words_of
from tests.processes import PATIENCE
from tests.test_saved_types import called, golden_types

plt.switch_backend("Agg")

PACKAGES = ("fairness", "queueing", "capacity", "proofs", "fairqueues")
POOL = Problem([[1, 4], [3, 1]], [9, 18], job_classes=CLASSES, resources=RESOURCES)
CLUSTER = Cluster(
    [[1, 2], [1, 0]], [[9, 12], [12, 0]], job_classes=CLASSES, servers=["<i>s</i>", "t"], resources=RESOURCES
)


LETTERS = SymbolicProblem(
    [["a", 4], [3, 1]], [9, 18], assume="a > 0", class_names=CLASSES, resource_names=RESOURCES
)
THREE = Problem([[1, 4], [3, 1], [1, 1]], [9, 18], job_classes=[*CLASSES, "c"], resources=RESOURCES)
SYSTEM = System(POOL, [1.0, 0.7])
WHOLE = Cluster([[1, 2], [2, 1]], [[9, 12], [12, 4]], job_classes=CLASSES, resources=RESOURCES)
DEMANDS = SparseDemands.from_lists([[(0, 1.0)], [(0, 0.5), (1, 1.0)], [(1, 1.0)]], n_resources=2)
RECORDED = queueing.ClusterTrace(
    RESOURCES, ["cores", "$"], [0, 2, 3], [5, 1, 1], [[1, 0.5], [2, 0]], [0, 1, 1], CLASSES, [0, 1, 0],
    models=CLASSES, eligible_models=[[True, False], [True, True]], devices=1, jobs=[0, 1, 1], notes=CLASSES,
)  # fmt: skip
MADE_OF = queueing.NodeList(CLASSES, RESOURCES, ["cores", "$"], [[4, 8], [4, 0]], CLASSES)


def controlled():
    controller = DeadlineController(1.0)
    for late in (True, True, False, False):
        controller.observe(late, elapsed=0.5, rounds=3)
    return controller


@functools.cache
def audited():
    return audit([DRF(), ProportionalFair()], ["SI", "EF"], budget=60, rng=1)


def spread():
    with TemporaryDirectory() as folder:
        sparse.save_npz(f"{folder}/tenants.npz", DEMANDS.matrix())
        return edrf_blocks([f"{folder}/tenants.npz"])


LAWS = [stats.lognorm(0.5), Erlang(3)]

MAKERS = {
    "Allocation": lambda: fairness.allocate(POOL, Priced(), [1, 2]),
    "ClosedForm": lambda: closed_form(LETTERS, DRF()),
    "Parameters": lambda: where("a**2 < 2 or a == 3"),
    "Circulation": lambda: queueing.circulate(POOL),
    "ClusterAllocation": lambda: fairness.allocate(CLUSTER, PSDSF()),
    "Explanation": lambda: fairness.explain(fairness.allocate(CLUSTER, PSDSF(), [1, 2]), CLASSES[0]),
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
    "SpreadAllocation": spread,
    "Comparison": lambda: compare(dcdrf(DEMANDS, epsilon=0.25), edrf(DEMANDS)),
    "DeadlineController": controlled,
    "AuditTable": audited,
    "SearchResult": lambda: audited().cells["PF", "sharing incentive"],
    "GravityTraffic": lambda: gravity_traffic(abilene(), 10, weights="population", pairs=20),
    "DriftBound": lambda: queueing.drift_bound(SYSTEM, DRF(), of=[[1, 1], [1, 0]]),
    "DurationBound": lambda: queueing.duration_bound(System(POOL, [1, 0.7], sizes=LAWS)),
    "BalancedFairness": lambda: queueing.balanced_fairness(SYSTEM, distribution=True),
    "BalancedPlan": lambda: queueing.balanced_plan(SYSTEM),
    "Optimum": lambda: queueing.optimal(SYSTEM, precision=1e-3),
    "Sensitivities": lambda: queueing.sensitivities(SYSTEM, DRF(), tail=1e-4),
    "Tuned": lambda: queueing.tune(SYSTEM, DRF(), precision=0.1, tail=1e-4),
    "LowerCertificate": lambda: made("Optimum").lower_proof,
    "UpperCertificate": lambda: made("Optimum").upper_proof,
    "Stationary": lambda: queueing.stationary(SYSTEM, DRF(), shape=12),
    "Saturation": lambda: capacity.is_stable(SYSTEM, queueing.FCFS()),
    "OrderMeans": lambda: queueing.single_server(queueing.Lognormal(2.0), 0.7, "srpt"),
    "WaitingLaw": lambda: queueing.stationary(SYSTEM, queueing.FCFS()),
    "ExactStationary": lambda: queueing.exact_stationary(SYSTEM, DRF(), shape=4, distribution=True),
    "Enclosure": lambda: queueing.enclose(SYSTEM, DRF(), width=1e-3),
    "Certificate": lambda: made("Enclosure").certificate,
    "ChainEnclosure": lambda: queueing.enclose_chain(
        queueing.FiniteChain([[0, 1], [3, 0]], rewards=dict(zip(CLASSES, np.eye(2), strict=True)))
    ),
    "ChainCertificate": lambda: made("ChainEnclosure").certificate,
    "MeanJobsByLoad": lambda: queueing.mean_jobs_by_load(SYSTEM, DRF(), shape=4),
    "Transient": lambda: queueing.transient(SYSTEM, DRF(), [0.5, 1.0], shape=12),
    "TaggedDuration": lambda: queueing.tagged_duration(SYSTEM, DRF(), 0, shape=12),
    "Admission": lambda: queueing.admission(SYSTEM, DRF(), max_jobs=4),
    "Trajectory": lambda: queueing.trajectory(SYSTEM, Priced(), [3.0, 2.0]),
    "FluidVerdict": lambda: queueing.fluid_verdict(SYSTEM, BottleneckMax()),
    "StabilityVerdict": lambda: capacity.is_stable(SYSTEM),
    "StabilityRegion": lambda: capacity.stability_region(CLUSTER),
    "PoolRegion": lambda: capacity.stability_region(POOL),
    "RegionSection": lambda: capacity.region_section(capacity.stability_region(THREE), [0, 1], [0, 0, 1]),
    "VolumeEstimate": lambda: capacity.region_volume(capacity.stability_region(POOL), precision=0.2, rng=1),
    "PackingRegion": lambda: capacity.packing_region(POOL),
    "ServiceRegion": lambda: capacity.service_region(POOL, "bound", 0.5, points=3),
    "PolicyRegion": lambda: capacity.policy_stability_region(POOL, MaxMin(), points=3, precision=1e-2),
    "Provision": lambda: capacity.provision(POOL, [1.0, 0.7], [1, 1], maximum_duration=2.0),
    "LoadCurves": lambda: capacity.load_curves(SYSTEM, ["balanced", Priced()], [0.3, 0.6]),
    "Solved": lambda: capacity.solve(SYSTEM, ["balanced", Priced()], [0.3, 1.2], seconds=60),
    "HeavyTraffic": lambda: capacity.heavy_traffic(POOL, [1, 1], ["balanced"], loads=[0.3, 0.5, 0.6, 0.7]),
    "InstabilitySearch": lambda: capacity.search_instability(BottleneckMax(), RandomLines(), 1, rng=1),
    "Report": lambda: proofs.check_all(["br-feasible"]),
    "Verdict": lambda: proofs.check("br-feasible"),
    "Simulation": lambda: queueing.simulate(SYSTEM, DRF(), events=2000, replications=4, rng=1),
    "JobSimulation": lambda: queueing.simulate(
        SYSTEM, DRF(), jobs=1000, replications=4, quantiles=(0.5,), record=True, rng=1
    ),
    "TaskSimulation": lambda: queueing.simulate(
        System(WHOLE, [0.1, 0.1]), queueing.DRFScheduler(), events=6000, replications=3, rng=1
    ),
    "ServerEvidence": lambda: made("TaskSimulation").servers,
    "ClusterTrace": lambda: RECORDED,
    "TraceFit": lambda: queueing.fit_trace(RECORDED, MADE_OF, sizes="exponential"),
    "NodeList": lambda: MADE_OF,
    "Replay": lambda: queueing.replay(RECORDED, MADE_OF, queueing.DRFScheduler(blocking=False), rng=1),
    "ReplayPaths": lambda: made("Replay").over_time(9),
    "Throughputs": lambda: Throughputs(
        CLASSES, [1, 2], RESOURCES, [[1, 2], [3, np.nan]], np.ones((2, 2, 2)), source=CLASSES[0]
    ),
    "TaskTrace": lambda: queueing.task_trace(System(WHOLE, [0.1, 0.1]), queueing.DRFScheduler(), 40.0, rng=1),
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
    telling = set()
    for package in map(importlib.import_module, PACKAGES):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                members = vars(importlib.import_module(module.name)).values()
                telling |= {cls for cls in members if inspect.isclass(cls) and "summary" in vars(cls)}
    # What tells itself is a result: none forgets the base class.
    assert {cls.__name__ for cls in telling if not issubclass(cls, Result)} == {"Verdict"}
    # A verdict keeps the contract without the base class, since the checker knows no library.
    assert {cls.__name__ for cls in concrete(Result)} | {"Verdict"} == set(MAKERS)
    for name in MAKERS:
        assert type(made(name)).__name__ == name


def shown(thing):
    """What a notebook shows. A name of a class never becomes a tag, and nothing is loaded."""
    page = Page(thing._repr_html_())
    assert page.tags <= {"div", "style", "strong", "table", "thead", "tbody", "tr", "th", "td", "p"}
    assert not {name for name, _ in page.attributes} & {"src", "href", "onclick"}
    return page


def in_table(cell):
    """What a table in HTML says: six significant digits."""
    return str(cell) if not isinstance(cell, float) else f"{cell:.6g}" if cell == cell else "NaN"


@every_result
def test_tells_itself(name):
    result = made(name)
    heading, *lines = (line.strip() for line in result.summary().splitlines())
    assert repr(result) == result.summary()
    frame = result.to_dataframe()
    assert frame.size > 0
    # Some of them have a formula of their own; any table can be written.
    assert result.to_latex().strip()
    assert not hasattr(result, "to_dataset") or result.to_dataset().variables
    rows = assert_plain(fairness.to_latex(frame))
    assert len(rows) == len(frame) + 1
    for own, cells in zip(frame.columns, frame.to_numpy(dtype=object).T, strict=True):
        assert not isinstance(own, str) or own.endswith("_half_width") or not any(map(str, cells)) or (
            escaped(own.replace("_", " ")) in "".join(rows[0])
        )  # fmt: skip
    page = shown(result)
    if name == "Verdict":
        assert page.text == [heading, *lines]
        return
    if len(frame) <= MOST_ROWS:
        for row, cells in zip(frame.itertuples(index=False), page.rows[-len(frame) :], strict=True):
            assert cells[-frame.shape[1] :] == list(map(in_table, row))
    if type(result)._repr_html_ is Result._repr_html_:
        # The plain table is not repeated below the other one; all else is.
        below = [line for line in lines[result._tabulated :] if line]
        assert page.outside == [heading, *below]


def test_models_show_themselves():
    page = shown(POOL)
    assert page.rows[-2] == [CLASSES[0], "1", "inf", "1", "4"]
    assert f"capacities: {RESOURCES[0]} 9, {RESOURCES[1]} 18" in page.text
    page = shown(CLUSTER)
    assert page.rows[-1] == [CLASSES[1], "1", "1", "0", "9", "12"]
    assert f"<i>s</i>: {RESOURCES[0]} 9, {RESOURCES[1]} 12" in page.text
    assert shown(SYSTEM).rows[-1][:4] == [CLASSES[1], "0.7", "1", "0.7"]


def test_large_results_keep_their_evidence():
    result = fairness.allocate(Cluster(np.ones((3, 1)), np.ones((9, 1))), TSF())
    assert any("3 classes on 9 servers" in text for text in shown(result).text)
    result = queueing.balanced_fairness(System(Problem(np.ones((60, 1)), [1]), np.full(60, 0.01)))
    page = shown(result)
    assert "probability outside" in page.text[-1]
    assert not any("more classes" in text for text in page.text)
    # Head, the rows that are shown, and the dots between them.
    assert len(page.rows) <= MOST_ROWS + 4
    assert any("60 rows" in text for text in page.text)


def test_many_vertices_are_not_walked_for_a_look():
    rng = np.random.default_rng(3)
    region = capacity.stability_region(Problem(rng.uniform(0.5, 1, (12, 12)), np.ones(12)))
    page = shown(region)
    assert not page.rows
    assert "vertices" not in vars(region)


def test_a_refused_table_says_why():
    page = shown(capacity.stability_region(POOL, max_vertices=1))
    assert not page.rows
    assert any(text.startswith("no table: ") for text in page.text)


def test_long_and_wide_tables_are_cut_and_say_so():
    page = Page(notebook_html("h", pd.DataFrame(np.zeros((99, 50))), [f"line {k}" for k in range(50)]))
    assert "99 rows × 50 columns" in page.text
    assert max(map(len, page.rows)) <= MOST_COLUMNS + 2
    assert page.text[-1] == f"... {50 - MOST_LINES} more lines"


def test_the_proofs_do_not_load_the_library_to_show_a_verdict():
    code = (
        "import sys\n"
        "from proofs.verdicts.verdict import Status, Verdict\n"
        "said = {'said': 'a reader', 'remark': '', 'origin': 'of the catalogue'}\n"
        "v = Verdict('<x>', Status.UNKNOWN, '', 'n = 2', said, {}, (), (), {}, (), 0.0)\n"
        "assert '&lt;x&gt;' in v._repr_html_()\n"
        "assert not any(m.split('.')[0] in ('fairness', 'pandas') for m in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)


@every_result
def test_is_frozen(name):
    if name == "DeadlineController":  # it learns
        return
    result = made(name)
    for field in fields(result):
        with pytest.raises(FrozenInstanceError):
            setattr(result, field.name, None)


EXTRA = {
    "PoolRegion": [{"loads": [[1, 1], [9, 1]]}],
    "HeavyTraffic": [{"job_class": 1}],
    "LoadCurves": [{"job_class": 1, "names": False}],
    "Solved": [{"job_class": 1, "names": False}],
    "Stationary": [{"job_classes": [1]}],
}
"""What else results draw, when asked, besides what they list themselves."""


def ways(name):
    """Options of all pictures of a result: each choice that it lists where it is asked for another one."""
    plot, found = made(name).plot, [{}, *EXTRA.get(name, ())]
    for option in {"what", "quantity"} & set(inspect.signature(plot).parameters):
        with pytest.raises(ModelError, match=f"{option} must be one of") as refused:
            plot(Figure().subplots(), **{option: "another"})
        choices = re.findall(r"'(\w+)'", str(refused.value).partition("; got")[0])
        assert len(choices) > 1
        found += [{option: choice} for choice in choices]
    return found


def labels_of(figure):
    """All that is written in a figure, and what the axes with data are called."""
    figure.canvas.draw()
    shown = [text for text in figure.findobj(Text) if text.get_visible()]
    named = [axes.get_xlabel() or axes.get_ylabel() for axes in figure.axes if axes.has_data()]
    legends = [text for ax in figure.axes if ax.get_legend() for text in ax.get_legend().get_texts()]
    return [text.get_text() for text in shown], named + [text.get_text() for text in legends]


OF_MATPLOTLIB = {mpl.colors.to_rgb(f"C{k}") for k in range(10)}


def hues_of(ax):
    """All colours of lines, areas and points in axes."""
    hues = [patch.get_facecolor() for patch in ax.patches]
    for line in ax.lines:
        hues += [line.get_color()] * (line.get_linestyle() != "None")
        hues += [line.get_markeredgecolor()] * (line.get_marker() != "None")
    for one in ax.collections:
        hues += [*one.get_facecolor(), *one.get_edgecolor()]
    return {mpl.colors.to_rgb(hue) for hue in hues}


@every_result
def test_draws_itself_and_leaves_the_rest_alone(name):
    result = made(name)
    before, open_figures = dict(mpl.rcParams), plt.get_fignums()
    for options in ways(name):
        figure = Figure()
        ax = figure.subplots()
        assert result.plot(ax, **options) is ax
        assert ax.has_data()
        # Sound XML in which names stand as they are: a dollar is no formula.
        assert "\\$" not in words_of(figure)
        # Lines are broken, not spelled; what has a legend or an axis has a word for it.
        texts, needed = labels_of(figure)
        assert not [text for text in texts if re.search(r"\\n(?![eu])|\\x|\\u", text)]
        assert all(map(str.strip, needed)), (options, needed)
        # No legend hides data, and no colour is one of matplotlib's own, which are near those of policies.
        legend = ax.get_legend()
        assert legend is None or not legend.get_window_extent().overlaps(ax.bbox.padded(-1))
        assert not hues_of(ax) & OF_MATPLOTLIB
    assert plt.get_fignums() == open_figures
    own = result.plot()
    assert own.figure.number not in open_figures
    assert dict(mpl.rcParams) == before


def test_a_bar_without_an_interval_or_an_end_says_so():
    ax = bars(Figure().subplots(), "abcd", [1, 2, np.inf, np.nan], error=[0.5, np.inf, np.inf, np.nan])
    assert [bar.get_hatch() for bar in ax.patches] == [None, "//", None, None]
    assert [text.get_text() for text in ax.texts] == ["∞"]
    assert ax.get_xlabel() == "hatched: no interval"
    (low, high), *_ = (path.vertices[:, 1] for path in ax.collections[0].get_paths())
    assert (low, high) == (0.5, 1.5)
    ax.figure.canvas.draw()


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
    elif isinstance(one, stats.distributions.rv_frozen):
        assert_same(*((law.dist.name, law.args, law.kwds) for law in (one, other)), where, frozen=frozen)
    elif isinstance(one, functools.partial):
        assert_same(*((call.func, call.args, call.keywords) for call in (one, other)), where, frozen=frozen)
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
        if suffix == "json":
            # Other fields than those of the golden file are another format.
            for kind, fields in called(json.loads(path.read_text())).items():
                known = getattr(type_called(kind).found(), "__dataclass_fields__", {})
                later = {name for name in known if known[name].metadata.get("later")}
                same = not fields or fields - later == golden_types().get(kind, fields - later)
                assert same or type_called(kind).format > 1, kind
        assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
        if isinstance(getattr(result, "policy", None), Priced):  # no part of the library
            assert again.policy is None
            result = dataclasses.replace(result, policy=None)
    assert repr(again) == repr(result)
    assert_same(result, again, frozen=suffix != "pickle")
    pd.testing.assert_frame_equal(again.to_dataframe(), result.to_dataframe())


# --- files that are not what they should be -------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "drf.json"
    made("Allocation").save(path)
    return path


def rewritten(path, change):
    """The file with parts that somebody else wrote, and the digest of these."""
    document = json.loads(path.read_text())
    change(document["parts"])
    document["digest"] = storage._digest({name: document[name] for name in ("result", "parts")})
    path.write_text(json.dumps(document))
    return path


def test_a_part_that_stands_twice_is_written_once(saved):
    result = made("Allocation")
    pair = [result.problem, result.problem]
    storage.write(pair, saved)
    one, other = storage.read(saved)
    assert one is other


def test_the_same_result_is_the_same_file(tmp_path):
    for name in ("a.json.gz", "b.json.gz"):
        made("Allocation").save(tmp_path / name)
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.json.gz").read_bytes()).startswith(b'{"format": "fairqueues')


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"\x1f\x8bcut", b"\xff\xfe", b'{"format": "another"}', b'{"parts": []}']
)
def test_foreign_files_are_refused(saved, data):
    saved.write_bytes(data)
    with pytest.raises(ModelError, match=r"is no result that save\(\) wrote, or is damaged"):
        Result.load(saved)


def test_an_edited_file_is_refused(saved):
    text = saved.read_text()
    saved.write_text(text.replace("DRF at", "DRG at"))
    with pytest.raises(ModelError, match="it was changed after it was written"):
        Result.load(saved)
    saved.write_text(text[: len(text) // 2])
    with pytest.raises(ModelError, match="damaged"):
        Result.load(saved)


def test_a_compressed_file_is_refused_wherever_it_was_damaged(tmp_path):
    path = tmp_path / "drf.json.gz"
    made("Allocation").save(path)
    data = path.read_bytes()
    # Behind the head, which tells time and system.
    for place in range(10, len(data), 97):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(ModelError, match="or is damaged"):
            Result.load(path)


HEAD = b"\x93NUMPY\x01\x00\x76\x00%-117s\n"


@pytest.mark.parametrize(
    "part",
    [
        {"objects": [{"another": []}], "shape": [1]},
        {"objects": [{"fraction": [1, 0]}], "shape": [1]},
        {"array": HEAD % b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000000,), }"},
        {"array": HEAD % b"(((("},
        {"array": HEAD % b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"},
    ],
)
def test_parts_of_no_kind_or_size_are_refused(saved, part):
    told = {k: base64.b64encode(v).decode() if isinstance(v, bytes) else v for k, v in part.items()}
    rewritten(saved, lambda parts: parts.__setitem__(0, told))
    with pytest.raises(ModelError, match="or is damaged"):
        Result.load(saved)


@pytest.mark.parametrize(
    "name",
    ["os:system", "subprocess:Popen", "fairness.errors:re.compile", "fairqueues.__main__:x", "tests.a:B"],
)
def test_only_classes_of_this_project_are_made(saved, name):
    path = rewritten(saved, lambda parts: parts[-1].update({"class": name}))
    with pytest.raises(ModelError, match="where there is no '"):
        Result.load(path)


def test_what_this_version_does_not_have_names_the_version_that_wrote_it(saved):
    rewritten(saved, lambda parts: parts[-1].update({"class": "fairness.Older"}))
    with pytest.raises(ModelError, match=r"written by fairqueues .* where there is no .*Older'; read it"):
        Result.load(saved)
    made("Allocation").save(saved)
    rewritten(saved, lambda parts: parts[-1]["fields"].pop("levels"))
    with pytest.raises(ModelError, match="Allocation has a field 'levels', which the file lacks"):
        Result.load(saved)


def test_a_class_reads_only_its_own(saved):
    assert type(Result.load(saved)).__name__ == "Allocation"
    with pytest.raises(ModelError, match=r"holds Allocation, not ClusterAllocation; use Allocation.load"):
        fairness.results.ClusterAllocation.load(saved)


def test_what_a_file_cannot_hold_is_refused_by_name(tmp_path):
    region = capacity.policy_stability_region(POOL, lambda p, x: MaxMin()(p, x), points=3, precision=1e-2)
    path = tmp_path / "region.json"
    with pytest.raises(ModelError, match=r"policy cannot be written .* no type that files hold; pickle"):
        region.save(path)
    assert not list(tmp_path.iterdir())


def test_an_allocation_outlives_its_policy_in_a_file(tmp_path):
    """A class of the library comes back, a function of one's own does not, and nothing else is lost."""
    weighted = DRF([[1.0, 9.0], [1.0, 1.0]])
    for policy, kept in ((weighted, weighted), (lambda p, x: MaxMin()(p, x), None)):
        result = fairness.allocate(POOL, policy)
        result.save(tmp_path / "one.json")
        again = fairness.results.Allocation.load(tmp_path / "one.json")
        assert (again.policy, repr(again)) == (kept, repr(result))


def test_paths_are_checked(tmp_path):
    with pytest.raises(ModelError, match=r"cannot write .*no/such"):
        made("Allocation").save(tmp_path / "no/such/file.json")
    with pytest.raises(ModelError, match=r"cannot read .*nothing"):
        Result.load(tmp_path / "nothing.json")
    for name in (5, "a\0b"):
        with pytest.raises(ModelError, match="path must be the name of a file; got"):
            made("Allocation").save(name)


# --- labelled arrays ------------------------------------------------------------------------------------


def test_dataset_of_an_allocation():
    policies = [DRF(), ProportionalFair()]
    results = [fairness.allocate(POOL, policy, [1, 2]) for policy in policies]
    together = xr.concat([result.to_dataset().drop_attrs() for result in results], "policy")
    for result in results:
        data = together.sel(policy=result.name)
        assert (data.tasks.values == result.tasks).all()
        for i, name in enumerate(CLASSES):
            for j, resource in enumerate(RESOURCES):
                # By definition: share of the resource that one job holds.
                share = POOL.demands[i, j] * result.tasks[i] / ([1, 2][i] * POOL.capacities[j])
                assert data.shares.sel(job_class=name, resource=resource) == pytest.approx(share, rel=1e-12)
        usage = (data.tasks * data.demands).sum("job_class")
        assert np.allclose(usage, data.usage, rtol=1e-12)
    assert "prices" in results[1].to_dataset()
    assert "levels" in results[0].to_dataset()


def test_dataset_of_a_placement():
    result = fairness.allocate(CLUSTER, PSDSF())
    data = result.to_dataset()
    assert data.placement.dims == ("job_class", "server")
    assert data.placement.sel(job_class=CLASSES[1], server="t") == result.placement[1, 1]
    assert np.allclose(data.placement.sum("server"), data.tasks)
    # Each server holds what its tasks hold.
    usage = (data.placement * data.demands).sum("job_class")
    assert np.allclose(usage.transpose("server", "resource"), data.usage)
    assert data.policy == result.name
    assert data.attrs["division"] == "resource"


def test_dataset_of_a_law():
    law = queueing.stationary(SYSTEM, DRF(), shape=(12, 9))
    data = law.to_dataset()
    axes = [f"jobs of {name}" for name in CLASSES]
    assert data.distribution.dims == tuple(axes)
    assert data.distribution.shape == (12, 9)
    for i, (axis, other) in enumerate(zip(axes, axes[::-1], strict=True)):
        marginal = data.distribution.sum(other)
        assert np.allclose(marginal, data[f"marginal of {CLASSES[i]}"], atol=1e-15)
        mean = float((data[axis] * marginal).sum())
        assert mean == pytest.approx(float(data.mean_jobs.sel(job_class=CLASSES[i])), rel=1e-12)
    centred = [data[axis] - data.mean_jobs.values[i] for i, axis in enumerate(axes)]
    covariance = float((centred[0] * centred[1] * data.distribution).sum())
    stored = data.covariance.sel(job_class=CLASSES[0], other_class=CLASSES[1])
    assert covariance == pytest.approx(float(stored), rel=1e-9)
    assert data.attrs["method"] == law.method
    assert data.attrs["residual"] == law.residual
    short = queueing.stationary(SYSTEM, DRF(), shape=(12, 9), distribution=False).to_dataset()
    assert "distribution" not in short
    assert "marginal of " + CLASSES[1] in short


def test_dataset_of_a_table():
    table = queueing.tabulate(POOL, DRF(), (3, 4))
    data = table.to_dataset()
    for state in np.ndindex(3, 4):
        place = {f"jobs of {name}": x for name, x in zip(CLASSES, state, strict=True)}
        assert (data.tasks.sel(place).values == table.tasks[state]).all()
    assert data.tasks.sel(job_class=CLASSES[0]).dims == tuple(f"jobs of {name}" for name in CLASSES)


def test_datasets_say_units_and_names():
    names = ("Allocation", "ClusterAllocation", "LoadCurves", "Solved", "Stationary")
    for name in names:
        for key, variable in made(name).to_dataset().variables.items():
            assert variable.attrs["long_name"], (name, key)
            assert ("units" in variable.attrs) == (variable.dtype.kind in "if"), (name, key)
    # Of the modules that are loaded; the test of all results loads all.
    assert {cls.__name__ for cls in concrete(Result) if hasattr(cls, "to_dataset")} <= {*names}


FACTORS = {"unit of time": 60.0, "jobs per unit of time": 1 / 60, "task-time per job": 60.0}


def test_units_are_those_in_which_numbers_change():
    """Hours become minutes, and a thousand times as many units of resource are as much."""
    fast = System(POOL, [1.0, 0.7], [1.0, 2.0])
    slow = System(POOL, [1 / 60, 0.7 / 60], [60.0, 120.0])
    hours, minutes = (queueing.stationary(one, DRF(), shape=12).to_dataset() for one in (fast, slow))
    for key, variable in minutes.variables.items():
        if "units" in variable.attrs and key != "residual" and not str(key).endswith("_error"):
            factor = FACTORS.get(variable.attrs["units"], 1.0)
            assert np.allclose(variable, factor * hours[key], rtol=1e-6, atol=1e-9), key
    large = POOL.replaced(demands=1000 * POOL.demands, capacities=1000 * POOL.capacities)
    small, great = (fairness.allocate(one, ProportionalFair()).to_dataset() for one in (POOL, large))
    for key, variable in great.variables.items():
        units = variable.attrs.get("units", "")
        factor = 1 / 1000 if units.endswith("per unit of resource") else 1.0
        factor = 1000.0 if units.startswith("units of resource") else factor
        assert not units or np.allclose(variable, factor * small[key], rtol=1e-6), key
