"""What policies of clusters compute with: leximin levels, markets, water-filling."""
