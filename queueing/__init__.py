"""What happens under random traffic: queues, durations and service rates of coupled classes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
