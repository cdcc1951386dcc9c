"""One small file of each kind that is read, and what reads it."""

import json

from fairness import Cluster, Problem
from fairqueues.exchange import read_cluster
from fairqueues.traces import (
    Throughputs,
    read_alibaba_2018,
    read_alibaba_2018_machines,
    read_alibaba_2018_sample,
    read_alibaba_dlrm_2025,
    read_alibaba_gpu_2023,
    read_azure_llm,
    read_gavel,
    read_gavel_jobs,
    read_google_2019,
    read_google_2019_machines,
    read_philly,
    read_tasks,
)
from queueing import Empirical, System, read_trace
from tests.fairqueues.traces.files import DLRM, EVENTS, NODES, PODS, REQUESTS, SAMPLE

POOL = Problem([[1, 4], [3, 1]], [9, 18], job_classes=["A", "B"], resources=["cpu", "ram"])
MEASURED = Throughputs(("A3C", "LM"), [1, 2], ("v100",), [[4.5], [9]])


def lines(*rows):
    return "".join(f"{row}\n" for row in rows)


def _attempt(minute, ended, *gpus):
    start, end = f"2017-10-07 01:{minute}:00", f"2017-10-07 01:{minute + 9}:00"
    detail = [{"ip": f"m{k}", "gpus": [f"gpu{g}" for g in range(n)]} for k, n in enumerate(gpus)]
    return {"start_time": start, "end_time": end if ended else None, "detail": detail}


def _job(k):
    attempts = [_attempt(20 + k, True, 2, 1), _attempt(40 + k, False, 1)][: 1 + k % 2]
    when = f"2017-10-07 01:1{k}:00"
    return {"vc": f"vc{k % 2}", "jobid": f"j{k}", "submitted_time": when, "attempts": attempts}


def _pod(k):
    requests = {"cpu": "500m", "memory": f"{k + 1}Gi"}
    spec = {"containers": [{"name": "c", "resources": {"requests": requests}}]}
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{k}", "namespace": "x"}, "spec": spec
    }  # fmt: skip


def _node(k):
    has = {"allocatable": {"cpu": "4", "memory": "16Gi"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{k}"}, "status": has}


FAIR = """<?xml version="1.0"?>
<allocations>
  <queue name="research"><weight>2.0</weight><minResources>1024 mb, 2 vcores</minResources></queue>
  <queue name="web"><weight>1.0</weight><maxResources>8192 mb, 6 vcores</maxResources></queue>
</allocations>
"""
KUEUE = """apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: q}
spec:
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: default
      resources:
      - {name: cpu, nominalQuota: 9}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: l, namespace: x}
spec: {clusterQueue: q}
"""

FILES = {
    "alibaba gpu": {
        "pods.csv": lines(
            PODS,
            "a,4000,8192,1,500,,LS,Running,0,90,10",
            "b,8000,16384,2,1000,V100|T4,BE,Succeeded,5,65,5",
            "d,1000,1024,0,0,,LS,Running,7,,8",
            "c,1000,1024,0,0,,BE,Pending,6,70,",
        ),
        "nodes.csv": lines(NODES, "n,32000,65536,2,T4", "m,64000,131072,0,", "o,8000,65536,8,V100"),
    },
    "alibaba 2018": {
        "batch_task.csv": lines(
            "M1,2,j_1,1,Terminated,10,70,100,0.5",
            "R2_1,1,j_1,1,Terminated,70,80,50,0.25",
            "M1,3,j_2,1,Terminated,20,30,100,",
            "M1,1,j_3,1,Running,20,0,100,0.5",
        )
    },
    "alibaba 2018 machines": {
        "machine_meta.csv": lines(
            "m_1,0,1,2,96,100,USING", "m_1,500,1,2,96,100,USING", "m_2,0,1,2,64,50,USING"
        )
    },
    "alibaba 2018 sample": {
        "jobs.csv": lines(
            SAMPLE, "0,9,60.5,1,0.005,7,1,2,0", "1,4,10,0.5,0.005,8,1,1,0", "2,5,7.25,0.5,0.005,8,2,3,0"
        )
    },
    "alibaba dlrm": {
        "dlrm.csv": lines(
            DLRM,
            "i0,HN,app_0,12,12,1,1,25,25,120.0,120.0,680.0,800.0,8,,,",
            "i1,CN,app_1,64,64,0,0,1,1,320.0,320.0,255.0,300.0,-1,100.0,110.0,400.0",
            "i2,CN,app_1,64,64,0,0,1,1,320.0,320.0,255.0,300.0,-1,,,50.0",
        )
    },
    "azure": {
        "c.csv": lines(
            REQUESTS,
            "2023-11-16 18:17:03.9799600,4808,10",
            "2023-11-16 18:17:04.0319600,3180,8",
            "2023-11-16 18:17:04.0318600,110,27",
        )
    },
    "google": {
        "collections.csv": lines("collection_id,user", "7,ann", "8,bob"),
        "instances.csv": lines(
            EVENTS,
            "1000000,0,7,0,0,0,0.25,0.125",
            "2000000,3,7,0,0,0,0.25,0.125",
            "62000000,6,7,0,0,0,,",
            "3000000,0,8,1,0,0,0.5,0.5",
            "4000000,3,8,1,0,,0.5,0.5",
            "5000000,3,8,2,0,9,0.5,0.5",
        ),
    },
    "google machines": {
        "machines.csv": lines(
            "time,machine_id,type,platform_id,cpus,memory",
            "0,5,1,p,0.5,0.25",
            "0,6,1,p,1,0.5",
            "500000000,6,2,p,,",
            "550000000,5,3,p,0.25,0.25",
        )
    },
    "philly": {
        "log": json.dumps([_job(k) for k in range(4)], indent=1),
        "machines": lines("machineId,number of GPUs, single GPU mem", "m47,8, 24GB", "m48,2, 12GB"),
    },
    "gavel": {
        "t.json": json.dumps(
            {
                "k80": {"('A3C', 1)": {"null": 2.0, "('A3C', 1)": [1.5, 1.25]}, "('LM', 2)": {"null": 3.0}},
                "v100": {"('A3C', 1)": {"null": 4.0}, "('LM', 2)": {"null": 18.0}},
            },
            indent=1,
        )
    },
    "gavel jobs": {
        "j.trace": lines(
            "A3C\tpython3 main.py\tdir\t-n\t1\t900\t1\t1\t-1.000000\t6",
            "LM\tpython3 main.py\t-n\t1\t900\t3.000000\t2",
        )
    },
    "tasks": {
        "tasks.csv": lines(
            "arrival_time,duration,user,cpu,gpu", "60,5,b,2,0", "40,30,a,1,0.5", "90,10,a,4,2"
        ),
        "nodes.csv": lines("server,gpu,cpu", "s1,2,4", "s2,,8"),
    },
    "jobs": {"jobs.csv": lines("arrival_time,job_class,size", "0,A,2", "1,B,1", "4,A,6")},
    "sample": {"s.csv": lines("size,other", "1,2", "3.5,4", "0.25,1")},
    "pool": {
        "classes.csv": lines("job_class,weight,limit,cpu,ram", "A,1,2,1,4Gi", "B,2,,1/3,0.1"),
        "servers.csv": lines("server,ram,cpu", "old,18Gi,9", "new,6,12"),
    },
    "cluster": {
        "classes.csv": lines("job_class,servers,cpu,ram", "A,new old,1,4", "B,new,3,1"),
        "servers.csv": lines("server,ram,cpu", "old,18,9", "new,6,12"),
        "gamma.csv": lines("job_class,old,new", "A,1,2", "B,,1/3"),
    },
    "traffic": {"t.csv": lines("job_class,arrival_rate,mean_size", "A,1/2,1", "B,1,0.5")},
    "import tables": {
        "classes.csv": lines(
            "job_class,queue,weight,limit,jobs,cpu,memory", "A,research,1,2,3,1,4Gi", "B,web,2,,1,1/3,100Mi"
        ),
        "queues.csv": lines("queue,weight,minimum cpu,maximum memory", "research,2,1,", "web,1,3,8Gi"),
        "servers.csv": lines("server,cpu,memory", "s,9,18Gi"),
    },
    "import kubernetes": {
        "pods.json": json.dumps(
            {"apiVersion": "v1", "kind": "List", "items": [*map(_node, range(2)), *map(_pod, range(2))]},
            indent=1,
        )
    },
    "import yarn": {
        "fair.xml": FAIR,
        "jobs.csv": lines("job_class,queue,vcores,memory-mb", "A,research,1,1024", "B,web,2,512"),
    },
    "import kueue": {"k.yaml": KUEUE, "jobs.csv": lines("job_class,queue,cpu", "A,q,1")},
}
"""Files of each kind by their names."""

READ = {
    "alibaba gpu": lambda f: read_alibaba_gpu_2023(f / "pods.csv", f / "nodes.csv"),
    "alibaba 2018": lambda f: read_alibaba_2018(f / "batch_task.csv"),
    "alibaba 2018 machines": lambda f: read_alibaba_2018_machines(f / "machine_meta.csv"),
    "alibaba 2018 sample": lambda f: read_alibaba_2018_sample(f / "jobs.csv"),
    "alibaba dlrm": lambda f: read_alibaba_dlrm_2025(f / "dlrm.csv"),
    "azure": lambda f: read_azure_llm(f / "c.csv", context_rate=1000, generation_rate=10),
    "google": lambda f: read_google_2019(f / "collections.csv", f / "instances.csv"),
    "google machines": lambda f: read_google_2019_machines(f / "machines.csv"),
    "philly": lambda f: read_philly(f / "log", f / "machines"),
    "gavel": lambda f: read_gavel(f / "t.json"),
    "gavel jobs": lambda f: read_gavel_jobs(f / "j.trace", MEASURED),
    "tasks": lambda f: read_tasks(f / "tasks.csv", f / "nodes.csv", devices="gpu"),
    "jobs": lambda f: read_trace(f / "jobs.csv", POOL),
    "sample": lambda f: Empirical.from_file(f / "s.csv"),
    "pool": lambda f: Problem.from_csv(f / "classes.csv", f / "servers.csv"),
    "cluster": lambda f: Cluster.from_csv(f / "classes.csv", f / "servers.csv", gamma=f / "gamma.csv"),
    "traffic": lambda f: System.from_csv(POOL, f / "t.csv"),
    "import tables": lambda f: read_cluster(f / "classes.csv", f / "queues.csv", f / "servers.csv").scenario,
    "import kubernetes": lambda f: read_cluster(f / "pods.json").scenario,
    "import yarn": lambda f: (
        read_cluster(f / "fair.xml", f / "jobs.csv", capacities={"vcores": 10, "memory-mb": 10240}).scenario
    ),
    "import kueue": lambda f: read_cluster(f / "k.yaml", f / "jobs.csv").scenario,
}
"""What reads the files of each kind in a folder."""


def write(folder, kind):
    """The files of a kind, as they should be."""
    for name, text in FILES[kind].items():
        (folder / name).write_text(text)
