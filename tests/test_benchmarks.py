"""The checks of the benchmarks can fail: what they measure is there."""

import numpy as np
import pytest

from benchmarks.bench_chain import _apart
from benchmarks.harness import rise_of_peak

MB = 1_000_000


@pytest.mark.long
def test_memory_is_measured_also_after_much_more_was_used():
    np.ones(50 * MB)  # 400 MB, released at once
    kept, rise = rise_of_peak(lambda: np.ones(10 * MB))
    # Pages are counted when they are written to; the interpreter takes a little besides.
    assert kept.nbytes <= rise < kept.nbytes + 20 * MB
    _, rise = rise_of_peak(lambda: None)
    assert rise < 20 * MB


@pytest.mark.long
def test_memory_of_a_chain_does_not_depend_on_what_its_parent_held():
    """Linux passes the peak of a process on to those that it starts: only a rise beyond it was seen."""
    held = np.ones(100 * MB)  # 800 MB, more than the child needs in all
    law = _apart("multilevel", 2, 400, 0.5)
    assert held[-1] == 1
    assert law["law"] == 400 * 400 * 8 / 1e9
    assert law["law"] <= law["memory"] < 0.3
    assert law["residual"] < 1e-11
