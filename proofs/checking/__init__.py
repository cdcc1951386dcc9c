"""Checking evidence again, with code that shares nothing with the prover.

Nothing here imports :mod:`proofs.prover` or the library; refutations and witnesses are recomputed in plain
fractions, and only queries to an SMT solver need one (z3, from the extra ``exact``).
"""

from proofs.checking.verdicts import verify, verify_finding

__all__ = ["verify", "verify_finding"]
