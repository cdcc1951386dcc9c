"""Problem and Cluster: what they accept, what they derive, and how they complain."""

from fractions import Fraction as F

import numpy as np
import pytest

from fairness import Cluster, ModelError, Problem
from fairness.testing import KINDS, random_cluster

GOOD = {"demands": [[1, 2], [1, 1]], "capacities": [[9, 12], [12, 6]]}
# Class 2 needs no RAM; server 2 has none, so class 1 cannot use it. Class 3 is kept off server 1.
PLACES = {
    "demands": [[1, 2], [2, 0], [1, 1]],
    "capacities": [[9, 12], [12, 0], [4, 4]],
    "eligible": [[True, True, True], [True, True, False], [False, True, True]],
}
PLACES_GAMMA = [[6, 0, 2], [4.5, 6, 0], [0, 0, 4]]


POOL = GOOD | {"capacities": [9, 12]}

BAD_FOR_BOTH = [
    ({"demands": [1, 2]}, r"demands must have 2 dimensions; got shape \(2,\)"),
    ({"demands": None}, r"demands must have 2 dimensions; got shape \(\)"),
    ({"demands": [[1, 2], [3]]}, "demands must be an array of numbers with rows of equal length"),
    ({"demands": [["x", 2], [1, 1]]}, "demands must be an array of numbers"),
    (
        {"demands": [[F(1), "2"], [1, 1]]},
        r"an array of numbers .*: got '2' at index \(0, 1\)",
    ),
    ({"demands": [[1j, 2], [1, 1]]}, "demands must be an array of numbers .*complex"),
    ({"demands": [[10**400, 1], [1, 1]]}, "demands must be an array of numbers .*too large"),
    ({"demands": [[None, 1], [1, 1]]}, r"demands must be finite and >= 0; got nan at index \(0, 0\)"),
    ({"demands": [[1, np.nan], [1, 1]]}, r"got nan at index \(0, 1\) \('class 1', 'resource 2'\)"),
    ({"demands": [[1, 1], [-1, 1]]}, r"got -1.0 at index \(1, 0\) \('class 2', 'resource 1'\)"),
    ({"demands": [[1, 2], [0, 0]]}, "'class 2' demands nothing.* so its allocation is unbounded"),
    ({"demands": np.empty((0, 2))}, "at least one class.* and one resource"),
    ({"weights": [1]}, r"demands has shape \(2, 2\), so weights must have shape \(2,\); got \(1,\)"),
    ({"weights": 3}, r"weights must have 1 dimension; got shape \(\)"),
    ({"weights": [1, 0]}, r"weights must be finite and > 0; got 0.0 at index \(1,\) \('class 2'\)"),
    ({"weights": [np.inf, 1]}, "weights must be finite and > 0; got inf"),
    ({"weights": ["1", "2"]}, "weights must be an array of numbers"),
    ({"job_classes": ["A"]}, "job_classes must list 2 names, one per class; got 1"),
    ({"job_classes": ["A", "A"]}, "job_classes must be distinct; 'A' occurs more than once"),
    ({"resources": "ab"}, "resources must be a sequence of 2 names; got the single string 'ab'"),
    ({"resources": 2}, "resources must be a sequence of 2 names; got 2"),
    ({"job_classes": {"A", "B"}}, "job_classes must be a sequence of 2 names; got {"),  # has no order
]

BAD_POOLS = [
    ({"capacities": [1, 2, 3]}, r"shape \(2, 2\), so capacities must have shape \(2,\); got \(3,\)"),
    ({"capacities": [np.inf, 1]}, r"capacities must be finite and >= 0; got inf at index \(0,\)"),
    ({"demands": np.empty((2, 0)), "capacities": []}, "at least one class and one resource"),
    ({"limits": [1, -1]}, "limits must be > 0"),
    ({"limits": [np.nan, 1]}, "limits must be > 0"),
    ({"demands": [[0, 0], [1, 1]]}, r"'class 1' demands nothing and has no limit.*limits\[0\]"),
    (
        {"demands": [[1, 1e-200], [1, 1]], "capacities": [1, 1e200]},
        r"demands\[0, 1\] = 1e-200 over capacities\[1\] = 1e\+200 .* beyond the range of floats",
    ),
    ({"capacities": [1, 1e-310]}, r"demands\[0, 1\] = 2 over capacities\[1\] = 1e-310"),
]

BAD_CLUSTERS = [
    ({"demands": [[], []], "capacities": [[], []]}, "at least one class, one server and one resource"),
    ({"capacities": np.empty((0, 2))}, "at least one class, one server and one resource"),
    (
        {"capacities": [9, 12]},
        r"a row for each server; got shape \(2,\); one pool is a Problem",
    ),
    (
        {"capacities": [[1, 2, 3]]},
        r"demands has shape \(2, 2\), so capacities must have shape \(1, 2\); got \(1, 3\)",
    ),
    ({"capacities": [[1, 1], [1, np.inf]]}, r"got inf at index \(1, 1\) \('server 2', 'resource 2'\)"),
    ({"capacities": [[1, -1], [1, 1]]}, "capacities must be finite and >= 0; got -1.0"),
    ({"capacities": [[9, 12], [0, 6]]}, "no class can use 'server 2': none is eligible there and finds"),
    (
        {"capacities": [[9, 0], [12, 0]]},
        r"'class 1' can run nowhere: every server that it may use lacks something it demands "
        r"\('server 1' has no 'resource 2'\); add capacity",
    ),
    ({"eligible": [True, True]}, r"eligible must have shape \(n_classes, n_servers\) = \(2, 2\); got \(2,\)"),
    ({"eligible": [[True, True], [True]]}, "eligible must have rows of equal length"),
    ({"eligible": [[0.5, 1], [1, 1]]}, "eligible must hold booleans"),
    ({"eligible": [[np.nan, 1], [1, 1]]}, "eligible must hold booleans"),
    ({"eligible": [["yes", "no"], ["no", "yes"]]}, "eligible must hold booleans"),
    ({"eligible": [[True, True], [False, False]]}, r"'class 2' can run nowhere: eligible\[1\] is False"),
    ({"eligible": [[True, False], [True, False]]}, "no class can use 'server 2'"),
    ({"gamma": [1, 2]}, r"gamma must have 2 dimensions; got shape \(2,\)"),
    ({"gamma": [[1, 2]]}, r"gamma must have shape \(n_classes, n_servers\) = \(2, 2\); got \(1, 2\)"),
    ({"gamma": [[1, -2], [1, 1]]}, r"gamma must be .* -2.0 at index \(0, 1\) \('class 1', 'server 2'\)"),
    ({"gamma": [[1, np.inf], [1, 1]]}, "gamma must be finite and >= 0; got inf"),
    ({"gamma": [[0, 0], [1, 1]]}, r"'class 1' can run nowhere: gamma\[0\] is 0 on all servers"),
    ({"gamma": [[0, 1], [0, 1]]}, "no class can use 'server 1'"),
    (
        {"gamma": [[1, 1], [1, 1]], "eligible": [[1, 0], [1, 1]]},
        r"gamma\[0, 1\] = 1 for 'class 1' on 'server 2', but this server is not eligible; set gamma to 0",
    ),
    (
        {"gamma": [[1, 0], [1, 1]], "eligible": [[1, 1], [1, 1]]},
        r"gamma\[0, 1\] = 0 for 'class 1' on 'server 2', but this server is eligible; set gamma > 0",
    ),
    (
        {"capacities": [[9, 12], [12, 0]], "demands": [[1, 2], [1, 0]], "gamma": [[1, 1], [1, 1]]},
        r"gamma\[0, 1\] = 1 .* lacks a resource that the class demands; set gamma to 0 there",
    ),
    ({"servers": ["A", "A"]}, "servers must be distinct; 'A' occurs more than once"),
    # Quotients that are no floats: they would make a class ineligible, or a server free of charge.
    (
        {"demands": [[1e200, 1], [1, 1]], "capacities": [[1e-200, 1], [9, 9]]},
        r"demands\[0, 0\] = 1e\+200 over capacities\[0, 0\] = 1e-200 "
        r"\('class 1', 'server 1', 'resource 1'\) is beyond the range of floats; "
        "give this resource another unit",
    ),
    ({"demands": [[1e-200, 1], [1, 1]], "capacities": [[1, 1], [1e200, 1]]}, r"capacities\[1, 0\] = 1e\+200"),
    ({"capacities": [[1, 1], [1, 1e-310]]}, r"demands\[0, 1\] = 2 over capacities\[1, 1\] = 1e-310"),
    ({"demands": [[1e-309, 0], [1, 1]]}, r"demands\[0, 0\] = 1e-309 over capacities\[0, 0\] = 9"),
    (
        {"gamma": [[1e-310, 1], [1, 1]]},
        r"gamma\[0, 0\] = 1e-310 .* demands and capacities give 6: .* beyond the range of floats",
    ),
    ({"demands": [[1e200, 0], [1, 1]], "gamma": [[1e200, 1e200], [1, 1]]}, "beyond the range of floats"),
]


@pytest.mark.parametrize(
    ("model", "good", "change", "message"),
    [
        *((Cluster, GOOD, *row) for row in BAD_FOR_BOTH + BAD_CLUSTERS),
        *((Problem, POOL, *row) for row in BAD_FOR_BOTH + BAD_POOLS),
    ],
)
def test_bad_input_names_argument_place_and_remedy(model, good, change, message):
    with pytest.raises(ModelError, match=message):
        model(**(good | change))


def test_far_scales_within_the_range_of_floats_are_kept():
    cluster = Cluster([[1e-150, 1], [1e150, 1]], [[1e150, 1], [1e140, 2]])
    np.testing.assert_allclose(cluster.gamma, [[1, 2], [1, 1e-10]], rtol=1e-15)
    np.testing.assert_allclose(cluster.task_shares[:, 0], [[1e-300, 1], [1, 1]], rtol=1e-15)


def test_sizes_and_names():
    cluster = Cluster(**PLACES, servers=["big", "no ram", "small"], resources=["cpu", "ram"])
    assert (cluster.n_classes, cluster.n_servers, cluster.n_resources) == (3, 3, 2)
    assert cluster.job_classes == ("class 1", "class 2", "class 3")
    assert cluster.servers == ("big", "no ram", "small")
    assert cluster.total_capacities.tolist() == [25, 16]
    assert Cluster([[1]], [[1]], job_classes=[7]).job_classes == ("7",)


def test_gamma_by_hand():
    cluster = Cluster(**PLACES)
    assert cluster.gamma.tolist() == PLACES_GAMMA
    assert cluster.eligible.tolist() == (np.array(PLACES_GAMMA) > 0).tolist()
    # Without constraints class 2 could use server 3, and class 3 server 1; nobody can lift a lack of RAM.
    assert cluster.unconstrained_gamma.tolist() == [[6, 0, 2], [4.5, 6, 2], [9, 0, 4]]


@pytest.mark.parametrize("kind", KINDS)
def test_gamma_is_what_fits_alone(kind):
    rng = np.random.default_rng(0)
    for _ in range(20):
        cluster = random_cluster(rng, 4, 3, 3, kind=kind, constrained=True)
        for n, i in np.argwhere(cluster.eligible):
            d, c = cluster.demands[n], cluster.capacities[i]
            assert cluster.gamma[n, i] == min(c[r] / d[r] for r in range(3) if d[r] > 0)


@pytest.mark.parametrize("effective", [False, True])
def test_the_largest_share_of_a_task_is_one_over_gamma(effective):
    rng = np.random.default_rng(1)
    for kind in KINDS:
        cluster = random_cluster(rng, 5, 4, 3, kind=kind, constrained=True, effective=effective)
        largest = cluster.task_shares.max(axis=2)
        assert not largest[~cluster.eligible].any()
        on = cluster.eligible
        np.testing.assert_allclose(largest[on] * cluster.gamma[on], 1, rtol=1e-14)


def test_given_gamma_scales_the_demands():
    nominal = Cluster(**PLACES)
    speeds = np.array([[2, 1, 0.5], [1, 4, 1], [1, 1, 3]])
    fast = Cluster(PLACES["demands"], PLACES["capacities"], gamma=nominal.gamma * speeds)
    assert fast.eligible.tolist() == nominal.eligible.tolist()  # follows from gamma alone
    # A task that runs twice as fast holds its resources half the time.
    np.testing.assert_allclose(fast.task_shares, nominal.task_shares / speeds[:, :, None], rtol=1e-15)
    assert fast.unconstrained_gamma.tolist() == fast.gamma.tolist()
    same = Cluster(PLACES["demands"], PLACES["capacities"], gamma=nominal.gamma, eligible=nominal.eligible)
    assert same.task_shares.tolist() == nominal.task_shares.tolist()


def test_task_shares_by_hand_and_only_when_asked():
    cluster = Cluster(**PLACES)
    assert "task_shares" not in vars(cluster)  # (n_classes, n_servers, n_resources) numbers: large
    assert cluster.task_shares[0].tolist() == [[1 / 9, 2 / 12], [0, 0], [1 / 4, 2 / 4]]
    assert cluster.task_shares[1].tolist() == [[2 / 9, 0], [2 / 12, 0], [0, 0]]
    assert cluster.task_shares[2].tolist() == [[0, 0], [0, 0], [1 / 4, 1 / 4]]
    assert cluster.task_shares is cluster.task_shares


def test_arrays_are_copied_and_frozen():
    given = {name: np.array(value) for name, value in (GOOD | {"weights": [1.0, 2.0]}).items()}
    given["eligible"], given["gamma"] = np.ones((2, 2), dtype=bool), np.ones((2, 2))
    cluster, pool = Cluster(**given), Problem(given["demands"], given["capacities"][0])
    for array in given.values():
        array[...] = 0
    assert cluster.demands.tolist() == pool.demands.tolist() == GOOD["demands"]
    assert pool.capacities.tolist() == GOOD["capacities"][0]
    assert cluster.weights.tolist() == [1, 2]
    assert cluster.gamma.all()
    assert cluster.replaced(weights=[1, 1]).eligible.all()
    names = ("demands", "capacities", "gamma", "weights", "task_shares", "total_capacities")
    for name in (*names, "unconstrained_gamma"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(cluster, name)[0] = 2
    with pytest.raises(AttributeError):
        cluster.weights = np.ones(2)
    with pytest.raises(ValueError, match="read-only"):
        pool.demands[0, 0] = 2


def test_fractions_survive_and_floats_are_refused():
    cluster = Cluster([[F(1, 3), 2], [1, 0]], np.array([[1, 2], [3, 0]]), eligible=[[1, 1], [0, 1]])
    assert cluster.is_rational
    demands, capacities, gamma = cluster.as_fractions()
    assert demands == [[F(1, 3), 2], [1, 0]]
    assert capacities == [[1, 2], [3, 0]]
    assert gamma == [[1, 0], [0, 3]]
    assert all(isinstance(v, F) for rows in (demands, capacities, gamma) for row in rows for v in row)
    pool = Problem([[F(1, 3), 2]], np.array([1, 2]))
    assert pool.is_rational
    assert pool.as_fractions() == ([[F(1, 3), F(2)]], [F(1), F(2)])
    for other in (
        Cluster(**(GOOD | {"demands": [[0.5, 2], [1, 1]]})),
        Cluster(**(GOOD | {"capacities": [[1.0, 2], [3, 4]]})),
        Problem([[0.5, 2]], [1, 2]),
    ):
        assert not other.is_rational
        with pytest.raises(ModelError, match=r"give ints or fractions\.Fraction"):
            other.as_fractions()


def test_given_gamma_in_fractions():
    rates = [[F(1), F(1), F(1, 2)], [F(1, 3), F(2, 3), F(2, 3)]]
    channels = Cluster([[1], [1]], [[1], [1], [1]], gamma=rates)
    assert channels.as_fractions()[2] == rates
    assert channels.replaced(weights=[1, 2]).as_fractions()[2] == rates
    floats = channels.replaced(gamma=[[1, 1, 0.5], [1 / 3, 1, 1]])
    assert not floats.is_rational
    with pytest.raises(ModelError, match="gamma were given as floats"):
        floats.as_fractions()


def test_what_was_given_can_be_read_back():
    rates, allowed = [[F(1), 0, F(1, 2)], [F(1, 3), F(2, 3), F(2, 3)]], [[True, False, True], [True] * 3]
    plain = Cluster([[1], [1]], [[1], [1], [1]])
    assert plain.given_gamma is None
    assert plain.given_eligible is None
    channels = plain.replaced(gamma=rates, eligible=allowed)
    assert channels.given_gamma == rates
    assert channels.given_eligible.tolist() == allowed
    channels.given_gamma[0][0] = F(7)  # a copy
    assert channels.given_gamma == rates
    floats = plain.replaced(gamma=[[1.0, 1.5, 0.5], [2, 1, 1]])
    assert floats.given_gamma.tolist() == [[1, 1.5, 0.5], [2, 1, 1]]
    assert not floats.given_gamma.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        channels.given_eligible[0, 0] = False


def test_replaced_keeps_what_is_not_changed():
    cluster = Cluster(
        **PLACES, weights=[1, 2, 3], job_classes=["A", "B", "C"], servers=["X", "Y", "Z"],
        resources=["cpu", "ram"],
    )  # fmt: skip
    other = cluster.replaced(weights=[3, 2, 1])
    assert other.weights.tolist() == [3, 2, 1]
    assert cluster.weights.tolist() == [1, 2, 3]
    assert other.gamma.tolist() == cluster.gamma.tolist()
    assert other.is_rational
    assert (other.job_classes, other.servers, other.resources) == (
        ("A", "B", "C"),
        ("X", "Y", "Z"),
        ("cpu", "ram"),
    )
    # Capacities change gamma, where it was derived; eligibility stays.
    assert cluster.replaced(capacities=2 * cluster.capacities).gamma.tolist() == (2 * cluster.gamma).tolist()
    assert cluster.replaced(eligible=None).gamma.tolist() == cluster.unconstrained_gamma.tolist()


def test_replaced_drops_names_that_no_longer_fit():
    cluster = Cluster(**GOOD, servers=["X", "Y"], resources=["cpu", "ram"], job_classes=["A", "B"])
    single = cluster.replaced(capacities=[[9, 12]])
    assert (single.servers, single.resources) == (("server 1",), ("cpu", "ram"))
    more = cluster.replaced(demands=[[1, 2], [1, 1], [2, 2]], weights=None)
    assert (more.job_classes, more.servers) == (("class 1", "class 2", "class 3"), ("X", "Y"))


def test_replaced_with_given_gamma():
    fast = Cluster(**GOOD, gamma=[[12, 6], [18, 12]])
    assert fast.replaced(capacities=[[90, 120], [120, 60]]).gamma.tolist() == fast.gamma.tolist()
    assert fast.replaced(gamma=None).gamma.tolist() == Cluster(**GOOD).gamma.tolist()
    # A contradiction is not settled by dropping one side.
    with pytest.raises(ModelError, match=r"gamma\[0, 1\] = 6 .* is not eligible; set gamma to 0 there"):
        fast.replaced(eligible=[[True, False], [True, True]])
    hidden = fast.replaced(eligible=[[True, False], [True, True]], gamma=[[12, 0], [18, 12]])
    assert hidden.eligible.tolist() == [[True, False], [True, True]]


MODELS = pytest.mark.parametrize("model", [Cluster(**GOOD), Problem(**POOL)], ids=["cluster", "pool"])


@MODELS
def test_replaced_refuses_bad_input(model):
    with pytest.raises(
        ModelError, match="unknown argument 'capacity'; choose from demands, capacities, weights"
    ):
        model.replaced(capacity=1)
    for name in ("demands", "capacities"):
        with pytest.raises(ModelError, match=rf"{name} .*got (shape )?\(\)"):
            model.replaced(**{name: 5})
        with pytest.raises(ModelError, match=f"{name} must be an array of numbers with rows of equal length"):
            model.replaced(**{name: [[1, 2], [3]]})
    with pytest.raises(ModelError, match=r"demands has shape \(1, 2\), so weights must have shape \(1,\)"):
        model.replaced(demands=[[1, 2]])


@MODELS
def test_counts_are_checked(model):
    assert model.check_counts(None).tolist() == [1, 1]
    assert model.check_state(None).tolist() == [1, 1]
    assert model.check_counts([[True, False], [F(1, 2), 3]]).tolist() == [[1, 0], [0.5, 3]]
    assert model.check_counts(np.empty((0, 2))).shape == (0, 2)
    for bad, message in (
        ([1, 2, 3], r"counts has shape \(3,\); its last axis must list the 2 job classes"),
        (3, r"counts has shape \(\)"),
        ([[1, 1], [-1, 1]], r"counts must be finite and >= 0; got -1.0 at index \(1, 0\)"),
        ([np.nan, 1], r"got nan at index \(0,\)"),
        ([1, np.inf], r"got inf at index \(1,\)"),
        (["1", "2"], "counts must be an array of numbers"),
        ([[1, 1], [1]], "counts must be an array of numbers"),
    ):
        for check in (model.check_counts, model.check_state):
            with pytest.raises(ModelError, match=message):
                check(bad)
    with pytest.raises(ModelError, match=r"counts must have shape \(2,\); got \(3, 2\); for a batch call"):
        model.check_state(np.ones((3, 2)))


def test_repr():
    lines = repr(Cluster(**PLACES, weights=[1, 2, 0.5], resources=["cpu", "ram"])).splitlines()
    assert lines[0] == "Cluster(3 classes x 3 servers x 2 resources)"
    assert lines[1].split("  ")[-3:] == [f"alone on server {i}" for i in (1, 2, 3)]
    assert [line.split() for line in lines[2:]] == [
        ["class", "1", "1", "1", "2", "6", "-", "2"],
        ["class", "2", "2", "2", "0", "4.5", "6", "-"],
        ["class", "3", "0.5", "1", "1", "-", "-", "4"],
        ["server", "1", "9", "12"],
        ["server", "2", "12", "0"],
        ["server", "3", "4", "4"],
    ]
    for shape in ((21, 1, 1), (1, 9, 1), (1, 1, 9)):
        n, s, m = shape
        large = Cluster(np.ones((n, m)), np.ones((s, m)))
        assert repr(large) == f"Cluster({n} classes x {s} servers x {m} resources)"
    assert repr(Problem(np.ones((50, 2)), [1, 1])) == "Problem(50 classes x 2 resources)"


def test_zero_capacity_blocks_exactly_the_classes_that_demand_it():
    problem = Problem([[1, 0], [1, 2]], [3, 0])
    assert problem.blocked.tolist() == [False, True]
    assert problem.task_shares.tolist() == [[1 / 3, 0], [1 / 3, 0]]
