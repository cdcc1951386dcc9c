"""Definitions of the papers in plain fractions, independent of the library.

Short, slow and obvious. Claims name these functions; the prover settles them with the library where it can,
and evidence is checked with these.
"""

from proofs.definitions.registry import Case, define, definition, fraction, fractions, plain

__all__ = ["Case", "define", "definition", "fraction", "fractions", "plain"]
