"""The open questions, with numbers: heavy traffic, instability, maps."""
