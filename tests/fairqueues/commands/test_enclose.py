"""``fairqueues enclose``: bounds, files, and one line for what is wrong."""

import json

import pytest

from fairqueues.exchange import read_chain, write_chain
from queueing import FiniteChain, check_certificate, enclose_chain
from queueing.results import ChainCertificate
from tests.fairqueues.commands.command_line import run

CHAIN = FiniteChain(
    [[0, 2, 0], [1, 0, 2], [0, 1, 0]],
    variables={"x": [0, 1, 2]},
    rewards={"cost": [0, 1, 4]},
    labels={"full": [False, False, True]},
)


@pytest.fixture
def files(place):
    write_chain(CHAIN, place / "queue", kinds=["prism", "mtx", "csv", "storm"])
    return place


def test_bounds_are_those_of_the_library(files):
    data = json.loads(run("enclose", "queue.tra", "--json").stdout)
    library = enclose_chain(read_chain("queue.tra"))
    assert [row["mean of"] for row in data["results"]] == ["cost", "x"]
    for k, row in enumerate(data["results"]):
        assert (row["lower"], row["upper"]) == (library.lower[k], library.upper[k])
    # E[x] = (2 + 2 * 4)/7.
    assert data["results"][1]["lower"] <= 10 / 7 <= data["results"][1]["upper"]
    told = run("enclose", "queue.drn", "--of", "full", "--of", "cost").stdout
    assert "full" in told
    assert "checked in 3 states" in told
    assert "jobs" not in told
    assert "x" in run("enclose", "queue.mtx", "--csv").stdout


def test_exact_means_are_fractions(files):
    data = json.loads(run("enclose", "queue.tra", "--exact", "--json").stdout)
    assert [(row["mean of"], row["exact"]) for row in data["results"]] == [("cost", "18/7"), ("x", "10/7")]
    assert data["results"][1]["mean"] == 10 / 7
    assert "4/7" in run("enclose", "queue.tra", "--exact", "--of", "full").stdout


def test_the_certificate_is_written_with_the_others_or_not_at_all(files, monkeypatch):
    asked = ("enclose", "queue.tra", "--of", "full", "--certificate", "c.json", "--out", "c.svg")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("fairqueues.console.figures.drawn", full)
        assert "cannot write c.svg: No space left" in run(*asked, code=2).stderr
    assert not list(files.glob("c.*"))
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.write_bytes", full)
        assert "cannot write 'c.json': No space left" in run(*asked, code=2).stderr
    assert not list(files.glob("c.*"))


@pytest.mark.long
def test_the_certificate_is_a_file(files):
    shown = run(
        "enclose", "queue.tra", "--of", "full", "--certificate", "c.json.gz", "-o", "c.svg", "-o", "c.nc"
    )
    assert "wrote c.json.gz" in shown.stderr
    lower, upper = check_certificate(ChainCertificate.load("c.json.gz"))
    assert lower[0] <= 4 / 7 <= upper[0]
    assert (files / "c.svg").exists()
    run("enclose", "queue.tra", "--report", "r.html")


def test_what_is_wrong_is_one_line(files):
    (files / "bad.tra").write_text("2 2\n0 1 1\n1 2 1\n")
    (files / "two.tra").write_text("3 2\n0 1 1\n0 2 1\n")
    for arguments, said in (
        (["nowhere.tra"], "nowhere.tra: cannot be read: No such file"),
        (["queue.sta"], "path must name a file NAME.tra (PRISM)"),
        (["bad.tra"], "bad.tra, line 3: state 2 is none of 0 to 1"),
        (["two.tra", "--of", "x"], "of must be of what the chain knows: nothing; got 'x'"),
        (["two.tra"], "of must name what is wanted"),
        (["queue.tra", "--exact", "--certificate", "c.json"], "exact has no certificate"),
        (["queue.tra", "--exact", "--width", "1e-6"], "exact has no width"),
        (["queue.tra", "--of", "y"], "'cost', 'x', 'init', 'full'; got 'y'"),
        (["queue.tra", "--width", "0"], "width must be"),
        (["queue.tra", "--certificate", "nowhere/c.json"], "there is no folder 'nowhere'"),
    ):
        shown = run("enclose", *arguments, code=2).stderr
        assert said in shown, shown
        assert shown.count("\n") == 1


def test_bounds_that_are_too_wide_are_shown_and_fail(files, monkeypatch):
    monkeypatch.setattr("queueing.enclosures.finite_chains.STEPS", 1)
    shown = run("enclose", "queue.tra", "--of", "x", code=1)
    assert "lower" in shown.stdout
    assert "no more digits were found; raise width (here: --width)" in shown.stderr
