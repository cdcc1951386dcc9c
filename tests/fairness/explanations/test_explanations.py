"""Explanations: what stops a class, and what would change, against definitions and exact allocations."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from matplotlib.figure import Figure

from fairness import (
    CDRF,
    DRF,
    PSDSF,
    TDRF,
    TSF,
    AlphaFair,
    AssetFair,
    BottleneckMax,
    Cluster,
    MaxMin,
    ModelError,
    NotConvergedError,
    PerServerDRF,
    Problem,
    ProportionalFair,
    allocate,
    explain,
    one_state,
)
from fairness.explanations.sensitivity import one_sided_rate
from fairness.explanations.what_if import amount_of, with_capacity
from fairness.properties.exact.enclosure import enclose
from fairness.testing import random_cluster, random_problem

POOL = Problem([[1, 4], [3, 1]], [9, 18], job_classes=["A", "B"], resources=["cpu", "ram"])
LINE = Problem(
    [[1, 1], [1, 0], [0, 1]], [1, 1], job_classes=["long", "left", "right"], resources=["l1", "l2"]
)
SERVERS = Cluster(
    [[1, 2, 10], [1, 2, 1], [0.5, 1, 0]],
    [[9, 12, 100], [12, 12, 0]],
    weights=[1, 1, 2],
    job_classes=["a", "b", "c"],
    servers=["s", "t"],
    resources=["cpu", "ram", "net"],
)


def why(model, policy, job_class, counts=None, **options):
    return explain(allocate(model, policy, counts), job_class, policy, **({"others": []} | options))


def change(explanation, words):
    return explanation.cases[words].change


# --- by hand -------------------------------------------------------------------------------------------


def test_drf_by_hand():
    told = why(POOL, DRF(), "A", others=[MaxMin()])
    (stop,) = told.stops
    assert (stop.cause, stop.resource, stop.together) == ("resource", "cpu", ("B",))
    assert stop.value == pytest.approx(2 / 3, rel=1e-14)
    assert told.holders()["units"].to_dict() == {"B": 6, "A": 3}
    # Full cpu c: levels y with 4.5 y + c y = c, so A runs 4.5 c / (4.5 + c), and its derivative is 1/9.
    more, less = told.cases["with one unit more of cpu"], told.cases["with one unit less of cpu"]
    assert (more.tasks, less.tasks) == pytest.approx((45 / 14.5, 36 / 12.5), rel=1e-14)
    assert (more.rate, less.rate) == pytest.approx((1 / 9, 1 / 9), rel=1e-6)
    assert more.rate_error < 1e-5
    assert change(told, "with twice the weight") == pytest.approx(54 / 13 - 3, rel=1e-13)
    assert told.cases["with twice the weight"].then == ("ram",)
    assert told.cases["without its demand for ram"].tasks == pytest.approx(4.5, rel=1e-14)
    assert told.cases["alone"].tasks == pytest.approx(4.5, rel=1e-14)
    assert told.cases["with 50 % of everything for itself"].tasks == 2.25
    assert told.cases["under MMF"].tasks == 2.25


def test_rates_jump_where_another_resource_takes_over():
    told = why(LINE, MaxMin(), "left")
    # l1 = 1 + h: long stays at l2/2 = 1/2 for h > 0 and falls with l1 for h < 0.
    assert told.cases["with one unit more of l1"].rate == pytest.approx(1, abs=1e-5)
    assert told.cases["with one unit less of l1"].rate == pytest.approx(0.5, abs=1e-5)
    assert "Here the rate jumps: 1 a unit upwards, 0.5 downwards." in told.summary()


def test_a_limit_a_missing_resource_and_no_job():
    limited = why(POOL.replaced(limits=[2, np.inf]), DRF(), 0)
    assert [stop.cause for stop in limited.stops] == ["limit"]
    assert limited.cases["without its limit"].tasks == pytest.approx(3, rel=1e-14)
    (absent,) = why(POOL.replaced(capacities=[0, 18]), DRF(), 0).stops
    assert (absent.cause, absent.resource) == ("no capacity", "cpu")
    gone = why(POOL, DRF(), 0, [0, 1])
    assert [stop.cause for stop in gone.stops] == ["no job"]
    assert list(gone.cases) == ["with one job"]
    assert gone.cases["with one job"].tasks == pytest.approx(3, rel=1e-14)


def test_a_class_that_would_demand_nothing_is_not_asked_about():
    told = why(LINE, DRF(), "left")
    assert np.isnan(change(told, "without its demand for l1"))
    assert "Without its demand for l1 it would demand nothing, and have no end." in told.summary()


def test_a_server_that_nobody_can_use_drops_out():
    told = why(Cluster([[1], [1]], [[1], [2]], gamma=[[1, 2], [0.5, 2]], resources=["air"]), PSDSF("time"), 0)
    less = told.cases["with one unit less of air on server 1"]
    assert not less.refusal
    assert less.then == ("the time of server 2",)


def test_given_speeds_grow_with_the_server():
    channels = Cluster([[1], [1]], [[1], [2]], gamma=[[1, 2], [0.5, 2]], resources=["air"])
    wider = Cluster([[1], [1]], [[2], [2]], gamma=[[2, 2], [1, 2]])
    for policy in (PSDSF("time"), TSF()):
        more = why(channels, policy, 1).cases["with one unit more of air on server 1"]
        assert more.tasks == pytest.approx(allocate(wider, policy).tasks[1], rel=1e-9)


def test_what_others_filled_later_does_not_stop_a_class():
    # long and left share l1 at 1/2; then right fills l2, which long needs, too.
    pool, cluster = LINE.replaced(capacities=[1, 2]), Cluster(LINE.demands, [[1, 2]])
    for model, policy in ((pool, MaxMin()), (cluster, TSF())):
        result = allocate(model, policy)
        assert result.saturated.all()
        assert [stop.resource[-1] for stop in why(model, policy, 0).stops] == ["1"]
        assert [stop.resource[-1] for stop in why(model, policy, 2).stops] == ["2"]


def test_who_may_not_run_somewhere_is_told_what_it_would_be():
    cluster = Cluster([[1, 10], [10, 1]], [[100, 10], [10, 100]], eligible=[[True, True], [False, True]])
    told = why(cluster, TSF(), "class 2")
    free = allocate(cluster.replaced(eligible=None), TSF()).tasks[1]
    assert told.cases["on every server that has what it needs"].tasks == pytest.approx(free, rel=1e-9)
    assert "It cannot run on server 1." in told.summary()
    refused = explain(allocate(cluster, TSF()), 1, others=[CDRF()]).cases["under CDRF"]
    assert "no placement constraints" in refused.refusal


def test_own_policies_are_told_what_is_full_and_no_more():
    @one_state
    def timid(problem, counts):
        return np.minimum(counts, [1, 1])

    told = why(POOL, timid, "A")
    assert [stop.cause for stop in told.stops] == ["policy"]
    # cpu: 9 - 1 - 3 = 5; ram: 18 - 4 - 1 = 13, so 13/4 tasks of A.
    assert "there is room for 3.25 tasks more" in told.summary()

    def first_of(problem, counts):
        return np.array([0.0, 3.0])

    (stop,) = why(POOL, first_of, "A").stops
    assert (stop.resource, stop.measure) == ("cpu", "")


def test_choices_are_told():
    trade = Problem([[2, 2, 2], [4, 2, 3], [2, 4, 3]], [2, 2, 2])
    assert "runs between 0.3333 and 0.4 tasks" in why(trade, BottleneckMax(), 0).choice
    twice = Problem([[1, 1, 2], [3, 3, 1]], [9, 9, 9])
    assert "the prices need not be" in why(twice, ProportionalFair(), 0).choice
    assert not why(POOL, ProportionalFair(), 0).choice
    assert not why(POOL, BottleneckMax(), 0).choice


# --- against definitions -------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [MaxMin(), DRF(), AssetFair()], ids=lambda policy: policy.name)
def test_rates_are_those_of_exact_allocations(policy):
    """Quotients of fractions at a step so small that no breakpoint lies within it, unless it lies here."""
    rng, tiny, compared = np.random.default_rng(5), Fraction(1, 10**12), 0
    for _ in range(6):
        n, m = (int(k) for k in rng.integers(2, 4, 2))
        demands, capacities = rng.integers(0, 5, (n, m)), rng.integers(3, 9, m)
        demands[:, 0] += 1
        model = Problem(demands.tolist(), capacities.tolist())
        here = enclose(policy, model).lower[0]
        told = why(model, policy, 0)
        for j, name in enumerate(model.resources):
            for sign, kind in ((1, "more"), (-1, "less")):
                case = told.cases.get(f"with one unit {kind} of {name}")
                if case is None:  # nobody needs it
                    continue
                there = [Fraction(int(c)) + sign * tiny * (k == j) for k, c in enumerate(capacities)]
                exact = (
                    float((enclose(policy, model.replaced(capacities=there)).lower[0] - here) / tiny) * sign
                )
                # Steps of 1/256 leave less than 1e-6 of third derivatives of order one.
                assert case.rate == pytest.approx(exact, rel=1e-5, abs=1e-5)
                assert abs(case.rate - exact) <= max(case.rate_error, 1e-9)
                compared += 1
    assert compared > 20


@pytest.mark.parametrize("policy", [ProportionalFair(), AlphaFair(2)], ids=lambda policy: policy.name)
def test_rates_of_priced_policies(policy):
    """Against bounds from fractions, which know nothing of the solver."""
    model = Problem([[4, 1], [2, 1], [1, 4]], [5, 7])
    told, tiny = why(model, policy, 1), Fraction(1, 10**6)
    for j, name in enumerate(model.resources):
        ends = []
        for sign in (1, -1):
            there = [Fraction(c) + sign * tiny * (k == j) for k, c in enumerate((5, 7))]
            shifted = model.replaced(capacities=there)
            bounds = enclose(policy, shifted, policy(shifted, np.ones(3)))
            assert bounds.radius < 1e-18
            ends.append(bounds.lower[1])
        central = float((ends[0] - ends[1]) / (2 * tiny))
        for kind in ("more", "less"):
            assert told.cases[f"with one unit {kind} of {name}"].rate == pytest.approx(central, abs=1e-6)


def test_more_of_what_stops_a_class_helps_it_and_nothing_else_does():
    """Max-min: levels rise where a class is stopped; elsewhere others rise, which takes from it."""
    rng = np.random.default_rng(2)
    for _ in range(12):
        model = random_problem(rng, 4, 3, kind="sparse", weighted=True)
        result = allocate(model, MaxMin())
        for i in range(model.n_classes):
            told = why(model, MaxMin(), i, places=0)
            stopping = np.isin(model.resources, [stop.resource for stop in told.stops])
            if not stopping.any() or any(stop.cause != "resource" for stop in told.stops):
                continue
            for where, grows in ((stopping, True), (~stopping, False)):
                larger = model.replaced(capacities=model.capacities * np.where(where, 1 + 1e-4, 1.0))
                gain = allocate(larger, MaxMin()).tasks[i] - result.tasks[i]
                assert (gain > 1e-9 * result.tasks[i]) == grows


def test_bills_are_paid_in_full():
    rng = np.random.default_rng(3)
    for _ in range(8):
        pool = random_problem(rng, 4, 3, kind="sparse", weighted=True)
        cluster = random_cluster(rng, 4, 3, 2, kind="sparse", constrained=True)
        for model, policy in ((pool, ProportionalFair()), (pool, AlphaFair(2)), (cluster, PSDSF("time"))):
            stops = why(model, policy, 0, places=0).stops
            limit = any(stop.cause != "resource" for stop in stops)
            assert limit or sum(stop.value for stop in stops) == pytest.approx(1, abs=1e-7)


def test_stops_of_bmf_and_psdsf_are_those_of_their_definitions():
    rng = np.random.default_rng(4)
    for _ in range(6):
        pool, cluster = (
            random_problem(rng, 4, 3, kind="sparse", weighted=True),
            random_cluster(rng, 4, 3, 2, kind="sparse", constrained=True),
        )
        result = allocate(pool, BottleneckMax())
        for i in range(pool.n_classes):
            found = {
                s.resource for s in why(pool, BottleneckMax(), i, places=0).stops if s.cause == "resource"
            }
            for j in np.flatnonzero(result.saturated & (pool.demands[i] > 0) & ~pool.blocked[i]):
                shares = result.shares[:, j]
                assert (pool.resources[j] in found) == bool(shares[i] >= max(shares) * (1 - 1e-7))
        placed = allocate(cluster, PSDSF())
        levels = placed.virtual_dominant_shares / cluster.weights[:, None]
        for n in range(cluster.n_classes):
            stops = why(cluster, PSDSF(), n, places=0).stops
            # Theorem 1: a bottleneck on every eligible server.
            assert {stop.server for stop in stops} == set(np.array(cluster.servers)[cluster.eligible[n]])
            for stop in stops:
                i, r = cluster.servers.index(stop.server), cluster.resources.index(stop.resource)
                held = placed.placement[:, i] * cluster.task_shares[:, i, r]
                assert placed.saturated[i, r]
                assert all(levels[p, i] <= levels[n, i] * (1 + 1e-6) for p in np.flatnonzero(held > 1e-6))


@pytest.mark.long
@pytest.mark.parametrize("policy", [TSF(), PerServerDRF()], ids=lambda policy: policy.name)
def test_a_class_on_servers_gains_from_all_that_stops_it(policy):
    rng = np.random.default_rng(6)
    for _ in range(4):
        cluster = random_cluster(rng, 4, 3, 2, kind="sparse", constrained=True)
        before = allocate(cluster, policy).tasks
        for n in range(cluster.n_classes):
            grown = cluster
            for stop in why(cluster, policy, n, places=0).stops:
                i, r = cluster.servers.index(stop.server), cluster.resources.index(stop.resource)
                grown = with_capacity(grown, i, r, 1e-3 * cluster.capacities[i, r])
            assert allocate(grown, policy).tasks[n] > before[n] * (1 + 1e-7)


def test_units_of_a_resource_change_rates_and_nothing_else():
    scaled = Problem(
        POOL.demands * [1, 8], POOL.capacities * [1, 8], job_classes=["A", "B"], resources=["cpu", "ram"]
    )
    one, other = why(POOL, DRF(), 0), why(scaled, DRF(), 0)
    for words, case in one.cases.items():
        factor = 8 if "ram" in words and np.isfinite(case.rate) else 1
        if factor == 1:
            assert other.cases[words].tasks == pytest.approx(case.tasks, rel=1e-13)
        assert other.cases[words].rate * factor == pytest.approx(case.rate, rel=1e-5, nan_ok=True)


# --- derivatives ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("corner", [0.3, 3e-3, 1e-4, 1e-6, 1e-9])
def test_no_derivative_across_a_breakpoint(corner):
    def bent(h):
        return 2 * h if h < corner else 2 * corner + 5 * (h - corner)

    rate, error = one_sided_rate(bent, 0.0, 1.0, 1.0, 1e-16)
    # Below the smallest step of 2e-8 the breakpoint is seen, but no rate before it.
    assert np.isnan(rate) if corner < 2e-8 else abs(rate - 2) <= error < 1e-3


def test_a_breakpoint_that_hides_in_rounding_errors_counts_as_here():
    rate, error = one_sided_rate(lambda h: 5 * h - 3e-13 if h > 1e-13 else 2 * h, 0.0, 1.0, 1.0, 1e-11)
    assert abs(rate - 5) <= error < 1e-4


def test_a_jump_has_no_derivative():
    rate, _ = one_sided_rate(lambda h: 1.0 + h if h == 0 else 2.0 + h, 1.0, 1.0, 1.0, 1e-15)
    assert np.isnan(rate)


def test_rounding_errors_are_no_rate():
    noise = np.random.default_rng(0)
    rate, error = one_sided_rate(lambda h: 1.0 + 1e-10 * noise.uniform(-1, 1), 1.0, 1.0, 1.0, 1e-10)
    assert rate == 0.0
    assert 0 < error < 1e-4


def test_a_unit_says_something():
    assert amount_of(9.0) == amount_of(0.0) == amount_of(1e6) == 1.0
    assert amount_of(5e11) == pytest.approx(5e9)
    assert amount_of(0.5) == 0.005


# --- what is asked, told and refused -------------------------------------------------------------------


def test_every_case_is_an_allocation_of_the_policy():
    told = explain(allocate(SERVERS, PSDSF()), "a")
    altered = {
        "with twice the weight": SERVERS.replaced(weights=[2, 1, 2]),
        "without its demand for ram": SERVERS.replaced(demands=[[1, 0, 10], [1, 2, 1], [0.5, 1, 0]]),
        "with one unit more of ram on t": SERVERS.replaced(capacities=[[9, 12, 100], [12, 13, 0]]),
    }
    for words, model in altered.items():
        assert told.cases[words].tasks == pytest.approx(allocate(model, PSDSF()).tasks[0], rel=1e-9)
    assert told.cases["alone"].tasks == pytest.approx(
        allocate(SERVERS, PSDSF(), [1, 0, 0]).tasks[0], rel=1e-9
    )
    assert told.cases["under TSF"].tasks == pytest.approx(allocate(SERVERS, TSF()).tasks[0], rel=1e-9)
    assert "under PS-DSF rdm" not in told.cases


def test_figures_show_what_changes_and_who_holds_it():
    told = why(SERVERS, PSDSF(), "a")
    ax = told.plot(Figure().subplots())
    widths = {
        tick.get_text().replace("\n", " "): bar.get_width()
        for tick, bar in zip(ax.get_yticklabels(), ax.patches, strict=True)
    }
    moving = {case.words: case.change for case in told.cases.values() if abs(case.change) > 1e-6}
    assert widths == pytest.approx(moving)
    assert f"{len(told.cases) - len(moving)} other cases change nothing" in ax.get_xlabel()
    ax = told.plot_holders(Figure().subplots())
    drawn = {bars.get_label(): [bar.get_width() for bar in bars] for bars in ax.containers}
    assert drawn == {"a": [0.5], "b": [0.5]}
    assert why(POOL, one_state(lambda problem, counts: [0, 0]), 0).plot_holders(Figure().subplots()).texts


def test_plain_data_is_json():
    told = explain(allocate(SERVERS, PSDSF()), 2)
    data = json.loads(json.dumps(told.to_dict(), allow_nan=False))
    assert data["text"].splitlines()[0] == "Why c runs 12 tasks under PS-DSF rdm"
    assert len(data["cases"]) == len(told.cases)
    frame = told.to_dataframe()
    assert frame.index[0] == "now"
    assert frame.loc["alone", "tasks"] == told.cases["alone"].tasks


def test_places_are_counted_where_they_are_too_many():
    told = why(SERVERS, PSDSF(), "a", places=1)
    assert told.unasked == 4
    # What stops the class comes first.
    assert [case.place for case in told.cases.values() if case.kind == "more"] == ["ram on s"]
    assert "4 more places were not asked about." in told.summary()


def test_what_is_wrong_is_refused():
    result = allocate(POOL, DRF())
    with pytest.raises(ModelError, match="job_class 'C' is not in the model; known are A, B"):
        explain(result, "C")
    with pytest.raises(ModelError, match=r"job_class = 2, but the classes are numbered 0\.\.1"):
        explain(result, 2)
    with pytest.raises(ModelError, match="must be the name or the number of a class"):
        explain(result, 0.5)
    with pytest.raises(ModelError, match=r"allocation must be what allocate\(\) gives; got list"):
        explain([3, 2], 0)
    with pytest.raises(ModelError, match=r"PF gives .* tasks, and .* give policy"):
        explain(result, 0, ProportionalFair())
    lost = replace(allocate(POOL, lambda problem, counts: np.ones(2)), policy=None)
    with pytest.raises(ModelError, match=r"policy is needed: explain asks it again .* give it"):
        explain(lost, 0)
    # An answer that depends on more than the model and the counts.
    answers = iter([np.ones(2), np.full(2, 0.5)])
    moody = allocate(POOL, lambda problem, counts: next(answers))
    with pytest.raises(ModelError, match=r"gives \[0.5, 0.5\] tasks, and the allocation has \[1.0, 1.0\]"):
        explain(moody, 0)


ALIKE = [
    # Both share a pool as another policy of the same name does, and answer otherwise to other questions.
    (Problem([[1, 0.1], [0.2, 1]], [1, 1]), DRF([[1, 9], [1, 1]])),
    (Problem([[1, 0.1], [0.2, 1]], [1, 1]), AlphaFair(1 / 3)),
    (POOL, TDRF([3, 8])),
    (POOL, lambda problem, counts: np.ones(np.shape(counts))),
    (SERVERS, PSDSF(method="algorithm-1")),
]


@pytest.mark.parametrize(("model", "policy"), ALIKE, ids=["weighted", "alpha", "TDRF", "function", "PS-DSF"])
def test_the_policy_that_shared_is_the_one_that_is_asked(model, policy):
    result = allocate(model, policy)
    assert result.policy is policy
    unsaid, given = (explain(result, 0, *more, others=[], places=2) for more in ((), (policy,)))
    assert unsaid.to_dict() == given.to_dict()


def test_weights_of_resources_count_in_other_cases_too():
    pool, weighted = ALIKE[0]
    told = explain(allocate(pool, weighted), 0, others=[], places=0)
    # By hand: at level l class 0 runs 90 l tasks of a tenth of the second resource, class 1 runs l of all of
    # it; so it is full at 9 l + l = 1.
    assert told.cases["without its demand for resource 1"].tasks == pytest.approx(9.0)


def test_what_is_known_when_the_time_is_over_is_kept():
    with pytest.raises(
        NotConvergedError, match=r"cases of the explanation are known; raise time_limit"
    ) as caught:
        why(POOL, DRF(), 0, time_limit=0.0)
    assert caught.value.best.stops[0].resource == "cpu"
