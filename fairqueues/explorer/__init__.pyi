from .model import (
    State as State,
)
from .server import (
    make_server as make_server,
)
from .server import (
    serve as serve,
)

__all__ = [
    "State",
    "make_server",
    "serve",
]
