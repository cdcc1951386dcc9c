"""Azure's requests, Philly's jobs and Google's events."""

import json
from functools import partial

import numpy as np
import pytest

from fairness import ModelError
from fairqueues.traces import read_azure_llm, read_google_2019, read_google_2019_machines, read_philly
from fairqueues.traces.reading import json_array
from fairqueues.traces.reading.json_array import entries
from tests.fairqueues.traces.files import EVENTS, REQUESTS, written


def test_requests_of_several_services(tmp_path):
    code = written(tmp_path, "c.csv", REQUESTS, "2023-11-16 18:17:03.9799600,4000,10")
    chat = written(
        tmp_path, "d.csv", REQUESTS, "2023-11-16 18:17:02.9799599,100,0", "2023-11-16 18:17:02.9799600,0,0"
    )
    trace = read_azure_llm({"code": code, "chat": chat}, context_rate=1000, generation_rate=10)
    # To the tenth of a microsecond that the file has: 1e-7 of a second.
    assert trace.arrivals.tolist() == [0, 1.0000001]
    assert trace.durations.tolist() == [0.1, 5]
    assert trace.types[trace.type_of].tolist() == [[1, 100], [1, 4010]]
    assert [trace.users[k] for k in trace.user_of] == ["chat", "code"]
    assert trace.notes[0] == "1 task dropped: took 0 s"
    zoned = written(tmp_path, "z.csv", REQUESTS, "2024-05-10 00:00:00.009930+00:00,7,3")
    assert read_azure_llm(zoned, context_rate=7, generation_rate=3).users == ("z",)


def attempt(start, end, *gpus):
    times = [time and f"2017-10-07 01:{time}" for time in (start, end)]
    detail = [{"ip": f"m{k}", "gpus": [f"gpu{g}" for g in range(n)]} for k, n in enumerate(gpus)]
    return {"start_time": times[0], "end_time": times[1], "detail": detail}


def job(name, submitted, *attempts, **changes):
    return {
        "status": "Pass", "vc": f"vc of {str(name)[0]}", "jobid": name, "user": "u",
        "submitted_time": f"2017-10-07 01:{submitted}", "attempts": list(attempts),
    } | changes  # fmt: skip


def philly(folder, *jobs, text=None, **options):
    log = folder / "cluster_job_log"
    log.write_text(json.dumps(jobs, indent=1) if text is None else text)
    machines = written(
        folder, "machines", "machineId,number of GPUs, single GPU mem", "m0,8, 24GB", "m1,4, 12GB"
    )
    return read_philly(log, machines, **options)


def test_jobs_of_philly(tmp_path):
    trace, nodes = philly(
        tmp_path,
        job("a1", "10:00", attempt("10:10", "10:40", 8, 2), attempt("11:00", "11:05", 8, 2)),
        job("b1", "09:00", attempt("09:10", None, 1), attempt("10:00", "10:30", 1)),
        job("a2", "12:00"),
        job("b2", "12:00", attempt("12:10", "12:20", 2), attempt("12:30", None, 2)),
        job("b3", "12:30", attempt("12:40", "12:50", 1)),
    )
    assert nodes.capacities.tolist() == [[8], [4]]
    # Seconds since the submission of b1; b2 runs until the last time of the log, 12:50: 10 s and 20 s.
    assert trace.arrivals.tolist() == [0, 60, 60, 180, 210]
    assert trace.durations.tolist() == [30, 35, 35, 30, 10]
    assert trace.types[trace.type_of, 0].tolist() == [1, 8, 2, 2, 1]
    assert trace.jobs.tolist() == [1, 0, 0, 3, 4]
    assert [trace.users[k] for k in trace.user_of] == ["vc of b", *["vc of a"] * 2, *["vc of b"] * 2]
    assert "attempts without a time, not counted: 1" in trace.notes


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
def test_entries_of_an_array_one_by_one(tmp_path, monkeypatch, block):
    monkeypatch.setattr(json_array, "BLOCK", block)
    path = tmp_path / "f.json"
    path.write_text('\n [ 1, {"a":\n [2, "]"]},\n 33\n,"x\\"y"]\n')
    assert list(entries(path)) == [(2, 1), (2, {"a": [2, "]"]}), (4, 33), (5, 'x"y')]
    path.write_text("[1,\n2,\n{3}]")
    with pytest.raises(ModelError, match=r"f\.json, line 3: no JSON: Expecting property name"):
        list(entries(path))
    path.write_text("[1,\n2] \n\n\n")
    assert list(entries(path)) == [(1, 1), (2, 2)]
    path.write_text("[1,\n2]\n[3]")
    with pytest.raises(ModelError, match="line 2: the array ends, but something follows"):
        list(entries(path))
    path.write_text("[1,\n2")
    with pytest.raises(ModelError, match="line 2: the array has no end"):
        list(entries(path))
    path.write_text('\n{"a": 1}')
    with pytest.raises(ModelError, match="line 2: must be an array in JSON"):
        list(entries(path))
    path.write_text("")
    with pytest.raises(ModelError, match="is empty"):
        list(entries(path))


def google(folder, *events, users=("7,ann", "8,bob"), **options):
    """Events as (seconds, type, collection, index) and what follows; by default a job's request."""
    plain = ("0", "0", "0.5", "0.25")
    lines = [
        ",".join(map(str, (round(time * 1e6), *names, *(rest or plain))))
        for time, *names, rest in ((*event[:4], event[4:]) for event in events)
    ]
    return read_google_2019(
        written(folder, "collections.csv", "collection_id,user", *users),
        written(folder, "instances.csv", EVENTS, *lines),
        **options,
    )


def test_events_of_google(tmp_path):
    trace = google(
        tmp_path,
        # Evicted, and run again; the events in any order.
        (90, 6, 7, 0), (1, 0, 7, 0), (10, 3, 7, 0), (30, 4, 7, 0), (30, 0, 7, 0), (40, 3, 7, 0),
        (50, 10, 7, 0),
        # Two instances of another user's: one runs on when the trace ends, one never runs.
        (5, 0, 8, 0, "0", "0", "", ""), (6, 3, 8, 0, "0", "0", "0.125", "0.125"), (7, 0, 8, 1),
        (9, 7, 8, 1),
        # Ran before the trace, inside an alloc instance.
        (0, 3, 8, 2), (20, 5, 8, 2), (2, 0, 8, 3, "0", "99", "1", "1"), (3, 3, 8, 3, "0", "99", "1", "1"),
    )  # fmt: skip
    assert trace.arrivals.tolist() == [0, 1, 5]
    assert trace.durations.tolist() == [20, 70, 84]
    assert trace.types[trace.type_of].tolist() == [[0.5, 0.25], [0.5, 0.25], [0.125, 0.125]]
    assert [trace.users[k] for k in trace.user_of] == ["bob", "ann", "bob"]
    assert trace.jobs.tolist() == [1, 0, 1]
    assert "1 task dropped: never ran, so that no duration is known" in trace.notes
    assert "1 task left out: inside alloc instances, which hold their resources" in trace.notes


def test_events_after_the_trace_are_not_read(tmp_path):
    path = written(
        tmp_path, "i.csv", EVENTS, "1000000,0,7,0,0,0,1,1", "2000000,3,7,0,0,0,1,1", "3000000,2,7,0,0,0,1,1",
        "9223372036854775807,6,7,0,0,0,,",
    )  # fmt: skip
    users = written(tmp_path, "c.csv", "collection_id,user", "7,ann")
    assert read_google_2019(users, path).durations.tolist() == [1]


def test_a_second_method_for_runs_of_instances(tmp_path):
    """Random events of 40 instances: runs counted one event after the other."""
    rng = np.random.default_rng(8)
    events, busy = [], {}
    for index in range(40):
        time, runs, begun = 1.0, 0.0, None
        events.append((time, 0, 7, index))
        for _ in range(rng.integers(1, 9)):
            time += float(rng.integers(1, 50))
            kind = int(rng.choice([0, 3, 4, 5, 6, 7, 10]))
            if begun is not None and kind in (3, 4, 5, 6, 7):
                runs += time - begun
                begun = None
            if kind == 3:
                begun = time
            events.append((time, kind, 7, index))
        if begun is None:
            busy[index] = runs
        else:
            busy[index] = (runs, begun)
    end = max(event[0] for event in events)
    expected = sorted(
        runs if not isinstance(runs, tuple) else runs[0] + end - runs[1] for runs in busy.values()
    )
    rng.shuffle(events)
    trace = google(tmp_path, *events)
    assert sorted(trace.durations.tolist()) == pytest.approx([t for t in expected if t > 0], abs=1e-9)


def machines(folder, *lines, at=600.0):
    return read_google_2019_machines(
        written(folder, "machines.csv", "time,machine_id,type,platform_id,cpus,memory", *lines), at=at
    )


def test_machines_of_google(tmp_path):
    lines = (
        "0,5,1,p,0.5,0.25",
        "900000000,6,2,q,,",
        "0,6,1,q,1,0.5",
        "800000000,5,3,p,0.25,0.25",
        "950000000,6,1,q,1,1",
        "700000000,7,1,,0.5,0.5",
    )
    assert machines(tmp_path, *lines).names == ("5", "6")
    assert machines(tmp_path, *lines, at=850).capacities.tolist() == [[0.25, 0.25], [1, 0.5], [0.5, 0.5]]
    assert machines(tmp_path, *lines, at=920).names == ("5", "7")
    assert machines(tmp_path, *lines, at=1000).capacities.tolist() == [[0.25, 0.25], [1, 1], [0.5, 0.5]]
    assert machines(tmp_path, *lines, at=1000).models == ("p", "q", "")


def requests(folder, line):
    return read_azure_llm(written(folder, "c.csv", REQUESTS, line), context_rate=1, generation_rate=1)


# fmt: off
WRONG = [
    (requests, ["yesterday,7,3"], r"c\.csv, line 2, TIMESTAMP: must be a time such as .*; got 'yesterday'"),
    (requests, ["2024-05-10 00:00:00,-7,3"],
     "line 2, ContextTokens: must be a finite whole number >= 0; got -7"),
    (requests, ["2024-05-10 00:00:00,7,1.5"],
     "line 2, GeneratedTokens: must be a finite whole number >= 0; got 1.5"),
    (requests, ["2024-05-10 00:00:00,7"], "line 2, GeneratedTokens: is missing"),
    (philly, [job("a", "10:00"), job("a", "10:00")],
     "entry on line 10, jobid: repeats 'a' of the entry on line 2"),
    (philly, [job("a", "10:00", submitted_time="soon")], "line 2, submitted_time: must be a time such as"),
    (philly, [job("a", "10:00", submitted_time="9999-12-31 00:00:00")],
     "line 2, submitted_time: .* near that"),
    (philly, [job(["a"], "10:00", jobid=["a"])], r"line 2, jobid: must be a name; got \['a'\]"),
    (philly, [job("a", "10:00", vc="a\nb")], r"line 2, vc: must be a name; got 'a\\nb'"),
    (philly, [job("a", "10:00", submitted_time=None)], "line 2, submitted_time: is missing"),
    (philly, [job("a", "10:00", attempts=None)], "attempts: must be a list; got None"),
    (philly, [job("a", "10:00", attempt("10:40", "10:10", 1))], "line 2, end_time: lies before start_time"),
    (philly, [job("a", "10:00", attempt("09:40", "10:10", 1))],
     "line 2, start_time: lies before submitted_time"),
    (philly, [job("a", "10:00", attempt("10:40", "10:50", 9))],
     "gpus: asks for more GPU than the largest node has"),
    (philly, [{"jobid": "a"}], "line 2, submitted_time: is missing .fields: jobid"),
    (philly, [7], "jobs: must be objects; got 7"),
    (google, [(1, 0, 9, 0), (2, 3, 9, 0)], "line 2, collection_id: has no user among the collections"),
    (google, [(1, 11, 7, 0)], "line 2, type: must be the number of an event, 0 to 10; got 11"),
    (google, [(1, 0, 7, 0, "2", "0", "1", "1")], "collection_type: must be 0"),
    (google, [(1, 0, 7, 0, "0", "0", "1.5", "1")], "cpus: is in parts of the largest machine"),
    (google, [(1, 0, 7, 0, "0", "0", "-1", "1")], "cpus: must be a finite number >= 0; got -1"),
    (partial(google, users=("7,a", "7,b")), [(1, 0, 7, 0)], "line 3, user: is 'b', but above it 'a' for 7"),
    (partial(google, never_ended="refuse"), [(1, 0, 7, 0), (2, 3, 7, 0)], "never ended"),
    (machines, ["0,5,1,p,,0.25"], "line 2, cpus: is missing; complete the line$"),
    (machines, ["0,5,1,p,1.5,0.25"],
     "line 2, cpus: is in parts of the largest machine, at most 1; got 1.5"),
    (machines, ["0,5,4,p,1,0.25"],
     r"line 2, type: must be 1 .added., 2 .removed. or 3 .updated.; got 4"),
    (machines, ["0,5,0,p,1,0.25"],
     r"line 2, type: must be 1 .added., 2 .removed. or 3 .updated.; got 0"),
    (machines, ["700000000,5,1,p,1,0.25"], "no machine is there at 600 s; give another time"),
]
# fmt: on


@pytest.mark.parametrize(("read", "given", "said"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_named(tmp_path, read, given, said):
    with pytest.raises(ModelError, match=said):
        read(tmp_path, *given)
