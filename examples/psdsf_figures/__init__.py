"""Pages of :mod:`examples.psdsf`."""
