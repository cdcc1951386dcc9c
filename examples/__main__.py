"""Redraw the figures and tables of all sources: ``python -m examples --out out [--full]``."""

from __future__ import annotations

import sys

import examples.interrupted  # noqa: F401 (before what takes long to import)
from examples.clusters import SOURCE as CLUSTERS
from examples.dcdrf import SOURCE as DCDRF
from examples.drf import SOURCE as DRF
from examples.psdsf import SOURCE as PSDSF
from examples.regions import SOURCE as REGIONS
from examples.reproduce import command
from examples.statements import SOURCE as STATEMENTS
from examples.tdrf import SOURCE as TDRF
from examples.workshop import SOURCE as WORKSHOP

SOURCES = (WORKSHOP, PSDSF, DRF, TDRF, DCDRF, REGIONS, CLUSTERS, STATEMENTS)

if __name__ == "__main__":
    sys.exit(command(SOURCES, "examples"))
