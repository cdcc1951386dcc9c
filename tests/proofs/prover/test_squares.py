"""Sums of squares: certificates without hints, and the parts that find them against their definitions."""

import random
import time
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from proofs import EvidenceError, Implication, Status, check, statements, verify
from proofs.checking.refutations import check_refutation
from proofs.definitions import plain
from proofs.prover import implications
from proofs.prover.combinations import find_refutation
from proofs.prover.squares import find_squares
from proofs.prover.squares.gradings import Grading
from proofs.prover.squares.premise_products import Premises, programs
from proofs.prover.squares.programs import Block, Program, pruned
from proofs.prover.squares.rounding import _decomposed
from proofs.prover.squares.tables import monomials, plus, times, unit, written
from tests.proofs.catalogue.statements import own
from tests.proofs.checking.tampering import changed, numbers_in

POSITIVE = {name: f"{name} > 0" for name in "abcd"}
AT_LEAST_0 = {name: f"{name} >= 0" for name in "xyz"}
SCHUR = "x*(x - y)*(x - z) + y*(y - x)*(y - z) + z*(z - x)*(z - y) >= 0"
FIVE = range(1, 6)
TRUE = {
    "means of four": ({}, "a**4 + b**4 + c**4 + d**4 >= 4*a*b*c*d"),
    "means of four, positive": (POSITIVE, "(a + b + c + d)**4 >= 256*a*b*c*d"),
    "means of four, product 1": (POSITIVE | {"one": "a*b*c*d == 1"}, "a + b + c + d >= 4"),
    "quartic": ({}, "x**4 + y**4 + z**4 + 1 >= 4*x*y*z"),
    "Schur": (AT_LEAST_0, SCHUR),
    "Motzkin": ({}, "x**4*y**2 + x**2*y**4 + 1 >= 3*x**2*y**2"),
    "Motzkin, homogeneous": ({}, "x**4*y**2 + x**2*y**4 + z**6 >= 3*x**2*y**2*z**2"),
    "Choi and Lam": ({}, "w**4 + x**2*y**2 + y**2*z**2 + z**2*x**2 >= 4*x*y*z*w"),
    "Cauchy and Schwarz": (
        {},
        f"({' + '.join(f'a{k}*b{k}' for k in FIVE)})**2 <= "
        f"({' + '.join(f'a{k}**2' for k in FIVE)})*({' + '.join(f'b{k}**2' for k in FIVE)})",
    ),
    "triangle": (
        {"a": "a < b + c", "b": "b < a + c", "c": "c < a + b"},
        "a**2*b*(a - b) + b**2*c*(b - c) + c**2*a*(c - a) >= 0",
    ),
}
"""Found by linear programs over squares of sums and differences of two monomials."""
BY_MATRICES = {
    # Equality at (1, 1, 1) and at three points that are not rational, which are conjugate to each other.
    "Cirtoaje": ({}, "(x**2 + y**2 + z**2)**2 >= 3*(x**3*y + y**3*z + z**3*x)"),
    "line": ({}, "x**2 + 4*y**2 + 9*z**2 + 4*x*y >= 6*x*z + 12*y*z"),
    "circle": ({"circle": "x**2 + y**2 == 1"}, "3*x + 4*y <= 5"),
    "discriminant": ({"a": "a > 0", "negative": "b**2 < 4*a*c"}, "a*x**2 + b*x + c > 0"),
    "nearly 0": ({}, "x**4 - x + 473/1000 > 0"),  # its least value is 5e-4
}


SLOW = {"Cauchy and Schwarz", "means of four, product 1"}
"""z3 looks for a witness against these for all the time that it has."""


@pytest.mark.parametrize(
    ("hypotheses", "conclusion"),
    [
        pytest.param(*claim, id=name, marks=[pytest.mark.long] if name in SLOW else [])
        for name, claim in (TRUE | BY_MATRICES).items()
    ],
)
def test_true_inequalities_have_certificates_without_hints(hypotheses, conclusion):
    claim = Implication(hypotheses, conclusion)
    verdict = check(own(claim), time_limit=60)
    verify(verdict, own(claim))
    assert verdict.status == Status.PROVED
    assert verdict.findings[0].evidence["kind"] == "refutation"
    # Small enough to be read.
    assert len(str(verdict.findings[0].evidence)) < 5000


@pytest.mark.long
@pytest.mark.parametrize("claim", TRUE.values(), ids=TRUE)
def test_most_need_linear_programs_only(claim, monkeypatch):
    monkeypatch.setattr("proofs.prover.squares.ladder.find_spec", lambda name: None)
    evidence = find_squares(Implication(*claim))
    check_refutation(Implication(*claim), plain(evidence))


@pytest.mark.parametrize("claim", BY_MATRICES.values(), ids=BY_MATRICES)
def test_some_need_matrices(claim, monkeypatch):
    monkeypatch.setattr("proofs.prover.squares.ladder.find_spec", lambda name: None)
    assert find_squares(Implication(*claim), time.monotonic() + 0.1) is None


def test_short_certificates_are_found_first():
    # (x^2 - 1)^2 + (y^2 - z^2)^2 + 2 (x - yz)^2, or another of the same length.
    assert len(find_squares(Implication(*TRUE["quartic"]))["terms"]) == 4
    # The identity of Lagrange.
    evidence = find_squares(Implication(*TRUE["Cauchy and Schwarz"]))
    pairs = {(i, k) for i in FIVE for k in FIVE if i < k}
    assert {t["square"] for t in evidence["terms"][1:]} == {f"a{i}*b{k} - a{k}*b{i}" for i, k in pairs}


@pytest.mark.parametrize("name", ["Schur", "Cirtoaje", "circle"])
def test_a_certificate_with_one_changed_number_fails(name):
    claim = Implication(*(TRUE | BY_MATRICES)[name])
    evidence = plain(find_squares(claim))
    check_refutation(claim, evidence)
    for place in numbers_in(evidence):
        if place[-1] in ("coefficient", "square") or "cofactors" in place:
            with pytest.raises((EvidenceError, ValueError)):
                check_refutation(claim, changed(evidence, place))


FALSE = [
    ({}, "x**4*y**2 + x**2*y**4 + 1 >= 4*x**2*y**2"),
    (AT_LEAST_0, SCHUR.replace(">= 0", ">= x*y*z/100")),
    ({}, "(x**2 + y**2 + z**2)**2 >= 7/2*(x**3*y + y**3*z + z**3*x)"),
    (POSITIVE, "(a + b + c + d)**4 >= 257*a*b*c*d"),
]


@pytest.mark.parametrize(("hypotheses", "conclusion"), FALSE)
def test_false_inequalities_are_refuted_before_squares_are_sought(hypotheses, conclusion, monkeypatch):
    monkeypatch.setattr(implications, "find_squares", lambda *given: pytest.fail("sought"))
    claim = Implication(hypotheses, conclusion)
    verdict = check(own(claim))
    verify(verdict, own(claim))
    assert verdict.status == Status.REFUTED


@pytest.mark.long
@pytest.mark.parametrize(("hypotheses", "conclusion"), FALSE)
def test_false_inequalities_have_no_certificate(hypotheses, conclusion):
    assert find_squares(Implication(hypotheses, conclusion), time.monotonic() + 0.1) is None


@pytest.mark.long
def test_the_search_ends_soon_after_its_deadline():
    names = [f"x{k}" for k in range(30)]
    claim = Implication(
        {name: f"{name} > 0" for name in names} | {"sum": f"{' + '.join(names)} <= 1"},
        f"{'*'.join(names[:6])} >= 1",
    )
    start = time.process_time()
    assert find_squares(claim, time.monotonic() + 0.5) is None
    assert time.process_time() - start < 3


def random_table(rng, n, degree):
    found = {m: Fraction(rng.randint(-3, 3)) for m in monomials(n, degree)}
    return {m: c for m, c in found.items() if c}


@pytest.mark.parametrize(("n", "degree", "squares"), [(2, 2, 1), (2, 2, 3), (3, 2, 2), (3, 2, 9), (2, 3, 5)])
def test_random_sums_of_squares_are_recognised(n, degree, squares):
    # As many squares as have no common zeros, or curves of them: a few zeros are hardly ever rational.
    rng = random.Random(1)
    for _ in range(3):
        table = {}
        for _ in range(squares):
            p = random_table(rng, n, degree)
            table = plus(table, times(p, p))
        assert find_squares(Implication({}, f"{written(table, 'xyz'[:n])} >= 0"), time.monotonic() + 30)


def test_grades_are_those_of_scalings_and_signs():
    """Two monomials have one grade if each scaling with signs that leaves the premises as they are agrees."""
    rng = random.Random(2)
    for _ in range(30):
        n = rng.choice([1, 2])
        given = [random_table(rng, n, 4) for _ in range(rng.choice([1, 2]))]
        given = [dict(rng.sample(sorted(p.items()), min(2, len(p)))) for p in given if p]
        grading = Grading(given, n)
        differences = [tuple(b - a for a, b in zip(*p, strict=True)) for p in given if len(p) == 2]
        rank = np.linalg.matrix_rank(np.array([*differences, (0,) * n]))
        signs = [
            s
            for s in product((0, 1), repeat=n)
            if all(not sum(map(int.__mul__, s, d)) % 2 for d in differences)
        ]
        for a, b in product(monomials(n, 3), repeat=2):
            v = tuple(map(int.__sub__, b, a))
            scaled = np.linalg.matrix_rank(np.array([*differences, (0,) * n, v])) == rank
            signed = all(not sum(map(int.__mul__, s, v)) % 2 for s in signs)
            assert (grading.grade(a) == grading.grade(b)) == (scaled and signed)


def in_hull(point, points):
    """Whether a point is a convex combination of points."""
    rows = np.vstack([np.array(points, dtype=float).T, np.ones(len(points))])
    return linprog(np.zeros(len(points)), A_eq=rows, b_eq=[*point, 1]).status == 0


def test_pruning_leaves_half_of_the_newton_polytope_and_all_that_is_needed():
    rng = random.Random(3)
    for _ in range(10):
        parts = [dict(rng.sample(sorted(p.items()), 2)) for p in (random_table(rng, 2, 3) for _ in range(2))]
        table = {}
        for p in parts:
            table = plus(table, times(p, p))
        constant = unit((0, 0))
        blocks = (
            Block(("f",), {m: -c for m, c in table.items()}, (constant,), positive=True),
            Block((), constant, tuple(unit(m) for m in monomials(2, 3))),
        )
        left = pruned(Program(blocks, (), {}))
        kept = {m for b in left.blocks[1].basis for m in b}
        assert all(in_hull([2 * e for e in m], list(table)) for m in kept)
        assert kept >= {m for p in parts for m in p}


def test_decompositions_are_exact_and_only_of_semidefinite_matrices():
    rng = np.random.default_rng(4)
    for _ in range(40):
        half = rng.integers(-2, 3, size=(4, rng.integers(1, 5)))
        shift = int(rng.integers(-1, 2))
        matrix = half @ half.T + shift * np.eye(4, dtype=int)
        found = _decomposed([[Fraction(int(v)) for v in row] for row in matrix])
        least = np.linalg.eigvalsh(matrix)[0]
        assert (found is not None) == (least > -1e-9)
        if found is not None:
            total = sum(c * np.outer(row, row) for c, row in found)
            assert np.array_equal(total, matrix)
            assert all(c > 0 for c, _ in found)


def test_programs_grow_and_hold_a_positive_term():
    known = Premises.of(Implication(*TRUE["Motzkin"]))
    sizes = []
    for program in programs(known, time.monotonic() + 5):
        assert any(block.positive for block in program.blocks)
        sizes.append(program.entries)
        if len(sizes) == 4:
            break
    assert sizes == sorted(sizes)


@pytest.mark.long
def test_hinted_implications_of_the_catalogue_have_certificates_without_their_hints():
    claims = {}
    for statement in statements():
        for step in statement.ask(statement.question()):
            if isinstance(step.claim, Implication) and step.claim.hints:
                claims[str(step.claim)] = Implication(step.claim.hypotheses, step.claim.conclusion)
    assert len(claims) > 30
    missing = [c for c in claims.values() if not find_squares(c, time.monotonic() + 20)]
    assert not missing
    assert sum(bool(find_refutation(c, 2)) for c in claims.values()) < len(claims)
