"""A second time. Jobs that come and go: balanced fairness, and drifts of the fluid limit."""
