"""Regions of loads, exactly: facets, vertices, volume."""
