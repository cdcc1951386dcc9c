"""Statements on DRF."""
