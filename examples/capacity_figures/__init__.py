"""The pages of the capacity gallery, one module per topic."""
