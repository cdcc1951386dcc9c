"""Traffic with letters against the numeric models of queueing and the formulas of the papers."""

from fractions import Fraction

import numpy as np
import pytest
import sympy

import capacity
import queueing
from fairness import DRF, AssetFair, ModelError, Problem, ProportionalFair
from proofs.errors import ProofError
from proofs.symbolic import (
    SymbolicSystem,
    balance_function,
    balanced_means,
    drift_cells,
    mean_jobs,
    stability_facets,
)
from proofs.symbolic.model.reading import letter
from queueing import System

TENTH = Fraction(1, 10)
SYMMETRIC = [[1, "a"], ["a", 1]]
KNOWN = ["0 < a < 1", "r > 0", "s > 0"]
LINE = [[1, 1], ["b", 0], [0, 1]]


def substituted(expressions, values):
    return [
        Fraction(str(e.subs({letter(k): sympy.Rational(str(v)) for k, v in values.items()})))
        for e in expressions
    ]


def talk():
    return SymbolicSystem(SYMMETRIC, [1, 1], ["r", "s"], assume=KNOWN)


def test_the_balance_function_gives_the_tasks_of_balanced_fairness():
    """The recursion over numbers; and the maximum stays where it is not known."""
    b = [[Fraction(1), TENTH], [TENTH, Fraction(1)]]
    phi = {}
    for x in np.ndindex(4, 4):
        below = [(x[0] - 1, x[1]), (x[0], x[1] - 1)]
        sums = [sum(b[i][j] * phi[y] for i, y in enumerate(below) if min(y) >= 0) for j in (0, 1)]
        phi[x] = max(sums) if any(x) else Fraction(1)
    problem = talk().problem
    for x in ((1, 1), (2, 1), (1, 2), (3, 3)):
        assert substituted([balance_function(problem, x)], {"a": TENTH}) == [phi[x]]
    either = SymbolicSystem([[1, "a"]], [1, 1], "r", assume=["a > 0", "r > 0"]).problem
    assert balance_function(either, [2]).has(sympy.Max)
    for a in (Fraction(1, 2), Fraction(3)):
        assert substituted([balance_function(either, [2])], {"a": a}) == [max(1, a) ** 2]


@pytest.mark.parametrize(
    ("system", "values"),
    [
        (lambda: SymbolicSystem([[1], ["b"]], ["C"], ["r", "s"], ["m", 1],
                                assume=["b > 0", "C > 0", "r > 0", "s > 0", "m > 0"]),
         {"b": 2, "C": 3, "r": "1/2", "s": "1/4", "m": 2}),
        (lambda: SymbolicSystem([[2, "a"], [1, "a"]], [1, 1], ["r", "s"], assume=KNOWN),
         {"a": "1/2", "r": "1/4", "s": "1/8"}),
        (lambda: SymbolicSystem(LINE, [1, 1], ["r", "s", "s"], assume=["b > 0", "r > 0", "s > 0"]),
         {"b": 2, "r": "1/4", "s": "1/5"}),
    ],
    ids=["one resource", "one that binds", "line"],
)  # fmt: skip
def test_means_of_balanced_fairness(system, values):
    model = system()
    means = [float(m) for m in substituted(balanced_means(model), values)]
    np.testing.assert_allclose(means, queueing.balanced_fairness(model.at(values)).mean_jobs, rtol=1e-9)


def test_means_without_a_closed_form_are_refused():
    with pytest.raises(ProofError, match=r"neither under its assumptions; .* queueing.balanced_fairness"):
        balanced_means(talk())


def test_facets_are_those_of_the_numeric_region():
    facets = stability_facets(talk())
    assert len(facets) == 2
    for r, s in np.random.default_rng(2).uniform(0.05, 1.2, (40, 2)).round(3):
        values = {
            letter("a"): sympy.Rational(1, 10),
            letter("r"): sympy.Rational(str(r)),
            letter("s"): sympy.Rational(str(s)),
        }
        inside = all(f.subs(values) == sympy.true for f in facets)
        assert inside == capacity.is_stable(System(Problem([[1, 0.1], [0.1, 1]], [1, 1]), [r, s])).stable


@pytest.mark.long
@pytest.mark.parametrize("policy", [DRF(), ProportionalFair()], ids=["DRF", "PF"])
def test_drifts_of_the_talk(policy):
    """The drifts of the talk at load .9, and their sum weighted by the gradient of V."""
    cells = drift_cells(talk(), policy, "x1**2 + 3*x1*x2")
    rate = Fraction(9, 11)
    system = System(Problem([[1, 0.1], [0.1, 1]], [1, 1]), [9 / 11, 9 / 11])
    for x in ((10, 1), (30, 10), (1, 3), (1, 20)):
        values = {"a": TENTH, "r": rate, "s": rate, "x1": x[0], "x2": x[1]}
        exact = {letter(k): sympy.Rational(str(v)) for k, v in values.items()}
        (cell,) = (c for c in cells if all(r.subs(exact) == sympy.true for r in c.conditions))
        drift = substituted(cell.drift, values)
        np.testing.assert_allclose([float(d) for d in drift], queueing.drift(system, policy, x), atol=1e-9)
        assert substituted([cell.change], values) == [(2 * x[0] + 3 * x[1]) * drift[0] + 3 * x[0] * drift[1]]


def test_mean_jobs_of_a_box():
    system = SymbolicSystem(SYMMETRIC, [1, 1], ["r", "s"], [1, "m"], assume=[*KNOWN, "m > 0"])
    means = mean_jobs(system, DRF(), [2, 2])
    values = {"a": "1/2", "r": "1/3", "s": "2/5", "m": "3/2"}
    pool = Problem([[1, Fraction(1, 2)], [Fraction(1, 2), 1]], [1, 1])
    numeric = System(pool, [Fraction(1, 3), Fraction(2, 5)], [1, Fraction(3, 2)])
    assert substituted(means, values) == list(queueing.exact_stationary(numeric, DRF(), shape=2).mean_jobs)


def test_boxes_that_are_refused():
    with pytest.raises(ModelError, match="has 100 states, and the most are 40"):
        mean_jobs(talk(), DRF(), [10, 10])
    unknown = SymbolicSystem([[1, "a"], [2, 1]], [1, 1], "r", assume=["a > 0", "r > 0"])
    with pytest.raises(ProofError, match="depend on the letters in more than one way; add to assume"):
        mean_jobs(unknown, AssetFair(), [2, 2])


def test_systems_that_are_wrong():
    with pytest.raises(ModelError, match=r"arrival_rates\[1\] = s is not known to be > 0; add 's > 0'"):
        SymbolicSystem(SYMMETRIC, [1, 1], ["r", "s"], assume=["0 < a < 1", "r > 0"])
    with pytest.raises(ModelError, match="has the letter 'x1'"):
        drift_cells(SymbolicSystem([[1]], [1], "x1", assume="x1 > 0"), DRF())
