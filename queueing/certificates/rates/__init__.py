"""Intervals that hold the tasks of a state, computed from what the policies are by definition."""
