"""What can go wrong with statements and their evidence."""

from __future__ import annotations

__all__ = ["EvidenceError", "ProofError"]


class ProofError(ValueError):
    """A statement, a size, a claim or a text of mathematics is malformed; the message says where."""


class EvidenceError(Exception):
    """Evidence does not prove what it is said to prove; the message says which line fails."""
