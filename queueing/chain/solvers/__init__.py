"""Solvers of chains and the evidence for their answers."""
