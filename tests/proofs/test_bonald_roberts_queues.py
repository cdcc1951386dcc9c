"""Bonald and Roberts on jobs that come and go: verdicts, mutants, and the definitions against the library."""

import random
from fractions import Fraction

import numpy as np
import pytest

from capacity import stability_region
from fairness import DRF, BottleneckMax, Problem, ProportionalFair, allocate
from proofs import Implication, ProofError, Status, check, verify
from proofs.catalogue import statement_named
from proofs.catalogue.bonald_roberts.drifts import STATEMENTS as DRIFTS
from proofs.catalogue.bonald_roberts.durations import STATEMENTS as DURATIONS
from proofs.catalogue.bonald_roberts.queues import EXAMPLE
from proofs.catalogue.bonald_roberts.queues import STATEMENTS as QUEUES
from proofs.catalogue.bonald_roberts.stability import STATEMENTS as STABILITY
from proofs.definitions import definition, fractions, plain
from proofs.definitions.pools.filling import filled
from proofs.definitions.queues import drifts
from proofs.definitions.queues.balance import (
    balance_table,
    balanced_enclosure,
    store_and_forward_table,
    two_class_pf,
)
from proofs.definitions.queues.drifts import two_resource_bmf
from proofs.prover.library import library_value
from proofs.relations import relation
from queueing import System, balanced_fairness, drift, duration_bound
from tests.proofs.needed import shows_the_need

STATEMENTS = (*QUEUES, *DURATIONS, *STABILITY, *DRIFTS)
NOT_PROVED = {
    "br-heavy-traffic": Status.SUPPORTED,
    "br-bmf-stable": Status.SUPPORTED,
    "br-bmf-not-by-pf": Status.REFUTED,
}
# Without its hypothesis a stated number is another one, and then the engine says UNKNOWN.
NUMBERS = {
    "br-capacity-region",
    "br-drift-values",
    "br-durations-example",
    "br-service-example",
    "br-whole-tasks",
}


@pytest.fixture
def rng():
    return random.Random(11)


@pytest.mark.parametrize("s", STATEMENTS, ids=lambda s: s.id)
def test_verdicts(s):
    verdict = check(s)
    assert verdict.status == NOT_PROVED.get(s.id, Status.PROVED), verdict
    if s.id != "br-heavy-traffic":  # its simulation runs once more to be verified: in the general tests
        verify(verdict, s)


@pytest.mark.parametrize(
    ("s", "name"), [(s, m) for s in STATEMENTS for m in s.mutants], ids=lambda v: getattr(v, "id", v)
)
def test_no_proof_is_vacuous(s, name):
    smallest = {k: max(size.least, 2) for k, size in s.sizes.items()}
    verdict = check(s, drop=[name], **smallest)
    assert shows_the_need(verdict, another_value=s.id in NUMBERS), verdict
    verify(verdict, s)


def test_every_proved_statement_has_a_mutant():
    assert all(s.mutants for s in STATEMENTS if s.id not in NOT_PROVED)


@pytest.mark.parametrize("s", [s for s in STATEMENTS if s.sizes], ids=lambda s: s.id)
def test_sizes_out_of_scope_are_refused(s):
    for name, size in s.sizes.items():
        with pytest.raises(ProofError, match="is checked for"):
            check(s, **{name: size.most + 1})


@pytest.mark.parametrize(("n", "m"), [(2, 2), (4, 2), (2, 6), (4, 5)])
def test_the_duration_bound_at_other_sizes(n, m):
    assert check("br-duration-bound", n=n, m=m).status == Status.PROVED


def random_shares(rng, n, m):
    return [[Fraction(rng.randint(1, 9), rng.randint(1, 4)) for _ in range(m)] for _ in range(n)]


def loads_at(rng, shares, load):
    mix = [rng.randint(1, 6) for _ in shares]
    busiest = max(sum(r * row[j] for r, row in zip(mix, shares, strict=True)) for j in range(len(shares[0])))
    return [load * r / busiest for r in mix]


def as_system(shares, rho):
    return System(Problem(np.array(shares, dtype=float), np.ones(len(shares[0]))), np.array(rho, dtype=float))


def test_the_bound_holds_coefficient_by_coefficient_on_random_systems(rng):
    for _ in range(6):
        n, m = rng.randint(1, 3), rng.randint(1, 4)
        shares = random_shares(rng, n, m)
        for row in shares:  # some zeros, but never a class without demands
            row[rng.randrange(m)] *= rng.choice((0, 1)) if m > 1 and all(row) else 1
        cases = list(definition("duration_terms")(shares, 3, True))
        assert all(holds for _, holds in cases)
        if m == 1:
            assert all(case["left"] == case["right"] for case, _ in cases)


def test_the_enclosure_holds_the_library_and_is_below_the_bound(rng):
    for _ in range(6):
        shares = random_shares(rng, 2, rng.randint(1, 3))
        rho = loads_at(rng, shares, Fraction(3, 5))
        ends = balanced_enclosure(shares, rho, 90)
        system = as_system(shares, rho)
        values = balanced_fairness(system).mean_durations
        bounds = definition("balanced_bound")(shares, rho)
        for (low, high), value, bound in zip(ends, values, bounds, strict=True):
            # The library leaves out a tail of 1e-9 or so; the enclosure is narrower than 1e-6 at load .6.
            assert high - low < 1e-6
            assert float(low) - 1e-6 <= value <= float(high) + 1e-6
            assert low <= bound
        assert np.allclose([float(b) for b in bounds], duration_bound(system).mean_durations, rtol=1e-12)


def test_an_enclosure_with_few_states_is_wide_but_right():
    shares, rho = fractions(EXAMPLE), [Fraction(9, 11)] * 2
    low, high = balanced_enclosure(shares, rho, 60)[0]
    assert low < Fraction("10.7588") < high
    assert high - low > 1
    assert "between" in definition("balanced_durations")(shares, rho, 60)[0]


def test_tables_by_hand():
    table = balance_table(fractions([[1, 2], [3, 1]]), 2)
    assert (table[1, 0], table[0, 1], table[1, 1]) == (2, 3, 9)  # max(1*3 + 3*2, 2*3 + 1*2) = 9
    series = store_and_forward_table(fractions([[1, 2], [3, 1]]), 2)
    # (1 - p - 3q)^-1 (1 - 2p - q)^-1: the coefficient of pq is 6 + 1*1 + 3*2 + 4.
    assert (series[1, 0], series[1, 1]) == (3, 17)


def test_drifts_are_those_of_the_library(rng):
    for _ in range(20):
        shares, x = random_shares(rng, 2, 2), [rng.randint(1, 30), rng.randint(1, 30)]
        rho = loads_at(rng, shares, Fraction(9, 10))
        system = as_system(shares, rho)
        for name, policy in (("PF", ProportionalFair()), ("DRF", DRF())):
            exact = [float(v) for v in definition("fluid_drift")(name, shares, rho, x)]
            # PF is iterated to a duality gap of about 1e-12.
            assert np.allclose(drift(system, policy, x), exact, rtol=0, atol=1e-8)


def test_bmf_and_pf_of_two_classes_agree_and_are_those_of_the_library(rng):
    for _ in range(20):
        n = rng.randint(2, 4)
        shares, x = random_shares(rng, n, 2), [Fraction(rng.randint(1, 9)) for _ in range(n)]
        tasks = two_resource_bmf(shares, x)
        problem = Problem(np.array(shares, dtype=float), [1, 1])
        found = allocate(problem, BottleneckMax(), counts=[float(v) for v in x]).tasks
        assert np.allclose([float(t) for t in tasks], found, rtol=0, atol=1e-9)
        if n == 2:
            assert tasks == two_class_pf(shares, (int(x[0]), int(x[1])))


def test_corners_are_those_of_the_library(rng):
    for _ in range(10):
        shares = random_shares(rng, 2, rng.randint(1, 4))
        region = stability_region(Problem(shares, [Fraction(1)] * len(shares[0])))
        assert definition("capacity_corners")(shares) == sorted(
            list(v) for v in region.exact_vertices if any(v)
        )


def test_second_methods_agree_with_the_definitions():
    computed = [
        (c.function, c.arguments)
        for s in STATEMENTS
        for step in s.steps(s.question())
        if hasattr(c := step.claim, "value")
    ]
    by_library = [(f, a) for f, a in computed if library_value(f, a)[1] is not None]
    assert len({f for f, _ in by_library}) == 5
    for function, arguments in by_library:
        assert plain(library_value(function, arguments)[0]) == plain(definition(function)(**arguments))


def test_the_drift_that_is_positive_by_plain_fractions():
    # Three classes, shares (1,5), (4,1), (3,3), counts 4, 6, 8. Per job min(t/a1, u/a2) with both resources
    # full: class 1 by resource 2, class 2 by resource 1, class 3 by the scarcer of the two.
    a, x = ((1, 5), (4, 1), (3, 3)), (4, 6, 8)
    load = Fraction(199, 200)
    rho = [load * w / 37 for w in (3, 4, 6)]
    assert [sum(r * row[j] for r, row in zip(rho, a, strict=True)) for j in (0, 1)] == [load, load]
    # With u = k t, k < 1, class 3 gets u/3 per job. Usages in units of t: 4k/5 + 6 + 8k of the first
    # resource and 4k + 6/4 + 8k of the second; both are 1/t.
    k = Fraction(6) - Fraction(3, 2)
    k /= 12 - Fraction(4, 5) - 8
    if k > 1:  # then class 3 gets t/3: 4k/5 + 6 + 8 and 4k + 3/2 + 8
        k = Fraction(14 - Fraction(19, 2)) / (4 - Fraction(4, 5))
        used = (4 * k / 5 + 14, 4 * k + Fraction(19, 2))
        third = Fraction(8, 3)
    else:
        used = (4 * k / 5 + 6 + 8 * k, 12 * k + Fraction(3, 2))
        third = 8 * k / 3
    assert used[0] == used[1]
    tasks = [4 * k / 5 / used[0], Fraction(6, 4) / used[0], third / used[0]]
    drift_of_v = sum(n * (r - t) / r for n, r, t in zip(x, rho, tasks, strict=True))
    assert drift_of_v == Fraction(8398, 216711) > 0


def test_simulated_pf_is_that_of_the_chain():
    case, holds = definition("heavy_gap")(random.Random("0 1"), 60_000, "1/3")
    assert holds
    # Mean durations by the library's chain (errors below 1e-8): load .5 has 2.0000, .9 has 10.1536.
    from proofs.definitions.queues.drifts import _simulated_pf

    for load, duration in ((0.5, 2.00004), (0.9, 10.15356)):
        mean, error = _simulated_pf(random.Random(2), load * 10 / 11, 60_000)
        assert abs(mean - duration) < 4 * error
        assert error < 0.01 * duration
    assert set(case) == {"free", "balanced", "PF", "standard error"}


def test_classes_that_do_not_demand_the_full_resource_may_stop_later():
    # Classes 1 and 2 share resource 1 and stop at level 1/2; class 3 has resource 2 for itself, level 1. With
    # equal loads 1/4 the maximum V of r x/rho is 4, and class 3 runs more than t V rho = 1/2.
    shares, ones, rho = fractions([[1, 0], [1, 0], [0, 1]]), [Fraction(1)] * 3, [Fraction(1, 4)] * 3
    tasks, level, top = filled(shares, [Fraction(1)] * 2, ones), Fraction(1, 2), Fraction(4)
    assert tasks == [Fraction(1, 2), Fraction(1, 2), Fraction(1)]
    assert tasks[2] > level * top * rho[2]
    values = {"t": level, "V": top}
    for i, (row, x, r) in enumerate(zip(shares, tasks, rho, strict=True), 1):
        values |= {f"f{i}": x, f"a{i}": row[0], f"rho{i}": r, f"h{i}": x * row[0]}
    # The step that adds up what all hold of resource 1 is about this state too: its hypotheses are met.
    claims = [step.claim for step in statement_named("br-drf-stable").ask(question("br-drf-stable"))]
    [added] = [c for c in claims if isinstance(c, Implication) and {"full"} < set(c.hypotheses)]
    assert all(relation(text).holds(values) for text in added.hypotheses.values())
    assert relation(added.conclusion).holds(values)


def question(name):
    return statement_named(name).question()


def test_a_policy_that_does_not_keep_up_is_noticed(monkeypatch):
    families = [[2, 2, 1, 2]]
    assert all(holds for _, holds in definition("filling_keeps_up")(families))
    half = drifts._filled_with
    monkeypatch.setattr(drifts, "_filled_with", lambda a, r: [x / 2 for x in half(a, r)])
    assert not all(holds for _, holds in definition("filling_keeps_up")(families))
