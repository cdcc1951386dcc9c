"""The best possible: a lower bound for every policy, and a policy that comes near it."""
