"""The documentation runs as printed, its links lead somewhere, and every public name is in the reference."""

import ast
import doctest
import importlib
import inspect
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import PATIENCE

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md") if "generated" not in p.parts)
PACKAGES = (
    "fairness",
    "fairness.properties",
    "fairness.cloud",
    "fairness.indivisible",
    "queueing",
    "capacity",
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page, language):
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"))


def name_of(page):
    return str(page.relative_to(DOCS))


@pytest.mark.parametrize(
    "page", [p for p in PAGES if any(">>>" in b for b in blocks(p, "python"))], ids=name_of
)
def test_python_blocks_run_as_printed(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest(
        "\n".join(blocks(page, "python")), {"here": tmp_path}, page.name, str(page), 0
    )
    assert examples.examples
    problems = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(examples, out=problems.append, clear_globs=False)
    assert runner.failures == 0, "".join(problems)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


# The tutorial's are long, and test_newcomer runs them as well.
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(p, marks=[pytest.mark.long] * (p.name == "tutorial.md"))
        for p in PAGES
        if blocks(p, "console")
    ],
    ids=name_of,
)
def test_commands_print_what_is_printed(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    for name, content in re.findall(r"(?s)Save this as `([^`]+)`:\s+```toml\n(.*?)```", text):
        (tmp_path / name).write_text(content, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120", "NO_COLOR": "1"}
    checker = doctest.OutputChecker()
    for block in blocks(page, "console"):
        for command, expected in re.findall(r"(?ms)^\$ (.*?)\n(.*?)(?=^\$ |\Z)", block):
            program, *arguments = shlex.split(command)
            assert program == "fairqueues"
            run = subprocess.run(
                [sys.executable, "-m", "fairqueues", *arguments],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
            printed = run.stdout or run.stderr
            assert checker.check_output(expected, printed, FLAGS), f"{command}\n{printed}"
            for option in ("--out", "--report"):
                if option in arguments:
                    assert (tmp_path / arguments[arguments.index(option) + 1]).stat().st_size > 0


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    targets = {t for p in PAGES for t in re.findall(r"(?m)^\(([\w-]+)\)=$", p.read_text(encoding="utf-8"))}
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        if path and "generated" not in path:
            assert (page.parent / path).resolve().exists(), link
        if anchor and not path:
            assert anchor in targets, link


@pytest.mark.parametrize("page", [p for p in PAGES if "{py:" in p.read_text(encoding="utf-8")], ids=name_of)
def test_names_of_the_text_exist(page):
    for role, name in re.findall(r"\{py:(\w+)\}`~?([\w.]+)`", page.read_text(encoding="utf-8")):
        if role == "mod":
            importlib.import_module(name)
            continue
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


def listed():
    """Names of the hand-written reference pages, with their modules."""
    found = set()
    for page in (DOCS / "reference").glob("*.rst"):
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith(".. currentmodule::"):
                module = line.split()[-1]
            elif re.fullmatch(r"   \w+", line):
                found.add((module, line.strip()))
    return found


@pytest.mark.parametrize("package", [*PACKAGES, "proofs"])
def test_every_public_name_is_in_the_reference(package):
    names = set(importlib.import_module(package).__all__)
    mine = {name for module, name in listed() if module == package}
    assert mine == names


def missing_sections(function):
    text = inspect.getdoc(function) or ""
    signature = inspect.signature(function)
    lacking = [] if text else ["summary"]
    if signature.parameters and "Parameters\n---" not in text:
        lacking.append("Parameters")
    if signature.return_annotation not in (None, "None") and "Returns\n---" not in text:
        lacking.append("Returns")
    if ">>>" not in text:
        lacking.append("Examples")
    return lacking


def test_public_functions_say_arguments_results_and_an_example():
    functions = {
        f"{package}.{name}": getattr(importlib.import_module(package), name)
        for package in (*PACKAGES, "proofs")
        for name in importlib.import_module(package).__all__
    }
    lacking = {n: missing_sections(f) for n, f in functions.items() if inspect.isfunction(f)}
    assert {n: what for n, what in lacking.items() if what} == {}


def test_every_source_file_says_what_it_is():
    """The pages made from module docstrings leave no module out."""
    for package in ("fairness", "queueing", "capacity", "proofs"):
        for path in (ROOT / package).rglob("*.py"):
            assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


def test_refuted_statements_are_sorted():
    """Each statement that a case refutes stands once on the page on errors, under who says so."""
    from proofs import Counterexample, Said, check, statements

    sys.path.insert(0, str(DOCS / "_ext"))
    try:
        papers = pytest.importorskip("papers", reason="Sphinx comes with the extra docs")
    finally:
        sys.path.pop(0)
    assert set(papers.KINDS) == set(Said)
    refuted = [
        s for s in statements() if any(isinstance(t.claim, Counterexample) for t in s.ask(s.question()))
    ]
    proved = check("br-feasible")
    page = papers.errors_page([proved, *(check(s.id) for s in refuted)])
    parts = page.split("\n## ")[1:]
    assert len(parts) == len(Said)
    for said, part in zip(papers.KINDS, parts, strict=True):
        shown = re.findall(r"(?m)^: .*, `([^`]+)`$", part)
        assert sorted(shown) == sorted(s.id for s in refuted if s.said == said)
    assert proved.id not in page


def test_the_page_of_statements_shows_kind_remark_and_who_says_so():
    from proofs import check_all
    from proofs.catalogue import statement_named

    sys.path.insert(0, str(DOCS / "_ext"))
    try:
        papers = pytest.importorskip("papers", reason="Sphinx comes with the extra docs")
    finally:
        sys.path.pop(0)
    chosen = [statement_named(name) for name in ("br-feasible", "psdsf-resource-unique", "psdsf-figure-1")]
    lines = papers.statements_page(check_all([s.id for s in chosen]).verdicts).splitlines()
    for s in chosen:
        (row,) = [line for line in lines if line.startswith(f"| `{s.id}`")]
        assert s.said in row
        assert papers._safe(s.remark) in row
    assert any("**PROVED**, for the finite sizes named" in line for line in lines)
    assert any("by a second definition: 5" in line for line in lines)


def test_the_page_of_commands_shows_every_command(monkeypatch):
    from fairqueues.commands.app import COMMANDS

    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    monkeypatch.setenv("COLUMNS", "90")
    text = importlib.import_module("source_pages").commands()
    for name, (_, example) in COMMANDS.items():
        assert f"Usage: fairqueues {name}" in text
        assert example in " ".join(text.split())
