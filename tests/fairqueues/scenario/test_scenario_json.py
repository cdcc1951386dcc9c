"""Scenarios of JSON: the same content as in TOML, the same errors, with the lines of their own text."""

import json
import math
import re
import tomllib

import pytest

from fairqueues.console.inputs import examples
from fairqueues.json_text import JsonLines, json_of
from fairqueues.scenario import Scenario, ScenarioError
from fairqueues.scenario.reading import read_document
from tests.fairqueues.commands.command_line import as_json
from tests.fairqueues.scenario.test_scenario_errors import WRONG

TEXT = """\
{"title": "t", "policies": ["drf"],
 "pool": {
  "demands": [[1, 4],
   [3, 1]],
  "capacities": [9, 18]}}"""
TRANSLATED = []
for toml_text, _, key, said in WRONG:
    try:
        data = tomllib.loads(toml_text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        continue
    words = json.dumps(data, default=str)
    if data and "Infinity" not in words and "NaN" not in words and "write it" not in said:
        TRANSLATED.append((data, key, said))


def test_every_shipped_scenario_is_the_same_in_json():
    for path in examples().values():
        text = path.read_text()
        document, _ = read_document(text, "s.toml")
        assert read_document(json_of(tomllib.loads(text)), "s.json")[0] == document
        assert read_document(json_of(document.model_dump(exclude_unset=True)), "s.json")[0] == document


@pytest.mark.long
@pytest.mark.parametrize("k", range(len(TRANSLATED)))
def test_what_is_wrong_in_toml_is_wrong_in_json(k):
    data, key, said = TRANSLATED[k]
    text = json.dumps(data, indent=1)
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse(text, "s.json")
    assert re.match(rf"s\.json, line \d+{', ' * bool(key)}{re.escape(key)}: .*{said}", str(caught.value))
    assert "\n" not in str(caught.value)


def test_enough_errors_are_told_in_both():
    assert len(TRANSLATED) > 0.8 * len(WRONG)


def test_lines_are_those_of_the_text():
    """Each leaf is marked in turn, and the line of the mark is looked up in the text."""
    data = {"a": [1, {"b": [[2], []], "c d": 'x"{[,'}], "e": {"f": None, "g": {}}, "h\n": "\\"}
    plain = JsonLines(json.dumps(data, indent=2))

    def leaves(value, path):
        inner = (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        )
        for part, one in inner:
            yield value, part, (*path, part)
            yield from leaves(one, (*path, part))

    for holder, part, path in list(leaves(data, ())):
        kept, holder[part] = holder[part], "@mark"
        marked = json.dumps(data, indent=2).splitlines()
        holder[part] = kept
        assert plain.nearest(path) == next(k for k, line in enumerate(marked, 1) if "@mark" in line)
        assert path in plain
    for path in (("a", 2), ("a", "b"), ("e", 0), ("x",), ("a", 0, 0)):
        assert path not in plain
    assert plain.nearest(("a", 1, "b", 7)) == plain.nearest(("a", 1, "b"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TEXT.replace("[3, 1]", "[3, -1]"), r"line 4, pool.demands\[1\]\[1\]: got -1"),
        (TEXT.replace("capacities", "capacites"), "line 5, pool: unknown key 'capacites'; did you mean"),
        (
            TEXT.replace('"capacities"', '"seed": 1, "capacities"'),
            "unknown key 'seed'; write it beside 'pool'",
        ),
        (TEXT.replace("[3, 1]", "[3, null]"), r"line 4, pool.demands\[1\]\[1\]: got null"),
        (TEXT.replace("[3, 1]", "[3, NaN]"), "NaN is no number of JSON"),
        (TEXT.replace("[3, 1]", "[3, 1,]"), "s.json, line 4: no JSON"),
        (TEXT.replace('"title": "t"', '"policies": []'), "key 'policies' is given twice"),
        ("[" * 50, "no JSON"),
        ("[1]", "line 1: give one object of tables"),
        ('{"a": ' * 30 + "1" + "}" * 30, "nested too deeply"),
        ('{"seed":\n ' + "9" * 5000 + "}", "line 2: a number of thousands of digits"),
        ("{}", "line 1: the file is empty"),
        ("", "line 1: no JSON"),
    ],
)
def test_json_that_is_no_scenario(text, said):
    with pytest.raises(ScenarioError, match=said) as caught:
        Scenario.parse(text, "s.json")
    assert str(caught.value).startswith("s.json")


def test_null_is_nothing_or_no_limit():
    text = TEXT.replace('"capacities"', '"limits": [null, 2], "weights": null, "capacities"')
    pool = Scenario.parse(text.replace('"title": "t"', '"traffic": null')).model
    assert (pool.limits.tolist(), pool.weights.tolist()) == ([math.inf, 2], [1, 1])


@pytest.mark.long
def test_commands_take_json_files(tmp_path):
    (tmp_path / "two.json").write_text(TEXT)
    found = as_json("allocate", str(tmp_path / "two.json"))
    assert [row["tasks"] for row in found["results"]] == [3, 2]
