"""Values that the library computes, for claims whose definitions :mod:`proofs.definitions` gives again."""

from proofs.prover.library.values import library_value

__all__ = ["library_value"]
