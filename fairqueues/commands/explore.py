"""``explore``: the page in the browser."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer

from fairqueues.console.inputs import read
from fairqueues.console.options import AnyFile
from fairqueues.errors import WrongUse

__all__ = ["explore"]


def explore(
    file: AnyFile = None,
    port: Annotated[int, typer.Option(min=0, max=65535)] = 0,
    browser: bool = True,
) -> None:
    """Move demands, capacities and loads on a local web page, and see at once what changes.

    Parameters
    ----------
    file : FILE
        Scenario to start from.
    port
        Port on this machine; 0 for a free one.
    browser
        Open the page.

    Examples
    --------
    $ fairqueues explore talk_unbalanced
    """
    if find_spec("bokeh") is None:
        raise WrongUse("explore needs bokeh; install it: pip install 'fairqueues[explore]'")
    scenario = None if file is None else read(file)

    from fairqueues.explorer import serve

    serve(scenario, port=port, open_browser=browser)
