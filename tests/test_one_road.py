"""What falls into parts, on Dask with two workers of whom one dies: as in one process."""

import os
from dataclasses import dataclass

import joblib
import pytest

from benchmarks.claims.cluster import told
from capacity import search_instability
from capacity.studies.instability import RandomSystems
from fairness import DRF, Problem
from fairness.properties import audit
from proofs import check_all
from queueing import System, simulate, tabulate
from tests.processes import at_once, backend_of

POOL = Problem([[1, 0.1], [0.1, 1]], [1, 1])
SYSTEM = System(POOL, [0.3, 0.4])
STATEMENTS = ["br-feasible", "br-mmf-scale-invariant", "br-two-classes"]


@dataclass
class DiesOnce:
    """DRF; the first process but this one that asks is gone."""

    home: int
    died: str
    name: str = "DRF that dies"

    def __call__(self, problem, counts):
        if os.getpid() != self.home:
            try:
                os.close(os.open(self.died, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return DRF()(problem, counts)
            os._exit(3)
        return DRF()(problem, counts)


KINDS = {
    "replications": lambda policy, n: simulate(
        SYSTEM, policy, jobs=2000, replications=4, start=[99, 0], n_jobs=n, rng=1
    ),
    "table": lambda policy, n: tabulate(POOL, policy, (70, 70), n_jobs=n),
    "instability": lambda policy, n: search_instability(
        policy, RandomSystems(3, 2, load=(0.8, 0.9)), 4, rng=1, n_jobs=n
    ),
    "audit": lambda policy, n: audit([policy], ["SI", "PE"], budget=40, rng=1, n_jobs=n),
    "statements": lambda policy, n: check_all(STATEMENTS, n_jobs=n),
}


@pytest.mark.long
def test_a_worker_that_dies_changes_nothing(tmp_path):
    policies = {kind: DiesOnce(os.getpid(), str(tmp_path / kind)) for kind in KINDS}

    def call():
        with backend_of("dask", deaths=3), joblib.parallel_config(backend="dask"):
            return {kind: KINDS[kind](policy, 2) for kind, policy in policies.items()}

    (there,) = at_once(1, call)
    for kind, policy in policies.items():
        assert (tmp_path / kind).exists() == (kind != "statements"), kind
        assert told(there[kind]) == told(KINDS[kind](policy, 1)), kind
