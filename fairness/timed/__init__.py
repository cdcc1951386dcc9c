"""Jobs that join and leave in time and bring contributions: TDRF, exchange, timelines."""
