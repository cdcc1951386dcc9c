from .model import State
from .server import make_server, serve

__all__ = ["State", "make_server", "serve"]
