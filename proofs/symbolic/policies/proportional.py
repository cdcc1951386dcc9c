r"""Proportional fairness in letters, by the resources that have a price.

With :math:`c_{ij} = a_{ij}/C_j` and masses :math:`m_i = x_i w_i` (jobs times weight), tasks are PF exactly
when there are prices :math:`p_j \ge 0` of the whole resources with

.. math:: \varphi_i = \frac{m_i}{\sum_j p_j c_{ij}}, \qquad \sum_i \varphi_i c_{ij} \le 1
   \quad\text{with equality where } p_j > 0,

the conditions of Karush, Kuhn and Tucker. The tasks are unique, and prices can be chosen such that the
columns of the priced resources S are linearly independent (Caratheodory), so S has at most as many as there
are classes. All sets S are tried; classes whose rows on S are proportional count as one.

- *One resource*: its price is the total mass M.
- *As many as classes*: all of S is full, which fixes the tasks, and these the prices; both solve linear
  equations.
- *Two*: the prices are q and M - q, and the condition on q is a polynomial of degree n - 1 for n classes: see
  :mod:`proofs.symbolic.policies.two_resources`, which writes roots of degree 2.

The prices of other sets are roots of polynomials of higher degrees, which are refused, unless the conditions
cannot be met.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import sympy

from proofs.errors import ProofError
from proofs.symbolic.cells import Cell
from proofs.symbolic.decisions.assumptions import Ground
from proofs.symbolic.decisions.formulas import above_zero, at_least_zero, dot
from proofs.symbolic.model.problem import SymbolicProblem
from proofs.symbolic.policies.linear_cases import linear_cases
from proofs.symbolic.policies.overlaps import apart, settled
from proofs.symbolic.policies.simplifying import emptied, simplest
from proofs.symbolic.policies.two_resources import TwoPrices

__all__ = ["proportional_cells"]


def proportional_cells(problem: SymbolicProblem, policy: Any) -> list[Cell]:
    """Cells of the PF allocation, without overlap, with the prices of the resources per unit.

    Raises
    ------
    ProofError
        If prices are roots of polynomials of a degree above 2.
    """
    cells: list[Cell] = []
    for size in range(1, min(problem.n_classes, problem.n_resources) + 1):
        for priced in combinations(range(problem.n_resources), size):
            cells += _Priced(problem, priced).cells()
    return apart(problem.ground, cells)


@dataclass(frozen=True)
class _Priced:
    """The cells in which exactly the resources of one set have a price."""

    problem: SymbolicProblem
    priced: tuple[int, ...]

    @cached_property
    def ground(self) -> Ground:
        return self.problem.ground

    @cached_property
    def groups(self) -> list[list[tuple[int, Any]]]:
        """Classes whose rows on the priced resources are proportional, each with its factor."""
        found: list[list[tuple[int, Any]]] = []
        for i, row in enumerate(self.rows):
            for group in found:
                base = self.rows[group[0][0]]
                lead = next((j for j, v in enumerate(base) if self.ground.sign(v) == 1), None)
                crossed = (row[j] * base[k] - row[k] * base[j] for j, k in combinations(range(len(row)), 2))
                if lead is not None and all(sympy.cancel(v) == 0 for v in crossed):
                    group.append((i, sympy.cancel(row[lead] / base[lead])))
                    break
            else:
                found.append([(i, sympy.Integer(1))])
        return found

    @cached_property
    def rows(self) -> list[list[Any]]:
        return [[row[j] for j in self.priced] for row in self.problem.shares]

    def cells(self) -> Iterator[Cell]:
        """All cells of this set."""
        demanding = [self.ground.tidy(above_zero(sympy.Add(*row))) for row in self.rows]
        given = tuple(c for c in demanding if c != sympy.true)
        # Dependent columns: fewer resources have prices as well.
        if sympy.false in given or len(self.priced) > len(self.groups):
            return
        rows = [self.rows[group[0][0]] for group in self.groups]
        masses = [sympy.Add(*(self.problem.masses[i] for i, _ in group)) for group in self.groups]
        if len(rows) == len(self.priced):
            yield from self._corner(rows, masses, given)
        elif len(self.priced) == 1:
            total = sympy.Add(*masses)
            totals = [m / (total * row[0]) for m, row in zip(masses, rows, strict=True)]
            yield from self._cells(given, (total,), self._tasks(totals, masses), given)
        elif len(self.priced) == 2:
            yield from self._on_two(rows, masses, given)
        else:
            self._refuse_unless_empty(given, f"of {len(rows)} classes on {len(self.priced)} resources")

    def _tasks(self, totals: list[Any], masses: list[Any]) -> list[Any]:
        """Tasks of every class from those of the groups, in the measure of their first class."""
        tasks = [sympy.Integer(0)] * self.problem.n_classes
        for group, total, mass in zip(self.groups, totals, masses, strict=True):
            for i, factor in group:
                tasks[i] = self.problem.masses[i] * total / (factor * mass)
        return tasks

    def _corner(self, rows: list[list[Any]], masses: list[Any], given: tuple[Any, ...]) -> Iterator[Cell]:
        """As many resources are full as there are groups of classes."""
        size = range(len(rows))
        equations = [[*(row[j] for row in rows), sympy.Integer(1)] for j in size]
        for case in linear_cases(equations, sympy.symbols([f"t_{i}" for i in size]), self.ground, given):
            if case.free:
                continue
            known = (*given, *case.conditions)
            positive = (self.ground.tidy(above_zero(v), known) for v in case.values)
            if (held := self.ground.met((*known, *positive))) is None:
                continue
            bills = [[*row, sympy.cancel(m / v)] for row, m, v in zip(rows, masses, case.values, strict=True)]
            for priced in linear_cases(bills, sympy.symbols([f"p_{j}" for j in size]), self.ground, held):
                if not priced.free:
                    conditions = (*held, *priced.conditions)
                    tasks = self._tasks(list(case.values), masses)
                    yield from self._cells(conditions, priced.values, tasks, conditions)

    def _on_two(self, rows: list[list[Any]], masses: list[Any], given: tuple[Any, ...]) -> Iterator[Cell]:
        """Two resources, and more groups of classes."""
        pair = TwoPrices(self.ground, rows, masses, given)
        if pair.degree > 2:
            names = " and ".join(self.problem.resource_names[j] for j in self.priced)
            self._refuse_unless_empty(
                (*given, *pair.conditions), f"of {names} are roots of a polynomial of degree {pair.degree}"
            )
            return
        tasks = self._tasks(pair.totals, masses)
        left = self._left(tasks)
        for conditions in pair.cases(list(left.values())):
            told = [pair.explicit(task) for task in tasks]
            capacities = [self.problem.capacities[j] for j in self.priced]
            per_unit = [pair.explicit(p / c) for p, c in zip(pair.prices, capacities, strict=True)]
            full = [j for j, unused in left.items() if pair.vanishes(unused, conditions)]
            yield self._cell(conditions, per_unit, told, full)

    def _left(self, tasks: list[Any]) -> dict[int, Any]:
        """What the tasks leave of each resource without a price."""
        columns = enumerate(zip(*self.problem.shares, strict=True))
        return {j: 1 - dot(tasks, shares) for j, shares in columns if j not in self.priced}

    def _cells(
        self, conditions: tuple[Any, ...], prices: tuple[Any, ...], tasks: list[Any], held: tuple[Any, ...]
    ) -> Iterator[Cell]:
        """The cell of rational prices and tasks, if it is not empty."""
        left = {j: sympy.cancel(unused) for j, unused in self._left(tasks).items()}
        relations = [above_zero(p) for p in prices]
        relations += [at_least_zero(unused) for unused in left.values()]
        told = self.ground.met((*conditions, *(self.ground.tidy(r, held) for r in relations)))
        if told is not None:
            per_unit = [
                simplest(p / self.problem.capacities[j]) for j, p in zip(self.priced, prices, strict=True)
            ]
            full = emptied(self.ground, left, told)
            yield self._cell(told, per_unit, [simplest(task) for task in tasks], full)

    def _cell(
        self, conditions: tuple[Any, ...], prices: list[Any], tasks: list[Any], more: list[int]
    ) -> Cell:
        """The cell with the priced resources full, and more of them."""
        all_prices = [sympy.Integer(0)] * self.problem.n_resources
        for j, price in zip(self.priced, prices, strict=True):
            all_prices[j] = price
        full = tuple(sorted((*self.priced, *more)))
        return settled(self.ground, Cell(conditions, tuple(tasks), full, prices=tuple(all_prices)))

    def _refuse_unless_empty(self, given: tuple[Any, ...], what: str) -> None:
        """Raise ProofError unless no values meet the conditions of Karush, Kuhn and Tucker."""
        letters = [self.ground.fresh(f"p_{j}") for j in self.priced]
        ground = self.ground.with_letters(letters)
        tasks = [m / dot(letters, row) for m, row in zip(self.problem.masses, self.rows, strict=True)]
        conditions = list(given)
        for j, shares in enumerate(zip(*self.problem.shares, strict=True)):
            kind = sympy.Eq if j in self.priced else sympy.Ge
            top, bottom = sympy.fraction(sympy.together(1 - dot(tasks, shares)))
            conditions.append(kind(top * bottom if kind is sympy.Ge else top, 0, evaluate=False))
        if not ground.excludes(conditions):
            raise ProofError(
                f"prices {what}: PF has closed forms here where one resource has a price, as many as classes "
                "(alike ones count once), or two with a polynomial of degree 2; give letters values or "
                "assume more, or take problem.at(values) and ProportionalFair"
            )
