"""Statements on EDRF and whole bundles."""
