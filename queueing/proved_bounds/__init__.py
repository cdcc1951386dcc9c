"""Bounds of stationary means that a certificate proves, as results."""
