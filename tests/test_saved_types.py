"""What is saved names no module: the table of names, and the files that were written before there was one.

``golden/`` holds what fairqueues 0.1.0 wrote when files named modules (format 1): an object of every type of
the table, and a checkpoint of each kind, all of them finished.
"""

import ast
import dataclasses
import gzip
import importlib
import inspect
import json
import pkgutil
import re
import sys
import types
from enum import Enum
from functools import cache, partial
from pathlib import Path

import pytest

import capacity
import fairness
import proofs
import queueing
from fairness import DRF, AlphaFair, AssetFair, ModelError, Problem, Result
from fairness.display import saved_types, storage
from fairness.display.saved_types import saved_type, type_called
from fairness.files import read_whole
from fairness.machine.checkpoint import Checkpoint
from fairness.properties import audit
from fairness.results import Allocation
from fairqueues.console.conjectures import own_statements
from fairqueues.errors import WrongUse
from fairqueues.exchange import read_problem
from fairqueues.scenario import Scenario
from queueing import ClusterTrace, DRFScheduler, NodeList
from queueing.networks.graph_files import read_graphml
from tests.markup import CLASSES, RESOURCES

GOLDEN = Path(__file__).parent / "golden"
PACKAGES = ("fairness", "queueing", "capacity", "proofs", "fairqueues")
POOL = Problem([[1, 4], [3, 1]], [9, 18])


def called(document):
    """What a document calls the types of its parts and values, with the fields of each."""
    pairs = document.items() if isinstance(document, dict) else enumerate(document)
    found = {}
    for key, value in pairs:
        inside = {}
        if key in ("class", "named", "enum"):
            inside = {value if key != "enum" else value[0]: frozenset(document.get("fields", ()))}
        elif isinstance(value, dict | list):
            inside = called(value)
        for name, names in inside.items():
            found[name] = found.get(name, frozenset()) | names
    return found


@cache
def golden():
    """All that was written in format 1, by name."""
    return storage.read(GOLDEN / "results-1.json.gz")


@cache
def golden_types():
    """The fields of each type in format 1, by its name in the table."""
    document = json.loads(gzip.decompress((GOLDEN / "results-1.json.gz").read_bytes()))
    return {type_called(place).name: fields for place, fields in called(document).items()}


def table():
    return saved_types._by("name")


# --- files of format 1 --------------------------------------------------------------------------------


def test_results_of_format_1_are_read():
    for name, result in golden().items():
        if name != "others":
            assert type(result).__name__ == {"StabilityRegion": "PoolRegion"}.get(name, name)
            assert result.summary()
            assert result.to_dataframe().size > 0
    again = Allocation.load(GOLDEN / "drf-1.json")
    assert again.tasks.tolist() == fairness.allocate(again.problem, DRF(), [1, 2]).tasks.tolist()


def test_what_format_1_held_is_written_and_read_again(tmp_path):
    path = tmp_path / "again.json"
    for name, thing in golden().items():
        storage.write(thing, path)
        document = json.loads(path.read_text())
        assert document["format"] == "fairqueues result, 2"
        assert not [one for one in called(document) if one not in table()], name
        assert storage.dumps(storage.read(path)) == storage.dumps(thing), name


def test_every_type_of_the_first_table_was_in_a_file():
    """Rows are never taken out, and first places never changed: the golden file would not be read."""
    assert set(golden_types()) == {name for name, row in table().items() if row.first}


# Called like the one that wrote the golden file; what was finished is not computed again.
def loaded(load):
    raise AssertionError("a finished point was computed again")


def recorded():
    trace = ClusterTrace(
        RESOURCES, ["cores", "$"], [0, 2, 3], [5, 1, 1], [[1, 0.5], [2, 0]], [0, 1, 1], CLASSES, [0, 1, 0],
        models=CLASSES, eligible_models=[[True, False], [True, True]], devices=1, jobs=[0, 1, 1],
        notes=CLASSES,
    )  # fmt: skip
    return trace, NodeList(CLASSES, RESOURCES, ["cores", "$"], [[4, 8], [4, 0]], CLASSES)


CALLS = {
    "audit": lambda path: audit([DRF(), AssetFair()], ["SI", "EF"], budget=60, rng=1, resume=path),
    "sweep": lambda path: capacity.sweep(
        loaded, [DRF(), AlphaFair(1 / 3)], {"load": [0.25, 0.5]}, ("mean_jobs",), checkpoint=path
    ),
    "replay": lambda path: queueing.replay(*recorded(), DRFScheduler(blocking=False), checkpoint=path),
}


@pytest.mark.parametrize("kind", CALLS)
def test_checkpoints_of_another_release_go_on_or_are_refused_by_its_number(kind, tmp_path):
    path = tmp_path / kind
    path.write_bytes(gzip.decompress((GOLDEN / f"{kind}-1.gz").read_bytes()))
    with Checkpoint(path, kind, "path") as store:
        before = dict(store.pieces)
    if kind == "replay":
        fresh = queueing.replay(*recorded(), DRFScheduler(blocking=False), rng=1)
        assert CALLS[kind](path).to_dataframe().equals(fresh.to_dataframe())
    else:
        with pytest.raises(ModelError, match=r"version was '0\.1\.0.*' there"):
            CALLS[kind](path)
    with Checkpoint(path, kind, "path") as store:
        assert store.pieces == before


# --- the table ----------------------------------------------------------------------------------------


def test_each_row_is_a_type_in_its_place():
    rows = list(table().values())
    assert list(table()) == sorted(table())
    assert len({row.place for row in rows}) == len(rows)
    for row in rows:
        found = row.found()
        assert saved_type(found) == row
        assert re.fullmatch(rf"({'|'.join(PACKAGES)})\.[A-Z]\w+", row.name)
        assert row.format == 1 or callable(found.upgraded)


NOT_SAVED = {
    "queueing.Order": "a base class of one's own orders",
    "queueing.OwnScheduler": "a base class of one's own schedulers",
    "queueing.Placement": "a base class of one's own rules",
    "queueing.PresentJob": "what one's own scheduler is shown",
    "queueing.SystemState": "what one's own scheduler is shown",
    "fairness.Property": "a checker, which is code",
    "fairness.Question": "what a checker is asked",
    "proofs.Chained": "holds functions",
    "proofs.Citation": "holds functions",
    "proofs.Computation": "holds functions",
    "proofs.Counterexample": "holds functions",
    "proofs.Enumeration": "holds functions",
    "proofs.Implication": "holds functions",
    "proofs.Rule": "a part of a claim",
    "proofs.StateInduction": "holds functions",
    "proofs.InWords": "a step of a statement",
    "proofs.Induction": "holds functions",
    "proofs.Question": "holds functions",
    "proofs.Said": "of a statement",
    "proofs.Search": "holds functions",
    "proofs.Size": "of a statement",
    "proofs.Statement": "holds functions",
    "proofs.Step": "holds functions",
    "proofs.SumSchema": "holds functions",
    "proofs.Conditions": "what a definition asks of an allocation, which is code",
    "proofs.DriftCell": "a piece of a picture",
    "fairqueues.ImportedCluster": "written as a scenario",
    "fairqueues.Scenario": "written as a scenario",
    "fairqueues.State": "kept in the address of a page",
}
"""Public types that files do not hold, and why."""


def own_modules():
    for package in map(importlib.import_module, PACKAGES):
        yield package
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                yield importlib.import_module(module.name)


def concrete(cls):
    """A class and its subclasses that can be made; of this project only."""
    below = {one for sub in cls.__subclasses__() for one in concrete(sub)}
    own = cls.__module__.partition(".")[0] in PACKAGES and not inspect.isabstract(cls)
    return below | ({cls} if own else set())


def is_data(cls):
    return dataclasses.is_dataclass(cls) or issubclass(cls, tuple | Enum)


def test_no_public_type_is_missing():
    """All results, the policies of the catalogue, and whatever data a package exports."""
    public = {}
    for module in own_modules():
        for name in getattr(module, "__all__", ()) if hasattr(module, "__path__") else ():
            thing = getattr(module, name)
            if inspect.isclass(thing) and not inspect.isabstract(thing) and not issubclass(thing, Exception):
                public[f"{thing.__module__.partition('.')[0]}.{name}"] = thing
    assert {name for name, cls in public.items() if saved_type(cls) is None} == set(NOT_SAVED)
    results = concrete(Result) | {proofs.Verdict}
    policies = {type(entry.policy) for entry in fairness.CATALOGUE + fairness.CLUSTER_CATALOGUE}
    assert len(results) > 50
    assert not [cls for cls in results | policies if saved_type(cls) is None]


def annotated(cls):
    """Classes of this project that the annotations of the fields of a class name."""
    for owner in cls.__mro__:
        if owner.__module__.partition(".")[0] not in PACKAGES:
            continue
        source = ast.walk(ast.parse(inspect.getsource(sys.modules[owner.__module__])))
        known = dict(vars(sys.modules[owner.__module__]))
        for line in source:
            if isinstance(line, ast.ImportFrom) and line.module and line.module.startswith(PACKAGES):
                module = importlib.import_module(line.module)
                known |= {a.asname or a.name: getattr(module, a.name, None) for a in line.names}
        for annotation in map(str, inspect.get_annotations(owner).values()):
            names = () if "ClassVar" in annotation else re.findall(r"\w+", annotation)
            yield from (known[name] for name in names if inspect.isclass(known.get(name)))


def test_no_type_is_missing_that_a_field_may_hold():
    """By the annotations of the fields of all types of the table, and their subclasses."""
    list(own_modules())
    missing = set()
    for row in table().values():
        for cls in annotated(row.found()):
            missing |= {one for one in concrete(cls) if is_data(one) and saved_type(one) is None}
    assert missing == set()


def test_a_name_outlives_its_module(tmp_path, monkeypatch):
    """A class in another module, as after a change of the house."""
    path, elsewhere = tmp_path / "drf.json", types.ModuleType("fairness.elsewhere")
    fairness.allocate(POOL, DRF()).save(path)
    assert "fairness.results" not in path.read_text()
    elsewhere.Allocation = Allocation
    monkeypatch.setitem(sys.modules, "fairness.elsewhere", elsewhere)
    monkeypatch.setattr(Allocation, "__module__", "fairness.elsewhere")
    row = table()["fairness.Allocation"]
    moved = row._replace(place="fairness.elsewhere:Allocation")
    for column in ("name", "place", "first"):
        monkeypatch.setitem(saved_types._by(column), getattr(moved, column), moved)
    for old in (path, GOLDEN / "drf-1.json"):
        result = Allocation.load(old)
        result.save(tmp_path / "again.json")
        assert Allocation.load(tmp_path / "again.json").tasks.tolist() == result.tasks.tolist()
    assert '"class": "fairness.Allocation"' in (tmp_path / "again.json").read_text()


# --- formats ------------------------------------------------------------------------------------------


def rewritten(path, change):
    """The file with another document, and the digest of this."""
    document = json.loads(path.read_text())
    change(document)
    document["digest"] = storage._digest({name: document[name] for name in ("result", "parts")})
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "drf.json"
    fairness.allocate(POOL, DRF()).save(path)
    return path


def test_older_fields_become_those_of_today(saved):
    """The first format kept the name of a policy alone."""
    old = Allocation.load(GOLDEN / "drf-1.json")
    assert (old.policy, old.name) == (None, r"DRF at $\frac{$")
    assert '"format": 2, "fields"' in saved.read_text()
    today = Allocation.load(saved)
    assert (type(today.policy), today.name) == (DRF, "DRF")


def test_a_field_that_came_later_has_its_default(tmp_path, monkeypatch):
    @dataclasses.dataclass(frozen=True)
    class Leave(fairness.properties.Leave):
        when: str = dataclasses.field(default="now", metadata=storage.LATER)
        where: str = "here"

    path = tmp_path / "leave.json"
    storage.write(fairness.properties.Leave((1,)), path)
    monkeypatch.setattr("fairness.properties.changes.changed_model.Leave", Leave)
    with pytest.raises(ModelError, match="Leave has a field 'where', which the file lacks"):
        storage.read(path)
    Leave.__dataclass_fields__["where"].metadata = storage.LATER
    assert storage.read(path) == Leave((1,), "now", "here")


def test_later_formats_are_told_from_damage(saved, monkeypatch):
    rewritten(saved, lambda document: document["parts"][-1].update(format=3))
    with pytest.raises(ModelError, match=r"written by .* no format 3 of fairness.Allocation; read"):
        Result.load(saved)
    rewritten(saved, lambda document: document.update(format="fairqueues result, 3"))
    with pytest.raises(ModelError, match=r"where there is no format 'fairqueues result, 3'; read it with"):
        Result.load(saved)


def test_other_fields_are_told(saved):
    rewritten(saved, lambda document: document["parts"][-1]["fields"].update(colour="red"))
    with pytest.raises(ModelError, match="Allocation has no field 'colour', which the file has"):
        Result.load(saved)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
@pytest.mark.parametrize(
    "read",
    [
        Result.load,
        ClusterTrace.load,
        proofs.Verdict.load,
        read_graphml,
        Scenario.read,
        read_problem,
        own_statements,
    ],
)
def test_a_device_is_no_file(read, device):
    with pytest.raises((ModelError, WrongUse), match="it is a device and no file"):
        read(Path(device))


def test_a_file_without_an_end_is_left(tmp_path):
    path = tmp_path / "large"
    path.write_bytes(bytes(9))
    assert read_whole(path, 9) == bytes(9)
    with pytest.raises(OSError, match="it is larger than 0 MiB"):
        read_whole(path, 8)


# --- nothing else is made of a file -------------------------------------------------------------------


@pytest.mark.parametrize(
    "place",
    [
        "fairness.files:write_whole",
        "fairness.display.storage:write",
        "fairness.machine.checkpoint:Checkpoint",
        "fairness.display.saved_types:saved_type",
        "fairness.write_whole",
        "os:system",
    ],
)
def test_a_file_calls_nothing_but_types_of_the_table(place, saved):
    part = {"partial": {"list": [{"named": place}, {"tuple": []}, {"dict": []}]}}
    rewritten(saved, lambda document: document["parts"].append(part))
    with pytest.raises(ModelError, match=f"where there is no '{place}'"):
        Result.load(saved)


def test_a_partial_is_over_a_type(saved):
    part = {"partial": {"list": [{"part": 0}, {"tuple": []}, {"dict": []}]}}
    rewritten(saved, lambda document: document["parts"].append(part))
    with pytest.raises(ModelError, match="is no type"):
        Result.load(saved)
    with pytest.raises(ModelError, match=r"write_whole, which is no type that files hold"):
        storage.write(partial(storage.write_whole, saved), saved)
