"""Claims about policies: forms that agree, lies that pay, incentives, stability, drifts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import sympy

from fairness.errors import ModelError
from fairness.protocol.family import Family, family_of
from fairness.protocol.policy import policy_name
from proofs.errors import ProofError
from proofs.symbolic.cells import Cell
from proofs.symbolic.closed_forms import ClosedForm
from proofs.symbolic.decisions.formulas import divisor_of, is_rational
from proofs.symbolic.forms import closed_form
from proofs.symbolic.model.problem import SymbolicProblem
from proofs.symbolic.model.reading import expression
from proofs.symbolic.model.system import SymbolicSystem
from proofs.symbolic.parameters.claims import Claim
from proofs.symbolic.traffic.stability import drift_cells, stability_facets

__all__ = ["drift_negative", "full", "gains", "same", "sharing_incentive", "stable"]


def same(first: ClosedForm, second: ClosedForm) -> Claim:
    """Two policies give all classes the same tasks.

    Parameters
    ----------
    first, second : ClosedForm
        Of problems with the same classes; that letters mean the same is up to their names.

    Returns
    -------
    Claim

    Raises
    ------
    ProofError
        If an allocation is not unique, or holds roots.

    Examples
    --------
    >>> from fairness import DRF, MaxMin
    >>> pool = SymbolicProblem([[1, "a"], ["a", 1]], [1, 1], assume="0 < a < 1")
    >>> same(closed_form(pool, DRF()), closed_form(pool, MaxMin()))
    Claim(DRF = MMF)
    """
    if first.problem.n_classes != second.problem.n_classes:
        raise ModelError.of(
            "second", f"has {second.problem.n_classes} classes; first has {first.problem.n_classes}"
        )

    def equal(one: Cell, other: Cell) -> Iterator[Any]:
        for x, y in zip(one.tasks, other.tasks, strict=True):
            yield _compared(first.problem, sympy.Eq, x, y)

    return _in_cells(equal, f"{first.policy_name} = {second.policy_name}", first, second)


def full(form: ClosedForm, resource: int | str) -> Claim:
    """The tasks use all of a resource.

    Parameters
    ----------
    form : ClosedForm
    resource : int or str
        By number or name.

    Returns
    -------
    Claim

    Examples
    --------
    >>> from fairness import DRF
    >>> full(closed_form(SymbolicProblem([["a", 4], [3, 1]], [9, 18], assume="a > 0"), DRF()), 0)
    Claim(resource 1 is full under DRF)
    """
    problem = form.problem
    j = _place("resource", resource, problem.resource_names)

    def filled(cell: Cell) -> Iterator[Any]:
        yield _compared(problem, sympy.Eq, problem.usage(cell.tasks)[j], problem.capacities[j])

    return _in_cells(filled, f"{problem.resource_names[j]} is full under {form.policy_name}", form)


def gains(problem: SymbolicProblem, policy: Any, job_class: int | str, lie: Sequence[Any]) -> Claim:
    """A class that claims other demands can run more of its true tasks with what it is given.

    Parameters
    ----------
    problem : SymbolicProblem
    policy : policy
        One that :func:`closed_form` knows.
    job_class : int or str
        The liar, by number or name.
    lie : sequence of shape (n_resources,), resource units per task
        The demands that it claims; may hold letters, and what does is assumed to be >= 0.

    Returns
    -------
    Claim

    Examples
    --------
    >>> from fairness import DRF
    >>> gains(SymbolicProblem([[1, "a"], ["a", 1]], [1, 1], assume="0 < a < 1"), DRF(), 0, [1, 1])
    Claim(class 1 gains under DRF by claiming (1, 1))
    """
    i = _place("job_class", job_class, problem.class_names)
    rows = [list(problem.demands[k, :]) for k in range(problem.n_classes)]
    if isinstance(lie, str) or len(lie) != problem.n_resources:
        raise ModelError.of("lie", f"must be a claimed demand of each of {problem.n_resources} resources")
    claimed = [expression(v, "lie", j) for j, v in enumerate(lie)]
    truth = closed_form(problem, policy)
    told = problem.altered(
        demands=[*rows[:i], claimed, *rows[i + 1 :]],
        assume=(*problem.assumptions, *(sympy.Ge(v, 0) for v in claimed if v.free_symbols)),
    )
    lied = closed_form(told, policy)

    def more(honest: Cell, liar: Cell) -> Iterator[Any]:
        for a, said in zip(rows[i], claimed, strict=True):
            enough = _compared(lied.problem, sympy.Gt, liar.tasks[i] * said, honest.tasks[i] * a)
            yield sympy.Or(enough, _compared(problem, sympy.Eq, a, 0))

    claim = ", ".join(map(str, claimed))
    words = f"{problem.class_names[i]} gains under {truth.policy_name} by claiming ({claim})"
    return _in_cells(more, words, truth, lied)


def sharing_incentive(problem: SymbolicProblem, policy: Any) -> Claim:
    """Every class runs at least what it would alone with its part, by jobs and weight, of every resource.

    Parameters
    ----------
    problem : SymbolicProblem
    policy : policy
        One that :func:`closed_form` knows.

    Returns
    -------
    Claim

    Examples
    --------
    >>> from fairness import AssetFair
    >>> sharing_incentive(SymbolicProblem([[1, "a"], [1, 1]], [30, 30], assume="a > 0"), AssetFair())
    Claim(sharing incentive of Asset)
    """
    form = closed_form(problem, policy)

    def enough(cell: Cell) -> Iterator[Any]:
        for i, phi in enumerate(cell.tasks):
            part = problem.masses[i] / sympy.Add(*problem.masses)
            pairs = zip(problem.demands[i, :], problem.capacities, strict=True)
            yield sympy.Or(*(_compared(problem, sympy.Ge, phi * a, part * c) for a, c in pairs))

    return _in_cells(enough, f"sharing incentive of {form.policy_name}", form)


def stable(system: SymbolicSystem, policy: Any) -> Claim:
    """The system is stable under the policy: all stability facets hold, strictly.

    No policy is stable elsewhere. That progressive filling (max-min fairness, DRF, asset fairness) and
    alpha-fairness, alpha > 0, are stable there follows from the Lyapunov functions of
    :func:`queueing.fluid_verdict`; of other policies nothing is claimed.

    Parameters
    ----------
    system : SymbolicSystem
    policy : policy

    Returns
    -------
    Claim

    Raises
    ------
    ProofError
        If no stability theorem is known of the policy.

    Examples
    --------
    >>> from fairness import DRF
    >>> stable(SymbolicSystem([[1, "a"], ["a", 1]], [1, 1], "r", assume=["0 < a < 1", "r > 0"]), DRF())
    Claim(DRF is stable)
    """
    match family_of(policy):
        case Family("filling"):
            pass
        case Family("alpha-fair", {"alpha": alpha}) if alpha > 0:
            pass
        case _:
            raise ProofError(
                f"no theorem says where {policy!r:.60} is stable; stable() knows MaxMin, DRF, AssetFair, "
                "ProportionalFair and AlphaFair. queueing.fluid_verdict looks for evidence at numbers"
            )
    facets = sympy.And(*stability_facets(_system(system)))
    return Claim(facets, system.problem.assumptions, f"{policy_name(policy)} is stable")


def drift_negative(system: SymbolicSystem, policy: Any, V: Any) -> Claim:
    """A function of the counts falls along the fluid, in states with jobs of all classes.

    Parameters
    ----------
    system : SymbolicSystem
    policy : policy
        One that :func:`closed_form` knows.
    V : str or expression
        Of the counts ``x1``, ``x2`` and so on.

    Returns
    -------
    Claim

    Examples
    --------
    >>> from fairness import DRF
    >>> system = SymbolicSystem([[1]], [1], "r", assume="r > 0")
    >>> drift_negative(system, DRF(), "x1**2")
    Claim(the drift of x1**2 under DRF is < 0)
    """
    problem, _ = _system(system).with_counts()
    divisor = divisor_of(expression(V, "V"))
    defined = problem.ground.tidy(sympy.Ne(divisor, 0, evaluate=False))
    options = []
    for cell in drift_cells(system, policy, V):
        falls = problem.ground.tidy(sympy.Lt(cell.change, 0, evaluate=False))
        options.append(sympy.And(*cell.conditions, defined, falls))
    words = f"the drift of {V} under {policy_name(policy)} is < 0"
    return Claim(sympy.Or(*options), problem.assumptions, words)


def _system(system: Any) -> SymbolicSystem:
    if not isinstance(system, SymbolicSystem):
        raise ModelError.of("system", f"must be a SymbolicSystem; got {type(system).__name__}")
    return system


def _in_cells(said: Callable[..., Iterator[Any]], words: str, *forms: ClosedForm) -> Claim:
    """The claim that what is said of cells, one of each form, holds of some in which the letters lie."""
    options = []
    for cells in product(*map(_unique, forms)):
        held = (condition for cell in cells for condition in cell.conditions)
        options.append(sympy.And(*held, *said(*cells)))
    known = dict.fromkeys(relation for form in forms for relation in form.problem.assumptions)
    return Claim(sympy.Or(*options), tuple(known), words)


def _unique(form: Any) -> tuple[Cell, ...]:
    if not isinstance(form, ClosedForm):
        raise ModelError.of("form", f"must be a ClosedForm, made by closed_form; got {type(form).__name__}")
    for cell in form.cells:
        if cell.free:
            raise ProofError(
                f"{form.policy_name} is not unique where {', '.join(map(str, cell.conditions))}; "
                "assume more of the letters, or state what you ask of all allocations with conditions()"
            )
        if not all(is_rational(task) for task in cell.tasks):
            raise ProofError(
                f"the tasks of {form.policy_name} hold roots, of which polynomial conditions say nothing; "
                "assume more of the letters, or use conditions() in a statement"
            )
    return form.cells


def _compared(problem: SymbolicProblem, kind: Any, left: Any, right: Any) -> Any:
    """A relation of the letters, multiplied out where the assumptions know the sign of the divisor."""
    return problem.ground.tidy(kind(left - right, 0, evaluate=False))


def _place(argument: str, given: int | str, names: Sequence[str]) -> int:
    if given in names:
        return list(names).index(str(given))
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given < len(names):
        raise ModelError.of(
            argument, f"must be one of {', '.join(names)}, or its number from 0; got {given!r}"
        )
    return given
