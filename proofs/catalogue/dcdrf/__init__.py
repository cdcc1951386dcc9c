"""Statements on DC-DRF."""
