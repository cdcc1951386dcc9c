"""Definitions of the papers a second time, by another way than the first.

A function here has the name of one in :mod:`proofs.definitions`, calls nothing of it, and is made known by
:func:`proofs.definitions.define_again`; checking runs both. Comparisons of what they give have no second
definition here: they are run on these (:func:`~proofs.definitions.registry.define_on_both`).
"""
