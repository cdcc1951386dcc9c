"""Bounds without a chain: linear programs over moments, whose multipliers become proofs."""
