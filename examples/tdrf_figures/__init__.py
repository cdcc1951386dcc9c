"""Pages of :mod:`examples.tdrf`."""
