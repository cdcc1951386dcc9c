"""What a property is, and the one reading of models that all of them share."""
