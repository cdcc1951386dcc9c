"""Do the tests notice wrong code? ``python -m benchmarks.mutants [module ...] [--number N]``.

A *mutant* is a module in which one thing is changed: a comparison made strict or not, a sign, a product, a
minimum, a constant, a condition, a flag. It *dies* if one of the tests named for its module fails, or takes
far longer than before. One that lives is *equivalent* (``equivalent_mutants.csv`` says why nobody can tell it
from the module), or a test is missing. Mutants are drawn with a fixed seed and written into a copy of the
repository; Hypothesis draws the same examples for all. CONTRIBUTING.md has the figures.
"""

from __future__ import annotations

import argparse
import ast
import copy
import csv
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot  # noqa: F401 - imported once, here, and not by each mutant
import numba
import pandas  # noqa: F401
import pytest
import scipy.optimize  # noqa: F401
from hypothesis import HealthCheck, Phase, settings

from benchmarks.mutated import TESTS

ROOT = Path(__file__).parents[1]

EQUIVALENT = ROOT / "benchmarks" / "equivalent_mutants.csv"
"""Columns module, line (what stands there), change, reason."""

LONGER, AND_MORE, MOST = 2, 3, 60
"""Tests of a mutant may take so many times as long as without it, and as many seconds more; those at most."""

SHOWN = {"plot", "summary", "to_dataframe", "_shown", "_describe"}
"""Functions that only tell what others found: no mutants of these."""

SWAPPED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub,
    ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.USub: ast.UAdd,
}  # fmt: skip

RENAMED = {"min": "max", "minimum": "maximum", "argmin": "argmax", "any": "all", "floor": "ceil"}
RENAMED |= {new: old for old, new in RENAMED.items()}


def places(node: ast.AST) -> Iterator[ast.AST]:
    """What may be mutated below a node: no texts, types and errors, and nothing that is only shown."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            unread = isinstance(child, ast.Raise | ast.JoinedStr) or getattr(child, "name", None) in SHOWN
            if isinstance(child, ast.AST) and not unread:
                yield child
                yield from places(child)


def _operator(node: Any) -> bool:
    """Another operator; of a chain of comparisons the last one."""
    if isinstance(node, ast.Compare) and type(node.ops[-1]) in SWAPPED:
        node.ops[-1] = SWAPPED[type(node.ops[-1])]()
    elif type(getattr(node, "op", None)) in SWAPPED:
        node.op = SWAPPED[type(node.op)]()
    else:
        return False
    return True


def _call(node: Any) -> bool:
    """The greatest for the least, all for any."""
    if isinstance(node, ast.Attribute) and node.attr in RENAMED:
        node.attr = RENAMED[node.attr]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RENAMED:
        node.func.id = RENAMED[node.func.id]
    else:
        return False
    return True


def _constant(node: Any) -> bool:
    """The other flag; one more, or twice as much."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, bool | int | float):
        return False
    if isinstance(node.value, bool):
        node.value = not node.value
    else:
        node.value = node.value + 1 if isinstance(node.value, int) or node.value == 0 else 2 * node.value
    return True


def _condition(node: Any) -> bool:
    """A condition turned round."""
    if not isinstance(node, ast.If | ast.IfExp):
        return False
    node.test = ast.UnaryOp(ast.Not(), node.test)
    return True


CHANGES: tuple[Callable[[Any], bool], ...] = (_operator, _call, _constant, _condition)


class Mutant(NamedTuple):
    """One change of a module."""

    number: int  # of the line
    line: str
    change: str
    text: str  # of the whole module, so changed


def mutants(source: str, number: int) -> list[Mutant]:
    """Some mutants of a module, in the order of their lines."""
    nodes = list(places(ast.parse(source)))
    possible = [
        (k, change) for k, node in enumerate(nodes) for change in CHANGES if change(copy.deepcopy(node))
    ]
    chosen = random.Random(0).sample(range(len(possible)), min(number, len(possible)))
    made, lines = [], source.splitlines()
    for k, change in (possible[c] for c in sorted(chosen)):
        tree = ast.parse(source)
        node: Any = list(places(tree))[k]
        before = ast.unparse(node).split("\n")[0]
        change(node)
        told = f"{before} -> {ast.unparse(node).split(chr(10))[0]}"
        text = ast.unparse(ast.fix_missing_locations(tree))
        made.append(Mutant(node.lineno, lines[node.lineno - 1].strip(), told, text))
    return made


class FastFirst:
    """Of pytest: runs the tests in the order of their times in the run before, which a file keeps."""

    def __init__(self, file: Path) -> None:
        self.file, self.seconds = file, json.loads(file.read_text()) if file.exists() else {}
        self.known = bool(self.seconds)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """The fastest first."""
        items.sort(key=lambda item: self.seconds.get(item.nodeid, 0.0))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Setup, call and end together."""
        if not self.known:
            self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        """Keep the times."""
        self.file.write_text(json.dumps(self.seconds))


def run(tests: tuple[str, ...], times: Path, limit: int) -> tuple[bool, float]:
    """Whether tests pass within so many seconds of processor time, and how many they took, in a fork."""
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile", "mutants"]
        options += ["--tb=no", "-W", "ignore:Module already imported"]
        os._exit(pytest.main([*options, *tests], plugins=[FastFirst(times)]))
    _, status, usage = os.wait4(child, 0)
    return status == 0, usage.ru_utime + usage.ru_stime


def alive(module: str, number: int, folder: Path) -> tuple[int, list[Mutant]]:
    """How many mutants of a module there are, and those that its tests let live."""
    path, times = folder / module, folder / "times.json"
    times.unlink(missing_ok=True)
    sys.dont_write_bytecode = False
    well, seconds = run(TESTS[module], times, MOST)
    if not well:
        return 0, [Mutant(0, "", "its tests fail, or take too long, without a change", "")]
    # Of a mutant nothing is kept: its bytecode would have the name of the module's.
    sys.dont_write_bytecode = True
    made, left = mutants(path.read_text(), number), []
    for mutant in made:
        path.write_text(mutant.text)
        if run(TESTS[module], times, int(LONGER * seconds) + AND_MORE)[0]:
            left.append(mutant)
    shutil.copy2(ROOT / module, path)
    return len(made), left


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__.split("\n")[0])
    parser.add_argument("modules", nargs="*", help="files of the table (default: all)")
    parser.add_argument("--number", type=int, default=20, help="mutants of each module")
    chosen = parser.parse_args()
    with EQUIVALENT.open() as file:
        equivalent = {(row["module"], row["line"], row["change"]) for row in csv.DictReader(file)}
    settings.register_profile(
        "mutants",
        database=None,
        derandomize=True,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],  # no search for the smallest example
        suppress_health_check=[HealthCheck.too_slow],
    )
    print(f"{'module':<46}{'mutants':>8}{'killed':>8}{'equivalent':>12}{'alive':>7}{'seconds':>9}")
    lived = 0
    with tempfile.TemporaryDirectory(prefix="mutants") as name:
        folder = Path(name)
        shutil.copytree(ROOT, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*", "out", "docs"))
        # Compiling the kernels of a mutant takes longer than interpreting them.
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        numba.config.reload_config()
        os.chdir(folder)
        sys.path.insert(0, name)
        for module in chosen.modules or TESTS:
            begun = time.monotonic()
            made, left = alive(module, chosen.number, folder)
            missed = [one for one in left if (module, one.line, one.change) not in equivalent]
            lived += len(missed)
            counts = f"{made:>8}{made - len(left):>8}{len(left) - len(missed):>12}{len(missed):>7}"
            print(f"{module:<46}{counts}{time.monotonic() - begun:>9.0f}", flush=True)
            for one in missed:
                print(f"    line {one.number}: {one.change}", flush=True)
    return int(lived > 0)


if __name__ == "__main__":
    sys.exit(main())
