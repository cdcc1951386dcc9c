"""The traffic: systems, laws of sizes, arrivals, recorded jobs."""
