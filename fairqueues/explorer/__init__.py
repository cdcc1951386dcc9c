"""A local web page on which a person moves demands, capacities and loads and sees what follows.

``model`` is what the page shows (validated, pure), ``fields`` reads it from text, ``views`` computes the data
of each figure, ``figures`` and ``drawing`` draw them (in the page with Bokeh, as SVG with matplotlib),
``page`` joins them and ``server`` serves them on this machine only.
"""

from fairqueues.explorer.model import State
from fairqueues.explorer.server import make_server, serve

__all__ = ["State", "make_server", "serve"]
