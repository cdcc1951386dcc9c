"""Pages of the gallery "Real clusters"."""
