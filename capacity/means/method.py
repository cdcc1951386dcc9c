"""A method plans before it runs: it says what it would take, or why it cannot be taken.

*Time* is that of the wall, less what kernels take to be compiled, which is done once.
"""

from __future__ import annotations

import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from capacity.means.found import Found
from fairness.display.wording import rough
from fairness.machine.cores import available_cores
from fairness.machine.work import ASIDE
from queueing.model.system import System

__all__ = ["PART", "Effort", "Method", "Plan", "busy", "clock"]

PART = 0.6
"""Part of the time that is left which a method may take by its own guess."""


def clock() -> float:
    """Seconds, the compilation of kernels left out."""
    return time.monotonic() - ASIDE.seconds


def busy() -> float:
    """Times that work takes longer because others work on this machine, too."""
    working = os.getloadavg()[0] if hasattr(os, "getloadavg") else 1.0
    return max(1.0, working / available_cores())


@dataclass(frozen=True, eq=False)
class Effort:
    """What a cell may cost, and how well it is to be known.

    Attributes
    ----------
    seconds : float
        Infinite where the time does not matter.
    precision : float
        Relative error of the mean jobs that is small enough.
    rng : numpy Generator or seed
    n_jobs : int
        Replications of a simulation run at the same time.
    """

    seconds: float = math.inf
    precision: float = 0.0
    rng: Any = None
    n_jobs: int = 1

    @property
    def timed(self) -> bool:
        """Whether time matters."""
        return math.isfinite(self.seconds)

    @property
    def limit(self) -> float | None:
        """As verbs take a time limit."""
        return max(self.seconds, 0.0) if self.timed else None


@dataclass(frozen=True, eq=False)
class Plan:
    """What a method would do.

    Attributes
    ----------
    seconds : float
        About; 0 where it is little, or nothing is known.
    amount, unit : float and str
        The work.
    run : callable
        Of an Effort: does it.
    """

    seconds: float
    run: Callable[[Effort], Found]
    amount: float = 1.0
    unit: str = "step"

    @property
    def what(self) -> str:
        """The work in words."""
        return f"{rough(self.amount)} {self.unit}"


class Method(ABC):
    """One way to the means of a policy."""

    name: ClassVar[str]

    @abstractmethod
    def plan(self, system: System, policy: Any, effort: Effort) -> Plan | None:
        """What it would do; None if it is none for the cell, ModelError if it says why it cannot."""
