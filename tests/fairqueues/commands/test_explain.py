"""The command ``explain`` against the library: words, JSON, a figure, wrong use."""

import re

import pytest

import fairness
from fairqueues.console.inputs import example, examples
from fairqueues.scenario import Scenario
from tests.fairqueues.commands.command_line import as_json, run


@pytest.fixture
def file(place):
    return place / "two.toml"


def test_explain_tells_what_the_library_tells(file):
    model = Scenario.read(file).model
    data = as_json("explain", file, model.job_classes[1], "-p", "pf", "--counts", "1,3")
    expected = fairness.explain(fairness.allocate(model, fairness.ProportionalFair(), [1, 3]), 1)
    assert data["explanations"]["PF"] == expected.to_dict()
    assert [row["tasks"] for row in data["results"]] == expected.to_dataframe()["tasks"].tolist()
    assert data["command"].endswith("--policy pf --counts 1,3")


def test_explain_is_read_as_text(file):
    printed = run("explain", file, "1").stdout
    policy = Scenario.read(file).policies[0]
    model = Scenario.read(file).model
    expected = fairness.explain(fairness.allocate(model, policy), 0).summary().splitlines()[:-1]
    assert [line.strip() for line in printed.splitlines()][-len(expected) :] == [
        line.strip() for line in expected
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["nobody"], "job_class 'nobody' is not in the model"), (["1", "-p", "psdsf"], "is for servers")],
)
def test_what_is_wrong_is_one_line(file, arguments, said):
    assert said in run("explain", file, *arguments, code=2).stderr


@pytest.mark.long  # a figure for each of two policies
def test_explain_draws_who_holds_what_and_what_would_change(file):
    as_json("explain", file, "A", "-p", "drf", "-p", "pf", "--out", "why.svg")
    drawn = (file.parent / "why.svg").read_text()
    assert drawn.count("What would change") == drawn.count("Who holds what stops ") == 2


@pytest.mark.long  # every policy of every shipped model
def test_every_shipped_scenario_is_explained_in_a_few_sentences():
    number = 0
    for name in examples():
        scenario = Scenario.read(example(name))
        for policy in filter(callable, scenario.policies if scenario.has_model else ()):
            result = fairness.allocate(scenario.model, policy, scenario.counts)
            text = fairness.explain(result, number % scenario.model.n_classes, policy).summary().splitlines()
            assert 3 <= len(text) <= 17
            assert max(map(len, text)) < 600
            assert not re.search(r"\b(nan|inf|None)\b", "\n".join(text))
            number += 1
    assert number > 50
