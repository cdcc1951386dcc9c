"""Measurements and jobs of Gavel, a scheduler for heterogeneous accelerators [1]_.

*Throughputs* (``simulation_throughputs.json`` and the like at
https://github.com/stanford-futuredata/gavel, licence MIT): for each accelerator and job type the training
steps per second, alone (key ``null``) and beside another job type on the same devices. Job types are written
``('ResNet-18 (batch size 16)', 2)``: the model, and on how many devices it runs.

*Jobs* (``.trace``): a line per job, fields separated by tabs, in one of two layouts that the number of fields
tells apart: 10 (``job_type, command, working_directory, num_steps_arg, needs_data_dir, total_steps,
scale_factor, priority_weight, SLO, arrival_time``), or 7 (``job_type, command, num_steps_arg, needs_data_dir,
total_steps, arrival_time, scale_factor``), as in the jobs made from the Philly trace. They record steps, not
durations: how long these take is for a matrix of throughputs to say.

References
----------
.. [1] D. Narayanan, K. Santhanam, F. Kazhamiaka, A. Phanishayee and M. Zaharia, "Heterogeneity-aware cluster
   scheduling policies for deep learning workloads", OSDI 2020.
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from fairness.arguments.csv_rows import fail
from fairness.arguments.quantities import decimal, whole
from fairness.arguments.validation import require_choice
from fairness.errors import ModelError
from fairness.files import text_of
from fairqueues.json_text import json_data
from fairqueues.text_files import TextFile, readable
from fairqueues.traces.reading.gathering import Gathering
from fairqueues.traces.throughputs import Throughputs
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.columns import Rows

__all__ = ["read_gavel", "read_gavel_jobs"]

ALONE = "null"
LAYOUTS = {10: (0, 5, 6, 9), 7: (0, 4, 6, 5)}
"""Places of job type, steps, devices and arrival, by the number of fields."""
LEAST = {"total_steps": 1, "scale_factor": 1, "arrival_time": 0}
"""Numbers of a job: at least one step and one device, which are whole."""
LARGEST = 1e300
"""No throughput: a number of JSON may be beyond all floats."""


def read_gavel(path: str | os.PathLike[str]) -> Throughputs:
    """Read a matrix of measured throughputs.

    Parameters
    ----------
    path : path
        JSON, compressed by gzip or not.

    Returns
    -------
    Throughputs
        Job types in the order of their first appearance.

    Raises
    ------
    ModelError
        If the file is no JSON, a job type is not written as a model and a number of devices, or a throughput
        is no finite number >= 0; with the accelerator and the job type.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "throughputs.json")
    >>> a, b = "('A3C', 1)", "('LM (batch size 5)', 2)"
    >>> _ = file.write_text(json.dumps({
    ...     "k80": {a: {"null": 2.0, a: [1.5, 1.5]}, b: {"null": 3.0}},
    ...     "v100": {a: {"null": 4.0, a: [2.5, 2.5]}, b: {"null": 18.0}},
    ... }))
    >>> throughputs = read_gavel(file)
    >>> throughputs.alone
    array([[ 2.,  4.],
           [ 3., 18.]])
    >>> float(throughputs.beside("A3C", "A3C", "v100"))
    2.5
    >>> folder.cleanup()
    """
    file = Path(path)
    found = json_data(text_of(file, "give the file as it was published"), str(file))
    if not isinstance(found, dict) or not all(isinstance(rows, dict) for rows in found.values()) or not found:
        raise ModelError(f"{file}: must be an object of accelerators, each an object of job types")
    types: dict[tuple[str, int], int] = {}
    for accelerator, rows in found.items():
        for written in rows:
            types.setdefault(_job_type(file, accelerator, written), len(types))
    n, m = len(types), len(found)
    alone, pairs = np.full((n, m), math.nan), np.full((m, n, n), math.nan)
    for j, (accelerator, rows) in enumerate(found.items()):
        for written, row in rows.items():
            i = types[_job_type(file, accelerator, written)]
            where = f"{file}, {accelerator}, {written}"
            if not isinstance(row, dict) or ALONE not in row:
                raise ModelError(f"{where}: must be an object with {ALONE!r}, the throughput alone")
            alone[i, j] = _throughput(where, row[ALONE])
            for other, both in row.items():
                if other == ALONE:
                    continue
                k = types.get(_job_type(file, accelerator, other))
                if k is None or not isinstance(both, list) or len(both) != 2:
                    raise ModelError(f"{where}: {other!r} must be a job type with two throughputs")
                pairs[j, i, k] = _throughput(where, both[0])
    return Throughputs(
        tuple(name for name, _ in types),
        np.array([devices for _, devices in types]),
        tuple(found),
        alone,
        pairs,
        source=f"Gavel, {file.name}",
    )


def read_gavel_jobs(
    path: str | os.PathLike[str],
    throughputs: Throughputs,
    *,
    accelerator: str = "v100",
    unmeasured: str = "refuse",
) -> ClusterTrace:
    """Read a list of training jobs.

    Parameters
    ----------
    path : path
        Fields separated by tabs, in one of the two layouts above.
    throughputs : Throughputs
        Says how many steps a second a job makes.
    accelerator : str
        On which the durations of the trace are counted, alone on the devices.
    unmeasured : {"refuse", "drop"}
        Jobs that make no steps there, or were not measured.

    Returns
    -------
    ClusterTrace
        A task of ``scale_factor`` devices per job; every job is its own user, as in Gavel's fairness.

    Raises
    ------
    ModelError
        With line and field, if a line has another number of fields, a field is no number or out of range, or
        the throughput of the job was not measured.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "jobs.trace")
    >>> _ = file.write_text("A3C\\tpython3 main.py\\t-n\\t1\\t900\\t6.000000\\t1\\n")
    >>> measured = Throughputs(("A3C",), [1], ("v100",), [[4.5]])
    >>> trace = read_gavel_jobs(file, measured)
    >>> trace.arrivals, trace.durations, trace.users
    (array([6.]), array([200.]), ('job 1',))
    >>> folder.cleanup()
    """
    throughputs.require_accelerator(accelerator)
    require_choice("unmeasured", unmeasured, ("refuse", "drop"))
    found: list[tuple[float, ...]] = []
    with readable(path) as text:
        for line in text.lines():
            fields = line.split("\t")
            if len(fields) not in LAYOUTS:
                text.fail(f"must have 10 or 7 fields separated by tabs; got {len(fields)}")
            name, *numbers = (fields[k] for k in LAYOUTS[len(fields)])
            job = [_number(text, field, number.strip()) for field, number in zip(LEAST, numbers, strict=True)]
            rate = throughputs.rate(name, int(job[1]), accelerator)
            if not rate > 0 and unmeasured == "refuse":
                text.fail(
                    f"{name!r} on {job[1]:g} devices makes no steps on {accelerator!r}, or was not "
                    "measured; take another accelerator, or unmeasured='drop'"
                )
            found.append((text.number, rate, *job))
    lines, rates, *columns = np.array(found).reshape(-1, 2 + len(LEAST)).T
    every = Rows(Path(path), lines.astype(int), {"rate": rates, **dict(zip(LEAST, columns, strict=True))})
    rows = every.only(rates > 0)
    gathering = Gathering(f"Gavel jobs, {Path(path).name}", ("GPU",), ("devices",), devices="GPU")
    gathering.add(
        rows,
        [("arrival_time", rows.columns["arrival_time"])],
        [("scale_factor", rows.columns["scale_factor"])],
        np.array([f"job {k + 1}" for k in range(len(rows))], dtype=object),
        durations=("total_steps", rows.columns["total_steps"] / rows.columns["rate"]),
    )
    told = f"{{n}} dropped: no steps on {accelerator}, or not measured there"
    gathering.note(len(every) - len(rows), told)
    gathering.notes.append(f"durations are those alone on {accelerator}; every job is a user")
    return gathering.trace()


def _job_type(file: Path, accelerator: str, written: str) -> tuple[str, int]:
    match = re.fullmatch(r"\((['\"])(.*)\1, ([0-9]{1,9})\)", written)
    if match is None:
        raise ModelError(
            f"{file}, {accelerator}: {written!r} must be a model and a number of devices, as in ('A3C', 1)"
        )
    return match[2], int(match[3])


def _throughput(where: str, value: Any) -> float:
    good = isinstance(value, int | float) and not isinstance(value, bool)
    if not good or not 0 <= value <= LARGEST:
        shown = f"{value!r:.60}"
        raise ModelError(f"{where}: a throughput must be a finite number >= 0; got {shown}")
    return float(value)


def _number(text: TextFile, field: str, written: str) -> float:
    least = LEAST[field]
    try:
        value = whole(written) if least else decimal(written)
    except ValueError:
        value = -1
    if value < least:
        kind = "whole number" if least else "number"
        fail(text.path, text.number, field, f"must be a {kind} >= {least}; got {written!r:.40}")
    return value
