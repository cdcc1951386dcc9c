"""Statements on per-server dominant-share fairness."""
