r"""Stationary means of any finite chain, enclosed: bounds that are proved, whatever the solver did.

Poisson's equation :math:`f + Qh = c`, with :math:`h = 0` in one state, has one solution: a function h and the
number c, the stationary mean of f. It is solved for each mean that is asked for, to more digits than a float
has. What is left over, :math:`c - (f + Qh)`, is computed as the checker does it
(:func:`queueing.certificates.chain_certificate.poisson_sides`), in twice the digits, and is the right side
of a next equation, whose solution is added. h is the sum of two floats, so that each step adds the digits
that the steps of :mod:`queueing.chain.solvers.poisson_steps` have, and chains whose rates span many decades
come out to the last digit, too.

Then the checker, which knows nothing of the solver, finds how far :math:`f + Qh` is from a constant
(:mod:`queueing.certificates.chain_certificate`). The numbers of the chain are taken as the floats that they
are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import require_number
from fairness.display.tables import aligned
from fairness.errors import ModelError
from fairness.machine.memory import require_memory
from fairness.machine.work import OutOfTime, ProgressOption, Task, stopped, watching
from fairness.model.problem import FloatArray
from queueing.certificates.bounded_means import BoundedMeans
from queueing.certificates.chain_certificate import ChainCertificate, poisson_sides
from queueing.certificates.checking import Bounds
from queueing.chain.solvers.poisson_steps import poisson_step
from queueing.model.finite_chain import FiniteChain, check_chain
from queueing.proved_bounds.check import check_certificate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ChainEnclosure", "enclose_chain"]

LEAST = 4e-15
"""Relative width below which bounds are not asked for: the means are floats, and so are the bounds."""
STEPS = 40
"""Most steps of refinement."""
GAIN = 0.5
"""A step that leaves more than this part of the width gains little; three such are the last."""


@dataclass(frozen=True, eq=False, repr=False)
class ChainEnclosure(BoundedMeans):
    """Bounds of stationary means of a finite chain, with the certificate that proves them.

    Made by :func:`enclose_chain`.

    Attributes
    ----------
    certificate : ChainCertificate
        The chain, the states of its closed class, and the functions that prove the bounds.
    method : str
        How these functions were found: "elimination", "sparse factors" or "iteration".
    width : float
        What was asked for.
    reached : float
        Largest width of the bounds, relative to the mean; to the largest absolute value of the function where
        0 lies between them.
    shortfall : str
        Why the width that was asked for is not reached; empty if it is.
    """

    certificate: ChainCertificate
    method: str
    width: float
    reached: float
    shortfall: str = field(default="")

    @property
    def names(self) -> tuple[str, ...]:
        """What the means are of: rewards, variables and labels of the chain."""
        return self.certificate.names

    @cached_property
    def lower(self) -> FloatArray:
        """Lower bounds of the means, in the order of the names; of labels, of probabilities."""
        return self.certificate.lower

    @cached_property
    def upper(self) -> FloatArray:
        """Upper bounds."""
        return self.certificate.upper

    def bounds(self, name: str) -> tuple[float, float]:
        """Lower and upper bound of the mean of that name.

        Raises
        ------
        ModelError
            If it was not asked for.
        """
        if name not in self.names:
            raise ModelError.of("name", f"must be of {', '.join(map(repr, self.names))}; got {name!r}")
        k = self.names.index(name)
        return float(self.lower[k]), float(self.upper[k])

    def check(self) -> Bounds:
        """Run the independent checker once more; what it proves of the means.

        Raises
        ------
        CertificateError
            If it does not prove the bounds.
        """
        return check_certificate(self.certificate)

    def summary(self) -> str:
        """The bounds, and what they rest on."""
        c = self.certificate
        bounds = zip(self.names, self.lower.tolist(), self.upper.tolist(), strict=True)
        rows = [[name, f"{low!r} to {high!r}"] for name, low, high in bounds]
        transient = c.chain.n_states - len(c.states)
        return "\n".join(
            [
                "proved bounds of stationary means of a finite chain",
                *aligned(rows, words=1),
                f"  {c.chain.n_states} states"
                + (f", {transient} of them transient" if transient else "")
                + f", {c.chain.n_transitions} transitions; found by {self.method}, proved by the certificate",
                f"  widths up to {self.reached:.1e}; {self.width:.1e} asked"
                + (f": {self.shortfall}" if self.shortfall else ""),
            ]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Middle of the bounds of each mean, with the bounds as error bars."""
        return self.certificate.plot(ax)


def enclose_chain(
    chain: FiniteChain,
    of: str | Sequence[str] | Mapping[str, ArrayLike] | None = None,
    *,
    width: float = 1e-12,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> ChainEnclosure:
    """Enclose stationary means of a finite chain between proved bounds.

    Parameters
    ----------
    chain : FiniteChain
        With one closed class; other states are transient, and their stationary probability is 0.
    of : str, sequence of str, or mapping of str to array_like of shape (n_states,), optional
        Rewards, variables and labels of the chain whose means are wanted, or functions of the states of your
        own; of a label it is the probability. Default: all rewards and variables, or if there are none, all
        labels.
    width : float
        Asked for: the bounds of a mean differ by at most this part of it, where 0 lies between them by this
        part of the largest absolute value of the function. From 4e-15.
    progress : None, bool or callable
        As in :func:`queueing.stationary`.
    time_limit : float, seconds, optional

    Returns
    -------
    ChainEnclosure
        With ``shortfall`` where the width is not reached.

    Raises
    ------
    ModelError
        If the chain has several closed classes, something that is asked for is unknown, or the equations do
        not fit in memory.
    NotConvergedError
        If the time is over; ``best`` has the bounds that were proved until then, if any.

    References
    ----------
    S. P. Meyn and R. L. Tweedie, "Markov chains and stochastic stability", 2nd edition, Cambridge 2009,
    chapter 17 (Poisson's equation).

    Examples
    --------
    A queue M/M/1/3 at load 1/2 loses a job in 15:

    >>> import numpy as np
    >>> from queueing import FiniteChain, enclose_chain
    >>> rates = np.diag([0.5] * 3, 1) + np.diag([1.0] * 3, -1)
    >>> queue = FiniteChain(rates, variables={"jobs": range(4)}, labels={"full": np.arange(4) == 3})
    >>> enclosure = enclose_chain(queue, ["jobs", "full"])
    >>> low, high = enclosure.bounds("full")
    >>> low <= 1 / 15 <= high, high - low < 1e-13
    (True, True)
    >>> enclosure.check().upper[1] == high
    np.True_
    """
    check_chain(chain)
    width = require_number("width", width, least=LEAST, below=1.0)
    asked, names = chain.asked(of)
    states = asked.closed_class
    require_memory(
        40.0 * len(states) * len(names),
        f"{len(names)} functions of {len(states)} states",
        "ask for fewer means",
    )
    with watching(progress, time_limit):
        found: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
        try:
            part = asked if len(states) == asked.n_states else asked.part(states)
            equation = FiniteEquation(part)
            with Task("Poisson's equations", len(names), "means") as task:
                for name in names:
                    f = part.values(name)
                    largest = float(np.abs(f).max())
                    found[name] = equation.solve(f, partial(_narrow, largest=largest, width=width))
                    task.advance()
            result = _enclosure(asked, states, found, equation.method, width)
        except (OutOfTime, KeyboardInterrupt) as stop:
            known = f"{len(found)} of {len(names)} means were enclosed"
            best = _enclosure(asked, states, found, equation.method, width) if found else None
            raise stopped(stop, known, best) from None
    return result


class FiniteEquation:
    """Poisson's equations of a chain, all of whose states lead to each other.

    Attributes
    ----------
    method : str
        "elimination", "sparse factors" or "iteration".
    """

    def __init__(self, chain: FiniteChain) -> None:
        self.chain, self.n = chain, chain.n_states
        self._step = poisson_step(chain.matrix())
        self.method = self._step.method

    def solve(self, f: FloatArray, good: Callable[[float, float], bool]) -> tuple[FloatArray, FloatArray]:
        """Two arrays whose sum is h; with bounds of the mean of f that are good enough, or as near as can be.

        Parameters
        ----------
        f : ndarray of shape (n_states,)
        good : callable
            Whether a lower and an upper bound are near enough to each other.
        """
        h, rest = np.zeros((2, self.n))
        best, width, slow = (h, rest), np.inf, 0
        for _ in range(STEPS):
            lower, upper = poisson_sides(self.chain, f, h, rest)
            low, high = float(lower.min()), float(upper.max())
            if not high - low < np.inf:
                break
            slow = slow + 1 if high - low > GAIN * width else 0
            if high - low < width:
                best, width = (h, rest), high - low
            if self.n == 1 or good(low, high) or slow > 2:
                break
            with np.errstate(over="ignore", invalid="ignore"):  # bounds tell what is too large
                h, rest = _added(h, rest, self._step(lower + (upper - lower) / 2 - (low + (high - low) / 2)))
        return best


def _added(h: FloatArray, rest: FloatArray, step: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The sum of three arrays as that of two: the first has what a float holds."""
    added = h + step
    part = added - h
    lacking = (h - (added - part)) + (step - part)
    return added, rest + lacking


def _width(low: float, high: float, largest: float) -> float:
    """Width of bounds, relative to the mean, or to the largest absolute value if the mean may be 0."""
    scale = largest if low <= 0.0 <= high else min(abs(low), abs(high))
    return (high - low) / scale if scale > 0 else 0.0  # of a function that is 0 everywhere


def _narrow(low: float, high: float, largest: float, width: float) -> bool:
    return _width(low, high, largest) <= width


def _enclosure(
    chain: FiniteChain,
    states: NDArray[np.int64],
    found: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
    method: str,
    width: float,
) -> ChainEnclosure:
    """What the checker proves of the functions that were found."""
    h, rest = (np.array([pair[k] for pair in found.values()]) for k in range(2))
    nothing = np.full(len(found), np.inf)
    claim = ChainCertificate(chain, states, tuple(found), h, rest, -nothing, nothing)
    lower, upper = check_certificate(claim)
    widths = [
        _width(low, high, float(np.abs(chain.values(name)[states]).max()))
        for name, low, high in zip(found, lower.tolist(), upper.tolist(), strict=True)
    ]
    reached = max(widths)
    why = "" if reached <= width else f"of {claim.names[widths.index(reached)]!r} no more digits were found"
    return ChainEnclosure(replace(claim, lower=lower, upper=upper), method, width, reached, why)
