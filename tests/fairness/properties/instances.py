"""Random models and placements in fractions, and properties asked twice: of the checker and of the proof."""

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest

from fairness import Cluster, Problem
from fairness.properties.definitions.catalogue import property_named
from fairness.properties.exact.confirm import confirm
from fairness.properties.exact.enclosure import enclose
from fairness.properties.exact.rational import rational
from fairness.properties.exact.situations import NONE, Situation
from fairness.properties.exact.statements import COMPARISONS, JUDGEMENTS, legal
from fairness.properties.protocol.property import Finding, Witness
from fairness.testing import random_cluster, random_problem


def integer_pool(rng, n, m, *, weighted=True):
    """Random pool of small integers."""
    pool = random_problem(rng, n, m, kind="integer", weighted=weighted)
    return Problem(pool.demands.astype(int), pool.capacities.astype(int), weights=pool.weights)


def integer_cluster(rng, n, s, m, *, constrained=True, effective=False, weighted=True):
    """Random cluster of small integers; with rational gamma if asked."""
    cluster = random_cluster(rng, n, s, m, kind="integer", constrained=constrained, weighted=weighted)
    exact = Cluster(
        cluster.demands.astype(int),
        cluster.capacities.astype(int),
        weights=cluster.weights,
        eligible=cluster.eligible,
    )
    if not effective:
        return exact
    gamma = [[g * F(int(rng.integers(1, 5)), 2) for g in row] for row in exact.as_fractions()[2]]
    return exact.replaced(gamma=gamma)


def small_models(seed, number):
    """Generator and, with their divisions, pools and clusters: zeros, weights, constraints, given gamma."""
    rng = np.random.default_rng(seed)
    for k in range(number):
        n, m, s = (int(v) for v in rng.integers(1, 4, 3))
        yield rng, integer_pool(rng, n, m), "resource"
        yield rng, integer_cluster(rng, n, s, m, effective=k % 3 == 0), "time" if k % 2 else "resource"


def exactly(values):
    """Nested numbers as an array of fractions."""
    array = np.array(values, dtype=object)
    return np.array([F(v) for v in array.ravel()], dtype=object).reshape(array.shape)


def random_allocation(rng, model, division="resource"):
    """Random feasible allocation in fractions that touches a capacity."""
    numbers = rational(model, division)
    x = [
        [F(int(rng.integers(0, 6)), int(rng.integers(1, 4))) * (g > 0) for g in row] for row in numbers.gamma
    ]
    most = max(map(max, numbers.usage(x)))
    placement = exactly(x) / (most if most > 0 else 1)
    return placement if isinstance(model, Cluster) else placement[:, 0]


def answered(policy, model):
    """What a policy gives, in fractions."""
    found = enclose(policy, model, policy(model, np.ones(model.n_classes)))
    assert found.is_exact
    return found.lower


def situation(model, allocation, division="resource"):
    """The model and an allocation, as statements in fractions take them."""
    rows = allocation.reshape(model.n_classes, -1).tolist()
    servers = model.servers if isinstance(model, Cluster) else ("pool",)
    return Situation(rational(model, division), rows, rows, model.job_classes, servers)


def judged(prop, model, allocation, change=None, after=None, division="resource", tree=None):
    """What a checker finds in fractions; in floats, and by the independent statement, it is the same."""
    prop = prop.within(tree)
    now = replace(situation(model, allocation, division), tree=tree)
    if change is None:
        claim = JUDGEMENTS[prop.name](now)
    else:
        then = situation(change.apply(model), after, division)
        assert legal(now, change, then)
        claim = COMPARISONS[prop.name][1](now, change, then)
    finding = prop.check(model, allocation, change, after, division=division)
    assert finding.tolerance == 0
    assert finding.holds == (claim.violation <= 0)
    # Named are those who are hurt, or who gain by a lie; nobody where a resource is free.
    assert bool(finding.users) == (not finding.holds) or (prop.key in ("BF", "SRF") and not finding.users)
    if change is not None and prop.key in ("SP", "GSP", "DSI"):
        assert set(finding.users) <= set(change.users)
    if prop.key == "PM":
        assert not set(finding.users) & set(change.users)
    found = finding.violation
    if (prop.key in ("SP", "GSP") and found > 0) or (prop.key in ("SI", "DSI", "HSG") and found < 0):
        # A statement divides by the larger of both numbers, these checkers by what there was or should be.
        found /= 1 + abs(found)
    ran_nothing = prop.key in ("SP", "GSP") and min(now.least[n] for n in change.users) == 0
    if prop.key not in ("PE", "BF", "SRF") and not ran_nothing and claim is not NONE:
        assert found == claim.violation
    floats = [None if values is None else values.astype(float) for values in (allocation, after)]
    rounded = prop.check(model, floats[0], change, floats[1], division=division)
    # A few roundings of numbers of order 1; HiGHS is asked for 1e-10.
    accuracy = 1e-8 if prop.key == "PE" else 1e-10
    assert float(rounded.violation) == pytest.approx(float(finding.violation), rel=accuracy, abs=accuracy)
    return finding


def witness_of(policy, name, model, change=None):
    """A witness with what the policy answers, whether it violates anything or not."""
    prop = property_named(name)
    before = policy(model, np.ones(model.n_classes))
    after = None
    if change is not None:
        changed = change.apply(model)
        after = policy(changed, np.ones(changed.n_classes))
    finding = Finding(prop.name, 1.0, text="by hand")
    return Witness("policy", prop.name, model, change, finding, before, after)


def verdict(policy, name, model, change=None):
    """What the proof in fractions says of the answer of the policy."""
    return confirm(witness_of(policy, name, model, change), policy)
