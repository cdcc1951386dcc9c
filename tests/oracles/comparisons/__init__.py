"""Comparisons of the catalogue written again, on the second definitions of what they compare."""
