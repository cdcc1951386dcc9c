"""Progressive filling in fractions, for whoever needs to know what it gives and not only nearly."""
