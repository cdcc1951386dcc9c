"""Totals of the mechanisms on servers in many states, without evidence for each."""
