"""Compiled filling and eviction at cloud scale: tiles, threads, compensated sums."""
