"""Interoperability: problems in JSON, sparse demands in units, generators for Matrix Market, PRISM and Storm.

Graphs of networkx need nothing of this: :func:`queueing.topology.data_network` and
:func:`queueing.topology.tcp_acknowledgements` take them as they are, one resource per link.
"""

from fairqueues.exchange.chain_files import generator, write_generator
from fairqueues.exchange.problems import parse_problem, read_problem, write_problem
from fairqueues.exchange.sparse import sparse_demands

__all__ = [
    "generator",
    "parse_problem",
    "read_problem",
    "sparse_demands",
    "write_generator",
    "write_problem",
]
