"""The command line: one file per command, and what they share (options, outcome, delivery, progress)."""
