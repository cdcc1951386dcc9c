"""What a checker says when it does not accept a certificate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fairness.errors import FairqueuesError

__all__ = ["CertificateError"]


class CertificateError(FairqueuesError):
    """A certificate does not prove what it claims, or is none.

    Attributes
    ----------
    condition : str
        What fails: "data", or a condition of :mod:`queueing.certificates.checking`, such as "inside".
    state : tuple of int or None
        Counts at which it fails, where it is one state.
    """

    def __init__(
        self, condition: str, message: str, state: Iterable[int] | None = None, **place: Any
    ) -> None:
        self.condition = condition
        self.state = None if state is None else tuple(int(x) for x in state)
        where = "" if self.state is None else f" in state {self.state}"
        super().__init__(f"condition {condition!r}{where}: {message}", **place)
