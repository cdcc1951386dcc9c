"""Finite chains in files: what is written is read back, what is wrong is told with its line."""

import gzip
import re

import numpy as np
import pytest
from scipy import io, sparse

from fairness import DRF, ModelError, Problem
from fairqueues.exchange import generator, read_chain, write_chain, write_generator
from queueing import FiniteChain, System


def random_chain(rng, n, *, decades=0.0, density=0.3, variables=True):
    """A chain on a cycle with more rates, with rewards, labels and variables of odd values."""
    extra = np.where(rng.random((n, n)) < density, 10 ** rng.uniform(-decades, decades, (n, n)), 0.0)
    ring = np.roll(np.diag(10 ** rng.uniform(-decades, decades, n)), 1, axis=1)
    matrix = np.where(np.eye(n) > 0, 0.0, extra + ring)
    return FiniteChain(
        matrix,
        rewards={"cost": rng.normal(size=n), "half": np.where(np.arange(n) % 2, 0.0, 1 / 3)},
        variables={"x": rng.integers(-3, 9, n), "y": rng.normal(size=n)} if variables else {},
        labels={"init": np.arange(n) == n // 2, "many": rng.random(n) < 0.7, "none": np.zeros(n, dtype=bool)},
    )


def same(one, other, *parts):
    assert one.starts.tolist() == other.starts.tolist()
    assert one.targets.tolist() == other.targets.tolist()
    assert one.rates.tolist() == other.rates.tolist()  # all digits
    for part in parts:
        mine, theirs = getattr(one, part), getattr(other, part)
        assert list(mine) == list(theirs)
        for name in mine:
            assert mine[name].tolist() == theirs[name].tolist(), name


@pytest.mark.parametrize("seed", range(6))
def test_what_is_written_is_read_back(seed, tmp_path):
    rng = np.random.default_rng(seed)
    chain = random_chain(rng, int(rng.integers(2, 40)), decades=(0, 3, 100)[seed % 3], variables=seed != 4)
    files = write_chain(chain, tmp_path / "c", kinds=["mtx", "csv", "prism", "storm"])
    stem = {file.suffix: file for file in files}
    same(read_chain(stem[".tra"]), chain, "rewards", "variables", "labels")
    again = read_chain(stem[".mtx"])
    same(again, chain)
    # A table of states does not tell rewards from variables.
    assert {**again.rewards, **again.variables}.keys() == chain.rewards.keys() | chain.variables.keys()
    for name in again.variables:
        assert (again.values(name) == chain.values(name)).all()
    drn = read_chain(stem[".drn"])
    same(drn, chain, "rewards")
    # Storm names a label where a state has it.
    assert {name: v.tolist() for name, v in drn.labels.items()} == {
        name: v.tolist() for name, v in chain.labels.items() if v.any()
    }


def test_the_chain_of_the_job_counts_comes_back(tmp_path):
    system = System(Problem([[1, 0.25], [0.5, 1]], [1, 1], job_classes=["A", "B"]), [0.4, 0.3], [1.0, 1.5])
    files = write_generator(system, DRF(), (7, 9), tmp_path / "c", kinds=["mtx", "csv", "prism", "storm"])
    exact = generator(system, DRF(), (7, 9))
    for suffix in (".tra", ".mtx", ".drn"):
        chain = read_chain(tmp_path / f"c{suffix}")
        assert (chain.matrix() != exact - sparse.diags_array(exact.diagonal())).nnz == 0
    assert read_chain(files[0]).values("jobs of B").tolist() == read_chain(files[2]).values("x2").tolist()
    assert read_chain(files[2]).labels["init"].nonzero()[0].tolist() == [0]


def test_files_as_others_write_them(tmp_path):
    # Ends of lines of Windows, a mark of the byte order, comments, blanks, actions, a self-loop.
    (tmp_path / "c.tra").write_bytes(
        b"\xef\xbb\xbf# exported\r\n3 5\r\n\r\n0 1 2.5 go\r\n# a note\r\n1 2 .5\r\n1 1 7\r\n"
        b"2 0 1e-3 back\r\n2 1 +4\r\n"
    )
    (tmp_path / "c.sta").write_text("(x,busy)\n2:(-1,true)\n0:(3,false)\n1:(4,false)\n")
    (tmp_path / "c.lab").write_text('0="init" 1="deadlock" 2="some where"\n0: 0\n\n2: 2\n')
    (tmp_path / "c1.srew").write_text('# Reward structure "lost"\n# State rewards\n3 1\n2 1.5\n')
    (tmp_path / "c2.srew").write_text("3 2\n2 1\n0 -2\n")
    for name in ("c.tra", "c.tra.gz"):
        chain = read_chain(tmp_path / name)
        assert chain.matrix().toarray().tolist() == [[0, 2.5, 0], [0, 0, 0.5], [1e-3, 4, 0]]
        assert {k: v.tolist() for k, v in chain.variables.items()} == {"x": [3, 4, -1], "busy": [0, 0, 1]}
        assert {k: v.nonzero()[0].tolist() for k, v in chain.labels.items()} == {
            "init": [0],
            "some where": [2],
        }
        assert {k: v.tolist() for k, v in chain.rewards.items()} == {"lost": [0, 0, 1.5], "c2": [-2, 0, 1]}
        packed = gzip.compress((tmp_path / "c.tra").read_bytes())
        (tmp_path / "c.tra").unlink(missing_ok=True) if name == "c.tra.gz" else None
        (tmp_path / "c.tra.gz").write_bytes(packed)


def test_matrices_as_others_write_them(tmp_path):
    path = tmp_path / "c.mtx"
    wanted = [[0.0, 2.0], [3.0, 0.0]]
    io.mmwrite(path, np.array([[-2.0, 2.0], [3.0, -3.0]]))  # dense
    assert read_chain(path).matrix().toarray().tolist() == wanted
    path.write_bytes(
        b"%%MatrixMarket matrix coordinate integer general\r\n% rates alone\r\n2 2 2\r\n1 2 2\r\n2 1 3\r\n"
    )
    assert read_chain(path).matrix().toarray().tolist() == wanted
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 3\n")
    assert read_chain(path).matrix().toarray().tolist() == [[0, 3], [3, 0]]
    (tmp_path / "c.csv").write_text("name,price\na,1\n")  # somebody's table
    assert not read_chain(path).variables


TRA = "3 4\n0 1 1\n1 2 1\n2 0 1\n2 1 1\n"
STA = "(x)\n0:(0)\n1:(1)\n2:(2)\n"
LAB = '0="init" 1="deadlock"\n0: 0\n'
SREW = "3 1\n2 1\n"


@pytest.mark.parametrize(
    ("suffix", "text", "line", "said"),
    [
        (".tra", "", 1, "the file ends here; expected the numbers of states"),
        (".tra", "three four\n", 1, "expected the numbers of states and of transitions, such as '4 6'; got"),
        (".tra", "3 3 4\n", 1, "three numbers are the head of a decision process"),
        (".tra", "0 4\n", 1, "a chain has 1 to"),
        (".tra", "99999999999 4\n" + TRA[4:], 1, "a chain has 1 to"),
        (".tra", TRA.replace("3 4", "3 3"), 5, "more than the 3 transitions that were announced"),
        (
            ".tra",
            TRA.replace("3 4", "3 5") + "# a note",
            6,
            "the file ends with 4 of 5 announced transitions; is it cut off",
        ),
        (".tra", "3 100000000\n0 1 1\n", 1, "100000000 transitions are announced, more than the 18 bytes"),
        (".tra", TRA.replace("1 2 1", "1 3 1"), 3, "state 3 is none of 0 to 2; correct it"),
        (".tra", TRA.replace("1 2 1", "-1 2 1"), 3, "state -1 is none of 0 to 2"),
        (".tra", "# note\n\n" + TRA.replace("2 0 1", "2 0 -1"), 6, "a rate must be >= 0; correct"),
        (".tra", TRA.replace("2 0 1", "2 0 inf"), 4, "inf is no finite number"),
        (".tra", TRA.replace("2 0 1", "2 0 1/3"), 4, "'1/3' is no number; expected a line such as '0 1 2.5'"),
        (".tra", TRA.replace("2 0 1", "2.0 0 1"), 4, "'2.0' is no whole number"),
        (".tra", TRA.replace("2 0 1", "2 0"), 4, "expected 3 numbers, such as '0 1 2.5'; got '2 0'"),
        (".tra", TRA.replace("2 0 1", "99999999999999999999 0 1"), 4, "is no whole number"),
        (".sta", "x,y\n", 1, "expected the names of the variables, such as"),
        (".sta", "(x,x)\n", 1, "a name stands twice among x, x; rename"),
        (".sta", STA.replace("1:(1)\n", ""), 3, "the file ends with 2 of 3 announced states"),
        (".sta", STA.replace("1:(1)", "0:(1)"), 3, "state 0 is given twice; keep one"),
        (".sta", STA.replace("1:(1)", "7:(1)"), 3, "state 7 is none of 0 to 2"),
        (".sta", STA.replace("1:(1)", "1:(1,2)"), 3, "expected 2 numbers, such as '0:(1)'"),
        (".sta", STA.replace("1:(1)", "1:(red)"), 3, "'red' is no number"),
        (".lab", "init\n0: 0\n", 1, "expected the names of the labels"),
        (".lab", '0="a" 0="b"\n', 1, "stands twice; give each label its own"),
        (".lab", LAB + "x: 0\n", 3, "expected a state and the numbers of its labels, such as '3: 0 2'"),
        (".lab", LAB + "3: 0\n", 3, "state 3 is none of 0 to 2"),
        (".lab", LAB + "1: 5\n", 3, "label 5 has no name in the first line"),
        (".srew", SREW.replace("3 1", "4 1"), 1, "rewards are of 4 states, but the chain has 3"),
        (".srew", SREW.replace("2 1\n", "2 x\n"), 2, "'x' is no number"),
        (".srew", "3 2\n2 1\n2 1\n", 3, "the reward of state 2 is given twice"),
    ],
)
def test_wrong_files_of_prism(suffix, text, line, said, tmp_path):
    for name, good in ((".tra", TRA), (".sta", STA), (".lab", LAB), (".srew", SREW)):
        (tmp_path / f"c{name}").write_text(text if name == suffix else good)
    with pytest.raises(ModelError, match=re.escape(said)) as caught:
        read_chain(tmp_path / "c.tra")
    assert str(caught.value).startswith(f"{tmp_path / 'c'}{suffix}, line {line}: ")
    assert "\n" not in str(caught.value)


DRN = "@type: CTMC\n@parameters\n\n@reward_models\nr\n@nr_states\n2\n@nr_choices\n2\n@model\n"
STATES = "state 0 !1 [2] init\n\taction 0\n\t\t1 : 1\nstate 1 !1\n\taction 0\n\t\t0 : 1\n"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (DRN.replace("CTMC", "MDP") + STATES, 1, "the model is of type 'MDP'"),
        (DRN.replace("@nr_states\n2\n", "") + STATES, 8, "the section @nr_states is missing"),
        ("hello\n", 1, "the section @model is missing"),
        (DRN.replace("@parameters\n\n", "@parameters\np\n") + STATES, 3, "a model with parameters"),
        (DRN + STATES.replace("state 1", "state 2"), 14, "expected 'state 1 ...'"),
        (DRN + STATES.replace("\t\t1 : 1", "\t\t2 : 1"), 13, "state 2 is none of 0 to 1"),
        (DRN + STATES.replace("\t\t1 : 1", "\t\t1 : -1"), 13, "a rate must be finite and >= 0"),
        (DRN + STATES.replace("\t\t1 : 1", "\t\t1 : p"), 13, "'p' is no number"),
        (DRN + STATES.replace("\t\t1 : 1", "\taction 1"), 13, "this is a decision process"),
        (DRN + STATES.replace("[2]", "[2, 3]"), 11, "expected 1 finite rewards"),
        (
            DRN + STATES.replace("action 0\n\t\t0", "action 0 [1]\n\t\t0"),
            15,
            "rewards of actions are not read",
        ),
        (DRN + STATES[: STATES.index("state 1")], 13, "the file ends with 1 of 2 announced states"),
    ],
)
def test_wrong_files_of_storm(text, line, said, tmp_path):
    path = tmp_path / "c.drn"
    path.write_text(DRN + STATES)
    chain = read_chain(path)
    assert chain.rewards["r"].tolist() == [2, 0]
    assert chain.labels["init"].tolist() == [True, False]
    path.write_text(text)
    with pytest.raises(ModelError, match=re.escape(said)) as caught:
        read_chain(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")


HEAD = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense\n", "no Matrix Market file, or damaged"),
        (HEAD + "2 3 1\n1 2 1\n", "the matrix is 2 x 3"),
        (HEAD.replace("real", "complex") + "2 2 1\n1 2 1 0\n", "its entries are complex"),
        (HEAD.replace("real", "pattern") + "2 2 1\n1 2\n", "its entries are pattern"),
        (HEAD + "9 9 100000000\n1 2 1\n", "100000000 entries are announced"),
        (HEAD + "2 2 2\n1 2 1\n3 1 1\n", "(?i)line 4"),
        (HEAD + "2 2 2\n1 2 x\n2 1 1\n", "(?i)line 3"),
        (HEAD + "2 2 3\n1 2 1\n2 1 1\n", "or damaged"),
        (HEAD + "2 2 2\n1 2 1\n1 2 1\n", "from state 0 to state 1 is given twice"),
        (HEAD + "2 2 2\n1 2 1\n2 1 -1\n", r">= 0 .* state 1 to state 0"),
        (HEAD + "2 2 3\n1 1 -2\n1 2 1\n2 1 1\n", "diagonal of state 0, .* sum to 1"),
        (HEAD + "2 2 4\n1 1 -2\n2 1 2\n2 2 -3\n1 2 3\n", "columns sum to 0: give the transpose"),
    ],
)
def test_wrong_matrices(text, said, tmp_path):
    path = tmp_path / "c.mtx"
    path.write_text(text)
    with pytest.raises(ModelError, match=said) as caught:
        read_chain(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_wrong_tables_of_states(tmp_path):
    (tmp_path / "c.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n2 1 1\n")
    for text, said in (
        ("state,x\n0,1\n", "numbers 0 to 1, each once; it has 1 rows"),
        ("state,x\n0,1\n0,2\n", "each once"),
        ("state,x\n0,1\n1,b\n", r"c.csv, line 3, x: must be a number; got 'b'"),
        ("", "has no line of data"),
    ):
        (tmp_path / "c.csv").write_text(text)
        with pytest.raises(ModelError, match=said):
            read_chain(tmp_path / "c.mtx")


def test_files_that_cannot_be_read(tmp_path):
    for name in ("none.tra", "none.mtx", "none.drn"):
        with pytest.raises(ModelError, match=r"none\.\w+: .*No such file"):
            read_chain(tmp_path / name)
    with pytest.raises(ModelError, match=r"path must name a file NAME.tra .*; got .*c.txt"):
        read_chain(tmp_path / "c.txt")
    (tmp_path / "c.tra").write_bytes(b"3 1\n\xff\xfe\x00\n0 1 1\n")
    with pytest.raises(ModelError, match="no text in UTF-8"):
        read_chain(tmp_path / "c.tra")
    (tmp_path / "c.tra.gz").write_bytes(gzip.compress(TRA.encode())[:-9])
    with pytest.raises(ModelError, match="cannot be read"):
        read_chain(tmp_path / "c.tra.gz")


def test_what_is_too_large_is_refused_before_it_is_read(tmp_path):
    # Compressed, so that no size tells how much there is.
    with gzip.open(tmp_path / "c.tra.gz", "wt") as file:
        file.write("1000000 1000000000000\n0 1 1\n")
    with pytest.raises(ModelError, match=r"c.tra.gz with 1000000000000 transitions needs .* GiB"):
        read_chain(tmp_path / "c.tra.gz")


def test_many_lines_are_read_in_pieces(tmp_path, monkeypatch):
    chain = random_chain(np.random.default_rng(1), 30)
    write_chain(chain, tmp_path / "c", kinds=["prism"])
    monkeypatch.setattr("fairqueues.text_files.BLOCK", 7)
    same(read_chain(tmp_path / "c.tra"), chain, "rewards", "variables", "labels")
    text = (tmp_path / "c.tra").read_text().splitlines()
    (tmp_path / "c.tra").write_text(
        "\n".join([*text[:100], "# note", "", *text[100:200], "0 1", *text[201:]])
    )
    with pytest.raises(ModelError, match=r"line 203: expected 3 numbers"):
        read_chain(tmp_path / "c.tra")


def test_what_a_chain_refuses():
    for matrix, said in (
        ([[0, 1]], "must be square"),
        (np.zeros((0, 0)), "must be square"),
        ([[0, -1], [1, 0]], "must be >= 0 off the diagonal; got -1.0 from state 0 to state 1"),
        ([[0, np.nan], [1, 0]], "must be finite"),
        ([[-1, 2], [1, -1]], "diagonal of state 0, but the rates out of it sum to 2"),
        ([[1j]], "matrix must be an array of numbers"),
    ):
        with pytest.raises(ModelError, match=said):
            FiniteChain(matrix)
    good = [[0, 1], [1, 0]]
    for arguments, said in (
        ({"rewards": [1, 2]}, "rewards must map names to arrays"),
        ({"rewards": {"a": [1]}}, r"'a' has shape \(1,\)"),
        ({"rewards": {"a": [1, np.inf]}}, "rewards must be finite; 'a' has inf in state 1"),
        ({"labels": {"a": [0, 1]}}, "labels must be True and False"),
        ({"variables": {"a": ["x", "y"]}}, "must be an array of numbers"),
    ):
        with pytest.raises(ModelError, match=said):
            FiniteChain(good, **arguments)
    chain = FiniteChain(good, rewards={"a": [1, 2]}, labels={"a": [True, False]})
    with pytest.raises(ModelError, match="these differ; rename"):
        chain.values("a")
    with pytest.raises(ModelError, match="must be of what the chain knows: 'a'; got 'b'"):
        chain.values("b")
    with pytest.raises(ModelError, match="a rate leads from state 0 to state 1"):
        chain.part([0])
    with pytest.raises(ModelError, match="different numbers from 0 to 1"):
        chain.part([0, 0])


def test_self_loops_and_generators_are_the_same_chain():
    rng = np.random.default_rng(3)
    rates = rng.random((6, 6))
    np.fill_diagonal(rates, 0.0)
    chain = FiniteChain(rates)
    same(FiniteChain(rates - np.diag(rates.sum(axis=1))), chain)
    same(FiniteChain(rates + np.diag(rng.random(6))), chain)
    for form in ("coo", "csc", "lil"):
        same(FiniteChain(sparse.coo_array(rates).asformat(form)), chain)


def test_closed_classes_by_their_definition():
    # Random sparse graphs; reachability by powers of the adjacency matrix.
    rng = np.random.default_rng(5)
    several = 0
    for _ in range(60):
        n = int(rng.integers(1, 9))
        edges = rng.random((n, n)) < 0.25
        reach = np.linalg.matrix_power(np.eye(n) + edges, n) > 0
        closed = {
            tuple(np.flatnonzero(row)) for row, back in zip(reach, reach.T, strict=True) if back[row].all()
        }
        found = FiniteChain(np.where(np.eye(n) > 0, 0.0, edges)).closed_classes
        assert [tuple(states) for states in found] == sorted(closed)
        several += len(closed) > 1
    assert several > 10
