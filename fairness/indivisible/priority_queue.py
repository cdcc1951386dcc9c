"""Who comes next: the candidate with the lowest key, and what happens at ties.

In every filling by shares the keys only rise: a class gains tasks and never loses one, and what is free only
shrinks. Hence a heap of old keys will do: the first of the heap is looked at again, goes back if its key has
risen since, and is the lowest otherwise. For the same reason a task that does not fit never will.

Ties decide outcomes, so they are a parameter: the first class, a given order of the classes, or a candidate
drawn at random. In a rational model equal means equal; in a float model keys within
:data:`~fairness.indivisible.free_resources.ROUNDING` of the lowest are tied with it.
"""

from __future__ import annotations

import heapq
import numbers
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from fairness.errors import ModelError
from fairness.indivisible.free_resources import ROUNDING, Number

__all__ = ["LowestFirst", "Ties", "check_order", "make_ties"]

Candidate = TypeVar("Candidate", bound=Hashable)


class Ties:
    """How one of several equally entitled candidates is chosen."""

    def __init__(self, order: Sequence[int], rng: np.random.Generator | None, *, exact: bool) -> None:
        self.place = {n: k for k, n in enumerate(order)}
        self.rng = rng
        self.exact = exact

    def ceiling(self, key: Number) -> Number:
        """Largest key that is tied with this lowest one."""
        return key if self.exact else key * float(1 + ROUNDING)

    def pick(self, tied: Sequence[Candidate], rank: Callable[[Candidate], Any]) -> int:
        """Position of the chosen one; ``rank`` orders the candidates where nothing is drawn."""
        if self.rng is not None and len(tied) > 1:
            return int(self.rng.integers(len(tied)))
        return min(range(len(tied)), key=lambda k: rank(tied[k]))


def make_ties(ties: str | Sequence[int], rng: np.random.Generator, n_classes: int, *, exact: bool) -> Ties:
    """Ties from the arguments of a public function.

    Raises
    ------
    ModelError
        If ``ties`` is neither "first" nor "random" nor a permutation of the classes.
    """
    if not isinstance(ties, str):
        return Ties(check_order("ties", ties, n_classes, "class"), None, exact=exact)
    if ties not in ("first", "random"):
        raise ModelError.of(
            "ties", f"must be 'first', 'random' or the class numbers in order of precedence; got {ties!r}"
        )
    return Ties(range(n_classes), rng if ties == "random" else None, exact=exact)


def check_order(name: str, order: Sequence[int], size: int, what: str) -> list[int]:
    """Return the numbers as a list, or refuse them unless they are a permutation."""
    given = list(order) if isinstance(order, Iterable) else [order]
    whole = all(isinstance(k, numbers.Integral) for k in given)
    if not whole or sorted(given) != list(range(size)):
        raise ModelError.of(name, f"must list each {what} number 0..{size - 1} once; got {order!r}")
    return [int(k) for k in given]


class LowestFirst(Generic[Candidate]):
    """Candidates, handed out by lowest current key; keys may only rise.

    Parameters
    ----------
    candidates : iterable
    key : callable
        Current key of a candidate.
    rank : callable
        Order among ties.
    ties : Ties
    """

    def __init__(
        self,
        candidates: Iterable[Candidate],
        key: Callable[[Candidate], Number],
        rank: Callable[[Candidate], Any],
        ties: Ties,
    ) -> None:
        self._key, self._rank, self._ties = key, rank, ties
        self._heap: list[tuple[Number, Any, Candidate]] = [(key(c), rank(c), c) for c in candidates]
        heapq.heapify(self._heap)

    def push(self, candidate: Candidate) -> None:
        """Put a candidate back."""
        heapq.heappush(self._heap, (self._key(candidate), self._rank(candidate), candidate))

    def pop(self) -> Candidate | None:
        """Take out the candidate with the lowest key, or None if there is nobody."""
        heap = self._heap
        tied: list[tuple[Number, Any, Candidate]] = []
        while heap and not (tied and heap[0][0] > self._ties.ceiling(tied[0][0])):
            known, rank, candidate = heapq.heappop(heap)
            now = self._key(candidate)
            if now > known:
                heapq.heappush(heap, (now, rank, candidate))
                continue
            tied.append((now, rank, candidate))
            # Equal keys leave the heap by rank, so the first is the chosen one.
            if self._ties.exact and self._ties.rng is None:
                break
        if not tied:
            return None
        chosen = tied.pop(self._ties.pick([entry[2] for entry in tied], self._rank))
        for entry in tied:
            heapq.heappush(heap, entry)
        return chosen[2]
