"""Exact rational geometry: linear programs, vertices, walks over polytopes."""
