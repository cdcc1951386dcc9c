"""Pages of examples/dcdrf.py."""
