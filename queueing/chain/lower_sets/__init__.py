"""Chains of five classes and more, on sets of states cut off by faces across the classes."""
