"""Bounds by drifts: closed forms, rows state by state, chains and simulations inside, tampered proofs."""

from dataclasses import replace
from fractions import Fraction

import highspy
import numpy as np
import pytest
from scipy import stats

import queueing.certificates.moments.moments as moments_module
import queueing.enclosures.moment_programs.moment_program as program_module
from fairness import (
    DRF,
    AlphaFair,
    AssetFair,
    BottleneckMax,
    Cluster,
    MaxMin,
    ModelError,
    Problem,
    ProportionalFair,
    UnstableError,
)
from queueing import Erlang, System, balanced_fairness, drift_bound, simulate, stationary
from queueing.certificates.drift_certificate import Cut
from queueing.certificates.errors import CertificateError
from queueing.certificates.moments.families import moments_of
from queueing.certificates.moments.label_moments import RatioMoments
from queueing.certificates.moments.moments import Numbers
from queueing.certificates.pool import Pool
from queueing.enclosures.moment_programs.drift_bound import _told

POLICIES = [
    ProportionalFair(),
    MaxMin(),
    DRF(),
    AssetFair(),
    BottleneckMax(),
    AlphaFair(2.0),
    AlphaFair(0.5),
]
EDRF = DRF(resource_weights=[[0.2, 0.7], [0.8, 0.3]])
SYMMETRIC = Problem([[1, 0.1], [0.1, 1]], [1, 1])
LINE = Problem([[1, 1], [1, 0], [0, 1]], [1, 1])
every_policy = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)


def random_system(rng, n, m, load=None, zeros=0.0):
    """Every class demands something; weights, sizes and capacities differ."""
    demands = rng.uniform(0.2, 2, (n, m)) * (rng.random((n, m)) >= zeros)
    demands[np.arange(n), rng.integers(m, size=n)] = rng.uniform(0.2, 2, n)
    pool = Problem(demands, rng.uniform(1, 3, m), weights=rng.uniform(0.5, 2, n))
    load = rng.uniform(0.3, 0.9) if load is None else load
    return System.with_load(pool, rng.uniform(0.3, 1, n), load, rng.uniform(0.5, 2, n))


def sharing_means(system, weights):
    """Mean counts of discriminatory processor sharing on one server.

    Mean durations T solve mu_k T_k = 1 + mu_k sum_i lambda_i g_i (T_k + T_i)/(mu_i g_i + mu_k g_k) with
    weights g: Fayolle, Mitrani and Iasnogorodski, "Sharing a processor among many job classes", J. ACM 27,
    1980.
    """
    shares = system.problem.task_shares[:, 0]
    lam, mu = system.arrival_rates, 1 / (system.mean_sizes * shares)
    n = len(lam)
    matrix, right = np.eye(n), 1 / mu
    for k in range(n):
        for i in range(n):
            c = lam[i] * weights[i] / (mu[i] * weights[i] + mu[k] * weights[k])
            matrix[k, k] -= c
            matrix[k, i] -= c
    return lam * np.linalg.solve(matrix, right)


@every_policy
def test_one_class_is_the_single_server(policy):
    system = System(Problem([[2, 1]], [3, 1]), [0.5], 1.4)  # rho = 0.7 of at most 1 task
    bound = drift_bound(system, policy)
    bound.check()
    # What rounding costs is below the digits kept of the multipliers (40 bits).
    assert bound.lower[0] <= 0.7 / 0.3 + 1e-15
    assert bound.upper[0] >= 0.7 / 0.3 - 1e-15
    assert bound.upper[0] - bound.lower[0] < 1e-8


@every_policy
def test_one_resource_is_discriminatory_processor_sharing(policy):
    pool = Problem([[1], [2], [0.5]], [1.5], weights=[1, 2, 0.7])
    system = System.with_load(pool, [1, 2, 1.5], 0.8, [1, 0.6, 2])
    shares = pool.task_shares[:, 0]
    if isinstance(policy, AlphaFair):
        rates = pool.weights * shares ** (1 - 1 / policy.alpha)
    else:
        rates = pool.weights * shares if isinstance(policy, MaxMin) else pool.weights
    exact = sharing_means(system, rates)
    bound = drift_bound(system, policy, of=np.eye(3))
    bound.check()
    # The tolerance of the linear programs, 1e-9 in units of the model, is amplified by 1/(1 - load).
    np.testing.assert_allclose(bound.lower, exact, rtol=1e-6)
    np.testing.assert_allclose(bound.upper, exact, rtol=1e-6)
    assert (bound.lower <= exact * (1 + 1e-12)).all()
    assert (bound.upper >= exact * (1 - 1e-12)).all()


def test_independent_links():
    system = System(Problem([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [1, 2, 1]), [0.5, 1.2, 0.9])
    exact = [1.0, 1.5, 9.0]
    for policy in (ProportionalFair(), MaxMin(), BottleneckMax()):
        bound = drift_bound(system, policy, of=["class 1", "class 2", "class 3"])
        np.testing.assert_allclose(bound.lower, exact, rtol=1e-6)
        np.testing.assert_allclose(bound.upper, exact, rtol=1e-6)


@pytest.mark.long
@every_policy
def test_contains_exact_means_of_two_classes(policy):
    rng = np.random.default_rng(5)
    for zeros in (0.0, 0.4, 0.0, 0.4):
        system = random_system(rng, 2, 3, rng.uniform(0.3, 0.8), zeros)
        bound = drift_bound(system, policy, of=[[1, 1], [1, 0], [0, 1]])
        bound.check()
        law = stationary(system, policy)
        exact = np.array([law.mean_jobs.sum(), *law.mean_jobs])
        error = np.array([law.mean_jobs_error.sum(), *law.mean_jobs_error]) + 1e-9
        assert (bound.lower <= exact + error).all()
        assert (exact - error <= bound.upper).all()
        free = drift_bound(system, of=[[1, 1], [1, 0], [0, 1]])
        assert (free.lower <= bound.lower + 1e-9).all()
        assert np.isinf(free.upper).all()


def test_entitlements():
    system = System.with_load(SYMMETRIC, [1, 2], 0.6)
    bound = drift_bound(system, EDRF, of=[1, 0])
    bound.check()
    exact = stationary(system, EDRF).mean_jobs[0]
    assert bound.lower[0] <= exact <= bound.upper[0]
    plain = drift_bound(system, DRF(), of=[1, 0])
    assert plain.upper[0] != bound.upper[0]
    assert not bound.lower[0] <= stationary(system, DRF(resource_weights=[[9, 9], [1, 1]])).mean_jobs[0]


@pytest.mark.long
@pytest.mark.parametrize("policy", [ProportionalFair(), DRF(), BottleneckMax()], ids=lambda one: one.name)
def test_contains_simulated_means(policy):
    rng = np.random.default_rng(8)
    for n, m, zeros in ((4, 3, 0.0), (5, 3, 0.5), (3, 2, 0.4)):
        system = random_system(rng, n, m, 0.6, zeros)
        bound = drift_bound(system, policy)
        run = simulate(system, policy, events=30_000, replications=8, rng=int(rng.integers(1000)))
        mean, half = run.mean_jobs.sum(), run.half_widths["mean_jobs"].sum()
        # Half-widths are Student's at 95 % with 7 degrees of freedom; stretched to a false-alarm rate of 1e-6
        # a side. Their sum exceeds the one of the sum.
        slack = half * stats.t.isf(1e-6, 7) / stats.t.isf(0.025, 7)
        assert bound.lower[0] <= mean + slack
        assert mean - slack <= bound.upper[0]


def moments_in_state(moments, system, policy, counts):
    """Each column as it is in one state, from the allocation and the definitions."""
    shares = system.problem.task_shares
    tasks = policy(system.problem, counts)
    numbers = moments.numbers
    kept = [
        next(j for j, column in enumerate(shares.T) if np.allclose(column, np.array(one, float), rtol=1e-12))
        for one in zip(*numbers.shares, strict=True)
    ]
    shares = shares[:, kept]
    full = shares.T @ tasks >= 1 - 1e-9
    if any(what[0] == "P" for what in moments.columns):
        prices = policy.solve(system.problem, counts).prices * system.problem.capacities
        prices = prices[kept]

        def value(kind, *rest):
            *who, j = rest
            return prices[j] * np.prod(tasks[who])

    else:
        labels = []
        for k in range(len(counts)):
            users = [j for j in range(len(kept)) if shares[k, j] > 0]
            if counts[k] == 0:
                labels.append(users[0])
                continue

            def level(i, j):
                return tasks[i] / (float(moments.rates[i][j]) * counts[i])

            def bottleneck(j, k=k, level=level):
                if isinstance(moments, RatioMoments):
                    return full[j]
                there = [i for i in range(len(counts)) if shares[i, j] > 0 and counts[i] > 0]
                return full[j] and all(level(i, j) <= level(k, j) * (1 + 1e-9) for i in there)

            labels.append(next(j for j in users if bottleneck(j)))

        def value(kind, *rest):
            if kind == "N":
                k, j = rest
                return counts[k] * (labels[k] == j)
            if kind == "S":
                i, k, j = rest
                rate = float(moments.rates[i][j])
                return counts[k] * tasks[i] / rate * (labels[i] == labels[k] == j)
            i, k, h, j = rest
            return counts[k] * tasks[i] * (labels[i] == h and labels[k] == j)

    return tasks, np.array([value(*what) for what in moments.columns])


@pytest.mark.parametrize("wide", [moments_module.WIDE, 0])
@every_policy
def test_every_row_holds_in_every_state(policy, wide, monkeypatch):
    """What the linear programs say of a policy is compared with its allocations, state by state."""
    monkeypatch.setattr(moments_module, "WIDE", wide)
    rng = np.random.default_rng(3)
    for n, m, zeros in ((2, 2, 0.0), (3, 2, 0.0), (4, 3, 0.5), (4, 4, 0.6), (3, 3, 0.3)):
        system = random_system(rng, n, m, 0.7, zeros)
        name, parameters = _told(policy)
        moments = moments_of(name, parameters, Numbers.of(Pool.of(system)))
        for _ in range(25):
            counts = rng.integers(0, 6, n).astype(float)
            if not counts.any():
                continue
            tasks, z = moments_in_state(moments, system, policy, counts)

            def of(coefficients, z=z):
                return sum(float(value) * z[column] for column, value in coefficients.items())

            scale = 1e-8 * (1 + counts.sum()) ** 2
            assert (z >= -scale).all()
            for k in range(n):
                assert abs(of(moments.jobs(k)) - counts[k]) < scale
                for i in moments.numbers.together[k]:
                    assert abs(of(moments.work(i, k)) - counts[k] * tasks[i]) < scale
            for row in moments.listed:
                value = of(row.coefficients) - float(row.constant)
                assert abs(value) < scale if row.equal else value > -scale
            for block in moments.blocks():
                matrix = z[np.array(block)]
                assert np.linalg.eigvalsh((matrix + matrix.T) / 2).min() > -scale * 10


@every_policy
def test_the_function_has_the_drift_that_is_claimed(policy):
    """f + Qg <= c for upper bounds, f - Qg >= c for lower ones, with tasks of the policy itself."""
    rng = np.random.default_rng(4)
    for zeros in (0.0, 0.5):
        system = random_system(rng, 3, 2, 0.5, zeros)
        weights = rng.uniform(0.5, 1, 3)
        bound = drift_bound(system, policy, of=weights)
        counts = rng.integers(0, 30, (200, 3)).astype(float)
        tasks = policy(system.problem, counts)
        for proof, sign in ((bound.upper_proofs[0], 1), (bound.lower_proofs[0], -1)):
            if proof is None:
                continue
            g = proof.function
            drift = np.zeros(200)
            for i, step in enumerate(np.eye(3)):
                drift += system.arrival_rates[i] * (g(counts + step) - g(counts))
                down = np.where(counts[:, i] > 0, g(np.maximum(counts - step, 0)) - g(counts), 0.0)
                drift += tasks[:, i] / system.mean_sizes[i] * down
            side = sign * (counts @ weights) + drift - sign * float(proof.value)
            # Rounding of g, of the order of its values times 2^-52.
            assert side.max() <= 1e-9 * (1 + np.abs(g(counts)).max())


def test_known_bounds_are_contained():
    rng = np.random.default_rng(9)
    for n, m in ((2, 2), (3, 2), (4, 3)):
        system = random_system(rng, n, m, 0.75, 0.3)
        weights, load = system.problem.weights, system.relative_loads.max()
        # Bonald and Massoulié's function.
        bound = drift_bound(system, ProportionalFair(), of=weights)
        assert bound.upper[0] <= weights.sum() * load / (1 - load) * (1 + 1e-6)
        # Pollaczek and Khinchine's workload of each resource alone, and each class alone, for any policy.
        shares, sizes = system.problem.task_shares, system.mean_sizes
        work = shares.T * sizes
        least = (work**2 @ system.arrival_rates) / (1 - system.relative_loads)
        free = drift_bound(system, of=work)
        free.check()
        assert (free.lower >= least * (1 - 1e-6)).all()
        own = system.loads / (1 / shares.max(axis=1) - system.loads)
        np.testing.assert_allclose(drift_bound(system, of=np.eye(n)).lower, own, rtol=1e-6)


def test_balanced_fairness_is_above_what_no_policy_undercuts():
    for pool in (SYMMETRIC, LINE):
        system = System.with_load(pool, np.arange(1, pool.n_classes + 1), 0.6)
        exact = balanced_fairness(system).mean_jobs
        free = drift_bound(system, of=[np.ones(pool.n_classes), *np.eye(pool.n_classes)])
        assert (free.lower <= [exact.sum() + 1e-9, *(exact + 1e-9)]).all()
    single = System(Problem([[1], [1]], [1]), [0.3, 0.3])
    assert drift_bound(single).lower[0] == pytest.approx(balanced_fairness(single).mean_jobs.sum(), rel=1e-6)


def test_limits():
    """A job that runs at most half a task stays at least twice its size."""
    system = System(Problem([[1], [1]], [1], limits=[0.5, np.inf]), [0.1, 0.2])
    bound = drift_bound(system, DRF(), of=np.eye(2))
    bound.check()
    exact = stationary(system, DRF()).mean_jobs
    np.testing.assert_allclose(bound.lower, [0.2, 0.25], rtol=1e-6)
    assert (bound.lower <= exact).all()
    assert np.isinf(bound.upper).all()


def test_other_policies_have_the_bounds_of_all():
    def short_first(problem, counts):
        here = (np.asarray(counts) > 0).astype(float)
        long = here[..., 0] * (1 - here[..., 1]) * (1 - here[..., 2])
        return np.stack([long, here[..., 1], here[..., 2]], axis=-1)

    system = System(LINE, [0.3, 0.4, 0.4])
    bound = drift_bound(system, short_first)
    assert (bound.lower, bound.upper) == (drift_bound(system).lower, np.inf)
    assert "no upper bound" in bound.summary()


def test_tampered_proofs_are_rejected():
    system = System.with_load(LINE, [1, 2, 1], 0.6)
    bound = drift_bound(system, DRF())
    proof = bound.upper_proofs[0]
    assert proof.check() == proof.value

    def refused(condition, **changes):
        with pytest.raises(CertificateError) as caught:
            replace(proof, **changes).check()
        assert caught.value.condition == condition

    refused("value", value=proof.value * Fraction(999_999, 1_000_000))
    refused("value", value=float(proof.value))
    refused("value", upper=False)
    refused("inequality", weights=(*proof.weights[:2], Fraction(3, 2)))
    refused("inequality", policy="any", rows={}, cuts=())
    refused("data", policy="fifo")
    refused("data", weights=proof.weights[:2])
    refused("data", weights=(*proof.weights[:2], Fraction(-1)))
    pair = next(pair for pair, alpha in proof.drifts.items() if alpha)
    for factor in (Fraction(99, 100), Fraction(101, 100)):
        # A little more of one function adds to the drift of some moment.
        refused("inequality", drifts={**proof.drifts, pair: proof.drifts[pair] * factor})
    refused("data", drifts={**proof.drifts, (2, 1): Fraction(1)})
    refused("data", drifts={**proof.drifts, pair: float(proof.drifts[pair])})
    refused("data", rows={**proof.rows, 10**6: Fraction(1)})
    moments = moments_of("DRF", {}, Numbers.of(Pool.of(system)))
    unequal = next(number for number, row in enumerate(moments.listed) if not row.equal)
    refused("multipliers", rows={**proof.rows, unequal: Fraction(-1)})
    cut = Cut(0, (Fraction(1), Fraction(-1)))
    replace(proof, cuts=((cut, Fraction(0)),)).check()
    refused("multipliers", cuts=((cut, Fraction(-1)),))
    refused("inequality", cuts=((cut, Fraction(1)),))
    refused("data", cuts=((replace(cut, block=9), Fraction(1)),))
    with pytest.raises(CertificateError):
        replace(proof, system=system.at_load(0.65)).check()
    loaded = drift_bound(System.with_load(SYMMETRIC, [1, 1], 0.8), DRF()).upper_proofs[0]
    *others, (square, gamma) = sorted(loaded.cuts, key=lambda pair: pair[1])
    for cuts in (others, [(square, gamma * 2), *others]):
        with pytest.raises(CertificateError, match="slack"):
            replace(loaded, cuts=tuple(cuts)).check()
    with pytest.raises(CertificateError) as caught:
        replace(bound, upper=bound.upper - 1e-3).check()
    assert caught.value.condition == "claim"
    with pytest.raises(CertificateError) as caught:
        replace(bound, policy="PF").check()
    assert caught.value.condition == "claim"


def test_finite_means_must_be_shown():
    system = System.with_load(SYMMETRIC, [1, 1], 0.6)
    proof = drift_bound(system, BottleneckMax(), of=[1, 0]).upper_proofs[0]
    assert proof.finite is not None
    assert proof.check() == proof.value
    assert min(proof.finite.drifts.values()) > 0
    other = drift_bound(system.at_load(0.5), BottleneckMax()).upper_proofs[0]
    for finite in (
        None,
        other.finite,
        replace(proof.finite, drifts={**proof.finite.drifts, (0, 1): Fraction(-1)}),
        replace(proof.finite, weights=(Fraction(0),) * 2),
        replace(proof.finite, finite=proof.finite),
        replace(proof.finite, value=proof.finite.value / 2),
    ):
        with pytest.raises(CertificateError):
            replace(proof, finite=finite).check()
    # With small jobs everything goes a hundred times as fast, and all alpha are a hundredth.
    fast = drift_bound(System.with_load(SYMMETRIC, [1, 1], 0.6, [0.01, 0.01]), BottleneckMax(), of=[1, 0])
    assert 0 < max(fast.upper_proofs[0].finite.drifts.values()) < 1
    assert fast.upper_proofs[0].check() == fast.upper_proofs[0].value
    free = drift_bound(system, of=[1, 0]).lower_proofs[0]
    free.check()
    with pytest.raises(CertificateError) as caught:
        replace(free, drifts={**free.drifts, (1, 1): Fraction(1, 10**9)}, rows={}).check()
    assert caught.value.condition in ("inequality", "finite means")


@pytest.mark.parametrize(
    ("upper", "weights", "drifts", "shown"),
    [
        # Of a lower bound: all counts in g have a positive weight.
        (False, (1, 0), {(0, 0): 1, (1, 1): 0}, True),
        (False, (1, 0), {(0, 0): 1, (1, 1): 1}, False),
        (False, (1, 0), {(0, 1): 1, (0, 0): 1}, False),
        (False, (Fraction(1, 2), Fraction(1, 9)), {(0, 1): -1, (1, 1): Fraction(1, 3)}, True),
        # Of an upper bound of all jobs: no alpha is negative.
        (True, (Fraction(1, 2), Fraction(1, 9)), {(0, 0): Fraction(1, 2), (1, 1): 2, (0, 1): 0}, True),
        (True, (1, 1), {(0, 0): 1, (1, 1): 1, (0, 1): -1}, False),
        (True, (1, 0), {(0, 0): 1, (1, 1): 1}, False),
        # Where all alpha are 0 the rows bound f in every state.
        (True, (1, 0), {(0, 0): 0, (1, 1): 0}, True),
    ],
)
def test_what_shows_that_means_are_finite(upper, weights, drifts, shown):
    free = drift_bound(System.with_load(SYMMETRIC, [1, 1], 0.6)).lower_proofs[0]
    given = tuple(map(Fraction, weights))
    alphas = {pair: Fraction(alpha) for pair, alpha in drifts.items()}
    proof = replace(free, upper=upper, weights=given, drifts=alphas, finite=None)
    if shown:
        proof._check_finite(list(given))
        return
    with pytest.raises(CertificateError, match="nothing shows that the means are finite"):
        proof._check_finite(list(given))


def test_dominated_and_unused_resources_and_classes():
    """A resource that never binds first changes nothing, nor does a class without arrivals."""
    plain = drift_bound(System.with_load(SYMMETRIC, [1, 2], 0.6), ProportionalFair())
    more = Problem([[1, 0.1, 0.5], [0.1, 1, 0.05], [3, 3, 0]], [1, 1, 1])
    bound = drift_bound(
        System(more, [*System.with_load(SYMMETRIC, [1, 2], 0.6).loads, 0]), ProportionalFair()
    )
    bound.check()
    assert (bound.lower, bound.upper) == (plain.lower, plain.upper)


@pytest.mark.parametrize("policy", [*POLICIES, EDRF, None], ids=str)
def test_a_class_without_arrivals_has_no_jobs(policy):
    """Its mean is 0; weights of resources are given for all classes, and only those with arrivals count."""
    system = System(SYMMETRIC, [0, 0.4])
    empty = drift_bound(system, policy, of="class 1")
    empty.check()
    assert (empty.lower, empty.upper) == (0, 0)
    single = drift_bound(system, policy)
    single.check()
    assert single.lower[0] == pytest.approx(0.4 / 0.6)
    assert single.upper[0] == (np.inf if policy is None else pytest.approx(0.4 / 0.6))


@pytest.mark.parametrize("alpha", [1e-300, 1e-4, 0.01, 0.05, 1e300])
def test_alpha_near_its_limits(alpha):
    """Ratios of tasks leave the range of floats; one class demands more of everything."""
    bound = drift_bound(System.with_load(Problem([[1, 1], [10, 9]], [1, 1]), [1, 1], 0.3), AlphaFair(alpha))
    bound.check()
    assert 0.4 < bound.lower[0] <= bound.upper[0] < 0.5


def test_policies_derived_from_known_ones_are_any():
    class Mine(AlphaFair):
        def __call__(self, problem, counts):
            return AlphaFair(self.alpha)(problem, counts) / 2

    system = System.with_load(SYMMETRIC, [1, 1], 0.3)
    assert drift_bound(system, Mine(2.0)).upper[0] == np.inf


def test_wrong_input():
    system = System.with_load(SYMMETRIC, [1, 1], 0.6)
    for of in ("class 9", 5, [1, 2, 3], [-1, 1], [0, 0], [np.nan, 1], ["class 1", "nobody"]):
        with pytest.raises(ModelError):
            drift_bound(system, DRF(), of=of)
    with pytest.raises(ModelError, match="rounds"):
        drift_bound(system, DRF(), rounds=-1)
    with pytest.raises(ModelError, match="resource_weights"):
        drift_bound(system, DRF(resource_weights=[[1, 1]]))
    with pytest.raises(UnstableError):
        drift_bound(system.at_load(1.0), DRF())
    with pytest.raises(ModelError, match="exponential"):
        drift_bound(System(SYMMETRIC, [0.1, 0.1], sizes=Erlang(2)), DRF())
    with pytest.raises(ModelError, match="pool"):
        drift_bound(System(Cluster([[1, 2], [1, 0]], [[4, 4], [6, 0]]), [1, 1]), DRF())
    with pytest.raises(ModelError, match="arrival"):
        drift_bound(System(SYMMETRIC, [0, 0]), DRF())


def test_more_rounds_are_sharper():
    system = System.with_load(SYMMETRIC, [1, 1], 0.8)
    few, many = (drift_bound(system, DRF(), rounds=rounds) for rounds in (6, 60))
    assert many.upper[0] < few.upper[0]
    assert many.lower[0] >= few.lower[0] - 1e-6


@pytest.mark.long
def test_twenty_two_classes():
    """More than a thousand columns: operator splitting and interior points."""
    rng = np.random.default_rng(2)
    system = random_system(rng, 22, 4, 0.7)
    bound = drift_bound(system, ProportionalFair(), rounds=10)
    mean = simulate(system, ProportionalFair(), events=100_000, replications=4, rng=1).mean_jobs.sum()
    # Five per cent are many deviations of a mean of 400,000 events at load .7.
    assert bound.lower[0] <= 1.05 * mean
    assert 0.95 * mean <= bound.upper[0] < np.inf


@pytest.mark.parametrize("policy", [ProportionalFair(), DRF(), BottleneckMax(), None], ids=str)
def test_products_of_classes_that_meet_are_enough_for_bounds(policy, monkeypatch):
    """They prove what is true of all products, and in a row of links nearly as much."""
    system = System.with_load(Problem(np.eye(4) + np.eye(4, k=1), np.ones(4)), [1, 2, 1, 1], 0.6)
    whole = drift_bound(system, policy)
    monkeypatch.setattr(moments_module, "WIDE", 0)
    bound = drift_bound(system, policy)
    bound.check()
    free = bound.lower_proofs[0].drifts if policy is None else bound.upper_proofs[0].drifts
    assert free
    assert all(k - i < 2 for i, k in free)
    # What they lose is hundredths here; rounds of cuts end within thousandths.
    np.testing.assert_allclose(bound.lower, whole.lower, rtol=0.05)
    np.testing.assert_allclose(bound.upper, whole.upper, rtol=0.05)


@pytest.mark.parametrize("policy", [ProportionalFair(), DRF(), BottleneckMax()], ids=str)
@pytest.mark.parametrize("limit", [None, 1])
def test_large_programs_have_the_bounds_of_small_ones(policy, limit, monkeypatch):
    """Operator splitting and interior points, which end in the simplex method where they fail."""
    system = random_system(np.random.default_rng(7), 4, 3, 0.7, 0.3)
    small = drift_bound(system, policy)
    monkeypatch.setattr(program_module, "LARGE", 0)
    if limit is not None:
        plain = program_module._solver

        def limited(n_columns):
            solver = plain(n_columns)
            solver.setOptionValue("ipm_iteration_limit", limit)
            return solver

        monkeypatch.setattr(program_module, "_solver", limited)
    large = drift_bound(system, policy)
    large.check()
    # Either ends when the bound stands still to a thousandth.
    np.testing.assert_allclose(large.lower, small.lower, rtol=1e-3)
    np.testing.assert_allclose(large.upper, small.upper, rtol=1e-3)


def test_somebody_else_may_use_the_solver_with_more_threads():
    highspy.Highs.resetGlobalScheduler(True)
    other = highspy.Highs()
    other.setOptionValue("output_flag", False)
    other.setOptionValue("threads", 2)
    other.addVar(0.0, 1.0)
    assert other.run() == highspy.HighsStatus.kOk
    system = System(Problem([[2, 1]], [3, 1]), [0.5], 1.4)
    np.testing.assert_allclose(drift_bound(system, DRF()).upper, [7 / 3], rtol=1e-6)
    highspy.Highs.resetGlobalScheduler(True)
