"""Statements of Bonald and Roberts."""
