"""Scenario files: one TOML file says what is shared, by whom, under which traffic, and what to compute."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
