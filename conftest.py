"""Import proofs before pytest reads one of its modules a second time, with classes of their own."""

import proofs  # noqa: F401 - for its side effect
