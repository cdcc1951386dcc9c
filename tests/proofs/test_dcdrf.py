"""Statements on DC-DRF, and the definitions that they rest on."""

import random
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import sparse

from fairness.cloud import dcdrf
from proofs import ProofError, Status, check, verify
from proofs.catalogue.dcdrf import approximation as fairness_part
from proofs.catalogue.dcdrf import rounds as rounds_part
from proofs.definitions.cloud.families import light_tenants, work
from proofs.definitions.cloud.rounds import algorithm_1, algorithm_2
from proofs.prover.library import library_value
from tests.proofs.needed import shows_the_need

REFUTED = {
    "dcdrf-tenant-loss",
    "dcdrf-lemma-3-1-printed",
    "dcdrf-lemma-3-1-updated",
    "dcdrf-lemma-3-2-per-demand",
    "dcdrf-lie",
}
STATEMENTS = {s.id: s for s in (*fairness_part.STATEMENTS, *rounds_part.STATEMENTS)}


@pytest.mark.parametrize("name", STATEMENTS)
def test_verdicts(name):
    verdict = check(name)
    assert verdict.status == (Status.REFUTED if name in REFUTED else Status.PROVED)
    verify(verdict)


@pytest.mark.parametrize("name", sorted(set(STATEMENTS) - REFUTED))
def test_without_a_hypothesis_there_is_a_witness(name):
    assert STATEMENTS[name].mutants
    for hypothesis in STATEMENTS[name].mutants:
        verdict = check(name, drop=[hypothesis])
        assert shows_the_need(verdict), hypothesis
        verify(verdict)


def test_sizes_out_of_scope():
    with pytest.raises(ProofError, match="from 1 to 2"):
        check("dcdrf-rounds", largest=3)
    with pytest.raises(ProofError, match="from 3 to 40"):
        check("dcdrf-lonely-tenant", n=2)


def random_rows(rng):
    n, m = rng.randint(1, 6), rng.randint(1, 5)
    rows = [[F(rng.choice([0, rng.randint(1, 8)]), 8) for _ in range(m)] for _ in range(n)]
    for row in rows:
        row[rng.randrange(m)] = F(1)
    return rows, [F(rng.randint(1, 9)) for _ in range(n)]


def test_definition_agrees_with_the_library():
    rng = random.Random(1)
    for _ in range(120):
        rows, weights = random_rows(rng)
        # A random float is nobody's residual, so that rounding does not decide who leaves.
        epsilon = rng.random() * rng.choice([0.1, 0.9])
        own = algorithm_2(rows, F(epsilon), weights)
        theirs = dcdrf(
            sparse.csr_array(np.array(rows, dtype=float)), epsilon, np.array(weights, dtype=float), threads=1
        )
        # 1e-12: sums of a few rounded numbers.
        np.testing.assert_allclose(theirs.tasks, np.array(own.tasks(rows), dtype=float), rtol=1e-12)
        assert theirs.rounds == own.rounds


def test_second_method_reads_fractions():
    arguments = {"demands": [[1, 0], ["1/2", 1], [0, 1]], "epsilon": "1/4"}
    value, how = library_value("dcdrf_tasks", arguments)
    assert value == [F(1, 2)] * 3
    assert "fairness.cloud" in how


def test_work_of_an_instance_counted_by_hand():
    """One round ends for both tenants with the resource that they share; they have three demands."""
    counted = work([[F(1), F(0)], [F(1), F(1)]], F(0), [3, 1])
    assert counted["I"] == 1
    # One resource is full after one round, and both tenants demand it.
    assert [counted[f"line {k}"] for k in ("8", "13", "15", "16", "17", "18", "23")] == [3, 2, 2, 2, 3, 2, 3]
    demands, weights = light_tenants(3, 2, 4)
    assert algorithm_2(demands, F(0), weights).rounds == 4


# Refutations, in plain fractions without proofs.definitions -------------------------------------------------


def test_a_tenant_loses_a_third():
    """Demands (1, 0), (1/2, 1), (0, 1), weight 1/3: resource 2 is full at the level 3/2."""
    level = 1 / (F(1, 3) + F(1, 3))
    left = 1 - level * (F(1, 3) + F(1, 6))
    assert (level, left) == (F(3, 2), F(1, 4))
    rough, exact = level / 3, level / 3 + left
    assert (rough, exact) == (F(1, 2), F(3, 4))
    assert rough < (1 - F(1, 4)) * exact


def test_a_lie_gains_half():
    """Truth (0, 1, 2/3), claim (0, 1, 1/2); the others demand resource 1, and 1 and 3 alike. Weights 1/3."""
    third, epsilon = F(1, 3), F(1, 5)
    # Honest: resource 1 is full at 3/2, and of resource 3 there is 1/6 <= epsilon left: all stop.
    level = 1 / (2 * third)
    left = 1 - level * (third * F(2, 3) + third)
    assert left == F(1, 6) <= epsilon
    honest = level * third
    # With the lie 1/4 is left, the liar goes on until resource 3 is full; its dominant one is not full then.
    left = 1 - level * (third * F(1, 2) + third)
    assert left == F(1, 4) > epsilon
    level += left / (third * F(1, 2))
    held = [level * third, level * third * F(1, 2)]
    assert held == [1, F(1, 2)]
    lied = min(held[0] / 1, held[1] / F(2, 3))
    assert (honest, lied) == (F(1, 2), F(3, 4))
    assert lied > honest / (1 - epsilon)
    assert lied > honest + epsilon


def test_rounds_of_five_tenants_alone():
    """Weights 81, 27, 9, 3, 1: when one resource is full the next one is a third full, so rounds are five."""
    weights, epsilon, rounds = [81, 27, 9, 3, 1], F(1, 2), 0
    while weights:
        rounds += 1
        weights = [w for w in weights if 1 - F(w, weights[0]) > epsilon]
    assert rounds == 5
    # e^3 < 3^3 = 27 < 2^5, so 5 > 3/log 2.
    assert 3**3 < 2**5


def test_updated_rates_take_a_round_more():
    demands = [[F(1), F(1, 4), F(1, 4), F(1, 4)], [0, 1, F(1, 4), F(1, 4)], [0, 0, 1, F(1, 4)], [0, 0, 0, 1]]
    weights = [F(27, 40), F(9, 40), F(3, 40), F(1, 40)]
    mu = [sum(w * row[r] for w, row in zip(weights, demands, strict=True)) for r in range(4)]
    c, left, growing, rounds = min(mu) / max(mu), [F(1)] * 4, {0, 1, 2, 3}, 0
    while growing:
        rounds += 1
        load = [sum(weights[i] * demands[i][r] for i in growing) for r in range(4)]
        x = min(left[r] / load[r] for r in range(4) if load[r])
        left = [s - x * v for s, v in zip(left, load, strict=True)]
        growing = {i for i in growing if all(left[r] > F(2, 5) for r in range(4) if demands[i][r])}
    assert rounds == 3
    assert (1 - F(2, 5)) ** (rounds - 1) <= c == F(43, 108)


def test_work_per_demand_exceeds_four_times_the_lemma():
    """20 rounds in which 80 light tenants look at 20 demands each, and one more; the others at one each."""
    rounds, length, many = 20, 20, 80
    light = rounds * many * length + many
    alone = sum(range(1, rounds + 1))
    tenants, resources = rounds + many, rounds + length
    unit = tenants * length + (rounds + 1) * (tenants + resources)
    verdict = check("dcdrf-lemma-3-2-per-demand")
    assert verdict.witness["values"]["line 16, per demand"] == light + alone
    assert light + alone > 4 * unit


def test_lonely_tenant_of_five():
    demands = [[1, 0]] + [[F(1, 2), 1]] * 4
    exact, rough = algorithm_1(demands).tasks(demands)[0], algorithm_2(demands, F(1, 4)).tasks(demands)[0]
    assert (exact, rough) == (F(1, 2), F(1, 4))
