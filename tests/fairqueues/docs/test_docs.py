"""What is written runs as printed, its links lead somewhere, and every public name is in the reference."""

import ast
import doctest
import importlib
import importlib.util
import inspect
import itertools
import re
import shlex
import subprocess
import sys

import pytest

from fairqueues.commands.app import COMMANDS
from fairqueues.console.options import documented
from proofs import Counterexample, Said, check, check_all, statements
from proofs.catalogue import statement_named
from tests.fairqueues.commands.command_line import ROOT, environment
from tests.processes import PATIENCE

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
PAGES += sorted(p for p in DOCS.rglob("*.md") if "generated" not in p.parts)
SLOW = (
    "allocate",
    "clusters",
    "command_line",
    "explain",
    "letters",
    "memory",
    "parameters",
    "regions",
    "replay",
    "scheduler",
    "sizes",
    "sweeps",
    "ten_tasks",
    "traffic",
)
"""Pages whose examples take seconds."""
NEWCOMER = ("README.md", "tutorial.md")
"""Pages that a newcomer reads: test_newcomer runs them where nothing but the wheel is installed."""
ROOMS = ("results", "properties", "cloud", "indivisible")
PACKAGES = (
    "fairness",
    *(f"fairness.{room}" for room in ROOMS),
    "queueing",
    "queueing.results",
    "capacity",
    "capacity.results",
    "proofs",
    "proofs.symbolic",
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page, language):
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"))


def commands(page):
    """Commands of the console blocks of a page, each with what it prints."""
    return re.findall(r"(?ms)^\$ (.*?)\n(.*?)(?=^\$ |\Z)", "".join(blocks(page, "console")))


def check_commands(page, folder, call):
    """The files of the page are saved, and its commands, called in the folder, print what is printed."""
    text = page.read_text(encoding="utf-8")
    for name, content in re.findall(r"(?s)Save this as `([^`]+)`:\s+```\w+\n(.*?)```", text):
        (folder / name).write_text(content, encoding="utf-8")
    checker = doctest.OutputChecker()
    for command, expected in commands(page):
        printed, code = call(command)
        assert checker.check_output(expected, printed, FLAGS), f"$ {command}\n{printed}"
        assert code == (2 if expected.startswith("fairqueues: ") else 0), f"$ {command}\n{printed}"
        for written in re.findall(r"(?:--out|--report|--checkpoint|>) (\S+)", command):
            assert (folder / written).stat().st_size > 0, command


def every_page(condition):
    pages = [
        pytest.param(page, marks=pytest.mark.long) if page.stem in SLOW else page
        for page in PAGES
        if condition(page)
    ]
    return pytest.mark.parametrize("page", pages, ids=lambda page: str(page.relative_to(ROOT)))


@every_page(lambda page: any(">>>" in b for b in blocks(page, "python")) and page.name not in NEWCOMER)
def test_python_blocks_run_as_printed(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest(
        "\n".join(blocks(page, "python")), {"here": tmp_path}, page.name, str(page), 0
    )
    assert len(examples.examples) == len(re.findall(r"(?m)^ *>>> ", page.read_text(encoding="utf-8")))
    problems = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(examples, out=problems.append, clear_globs=False)
    assert runner.failures == 0, "".join(problems)


@every_page(lambda page: commands(page) and page.name not in NEWCOMER)
def test_commands_print_what_is_printed(page, tmp_path):
    def call(command):
        name, *arguments = shlex.split(command)
        assert name == "fairqueues"
        done = subprocess.run(
            [sys.executable, "-m", name, *arguments], cwd=tmp_path, capture_output=True, text=True,
            env=environment(COLUMNS="120", NO_COLOR="1"), timeout=PATIENCE,
        )  # fmt: skip
        return done.stdout or done.stderr, done.returncode

    check_commands(page, tmp_path, call)


@every_page(lambda page: True)
def test_links_lead_somewhere(page):
    text = re.sub(r"(?s)```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"))  # no link stands in code
    targets = {t for p in PAGES for t in re.findall(r"(?m)^\(([\w-]+)\)=$", p.read_text(encoding="utf-8"))}
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        if path and "generated" not in path:
            assert (page.parent / path).resolve().exists(), link
        if anchor and not path:
            assert anchor in targets, link


@every_page(lambda page: "{py:" in page.read_text(encoding="utf-8"))
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


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_in_the_reference(package):
    names = set(importlib.import_module(package).__all__)
    mine = {name for module, name in listed() if module == package}
    assert mine == names


def test_data_of_the_reference_say_what_they_are(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    docstring = importlib.import_module("data_docs").docstring
    values = {(module, name): getattr(importlib.import_module(module), name) for module, name in listed()}
    data = {place for place, value in values.items() if not callable(value)}
    assert {("fairness", "CATALOGUE"), ("queueing.simulation.tasks.schedulers", "Scheduler")} <= data
    assert [place for place in data if not docstring(*place)] == []


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
        for package in PACKAGES
        for name in importlib.import_module(package).__all__
    }
    lacking = {n: missing_sections(f) for n, f in functions.items() if inspect.isfunction(f)}
    assert {n: what for n, what in lacking.items() if what} == {}


ENTRIES = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns")
"""Sections of a docstring where what is not indented is a name."""
ROOTS = ("fairness", "queueing", "capacity", "proofs", "fairqueues", "examples", "benchmarks", "docs")


def taken_for_names(text):
    """Paragraphs after the entries of a section, which numpydoc would set as names of parameters."""
    found, section, before = [], "", ""
    for line, after in itertools.pairwise([*text.splitlines(), ""]):
        if line and re.fullmatch("-{3,}", after):
            section = line
        elif section in ENTRIES and line and not line[0].isspace() and not before:
            found.append(line)
        before = line.strip()
    return found


def test_no_text_stands_where_names_of_parameters_do():
    entries = "A text.\n\nParameters\n----------\nx : int\n    One.\n\n    More.\ny : int\n\n"
    assert taken_for_names(entries + "Notes\n-----\nWords.\n\nMore words.") == []
    assert taken_for_names(entries + "Words.") == ["Words."]
    found = {}
    for path in sorted(path for root in ROOTS for path in (ROOT / root).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            if lines := taken_for_names(ast.get_docstring(node) or ""):
                found[f"{path.relative_to(ROOT)}: {getattr(node, 'name', 'module')}"] = lines
    assert found == {}


@pytest.fixture
def papers(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    return importlib.import_module("papers")


@pytest.mark.long
def test_refuted_statements_are_sorted(papers):
    """Each statement that a case refutes stands once on the page on errors, under who says so."""
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


def test_the_page_of_statements_shows_kind_remark_and_who_says_so(papers):
    chosen = [statement_named(name) for name in ("br-feasible", "psdsf-resource-unique", "psdsf-figure-1")]
    lines = papers.statements_page(check_all([s.id for s in chosen]).verdicts).splitlines()
    for s in chosen:
        (row,) = [line for line in lines if line.startswith(f"| `{s.id}`")]
        assert s.said in row
        assert papers.safe(s.remark) in row
    assert any("**PROVED**, for the finite sizes named" in line for line in lines)
    assert any("by a second definition: 5" in line for line in lines)


@pytest.mark.parametrize(
    ("told", "written"),
    [
        ("t <= 1 + log c/log(1 - epsilon)", "t ≤ 1 + log c/log(1 - ε)"),
        ("(1 - epsilon)^(t-1) > c", r"(1 - ε)<sup>t-1</sup> \> c"),
        ("O(|R|^2 |N|), `a^2 <= b_1`", r"O(\|R\|<sup>2</sup> \|N\|), `a^2 <= b_1`"),
    ],
)
def test_words_of_statements_are_set_with_powers_and_signs(papers, told, written):
    assert papers.safe(told) == written


def test_the_page_of_commands_shows_every_command(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    monkeypatch.setenv("COLUMNS", "90")
    text = importlib.import_module("source_pages").commands()
    for name, command in COMMANDS.items():
        example = documented(command)[1]
        assert f"Usage: fairqueues {name}" in text
        assert example in " ".join(text.split())
