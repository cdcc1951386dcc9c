"""Properties that a policy may have: a checker for each, a search for counterexamples, and audit tables."""
