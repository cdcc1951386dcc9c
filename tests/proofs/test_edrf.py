"""Statements on EDRF and on whole bundles, and the definitions that they rest on."""

import random
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import sparse

from fairness import Problem
from fairness.cloud import edrf
from fairness.indivisible import LowestShare, SequentialMinMax, fill_tasks
from proofs import ProofError, Status, check, verify
from proofs.catalogue.edrf import bundles as bundle_part
from proofs.catalogue.edrf import mechanism as pool_part
from proofs.definitions import definition
from proofs.definitions.cloud.bundles import minmax, pareto
from proofs.definitions.cloud.rounds import algorithm_1, entitlements, instances
from proofs.definitions.pools.filling import tasks_with
from proofs.prover.library import library_value
from tests.proofs.needed import shows_the_need

REFUTED = {"edrf-minmax-envy-other", "edrf-lowest-share-incentive", "edrf-strategyproof-helper"}
SUPPORTED = {"edrf-minmax-random"}
STATEMENTS = {s.id: s for s in (*pool_part.STATEMENTS, *bundle_part.STATEMENTS)}


@pytest.mark.parametrize("name", STATEMENTS)
def test_verdicts(name):
    verdict = check(name)
    expected = Status.REFUTED if name in REFUTED else Status.SUPPORTED if name in SUPPORTED else Status.PROVED
    assert verdict.status == expected
    verify(verdict)


@pytest.mark.parametrize("name", sorted(set(STATEMENTS) - REFUTED))
def test_without_a_hypothesis_there_is_a_witness(name):
    assert STATEMENTS[name].mutants
    for hypothesis in STATEMENTS[name].mutants:
        verdict = check(name, drop=[hypothesis])
        assert shows_the_need(verdict), hypothesis
        verify(verdict)


@pytest.mark.parametrize("n", [2, 4])
def test_other_numbers_of_agents(n):
    for name in (
        "edrf-first-round",
        "edrf-pareto",
        "edrf-strategyproof",
        "edrf-minmax-pareto",
        "edrf-minmax-sharing-incentive",
    ):
        assert check(name, n=n).status == Status.PROVED


@pytest.mark.parametrize("c", range(2, 7))
def test_impossible_for_other_resources(c):
    assert check("edrf-bundles-si-impossible", c=c).status == Status.PROVED
    assert check("edrf-bundles-ef1-impossible", c=c).status == Status.PROVED


def test_sizes_out_of_scope():
    with pytest.raises(ProofError, match="from 1 to 6"):
        check("edrf-pareto", n=7)
    with pytest.raises(ProofError, match="from 2 to 6"):
        check("edrf-bundles-si-impossible", c=1)


def random_rows(rng):
    n, m = rng.randint(1, 6), rng.randint(1, 5)
    rows = [[F(rng.choice([0, rng.randint(1, 8)]), 8) for _ in range(m)] for _ in range(n)]
    for row in rows:
        row[rng.randrange(m)] = F(1)
    return rows


def test_definition_agrees_with_the_library():
    rng = random.Random(2)
    for k in range(120):
        rows = random_rows(rng)
        if k % 2:
            weights = [F(rng.randint(1, 9)) for _ in rows]
            given = np.array(weights, dtype=float)
        else:
            # Entitlements per resource must add up alike, for the library leaves them as they are.
            weights = entitlements(
                len(rows), len(rows[0]), [[F(rng.randint(1, 9)) for _ in row] for row in rows]
            )
            given = sparse.csr_array(np.array(weights, dtype=float) * (np.array(rows, dtype=float) > 0))
        theirs = edrf(sparse.csr_array(np.array(rows, dtype=float)), given)
        own = algorithm_1(rows, weights).tasks(rows)
        # 1e-12: sums of a few rounded numbers.
        np.testing.assert_allclose(theirs.tasks, np.array(own, dtype=float), rtol=1e-12)


def test_bundles_agree_with_the_library():
    rng = random.Random(3)
    for _ in range(150):
        n, m = rng.randint(2, 4), rng.randint(1, 3)
        capacities = [rng.randint(6, 20) for _ in range(m)]
        demands = [[rng.randint(0, 6) for _ in range(m)] for _ in range(n)]
        for row in demands:
            row[rng.randrange(m)] = rng.randint(1, 6)
        problem, order = Problem(demands, capacities), rng.sample(range(n), n)
        for ahead, rule in ((1, SequentialMinMax()), (0, LowestShare("skip"))):
            theirs = fill_tasks(problem, rule, ties=order).tasks.tolist()
            assert minmax(demands, capacities, order, ahead) == theirs


def test_second_methods_agree_with_the_definitions():
    for name, arguments in (
        ("edrf_tasks", {"demands": [[1, 0], ["1/2", 1], [0, 1]], "weights": ["1/2", "1/3", "1/6"]}),
        ("minmax_bundles", {"demands": [[1, 2], [3, 1]], "capacities": [10, 12]}),
    ):
        value, how = library_value(name, arguments)
        assert how.startswith("by ")
        assert value == definition(name)(**arguments)


def test_instances_are_all_but_for_the_order():
    assert sum(1 for _ in instances(2, 2, 2)) == 8 * 9 // 2
    assert all(0 < max(row) <= 1 for demands in instances(2, 2, 2) for row in demands)


# Refutations, in plain integers without proofs.definitions --------------------------------------------------


def test_a_member_who_gains_nothing_helps_another():
    """Agents 1 and 3 share resource 1, 4 demands resource 2 and half as much of 3, and 2 demands 3."""
    w = F(1, 4)
    # Honest: resource 1 is full at 2, resource 3 at 8/3 before resource 2 is.
    honest = [2 * w, w / (w + w / 2)]
    # Agent 1 claims resource 2 too, which is full at 2 as well, so that agent 4 stops there.
    used = 2 * (w + w / 2)
    lied = [2 * w, 2 * w + 1 - used]
    assert honest == [F(1, 2), F(2, 3)]
    assert lied == [F(1, 2), F(3, 4)]
    values = check("edrf-strategyproof-helper").witness["values"]
    assert [F(v) for v in values["honest"]] == honest
    assert [F(v) for v in values["with the lies"]] == lied


def test_random_lies_of_groups_of_any_size():
    """Not all members gain, with weights per resource and larger demands than edrf-strategyproof tries."""
    rng = random.Random(4)
    for _ in range(400):
        rows = random_rows(rng)
        n, m = len(rows), len(rows[0])
        weights = [[F(rng.randint(1, 9)) for _ in row] for row in rows]
        group = rng.sample(range(n), rng.randint(1, n))
        claims = list(rows)
        for i in group:
            claims[i] = [F(rng.choice([0, rng.randint(1, 8)]), 8) for _ in range(m)]
            claims[i][rng.randrange(m)] = F(1)
        honest, held = algorithm_1(rows, weights).tasks(rows), algorithm_1(claims, weights).held
        assert any(tasks_with(rows[i], held[i]) <= honest[i] for i in group)


def served(demands, capacity, key, first):
    bundles, free = [0, 0], capacity
    while waiting := [i for i in (first, 1 - first) if demands[i] <= free]:
        i = min(waiting, key=lambda k: key(bundles[k]) * demands[k])
        bundles[i] += 1
        free -= demands[i]
    return bundles


@pytest.mark.parametrize("first", [0, 1])
def test_six_bundles_of_the_other_hold_two(first):
    """Demands 1 and 3 of 10 units: (7, 1), and 6 units hold two bundles of the second; however ties go."""
    bundles = served([1, 3], 10, lambda k: k + 1, first)
    assert bundles == [7, 1]
    assert (bundles[0] - 1) // 3 > bundles[1]
    # One own bundle is enough.
    assert bundles[0] // 3 <= bundles[1] + 1


@pytest.mark.parametrize("first", [0, 1])
def test_the_lowest_share_takes_from_the_half(first):
    assert served([3, 1], 4, lambda k: k, first) == [1, 1]
    assert 4 // 2 // 1 == 2
    assert served([3, 1], 4, lambda k: k + 1, first) == [0, 4]


def test_no_mechanism_for_two_units():
    """Demands 1 and 2 of 2 units: whoever gets nothing when both demand 2 claims 1 and gets 2 units."""
    # Both demand 2: one gets the bundle, the other none. If that one claims 1, its half holds a bundle of 1;
    # then a bundle of 2 does not fit, so Pareto optimality gives it both units: a bundle of 2.
    options = [x for x in ((x, y) for x in range(3) for y in range(2)) if x[0] + 2 * x[1] <= 2 and x[0] >= 1]
    best = [x for x in options if not any(o != x and o[0] >= x[0] and o[1] >= x[1] for o in options)]
    assert best == [(2, 0)]
    assert pareto([[1], [2]], [2], (2, 0))
