"""How far the errors that results claim can be trusted: each claim against an exact or far better answer."""
