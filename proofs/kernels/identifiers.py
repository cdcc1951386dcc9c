"""Names that Coq takes: letters of ASCII, none of its words, no two alike; signs, and comments."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["COMPARED", "identifiers", "safe"]

COMPARED = {">=": "0 <= {}", ">": "0 < {}", "==": "{} = 0", "!=": "{} <> 0"}
"""How Coq compares a term with 0, by sign."""

_COQ = """
CoFixpoint Definition Fixpoint Hypothesis Parameter Theorem Variable
as at by cofix else end exists exists2 fix for forall fun if IF in is let match mod return then using where
with SProp Prop Set Type R IZR pow Rmult_le_pos Rmult_lt_0_compat Rplus_le_le_0_compat Rplus_lt_le_0_compat
Rlt_le pow2_ge_0 le_by_contradiction lt_by_contradiction eq_by_contradiction square_of_nonzero
multiple_of_zero contradiction absurd negated denied claim claimed witness S M In
le_as lt_as eq_as ne_as INR total total_ext total_plus total_scale
total_not_negative total_zero total_exchange zero_multiple nat list
"""
RESERVED = frozenset(_COQ.split())
"""Words of Coq, and the names that the proofs use."""
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_USED = re.compile(r"[ABEHKPQRST][0-9]+|[BN]|IH")
"""Hypotheses, terms, sums and equations, as the proofs number them."""


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """A name for each of these: the same one where it can be, in the order of the alphabet.

    Examples
    --------
    >>> identifiers(["x", "in", "ρ", "H1", "br-feasible"])
    {'H1': 'H1_', 'br-feasible': 'br_feasible', 'in': 'in_', 'x': 'x', 'ρ': 'u3c1'}
    """
    given: dict[str, str] = {}
    # Those that stay as they are come first: no other name takes theirs.
    for name in sorted(names, key=lambda name: (_usable(name) != name, name)):
        usable = _usable(name)
        while usable in given.values():
            usable += "_"
        given[name] = usable
    return dict(sorted(given.items()))


def safe(text: str) -> str:
    """Text for a comment of Coq: no quotation marks, and no brackets of comments within."""
    return text.replace('"', "'").replace("(*", "( *").replace("*)", "* )")


def _usable(name: str) -> str:
    plain = "".join(c if c.isascii() and (c.isalnum() or c == "_") else _spelt(c) for c in name)
    if not _PLAIN.fullmatch(plain):
        plain = f"v{plain}"
    return f"{plain}_" if plain in RESERVED or _USED.fullmatch(plain) else plain


def _spelt(character: str) -> str:
    return "_" if character.isascii() else f"u{ord(character):x}"
