"""A local web page on which a person moves demands, capacities and loads and sees what follows.

``model`` is what the page shows (validated, pure), ``fields`` and ``links`` read and write it as text,
``views`` computes the data of each figure, ``figures`` and ``drawing`` draw them (in the page with Bokeh, as
SVG with matplotlib), ``page`` joins them and ``server`` serves them on this machine only.
"""

from fairness.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
