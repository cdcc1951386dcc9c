"""How laws of counts and of durations are drawn."""
