r"""Stationary means of any finite chain, enclosed: bounds that are proved, whatever the solver did.

Poisson's equation :math:`f + Qh = c` is solved for each mean that is asked for
(:mod:`queueing.enclosures.finite_equation`); then the checker, which knows nothing of the solver, finds how
far :math:`f + Qh` is from a constant (:mod:`queueing.certificates.chain_certificate`). The numbers of the
chain are taken as the floats that they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import require_number
from fairness.machine.memory import require_memory
from fairness.machine.work import OutOfTime, ProgressOption, Task, stopped, watching
from queueing.certificates.chain_certificate import ChainCertificate
from queueing.enclosures.finite_equation import FiniteEquation
from queueing.model.finite_chain import FiniteChain, check_chain
from queueing.proved_bounds.chain_enclosure import ChainEnclosure
from queueing.proved_bounds.check import check_certificate

__all__ = ["enclose_chain"]

LEAST = 4e-15
"""Relative width below which bounds are not asked for: the means are floats, and so are the bounds."""


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
