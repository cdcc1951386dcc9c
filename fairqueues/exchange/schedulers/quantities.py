"""Quantities of Kubernetes as fractions: ``100m``, ``4Gi``, ``1e3``.

A quantity is a decimal number with a suffix: a power of 1000 (``n u m k M G T P E``), a power of 1024
(``Ki Mi Gi Ti Pi Ei``) or a decimal exponent [1]_. Nothing is rounded.

References
----------
.. [1] Kubernetes API, k8s.io/apimachinery/pkg/api/resource, type Quantity.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

__all__ = ["byte_unit", "is_bytes", "quantity"]

_DECIMAL = {"n": -3, "u": -2, "m": -1, "": 0, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_NUMBER = re.compile(
    r"([+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40}))(?:[eE]([+-]?[0-9]{1,2})|([A-Za-z]*))"
)


@lru_cache(maxsize=4096)
def quantity(text: str) -> Fraction:
    """Number of a quantity.

    Raises
    ------
    ValueError
        If the text is none; the message says what one is.

    Examples
    --------
    >>> quantity("100m"), quantity("1.5Gi"), quantity("1e3"), quantity("2E")
    (Fraction(1, 10), Fraction(1610612736, 1), Fraction(1000, 1), Fraction(2000000000000000000, 1))
    """
    found = _NUMBER.fullmatch(text.strip())
    suffix = found[3] or "" if found else ""
    if found is None or (suffix not in _DECIMAL and suffix not in _BINARY):
        raise ValueError(f"{text!r:.60} is no quantity; write one such as 2, 0.5, 100m, 4Gi or 1e3")
    number = Fraction(found[1])
    if found[2]:
        return number * Fraction(10) ** int(found[2])
    return number * (
        Fraction(1024) ** _BINARY[suffix] if suffix in _BINARY else Fraction(1000) ** _DECIMAL[suffix]
    )


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
    for name, power in reversed(_BINARY.items()):
        if positive and all((amount / 1024**power).denominator == 1 for amount in positive):
            return f"{name}B", 1024**power
    return "B", 1
