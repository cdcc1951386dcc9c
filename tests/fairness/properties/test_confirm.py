"""The independent checker against the checkers, on what policies satisfy, and on witnesses that are none."""

import ast
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from fairness import DRF, AssetFair, BottleneckMax, MaxMin, Problem, ProportionalFair
from fairness.policies.servers.per_server import PerServerDRF
from fairness.policies.servers.psdsf import PSDSF
from fairness.policies.servers.task_share import CDRFH, TSF
from fairness.properties.changes.changed_model import Grow, Lie, Units
from fairness.properties.definitions.catalogue import PROPERTIES, property_named
from fairness.properties.exact import statements
from fairness.properties.exact.confirm import confirm
from fairness.properties.exact.rational import rational
from fairness.properties.exact.statements import COMPARISONS, JUDGEMENTS, Situation, legal
from fairness.properties.protocol.property import Finding, Witness, division_of
from tests.fairness.properties import twins
from tests.fairness.properties.twins import verdict, witness_of

F = Fraction


def test_every_property_of_the_catalogue_has_a_statement_in_fractions():
    assert set(JUDGEMENTS) | set(COMPARISONS) == {prop.name for prop in PROPERTIES}
    assert set(COMPARISONS) == {prop.name for prop in PROPERTIES if prop.compares}


def test_the_confirmation_shares_no_code_with_checkers_and_solvers():
    """Imports inside the package: the model, shared words, elimination, in the registry types of policies."""
    folder = Path(statements.__file__).parent
    shared = {
        "fairness.model.cluster",
        "fairness.errors",
        "fairness.exact.linear_algebra",
        "fairness.model.problem",
        "fairness.arguments.validation",
        "fairness.properties.protocol.property",
        "fairness.protocol.policy",
    }
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            assert not isinstance(node, ast.Import) or "fairness" not in node.names[0].name
            source = node.module if isinstance(node, ast.ImportFrom) else ""
            if source.startswith("fairness.policies"):
                # all_bottleneck_max tells whether there are other allocations, after one was proved.
                names = {item.name for item in node.names} - {"all_bottleneck_max", "policy_name"}
                assert path.name == "enclosure.py"
                assert all(isinstance(getattr(import_module(source), name), type) for name in names)
            elif source.startswith("fairness"):
                assert source in shared or source.startswith("fairness.properties.exact"), (path.name, source)


# Everything that a policy has, random integer models with zero demands too: DRF fills to the end, so it stays
# efficient.
TIMED = PSDSF(division="time")
KEPT = {
    DRF(): "SI EF PE BF SRF DSI SC",
    PSDSF(): "SI EF BF DSI",
    TIMED: "SI EF PE BF SP SRF",
    TSF(): "PE EF",
    CDRFH(): "PE EF",
    PerServerDRF(): "SI EF",
}


def models(seed, on_clusters, number, *, effective=False):
    rng = np.random.default_rng(seed)
    for k in range(number):
        if on_clusters:
            sizes = (int(v) for v in rng.integers(2, 4, 3))
            flags = {"weighted": k % 2 == 1, "constrained": k % 3 == 1, "effective": effective and k % 4 == 3}
            yield rng, twins.integer_cluster(rng, *sizes, **flags)
        else:
            sizes = int(rng.integers(2, 5)), int(rng.integers(1, 4))
            yield rng, twins.integer_pool(rng, *sizes, weighted=k % 2 == 1)


def asked(prop, model, rng, most):
    """The changes that a property asks about; None alone if it compares nothing."""
    if prop.applies(model):
        yield from prop.changes(model, rng, most) if prop.compares else (None,)


@pytest.mark.parametrize(("on_clusters", "number"), [(False, 60), (True, 16)])
def test_what_a_policy_satisfies_is_never_confirmed_as_violated(on_clusters, number):
    for rng, model in models(3, on_clusters, number, effective=True):
        for policy, names in KEPT.items():
            refused = isinstance(policy, CDRFH) and getattr(model, "given_gamma", None) is not None
            if isinstance(policy, DRF) == on_clusters or refused:
                continue
            for prop in map(property_named, names.split()):
                for change in asked(prop, model, rng, 2):
                    result = verdict(policy, prop.key, model, change)
                    assert result.violation is not None, (policy, prop.key, model, result)
                    assert not result.confirmed, (policy, prop.key, model, change, result)


@pytest.mark.parametrize(
    ("policies", "seed", "number", "most", "least"),
    [
        ((MaxMin(), AssetFair(), ProportionalFair()), 5, 40, 2, 8),
        ((PSDSF(), TIMED, TSF(), CDRFH(), PerServerDRF()), 13, 18, 1, 4),
    ],
)
def test_the_checkers_and_the_confirmation_agree(policies, seed, number, most, least):
    """Two implementations of each property that share nothing but the definition."""
    seen = set()
    for rng, model in models(seed, len(policies) > 3, number):
        for policy, prop in product(policies, PROPERTIES):
            for change in asked(prop, model, rng, most):
                witness = witness_of(policy, prop.key, model, change)
                given = witness.allocation, change, witness.allocation_after
                found = prop.check(model, *given, division=division_of(policy))
                if abs(found.violation) > 1e-6:  # else it is a tie that floats cannot decide
                    result = confirm(witness, policy)
                    agree = result.confirmed == (found.violation > 0)
                    assert agree, (policy, prop.key, model, change, found, result)
                    seen |= {prop.key} if result.confirmed else set()
    assert len(seen) >= least, seen


# --- false witnesses -----------------------------------------------------------------------------------


def test_a_false_witness_is_refused():
    pool = Problem([[1, 4], [3, 1]], [9, 18])
    result = verdict(DRF(), "SI", pool)
    assert not result.confirmed
    assert result.violation < 0
    assert "NOT confirmed" in str(result)
    # A made-up allocation does not count for a policy that is computed, nor as a hint for one that is proved.
    for policy in (DRF(), BottleneckMax(), ProportionalFair()):
        lie = Witness(
            "x", "sharing incentive", pool, None, Finding("sharing incentive", 1.0), np.array([0.5, 2.0])
        )
        assert not confirm(lie, policy).confirmed


def test_a_witness_of_the_wrong_kind_is_refused():
    pool = Problem([[2, 1], [1, 2]], [1, 1])
    witness = witness_of(DRF(), "RM", pool, Grow((1, 0)))
    for name in ("population monotonicity", "strategy-proofness", "scale invariance"):
        other = Witness(
            "DRF", name, pool, witness.change, witness.finding, witness.allocation, witness.allocation_after
        )
        assert "needs a change of kind" in confirm(other, DRF()).how
    nothing = Witness("DRF", "resource monotonicity", pool, None, witness.finding, witness.allocation)
    assert "needs a change" in confirm(nothing, DRF()).how
    unknown = Witness("DRF", "beauty", pool, None, witness.finding, witness.allocation)
    assert confirm(unknown, DRF()).how == "no exact definition known for beauty"
    floats = Problem([[2.0, 1.0], [1.0, 2.0]], [1, 1])
    assert "given as floats" in verdict(DRF(), "SI", floats).how
    assert "no exact definition known" in verdict(lambda problem, counts: counts / 9, "SI", pool).how


def test_a_change_that_does_more_than_it_says_is_refused():
    pool = Problem([[2, 1], [1, 2]], [1, 1])
    situation = lambda model: Situation(  # noqa: E731
        rational(model), [[F(0)]] * 2, [[F(0)]] * 2, model.job_classes, ("pool",)
    )
    lie = Lie((0,), ((1, 1),))
    assert legal(situation(pool), lie, situation(lie.apply(pool)))
    assert not legal(situation(pool), lie, situation(lie.apply(pool).replaced(capacities=[1, 2])))
    assert not legal(situation(pool), lie, situation(pool.replaced(demands=[[1, 1], [1, 1]])))
    assert not legal(situation(pool), lie, situation(pool.replaced(weights=[1, 2])))
    grow = Grow((1, 0))
    assert legal(situation(pool), grow, situation(grow.apply(pool)))
    assert not legal(situation(pool), grow, situation(pool.replaced(capacities=[F(1, 2), 2])))
    units = Units((1, 3), (2, 1))
    assert legal(situation(pool), units, situation(units.apply(pool)))
    assert not legal(situation(pool), units, situation(pool))


def test_the_hint_may_be_missing_after_the_change():
    witness = witness_of(DRF(), "RM", Problem([[2, 1], [1, 2]], [1, 1]), Grow((1, 0)))
    short = Witness(
        *(getattr(witness, f) for f in ("policy", "property", "model", "change", "finding", "allocation"))
    )
    assert confirm(short, DRF()).violation == F(1, 4)


def test_what_some_allocation_between_the_bounds_satisfies_is_no_certain_violation():
    """All of (0, 0) to (1, 1) is possible; (1, 1) is efficient, fair and free of envy."""
    model = rational(Problem([[1], [1]], [2]))
    box = Situation(model, [[F(0)], [F(0)]], [[F(1)], [F(1)]], ("A", "B"), ("pool",))
    for name, judge in JUDGEMENTS.items():
        assert judge(box).violation <= 0, name
    half = replace(box, upper=[[F(1, 2)], [F(1)]])
    assert JUDGEMENTS["Pareto efficiency"](half).violation > 0
    assert JUDGEMENTS["sharing incentive"](half).violation == F(1, 2)


def test_a_better_allocation_must_be_verified(monkeypatch):
    """The linear program only proposes: what is infeasible, or at somebody's cost, proves nothing."""
    pool = Problem([[2, 1], [1, 2]], [1, 1])
    best = verdict(DRF(), "PE", pool)
    for proposal in ([F(1), F(1)], [F(1), F(0)], None):
        monkeypatch.setattr(statements, "vertex", lambda *_, proposal=proposal: proposal)
        assert not verdict(DRF(), "PE", pool).confirmed
        assert not verdict(DRF(), "SRF", Problem([[2], [1]], [1])).confirmed
    assert not best.confirmed
