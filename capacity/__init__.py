"""Which loads fit: stability regions of pools, clusters and whole tasks, verdicts, and sweeps."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
