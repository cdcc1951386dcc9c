"""What an explanation is made of: what stops a class, and the cases in which it would have something else."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["VISIBLE", "Case", "Stop"]

VISIBLE = 1e-8
"""A change by a smaller part of the tasks is told as none: those are the last digits of solvers."""


@dataclass(frozen=True)
class Stop:
    """One thing that keeps a class from more tasks.

    Attributes
    ----------
    cause : {"resource", "no capacity", "limit", "no job", "maximum", "reserve", "policy"}
        A full resource; one of which there is nothing; the limit of the class; no job of it is present; the
        maximum of a queue above it; what is kept for a queue; or nothing that the model knows, so that it was
        the policy.
    server, resource : str
        Where; empty where it is no place, and the server on a pool.
    value : float
        What the policy compares or charges there, see ``measure``; the bound of a class or queue, or what is
        kept; NaN if it is none of these.
    measure : str
        What the value is, in words.
    together : tuple of str
        The other classes that are stopped there.
    queue : str
        Path of the queue whose bound it is.
    """

    cause: str
    server: str = ""
    resource: str = ""
    value: float = float("nan")
    measure: str = ""
    together: tuple[str, ...] = ()
    queue: str = ""


@dataclass(frozen=True)
class Case:
    """What a class would run in another case, found by asking the policy again.

    Attributes
    ----------
    kind : str
        "more" or "less" capacity, "weight", "demand", "limit", "servers", "queue", "jobs", "alone",
        "equal part" or "policy".
    words : str
        What is different.
    tasks, change : float
        What the class would run, and how much more that is; NaN if the case was refused.
    place : str
        Where capacity is added or taken, in words.
    amount : float, resource units
        How much of it.
    rate, rate_error : float, tasks per resource unit
        One-sided derivative towards the case, and how well it is known; NaN if it was not found.
    then : tuple of str
        What stops the class then, in words; empty where that was not asked, or not found.
    refusal : str
        Why the case has no answer.
    """

    kind: str
    words: str
    tasks: float
    change: float
    place: str = ""
    amount: float = float("nan")
    rate: float = float("nan")
    rate_error: float = float("nan")
    then: tuple[str, ...] = ()
    refusal: str = ""
