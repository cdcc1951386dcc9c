"""Who gets how much: fair allocations of a pool or of a cluster of servers, each with its certificate."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
