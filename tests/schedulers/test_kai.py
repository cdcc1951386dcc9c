"""Fair shares of the KAI Scheduler, from pkg/scheduler/plugins/proportion at commit 72de64f."""

from fractions import Fraction as F

import numpy as np
import pytest

from fairness import ModelError
from fairness.schedulers import kai_allocatable, kai_fair_shares, kai_gpus, kai_share

INF = float("inf")
ONE = {"deserved": 3, "weights": 0}
OVER = {"deserved": 3, "weights": 1}
TWO = {"deserved": 2, "weights": 2}
FIVES = {"deserved": [5, 5, 5], "weights": 5}

# resource_division_test.go: total, requests, options, fair shares; remaining is what is left of the total.
WHOLE = [
    # "setResourceShare - GPU", "single queue within quota (sanity)"
    (2, [2], ONE, [2]),
    (3, [2], ONE, [2]),
    (3, [2], ONE | {"maximum": 2}, [2]),
    (1, [2], ONE, [2]),
    (7, [5], ONE, [3]),
    (2, [2], ONE | {"deserved": 1.5}, [1.5]),
    (2, [1.5], ONE, [1.5]),
    (2, [2], ONE | {"deserved": 0}, [0]),
    # "single queue over quota (sanity)": 3 deserved, and what is beyond
    (5, [5], OVER, [5]),
    (6, [5], OVER, [5]),
    (5, [5], OVER | {"maximum": 4}, [4]),
    (5, [5], OVER | {"weights": 0}, [3]),
    (5, [4.5], OVER, [4.5]),
    (3.5, [5], OVER, [3.5]),
    (6, [5], OVER | {"deserved": 0}, [5]),
    (3, [5], OVER, [3]),
    (13, [5], OVER | {"weights": 0}, [3]),
    # "two queues over quota (sanity)"
    (16, [5, 3], OVER | {"weights": [0, 1]}, [3, 3]),
    # "two queues"
    (15, [6, 6], TWO, [6, 6]),
    (12, [6, 6], TWO, [6, 6]),
    (8, [6, 6], {"deserved": 2, "weights": [1, 3]}, [3, 5]),
    (12, [6, 6], TWO | {"maximum": [5, INF]}, [5, 6]),
    (4, [6, 6], TWO | {"priorities": [1, 2]}, [2, 2]),
    (6, [6, 6], TWO | {"priorities": [1, 2]}, [2, 4]),
    (6, [6, 6], {"deserved": 2, "weights": [100, 1], "priorities": [1, 2]}, [2, 4]),
    # "setResourceShare - CPU" and "- memory", in thousands
    (3, [2], {"deserved": 3, "weights": 3}, [2]),
    (1, [2], {"deserved": 3, "weights": 3}, [2]),
    (10, [10, 5], {"deserved": [5, 0], "weights": [5, 0]}, [10, 0]),
    (10, [5, 5, 5], FIVES, [5, 5, 5]),
    (18, [6, 6, 6], FIVES, [6, 6, 6]),
    (10, [7, 2, 2], FIVES, [6, 2, 2]),
    (10, [7, 5, 2], FIVES, [5, 5, 2]),
    (10, [7, 2, 2], FIVES | {"maximum": [7, INF, INF]}, [6, 2, 2]),
    (10, [5, 5, 5], FIVES | {"deserved": [5, 0, 5]}, [5, 0, 5]),
    (10, [10, 5, 10], FIVES | {"deserved": [5, 0, 5]}, [5, 0, 5]),
    # "SetResourcesShare": "one queue", "two queues", "three queues", "advanced scenarios"
    (100, [100, 100], {"deserved": 10, "weights": [3, 1]}, [70, 30]),  # cmd/fairshare-simulator/README.md
    (10, [1], {"deserved": 1}, [1]),
    (2500, [500], {"deserved": 200}, [500]),
    (1, [3], {"deserved": 2}, [2]),
    (3000, [5000], {"deserved": 1000}, [3000]),
    (10, [1, 1], {"deserved": 1}, [1, 1]),
    (10, [8, 8], {"deserved": 1}, [5, 5]),
    (3000, [3000, 3000], {"deserved": 2000}, [2000, 2000]),
    (1000, [5000, 5000], {"deserved": 1000}, [1000, 1000]),
    (1000, [5000, 5000], {"deserved": [250, 150], "weights": [1, 2]}, [450, 550]),
    (1000, [5000, 5000], {"deserved": [250, 150], "weights": [1, 2], "maximum": [INF, 400]}, [600, 400]),
    (9999, [10000] * 3, {"deserved": 1000}, [3333] * 3),
    (9999, [10000] * 3, {"weights": [6, 2, 1]}, [6666, 2222, 1111]),
    (45, [32.55, 9.5, 1.65], {"deserved": [12, 7, 2], "weights": [12, 7, 2], "maximum": [INF, INF, 2]},
     [32.55, 9.5, 1.65]),
]  # fmt: skip
# Where the program rounds to whole units: the shares of the definition, then those of the upstream test.
ROUNDED = [
    (11, [10, 10], {"deserved": 2, "weights": [1, 4]}, ["17/5", "38/5"], [3, 8]),
    (11, [6, 6], TWO, ["11/2", "11/2"], [6, 5]),
    (
        5,
        [5, 5, 0],
        {"deserved": [2, 2, 1], "weights": 2, "priorities": [2, 2, 1]},
        ["5/2", "5/2", 0],
        [3, 2, 0],
    ),
    (5, [3, 3], TWO, ["5/2", "5/2"], [3, 2]),
]


def exact(values):
    return [F(str(v)) if v != INF else INF for v in np.atleast_1d(np.array(values, dtype=object))]


@pytest.mark.parametrize(("total", "requests", "options", "expected"), WHOLE)
def test_fair_shares(total, requests, options, expected):
    coded = kai_fair_shares(total, requests, **options, as_coded=True)
    assert coded.tolist() == expected
    fractions = {name: exact(values) for name, values in options.items()}
    fractions = {name: v if len(v) > 1 else v[0] for name, v in fractions.items()}
    assert kai_fair_shares(F(str(total)), exact(requests), **fractions).tolist() == exact(expected)
    np.testing.assert_allclose(kai_fair_shares(total, requests, **options), expected, rtol=1e-15)


@pytest.mark.parametrize(("total", "requests", "options", "expected", "coded"), ROUNDED)
def test_rounded_fair_shares(total, requests, options, expected, coded):
    assert kai_fair_shares(total, requests, **options, as_coded=True).tolist() == coded
    shares = kai_fair_shares(F(total), requests, **options)
    assert shares.tolist() == exact(expected)
    assert sum(shares) == total


def test_the_past_moves_weights():
    """time-based-fairshare.md: P = max(W' + k (W' - U'), 0), over the sum of all P."""
    past, k = [F(1, 2), F(0)], 1
    # W' = 1/2 each: P = 1/2 and 1.
    assert kai_fair_shares(F(12), [100, 100], past=past, k=k).tolist() == [4, 8]
    # With k = 2 the first would be below 0: 1/2 + 2 (1/2 - 1) < 0.
    assert kai_fair_shares(F(12), [100, 100], past=[1, 0], k=2).tolist() == [0, 12]
    # What the second does not request goes to the first in the next round, where W' = 1.
    assert kai_fair_shares(F(12), [100, 6], past=past, k=k).tolist() == [6, 6]


def test_dominant_share():
    """queue_resource_share_test.go: cores, memory and GPUs: 5 of 2, 12 of 9, 19 of 16."""
    allocatable = kai_allocatable([2, 9, 16], deserved=[1, 8, 15], maximum=[3, 10, 17])
    assert allocatable.tolist() == [2, 9, 16]
    assert kai_share([5, 12, 19], allocatable) == 2.5


def test_what_may_not_be_held_counts_a_thousand_a_unit():
    """queue_resource_share.go, noFairShareDrfMultiplier; unlimited is the total."""
    assert kai_share([F(1, 2), 4], [0, 8]) == 500
    assert kai_share([F(3), 1], [INF, 8], [12, 12]) == F(1, 4)
    assert kai_allocatable(5, deserved=INF, maximum=7) == 7


def test_gpu_memory():
    """node_info_test.go: a GPU of 4096 MiB counts as one of 4000; parts of it go up to hundredths."""
    assert kai_gpus([F(2000), 2001], 4096).tolist() == [F(1, 2), F(51, 100)]
    assert kai_gpus([F(2000), 2001], 4096, running=False).tolist() == [F(1, 2), F(2001, 4000)]
    memory, of = np.arange(1, 4001), 4096
    exact = kai_gpus(memory, of)
    # The smallest hundredth that is not below the quotient.
    assert (np.rint(exact * 100) * 40 >= memory).all()
    assert ((np.rint(exact * 100) - 1) * 40 < memory).all()
    with pytest.raises(ModelError, match="gpu_memory must be at least 100"):
        kai_gpus(1, 99)


def test_refusals():
    with pytest.raises(ModelError, match="k must be"):
        kai_fair_shares(1, [1], k=-1)
    with pytest.raises(ModelError, match=r"total must be one number, of one resource; got shape \(2,\)"):
        kai_fair_shares([1, 2], [1, 2])
    with pytest.raises(ModelError, match="weights has shape"):
        kai_fair_shares(1, [1, 2], weights=[1, 2, 3])


def test_the_factor_of_past_use_is_exact_too():
    shares = kai_fair_shares(
        F(11), [F(10), F(10)], deserved=F(2), weights=[F(1), F(4)], past=[F(0), F(1, 3)], k=F(1, 2)
    )
    assert shares.tolist() == [F(143, 40), F(297, 40)]
    with pytest.raises(ModelError, match="k must be >= 0"):
        kai_fair_shares(11, [10, 10], deserved=2, weights=[1, 4], past=[0, 0.3], k=-1)
