"""The static statements of Bonald and Roberts: verdicts, mutants, definitions against the library."""

import math
import random
from fractions import Fraction as F

import pytest

from proofs import ProofError, Status, check, statements, verify
from proofs.definitions import definition, fractions
from proofs.definitions.pools import filling
from proofs.definitions.pools.filling import (
    are_optimal_prices,
    bottlenecks,
    is_bottleneck_max,
    is_feasible,
    tasks_with,
    usage,
)
from proofs.prover.library import library_value
from tests.proofs.needed import shows_the_need

MODULES = {
    "bonald_roberts.model",
    "bonald_roberts.properties",
    "bonald_roberts.allocations",
    "bonald_roberts.bottleneck",
    "bonald_roberts.examples",
}
REFUTED = {"br-mmf-scale-invariant", "br-pf-strategy-proof", "br-bmf-strategy-proof", "br-pf-is-bmf"}
PROVED = {
    "br-feasible",
    *(f"br-{p}-{what}" for p in ("pf", "drf", "bmf") for what in ("efficient", "sharing-incentive")),
    *(f"br-{p}-{what}" for p in ("pf", "drf", "bmf") for what in ("envy-free", "scale-invariant")),
    "br-drf-strategy-proof",
    "br-pf-full-resources",
    "br-bmf-full-resources",
    "br-two-classes",
    "br-bmf-exists",
    "br-bmf-path",
    "br-bmf-segment",
    "br-pf-irrational",
    "br-drf-leaves-room",
    "br-examples",
}
OPEN_MUTANTS = {
    # Another number than the stated one is no proof, and no refutation either.
    ("br-examples", "capacity"),
    ("br-drf-leaves-room", "policy"),
    # The only witness is -sqrt(39).
    ("br-pf-irrational", "sign"),
}
NAMED = {s.id: s for s in statements() if s.id in PROVED | REFUTED}


def test_all_statements_are_here():
    import importlib

    own = {s.id for m in MODULES for s in importlib.import_module(f"proofs.catalogue.{m}").STATEMENTS}
    assert own == PROVED | REFUTED == set(NAMED)
    assert len(own) == 27


@pytest.mark.parametrize("name", sorted(PROVED | REFUTED))
def test_verdicts_and_their_evidence(name):
    verdict = check(name)
    assert verdict.status == (Status.PROVED if name in PROVED else Status.REFUTED), verdict
    verify(verdict)


@pytest.mark.parametrize(("name", "mutant"), [(s.id, m) for s in NAMED.values() for m in s.mutants])
def test_mutants(name, mutant):
    verdict = check(name, drop=[mutant], **dict.fromkeys(NAMED[name].sizes, 2))
    assert shows_the_need(verdict, another_value=(name, mutant) in OPEN_MUTANTS), verdict
    verify(verdict)


def test_every_proved_statement_has_a_mutant():
    assert all(NAMED[name].mutants for name in PROVED)


@pytest.mark.parametrize("name", sorted(name for name, s in NAMED.items() if s.sizes))
def test_sizes(name):
    for size, allowed in NAMED[name].sizes.items():
        assert check(name, **{size: allowed.least}).status == Status.PROVED
        for value in (allowed.least - 1, allowed.most + 1):
            with pytest.raises(ProofError, match="is checked for"):
                check(name, **{size: value})


# Witnesses, in plain fractions and without the definitions.


def test_witness_max_min_depends_on_how_work_is_cut():
    # One resource: tasks (1/2, 1/2); with tasks of size 1 and 2, t + 2t = 1. The second user: 2/3, not 1/2.
    assert F(1, 2) + F(1, 2) == F(1, 3) * 1 + F(1, 3) * 2 == 1


def test_witness_of_the_lie():
    # True demands (1,3), (2,1): 1/5 and 2/5 tasks fill both resources; at prices 1/2, 3/2 a task costs 1/x.
    assert [F(1, 5) * 1 + F(2, 5) * 2, F(1, 5) * 3 + F(2, 5) * 1] == [1, 1]
    assert [F(1, 2) * 1 + F(3, 2) * 3, F(1, 2) * 2 + F(3, 2) * 1] == [5, F(5, 2)]
    # Stated demands (1,2), (2,1): 1/3 each, prices 1 and 1. Largest shares: PF and BMF, both times.
    assert [F(1, 3) * 1 + F(1, 3) * 2, 1 * 1 + 1 * 2] == [1, 3]
    assert F(1, 5) * 3 > F(2, 5) * 1
    assert F(2, 5) * 2 > F(1, 5) * 1
    # With 1/3 and 2/3 of the resources the liar runs 2/9 of its true tasks: more than 1/5.
    assert min(F(1, 3) / 1, F(2, 3) / 3) == F(2, 9) > F(1, 5)


def test_witness_pf_is_not_bmf():
    demands, bmf, other = (
        ((4, 1), (2, 1), (1, 4)),
        (F(3, 29), F(6, 29), F(5, 29)),
        (F(5, 46), F(9, 46), F(8, 46)),
    )
    loads = [[sum(x * a[j] for x, a in zip(t, demands, strict=True)) for j in (0, 1)] for t in (bmf, other)]
    assert loads[0] == [1, 1]
    assert max(loads[1]) <= 1
    assert math.prod(other) > math.prod(bmf)
    # Users 1 and 2 hold the most of resource 1, user 3 of resource 2.
    assert bmf[0] * 4 == bmf[1] * 2 > bmf[2]
    assert bmf[2] * 4 > max(bmf[0], bmf[1])


# Definitions against the library.


def random_pool(rng, n, m, least=0):
    while True:
        rows = [[rng.randint(least, 5) for _ in range(m)] for _ in range(n)]
        if all(any(row) for row in rows):
            return rows, [rng.choice([1, 2, F(3, 2)]) for _ in range(m)]


@pytest.mark.parametrize("name", ["drf_tasks", "mmf_tasks"])
def test_filling(name):
    rng = random.Random(1)
    for _ in range(60):
        demands, capacities = random_pool(rng, rng.randint(1, 4), rng.randint(1, 3))
        arguments = {"demands": demands, "capacities": capacities}
        tasks = definition(name)(**arguments)
        assert tasks == library_value(name, arguments)[0]
        assert is_feasible(fractions(demands), fractions(capacities), tasks)


def test_weighted_filling():
    arguments = {"demands": [[1, 2], [3, 1]], "capacities": [4, 6], "weights": [1, 2]}
    assert definition("drf_tasks")(**arguments) == library_value("drf_tasks", arguments)[0]


def test_bmf_vertices():
    rng = random.Random(2)
    for _ in range(12):
        demands, capacities = random_pool(rng, rng.randint(1, 3), 2, least=1)
        arguments = {"demands": demands, "capacities": capacities}
        vertices = definition("bmf_vertices")(**arguments)
        assert vertices == library_value("bmf_vertices", arguments)[0]
        assert all(is_bottleneck_max(fractions(demands), fractions(capacities), v) for v in vertices)


def test_paths_end_at_bmf_and_meet_the_library():
    rng, complete = random.Random(3), 0
    for _ in range(30):
        demands, capacities = random_pool(rng, rng.randint(1, 3), 2, least=1)
        arguments = {"demands": demands, "capacities": capacities}
        try:
            pieces = list(definition("bmf_path_pieces")(**arguments))
        except ValueError:  # a tie, which the definition does not cross
            continue
        assert all(holds for _, holds in pieces)
        end = definition("bmf_path_end")(**arguments)
        # On two resources BMF is almost always unique; the library follows another cap.
        assert is_bottleneck_max(fractions(demands), fractions(capacities), end)
        if len(definition("bmf_vertices")(**arguments)) == 1:
            assert end == library_value("bmf_path_end", arguments)[0]
            complete += 1
    assert complete >= 10


def test_existence_rests_on_a_fixed_point_of_the_levels():
    # What is said in words is Brouwer's theorem and an induction over users; nothing on linear systems that
    # have one solution, or on paths.
    verdict = check("br-bmf-exists")
    told = [f.claim["text"] for f in verdict.findings if f.claim["claim"] == "InWords"]
    assert len(told) == 2
    assert "Brouwer's theorem" in told[0]
    assert told[1].startswith("Induction over the users")
    assert not any(f.claim.get("function", "").startswith("bmf_path") for f in verdict.findings)


def test_fixed_points_by_hand():
    # Two users alike on one resource: levels 1/2 leave it where it is, as 2 * 1/2 fills it.
    assert [case["vertices"] for case, _ in pools_of_fixed_points([[2, 1, 1]])] == [[[F(1, 2), F(1, 2)]]]
    # Users of one resource each: both full, levels 1, no room.
    case = next(c for c, _ in pools_of_fixed_points([[2, 2, 1]]) if c["demands"] == ((0, 1), (1, 0)))
    assert case["vertices"] == [[1, 1]]


def pools_of_fixed_points(sizes):
    return list(definition("bmf_fixed_points")(sizes=sizes))


def test_what_is_no_fixed_point_is_noticed(monkeypatch):
    from proofs.definitions.pools import bottleneck_max

    assert all(holds for _, holds in pools_of_fixed_points([[2, 2, 2]]))
    monkeypatch.setattr(bottleneck_max, "bmf_vertices", lambda a, c: [definition("mmf_tasks")(a, c)])
    assert not all(holds for _, holds in pools_of_fixed_points([[2, 2, 2]]))
    monkeypatch.setattr(bottleneck_max, "bmf_vertices", lambda a, c: [])
    assert not any(holds for _, holds in pools_of_fixed_points([[2, 2, 2]]))


def test_a_broken_piece_is_noticed():
    arguments = {"demands": [[1, 3], [3, 2]], "capacities": [1, 1]}
    assert not all(holds for _, holds in definition("bmf_path_pieces")(**arguments, capped=False))


def test_prices():
    third = fractions([[1, 1, 1], [2, 1, "3/2"], [1, 2, "3/2"]])
    tasks, ones = fractions(["1/3", "2/9", "2/9"]), [F(1)] * 3
    assert are_optimal_prices(third, ones, tasks, fractions([0, 0, 3]))
    assert are_optimal_prices(third, ones, tasks, fractions(["3/2", "3/2", 0]))  # resource 3 is their mean
    assert not are_optimal_prices(third, ones, tasks, fractions([3, 0, 0]))
    assert not are_optimal_prices(third, ones, fractions(["2/5", "1/5", "1/5"]), fractions([0, 0, 3]))
    assert not are_optimal_prices(third, ones, tasks, fractions([-1, -1, 5]))
    assert definition("pf_tasks")(demands=[[1, 3], [3, 2]], capacities=[1, 1], prices=[2, 0]) is None


def test_bundles_and_bottlenecks():
    assert tasks_with(fractions([1, 0, 2]), fractions([3, 0, 1])) == F(1, 2)
    assert bottlenecks(fractions([[1, 3], [3, 2]]), fractions([1, 1]), fractions(["1/6", "1/4"])) == [
        [1],
        [1],
    ]
    assert bottlenecks(fractions([[1, 3], [3, 2]]), fractions([1, 1]), fractions(["1/5", "1/5"])) == [[1], []]
    assert usage(fractions([[1, 3], [3, 2]]), fractions(["1/5", "1/5"])) == [F(4, 5), 1]


def test_lies_are_of_use_under_another_rule(monkeypatch):
    # So the enumeration of lies can fail.
    monkeypatch.setattr(filling, "drf_tasks", filling.mmf_tasks)
    assert not all(holds for _, holds in filling.drf_lies(2, 2, 2))
