r"""Progressive filling in letters: max-min fairness, DRF (also with weights per resource), asset fairness.

As in :mod:`fairness.filling.floats`, a class of :math:`x_i` jobs of weight :math:`w_i` grows at
rate :math:`x_i w_i r_i`. With the classes frozen so far, resource j would fill up at the level

.. math:: y_j = \Bigl(C_j - \sum_{\text{frozen}} a_{ij}\varphi_i\Bigr) \Big/
   \sum_{\text{growing}} a_{ij} x_i w_i r_i ,

the lowest level comes first, and freezes the classes that demand its resource. Every comparison of two levels
(and, for DRF, of the dominant shares of a class) splits a cell in two; of equal levels the first counts as
the lowest, so that cells are disjoint. What the assumptions or earlier comparisons exclude is cut off;
cells with the same tasks are joined where their union is a conjunction again.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import sympy

from fairness.errors import ModelError
from fairness.protocol.family import Family
from proofs.symbolic.cells import Cell
from proofs.symbolic.decisions.assumptions import Ground
from proofs.symbolic.decisions.formulas import dot, numerator_of
from proofs.symbolic.model.problem import SymbolicProblem
from proofs.symbolic.model.reading import expression
from proofs.symbolic.policies.simplifying import joined, simplest

__all__ = ["filling_cells", "resource_weights"]

MOST_OPEN = 8
"""Demands of which it is not known whether they are 0."""
SIMPLE = 1000
"""Largest denominator of a weight that was given as a float."""


def filling_cells(problem: SymbolicProblem, policy: Any) -> list[Cell]:
    """Cells of a filling policy: disjoint, and complete under the assumptions."""
    cells = []
    for ground, demands, pattern in _patterns(problem):
        filling = _Filling(problem, ground, demands)
        for rates, chosen in filling.rates(policy.family):
            for cell in filling.fill(rates, chosen):
                cells.append(Cell((*pattern, *cell.conditions), cell.tasks, cell.full))
    return joined(problem.ground, cells)


def _patterns(problem: SymbolicProblem) -> Iterator[tuple[Ground, Any, tuple[Any, ...]]]:
    """Ground and demands with every demand either > 0 or 0, and the conditions that make it so."""
    ground = problem.ground
    signs = {a: ground.sign(numerator_of(a)) for a in problem.demands}
    open_ = [a for a, sign in signs.items() if sign is None]
    if len(open_) > MOST_OPEN:
        raise ModelError.of(
            "problem",
            f": {len(open_)} demands may be 0 or not, in {2 ** len(open_)} ways; the most are {MOST_OPEN} "
            f"demands: say more in assume, such as '{open_[0]} > 0'",
        )
    for bits in range(2 ** len(open_)):
        zero = [a for k, a in enumerate(open_) if bits >> k & 1]
        conditions = tuple(
            ground.tidy((sympy.Eq if a in zero else sympy.Gt)(a, 0, evaluate=False)) for a in open_
        )
        zero += [a for a, sign in signs.items() if sign == 0]
        if ground.excludes(conditions):
            continue
        inner = Ground(problem.letters, (*problem.assumptions, *conditions)) if open_ else ground
        yield (
            inner,
            problem.demands.applyfunc(lambda a, zero=zero: sympy.Integer(0) if a in zero else a),
            conditions,
        )


class _Filling:
    """Filling of one problem whose demands are known to be > 0 or 0."""

    def __init__(self, problem: SymbolicProblem, ground: Ground, demands: Any) -> None:
        self.ground, self.a, self.capacities = ground, demands, problem.capacities
        self.n, self.m = problem.n_classes, problem.n_resources
        self.weights = problem.masses

    def rates(self, family: Family) -> Iterator[tuple[list[Any], tuple[Any, ...]]]:
        """Tasks of one job of each class per unit of level, under conditions."""
        growth = family.parameters["growth"]
        if growth == "tasks":
            yield [sympy.Integer(1)] * self.n, ()
        elif growth == "assets":
            shares = [[self.a[i, j] / c for j, c in enumerate(self.capacities)] for i in range(self.n)]
            yield [1 / sympy.Add(*row) for row in shares], ()
        else:
            yield from self._dominant(resource_weights(family, self.n, self.m), 0, [], ())

    def _dominant(
        self, weights: list[list[Any]], i: int, rates: list[Any], given: tuple[Any, ...]
    ) -> Iterator[tuple[list[Any], tuple[Any, ...]]]:
        """One branch for each choice of a dominant resource of each class."""
        if i == self.n:
            yield rates, given
            return
        mine = {
            j: weights[i][j] * c / self.a[i, j] for j, c in enumerate(self.capacities) if self.a[i, j] != 0
        }
        for j, conditions in self.least(mine, given):
            yield from self._dominant(weights, i + 1, [*rates, mine[j]], conditions)

    def least(self, values: dict[int, Any], given: tuple[Any, ...]) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Which of some values is the least (of equal ones the first), with the conditions for it."""
        for j, mine in values.items():
            conditions = list(given)
            for k, other in values.items():
                if k == j:
                    continue
                kind = sympy.Gt if k < j else sympy.Ge
                compared = self.ground.tidy(kind(other - mine, 0, evaluate=False))
                if compared == sympy.false:
                    break
                if compared != sympy.true and compared not in conditions:
                    conditions.append(compared)
            else:
                if len(conditions) == len(given) or not self.ground.excludes(conditions):
                    yield j, tuple(conditions)

    def fill(
        self, rates: list[Any], given: tuple[Any, ...], tasks: dict[int, Any] | None = None
    ) -> Iterator[Cell]:
        """Cells of all ways in which filling goes on from here."""
        tasks = tasks or {}
        growing = [i for i in range(self.n) if i not in tasks]
        if not growing:
            yield self._cell(given, tasks)
            return
        levels = {}
        for j in range(self.m):
            slope = sympy.Add(*(self.a[i, j] * self.weights[i] * rates[i] for i in growing))
            if slope != 0:
                used = sympy.Add(*(self.a[i, j] * phi for i, phi in tasks.items()))
                levels[j] = sympy.cancel((self.capacities[j] - used) / slope)
        for j, conditions in self.least(levels, given):
            stopped = {i: self.weights[i] * rates[i] * levels[j] for i in growing if self.a[i, j] != 0}
            yield from self.fill(rates, conditions, tasks | stopped)

    def _cell(self, conditions: tuple[Any, ...], tasks: dict[int, Any]) -> Cell:
        made = tuple(simplest(tasks[i]) for i in range(self.n))
        left = [c - dot(self.a.col(j), made) for j, c in enumerate(self.capacities)]
        return Cell(conditions, made, tuple(j for j, v in enumerate(left) if sympy.cancel(v) == 0))


def resource_weights(family: Family, n: int, m: int) -> list[list[Any]]:
    """The weights per resource of filling as fractions; all 1 if it has none."""
    if (rows := family.parameters.get("resource_weights")) is None:
        return [[sympy.Integer(1)] * m] * n
    if (len(rows), len(rows[0])) != (n, m):
        shape = (len(rows), len(rows[0]))
        raise ModelError.of("resource_weights", f"has shape {shape}; the problem needs {(n, m)}")
    return [[_weight(v) for v in row] for row in rows]


def _weight(v: float) -> Any:
    """A weight as a fraction: 1/3 for the float nearest to it, else the decimal."""
    simple = Fraction(v).limit_denominator(SIMPLE)
    return sympy.Rational(simple) if float(simple) == v else expression(v)
