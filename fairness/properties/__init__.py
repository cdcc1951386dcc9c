"""Properties that a policy may have: a checker for each, a search for counterexamples, and audit tables."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
