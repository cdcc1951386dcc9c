"""Sharing at cloud scale: up to millions of tenants that each demand a few of very many resources."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
