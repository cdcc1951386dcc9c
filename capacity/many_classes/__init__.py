"""Regions of dozens of classes, whose vertices nobody can list: sections through a few classes, and volumes
by random walks."""
