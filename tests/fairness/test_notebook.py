"""Results in notebooks and as labelled arrays: what is shown is what was computed, and names stay text."""

from html.parser import HTMLParser

import numpy as np
import pytest
import xarray as xr

from capacity import policy_stability_region, service_region, stability_region
from fairness import DRF, PSDSF, TSF, Cluster, MaxMin, Problem, ProportionalFair, allocate
from fairness.display.notebook import MOST_COLUMNS, MOST_LINES, MOST_ROWS, notebook_html
from fairness.properties import audit
from proofs import Report, check
from queueing import System, balanced_fairness, simulate, stationary, tabulate
from tests.processes import PATIENCE

VOID = {"br", "hr", "img", "meta", "link", "input"}
CLASSES = ["<b>A</b>", 'B & "c"']
RESOURCES = ["<script>cpu</script>", "ram"]


class Page(HTMLParser):
    """Tags in balance, the text of each cell, and the text in all."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.rows, self.text = [], set(), [], []
        self.attributes = []
        self.feed(html)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" in self.open:
            return
        self.text.append(data)
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def shown(result):
    page = Page(result._repr_html_())
    # Only what this module writes: a name of a class never becomes a tag, and nothing is loaded.
    assert page.tags <= {"div", "style", "strong", "table", "thead", "tbody", "tr", "th", "td", "p"}
    assert not {name for name, _ in page.attributes} & {"src", "href", "onclick"}
    return page


@pytest.fixture(scope="module")
def pool():
    return Problem([[1, 4], [3, 1]], [9, 18], job_classes=CLASSES, resources=RESOURCES)


@pytest.fixture(scope="module")
def cluster():
    return Cluster(
        [[1, 2], [1, 0]],
        [[9, 12], [12, 0]],
        job_classes=CLASSES,
        servers=["<i>s</i>", "t"],
        resources=RESOURCES,
    )


@pytest.fixture(scope="module")
def system(pool):
    return System(pool, [1.0, 0.7])


def numbers(page, start):
    """The numbers of the row whose first cell is ``start``."""
    (row,) = [row for row in page.rows if row and row[0] == start]
    return row[1:]


def test_problem_and_cluster(pool, cluster):
    page = shown(pool)
    assert numbers(page, CLASSES[0]) == ["1", "inf", "1", "4"]
    assert f"capacities: {RESOURCES[0]} 9, ram 18" in page.text
    page = shown(cluster)
    assert numbers(page, CLASSES[1]) == ["1", "1", "0", "9", "12"]
    assert f"<i>s</i>: {RESOURCES[0]} 9, ram 12" in page.text


@pytest.mark.parametrize("counts", [None, [2, 0]])
def test_allocations(pool, cluster, counts):
    result = allocate(pool, DRF(), counts)
    page = shown(result)
    for i, name in enumerate(CLASSES):
        cells = numbers(page, name)
        assert [float(cell) for cell in cells[:2]] == pytest.approx(
            [result.counts[i], result.tasks[i]], rel=1e-5
        )
    assert page.text[-1] == str(result.certificate)
    assert page.text[0] == "DRF allocation"
    assert page.text[-2].startswith("in use:")
    # The plain table is not repeated below the other one.
    assert not any("stopped by" in text for text in page.text)
    result = allocate(cluster, PSDSF(), counts)
    page = shown(result)
    for i, name in enumerate(CLASSES):
        cells = list(map(float, numbers(page, name)))
        assert cells == pytest.approx([result.counts[i], result.tasks[i], *result.placement[i]], rel=1e-5)
    lines = [line.strip() for line in repr(result).splitlines()]
    told = [text for text in page.text if text in lines]
    assert told == [lines[0], *lines[-3:]]


def test_large_placement_keeps_its_evidence():
    cluster = Cluster(np.ones((3, 1)), np.ones((9, 1)))
    page = shown(allocate(cluster, TSF()))
    assert any("3 classes on 9 servers" in text for text in page.text)


def test_traffic(pool, system):
    page = shown(system)
    assert list(map(float, numbers(page, CLASSES[1])[:3])) == [0.7, 1.0, 0.7]
    results = (
        stationary(system, ProportionalFair(), shape=40),
        balanced_fairness(system),
        simulate(system, DRF(), events=2000, rng=1),
    )
    for result in results:
        page = shown(result)
        frame = result.to_dataframe()
        for name in CLASSES:
            cells = [float(cell) for cell in numbers(page, name)]
            # Six significant digits are shown.
            assert cells == pytest.approx(frame.loc[name].tolist(), rel=1e-5)
    law, balanced, simulated = map(shown, results)
    for page, result in ((law, results[0]), (balanced, results[1])):
        assert page.text[-1] == repr(result).splitlines()[-1].strip()
        assert not any(text.startswith("class ") for text in page.text)
    assert "10 replications" in simulated.text[0]


def test_balanced_fairness_of_many_classes_has_one_line_of_evidence():
    system = System(Problem(np.ones((60, 1)), [1]), np.full(60, 0.01))
    page = shown(balanced_fairness(system))
    assert "probability outside" in page.text[-1]
    assert not any("more classes" in text for text in page.text)
    # Head, the rows that are shown, and the dots between them.
    assert len(page.rows) <= MOST_ROWS + 4
    assert any("60 rows" in text for text in page.text)


def test_regions(pool, cluster):
    region = stability_region(pool)
    page = shown(region)
    vertices = [list(map(float, row[1:3])) for row in page.rows if len(row) == 4 and row[0].isdigit()]
    assert vertices == [pytest.approx(list(v), rel=1e-5) for v in region.vertices]
    assert any(text.endswith("(ram)") for text in page.text)
    for region in (
        stability_region(cluster),
        service_region(pool, "bound", 0.5, points=3),
        policy_stability_region(pool, MaxMin(), points=3, precision=1e-2),
    ):
        page = shown(region)
        frame = region.to_dataframe()
        assert len([row for row in page.rows if row and row[0].isdigit()]) == len(frame)
        assert [text for text in page.text if text in repr(region).splitlines()[0]]


def test_many_vertices_are_not_walked_for_a_look():
    rng = np.random.default_rng(3)
    region = stability_region(Problem(rng.uniform(0.5, 1, (12, 12)), np.ones(12)))
    page = shown(region)
    assert not page.rows
    assert any("resource 1" in text for text in page.text)
    assert "vertices" not in vars(region)


def test_a_refused_table_says_why(pool):
    region = stability_region(pool, max_vertices=1)
    page = shown(region)
    assert not page.rows
    assert any(text.startswith("no table: ") for text in page.text)


def test_audit():
    table = audit([DRF(), MaxMin()], ["SI", "EF"], budget=60, rng=1)
    page = shown(table)
    frame = table.to_dataframe()
    for name in frame.index:
        assert numbers(page, name) == list(frame.loc[name])
    assert any("no violation found" in text for text in page.text)


def test_verdict_and_report():
    verdict = check("br-feasible")
    page = shown(verdict)
    assert page.text == [line.strip() for line in verdict.summary().splitlines()]
    page = shown(Report((verdict,)))
    assert numbers(page, "br-feasible")[3] == "PROVED"
    assert any(text.startswith("1 statements: 1 PROVED") for text in page.text)


def test_long_and_wide_tables_are_cut_and_say_so():
    import pandas as pd

    page = Page(notebook_html("h", pd.DataFrame(np.zeros((99, 50))), [f"line {k}" for k in range(50)]))
    assert "99 rows × 50 columns" in page.text
    assert max(map(len, page.rows)) <= MOST_COLUMNS + 2
    assert page.text[-1] == f"... {50 - MOST_LINES} more lines"


def test_the_proofs_do_not_load_the_library_to_show_a_verdict():
    import subprocess
    import sys

    code = (
        "import sys\n"
        "from proofs.verdict import Status, Verdict\n"
        "said = {'said': 'a reader', 'remark': '', 'origin': 'of the catalogue'}\n"
        "v = Verdict('<x>', Status.UNKNOWN, '', 'n = 2', said, {}, (), (), {}, (), 0.0)\n"
        "assert '&lt;x&gt;' in v._repr_html_()\n"
        "assert not any(m.split('.')[0] in ('fairness', 'pandas') for m in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)


def test_dataset_of_an_allocation(pool):
    policies = [DRF(), ProportionalFair()]
    results = [allocate(pool, policy, [1, 2]) for policy in policies]
    together = xr.concat([result.to_dataset().drop_attrs() for result in results], "policy")
    for result in results:
        data = together.sel(policy=result.policy)
        assert (data.tasks.values == result.tasks).all()
        for i, name in enumerate(CLASSES):
            for j, resource in enumerate(RESOURCES):
                # By definition: share of the resource that one job holds.
                share = pool.demands[i, j] * result.tasks[i] / ([1, 2][i] * pool.capacities[j])
                assert data.shares.sel(job_class=name, resource=resource) == pytest.approx(share, rel=1e-12)
        usage = (data.tasks * data.demands).sum("job_class")
        assert np.allclose(usage, data.usage, rtol=1e-12)
    assert "prices" in results[1].to_dataset()
    assert "levels" in results[0].to_dataset()


def test_dataset_of_a_placement(cluster):
    result = allocate(cluster, PSDSF())
    data = result.to_dataset()
    assert data.placement.dims == ("job_class", "server")
    assert data.placement.sel(job_class=CLASSES[1], server="t") == result.placement[1, 1]
    assert np.allclose(data.placement.sum("server"), data.tasks)
    # Each server holds what its tasks hold.
    usage = (data.placement * data.demands).sum("job_class")
    assert np.allclose(usage.transpose("server", "resource"), data.usage)
    assert data.policy == result.policy
    assert data.attrs["division"] == "resource"


def test_dataset_of_a_law(system):
    law = stationary(system, DRF(), shape=(12, 9))
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
    short = stationary(system, DRF(), shape=(12, 9), distribution=False).to_dataset()
    assert "distribution" not in short
    assert "marginal of " + CLASSES[1] in short


def test_dataset_of_a_table(pool):
    table = tabulate(pool, DRF(), (3, 4))
    data = table.to_dataset()
    for state in np.ndindex(3, 4):
        place = {f"jobs of {name}": x for name, x in zip(CLASSES, state, strict=True)}
        assert (data.tasks.sel(place).values == table.tasks[state]).all()
    assert data.tasks.sel(job_class=CLASSES[0]).dims == tuple(f"jobs of {name}" for name in CLASSES)
