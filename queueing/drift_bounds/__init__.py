"""Bounds of mean counts for any number of classes: drifts of quadratic functions, proved in fractions."""
