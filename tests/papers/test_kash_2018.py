"""Kash, O'Shea, Volos, "DC-DRF: adaptive multi-resource sharing at public cloud scale", SoCC 2018.

DOI 10.1145/3267809.3267848; one test per statement that is about the library. What the paper claims is proved
or refuted in proofs.catalogue, rooms edrf and dcdrf. Its Figure 11 is tested with the controller.
"""

import math
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fairness.cloud import SparseDemands, edrf
from fairness.cloud.approximate import dcdrf
from fairness.cloud.controller import DeadlineController
from fairness.cloud.instances.profiles import PROFILES
from fairness.cloud.rounds import edrf_rounds
from proofs.definitions.cloud.rounds import algorithm_1, algorithm_2
from tests.fairness.cloud.instances import sparse_of

WORKED = [[F(1), F(0)], [F(1, 2), F(1)], [F(0), F(1)]]


def utility(bundle, demands):
    """Tasks that a bundle of resources supports."""
    return min(v / d for v, d in zip(bundle, demands, strict=True) if d > 0)


@st.composite
def instances(draw, weighted=True):
    """Demands with zeros, ties and scales; weights per tenant and resource that sum to 1 per resource."""
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    entry = st.one_of(st.just(0.0), st.sampled_from([1e-4, 0.1, 0.25, 1.0]), st.floats(1e-3, 1.0))
    rows = [draw(st.lists(entry, min_size=m, max_size=m).filter(any)) for _ in range(n)]
    weight = st.floats(0.01, 1.0) if weighted else st.just(1.0)
    weights = np.array([draw(st.lists(weight, min_size=m, max_size=m)) for _ in range(n)])
    return np.array(rows), weights / weights.sum(axis=0)


EPSILONS = st.one_of(st.just(0.0), st.floats(1e-6, 0.9))


def allocate(instance, epsilon):
    demands, weights = instance
    rows = sparse.csr_array(demands)
    return dcdrf(rows, epsilon, sparse.csr_array(np.where(demands > 0, weights, 0)), threads=1)


# Section 2: EDRF (after Parkes, Procaccia and Shah) ---------------------------------------------------------


def test_algorithm_1_worked_example():
    expected = [[F(3, 4), 0], [F(1, 4), F(1, 2)], [0, F(1, 2)]]
    printed = algorithm_1(WORKED)
    assert printed.held == expected
    assert printed.rounds == 2
    result = edrf_rounds(sparse_of(WORKED), threads=1)
    np.testing.assert_allclose(result.allocation().toarray(), np.array(expected, dtype=float), rtol=1e-15)
    # Two rounds, of 3/2 and 3/4.
    np.testing.assert_allclose(result.round_levels, [3 / 2, 9 / 4], rtol=1e-15)
    np.testing.assert_allclose(edrf(sparse_of(WORKED)).levels, [9 / 4, 3 / 2, 3 / 2], rtol=1e-15)


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


@given(instances())
@settings(max_examples=100, deadline=None)
def test_edrf_first_round_reaches_the_entitlements(instance):
    """sum_i rho_i d_ir <= sum_i w_ir = 1, so x_1 >= 1: hence the sharing incentive."""
    demands, weights = instance
    entitled = sparse.csr_array(np.where(demands > 0, weights, 0))
    # Weights sum to 1 up to rounding.
    assert (
        edrf_rounds(sparse.csr_array(demands), entitled, max_rounds=1, threads=1).round_levels[0] >= 1 - 1e-12
    )


def test_edrf_is_group_strategyproof_against_random_lies():
    """No coalition has a lie that pays for one member and costs none."""
    rng = np.random.default_rng(4)
    paid = 0
    for _ in range(400):
        demands = rng.random((4, 3)) * (rng.random((4, 3)) < 0.6)
        demands[~demands.any(axis=1), 1] = 1.0
        claimed = demands.copy()
        # A liar may also claim what it does not need, and hide what it does.
        lies = rng.random((2, 3)) * (rng.random((2, 3)) < 0.7)
        lies[~lies.any(axis=1), 0] = 1.0
        claimed[:2] = lies
        truth = edrf(sparse.csr_array(demands)).tasks[:2]
        held = edrf(sparse.csr_array(claimed)).allocation().toarray()[:2]
        got = np.array([utility(*pair) for pair in zip(held, demands[:2], strict=True)])
        assert not ((got >= truth * (1 - 1e-12)).all() and (got > truth * (1 + 1e-9)).any())
        paid += (got > truth * (1 + 1e-9)).any()
    # One liar can help another.
    assert paid > 0


# Section 3: Algorithm 2 -------------------------------------------------------------------------------------


@given(instances())
@settings(max_examples=100, deadline=None)
def test_with_epsilon_zero_it_is_edrf(instance):
    demands, weights = instance
    exact = edrf(sparse.csr_array(demands), sparse.csr_array(np.where(demands > 0, weights, 0)))
    np.testing.assert_allclose(allocate(instance, 0.0).tasks, exact.tasks, rtol=1e-12)


# Weights of 1 make all sums of the example exact in binary; 1e-14 is some roundings away from the threshold.
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.25 * (1 - 1e-14)])
def test_worked_example_below_the_threshold_is_exact(epsilon):
    result = dcdrf(sparse_of(WORKED), epsilon, np.ones(3), threads=1)
    np.testing.assert_array_equal(result.allocation().toarray(), [[3 / 4, 0], [1 / 4, 1 / 2], [0, 1 / 2]])
    assert result.rounds == 2


@pytest.mark.parametrize("epsilon", [0.25, 0.5, 0.99])
def test_worked_example_from_the_threshold_on_ends_after_one_round(epsilon):
    """A quarter of the first resource is left after round 1; line 16 asks for more than epsilon."""
    result = dcdrf(sparse_of(WORKED), epsilon, np.ones(3), threads=1)
    np.testing.assert_array_equal(result.allocation().toarray(), [[1 / 2, 0], [1 / 4, 1 / 2], [0, 1 / 2]])
    assert result.rounds == 1
    # So the first tenant could have more at nobody's cost.
    np.testing.assert_array_equal(result.free, [1 / 4, 0])


def test_timeout_ends_after_the_current_round():
    """Lines 19-21: whoever still grows keeps the level of the round that went on when time was up."""
    rng = np.random.default_rng(6)
    demands = rng.random((200, 40)) * (rng.random((200, 40)) < 0.08)
    demands[~demands.any(axis=1), 7] = 1.0
    rows = sparse.csr_array(demands)
    whole = dcdrf(rows, 0.0, threads=1)
    ticks = iter(range(1000))
    cut = dcdrf(rows, 0.0, deadline=2.5, clock=lambda: float(next(ticks)), threads=1)
    assert (cut.timed_out, whole.timed_out) == (True, False)
    # 1, 2 and 3 seconds after the start: the third round is the first that ends too late.
    assert cut.rounds == 3 < whole.rounds
    np.testing.assert_array_equal(cut.round_levels, whole.round_levels[:3])
    np.testing.assert_array_equal(cut.levels, np.minimum(whole.levels, whole.round_levels[2]))


def test_outer_loop_starts_at_zero_raises_after_a_timeout_and_lowers_otherwise():
    controller = DeadlineController(8.0)
    assert controller.epsilon == 0
    first = controller.observe(timed_out=True)
    assert first > 0
    second = controller.observe(timed_out=False)
    assert second < first
    assert controller.observe(timed_out=True) > second


def rounds_bound(ratio, epsilon):
    """Bound of Lemma 3.1 on the number of rounds: less than this."""
    return 1 + math.log(ratio) / math.log1p(-epsilon)


@pytest.mark.parametrize("epsilon", [0.5, 0.1, 0.01])
def test_lemma_3_1_needs_the_logarithm_of_the_ratio(epsilon):
    """Tenants of one resource each, loads falling by a little more than 1 - epsilon: the bound is met."""
    m = 40
    loads = (0.999 * (1 - epsilon)) ** np.arange(m)
    result = dcdrf(sparse.eye_array(m).tocsr(), epsilon, loads, threads=1)
    # Nobody shares a resource, so mu of the others does not change: it is frozen by itself.
    assert result.rounds == m
    bound = rounds_bound(loads[-1], epsilon)
    # The slack is that of 0.999.
    assert m < bound < m * (1 + math.log(0.999) / math.log1p(-epsilon)) + 1e-9
    # Loads that fall by less share rounds, two at a time or more.
    assert dcdrf(sparse.eye_array(m).tocsr(), epsilon, np.sqrt(loads), threads=1).rounds <= m // 2 + 1


@given(instances(), st.floats(0.01, 0.9))
@settings(max_examples=120, deadline=None)
def test_lemma_3_1_without_its_assumptions(instance, epsilon):
    """Levels of successive rounds differ by 1/(1 - epsilon) at least, whatever mu does.

    Where more than epsilon is left of a resource at the level y, its mu is at most (1 - epsilon)/y and never
    rises again; so it lasts to the level y/(1 - epsilon). The first round ends at the level 1/max mu, and the
    last one at 1/min rho or before, where a tenant alone has all of its dominant resource.
    """
    result = allocate(instance, epsilon)
    levels = result.round_levels
    # 1e-12: rounding of the levels.
    assert (levels[1:] >= levels[:-1] / (1 - epsilon) * (1 - 1e-12)).all()
    rho = result.growth * result.demands.largest
    mu = result.growth @ result.demands.matrix()
    assert result.rounds <= rounds_bound(rho.min() / mu.max(), epsilon) + 1e-9


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
    # It falls back to EDRF. With mu frozen the lemma would promise far less.
    mu = weights @ rows
    assert result.rounds > rounds_bound(mu.min() / mu.max(), 0.1) + 5


def test_whether_an_input_is_pathological_depends_on_epsilon():
    # The paper expects its outer loop to drive epsilon smaller then; a timeout raises it, which helps.
    rows, weights = decaying(40, 1 / 40)
    rounds = [dcdrf(rows, epsilon, weights, threads=1).rounds for epsilon in (0.1, 0.5, 0.7, 0.9)]
    assert rounds == sorted(rounds, reverse=True)
    assert rounds[-1] <= 6


@given(instances(), EPSILONS)
@settings(max_examples=120, deadline=None)
def test_every_tenant_demands_a_resource_allocated_up_to_epsilon(instance, epsilon):
    result = allocate(instance, epsilon)
    used = result.allocation().toarray().sum(axis=0)
    for row in instance[0]:
        # 1e-12: sums of a few rounded numbers.
        assert used[row > 0].max() >= 1 - epsilon - 1e-12
    assert used.max() <= 1 + 1e-12


@given(instances(), EPSILONS)
@settings(max_examples=120, deadline=None)
def test_demanders_of_the_bottleneck_gain_at_most_1_over_1_minus_epsilon(instance, epsilon):
    """The paper's gain of at most 1/(1 - epsilon), if all tenants of the bottleneck want more in proportion.

    "The tenant could get at most" refers to that case. Whoever is not joined by the others can gain more, as
    tenant 1 of the worked example does: half as much again, with epsilon = 1/4.
    """
    result = allocate(instance, epsilon)
    held = result.allocation().toarray()
    for row in instance[0]:
        needs = np.flatnonzero(row)
        bottleneck = needs[held.sum(axis=0)[needs].argmax()]
        most = 1 / held[:, bottleneck].sum()
        assert most <= 1 / (1 - epsilon) * (1 + 1e-12)


@given(instances(), EPSILONS)
@settings(max_examples=120, deadline=None)
def test_sharing_incentive_and_envy_freeness_are_kept(instance, epsilon):
    demands, weights = instance
    result = allocate(instance, epsilon)
    held = result.allocation().toarray()
    for i, row in enumerate(demands):
        assert result.tasks[i] >= utility(weights[i], row) * (1 - 1e-12)
        for j in range(len(demands)):
            scaled = weights[i] / weights[j] * held[j]
            assert utility(scaled, row) <= result.tasks[i] * (1 + 1e-12)


@given(instances())
@settings(max_examples=100, deadline=None)
def test_they_are_kept_at_a_timeout_too(instance):
    """The first round, which always ends, gives everybody the entitlement; levels are as fair as before."""
    demands, weights = instance
    rows, entitled = sparse.csr_array(demands), sparse.csr_array(np.where(demands > 0, weights, 0))
    ticks = iter(range(0, 1000, 10))
    result = dcdrf(rows, 0.0, entitled, deadline=5.0, clock=lambda: float(next(ticks)), threads=1)
    assert (result.rounds, result.timed_out) == (1, True)
    held = result.allocation().toarray()
    for i, row in enumerate(demands):
        assert result.tasks[i] >= utility(weights[i], row) * (1 - 1e-12)
        for j in range(len(demands)):
            scaled = weights[i] / weights[j] * held[j]
            assert utility(scaled, row) <= result.tasks[i] * (1 + 1e-12)


@given(instances(), EPSILONS)
@settings(max_examples=100, deadline=None)
def test_nobody_alone_can_take_more_than_epsilon(instance, epsilon):
    """Up to the resources discarded means: at most epsilon of some resource that the tenant demands."""
    result = allocate(instance, epsilon)
    for row in instance[0]:
        assert (result.free[row > 0]).min() <= epsilon + 1e-12


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
