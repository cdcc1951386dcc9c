"""What threads of this package ask of the cores."""

import threading

import numpy as np
from threadpoolctl import threadpool_info

from fairness.machine.cores import one_thread_of_blas


def threads():
    assert (np.eye(2) @ np.eye(2)).trace() == 2  # BLAS is there
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


def test_blas_has_its_threads_again_when_the_last_one_leaves():
    """Two threads come and go in turn: each of two limits alone would leave that of the other behind."""
    before = threads()
    inside, first_out = threading.Event(), threading.Event()

    def other():
        with one_thread_of_blas():
            inside.set()
            first_out.wait(60)
            assert threads() == {1}

    one = threading.Thread(target=other)
    with one_thread_of_blas():
        one.start()
        assert inside.wait(60)
        assert threads() == {1}
    first_out.set()
    one.join(60)
    assert threads() == before
