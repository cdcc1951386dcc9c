"""Exact allocations and statements in fractions: the second opinion on a witness."""
