"""Files of schedulers: what they say becomes a model and a tree; the rest is named, or refused."""

import json
import re
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from fairness import DRF, Cluster, ModelError, Problem, allocate
from fairness.arguments.quantities import quantity
from fairqueues.exchange import read_cluster
from fairqueues.exchange.schedulers.joining import byte_unit
from fairqueues.exchange.schedulers.manifests.constraints import runs_on
from fairqueues.exchange.schedulers.manifests.fields import json_document, yaml_documents
from fairqueues.exchange.schedulers.parts import Amounts, Server
from fairqueues.exchange.schedulers.yarn.elements import Element
from fairqueues.exchange.schedulers.yarn.fair_scheduler import resources_of

KUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: research}
spec:
  parentName: all
  fairSharing: {weight: "2"}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: vision}
spec:
  cohort: research
  namespaceSelector: {}
  queueingStrategy: BestEffortFIFO
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: default
      resources:
      - {name: cpu, nominalQuota: 9, borrowingLimit: 3}
      - {name: memory, nominalQuota: 36Gi, lendingLimit: 10Gi}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: web}
spec:
  cohort: all
  stopPolicy: None
  colour: blue
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: default
      resources:
      - {name: cpu, nominalQuota: 5000m}
      - {name: memory, nominalQuota: 18Gi}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: jobs, namespace: team}
spec: {clusterQueue: vision}
"""
JOBS = """\
job_class,queue,jobs,limit,cpu,memory
train,LocalQueue team/jobs,2,10,1,4Gi
serve,web,1,,500m,1Gi
"""
FAIR = """\
<?xml version="1.0"?>
<allocations>
  <queue name="big">
    <weight>8</weight>
    <minResources>10000 mb, 10vcores</minResources>
    <maxResources>50%</maxResources>
    <maxRunningApps>10</maxRunningApps>
    <queue name="inner"><schedulingPolicy>fifo</schedulingPolicy></queue>
  </queue>
  <queue name="small"><maxResources>vcores=30, memory-mb=25%</maxResources></queue>
  <defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>
</allocations>
"""
YARN = {"vcores": 100, "memory-mb": 100_000}
YARN_JOBS = "job_class,queue,vcores,memory-mb\nm,inner,1,1024\nn,root.small,2,512\n"
VOLCANO = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: root-sci-dev
  annotations: {volcano.sh/hierarchy: root/sci/dev, volcano.sh/hierarchy-weights: 1/2/4}
spec: {weight: 1, reclaimable: true}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: eng}
spec: {weight: 3, capability: {cpu: 6}, guarantee: {resource: {cpu: 1}}, deserved: {cpu: 4}, parent: root}
"""


def capacity_scheduler(**properties):
    rows = "".join(
        f"<property><name>yarn.scheduler.capacity.root.{key.replace('__', '.').replace('_', '-')}</name>"
        f"<value>{value}</value></property>\n"
        for key, value in properties.items()
    )
    return f"<configuration>\n{rows}</configuration>\n"


CAPACITY = capacity_scheduler(
    queues="a, b", a__capacity="60", b__capacity="40", b__maximum_capacity="50", b__queues="x,y",
    b__x__capacity="1w", b__y__capacity="3w", b__x__maximum_capacity="50", b__user_limit_factor="3",
)  # fmt: skip


def node(name, allocatable, labels=None, taints=(), **spec):
    return {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels or {}},
        "spec": {"taints": list(taints), **spec}, "status": {"allocatable": allocatable},
    }  # fmt: skip


def pod(name, requests, owner=None, phase="Running", metadata=None, **spec):
    owners = [] if owner is None else [{"kind": owner[0], "name": owner[1], "controller": True}]
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "x", "ownerReferences": owners, **(metadata or {})},
        "spec": {"containers": [{"resources": {"requests": requests}}], **spec}, "status": {"phase": phase},
    }  # fmt: skip


def listed(*items):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1)


@pytest.fixture
def save(tmp_path, monkeypatch):
    """Write files by name, in the current folder; their names."""
    monkeypatch.chdir(tmp_path)

    def write(**files):
        names = [name.replace("_", ".") for name in files]
        for name, text in zip(names, files.values(), strict=True):
            (tmp_path / name).write_text(text, encoding="utf-8")
        return names

    return write


def bounds(tree, path, resource):
    """Minimum, maximum and lends of a queue."""
    v, j = tree.node(f"root/{path}" if path else "root"), tree.resources.index(resource)
    return tuple(float(getattr(tree, bound)[v, j]) for bound in ("minimum", "maximum", "lends"))


# --- quantities ----------------------------------------------------------------------------------------


def test_quantities_are_exact():
    said = {
        "0": 0, "2": 2, "0.5": Fraction(1, 2), ".5": Fraction(1, 2), "5.": 5, "100m": Fraction(1, 10),
        "1e3": 1000, "1E-2": Fraction(1, 100), "4Gi": 4 * 2**30, "1.5Ki": 1536, "2E": 2 * 10**18,
        "1Ei": 2**60, "+3k": 3000, "-1": -1, "7n": Fraction(7, 10**9), "12e6": 12_000_000,
    }  # fmt: skip
    assert {text: quantity(text) for text in said} == said
    for text in ("", "Gi", "1gi", "1 Gi", "1e", "1e999", "0x10", "1,5", "inf", "nan", "1mi", "١"):
        with pytest.raises(ValueError, match="is no quantity"):
            quantity(text)


def test_the_unit_of_bytes_keeps_all_amounts_whole():
    assert byte_unit([Fraction(2**30), Fraction(3 * 2**30)]) == ("GiB", 2**30)
    assert byte_unit([Fraction(2**30), Fraction(2**20)]) == ("MiB", 2**20)
    assert byte_unit([Fraction(10**9)]) == ("B", 1)
    assert byte_unit([Fraction(0)]) == ("B", 1)


# --- Kueue ---------------------------------------------------------------------------------------------


def test_kueue(save):
    found = read_cluster(*save(k_yaml=KUEUE, jobs_csv=JOBS))
    model, tree = found.model, found.tree
    assert isinstance(model, Problem)
    assert model.as_fractions() == ([[1, 4], [Fraction(1, 2), 1]], [14, 54])  # the sum of the nominal quotas
    assert model.resources == ("cpu", "memory (GiB)")
    assert model.limits.tolist() == [10, np.inf]
    assert found.counts.tolist() == [2, 1]
    paths = [tree.path(v) for v in range(tree.n_nodes)]
    assert sorted(paths) == [
        "root",
        "root/all",
        "root/all/research",
        "root/all/research/vision",
        "root/all/web",
    ]
    assert tree.weights[tree.node("root/all/research")] == 2
    assert tree.classes(tree.node("root/all/research/vision")) == ("train",)
    assert bounds(tree, "all/research/vision", "cpu") == (9, 12, np.inf)
    assert bounds(tree, "all/research/vision", "memory (GiB)") == (36, np.inf, 10)
    assert bounds(tree, "all/research", "memory (GiB)") == (36, np.inf, np.inf)
    assert bounds(tree, "all/web", "cpu") == (5, np.inf, np.inf)
    told = {one.field: one.why for one in found.unread}
    assert set(told) == {"spec.queueingStrategy", "spec.colour"}
    assert told["spec.colour"] == "unknown field, not read"
    assert found.unread[1].line == 29


def admitted(quotas, lending, uses):
    """Whether Kueue lets the members of a cohort use so much, which counts what is above their reserves."""
    reserves = [max(q - lend, 0) for q, lend in zip(quotas, lending, strict=True)]
    above = sum(max(use - kept, 0) for use, kept in zip(uses, reserves, strict=True))
    return above <= sum(q - kept for q, kept in zip(quotas, reserves, strict=True))


def test_the_tree_allows_what_kueue_admits(save):
    """Two ways to count: Kueue above the reserves, a tree with them."""
    for lend in (0, 2, 5):
        text = KUEUE.replace("borrowingLimit: 3", f"lendingLimit: {lend}")
        tree = read_cluster(*save(k_yaml=text, jobs_csv=JOBS)).tree
        top = tree.node("root/all")
        reserve = tree.reserve[:, tree.resources.index("cpu")]
        capacity = 14
        members = [tree.node("root/all/research/vision"), tree.node("root/all/web")]
        for uses in product(np.arange(0, 15, 1.5), repeat=2):
            counted = dict(zip(members, uses, strict=True))
            for v in (*members, tree.node("root/all/research"), top):  # children before parents
                counted.setdefault(v, sum(max(counted[c], reserve[c]) for c in tree.children(v)))
            assert (counted[top] <= capacity) == admitted([9, 5], [lend, np.inf], uses), (lend, uses)


def test_cluster_queues_without_a_cohort_borrow_nothing(save):
    text = KUEUE.replace("  cohort: all\n", "").replace("cohort: research\n", "cohortName: research\n")
    tree = read_cluster(*save(k_yaml=text, jobs_csv=JOBS)).tree
    assert bounds(tree, "web", "cpu") == (5, 5, np.inf)
    assert bounds(tree, "all", "cpu") == (9, 9, np.inf)
    # Nor need the nodes have as much as the quotas together: each has its part then.
    found = read_cluster("k.yaml", "jobs.csv", capacities={"cpu": 7, "memory": "54Gi"})
    (result,) = (allocate(found.model, policy, found.counts) for policy in found.scenario.policies)
    assert result.usage[0] == pytest.approx(7)
    assert result.queues()["usage of cpu"]["root/web"] == pytest.approx(2.5)


def test_a_limit_of_a_cohort_that_counts_reserves_is_named(save):
    quota = "{name: cpu, nominalQuota: 1, borrowingLimit: 1}"
    groups = f"[{{coveredResources: [cpu], flavors: [{{name: default, resources: [{quota}]}}]}}]"
    text = KUEUE.replace("  parentName: all\n", f"  parentName: all\n  resourceGroups: {groups}\n")
    found = read_cluster(*save(k_yaml=text, jobs_csv=JOBS))
    assert bounds(found.tree, "all/research", "cpu") == (10, 11, np.inf)  # its own quota, and that below it
    assert [one.line for one in found.unread if one.field == "Cohort research"] == [6]


FLAVORS = """\
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: on-demand}
spec: {nodeLabels: {type: on-demand}}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: spot}
spec:
  nodeLabels: {type: spot}
  nodeTaints: [{key: spot, value: "true", effect: NoSchedule}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: q}
spec:
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - {name: on-demand, resources: [{name: cpu, nominalQuota: 5}]}
    - {name: spot, resources: [{name: cpu, nominalQuota: 6}]}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: lq, namespace: x}
spec: {clusterQueue: q}
"""
QUEUED = {"labels": {"kueue.x-k8s.io/queue-name": "lq"}}


def test_flavors_are_resources_of_their_own(save):
    pods = listed(
        pod(
            "a",
            {"cpu": "1"},
            metadata=QUEUED,
            nodeSelector={"type": "spot"},
            tolerations=[{"operator": "Exists"}],
        ),
        pod("b", {"cpu": "2"}, metadata=QUEUED),  # does not tolerate spot
    )
    found = read_cluster(*save(k_yaml=FLAVORS, pods_json=pods))
    assert found.model.resources == ("on-demand/cpu", "spot/cpu")
    assert found.model.demands.tolist() == [[0, 1], [2, 0]]
    assert found.model.capacities.tolist() == [5, 6]
    nodes = listed(
        node("n1", {"cpu": "10"}, {"type": "spot"}), node("n2", {"cpu": "20"}, {"type": "on-demand"}),
        node("n3", {"cpu": "40"}),
    )  # fmt: skip
    found = read_cluster(*save(k_yaml=FLAVORS, pods_json=pods, nodes_json=nodes))
    units = dict(zip(found.model.resources, found.model.capacities, strict=True))
    assert units == {"on-demand/cpu": 20, "spot/cpu": 10}  # a node without a flavor's labels is not for Kueue
    assert bounds(found.tree, "q", "spot/cpu") == (6, 6, np.inf)
    both = listed(pod("a", {"cpu": "1"}, metadata=QUEUED, tolerations=[{"operator": "Exists"}]))
    with pytest.raises(
        ModelError, match=r"in the flavors on-demand, spot, of which on-demand, spot fit the jobs 'x/a'"
    ):
        read_cluster(*save(k_yaml=FLAVORS, pods_json=both))


def test_one_flavor_binds_pods_and_nodes_too(save):
    """Kueue admits pods that fit the flavor, on nodes with its labels, and counts pods where covered."""
    spot = FLAVORS.replace("    - {name: on-demand, resources: [{name: cpu, nominalQuota: 5}]}\n", "")
    fitting = {"nodeSelector": {"type": "spot"}, "tolerations": [{"operator": "Exists"}]}
    pods = listed(
        pod("a", {"cpu": "1"}, metadata=QUEUED, **fitting),
        node("n1", {"cpu": "10", "pods": "3"}, {"type": "spot"}),
        node("n2", {"cpu": "20"}, {"type": "on-demand"}),
    )
    found = read_cluster(*save(k_yaml=spot, pods_json=pods))
    assert found.model.capacities.tolist() == [10]
    assert "left out: how many pods there may be at most" in found.notes
    assert any("what its cohort can lend" in note for note in found.notes)  # nodes, not quotas, are the pool
    counted = spot.replace("coveredResources: [cpu]", "coveredResources: [cpu, pods]").replace(
        "{name: cpu, nominalQuota: 6}", "{name: cpu, nominalQuota: 6}, {name: pods, nominalQuota: 2}"
    )
    found = read_cluster(*save(k_yaml=counted, pods_json=pods))
    assert (found.model.resources, found.model.capacities.tolist()) == (("cpu", "pods"), [10, 3])
    assert found.model.demands.tolist() == [[1, 1]]
    assert bounds(found.tree, "q", "pods") == (2, 2, np.inf)
    with pytest.raises(ModelError, match=r"in the flavors spot, of which none fits the jobs 'x/a'"):
        read_cluster(*save(k_yaml=spot, pods_json=listed(pod("a", {"cpu": "1"}, metadata=QUEUED))))


def test_a_resource_of_classes_that_run_nowhere_is_left_out(save):
    jobs = "job_class,cpu,gpu\nrun,1,\nhung,1,1\n"
    found = read_cluster(*save(jobs_csv=jobs), capacities={"cpu": 4, "gpu": 0})
    assert (found.model.job_classes, found.model.resources) == (("run",), ("cpu",))
    assert found.notes == (
        "left out, as they can run nowhere: hung",
        "left out, as no class demands them: gpu",
    )


# --- YARN ----------------------------------------------------------------------------------------------


def test_fair_scheduler(save):
    found = read_cluster(*save(fair_xml=FAIR, jobs_csv=YARN_JOBS), capacities=YARN)
    tree = found.tree
    assert tree.weights[tree.node("root/big")] == 8
    assert bounds(tree, "big", "vcores") == (10, 50, np.inf)
    assert bounds(tree, "big", "memory-mb") == (10_000, 50_000, np.inf)
    assert bounds(tree, "small", "memory-mb") == (0, 25_000, np.inf)
    assert tree.classes(tree.node("root/big/inner")) == ("m",)
    assert [str(one) for one in found.unread] == [
        "fair.xml, line 7, <maxRunningApps>: numbers of applications are not limited"
    ]
    rooted = FAIR.replace("<allocations>", "<allocations><queue name='root'><weight>2</weight>")
    rooted = rooted.replace("  <defaultQ", "</queue><defaultQ")
    again = read_cluster(*save(fair_xml=rooted, jobs_csv=YARN_JOBS), capacities=YARN)
    assert again.tree == tree
    assert "in YARN root.big.inner shared by 'fifo'; choose the policy of the tree to fit" in found.notes


@pytest.mark.parametrize(
    ("text", "units", "shares"),
    [
        ("vcores=4, memory-mb=10240", {"vcores": 4, "memory-mb": 10240}, {}),
        ("10240 mb, 4 vcores", {"vcores": 4, "memory-mb": 10240}, {}),
        ("10240 MB 4 vcores", {"vcores": 4, "memory-mb": 10240}, {}),
        ("10240mb,4vcores", {"vcores": 4, "memory-mb": 10240}, {}),
        ("50% cpu, 25% memory", {}, {"vcores": Fraction(1, 2), "memory-mb": Fraction(1, 4)}),
        ("vcores=50%, yarn.io/gpu=2", {"yarn.io/gpu": 2}, {"vcores": Fraction(1, 2)}),
    ],
)
def test_ways_to_write_resources(text, units, shares):
    assert resources_of(Element("f", 1, "maxResources", {}, text)) == Amounts(units, shares)
    assert resources_of(Element("f", 1, "maxResources", {}, "40%")) == Amounts(share=Fraction(2, 5))


def test_capacity_scheduler(save):
    jobs = "job_class,queue,vcores,memory-mb\nm,a,1,1024\nn,root.b.x,2,512\no,b/y,2,512\n"
    found = read_cluster(*save(c_xml=CAPACITY, jobs_csv=jobs), capacities=YARN)
    tree = found.tree
    assert tree.weights.tolist() == [1, 60, 40, 1, 3]
    assert bounds(tree, "a", "vcores") == (60, np.inf, np.inf)
    assert bounds(tree, "b", "vcores") == (40, 50, np.inf)
    assert bounds(tree, "b/x", "vcores") == (10, 25, np.inf)  # a quarter of 40; at most half of b's most
    assert bounds(tree, "b/y", "memory-mb") == (30_000, 50_000, np.inf)
    assert found.unread[0].field == "yarn.scheduler.capacity.root.b.user-limit-factor"
    absolute = capacity_scheduler(
        queues="a,b", a__capacity="[memory=20480,vcores=12]", b__capacity="[memory=10Gi,vcores=50]"
    )
    jobs = jobs.replace("b/y", "b").replace("root.b.x", "b")
    tree = read_cluster(*save(c_xml=absolute, jobs_csv=jobs), capacities=YARN).tree
    assert bounds(tree, "b", "memory-mb") == (10_240, np.inf, np.inf)
    assert np.allclose(tree.weights, [1, 0.2048, 0.5], rtol=1e-15)  # the largest share of the cluster


def test_what_yarn_shares_by_is_told(save):
    leaves = "<allocations><queue name='a'><schedulingPolicy>drf</schedulingPolicy></queue></allocations>"
    jobs = "job_class,queue,vcores,memory-mb\nm,a,1,1024\n"
    found = read_cluster(*save(f_xml=leaves, jobs_csv=jobs), capacities=YARN)
    assert found.notes == ("in YARN root shared by memory alone; choose the policy of the tree to fit",)
    name = "yarn.scheduler.capacity.resource-calculator"
    for calculator, told in (("Dominant", 0), ("Default", 1)):
        value = f"org.apache.hadoop.yarn.util.resource.{calculator}ResourceCalculator"
        text = capacity_scheduler(queues="a", a__capacity="100", maximum_capacity="50").replace(
            "</conf", f"<property><name>{name}</name><value>{value}</value></property></conf"
        )
        found = read_cluster(*save(c_xml=text, jobs_csv=jobs), capacities=YARN)
        assert sum("share by memory alone" in note for note in found.notes) == told
        assert [one.why for one in found.unread] == ["is 50; here root has the whole cluster"]


# --- Volcano -------------------------------------------------------------------------------------------


def test_volcano(save):
    jobs = "job_class,queue,cpu\nm,dev,1\nn,Volcano queue eng,2\n"
    found = read_cluster(*save(v_yaml=VOLCANO, jobs_csv=jobs), capacities={"cpu": 10})
    tree = found.tree
    weights = {tree.path(v): tree.weights[v] for v in range(tree.n_nodes)}
    assert weights == {"root": 1, "root/sci": 2, "root/sci/dev": 4, "root/eng": 3}
    assert bounds(tree, "eng", "cpu") == (4, 6, 3)
    assert tree.reserve[tree.node("root/eng"), 0] == 1
    assert [one.field for one in found.unread] == ["spec.reclaimable"]
    assert any("what they deserve" in note for note in found.notes)
    hung = VOLCANO.replace("parent: root}", "parent: root-sci-dev}")
    with pytest.raises(ModelError, match=r"is for 'Volcano queue x'|has a cycle|'n'"):
        read_cluster(
            *save(v_yaml=hung, jobs_csv=jobs.replace("queue eng", "queue x")), capacities={"cpu": 10}
        )


# --- Guarantees of one resource, for tasks that need two -----------------------------------------------

QUEUE_OF_KUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {{name: {name}}}
spec:
  cohort: all
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: default
      resources: [{{name: cpu, nominalQuota: {cpu}}}, {{name: memory, nominalQuota: 0}}]
---
"""
COHORT_OF_KUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta1
kind: Cohort
metadata: {name: all}
spec:
  resourceGroups:
  - coveredResources: [memory]
    flavors: [{name: default, resources: [{name: memory, nominalQuota: 100Gi}]}]
---
"""
QUEUE_OF_VOLCANO = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: {name}}}
spec: {{weight: {weight}{more}}}
---
"""


def tasks_of(found):
    (policy,) = found.scenario.policies
    result = allocate(found.model, policy, found.counts)
    assert result.certificate.holds
    return result.tasks.tolist()


def test_quotas_of_cpu_under_a_cohort_that_has_the_memory(save):
    queues = "".join(QUEUE_OF_KUEUE.format(name=name, cpu=cpu) for name, cpu in (("a", 9), ("b", 1)))
    files = save(
        k_yaml=COHORT_OF_KUEUE + queues, jobs_csv="job_class,queue,cpu,memory\nx,a,1,1Gi\ny,b,1,1Gi\n"
    )
    assert tasks_of(read_cluster(*files)) == pytest.approx([9, 1])


def test_what_queues_deserve_of_one_resource(save):
    text = QUEUE_OF_VOLCANO.format(name="ml", weight=1, more=", deserved: {cpu: 8}")
    text += QUEUE_OF_VOLCANO.format(name="web", weight=9, more="")
    files = save(v_yaml=text, jobs_csv="job_class,queue,cpu,memory\nx,ml,1,4Gi\ny,web,1,1Gi\n")
    assert tasks_of(read_cluster(*files, capacities={"cpu": 20, "memory": "640Gi"})) == pytest.approx([8, 12])


def test_min_resources_of_one_resource(save):
    text = """<allocations>
    <queue name="ml"><weight>1</weight><minResources>8 vcores, 0 mb</minResources></queue>
    <queue name="web"><weight>9</weight></queue></allocations>"""
    files = save(fair_xml=text, jobs_csv="job_class,queue,vcores,memory-mb\nx,ml,1,4096\ny,web,1,1024\n")
    cluster = {"vcores": 20, "memory-mb": 640 * 1024}
    assert tasks_of(read_cluster(*files, capacities=cluster)) == pytest.approx([8, 12])
    # More may be guaranteed than there is: each has its part.
    both = text.replace(
        "<weight>9</weight>", "<weight>9</weight><minResources>24 vcores, 0 mb</minResources>"
    )
    save(fair_xml=both)
    assert tasks_of(read_cluster(*files, capacities=cluster)) == pytest.approx([5, 15])


def test_what_is_not_lent_must_be_there_and_the_file_is_named(save):
    text = QUEUE_OF_VOLCANO.format(name="ml", weight=1, more=", guarantee: {resource: {cpu: 8}}")
    text += QUEUE_OF_VOLCANO.format(name="web", weight=9, more=", guarantee: {resource: {cpu: 6}}")
    files = save(v_yaml=text, jobs_csv="job_class,queue,cpu\nx,ml,1\ny,web,1\n")
    with pytest.raises(
        ModelError, match=r"^v.yaml, line 1: of cpu 14 are guaranteed and not lent.*the 12 that"
    ):
        read_cluster(*files, capacities={"cpu": 12})
    assert tasks_of(read_cluster(*files, capacities={"cpu": 14})) == pytest.approx([8, 6])


# --- Kubernetes ----------------------------------------------------------------------------------------

GIB = 2**30


def test_nodes_and_pods(save):
    web = ("ReplicaSet", "web-1")
    text = listed(
        node("n1", {"cpu": "4", "memory": "16Gi", "pods": "110", "nvidia.com/gpu": "2"}, {"zone": "a"}),
        node("n2", {"cpu": "8", "memory": "32Gi"}, {"zone": "b"}, [{"key": "gpu", "effect": "NoSchedule"}]),
        node("n3", {"cpu": "2"}, sun="low"),
        node("n4", {"cpu": "6", "memory": "8Gi"}, unschedulable=True),
        pod(
            "w1", {"cpu": "500m", "memory": "1Gi"}, web, nodeSelector={"zone": "a"}, priorityClassName="high"
        ),
        pod("w2", {"cpu": "500m", "memory": "1Gi"}, web, nodeSelector={"zone": "a"}),
        pod("v1", {"cpu": "500m", "memory": "1Gi"}, ("ReplicaSet", "v"), nodeSelector={"zone": "a"}),
        pod("v2", {"cpu": "500m", "memory": "1Gi"}, ("ReplicaSet", "v"), nodeSelector={"zone": "a"}),
        pod("g", {"cpu": "1", "memory": "2Gi"}, tolerations=[{"key": "gpu", "operator": "Exists"}]),
        pod("huge", {"cpu": "1", "tpu": "1"}, dnsPolicy="Default", moon="full"),
        pod("done", {"cpu": "1"}, phase="Succeeded"),
        pod("agent", {"cpu": "100m"}, ("DaemonSet", "agent"), nodeName="n1"),
    )
    found = read_cluster(*save(all_json=text), servers=True)
    assert isinstance(found.model, Cluster)
    assert found.model.job_classes == ("x/web-1 and 1 more", "x/g")
    assert found.model.servers == ("n1", "n2")
    assert found.model.eligible.tolist() == [[True, False], [True, True]]
    demands, capacities, _ = found.model.as_fractions()
    assert demands == [[Fraction(1, 2), 1], [1, 2]]
    assert capacities == [[Fraction(39, 10), 16], [8, 32]]
    assert found.counts.tolist() == [2, 1]
    notes = "\n".join(found.notes)
    for said in (
        "6 pods are 4 jobs of 3 classes", "1 pods have ended", "1 pods of daemon sets",
        "how many pods", "demands them: nvidia.com/gpu", "can run nowhere: x/huge",
        "no class can use them: n3, n4",
        "jobs have no limits, so these may be given more tasks than they have; add the servers up",
    ):  # fmt: skip
        assert said in notes
    lines = {one.field: one.line for one in found.unread}
    words = {"spec.priorityClassName": "high", "spec.moon": "full", "spec.sun": "low"}
    assert lines == {field: json_line(text, f'"{word}"') for field, word in words.items()}
    pool = read_cluster("all.json")
    assert isinstance(pool.model, Problem)
    assert pool.model.limits.tolist() == [2, 1]
    assert pool.tables == read_cluster("all.json", servers=False).tables
    assert pool.model.as_fractions()[1] == [Fraction(119, 10), 48]
    assert any("run everywhere, though they may not: x/web-1" in note for note in pool.notes)


def test_a_pod_of_one_is_one_task(save):
    """A database of one pod has no third one, and a pod without requests stops nobody."""
    text = listed(
        node("big", {"cpu": "16", "memory": "64Gi"}, {"disk": "fast"}),
        node("small", {"cpu": "4", "memory": "32Gi"}),
        pod("db-0", {"cpu": "2", "memory": "16Gi"}, nodeSelector={"disk": "fast"}),
        pod("web-1", {"cpu": "500m", "memory": "1Gi"}),
        pod("idle", {}),
        pod("idler", {}),
    )
    found = read_cluster(*save(all_json=text))
    assert found.model.job_classes == ("x/db-0", "x/web-1")
    assert allocate(found.model, DRF(), found.counts).tasks.tolist() == [1, 1]
    assert "left out, as their pods request nothing: x/idle and 1 more" in found.notes
    assert any("run everywhere, though they may not: x/db-0" in note for note in found.notes)
    apart = read_cluster("all.json", servers=True)
    assert apart.model.servers == ("big", "small")
    assert any("these may be given more tasks than they have" in note for note in apart.notes)


def json_line(text, word):
    return next(k for k, line in enumerate(text.splitlines(), 1) if word in line)


def requests_of(**spec):
    """What a pod of this spec demands, read by a cluster that has it all."""
    text = listed(node("n", {"cpu": "100"}), {**pod("p", {}), "spec": spec})
    return text


@pytest.mark.parametrize(
    ("init", "containers", "overhead", "cpu"),
    [
        ([], [2, 3], 0, 5),
        ([7], [2, 3], 0, 7),  # an init container runs alone
        ([7, (1, "Always")], [2, 3], 0, 7),  # and the sidecar that starts later beside the containers
        ([(1, "Always"), 7], [2, 3], 0, 8),  # the init container beside the sidecar that runs already
        ([(1, "Always")], [2, 3], "500m", Fraction(13, 2)),
        ([(1, "Always"), (2, "Always"), 1], [1], 0, 4),
    ],
)
def test_what_a_pod_demands(init, containers, overhead, cpu, save):
    def one(given):
        amount, policy = given if isinstance(given, tuple) else (given, None)
        return {"resources": {"requests": {"cpu": str(amount)}}, "restartPolicy": policy}

    text = requests_of(
        initContainers=[one(x) for x in init], containers=[one(x) for x in containers],
        overhead={"cpu": str(overhead)},
    )  # fmt: skip
    assert read_cluster(*save(p_json=text)).model.as_fractions()[0] == [[cpu]]


def test_limits_are_requests_where_there_are_none_and_pods_have_their_own(save):
    text = requests_of(containers=[{"resources": {"limits": {"cpu": "3"}}}])
    assert read_cluster(*save(p_json=text)).model.demands.tolist() == [[3]]
    text = requests_of(
        containers=[{"resources": {"requests": {"cpu": "3"}}}], resources={"requests": {"cpu": "4"}}
    )
    assert read_cluster(*save(p_json=text)).model.demands.tolist() == [[4]]


SPOT = Server("n1", "", {}, {"zone": "a", "cores": "8"}, (("spot", "true", "NoSchedule"),))


def affinity(*terms):
    return {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    }


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ({"key": "zone", "operator": "In", "values": ["a", "b"]}, True),
        ({"key": "zone", "operator": "In", "values": ["b"]}, False),
        ({"key": "zone", "operator": "NotIn", "values": ["b"]}, True),
        ({"key": "rack", "operator": "NotIn", "values": ["b"]}, True),  # a label that is not there is not in
        ({"key": "rack", "operator": "In", "values": ["b"]}, False),
        ({"key": "zone", "operator": "Exists"}, True),
        ({"key": "zone", "operator": "DoesNotExist"}, False),
        ({"key": "cores", "operator": "Gt", "values": ["7"]}, True),
        ({"key": "cores", "operator": "Gt", "values": ["8"]}, False),
        ({"key": "cores", "operator": "Lt", "values": ["9"]}, True),
        ({"key": "zone", "operator": "Lt", "values": ["9"]}, False),
    ],
)
def test_node_affinity(expression, holds):
    def may(*terms):
        spec = {"affinity": affinity(*terms), "tolerations": [{"operator": "Exists"}]}
        return runs_on(json_document(json.dumps(spec), "f").root)(SPOT)

    no = {"key": "zone", "operator": "DoesNotExist"}
    assert may({"matchExpressions": [expression]}) == holds
    assert may({"matchExpressions": [no]}, {"matchExpressions": [expression]}) == holds  # terms: or
    assert not may({"matchExpressions": [no, expression]})  # expressions: and
    assert not may({})
    assert may({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]})
    assert not may({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]})


@pytest.mark.parametrize(
    ("tolerations", "allowed"),
    [
        ([], False),
        ([{"operator": "Exists"}], True),
        ([{"key": "spot", "value": "true"}], True),
        ([{"key": "spot", "value": "true", "effect": "NoExecute"}], False),
        ([{"key": "spot", "value": "no", "effect": "NoSchedule"}], False),
        ([{"key": "spot", "operator": "Exists", "effect": "NoSchedule"}], True),
        ([{"key": "other", "operator": "Exists"}], False),
    ],
)
def test_taints(tolerations, allowed):
    spec = {"tolerations": tolerations}
    may = runs_on(json_document(json.dumps(spec), "f").root)
    assert may(SPOT) == allowed
    assert may(Server("n", "", {}, {}, (("spot", "true", "PreferNoSchedule"),)))


# --- tables --------------------------------------------------------------------------------------------


def test_tables(save):
    jobs = "job_class,jobs,weight,servers,cpu,ram\nA,2,,s,1,4\nB,1,2,,3,1\n"
    servers = "server,cpu,ram\ns,9,18\nt,4,2\n\n"
    found = read_cluster(*save(jobs_csv=jobs, servers_csv=servers))
    assert found.model.eligible.tolist() == [[True, False], [True, True]]
    assert found.model.weights.tolist() == [1, 2]
    queues = "queue,weight,minimum cpu,maximum ram,lends cpu\na,2,3,,1\na/b,1,,5,\n"
    jobs = "job_class,queue,cpu,ram\nA,b,1,4\nB,root,3,1\n"
    found = read_cluster(*save(jobs_csv=jobs, servers_csv=servers, queues_csv=queues))
    assert found.model.capacities.tolist() == [13, 20]
    assert bounds(found.tree, "a", "cpu") == (3, np.inf, 1)
    assert bounds(found.tree, "a/b", "ram") == (0, 5, np.inf)
    assert found.tree.classes(0) == ("B",)


# --- what is wrong -------------------------------------------------------------------------------------

BILLION = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
LAUGHS = """\
<?xml version="1.0"?>
<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>
<allocations>&b;</allocations>
"""
# fmt: off
WRONG = [
    (KUEUE.replace("metadata: {name: research}", "metadata: {}"),
     "k.yaml, line 3, metadata.name: is missing"),
    (KUEUE.replace("parentName: all", "parentName: research"),
     "line 4, spec: has a cycle: research under research"),
    (KUEUE.replace("9, borrow", "9Gigs, borrow"),
     r"line 20, spec.*nominalQuota: '9Gigs' is no quantity; write"),
    (KUEUE.replace("9, borrow", "-9, borrow"), r"nominalQuota: is -9; it must be >= 0"),
    (KUEUE.replace("[cpu, memory]", "[cpu]"), r"has quotas for cpu, memory, but coveredResources are cpu"),
    (KUEUE.replace('weight: "2"', 'weight: "0"'), "line 6, spec.fairSharing.weight: is 0"),
    (KUEUE.replace("name: web", "name: vision"), "the ClusterQueue 'vision' stands in k.yaml, line"),
    (KUEUE.replace("clusterQueue: vision", "clusterQueue: v"),
     "line 41, spec.clusterQueue: the ClusterQueue 'v' is in"),
    (KUEUE.replace("  cohort: research\n", ""), r"borrowingLimit: is for members of a cohort"),
    (KUEUE.replace("  queueingStrategy", "  cohort: x\n  queueingStrategy"),
     "line 14: key 'cohort' is given twice"),
    (KUEUE.replace("spec:\n  cohort: all", "spec: [cohort]\nx:\n  cohort: all"),
     "spec: must be a mapping of keys"),
    (KUEUE.replace("kind: Cohort", "kind: Cohort\n kind: x"),
     "k.yaml, line 2: no YAML|k.yaml, line 3: no YAML"),
    (KUEUE.replace("name: research}", "name: !!python/name:os.system x}"),
     "line 3: the tag 'tag:yaml.org,2002:python/name:os.system' is refused"),
    (BILLION, r"k.yaml, line 2: the alias \*a is refused"),
    ("---\n".join(['apiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {capacity: {cpu: "4"}}\n'] * 2),
     "k.yaml, line 8, metadata.name: the server 'n' stands in k.yaml too"),
    ("- [", "k.yaml, line .: no YAML"),
    ("just: text", "k.yaml, line 1, apiVersion: is missing"),
    ("# nothing\n", "nothing is in it"),
    ("[" * 5000, "nested too deeply|no YAML"),
    (KUEUE.replace("apiVersion: kueue.x-k8s.io/v1beta2", "apiVersion: true"),
     "line 1, apiVersion: must be text; got true"),
]
WRONG_XML = [
    (LAUGHS, r"f.xml, line 2: a document type \(<!DOCTYPE ...>\) is refused"),
    ("<allocations><queue></allocations>", "f.xml, line 1: no XML: mismatched tag"),
    ("<x></x>", "is none of <allocations>"),
    (FAIR.replace(' name="small"', ""), "f.xml, line 10, <queue>: has no name"),
    (FAIR.replace('"small"', '"root.small"'), "has a dot in it"),
    (FAIR.replace('"small"', '"big"'),
     "line 10, <queue name='big'>: the queue 'big' stands in f.xml, line 3"),
    (FAIR.replace("<weight>8", "<weight>0"), "line 4, <weight>: must be a number > 0; got '0'"),
    (FAIR.replace("<weight>8", "<weight>x"), "must be a number > 0; got 'x'"),
    (FAIR.replace("10vcores", "10 cores"), "line 5, <minResources>: got '10 cores'; write resources as"),
    (FAIR.replace("10vcores", "10mb"), "line 5, <minResources>: names memory-mb twice"),
    (FAIR.replace("</weight>", "</weight><weight>1</weight>"), "line 4, <weight>: is there twice"),
    (CAPACITY.replace(">60<", ">50<"), "the capacities of a, b make 90%; siblings make 100%"),
    (CAPACITY.replace(">60<", ">6w<"), "capacities as percent and as weights; write all in one way"),
    (CAPACITY.replace(">60<", ">lots<"), "got 'lots'; write a percentage"),
    (CAPACITY.replace(">60<", ">[vcores=many]<"), "got 'vcores=many'; write resource=number"),
    (CAPACITY.replace(">3w<", ">0w<"), "line 8, <value name='.*root.b.y.capacity'>: is 0"),
    (CAPACITY.replace("root.b.x.capacity", "root.b.z.capacity"), "the queue 'x' has no capacity"),
    (CAPACITY.replace(">50<", ">500<"), "got 500; a maximum is above 0 and at most 100 percent"),
    (CAPACITY.replace(">60<", ">${x}<"), r"write out what stands for \$\{...\}"),
    (CAPACITY.replace("root.a.capacity", "root.b.capacity"), "root.b.capacity is there twice"),
    (capacity_scheduler(a__capacity="100"), "there is no property yarn.scheduler.capacity.root.queues"),
    ("<allocations>" + "<queue name='a'>" * 100 + "</queue>" * 100 + "</allocations>", "nested too deeply"),
]
WRONG_VOLCANO = [
    (("parent: root}", "parent: x}"), "the queue 'x' is in none of the files"),
    (("parent: root}", "parent: eng}"), "line 11, spec.parent: has a cycle: eng under eng"),
    (("1/2/4", "1/2"), "has 2 weights for the 3 queues of 'root/sci/dev'"),
    (("1/2/4", "1/0/4"), "is 0; a weight must be > 0"),
    (("root/sci/dev", "sci/dev/x"), "must lead from root to the queue"),
    (("deserved: {cpu: 4}", "deserved: {cpu: 40}"), "spec.deserved: has more cpu than capability"),
    (("spec: {weight: 1,", "spec: {weight: 1, parent: eng,"), "there is spec.parent too"),
]
NO_OPERATOR = {"key": "a", "operator": "Is"}
WRONG_JSON = [
    ('{"apiVersion": "v1",\n "kind": }', "p.json, line 2: no JSON"),
    ('{"a": 1, "a": 2}', "key 'a' is given twice"),
    (listed({"kind": "Pod"}), r"p.json, line 5, items\[0\].apiVersion: is missing"),
    (listed(node("n", {"cpu": "4"}), pod("p", {"cpu": "4x"})),
     r"line 34, items\[1\].spec.containers\[0\].*cpu: '4x' is"),
    (listed(node("n", {"cpu": "4"}), node("n", {"cpu": "4"})),
     r"line 2., .*the server 'n' stands in p.json, items\[0\] too"),
    (listed({**node("n", {}), "status": {}}), "has neither allocatable nor capacity"),
    (listed(node("n", {"cpu": "4"}), pod("p", {})),
     "p.json: no class is left to run; left out, as their pods request nothing: x/p; give them requests"),
    (listed(node("n", {"cpu": "4"}), pod("p", {"gpu": "1"})),
     "p.json: no class is left to run; left out, as they can run nowhere: x/p"),
    (listed(node("n", {"cpu": "4"})), "no job classes: give pods"),
    (listed(pod("p", {"cpu": "1"})), "no capacities: give nodes"),
    (listed(pod("p", {"cpu": "1"}, affinity=affinity({"matchExpressions": [NO_OPERATOR]}))),
     "unknown operator 'Is'"),
    (listed(pod("p", {"cpu": "1"}, tolerations=[{"value": "a"}])),
     "a toleration without a key needs operator: Exists"),
    (listed(pod("p", {"cpu": "1"}, metadata=QUEUED)), "no capacities"),
]
SERVERS = "server,cpu\ns,4\n"
WRONG_TABLES = [
    ({"a_csv": "name,cpu\nx,1\n"},
     "line 1: the first column is 'name'; it must be job_class or server or queue"),
    ({"a_csv": ""}, "the first column is ''"),
    ({"a_csv": "job_class,cpu,cpu\nA,1,1\n"}, "line 1, cpu: there are two columns of this name"),
    ({"a_csv": "job_class,cpu,\nA,1,1\n"}, "column 3 has no name"),
    ({"q_csv": "queue,weight\nroot,3\n"}, "q.csv, line 2, weight: the root has no siblings"),
    ({"a_csv": "job_class,cpu\nA,1,1\n"}, "a.csv, line 2: 3 cells for 2 columns"),
    ({"a_csv": "job_class,cpu\nA,one\n"}, "a.csv, line 2, cpu: 'one' is no number"),
    ({"a_csv": "job_class,cpu\nA,1\n\nA,2\n"},
     "a.csv, line 4, job_class: the class 'A' stands in a.csv, line 2 too"),
    ({"a_csv": "job_class,cpu\n,1\n"}, "line 2, job_class: is missing"),
    ({"a_csv": "job_class,cpu,weight\nA,1,0\n"}, "line 2, weight: is 0; it must be > 0"),
    ({"a_csv": "job_class,cpu,servers\nA,1,s z\n"}, "line 2, servers: there is no server 'z'"),
    ({"a_csv": "job_class,cpu,queue\nA,1,q\n", "q_csv": "queue\nr\n"},
     "the jobs 'A' are for 'q', which is in none"),
    ({"a_csv": "job_class,cpu,queue\nA,1,q\n", "q_csv": "queue\na\na/q\nb\nb/q\n"}, "may be a/q or b/q"),
    ({"a_csv": "job_class,cpu,queue\nA,1,q\n", "q_csv": "queue,maxcpu\nq,1\n"},
     "line 2, maxcpu: unknown column"),
    ({"a_csv": "job_class,cpu,queue\nA,1,q\n", "q_csv": "queue\nq\nq\n"},
     "the queue 'q' stands in q.csv, line 2 too"),
    ({"a_csv": "job_class,cpu,queue\nA,1,q\n", "q_csv": "queue,minimum gpu\nq,1\n"},
     "guarantees gpu, of which there is"),
    ({"a_csv": "job_class,cpu,queue\nA,1,q\n", "q_csv": "queue\nb/q\n"},
     "line 2: there is no queue 'b' above"),
    ({"a_csv": "job_class,cpu,queue\nA,1,q\n", "q_csv": "queue,minimum cpu,maximum cpu\nq,3,2\n"},
     "q.csv, line 2: guarantees 3 of cpu, above its maximum of 2"),
    ({"a_txt": "x"}, "no file that is known by its ending"),
]
# fmt: on

DEV = "job_class,queue,cpu\nm,dev,1\n"
CASES = [
    *(({"k_yaml": text, "jobs_csv": JOBS}, None, said) for text, said in WRONG),
    *(({"f_xml": text, "jobs_csv": YARN_JOBS}, YARN, said) for text, said in WRONG_XML),
    *(({"v_yaml": VOLCANO.replace(*new), "jobs_csv": DEV}, {"cpu": 10}, said) for new, said in WRONG_VOLCANO),
    *(({"p_json": text}, None, said) for text, said in WRONG_JSON),
    *(({**files, "s_csv": SERVERS}, None, said) for files, said in WRONG_TABLES),
]


@pytest.mark.parametrize(("files", "capacities", "said"), CASES, ids=range(len(CASES)))
def test_files_that_are_not_what_they_say(files, capacities, said, save):
    with pytest.raises(ModelError, match=said):
        read_cluster(*save(**files), capacities=capacities)


def test_annotations_that_contradict_each_other(save):
    other = VOLCANO.partition("---")[0].replace("sci-dev", "sci-ops").replace("sci/dev", "sci/ops")
    text = f"{VOLCANO}---\n{other.replace('1/2/4', '1/3/4')}"
    with pytest.raises(
        ModelError, match=r"line 17, .*hierarchy-weights: gives 'sci' the weight 3, but v.yaml, line 5"
    ):
        read_cluster(*save(v_yaml=text, jobs_csv="job_class,queue,cpu\nm,dev,1\n"), capacities={"cpu": 10})


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(ModelError, match="no file is given"):
        read_cluster()
    with pytest.raises(ModelError, match=r"nowhere.yaml: cannot be read: No such file"):
        read_cluster(tmp_path / "nowhere.yaml")
    file = tmp_path / "a.yaml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ModelError, match="line 1: is no text in UTF-8"):
        read_cluster(file)
    file.write_text("a: 1")
    monkeypatch.setattr("fairqueues.exchange.schedulers.cluster_files.BYTES", 1e18)
    with pytest.raises(ModelError, match=r"reading .*a.yaml needs .* GiB, but only .*; give the queues"):
        read_cluster(file)


def test_capacities_that_are_none(save):
    files = save(a_csv="job_class,cpu\nA,1\n")
    for given, said in (
        ({"cpu": "x"}, "capacities of 'cpu': 'x' is no quantity"),
        ({"cpu": -1}, "must be >= 0"),
    ):
        with pytest.raises(ModelError, match=said):
            read_cluster(*files, capacities=given)


def test_without_pyyaml_the_message_says_what_to_do(save, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ModelError, match=re.escape("pip install 'fairqueues[clusters]'")):
        read_cluster(*save(k_yaml=KUEUE, jobs_csv=JOBS))


def test_yaml_and_json_give_the_same_fields():
    text = '{"a": [{"b": "1"}, null, true],\n "c": {"d": "x"}}'
    (yaml,), json_ = yaml_documents(text, "f"), json_document(text, "f")
    assert yaml.data == json_.data
    for path in ((), ("a",), ("a", 0, "b"), ("a", 2), ("c", "d"), ("c", "z"), ("q", 3)):
        assert yaml.line(path) == json_.line(path)
