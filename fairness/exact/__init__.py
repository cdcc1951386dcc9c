"""Exact rational geometry: elimination, linear programs, vertices, facets and volumes of polytopes.

All of it in integers or fractions of any size; what is guessed in floats elsewhere is proved here.
"""
