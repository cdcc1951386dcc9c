"""Whatever the checker accepts is true: certificates made well, badly and at random, on small boxes.

h and v of the small box come from plain elimination and are then spoiled, more or less; what the checker
proves of them must hold the means of a box so large that nothing is missing.
"""

import numpy as np
import pytest
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from fairness import DRF, AlphaFair, AssetFair, BottleneckMax, MaxMin, Problem, ProportionalFair
from queueing import System, stationary
from queueing.certificates.certificate import Certificate, Drift, Functional
from queueing.certificates.drifts.alpha_fair import scales_of_targets
from queueing.certificates.drifts.decay import radius
from queueing.certificates.errors import CertificateError
from queueing.certificates.families import family
from queueing.certificates.pool import Pool
from queueing.proved_bounds.check import check_certificate

POLICIES = {
    "PF": ("PF", ProportionalFair(), {}),
    "BMF": ("BMF", BottleneckMax(), {}),
    "alpha=3/4": ("alpha-fair", AlphaFair(0.75), {"alpha": 0.75}),
    "alpha=2": ("alpha-fair", AlphaFair(2), {"alpha": 2.0}),
    "MMF": ("MMF", MaxMin(), {}),
    "DRF": ("DRF", DRF(), {}),
    "Asset": ("Asset", AssetFair(), {}),
}


def generator(system, policy, shape):
    """States of a box, its generator with reflection at the faces, and the rates at which they are left."""
    states = np.array(list(np.ndindex(*shape)))
    place = np.arange(len(states)).reshape(shape)
    tasks = policy(system.problem, states)
    matrix = np.zeros((len(states),) * 2)
    for i, rate in enumerate(system.arrival_rates):
        below, above = np.moveaxis(place, i, 0)[:-1].ravel(), np.moveaxis(place, i, 0)[1:].ravel()
        matrix[below, above] = rate
        matrix[above, below] = tasks[above, i] / system.mean_sizes[i]
    np.fill_diagonal(matrix, -matrix.sum(axis=1))
    return states, matrix


def solved(matrix, right):
    """u and c with matrix u + c = right, u = 0 in the empty state."""
    n = len(matrix)
    bordered = np.ones((n + 1, n + 1))
    bordered[:n, :n] = matrix
    bordered[n] = np.eye(n + 1)[0]
    found = splu(csc_array(bordered)).solve(np.append(right, np.zeros_like(right[:1]), axis=0))
    return found[:n]


def some_scales(system, name, parameters):
    """Exponent and scales with a lemma; None if none of those tried has one."""
    pool = Pool.of(system)
    if name in ("PF", "BMF", "alpha-fair"):
        alpha = parameters.get("alpha", 1.0)
        targets = system.loads
        tried = [(alpha + 1, scales_of_targets(targets, system.problem.weights, system.mean_sizes, alpha))]
    else:
        shares = system.problem.task_shares
        size = {"MMF": 1.0, "DRF": shares.max(axis=1), "Asset": shares.sum(axis=1)}[name]
        scales = system.problem.weights / size / system.loads
        tried = [(p, scales / scales.max()) for p in (2.0, 3.0, 4.0, 8.0, 16.0)]
    for p, scales in tried:
        try:
            spare = family(name).spare(pool, name, parameters, Drift(p, scales, 0.1, 0.1), 1e3)
        except CertificateError:
            continue
        return p, scales, spare
    return None


def made(rng, system, name, policy, parameters, of, power=False):
    """A certificate of the means of the functions ``of``; None if no drift is found. It claims nothing.

    V is the exponential function of a norm, or its power.
    """
    found = some_scales(system, name, parameters)
    if found is None:
        return None
    p, scales, _ = found
    pool = Pool.of(system)
    reach = rng.uniform(8, 20)
    shape = tuple(int(min(max(np.ceil(reach * scales.max() / b), 3), 40)) for b in scales)
    if np.prod(shape) > 400:
        return None
    theta = 0.0 if power else float(rng.uniform(0.3, 1.5) / reach / scales.max() * 3)
    drift = Drift(p, scales, theta, 1.0)
    level = radius(drift, pool, shape)
    try:
        gamma = family(name).decay(pool, name, parameters, drift, shape)
    except CertificateError:
        return None
    if not gamma > 1e-3 * system.arrival_rates.min() * (1 / level if power else theta) * scales.min():
        return None
    gamma *= rng.choice([1.0, 1.0, 0.5, 1.2])
    drift = Drift(p, scales, drift.theta, float(gamma))

    def v_of(counts):
        powers = ((scales * counts / level) ** p).sum(axis=-1)
        return powers if power else np.exp(drift.theta * level * (powers ** (1 / p) - 1))

    states, matrix = generator(system, policy, shape)
    values = np.array([one(states) for one, _ in of], dtype=float).T
    h = solved(matrix, -values)
    flow, killed = np.zeros(len(states)), np.zeros(len(states))
    for i, rate in enumerate(system.arrival_rates):
        last = states[:, i] == shape[i] - 1
        killed[last] += rate
        flow[last] += rate * v_of(states[last] + np.eye(len(shape), dtype=int)[i])
    v = solved(matrix - np.diag(killed), -flow[:, None])[:, 0]
    noise = rng.choice([0.0, 0.0, 1e-9, 1e-3, 0.1])
    h *= 1 + noise * rng.normal(size=h.shape)
    v *= 1 + noise * np.abs(rng.normal(size=v.shape))
    v *= rng.choice([1.0, 1.0, 0.5, 0.0])  # too small a v is paid for at the faces
    face = (states == np.array(shape) - 1).any(axis=1)
    if rng.random() < 0.8:
        v[face] = np.minimum(v[face], v_of(states[face]) * (1 - 1e-12))
    arrays = h.T.reshape(-1, *shape)
    delta = np.full(len(of), rng.choice([1.0, 1.0, 3.0, 0.1]) * (level / scales.min()) ** 2 / gamma)
    for f, array in enumerate(arrays):
        steps = max(np.abs(np.diff(array, axis=i)).max() for i in range(len(shape)))
        delta[f] = (
            steps * 3 * (system.arrival_rates + 5 / system.mean_sizes).sum() + delta[f] * gamma
        ) / gamma
    claims = np.full(len(of), np.inf)
    functionals = tuple(one for _, one in of)
    return Certificate(
        system, name, parameters, shape, drift, functionals, arrays, v.reshape(shape), delta, -claims, claims
    )


def some_system(rng):
    n = rng.integers(1, 3)
    m = rng.integers(1, 4)
    demands = rng.choice([0, 0.1, 0.5, 1, 2], (n, m))
    demands[~demands.any(axis=1), 0] = 1
    limits = rng.choice([1, 3, np.inf], n) if rng.random() < 0.3 else None
    problem = Problem(demands, np.ones(m), weights=rng.choice([1, 1, 2], n), limits=limits)
    mix = rng.uniform(0.5, 1, n) / problem.task_shares.max(axis=1)
    sizes = 10 ** rng.uniform(-0.5, 0.5, n)
    return System.with_load(problem, mix, rng.uniform(0.2, 0.5), mean_sizes=sizes)


OF = (
    (lambda x: x[:, 0], Functional("jobs", 0)),
    (lambda x: x.sum(axis=1), Functional("jobs")),
    (lambda x: x[:, 0] * x[:, -1], None),
    (lambda x: x[:, -1] >= 4, None),
    (lambda x: x.sum(axis=1) >= 3, Functional("at least", None, level=3)),
)


def spoiled(which, trials, seed, most, power=False):
    """How many random certificates are accepted, how many of those are narrow, and how many are refused.

    All that is accepted holds the means of a large box.
    """
    rng = np.random.default_rng(seed)
    accepted = narrow = refused = 0
    for _ in range(trials):
        system = some_system(rng)
        n = system.n_classes
        named = {2: Functional("products", 0, n - 1), 3: Functional("at least", n - 1, level=4)}
        of = tuple((values, named.get(k, one)) for k, (values, one) in enumerate(OF))
        of = tuple((values, one) for values, one in of if len(one.factors) <= most)
        certificate = made(rng, system, *POLICIES[which], of, power)
        if certificate is None:
            continue
        try:
            bounds = check_certificate(certificate)
        except CertificateError:
            refused += 1
            continue
        law = stationary(system, POLICIES[which][1], tail=1e-12)
        states = np.array(list(np.ndindex(*law.shape)))
        truth = np.array([law.distribution.ravel() @ values(states) for values, _ in of])
        accepted += 1
        narrow += (bounds.upper - bounds.lower <= 0.1 * truth).any()
        assert (bounds.lower <= truth * (1 + 1e-9)).all()
        assert (truth * (1 - 1e-9) <= bounds.upper).all()
    return accepted, narrow, refused


@pytest.mark.parametrize(
    ("which", "trials"), [("PF", 16), *(pytest.param(w, 32, marks=pytest.mark.long) for w in POLICIES)]
)
def test_all_that_is_accepted_is_true(which, trials):
    """Random systems, boxes, drifts and spoiled arrays: accepted bounds hold the means of a large box."""
    accepted, narrow, refused = spoiled(which, trials, sorted(POLICIES).index(which), 2)
    assert accepted >= max(1, trials // 5)
    assert narrow >= trials // 32
    assert refused >= trials // 20


@pytest.mark.parametrize(
    ("which", "trials"),
    [
        ("PF", 16),
        *(pytest.param(w, 32, marks=pytest.mark.long) for w in POLICIES if w != "alpha=3/4"),
    ],
)
def test_all_that_is_accepted_of_powers_is_true(which, trials):
    """The same where V is a power."""
    seed = [1, sorted(POLICIES).index(which)]
    accepted, narrow, refused = spoiled(which, trials, seed, 2 if which == "alpha=2" else 1, power=True)
    assert accepted >= max(1, trials // 10)
    assert narrow >= trials // 32
    assert refused >= trials // 20
