"""Where counts live: boxes of states, and a policy tabulated on them."""
