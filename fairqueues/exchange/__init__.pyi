from .chain_files import (
    generator as generator,
)
from .chain_files import (
    write_generator as write_generator,
)
from .problems import (
    parse_problem as parse_problem,
)
from .problems import (
    read_problem as read_problem,
)
from .problems import (
    write_problem as write_problem,
)
from .sparse import (
    sparse_demands as sparse_demands,
)

__all__ = [
    "generator",
    "parse_problem",
    "read_problem",
    "sparse_demands",
    "write_generator",
    "write_problem",
]
