"""What the front door was given and cannot use."""

from __future__ import annotations

__all__ = ["OutputError", "WrongUse"]


class WrongUse(Exception):
    """The command was given something that it cannot use; the message says what and how to repair it."""


class OutputError(WrongUse, OSError):
    """A file cannot be written."""
