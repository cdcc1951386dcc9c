r"""Bottleneck max fairness in letters: all of its allocations, by maps of classes to bottlenecks.

With :math:`c_{ij} = a_{ij}/C_j` and masses :math:`m_i = x_i w_i` (jobs times weight), an allocation is BMF
when every class i has a bottleneck :math:`\beta(i)`: a full resource on which its share of one job
:math:`\varphi_i c_{ij}/m_i` is the largest [1]_. For a map :math:`\beta` onto the resources S, with the
largest share :math:`f_j` of each,

.. math::

   \varphi_i = m_i \frac{f_{\beta(i)}}{c_{i\beta(i)}}, \qquad
   \sum_i \varphi_i c_{ij} = 1 \quad (j \in S), \qquad
   \frac{c_{ij}}{c_{i\beta(i)}} f_{\beta(i)} \le f_j \quad (j \in S), \qquad
   \sum_i \varphi_i c_{ij} \le 1 \quad (j \notin S).

The equations are linear in the levels f; where they leave some free, the allocations are a segment or a
polytope whose parameters are tasks of a class each. All maps are tried. Two classes that follow two resources
need :math:`c_{kj} c_{il} \le c_{ij} c_{kl}` for :math:`\beta(i) = j, \beta(k) = l`, which cuts most of them
off.

For a map onto two resources these inequalities make the determinant of the equations at least 0. Where it is
0 all of them are equalities, so both resources are used in one proportion by all classes, both are full only
if this is 1, and a map onto one of them has the same tasks: only the determinant > 0 is followed.

References
----------
.. [1] T. Bonald and J. Roberts, "Multi-resource fairness: objectives, algorithms and performance",
   ACM SIGMETRICS 2015. arXiv:1410.0782.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import sympy

from proofs.errors import ProofError
from proofs.symbolic.cells import Cell
from proofs.symbolic.decisions.assumptions import Ground
from proofs.symbolic.decisions.formulas import above_zero, at_least_zero, dot
from proofs.symbolic.model.problem import SymbolicProblem
from proofs.symbolic.policies.linear_cases import Case, linear_cases
from proofs.symbolic.policies.overlaps import agree, apart, distinct, settled
from proofs.symbolic.policies.simplifying import emptied

__all__ = ["bottleneck_cells"]

MOST_MAPS = 100_000

_Map = tuple[int, ...]


def bottleneck_cells(problem: SymbolicProblem, policy: Any) -> list[Cell]:
    """Cells of all BMF allocations; without overlap where the allocation is unique.

    Raises
    ------
    ProofError
        If there are too many maps of classes to bottlenecks.
    """
    maps = _Maps(problem.shares, problem.ground)
    cells: list[Cell] = []
    for beta, given in sorted(
        maps.possible(), key=lambda found: (len(set(found[0])), sorted(set(found[0])), found[0])
    ):
        cells += _Mapped(problem, beta, given).cells()
    return (apart if agree(problem.ground, cells) else distinct)(problem.ground, cells)


class _Maps:
    """Maps of classes to bottlenecks that no two classes rule out."""

    def __init__(self, shares: list[list[Any]], ground: Ground) -> None:
        self.shares, self.ground = shares, ground
        self.options = [[j for j, share in enumerate(row) if ground.sign(share) != 0] for row in shares]
        if (number := math.prod(map(len, self.options))) > MOST_MAPS:
            raise ProofError(
                f"closed forms of BMF need up to {number:,} maps of classes to bottlenecks, more than "
                f"{MOST_MAPS:,}; take fewer classes, or give values to the letters and take BottleneckMax"
            )
        self.relation = cache(self._relation)

    def _relation(self, i: int, j: int, k: int, other: int) -> Any:
        """What classes i on j and k on another resource need of each other."""
        c = self.shares
        needed = sympy.Ge(c[i][j] * c[k][other], c[k][j] * c[i][other], evaluate=False)
        relation = self.ground.tidy(needed)
        return sympy.false if self.ground.excludes((relation,)) else relation

    def possible(self) -> Iterator[tuple[_Map, tuple[Any, ...]]]:
        """Maps, each with what it needs."""
        return self._extended((), ())

    def _extended(self, chosen: _Map, given: tuple[Any, ...]) -> Iterator[tuple[_Map, tuple[Any, ...]]]:
        k = len(chosen)
        if k == len(self.options):
            yield chosen, given
            return
        for option in self.options[k]:
            new = [self.relation(i, j, k, option) for i, j in enumerate(chosen) if j != option]
            new.append(self.ground.tidy(above_zero(self.shares[k][option])))
            if (held := self.ground.met((*given, *new))) is not None:
                yield from self._extended((*chosen, option), held)


@dataclass(frozen=True)
class _Mapped:
    """The allocations for which one map works, where what it needs holds."""

    problem: SymbolicProblem
    beta: _Map
    given: tuple[Any, ...]

    @cached_property
    def used(self) -> list[int]:
        """The resources onto which classes are mapped."""
        return sorted(set(self.beta))

    @cached_property
    def levels(self) -> list[Any]:
        """The largest share of each resource in use."""
        return [self.problem.ground.fresh(f"f_{j}") for j in self.used]

    @cached_property
    def per_level(self) -> list[Any]:
        """Tasks of each class per level of its bottleneck."""
        problem = self.problem
        return [problem.masses[i] / problem.shares[i][b] for i, b in enumerate(self.beta)]

    @cached_property
    def usage(self) -> list[list[Any]]:
        """Of each resource, per level of each of the resources in use."""
        columns = zip(*self.problem.shares, strict=True)
        return [
            [
                sympy.Add(
                    *(x * c for x, c, b in zip(self.per_level, column, self.beta, strict=True) if b == level)
                )
                for level in self.used
            ]
            for column in columns
        ]

    def cells(self) -> Iterator[Cell]:
        """Their cells."""
        ground, own = self.problem.ground, list[Any]()
        if len(self.used) == 2:
            one, other = (self.usage[j] for j in self.used)
            own = [ground.tidy(above_zero(one[0] * other[1] - one[1] * other[0]), self.given)]
            if sympy.false in own:
                return
        held = (*self.given, *(r for r in own if r != sympy.true))
        rows = [[*self.usage[j], sympy.Integer(1)] for j in self.used]
        for case in linear_cases(rows, self.levels, ground, held):
            cell = self._cell(case, (*held, *case.conditions))
            if cell is not None:
                yield cell

    def _cell(self, case: Case, held: tuple[Any, ...]) -> Cell | None:
        free: list[Any] = []
        told = {}
        for k in case.free:
            # A free level is told by the tasks of a class that follows it.
            name = "u" if len(case.free) == 1 else f"u{len(free) + 1}"
            free.append(self.problem.ground.fresh(name))
            told[self.levels[k]] = free[-1] / self.per_level[self.beta.index(self.used[k])]
        level = {j: sympy.cancel(v.xreplace(told)) for j, v in zip(self.used, case.values, strict=True)}
        ground = self.problem.ground.with_letters(free) if free else self.problem.ground
        relations = [above_zero(f) for f in level.values()]
        for row, b in zip(self.problem.shares, self.beta, strict=True):
            mine = level[b] / row[b]
            relations += [sympy.Ge(f, row[j] * mine, evaluate=False) for j, f in level.items() if j != b]
        rest = {
            j: sympy.cancel(1 - dot(row, level.values()))
            for j, row in enumerate(self.usage)
            if j not in level
        }
        relations += [at_least_zero(left) for left in rest.values()]
        conditions = ground.met((*held, *(ground.tidy(relation, held) for relation in relations)))
        if conditions is None:
            return None
        tasks = tuple(x * level[b] for x, b in zip(self.per_level, self.beta, strict=True))
        full = tuple(sorted({*self.used, *emptied(ground, rest, conditions)}))
        return settled(ground, Cell(conditions, tasks, full, bottlenecks=self.beta, free=tuple(free)))
