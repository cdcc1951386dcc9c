"""What the tables of published traces say, read a second time: row by row, in fractions, without arrays.

Each function gives the tasks of a file that is right, as (arrival, duration, demands, user): what the readers
of the library should find there. A file that is wrong ends in some error of Python.
"""

import csv
import gzip
import io
import re
from fractions import Fraction

BATCH = (
    "task_name", "instance_num", "job_name", "task_type", "status", "start_time", "end_time", "plan_cpu",
    "plan_mem",
)  # fmt: skip
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def rows_of(path, header=None):
    """Cells by the names of the columns; a name that stands twice has none."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8-sig")
    lines = io.StringIO(text.replace("\r\n", "\n").replace("\r", "\n"), newline="")
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines, strict=True, skipinitialspace=True)]
    rows = [row for row in rows if any(row)]
    heads = list(header) if header else rows.pop(0)
    unique = [name for name in heads if heads.count(name) == 1]
    return [{name: value for name, value in zip(heads, row, strict=True) if name in unique} for row in rows]


def number(cell):
    """The number in a cell; None where there is none."""
    if cell in ("", "nan", "NaN"):
        return None
    assert NUMBER.fullmatch(cell), cell
    return Fraction(cell)


def zero(cell):
    """Whether the nearest float is 0."""
    return number(cell) is not None and float(number(cell)) == 0


def times(rows, *names):
    """Arrival, start and end of each row, and the last time of all."""
    found = [[number(row[name]) for name in names] for row in rows]
    return found, max(time for row in found for time in row if time is not None)


def ran(arrival, start, end, last, demands, user):
    """The task of a row, or none: it never started, ran for no time, or demanded nothing."""
    if start is None or not any(demands):
        return []
    duration = (last if end is None else end) - start
    return [(arrival, duration, demands, user)] if float(duration) > 0 else []


def gpu_pods(folder):
    rows = rows_of(folder / "pods.csv")
    found, last = times(rows, "creation_time", "scheduled_time", "deletion_time")
    tasks = []
    for row, (arrival, start, end) in zip(rows, found, strict=True):
        gpus = number(row["num_gpu"])
        gpus = number(row["gpu_milli"]) / 1000 if gpus == 1 else gpus
        demands = (number(row["cpu_milli"]) / 1000, number(row["memory_mib"]) / 1024, gpus)
        tasks += ran(arrival, start, end, last, demands, row["qos"])
    return tasks


def instances_2018(folder):
    rows = rows_of(folder / "batch_task.csv", BATCH)
    rows = [row for row in rows if number(row["plan_cpu"]) is not None]
    rows = [row for row in rows if number(row["plan_mem"]) is not None]
    rows = [row | ({"end_time": ""} if zero(row["end_time"]) else {}) for row in rows]
    rows = [row for row in rows if number(row["instance_num"])]
    found, last = times(rows, "start_time", "end_time")
    tasks = []
    for row, (start, end) in zip(rows, found, strict=True):
        demands = (number(row["plan_cpu"]) / 100, number(row["plan_mem"]) / 100)
        tasks += ran(start, start, end, last, demands, row["job_name"]) * int(number(row["instance_num"]))
    return tasks


def sample_2018(folder):
    tasks = []
    for row in rows_of(folder / "jobs.csv"):
        demands = (number(row["cpu"]), number(row["memory"]))
        one = (number(row["submit_time"]), number(row["duration"]), demands, row["job_id"])
        tasks += [one] * int(number(row["instances_num"])) * any(demands)
    return tasks


def instances_2025(folder):
    rows = rows_of(folder / "dlrm.csv")
    names = ("creation_time", "scheduled_time", "deletion_time")
    early = [number(row[names[0]]) is None for row in rows]
    rows = [
        row | {name: row[name] if number(row[name]) is not None else "0" for name in names[:2]}
        if old
        else row
        for row, old in zip(rows, early, strict=True)
    ]
    found, last = times(rows, *names)
    kinds = ("cpu", "gpu", "rdma", "memory", "disk")
    tasks = []
    for row, (arrival, start, end) in zip(rows, found, strict=True):
        demands = tuple(number(row[f"{kind}_request"]) for kind in kinds)
        tasks += ran(arrival, start, end, last, demands, row["app_name"])
    return tasks


def google(folder):
    owners = {number(row["collection_id"]): row["user"] for row in rows_of(folder / "collections.csv")}
    events = {}
    for row in rows_of(folder / "instances.csv"):
        time = number(row["time"])
        if not number(row["alloc_collection_id"]) and time < 2**63 - 1:
            key = number(row["collection_id"]), number(row["instance_index"])
            events.setdefault(key, []).append((time / 10**6, row))
    last = max(time for rows in events.values() for time, _ in rows)
    tasks = []
    for (collection, _), rows in events.items():
        rows.sort(key=lambda event: event[0])
        begun, starts, busy, arrival, asked = None, [], 0, None, (0, 0)
        for time, row in rows:
            kind = number(row["type"])
            if kind == 0 and arrival is None:
                arrival = time
            if kind in (3, 4, 5, 6, 7, 8) and begun is not None:
                busy, begun = busy + time - begun, None
            if kind == 3:
                begun = time
                starts.append(time)
            said = number(row["cpus"]), number(row["memory"])
            if asked == (0, 0) and None not in said:
                asked = said
        if begun is not None:
            busy += last - begun
        if starts and busy > 0 and any(asked):
            # What still runs is as if all that it ran before lay directly before its last start.
            first = starts[0] if begun is None else last - busy
            known = rows[0][0] if arrival is None else arrival
            tasks.append((min(known, first), busy, asked, owners[collection]))
    return tasks


def own_tasks(folder):
    heads = [name for name in rows_of(folder / "nodes.csv")[0] if name != "server"]
    rows = rows_of(folder / "tasks.csv")
    first = min(number(row["arrival_time"]) for row in rows)
    return [
        (
            number(row["arrival_time"]) - first,
            number(row["duration"]),
            tuple(number(row[name]) for name in heads),
            row.get("user", "all"),
        )
        for row in rows
    ]


SECOND = {
    "alibaba gpu": gpu_pods,
    "alibaba 2018": instances_2018,
    "alibaba 2018 sample": sample_2018,
    "alibaba dlrm": instances_2025,
    "google": google,
    "tasks": own_tasks,
}
"""By the names of the kinds of files."""
