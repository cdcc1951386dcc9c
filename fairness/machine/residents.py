"""Objects that stay where their data is: one on each worker of a Dask cluster, or all of them here.

Each is asked by the name of a method (:meth:`Residents.ask`), all are told the same
(:meth:`Residents.tell`), and each can give all others a piece (:meth:`Residents.exchange`), which goes from
worker to worker. On Dask a call is a task that is bound to one worker, and the object stands in a table of
the worker's process. Neither an actor of Dask would do, whose methods cannot be given what lies on another
worker without taking it through here, nor an object that is the result of a task: Dask makes the results of
a lost worker anew, here without all that has happened to the object since, and nobody would notice. What a
lost worker held is gone, and that is an error.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from fairness.machine.backends import BackendError, Failure, active_client, leaving_the_thread

__all__ = ["Residents", "residents"]

_SECONDS = 1.0
"""Between two looks whether all workers are still there."""

_LARGE = 100_000
"""Bytes of arguments from which on workers hand them on to each other."""

_here: dict[tuple[str, int], Any] = {}
"""Of this process, if it is a worker: its objects, by the key of their cluster and their number."""


class Residents:
    """Objects in this process.

    Attributes
    ----------
    number : int
    sent : int
        Bytes of numbers in arguments, answers and pieces so far, whether or not they left a process.
    """

    def __init__(self, make: Callable[[], Any], number: int) -> None:
        self.number, self.sent = number, 0
        self._objects = [make() for _ in range(number)]

    def ask(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """What each answers to its arguments."""
        answers = [getattr(one, method)(*given) for one, given in zip(self._objects, arguments, strict=True)]
        self.sent += _size(arguments) + _size(answers)
        return answers

    def tell(self, method: str, *arguments: Any) -> list[Any]:
        """What each answers to the same arguments."""
        return self.ask(method, [arguments] * self.number)

    def exchange(self, give: str, take: str, arguments: Sequence[tuple[Any, ...]], *common: Any) -> list[Any]:
        """Each gives one piece to each (one call of ``give``); what ``take(pieces, *common)`` answers."""
        gifts = self.ask_quietly(give, arguments)
        self.sent += sum(_size(gift[v]) for w, gift in enumerate(gifts) for v in range(self.number) if v != w)
        pieces = [([gift[v] for gift in gifts], *common) for v in range(self.number)]
        return self.ask_quietly(take, pieces)

    def ask_quietly(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """As :meth:`ask`, of what is counted elsewhere."""
        before = self.sent
        answers = self.ask(method, arguments)
        self.sent = before
        return answers


class _OnDask(Residents):
    """One object on each worker of a cluster."""

    def __init__(self, make: Callable[[], Any], client: Any) -> None:
        self.sent, self._client, self._key = 0, client, uuid.uuid4().hex
        self._workers = sorted(client.ncores())
        self.number = len(self._workers)
        if not self._workers:
            raise BackendError("the cluster has no workers; start some, or wait for them")
        self._wait([self._submit(w, _settle, self._key, w, make) for w in range(self.number)])

    def ask(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """What each answers to its arguments."""
        self.sent += _size(arguments)
        return self._answers(
            [
                self._submit(w, _call, self._key, w, method, self._placed(given, [self._workers[w]]))
                for w, given in enumerate(arguments)
            ]
        )

    def tell(self, method: str, *arguments: Any) -> list[Any]:
        """What each answers to the same arguments."""
        self.sent += _size(arguments) * self.number
        given = self._placed(arguments, self._workers[:1])
        return self._answers(
            [self._submit(w, _call, self._key, w, method, given) for w in range(self.number)]
        )

    def exchange(self, give: str, take: str, arguments: Sequence[tuple[Any, ...]], *common: Any) -> list[Any]:
        """Each gives one piece to each (one call of ``give``); what ``take(pieces, *common)`` answers."""
        everybody = range(self.number)
        gifts = [
            self._submit(w, _call, self._key, w, give, self._placed(given, [self._workers[w]]))
            for w, given in enumerate(arguments)
        ]
        pieces = [[self._submit(w, _piece, gifts[w], v) for w in everybody] for v in everybody]
        told = self._placed(common, self._workers[:1])
        taken = [self._submit(v, _take, self._key, v, take, pieces[v], told) for v in everybody]
        answers = self._wait(taken)
        self.sent += sum(foreign for _, foreign in answers)
        return [answer for answer, _ in answers]

    def close(self) -> None:
        """Drop the objects, on the workers that are still there."""
        left = set(self._client.ncores())
        gone = [self._submit(w, _drop, self._key, w) for w in range(self.number) if self._workers[w] in left]
        self._wait(gone, left)

    def _submit(self, worker: int, function: Callable[..., Any], *arguments: Any) -> Any:
        return self._client.submit(function, *arguments, workers=[self._workers[worker]], pure=False)

    def _placed(self, arguments: Any, workers: list[str]) -> Any:
        """Large arguments go to one worker, from where the others get them."""
        if _size(arguments) < _LARGE:
            return arguments
        return self._client.scatter([arguments], workers=workers, hash=False)[0]

    def _answers(self, futures: list[Any]) -> list[Any]:
        answers = self._wait(futures)
        self.sent += _size(answers)
        return answers

    def _wait(self, futures: list[Any], needed: set[str] | None = None) -> list[Any]:
        """Results, unless a worker is lost meanwhile: a task that is bound to it would wait for ever."""
        with ThreadPoolExecutor(1) as pool:
            gathering = pool.submit(self._client.gather, futures)
            try:
                while not gathering.done():
                    if wait([gathering], _SECONDS).not_done:
                        self._look(needed or set(self._workers))
                results = gathering.result()
            except BackendError:
                raise
            except Exception as error:
                raise BackendError(
                    f"the backend failed, as when a worker dies ({type(error).__name__}: {error})"
                ) from error
            finally:
                if not gathering.done():
                    self._client.cancel(futures, force=True)
        for result in results:
            if isinstance(result, Failure):
                result.throw()
        return list(results)

    def _look(self, needed: set[str]) -> None:
        """Raise an error if a worker is gone."""
        lost = needed - set(self._client.ncores())
        if lost:
            raise BackendError(f"the worker {min(lost)} died, and its part of the data with it; start anew")


@contextmanager
def residents(make: Callable[[], Any]) -> Iterator[Residents]:
    """One object on each worker of the Dask cluster that joblib's active backend stands for; else one here.

    Parameters
    ----------
    make : callable
        Makes an object without arguments; the class, as a rule.

    Raises
    ------
    BackendError
        If there is no worker, or one dies before the end.

    Examples
    --------
    >>> with residents(list) as lists:
    ...     lists.tell("append", 5), lists.tell("count", 5)
    ([None], [1])
    """
    client = active_client()
    if client is None:
        yield Residents(make, 1)
        return
    with leaving_the_thread():
        there = _OnDask(make, client)
        try:
            yield there
        finally:
            with suppress(Exception):
                there.close()


def _size(thing: Any) -> int:
    """Bytes of the numbers in arrays, tuples and lists."""
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    return sum(_size(one) for one in thing) if isinstance(thing, tuple | list) else 8


def _settle(key: str, number: int, make: Callable[[], Any]) -> None:
    _here[key, number] = make()


def _drop(key: str, number: int) -> None:
    _here.pop((key, number), None)


def _call(key: str, number: int, method: str, arguments: tuple[Any, ...]) -> Any:
    """The answer of an object of this process, or what went wrong."""
    try:
        if (key, number) not in _here:
            raise BackendError("a worker was started anew and has lost its part of the data; start anew")
        return getattr(_here[key, number], method)(*arguments)
    except Exception as error:  # it is raised where the results are asked for
        return Failure(error)


def _piece(gift: Any, number: int) -> Any:
    return gift if isinstance(gift, Failure) else gift[number]


def _take(key: str, number: int, method: str, pieces: list[Any], common: tuple[Any, ...]) -> Any:
    """The answer to pieces of all, and how many bytes came from others."""
    for piece in pieces:
        if isinstance(piece, Failure):
            return piece
    foreign = sum(_size(piece) for w, piece in enumerate(pieces) if w != number)
    answer = _call(key, number, method, (pieces, *common))
    return answer if isinstance(answer, Failure) else (answer, foreign)
