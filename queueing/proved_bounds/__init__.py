"""What certificates prove, and results that hold it."""
