"""Interoperability: problems in JSON, sparse demands in units, generators for Matrix Market, PRISM and Storm,
and clusters from the files of schedulers.

Graphs of networkx need nothing of this: :func:`queueing.networks.topology.data_network` and
:func:`queueing.networks.topology.tcp_acknowledgements` take them as they are, one resource per link.
"""

from fairness.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
