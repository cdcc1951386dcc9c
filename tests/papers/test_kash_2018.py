"""Kash, O'Shea, Volos, "DC-DRF: adaptive multi-resource sharing at public cloud scale", SoCC 2018.

DOI 10.1145/3267809.3267848; one test per statement that is about the library. What the paper claims is proved
or refuted in proofs.catalogue, rooms edrf and dcdrf. Its Figure 11 is tested with the controller.
"""

import math
import time
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from examples.dcdrf_figures.measuring import least_seconds
from fairness.cloud import SparseDemands, edrf
from fairness.cloud.approximate import dcdrf
from fairness.cloud.controller import DeadlineController
from fairness.cloud.instances.profiles import PROFILES
from fairness.cloud.rounds import edrf_rounds
from proofs.definitions.cloud.rounds import algorithm_2
from tests.fairness.cloud.instances import sparse_of

WORKED = [[F(1), F(0)], [F(1, 2), F(1)], [F(0), F(1)]]


def test_the_first_run_of_a_time_does_not_count(monkeypatch):
    """Seconds on pages: the least of two or more after the first, or a run too long to be disturbed."""

    def measured(*durations, **options):
        now, left = [0.0], list(durations)
        monkeypatch.setattr(time, "perf_counter", lambda: now[0])

        def work():
            now[0] += left.pop(0)
            return len(durations) - len(left)

        return least_seconds(work, **options)

    # Runs of these seconds, what is told, and how many there were.
    assert measured(9.0, 2.0, 1.5, 8.0, lasting=0.05) == (3, 1.5)
    assert measured(9.0, 0.25, 0.5, 0.125, 8.0, lasting=0.8) == (4, 0.125)
    assert measured(0.5, 2.0, 1.0, 8.0) == (3, 1.0)
    assert measured(11.0, 1.0) == (1, 11.0)
    assert measured(0.5, 7.0, 1.0, limit=6.0) == (2, 7.0)


# Section 2: EDRF (after Parkes, Procaccia and Shah) ---------------------------------------------------------


def test_algorithm_1_takes_at_most_one_round_per_resource():
    rng = np.random.default_rng(1)
    for _ in range(100):
        demands = rng.random((12, 6)) * (rng.random((12, 6)) < 0.4)
        demands[~demands.any(axis=1), 0] = 1.0
        assert edrf_rounds(sparse.csr_array(demands), threads=1).rounds <= 6


def test_section_2_3_symmetric_demands_take_one_round():
    """ "DRF may complete in a small number of rounds for highly symmetric demand matrices"."""
    rng = np.random.default_rng(2)
    row = rng.uniform(0.1, 1, 5)
    assert edrf_rounds(sparse.csr_array(np.tile(row, (20, 1))), threads=1).rounds == 1
    # So do demands without zeros, whoever has them: the first full resource stops everybody.
    demands = rng.uniform(0.1, 1, (20, 5))
    result = edrf_rounds(sparse.csr_array(demands), threads=1)
    rate = 1 / demands.max(axis=1) / 20
    assert result.rounds == 1
    np.testing.assert_allclose(result.tasks, rate / (rate @ demands).max(), rtol=1e-13)


def test_section_2_4_aggregated_tenants_lose():
    """A and B share r2 only; as one tenant, B stops with r1, which it does not demand."""
    a, b = [F(1), F(1, 2), F(0)], [F(0), F(1, 4), F(1, 2)]
    apart = edrf(sparse_of([a, b])).allocation().toarray()
    np.testing.assert_allclose(apart, [[1, 1 / 2, 0], [0, 1 / 2, 1]], rtol=1e-15)
    together = edrf(sparse_of([[p + q for p, q in zip(a, b, strict=True)]]))
    np.testing.assert_allclose(together.allocation().toarray(), [[1, 3 / 4, 1 / 2]], rtol=1e-15)
    np.testing.assert_allclose(together.free, [0, 1 / 4, 1 / 2], atol=1e-15)


def test_section_2_4_early_termination_leaves_resources_idle():
    # 99 resources of the profile's kind and one ten times as popular.
    rng = np.random.default_rng(3)
    rows = np.repeat(np.arange(400), 5)
    columns = np.where(rng.random(2000) < 0.1, 0, rng.integers(1, 100, 2000))
    matrix = sparse.coo_array((np.full(2000, 0.5), (rows, columns)), shape=(400, 100)).tocsr()
    matrix.sum_duplicates()
    matrix.data = np.minimum(matrix.data, 1.0)
    one, full = edrf_rounds(matrix, max_rounds=1, threads=1), edrf(matrix)
    # "The most demanded resources are fully allocated", the others far from it.
    assert one.free.min() == 0
    np.testing.assert_array_equal(one.levels, one.round_levels[0])
    assert one.utilization < 0.5 * full.utilization
    assert one.unfinished > 0


# Section 3: Algorithm 2 -------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.25, 0.5, 0.99])
def test_worked_example_from_the_threshold_on_ends_after_one_round(epsilon):
    """A quarter of the first resource is left after round 1; line 16 asks for more than epsilon."""
    result = dcdrf(sparse_of(WORKED), epsilon, np.ones(3), threads=1)
    np.testing.assert_array_equal(result.allocation().toarray(), [[1 / 2, 0], [1 / 4, 1 / 2], [0, 1 / 2]])
    assert result.rounds == 1
    # So the first tenant could have more at nobody's cost.
    np.testing.assert_array_equal(result.free, [1 / 4, 0])


def test_outer_loop_starts_at_zero_raises_after_a_timeout_and_lowers_otherwise():
    controller = DeadlineController(8.0)
    assert controller.epsilon == 0
    first = controller.observe(timed_out=True)
    assert first > 0
    second = controller.observe(timed_out=False)
    assert second < first
    assert controller.observe(timed_out=True) > second


def decaying(m, part):
    """Tenant t fills resource t and takes a little of all later ones; each weighs half of the one before."""
    rows = np.triu(np.full((m, m), part), 1) + np.eye(m)
    return sparse.csr_array(rows), 0.5 ** np.arange(m)


def test_pathological_inputs_need_a_round_per_resource():
    """Loads that begin within a constant factor and decay so that each round exhausts one resource only."""
    m = 40
    rows, weights = decaying(m, 1 / m)
    result = dcdrf(rows, 0.1, weights, threads=1)
    assert result.rounds == m
    np.testing.assert_allclose(result.levels, edrf(rows, weights).levels, rtol=1e-12)
    # It falls back to EDRF. With mu frozen the bound of Lemma 3.1 would promise far less.
    mu = weights @ rows
    assert result.rounds > 1 + math.log(mu.min() / mu.max()) / math.log1p(-0.1) + 5


def test_whether_an_input_is_pathological_depends_on_epsilon():
    # The paper expects its outer loop to drive epsilon smaller then; a timeout raises it, which helps.
    rows, weights = decaying(40, 1 / 40)
    rounds = [dcdrf(rows, epsilon, weights, threads=1).rounds for epsilon in (0.1, 0.5, 0.7, 0.9)]
    assert rounds == sorted(rounds, reverse=True)
    assert rounds[-1] <= 6


# Sections 2.2, 4 and 5: figures in the text -----------------------------------------------------------------


def test_footnote_3_two_numbers_of_4_bytes_are_enough():
    demands = SparseDemands(sparse.csr_array(np.array([[0.5, 0.0, 1.0]], dtype=np.float32)))
    assert demands.columns.itemsize + demands.values.itemsize == 8


@pytest.mark.parametrize("name", ["U0", "U1", "U2", "G0", "G1", "G2"])
def test_table_3_profiles(name):
    """Vectors of 2 to 128 demands (the captions of Figures 3 and 7 say 0 to 128)."""
    law = PROFILES[name].length_law()
    assert law.shape == (127,)
    assert law.sum() == pytest.approx(1, rel=1e-12)
    # U is uniform; G models small tenants.
    assert (np.ptp(law) < 1e-15) == (name[0] == "U")
    assert law[0] >= law[-1]
    shares = {"0": (0, 0, 1), "1": (0.5, 0, 0.5), "2": (0.5, 0.3, 0.2)}[name[1]]
    profile = PROFILES[name]
    assert (profile.first_pod, profile.second_pod, profile.anywhere) == shares


def test_all_small_instances_with_ties():
    """Every demand matrix of two tenants and two resources over {0, 1/2, 1}, and thresholds that are hit."""
    rows = [row for row in product([F(0), F(1, 2), F(1)], repeat=2) if any(row)]
    for pair in product(rows, repeat=2):
        for epsilon in (F(0), F(1, 4), F(1, 2)):
            printed = algorithm_2(list(pair), epsilon, [F(1), F(1)]).tasks(pair)
            result = dcdrf(sparse_of(pair), float(epsilon), np.ones(2), threads=1)
            # 1e-15: levels of 2/3 are rounded; those that meet a threshold are sums of powers of 2.
            np.testing.assert_allclose(result.tasks, np.array(printed, dtype=float), rtol=1e-15)
