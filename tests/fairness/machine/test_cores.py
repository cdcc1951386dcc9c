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
    before, known = threads(), []
    steps = [threading.Event() for _ in range(3)]

    def first():
        with one_thread_of_blas():
            known.append(threads())
            steps[0].set()
            steps[1].wait(60)
        steps[2].set()

    def second():
        steps[0].wait(60)
        with one_thread_of_blas():
            known.append(threads())
            steps[1].set()
            steps[2].wait(60)

    workers = [threading.Thread(target=work) for work in (first, second)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert known == [{1}, {1}]
    assert threads() == before
