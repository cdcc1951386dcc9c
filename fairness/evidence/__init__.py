"""Certificates: the definitions that an allocation is checked against, apart from all solvers."""
