"""Finding evidence. Floating point and search find it, exact arithmetic accepts it or not."""

from proofs.prover.settle import remember, settle

__all__ = ["remember", "settle"]
