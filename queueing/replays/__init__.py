"""Replays: a recorded cluster's tasks, started again by a scheduler, one whole task after the other."""
