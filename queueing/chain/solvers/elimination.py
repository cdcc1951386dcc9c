r"""The stationary law of a finite chain by elimination without subtractions (Grassmann, Taksar and Heyman).

States are numbered :math:`0, \dots, N - 1`, and :math:`q_{xy}` is the rate from :math:`x` to :math:`y`. From
the last state down, state :math:`n` is eliminated: the chain watched outside of it has the rates

.. math:: q_{xy} + q_{xn}\, q_{ny} / s_n, \qquad s_n = \sum_{y < n} q_{ny}, \qquad x, y < n ,

and in the end :math:`\pi_0 \propto 1`, :math:`\pi_n = \sum_{x < n} \pi_x\, q_{xn} / s_n` [1]_. Only positive
numbers are added, multiplied and divided, so that *every* probability comes out with a relative error of a
few roundings, however far apart the rates are: states that are left once in a thousand years and states that
are left every microsecond keep all their digits [2]_. A factorisation of :math:`Q`, whose diagonal holds the
sums of the rates, loses as many digits as the rates span decades.

If no rate leads further than :math:`b` numbers away (the *bandwidth*), elimination fills a band only:
:math:`N b^2` multiplications and :math:`N b` to :math:`2 N b` numbers. On a box of counts the longest axis
comes first, so that :math:`b` is the product of the others.

References
----------
.. [1] W. K. Grassmann, M. I. Taksar and D. P. Heyman, "Regenerative analysis and steady state distributions
   for Markov chains", Operations Research 33(5), 1985. DOI 10.1287/opre.33.5.1107.
.. [2] C. A. O'Cinneide, "Entrywise perturbation theory and error analysis for Markov chains", Numerische
   Mathematik 65, 1993. DOI 10.1007/BF01385743.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from fairness.machine.compiling import UNCOUNTED, compiled_as, inlined, part, stored
from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.states.lower_set import LowerSet

__all__ = [
    "Numbering",
    "birth_death_law",
    "box_bandwidth",
    "eliminate",
    "eliminate_box",
    "eliminate_counts",
    "eliminated",
    "elimination_bytes",
    "given_order",
    "narrow_order",
]

PIECE = 2e8
"""Multiplications between two looks at the clock."""
SPEED = 2e9
"""Multiplications per second."""
STEPS = 5
"""Microseconds per state and place of the band, interpreted."""
LARGE = 1e200
"""Weights beyond this are scaled down."""


def box_bandwidth(shape: Sequence[int]) -> int:
    """How far apart neighbours are numbered on a box whose longest axis comes first."""
    return math.prod(shape) // max(shape) if shape else 0


def elimination_bytes(states: float, band: int) -> float:
    """Bytes that elimination takes at its peak."""
    return 8.0 * (band + 3.0) * states + 8.0 * (band + 2.0) * band


@dataclass(frozen=True)
class Numbering:
    """States of counts as they are numbered for elimination: by the count of the longest axis first.

    Attributes
    ----------
    place : ndarray of shape (n_states,)
        Place of each number in the set.
    less : ndarray of shape (n_classes, n_states)
        Number with one job of the class less, -1 where there is none.
    band : int
        How far apart the numbers of neighbours are, at least 1.
    """

    place: NDArray[np.int64]
    less: NDArray[np.int64]
    band: int

    @classmethod
    def of(cls, states: LowerSet) -> Numbering:
        """Number the states of a set."""
        counts = states.counts()
        longest = np.argsort(-np.array(states.shape), kind="stable")
        place = np.lexsort(counts[:, longest[::-1]].T)
        number = np.empty_like(place)
        number[place] = np.arange(len(place))
        less = np.full((states.n_classes, len(place)), -1)
        for i, row in enumerate(less):
            counts[:, i] -= 1
            there = states.places(counts)[place]
            counts[:, i] += 1
            row[there >= 0] = number[there[there >= 0]]
        band = np.max(np.arange(len(place)) - less, where=less >= 0, initial=1)
        return cls(place, less, int(band))


def eliminate_counts(up: FloatArray, down: FloatArray, numbering: Numbering) -> FloatArray:
    """Stationary law of counts that move one at a time.

    Parameters
    ----------
    up : ndarray of shape (n, 1) or (n, n_states), jobs per unit of time
        Birth rates, constant or per state; what would leave the set does not happen.
    down : ndarray of shape (n, n_states), jobs per unit of time
        Death rates. From every state there must be a way to the empty one.
    numbering : Numbering

    Returns
    -------
    ndarray of shape (n_states,)
    """
    size, band = len(numbering.place), numbering.band
    upper, lower = np.zeros((size, band)), np.zeros((band + 2, band))
    births = np.broadcast_to(up, numbering.less.shape)
    for rates, less in zip(births, numbering.less, strict=True):
        here = np.flatnonzero(less >= 0)
        upper[here, here - less[here] - 1] = rates[numbering.place[less[here]]]
    eliminate_piece = _eliminate_counts.small(STEPS * band, size)
    for top, bottom in _pieces(size, band):
        eliminate_piece(down, numbering.place, numbering.less, upper, lower, top, bottom)
    law = np.empty(size)
    law[numbering.place] = _weighed(upper)
    # By numpy, which adds in pairs: one by one, a million tiny weights would be lost beside a large one.
    law /= law.sum()
    return law


def eliminate_box(up: FloatArray, down: FloatArray, shape: Sequence[int]) -> FloatArray:
    """Stationary law on a box of counts by :func:`eliminate_counts`; shape (n_states,), in C order."""
    return eliminate_counts(up, down, Numbering.of(LowerSet.box(shape)))


def birth_death_law(birth: FloatArray, death: FloatArray) -> FloatArray:
    """Law of a chain on 0, ..., K - 1: ``birth[k]`` from k to k + 1 and ``death[k]`` back, shape (K - 1,)."""
    law = _weighed(np.concatenate([[0.0], birth / death])[:, None])
    law /= law.sum()
    return law


def narrow_order(rates: sparse.csr_array) -> tuple[NDArray[np.int64], int]:
    """An order of the states that keeps neighbours near each other, and the bandwidth in it.

    That of Cuthill and McKee, or the given one where it is as good.
    """
    order = reverse_cuthill_mckee(sparse.csr_array(rates), symmetric_mode=False).astype(np.int64)
    narrow, given = _numbered(rates, order), given_order(rates)
    return narrow if narrow[1] < given[1] else given


def given_order(rates: sparse.csr_array) -> tuple[NDArray[np.int64], int]:
    """The states as they come, and the bandwidth."""
    return _numbered(rates, np.arange(rates.shape[0]))


def _numbered(rates: sparse.csr_array, order: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    rows, columns = sparse.coo_array(rates).coords
    place = np.argsort(order)
    return order, int(np.max(np.abs(place[rows] - place[columns]), initial=1))


def eliminate(rates: sparse.csr_array, order: NDArray[np.int64], band: int) -> FloatArray:
    """Stationary law of any irreducible chain.

    Parameters
    ----------
    rates : sparse array of shape (n_states, n_states)
        Rates from row to column, >= 0, without a diagonal.
    order : ndarray of shape (n_states,)
        The states as they are numbered for elimination, see :func:`narrow_order`.
    band : int
        Bandwidth in this order.

    Returns
    -------
    ndarray of shape (n_states,)
    """
    return eliminated(rates, order, band)[0]


def eliminated(
    rates: sparse.csr_array, order: NDArray[np.int64], band: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Stationary law as :func:`eliminate` gives it, and the two halves of the band when all is eliminated.

    Of the states as they are numbered, row n of the first half holds at place k the rate from n - k - 1 to n
    over s_n, of the second the rate from n to n - k - 1, both in the chain watched on 0, ..., n.
    """
    size = len(order)
    place = np.empty_like(order)
    place[order] = np.arange(size)
    entries = sparse.coo_array(rates)
    rows, columns = (place[k] for k in entries.coords)
    upper, lower = np.zeros((2, size, band))
    rises, falls = columns > rows, columns < rows
    upper[columns[rises], columns[rises] - rows[rises] - 1] = entries.data[rises]
    lower[rows[falls], rows[falls] - columns[falls] - 1] = entries.data[falls]
    eliminate_piece = _eliminate_band.small(STEPS * band, size)
    for top, bottom in _pieces(size, band):
        eliminate_piece(upper, lower, top, bottom)
    ordered, law = _weighed(upper), np.empty(size)
    law[order] = ordered / ordered.sum()
    return law, upper, lower


def _pieces(size: int, band: int) -> Iterator[tuple[int, int]]:
    """Numbers of the states to be eliminated, from the top, and who watches told after each piece."""
    work, piece = float(size) * band**2, max(1, int(PIECE / band**2))
    what = f"elimination of {size:,} states"
    watched = Task(what, size, "states", work / SPEED, "take fewer states, or Multilevel()")
    with watched if work > PIECE else nullcontext():
        for top in range(size, 0, -piece):
            bottom = max(0, top - piece)
            yield top, bottom
            if work > PIECE:
                watched.advance(top - bottom)


@stored(**UNCOUNTED)
def _eliminate_band(upper: FloatArray, lower: FloatArray, top: int, bottom: int) -> None:
    """Eliminate the states below ``top`` of a chain whose rates lie in a band, see :func:`_remove`."""
    last = max(bottom, 1)
    number = top - 1
    while number > last:
        _remove_two(upper, lower, number)
        number -= 2
    if number == last:
        _remove(upper, lower, number)


@inlined
def _loop(other: FloatArray, part: float, source: FloatArray) -> None:
    """What :func:`_add` is when it is compiled."""
    # Slices, whose indices need no checks: the loop over them is vectorised.
    for j in range(other.size):
        other[j] += part * source[j]


@compiled_as(lambda other, part, source: lambda other, part, source: _loop(other, part, source))
def _add(other: FloatArray, part: float, source: FloatArray) -> None:
    """Add a multiple to a row: at once, or number after number, with the same bits."""
    other += part * source


@inlined
def _loop_of_two(
    other: FloatArray, part: float, source: FloatArray, again: float, second: FloatArray
) -> None:
    """What :func:`_add_both` is when it is compiled."""
    for j in range(other.size):
        other[j] = (other[j] + part * source[j]) + again * second[j]


@compiled_as(lambda o, p, s, a, t: lambda o, p, s, a, t: _loop_of_two(o, p, s, a, t))
def _add_both(other: FloatArray, part: float, source: FloatArray, again: float, second: FloatArray) -> None:
    """Add multiples of two rows to a row, which is read and written once where it is compiled."""
    other += part * source
    other += again * second


@inlined
def _add_two(other: FloatArray, part: float, source: FloatArray, again: float, second: FloatArray) -> None:
    """Add multiples of two rows to a row; one that is not asked for may have overflowed."""
    if part > 0 and again > 0:
        _add_both(other, part, source, again, second)
    elif part > 0:
        _add(other, part, source)
    elif again > 0:
        _add(other, again, second)


@part
def _leave(upper: FloatArray, lower: FloatArray, number: int) -> int:
    """Make the rates into a state parts of the rate out of it; how many states below it there are."""
    out, into = lower[number % lower.shape[0]], upper[number]
    reach = min(number, upper.shape[1])
    total = 0.0
    for k in range(reach):
        total += out[k]
    for k in range(reach):
        # No way down: a state whose law underflows, without weight.
        into[k] = into[k] / total if total > 0 else 0.0
    return reach


@part
def _remove(upper: FloatArray, lower: FloatArray, number: int) -> None:
    """Eliminate a state: upper[y, k] is the rate from y - k - 1 to y, lower[y, k] that from y to y - k - 1.

    The lower rows lie in a ring, that of state y in row y % len(lower).
    """
    ring = lower.shape[0]
    reach = _leave(upper, lower, number)
    out, into = lower[number % ring], upper[number]
    for k in range(reach - 1):
        width = reach - k - 1
        low, up = lower[(number - 1 - k) % ring][:width], upper[number - 1 - k][:width]
        if into[k] > 0:
            _add(low, into[k], out[k + 1 : reach])
        if out[k] > 0:
            _add(up, out[k], into[k + 1 : reach])


@part
def _remove_two(upper: FloatArray, lower: FloatArray, number: int) -> None:
    """Eliminate a state and the one before it, passing once over those below instead of twice."""
    ring = lower.shape[0]
    reach = _leave(upper, lower, number)
    out, into = lower[number % ring][:reach], upper[number][:reach]
    low, up = lower[(number - 1) % ring], upper[number - 1]
    if into[0] > 0:
        _add(low[: reach - 1], into[0], out[1:])
    if out[0] > 0:
        _add(up[: reach - 1], out[0], into[1:])
    further = _leave(upper, lower, number - 1)
    for k in range(further - 1):
        row, width = number - 2 - k, reach - k - 2
        place = row % ring
        end = k + 1 + width
        _add_two(lower[place][:width], into[k + 1], out[k + 2 :], up[k], low[k + 1 : end])
        _add_two(upper[row][:width], out[k + 1], into[k + 2 :], low[k], up[k + 1 : end])
        if width < further - k - 1:  # what only the second of the two reaches
            if up[k] > 0:
                lower[place, width] += up[k] * low[end]
            if low[k] > 0:
                upper[row, width] += low[k] * up[end]


@stored(nogil=True)
def _weights(upper: FloatArray) -> FloatArray:
    """Weights of the states from the eliminated band, not yet normalised."""
    law = np.empty(len(upper))
    law[0] = 1.0
    for number in range(1, len(law)):
        value = 0.0
        for k in range(min(number, upper.shape[1])):
            value += law[number - 1 - k] * upper[number, k]
        law[number] = value
        if value > LARGE:
            # A loop: numba takes seconds to compile the same of a slice.
            for k in range(number + 1):
                law[k] /= value
    return law


def _weighed(upper: FloatArray) -> FloatArray:
    """Weights of the states, by numba where there are many."""
    weights: FloatArray = _weights.small(upper.shape[1], len(upper))(upper)
    return weights


@stored(**UNCOUNTED)
def _eliminate_counts(
    down: FloatArray,
    place: NDArray[np.int64],
    less: NDArray[np.int64],
    upper: FloatArray,
    lower: FloatArray,
    top: int,
    bottom: int,
) -> None:
    """Band of a set of counts, eliminated from ``top`` to ``bottom``; see :class:`Numbering`."""
    n, size = less.shape
    band = upper.shape[1]
    ring = lower.shape[0]
    number, entered = top - 1, size if top == size else max(0, top - band)
    while number >= bottom:
        two = number > max(bottom, 1)
        # The rows that come within reach; the places of the ring that they take are those of eliminated ones.
        while entered > max(0, number - band - two):
            entered -= 1
            row = lower[entered % ring]
            row[:] = 0.0
            for i in range(n):
                other = less[i, entered]
                if other >= 0:
                    row[entered - other - 1] = down[i, place[entered]]
        if two:
            _remove_two(upper, lower, number)
            number -= 1
        elif number > 0:
            _remove(upper, lower, number)
        number -= 1
