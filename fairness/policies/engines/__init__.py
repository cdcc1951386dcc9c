"""What policies of pools compute with: filling, prices, paths of caps."""
