"""The search for counterexamples: instances, search, shrinking, and audit tables."""
