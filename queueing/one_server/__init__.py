"""One server and jobs of known or unknown sizes: mean durations in the orders of service, by formulas."""
