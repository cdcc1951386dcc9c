"""The front door: scenario files, command line, reports and explorer of the packages below it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
