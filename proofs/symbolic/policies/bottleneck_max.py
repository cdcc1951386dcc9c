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
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import sympy

from proofs.errors import ProofError
from proofs.symbolic.cells import Cell
from proofs.symbolic.decisions.assumptions import Ground
from proofs.symbolic.decisions.formulas import above_zero, at_least_zero
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
        cells += _cells_of(problem.shares, problem.masses, beta, given, problem.ground)
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


def _cells_of(
    shares: list[list[Any]], masses: list[Any], beta: _Map, given: tuple[Any, ...], ground: Ground
) -> Iterator[Cell]:
    """The allocations for which one map works."""
    used = sorted(set(beta))
    # usage[j][k]: of resource j, per level of the k-th of the resources in use.
    usage = [
        [
            sympy.Add(*(masses[i] * shares[i][j] / shares[i][b] for i, b in enumerate(beta) if b == level))
            for level in used
        ]
        for j in range(len(shares[0]))
    ]
    levels = [ground.fresh(f"f_{j}") for j in used]
    own: tuple[Any, ...] = ()
    if len(used) == 2:
        one, other = (usage[j] for j in used)
        own = (ground.tidy(above_zero(one[0] * other[1] - one[1] * other[0]), given),)
        if sympy.false in own:
            return
    own = tuple(r for r in own if r != sympy.true)
    rows = [[*usage[j], sympy.Integer(1)] for j in used]
    for case in linear_cases(rows, levels, ground, (*given, *own)):
        cell = _cell(shares, masses, beta, usage, levels, case, (*given, *own), ground)
        if cell is not None:
            yield cell


def _cell(
    shares: list[list[Any]],
    masses: list[Any],
    beta: _Map,
    usage: list[list[Any]],
    levels: Sequence[Any],
    case: Case,
    given: tuple[Any, ...],
    ground: Ground,
) -> Cell | None:
    used = sorted(set(beta))
    place = {j: k for k, j in enumerate(used)}
    free: list[Any] = []
    told = {}
    for k in case.free:
        # A free level is told by the tasks of a class that follows it.
        i = beta.index(used[k])
        free.append(ground.fresh("u" if len(case.free) == 1 else f"u{len(free) + 1}"))
        told[levels[k]] = free[-1] * shares[i][used[k]] / masses[i]
    level = [sympy.cancel(v.xreplace(told)) for v in case.values]
    if free:
        ground = ground.with_letters(free)
    held = (*given, *case.conditions)
    relations = [above_zero(f) for f in level]
    for i, b in enumerate(beta):
        mine = level[place[b]] / shares[i][b]
        relations += [sympy.Ge(level[place[j]], shares[i][j] * mine, evaluate=False) for j in used if j != b]
    rest = {
        j: sympy.cancel(1 - sympy.Add(*(u * f for u, f in zip(row, level, strict=True))))
        for j, row in enumerate(usage)
        if j not in place
    }
    relations += [at_least_zero(left) for left in rest.values()]
    conditions = ground.met((*held, *(ground.tidy(relation, held) for relation in relations)))
    if conditions is None:
        return None
    tasks = tuple(masses[i] * level[place[b]] / shares[i][b] for i, b in enumerate(beta))
    full = tuple(sorted({*used, *emptied(ground, rest, conditions)}))
    return settled(ground, Cell(conditions, tasks, full, bottlenecks=beta, free=tuple(free)))
