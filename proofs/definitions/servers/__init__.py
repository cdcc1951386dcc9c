"""Several servers: PS-DSF, leximin shares, and what is claimed of them."""
