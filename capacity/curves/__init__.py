"""Means of systems: under policies, against the load, each as well as the time allows.

``result`` (LoadCurves, Solved) -> ``load_curves`` (without a limit of time, at many workers, kept in a file),
``solve`` (in a given time). How one mean is found stands in :mod:`capacity.means`.
"""
