"""Resources that Kubernetes counts in bytes, and the unit in which their amounts are whole."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from fairness.arguments.quantities import BINARY

__all__ = ["byte_unit", "is_bytes"]


def is_bytes(resource: str) -> bool:
    """Whether Kubernetes counts a resource in bytes.

    Examples
    --------
    >>> is_bytes("memory"), is_bytes("spot/ephemeral-storage"), is_bytes("nvidia.com/gpu")
    (True, True, False)
    """
    name = resource.rpartition("/")[2]
    return name in ("memory", "ephemeral-storage", "storage") or name.startswith("hugepages-")


def byte_unit(amounts: Iterable[Fraction]) -> tuple[str, int]:
    """The largest binary unit in which all amounts of bytes are whole, and its bytes.

    Examples
    --------
    >>> byte_unit([Fraction(2**31), Fraction(3 * 2**20)])
    ('MiB', 1048576)
    """
    positive = [amount for amount in amounts if amount > 0]
    for name, power in reversed(BINARY.items()):
        if positive and all((amount / 1024**power).denominator == 1 for amount in positive):
            return f"{name}B", 1024**power
    return "B", 1
