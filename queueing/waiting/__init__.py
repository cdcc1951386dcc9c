"""Jobs that run whole and wait in order: who is in service, how much traffic fits, how long one waits."""
