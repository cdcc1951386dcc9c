"""DRF with time constraints (Zhu): exchange, optimum and claims; definitions against the library."""

import itertools
import random
from fractions import Fraction as F

import numpy as np
import pytest

from fairness import Problem
from fairness.timed.exchange import exchange
from fairness.timed.tdrf import TDRF, integer_tdrf
from proofs import ProofError, Status, check, verify
from proofs.catalogue import statement_named
from proofs.catalogue.tdrf import claims as tdrf_claims
from proofs.catalogue.tdrf import mechanism as tdrf
from proofs.definitions.pools import timed
from tests.proofs.needed import shows_the_need

ALL = (*tdrf.STATEMENTS, *tdrf_claims.STATEMENTS)
PROVED = {
    "tdrf-exchange-section-2-2",
    "tdrf-exchange-t1",
    "tdrf-exchange-harmless",
    "tdrf-optimum",
    "tdrf-optimum-4-1",
    "tdrf-end-cancels",
    "tdrf-whole-tasks",
    "tdrf-drf-is-strategy-proof",
    "tdrf-exchange-is-not-linear",
}
OPEN = {("tdrf-exchange-section-2-2", "needs"), ("tdrf-exchange-t1", "needs")}
"""Mutants of computations: another value is no counterexample."""
POOL = ([[1, 2], [3, 1]], [9, 9])


def tenths(*values):
    return [F(v, 10) for v in values]


BROUGHT = [tenths(5, 2, 4), tenths(4, 3, 5), tenths(1, 6, 2), tenths(2, 2, 5)]
NEEDS = [tenths(2, 1, 0), tenths(0, 2, 2), tenths(1, 0, 3), tenths(2, 2, 0)]


@pytest.mark.parametrize("s", ALL, ids=lambda s: s.id)
def test_status_and_evidence(s):
    verdict = check(s)
    assert verdict.status == (Status.PROVED if s.id in PROVED else Status.REFUTED)
    verify(verdict)
    assert s.mutants or s.id not in PROVED
    assert s.remark or s.id in PROVED


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


def test_sizes_out_of_scope():
    with pytest.raises(ProofError, match="from 2 to 6; got 1"):
        check("tdrf-drf-is-strategy-proof", n=1)
    with pytest.raises(ProofError, match="has no size"):
        check("tdrf-optimum", n=2)


# The refutations, by hand: what TDRF gives fits, is full and has equal levels 2x = 3ky.


@pytest.mark.parametrize(
    ("k", "x", "y"),
    [(1, F(3), F(2)), (2, F(27, 7), F(9, 7)), (F(8, 3), F(4), F(1)), (3, F(81, 20), F(9, 10))],
)
def test_tdrf_by_hand(k, x, y):
    assert 2 * x == 3 * k * y
    assert x + 3 * y <= 9
    assert 2 * x + y <= 9
    assert 9 in (x + 3 * y, 2 * x + y)


def test_claims_on_the_example_by_hand():
    assert (F(27, 7), F(9, 7)) != (4, 1)
    # x = 3y: 2 * 27/7 + 9/7 = 9.
    assert 2 * F(27, 7) + F(9, 7) == 9
    assert F(27, 7) == 3 * F(9, 7)
    # Alone A runs 9/2 tasks and leaves no memory.
    assert min(F(9, 1), F(9, 2)) == F(9, 2)
    # Half of the pool runs 3/2 tasks of B, with time weights 3 and 8 it runs 1.
    assert min(F(9, 2) / 3, F(9, 2)) == F(3, 2) > 1
    # Joining with A instead of at twice the time.
    assert F(2) > F(9, 7)
    # B stays 7, A 2; the dominant shares are 3y/9 and 2x/9.
    assert 9 - 2 > 3 - 1
    assert 3 * F(9, 7) / 9 == F(3, 7) < 2 * F(27, 7) / 9 == F(6, 7)


def test_algorithm_2_stops_too_early_by_hand():
    assert (1 + 3 * 2, 4 + 2) == (7, 6)
    assert 7 + 3 <= 12
    assert 6 + 1 <= 9
    assert 6 + 4 > 9


def test_claims_on_the_experiment_by_hand():
    totals = [sum(column) for column in zip(*BROUGHT[:3], strict=True)]
    assert totals == [1, F(11, 10), F(11, 10)]
    assert F(9, 10) + F(5, 10) > totals[2]
    assert all(0 in row for row in NEEDS)
    # Time 1: user 1 swaps .4 of resource 3 for .4 of resource 1.
    held = [tenths(9, 2, 0), tenths(0, 3, 9)]
    assert held[0][0] > BROUGHT[0][0]
    supported = [min(held[0][0] / NEEDS[0][0], held[0][1] / NEEDS[0][1]), min(held[1][1], held[1][2]) * 5]
    assert supported == [2, F(3, 2)]
    assert held[0][0] + NEEDS[0][0] > 1
    assert held[1][2] + NEEDS[1][2] > 1
    # DRF of the pool: 10/3 tasks each fill resource 2.
    assert F(10, 3) * (NEEDS[0][1] + NEEDS[1][1]) == 1
    # .7 of resource 1 is all that users 2, 3, 4 brought, and user 3 needs some.
    assert sum(row[0] for row in BROUGHT[1:]) == F(7, 10)
    assert BROUGHT[2][0] > 0
    assert NEEDS[2][0] > 0
    # Without a partner user 3 turns .6 into either resource, not what is printed.
    assert tenths(1, 0, 5) not in (tenths(1 + 6, 0, 2), tenths(1, 0, 2 + 6))
    # Section 2.2, user 2: turns .8.
    assert tenths(6, 0, 3) not in (tenths(1 + 8, 0, 3), tenths(1, 0, 3 + 8))


def test_overstating_by_hand():
    # User 1 gives all of resource 1 for as much of resource 2, of which user 2 has .8.
    assert [F(1, 10) + min(F(k, 10), F(8, 10)) for k in (5, 8)] == tenths(6, 9)


# The definitions against the library.


def test_exchange_is_that_of_the_library():
    rng = random.Random(1)
    for _ in range(100):
        n, m = rng.randint(1, 4), rng.randint(1, 4)
        brought = [[rng.randint(0, 5) for _ in range(m)] for _ in range(n)]
        needs = [[rng.randint(0, 1) for _ in range(m)] for _ in range(n)]
        order = rng.sample(range(1, n + 1), n)
        found = exchange(brought, needs, order=[k - 1 for k in order]).holdings
        assert timed.exchanged(brought, needs, order) == found.tolist()


def test_tdrf_is_that_of_the_library():
    rng = random.Random(2)
    for _ in range(60):
        n, m = rng.randint(2, 3), rng.randint(1, 3)
        demands = [[rng.randint(1, 5) for _ in range(m)] for _ in range(n)]
        capacities = [rng.randint(3, 20) for _ in range(m)]
        joined = [rng.randint(1, 9) for _ in range(n)]
        exact = timed.tdrf_tasks(demands, capacities, joined)
        found = TDRF(joined)(Problem(demands, capacities), np.ones(n))
        # Filling in floats with a handful of roundings.
        np.testing.assert_allclose(found, [float(x) for x in exact], rtol=1e-12)
        first = timed.tdrf_tasks(demands, capacities, [0, *(t + 1 for t in joined[1:])])
        found = TDRF([0, *(t + 1 for t in joined[1:])])(Problem(demands, capacities), np.ones(n))
        np.testing.assert_allclose(found, [float(x) for x in first], atol=1e-12)


def test_whole_tasks_are_those_of_the_library_at_other_ratios():
    pool = Problem(*POOL)
    thresholds = [F(1, 3), F(2, 3), F(2)]
    for numerator, denominator in itertools.product(range(1, 30), (2, 7, 12)):
        k = F(numerator, denominator)
        passed = sum(k >= t for t in thresholds)
        expected = [[1, 2], [2, 2], [3, 2], [4, 1]][passed]
        assert integer_tdrf(pool, [1, k], ties=[0, 1]).tasks.tolist() == expected


def test_several_first_users_are_no_case_of_the_paper():
    with pytest.raises(NotImplementedError):
        timed.tdrf_tasks(*POOL, [0, 0])


def test_statements_are_in_the_catalogue():
    assert all(statement_named(s.id) is s for s in ALL)
