"""Policies of a pool with queues within queues."""
