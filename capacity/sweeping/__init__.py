"""What a parameter sweep is made of.

``methods`` (what is evaluated), ``grid`` (the points), ``points`` (one point computed, and its record),
``results`` (records to a Dataset), ``backends`` (who computes the points).
"""
