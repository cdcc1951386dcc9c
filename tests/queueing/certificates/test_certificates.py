"""The checker of certificates: what it proves, that it is true, and that it cannot be deceived."""

import copy
import json
from dataclasses import replace
from unittest.mock import MagicMock

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import splu

from fairness import DRF, AssetFair, MaxMin, ModelError, Problem
from fairness.display.result import Result
from queueing import Erlang, Renewal, System, stationary
from queueing.certificates import checking
from queueing.certificates.certificate import Certificate, Drift, Functional
from queueing.certificates.drifts.decay import decay, radius
from queueing.certificates.errors import CertificateError
from queueing.certificates.families import family
from queueing.certificates.pool import Pool
from queueing.proved_bounds.check import check_certificate

POLICIES = {"MMF": MaxMin(), "DRF": DRF(), "Asset": AssetFair()}
MEANS = (Functional("jobs", 0), Functional("jobs"))


def claimless(system, policy, shape, drift, functionals):
    """A certificate with h = 0 and v = 0 that claims nothing."""
    n_f = len(functionals)
    zero, endless = np.zeros(n_f), np.full(n_f, np.inf)
    return Certificate(
        *(system, policy, {}, shape, drift, functionals),
        *(np.zeros((n_f, *shape)), np.zeros(shape), zero, -endless, endless),
    )


def value(functional, counts):
    """f on a grid of counts (..., n_classes), by its definition."""
    jobs = {None: counts.sum(axis=-1), **{i: counts[..., i] for i in range(counts.shape[-1])}}
    y = jobs[functional.job_class]
    if functional.kind == "at least":
        return (y >= functional.level).astype(float)
    if functional.kind == "jobs":
        return y
    return y * (y if functional.other_class is None else jobs[functional.other_class])


def solved(certificate, policy):
    """The certificate with h and v of the two equations, by a sparse solver."""
    c, system = certificate, certificate.system
    counts = np.stack(np.meshgrid(*(np.arange(s, dtype=float) for s in c.shape), indexing="ij"), axis=-1)
    down = policy(system.problem, counts) / system.mean_sizes
    n, size = counts.shape[-1], counts[..., 0].size
    index = np.arange(size).reshape(c.shape)
    drift, least = c.drift, radius(c.drift, Pool.of(system), c.shape)
    rows, columns, rates = [], [], []
    leaving, killed = np.zeros(c.shape), np.zeros(c.shape)
    for i in range(n):
        low, high = np.take(index, range(c.shape[i] - 1), i), np.take(index, range(1, c.shape[i]), i)
        for here, there, rate in (
            (low, high, np.full(low.shape, system.arrival_rates[i])),
            (high, low, np.take(down[..., i], range(1, c.shape[i]), i)),
        ):
            rows += [here.ravel(), here.ravel()]
            columns += [there.ravel(), here.ravel()]
            rates += [rate.ravel(), -rate.ravel()]
        face = (*[slice(None)] * i, -1)
        beyond = counts[face] + np.eye(n)[i]
        radii = ((drift.scales * beyond) ** drift.exponent).sum(axis=-1) ** (1 / drift.exponent)
        leaving[face] += system.arrival_rates[i] * np.exp(drift.theta * (radii - least))
        killed[face] += system.arrival_rates[i]
    rows, columns, rates = map(np.concatenate, (rows, columns, rates))
    chain = sparse.csc_matrix((rates, (rows, columns)), shape=(size, size))
    first = sparse.csc_matrix(([1.0], ([0], [0])), shape=(1, size))

    def bordered(matrix, right):
        """u and c with matrix u - c = right and u(0) = 0."""
        whole = sparse.bmat([[matrix, -np.ones((size, 1))], [first, None]], format="csc")
        return splu(whole).solve(np.append(right, 0.0))[:-1].reshape(c.shape)

    h = np.array([bordered(chain, -value(f, counts).ravel()) for f in c.functionals])
    v = bordered(chain - sparse.diags(killed.ravel()), -leaving.ravel())
    return with_delta(replace(c, h=h, v=v))


def with_delta(certificate):
    """With deltas that suffice outside of the box, a little larger than the conditions want them."""
    c, live = certificate, np.flatnonzero(np.array(certificate.shape) > 1)
    pool = Pool.of(c.system)
    rates = pool.arrival_rates + [t.high for t in pool.most_tasks] / pool.mean_sizes
    axes = [k + 1 for k in live]  # of h
    needed = np.zeros(len(c.functionals))
    for axis, rate in zip(axes, rates, strict=True):
        change = np.abs(np.diff(c.h, axis=axis))
        faces = [np.take(change, -1, other) for other in axes if other != axis]
        needed += rate * np.max([face.reshape(len(face), -1).max(axis=1) for face in faces] or 0.0, axis=0)
    each = radius(c.drift, pool, c.shape) / c.drift.scales[live]
    for f, one in enumerate(c.functionals):
        degree = {"at least": 0, "jobs": 1, "products": 2}[one.kind]
        needed[f] += (1 + each.sum()) ** degree
    return replace(c, delta=1.01 * needed / c.drift.gamma)


def claiming(certificate):
    """The certificate that claims all that it proves."""
    found = check_certificate(certificate)
    return replace(certificate, lower=found.lower, upper=found.upper)


def drift_of(system, policy, name, shape, exponents=(6.0, 12.0)):
    """A drift with the largest gamma that is proved for some exponents and theta."""
    c = policy.growth(system.problem) / np.where(system.loads > 0, system.loads, 1)
    omega = 1 / np.where(system.arrival_rates > 0, c * system.arrival_rates, 1)
    pool, best = Pool.of(system), Drift(2.0, c, 1.0, 0.0)
    for p in exponents:
        for theta in 2.0 ** -np.arange(2, 9):
            drift = Drift(p, (omega / omega.max()) ** (1 / p) * c, float(theta), 0.0)
            least = radius(drift, pool, shape)
            try:
                gamma = decay(drift, pool, shape, family(name).spare(pool, name, {}, drift, least))
            except CertificateError:
                continue
            best = max(best, replace(drift, gamma=gamma), key=lambda one: one.gamma)
    assert best.gamma > 0
    return best


def certified(load=0.5, name="DRF", shape=(40, 40), functionals=MEANS, problem=None, mix=(1, 1)):
    """A certificate that claims what it proves, for two coupled classes."""
    problem = Problem([[1.0, 0.1], [0.1, 1.0]], [1.0, 1.0]) if problem is None else problem
    system = System.with_load(problem, mix, load)
    drift = drift_of(system, POLICIES[name], name, shape)
    return claiming(solved(claimless(system, name, shape, drift, functionals), POLICIES[name]))


# A certificate by hand: M/M/1 with arrival rate 1 and service rate 4 on three states, as in the theory pages,
# where V(x) = 2^(x - 3), gamma = 1, h = (0, 2/7, 5/7) and v = (0, 1, 6)/27.


def by_hand(shape=3, delta=513 / 196):
    system = System(Problem([[1.0]], [1.0]), [1.0], [0.25])
    h, v, total = [0.0, 2 / 7, 5 / 7], [0.0, 1 / 27, 6 / 27], np.array([delta])
    drift = Drift(2.0, np.array([1.0]), float(np.log(2)), 0.9)
    certificate = claimless(system, "DRF", (shape,), drift, (Functional("jobs", 0),))
    return replace(certificate, h=np.array([h]), v=np.array(v), delta=total)


def test_m_m_1_by_hand():
    """The lemmas prove gamma >= 0.14 on this small box, and f is bounded more roughly: so delta is larger."""
    certificate = by_hand()
    pool, drift = Pool.of(certificate.system), certificate.drift
    assert family("DRF").spare(pool, "DRF", {}, drift, 3.0) == pytest.approx(3.0, rel=1e-6)
    certificate = replace(certificate, drift=replace(drift, gamma=0.14), delta=np.array([30.0]))
    with pytest.raises(CertificateError, match="'drift'"):
        check_certificate(replace(certificate, drift=replace(drift, gamma=1.2)))
    lower, upper = check_certificate(certificate)
    assert lower[0] < 1 / 3 < upper[0]
    # f + Q(h +- delta v) = 2/7 +- delta/27 in all three states.
    assert lower[0] == pytest.approx(2 / 7 - 30 / 27, abs=1e-12)
    assert upper[0] == pytest.approx(2 / 7 + 30 / 27, abs=1e-12)


@pytest.mark.parametrize(
    ("changes", "taken"),
    [({}, True), ({"exponent": 1.5}, True), ({"exponent": 1.0}, False), ({"theta": 1e-60}, False)],
)
def test_what_a_drift_may_be(changes, taken):
    certificate = with_drift(by_hand(), **changes)
    with pytest.raises(CertificateError) as caught:  # by_hand claims more than the lemmas prove
        check_certificate(certificate)
    assert (caught.value.condition != "data") == taken


def test_two_states_of_a_class_are_enough():
    c = by_hand(shape=2)
    with pytest.raises(CertificateError) as caught:
        check_certificate(replace(c, h=c.h[:, :2], v=c.v[:2]))
    assert caught.value.condition != "data"
    one = by_hand(shape=1)
    with pytest.raises(CertificateError, match="need at least 2 states"):
        check_certificate(replace(one, h=one.h[:, :1], v=one.v[:1]))


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_m_m_1_is_enclosed_narrowly(load):
    """h of the infinite chain is known: h(x) = x (x + 1)/(2 (mu - lambda)), with E x = rho/(1 - rho)."""
    system = System(Problem([[1.0]], [1.0]), [load])
    shape = (int(40 / -np.log(load)) + 2,)
    drift = drift_of(system, DRF(), "DRF", shape, [2.0])
    certificate = solved(claimless(system, "DRF", shape, drift, (Functional("jobs", 0),)), DRF())
    x = np.arange(shape[0])
    steps = np.diff(certificate.h[0])
    assert steps[:10] == pytest.approx((x[1:11]) / (1 - load), rel=1e-6)
    lower, upper = check_certificate(certificate)
    assert lower[0] < load / (1 - load) < upper[0]
    assert upper[0] - lower[0] < 1e-8


def test_the_largest_value_of_f_is_a_bound_without_h():
    """h = 0 and v = 0 prove 0 <= E f <= the largest f in the box, and what V adds at its faces."""
    system = System.with_load(Problem([[1.0, 0.1], [0.1, 1.0]], [1.0, 1.0]), [1, 1], 0.5)
    shape, some = (30, 40), (Functional("jobs", 0), Functional("at least", 1, level=2))
    drift = drift_of(system, DRF(), "DRF", shape)
    lower, upper = check_certificate(with_delta(claimless(system, "DRF", shape, drift, some)))
    assert upper[0] > 29
    assert upper[1] > 1
    assert (lower <= 0).all()


@pytest.mark.long
@pytest.mark.parametrize("name", list(POLICIES))
def test_means_of_a_much_larger_box_lie_within(name):
    """Three systems per policy, all kinds of f; tails of the larger box are below 1e-14."""
    rng = np.random.default_rng(list(POLICIES).index(name))
    some = (
        *(Functional("jobs", 0), Functional("jobs", 1), Functional("jobs"), Functional("products", 0)),
        *(Functional("products", 0, 1), Functional("products"), Functional("at least", 1, level=3)),
        Functional("at least", None, level=4),
    )
    for _ in range(3):
        demands = rng.integers(0, 3, (2, 2)) + np.eye(2)
        problem = Problem(demands, [2.0, 3.0], weights=rng.uniform(0.7, 1.4, 2))
        system = System.with_load(
            problem, rng.uniform(0.3, 1, 2), rng.uniform(0.3, 0.6), rng.uniform(0.5, 2, 2)
        )
        policy = POLICIES[name]
        c = policy.growth(problem) / system.loads
        shape = tuple(int(side) for side in np.ceil(45 * c.max() / c))
        drift = drift_of(system, policy, name, shape)
        certificate = solved(claimless(system, name, shape, drift, some), policy)
        lower, upper = check_certificate(certificate)
        larger = [side + 30 for side in shape]
        law = stationary(system, policy, shape=larger).distribution
        counts = np.stack(np.meshgrid(*map(np.arange, larger), indexing="ij"), axis=-1)
        means = np.array([(law * value(f, counts)).sum() for f in some])
        slack = 1e-10 * (1 + means)  # of the solver and of summing
        assert (lower <= means + slack).all()
        assert (means - slack <= upper).all()
        assert (upper - lower < 0.02 * (1 + means)).all()


def test_three_classes_one_of_them_without_arrivals():
    """The class without arrivals has one state, and changes nothing."""
    pair = Problem([[1.0, 0.2], [0.1, 1.0]], [1.0, 1.0])
    three = Problem([[1.0, 0.2], [3.0, 0.0], [0.1, 1.0]], [1.0, 1.0])
    both = certified(problem=pair, functionals=(Functional("jobs", 1), Functional("jobs")))
    system = System(three, [both.system.arrival_rates[0], 0.0, both.system.arrival_rates[1]])
    scales = np.insert(both.drift.scales, 1, 0.0)
    same = replace(
        both,
        system=system,
        shape=(40, 1, 40),
        drift=replace(both.drift, scales=scales),
        functionals=(Functional("jobs", 2), Functional("jobs")),
        h=both.h[:, :, None],
        v=both.v[:, None],
    )
    assert all(map(np.array_equal, check_certificate(same), check_certificate(both)))
    nobody = (Functional("jobs", 1), Functional("products", 1), Functional("products", 1, 2))
    empty = claimless(system, "DRF", same.shape, same.drift, nobody)
    found = check_certificate(replace(empty, v=same.v, delta=np.full(3, both.delta.max())))
    assert (found.lower <= 0).all()
    assert (found.upper < 1e-2).all()


@pytest.mark.long
def test_fractions_prove_the_same_up_to_rounding():
    """A second method: limits, ties and zero demands; the bounds of the floats lie outside."""
    problem = Problem([[1, 0.5], [0, 1]], [1, 1], limits=[0.25, np.inf], weights=[1, 1.25])
    for name in POLICIES:
        certificate = certified(0.35, name, (18, 16), (*MEANS, Functional("at least", 0, level=2)), problem)
        floats, exact = check_certificate(certificate), check_certificate(certificate, exact=True)
        assert (floats.lower <= exact.lower).all()
        assert (exact.upper <= floats.upper).all()
        scale = 1 + certificate.delta
        assert (exact.lower - floats.lower < 1e-13 * scale).all()
        assert (floats.upper - exact.upper < 1e-13 * scale).all()
        # One less is claimed than proved by fractions.
        with pytest.raises(CertificateError, match="is claimed of"):
            check_certificate(replace(certificate, upper=exact.lower), exact=True)


def test_fractions_need_a_policy_of_fractions():
    certificate = certified()
    with pytest.raises(ModelError, match="exact=False"):
        check_certificate(with_drift(replace(certificate, policy="PF"), exponent=2.0, gamma=1e-9), exact=True)


def changed(certificate, name, place, amount):
    """The certificate with one number of an array changed."""
    array = getattr(certificate, name).copy()
    array[place] += amount
    return replace(certificate, **{name: array})


def with_drift(certificate, **changes):
    return replace(certificate, drift=replace(certificate.drift, **changes))


def with_system(certificate, **changes):
    s = certificate.system
    given = {"problem": s.problem, "arrival_rates": s.arrival_rates, "mean_sizes": s.mean_sizes}
    return replace(certificate, system=System(**(given | changes)))


def with_forged(certificate, name, values):
    """Numbers of the problem that no constructor lets pass; a file may hold them."""
    problem = copy.copy(certificate.system.problem)
    object.__setattr__(problem, name, np.array(values))
    return with_system(certificate, problem=problem)


TAMPERED = {
    "exponent": (lambda c: with_drift(c, exponent=2.0), "drift|inside"),
    "exponent 1": (lambda c: with_drift(c, exponent=1.0), "data"),
    "theta up": (lambda c: with_drift(c, theta=1.05 * c.drift.theta), "drift|inside"),
    "theta far up": (lambda c: with_drift(c, theta=30.0), "drift"),
    "theta down": (lambda c: with_drift(c, theta=0.1 * c.drift.theta), "drift|face|outside"),
    "gamma": (lambda c: with_drift(c, gamma=1.001 * c.drift.gamma), "drift"),
    "scales": (lambda c: with_drift(c, scales=c.drift.scales * [1.0, 3.0]), "drift|inside"),
    "scales without sign": (lambda c: with_drift(c, scales=-c.drift.scales), "data"),
    "h in the middle": (lambda c: changed(c, "h", (0, 7, 5), 1e-4), "inside"),
    "h at a face": (lambda c: changed(c, "h", (1, 39, 20), -1e-3), "inside|outside"),
    "v in the middle": (lambda c: changed(c, "v", (20, 20), 1e-6), "inside"),
    "v at a face": (lambda c: changed(c, "v", (39, 3), 50.0), "face"),
    "delta": (lambda c: replace(c, delta=c.delta / 100), "outside"),
    "delta below 0": (lambda c: replace(c, delta=-c.delta), "data"),
    "upper": (lambda c: replace(c, upper=np.nextafter(c.upper, 0.0)), "inside|outside"),
    "lower": (lambda c: replace(c, lower=np.nextafter(c.lower, 1e9)), "inside|outside"),
    "claims of another order": (lambda c: replace(c, lower=c.lower[::-1], upper=c.upper[::-1]), "inside"),
    "claims without a number": (lambda c: replace(c, upper=c.upper * np.nan), "inside|outside"),
    "box": (lambda c: replace(c, shape=(30, 40), h=c.h[:, :30], v=c.v[:30]), "drift|inside|face|outside"),
    "box turned": (
        lambda c: replace(c, shape=(20, 80), h=c.h.reshape(2, 20, 80), v=c.v.reshape(20, 80)),
        ".",
    ),
    "functionals": (lambda c: replace(c, functionals=c.functionals[::-1]), "inside"),
    "arrivals": (
        lambda c: with_system(c, arrival_rates=c.system.arrival_rates * [1.0001, 1]),
        "drift|inside",
    ),
    "sizes": (lambda c: with_system(c, mean_sizes=c.system.mean_sizes * [1, 1.0001]), "drift|inside"),
    "demands": (
        lambda c: with_system(c, problem=Problem([[1.0, 0.1], [0.1001, 1.0]], [1.0, 1.0])),
        "drift|inside",
    ),
    "limits": (
        lambda c: with_system(c, problem=Problem([[1.0, 0.1], [0.1, 1.0]], [1.0, 1.0], limits=[0.5, 1])),
        "drift|inside",
    ),
    "policy": (lambda c: replace(c, policy="MMF", parameters={}), "drift|inside"),
    "parameters": (
        lambda c: replace(c, parameters={"resource_weights": [[1, 1], [1, 1.01]]}),
        "drift|inside",
    ),
}


@pytest.fixture(scope="module")
def honest():
    # Weights of jobs and sizes of demands differ, so that the policies do.
    problem = Problem([[1.0, 0.1], [0.1, 1.0]], [1.0, 1.2], weights=[1.0, 1.5])
    certificate = certified(problem=problem)
    assert check_certificate(certificate).upper == pytest.approx(certificate.upper, rel=0, abs=0)
    return certificate


@pytest.mark.parametrize("kind", list(TAMPERED))
def test_tampering_is_found(honest, kind):
    tamper, conditions = TAMPERED[kind]
    with pytest.raises(CertificateError) as caught:
        check_certificate(tamper(honest))
    assert caught.value.condition in conditions.split("|") or conditions == "."


def test_an_error_names_condition_state_and_values(honest):
    with pytest.raises(
        CertificateError, match=r"condition 'inside' in state \(7, 5\): .* is claimed of"
    ) as caught:
        check_certificate(changed(honest, "h", (0, 7, 5), -1e-3))
    assert (caught.value.condition, caught.value.state) == ("inside", (7, 5))
    with pytest.raises(CertificateError, match=r"condition 'face' in state \(39, 3\): v exceeds V by 4"):
        check_certificate(changed(honest, "v", (39, 3), 50.0))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda c: "certificate", "must be a Certificate"),
        (lambda c: replace(c, system=c.system.problem), "must be a System"),
        (lambda c: replace(c, policy="mine"), "no definition"),
        (lambda c: replace(c, policy=["DRF"]), "no definition"),
        (lambda c: replace(c, parameters={"weights": [1.0]}), "no parameter"),
        (lambda c: replace(c, shape=(40, 40.0)), "whole numbers"),
        (lambda c: replace(c, shape=(40,)), "whole numbers"),
        (lambda c: replace(c, shape=(40, 1), h=c.h[..., :1], v=c.v[:, :1]), "at least 2 states"),
        (lambda c: replace(c, shape=(2**26, 40)), "whole numbers"),
        (lambda c: replace(c, h=c.h[:1]), "h must be floats"),
        (lambda c: replace(c, h=c.h.astype(np.float32)), "h must be floats"),
        (lambda c: changed(c, "h", (0, 1, 1), np.nan), "not within"),
        (lambda c: changed(c, "v", (1, 1), np.inf), "not within"),
        (lambda c: replace(c, delta=[1.0, 1.0]), "delta must be floats"),
        (lambda c: replace(c, functionals=("jobs", "jobs")), "no functional"),
        (lambda c: replace(c, functionals=(Functional(["jobs"], 0),) * 2), "no functional"),
        (lambda c: replace(c, functionals=(Functional("at least", 0, level=2**70),) * 2), "no functional"),
        (lambda c: replace(c, functionals=list(c.functionals)), "functionals a tuple"),
        (lambda c: replace(c, parameters=None), "parameters must be a dict"),
        (lambda c: replace(c, parameters={"resource_weights": [["a"]]}), "must be numbers"),
        (lambda c: replace(c, drift=None), "must be a Drift"),
        (lambda c: with_drift(c, hints=None), "must be a Drift"),
        (lambda c: replace(c, functionals=(Functional("jobs", 2),) * 2), "does not exist"),
        (lambda c: replace(c, functionals=(Functional("jobs", True),) * 2), "does not exist"),
        (lambda c: with_drift(c, theta=1), "theta must be a float"),
        (lambda c: with_drift(c, gamma=0.0), "gamma must be a float"),
        (lambda c: with_drift(c, scales=np.ones(3)), "scales must be floats"),
        (lambda c: with_system(c, arrival_rates=[0.0, 0.0]), "no class has arrivals"),
        (lambda c: with_system(c, arrival_rates=c.system.arrival_rates * 3), "not below 1"),
        (lambda c: with_system(c, mean_sizes=[1e-60, 1.0]), "mean_sizes holds"),
        (lambda c: with_forged(c, "limits", [0.0, np.inf]), "limits of classes with arrivals must be > 0"),
        (lambda c: with_forged(c, "weights", [1.0, 0.0]), "weights of classes with arrivals must be > 0"),
        (
            lambda c: replace(c, parameters={"resource_weights": np.ones((2, 3))}),
            "resource_weights has shape",
        ),
        (lambda c: replace(c, system=System(c.system.problem, [0.1, 0.1], sizes=Erlang(2))), "exponential"),
        (
            lambda c: replace(c, system=System(c.system.problem, [0.1, 0.1], arrivals=Renewal(Erlang(2)))),
            "Poisson",
        ),
    ],
)
def test_data_that_are_none_are_refused(honest, wrong, said):
    with pytest.raises(CertificateError, match=said) as caught:
        check_certificate(wrong(honest))
    assert caught.value.condition == "data"


def test_what_h_gains_along_the_faces_bounds_it_outside(honest):
    """Outside of the box Q h is at most D: sum of rates times the largest steps on faces of other classes."""
    steps = np.abs(np.diff(honest.h, axis=1))[:, :, -1].max(axis=1), np.abs(np.diff(honest.h, axis=2))[:, -1]
    steps = np.array([steps[0], steps[1].max(axis=1)]).T
    system = honest.system
    d = steps @ (system.arrival_rates + system.most_tasks / system.mean_sizes)
    gamma, least = honest.drift.gamma, radius(honest.drift, Pool.of(system), honest.shape)
    growth = np.array([1 / honest.drift.scales[0], (1 / honest.drift.scales).sum()]) * least
    nothing = replace(honest, upper=np.full(2, np.inf), lower=np.full(2, -np.inf))
    for exact in (False, True):
        lower, upper = check_certificate(replace(nothing, delta=1.001 * growth / gamma), exact=exact)
        assert upper == pytest.approx(d - 0.001 * growth, rel=1e-9)
        assert lower == pytest.approx(1.001 * growth - d, rel=1e-9)
    with pytest.raises(CertificateError, match=r"'outside': delta gamma = .* which needs at least"):
        check_certificate(replace(nothing, delta=0.999 * growth / gamma))


def test_f_must_not_outgrow_v_even_where_the_box_bounds_it(honest):
    """With delta = 0 the largest f of the box would bound its mean, and the mean may be larger."""
    some = (Functional("jobs", 0),)
    flat = claimless(honest.system, "DRF", honest.shape, honest.drift, some)
    with pytest.raises(CertificateError, match="needs at least"):
        check_certificate(flat)
    slow = replace(flat, drift=replace(flat.drift, theta=0.5 / 60, gamma=1e-9), delta=np.array([1e12]))
    with pytest.raises(CertificateError, match="theta T_A must be at least 1"):
        check_certificate(slow)


def test_who_watches_a_check_is_told_of_each_state_once(monkeypatch):
    task = MagicMock()
    monkeypatch.setattr(checking, "Task", task)
    monkeypatch.setattr(checking, "SECONDS", 0.05)  # a state, so that there are several parts
    c = by_hand()
    check_certificate(replace(c, drift=replace(c.drift, gamma=0.14), delta=np.array([30.0])))
    steps = [call.args[0] for call in task.return_value.__enter__.return_value.advance.call_args_list]
    assert sum(steps) == 3 == task.call_args.args[1]
    assert len(steps) > 1


@pytest.mark.long
def test_parts_of_the_box_are_merged(honest, monkeypatch):
    """One part, or hundreds in as many threads as there are: the same, error and all."""
    whole = check_certificate(honest)
    spoiled = changed(honest, "h", (0, 7, 5), -1e-3)
    monkeypatch.setattr(checking, "SECONDS", 1.0)
    parts = check_certificate(honest)
    assert all(map(np.array_equal, whole, parts))
    with pytest.raises(CertificateError, match=r"state \(7, 5\)"):
        check_certificate(spoiled)


def test_the_file_of_a_certificate(honest, tmp_path):
    """Every bit survives; what is changed in the file is found, by the digest or by the checker."""
    honest.save(tmp_path / "c.json.gz")
    loaded = Certificate.load(tmp_path / "c.json.gz")
    assert isinstance(Result.load(tmp_path / "c.json.gz"), Certificate)
    assert all(map(np.array_equal, check_certificate(loaded), (honest.lower, honest.upper)))
    honest.save(tmp_path / "c.json")
    document = json.loads((tmp_path / "c.json").read_text())
    document["parts"][0], document["parts"][1] = document["parts"][1], document["parts"][0]
    (tmp_path / "c.json").write_text(json.dumps(document))
    with pytest.raises(ModelError, match="changed after it was written"):
        Certificate.load(tmp_path / "c.json")


def test_what_a_certificate_tells(honest):
    text = honest.summary()
    assert text.startswith("certificate of 2 means under DRF\n  jobs of class 0: ")
    assert "box 40 x 40; V with exponent " in text
    table = honest.to_dataframe()
    assert list(table.columns) == ["lower", "upper", "width"]
    assert list(table.index) == ["jobs of class 0", "all jobs"]
    assert "<table" in honest._repr_html_()
    assert honest.plot().get_title() == "bounds under DRF"
    with pytest.raises(ModelError, match="claims no bounds"):
        replace(honest, upper=np.full(2, np.inf)).plot()


def test_names_of_functionals():
    assert Functional("products", 0).name == "jobs of class 0 squared"
    assert Functional("products", 0, 1).name == "jobs of class 0 times jobs of class 1"
    assert Functional("products").name == "all jobs squared"
