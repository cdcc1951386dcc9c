"""What claims are written in: polynomials over the fractions, relations, quotients, sums, sequences.

The text of a relation becomes data by the school rules, in a few lines that a stranger can read.
"""
