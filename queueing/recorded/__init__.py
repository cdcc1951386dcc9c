"""Recorded clusters: what was asked of them, task by task, and their nodes, as arrays."""
