"""Placements on a cluster for queues within queues."""
