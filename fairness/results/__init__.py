"""Allocations of pools and clusters with their evidence, and how they are drawn."""
