"""Redraw the figures and tables of all sources: ``python -m examples --out out [--quick]``."""

from __future__ import annotations

import sys

from examples.reproduce import command
from examples.workshop import SOURCE as WORKSHOP

SOURCES = (WORKSHOP,)

if __name__ == "__main__":
    sys.exit(command(SOURCES, "examples"))
