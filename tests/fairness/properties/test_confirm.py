"""The independent checker against the checkers, on what policies satisfy, and on witnesses that are none."""

import ast
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from fairness import DRF, AssetFair, BottleneckMax, MaxMin, Problem, ProportionalFair
from fairness.policies.servers.per_server import PerServerDRF
from fairness.policies.servers.psdsf import PSDSF
from fairness.policies.servers.task_share import CDRFH, TSF
from fairness.properties.changes.changed_model import Grow, Lie, Units
from fairness.properties.definitions.catalogue import PROPERTIES
from fairness.properties.exact import statements
from fairness.properties.exact.confirm import confirm
from fairness.properties.exact.statements import COMPARISONS, JUDGEMENTS, legal
from fairness.properties.protocol.property import division_of
from fairness.protocol.cluster_policy import ClusterPolicy
from tests.fairness.properties.instances import integer_cluster, integer_pool, situation, verdict, witness_of

F = Fraction


def test_every_property_of_the_catalogue_has_a_statement_in_fractions():
    assert set(JUDGEMENTS) | set(COMPARISONS) == {prop.name for prop in PROPERTIES}
    assert set(COMPARISONS) == {prop.name for prop in PROPERTIES if prop.compares}


def test_the_confirmation_shares_no_code_with_checkers_and_solvers():
    """Imports inside the package: the model, words, elimination, filling in fractions, families as data.

    And HiGHS, by its door: what it finds is a hint, which is proved in fractions.
    """
    folder = Path(statements.__file__).parent
    shared = {
        "fairness.model.cluster",
        "fairness.model.guarantees",
        "fairness.errors",
        "fairness.exact.linear_algebra",
        "fairness.filling.fractions",
        "fairness.machine.linear_programs",
        "fairness.model.problem",
        "fairness.model.tree",
        "fairness.arguments.validation",
        "fairness.properties.protocol.property",
        "fairness.protocol.family",
        "fairness.protocol.policy",
    }
    # Tasks in many states, for exact laws, are no part of a confirmation.
    for path in set(folder.glob("*.py")) - {folder / "states.py"}:
        for node in ast.walk(ast.parse(path.read_text())):
            assert not isinstance(node, ast.Import) or "fairness" not in node.names[0].name
            source = node.module if isinstance(node, ast.ImportFrom) else ""
            if source.startswith("fairness.policies"):
                # all_bottleneck_max tells whether there are other allocations, after one was proved.
                assert {item.name for item in node.names} == {"all_bottleneck_max"}
                assert path.name == "enclosure.py"
            elif source.startswith("fairness"):
                assert source in shared or source.startswith("fairness.properties.exact"), (path.name, source)


TIMED = PSDSF(division="time")
# What policies have on all models, what more where a pool has no zero demand or a cluster no given gamma, and
# what they lack: Ghodsi et al. (NSDI 2011), Table 2; Parkes et al. for groups; Khamse-Ashari et al. for
# clusters. DRF fills to the end, so it stays efficient.
KNOWN = {
    DRF(): ("SI EF PE BF SRF DSI SC", "SP GSP PM", "RM"),
    AssetFair(): ("", "EF PE SP SRF PM", "SI BF RM DSI"),
    ProportionalFair(): ("", "SI EF PE SRF BF SC DSI", "SP GSP PM"),
    MaxMin(): ("", "PE PM", "SI EF BF SRF SC"),
    PSDSF(): ("SI EF BF DSI", "", "PE RM"),
    TIMED: ("SI EF PE BF SP SRF", "", "RM"),
    TSF(): ("PE", "EF", "RM"),
    CDRFH(): ("PE", "EF", "RM"),
    PerServerDRF(): ("SI EF", "", "PE RM"),
}


def models(on_clusters, number):
    rng = np.random.default_rng(3)
    for k in range(number):
        weighted = k % 2 == 1
        if on_clusters:
            sizes = (int(v) for v in rng.integers(2, 4, 3))
            flags = {"weighted": weighted, "constrained": k % 3 == 1, "effective": k % 4 == 3}
            yield rng, integer_cluster(rng, *sizes, **flags)
        else:
            sizes = int(rng.integers(2, 5)), int(rng.integers(1, 4))
            pool = integer_pool(rng, *sizes, weighted=weighted)
            yield rng, pool.replaced(demands=np.maximum(pool.demands.astype(int), int(k % 4 > 1)))


@pytest.mark.parametrize(
    ("on_clusters", "number", "proved", "checked"),
    [(False, 30, 2, 6), (True, 16, 1, 2)],
)
@pytest.mark.long
def test_checkers_and_confirmations_agree_on_what_policies_have(on_clusters, number, proved, checked):
    """Two implementations of each property that share nothing but the definition, and what is known."""
    violated = {policy: set() for policy in KNOWN if isinstance(policy, ClusterPolicy) == on_clusters}
    for rng, model in models(on_clusters, number):
        measured = on_clusters and model.given_gamma is not None
        plain = not measured if on_clusters else (model.demands > 0).all()
        for policy, prop in product(violated, PROPERTIES):
            if (measured and isinstance(policy, CDRFH)) or not prop.applies(model):
                continue
            always, more, _ = KNOWN[policy]
            holds = prop.key in f"{always} {more if plain else ''}".split()
            for change in prop.changes(model, rng, proved) if prop.compares else (None,):
                witness = witness_of(policy, prop.key, model, change)
                given = witness.allocation, change, witness.allocation_after
                found = prop.check(model, *given, division=division_of(policy))
                result = confirm(witness, policy)
                case = policy, prop.key, model, change, found, result
                assert result.violation is not None or not holds, case
                assert not (holds and result.confirmed), case
                if abs(found.violation) > 1e-6:  # else it is a tie that floats cannot decide
                    assert result.confirmed == (found.violation > 0), case
                    violated[policy] |= {prop.key} if result.confirmed else set()
            if prop.compares and holds:  # a check takes less time than a proof
                worst = prop.of(policy, model, rng=13, changes=checked).violation
                assert worst < 1e-6, (policy, prop.key, model, worst)
    assert all(set(KNOWN[policy][2].split()) <= keys for policy, keys in violated.items()), violated


# --- false witnesses -----------------------------------------------------------------------------------


POOL = Problem([[2, 1], [1, 2]], [1, 1])
LIE, GROW, UNITS = Lie((0,), ((1, 1),)), Grow((1, 0)), Units((1, 3), (2, 1))


def test_a_false_witness_is_refused():
    pool = Problem([[1, 4], [3, 1]], [9, 18])
    result = verdict(DRF(), "SI", pool)
    assert not result.confirmed
    assert result.violation < 0
    assert "NOT confirmed" in str(result)
    # A made-up allocation does not count for a policy that is computed, nor as a hint for one that is proved.
    for policy in (DRF(), BottleneckMax(), ProportionalFair()):
        lie = replace(witness_of(policy, "SI", pool), allocation=np.array([0.5, 2.0]))
        assert not confirm(lie, policy).confirmed


def test_a_witness_of_the_wrong_kind_is_refused():
    witness = witness_of(DRF(), "RM", POOL, GROW)
    for name in ("population monotonicity", "strategy-proofness", "scale invariance"):
        assert "needs a change of kind" in confirm(replace(witness, property=name), DRF()).how
    assert "needs a change" in confirm(replace(witness, change=None), DRF()).how
    unknown = confirm(replace(witness, property="beauty"), DRF())
    assert unknown.how == "no exact definition known for beauty"
    floats = Problem([[2.0, 1.0], [1.0, 2.0]], [1, 1])
    assert "given as floats" in verdict(DRF(), "SI", floats).how
    assert "no exact definition known" in verdict(lambda problem, counts: counts / 9, "SI", POOL).how


@pytest.mark.parametrize(
    ("change", "more"),
    [
        (LIE, LIE.apply(POOL).replaced(capacities=[1, 2])),
        (LIE, POOL.replaced(demands=[[1, 1], [1, 1]])),
        (LIE, POOL.replaced(weights=[1, 2])),
        (GROW, POOL.replaced(capacities=[F(1, 2), 2])),
        (UNITS, POOL),
    ],
)
def test_a_change_that_does_more_than_it_says_is_refused(change, more):
    before, after, other = (situation(model, np.zeros(2)) for model in (POOL, change.apply(POOL), more))
    assert legal(before, change, after)
    assert not legal(before, change, other)


def test_the_hint_may_be_missing_after_the_change():
    witness = witness_of(DRF(), "RM", POOL, GROW)
    assert confirm(replace(witness, allocation_after=None), DRF()).violation == F(1, 4)


def test_what_some_allocation_between_the_bounds_satisfies_is_no_certain_violation():
    """All of (0, 0) to (1, 1) is possible; (1, 1) is efficient, fair and free of envy."""
    box = replace(situation(Problem([[1], [1]], [2]), np.array([F(0), F(0)])), upper=[[F(1)], [F(1)]])
    for name, judge in JUDGEMENTS.items():
        assert judge(box).violation <= 0, name
    half = replace(box, upper=[[F(1, 2)], [F(1)]])
    assert JUDGEMENTS["Pareto efficiency"](half).violation > 0
    assert JUDGEMENTS["sharing incentive"](half).violation == F(1, 2)


def test_a_better_allocation_must_be_verified(monkeypatch):
    """The linear program only proposes: what is infeasible, or at somebody's cost, proves nothing."""
    for proposal in ([F(1), F(1)], [F(1), F(0)], None):
        monkeypatch.setattr(statements, "vertex", lambda *_, proposal=proposal: proposal)
        assert not verdict(DRF(), "PE", POOL).confirmed
        assert not verdict(DRF(), "SRF", Problem([[2], [1]], [1])).confirmed
