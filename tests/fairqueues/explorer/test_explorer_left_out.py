"""What a scenario says and the explorer does not show is said on the page, and goes with its links."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("bokeh")

from fairqueues.explorer import State
from fairqueues.explorer.examples import Examples
from fairqueues.explorer.left_out import TAKEN, TOLD, left_out
from fairqueues.explorer.page import Page
from fairqueues.scenario import Scenario
from fairqueues.scenario.sections import SECTIONS, Document

POOL = "[pool]\ndemands = [[1, 4], [3, 1]]\ncapacities = [9, 18]\n"
TRAFFIC = "[traffic]\nmix = [1, 1]\nload = 0.5\n"
KEYS = [f"{table}.{key}" for table, kind in SECTIONS.items() for key in kind.model_fields]


def said(text: str) -> str:
    return " ".join(left_out(Scenario.parse(text)))


def test_a_pool_with_plain_traffic_is_shown_whole() -> None:
    text = f"title = 'x'\nseed = 3\npolicies = ['pf']\ncounts = [2, 1]\n{POOL}{TRAFFIC}"
    assert left_out(Scenario.parse(text + "[fluid]\nstart = [1, 2]\n[region]\nkind = 'stability'\n")) == ()
    assert State().left_out == ()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (POOL, ["no traffic"]),
        (POOL + TRAFFIC + "sizes = ['lognormal:3', 'exponential']\n", ["lognormal:3 in the file"]),
        (POOL + TRAFFIC + "mean_sizes = [1, 4]\n", ["Mean sizes are 1 to 4"]),
        (POOL + TRAFFIC + "mean_sizes = 5\n", ["mean size is 5", "times are multiples"]),
        (POOL + TRAFFIC + "arrivals = 'on-off:10:90'\n", ["on-off:10:90 in the file", "balanced fairness"]),
        (POOL + TRAFFIC + "[simulation]\nlevel = 'tasks'\n", ["Tasks are whole", "[simulation]"]),
        (POOL + TRAFFIC + "[region]\nkind = 'packing'\n", ["Tasks are whole", "[region]"]),
        (POOL + TRAFFIC + "[chain]\n[audit]\n", ["[chain], [audit]"]),
        (POOL + TRAFFIC + "[fluid]\nstart = [1, 2]\nhorizon = 3\n", ["fluid.horizon"]),
        (POOL + TRAFFIC + "[tree]\na = {classes = ['class 1', 'class 2']}\n", ["[tree]"]),
    ],
)  # fmt: skip
def test_what_is_left_out_is_said(text: str, parts: list[str]) -> None:
    assert all(part in said(text) for part in parts), said(text)


def test_recorded_jobs_are_said(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("arrival_time,job_class,size\n0,A,2\n9,B,3\n20,A,1\n")
    (tmp_path / "own.toml").write_text(
        f"{POOL}job_classes = ['A', 'B']\n[trace]\nreader = 'jobs'\nfile = 'jobs.csv'\n"
    )
    assert left_out(Scenario.read(tmp_path / "own.toml"))[0].startswith("Jobs are recorded")


def test_no_key_of_a_scenario_is_passed_over_in_silence() -> None:
    assert {key for key in TAKEN | TOLD if "." in key} <= set(KEYS)
    assert {key for key in TAKEN | TOLD if "." not in key} <= set(Document.model_fields)
    for path in KEYS:
        table, key = path.split(".")
        section = SECTIONS[table].model_construct(**{key: "given"})
        document = Document.model_construct(**{table: section})
        scenario = SimpleNamespace(
            document=document, has_traffic=False, tree=None, policies=(), model=SimpleNamespace(n_classes=2)
        )
        told = " ".join(left_out(scenario))
        assert path in TAKEN | TOLD or f"[{table}]" in told or path in told


def test_edits_links_and_sizes_keep_what_is_left_out_and_examples_do_not() -> None:
    first = State.from_scenario(Scenario.parse(f"{POOL}{TRAFFIC}[chain]\n", name="dir/mine.toml"))
    assert (first.origin, first.left_out) == ("mine", ("Not used here: [chain].",))
    examples, page = Examples(first), Page(first)
    answer = page.reply({"fields": first.texts | {"load": "0.6"}, "policy": "DRF"})
    assert answer["errors"] == {}
    for query in (answer["query"], page.reply({"resize": [3, 2]})["go"]):
        assert examples.state(query).left_out == first.left_out
    assert examples.state("example=drf_example").left_out[0].startswith("The file has no traffic")
    edited = replace(examples.state("example=talk_balanced"), load=0.5).query()
    assert examples.state(edited).left_out == ("Not used here: [chain], [simulation].",)
    # A link to an example says it wherever it is opened, one to somebody's file or to none does not.
    assert Examples(State()).state(edited).left_out == ("Not used here: [chain], [simulation].",)
    assert Examples(State()).state(answer["query"]).left_out == ()
    assert examples.state(State().query()).left_out == ()


def test_policies_of_one_name_are_told_apart_by_where_a_link_began(tmp_path: Path) -> None:
    """Two trees make two policies H-DRF."""
    tree = "[tree]\na = {classes = ['class 1', 'class 2']}\n"
    mine = State.from_scenario(
        Scenario.parse(f"policies = ['h-drf']\n{POOL}{TRAFFIC}{tree}", name="mine.toml")
    )
    examples = Examples(mine)
    shipped = examples.state("example=departments")
    assert shipped.offered["H-DRF"] != mine.offered["H-DRF"]
    for state in (shipped, mine):
        assert examples.state(state.query()).offered["H-DRF"] == state.offered["H-DRF"]


def test_policies_of_one_name_in_one_file_are_both_shown(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(
            "def PF(problem, counts):\n    return 0.25 / problem.task_shares.max(axis=1) * (counts > 0)\n"
        )
    (tmp_path / "own.toml").write_text(f"policies = ['pf', 'one.py:PF', 'two.py:PF']\n{POOL}")
    state = State.from_scenario(Scenario.read(tmp_path / "own.toml"))
    assert state.shown == ("PF", "PF (2)", "PF (3)")
