"""``explore``: the page in the browser."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from fairqueues.console.inputs import read
from fairqueues.console.options import option, scenario_file
from fairqueues.errors import WrongUse

__all__ = ["explore"]


def explore(
    file: Annotated[Path | None, scenario_file("Scenario to start from.")] = None,
    port: Annotated[int, option("Port on this machine; 0 for a free one.", min=0, max=65535)] = 0,
    browser: Annotated[bool, option("Open the page.")] = True,
) -> None:
    """Move demands, capacities and loads on a local web page, and see at once what changes."""
    if find_spec("bokeh") is None:
        raise WrongUse("explore needs bokeh; install it: pip install 'fairqueues[explore]'")
    scenario = None if file is None else read(file)

    from fairqueues.explorer import serve

    serve(scenario, port=port, open_browser=browser)
