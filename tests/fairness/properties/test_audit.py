"""Audit tables: what the sources say about pools, streams keyed by names, files that resume, implications."""

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from importlib import import_module

import joblib
import numpy as np
import pytest

from fairness import CDRFH, DRF, AssetFair, MaxMin, ModelError, Problem, ProportionalFair
from fairness.display.storage import dumps, loads
from fairness.machine.checkpoint import Checkpoint
from fairness.properties.__main__ import main
from fairness.properties.changes.changed_model import Grow, Leave, Lie
from fairness.properties.counterexamples.audit import audit
from fairness.properties.counterexamples.result import Failure, SearchResult, describe
from fairness.properties.definitions.catalogue import PROPERTIES, property_named
from fairness.properties.exact.confirm import confirm
from fairness.properties.protocol.property import Finding, Property, Witness

# The package may export the function under the name of its module.
module = import_module("fairness.properties.counterexamples.audit")

GHODSI = {
    # A. Ghodsi et al., "Dominant resource fairness", NSDI 2011, Table 2: asset fairness, CEEI, DRF.
    "sharing incentive": "✗✓✓",
    "strategy-proofness": "✓✗✓",
    "envy-freeness": "✓✓✓",
    "Pareto efficiency": "✓✓✓",
    "single-resource fairness": "✓✓✓",
    "bottleneck fairness": "✗✓✓",
    "population monotonicity": "✓✗✓",
    "resource monotonicity": "✗✗✗",
}


@pytest.fixture(scope="module")
def ghodsi():
    """600 policy calls per cell find every violation with each of the seeds 0 to 19, with this one 300 do."""
    return audit([AssetFair(), ProportionalFair(), DRF()], list(GHODSI), budget=300, rng=0)


@pytest.mark.long
def test_the_table_of_ghodsi_2011(ghodsi):
    assert {
        prop: "".join(row) for prop, row in zip(GHODSI, ghodsi.to_dataframe().values, strict=True)
    } == GHODSI


@pytest.mark.long
def test_every_witness_is_small_and_confirmed_in_fractions(ghodsi):
    policies = {"Asset": AssetFair(), "PF": ProportionalFair(), "DRF": DRF()}
    assert len(ghodsi.witnesses) == 7
    for (policy, prop), witness in ghodsi.witnesses.items():
        assert (witness.policy, witness.property) == (policy, prop)
        assert witness.model.is_rational
        assert witness.model.n_classes <= 3
        assert witness.model.n_resources == 2
        assert confirm(witness, policies[policy]).confirmed
        assert ghodsi.cells[policy, prop].confirmation


@pytest.mark.long
def test_what_a_person_reads(ghodsi):
    text = ghodsi.summary(details=True)
    assert text.splitlines()[0].split() == ["pools", "Asset", "PF", "DRF"]
    assert "✓ no violation found in the search" in text
    assert "a ✓ stands for 300 to" in text
    assert "proved" not in text.split("\n\n")[0]
    for witness in ghodsi.witnesses.values():
        assert witness.finding.text in text
    assert len(repr(ghodsi).splitlines()) < 14


@pytest.mark.long
def test_with_zero_demands_drf_is_not_population_monotone():
    table = audit([DRF()], ["population monotonicity"], budget=2000, domain="any")
    witness = table.witnesses["DRF", "population monotonicity"]
    assert (witness.model.demands == 0).any()
    assert witness.change.kind == "leave"


@pytest.mark.long
def test_cells_depend_on_names_and_seed_only():
    """Neither on the processes, nor on the order, nor on the rest of the table."""
    props = ["resource monotonicity", "strategy-proofness"]
    whole = audit([AssetFair(), ProportionalFair(), DRF()], ["population monotonicity", *props], budget=60)
    # Threads, because processes take seconds to start; that cells can travel is tested below.
    with joblib.parallel_config(backend="threading"):
        table = audit([DRF(), ProportionalFair()], props[::-1], budget=60, n_jobs=2)
    for key, cell in table.cells.items():
        assert _without_seconds(cell) == _without_seconds(whole.cells[key])
    key = "PF", "population monotonicity"
    other = audit([ProportionalFair()], [key[1]], budget=60, rng=1)
    assert _without_seconds(other.cells[key]) != _without_seconds(whole.cells[key])
    drawn = audit([ProportionalFair()], [key[1]], budget=50, rng=np.random.default_rng(5))
    again = audit([ProportionalFair()], [key[1]], budget=50, rng=drawn.settings["seed"])
    assert _without_seconds(again.cells[key]) == _without_seconds(drawn.cells[key])


def _without_seconds(cell):
    return dumps(replace(cell, seconds=0))


def kept(path):
    """Cells in a file to resume from."""
    with Checkpoint(path, "audit", "resume") as file:
        return file.pieces


def test_resume_searches_only_what_is_missing(tmp_path, monkeypatch):
    path = tmp_path / "audit.json"
    settings = {"budget": 200, "resume": path}
    first = audit([DRF(), MaxMin()], ["SI", "EF"], **settings)
    asked = []
    search = module.search

    def watched(policy, prop, **options):
        asked.append((policy, prop))
        return search(policy, prop, **options)

    monkeypatch.setattr(module, "search", watched)
    again = audit([DRF(), MaxMin()], ["SI", "EF"], **settings)
    assert not asked
    assert [c.mark for c in again.cells.values()] == [c.mark for c in first.cells.values()]
    more = audit([DRF()], ["SI", "Pareto efficiency"], **settings)
    assert [(p.name, q.key) for p, q in asked] == [("DRF", "PE")]
    assert list(more.cells) == [("DRF", "sharing incentive"), ("DRF", "Pareto efficiency")]
    # The file keeps what this call did not ask for.
    assert len(kept(path)) == 5
    assert [p.name for p in tmp_path.iterdir()] == ["audit.json"]


def test_without_a_seed_the_file_has_it(tmp_path):
    first, again = (audit([DRF()], ["SI"], budget=50, rng=None, resume=tmp_path / "cells") for _ in range(2))
    assert first.settings == again.settings
    assert audit([DRF()], ["SI"], budget=50, rng=None).settings != first.settings


class Broken(Property):
    name, key, statement = "broken", "BR", "..."

    def judge(self, asked):
        raise ZeroDivisionError


def test_an_interrupted_audit_keeps_its_finished_cells(tmp_path):
    path = tmp_path / "audit.json"
    with pytest.raises(ZeroDivisionError) as caught:
        audit([DRF()], ["SI", Broken()], budget=50, resume=path)
    (note,) = caught.value.__notes__
    assert note == f"audit: 1 cells are kept in {path}; the same call goes on from there"
    assert len(kept(path)) == 1
    assert audit([DRF()], ["SI"], budget=50, resume=path).cells


def test_an_audit_without_a_cell_leaves_no_file(tmp_path):
    path = tmp_path / "cells"
    with pytest.raises(ZeroDivisionError) as caught:
        audit([DRF()], [Broken()], budget=5, resume=path)
    assert not hasattr(caught.value, "__notes__")
    assert list(tmp_path.iterdir()) == []
    audit([DRF()], ["SI"], budget=5, resume=path)
    with pytest.raises(ZeroDivisionError):
        audit([DRF()], [Broken()], budget=5, resume=path)
    assert len(kept(path)) == 1


def test_a_checkpoint_of_refused_work_is_as_it_was(tmp_path):
    path = tmp_path / "pieces"
    known = []
    for keeps in (False, True, False):
        with suppress(ZeroDivisionError), Checkpoint(path, "sum", "path") as store:
            store.begin({})
            if keeps:
                store.write("one", "1")
            raise ZeroDivisionError
        known.append(path.exists())
    assert known == [False, True, True]
    with Checkpoint(path, "sum", "path") as store:
        assert store.pieces == {"one": "1"}


@pytest.mark.parametrize(
    ("name", "change"), [("budget", {"budget": 60}), ("seed", {"rng": 1}), ("domain", {"domain": "any"})]
)
def test_resume_refuses_other_settings(tmp_path, name, change):
    path = tmp_path / "audit.json"
    audit([DRF()], ["SI"], budget=50, resume=path)
    with pytest.raises(ModelError, match=f"belongs to another audit: {name} was"):
        audit([DRF()], ["SI"], **{"budget": 50, "resume": path, **change})


# --- implications --------------------------------------------------------------------------------------


@pytest.mark.long
def test_cells_agree_with_the_implications():
    table = audit([DRF(), AssetFair(), MaxMin()], budget=60)
    assert not table.contradictions
    for prop in PROPERTIES:
        for implied in prop.implies:
            for policy in table.policies:
                if table.cells[policy, prop.name].mark == "✓" and implied in table.properties:
                    assert table.cells[policy, implied].mark in "✓–"


class Weak(Property):
    """Nobody has less than a quarter of its equal part."""

    name, key, statement, models = "weak", "WK", "...", (Problem,)
    part = Fraction(1, 4)

    def judge(self, asked):
        equal = 1 / asked.model.n_classes / asked.model.task_shares.max(axis=1)
        return Finding(self.name, float(np.max(1 - asked.allocation / (float(self.part) * equal))))


class Strong(Weak):
    """The same with the half; blind to models of two classes unless it is asked about one."""

    name, key, implies, part = "strong", "ST", ("weak",), Fraction(1, 2)

    def suit(self, model):
        raise ModelError("no search today") if self.blind else None

    blind = True


def cell(prop, size=None, confirmation=""):
    """A cell of max-min fairness: a witness of two classes, demands 1 and size, or none found."""
    result = SearchResult("MMF", prop.name, "pools", "positive", 10, {"random": 10}, 0.1, "", -0.5)
    if size is None:
        return result
    model = Problem([[1], [size]], [1])
    tasks = MaxMin()(model, [1, 1])
    witness = Witness("MMF", prop.name, model, None, prop.check(model, tasks), tasks)
    return replace(result, witness=witness, confirmation=confirmation)


def test_a_witness_against_an_implied_property_is_asked_about_the_stronger_one(monkeypatch):
    """The search for the strong one finds nothing; the witness of the weak one settles it, once confirmed."""
    monkeypatch.setattr(
        module, "search", lambda policy, prop, **rest: cell(prop, 9 if prop.name == "weak" else None)
    )
    table = audit([MaxMin()], [Strong(), Weak()])
    witness = table.witnesses["MMF", "strong"]
    assert witness.property == "strong"
    assert witness.finding.violation == pytest.approx(1 - 0.1 / 0.25)
    assert not table.contradictions

    class Deaf(Strong):
        def judge(self, asked):
            return Finding(self.name, -1.0)

    table = audit([MaxMin()], [Deaf(), Weak()])
    assert ("MMF", "strong") not in table.witnesses
    assert table.contradictions == ("MMF: strong implies weak, which is violated",)
    assert "contradiction: MMF: strong implies weak" in table.summary()


@pytest.mark.parametrize(
    ("size", "confirmation", "own", "better"),
    [
        (9, "sure", cell(Weak(), 3), True),
        (3, "", cell(Weak(), 9, "sure"), False),
        (3, "sure", cell(Weak(), 9, "sure"), True),
        (9, "sure", cell(Weak(), 9, "sure"), False),
        (9, "", cell(Weak(), 3), False),
        (9, "", cell(Weak()), True),
    ],
)
def test_a_confirmed_witness_takes_the_place_of_a_smaller_doubtful_one(size, confirmation, own, better):
    assert module._is_better(cell(Weak(), size).witness, confirmation, own) is better


def test_a_witness_against_a_stronger_property_serves_where_it_can(monkeypatch):
    """Less than a quarter of its part is less than a half; the checker decides, not the implication."""

    def audited(size):
        monkeypatch.setattr(
            module, "search", lambda policy, prop, **rest: cell(prop, size if prop.name == "strong" else None)
        )
        return audit([MaxMin()], [Strong(), Weak()])

    assert list(audited(9).witnesses) == [("MMF", "strong")]  # not confirmed
    monkeypatch.setattr(module, "exact_verdict", lambda policy: lambda witness: "confirmed")
    assert audited(9).witnesses["MMF", "weak"].property == "weak"
    # Here class 1 has less than a half of its part, but more than a quarter.
    table = audited(4)
    assert list(table.witnesses) == [("MMF", "strong")]
    assert not table.contradictions


# --- files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [None, Lie((0,), ((2, Fraction(1, 2)),)), Leave((1,)), Grow((1, 0))])
@pytest.mark.parametrize("exact", [False, True])
def test_witnesses_survive_a_file(change, exact):
    model = Problem([[1, 2], [2, 1]], [3, 3])
    tasks = np.array([Fraction(1, 3), Fraction(1)]) if exact else np.array([1 / 3, 1.0])
    violation = Fraction(1, 7) if exact else np.float64(np.inf)
    finding = Finding("p", violation, (0, 1), "in words", 0 if exact else 1e-6)
    witness = Witness("DRF", "p", model, change, finding, tasks, None if change is None else tasks)
    copy = loads(dumps(witness))
    assert copy.finding == finding
    assert copy.change == change
    assert copy.allocation.dtype == tasks.dtype
    assert copy.allocation.tolist() == tasks.tolist()
    assert (copy.allocation_after is None) == (change is None)
    assert describe(copy) == describe(witness)
    failure = Failure(model, "NotConvergedError: stuck")
    result = SearchResult(
        "DRF", "p", "pools", "any", 9, {"random": 3}, 0.5, "", -np.inf, witness, "so", 2, failure
    )
    again = loads(dumps(result))
    assert again.summary() == result.summary()
    assert again.mark == "✗!"


def test_a_dict_gives_names(tmp_path):
    named = {"first": AssetFair(), "second": AssetFair()}
    table = audit(named, ["SI"], budget=20, resume=tmp_path / "table")
    assert list(table.to_dataframe().columns) == ["first", "second"]
    for name in named:
        cell = table.cells[name, "sharing incentive"]
        assert cell.violated
        assert cell.policy == cell.witness.policy == name
        assert cell.summary().startswith(f"{name}, sharing incentive")
    again = audit(named, ["SI"], budget=20, resume=tmp_path / "table")
    assert (
        again.cells["first", "sharing incentive"].seconds == table.cells["first", "sharing incentive"].seconds
    )


# --- refusals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"policies": []}, "policies is empty"),
        ({"policies": ["DRF"]}, "policy must be callable"),
        ({"policies": [DRF]}, "policy must be callable"),
        ({"policies": "DRF"}, "policies must be a list"),
        ({"policies": {"mine": "DRF"}}, "policy must be callable"),
        ({"policies": {1: DRF()}}, "policies: names must be strings; got 1"),
        ({"policies": DRF()}, "policies must be a list"),
        ({"policies": [DRF(), DRF()]}, "two policies are called 'DRF'"),
        ({"properties": ["sharing incentives"]}, "did you mean 'sharing incentive'"),
        ({"properties": [3]}, "properties must list Property objects or names"),
        ({"properties": 3}, "properties must list Property objects or names"),
        ({"properties": []}, "properties is empty"),
        ({"domain": "zeros"}, "domain must be one of"),
        *(({"budget": value}, "budget must be a whole number") for value in (0, 1.5)),
        ({"resume": 5}, "resume must be a path"),
        ({"resume": "/no/such/place/audit.json"}, "cannot write /no/such/place/audit.json"),
    ],
)
def test_wrong_options(options, words):
    with pytest.raises(ModelError, match=words):
        audit(**{"policies": [DRF()], "properties": [property_named("SI")], "budget": 10, **options})


def test_a_budget_may_come_from_numpy_and_one_property_alone(tmp_path):
    table = audit(
        [DRF()], property_named("SI"), budget=np.int64(20), rng=np.int64(3), resume=tmp_path / "table"
    )
    assert table.settings["budget"] == 20
    assert (tmp_path / "table").exists()


# --- command line --------------------------------------------------------------------------------------


@pytest.mark.long
def test_one_command_prints_both_tables(tmp_path, capsys):
    path = tmp_path / "audit.json"
    arguments = f"--policies asset drfh --properties SI EF --budget 150 --out {path}".split()
    assert main(arguments) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert [line.split()[0] for line in lines if line.split()[1:] in (["Asset"], ["DRFH"])] == [
        "pools",
        "clusters",
    ]
    assert "Asset, sharing incentive (pools, positive demands): violated" in text
    assert "Problem(2 classes x 2 resources)" in text
    assert len(kept(path)) == 4
    assert main([*arguments, "--brief"]) == 0
    assert "Problem" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--policies", "CEEI"], "unknown policy 'CEEI'; known are MMF, DRF"),
        (["--properties", "IS"], "unknown property 'IS'"),
        (["--budget", "0"], "budget must be a whole number"),
        (["--domain", "zeros"], "invalid choice: 'zeros'"),
    ],
)
def test_a_wrong_command_says_what_is_wrong(arguments, words, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--policies", "DRF", "--properties", "SI", *arguments])
    assert stop.value.code == 2
    assert words in capsys.readouterr().err


def test_an_interrupted_command_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    """Ctrl-C between two cells: status 130, a whole file, no draft beside it."""
    path = tmp_path / "audit.json"
    search, asked = module.search, []

    def interrupted(policy, prop, **options):
        asked.append(prop.name)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return search(policy, prop, **options)

    monkeypatch.setattr(module, "search", interrupted)
    arguments = f"--policies DRF --properties SI EF --budget 30 --out {path}".split()
    assert main(arguments) == 130
    assert f"goes on from {path}" in capsys.readouterr().err
    assert len(kept(path)) == 1
    assert list(tmp_path.iterdir()) == [path]
    assert main(arguments) == 0
    assert len(asked) == 3


def test_a_witness_against_sharing_incentive_is_one_against_that_of_those_who_have_joined():
    """With everybody there they say the same; a search for groups that have joined may miss it."""
    policies = {"C-DRFH": CDRFH(), "Asset": AssetFair()}
    table = audit(policies, ["SI", "DSI"], budget=100, rng=0)
    for name in policies:
        cell = table.cells[name, "dynamic sharing incentive"]
        assert cell.witness is not None
        assert "confirmed in fractions" in cell.confirmation
    everybody = table.cells["C-DRFH", "dynamic sharing incentive"].witness
    assert everybody.change.text(everybody.model) == "all have joined"
    assert not table.contradictions
