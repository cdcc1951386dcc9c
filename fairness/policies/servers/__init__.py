"""Policies that place the tasks of a cluster: :mod:`fairness.protocol.cluster_policy` says what one is."""
