"""Enclosures of finite chains against exact fractions and published values; tampered certificates."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from fairness import DRF, ModelError, Problem
from fairness.errors import NotConvergedError
from fairqueues.exchange import read_chain, write_chain, write_generator
from queueing import CertificateError, FiniteChain, System, check_certificate, enclose_chain, stationary
from queueing.certificates import chain_certificate
from queueing.certificates.chain_certificate import poisson_sides
from queueing.chain.solvers import poisson_steps
from queueing.enclosures import finite_chains
from tests.queueing.chain.chains import mean_in_fractions

METHODS = {"elimination": {}, "sparse factors": {"CHEAP": 0}, "iteration": {"CHEAP": 0, "LONGEST": 0}}


@pytest.fixture(params=METHODS)
def method(request, monkeypatch):
    for name, value in METHODS[request.param].items():
        monkeypatch.setattr(poisson_steps, name, value)
    return request.param


def exact_mean(chain, f):
    """Mean of f under the law of an irreducible chain."""
    rates = np.zeros((chain.n_states,) * 2)
    for x in range(chain.n_states):
        moves = slice(chain.starts[x], chain.starts[x + 1])
        rates[x, chain.targets[moves]] = chain.rates[moves]
    return mean_in_fractions(rates, f)


def random_chain(rng, n, decades):
    rates = np.where(rng.random((n, n)) < 0.4, 10 ** rng.uniform(-decades, decades, (n, n)), 0.0)
    rates += np.roll(np.diag(10 ** rng.uniform(-decades, decades, n)), 1, axis=1)
    np.fill_diagonal(rates, 0.0)
    return FiniteChain(
        rates, rewards={"gain": rng.normal(size=n)}, labels={"some": np.arange(n) < max(1, n // 3)}
    )


def tandem(c):
    """M/Cox2/1/c, then M/1/c: the public benchmark chain from its definition.

    Station 1 holds 0 to c jobs and is in phase 1 or 2; arrivals at rate 4 c while it has room. In phase 1 a
    job goes on at rate 1.8, if station 2 has room, or to phase 2 at rate 0.2; in phase 2 it goes on at rate
    2, if there is room, and the next one starts in phase 1. Station 2 serves at rate 4.
    """
    states = [(k, p, m) for k in range(c + 1) for p in ((1, 2) if k else (1,)) for m in range(c + 1)]
    number = {state: x for x, state in enumerate(states)}
    moves = []
    for state in states:
        k, p, m = state
        if k < c:
            moves.append((state, (k + 1, p, m), 4.0 * c))
        if k and p == 1:
            moves.append((state, (k, 2, m), 0.2))
        if k and m < c:
            moves.append((state, (k - 1, 1, m + 1), 1.8 if p == 1 else 2.0))
        if m:
            moves.append((state, (k, p, m - 1), 4.0))
    sources, targets = ([number[move[end]] for move in moves] for end in (0, 1))
    rates = sparse.coo_array(([move[2] for move in moves], (sources, targets)), shape=(len(states),) * 2)
    return FiniteChain(
        rates,
        variables={"k": [k for k, _, _ in states], "m": [m for _, _, m in states]},
        rewards={"jobs": [k + m for k, _, m in states]},
    )


@pytest.mark.parametrize("kind", [".tra", ".mtx", ".drn"])
@pytest.mark.parametrize(
    ("c", "published"),
    [(5, 5.679249959967679), (7, 7.7465621853360425), (15, 15.798592927169762), (31, 31.81500388515128)],
)
def test_published_values_of_the_tandem_lie_inside(c, published, kind, tmp_path):
    write_chain(tandem(c), tmp_path / "tandem", kinds=["mtx", "csv", "prism", "storm"])
    chain = read_chain(tmp_path / f"tandem{kind}")
    low, high = enclose_chain(chain, "jobs").bounds("jobs")
    assert low <= published <= high
    assert high - low <= 1e-10


@pytest.mark.parametrize("decades", [0.0, 3.0, 6.0, 10.0])
def test_exact_means_of_random_chains_lie_inside(decades, method):
    rng = np.random.default_rng([1, int(decades)])
    for _ in range(12):
        chain = random_chain(rng, int(rng.integers(2, 9)), decades)
        enclosure = enclose_chain(chain, ["gain", "some"])
        assert enclosure.method == method
        assert not enclosure.shortfall
        assert enclosure.reached <= enclosure.width
        for name in enclosure.names:
            low, high = map(Fraction, enclosure.bounds(name))
            assert low <= exact_mean(chain, chain.values(name)) <= high


def test_nearly_decomposable_chains():
    # Four groups coupled 10^-18 times as strongly as within: no float holds the sum of the rates.
    rng = np.random.default_rng(2)
    rates = np.kron(np.eye(4), rng.random((3, 3))) + 1e-18 * rng.random((12, 12))
    np.fill_diagonal(rates, 0.0)
    chain = FiniteChain(rates, rewards={"r": rng.random(12)})
    low, high = enclose_chain(chain, width=1e-11).bounds("r")
    assert low <= exact_mean(chain, chain.values("r")) <= high


def test_bounds_of_a_state_hold_what_fractions_say():
    # h in two floats over 150 decades; every second f cancels Qh, so that only what roundings leave is seen.
    rng = np.random.default_rng(3)
    for trial in range(200):
        decades = (0, 5, 40, 150)[trial // 2 % 4]
        most = min(decades, 100)
        chain = random_chain(rng, 5, most)
        h = rng.choice([-1, 1], 5) * 10 ** rng.uniform(-decades, most, 5)
        rest = h * rng.normal(size=5) * 10.0 ** rng.integers(-20, 1) * (trial % 3 > 0)
        whole = [Fraction(a) + Fraction(b) for a, b in zip(h, rest, strict=True)]
        moved, sizes = [Fraction(0)] * 5, [Fraction(0)] * 5
        for x in range(5):
            for k in range(chain.starts[x], chain.starts[x + 1]):
                y, q = chain.targets[k], Fraction(chain.rates[k])
                moved[x] += q * (whole[y] - whole[x])
                sizes[x] += q * sum(abs(Fraction(part[z])) for part in (h, rest) for z in (x, y))
        cancelling = np.array([-float(value) for value in moved])
        f = cancelling if trial % 2 else rng.normal(size=5) * 10 ** rng.uniform(-decades, most, 5)
        lower, upper = poisson_sides(chain, f, h, rest)
        for x in range(5):
            assert Fraction(lower[x]) <= Fraction(f[x]) + moved[x] <= Fraction(upper[x])
            # The roundings of the result, and of what is left over if the rest is as large as h.
            assert upper[x] - lower[x] <= 1e-13 * (float(sizes[x]) + abs(f[x])) + 1e-280


def test_the_kernel_computes_the_same_uncompiled(monkeypatch):
    rng = np.random.default_rng(4)
    chain = random_chain(rng, 6, 3.0)
    h, rest = rng.normal(size=6), 1e-17 * rng.normal(size=6)
    compiled = poisson_sides(chain, chain.values("gain"), h, rest)
    for name in ("_sides", "two_sum", "two_product"):
        monkeypatch.setattr(chain_certificate, name, getattr(chain_certificate, name).py_func)
    plain = poisson_sides(chain, chain.values("gain"), h, rest)
    assert all((a == b).all() for a, b in zip(compiled, plain, strict=True))


def test_rare_events_and_means_of_zero(method):
    # M/M/1/K at load 1/100: P(full) = 10^-2K, up to rounding, exact in fractions.
    k = 9
    rates = np.diag([0.01] * k, 1) + np.diag([1.0] * k, -1)
    signs = np.where(np.arange(k + 1) == 0, 1.0, 0.0) * 0.0
    chain = FiniteChain(rates, labels={"full": np.arange(k + 1) == k}, rewards={"nothing": signs})
    low, high = map(Fraction, enclose_chain(chain, "full", width=1e-10).bounds("full"))
    load = Fraction(0.01)
    assert low <= load**k * (1 - load) / (1 - load ** (k + 1)) <= high
    assert enclose_chain(chain).bounds("nothing") == (0.0, 0.0)
    flip = FiniteChain([[0, 1], [1, 0]], rewards={"odd": [1, -1]})
    low, high = enclose_chain(flip).bounds("odd")
    assert low <= 0 <= high
    assert high - low <= 1e-12


def test_the_box_of_the_job_counts(tmp_path):
    system = System(Problem([[1, 0.25], [0.5, 1]], [1, 1]), [0.4, 0.3], [1.0, 1.5])
    files = write_generator(system, DRF(), (9, 11), tmp_path / "c", kinds=["prism"])
    enclosure = enclose_chain(read_chain(files[0]))
    law = stationary(system, DRF(), shape=(9, 11))
    # The chain of the files has rounded rates: a few roundings, which the law feels hardly more than once.
    slack = law.mean_jobs * (law.mean_error + 1e-13)
    assert (enclosure.lower <= law.mean_jobs + slack).all()
    assert (law.mean_jobs - slack <= enclosure.upper).all()


def test_transient_states_and_several_closed_classes():
    # 0 -> 1 <-> 2, and 0 -> 3, which is never left.
    chain = FiniteChain(
        [[0, 1, 0, 1], [0, 0, 1, 0], [0, 3, 0, 0], [0, 0, 0, 0]], variables={"x": [10.0, 20.0, 30.0, 40.0]}
    )
    with pytest.raises(
        ModelError, match=r"2 sets of states that are never left.*2 with state 1 \(x=20\); 1 with state 3"
    ):
        enclose_chain(chain)
    for states, mean in zip(chain.closed_classes, (22.5, 40.0), strict=True):
        low, high = enclose_chain(chain.part(states)).bounds("x")
        assert low <= mean <= high
    only = FiniteChain(
        [[0, 1, 0], [0, 0, 1], [0, 3, 0]],
        variables={"x": [10.0, 20.0, 30.0]},
        labels={"gone": [True, False, False]},
    )
    enclosure = enclose_chain(only, ["x", "gone"])
    assert enclosure.certificate.states.tolist() == [1, 2]
    assert enclosure.bounds("gone") == (0.0, 0.0)
    assert "1 of them transient" in enclosure.summary()
    low, high = enclosure.bounds("x")
    assert low <= 22.5 <= high
    enclosure.check()


def test_what_is_asked_for():
    chain = FiniteChain([[0, 1], [3, 0]], variables={"x": [0, 1]}, labels={"b": [False, True]})
    assert enclose_chain(chain).names == ("x",)
    assert enclose_chain(FiniteChain([[0, 1], [3, 0]], labels={"b": [False, True]})).names == ("b",)
    assert enclose_chain(chain, ["b", "x", "b"]).names == ("b", "x")
    mine = enclose_chain(chain, {"square": [0, 4]})
    assert mine.bounds("square")[0] <= 1 <= mine.bounds("square")[1]
    for of, said in (
        ("y", "of must be of what the chain knows: 'x', 'b'; got 'y'"),
        ([], "of is empty"),
        ({}, "of is empty"),
        ({"y": [1, np.nan]}, "of: rewards must be finite; 'y' has nan in state 1"),
        ({"x": [1, 2]}, "the chain has its own 'x'"),
        ({"y": [1]}, r"'y' has shape \(1,\)"),
    ):
        with pytest.raises(ModelError, match=said):
            enclose_chain(chain, of)
    with pytest.raises(ModelError, match="must name what is wanted"):
        enclose_chain(FiniteChain([[0, 1], [3, 0]]))
    with pytest.raises(ModelError, match="name must be of 'x'; got 'b'"):
        enclose_chain(chain).bounds("b")
    with pytest.raises(ModelError, match="chain must be a FiniteChain"):
        enclose_chain(np.eye(2))
    with pytest.raises(ModelError, match="width must be a"):
        enclose_chain(chain, width=1e-17)


def test_what_is_not_reached_is_said(monkeypatch):
    chain = random_chain(np.random.default_rng(6), 8, 1.0)
    monkeypatch.setattr(finite_chains, "STEPS", 1)
    short = enclose_chain(chain, "gain")
    assert "of 'gain' no more digits were found" in short.shortfall
    assert short.reached > short.width
    assert short.shortfall in short.summary()
    low, high = map(Fraction, short.bounds("gain"))
    assert low <= exact_mean(chain, chain.values("gain")) <= high
    monkeypatch.undo()
    with pytest.raises(NotConvergedError, match=r"time_limit=0 seconds are over.*0 of 1 means"):
        enclose_chain(chain, "gain", time_limit=0)
    # What no float holds is bounded by the least and the largest value.
    huge = FiniteChain([[0, 1e-200], [1e-200, 0]], rewards={"r": [1e300, -1e300]})
    assert enclose_chain(huge, width=1e-3).bounds("r") == (-1e300, 1e300)
    assert enclose_chain(huge, width=1e-3).reached == 2.0


def tampered(certificate):
    """The certificate with one thing changed at a time, to its advantage."""
    c, chain = certificate, certificate.chain
    up = np.nextafter(c.upper, np.inf)
    yield "inside", replace(c, lower=up, upper=np.full_like(c.upper, np.inf))
    yield "inside", replace(c, upper=np.nextafter(c.lower, -np.inf), lower=np.full_like(c.upper, -np.inf))
    yield "inside", replace(c, upper=np.full_like(c.upper, np.nan))
    yield "inside", replace(c, h=c.h * 1.01)
    bent = c.h.copy()
    bent[0, 3] += 1e-6
    yield "inside", replace(c, h=bent)
    yield "inside", replace(c, h_rest=c.h_rest + np.arange(c.h.shape[1]) * 1e-9)
    yield "closed", replace(c, states=c.states[:-1], h=c.h[:, :-1], h_rest=c.h_rest[:, :-1])
    yield "data", replace(c, h=c.h[:, :-1])
    yield "data", replace(c, h=np.full_like(c.h, np.nan))
    yield "data", replace(c, states=c.states[::-1].copy())
    yield "data", replace(c, names=("no", "such"))
    yield "data", replace(c, lower=c.lower[:1])
    yield "data", replace(c, chain="chain")
    for change in (
        {"rates": chain.rates * 1.001},
        {"rewards": {**chain.rewards, "gain": chain.rewards["gain"] + 1e-6}},
    ):
        # Fields of a chain are frozen; what a forger does to them, a checker must see.
        forged = object.__new__(FiniteChain)
        vars(forged).update({**vars(chain), **change})
        yield "inside", replace(c, chain=forged)
    for change in (
        {"rates": -chain.rates},
        {"targets": chain.targets + np.int32(1)},
        {"starts": chain.starts[::-1].copy()},
        {"rewards": {"gain": chain.rewards["gain"][:-1]}},
    ):
        forged = object.__new__(FiniteChain)
        vars(forged).update({**vars(chain), **change})
        yield "data", replace(c, chain=forged)


def test_tampered_certificates_are_rejected():
    rng = np.random.default_rng(7)
    chain = random_chain(rng, 7, 1.0)
    certificate = enclose_chain(chain, ["gain", "some"]).certificate
    bounds, exact = check_certificate(certificate), check_certificate(certificate, exact=True)
    # The same sums without any rounding: never wider, and no narrower than a few roundings.
    assert (exact.lower >= bounds.lower).all()
    assert (exact.upper <= bounds.upper).all()
    assert np.allclose(exact, bounds, rtol=1e-14, atol=0)
    cases = list(tampered(certificate))
    assert len(cases) == 19
    for k, (condition, forged) in enumerate(cases):
        with pytest.raises(CertificateError) as caught:
            check_certificate(forged)
        assert caught.value.condition == condition, f"case {k}: {caught.value}"
        with pytest.raises(CertificateError):
            check_certificate(forged, exact=True)
    # Any h proves something.
    crude = replace(
        certificate,
        h=rng.normal(size=certificate.h.shape),
        lower=np.full(2, -np.inf),
        upper=np.full(2, np.inf),
    )
    lower, upper = check_certificate(crude)
    for k, name in enumerate(certificate.names):
        assert Fraction(lower[k]) <= exact_mean(chain, chain.values(name)) <= Fraction(upper[k])
