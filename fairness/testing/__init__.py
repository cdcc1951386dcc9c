"""The batteries that every policy passes: one for pools, one for clusters."""
