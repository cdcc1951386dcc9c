"""Chains of sizes with phases."""
