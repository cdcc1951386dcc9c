"""Random traffic with letters: stability, drifts, balanced fairness, mean counts of small boxes."""
