"""One ladder for all finite chains: of counts, of admission regions, of jobs with phases.

1. The *product formula* of a birth-death chain, where one class has arrivals and its sizes are exponential.
2. *Elimination* without subtractions (:mod:`queueing.chain.solvers.elimination`), which keeps all digits
   however far apart the rates are, and costs the states times the square of their bandwidth.
3. *Multilevel*: aggregation and sweeps (:mod:`queueing.chain.solvers.multilevel`; with phases
   :mod:`queueing.chain.phases.solver`), whose memory is a few numbers per state. Where drifts of odd shapes
   stop its cycles and the chain is not too large, elimination takes over.

A step is an object that carries its own tolerances; :class:`Automatic` climbs. The answer comes with its
evidence: the residual of the balance equations, and the error that rounding or further cycles may leave in
the means.
"""

from __future__ import annotations

import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairness.arguments.validation import require_whole
from fairness.errors import ModelError, NotConvergedError
from fairness.machine.memory import fits_memory, require_memory
from fairness.model.problem import FloatArray
from queueing.chain.solvers.balance import rounding_error
from queueing.chain.solvers.elimination import eliminate, elimination_bytes, narrow_order
from queueing.chain.solvers.multilevel import Convergence
from queueing.states.box import require_part

__all__ = [
    "Automatic",
    "Chain",
    "Elimination",
    "Multilevel",
    "Product",
    "Solution",
    "Solver",
    "check_solver",
    "chosen",
    "solved",
]

_log = logging.getLogger(__name__)

RESCUE_WORK = 2e10
"""Up to so many operations elimination takes over where multilevel gives up: some ten seconds."""
GUESSED = 1e-8
"""Least tolerance for a chain that only gives the first guess of another."""

_Result = TypeVar("_Result")


class Solver:
    """How a chain is solved: Automatic, Product, Elimination or Multilevel."""

    tolerance: float = 1e-11
    max_cycles: int | None = None

    @property
    def guessing(self) -> Solver:
        """Solver of a chain that only gives the first guess."""
        return Automatic(max(self.tolerance, GUESSED))


@dataclass(frozen=True)
class Product(Solver):
    """The product formula of one class with exponential sizes."""


@dataclass(frozen=True)
class Elimination(Solver):
    """Elimination without subtractions: all digits, as far as memory and time reach."""


@dataclass(frozen=True)
class _Iterative(Solver):
    """Base of the solvers that have a tolerance."""

    tolerance: float = 1e-11
    max_cycles: int | None = None

    def __post_init__(self) -> None:
        require_part("tolerance", self.tolerance)
        if self.max_cycles is not None:
            object.__setattr__(self, "max_cycles", require_whole("max_cycles", self.max_cycles, 1))


class Multilevel(_Iterative):
    """Aggregation and sweeps, for two classes or more, or for phases.

    Parameters
    ----------
    tolerance : float
        For the estimated relative error of the means, and for the relative change of the law in one sweep.
    max_cycles : int, optional
        Most cycles on one box. Default: 300; with phases 1000.
    """


class Automatic(_Iterative):
    """The product formula for one class, elimination for small chains, multilevel for others.

    Elimination again where multilevel gives up on a chain that is not too large for it.

    Parameters
    ----------
    tolerance, max_cycles : float, int
        Of :class:`Multilevel`.
    """


def check_solver(solver: Any) -> Solver:
    """The solver, automatic by default; refuse what is none."""
    if solver is None:
        return Automatic()
    if not isinstance(solver, Solver):
        raise ModelError.of(
            "solver", f"must be Automatic(), Product(), Elimination(), Multilevel() or None; got {solver!r}"
        )
    return solver


def chosen(
    solver: Solver, axes: int, work: Callable[[], float], cheap: float, *, phased: bool = False
) -> str:
    """Step for a chain of so many classes: "product", "elimination" or "multilevel".

    ``work()`` is what elimination costs, up to ``cheap`` of which it is taken without being asked for.
    """
    single = axes <= 1 and not phased
    if isinstance(solver, Product) and not single:
        raise ModelError.of(
            "solver",
            "Product() is for one class with exponential sizes; take solver=Elimination() or "
            "solver=Multilevel()",
        )
    if isinstance(solver, Multilevel) and single and axes:
        raise ModelError.of(
            "solver", "Multilevel() is for two classes or more; take solver=Product() or solver=Elimination()"
        )
    if not axes or (single and not isinstance(solver, Elimination)):
        return "product"
    if isinstance(solver, Multilevel):
        return "multilevel"
    return "elimination" if isinstance(solver, Elimination) or work() <= cheap else "multilevel"


class Chain(ABC):
    """A finite chain as the ladder sees it.

    Attributes
    ----------
    axes : int
        Classes with arrivals.
    states : int
    name : str
        For messages, as "60 x 70 states".
    remedy : str
        What makes it smaller.
    phased : bool
        Whether sizes have phases.
    cheap : float
        Operations up to which elimination is taken without being asked for.
    most_states : float
        Beyond so many states elimination is not even considered by itself.
    max_cycles : int
        Most cycles unless the solver says otherwise.
    """

    axes: int
    states: int
    name: str
    remedy: str
    phased = False
    cheap = 2e7
    most_states = math.inf
    max_cycles = 300

    @abstractmethod
    def rates(self) -> sparse.csr_array:
        """Rates from row to column, without a diagonal."""

    @abstractmethod
    def iterated(self, tolerance: float, max_cycles: int) -> tuple[FloatArray, Convergence]:
        """Law by multilevel, and how far it got."""

    @abstractmethod
    def marginals(self, law: FloatArray) -> tuple[FloatArray, ...]:
        """Laws of the counts."""

    @abstractmethod
    def residual(self, law: FloatArray) -> float:
        """Sum of the violations of all balance equations over the total flow."""

    @cached_property
    def _ordered(self) -> tuple[sparse.csr_array, NDArray[np.int64], int]:
        rates = self.rates()
        return rates, *narrow_order(rates)

    def work(self) -> float:
        """Multiplications of an elimination; infinite where it is not considered."""
        return math.inf if self.states > self.most_states else self.states * float(self._ordered[2]) ** 2

    def elimination_bytes(self) -> float:
        """What elimination takes at its peak."""
        return 2.0 * elimination_bytes(self.states, self._ordered[2])

    def eliminated(self) -> FloatArray:
        """Law of the states by elimination."""
        return eliminate(*self._ordered)


@dataclass(frozen=True)
class Solution:
    """Law of a chain with its evidence.

    Attributes
    ----------
    law : ndarray
    method : str
        "product", "elimination" or "multilevel".
    mean_error : float
        Estimated relative error of the mean counts.
    residual : float
    complaint : str
        Why the law is not what was asked for; empty if it is.
    """

    law: FloatArray
    method: str
    mean_error: float
    residual: float
    complaint: str

    def accept(self, result: _Result) -> _Result:
        """The result that was made of the law; NotConvergedError, with it as the best, on a complaint."""
        if self.complaint:
            raise NotConvergedError(self.complaint, best=result, residual=self.mean_error)
        return result


def solved(chain: Chain, solver: Solver) -> Solution:
    """Stationary law of a chain by a solver, or by the step that suits it."""
    method = chosen(solver, chain.axes, chain.work, chain.cheap, phased=chain.phased)
    complaint = ""
    _log.info("%s: %s", chain.name, method)
    if method == "multilevel":
        most = solver.max_cycles or chain.max_cycles
        law, convergence = chain.iterated(solver.tolerance, most)
        mean_error = convergence.mean_error
        if not convergence.reached:
            # Drifts of any shape can stop cycles; what elimination needs grows with the box, not with them.
            stuck = convergence.cycles < most and chain.work() <= RESCUE_WORK
            if isinstance(solver, Automatic) and stuck and fits_memory(chain.elimination_bytes()):
                _log.info(
                    "%s: cycles stopped falling after %d; now elimination", chain.name, convergence.cycles
                )
                method = "elimination"
            else:
                complaint = (
                    f"after {convergence.cycles} cycles on {chain.name} the law still changes by "
                    f"{convergence.change:.1e} and the means by about {mean_error:.1e} (tolerance "
                    f"{solver.tolerance:g}); take solver=Multilevel(tolerance, max_cycles) with a larger "
                    "tolerance or more max_cycles, or solver=Elimination()"
                )
    if method != "multilevel":
        if method == "elimination":
            require_memory(
                chain.elimination_bytes(),
                f"elimination for {chain.name}",
                f"{chain.remedy}, or take solver=Multilevel()",
            )
        law = chain.eliminated()
        mean_error = rounding_error(chain.marginals(law), chain.states)
    return Solution(law, method, mean_error, chain.residual(law), complaint)
