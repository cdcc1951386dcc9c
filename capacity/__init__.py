"""Which loads fit: stability regions and their faces."""
