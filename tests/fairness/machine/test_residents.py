"""Objects on workers of Dask answer as objects here do, and a worker that is lost ends the computation."""

import os

import numpy as np
import pytest

from fairness import ModelError
from fairness.cloud import HARD_FAMILIES, dcdrf, edrf, edrf_blocks
from fairness.machine import residents as module
from fairness.machine.backends import BackendError
from fairness.machine.residents import Residents, residents
from tests.fairness.cloud.test_spread import same, written
from tests.processes import backend_of


class Cell:
    """Something that remembers."""

    def __init__(self):
        self.sum = 0

    def add(self, numbers):
        self.sum += int(numbers.sum())
        return np.array([self.sum])

    def give(self, factor):
        return [np.arange(3) * factor, np.arange(2) + factor]

    def take(self, pieces, offset):
        return self.sum + offset + sum(int(piece.sum()) for piece in pieces)

    def fail(self):
        raise ModelError.of("number", "is wrong")

    def die_if(self, told):
        if told:
            os._exit(3)


def talk(cells):
    large = np.arange(50_000)
    return (
        cells.ask("add", [(np.array([3]),), (np.array([4, 5]),)]),
        cells.tell("add", large),
        cells.exchange("give", "take", [(1,), (10,)], 100),
        cells.sent,
    )


def test_the_same_answers_and_bytes_here_and_on_dask():
    here = talk(Residents(Cell, 2))
    told = 2 * 50_000 * 8
    # Three and two numbers out, two and two answers back; pieces of two and three numbers change places.
    assert here[-1] == 24 + 16 + told + 16 + 16 + 24
    with backend_of("dask", processes=False), residents(Cell) as cells:
        there = talk(cells)
        assert (cells.number, len(module._here)) == (2, 2)
        with pytest.raises(ModelError, match="number is wrong"):
            cells.tell("fail")
        module._here.clear()
        with pytest.raises(BackendError, match="has lost its part of the data"):
            cells.tell("add", np.array([1]))
    assert repr(here) == repr(there)


@pytest.mark.long
def test_same_allocations_on_a_cluster_and_none_when_a_worker_dies(tmp_path):
    demands = HARD_FAMILIES["popular"](20_000, 2_000, rng=1)
    paths = written(tmp_path, demands, 5)
    with backend_of("dask", deaths=3):
        ours = edrf_blocks(paths, window=100)
        assert same(ours, edrf(demands))
        assert ours.machines == 2
        assert same(edrf_blocks(paths, epsilon=0.1), dcdrf(demands, 0.1, threads=1), 0.1)
        with pytest.raises(ModelError, match="nowhere"):
            edrf_blocks(["nowhere.npz"])
        with residents(Cell) as cells:
            cells.tell("add", np.array([1]))
            with pytest.raises(BackendError, match="died, and its part of the data"):
                cells.ask("die_if", [(False,), (True,)])
