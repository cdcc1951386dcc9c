"""What can go wrong, in four words.

Every error message names the argument, the place in it, and the remedy.
"""

from __future__ import annotations

from typing import Any

__all__ = ["FairqueuesError", "InfeasibleError", "ModelError", "NotConvergedError", "UnstableError"]


class FairqueuesError(Exception):
    """Base class of all errors that fairqueues raises on purpose."""


class ModelError(FairqueuesError, ValueError):
    """The description of a model is wrong: a shape, a sign, a name, a size that memory cannot hold."""


class InfeasibleError(FairqueuesError):
    """The constraints of a well-formed problem contradict each other."""


class UnstableError(FairqueuesError):
    """The offered load exceeds what the resources can carry, so no stationary law exists."""


class NotConvergedError(FairqueuesError):
    """A solver stopped short of its tolerance.

    Attributes
    ----------
    best : object
        The best point found, in the form the solver would have returned.
    residual : float
        The residual of that point, on the scale of the requested tolerance.
    """

    def __init__(self, message: str, *, best: Any = None, residual: float = float("nan")) -> None:
        super().__init__(message)
        self.best = best
        self.residual = residual
