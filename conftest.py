"""What holds for all tests and doctests."""

import gc
import os
import sys

import pytest

# Before numpy is imported: those who run tests beside each other have a core each.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import proofs  # noqa: F401 - before pytest reads one of its modules a second time, with classes of their own

# Thousands of tests and their modules stay until the end: looking through them again and again takes a tenth.
gc.set_threshold(100_000, 50, 50)


def pytest_collection_finish() -> None:
    """What is collected stays: nobody looks for garbage in it."""
    gc.freeze()


@pytest.fixture(autouse=True)
def _figures_are_closed():
    """No test finds the figures of another."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
