"""What the shell offers behind the tab key, asked as shells ask."""

import pytest
from typer.testing import CliRunner

from fairness.properties import PROPERTIES
from fairqueues.commands.app import COMMANDS, app
from fairqueues.console.inputs import examples
from fairqueues.scenario import names
from proofs.catalogue import statements
from tests.fairqueues.commands.command_line import TWO


def offered(*words, shell="bash"):
    """The offers for the last of these words."""
    line = " ".join(["fairqueues", *words])
    asked = {"_FAIRQUEUES_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    asked |= {"COMP_WORDS": line, "COMP_CWORD": str(len(words)), "_TYPER_COMPLETE_ARGS": line}
    result = CliRunner().invoke(app, [], prog_name="fairqueues", env=asked)
    assert result.exit_code == 0, result.output
    return result.stdout.strip().splitlines()


def test_commands_and_options():
    assert offered("") == list(COMMANDS)
    assert offered("solve", "--lo") == ["--load"]


def test_names_of_each_kind(place):
    """Once each; the long tests have all of them."""
    assert offered("solve", "drf_ex") == ["drf_example"]
    assert offered("solve", "two.toml", "-p", "p") == ["pf", "priorities"]
    assert offered("prove", "br-feas") == ["br-feasible"]
    for wrong in ("pool = 3", "pool = { job_classes = 2 }", "network = { routes = 1 }"):
        (place / "wrong.toml").write_text(wrong)
        assert offered("explain", "wrong.toml", "") == []


@pytest.mark.long
def test_scenarios_are_files_and_those_that_are_shipped(place):
    (place / "model.json").write_text("{}")
    (place / "notes.txt").write_text("")
    (place / "more" / "deep").mkdir(parents=True)
    (place / "more" / "three.toml").write_text(TWO)
    assert offered("solve", "") == ["model.json", "more/", "two.toml", *examples()]
    assert offered("solve", "tw") == ["two.toml"]
    # A folder alone would end the word: what is in it is offered too.
    assert offered("sweep", "mor") == ["more/", "more/deep/", "more/three.toml"]
    assert offered("explore", "more/th") == ["more/three.toml"]
    assert offered("solve", "nowhere/") == []
    for command in ("allocate", "audit", "cloud", "explain", "fluid", "provision", "region", "simulate"):
        assert offered(command, "drf_ex") == ["drf_example"]
    assert offered("examples", "drf_ex") == ["drf_example"]


@pytest.mark.long
@pytest.mark.parametrize("option", ["-p", "--policy"])
def test_policies_that_fit_the_model(place, option):
    assert offered("solve", "two.toml", option, "") == list(names.policies_for(False, False))
    on_trees = [name for name in names.policies_for(False, True) if name[0] == "h"]
    assert offered("solve", "departments", option, "h") == on_trees
    assert offered("solve", "psdsf_figure_1", option, "") == list(names.policies_for(True, False))
    # Whatever comes first.
    assert set(offered("solve", option, "")) > {"drf", "psdsf", "h-drf"}
    assert offered("provision", "two.toml", "--method", "b") == ["balanced", "bound", "bmf"]
    assert offered("provision", "two.toml", "--method", "simulated:p") == ["simulated:pf"]
    assert offered("rates", "two.toml", option, "b") == ["balanced", "bound", "bmf"]
    assert offered("sweep", "psdsf_figure_1", option, "") == list(names.policies_for(True, False))
    (place / "broken.toml").write_text("[pool")
    assert "drf" in offered("solve", "broken.toml", option, "")


@pytest.mark.long
def test_statements_properties_classes_and_sources(place):
    assert offered("prove", "") == [one.id for one in statements()]
    (place / "mine.py").write_text("")
    assert offered("prove", "mi") == ["mine.py"]
    assert offered("audit", "--property", "") == [one.key for one in PROPERTIES]
    assert offered("explain", "two.toml", "") == ["A", "B"]
    (place / "two.json").write_text('{"pool": {"job_classes": ["C", "D"]}}')
    assert offered("explain", "two.json", "") == ["C", "D"]
    assert offered("region", "two.toml", "--section", "B") == ["B"]
    assert offered("replay", "-s", "f") == ["fifo"]
    assert offered("reproduce", "dr") == ["drf"]
    assert "filling" in offered("bench", "")


@pytest.mark.long
def test_shells_that_say_what_it_is():
    """A line is an offer, so what it is stays on the line, and is told by every one of them."""
    for words in (["prove", ""], ["solve", ""], ["solve", "two.toml", "-p", ""]):
        lines = offered(*words, shell="fish")
        assert [line.partition("\t")[0] for line in lines] == offered(*words)
        assert all(line.partition("\t")[2] for line in lines)
    (told,) = [line for line in offered("solve", "", shell="zsh") if "drf_example" in line]
    assert told == '"drf_example":"DRF\\\\: 9 CPU and 18 GB for two users"'
