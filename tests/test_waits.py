"""No test hangs, and none depends on how fast the machine is: every wait has an end."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
FILES = sorted(TESTS.rglob("*.py"))

ENDS = {"run": "timeout", "check_call": "timeout", "check_output": "timeout", "urlopen": "timeout"}
"""Functions that wait, and what bounds them; of subprocess and urllib."""
BARE = ("wait", "communicate", "join")
"""Methods that wait for ever if nothing is given. A number bounds; an input, or words to join, do not."""


def waits_without_end(tree):
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        name, given = call.func.attr, {keyword.arg for keyword in call.keywords}
        module = getattr(call.func.value, "id", getattr(call.func.value, "attr", None))
        if name in ENDS and module in ("subprocess", "request") and ENDS[name] not in given:
            yield call
        bounded = "timeout" in given or (call.args and name != "communicate")
        if (name in BARE and not bounded) or (name == "sleep" and module == "time"):
            yield call


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("subprocess.run(command)", True),
        ("subprocess.run(command, timeout=3)", False),
        ("process.wait()", True),
        ("process.wait(3)", False),
        ("process.communicate(b'')", True),
        ("thread.join()", True),
        ("','.join(words)", False),
        ("urllib.request.urlopen(url)", True),
        ("time.sleep(1)", True),
        ("search.run(3)", False),
    ],
)
def test_the_test_itself(text, found):
    assert bool(list(waits_without_end(ast.parse(text)))) == found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(TESTS)))
def test_every_wait_has_an_end(file):
    """A sleep is a guess at a speed, too; the one place where something is looked at again is exempt."""
    found = [call.lineno for call in waits_without_end(ast.parse(file.read_text(encoding="utf-8")))]
    assert not found or file.name == "processes.py", f"lines {found}"


def test_every_test_has_a_limit(request):
    assert request.config.pluginmanager.hasplugin("timeout")
    assert 0 < float(request.config.getini("timeout")) < float(request.config.getini("faulthandler_timeout"))
