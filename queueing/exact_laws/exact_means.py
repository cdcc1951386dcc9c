r"""Stationary means of any finite chain as exact fractions, proved.

The equations are those of :mod:`queueing.exact_laws.balance_equations`, of a graph of states in place of a
box: its theorem about trees holds for any chain, and so does what rests on it. States are numbered so that
neighbours are close (reverse Cuthill and McKee [1]_), and the balance equations are solved p-adically
(:mod:`queueing.exact_laws.lifting`). A function that is not a whole number is multiplied by its common
denominator, and one with both signs is taken apart.

The numbers are taken as the floats that they are: a rate of 0.1 has 55 binary digits. Fractions of the
answer are as long as the products of such numbers over all states; whole rates make short ones.

References
----------
.. [1] A. George and J. W. H. Liu, "Computer solution of large sparse positive definite systems", Prentice
   Hall 1981, chapter 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from fairness.arguments.validation import FloatArray
from fairness.exact.linear_algebra import whole
from fairness.machine.work import OutOfTime, ProgressOption, stopped, watching
from queueing.exact_laws.balance_equations import Equations, Integers
from queueing.exact_laws.lifting import require_feasible, solve_sums
from queueing.model.finite_chain import FiniteChain, check_chain

__all__ = ["exact_means"]

REMEDY = "use enclose_chain, whose bounds are floats, or rates that are small whole numbers"


def exact_means(
    chain: FiniteChain,
    of: str | Sequence[str] | Mapping[str, ArrayLike] | None = None,
    *,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> dict[str, Fraction]:
    """Stationary means of a finite chain as fractions, proved.

    Parameters
    ----------
    chain : FiniteChain
        With one closed class; other states are transient, and their stationary probability is 0.
    of : str, sequence of str, or mapping of str to array_like of shape (n_states,), optional
        As in :func:`queueing.enclose_chain`.
    progress : None, bool or callable
        As in :func:`queueing.stationary`.
    time_limit : float, seconds, optional

    Returns
    -------
    dict of str to Fraction
        The means by name; of a label it is the probability.

    Raises
    ------
    ModelError
        If the chain has several closed classes, something that is asked for is unknown, or the solution takes
        too much memory or more than a week.
    NotConvergedError
        If the time is over.

    Examples
    --------
    A queue M/M/1/3 at load 1/2 loses a job in 15:

    >>> import numpy as np
    >>> from queueing import FiniteChain, exact_means
    >>> rates = np.diag([0.5] * 3, 1) + np.diag([1.0] * 3, -1)
    >>> queue = FiniteChain(rates, variables={"jobs": range(4)}, labels={"full": np.arange(4) == 3})
    >>> exact_means(queue, ["jobs", "full"])
    {'jobs': Fraction(11, 15), 'full': Fraction(1, 15)}
    """
    asked, names = check_chain(chain).asked(of)
    states = asked.closed_class
    part = asked if len(states) == asked.n_states else asked.part(states)
    scales: list[int] = []
    try:
        with watching(progress, time_limit):
            equations = _ChainEquations(part)
            weights = [equations.weights]
            for name in names:
                # Floats are fractions whose denominators are powers of 2.
                exact = [Fraction(value) for value in part.values(name)[equations.order].tolist()]
                scale = math.lcm(*(value.denominator for value in exact))
                whole = np.array([int(value * scale) for value in exact], dtype=object)
                weights += [equations.weights * np.maximum(sign * whole, 0) for sign in (1, -1)]
                scales.append(scale)
            total, *sums = solve_sums(equations, weights).values
    except (OutOfTime, KeyboardInterrupt) as stop:
        raise stopped(stop, "no mean is known", None) from None
    return {
        name: Fraction(gained - lost, scale * total)
        for name, scale, gained, lost in zip(names, scales, sums[::2], sums[1::2], strict=True)
    }


class _ChainEquations(Equations):
    """Integer rates of an irreducible chain.

    Attributes
    ----------
    order : ndarray of int, (n_states,)
        State of the chain that each number stands for.
    weights : object ndarray of int, (n_states,)
        As in :class:`queueing.exact_laws.balance_equations.BalanceEquations`.
    """

    def __init__(self, chain: FiniteChain) -> None:
        n = chain.n_states
        self.name, self.remedy = str(n), REMEDY
        rates = sparse.csr_array((chain.rates, chain.targets, chain.starts), shape=(n, n))
        self.order: NDArray[np.int64] = np.asarray(
            reverse_cuthill_mckee(sparse.csr_matrix(rates + rates.T), symmetric_mode=True), dtype=np.int64
        )
        place = np.empty(n, dtype=np.int64)
        place[self.order] = np.arange(n)
        sources = np.repeat(np.arange(n), np.diff(chain.starts))
        leads, target = place[sources], place[chain.targets]
        require_feasible(self.name, n, float(np.abs(leads - target).max(initial=1)), REMEDY)
        speeds, scales = np.empty(len(target), dtype=object), [Fraction(1)] * n
        for x in range(n):
            here = slice(chain.starts[x], chain.starts[x + 1])
            listed: FloatArray = chain.rates[here]
            if len(listed):
                scales[place[x]], speeds[here] = whole([Fraction(rate) for rate in listed.tolist()])
        self.weights: Integers = np.array(whole(scales)[1], dtype=object)
        # One line for each rate into a state, in the order of the states.
        by_target = np.argsort(target, kind="stable")
        incoming = np.bincount(target, minlength=n)
        line = np.arange(len(target)) - np.repeat(np.cumsum(incoming) - incoming, incoming)
        lines = max(1, int(incoming.max(initial=0)))
        self.sources, self.speeds = np.full((lines, n), -1), np.zeros((lines, n), dtype=object)
        self.sources[line, target[by_target]] = leads[by_target]
        self.speeds[line, target[by_target]] = speeds[by_target]
        self.out = np.zeros(n, dtype=object)
        np.add.at(self.out, leads, speeds)
