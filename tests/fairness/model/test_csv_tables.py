"""Models of CSV tables are those of the numbers in them; what is wrong is told with file, line and column."""

from __future__ import annotations

import csv
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from fairness import Cluster, ModelError, Problem
from fairness.arguments.quantities import number
from fairqueues.exchange import read_cluster
from queueing import Erlang, System

CLASSES = "job_class,weight,limit,cpu,ram,arrival_rate,mean_size\nA,1,2,1,4,1/2,\nB,2,,3,0.1,1,3\n"
SERVERS = "server,ram,cpu\nold,18,9\n\nnew,6,12\n"


@pytest.fixture
def save(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.csv").write_text(text)
        return [f"{name}.csv" for name in texts]

    return write


def test_a_pool_of_tables_is_that_of_its_numbers(save):
    pool = Problem.from_csv(*save(classes=CLASSES, servers=SERVERS))
    assert (pool.job_classes, pool.resources) == (("A", "B"), ("cpu", "ram"))
    assert pool.as_fractions() == ([[1, 4], [3, Fraction(1, 10)]], [21, 24])  # 0.1 is a tenth, not a float
    assert (pool.weights.tolist(), pool.limits.tolist()) == ([1, 2], [2, np.inf])
    for given in ({"ram": 24, "cpu": 21}, pd.Series({"ram": 24, "cpu": 21}), [21, 24]):
        assert Problem.from_csv("classes.csv", given).as_fractions() == pool.as_fractions()


def test_a_cluster_of_tables_is_that_of_its_numbers(save):
    classes = "job_class,servers,cpu,ram\nA,new old,1,4\nB,new,3,1\n"
    gamma = "job_class,new,old\nB,4,\nA,1,1/3\n"
    cluster = Cluster.from_csv(*save(classes=classes, servers=SERVERS))
    assert cluster.capacities.tolist() == [[9, 18], [12, 6]]
    assert cluster.eligible.tolist() == [[True, True], [False, True]]
    save(gamma=gamma)
    given = Cluster.from_csv("classes.csv", "servers.csv", gamma="gamma.csv")
    assert given.as_fractions()[2] == [[Fraction(1, 3), 1], [0, 4]]
    table = pd.DataFrame([[4, 0], [1, Fraction(1, 3)]], index=["B", "A"], columns=["new", "old"])
    same = Cluster.from_csv("classes.csv", "servers.csv", gamma=table)
    assert same.as_fractions() == given.as_fractions()
    # The reader of schedulers' files reads the same tables.
    found = read_cluster("classes.csv", "servers.csv").model
    assert (found.resources, found.eligible.tolist()) == (("ram", "cpu"), cluster.eligible.tolist())
    assert found.gamma.tolist() == cluster.gamma.tolist()


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("old rack; new", [True, True, False]),
        ("old rack;", [True, False, False]),
        (" ;new ", [False, True, False]),
        ("new old", [False, True, True]),
    ],
)
def test_names_of_servers_may_have_blanks(cell, expected, save):
    texts = {"classes": f"job_class,servers,cpu\nA,{cell},1\nB,,1\n"}
    save(**texts, servers="server,cpu\nold rack,1\nnew,1\nold,1\n")
    assert Cluster.from_csv("classes.csv", "servers.csv").eligible[0].tolist() == expected
    found = read_cluster("classes.csv", "servers.csv").model
    assert found.eligible[found.job_classes.index("A")].tolist() == [
        expected[["old rack", "new", "old"].index(name)] for name in found.servers
    ]


def test_traffic_follows_the_names_of_the_classes(save):
    pool = Problem.from_csv(*save(classes=CLASSES, servers=SERVERS))
    system = System.from_csv(pool, "classes.csv")  # the same table
    assert system.as_fractions() == ([Fraction(1, 2), 1], [1, 3])
    save(traffic="job_class,arrival_rate\nB,1\nA,0.5\n")
    laws = System.from_csv(pool, "traffic.csv", sizes=[Erlang(2), Erlang(3)])
    assert (laws.arrival_rates.tolist(), laws.sizes) == ([0.5, 1], (Erlang(2), Erlang(3)))
    with pytest.raises(ModelError, match=r"classes.csv has a column 'mean_size'; leave out one"):
        System.from_csv(pool, "classes.csv", sizes=Erlang(2))
    found = read_cluster("classes.csv", "servers.csv", servers=False).scenario.system
    assert found.as_fractions() == system.as_fractions()


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"classes": "class,cpu\nA,1\n"}, "classes.csv, line 1: the first column is 'class'; .* job_class"),
        ({"classes": "job_class,weight\nA,1\n"}, "line 1: no column is a resource"),
        ({"classes": "job_class,cpu\n"}, "there are no rows below the head"),
        ({"classes": "job_class,cpu,ram\nA,1,4\nA,3,1\n"}, "line 3, job_class: 'A' stands in"),
        ({"classes": "job_class,cpu,ram\nA,1,four\n"}, "classes.csv, line 2, ram: 'four' is no number"),
        (
            {"classes": "job_class,cpu,ram\nA,1\n"},
            "classes.csv, line 2, ram: is missing: 2 cells for 3",
        ),
        ({"classes": "job_class,cpu,disk\nA,1,1\n"}, "lack 'disk' and have 'ram' besides"),
        ({"classes": "job_class,cpu,ram\nA,1,-4\n"}, "line 2, ram: is -4; it must be >= 0"),
        ({"classes": "job_class,cpu,ram\nB,1,4\nA,,\n"}, "line 3: job class 'A' demands nothing"),
        ({"classes": "job_class,servers,cpu,ram\nA,old,1,4\n"}, "line 2, servers: a pool has no servers"),
        ({"classes": "job_class,queue,cpu,ram\nA,q,1,4\n"}, "line 2, queue: this model has no queues"),
        ({"classes": "job_class,jobs,cpu,ram\nA,3,1,4\n"}, "line 2, jobs: .* no jobs present; leave"),
        ({"classes": "job_class;cpu;ram\nA;1,5;4\n"}, "line 1: .* separated by semicolons; save .* commas"),
        ({"classes": '"job_class"\t"cpu"\t"ram"\n"A"\t1\t4\n'}, "separated by tabs; save .* commas"),
        ({"classes": "job_class,tasks,cpu,ram\nA,3,1,4\n"}, "call the column limit"),
        ({"servers": "server,cpu,ram\nold,1,4\nold,3,1\n"}, "servers.csv, line 3, server: 'old' stands in"),
        ({"classes": 'job_class,cpu,ram\n"A"x,1,"4\n'}, "line 2: (no CSV|2 cells)"),
    ],
)
def test_tables_of_a_pool_that_are_wrong(texts, said, save):
    save(**{"classes": CLASSES, "servers": SERVERS} | texts)
    with pytest.raises(ModelError, match=said):
        Problem.from_csv("classes.csv", "servers.csv")


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"classes": "job_class,limit,cpu,ram\nA,2,1,4\n"}, "line 2, limit: jobs on servers have no limit"),
        ({"classes": "job_class,servers,cpu,ram\nA,odl,1,4\n"}, "no server 'odl' in servers.csv; did"),
        (
            {"classes": "job_class,servers,cpu\nA,new old,1\n", "servers": "server,cpu\nnew old,1\n"},
            "no server 'new' in servers.csv; .*: 'new old;'",
        ),
        (
            {"servers": "server,cpu,ram\nold,9,18\nnew,0,0\n", "gamma": "job_class,old,new\nA,1,0\n"},
            "servers.csv, line 3: .*no class can use 'new'",
        ),
        ({"gamma": "job_class,old\nA,1\n"}, "gamma.csv, line 1: .* servers of servers.csv.* lack 'new'"),
        ({"gamma": "job_class,old,new\nA,1,1\nC,1,1\n"}, "gamma.csv: the rows .* have 'C' besides"),
        ({"gamma": "job_class,old,new\nA,0,0\n"}, "gamma.csv, line 2: .*gamma.0. is 0 on all servers"),
    ],
)
def test_tables_of_a_cluster_that_are_wrong(texts, said, save):
    classes, gamma = "job_class,cpu,ram\nA,1,4\n", "job_class,old,new\nA,1,1\n"
    save(**{"classes": classes, "servers": SERVERS, "gamma": gamma} | texts)
    with pytest.raises(ModelError, match=said):
        Cluster.from_csv("classes.csv", "servers.csv", gamma="gamma.csv")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("job_class,rate\nA,1\n", "line 1: there is no column 'arrival_rate'; known are rate"),
        ("job_class,arrival_rate,mean_sizes\nA,1,2\nB,1,2\n", "column 'mean_sizes'; did you mean"),
        ("job_class,arrival_rate\nA,1\n", "rows must be the classes of the model, .* lack 'B'"),
        ("job_class,arrival_rate\nA,1\nB,\n", "line 3, arrival_rate: is missing; write a number"),
    ],
)
def test_traffic_that_is_wrong(text, said, save):
    pool = Problem.from_csv(*save(classes=CLASSES, servers=SERVERS))
    save(traffic=text)
    with pytest.raises(ModelError, match=said):
        System.from_csv(pool, "traffic.csv")


def test_files_that_are_none(tmp_path):
    with pytest.raises(ModelError, match=r"nowhere.csv: cannot be read: No such file"):
        Problem.from_csv(tmp_path / "nowhere.csv", [1])
    (tmp_path / "a.csv").write_bytes(b"\xff\xfe")
    with pytest.raises(ModelError, match="line 1: is no text in UTF-8"):
        Problem.from_csv(tmp_path / "a.csv", [1])
    (tmp_path / "b.csv").write_text("job_class,cpu\n" + "x" * (csv.field_size_limit() + 1) + ",1\n")
    with pytest.raises(ModelError, match="line 2: no CSV: field larger"):
        Problem.from_csv(tmp_path / "b.csv", [1])


def test_numbers_are_decimals_fractions_and_quantities():
    assert [number(text) for text in ("1/3", "-2/4", "0.1", "4Ki", "1e-2")] == [
        Fraction(1, 3), Fraction(-1, 2), Fraction(1, 10), 4096, Fraction(1, 100),
    ]  # fmt: skip
    for text in ("1/0", "1/", "one", "", "1//2", "0x1"):
        with pytest.raises(ValueError, match="is no number"):
            number(text)
