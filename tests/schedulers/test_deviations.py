"""Where schedulers depart from their own definitions: the numbers of docs/theory/schedulers.md."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

from fairness import Tree
from fairness.schedulers import (
    armada_fair_shares,
    dominant_share,
    kai_fair_shares,
    kai_gpus,
    kueue_shares,
    mesos_order,
    volcano_deserved,
    volcano_hdrf,
    yarn_drf_order,
    yarn_fair_shares,
    yunikorn_compare,
    yunikorn_queue_order,
    yunikorn_share,
    yunikorn_shares,
)


@pytest.mark.parametrize(
    ("total", "n_queues", "share", "given"),
    [(40, 3, F(40, 3), 42), (64, 100, F(16, 25), 100), (10**12, 3, F(10**12, 3), 10**12 + 45_056)],
)
def test_yarn_gives_more_than_there_is(total, n_queues, share, given):
    assert set(yarn_fair_shares(F(total), [1] * n_queues)) == {share}
    assert yarn_fair_shares(total, [1] * n_queues, as_coded=True).sum() == given


def test_yarn_gives_two_cores_of_one():
    """TestFairSchedulerFairShare (commit 0097b15), ...WithDRF...: 10 cores, weights 8, 1 (parentB) and 1.

    Both children of parentB are asserted to have a tenth of the cores, and a twentieth of the memory.
    """
    parent = yarn_fair_shares(10, [8, 1, 1], as_coded=True)[1]
    children = yarn_fair_shares(parent, [1, 1], as_coded=True)
    assert (parent, children.tolist()) == (1, [1, 1])
    assert yarn_fair_shares(yarn_fair_shares(F(10), [8, 1, 1])[1], [1, 1]).tolist() == [F(1, 2), F(1, 2)]


def test_yarn_weights_are_single_precision():
    """Schedulable.getWeight() is a float: .1 is some 1.5e-9 more than a tenth, .3 some 1.2e-8 more."""
    assert yarn_fair_shares(F(4 * 10**8), [F(1, 10), F(3, 10)]).tolist() == [10**8, 3 * 10**8]
    coded = yarn_fair_shares(4 * 10**8, [0.1, 0.3], as_coded=True)
    assert coded.tolist() == [99_999_998, 300_000_002]


def test_yarn_has_a_tie_with_weight_0():
    """The comment of the comparator: weight 0 "will lose out"; 0/0 is NaN, which Java casts to a tie."""
    usage, weights = np.array([0, 4], dtype=np.float32), np.array([0, 1], dtype=np.float32)
    with np.errstate(invalid="ignore"):
        ratios = usage / np.float32(8) / weights
    assert math.isnan(ratios[0])
    assert math.isnan(np.sign(ratios[0] - ratios[1]))  # Math.signum; (int) NaN is 0 in Java
    # By the definition the queue of weight 0 is last, though it started first.
    assert yarn_drf_order([[0], [4]], [8], [0, 1], start_times=[1, 2]).tolist() == [1, 0]


def test_yarn_compares_single_precision():
    """16 TiB and 1 MiB of 32 TiB is more than 16 TiB; as floats of 32 bits both are a half."""
    usage, total = [2**24 + 1, 2**24], 2**25
    assert np.float32(usage[0]) / np.float32(total) == np.float32(usage[1]) / np.float32(total)
    assert yarn_drf_order([[u] for u in usage], [total], start_times=[1, 2]).tolist() == [1, 0]


def test_kueue_shows_whole_numbers():
    nominal = [[0], [5000], [5000]]
    for used, exact in ((5001, F(1, 10)), (5010, F(1))):
        usage = [[F(0)], [F(used)], [F(0)]]
        assert kueue_shares([-1, 0, 0], nominal, usage).shares[1] == exact
        assert kueue_shares([-1, 0, 0], nominal, usage, as_coded=True).shares[1] == 1


def test_kueue_borrows_with_share_0():
    """GPUs that nobody lends: 3 more than the quota, and a share of 0."""
    shares = kueue_shares([-1, 0, 0], [[0], [2], [64]], [[0], [5], [0]], lending_limits=[[0], [0], [0]])
    assert (shares.shares[1], bool(shares.borrowing[1])) == (0, True)


def test_kai_gives_the_rest_to_a_lower_priority():
    options = {"requests": [10] * 4, "priorities": [1, 1, 1, 0]}
    assert kai_fair_shares(F(10), **options).tolist() == [F(10, 3)] * 3 + [0]
    assert kai_fair_shares(10, **options, as_coded=True).tolist() == [3, 3, 3, 1]


def test_kai_gives_more_than_is_requested():
    requests = [F(3, 5), F(3, 5)]
    assert kai_fair_shares(F(1), requests).tolist() == [F(1, 2), F(1, 2)]
    assert kai_fair_shares(F(1), requests, as_coded=True).tolist() == [1, 0]


def test_kai_counts_a_hundredth_too_many():
    """2800 of 40,000 MiB are .07; in floats .07 * 100 is above 7, and rounded up it is 8."""
    assert kai_gpus(F(2800), 40_000) == F(7, 100)
    assert kai_gpus(2800, 40_000, as_coded=True) == 0.08


def test_kai_counts_another_gpu_while_a_task_waits():
    assert kai_gpus(F(10_000), 16_000, running=False) == F(5, 8)
    assert kai_gpus(F(10_000), 80_000) == F(13, 100)


def test_kai_documents_another_loop():
    """docs/fairness/README.md takes from what remains within the round; the program does not."""
    remaining, shares = 4.0, [0.0, 0.0]
    while remaining > 1e-15:
        for i in range(2):
            given = remaining / 2
            shares[i] += given
            remaining -= given
    # What the loop leaves undivided, and a hundred roundings.
    np.testing.assert_allclose(shares, [8 / 3, 4 / 3], rtol=1e-14)
    assert kai_fair_shares(4, [10, 10]).tolist() == [2, 2]
    assert kai_fair_shares(4, [10, 10], as_coded=True).tolist() == [2, 2]


def test_volcano_deserves_more_than_there_is():
    guarantee = [[8], [0], [0]]
    exact, coded = (
        volcano_deserved([12], [1, 1, 1], [[12]] * 3, guarantee=guarantee, as_coded=flag)
        for flag in (False, True)
    )
    assert (exact[:, 0].tolist(), coded[:, 0].tolist()) == ([8, 2, 2], [8, 4, 4])


def churned(as_coded):
    """Memory tasks of n3,2 and n4 end in turn, and memory goes to the queue that is next; cores are full."""
    tree = Tree(["n", "n3", "n4"], [-1, 0, 0], job_classes=["n3,1", "n3,2", "n4"], class_nodes=[1, 1, 2])
    cores, ours, theirs = 30, 15, 15
    for turn in range(60):
        if turn % 2 and theirs:
            theirs -= 1
        elif ours:
            ours -= 1
        if ours + theirs == 30:
            continue
        usage = [[F(cores), 0], [0, ours], [0, theirs]]
        n3, n4 = volcano_hdrf(tree, usage, [[90, 0], [0, 90], [0, 90]], [30, 30], as_coded=as_coded).shares[
            1:
        ]
        ours, theirs = (ours + 1, theirs) if n3 < n4 else (ours, theirs + 1)
        if turn == 0:
            first = (n3, n4)
    return first, ours, theirs


def test_volcano_starves_beside_a_full_resource():
    """docs/design/hdrf.md counts resources that are not full only; the program counts the cores of n3,1."""
    assert churned(as_coded=False) == ((F(14, 30), F(1, 2)), 15, 15)
    assert churned(as_coded=True) == ((1, F(1, 2)), 0, 30)


def test_volcano_rescales_without_weights():
    tree = Tree(
        ["n", "q", "a", "b"], [-1, 0, 1, 1], weights=[1, 1, 2, 1], job_classes=["a", "b"], class_nodes=[2, 3]
    )
    usage, requests = [[F(4), 0], [0, F(2)]], [[9, 0], [0, 9]]
    assert volcano_hdrf(tree, usage, requests, [10, 10]).shares[1] == F(2, 5)
    assert volcano_hdrf(tree, usage, requests, [10, 10], as_coded=True).shares[1] == F(1, 5)


def test_volcano_tells_other_weights_than_it_means():
    """docs/design/fairshare.md: 6 cores at weight 2 are said to be less than 2 cores at weight 1."""
    assert dominant_share([[F(6)], [2]], [16], [2, 1]).tolist() == [F(3, 16), F(2, 16)]


def test_yunikorn_sorts_with_the_maximum_of_another():
    """sorters.go sorts queues, but not the fair maxima that its comparison reads at the same positions."""
    usage, fair_max = [80, 50, 60], [100, 100, 600]
    shares = yunikorn_share(np.array(usage)[:, None], fair_max=np.array(fair_max)[:, None])
    np.testing.assert_array_equal(shares, [0.8, 0.5, 0.1])
    queues = [0, 1, 2]
    for end in range(1, 3):  # sort.SliceStable: insertion, in blocks of 20
        k = end
        while k > 0 and usage[queues[k]] / fair_max[k] < usage[queues[k - 1]] / fair_max[k - 1]:
            queues[k - 1], queues[k] = queues[k], queues[k - 1]
            k -= 1
    assert queues == [1, 2, 0]
    order = yunikorn_queue_order(np.array(usage)[:, None], fair_max=np.array(fair_max)[:, None])
    assert order.tolist() == [2, 1, 0]


def test_yunikorn_compares_amounts_with_shares():
    """Two units of what the cluster does not have weigh more than all its memory."""
    left, right = yunikorn_shares([2, 0], [0, 100]), yunikorn_shares([0, 100], [0, 100])
    assert (left[-1], right[-1], yunikorn_compare(left, right)) == (2, 1, 1)


def test_armada_leaves_a_hundredth():
    demands = [F(99, 200), F(1)]
    assert armada_fair_shares([F(1), F(1)], demands).demand_capped.tolist() == [F(99, 200), F(101, 200)]
    coded = armada_fair_shares([1, 1], [0.495, 1], as_coded=True)
    assert coded.demand_capped.tolist() == [0.495, 0.5]


def test_armada_gives_what_others_leave_over_to_whom_they_left_it():
    """TestCalculateFairShares, "three queues": the share of one that demands .01, had it endless demand."""
    demands = [F(1, 100), F(2, 5), F(10)]
    assert armada_fair_shares([F(1)] * 3, demands).uncapped.tolist() == [F(1, 3), F(99, 200), F(59, 100)]
    endless = [F(10), F(2, 5), F(10)]
    assert armada_fair_shares([F(1)] * 3, endless).demand_capped[0] == F(1, 3)
    coded = armada_fair_shares([1, 1, 1], [float(d) for d in demands], as_coded=True).uncapped
    np.testing.assert_allclose(coded, [457 / 1200, 0.495, 0.59], rtol=1e-15)  # 0.380833...


def test_mesos_puts_a_queue_behind_for_its_other_child():
    """Nine cores of ten at eng/cpu: eng has .9 in Mesos, .4 after H-DRF's rescaling."""
    roles, usage, total = ["sci", "eng/cpu", "eng/mem"], [[0, 5], [9, 0], [0, 4]], [10, 10]
    assert mesos_order(roles, usage, total)[0] == "sci"
    tree = Tree(["n", "sci", "eng"], [-1, 0, 0], job_classes=roles, class_nodes=[1, 2, 2])
    requests = 9 * np.array(usage)
    assert volcano_hdrf(tree, np.array(usage), requests, total).shares.tolist()[1:] == [0.5, 0.4]
