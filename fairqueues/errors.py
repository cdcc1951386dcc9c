"""What the front door was given and cannot use, and the exit codes that say so."""

from __future__ import annotations

__all__ = ["FAILED", "INTERRUPTED", "WRONG_USE", "OutputError", "WrongUse"]

FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130


class WrongUse(Exception):
    """The command was given something that it cannot use; the message says what and how to repair it."""


class OutputError(WrongUse, OSError):
    """A file cannot be written."""
