from .chain_files import read_chain, write_chain
from .job_counts import generator, write_generator
from .problems import parse_problem, read_problem, write_problem
from .sparse import sparse_demands

__all__ = [
    "generator",
    "parse_problem",
    "read_chain",
    "read_problem",
    "sparse_demands",
    "write_chain",
    "write_generator",
    "write_problem",
]
