"""Progressive filling: of pools in floats, and in fractions for whoever needs to know and not only nearly."""
