"""Sums of squares: certificates that no hint points to."""

from proofs.prover.squares.ladder import find_squares

__all__ = ["find_squares"]
