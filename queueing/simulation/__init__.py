"""Simulation: counts, jobs with remaining work, whole tasks."""
