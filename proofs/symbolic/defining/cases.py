r"""Conditions that define the allocations of a policy, in cases of relations.

With :math:`m_i` the jobs times the weight of class i, all tasks being > 0 and within the capacities:

- *Proportional fairness* (Karush, Kuhn, Tucker): there are prices with
  :math:`\varphi_i \sum_j p_j a_{ij} = m_i`, > 0 for some resources, which are full, and 0 for the others; one
  case for each set of priced resources. Sets no larger than the number of classes are enough
  (Caratheodory).
- *Bottleneck max fairness*: every class i has a full resource j that it demands with
  :math:`a_{ij}\varphi_i/m_i \ge a_{kj}\varphi_k/m_k` for all k; one case for each map of classes to such
  bottlenecks.
- *Progressive filling* (max-min fairness, DRF, asset fairness): every class i has a full resource j that it
  demands and where its level :math:`\ell_i = \varphi_i s_i/m_i` is the largest of all that demand it, with
  :math:`s_i` 1, the dominant share or the sum of shares of one task; one case for each map.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import sympy

from fairness.errors import ModelError
from fairness.protocol.family import Family
from fairness.protocol.policy import policy_name
from proofs.claims import Implication, Step
from proofs.claims.splitting import split
from proofs.symbolic.decisions.formulas import dot, numerator_of
from proofs.symbolic.model.families import written
from proofs.symbolic.model.problem import SymbolicProblem, require_problem
from proofs.symbolic.policies.filling import resource_weights

__all__ = ["Conditions", "conditions"]

MOST_CASES = 200


@dataclass(frozen=True)
class Conditions:
    """What defines the allocations of a policy; made by :func:`conditions`.

    Attributes
    ----------
    policy : str
    tasks : tuple of str
        Names of the variables that are the tasks of the classes.
    always : dict of str to str
        Relations that hold in every case, by name: assumptions, tasks > 0, capacities.
    cases : dict of str to dict
        The relations of each case, by name; an allocation meets all of one case.
    """

    policy: str
    tasks: tuple[str, ...]
    always: Mapping[str, str]
    cases: Mapping[str, Mapping[str, str]]

    def implies(self, conclusion: str) -> list[Step]:
        """Steps that say that every allocation has a property, one for each case.

        Parameters
        ----------
        conclusion : str
            A relation of tasks and letters.
        """
        return _steps([(words, {**self.always, **case}, conclusion) for words, case in self.cases.items()])

    def same_as(self, other: Conditions) -> list[Step]:
        """Steps that say that every allocation of one is each allocation of the other.

        Both have the same classes, letters that mean the same, and other names for the tasks. That there
        are allocations at all is another statement.

        Raises
        ------
        ModelError
            If the numbers of classes differ, or tasks of both have the same names.
        """
        if len(self.tasks) != len(other.tasks) or set(self.tasks) & set(other.tasks):
            raise ModelError.of(
                "other", f"must have {len(self.tasks)} tasks with other names than {', '.join(self.tasks)}"
            )
        claims = []
        for (words, case), (others, second) in product(self.cases.items(), other.cases.items()):
            mine = {f"{name} of {self.policy}": text for name, text in ({**self.always, **case}).items()}
            yours = {f"{name} of {other.policy}": text for name, text in ({**other.always, **second}).items()}
            for x, y in zip(self.tasks, other.tasks, strict=True):
                given = mine | {name: text for name, text in yours.items() if text not in mine.values()}
                claims.append((f"{words}; {others}", given, f"{x} == {y}"))
        return _steps(claims)


def conditions(policy: Any, problem: SymbolicProblem, *, tasks: str = "x", prices: str = "p") -> Conditions:
    """The conditions that define a policy's allocations, in cases of relations between polynomials.

    Parameters
    ----------
    policy : ProportionalFair, BottleneckMax, MaxMin, DRF (also with weights per resource) or AssetFair
    problem : SymbolicProblem
    tasks, prices : str
        What the variables of tasks and prices begin with: x1, x2, ... and p1, p2, ...

    Returns
    -------
    found : Conditions

    Raises
    ------
    ModelError
        If the policy is another, a variable has the name of a letter, or there are too many cases.

    Examples
    --------
    >>> from fairness import ProportionalFair
    >>> pool = SymbolicProblem([["a", 1], [1, 1]], [1, 1], assume="a > 0")
    >>> for words, case in conditions(ProportionalFair(), pool).cases.items():
    ...     print(words, list(case.values()))
    only resource 1 has a price ['p1 > 0', 'a*x1 + x2 == 1', 'a*p1*x1 == 1', 'p1*x2 == 1', 'p1 == 2']
    only resource 2 has a price ['p2 > 0', 'x1 + x2 == 1', 'p2*x1 == 1', 'p2*x2 == 1', 'p2 == 2']
    resource 1 and resource 2 have prices ['p1 > 0', 'a*x1 + x2 == 1', 'p2 > 0', 'x1 + x2 == 1', ...]
    """
    require_problem(problem)
    names = tuple(f"{tasks}{i + 1}" for i in range(problem.n_classes))
    priced = tuple(f"{prices}{j + 1}" for j in range(problem.n_resources))
    taken = {letter.name for letter in problem.letters} | set(priced)
    if clash := sorted(set(names) & taken | {p for p in priced if p in {s.name for s in problem.letters}}):
        raise ModelError.of(
            "tasks", f"and prices need names of their own; {clash[0]!r} stands twice; give tasks= or prices="
        )
    definition = _Definition(problem, names, priced)
    family = written(policy)
    most = problem.n_resources**problem.n_classes
    if most > MOST_CASES:
        raise ModelError.of(
            "problem", f"has up to {most:,} cases, more than {MOST_CASES}; take fewer classes or resources"
        )
    cases = definition.priced_cases()
    if family.name != "alpha-fair":
        cases = definition.bottleneck_cases(definition.task_shares(family))
    return Conditions(policy_name(policy), names, definition.always(), dict(cases))


class _Definition:
    """Texts of the conditions of one problem."""

    def __init__(self, problem: SymbolicProblem, tasks: tuple[str, ...], prices: tuple[str, ...]) -> None:
        self.problem = problem
        self.x = [sympy.Symbol(name, real=True) for name in tasks]
        self.p = [sympy.Symbol(name, real=True) for name in prices]
        self.used = problem.usage(self.x)

    def always(self) -> dict[str, str]:
        """Assumptions, tasks > 0 and capacities."""
        found = {f"assumption {k}": _text(r) for k, r in enumerate(self.problem.assumptions, 1)}
        found |= {f"task {k}": f"{x} > 0" for k, x in enumerate(self.x, 1)}
        pairs = zip(self.used, self.problem.capacities, strict=True)
        return found | {f"capacity {k}": f"{used} <= {c}" for k, (used, c) in enumerate(pairs, 1)}

    def priced_cases(self) -> Iterator[tuple[str, dict[str, str]]]:
        """The conditions of Karush, Kuhn and Tucker."""
        problem = self.problem
        names = problem.resource_names
        for size in range(1, min(problem.n_classes, problem.n_resources) + 1):
            for chosen in combinations(range(problem.n_resources), size):
                case = {}
                for j in chosen:
                    case[f"price {j + 1}"] = f"{self.p[j]} > 0"
                    case[f"full {j + 1}"] = self._full(j)
                prices = [p if j in chosen else sympy.Integer(0) for j, p in enumerate(self.p)]
                costs = [dot(prices, row) for row in problem.demands.tolist()]
                if any(cost == 0 for cost in costs):  # a class that pays nothing could run without end
                    continue
                for i, (cost, mass) in enumerate(zip(costs, problem.masses, strict=True)):
                    case[f"marginal {i + 1}"] = f"{sympy.expand(self.x[i] * cost)} == {mass}"
                worth = dot(prices, problem.capacities)
                case["all prices"] = f"{worth} == {sympy.Add(*problem.masses)}"  # the sum of the others
                told = " and ".join(names[j] for j in chosen)
                yield (f"only {told} has a price" if size == 1 else f"{told} have prices"), case

    def bottleneck_cases(self, shares: list[str] | None) -> Iterator[tuple[str, dict[str, str]]]:
        """A bottleneck for each class: of the largest share of it (None), or of the largest level."""
        problem, a, masses = self.problem, self.problem.demands, self.problem.masses
        n, m = problem.n_classes, problem.n_resources
        signs = [[problem.ground.sign(numerator_of(a[i, j])) for j in range(m)] for i in range(n)]
        for chosen in product(range(m), repeat=n):
            if any(signs[i][j] == 0 for i, j in enumerate(chosen)):
                continue
            case = {}
            for i, j in enumerate(chosen):
                if signs[i][j] != 1:
                    case[f"demand {i + 1}"] = f"{a[i, j]} > 0"
                case[f"full {j + 1}"] = self._full(j)
                for k in range(n):
                    if k == i or a[k, j] == 0:
                        continue
                    name = f"largest {i + 1} {k + 1}"
                    if shares is None:
                        mine, yours = self.x[i] * a[i, j] * masses[k], self.x[k] * a[k, j] * masses[i]
                        case[name] = f"{mine} >= {yours}"
                        continue
                    mine = f"{self.x[i] * masses[k]}*{shares[i]}"
                    yours = f"{self.x[k] * masses[i]}*{shares[k]}"
                    # Only of those that demand the resource.
                    known = signs[k][j] == 1
                    case[name] = f"{mine} >= {yours}" if known else f"({a[k, j]})*({mine} - {yours}) >= 0"
            pairs = zip(problem.class_names, chosen, strict=True)
            yield ", ".join(f"{name} at {problem.resource_names[j]}" for name, j in pairs), case

    def task_shares(self, family: Family) -> list[str] | None:
        """What filling makes equal, of one task of each class; None for the share of each resource."""
        if family.name == "bottleneck-max":
            return None
        growth = family.parameters["growth"]
        if growth == "tasks":
            return ["1"] * self.problem.n_classes
        if growth == "assets":
            return [f"({sympy.Add(*shares)})" for shares in self.problem.shares]
        return self._dominant(family)

    def _dominant(self, family: Family) -> list[str]:
        """The dominant share of one task of each class, as a maximum."""
        weights = resource_weights(family, self.problem.n_classes, self.problem.n_resources)
        found = []
        for shares, own in zip(self.problem.shares, weights, strict=True):
            parts = dict.fromkeys(str(share / w) for share, w in zip(shares, own, strict=True) if share != 0)
            found.append(f"max({', '.join(parts)})" if len(parts) > 1 else f"({', '.join(parts)})")
        return found

    def _full(self, j: int) -> str:
        return f"{self.used[j]} == {self.problem.capacities[j]}"


def _text(relational: Any) -> str:
    return f"{relational.lhs} {relational.rel_op} {relational.rhs}"


def _steps(claims: Sequence[tuple[str, Mapping[str, str], str]]) -> list[Step]:
    """Steps that state all claims: those of one conclusion are its cases, of which some may never occur."""
    found: dict[str, list[tuple[str, Implication]]] = {}
    for words, hypotheses, conclusion in claims:
        for more, part in split(Implication(hypotheses, conclusion)):
            says = f"{words}: {conclusion}" + (f" [{more}]" if more else "")
            found.setdefault(part.conclusion, []).append((says, part))
    return [
        Step(says, Implication(part.hypotheses, part.conclusion, case=(k, len(cases))), states=True)
        for cases in found.values()
        for k, (says, part) in enumerate(cases, 1)
    ]
