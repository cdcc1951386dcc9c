"""Closed forms as functions of arrays, as text, LaTeX and pictures."""
