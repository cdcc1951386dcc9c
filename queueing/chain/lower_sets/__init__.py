"""Chains of many classes on sets of states that are cut off by faces across the classes."""
