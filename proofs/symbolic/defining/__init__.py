"""What defines a policy's allocations, as relations in cases that a statement can use."""
