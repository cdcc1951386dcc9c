"""What a parameter sweep is made of.

``grid`` (the points), ``points`` (one point computed, and its record), ``results`` (records to a Dataset) ->
``sweep``. What is evaluated stands in :mod:`capacity.means`.
"""
