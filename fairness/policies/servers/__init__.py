"""Policies that place the tasks of a cluster: :mod:`.protocol` says what such a policy is."""
