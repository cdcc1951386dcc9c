"""Rigorous bounds of stationary means: what has to be found for a certificate, and the verbs."""
