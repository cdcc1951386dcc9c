"""Definitions of the papers in plain fractions, independent of the library.

Short, slow and obvious. Claims name these functions; the prover settles them with the library where it can,
and evidence is checked with these, and with those of :mod:`proofs.definitions.second` where there are two.
What only compares their values is written once and run on both.
"""

from proofs.definitions.registry import (
    BY_LIBRARY,
    Case,
    define,
    define_again,
    definition,
    fraction,
    fractions,
    is_of_papers,
    plain,
    second_definition,
    second_method,
)

__all__ = [
    "BY_LIBRARY",
    "Case",
    "define",
    "define_again",
    "definition",
    "fraction",
    "fractions",
    "is_of_papers",
    "plain",
    "second_definition",
    "second_method",
]
