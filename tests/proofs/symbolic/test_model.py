"""Expressions as people write them, models with letters, and what is wrong with them."""

import json
from fractions import Fraction

import numpy as np
import pytest
import sympy

from fairness import DRF, ModelError
from fairness.display.storage import dumps, loads
from proofs.symbolic import SymbolicProblem, SymbolicSystem, closed_form
from proofs.symbolic.model.reading import expression, letter, relations

A = letter("a")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("0.1", sympy.Rational(1, 10)),
        (0.1, sympy.Rational(1, 10)),
        ("1e-3*a", A / 1000),
        ("1.00000000000000000001", sympy.Rational(10**20 + 1, 10**20)),
        (Fraction(2, 3), sympy.Rational(2, 3)),
        (np.int64(7), sympy.Integer(7)),
        ("-(a - 1)**2/4", -((A - 1) ** 2) / 4),
        (sympy.Symbol("a") * 0.5, A / 2),
        ("lambda_1", letter("lambda_1")),
    ],
)
def test_numbers_mean_what_is_written(written, meant):
    assert expression(written) == meant


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("a +", "is no expression"),
        ("f(a)", r"holds 'f\(a\)'"),
        ("__import__('os').system('x')", "write it with numbers, letters"),
        ("a**b", "must be a whole number up to 100"),
        ("a**99999", "must be a whole number up to 100"),
        ("1/(a - a)", "divides by 0"),
        (True, "must be an int"),
        (float("nan"), "must be finite"),
        (float("inf"), "must be finite"),
        (sympy.oo, "must be real and finite"),
        (None, "must be an int"),
    ],
)
def test_what_is_no_expression_is_refused(written, said):
    with pytest.raises(ModelError, match=said):
        expression(written)


def test_relations():
    assert relations("0 < a <= 1") == (A > 0, A <= 1)
    assert relations("a == 1/2")[0] == sympy.Eq(A, sympy.Rational(1, 2))
    assert relations(sympy.Symbol("a") > 1) == (A > 1,)
    assert relations("1/a <= 1")[0] == sympy.Ne(A, 0)
    for wrong in ("a", "a in b", "a and b", 3):
        with pytest.raises(ModelError, match="must be a relation"):
            relations(wrong)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"demands": [[1, "a"]], "capacities": [1, 1]},
            r"demands\[0, 1\] = a is not known to be >= 0; add 'a >= 0'",
        ),
        (
            {"demands": [["a"]], "capacities": [1], "assume": "a >= 0"},
            "class 1' is not known to demand anything",
        ),
        ({"demands": [[1]], "capacities": ["C"]}, r"capacities\[0\] = C is not known to be > 0"),
        ({"demands": [[1]], "capacities": [1], "counts": ["x"]}, r"counts\[0\] = x is not known"),
        ({"demands": [[1]], "capacities": [1], "weights": [0]}, r"weights\[0\] = 0 is not known to be > 0"),
        ({"demands": [[1, 2], [1]], "capacities": [1, 1]}, "rows of one length"),
        ({"demands": [[1, 2]], "capacities": [1]}, "one entry per resource, 2 as in demands"),
        (
            {"demands": [[1]], "capacities": [1], "counts": [1, 2]},
            "one entry per class, 1 as in",
        ),
        ({"demands": [["a"]], "capacities": [1], "assume": ["a > 1", "a < 1"]}, "contradicts itself"),
        (
            {"demands": [["1/a"]], "capacities": [1], "assume": "a >= 0"},
            r"demands\[0, 0\] = 1/a may divide by 0; add 'a != 0'",
        ),
        (
            {"demands": [[1]], "capacities": ["1/a**2"]},
            r"capacities\[0\] = .* may divide by 0; add 'a\*\*2 != 0'",
        ),
    ],
)
def test_models_that_are_wrong(given, said):
    with pytest.raises(ModelError, match=said):
        SymbolicProblem(**given)


def test_signs_of_quotients_and_products_are_those_of_the_whole():
    SymbolicProblem([["-1/(a - 1)"]], ["1/b**2"], assume=["a < 1", "b != 0"])
    assert SymbolicSystem([[1]], [1], "a*b", assume="a*b > 0").loads == (A * sympy.Symbol("b", real=True),)
    with pytest.raises(ModelError, match=r"mean_sizes\[0\] = .* may divide by 0"):
        SymbolicSystem([[1]], [1], 1, "1/a**2")


def test_symbols_that_are_positive_say_so():
    a = sympy.Symbol("a", positive=True)
    assert SymbolicProblem([[1, a]], [1, 1]).assumptions == (A > 0,)


def test_values():
    pool = SymbolicProblem([["a", 1]], [1, 2], ["x"], assume=["0 < a < 2", "x > 0"])
    problem, counts = pool.at({"a": "1/3", A.func("x"): 2})
    assert problem.is_rational
    assert (problem.demands[0, 0], counts) == (1 / 3, [2])
    assert pool.at({"a": sympy.sqrt(2), "x": 1})[0].demands[0, 0] == 2**0.5
    for given, said in (
        ({"a": 1}, "lacks the letter 'x'"),
        ({"a": 1, "x": 1, "y": 2}, "names 'y'; the letters are a, x"),
        ({"a": 2, "x": 1}, "do not meet the assumption a < 2"),
        ({"a": "b", "x": 1}, "a = b is no number"),
    ):
        with pytest.raises(ModelError, match=said):
            pool.at(given)
    with pytest.raises(ModelError, match=r"do not meet the assumption Ne\(a, 0\)"):
        SymbolicProblem([[1]], [1], assume=["1/a <= 1"]).at({"a": 0})


def test_a_closed_form_as_function_text_and_file():
    pool = SymbolicProblem([[1, "a"], ["b", 1]], [1, 1], assume=["a > 0", "0 < b < 1"])
    form = closed_form(pool, DRF())
    function = form.lambdify("b", "a")
    assert function(0.5, 2.0).shape == (2,)
    assert function(0.5, np.ones((3, 1))).shape == (3, 1, 2)
    assert np.isnan(function(2.0, 1.0)).all()
    tasks, _ = form.at({"a": 2, "b": "1/2"})
    np.testing.assert_allclose(function(0.5, 2.0), [float(t) for t in tasks], rtol=1e-15)
    with pytest.raises(ModelError, match="must be a, b, each once"):
        form.lambdify("a")
    again = loads(dumps(form))
    assert again.cells == form.cells
    assert again.problem.letters == pool.letters
    assert again.to_latex() == form.to_latex()
    assert r"\text{if }" in form.to_latex()


@pytest.mark.parametrize(
    "value",
    [sympy.sqrt(A) / 3, sympy.Min(A, 1) > 0, sympy.rootof(A**5 - A - 1, 0), sympy.And(A > 0, A < 2), sympy.oo,
     sympy.ImmutableMatrix([[A, 1]]), 2 * (A + 1), sympy.Mul(2, A + 1, evaluate=False)],
)  # fmt: skip
def test_expressions_come_back_from_text_as_they_were(value):
    again = loads(dumps([value]))[0]
    assert again == value
    assert type(again) is type(value)


def test_texts_of_unknown_operations_are_refused():
    text = dumps([A]).replace('"letter"', '"lambdify"')
    with pytest.raises(ValueError, match="'lambdify' is no operation"):
        loads(text)


@pytest.mark.parametrize("name", ["__import__('os').getcwd()", "[a][0]", "a b", "", "2", "a\n"])
def test_code_is_no_name_of_a_letter(name):
    with pytest.raises(ValueError, match="is no name of a letter"):
        loads(dumps([A]).replace('"a"', json.dumps(name)))
    with pytest.raises(ModelError, match="cannot be written to a file"):
        dumps([sympy.Symbol(name, real=True)])


@pytest.mark.parametrize("name", ["x_1", r"\rho", "x_{1}", r"\lambda_{1, 2}"])
def test_names_of_letters_in_latex_come_back(name):
    made = sympy.Symbol(name, real=True)
    assert loads(dumps([made])) == [made]


@pytest.mark.parametrize("number", ["1e999999999", "0.1", "1/0x2", " 1"])
def test_numbers_of_files_are_fractions(number):
    with pytest.raises(ValueError, match="is no fraction"):
        loads(dumps([A + 7]).replace('"7"', json.dumps(number)))
