"""The cheapest servers that keep mean durations below their targets."""
