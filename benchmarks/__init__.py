"""The speed table: one module per topic, run by ``python -m benchmarks``."""
