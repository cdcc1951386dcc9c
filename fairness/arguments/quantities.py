"""Numbers as people, programs and Kubernetes write them: ``0.5``, ``1/3``, ``100m``, ``4Gi``, ``1e3``.

A quantity is a decimal number with a suffix: a power of 1000 (``n u m k M G T P E``), a power of 1024
(``Ki Mi Gi Ti Pi Ei``) or a decimal exponent [1]_. It becomes a fraction: nothing is rounded. What programs
record are decimal numbers, which become the nearest floats, and whole numbers, which become integers of 64
bits: those that do not fit are refused.

References
----------
.. [1] Kubernetes API, k8s.io/apimachinery/pkg/api/resource, type Quantity.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import lru_cache

__all__ = ["BINARY", "decimal", "fraction", "number", "quantity", "whole"]

_DECIMAL = {"n": -3, "u": -2, "m": -1, "": 0, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
"""Powers of 1024 by their suffix."""
_NUMBER = re.compile(
    r"([+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40}))(?:[eE]([+-]?[0-9]{1,2})|([A-Za-z]*))"
)
_PLAIN = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?([0-9]+))?")
_FRACTION = re.compile(r"[+-]?[0-9]{1,100}/0*[1-9][0-9]{0,99}")
LONGEST, LONGEST_EXPONENT = 400, 3
"""Signs of a number that is read exactly, and digits of its exponent."""


@lru_cache(maxsize=4096)
def quantity(text: str) -> Fraction:
    """Number of a quantity of Kubernetes.

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
    if found is None or (suffix not in _DECIMAL and suffix not in BINARY):
        raise ValueError(f"{text!r:.60} is no quantity; write one such as 2, 0.5, 100m, 4Gi or 1e3")
    amount = Fraction(found[1])
    if found[2]:
        return amount * Fraction(10) ** int(found[2])
    return amount * (
        Fraction(1024) ** BINARY[suffix] if suffix in BINARY else Fraction(1000) ** _DECIMAL[suffix]
    )


def number(text: str) -> Fraction:
    """Number of a quantity, or of a fraction such as "1/3".

    Raises
    ------
    ValueError
        If the text is neither.

    Examples
    --------
    >>> number("1/3"), number("0.1")
    (Fraction(1, 3), Fraction(1, 10))
    """
    if _FRACTION.fullmatch(text.strip()):
        return Fraction(text.strip())
    try:
        return quantity(text)
    except ValueError:
        raise ValueError(f"{text!r:.60} is no number; write one such as 2, 0.5, 1/3, 100m or 4Gi") from None


def decimal(text: str) -> float:
    """The float that is nearest to a decimal number.

    Raises
    ------
    ValueError
        If the text is none, or beyond all floats.

    Examples
    --------
    >>> decimal("60.5"), decimal("1e3")
    (60.5, 1000.0)
    """
    found = float(text) if _PLAIN.fullmatch(text) else math.nan
    if not math.isfinite(found):
        raise ValueError(f"must be a {'finite ' * math.isinf(found)}number; got {text!r:.60}")
    return found


def fraction(text: str) -> Fraction:
    """The fraction that a text of a file is, ``1/3``, ``0.1`` or ``1e-6``; none that would fill the memory.

    Raises
    ------
    ValueError
        If the text is none, has more than 400 signs or an exponent of more than three digits.
    ZeroDivisionError
        If the denominator is 0.

    Examples
    --------
    >>> fraction("1/3"), fraction("0.1")
    (Fraction(1, 3), Fraction(1, 10))
    >>> fraction("1e999999999")
    Traceback (most recent call last):
        ...
    ValueError: must be a number of at most 400 signs, its exponent below 1000; got '1e999999999'
    """
    _, e, exponent = text.lower().partition("e")
    if len(text) > LONGEST or (e and len(exponent.strip().lstrip("+-")) > LONGEST_EXPONENT):
        told = f"at most {LONGEST} signs, its exponent below {10**LONGEST_EXPONENT}"
        raise ValueError(f"must be a number of {told}; got {text!r:.60}")
    return Fraction(text)


def whole(text: str) -> int:
    """A whole number that 64 bits can hold, exactly; ``1e3`` and ``5.0`` are whole, too.

    Raises
    ------
    ValueError
        If the text is none.

    Examples
    --------
    >>> whole("9007199254740993"), whole("5.0")
    (9007199254740993, 5)
    """
    written = _PLAIN.fullmatch(text)
    # Longer ones are out of range, or no numbers that a program writes: they would take long to be read.
    short = written is not None and len(text) < LONGEST and len(written[1] or "") <= LONGEST_EXPONENT
    found = Fraction(text) if short else None
    if written is None or (found is not None and found.denominator > 1):
        raise ValueError(f"must be a whole number; got {text!r:.60}")
    if found is None or not -(2**63) <= found < 2**63:
        raise ValueError(f"must be a whole number within 64 bits; got {text!r:.60}")
    return int(found)
