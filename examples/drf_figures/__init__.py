"""Pages of :mod:`examples.drf`."""
