"""Alibaba's traces: what each column becomes, and what is refused with its line and field."""

import numpy as np
import pytest

from fairness import ModelError
from fairqueues.traces import (
    read_alibaba_2018,
    read_alibaba_2018_machines,
    read_alibaba_2018_sample,
    read_alibaba_dlrm_2025,
    read_alibaba_gpu_2023,
)
from tests.fairqueues.traces.files import DLRM, PODS, SAMPLE, nodes, written

GOOD = "a,4000,8192,1,500,,LS,Running,0,90,10"


def read_pods(folder, *lines, **options):
    return read_alibaba_gpu_2023(written(folder, "pods.csv", PODS, *lines), nodes(folder), **options)


def test_pods_and_nodes(tmp_path):
    trace, cluster = read_pods(
        tmp_path,
        GOOD,
        "b,8000,16384,2,1000,V100|T4|V100,BE,Succeeded,5,65,5",
        "c,1000,1024,0,0,,BE,Pending,6,70,",
        "d,1000,1024,0,0,,LS,Running,7,,8",
        "e,1000,1024,0,0,,LS,Failed,8,8,8",
        "f,8000,16384,2,1000,T4|V100,BE,Succeeded,3,65,4",
    )
    assert trace.resources == cluster.resources == ("CPU", "memory", "GPU")
    assert trace.units == ("cores", "GiB", "devices")
    assert trace.devices == 2
    assert trace.arrivals.tolist() == [0, 3, 5, 7]
    # d never ended: the last time of the file is 90.
    assert trace.durations.tolist() == [80, 61, 60, 82]
    assert trace.types[trace.type_of].tolist() == [[4, 8, 0.5], [8, 16, 2], [8, 16, 2], [1, 1, 0]]
    assert [trace.users[k] for k in trace.user_of] == ["LS", "BE", "BE", "LS"]
    # The models of b and f are the same set.
    assert trace.n_types == 3
    assert trace.models == ("T4", "", "V100")
    assert trace.eligible_models.tolist() == [[True] * 3, [True, False, True], [True] * 3]
    assert cluster.models == ("T4", "", "V100")
    assert cluster.capacities.tolist() == [[32, 64, 2], [64, 128, 0], [8, 64, 8]]
    assert trace.notes[:4] == (
        "1 task dropped: never ran, so that no duration is known",
        "1 task cut at the last time of the trace: never ended",
        "1 task dropped: took 0 s",
        "1 task earlier than the one above: sorted by arrival",
    )
    assert cluster.cluster(trace).n_classes == 3


def test_who_names_all_models_and_who_names_none_are_of_one_type(tmp_path):
    hosts = nodes(tmp_path, "n,32000,65536,2,T4", "o,32000,65536,2,V100")
    lines = (GOOD, GOOD.replace("a,", "b,").replace("500,,", "500,V100|T4,"))
    trace, _ = read_alibaba_gpu_2023(written(tmp_path, "pods.csv", PODS, *lines), hosts)
    assert (trace.n_types, trace.eligible_models) == (1, None)
    lines = (*lines, GOOD.replace("a,", "c,").replace("500,,", "500,T4,"), GOOD.replace("a,", "d,"))
    trace, _ = read_alibaba_gpu_2023(written(tmp_path, "pods.csv", PODS, *lines), hosts)
    assert trace.type_of.tolist() == [0, 0, 1, 0]
    assert trace.eligible_models.tolist() == [[True, True], [True, False]]


def test_what_never_started_or_ended_is_the_callers_choice(tmp_path):
    lines = (GOOD, "c,1000,1024,0,0,,BE,Pending,6,70,", "d,1000,1024,0,0,,LS,Running,7,,8")
    trace, _ = read_pods(tmp_path, *lines, never_ended="drop")
    assert trace.n_tasks == 1
    with pytest.raises(
        ModelError, match=r"pods\.csv, line 4, deletion_time: says that this task never ended"
    ):
        read_pods(tmp_path, *lines, never_ended="refuse")
    with pytest.raises(ModelError, match=r"pods\.csv, line 3, scheduled_time: says that this task never ran"):
        read_pods(tmp_path, *lines, never_started="refuse")
    with pytest.raises(ModelError, match="never_ended must be one of 'cut', 'drop', 'refuse'"):
        read_pods(tmp_path, *lines, never_ended="forget")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("b,4000,8192,1,500,,LS,Running,0,5,10", "line 3, deletion_time: lies before scheduled_time"),
        ("b,4000,8192,1,500,,LS,Running,12,90,10", "line 3, scheduled_time: lies before creation_time"),
        ("b,many,8192,1,500,,LS,Running,0,90,10", "line 3, cpu_milli: must be a number; got 'many'"),
        ("b,,8192,1,500,,LS,Running,0,90,10", "line 3, cpu_milli: is missing"),
        ("b,-4,8192,1,500,,LS,Running,0,90,10", "line 3, cpu_milli: must be a finite number >= 0; got -4"),
        ("b,inf,8192,1,500,,LS,Running,0,90,10", "line 3, cpu_milli: must be a number; got 'inf'"),
        ("b,4000,8192,1.5,500,,LS,Running,0,90,10", "line 3, num_gpu: must be a finite whole number"),
        ("b,4000,8192,2,500,,LS,Running,0,90,10", "line 3, gpu_milli: must be 1000 where num_gpu is above 1"),
        ("b,4000,8192,0,500,,LS,Running,0,90,10", "line 3, gpu_milli: must be 0 where num_gpu is 0; got 500"),
        ("b,4000,8192,1,0,,LS,Running,0,90,10", "line 3, gpu_milli: must be > 0 where num_gpu is 1"),
        ("b,4000,8192,1,1500,,LS,Running,0,90,10", "line 3, gpu_milli: counts thousandths of one device"),
        ("b,4000,8192,1,500,,,Running,0,90,10", "line 3, qos: is missing"),
        # MiB that are KiB: more than the largest node has.
        (
            "b,4000,8388608,1,500,,LS,Running,0,90,10",
            "line 3, memory_mib: asks for more memory than the largest",
        ),
        ("a,4000,8192,1,500,,LS,Running,0,90,10", "line 3, name: repeats 'a' of line 2"),
        (
            "b,4000,8192,1,500,,LS,Running,0,90,10,7",
            "line 3: 12 cells for 11 columns; quote cells that hold commas",
        ),
        # Milliseconds: 149 days would be four centuries.
        ("b,4000,8192,1,500,,LS,Running,12902960000,12902999000,12902960000", "seem to be in milliseconds"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, line, said):
    with pytest.raises(ModelError) as caught:
        read_pods(tmp_path, GOOD, line)
    assert said in str(caught.value)
    assert "pods.csv" in str(caught.value)


def test_times_that_go_backwards_can_be_dropped(tmp_path):
    trace, _ = read_pods(tmp_path, GOOD, "b,4000,8192,1,500,,LS,Running,0,5,10", backwards="drop")
    assert trace.n_tasks == 1
    assert "1 task dropped: times go backwards" in trace.notes


def test_nodes_are_checked_too(tmp_path):
    pods = written(tmp_path, "pods.csv", PODS, GOOD)
    with pytest.raises(ModelError, match=r"nodes\.csv, line 3, sn: repeats 'n' of line 2"):
        read_alibaba_gpu_2023(pods, nodes(tmp_path, "n,32000,65536,2,T4", "n,32000,65536,2,T4"))
    with pytest.raises(
        ModelError, match=r"nodes\.csv, line 2, gpu: must be a finite whole number >= 0; got 1.5"
    ):
        read_alibaba_gpu_2023(pods, nodes(tmp_path, "n,32000,65536,1.5,T4"))
    with pytest.raises(ModelError, match=r"there is no column 'cpu_milli' .*did you mean 'cpu_mili'"):
        read_alibaba_gpu_2023(
            pods, written(tmp_path, "n.csv", "sn,cpu_mili,memory_mib,gpu,model", "n,1,1,1,T4")
        )
    with pytest.raises(ModelError, match=r"no task is left \(1 task dropped: never ran"):
        read_pods(tmp_path, "c,1000,1024,0,0,,BE,Pending,6,70,")


def test_instances_of_2018(tmp_path):
    file = written(
        tmp_path,
        "batch_task.csv",
        "M1,2,j_1,1,Terminated,10,70,100,0.5",
        "R2_1,1,j_1,1,Terminated,70,80,50,0.25",
        "M1,3,j_2,1,Terminated,20,30,100,",
        "M1,1,j_3,1,Running,20,0,100,0.5",
        "M2,1,j_3,1,Waiting,,,100,0.5",
    )
    trace = read_alibaba_2018(file)
    assert trace.arrivals.tolist() == [10, 10, 20, 70]
    assert trace.durations.tolist() == [60, 60, 60, 10]
    assert trace.types[trace.type_of].tolist() == [[1, 0.005], [1, 0.005], [1, 0.005], [0.5, 0.0025]]
    assert [trace.users[k] for k in trace.user_of] == ["j_1", "j_1", "j_3", "j_1"]
    assert trace.jobs.tolist() == [0, 0, 1, 0]
    assert any("1 task dropped, with all instances: no plan_cpu" in note for note in trace.notes)
    file = written(tmp_path, "again.csv", "M1,2,j,1,T,10,70,100,0.5", "M1,2,j,1,T,10,70,100,0.5")
    with pytest.raises(ModelError, match=r"again\.csv, line 2, job_name: repeats 'j, M1' of line 1"):
        read_alibaba_2018(file)
    with pytest.raises(ModelError, match=r"line 1, plan_mem: is normalised to \[0, 100\]; got 101"):
        read_alibaba_2018(written(tmp_path, "bad.csv", "M1,2,j,1,T,10,70,100,101.0"))


def test_the_job_sample_of_2018(tmp_path):
    file = written(tmp_path, "jobs.csv", SAMPLE, "0,9,60.5,1,0.005,7,1,2,0", "1,4,10,0.5,0.005,8,1,1,0")
    trace = read_alibaba_2018_sample(file)
    assert trace.arrivals.tolist() == [4, 9, 9]
    assert trace.durations.tolist() == [10, 60.5, 60.5]
    assert [trace.users[k] for k in trace.user_of] == ["8", "7", "7"]
    assert trace.jobs.tolist() == [1, 0, 0]
    with pytest.raises(ModelError, match="line 2, duration: must be a finite number > 0; got -5"):
        read_alibaba_2018_sample(written(tmp_path, "jobs.csv", SAMPLE, "0,9,-5,1,0.005,7,1,2,0"))


def test_instances_of_2025(tmp_path):
    lines = (
        "i0,HN,app_0,12,12,1,1,25,25,120.0,120.0,680.0,800.0,8,,,",
        "i1,CN,app_1,64,64,0,0,1,1,320.0,320.0,255.0,300.0,-1,100.0,110.0,400.0",
        "i2,CN,app_1,64,64,0,0,1,1,320.0,320.0,255.0,300.0,-1,,,50.0",
        "i3,CN,app_1,64,64,0,0,1,1,320.0,320.0,255.0,300.0,-1,60.0,,70.0",
    )
    file = written(tmp_path, "dlrm.csv", DLRM, *lines)
    trace = read_alibaba_dlrm_2025(file)
    assert trace.arrivals.tolist() == [0, 0, 100]
    assert trace.durations.tolist() == [400, 50, 290]
    assert trace.types[0].tolist() == [12, 1, 25, 120, 680]
    assert trace.models == ("CN", "HN")
    assert trace.eligible_models.tolist() == [[False, True], [True, False]]
    assert "2 tasks older than the trace: taken to arrive and start at time 0" in trace.notes
    assert read_alibaba_dlrm_2025(file, before="drop").arrivals.tolist() == [100]
    with pytest.raises(ModelError, match="line 2, creation_time: lies before the trace"):
        read_alibaba_dlrm_2025(file, before="refuse")
    with pytest.raises(ModelError, match="line 2, role: must be CN or HN; got 'XN'"):
        read_alibaba_dlrm_2025(written(tmp_path, "bad.csv", DLRM, lines[0].replace("HN", "XN")))
    with pytest.raises(ModelError, match="line 2, rdma_request: is in per cent, at most 100; got 250"):
        read_alibaba_dlrm_2025(written(tmp_path, "bad.csv", DLRM, lines[0].replace("25,25", "250,25")))
    assert np.isfinite(trace.durations).all()


def test_machines_of_2018(tmp_path):
    lines = ("m_1,0,1,2,96,100,USING", "m_1,500,1,2,96,100,USING", "m_2,0,1,2,64,50,USING")
    nodes = read_alibaba_2018_machines(written(tmp_path, "machine_meta.csv", *lines))
    assert nodes.names == ("m_1", "m_2")
    assert nodes.capacities.tolist() == [[96, 1], [64, 0.5]]
    trace = read_alibaba_2018(
        written(tmp_path, "t.csv", "M1,2,j,1,Terminated,10,70,100,0.5", "M2,1,j,1,T,20,70,100,1")
    )
    assert nodes.offered_load(trace).tolist() == [(2 * 60 + 50) / 10 / 160, (2 * 60 * 0.005 + 0.5) / 10 / 1.5]
    with pytest.raises(ModelError, match="line 4, machine_id: 'm_1' has another size on line 1"):
        read_alibaba_2018_machines(written(tmp_path, "machine_meta.csv", *lines, "m_1,9,1,2,64,100,USING"))
    with pytest.raises(ModelError, match=r"line 1, mem_size: is normalised to \[0, 100\]; got 101"):
        read_alibaba_2018_machines(written(tmp_path, "machine_meta.csv", "m_1,0,1,2,96,101,USING"))
