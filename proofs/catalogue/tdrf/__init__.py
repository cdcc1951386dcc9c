"""Statements on DRF with time constraints."""
