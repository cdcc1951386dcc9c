"""Files of YARN's two schedulers."""
