"""The fluid limit: drifts, trajectories, Lyapunov functions, verdicts of stability."""
