from .chain_files import read_chain, write_chain
from .job_counts import generator, write_generator
from .problems import parse_problem, read_problem, write_problem
from .schedulers.cluster_files import ImportedCluster, read_cluster
from .sparse import sparse_demands

__all__ = [
    "ImportedCluster",
    "generator",
    "parse_problem",
    "read_chain",
    "read_cluster",
    "read_problem",
    "sparse_demands",
    "write_chain",
    "write_generator",
    "write_problem",
]
