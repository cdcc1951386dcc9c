"""Trees of queues on the servers of a cluster: one server is a pool, one queue the policy itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from fairness import (
    CDRFH,
    DRF,
    PSDSF,
    TSF,
    Cluster,
    Hierarchical,
    HierarchicalPlacement,
    ModelError,
    PerServerDRF,
    Tree,
    allocate,
)
from fairness.evidence.tree_placements import hierarchy_placement_certificate, pooled
from fairness.testing import check_policy


def random_case(seed: int, servers: int) -> tuple[Cluster, Tree, np.ndarray]:
    """A cluster of sparse whole demands and a tree over its classes, with maxima if the seed is odd."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(4, 15)), int(rng.integers(2, 7))
    demands = rng.integers(1, 5, (n, m)) * (rng.random((n, m)) < rng.choice([0.25, 0.5]))
    for i in np.flatnonzero(~demands.any(axis=1)):
        demands[i, rng.integers(m)] = 1
    capacities = rng.integers(4, 30, (servers, m))
    eligible = rng.random((n, servers)) < 0.7
    eligible[np.arange(n), rng.integers(servers, size=n)] = True
    eligible[0] = True
    cluster = Cluster(demands, capacities, eligible=eligible | (servers == 1), weights=rng.integers(1, 4, n))
    size = int(rng.integers(2, 9))
    parts = rng.integers(3, 9, (size, m)) / 8
    most = np.where(rng.random((size, m)) < 0.3, capacities.sum(axis=0) * parts, np.inf)
    tree = Tree(
        [f"q{v}" for v in range(size)],
        [-1] + [int(rng.integers(max(0, v - 2), v)) for v in range(1, size)],
        weights=rng.integers(1, 4, size),
        job_classes=cluster.job_classes,
        class_nodes=rng.integers(0, size, n),
        resources=cluster.resources,
        maximum=most if seed % 2 else np.inf,
    )
    return cluster, tree, rng.integers(0, 4, n).astype(float)


def totals(policy: Any, cluster: Cluster, counts: Any = None) -> np.ndarray:
    return policy.solve(cluster, counts).placement.sum(axis=1)


@pytest.mark.parametrize("naive", [False, True])
def test_one_server_is_a_pool(naive: bool) -> None:
    # The last ones need children that wait for the level.
    for seed in (*range(8), 64, 402, 478):
        cluster, tree, counts = random_case(seed, 1)
        on_server = totals(HierarchicalPlacement(tree, naive=naive), cluster, counts)
        in_pool = Hierarchical(tree, DRF(), naive=naive)(pooled(cluster), counts)
        np.testing.assert_allclose(on_server, in_pool, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rule", [CDRFH(), TSF(), TSF("dedicated")], ids=lambda rule: rule.name)
def test_one_queue_is_the_policy_itself(rule: Any) -> None:
    for seed in range(6):
        cluster, _, counts = random_case(seed, 4)
        flat = totals(HierarchicalPlacement(Tree.flat(cluster), rule), cluster, counts)
        np.testing.assert_allclose(flat, totals(rule, cluster, counts), rtol=1e-9, atol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("servers", [1, 2, 5])
def test_hundreds_of_random_trees(servers: int) -> None:
    for seed in range(60):
        cluster, tree, counts = random_case(1000 + seed, servers)
        for naive in (False, True):
            solution = HierarchicalPlacement(tree, naive=naive).solve(cluster, counts)
            assert solution.certificate.residual < 1e-9, seed
            if servers == 1:
                in_pool = Hierarchical(tree, naive=naive)(pooled(cluster), counts)
                np.testing.assert_allclose(solution.placement.sum(axis=1), in_pool, rtol=1e-8, atol=1e-8)


def fits(cluster: Cluster, tasks: Any) -> bool:
    """Whether a placement of the tasks exists: the definition, by another solver."""
    n, s, m = cluster.task_shares.shape
    within = np.zeros((s * m, n * s))
    for i in range(s):
        for r in range(m):
            within[i * m + r, i::s] = cluster.task_shares[:, i, r]
    sums = np.kron(np.eye(n), np.ones(s))
    bounds = [(0, None) if ok else (0, 0) for ok in cluster.eligible.ravel()]
    found = linprog(np.zeros(n * s), within, np.ones(s * m), sums, tasks, bounds=bounds)
    return bool(found.status == 0)


def in_small_tasks(cluster: Cluster, tree: Tree, rule: Any, part: float) -> np.ndarray:
    """The discrete algorithm for tasks of this size, one job per class: the child of the least share is next.

    Blocked is who does not fit any more; a resource of which nothing is left in the whole cluster is ignored.
    """
    of_resources = isinstance(rule, CDRFH)
    alone = rule.yardsticks(cluster, np.ones(cluster.n_classes))
    measure = cluster.demands / cluster.total_capacities if of_resources else 1 / alone[:, None]
    tasks = np.zeros(cluster.n_classes)
    live = np.ones(cluster.n_classes, dtype=bool)
    home = tree.require_classes(cluster)

    while live.any():
        used = tasks @ (cluster.demands / cluster.total_capacities)
        counts = used < 1 - 1e-9 if of_resources else np.ones(1, dtype=bool)

        def visit(v: int, counts: Any = counts, tasks: Any = tasks) -> tuple[Any, int | None]:
            """What queue v holds, and which class of it is next."""
            children = [
                (tasks[n] * measure[n], tasks[n] / alone[n], int(n) if live[n] else None)
                for n in np.flatnonzero(home == v)
            ]
            for c in tree.children(v).tolist():
                vector, following = visit(c)
                children.append((vector, np.max(vector[counts], initial=0.0) / tree.weights[c], following))
            levels = [level for _, level, following in children if following is not None]
            least = min(levels, default=0.0)
            held, chosen = np.zeros(measure.shape[1]), None
            for vector, level, following in children:
                ahead = following is not None and level > least
                held = held + (vector * (least / level) if ahead else vector)
                if chosen is None and following is not None and level == least:
                    chosen = following
            return held, chosen

        n = visit(0)[1]
        assert n is not None
        more = tasks + part * np.eye(cluster.n_classes)[n]
        if fits(cluster, more):
            tasks = more
        else:
            live[n] = False
    return tasks


DEEP = Tree(
    ["all", "A", "B", "B1"],
    [-1, 0, 0, 2],
    weights=[1, 2, 1, 1],
    job_classes=["a1", "a2", "b", "b1", "b2"],
    class_nodes=[1, 1, 2, 3, 3],
)
SERVERS = Cluster(
    [[1, 2], [2, 1], [1, 0], [0, 1], [1, 1]],
    [[6, 4], [3, 8], [4, 4]],
    job_classes=["a1", "a2", "b", "b1", "b2"],
    eligible=[[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1], [0, 1, 0]],
)


@pytest.mark.long
@pytest.mark.parametrize("rule", [CDRFH(), TSF()], ids=lambda rule: rule.name)
def test_tasks_cut_ever_smaller_come_to_the_filling(rule: Any) -> None:
    filled = totals(HierarchicalPlacement(DEEP, rule), SERVERS)
    off = [np.abs(in_small_tasks(SERVERS, DEEP, rule, 1 / k) - filled).max() for k in (4, 8, 32)]
    # A class can be ahead of where it should be by a few tasks.
    assert off[-1] < 4 / 32
    assert off[-1] < off[0]


def test_by_hand() -> None:
    # Each queue has half of the CPUs: 12 of 24. The web runs on the second server only, which has 8, so that
    # the classes of research have the other 16, in equal parts.
    tree = Tree.from_dict(
        {"all": {"queues": {"research": {"classes": ["train", "test"]}, "web": {"classes": ["serve"]}}}}
    )
    cluster = Cluster(
        [[1], [1], [1]],
        [[16], [8]],
        job_classes=["train", "test", "serve"],
        eligible=[[1, 1], [1, 1], [0, 1]],
    )
    result = allocate(cluster, HierarchicalPlacement(tree))
    np.testing.assert_allclose(result.tasks, [8, 8, 8])
    assert result.certificate.holds
    assert result.name == "H-C-DRFH"
    # At most 4 CPUs for research in the whole cluster.
    bounded = Tree.from_dict(
        {
            "all": {
                "queues": {
                    "research": {"classes": ["train", "test"], "maximum": {"resource 1": 4}},
                    "web": {"classes": ["serve"]},
                }
            }
        }
    )
    np.testing.assert_allclose(totals(HierarchicalPlacement(bounded), cluster), [2, 2, 8])


def test_wrong_fillings_fail() -> None:
    policy = HierarchicalPlacement(DEEP)
    solution = policy.solve(SERVERS)
    stages, prices = solution.details["stages"], solution.details["prices"]

    def residual(placement: Any = solution.placement, stages: Any = stages, prices: Any = prices) -> float:
        return hierarchy_placement_certificate(SERVERS, DEEP, None, placement, stages, prices).residual

    assert residual() < 1e-9
    assert residual(prices=[]) > 0.01
    assert residual(stages=stages[[0, -1]]) > 0.01
    assert residual(placement=solution.placement * 0.99) > 1e-3
    assert residual(solution.placement * 0.99, stages * 0.99) > 1e-3
    assert residual(solution.placement * 1.01, stages * 1.01) > 1e-3
    flat = CDRFH().solve(SERVERS).placement
    assert residual(flat, np.vstack([stages[0], flat.sum(axis=1)])) > 0.01
    with pytest.raises(ModelError, match="prices"):
        residual(prices=[-prices[0]])
    with pytest.raises(ModelError, match="placement and stages"):
        residual(placement=solution.placement[:2])


def test_weights_at_the_leaves() -> None:
    weights = np.array([1 / 2, 1 / 2, 1 / 2, 1 / 4, 1 / 4]) * [2, 2, 1, 1, 1]
    for rule in (PSDSF(), PerServerDRF()):
        given = totals(HierarchicalPlacement(DEEP, rule), SERVERS)
        np.testing.assert_allclose(given, totals(rule, SERVERS.replaced(weights=weights)), rtol=1e-9)


@pytest.mark.long
def test_the_battery_with_a_tree() -> None:
    names = [f"class {i}" for i in range(1, 12)]
    one = Tree(["all"], [-1], job_classes=names, class_nodes=[0] * 11)
    two = Tree(["all", "a", "b"], [-1, 0, 0], job_classes=names, class_nodes=[1, 2, 0, 2, 1] * 2 + [0])
    check_policy(HierarchicalPlacement(one), instances=1, skip={"splitting"})
    structure = {"splitting", "weights are counts", "one server", "relabelling", "task units"}
    check_policy(HierarchicalPlacement(two, TSF()), instances=1, skip=structure)


def test_edges() -> None:
    policy = HierarchicalPlacement(DEEP)
    assert not totals(policy, SERVERS, [0] * 5).any()
    batch = policy.tasks(SERVERS, [[1, 1, 1, 1, 1], [0, 2, 0, 0, 1]])
    np.testing.assert_allclose(batch[1], totals(policy, SERVERS, [0, 2, 0, 0, 1]))
    assert (batch[1][[0, 2, 3]] == 0).all()


def test_what_is_refused() -> None:
    with pytest.raises(ModelError, match="must be a Tree"):
        HierarchicalPlacement("all")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"for a pool take Hierarchical"):
        HierarchicalPlacement(DEEP, DRF())  # type: ignore[arg-type]
    floors = Tree(["all"], [-1], job_classes=["a"], class_nodes=[0], minimum=1)
    with pytest.raises(ModelError, match="leave out minimum"):
        HierarchicalPlacement(floors)
    capped = Tree(["all"], [-1], job_classes=["a"], class_nodes=[0], maximum=1)
    with pytest.raises(ModelError, match="leave out maximum"):
        HierarchicalPlacement(capped, PSDSF())
    with pytest.raises(ModelError, match="acts at the leaves"):
        HierarchicalPlacement(DEEP, PSDSF(), naive=True)
    with pytest.raises(ModelError, match="submits to no queue"):
        HierarchicalPlacement(DEEP).solve(Cluster([[1]], [[1]]))
    given = Cluster([[1]], [[2]], gamma=[[1]], job_classes=["a"])
    one = Tree(["all"], [-1], job_classes=["a"], class_nodes=[0])
    with pytest.raises(ModelError, match="gamma"):
        HierarchicalPlacement(one, TSF()).solve(given)
    assert totals(HierarchicalPlacement(one, PSDSF()), given) == pytest.approx([1])
