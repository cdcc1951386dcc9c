"""What can go wrong, in four words.

Every error message names the argument, the place in it, and the remedy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any, Self

__all__ = [
    "VERBS",
    "FairqueuesError",
    "InfeasibleError",
    "ModelError",
    "NotConvergedError",
    "PolicyError",
    "UnstableError",
    "advised",
    "unadvised",
]

VERBS = "add|change|drop|fewer|give|larger|longer|lower|more|raise|reduce|remove|set|smaller|use"
"""Words before the name of an argument in a remedy, as a pattern."""


class FairqueuesError(Exception):
    """Base class of all errors that fairqueues raises on purpose.

    Attributes
    ----------
    argument : str or None
        The argument that the message is about, where it is about one.
    index : tuple of int and str
        The entry of that argument: positions in an array, names in a mapping; empty for all of it.

    Examples
    --------
    >>> from fairness import Problem
    >>> try:
    ...     Problem([[1, 4], [3, -1]], [9, 18])
    ... except ModelError as error:
    ...     error.argument, error.index
    ('demands', (1, 1))
    """

    def __init__(self, message: str = "", *, argument: str | None = None, index: Iterable[Any] = ()) -> None:
        super().__init__(message)
        self.argument = argument
        self.index = tuple(int(k) if isinstance(k, Integral) else str(k) for k in index)

    @classmethod
    def of(cls, argument: str, said: str, *index: Any) -> Self:
        """Error about an argument, or an entry of it, whose message begins with the name of the argument.

        Examples
        --------
        >>> error = ModelError.of("weights", "must be > 0; got -1.0", 2)
        >>> str(error), error.argument, error.index
        ('weights must be > 0; got -1.0', 'weights', (2,))
        """
        return cls(f"{argument}{'' if said.startswith(':') else ' '}{said}", argument=argument, index=index)


class ModelError(FairqueuesError, ValueError):
    """The description of a model is wrong: a shape, a sign, a name, a size that memory cannot hold."""


class PolicyError(ModelError):
    """What a policy answers is no allocation: a shape, a sign, more than there is."""


class InfeasibleError(FairqueuesError):
    """The constraints of a well-formed problem contradict each other."""


class UnstableError(FairqueuesError):
    """The offered load exceeds what the resources can carry, so no stationary law exists.

    Attributes
    ----------
    direction : ndarray of shape (n_classes,) or None
        In which proportions jobs grow, where growth was seen below full load.
    """

    def __init__(self, message: str = "", *, direction: Any = None, **place: Any) -> None:
        super().__init__(message, **place)
        self.direction = direction


class NotConvergedError(FairqueuesError):
    """A solver stopped short of its tolerance.

    Attributes
    ----------
    best : object
        The best point found, in the form the solver would have returned.
    residual : float
        The residual of that point, on the scale of the requested tolerance.
    """

    def __init__(
        self, message: str, *, best: Any = None, residual: float = float("nan"), **place: Any
    ) -> None:
        super().__init__(message, **place)
        self.best = best
        self.residual = residual


@contextmanager
def advised(remedy: str, *lacking: str) -> Iterator[None]:
    """Give errors from inside another remedy where theirs names an argument that is ``lacking`` here.

    The remedy of a message stands behind its last semicolon. A word is an argument there behind a verb, or in
    a list: "counts of shape (..., 2)" names none.

    Examples
    --------
    >>> with advised("take method='bound'", "tail"):
    ...     raise ModelError("the box is too large; raise tail")
    Traceback (most recent call last):
    fairness.errors.ModelError: the box is too large; take method='bound'
    """
    try:
        yield
    except (ModelError, NotConvergedError) as error:
        said, _, theirs = str(error).rpartition("; ")
        names = rf"\b(?:{VERBS}|or|,|take) +(?:a |the |its )?(?:{'|'.join(lacking)})\b"
        if not said or not re.search(names, theirs):
            raise
        told: dict[str, Any] = {"argument": error.argument, "index": error.index}
        if isinstance(error, NotConvergedError):
            told |= {"best": error.best, "residual": error.residual}
        kind = NotConvergedError if isinstance(error, NotConvergedError) else ModelError
        raise kind(f"{said}; {remedy}", **told) from error


def unadvised(message: str) -> str:
    """A message without its remedy, where that is not in the hands of who reads it.

    Examples
    --------
    >>> unadvised("too short: it measures 3 units of time; give more events, twice as much")
    'too short: it measures 3 units of time'
    >>> unadvised("weights must be > 0; got -1.0")
    'weights must be > 0; got -1.0'
    """
    said, _, remedy = message.rpartition("; ")
    return said if said and re.match(rf"(?:{VERBS}|take)\b", remedy) else message
