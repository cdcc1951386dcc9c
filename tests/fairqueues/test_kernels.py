"""The processes that compile all kernels, and draw the figures after that."""

import os
import threading

import numpy as np
import pytest
from joblib import Parallel, cpu_count, delayed

from fairqueues.kernels import KEPT

HELD = []


def grown():
    """The number of a process that holds 400 MB from now on, after more than a second."""
    if not HELD:
        HELD.append(np.ones(50_000_000))
    threading.Event().wait(1.2)
    return os.getpid()


@pytest.mark.long
@pytest.mark.timeout(120)
@pytest.mark.filterwarnings("default")  # of a thread of joblib, which would end by an error and be waited for
def test_a_process_that_holds_much_is_kept():
    # The memory of a process is compared with that after its first call, a second later at the soonest.
    list(Parallel(**KEPT)(delayed(os.getpid)() for _ in range(cpu_count())))
    pids = list(Parallel(**KEPT)(delayed(grown)() for _ in range(3 * cpu_count())))
    assert len(set(pids)) <= cpu_count()
