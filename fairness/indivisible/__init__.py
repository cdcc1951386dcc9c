"""Whole tasks: filling task by task, on one pool and on the servers of a cluster."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
