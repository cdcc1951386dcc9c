"""Closed forms of the policies, one family per file: each gives cells of a problem with letters."""
