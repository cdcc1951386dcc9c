"""The checks of the benchmarks can fail: what they measure is there."""

import csv

import numpy as np
import pytest

from benchmarks.__main__ import TOPICS
from benchmarks.bench_chain import _apart
from benchmarks.comparison import CASES, Found, compare
from benchmarks.gpu_allocation import allocated, arriving
from benchmarks.harness import replace_section, rise_of_peak
from benchmarks.mutants import EQUIVALENT, ROOT, mutants
from benchmarks.mutated import TESTS
from queueing import ClusterTrace, FirstFit, NodeList, WorstFit

MB = 1_000_000


@pytest.mark.long
def test_memory_is_measured_also_after_much_more_was_used():
    np.ones(15 * MB)  # 120 MB, released at once
    kept, rise = rise_of_peak(lambda: np.ones(10 * MB))
    # Pages are counted when they are written to; the interpreter takes a little besides.
    assert kept.nbytes <= rise < kept.nbytes + 20 * MB
    _, rise = rise_of_peak(lambda: None)
    assert rise < 20 * MB


@pytest.mark.long
def test_memory_of_a_chain_does_not_depend_on_what_its_parent_held():
    """Linux passes the peak of a process on to those that it starts: only a rise beyond it was seen."""
    held = np.ones(100 * MB)  # 800 MB, more than the child needs in all
    law = _apart("multilevel", 2, 400, 0.5)
    assert held[-1] == 1
    assert law["law"] == 400 * 400 * 8 / 1e9
    assert law["law"] <= law["memory"] < 0.3
    assert law["residual"] < 1e-11


def test_gpus_are_handed_out_until_as_many_are_asked_for_as_there_are():
    trace = ClusterTrace(
        ["CPU", "GPU"], ["cores", "devices"], [0, 1, 2], [9, 9, 9], [[1, 0.5], [1, 2]], [0, 0, 1], ["u"],
        [0] * 3, devices="GPU",
    )  # fmt: skip
    nodes = NodeList(["x", "y"], ["CPU", "GPU"], ["cores", "devices"], [[9, 2], [9, 2]])
    pods = arriving(trace, nodes, np.random.default_rng(0))
    asked = pods.types[pods.type_of, 1]
    # Three pods ask for 3 of the 4, and the fourth is drawn again.
    assert sorted(asked[:3]) == [0.5, 0.5, 2]
    assert 4 - 2 < asked.sum() <= 4
    # Two parts of a device come first, on one node or on both; then a pod that wants two devices.
    pods = ClusterTrace(
        trace.resources, trace.units, [0, 1, 2], [1e12] * 3, trace.types, [0, 0, 1], ["u"], [0] * 3, devices=1
    )
    assert allocated(pods, nodes, FirstFit(), 0) == 100 * 3 / 4
    assert allocated(pods, nodes, WorstFit(), 0) == 100 * 1 / 4


def test_a_mutant_is_a_module_with_one_change_and_its_words_stay():
    source = '''
def least(x: float, y: "a < b" = 2.0) -> float:
    """Of x < y."""
    if x < y and y:
        raise ValueError(f"{x + y} is too much")
    return min(x, -y)
'''
    made = mutants(source, 100)
    assert [(one.number, one.change) for one in made] == [
        (2, "2.0 -> 4.0"),
        (4, "if x < y and y: -> if not (x < y and y):"),
        (4, "x < y and y -> x < y or y"),
        (4, "x < y -> x <= y"),
        (6, "min(x, -y) -> max(x, -y)"),
        (6, "-y -> +y"),
    ]
    assert len({one.text for one in made}) == len(made)
    for one in made:
        compile(one.text, "mutant", "exec")
        assert "Of x < y." in one.text
        assert "{x + y} is too much" in one.text


def test_equivalent_mutants_are_of_lines_that_are_there():
    with EQUIVALENT.open() as file:
        for row in csv.DictReader(file):
            lines = (ROOT / row["module"]).read_text().splitlines()
            assert row["line"] in map(str.strip, lines), row
            assert row["reason"]


def test_every_mutated_module_and_its_tests_are_there():
    for module, asked in TESTS.items():
        assert (ROOT / module).is_file()
        assert all((ROOT / one).is_file() for one in asked if one.startswith("tests/"))


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_other_tools_find_the_same(name):
    """cvxpy is there for the tests; the other tools where somebody has installed them."""
    found = compare(name, CASES[name].sizes[0])
    if isinstance(found, str):
        assert name != "cvxpy"
        pytest.skip(found)
    assert all(len(numbers) > 0 for numbers in found.numbers)
    assert found.gap <= CASES[name].most


def test_a_difference_between_tools_is_seen():
    assert Found("1", ([1.0, 2.0], [1.0, 2.1]), (0.0, 0.0)).gap == pytest.approx(0.1 / 2.1)


def test_a_section_is_written_anew_and_nothing_else(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A\n\nwords\n\n### `one`\n\nold\n\n### `two`\n\nkept\n", encoding="utf-8")
    replace_section(page, "### `one`", ["new", "newer"])
    once = page.read_text(encoding="utf-8")
    assert once == "# A\n\nwords\n\n### `one`\n\nnew\nnewer\n\n### `two`\n\nkept\n"
    replace_section(page, "### `one`", ["new", "newer"])
    assert page.read_text(encoding="utf-8") == once
    replace_section(page, "### `two`", ["last"])
    assert page.read_text(encoding="utf-8").endswith("### `two`\n\nlast\n")
    with pytest.raises(ValueError, match="three"):
        replace_section(page, "### `three`", [])


def test_the_page_has_what_each_topic_printed():
    page = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    sections = dict(part.split("`", 1) for part in page.split("\n### `")[1:])
    assert set(sections) == set(TOPICS)
    for topic, section in sections.items():
        assert section.count("\n| ") >= 2, topic
