"""The properties, one file each, and their catalogue."""
