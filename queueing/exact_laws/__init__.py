"""Exact laws: counts on a finite box, solved over the rationals and as functions of the load."""
