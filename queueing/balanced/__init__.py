"""Balanced fairness: its law by recursion, tree or closed form, and the bound on durations."""
