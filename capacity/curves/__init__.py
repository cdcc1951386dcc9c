"""Means against the load: mean service rates, durations and jobs of several methods over a range of loads.

``point`` (one method at one load: chain, else simulation) -> ``result`` (LoadCurves) -> ``verb``
(load_curves).
"""
