"""ClusterAllocation: what a person reads of a placement, and what allocate refuses for a cluster."""

from dataclasses import dataclass

import numpy as np
import pytest
from matplotlib.figure import Figure

from fairness import DRF, PSDSF, TSF, Cluster, ModelError, PerServerDRF, Problem, allocate
from fairness.evidence.clusters import placement_residual
from fairness.evidence.pools import Certificate
from fairness.protocol.cluster_policy import ClusterPolicy, ClusterSolution
from fairness.testing import random_cluster

# Class 3 needs no RAM; server "io" has none and class 1 is kept off it anyway.
CLUSTER = Cluster(
    [[1, 2], [2, 1], [1, 0]], [[8, 8], [6, 0]], weights=[1, 1, 2], eligible=[[1, 0], [1, 0], [1, 1]],
    job_classes=["A", "B", "C"], servers=["main", "io"], resources=["cpu", "ram"],
)  # fmt: skip


POOL = Problem([[1, 4], [3, 1]], [9, 18])


@dataclass(frozen=True)
class Fixed(ClusterPolicy):
    """Places what it is told."""

    placement: tuple
    division: str = "resource"
    name = "fixed"

    def solve(self, cluster, counts=None):
        return ClusterSolution(np.array(self.placement, dtype=float), Certificate("as told", 0.0))


class Half(PerServerDRF):
    """Answers otherwise than its base, whose solution it inherits."""

    def __call__(self, cluster, counts=None):
        return super().__call__(cluster, counts) / 2


def test_a_subclass_that_answers_otherwise_is_asked_itself():
    whole, half = allocate(CLUSTER, PerServerDRF()), allocate(CLUSTER, Half())
    assert half.placement.tolist() == (whole.placement / 2).tolist()
    assert half.certificate.claim == "tasks only on eligible servers, within all capacities"
    assert half.certificate.holds


def test_by_hand():
    result = allocate(CLUSTER, Fixed(((2, 0), (2, 0), (1, 6))), [1, 2, 1])
    assert (result.name, result.division) == ("fixed", "resource")
    assert result.counts.tolist() == [1, 2, 1]
    assert result.tasks.tolist() == [2, 2, 7]
    assert result.usage.tolist() == [[7, 6], [6, 0]]
    # A capacity of 0 counts as full.
    assert result.utilization.tolist() == [[7 / 8, 6 / 8], [1, 1]]
    assert result.saturated.tolist() == [[False, False], [True, True]]
    assert result.time_shares.tolist() == [2 / 4 + 2 / 4 + 1 / 8, 1]
    # The total of a class over what it could run alone, also on a server where it runs less.
    assert result.virtual_dominant_shares.tolist() == [[2 / 4, np.inf], [2 / 4, np.inf], [7 / 8, 7 / 6]]
    assert (result.levels, result.prices, result.details) == (None, None, {})


def test_saturated_allows_for_rounding():
    cluster = Cluster([[1]], [[1]])
    assert allocate(cluster, Fixed(((1 - 1e-10,),))).saturated.all()
    assert not allocate(cluster, Fixed(((1 - 1e-8,),))).saturated.any()


def test_usage_with_effective_capacities():
    # Twice as fast: a task holds its resources half the time.
    fast = CLUSTER.replaced(gamma=[[8, 0], [8, 0], [8, 6]], eligible=None)
    result = allocate(fast, Fixed(((4, 0), (4, 0), (1, 6))))
    assert result.usage.tolist() == [[7, 6], [6, 0]]
    assert result.time_shares.tolist() == [4 / 8 + 4 / 8 + 1 / 8, 1]


def test_dataframe():
    frame = allocate(CLUSTER, Fixed(((2, 0), (2, 0), (1, 6))), [1, 2, 1]).to_dataframe()
    assert frame.index.tolist() == ["A", "B", "C"]
    assert frame.index.name == "job_class"
    assert frame.columns.tolist() == ["jobs", "tasks", "tasks on main", "tasks on io"]
    assert frame.loc["C"].tolist() == [1, 7, 1, 6]
    # Pandas warns, here an error, where a table grows column by column.
    many = allocate(Cluster([[1]], np.ones((120, 1))), PSDSF())
    assert many.to_dataframe().shape == (1, 122)


def test_summary_of_a_small_cluster():
    result = allocate(CLUSTER, Fixed(((2, 0), (2, 0), (2, 6))), [1, 0.5, 1])
    assert result.summary().splitlines() == [
        "fixed allocation (resource division)",
        "  class  jobs  tasks  main  io",
        "  A         1      2     2   -",
        "  B       0.5      2     2   -",
        "  C         1      8     2   6",
        "  main: cpu 8/8 (full), ram 6/8",
        "  io: cpu 6/6 (full)",  # there is no RAM to speak of
        "  as told: holds (residual 0.0e+00)",
    ]
    timed = allocate(CLUSTER, Fixed(((1, 0), (1, 0), (2, 6)), "time"))
    assert timed.summary().splitlines()[5] == "  main: cpu 5/8, ram 3/8, busy 0.75 of the time"


def test_summary_with_long_names():
    cluster = Cluster(
        [[1], [1]], [[1], [1]], servers=["machine room, first row", "second"], job_classes=["a" * 20, "b"]
    )
    head, first, second = allocate(cluster, PSDSF()).summary().splitlines()[1:4]
    assert len(head) == len(first) == len(second)
    assert head.split() == ["class", "jobs", "tasks", "machine", "room,", "first", "row", "second"]
    assert "  machine room, first row" in head


@pytest.mark.parametrize("shape", [(1, 9), (41, 1)])
def test_summary_of_a_large_cluster_is_short(shape):
    classes, servers = shape
    demands, capacities = np.ones((classes, 2)) * [1, 0], np.ones((servers, 2)) * [1, 0]
    cluster = Cluster(demands, capacities)
    lines = allocate(cluster, PSDSF()).summary().splitlines()
    assert lines[1] == (
        f"  {classes} classes on {servers} servers, {servers} tasks in all, "
        f"{servers} servers with a full resource"
    )
    assert len(lines) == 3
    # A resource that a server does not have is not a full one.
    idle = allocate(cluster, PSDSF(), np.zeros(classes)).summary()
    assert "0 tasks in all, 0 servers with a full resource" in idle


def test_plot_shows_who_holds_what():
    result = allocate(CLUSTER, Fixed(((2, 0), (2, 0), (1, 6))))
    ax = result.plot(Figure().subplots())
    # No bar where there is no capacity.
    assert [label.get_text() for label in ax.get_yticklabels()] == ["main, cpu", "main, ram", "io, cpu"]
    widths = [[bar.get_width() for bar in bars] for bars in ax.containers]
    np.testing.assert_allclose(widths, [[2 / 8, 4 / 8, 0], [4 / 8, 2 / 8, 0], [1 / 8, 0, 1]], rtol=1e-15)
    ends = [bar.get_x() + bar.get_width() for bar in ax.containers[-1]]
    np.testing.assert_allclose(ends, result.utilization[[0, 0, 1], [0, 1, 0]], rtol=1e-15)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["A: 2 tasks", "B: 2 tasks", "C: 7 tasks"]
    assert ax.get_title() == "fixed allocation"
    assert ax.get_xlabel()


@pytest.mark.parametrize(
    ("model", "policy", "message"),
    [
        (CLUSTER, DRF(), r"DRF is made for one pool of resources; the problem is a Cluster: .* PSDSF\(\)"),
        (CLUSTER, PSDSF, r"got <class .*PSDSF'>; make one of the class: PSDSF\(\)"),
        (CLUSTER, "psdsf", "got 'psdsf'; names are for files and commands"),
        (
            CLUSTER,
            lambda cluster, counts: counts,
            r"shape \(3,\) for counts of shape \(3,\) and 2 servers",
        ),
        (POOL, PSDSF(), r"PS-DSF rdm places tasks on a Cluster; the model is a Problem"),
        ([[1, 2]], PSDSF(), "allocate needs a Problem or a Cluster; got list"),
        (None, None, "allocate needs a Problem or a Cluster; got NoneType"),
        (POOL, "drf", r"policy must be callable .* got 'drf'"),
        (POOL, DRF, r"for example DRF\(\); got <class"),
        (POOL, lambda problem, counts: np.zeros(3), r"returned shape \(3,\)"),
        (CLUSTER, Fixed((1, 2)), r"fixed returned a placement of shape \(2,\); .* 3 classes on 2 servers"),
    ],
)
def test_the_wrong_kind_of_policy_or_model(model, policy, message):
    with pytest.raises(ModelError, match=message):
        allocate(model, policy)


def test_a_cluster_policy_called_on_a_pool():
    with pytest.raises(ModelError, match="PS-DSF tdm places tasks on a Cluster; got Problem"):
        PSDSF("time")(POOL, [1, 1])


def test_one_vector_of_counts():
    with pytest.raises(ModelError, match="for a batch call the policy itself"):
        allocate(POOL, DRF(), np.ones((2, 2)))
    for counts, message in (
        (np.ones((2, 3)), r"counts must have shape \(3,\); got \(2, 3\); for a batch call the policy itself"),
        ([1, 1], "its last axis must list the 3 job classes"),
        ([1, -1, 1], r"got -1.0 at index \(1,\)"),
    ):
        with pytest.raises(ModelError, match=message):
            allocate(CLUSTER, PSDSF(), counts)


POLICIES = pytest.mark.parametrize(
    "policy",
    [PSDSF(), PSDSF(method="algorithm-1"), PSDSF("time"), TSF(), PerServerDRF()],
    ids=["filling", "I", "time", "TSF", "per server"],
)


@POLICIES
def test_absent_classes_hold_nothing_and_others_share_as_if_they_were_not_there(policy):
    rng = np.random.default_rng(0)
    for k in range(15):
        cluster = random_cluster(rng, 5, 3, 2, weighted=True, constrained=k % 2 == 0)
        present = np.array([True, False, True, False, False])
        counts = np.where(present, rng.uniform(0.5, 2, 5), 0.0)
        result = allocate(cluster, policy, counts)
        assert not result.placement[~present].any()
        assert result.certificate.holds
        assert placement_residual(cluster, counts, result.placement, policy.division) <= 1e-9
        # A server that no present class can use is not part of the smaller cluster.
        used = cluster.eligible[present].any(axis=0)
        assert not result.placement[:, ~used].any()
        smaller = Cluster(
            cluster.demands[present], cluster.capacities[used], weights=cluster.weights[present],
            eligible=cluster.eligible[np.ix_(present, used)],
        )  # fmt: skip
        if isinstance(policy, TSF) and not used.all():
            continue  # its yardstick counts all servers
        expected = allocate(smaller, policy, counts[present]).tasks
        # 1e-7: where leximin programs stop.
        np.testing.assert_allclose(result.tasks[present], expected, rtol=1e-7)


@POLICIES
def test_a_server_without_present_users(policy):
    result = allocate(CLUSTER, policy, [1, 1, 0])  # only C may use server "io"
    assert result.placement[:, 1].tolist() == [0, 0, 0]
    assert result.certificate.holds
    assert result.utilization[1].tolist() == [0, 1]
    alone = allocate(CLUSTER, policy, [0, 0, 3])
    np.testing.assert_allclose(alone.placement, [[0, 0], [0, 0], [8, 6]], rtol=1e-12)
    assert not allocate(CLUSTER, policy, [0, 0, 0]).placement.any()


@POLICIES
def test_batches_have_leading_axes(policy):
    counts = np.array([[[1, 1, 1], [0, 2, 1]], [[0, 0, 0], [0.5, 0, 0]], [[3, 1, 0], [0, 0, 1]]])
    placements = policy(CLUSTER, counts)
    assert placements.shape == (3, 2, 3, 2)
    for state in np.ndindex(3, 2):
        np.testing.assert_array_equal(placements[state], allocate(CLUSTER, policy, counts[state]).placement)
    assert policy(CLUSTER, counts[0, 0]).shape == (3, 2)
    assert policy(CLUSTER).shape == (3, 2)
    assert policy(CLUSTER, np.empty((0, 3))).shape == (0, 3, 2)
    with pytest.raises(ModelError, match=r"got -1.0 at index \(0, 1\)"):
        policy(CLUSTER, [[1, -1, 1]])


def test_a_function_of_ones_own_places_tasks():
    result = allocate(CLUSTER, lambda cluster, counts: cluster.gamma / cluster.n_classes)
    np.testing.assert_allclose(result.tasks, CLUSTER.gamma.sum(axis=1) / 3)
    assert result.certificate.holds
    too_many = allocate(CLUSTER, lambda cluster, counts: cluster.gamma)
    assert not too_many.certificate.holds
