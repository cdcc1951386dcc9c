"""Khamse-Ashari et al., "Per-server dominant-share fairness (PS-DSF)", ICC 2017, arXiv:1611.00404: Table I.

The ticks of C-DRFH and TSF are proved as statements. Here they are asked of random clusters, in fractions, by
linear programs over all max-min fair placements: what one bundle or one lie is worth at most.
"""

from fractions import Fraction
from itertools import permutations
from random import Random

import numpy as np
import pytest

from fairness.policies.servers.task_share import CDRFH, TSF
from proofs.definitions.exact import largest, runs, usage
from proofs.prover.library.servers import cluster_of

ONE, ZERO = Fraction(1), Fraction(0)


class Tasks:
    """Linear programs over the placements of a cluster."""

    def __init__(self, cluster):
        self.demands, self.capacities = cluster["demands"], cluster["capacities"]
        self.weights, self.may = cluster["weights"], cluster["eligible"]
        self.users = range(len(self.demands))
        self.alone = [[runs(d, c) for c in self.capacities] for d in self.demands]
        self.places = [
            (n, i) for n, row in enumerate(self.alone) for i, g in enumerate(row) if g * self.may[n][i]
        ]
        self.rows = [
            [self.demands[n][r] * (k == i) for n, k in self.places]
            for i in range(len(self.capacities))
            for r in range(len(self.demands[0]))
        ]
        self.right = [c for row in self.capacities for c in row]

    def yardsticks(self, share):
        """Tasks that make the share 1, times the weight."""
        if share == "global":
            pool = usage(self.capacities, [ONE] * len(self.capacities))
            alone = [runs(d, pool) for d in self.demands]
        else:
            alone = [
                sum(g for g, may in zip(row, allowed, strict=True) if may or share == "unconstrained")
                for row, allowed in zip(self.alone, self.may, strict=True)
            ]
        return [w * g for w, g in zip(self.weights, alone, strict=True)]

    def most(self, worth, floor, rising=None):
        """Largest sum of tasks, each times worth[user][server], if nobody has less than the floor.

        With ``rising``, the largest multiple of it that can be added to the floor.
        """
        gain = [ZERO if rising else worth[n][i] for n, i in self.places]
        rows = [*self.rows, *([-ONE * (p == n) for p, _ in self.places] for n in self.users)]
        if rising:
            gain.append(ONE)
            rows = [[*row, v] for row, v in zip(rows, [ZERO] * len(self.rows) + rising, strict=True)]
        return largest(gain, rows, self.right + [-v for v in floor])

    def of(self, n, each, servers):
        """Worth of the tasks of user n on some servers, and of nobody else's."""
        return [[each * may if p == n else ZERO for may in servers] for p in self.users]

    def max_min(self, share):
        """Max-min fair totals: the level of all who can still rise, then who cannot, until nobody can."""
        scale, fixed = self.yardsticks(share), {}
        while len(fixed) < len(self.users):
            floor = [fixed.get(n, ZERO) for n in self.users]
            level = self.most(None, floor, [ZERO if n in fixed else scale[n] for n in self.users])
            floor = [fixed.get(n, level * scale[n]) for n in self.users]
            free = [n for n in self.users if n not in fixed]
            fixed |= {n: floor[n] for n in free if self.most(self.of(n, ONE, self.may[n]), floor) == floor[n]}
        return [fixed[n] for n in self.users]


def ratio(other, own):
    """Tasks of one demand that the resources of one task of another demand run."""
    return min(e / d for e, d in zip(other, own, strict=True) if d)


def random_model(rng):
    """Three users, two servers and two resources, some of which a task or a server lacks."""
    while True:
        cluster = {
            "demands": [[Fraction(rng.randint(0, 4)) for _ in range(2)] for _ in range(3)],
            "capacities": [[Fraction(rng.randint(0, 5)) for _ in range(2)] for _ in range(2)],
            "weights": [Fraction(rng.randint(1, 2)) for _ in range(3)],
            "eligible": [[int(rng.random() < 0.7) for _ in range(2)] for _ in range(3)],
        }
        if lawful(cluster):
            return cluster


def lawful(cluster):
    """Whether everybody demands something and can run somewhere, and somebody on every server."""
    if not all(map(any, cluster["demands"])):
        return False
    users, servers = zip(*Tasks(cluster).places or [(None, None)], strict=True)
    return set(users) == {0, 1, 2} and set(servers) == {0, 1}


def gain_by_lying(rng, cluster, share):
    """The most that user 1 really runs after a random lie, minus its tasks with the truth."""
    while True:
        lie = rng.choice([cluster["demands"][0], [Fraction(rng.randint(0, 4)) for _ in range(2)]])
        claimed = [int(rng.random() < 0.7) for _ in range(2)]
        told = cluster | {
            "demands": [lie, *cluster["demands"][1:]],
            "eligible": [claimed, *cluster["eligible"][1:]],
        }
        if lawful(told):
            break
    truth, lying = Tasks(cluster), Tasks(told)
    worth = lying.of(0, ratio(lie, cluster["demands"][0]), truth.may[0])
    return lying.most(worth, lying.max_min(share)) - truth.max_min(share)[0]


@pytest.mark.long
@pytest.mark.parametrize(("share", "policy"), [("global", CDRFH()), ("unconstrained", TSF())])
def test_ticks_of_table_1(share, policy):
    rng = Random(41)
    lower = 0
    for _ in range(60):
        cluster = random_model(rng)
        model = Tasks(cluster)
        tasks = model.max_min(share)
        # The policy is exact up to the rounding of its floats.
        placement = policy(cluster_of(cluster), np.ones(3))
        np.testing.assert_allclose(placement.sum(axis=1), np.array(tasks, float), rtol=1e-9, atol=1e-12)
        assert model.most([[ONE] * 2] * 3, tasks) == sum(tasks)
        for n, p in permutations(model.users, 2):
            bundle = model.of(p, ratio(model.demands[p], model.demands[n]), model.may[n])
            assert model.most(bundle, tasks) / model.weights[p] <= tasks[n] / model.weights[n]
        gain = gain_by_lying(rng, cluster, share)
        assert gain <= 0
        lower += gain < 0
    assert lower > 10  # the lies matter


@pytest.mark.long
def test_tasks_alone_on_eligible_servers_invite_lies():
    # Section II-B says so: shares by the servers that a user claims to be able to use.
    rng = Random(43)
    assert any(gain_by_lying(rng, random_model(rng), "eligible") > 0 for _ in range(100))
