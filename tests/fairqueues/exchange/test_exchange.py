"""Files for other programs: read back they give the same model, and the same stationary law."""

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse

from fairness import DRF, PSDSF, Cluster, ModelError, Problem, ProportionalFair
from fairness.cloud import edrf
from fairqueues.errors import OutputError
from fairqueues.exchange import (
    generator,
    parse_problem,
    read_problem,
    sparse_demands,
    write_generator,
    write_problem,
)
from queueing import System, stationary

POOL = Problem([[1, 4], [3, 1]], [9, 18], weights=[1, 2], limits=[np.inf, 5], job_classes=["A", "B"])
SERVERS = Cluster(
    [[1, 2], [1, 0]], [[9, 12], [12, 0]], eligible=[[True, False], [True, True]], servers=["s", "t"]
)
SYSTEM = System(Problem([[1, 0.25], [0.5, 1]], [1, 1]), [0.4, 0.3], [1.0, 1.5])


def law_of(rates):
    """Solution of pi Q = 0 with sum 1, dense and by least squares: no code shared with the solvers."""
    dense = rates.toarray()
    equations = np.vstack([dense.T, np.ones(len(dense))])
    right = np.append(np.zeros(len(dense)), 1.0)
    return np.linalg.lstsq(equations, right, rcond=None)[0]


@pytest.mark.parametrize(
    ("system", "policy", "shape"),
    [
        (SYSTEM, DRF(), (7, 9)),
        (SYSTEM, ProportionalFair(), (6, 6)),
        (System(SYSTEM.problem, [0.4, 0.0]), DRF(), (12, 5)),
        (System(Problem([[1, 0, 1], [1, 1, 0], [0, 1, 1]], [1, 1, 1]), [0.2, 0.3, 0.1]), DRF(), (4, 5, 3)),
        (System(SERVERS, [1.0, 2.0]), PSDSF(), (5, 6)),
    ],
)
def test_exported_generator_has_the_stationary_law(system, policy, shape, tmp_path):
    files = write_generator(system, policy, shape, tmp_path / "chain")
    assert files == (tmp_path / "chain.mtx", tmp_path / "chain.csv")
    rates = sparse.csr_array(io.mmread(files[0], spmatrix=False))
    exact = generator(system, policy, shape)
    assert (rates != exact).nnz == 0  # all digits are written
    law = stationary(system, policy, shape=shape)
    assert rates.shape[0] == np.prod(law.shape)
    # Two solvers of a well-conditioned system of at most 63 equations.
    assert np.allclose(law_of(rates), law.distribution.ravel(), atol=1e-12)
    states = pd.read_csv(files[1])
    names = system.problem.job_classes
    assert states["state"].tolist() == list(range(rates.shape[0]))
    for i, name in enumerate(names):
        mean = law_of(rates) @ states[f"jobs of {name}"]
        assert mean == pytest.approx(law.mean_jobs[i], abs=1e-11)
    counts = states[[f"jobs of {name}" for name in names]].to_numpy(dtype=float)
    tasks = np.asarray(policy(system.problem, counts))
    tasks = tasks.sum(axis=-1) if system.is_cluster else tasks
    assert np.allclose(states[[f"tasks of {name}" for name in names]], tasks, rtol=1e-12)


def test_rates_are_those_of_the_definition():
    shape = (4, 5)
    rates = generator(SYSTEM, DRF(), shape).toarray()
    states = list(np.ndindex(shape))
    for k, x in enumerate(states):
        tasks = DRF()(SYSTEM.problem, np.array(x, dtype=float))
        for to, y in enumerate(states):
            step = np.subtract(y, x)
            want = 0.0
            if sorted(abs(step)) == [0, 1]:
                i = int(np.flatnonzero(step)[0])
                up = step[i] > 0
                want = SYSTEM.arrival_rates[i] if up else tasks[i] / SYSTEM.mean_sizes[i]
            if k != to:
                assert rates[k, to] == pytest.approx(want, rel=1e-12)
    # Rounding of a sum of four rates of about 1.
    assert np.abs(rates.sum(axis=1)).max() < 1e-14


def test_prism_and_storm_see_the_same_chain(tmp_path):
    shape = (4, 3)
    files = write_generator(SYSTEM, DRF(), shape, tmp_path / "c.mtx", kinds=["mtx", "prism", "storm"])
    assert [file.name for file in files] == ["c.mtx", "c.tra", "c.sta", "c.lab", "c.drn"]
    rates = generator(SYSTEM, DRF(), shape).toarray()
    moves = rates - np.diag(np.diag(rates))
    head, *lines = (tmp_path / "c.tra").read_text().splitlines()
    assert head == f"12 {len(lines)}" == f"12 {np.count_nonzero(moves)}"
    read = np.zeros((12, 12))
    places = []
    for line in lines:
        source, target, rate = line.split()
        places.append((int(source), int(target)))
        read[places[-1]] = float(rate)
    assert (read == moves).all()
    assert places == sorted(set(places))
    variables, *states = (tmp_path / "c.sta").read_text().splitlines()
    assert variables == "(x1,x2)"
    assert states == [f"{k}:({x},{y})" for k, (x, y) in enumerate(np.ndindex(shape))]
    assert (tmp_path / "c.lab").read_text() == '0="init" 1="deadlock"\n0: 0\n'
    text = (tmp_path / "c.drn").read_text()
    assert text.startswith("@type: CTMC\n")
    assert "@nr_states\n12\n" in text
    read = np.zeros((12, 12))
    for block in text.split("@model\n")[1].split("state ")[1:]:
        state, *targets = block.splitlines()
        k, leave, *labels = state.split()
        assert labels == (["init"] if k == "0" else [])
        assert targets.pop(0) == "\taction 0"
        for line in targets:
            target, rate = re.fullmatch(r"\t\t(\d+) : (\S+)", line).groups()
            read[int(k), int(target)] = float(rate)
        assert float(leave[1:]) == pytest.approx(read[int(k)].sum(), rel=1e-14)
    assert (read == moves).all()


def test_many_states_are_written_in_pieces(tmp_path, monkeypatch):
    whole = write_generator(SYSTEM, DRF(), (6, 7), tmp_path / "a", kinds=["csv", "prism", "storm"])
    monkeypatch.setattr("fairqueues.exchange.prism.CHUNK", 5)
    parts = write_generator(SYSTEM, DRF(), (6, 7), tmp_path / "b", kinds=["csv", "prism", "storm"])
    for one, other in zip(whole, parts, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_states_that_are_never_left(tmp_path):
    def idle(problem, counts):
        # Nobody is served in the last state, and nobody arrives there.
        return np.where((counts == 2).all(axis=-1, keepdims=True), 0.0, DRF()(problem, counts))

    write_generator(SYSTEM, idle, 3, tmp_path / "c")
    for kind in ("prism", "storm"):
        with pytest.raises(ModelError, match=r"state \(2, 2\) is never left"):
            write_generator(SYSTEM, idle, 3, tmp_path / "d", kinds=[kind])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.csv", "c.mtx"]


def test_nothing_half_written(tmp_path, monkeypatch):
    with pytest.raises(OutputError, match="no folder"):
        write_generator(SYSTEM, DRF(), 3, tmp_path / "missing" / "c")
    (tmp_path / "c.csv").write_text("mine")

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fairqueues.exchange.chain_files._write_table", full)
    with pytest.raises(OutputError, match="No space left"):
        write_generator(SYSTEM, DRF(), 3, tmp_path / "c")
    assert [p.name for p in tmp_path.iterdir()] == ["c.csv"]
    assert (tmp_path / "c.csv").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": (10**6, 10**6)}, "generator on 1000000 x 1000000 states needs .* GiB"),
        ({"shape": (3, 1)}, "no room for a job"),
        ({"shape": (3,)}, "shape must give 2"),
        ({"kinds": ["xml"]}, "kinds must be of mtx, csv, prism, storm; got 'xml'"),
        ({"kinds": []}, "kinds is empty"),
        ({"policy": PSDSF()}, "places tasks on the servers"),
    ],
)
def test_wrong_generators(arguments, message, tmp_path):
    arguments = {"policy": DRF(), "shape": 3, **arguments}
    with pytest.raises(ModelError, match=message):
        write_generator(SYSTEM, path=tmp_path / "c", **arguments)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "problem",
    [
        POOL,
        SERVERS,
        Problem([[Fraction(1, 3), 0]], [1, Fraction(2, 7)], job_classes=["ä <b>"], limits=[2]),
        Problem([[0.1, 1e-300]], [1e-17, 3.0]),
        Problem(10 ** np.random.default_rng(1).uniform(-2, 9, (99, 4)), 10.0 ** np.arange(-2, 2) / 3),
        Cluster([[1], [2]], [[4], [6]], gamma=[[4, Fraction(13, 2)], [2, 3]], weights=[0.5, 3]),
        Cluster([[0.1], [2]], [[4], [6]], gamma=[[40.5, 60], [2.25, 3]]),
        Cluster(
            [[1, 1], [2, 1]], [[4, 5], [3, 1]], gamma=[[Fraction(7, 3), 0], [1, 2]], resources=["cpu", "ram"]
        ),
        Problem([[1, Fraction(2, 3)], [0, 1]], [4.5, 5], weights=[1, 2.5]),
    ],
)
def test_problems_come_back(problem, tmp_path):
    path = tmp_path / "p.json"
    write_problem(problem, path)
    again = read_problem(path)
    assert again.same(problem)
    assert repr(again) == repr(problem)
    assert again.to_dict() == problem.to_dict()
    assert again.is_rational == problem.is_rational
    if problem.is_rational:
        assert again.as_fractions() == problem.as_fractions()
    if isinstance(problem, Cluster):
        assert (again.given_eligible is None) == (problem.given_eligible is None)


def test_null_and_defaults():
    problem = parse_problem(
        '{"demands": [[1], [0]], "capacities": [4], "limits": [null, 3], "weights": null}'
    )
    assert problem.limits.tolist() == [np.inf, 3]
    assert problem.weights.tolist() == [1, 1]
    cluster = parse_problem('{"demands": [[1]], "capacities": [[4], ["1/2"]]}')
    assert isinstance(cluster, Cluster)
    assert cluster.gamma.tolist() == [[4, 0.5]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.json, line 1: no JSON"),
        ('{"demands":\n [[1],}', "f.json, line 2: no JSON"),
        ("[" * 100_000, "nested too deeply|no JSON"),
        ("[1, 2]", "give one object"),
        ('{"demands": [[1]]}', "there is no key 'capacities'"),
        ('{"demands": [[1]], "capacites": [1]}', "did you mean 'capacities'"),
        ('{"demands": [[1]], "capacities": [1], "capacities": [2]}', "'capacities' is given twice"),
        ('{"demands": [[1]], "capacities": [1], "limits": [Infinity]}', "Infinity is no number of JSON"),
        ('{"demands": [[NaN]], "capacities": [1]}', "NaN is no number"),
        ('{"demands": [[1]], "capacities": [1], "gamma": [[1]]}', r"a pool .* has no 'gamma'"),
        ('{"demands": [[1]], "capacities": [[1]], "limits": [1]}', r"a cluster .* has no 'limits'"),
        ('{"demands": [["x"]], "capacities": [1]}', "demands has 'x'; write a number"),
        ('{"demands": [["1/0"]], "capacities": [1]}', "demands has '1/0'"),
        ('{"demands": [[true]], "capacities": [1]}', "demands has true; write numbers"),
        ('{"demands": [[null]], "capacities": [1]}', "demands has null"),
        ('{"demands": null, "capacities": [1]}', "got null"),
        ('{"demands": [[1]], "capacities": [1], "job_classes": [1]}', "job_classes must be a list of names"),
        ('{"demands": [[1]], "capacities": [1], "job_classes": "A"}', "job_classes must be a sequence"),
        ('{"demands": [[1]], "capacities": [[1]], "eligible": [[1]]}', "rows of true and false"),
        ('{"demands": [[-1]], "capacities": [1]}', "demands must be finite and >= 0; got -1"),
        ('{"demands": [[1], [1, 2]], "capacities": [1]}', "rows of equal length"),
        ('{"demands": [[1]], "capacities": [[1], 2]}', "capacities must be an array"),
        ('{"demands": [[1e999]], "capacities": [1]}', "demands must be finite"),
    ],
)
def test_wrong_json_is_one_line_with_the_file(text, message, tmp_path):
    path = tmp_path / "f.json"
    path.write_text(text)
    with pytest.raises(ModelError, match=message) as caught:
        read_problem(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(ModelError, match="cannot be read: No such file"):
        read_problem(tmp_path / "none.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelError, match="line 1: is no text in UTF-8"):
        read_problem(tmp_path / "binary.json")
    with pytest.raises(OutputError):
        write_problem(POOL, tmp_path / "none" / "p.json")
    with pytest.raises(ModelError, match="must be a Problem or a Cluster"):
        write_problem(SYSTEM, tmp_path / "p.json")


@pytest.mark.parametrize("form", ["coo", "csr", "csc", "lil"])
def test_sparse_demands_share_like_the_pool(form):
    rng = np.random.default_rng(7)
    dense = np.where(rng.random((30, 8)) < 0.4, rng.uniform(1, 5, (30, 8)), 0.0)
    dense[:, 0] = rng.uniform(1, 5, 30)
    capacities = rng.uniform(10, 100, 8)
    given_matrix = sparse.coo_array(dense).asformat(form)
    before = given_matrix.toarray()
    demands = sparse_demands(given_matrix, capacities)
    assert (given_matrix.toarray() == before).all()
    # The same allocation from the dense pool, by another program: both are EDRF, exact up to rounding.
    assert np.allclose(edrf(demands).tasks, DRF()(Problem(dense, capacities), np.ones(30)), rtol=1e-9)


def test_sparse_duplicates_and_zeros():
    parts = ([1.0, 2.0, 0.0, 4.0], ([0, 0, 0, 1], [1, 1, 0, 0]))
    demands = sparse_demands(sparse.coo_array(parts, shape=(2, 2)), [8, 6])
    assert demands.values.tolist() == [0.5, 0.5]
    assert demands.columns.tolist() == [1, 0]
    # Rows that are compressed already, but not in order.
    rows = sparse.csr_array(([1.0, 4.0, 2.0], [1, 0, 1], [0, 3]), shape=(1, 2))
    demands = sparse_demands(rows, [8, 6])
    assert demands.values.tolist() == [0.5, 0.5]
    assert demands.columns.tolist() == [0, 1]
    assert rows.data.tolist() == [1.0, 4.0, 2.0]


@pytest.mark.parametrize(
    ("matrix", "capacities", "message"),
    [
        (np.ones((1, 1)), [1], "scipy.sparse"),
        (sparse.eye_array(2), [1], r"capacities must have shape \(2,\)"),
        (sparse.eye_array(2), [1, 0], "capacities must be finite and > 0"),
        (sparse.eye_array(2), [1, 0.5], "tenant 1: the demand of column 1 is 2.0"),
        (sparse.csr_array((2, 2)), [1, 1], "demands nothing"),
    ],
)
def test_wrong_sparse_demands(matrix, capacities, message):
    with pytest.raises(ModelError, match=message):
        sparse_demands(matrix, capacities)
