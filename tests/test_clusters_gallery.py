"""Pages of the gallery of real clusters: what they check agrees, and files of one's own are drawn, too."""

import numpy as np
import pytest

from examples.clusters_figures import explained, guarantees, hierarchy, recorded, replays, throughputs
from queueing import ClusterTrace

PODS = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,"
    "creation_time,deletion_time,scheduled_time\n"
)
NODES = "sn,cpu_milli,memory_mib,gpu,model\nn1,32000,262144,2,T4\nn2,64000,262144,4,P100\n"


@pytest.mark.long
@pytest.mark.parametrize(
    "page", [hierarchy.starvation, guarantees.cohort, explained.explained, throughputs.throughputs]
)
def test_what_a_page_expects_is_what_comes_out(page):
    drawn = page(full=False)
    assert drawn.checks
    assert [check.statement for check in drawn.checks if check.agrees is not True] == []


@pytest.mark.long
def test_a_file_of_ones_own(tmp_path):
    rows = [
        f"p{k},4000,8192,1,1000,,{'LS' if k % 3 else 'BE'},Succeeded,{k},{k + 500},{k}\n" for k in range(40)
    ]
    (tmp_path / "pods.csv").write_text(PODS + "".join(rows))
    (tmp_path / "nodes.csv").write_text(NODES)
    page = replays.replays(full=False, files=recorded.Files(tmp_path / "pods.csv", tmp_path / "nodes.csv"))
    assert "pods.csv: 40 tasks on 2 nodes" in page.see
    assert all(check.agrees for check in page.checks)


def test_use_is_counted_up_to_a_time_and_no_further():
    trace = ClusterTrace(["CPU"], ["cores"], [0, 0, 5], [10, 100, 5], [[2]], [0] * 3, ["a", "b"], [0, 1, 1])
    # a: 2 cores for 10 s; b: 2 cores from 10 s on, and a task that has not started.
    used = recorded.used_until(trace, np.array([0.0, 10.0, np.nan]), 20.0)
    assert used.tolist() == [[1.0], [1.0]]


def test_kinds_of_tasks():
    types = [[0.0], [0.5], [1.0], [4.0]]
    demands = np.column_stack([np.ones(4), types])
    trace = ClusterTrace(
        ["CPU", "GPU"],
        ["cores", "devices"],
        [0] * 4,
        [1] * 4,
        demands,
        range(4),
        ["a"],
        [0] * 4,
        devices="GPU",
    )
    assert [recorded.KINDS[k] for k in recorded.kinds_of(trace)] == list(recorded.KINDS)
