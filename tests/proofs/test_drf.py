"""Dominant Resource Fairness (NSDI 2011): what holds, what does not; definitions against the library."""

import random
from fractions import Fraction as F

import numpy as np
import pytest

from fairness import AssetFair, Problem
from fairness.indivisible.pool import fill_tasks
from fairness.properties.exact.enclosure import enclose
from proofs import ProofError, Status, check, verify
from proofs.catalogue import statement_named
from proofs.catalogue.drf import examples as drf_examples
from proofs.catalogue.drf import mechanism as drf
from proofs.catalogue.drf import table as drf_table
from proofs.definitions.pools import mechanisms
from tests.proofs.needed import shows_the_need

ALL = (*drf_examples.STATEMENTS, *drf.STATEMENTS, *drf_table.STATEMENTS)
REFUTED = {
    "drf-dominant-resources-swapped",
    "drf-machines-within-one-task",
    "drf-table-asset-si",
    "drf-table-asset-bottleneck",
    "drf-table-asset-resource",
    "drf-table-ceei-sp",
    "drf-table-ceei-population",
    "drf-table-ceei-resource",
    "drf-table-drf-resource",
}
OPEN = {("drf-example-order", "ties to B")}
"""Mutants of computations: another value is no counterexample."""


@pytest.mark.parametrize("s", ALL, ids=lambda s: s.id)
def test_status_and_evidence(s):
    verdict = check(s)
    assert verdict.status == (Status.REFUTED if s.id in REFUTED else Status.PROVED)
    assert not any("z3" in finding.reason for finding in verdict.findings)
    verify(verdict)
    assert s.mutants or s.id in REFUTED


@pytest.mark.parametrize(
    ("s", "name"), [(s, m) for s in ALL for m in s.mutants], ids=lambda v: getattr(v, "id", v)
)
def test_mutants(s, name):
    verdict = check(s, drop=[name])
    assert shows_the_need(verdict, another_value=(s.id, name) in OPEN), verdict
    for finding in verdict.findings:
        if finding.evidence.get("kind") == "assignment":
            # Counterexamples are sensible: no negative tasks, demands or shares.
            assert name == "price" or min(map(F, finding.evidence["values"].values())) >= 0
    verify(verdict)


def test_the_table_has_24_cells():
    assert len(drf_table.STATEMENTS) == 24
    rows = [s.id.split("-")[2:] for s in drf_table.STATEMENTS]
    assert [policy for policy, _ in rows] == ["asset", "ceei", "drf"] * 8
    assert all(rows[k][1] == rows[k - k % 3][1] for k in range(24))


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("drf-table-drf-sp", {"n": 6}),
        ("drf-table-asset-sp", {"n": 4, "m": 3}),
        ("drf-table-ceei-si", {"n": 4, "m": 3}),
        ("drf-table-ceei-bottleneck", {"n": 2, "m": 1}),
        ("drf-table-drf-pe", {"n": 6}),
        ("drf-table-ceei-pe", {"n": 5, "m": 4}),
        ("drf-ceei-unique", {"n": 2}),
    ],
)
def test_other_sizes(name, sizes):
    verdict = check(name, **sizes)
    assert verdict.status == Status.PROVED
    assert verdict.sizes.items() >= sizes.items()
    verify(verdict)


@pytest.mark.parametrize("sizes", [{"n": 1}, {"n": 7}, {"m": 0}, {"m": 6}, {"k": 2}])
def test_sizes_out_of_scope(sizes):
    with pytest.raises(ProofError, match=r"has no size|is checked for"):
        check("drf-table-asset-sp", **sizes)


# The refutations, by hand.


def asset(demands, capacities):
    """Asset fairness with positive demands: one round."""
    rate = [1 / sum(F(d, c) for d, c in zip(row, capacities, strict=True)) for row in demands]
    speed = [sum(r * row[j] for r, row in zip(rate, demands, strict=True)) for j in range(len(capacities))]
    level = min(F(c) / v for c, v in zip(capacities, speed, strict=True))
    return [level * r for r in rate]


def test_asset_fairness_by_hand():
    assert asset([[1, 3], [1, 1]], [30, 30]) == [6, 12]
    assert min(F(15, 1), F(15, 3)) == 5 < 6
    assert min(15, 15) == 15 > 12
    assert asset([[3, 2], [4, 1]], [21, 21]) == [3, 3]
    assert (3 * F(3, 21), 3 * F(4, 21)) == (F(3, 7), F(4, 7))
    assert asset([[2, 1], [1, 2]], [1, 1]) == [F(1, 3), F(1, 3)]
    assert asset([[2, 1], [1, 2]], [2, 1])[1] == F(4, 13) < F(1, 3)


def test_ceei_by_hand():
    """The product of the tasks at these points is the largest: their gradient is that of prices."""

    def is_optimum(demands, capacities, tasks, prices):
        used = [sum(x * row[j] for x, row in zip(tasks, demands, strict=True)) for j in (0, 1)]
        gradient = [sum(p * d for p, d in zip(prices, row, strict=True)) for row in demands]
        full = all(u == c if p else u <= c for u, c, p in zip(used, capacities, prices, strict=True))
        return full and min(prices) >= 0 and all(x * g == 1 for x, g in zip(tasks, gradient, strict=True))

    honest, lying = [F(100, 31), F(1500, 31)], [F(25, 6), F(100, 3)]
    assert is_optimum([[16, 1], [1, 2]], [100, 100], honest, [F(29, 1500), F(1, 1500)])
    assert is_optimum([[16, 8], [1, 2]], [100, 100], lying, [F(1, 100), F(1, 100)])
    # A bundle of 16 and 8 units runs one task of (16, 1), so all tasks are useful.
    assert lying[0] > honest[0]
    before, after = [F(1), F(5, 17), F(5, 17)], [F(46, 21), F(5, 21)]
    assert is_optimum([[4, 1], [1, 16], [16, 1]], [9, 6], before, [F(1, 5), F(1, 5)])
    assert is_optimum([[4, 1], [1, 16]], [9, 6], after, [F(17, 345), F(179, 690)])
    assert after[1] < before[1]
    assert is_optimum([[2, 1], [1, 2]], [1, 1], [F(1, 3), F(1, 3)], [1, 1])
    assert is_optimum([[2, 1], [1, 2]], [2, 1], [F(1, 2), F(1, 4)], [0, 2])


def test_the_other_refutations_by_hand():
    # DRF: shares 2/3 before, 1/2 after the first resource is doubled.
    assert 2 * F(1, 3) + F(1, 3) == 1
    assert (F(1, 2) * 2 / 2, F(1, 4) * 2) == (F(1, 2), F(1, 2))
    assert F(1, 2) + 2 * F(1, 4) == 1
    assert F(1, 4) < F(1, 3)
    # Dominant resources of the example.
    assert F(4, 18) > F(1, 9)
    assert F(3, 9) > F(1, 18)
    # Three machines of 3 units, tasks of 2.
    assert F(9, 2) - 3 * (3 // 2) == F(3, 2) > 1


# The definitions against the library and against what is proved.


def pool(rng, least=0, users=None):
    n, m = users or rng.randint(2, 4), rng.randint(1, 3)
    demands = [[rng.randint(least, 4) for _ in range(m)] for _ in range(n)]
    for row in demands:
        if not any(row):
            row[rng.randrange(m)] = 1
    return demands, [rng.randint(4, 20) for _ in range(m)]


def test_asset_fairness_is_that_of_the_library():
    rng = random.Random(1)
    for _ in range(60):
        demands, capacities = pool(rng)
        found = enclose(AssetFair(), Problem(demands, capacities))
        assert mechanisms.asset_tasks(demands, capacities) == list(found.lower) == list(found.upper)


def test_whole_tasks_are_those_of_the_library():
    rng = random.Random(2)
    for _ in range(60):
        demands, capacities = pool(rng)
        ties = rng.sample(range(1, len(demands) + 1), len(demands))
        filling = fill_tasks(Problem(demands, capacities), ties=[k - 1 for k in ties])
        assert mechanisms.whole_task_order(demands, capacities, ties=ties) == [i + 1 for i in filling.order]


def test_equilibria_are_checked():
    rng = random.Random(3)
    for _ in range(60):
        demands, _ = pool(rng, least=1)
        prices = [F(rng.randint(1, 5), rng.randint(1, 5)) for _ in demands[0]]
        bought = [1 / sum(p * d for p, d in zip(prices, row, strict=True)) for row in demands]
        capacities = [
            sum(x * row[j] for x, row in zip(bought, demands, strict=True)) for j in range(len(prices))
        ]
        assert mechanisms.ceei_tasks(demands, capacities, prices) == bought
        for wrong in ([c / 2 for c in capacities], [c * 2 for c in capacities]):
            with pytest.raises(ProofError, match="does not clear"):
                mechanisms.ceei_tasks(demands, wrong, prices)


@pytest.mark.parametrize("policy", ["drf", "asset"])
def test_ticks_hold_on_random_pools(policy):
    rng = random.Random(4)
    for _ in range(80):
        demands, capacities = pool(rng, least=1, users=3)
        claim = [rng.randint(1, 5) for _ in capacities]
        assert mechanisms.truthfulness(policy, demands, capacities, claim)["holds"]
        assert mechanisms.population_monotonicity(policy, demands, capacities)["holds"]
        if policy == "drf":
            assert mechanisms.sharing_incentive(policy, demands, capacities)["holds"]


def test_definitions_refuse_what_they_do_not_mean():
    with pytest.raises(ProofError, match="dominant for all"):
        mechanisms.bottleneck_fairness("drf", [[1, 2], [2, 1]], [1, 1])
    with pytest.raises(ProofError, match="capacity falls"):
        mechanisms.resource_monotonicity("drf", [[1, 2], [2, 1]], [1, 1], [2, "1/2"])


def test_bottleneck_fairness_of_drf():
    assert mechanisms.bottleneck_fairness("drf", [[3, 2], [4, 1]], [21, 21])["holds"]
    assert np.isclose(float(mechanisms.drf_tasks([[3, 2], [4, 1]], [21, 21])[0]), 3.5)


def test_statements_are_in_the_catalogue():
    assert all(statement_named(s.id) is s for s in ALL)
