"""Every argument that a message recommends is one that can be given: to the function, and to the command.

The sources are read, so that a message which no test provokes is looked at, too. Where it is raised is found
by name: a function reaches what it mentions.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

from fairqueues.commands.app import app
from fairqueues.console.remedies import ARGUMENTS, WHERE, placed, recommended
from fairqueues.scenario.sections import SECTIONS

pytestmark = pytest.mark.long  # all sources are read

ROOT = Path(__file__).parent.parent
PACKAGES = ("fairness", "queueing", "capacity")
MODEL = {"demands", "capacities", "weights", "limits", "eligible", "gamma"}
MODEL |= {"arrival_rates", "mean_sizes", "loads"}
"""Arguments of Problem, Cluster and System, which every function is given one of."""

NETWORKS = ("queueing.networks.topology", "queueing.networks.gravity")
PUBLIC = (*PACKAGES, "fairness.cloud", "fairness.indivisible", *NETWORKS)
RAISERS = ("ModelError", "NotConvergedError", "InfeasibleError", "UnstableError", "require_memory")


@dataclass(frozen=True)
class Site:
    """A message, and the functions that mention the function it stands in, and so on."""

    where: str
    message: str
    names: tuple[str, ...]
    public: tuple[str, ...]


def text(node):
    """The words of a message; what is filled in is left out."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(text(v) for v in node.values)
    if isinstance(node, ast.BinOp):
        return text(node.left) + text(node.right)
    if isinstance(node, ast.IfExp):
        return text(node.body) + " " + text(node.orelse)
    return "_" if isinstance(node, ast.FormattedValue) else " "


@cache
def functions():
    """(file, name, node) of every function, method and class."""
    return [
        (path.relative_to(ROOT), node.name, node)
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        # Making an object, or using a class, is mentioning its methods.
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]


def arguments(node):
    """Those of a function."""
    return [*node.args.args, *node.args.kwonlyargs]


def mentioned(node):
    """Names in a function; of a class also those of its methods: who makes an object calls some of them."""
    fields = {ast.FunctionDef: "name", ast.Name: "id", ast.Attribute: "attr"}
    return {getattr(n, fields[type(n)]) for n in ast.walk(node) if type(n) in fields}


def raised(node):
    """Calls that make an error, by its class or by its ``of``."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            of = isinstance(call.func, ast.Attribute) and call.func.attr == "of"
            if getattr(call.func.value if of else call.func, "id", "") in RAISERS:
                yield call


def public():
    """Exported functions and classes by name, with their arguments."""
    found = {}
    for module in map(importlib.import_module, PUBLIC):
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing) and not (inspect.isclass(thing) and issubclass(thing, Exception)):
                found[name] = set(inspect.signature(thing).parameters)
                for part, method in vars(thing).items() if inspect.isclass(thing) else ():
                    if callable(method) and not part.startswith("__"):
                        found[name] |= set(inspect.signature(method).parameters)
    return found


@pytest.fixture(scope="module")
def sites():
    defined = functions()
    users = {}
    for _, name, node in defined:
        for other in mentioned(node):
            users.setdefault(other, set()).add(name)
    exported = set(public())

    @cache
    def reaching(name):
        """Exported functions that mention it, or a function that does, and so on."""
        above, stack = {name}, [name]
        while stack:
            new = users.get(stack.pop(), set()) - above
            above |= new
            stack += new
        return tuple(sorted(above & exported))

    found = []
    for path, name, node in defined:
        for call in () if isinstance(node, ast.ClassDef) else raised(node):
            # ModelError.of(argument, said), or ModelError(message).
            of = isinstance(call.func, ast.Attribute)
            message = text(call.args[1]) if of else "; ".join(text(argument) for argument in call.args)
            if names := tuple(recommended(message)):
                found.append(Site(f"{path}:{call.lineno}", message, names, reaching(name)))
    assert len(found) > 60  # the walk finds them
    return found


def test_what_a_message_recommends_is_an_argument_of_what_raises_it(sites):
    exported = public()
    wrong = [
        f"{site.where}: {name} in {site.message!r}"
        for site in sites
        for name in site.names
        if name not in MODEL and not any(name in exported[function] for function in site.public)
    ]
    assert not wrong, "\n".join(wrong)


def test_an_error_about_an_argument_tells_it():
    """A message that begins with a parameter of what raises it, or a field, is made by ``ModelError.of``."""
    wrong = []
    for path, _, node in functions():
        calls = [call for call in raised(node) if isinstance(call.func, ast.Name)]
        if not calls:
            continue
        known = {a.arg for n in ast.walk(node) if isinstance(n, ast.FunctionDef) for a in arguments(n)}
        if isinstance(node, ast.ClassDef):
            known |= {ast.unparse(n.target) for n in node.body if isinstance(n, ast.AnnAssign)}
        for call in calls:
            if call.func.id != "require_memory" and call.args:
                first, *rest = text(call.args[0]).split(" ")
                told = any(keyword.arg in ("argument", None) for keyword in call.keywords)
                if first in known and rest and rest[0] in ("must", "has", "have", "is", "are") and not told:
                    wrong.append(f"{path}:{call.lineno}: {text(call.args[0])!r}")
    assert not wrong, "\n".join(sorted(set(wrong)))


def test_every_argument_of_the_library_is_recognised_in_a_remedy(sites):
    exported = public()
    keywords = {name for parameters in exported.values() for name in parameters if "_" in name}
    missed = {
        (site.where, word)
        for site in sites
        for word in keywords
        if f" {word}" in site.message.rpartition(";")[2].replace(",", " ")
        and word not in ARGUMENTS
        and word not in exported
        and f"raise {word}" in site.message
    }
    assert not missed


@pytest.mark.parametrize("command", WHERE)
def test_places_exist(command):
    options = {o for p in get_command(app).commands[command].params for o in p.opts}
    for argument, place in WHERE[command].items():
        key, inside, section = place.partition(" in ")
        if place.startswith("--"):
            assert place in options, f"{argument}: {place}"
        elif inside:
            assert key in SECTIONS[section.strip("[]")].model_fields, f"{argument}: {place}"
        else:
            assert place == f"{argument} of the model" or place == "counts of the file"


def test_words_that_are_no_arguments_are_left_alone():
    assert recommended("the times differ; rates must not differ by so many decades") == []
    assert recommended("shape (3,) is wrong; got shape (2,)") == []
    assert recommended("too large; use method='filling', or raise max_sweeps") == ["method", "max_sweeps"]
    assert placed("no semicolon, raise tail", "solve") == "no semicolon, raise tail"
    assert placed("too long; reduce the horizon", None) == "too long; reduce the horizon"


def test_functions_are_told_as_commands():
    table = "takes 9 GiB; simulate fewer classes, or take DRFScheduler, which starts whole tasks"
    assert placed(table, "simulate") == f"{table} (here: --level tasks)"
    chain = "8 classes; use simulate, balanced_fairness or the fluid limit"
    assert placed(chain, "solve") == f"{chain} (here: fairqueues simulate, fairqueues fluid)"
    assert placed("no law; simulate longer", "solve") == "no law; simulate longer"
    assert placed(chain, None) == chain
