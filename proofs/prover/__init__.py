"""Finding evidence. Floating point and search find it, exact arithmetic accepts it or not."""

from proofs.prover.settle import settle

__all__ = ["settle"]
