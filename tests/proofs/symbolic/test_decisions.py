"""What is decided about polynomial relations, against values and by a second way."""

import time
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy

from fairness import ModelError
from proofs.checking.queries import ask
from proofs.errors import ProofError
from proofs.language.relations import relation
from proofs.symbolic.decisions.assumptions import Ground
from proofs.symbolic.decisions.covering import complete, disjoint
from proofs.symbolic.decisions.deciding import decide
from proofs.symbolic.decisions.formulas import conjunction, holds, negated
from proofs.symbolic.decisions.sign_tables import sign_table
from proofs.symbolic.model.reading import letter, relations

A, B = letter("a"), letter("b")


def read(*texts):
    return [r for text in texts for r in relations(text)]


def test_sign_tables_are_right_at_roots_and_between():
    """Random products of linear and quadratic factors, against exact values beside and at each root."""
    rng = np.random.default_rng(3)
    for _ in range(3):
        texts = [
            " * ".join(f"({c[0]}*a**2 + {c[1]}*a + {c[2]})" for c in rng.integers(-3, 4, (2, 3)))
            + f" {sign} 0"
            for sign in (">=", ">", "==")
        ]
        rows = [relation(text) for text in texts]
        table = sign_table(rows, "a")
        assert list(table.roots) == sorted(table.roots)
        ends = [*table.samples]
        for k, root in enumerate(table.roots):
            assert ends[k] < root < ends[k + 1]
        for r in rows:
            expression = sympy.sympify(str(r.left))
            for piece, met in enumerate(table.holds(r)):
                value = expression.subs(sympy.Symbol("a"), table.point(piece)).evalf(40)
                sign = 0 if abs(value) < 1e-30 else int(sympy.sign(value))
                assert table.signs[r.left][piece] == sign
                assert met == {">=": sign >= 0, ">": sign > 0, "==": sign == 0}[r.sign]


def test_one_letter():
    assert decide(read("a**2 == 2", "a > 0")).point == {"a": sympy.sqrt(2)}
    assert decide(read("a**3 == 2", "a**2 > 2")).answer == "no"
    root = decide(read("a**5 - a - 1 == 0")).point["a"]
    assert isinstance(root, sympy.CRootOf)
    assert abs(float(root) - 1.1673039782614187) < 1e-12
    assert decide(sympy.Or(A < 0, A > 1) & (A**2 < A)).answer == "no"
    assert decide(()).answer == "yes"
    assert decide(read("0 > 1")).answer == "no"


def test_more_letters():
    met = decide(read("a**2 + b**2 == 1", "a*b > 1/3"))
    assert met.answer == "yes"
    assert met.point is not None
    no = decide(read("a > 0", "b > 0", "(a + b)**2 < 4*a*b"), both=True)
    assert (no.answer, no.by) == ("no", ("z3", "cvc5"))
    # The only points are irrational: what comes back meets the relations exactly.
    point = decide(read("a**2 == 2", "b == a", "a > 0")).point
    assert sympy.simplify(point["a"] ** 2 - 2) == 0
    assert sympy.simplify(point["b"] - point["a"]) == 0


def test_quotients_are_compared_where_they_are_defined():
    formulas = conjunction(read("1/(a - 1) >= 0"))
    for value in (0, Fraction(1, 2), 1, 2, 5):
        held = value != 1 and 1 / (Fraction(value) - 1) >= 0
        assert all(holds(f, {"a": Fraction(value)}) for f in formulas) == held
    with pytest.raises(ModelError, match="no polynomial over the rationals"):
        decide([sympy.sqrt(A) > 1])


def test_negation():
    formula = conjunction([sympy.Or(A > 0, sympy.And(B >= 1, sympy.Ne(A, B)))])[0]
    for a, b in product(map(Fraction, (-1, 0, 1, 2)), repeat=2):
        values = {"a": a, "b": b}
        assert holds(formula, values) == (a > 0 or (b >= 1 and a != b))
        assert holds(negated(formula), values) != holds(formula, values)


def test_tidy_relations_say_the_same():
    ground = Ground((A, B), tuple(read("a > 0", "b > 1")))
    for text in ("a/(b - 1) < b", "(a - 3)/(a - 2) >= 0", "a*b**2*(a - b) <= 0", "(a - 2)**2*(b - 3) > 0",
                 "(a - 2)**3/(1 - b) < 0", "(2 - a)*(a - b) == 0", "a != 2"):  # fmt: skip
        *_, given = relations(text)
        said = ground.tidy(given)
        assert said.lhs.is_polynomial()
        bottom = sympy.fraction(sympy.together(given.lhs))[1]
        for a, b in product((1, 5, 8, 9, 12, 20), (5, 8, 12, 15)):
            values = {A: sympy.Rational(a, 4), B: sympy.Rational(b, 4)}
            if bottom.subs(values) != 0:
                assert said.subs(values) == given.subs(values), (text, values)
    assert ground.tidy(A + B > 0) == sympy.true
    assert ground.tidy(A * B < 0) == sympy.false


def test_signs_on_a_ground():
    ground = Ground((A, B), tuple(read("0 < a < 1", "b >= 2")))
    assert [ground.sign(e) for e in (A * B + 1, A - 1, A - A, A - B, 2 * A - 1)] == [1, -1, 0, -1, None]
    assert ground.implies(A * B < B)
    assert not ground.implies(A * B < 1)


def test_holes_and_overlaps_are_found():
    ground = Ground((A, B), tuple(read("a > 0", "b > 0")))
    cells = [read("a >= b"), read("a < b")]
    assert complete(ground, cells, time_limit=10) == "proved by z3 and cvc5"
    assert disjoint(ground, cells, time_limit=10) == "proved by the form of the conditions"
    assert disjoint(ground, [read("a*a > b*b + 1"), read("b > a")], time_limit=10) == "proved by z3 and cvc5"
    with pytest.raises(ProofError, match="no cell holds at a = "):
        complete(ground, [read("a > b"), read("a < b")], time_limit=10)
    with pytest.raises(ProofError, match="two cells hold at a = "):
        disjoint(ground, [read("a >= b"), read("a <= b")], time_limit=10)


@pytest.mark.long
def test_what_no_solver_answers_is_sampled(monkeypatch):
    monkeypatch.setattr("proofs.symbolic.decisions.deciding.ask_if_there", lambda *_: ("unknown", None))
    ground = Ground((A, B), tuple(read("a > 0", "b > 0")))
    cells = [read("a*a >= b*b*b"), read("a*a < b*b*b")]
    assert complete(ground, cells, time_limit=1) == "sampled at 2000 points"
    # A hole that no small point shows is found among the samples.
    with pytest.raises(ProofError, match="no cell holds"):
        complete(ground, [read("a*a >= b*b*b"), read("40*a < b")], time_limit=1)


ENDLESS = [
    "0 < a < 1", "0 < b < 1", "0 < c < 1", "x > 0",
    "b*x*(c + 1) + c*x + x + c + a*c >= a*b*c + 3*a*b + a + b*c + 3*b + 1",
    "a*b*c + a + b*c*x + b*c + b*x + 1 > a*b*c*x + a*b*x + a*c + c*x + c + x",
    "a*b*c*x + a*b*x + a*c*x + a*c + a*x + 2*a + c + 2 > a*b*c + b*c*x + b*c + b*x + c*x + x",
    "a*b*c*x + a*c*x + 2*a*c + b*x + 2*c + x >= 2*a*b*c + a*b*x + a*x + 2*a + 2*b*c + 2",
]  # fmt: skip
"""That two cells of asset fairness overlap; z3 says no, cvc5 1.4 goes on for minutes, whatever its limit."""


@pytest.mark.long
def test_the_second_solver_is_ended_in_time():
    begin = time.monotonic()
    decision = decide(read(*ENDLESS), both=True, time_limit=2.0)
    assert (decision.answer, decision.by) == ("no", ("z3",))
    assert time.monotonic() - begin < 60
    assert ask("cvc5", "(set-logic QF_NRA)\n(assert (> 0.0 1.0))\n(check-sat)\n", 60_000) == ("unsat", None)
