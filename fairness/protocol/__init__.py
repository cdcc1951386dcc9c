"""What a policy is, for pools and for clusters, and how others ask it."""
