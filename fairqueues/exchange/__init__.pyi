from .chain_files import generator, write_generator
from .problems import parse_problem, read_problem, write_problem
from .sparse import sparse_demands

__all__ = ["generator", "parse_problem", "read_problem", "sparse_demands", "write_generator", "write_problem"]
